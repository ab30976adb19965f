"""Exchange the names of two people, in one place or everywhere.

The list of names is our own. It leaves out names that are also common words, because most questions are in lower case.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

_WOMEN = frozenset(
    """
    abby adriana adrianna alexa alexandra alice alicia alison allison alyssa amanda amelia amy andrea angela angie anita
    ann anna annabelle anne annie anya ashley audrey barbara beatrice becky bella beth bethany betsy betty bianca bonnie
    brenda bridget brittany camila cara carla carly carmen carol caroline carrie catherine cathy celia celina charlotte
    chelsea cheryl chloe christina cindy claire clara clarissa cleo courtney cynthia dana danielle daphne debbie deborah
    deepa denise diana diane divya dolores donna dora dorothy eileen elaine eleanor elena elise eliza elizabeth ella
    ellen ellie elsa emilia emily emma erica erika esther eva eve evelyn fatima felicia fiona frances gabriella gail
    geeta georgia gina gita gloria gwen hannah harriet heather heidi helen helena ingrid irene isabel isabella isla
    jackie jacqueline jana jane janelle janet janice jasmine jean jeanne jen jenna jennifer jenny jessica jill joan
    joanna jocelyn josephine joyce juanita judith judy julia juliet julie karen kate katherine kathleen kathy katie
    katrina kavita kayla kelly kendra kimberly kirsten kristen kylie lara laura lauren leah leila lena leslie libby
    lillian lilly linda lindsay lisa lizzie lola lorraine louisa louise lucia lucy lydia lynn mabel maddie madeline
    maggie mandy margaret maria mariah marie marilyn marina marissa martha mary matilda maya meera megan melanie melissa
    mia michelle miley miranda molly monica nadia nancy naomi natalia natalie natasha neha nicole nina nisha nora olga
    olivia pamela patricia paula pauline peggy phoebe phyllis pooja priya rachel radha rebecca reena renee rita roberta
    rosa rosie roxanne ruth sally samantha sandra sara sarah sasha selena seema shannon sharon sheila shelby shirley
    sita sofia sonia sophia sophie stacy stella stephanie susan susie suzanne sylvia tamara tammy tanya tara teresa
    tessa theresa therese tia tiffany tina tracy trisha ursula valerie vanessa vera veronica vicky victoria wendy
    whitney yolanda yvonne zoe
    """.split()
)
_MEN = frozenset(
    """
    aaron abdul abhijit abraham adam adrian ahmed ajay alan albert alberto alejandro alex alexander alfred ali allen
    amar amit andre andrew andy anil anthony antonio arjun arnold arthur arun ashok austin barry ben benjamin bernard
    billy bob bobby boris brad bradley brandon brett brian bruce bryan caleb calvin cameron carl carlos cedric chad
    charles charlie chris christian christopher clark cody cole colin collin connor corey craig curtis damian dan daniel
    danny darius darren dave david deepak declan dennis derek devon diego dinesh dominic donald doug douglas duncan
    dustin dylan eddie edgar edward edwin eli elijah elliot emmanuel enrique eric ernest ethan eugene evan felix
    fernando francis francisco franklin fred frederick gary gaurav geoffrey george gerald gilbert gopal gordon greg
    gregory hank hari harold harris harrison harry harsh harvey hector henry herbert howard hugh hugo ian isaac ivan
    jackson jacob jake jamal james jamie jared jason javier jay jeff jeffrey jeremy jerome jerry jesse jim jimmy joe
    joel joey john johnny jonathan jordan jose joseph josh joshua juan jude julian julio justin karan karl keith ken
    kenneth kevin kiran kishore krish krishna kumar kurt kyle lamar larry lawrence lenny leo leon leonard leroy liam
    logan lorenzo louie louis lucas luis luke mahesh malcolm manish manny manoj manuel marco marcus mario marius martin
    marvin mason mateo mathew matt matthew maurice max maxwell michael miguel mike milo mitchell mohan mukesh nathan
    nathaniel neil nicholas nick nikhil noah nolan norman oliver omar oscar owen patrick paul pedro pete peter phil
    philip pierre prakash pranav quentin rahul raj rajan rajeev rajesh rajiv raju rakesh ralph ram raman ramesh randy
    raul ravi raymond reggie ricardo richard rick ricky robbie robert roberto rodney roger rohan rohit roland ron ronald
    ronnie ross roy ruben rudy russell ryan salman sam sameer samson samuel sandeep sanjay santiago scott sean sebastian
    sergio seth shaun shawn shekar shyam sidney simon stan stanley stephen steve steven stuart sunil suresh sushil ted
    teddy terrence terry theodore thomas tim timmy timothy toby todd tom tommy tony travis trevor tyler vernon victor
    vijay vikram vincent vinod walter warren wayne wesley william winston xavier zachary
    """.split()
)
# also common words: names only in a text with capitals
_CASED = {
    "f": "buffy daisy dawn eden faith grace harmony hope ivy jan joy lily pam patty pearl penny precious purity rose"
}
_CASED["f"] += " ruby summer sue"
_CASED["m"] = "bill chase cliff dean don drew frank gene grant guy jack mark miles norm pat ray rob rod"
CASED: dict[str, str] = {name: gender for gender, names in _CASED.items() for name in names.split()}
NAMES: Mapping[str, str] = dict.fromkeys(_MEN, "m") | dict.fromkeys(_WOMEN, "f") | CASED
_WORD = re.compile(r"[^\W\d_]+")
_GENDERED = re.compile(
    r"\b(?:he|she|him|her|hers|his|himself|herself|brother|sister|father|mother|dad|mom|mum|son|daughter|husband|wife"
    r"|uncle|aunt|boy|girl|man|woman|nephew|niece|grandfather|grandmother|boyfriend|girlfriend|lady|gentleman)s?\b",
    re.IGNORECASE,
)
# between people who are named as equals, so that their order does not matter: other names, and joiners
_EQUALS = re.compile(r"^(?:'s|’s|’ s)?(?:\s?,\s?\w+)*\s?,?\s?(?:(?:and|or|&|with|both)\s?)?$", re.IGNORECASE)
_SENTENCE = re.compile(r"[^.?!]+[.?!]*")

Spans = dict[str, list[tuple[int, int]]]


def people(text: str) -> Spans:
    """Return where each listed name stands, keyed by the name in lower case.

    A name that is part of a longer name or of another word (*Mikes*, *Anna Lee*, *Mr. John*) is left out. In a text
    with capitals, a name must begin with one.

    >>> sorted(people("Anna has 3 pens, Ben Smith has 4. How many do Anna and Tom have if Tom has 1?"))
    ['anna', 'tom']
    """
    cased = any(sign.isupper() for sign in text)
    found: Spans = defaultdict(list)
    for word in _WORD.finditer(text):
        name = word[0].lower()
        if name in NAMES and (word[0][0].isupper() if cased else name not in CASED):
            found[name].append(word.span())
    return {name: spans for name, spans in found.items() if _is_person(text, name, spans, cased=cased)}


def _is_person(text: str, name: str, spans: Sequence[tuple[int, int]], *, cased: bool) -> bool:
    if len(re.findall(name, text, re.IGNORECASE)) != len(spans):
        return False
    for start, end in spans:
        longer = cased and re.match(r"\s+(?!I\b)[A-Z][a-z]|-[A-Za-z]", text[end:])
        titled = re.search(
            r"\b(?:mrs?|ms|dr|miss|st|sir|uncle|aunt|san|king|queen)\.?\s+$|[A-Za-z]-$", text[:start], re.I
        )
        after_name = cased and re.search(r"[a-z]\s(?=$)", text[:start]) and re.search(r"\b[A-Z][a-z]+\s$", text[:start])
        first = after_name and not re.search(r"(?:^|[.?!]\s)[A-Z][a-z]+\s$", text[:start])
        if longer or titled or first:
            return False
    return True


def swap_everywhere(text: str, rng: random.Random) -> str | None:
    """Exchange two names everywhere. If the text tells men from women, both names have the same gender."""
    found = people(text)
    pairs = _pairs(found, same_gender=bool(_GENDERED.search(text)))
    if not pairs:
        return None
    one, other = rng.choice(pairs)
    return _exchange(text, one, other, [*found[one], *found[other]])


def mix_one_mention(text: str, rng: random.Random) -> str | None:
    """Put another person's name in the place of one mention of a name that the text mentions again."""
    found = people(text)
    choices = [(one, other) for one, spans in found.items() if len(spans) > 1 for other in found if other != one]
    if not choices:
        return None
    one, other = rng.choice(sorted(choices))
    return _exchange(text, one, other, [rng.choice(found[one])])


def swap_in_one_sentence(text: str, rng: random.Random) -> str | None:
    """Exchange two names in one sentence, where another sentence tells the two apart.

    The sentence names each once. Neither it nor the other sentence names them as equals only (*Anna and Ben*), because
    the exchange would then change nothing, or be the same as an exchange everywhere.
    """
    found = people(text)
    choices = []
    for one, other in _pairs(found, same_gender=False):
        told_apart = [spans for spans in _mentions(text, found, one, other) if not _as_equals(text, spans)]
        once = [spans for spans in told_apart if sorted(text[s:e].lower() for s, e in spans) == sorted((one, other))]
        if len(told_apart) > 1:
            choices += [(one, other, spans) for spans in once]
    if not choices:
        return None
    one, other, spans = rng.choice(choices)
    return _exchange(text, one, other, spans)


def _mentions(text: str, found: Spans, one: str, other: str) -> list[list[tuple[int, int]]]:
    """Return the mentions of two people in each sentence that has some."""
    both = sorted([*found[one], *found[other]])
    parts = [[s for s in both if part.start() <= s[0] < part.end()] for part in _SENTENCE.finditer(text)]
    return [spans for spans in parts if spans]


def _as_equals(text: str, spans: Sequence[tuple[int, int]]) -> bool:
    """Return True if a sentence names the two people once, in one list of names, and without *respectively*."""
    (start, end), last = spans[0], spans[-1]
    if len(spans) != 2 or text[start:end].lower() == text[slice(*last)].lower():
        return False
    sentence = re.match(r"[^.?!]*", text[last[1] :])
    return bool(_EQUALS.match(text[end : last[0]])) and not (sentence and "respective" in sentence[0].lower())


def _pairs(found: Spans, *, same_gender: bool) -> list[tuple[str, str]]:
    names = sorted(found)
    pairs = [(one, other) for index, one in enumerate(names) for other in names[index + 1 :]]
    return [(one, other) for one, other in pairs if not same_gender or NAMES[one] == NAMES[other]]


def _exchange(text: str, one: str, other: str, spans: Sequence[tuple[int, int]]) -> str:
    """Put the other of two names into each span, in the case of the name that stood there."""
    parts, at = [], 0
    for start, end in sorted(spans):
        new = other if text[start:end].lower() == one else one
        parts += [text[at:start], new.capitalize() if text[start].isupper() else new]
        at = end
    return "".join([*parts, text[at:]])
