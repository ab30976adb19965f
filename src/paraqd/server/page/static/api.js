// Requests to the server. Every failure becomes a Refused (the server said no) or an Unreachable (no answer).

import { recall } from "./memory.js";

/** Begin with a capital and end with a full stop, as text on a page does. */
const asSentence = (text) => `${text[0]?.toUpperCase() ?? ""}${text.slice(1)}${/[.!?…]$/.test(text) ? "" : "."}`;

export class Refused extends Error {
  constructor(status, { code = "unknown", message = "The server refused the request.", details = null } = {}) {
    super(asSentence(message));
    this.status = status;
    this.code = code;
    this.details = details ?? {};
  }
}

export class Unreachable extends Error {
  constructor() {
    super("The server does not answer. Check that it runs and that you are connected.");
  }
}

/** Say whether the same request may succeed later. */
export const isPassing = (error) =>
  error instanceof Unreachable || (error instanceof Refused && (error.status >= 500 || [408, 425, 429].includes(error.status)));

let askForKey = async () => false;
export function onKeyNeeded(ask) {
  askForKey = ask;
}

let made = 0;

/** Return a new key for a request. Keys sort by the time at which they were made. */
export function newKey() {
  const chance = [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, "0"));
  return [String(Date.now()).padStart(15, "0"), String(++made).padStart(6, "0"), chance.join("")].join(".");
}

export const reviewerName = () => recall("reviewer", "");

async function send(method, path, { json, form, reviewer, signal, timeout = 30_000 } = {}) {
  const headers = { Accept: "application/json" };
  const name = reviewer ?? reviewerName();
  if (name) headers["X-Reviewer"] = encodeURIComponent(name);
  if (json !== undefined) headers["Content-Type"] = "application/json";
  const limit = AbortSignal.timeout(timeout);
  const body = json !== undefined ? JSON.stringify(json) : form;
  try {
    return await fetch(path, { method, headers, body, signal: signal ? AbortSignal.any([signal, limit]) : limit, credentials: "same-origin" });
  } catch {
    throw new Unreachable();
  }
}

const SESSION = ["v1/login", "v1/logout"]; // a refusal of these does not ask for the key

async function request(method, path, options = {}) {
  let response = await send(method, path, options);
  while (response.status === 401 && !SESSION.includes(path) && (await askForKey())) response = await send(method, path, options);
  if (response.status === 204) return null;
  let answer = null;
  try {
    answer = await response.json();
  } catch {
    if (response.ok) throw new Unreachable(); // The connection broke in the middle of the answer.
  }
  if (!response.ok) throw new Refused(response.status, answer?.error ?? {});
  return answer;
}

const query = (values) => {
  const text = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== null && value !== undefined)).toString();
  return text ? `?${text}` : "";
};
const of = (project) => `v1/projects/${encodeURIComponent(project)}`;
const LONG = { timeout: 300_000 };

export const api = {
  login: (key) => request("POST", "v1/login", { json: { key } }),
  logout: () => request("POST", "v1/logout"),
  model: () => request("GET", "v1/model"),
  paraphrase: (wanted, signal) => request("POST", "v1/paraphrase", { json: wanted, signal, timeout: 120_000 }),
  projects: () => request("GET", "v1/projects").then((answer) => answer.projects),
  create: (project) => request("POST", "v1/projects", { json: project, ...LONG }),
  upload: (form) => request("POST", "v1/projects/upload", { form, ...LONG }),
  project: (id) => request("GET", of(id)),
  change: (id, changes) => request("PATCH", of(id), { json: changes }),
  remove: (id) => request("DELETE", of(id)),
  pairs: (id, filter, offset, limit) => request("GET", `${of(id)}/pairs${query({ ...filter, offset, limit })}`),
  pair: (id, n) => request("GET", `${of(id)}/pairs/${n}`),
  addParaphrase: (id, pair, paraphrase) => request("POST", `${of(id)}/pairs`, { json: { pair, paraphrase } }),
  next: (id, filter, after) => request("POST", `${of(id)}/next`, { json: { filter, after }, timeout: 5_000 }),
  decide: (id, decision, reviewer) => request("POST", `${of(id)}/decisions`, { json: decision, reviewer, timeout: 10_000 }),
  decideAll: (id, body) => request("POST", `${of(id)}/decisions/bulk`, { json: body, ...LONG }),
  undo: (id) => request("POST", `${of(id)}/undo`),
  redo: (id) => request("POST", `${of(id)}/redo`),
  scores: (id) => request("GET", `${of(id)}/scores`),
  log: (id, before) => request("GET", `${of(id)}/log${query({ before, limit: 100 })}`),
  agreement: (id) => request("GET", `${of(id)}/agreement`),
  suggestion: (id) => request("GET", `${of(id)}/suggestion`),
  exportAddress: (id, format, only) => `${of(id)}/export${query({ format, only })}`,
  import: (id, form) => request("POST", `${of(id)}/import`, { form, ...LONG }),
};
