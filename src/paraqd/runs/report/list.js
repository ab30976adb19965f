// A long list of which only the rows near the screen exist. Rows have different heights, measured as they appear.
"use strict";

const RENDER_ALL = 200; // a list with at most this many rows is not shortened, so the browser's own search works
const OVERSCAN = 900; // pixels above and below the screen in which rows exist
const ROW_GAP = 12;

class RowList {
  // `make` returns the element of an item, and `estimate` guesses its height for a width before it is measured.
  constructor(container, make, estimate) {
    this.container = container;
    this.make = make;
    this.estimate = estimate;
    this.items = [];
    this.rows = new Map(); // position → element
    this.width = 0;
    this.afterLayout = () => {};
    this.observer = new ResizeObserver((entries) => this.resized(entries));
    this.observer.observe(container);
    addEventListener("scroll", () => this.schedule(), { passive: true });
    addEventListener("resize", () => this.schedule());
  }

  show(items) {
    this.items = items;
    for (const row of this.rows.values()) this.drop(row);
    this.rows.clear();
    this.width = this.container.clientWidth;
    this.guess();
    this.layout();
  }

  guess() {
    this.heights = Float64Array.from(this.items, (item) => this.estimate(item, this.width) + ROW_GAP);
    this.measured = new Uint8Array(this.items.length);
    this.sums = new Float64Array(this.items.length + 1); // a Fenwick tree of the heights
    this.heights.forEach((height, position) => this.add(position, height));
  }

  add(position, amount) {
    for (let i = position + 1; i < this.sums.length; i += i & -i) this.sums[i] += amount;
  }

  // Return the distance of a row from the top of the list; for the number of rows, the height of the list.
  top(position) {
    let sum = 0;
    for (let i = position; i > 0; i -= i & -i) sum += this.sums[i];
    return sum;
  }

  // Return the row at a distance from the top of the list.
  at(distance) {
    let position = 0;
    let step = 1 << Math.floor(Math.log2(Math.max(1, this.items.length)));
    for (let rest = distance; step; step >>= 1) {
      if (position + step < this.sums.length && this.sums[position + step] <= rest) {
        position += step;
        rest -= this.sums[position];
      }
    }
    return Math.min(position, this.items.length - 1);
  }

  schedule() {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      this.layout();
    });
  }

  resized(entries) {
    if (this.container.clientWidth !== this.width) {
      const first = this.firstVisible();
      this.width = this.container.clientWidth;
      this.guess();
      for (const [position, row] of this.rows) this.measure(position, row);
      this.keep(first);
    } else {
      const first = this.firstVisible();
      let changed = false;
      for (const { target } of entries) {
        if (target !== this.container && target.isConnected) changed = this.measure(target.position, target) || changed;
      }
      if (!changed) return;
      this.keep(first);
    }
    this.layout();
  }

  measure(position, row) {
    const height = row.getBoundingClientRect().height + ROW_GAP;
    this.measured[position] = 1;
    const change = height - this.heights[position];
    if (Math.abs(change) < 0.5) return false;
    this.heights[position] = height;
    this.add(position, change);
    return true;
  }

  // Return the first row on the screen and its place there, or null if the list begins on the screen or below it.
  firstVisible() {
    const above = -this.container.getBoundingClientRect().top;
    if (!this.items.length || above <= 0 || above >= this.top(this.items.length)) return null;
    const position = this.at(above);
    const page = document.documentElement;
    return { position, offset: this.top(position) - above, atEnd: scrollY + innerHeight >= page.scrollHeight - 2 };
  }

  // Scroll such that a row is at the same place on the screen as before; the end of the page stays the end.
  keep(first) {
    this.container.style.height = `${this.top(this.items.length)}px`;
    if (first === null) return;
    if (first.atEnd) {
      scrollTo(0, document.documentElement.scrollHeight);
      return;
    }
    const above = -this.container.getBoundingClientRect().top;
    const move = this.top(first.position) - first.offset - above;
    if (Math.abs(move) >= 1) scrollBy(0, move);
  }

  layout() {
    const count = this.items.length;
    for (let attempt = 0; attempt < 5; attempt++) {
      this.container.style.height = `${this.top(count)}px`;
      const above = -this.container.getBoundingClientRect().top;
      const whole = count <= RENDER_ALL;
      const start = whole ? 0 : this.at(Math.max(0, above - OVERSCAN));
      const end = whole ? count : Math.min(count, this.at(Math.max(0, above + innerHeight + OVERSCAN)) + 1);
      const first = this.firstVisible();
      const added = this.fill(start, end);
      const changed = added.map((position) => this.measure(position, this.rows.get(position))).includes(true);
      if (changed) this.keep(first);
      if (!changed) break;
    }
    for (const [position, row] of this.rows) row.style.top = `${this.top(position)}px`;
    this.afterLayout();
  }

  // Make the rows from start to end exist, and no others except the one with the focus. Return the new positions.
  fill(start, end) {
    for (const [position, row] of this.rows) {
      if ((position < start || position >= end) && !row.contains(document.activeElement)) {
        this.drop(row);
        this.rows.delete(position);
      }
    }
    const added = [];
    for (let position = start; position < end; position++) {
      if (!this.rows.has(position)) added.push(position);
    }
    if (!added.length) return added;
    for (const position of added) {
      const row = this.make(this.items[position], position);
      row.position = position;
      row.style.top = `${this.top(position)}px`;
      this.rows.set(position, row);
    }
    // the order in the document is that of the list, so that Tab and screen readers follow it
    this.rows = new Map([...this.rows].sort(([a], [b]) => a - b));
    let next = null;
    for (const row of [...this.rows.values()].reverse()) {
      if (!row.isConnected) this.container.insertBefore(row, next);
      next = row;
    }
    for (const position of added) this.observer.observe(this.rows.get(position));
    return added;
  }

  drop(row) {
    this.observer.unobserve(row);
    row.remove();
  }

  // Scroll to a row and give it the focus. `covered` is the height of what covers the top of the screen.
  focus(position, covered) {
    if (position < 0 || position >= this.items.length) return;
    for (let attempt = 0; attempt < 3; attempt++) {
      const top = this.container.getBoundingClientRect().top + this.top(position);
      const bottom = top + this.heights[position];
      if (top < covered) scrollBy(0, top - covered - ROW_GAP);
      else if (bottom > innerHeight) {
        scrollBy(0, Math.min(top - covered - ROW_GAP, bottom - innerHeight + ROW_GAP));
      }
      this.layout();
    }
    this.rows.get(position)?.focus({ preventScroll: true });
  }
}
