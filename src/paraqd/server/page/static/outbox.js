// Decisions on their way to the server. Each is kept in the browser's storage until the server has saved it, so that
// neither a broken connection, nor a reload, nor a restart of the server loses one. Each has a key of its own: if an
// answer is lost and the decision is sent again, the server knows it and saves it once.

import { Unreachable, api, newKey } from "./api.js";
import { forget, keysFrom, recall, remember } from "./memory.js";
import { warn } from "./messages.js";

const KEY = "outbox.";
const WAITS = [500, 1000, 2000, 4000, 8000, 15000]; // milliseconds before each new try
const FINAL = ["not_found", "bad_request", "invalid_request"]; // the server's own words for what can never be saved

class Outbox {
  constructor() {
    this.listener = null; // the review that is shown: onSaved(entry, answer), onRefused(entry), drawSaving(state)
    this.sending = false;
    this.lockless = false;
    this.failures = 0;
    this.timer = null;
    this.stored = true;
    this.waiters = [];
    addEventListener("online", () => this.retry());
    addEventListener("storage", (event) => event.key?.startsWith(`paraqd.${KEY}`) && this.changed());
  }

  /** Return the decisions that are not saved yet, oldest first. */
  entries() {
    const found = [];
    for (const key of keysFrom(KEY).sort()) {
      try {
        found.push({ ...JSON.parse(recall(key)), key });
      } catch {
        forget(key); // Not ours, or damaged.
      }
    }
    return found;
  }

  /** Return one reviewer's decisions in a project that are not saved yet, oldest first. */
  entriesOf(project, reviewer) {
    return this.entries().filter((entry) => entry.project === project && entry.reviewer === reviewer);
  }

  add(entry) {
    this.stored = this.write({ ...entry, tried: 0, key: KEY + newKey() });
    this.retry();
  }

  write({ key, ...entry }) {
    return remember(key, JSON.stringify(entry));
  }

  /** Take back a reviewer's newest decision in a project. Return it, or null if the server may have saved it. */
  takeBack(project, reviewer) {
    const last = this.entriesOf(project, reviewer).at(-1);
    if (!last || last.tried) return null;
    forget(last.key);
    this.changed();
    return last;
  }

  retry() {
    clearTimeout(this.timer);
    this.timer = null;
    this.changed();
    void this.sendAll();
  }

  changed() {
    const waiting = this.entries().length;
    if (!waiting) this.failures = 0;
    this.listener?.drawSaving({ waiting, failing: waiting > 0 && this.failures > 0, stored: this.stored });
    this.wake();
  }

  async sendAll() {
    if (this.sending) return;
    this.sending = true;
    try {
      // Of several tabs, one sends at a time. Browsers offer locks on secure addresses and on this machine only.
      if (navigator.locks && !this.lockless) await navigator.locks.request("paraqd-outbox", () => this.sendInOrder());
      else await this.sendInOrder();
    } catch (error) {
      this.lockless = error.name === "SecurityError"; // the browser keeps nothing for this page
      this.later();
      if (!this.lockless) throw error;
    } finally {
      this.sending = false;
      this.changed();
      if (this.timer === null && this.entries().length) this.retry(); // added while the lock was given back
    }
  }

  /** Try again after a while; the while grows with each failure. */
  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.retry(), WAITS[Math.min(this.failures, WAITS.length - 1)]);
    this.failures += 1;
  }

  async sendInOrder() {
    for (let entry = this.entries()[0]; entry; entry = this.entries()[0]) {
      let answer = null;
      this.write({ ...entry, tried: 1 }); // from now on the server may have saved it
      try {
        answer = await this.send(entry);
      } catch (error) {
        if (!FINAL.includes(error.code)) return this.later();
        forget(entry.key);
        warn(`The decision on pair ${entry.pair} was not saved: ${error.message}`);
        this.listener?.onRefused(entry);
        this.changed();
        continue;
      }
      forget(entry.key);
      this.failures = 0;
      this.listener?.onSaved(entry, answer);
      this.changed();
    }
    return undefined;
  }

  async send({ project, pair, decision, note, reviewer, key }) {
    const answer = await api.decide(project, { pair, decision, note, request: key.slice(KEY.length) }, reviewer);
    if (!answer?.pair) throw new Unreachable(); // something else answered, such as a proxy
    return answer;
  }

  /** Wait until everything is saved. Resolve to false if that fails now. */
  settled() {
    return new Promise((resolve) => {
      this.waiters.push(resolve);
      this.wake();
    });
  }

  wake() {
    const waiting = this.entries().length > 0;
    if (waiting && !this.failures) return;
    for (const resolve of this.waiters.splice(0)) resolve(!waiting);
  }
}

export const outbox = new Outbox(); // one for the page, whichever project is shown
