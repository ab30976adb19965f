// Show the start page or a project, as the address says.

import { readAddress } from "./address.js";
import { button, h, replace } from "./dom.js";
import { forgetProject, showStart } from "./header.js";
import { isPassing } from "./api.js";
import { outbox } from "./outbox.js";
import { Review, viewOf } from "./review.js";
import { Start } from "./start.js";

const main = document.getElementById("main");
let shown = null;
let round = 0; // how often the page went somewhere

async function show() {
  const view = viewOf(shown);
  if (view && shown.showView) return void shown.showView(view);
  const mine = ++round;
  shown?.close();
  shown = null;
  forgetProject();
  const { project } = readAddress();
  if (!project) {
    shown = new Start(main, goTo);
    return undefined;
  }
  try {
    const review = await Review.start(main, readAddress(), () => mine === round);
    if (review) shown = review;
  } catch (error) {
    if (mine !== round) return undefined;
    showStart();
    const again = isPassing(error) ? button("Try again", { kind: "primary", onclick: show }) : null;
    replace(main, h("div", { class: "message" }, h("h1", {}, error.status === 404 ? "There is no such project" : "The project cannot be shown"), h("p", {}, error.message), again, h("p", {}, h("a", { href: location.pathname }, "All projects"))));
  }
  return undefined;
}

function goTo(project) {
  history.pushState(null, "", `?project=${encodeURIComponent(project)}`);
  main.focus({ preventScroll: true });
  void show();
}

addEventListener("popstate", () => void show());
// Links inside the page change what is shown without loading the page again.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || link.hasAttribute("download")) return;
  const { origin, pathname, hash } = new URL(link.href);
  if (origin !== location.origin || pathname !== location.pathname || hash) return;
  event.preventDefault();
  history.pushState(null, "", link.getAttribute("href"));
  main.focus({ preventScroll: true });
  void show();
});
outbox.retry(); // what an earlier visit left
void show();
