// The bar at the top: where you are, whether everything is saved, and what concerns the whole page.

import { api, reviewerName } from "./api.js";
import { askName } from "./dialogs.js";
import { button, h, icon, replace } from "./dom.js";
import { say, warn } from "./messages.js";
import { forget, recall, remember } from "./memory.js";
import { outbox } from "./outbox.js";
import { askDelete, askSettings, showAgreement, showExport, showHelp, showLog } from "./project_dialogs.js";
import { count, percent, plural } from "./words.js";

const THEMES = { system: "as the system", light: "light", dark: "dark" };
const bar = () => document.getElementById("header");

const brand = () => h("a", { class: "brand", href: location.pathname, "aria-label": "paraqd: all projects" }, h("img", { src: "static/icon.svg", alt: "", width: 28, height: 28 }), h("span", { class: "brand-name" }, "paraqd"));

function themeButton() {
  const shown = recall("theme", "system");
  const name = h("span", { class: "hidden-text" }, `Colours: ${THEMES[shown]}`);
  const element = h("button", { type: "button", class: "icon-button", title: name.textContent }, icon("theme"), name);
  element.addEventListener("click", () => {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const order = dark ? ["system", "light", "dark"] : ["system", "dark", "light"];
    const next = order[(order.indexOf(recall("theme", "system")) + 1) % 3];
    if (next === "system") {
      forget("theme");
      delete document.documentElement.dataset.theme;
    } else {
      remember("theme", next);
      document.documentElement.dataset.theme = next;
    }
    element.title = name.textContent = `Colours: ${THEMES[next]}`;
    say(name.textContent);
  });
  return element;
}

const helpButton = () => h("button", { type: "button", class: "icon-button help-button", title: "Keys and help", onclick: () => showHelp() }, icon("help"), h("span", { class: "hidden-text" }, "Keys and help"));

function nameButton(onChange) {
  const name = reviewerName();
  return h(
    "button",
    {
      type: "button", class: "reviewer", title: "Change your name",
      onclick: async () => (await askName()) && onChange(),
    },
    h("span", { class: "initial", "aria-hidden": "true" }, name ? [...name][0].toUpperCase() : "?"),
    h("span", { class: "reviewer-name" }, name || "Your name"),
  );
}

/** Leave the server: it asks for its key again. Only people who gave a key are offered this. */
async function signOut() {
  try {
    await api.logout();
  } catch (error) {
    if (error.status !== 401) return warn(error); // else the session has ended by itself
  }
  forget("signed-in");
  location.assign(location.pathname);
  return undefined;
}

const isSignedIn = () => recall("signed-in") !== null;

/** Show the bar of the start page. */
export function showStart() {
  const draw = () => replace(bar(), brand(), h("span", { class: "spring" }), nameButton(draw), themeButton(), helpButton());
  draw();
}

let parts = null; // the bar of the project that is shown

/** Show the bar of a project. It is built once, so that a button keeps the focus while the figures change. */
export function showProject(project, review, saving = null) {
  if (parts?.id !== project.id || !parts.root.isConnected) parts = build(project, review);
  parts.project = project;
  const { open, accepted, rejected, disputed } = project.status;
  const decided = accepted + rejected;
  parts.name.textContent = project.name;
  parts.done.max = Math.max(1, open + decided + disputed);
  parts.done.value = decided;
  parts.doneText.textContent = `${count(decided)} of ${count(project.total)} decided`;
  parts.done.title = percent(project.total ? decided / project.total : 0);
  if (saving) drawSaving(saving);
}

export function forgetProject() {
  parts = null;
}

function build(project, review) {
  const made = { id: project.id, project };
  const menuItem = (text, action, kind = "") =>
    h("button", { type: "button", class: `menu-item ${kind}`, onclick: () => (menu.hidePopover?.(), action()) }, text);
  const menu = h(
    "div",
    { id: "menu", class: "menu", popover: "auto", role: "group", "aria-label": "Project" },
    menuItem("Log of decisions", () => showLog(made.project, review)),
    menuItem("Agreement", () => showAgreement(made.project)),
    menuItem("Export and import", () => showExport(made.project, review), "only-narrow"),
    menuItem("Settings", () => askSettings(made.project, review)),
    menuItem("Keys and help", () => showHelp(), "only-narrow"),
    isSignedIn() && menuItem("Sign out", () => signOut()),
    menuItem("Delete the project", () => askDelete(made.project), "danger"),
  );
  const menuButton = h("button", { type: "button", class: "icon-button", popovertarget: "menu", title: "More" }, h("span", { "aria-hidden": "true" }, "⋯"), h("span", { class: "hidden-text" }, "More about this project"));
  made.name = h("h1", { class: "project-name" });
  made.done = h("progress", { class: "decided", "aria-label": "Decided" });
  made.doneText = h("span", { class: "decided-text" });
  made.saving = h("div", { class: "saving", "data-state": "saved" });
  const name = h("span", { class: "name-slot" });
  const drawName = () => replace(name, nameButton(() => (drawName(), void review.refresh())));
  drawName();
  made.root = h("div", { class: "header-project" }, made.name, h("div", { class: "decided-box" }, made.done, made.doneText));
  replace(
    bar(), brand(), made.root, h("span", { class: "spring" }), made.saving,
    button("Export", { kind: "small only-wide", symbol: "file", onclick: () => showExport(made.project, review) }),
    name, themeButton(), helpButton(), menuButton, menu,
  );
  parts = made;
  drawSaving({ waiting: 0, failing: false, stored: true });
  return made;
}

function drawSaving({ waiting, failing, stored }) {
  const { saving } = parts;
  const state = failing ? "failing" : waiting ? "waiting" : "saved";
  const told = `${state} ${failing ? waiting : 0}`;
  if (saving.dataset.told === told) return;
  const before = saving.dataset.state;
  saving.dataset.told = told;
  saving.dataset.state = state;
  if (state === "saved") replace(saving, icon("saved"), h("span", {}, "Saved"));
  if (state === "waiting") replace(saving, h("span", {}, "Saving…"));
  if (state === "failing") {
    const where = stored ? "" : " Keep this page open.";
    const retry = button("Retry", { kind: "small", onclick: () => outbox.retry() });
    replace(saving, h("span", { title: `Kept in this browser until the server answers.${where}` }, `Not saved: ${plural(waiting, "decision")}`), retry);
    if (before !== "failing") say(`Not saved: ${plural(waiting, "decision")}. The page tries again by itself.${where}`);
  }
  if (state === "saved" && before === "failing") say("Everything is saved.");
}
