"""Ask the same question in a different form."""

from __future__ import annotations

import random
import re

from paraqd.reading import Problem, read
from paraqd.rewriting.kept_quantities import keep_quantities
from paraqd.rewriting.operator import Operator, Resources

_ORDERS = "find|calculate|work out|determine|compute|give|state|figure out|tell me|please find".split("|")
# instructions that can only start a sentence
_OPENING_ORDERS = "please calculate|please work out|now find|you are asked to find|your task is to find".split("|")
_ORDERS_HOW = "find|calculate|work out|determine|compute|find out|figure out|tell me|say|please work out".split("|")
_TWO_TASKS = re.compile(
    r"\b(?:and|or|also)[, ]+(?:also |then |at )?(?:how|what|who|whose|which|find|is|in how)\b", re.I
)
_WH = re.compile(r"\b(?:how|what|whose|who)\b", re.I)
_TAIL = re.compile(r"(?:\b(?:is|are|was|were|be|by)|[=:_-]|\.\.|…)\s*$", re.I)
_NAMED = r"(?:the (?!following|name|answer|day|date)|(?:its|his|her|their|[a-z]+['’]s) |\d[\d,.]*% of |[xyzn]$)"
_WHAT_IS = re.compile(rf"what (?:is|are|was|were|will be|would be) ({_NAMED}.*)$", re.I | re.S)
_ORDER = re.compile(rf"(find|calculate|determine|compute|work out)(?: out)? ({_NAMED}.*)$", re.I | re.S)
# words before which the head noun ends: "the sum | of the ages"
_NOUN_ENDS = re.compile(
    r"[,;:(.]| (?:of|in|for|at|if|when|that|which|to|between|by|from|on|after|before|with|who|he|she|it|they|such|"
    r"given|needed|taken|per|so|than|as|is|are|was|were|the|his|her|an?|\w+ed)\b",
    re.I,
)
# base form, third person and past tense; the word order is changed only for these verbs
_FORMS = (
    "have has had need needs needed get gets got buy buys bought sell sells sold make makes made use uses used eat "
    "eats ate take takes took receive receives received earn earns earned spend spends spent give gives gave save "
    "saves saved pay pays paid collect collects collected travel travels traveled walk walks walked run runs ran drive "
    "drives drove cover covers covered work works worked own owns owned read reads read bake bakes baked plant plants "
    "planted score scores scored contain contains contained weigh weighs weighed owe owes owed pick picks picked lose "
    "loses lost catch catches caught invest invests invested finish finishes finished drink drinks drank start starts "
    "started produce produces produced keep keeps kept complete completes completed build builds built write writes "
    "wrote cut cuts cut donate donates donated share shares shared carry carries carried hold holds held go goes went "
    "swim swims swam cross crosses crossed sleep sleeps slept want wants wanted"
).split()
_VERBS = {base: forms for base, *forms in zip(_FORMS[::3], _FORMS[1::3], _FORMS[2::3], strict=True)}
_SUBJECT = (
    r"(?:(?!(?:be|have|not|to|all|and|then|together|the|each|one|this|his|her|their|my|every|a work)\b)[a-z]+|"
    r"\d+ (?:men|women|workers|people)|(?:the|each|one|this|his|her|their|my|every) (?!same|other|rest|first)[a-z]+)"
)
_MODAL = r"(?:will|would|can|could|should|must)"
_THING = r"((?!for |in )(?:(?!(?:he|she|it|they|you|we|will|can|to|did|does|do)\b)[a-z0-9'’-]+ ?){1,7}?)"
_HOW_MANY = re.compile(
    rf"((?:in|for|after) )?how many {_THING} (do|does|did|{_MODAL}) ({_SUBJECT}(?: alone)?) "
    rf"({'|'.join(_VERBS)})\b(?! (?:and|or)\b)(.*)$",
    re.I | re.S,
)
_THERE = re.compile(rf"how many {_THING} (are|were) there\b(.*)$", re.I | re.S)
_STRAIGHT = re.compile(  # the word order stays the same, because the counted thing is the subject
    rf"how (?:many|much) {_THING} (?:(?:are|were|is|was|will be|must be|should be) (?:in|at|on|left|sold|used|"
    r"made|needed|required|taken|added|produced|drawn|not)|remain|remained|passed|failed|like|play)\b.*$",
    re.I | re.S,
)
_NOT_COUNTED = re.compile(r"(?:times|more|of|percent|fewer|less|other|such)\b", re.I)
_AUX = r"(?:do|does|did|is|are|was|were|has|have|had|will|would|can|could|should|must)"
_MOVES = r"(?:travel|go|run|walk|drive|cover|ride|fly|jog|swim|cycle|hike|row|driving|going|running|travell?ing|moving)"
_STUFF = "water|milk|profit|interest|sugar|flour|paint|food|sand|rice|oil|juice|wine|gas|fuel|alcohol|salt|acid"
_IT = r"((?:the|each) [a-z]+(?: of (?:the|each) [a-z]+)?)"
_ONE = r"((?:an?|the|one|each) [a-z]+)"
_WHO = r"(?!(?:he|she|it|they|you|the|his|her)$)([a-z]+|(?:the|his|her) [a-z]+)"
_COUNTED = r"the (?:total )?number of ([a-z]+s|men|women|people) (in (?:the|this|his|her) (?!beginning|end)[a-z]+)"
_QUESTIONS = {
    rf"how much ({_STUFF})( {_AUX} .*)": r"what amount of \1\2|what quantity of \1\2",
    rf"how much money( {_AUX} .*)": r"what amount of money\1|what sum of money\1|what amount\1|what sum\1",
    r"how much time( .* take\b.*)": r"how long\1|what length of time\1|what amount of time\1",
    rf"how long( (?:do|does|did|{_MODAL}) .* take\b.*)": r"how much time\1|what length of time\1|what amount of time\1",
    rf"how far( (?:do|does|did|{_MODAL}) .*\b{_MOVES}\b.*)": r"what distance\1",
    rf"how fast( {_AUX} .*\b{_MOVES}\b.*)": r"at what speed\1",
    rf"how much( (?:do|does|did|will|would) (?:{_ONE}|\d+) [a-z ]*cost\b.*)": r"what\1",
    rf"how much does {_ONE} cost": r"what is the cost of \1|what is the price of \1",
    rf"how much did {_ONE} cost": r"what was the cost of \1|what was the price of \1",
    r"what is the (?:cost|price) of ((?:an?|one|each) [a-z]+)": r"what does \1 cost|how much does \1 cost",
    rf"how old (is|was) {_WHO}( now| today|)": r"what \1 \2's age\3|what \1 the age of \2\3",
    r"how old will (?!he |she |it )([a-z]+) be( .*)": r"what will \1's age be\2|what will the age of \1 be\2",
    r"what is the present age of ([a-z]+)": r"how old is \1 now|what is \1's present age|how old is \1 at present",
    r"what is the age of ([a-z]+)( now|)": r"how old is \1\2|what is \1's age\2",
    rf"how long is {_IT}": r"what is the length of \1",
    rf"how (?:tall|high) is {_IT}": r"what is the height of \1",
    r"what percent of (.*)": r"what percentage of \1",
    r"what percentage of (.*)": r"what percent of \1",
    rf"(?:find|calculate|determine|what is) {_COUNTED}": r"how many \1 are there \2",
}


class QuestionForm(Operator):
    """Ask the same question in a different form: What is his speed? → Find his speed."""

    name = "QuestionForm"
    polarity = "valid"
    changes = frozenset({"question"})

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Rewrite the question; return None if no other form is certain to be correct."""
        del resources
        asked = problem.question
        before = problem.text[: asked.start].rstrip().lower() if asked is not None else ""
        opens = f". {before}".rstrip().endswith((".", "?", "!", ",", " then"))
        if asked is None or len(problem.questions) > 1 or not opens:
            return None
        clause = asked.text.rstrip(" ?.")
        if _TWO_TASKS.search(clause) or _TAIL.search(clause) or len(_WH.findall(clause)) > 1:
            return None
        orders = _ORDERS if before.endswith((",", "then")) else _ORDERS + _OPENING_ORDERS
        forms = _instruction_forms(clause, rng, orders) + _question_forms(clause)
        if not forms:
            return None
        made = rng.choice(forms)
        mark = "?" if _WH.match(made.split()[0]) or made.startswith("at ") else "."
        # many problem collections omit the final punctuation mark
        mark = "" if asked.end == len(problem.text) and rng.random() < 0.1 else mark
        made = made[0].upper() + made[1:] if asked.text[0].isupper() else made
        text = keep_quantities(problem, [(asked.start, asked.end, made + mark)])
        return text if text is not None and len(read(text).questions) == 1 else None


def _instruction_forms(clause: str, rng: random.Random, orders: list[str]) -> list[str]:
    """Return other forms of a question. Each form starts with an instruction or "what is the number of"."""
    order, order_how, that = rng.choice(orders), rng.choice(_ORDERS_HOW), rng.choice(("that ", ""))
    if (named := _WHAT_IS.match(clause)) or ((named := _ORDER.match(clause)) and order not in clause.lower()):
        return [f"{order} {named.group(named.lastindex or 1)}"]
    if there := _THERE.match(clause):
        counted, verb, rest = there.groups()
        ways = [f"{order_how} how many {counted} there {verb}{rest}"]
        return ways if _NOT_COUNTED.match(counted) else [*ways, f"{order} the number of {counted} there {verb}{rest}"]
    if many := _HOW_MANY.match(clause):
        before, counted, aux, subject, verb, rest = many.groups()
        forms = {"do": verb, "does": _VERBS[verb.lower()][0], "did": _VERBS[verb.lower()][1]}
        said = f"{subject} {forms.get(aux.lower(), f'{aux} {verb}')}{rest}"
        ways = [f"{order_how} {(before or '').lower()}how many {counted} {said}"]
        if before or _NOT_COUNTED.match(counted) or " than " in counted:
            return ways
        return [*ways, f"{order} the number of {counted} {that}{said}", f"what is the number of {counted} {that}{said}"]
    return [f"{order_how} {clause[0].lower()}{clause[1:]}"] if _STRAIGHT.match(clause) else []


def _question_forms(clause: str) -> list[str]:
    """Return other questions that have the same meaning as a question or instruction."""
    ways = []
    for pattern, forms in _QUESTIONS.items():
        if found := re.fullmatch(pattern, clause, re.I | re.S):
            ways += [found.expand(form) for form in forms.split("|")]
    order = _ORDER.match(clause)
    if order is not None and " and " not in order.group(2):
        noun = _NOUN_ENDS.split(order.group(2)[4:], maxsplit=1)[0]  # skip "the " or "his "
        ways.append(f"what {'are' if re.search(r'(?<![sui])s$', noun) else 'is'} {order.group(2)}")
    return ways
