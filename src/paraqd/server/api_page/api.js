// Show the OpenAPI document of the server, and send requests to try it. All content is set as text, never as HTML.
"use strict";

function element(name, text, attributes) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  Object.entries(attributes || {}).forEach(([key, value]) => made.setAttribute(key, value));
  return made;
}

function resolve(schema, api) {
  const name = schema && schema.$ref && schema.$ref.split("/").pop();
  return name ? api.components.schemas[name] : schema || {};
}

// Return an example value for a schema.
function example(given, api, depth = 0) {
  const schema = resolve(given, api);
  if (depth > 8) return null;
  if (schema.examples && schema.examples.length) return schema.examples[0];
  if (schema.default !== undefined && schema.default !== null) return schema.default;
  if (schema.enum) return schema.enum[0];
  if (schema.const !== undefined) return schema.const;
  const choices = schema.anyOf || schema.oneOf || schema.allOf;
  if (choices) return example(choices[0], api, depth + 1);
  if (schema.type === "object" || schema.properties) {
    const entries = Object.entries(schema.properties || {});
    return Object.fromEntries(entries.map(([key, value]) => [key, example(value, api, depth + 1)]));
  }
  if (schema.type === "array") {
    const item = example(schema.items, api, depth + 1);
    return Array(schema.minItems || 1).fill(item);
  }
  return { string: "text", integer: 0, number: 0.5, boolean: true }[schema.type] ?? null;
}

function pretty(value) {
  return JSON.stringify(value, null, 2);
}

function parameters(operation) {
  const table = element("table");
  const head = table.appendChild(element("tr"));
  ["name", "in", "meaning"].forEach((title) => head.append(element("th", title, { scope: "col" })));
  for (const each of operation.parameters) {
    const row = table.appendChild(element("tr"));
    row.append(element("td", each.name + (each.required ? " (required)" : "")), element("td", each.in));
    row.append(element("td", each.description || (each.schema && each.schema.title) || ""));
  }
  return table;
}

function answers(operation) {
  const table = element("table");
  const head = table.appendChild(element("tr"));
  ["status", "meaning"].forEach((title) => head.append(element("th", title, { scope: "col" })));
  for (const [status, each] of Object.entries(operation.responses || {})) {
    const row = table.appendChild(element("tr"));
    row.append(element("td", status), element("td", each.description || ""));
  }
  return table;
}

async function send(method, path, body, output) {
  output.textContent = "…";
  const headers = {};
  const key = document.getElementById("key").value;
  if (key) headers.Authorization = `Bearer ${key}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  try {
    const response = await fetch(path.slice(1), { method, headers, body });
    const text = await response.text();
    let shown = text;
    try { shown = pretty(JSON.parse(text)); } catch { /* not JSON */ }
    output.textContent = `${response.status} ${response.statusText}\n\n${shown}`;
  } catch (error) {
    output.textContent = `No answer: ${error.message}`;
  }
}

function trial(method, path, sample) {
  const box = element("div");
  box.append(element("h3", "Try it"));
  let input;
  if (sample !== undefined) {
    input = box.appendChild(element("textarea", pretty(sample), { "aria-label": "Body of the request" }));
  }
  const button = box.appendChild(element("button", "Send", { type: "button" }));
  const output = box.appendChild(element("pre", "", { "aria-live": "polite", hidden: "" }));
  button.addEventListener("click", () => {
    output.hidden = false;
    send(method, path, input && input.value, output);
  });
  return box;
}

function operationBox(method, path, operation, api) {
  const box = element("details");
  const title = box.appendChild(element("summary"));
  title.append(element("span", method.toUpperCase(), { class: "method" }), element("code", path));
  title.append(` ${operation.summary || ""}`);
  box.append(element("p", operation.description || ""));
  if ((operation.parameters || []).length) box.append(element("h3", "Parameters"), parameters(operation));
  const content = operation.requestBody && operation.requestBody.content;
  const json = content && content["application/json"];
  const sample = json ? example(json.schema, api) : undefined;
  const good = Object.entries(operation.responses || {}).find(([status]) => status.startsWith("2"));
  const answer = good && good[1].content && good[1].content["application/json"];
  if (json) box.append(element("h3", "Request"), element("pre", pretty(sample)));
  if (content && !json) box.append(element("p", `The body has the type ${Object.keys(content).join(", ")}.`));
  if (answer && answer.schema) box.append(element("h3", "Answer"), element("pre", pretty(example(answer.schema, api))));
  box.append(element("h3", "Statuses"), answers(operation));
  const canTry = !path.includes("{") && (method === "get" || (json && path.startsWith("/v1/score")));
  if (canTry) box.append(trial(method.toUpperCase(), path, sample));
  return box;
}

function show(api) {
  const place = document.getElementById("operations");
  place.textContent = "";
  document.getElementById("description").textContent = api.info.description || "";
  const groups = new Map();
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const tag = (operation.tags || ["other"])[0];
      if (!groups.has(tag)) groups.set(tag, []);
      groups.get(tag).push(operationBox(method, path, operation, api));
    }
  }
  for (const [tag, boxes] of groups) place.append(element("h2", tag), ...boxes);
}

fetch("openapi.json")
  .then((response) => response.json())
  .then(show)
  .catch((error) => {
    document.getElementById("operations").textContent = `openapi.json cannot be shown: ${error.message}`;
  });
