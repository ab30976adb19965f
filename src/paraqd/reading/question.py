"""Find the clauses in a text that ask for something, and the target of each clause."""

from __future__ import annotations

import re

from paraqd.reading.types import Question, Sentence

_IMPERATIVES = (
    "find calculate determine compute evaluate solve simplify express estimate state work convert write identify "
    "prove show give name choose select list tell reckon deduce derive ascertain furnish"
)
# words that open an asking clause, strongest first
_HOW = re.compile(
    r"\bhow (?:many|much|long|far|old|fast|often|tall|high|deep|wide|large|big|heavy|soon|late|could|can|do|does|is)\b",
    re.I,
)
_WH = re.compile(r"\b(?:what|which|who|whose|whom|when|where|why|how)\b", re.I)
_SOUGHT = r"(?:search|seek)(?= (?:for )?(?:the|its|his|her|least|greatest|price|value)\b)"
_IMPERATIVE = re.compile(rf"\b(?:{'|'.join(_IMPERATIVES.split())}|{_SOUGHT})\b", re.I)
_TAIL = re.compile(
    r"\b(?:is|are|was|were|will be|would be|equals|be|becomes|by|of|then|has|have|had|required|taken|needed|"
    r"contains?|in|to|as|at|between|from|for|ratio|receives?|gets?|worth|the|a|pays?|takes?|value)\s*[:=\-–_.…?,]*\s*$|[:=]\s*$",
    re.I,
)
_BLANK = re.compile(r"_{2,}|-{2,}|\.{3,}|…|=\s*\??\s*$")
_ASKING_PHRASE = re.compile(
    r"\b(?:what (?:is|are|was|were|will|would|percent|percentage|fraction|part)|"
    r"find (?:the|its|his|her|their|out|x|y|n))\b",
    re.I,
)
# without a question mark, an auxiliary before its subject indicates a question
_INVERTED = re.compile(
    r"\b(?:what|which|how (?:many|much|long|far|old|fast))(?: \w+){0,4}? "
    r"(?:does|do|did|is|are|was|were|will|would|can|could|should|must) (?:he|she|it|they|we|you|i|the|each)\b",
    re.I,
)
_WANTED = re.compile(
    r"\s(?:is|are) (?:to be (?:found|calculated|determined|computed|worked out)|asked)(?: for)?\W*$",
    re.I,
)
_REQUIRED = re.compile(r"(?:required|wanted|sought|asked(?: for)?|to find)\s*:\s*(?=[^\W\d_])", re.I)
# imperative at the start of a clause; in *they go there and count birds*, the verb is not an imperative
_ORDERED = re.compile(r"(?:^|[,:;]\s+|\b(?:please|then)\s+)((?:count|decide|discover|rearrange)\b)(?! to\b| \d)", re.I)
_AUXILIARY = re.compile(r"\s+(?:will|would|does|do|did|is|are|was|were|can|could|should|has|have|had)\b", re.I)
_VERBS = re.compile(
    r"\b(?:did|does|do|is|are|was|were|will|would|can|could|should|shall|must|may|might|has|have|had|remain|remained|"
    r"remains|take|takes|took|if|when|so|after|before|given|to get|in order)\b|[,?.;:]",
    re.I,
)
_COUNTED_UNTIL = re.compile(_VERBS.pattern + r"|\b(?:he|she|it|they|we|you|i)\b", re.I)
_COPULA = re.compile(r"(?:is|are|was|were|will be|would be|'s|’s)\b\s*", re.I)
_TASK = re.compile(r"\b(?:please|asked|need|needs|want|wants|required|have|like|wish|trying) to$", re.I)
_PARTICLE = re.compile(r"^\s*(?:out|down|me|us|up)\b")
_STOP_AFTER_FIND = re.compile(r"\b(?:if|when|given|so that|such that|after|correct|where)\b|[?.;:]", re.I)
_BEFORE_IMPERATIVE = frozenset(
    {"", "then", "and", "now", "please", "kindly", "also", ",", ";", ":", "-", "–", ")", "must", "hence", "thus"}
)
_SPOKEN = re.compile(r"\s*[\"“'‘][^\"”]*\?[\"”’'],? [a-z]")
_YES_NO = re.compile(r"^(?:is|are|was|were|do|does|did|can|could|will|would|has|have|should)\b", re.I)
_RELATIVE_BEFORE = frozenset(
    {"in", "of", "at", "on", "from", "for", "by", "with", "through", "to", "into", "after", "than", "upon"}
)
_ASKING_BEFORE_WH = frozenset(
    {"is", "by", "then", "in", "at", "of", "for", "and", "so", "from", "to", "on", ",", "after", "with"}
)
_ASKING_BEFORE_HOW = frozenset(
    "then and so find by in is for know out determine calculate tell compute say figure down".split()
)
_ORDER = re.compile(
    r"(?:divide|share|split|distribute|factori[sz]e|expand|arrange|complete|draw|add|subtract|multiply|round|count|"
    r"supply|pick|fill|compare|guess|decide|put|order|reduce|rewrite)\b",
    re.I,
)
# what the solver should do besides answering; such a clause asks for nothing about the problem
_INSTRUCTION = re.compile(
    r"(?:(?:show|write|give|state|list|describe|present)(?: down| out| me| us)?(?: (?:all|of|the|your|clear|every|a))* "
    r"(?:work|workings?|steps?|reasons?|reasoning|method|thinking|calculations?|explanation)"
    r"(?: (?:for|behind|clearly|neatly|below)\b[^.]*+)?|"
    r"(?:explain|justify|check|defend|prove|show)(?: (?:me|us))?(?: how you (?:got|found|worked|did|solved|reached)| "
    r"(?:that )?your)\b[^.]*+|tell (?:me|us) how you (?:got|found|worked|did|solved|reached)\b[^.]*+)"
    r"[.!]?\s*$",
    re.I,
)
_LOOK_BACK = 60
# a sentence without a question mark can ask only if it contains one of these words; the patterns check the details
_ORDERS = frozenset(f"{_IMPERATIVES} search seek".split())
_PRONOUNS = frozenset("what which who whose whom when where why how".split())
_CUES = _ORDERS | _PRONOUNS
_CUES |= frozenset(
    "found calculated determined computed worked asked required wanted sought count decide discover rearrange".split()
)
_WORD = re.compile(r"\w+")


def find_questions(text: str, sentences: tuple[Sentence, ...]) -> tuple[Question, ...]:
    """Return the clauses in a text that ask a question, in order.

    >>> from paraqd.reading.sentences import split_sentences
    >>> text = "If a pen costs $2, how many pens can Tom buy for $10?"
    >>> question = find_questions(text, split_sentences(text))[0]
    >>> question.text, question.target
    ('how many pens can Tom buy for $10?', 'pens')
    """
    found = [question for sentence in sentences if (question := _asks(sentence)) is not None]
    if len(found) > 1:
        found = [question for question in found if not _INSTRUCTION.match(question.text)] or found
    if not found and sentences:
        tail = _incomplete(sentences[-1])
        if tail is not None:
            found.append(tail)
    return tuple(found)


def _asks(sentence: Sentence) -> Question | None:
    text = sentence.text
    # in "How many are left?" asked Tom, the question is followed by its speaker
    marked = text.rstrip("\"'”’) ").endswith(("?", "？")) or _SPOKEN.match(text) is not None
    low = text.lower()
    # outside ASCII, a pattern may match letters that resemble others (ſ, ı), so assume that all cues occur
    cues = _CUES.intersection(_WORD.findall(low)) if text.isascii() else _CUES
    if not cues and not marked:
        return None  # nearly all sentences without a question end here
    if "how" in cues:
        finds = "find" in low
        how = next((m for m in _HOW.finditer(text) if marked or finds or _opens_clause(text, m.start())), None)
        if how is not None:
            return _clause(sentence, how.start(), _how_target(text, how))
    imperative = None if _ORDERS.isdisjoint(cues) else _imperative(text)
    wh = None if _PRONOUNS.isdisjoint(cues) else _asking_wh(text, marked=marked)
    if wh is not None and (imperative is None or wh.start() > imperative.end() + 12 or marked):
        return _clause(sentence, wh.start(), _wh_target(text, wh))
    if imperative is not None:
        rest = _PARTICLE.sub("", text[imperative.end() :], count=1)
        return _clause(sentence, imperative.start(), _target(rest, _STOP_AFTER_FIND))
    if marked:
        return _marked_without_cue(sentence)
    phrase = _ASKING_PHRASE.search(text)
    if phrase is not None:
        return _clause(sentence, phrase.start(), _wh_target(text, phrase))
    wanted = _WANTED.search(text)
    if wanted is not None:
        return _clause(sentence, 0, _target(text[: wanted.start()], _STOP_AFTER_FIND))
    required = _REQUIRED.match(text)
    if required is not None:
        return _clause(sentence, required.start(), _target(text[required.end() :], _STOP_AFTER_FIND))
    ordered = _ORDERED.search(text)
    if ordered is not None:
        return _clause(sentence, ordered.start(1), _target(text[ordered.end() :], _STOP_AFTER_FIND))
    inverted = _INVERTED.search(text)
    if inverted is not None:
        return _clause(sentence, inverted.start(), _target(text[inverted.start() :], _STOP_AFTER_FIND))
    return None


def _just_before(text: str, end: int) -> str:
    """Return at most the last 60 characters before ``end``, without trailing white space."""
    return text[max(0, end - _LOOK_BACK) : end].rstrip()


def _opens_clause(text: str, start: int) -> bool:
    before = _just_before(text, start)
    return not before or before[-1] in ",;:-–(" or before.split()[-1].lower() in _ASKING_BEFORE_HOW


def _asking_wh(text: str, *, marked: bool) -> re.Match[str] | None:
    """Find the word that asks the question. Relative pronouns are skipped.

    Prefer the first *what* or *how*, then the first *which*, then the first other question word.
    """
    asking = [match for match in _WH.finditer(text) if _wh_asks(text, match, marked=marked)]
    for words in ({"what", "how"}, {"which"}):
        strong = next((match for match in asking if match.group().lower() in words), None)
        if strong is not None:
            return strong
    return asking[0] if asking else None


def _wh_asks(text: str, match: re.Match[str], *, marked: bool) -> bool:
    word = match.group().lower()
    before = _just_before(text, match.start())
    opens = not before or before[-1] in ",;:-–("
    if word == "how":
        return opens or marked
    if word == "what":
        return opens or marked or before.split()[-1].lower() in _ASKING_BEFORE_WH
    if not before:
        return marked or _AUXILIARY.match(text, match.end()) is not None
    if not marked:
        return False
    return opens or (word == "which" and before.split()[-1].lower() in _ASKING_BEFORE_WH)


def _imperative(text: str) -> re.Match[str] | None:
    """Find the first imperative that opens a clause."""
    for match in _IMPERATIVE.finditer(text):
        before = _just_before(text, match.start())
        last = before[-1:] if before[-1:] in ",;:-–)" else (before.split()[-1].lower() if before else "")
        if last in _BEFORE_IMPERATIVE or (last == "to" and _TASK.search(before)):
            return match
    return None


def _clause(sentence: Sentence, start: int, target: str) -> Question:
    while start < len(sentence.text) and sentence.text[start].isspace():
        start += 1
    begin = _with_preposition(sentence.text, start)
    return Question(sentence.text[begin:], sentence.start + begin, sentence.end, target)


def _with_preposition(text: str, start: int) -> int:
    """Return the start of a question, including a preposition such as *in* in *in how many days*."""
    before = _just_before(text, start)
    word = before.split()[-1] if before else ""
    if word.lower() not in _RELATIVE_BEFORE:
        return start
    rest = before[: -len(word)].rstrip()
    if not rest or rest[-1] in ",;." or rest.lower().endswith(("then", "and")):
        return max(0, start - _LOOK_BACK) + len(before) - len(word)
    return start


def _target(rest: str, stop: re.Pattern[str]) -> str:
    match = stop.search(rest)
    while match is not None and not rest[: match.start()].strip(" ,"):
        match = stop.search(rest, match.end())
        if match is None or match.start() > 120:
            break
    piece = rest[: match.start()] if match else rest
    words = piece.strip(" ,:;.?").split()
    return " ".join(words[:14])


def _how_target(text: str, how: re.Match[str]) -> str:
    """Return the noun after *how many* or *how much*, or the whole clause after any other *how*, as in *how long*."""
    rest = text[how.end() :]
    if how.group().lower().split()[-1] in {"many", "much"}:
        target = _target(rest, _COUNTED_UNTIL)
        if target:
            return target
        return _target(rest, _STOP_AFTER_FIND)
    return f"{how.group()} {_target(rest, _STOP_AFTER_FIND)}".rstrip()


def _wh_target(text: str, wh: re.Match[str]) -> str:
    rest = text[wh.end() :].strip()
    copula = _COPULA.match(rest)
    if copula is None and wh.group().lower() in {"what", "which"}:
        return _target(rest, _VERBS)  # as in *at what speed should he drive*
    return _target(rest[copula.end() :] if copula else rest, _STOP_AFTER_FIND)


def _marked_without_cue(sentence: Sentence) -> Question:
    """Read a question without question words, such as "The speed of the train is?" or "Is x even?"."""
    text = sentence.text
    start = 0
    comma = text.rfind(", ")
    if comma > 0 and len(text) - comma > 12:
        start = comma + 2
    if text[start:].lower().startswith("then "):
        start += 5
    body = text[start:].rstrip("?？ .:")
    if _YES_NO.match(body):
        return _clause(sentence, start, body)
    return _clause(sentence, start, _without_tail(body))


def _incomplete(last: Sentence) -> Question | None:
    """Read the question in a last sentence that gives an order or stops before the answer ("The average is")."""
    text = last.text
    order = _ORDER.match(text)
    if order is not None:
        return Question(text, last.start, last.end, _target(text[order.end() :], _STOP_AFTER_FIND))
    if not (_TAIL.search(text[-60:]) or _BLANK.search(text[-60:])):
        return None
    start = max(text.rfind(", ", 0, max(0, len(text) - 12)) + 2, 0)
    if start == 1:
        start = 0
    if text[start:].lower().startswith("then "):
        start += 5
    return Question(text[start:], last.start + start, last.end, _without_tail(text[start:]))


def _without_tail(body: str) -> str:
    """Return a clause without the verb and the punctuation at its end."""
    body = body.strip(" ,:;.?=_-–…")
    for tail in (" will be", " is", " are", " was", " were", " equals", " be"):
        if body.lower().endswith(tail):
            return body[: -len(tail)].rstrip()
    return body
