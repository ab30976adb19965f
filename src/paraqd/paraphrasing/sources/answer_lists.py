"""Find the paraphrases in an answer that is not JSON: a list, labelled texts, a table, or a single text.

A problem may itself contain a list, a label or a sentence that looks like a refusal. What decides is where the answer
asks questions: each paraphrase asks one, while the parts of a single problem, such as the things that somebody buys,
share one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from paraqd.reading import read

FENCE = re.compile(r"^[ \t]*```\w*[ \t]*$", re.M)
_TAG = re.compile(r"</?(?:answer|output|response|paraphrases?|rewrites?|versions?|text|item|[ou]l|li|p)\d*>", re.I)
_QUOTE = re.compile(r"[ \t]*>[ \t]?")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+")
_RULE = re.compile(r"\s*(?:[-*_=]\s*){3,}$")
_ROW = re.compile(r"\s*\|(.+)\|\s*$")
# "1.", "(2)", "**3.**", "#4:" or a digit in a box, alone or before a text; or a bullet
_ITEM = re.compile(r"\s*(?P<bold>\*\*)?(?:\(?#?\d{1,2}[.):]|\d\ufe0f?\u20e3)(?P<end>\*\*)?(?:\s+(?P<text>.+)|\s*)$")
_BULLET = re.compile(r"\s*[-*•–]\s+(?P<text>.+)$")

_STYLE = r"(?:plain|simple|formal|informal|casual|engaging|exam|academic|conversational|concise|detailed|playful|story)"
_NOUN = r"(?:paraphrase[ds]?|versions?|rewrites?|rewritten|rewordings?|reworded|rephrasings?|rephrased|variations?)"
_COUNT = r"(?:first|second|third|fourth|fifth|another|alternative|revised|new|my|the|a|more|your)"
_WORK = rf"(?:(?:{_COUNT} |{_STYLE} ){{0,3}}(?:{_NOUN}|option|alternative|problem|question)\b)"
_NUMBER = r"(?:\s*#?(?:\d{1,2}|[a-h]|one|two|three|four|five)\b)"
_NAME = rf"(?:{_WORK}{_NUMBER}?|{_STYLE}(?: (?:style|tone|language|english))?)"
# a label before a text, such as "Version 1:", "**Second rewrite (formal):**", "Formal:" and "Paraphrase 2 –"
LABEL = re.compile(
    rf"[*_]{{0,3}}(?:{_NAME}(?:\s*[(–—-][^:.?!\n]{{0,30}}|\s+in [^:.?!\n]{{0,25}})?[*_]{{0,3}}\s*:|"
    rf"{_WORK}{_NUMBER}[*_]{{0,3}}(?:\s+[–—-]|[.)])(?=[*_\s]))[*_]{{0,3}}\s*|"
    # any label in bold, unless the text has more of them, such as "**Given:**" and "**Find:**"
    r"\*\*[^*\n]{1,40}(?::\*\*|\*\*\s*[:–—])\s*(?!.*(?::\*\*|\*\*\s*:))",
    re.I,
)
# a label that no problem begins with, such as "Version 1:" and "**Second rewrite (formal):**"
NOUN_LABEL = re.compile(
    rf"[*_]{{0,3}}\b(?:{_COUNT} |{_STYLE} ){{0,3}}{_NOUN}\b{_NUMBER}?"
    r"(?:\s*[(–—-][^:.?!\n]{0,30}|\s+in [^:.?!\n]{0,25})?[*_]{0,3}\s*:[*_]{0,3}\s*",
    re.I,
)
# a label before the second part of a problem, such as "Question:" and "**Find:**"
_PART = re.compile(
    r"[#*_\s]*((?:(?:the|your) )?(?:questions?|(?:(?:what )?to )?find|required|task|goal|challenge|determine|calculate|"
    r"conditions?|rules?|details?|notes?|hint))[*_]{0,3}\s*(?:[:–—]|$)",
    re.I,
)
# a label on a line of its own, a heading, or a few words in bold
_LABEL_LINE = re.compile(
    rf"\s*(?:#{{1,6}}\s++(?:\d{{1,2}}[.)]\s++)?[^.?!]*+|(?:\*\*|__)[^*.?!]+(?:\*\*|__):?|"
    rf"{_NAME}\s*+(?:\([^)]*\))?\W?)\s*$",
    re.I,
)
_OF_WORK = rf"(?:\w+ ){{0,3}}(?:{_NOUN}|options?)\b"
_DONE = r"(?:kept|changed|rewritten|rephrased|reworded|paraphrased|used|preserved)"
# lines that are about the answer; a problem may begin with the same words, as in "Note that Ann has 5 pens."
REMARK = re.compile(
    r"(?:(?:sure|certainly|of course|absolutely|okay|ok|great|no problem)(?:[!,.:]| thing| *$)|"
    rf"(?:here|below) (?:is|are) {_OF_WORK}|here's {_OF_WORK}|here (?:you go|they are|it is)\b|(?:here|below)\b.*:$|"
    rf"these {_OF_WORK}|(?:each|all|both)(?: of)?(?: (?:these|the|them))? ?{_OF_WORK}|notes?:|as requested|"
    rf"(?:\w+ ){{0,3}}{_NOUN}\b[^.?!:]*:$|"
    rf"i hope (?:this|these|that|it|they|you)\b|i(?:'ve|’ve| have) {_DONE}\b(?! \S*\d)|"
    r"i (?:rewrote|rephrased|reworded|paraphrased|kept|preserved)\b|let me know|feel free|"
    r"thank you[.!,]|thanks[.!,]|enjoy[.!]|(?:would you like|do you want) (?:me|more|another|other|any)\b)",
    re.I,
)
_NOTE = re.compile(
    r"[*_]{0,3}(?:(?:final |correct )?answers?|solution|explanation|reasoning|comments?|(?:key )?changes(?: made)?|"
    r"original(?: (?:problem|question|text|version))?)[*_]{0,3}:",
    re.I,
)
_REFUSAL = re.compile(
    r"(?:(?:i'm|i’m|i am)\b.*\b(?:sorry|unable|not able|an ai)\b|sorry\b|i (?:cannot|can't|can’t|won't|will not)\b|"
    r"unfortunately, i\b|as an ai\b|i apologi[sz]e\b)",
    re.I,
)
_NEAR = 8  # lines in which the question of a problem follows a line that looks like a remark or a refusal
# questions to the user
_OFFER = re.compile(
    r"\b(?:would you like|do you want me|is there (?:anything|something)|(?:how|what) (?:else )?(?:can|may) i|"
    r"can i (?:help|assist)|(?:could|can) you (?:please )?(?:provide|share|clarify|tell)|"
    r"does (?:this|that) (?:work|help)|do (?:any of )?these)\b[^.?!]*\?",
    re.I,
)
_LEAD = re.compile(
    r"^(?:(?:sure|certainly|of course|absolutely|okay|here(?:'s| is| are))\b[^:?]{0,80}:\s+(?=\S)|"
    r"(?:sure(?: thing)?|certainly|of course|absolutely|okay|ok)[!.]\s+(?=(?-i:[A-Z0-9\"“])))",
    re.I,
)


def listed_texts(answer: str) -> list[str]:
    r"""Return the paraphrases in an answer, with their labels and quotation marks.

    >>> listed_texts("Version 1: Ann has 2 pens. How many?\nVersion 2: Ann owns 2 pens. How many?")
    ['Ann has 2 pens. How many?', 'Ann owns 2 pens. How many?']
    >>> listed_texts("Ann buys 3 things:\n1. a pen.\n2. a cup.\nHow many things?")
    ['Ann buys 3 things:\n1. a pen.\n2. a cup.\nHow many things?']
    """
    lines = list(map(_unmarked, _TAG.sub("\n---\n", FENCE.sub("", answer)).splitlines()))
    if cells := _cells(lines):
        return cells
    sections = _sections(lines)
    if len(sections) > 1:
        found = [text for section in sections for text in _items(section) or _single(section)]
        # a text without a question or facts may be an explanation
        useful = [text for text in found if _asks(text) or _states_facts(text)]
        if _whole(found):
            return useful or found
    return _items(lines) or _single(lines) or _remark_that_asks(lines)


def _unmarked(line: str) -> str:
    """Remove the mark of a quotation, or of a heading that is a sentence.

    >>> _unmarked("> Ann has 2 pens."), _unmarked("## **How many?**"), _unmarked("## Version 1")
    ('Ann has 2 pens.', '**How many?**', '## Version 1')
    """
    if mark := _QUOTE.match(line):
        return line[mark.end() :]
    is_sentence = not set(".?!").isdisjoint(re.split(r"\w", line)[-1])
    return line[mark.end() :] if is_sentence and (mark := _HEADING.match(line)) else line


def _is_row_rule(line: str) -> bool:
    """Return True if a line separates the head of a table from its rows."""
    text = line.strip()
    return text[:1] == text[-1:] == "|" and "-" in text and set(text) <= set("|:- \t")


def _cells(lines: Sequence[str]) -> list[str]:
    """Return the paraphrases in a table: the last cell of each row that asks a question, if possible with a number.

    >>> _cells(["| # | Text |", "|---|---|", "| 1 | Ann has 2 pens. How many? |"])
    ['Ann has 2 pens. How many?']
    """
    start = next((number for number, line in enumerate(lines) if _is_row_rule(line)), len(lines))
    rows = [match[1].split("|") for line in lines[start:] if (match := _ROW.match(line))]
    asking = [[text for cell in row if _asks(text := cell.strip())] for row in rows]
    return [max(reversed(row), key=_is_problem) for row in asking if row]


def _sections(lines: Sequence[str]) -> list[list[str]]:
    """Divide an answer at labels, headings and rules, which are left out. Facts and their question stay together.

    >>> _sections(["Sure!", "**Formal**", "Ann has 2 pens.", "Version 2: Ann owns 2 pens."])
    [['Sure!'], ['Ann has 2 pens.'], ['Ann owns 2 pens.']]
    >>> _sections(["**Given:** Ann has 2 pens.", "**Find:** How many?"])
    [['Ann has 2 pens.', 'Find: How many?']]
    """
    sections: list[list[str]] = [[]]
    for line in lines:
        text = line.strip()
        label = _LABEL_LINE.match(text) or (not _NOTE.match(text) and LABEL.match(text))
        before = "\n".join(sections[-1][-_NEAR:])
        if label and before.strip() and (part := _PART.match(text)) and not _asks(before):
            sections[-1].append(f"{part[1]}: {text[label.end() :]}".strip())
        elif _RULE.match(line) or label:
            sections.append([text[label.end() :]] if label and label.end() < len(text) else [])
        else:
            sections[-1].append(line)
    return [section for section in sections if any(map(str.strip, section))]


def _items(lines: Sequence[str]) -> list[str]:
    """Return the items of a list of paraphrases, or an empty list if there is none.

    A line without a number belongs to the item before it, unless it is not indented and follows a blank line and a
    question. A bullet within a numbered item belongs to it, too.

    >>> _items(["Here you go:", "1. Ann has 2 pens.", "How many?", "2. Ann owns 2 pens. How many?", "", "Enjoy!"])
    ['Ann has 2 pens. How many?', 'Ann owns 2 pens. How many?']
    >>> _items(["Ann has:", "- 5 red pens", "- 3 blue pens", "How many?"])
    []
    """
    items: list[str] = []
    opening: list[str] = []
    bulleted = gap = closed = asked = False
    for number, line in enumerate(lines):
        text = line.strip()
        item, bullet = _ITEM.match(line), _BULLET.match(line)
        mark = item or (bullet if bulleted or not items or not items[-1] else None)
        if mark:
            items.append(_item_text(mark))
            bulleted, gap, closed, asked = item is None, False, False, _asks(items[-1])
        elif not text or _RULE.match(line):
            gap = True
        elif _is_remark(lines, number) or _LABEL_LINE.match(line):
            closed = True  # whatever follows a remark is no part of the item before it
        elif not items:
            opening.append(text)
        elif not closed and (line[0].isspace() or not gap or not asked):
            between = "\n" if bullet or "\n" in items[-1] else " "
            items[-1] = f"{items[-1]}{between}{text}".strip()
            asked = asked or _asks(text)
    return _whole([each for each in items if each], opening)


def _item_text(match: re.Match[str]) -> str:
    """Return the text after the mark of an item, or an empty string if only a label follows."""
    found = match.groupdict()
    text = (found["text"] or "").strip()
    if found.get("bold") and not found["end"]:
        text = f"**{text}"  # the mark and the text are in bold together
    return "" if _LABEL_LINE.match(text) else text


def _whole(texts: list[str], opening: Sequence[str] = ()) -> list[str]:
    """Return the texts if they are paraphrases, or an empty list if they are the parts of a single text.

    >>> _whole(["Ann has 2 pens. How many?", "2 pens are Ann's. How many?"])
    ['Ann has 2 pens. How many?', "2 pens are Ann's. How many?"]
    >>> _whole(["Ann has a pen.", "Bob has a cup. How many things?"])
    []
    """
    asking = list(map(_asks, texts))
    most = all(asking) or (sum(asking) > 1 and 2 * sum(asking) >= len(texts))
    if opening and (not most or any(map(_states_facts, opening))):
        return []
    only_last = len(texts) > 1 and asking[-1] and not any(asking[:-1])
    return [] if only_last else texts


def _single(lines: Sequence[str]) -> list[str]:
    """Return the only paraphrase, or several that stand below each other without marks, or an empty list.

    >>> _single(["Sure!", "Note that Ann has 5 pens.", "How many?"])
    ['Note that Ann has 5 pens. How many?']
    >>> _single(["Ann has 2 pens. How many?", "", "2 pens are Ann's. How many?"])
    ['Ann has 2 pens. How many?', "2 pens are Ann's. How many?"]
    """
    paragraphs: list[list[str]] = [[]]
    for number, line in enumerate(lines):
        if not line.strip() or _RULE.match(line):
            paragraphs.append([])
        elif not _is_remark(lines, number) and not _LABEL_LINE.match(line):
            paragraphs[-1].append(line.strip())
    paragraphs = [each for each in paragraphs if each]
    texts = [_LEAD.sub("", " ".join(each)) for each in paragraphs]
    units = texts if len(texts) > 1 else [line for each in paragraphs for line in each]
    if len(units) > 1 and all(map(_asks, units)) and _share_numbers(units):
        return units
    while len(texts) > 1 and not _asks(texts[-1]) and not _states_facts(texts[-1]) and any(map(_asks, texts)):
        texts, paragraphs = texts[:-1], paragraphs[:-1]  # an explanation of the text
    kept = [line for each in paragraphs for line in each]
    between = "\n" if any(_ITEM.match(each) or _BULLET.match(each) for each in kept) else " "
    return [_LEAD.sub("", between.join(kept))] if kept else []


def _remark_that_asks(lines: Sequence[str]) -> list[str]:
    """Return the first line that asks a question, if every line looks like a remark."""
    return next(([line.strip()] for line in lines if _asks(line)), [])


def _is_remark(lines: Sequence[str], number: int) -> bool:
    """Return True if a line is about the answer, or refuses to give one. A problem may begin like a refusal.

    >>> _is_remark(["I can't do that."], 0), _is_remark(["I can't find 5 pens.", "How many?"], 0)
    (True, False)
    """
    line = lines[number].strip()
    if _NOTE.match(line):
        return True
    if REMARK.match(line):
        return not (_is_problem(line) or _precedes_question(lines, number))
    if not _REFUSAL.match(line) or _asks(line):
        return False
    return line.endswith(":") or not (_has_number(line) and _asks("\n".join(lines[number : number + _NEAR])))


def _precedes_question(lines: Sequence[str], number: int) -> bool:
    """Return True if a line states facts, and a question follows before the next item or label.

    >>> _precedes_question(["Note: buy 5.", "How many?"], 0), _precedes_question(["Note: 5 stays.", "2. How many?"], 0)
    (True, False)
    """
    if lines[number].rstrip().endswith(":") or not _states_facts(lines[number].strip()):
        return False
    rest = lines[number + 1 : number + _NEAR]
    marks = (_RULE, _ITEM, _LABEL_LINE)
    end = next((at for at, line in enumerate(rest) if any(mark.match(line) for mark in marks)), len(rest))
    return _asks("\n".join(rest[:end]))


def _asks(text: str) -> bool:
    """Return True if a text asks a question about a problem. A colon or a dash at its end does not ask for a number.

    >>> _asks("Find the sum."), _asks("Here are two:"), _asks("I can't. Is there anything else?")
    (True, False, False)
    """
    return read(_OFFER.sub("", text).rstrip(" :=*_#-")).question is not None


def _has_number(text: str) -> bool:
    return bool(read(text).quantities)


def _share_numbers(texts: Sequence[str]) -> bool:
    """Return True if texts have most numbers in common, or none at all. The second question of a problem has others.

    >>> _share_numbers(["Ann has 2 pens.", "2 pens"]), _share_numbers(["Ann has 2 pens.", "If she buys 3?"])
    (True, False)
    """
    numbers = [{each.value for each in read(text).quantities} for text in texts]
    most = max(map(len, numbers))
    return not most or 2 * len(set.intersection(*numbers)) > most


def _is_problem(text: str) -> bool:
    """Return True if a text is a problem of its own: it has a number, and asks a question."""
    return _has_number(text) and _asks(text)


def _states_facts(line: str) -> bool:
    """Return True if a line before a list belongs to a problem, and does not only introduce the list.

    >>> _states_facts("Ann has 5 pens."), _states_facts("Here are 5 of them:"), _states_facts("The 5 rewrites follow.")
    (True, False, False)
    """
    introduces = re.fullmatch(r"[^.?!]*:", line) or re.search(rf"\b{_NOUN}\b", line, re.I)
    return not introduces and _has_number(line)
