// Decisions on their way to the server. Each is kept in the browser's storage until the server has saved it, so that
// neither a broken connection, nor a reload, nor a restart of the server loses one.

import { api, isPassing } from "./api.js";
import { forget, keysFrom, recall, remember } from "./memory.js";

const KEY = "outbox.";
const WAITS = [500, 1000, 2000, 4000, 8000, 15000]; // milliseconds before each new try

export class Outbox {
  /** `onSaved(entry, answer)`, `onRefused(entry, error)` and `onChange(state)` are called as decisions go out. */
  constructor({ onSaved, onRefused, onChange }) {
    Object.assign(this, { onSaved, onRefused, onChange });
    this.sending = false;
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

  add(entry) {
    const order = String(Date.now()).padStart(15, "0");
    const key = `${KEY}${order}.${Math.random().toString(36).slice(2, 8)}`;
    this.stored = remember(key, JSON.stringify(entry));
    this.retry();
  }

  /** Take back the newest decision that was not sent. Return it, or null. */
  takeBack() {
    const last = this.entries().at(-1);
    if (!last || last.key === this.sendingKey) return null;
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
    this.onChange({ waiting, failing: waiting > 0 && this.failures > 0, stored: this.stored });
    this.wake();
  }

  async sendAll() {
    if (this.sending) return;
    this.sending = true;
    try {
      // Of several tabs, one sends at a time. Browsers offer locks on secure addresses and on this machine only.
      if (navigator.locks) await navigator.locks.request("paraqd-outbox", () => this.sendInOrder());
      else await this.sendInOrder();
    } finally {
      this.sending = false;
    }
  }

  async sendInOrder() {
    for (let entry = this.entries()[0]; entry; entry = this.entries()[0]) {
      this.sendingKey = entry.key;
      try {
        const { project, pair, decision, note, reviewer } = entry;
        const answer = await api.decide(project, note === undefined ? { pair, decision } : { pair, decision, note }, reviewer);
        forget(entry.key);
        this.failures = 0;
        this.onSaved(entry, answer);
      } catch (error) {
        if (isPassing(error) || error.status === 401) {
          const wait = WAITS[Math.min(this.failures, WAITS.length - 1)];
          this.failures += 1;
          this.timer = setTimeout(() => this.retry(), wait);
          return;
        }
        forget(entry.key);
        this.onRefused(entry, error);
      } finally {
        this.sendingKey = null;
        this.changed();
      }
    }
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
