// Build elements. Texts of users only ever become text nodes: nothing here parses HTML.

const SVG = "http://www.w3.org/2000/svg";

/**
 * Return a new element. An attribute that begins with "on" is an event listener; true and false set or leave out an
 * attribute; `value` and `checked` set the property.
 */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value);
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

function setAttribute(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
  else if (name === "value" || name === "checked") element[name] = value;
  else element.setAttribute(name, value === true ? "" : value);
}

/** Put these children in place of the element's present ones. */
export function replace(element, ...children) {
  element.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const ICONS = {
  accept: "m5 12.5 4.5 4.5L19 7.5",
  reject: "M6.5 6.5l11 11m0-11-11 11",
  review: "M9 9.2a3 3 0 1 1 4.3 2.7c-.9.45-1.3 1-1.3 2.1M12 17.6v.1",
  error: "M12 7v6.5M12 17v.1",
  skip: "m6 6 6 6-6 6m7-12 6 6-6 6",
  undo: "M8.5 5 4.5 9l4 4M5 9h8.5a5.5 5.5 0 0 1 0 11H9",
  redo: "m15.5 5 4 4-4 4M19 9h-8.5a5.5 5.5 0 0 0 0 11H15",
  search: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13Zm4.8-1.7L20 20",
  back: "m14.5 5.5-6.5 6.5 6.5 6.5",
  note: "M5 19h4L19.2 8.8a2 2 0 0 0-2.9-2.9L6 16.1 5 19Z",
  theme: "M12 4a8 8 0 1 0 0 16V4Z",
  help: "M9 9.2a3 3 0 1 1 4.3 2.7c-.9.45-1.3 1-1.3 2.1M12 17.6v.1",
  file: "M12 15.5V4.5m-4.5 4L12 4l4.5 4.5M5 15v3.5A1.5 1.5 0 0 0 6.5 20h11a1.5 1.5 0 0 0 1.5-1.5V15",
  eye: "M3 12s3.5-6 9-6 9 6 9 6-3.5 6-9 6-9-6-9-6Zm9 2.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Z",
  saved: "m5 12.5 4.5 4.5L19 7.5",
};

/** Return a decorative icon. The text beside it says what it means. */
export function icon(name) {
  return svg(
    "svg",
    { viewBox: "0 0 24 24", class: `icon icon-${name}`, "aria-hidden": "true", focusable: "false" },
    svg("path", { d: ICONS[name] }),
  );
}

/** Return a button with a text, perhaps an icon, and perhaps the key that does the same. */
export function button(text, { key = null, symbol = null, kind = "", ...attributes } = {}) {
  const shortcut = key ? { "aria-keyshortcuts": key.length === 1 ? key.toUpperCase() : key } : {};
  return h(
    "button",
    { type: "button", class: `button ${kind}`.trim(), ...shortcut, ...attributes },
    symbol && icon(symbol),
    h("span", { class: "label" }, text),
    key && h("kbd", { "aria-hidden": "true" }, key.length === 1 ? key.toUpperCase() : key),
  );
}

let fields = 0;

/** Return a label above its field. */
export function field(label, control, hint = null) {
  control.id ||= `field-${++fields}`;
  if (hint) control.setAttribute("aria-describedby", `${control.id}-hint`);
  return h(
    "div",
    { class: "field" },
    h("label", { class: "field-name", for: control.id }, label),
    control,
    hint && h("span", { class: "hint", id: `${control.id}-hint` }, hint),
  );
}
