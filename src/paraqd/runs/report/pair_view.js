// Mark the evidence and the word differences in a pair of texts. Defines globalThis.PairView; needs no other script.
//
// A pair is {question, paraphrase, evidence: [{kind, question_spans, paraphrase_spans, message, delta}], warnings}.
// Spans are [start, end] in code points, as in score files. Texts are only ever inserted as text nodes.
"use strict";

globalThis.PairView = (() => {
  const FAULT_NAMES = {
    number_lost: "Number lost",
    number_added: "Number added",
    number_changed: "Number changed",
    unit_changed: "Unit changed",
    entity_changed: "Name or thing changed",
    question_lost: "Question lost",
    question_changed: "Question changed",
    relation_changed: "Relation changed",
    content_lost: "Content lost",
    content_added: "Content added",
    incoherent: "Makes no sense",
  };
  // a number with its decimals, a word with its apostrophes, white space, or any other single character
  const TOKENS = /\p{N}+(?:[.,]\p{N}+)*|[\p{L}\p{M}_]+(?:['’][\p{L}\p{M}]+)*|\s+|[^\p{L}\p{M}\p{N}_\s]/gu;
  const COMPARED = 3000; // words; longer texts are shown as replaced entirely, because comparison takes quadratic time
  const ISLAND = 3; // equal words with at most this many characters between two differences count as different

  // --- names and sentences ---------------------------------------------------------------------------------------

  function faultName(kind) {
    if (Object.hasOwn(FAULT_NAMES, kind)) return FAULT_NAMES[kind];
    const words = String(kind).replaceAll("_", " ").trim();
    return words ? words[0].toUpperCase() + words.slice(1) : "Fault";
  }

  function messages(pair) {
    const evidence = (pair.evidence || []).map((piece) => piece.message || faultName(piece.kind));
    return [...evidence, ...(pair.warnings || [])];
  }

  // --- positions -------------------------------------------------------------------------------------------------

  // Return a function that turns a position in code points into a position in the string.
  function positions(text) {
    if (!/[\ud800-\udbff]/.test(text)) return (point) => Math.max(0, Math.min(point, text.length));
    const starts = [];
    let at = 0;
    for (const character of text) {
      starts.push(at);
      at += character.length;
    }
    starts.push(at);
    return (point) => starts[Math.max(0, Math.min(point, starts.length - 1))];
  }

  // Return the spans of all evidence in one text as [{start, end, evidence}] in string positions.
  function evidenceSpans(text, evidence, name) {
    const place = positions(text);
    return evidence.flatMap((piece, index) =>
      (piece[name] || []).map(([start, end]) => ({
        start: place(start),
        end: Math.max(place(start), place(end)),
        evidence: index,
      })),
    );
  }

  // --- word differences ------------------------------------------------------------------------------------------

  function words(text) {
    return Array.from(text.matchAll(TOKENS), (found) => ({
      text: found[0],
      start: found.index,
      end: found.index + found[0].length,
    })).filter((word) => word.text.trim());
  }

  // Return, for each text, an array that says which of its words are equal to a word of the other text.
  function equalWords(a, b) {
    const inA = new Array(a.length).fill(false);
    const inB = new Array(b.length).fill(false);
    const match = (i, j) => (inA[i] = inB[j] = true);
    let head = 0;
    while (head < a.length && head < b.length && a[head].text === b[head].text) match(head, head++);
    let tail = 0;
    const room = Math.min(a.length, b.length) - head;
    while (tail < room && a[a.length - 1 - tail].text === b[b.length - 1 - tail].text) {
      match(a.length - 1 - tail, b.length - 1 - tail);
      tail++;
    }
    const n = a.length - head - tail;
    const m = b.length - head - tail;
    if (!n || !m || Math.max(n, m) > COMPARED) return [inA, inB];
    // longest common subsequence; lengths[i * width + j] is that of the words from i and from j on
    const width = m + 1;
    const lengths = new Uint16Array((n + 1) * width);
    for (let i = n - 1; i >= 0; i--) {
      for (let j = m - 1; j >= 0; j--) {
        const below = lengths[(i + 1) * width + j];
        const right = lengths[i * width + j + 1];
        lengths[i * width + j] =
          a[head + i].text === b[head + j].text ? lengths[(i + 1) * width + j + 1] + 1 : Math.max(below, right);
      }
    }
    const runs = [];
    let i = 0;
    let j = 0;
    while (i < n && j < m) {
      if (a[head + i].text === b[head + j].text) {
        const last = runs.at(-1);
        if (last && last.i + last.size === i && last.j + last.size === j) last.size++;
        else runs.push({ i, j, size: 1 });
        i++;
        j++;
      } else if (lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]) i++;
      else j++;
    }
    for (const run of runs) {
      const text = a.slice(head + run.i, head + run.i + run.size).map((word) => word.text).join("");
      const inside = run.i > 0 && run.j > 0 && run.i + run.size < n && run.j + run.size < m;
      if (inside && text.length <= ISLAND && !/\p{N}/u.test(text)) continue;
      for (let k = 0; k < run.size; k++) match(head + run.i + k, head + run.j + k);
    }
    return [inA, inB];
  }

  // Return the spans of neighbouring words that have no equal in the other text.
  function differing(all, equal) {
    const spans = [];
    let open = false;
    all.forEach((word, index) => {
      if (equal[index]) open = false;
      else if (open) spans.at(-1).end = word.end;
      else {
        spans.push({ start: word.start, end: word.end });
        open = true;
      }
    });
    return spans;
  }

  function differences(question, paraphrase) {
    if (question === paraphrase) return [[], []];
    const a = words(question);
    const b = words(paraphrase);
    const [inA, inB] = equalWords(a, b);
    return [differing(a, inA), differing(b, inB)];
  }

  // --- marked texts ----------------------------------------------------------------------------------------------

  function markElement(pieces, evidence, empty) {
    const mark = document.createElement("mark");
    mark.className = empty ? "ev ev-point" : "ev";
    mark.tabIndex = 0;
    mark.dataset.kind = evidence[pieces[0]].kind;
    mark.dataset.evidence = pieces.join(" ");
    mark.dataset.message = pieces.map((index) => messages({ evidence: [evidence[index]] })[0]).join("\n");
    if (empty) {
      mark.setAttribute("role", "img");
      mark.setAttribute("aria-label", faultName(mark.dataset.kind));
    }
    return mark;
  }

  // Return the text with a mark for each stretch that has evidence, and a <del> or <ins> for each difference.
  function marked(text, spans, evidence, changes, changeTag) {
    const fragment = document.createDocumentFragment();
    const cuts = new Set([0, text.length]);
    for (const span of [...spans, ...changes]) cuts.add(span.start).add(span.end);
    const places = [...cuts].sort((a, b) => a - b);
    let parent = fragment;
    let current = "";
    let change = null;
    places.forEach((start, index) => {
      const here = spans.filter((span) => span.start === start && span.end === start);
      if (here.length) {
        const pieces = [...new Set(here.map((span) => span.evidence))];
        fragment.append(markElement(pieces, evidence, true));
        current = "";
        parent = fragment;
        change = null;
      }
      const end = places[index + 1];
      if (end === undefined) return;
      const over = spans.filter((span) => span.start <= start && span.end >= end).map((span) => span.evidence);
      const pieces = [...new Set(over)].sort((a, b) => a - b);
      const key = pieces.join(" ");
      if (key !== current || (key === "" && parent !== fragment)) {
        parent = key === "" ? fragment : fragment.appendChild(markElement(pieces, evidence, false));
        current = key;
        change = null;
      }
      const changed = changes.find((span) => span.start <= start && span.end >= end);
      if (!changed) {
        change = null;
        parent.append(document.createTextNode(text.slice(start, end)));
        return;
      }
      if (change === null) change = parent.appendChild(document.createElement(changeTag));
      change.append(document.createTextNode(text.slice(start, end)));
    });
    fragment.normalize();
    return fragment;
  }

  function render(pair, { diff = true } = {}) {
    const question = String(pair.question ?? "");
    const paraphrase = String(pair.paraphrase ?? "");
    const evidence = pair.evidence || [];
    const [removed, added] = diff ? differences(question, paraphrase) : [[], []];
    const inQuestion = evidenceSpans(question, evidence, "question_spans");
    const inParaphrase = evidenceSpans(paraphrase, evidence, "paraphrase_spans");
    return {
      question: marked(question, inQuestion, evidence, removed, "del"),
      paraphrase: marked(paraphrase, inParaphrase, evidence, added, "ins"),
    };
  }

  // --- tips ------------------------------------------------------------------------------------------------------

  let tip = null; // one tip serves the whole document
  let owner = null; // the mark that the tip describes
  let hiding = 0;

  function tipElement() {
    if (tip && tip.isConnected) return tip;
    tip = document.createElement("div");
    tip.id = "pair-view-tip";
    tip.className = "ev-tip";
    tip.setAttribute("role", "tooltip");
    tip.hidden = true;
    tip.addEventListener("pointerenter", () => clearTimeout(hiding)); // a reader may move into the tip
    tip.addEventListener("pointerleave", () => hideSoon());
    document.body.append(tip);
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && owner) {
        event.stopPropagation();
        hide();
      }
    }, true);
    addEventListener("scroll", () => (owner?.isConnected ? placeTip() : hide()), { passive: true });
    addEventListener("resize", hide);
    return tip;
  }

  // Return the marks of the same evidence in both texts. The pair is the closest element with the class pair-view.
  function fellows(mark) {
    const around = mark.closest(".pair-view") || mark.parentElement || mark; // a mark may have left the page
    const wanted = mark.dataset.evidence.split(" ");
    return [...around.querySelectorAll("mark.ev")].filter((other) =>
      other.dataset.evidence.split(" ").some((index) => wanted.includes(index)),
    );
  }

  function show(mark) {
    clearTimeout(hiding);
    if (owner === mark) return;
    hide();
    owner = mark;
    const box = tipElement();
    box.replaceChildren(
      ...mark.dataset.message.split("\n").map((line) => {
        const paragraph = document.createElement("p");
        paragraph.textContent = line;
        return paragraph;
      }),
    );
    box.hidden = false;
    mark.setAttribute("aria-describedby", box.id);
    for (const fellow of fellows(mark)) fellow.classList.add("ev-active");
    placeTip();
  }

  function placeTip() {
    const margin = 8;
    const target = owner.getClientRects()[0] || owner.getBoundingClientRect();
    tip.hidden = target.bottom < 0 || target.top > innerHeight; // while the mark is off the screen
    const size = tip.getBoundingClientRect();
    const left = Math.max(margin, Math.min(target.left, document.documentElement.clientWidth - size.width - margin));
    const above = target.top - size.height - margin;
    tip.style.left = `${left}px`;
    tip.style.top = `${above >= margin ? above : target.bottom + margin}px`;
  }

  function hide() {
    clearTimeout(hiding);
    if (!owner) return;
    owner.removeAttribute("aria-describedby");
    for (const fellow of fellows(owner)) fellow.classList.remove("ev-active");
    owner = null;
    tip.hidden = true;
  }

  function hideSoon() {
    clearTimeout(hiding);
    hiding = setTimeout(hide, 150);
  }

  function attachTips(root) {
    const markOf = (event) => (event.target instanceof Element ? event.target.closest("mark.ev") : null);
    root.addEventListener("pointerover", (event) => {
      const mark = markOf(event);
      if (mark && event.pointerType !== "touch") show(mark);
    });
    root.addEventListener("pointerout", (event) => {
      if (markOf(event) && owner !== document.activeElement) hideSoon();
    });
    root.addEventListener("focusin", (event) => {
      const mark = markOf(event);
      if (mark) show(mark);
      else hide();
    });
    root.addEventListener("focusout", (event) => {
      if (markOf(event)) hideSoon();
    });
    root.addEventListener("click", (event) => {
      const mark = markOf(event);
      if (mark) show(mark);
      else hide();
    });
  }

  return { render, faultName, messages, attachTips };
})();
