// Dialogs on the browser's own <dialog>, which keeps the focus inside, closes on Escape and gives the focus back.

import { api, onKeyNeeded, reviewerName } from "./api.js";
import { button, field, h, replace } from "./dom.js";
import { remember } from "./memory.js";

let number = 0;

/**
 * Open a dialog. `build(close)` returns its content; `close(value)` ends it. Resolve to the value, or to null if it
 * was cancelled.
 */
export function openDialog(title, build, { wide = false } = {}) {
  return new Promise((resolve) => {
    const id = `dialog-${++number}`;
    let result = null;
    const dialog = h("dialog", { class: wide ? "dialog dialog-wide" : "dialog", "aria-labelledby": id });
    const close = (value = null) => {
      result = value;
      dialog.close();
    };
    const shut = h("button", { type: "button", class: "icon-button", "aria-label": "Close", onclick: () => close() }, "✕");
    dialog.append(
      h("div", { class: "dialog-head" }, h("h2", { id }, title), shut),
      h("div", { class: "dialog-body" }, build(close)),
    );
    dialog.addEventListener("click", (event) => event.target === dialog && close()); // the area around it
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(result);
    });
    document.body.append(dialog);
    dialog.showModal();
    (dialog.querySelector("[autofocus]") ?? dialog.querySelector(".dialog-body :is(input, select, button, textarea)") ?? shut).focus();
  });
}

/** A form with fields, an error line and buttons. `submit` may return a sentence that says what is wrong. */
export function dialogForm(content, { action, kind = "primary", submit, close }) {
  const problem = h("p", { class: "problem", role: "alert" });
  const go = button(action, { type: "submit", kind });
  const form = h(
    "form",
    {
      onsubmit: async (event) => {
        event.preventDefault();
        go.disabled = true;
        replace(problem);
        try {
          const wrong = await submit(form);
          if (wrong) replace(problem, wrong);
        } catch (error) {
          replace(problem, error.message);
        } finally {
          go.disabled = false;
        }
      },
    },
    content,
    problem,
    h("div", { class: "dialog-actions" }, button("Cancel", { onclick: () => close() }), go),
  );
  return form;
}

/** Ask for the reviewer's name. Resolve to the name, or to null. */
export function askName() {
  return openDialog("Who is reviewing?", (close) => {
    const input = h("input", { name: "reviewer", value: reviewerName(), maxlength: 80, required: true, autocomplete: "name", autofocus: true });
    return dialogForm(
      [h("p", {}, "Your name stands beside your decisions. The browser remembers it."), field("Your name", input)],
      {
        action: "Continue",
        close,
        submit: () => {
          const name = input.value.trim();
          if (!name) return "Type your name.";
          remember("reviewer", name);
          close(name);
          return null;
        },
      },
    );
  });
}

/** Return the reviewer's name, and ask for it if it is not known. */
export async function knownName() {
  return reviewerName() || (await askName());
}

let askingForKey = null;

/** Ask for the server's key, once even if several requests need it. Resolve to true after signing in. */
function askKey() {
  askingForKey ??= openDialog("Sign in", (close) => {
    const input = h("input", { type: "password", name: "key", required: true, autocomplete: "current-password", autofocus: true });
    return dialogForm([h("p", {}, "This server asks for a key. The person who runs it can give it to you."), field("Key", input)], {
      action: "Sign in",
      close,
      submit: async () => {
        try {
          await api.login(input.value.trim());
          remember("signed-in", "yes");
          close(true);
          return null;
        } catch (error) {
          input.select();
          return error.status === 401 || error.status === 403 ? "This key is not right. Check it and try again." : error.message;
        }
      },
    });
  }).then((done) => {
    askingForKey = null;
    return done === true;
  });
  return askingForKey;
}
onKeyNeeded(askKey);
