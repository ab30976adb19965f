"""Replace a thing with a more general or a similar thing, throughout the text."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import cache

from paraqd.lab.operators.wording.content_words import (
    ContentWord,
    content_words,
    is_bare,
    is_compound,
    lemma_of,
    replacement,
)
from paraqd.lab.operators.wording.lexicon import above, senses
from paraqd.reading import Problem
from paraqd.rewriting.document import Document, parse
from paraqd.rewriting.kept_quantities import keep_quantities
from paraqd.rewriting.operator import Operator, Resources

# the things of each kind; the name of the kind takes the place of each of them without any other change to the text
_KINDS: Mapping[str, str] = {
    "fruit": "apple orange banana mango pear peach plum grape strawberry blueberry cherry apricot kiwi pineapple "
    "watermelon melon papaya grapefruit tangerine raspberry",
    "vegetable": "carrot potato tomato cabbage onion cucumber turnip radish beetroot cauliflower eggplant leek",
    "flower": "rose tulip lily daisy sunflower daffodil carnation orchid poppy marigold",
    "bird": "parrot pigeon crow eagle robin duck goose sparrow owl parakeet canary swan seagull hen chicken",
    "insect": "ant bee beetle butterfly grasshopper ladybug wasp dragonfly moth firefly",
    "animal": "cow dog cat goat sheep pig rabbit monkey elephant lion tiger zebra giraffe hamster deer camel "
    "donkey squirrel llama",
    "vehicle": "car truck lorry van motorcycle scooter tractor",
    "boat": "canoe kayak ferry yacht sailboat",
    "garment": "shirt dress jacket sweater skirt blouse",
    "instrument": "guitar violin flute trumpet cello clarinet saxophone",
    "gem": "diamond ruby emerald sapphire",
    "tool": "hammer screwdriver wrench shovel rake chisel",
    "treat": "cookie muffin cupcake brownie doughnut donut pastry lollipop",
    "container": "jar crate bucket basket jug barrel carton tub",
    "worker": "carpenter plumber mason welder electrician bricklayer painter",
    "athlete": "swimmer runner gymnast sprinter",
    "musician": "drummer guitarist violinist pianist",
    "device": "laptop tablet smartphone camera calculator printer",
    "shop": "bakery bookstore boutique bookshop",
    "toy": "doll puppet teddy",
}
# kinds whose things can also take each other's place
_ALIKE = frozenset("fruit vegetable flower insect garment instrument treat musician".split())
# other words for a kind, or for things of the kind that a list of words does not show
_RELATED: Mapping[str, frozenset[str]] = {
    "vehicle": frozenset(
        "train bus taxi cab bicycle bike traffic road garage parking wheel tyre tire driver passenger".split()
    ),
    "animal": frozenset("pet creature milk egg wool herd zoo farm barn kennel litter leg head beast".split()),
    "bird": frozenset("egg poultry fowl flock animal nest leg head chick".split()),
    "shop": frozenset("store market bread cake book".split()),
    "container": frozenset("box bag bottle can tank cup glass pot pack sack case packet vessel".split()),
    "worker": frozenset("man woman helper apprentice employee person labourer laborer paint wall".split()),
    "treat": frozenset("cake candy sweet dough flour bake batch recipe snack dessert".split()),
    "fruit": frozenset("juice peel seed orchard tree smoothie salad".split()),
    "vegetable": frozenset("salad soup".split()),
    "flower": frozenset("bouquet bloom blossom petal".split()),
    "insect": frozenset("leg bug hive colony honey spider wing".split()),
    "device": frozenset("machine computer phone page paper photo".split()),
    "tool": frozenset("nail equipment".split()),
    "gem": frozenset("jewel stone jewelry ring carat card suit heart spade club baseball shape".split()),
    "garment": frozenset("clothes clothing sleeve button cloth fabric".split()),
    "boat": frozenset("ship vessel passenger".split()),
    "athlete": frozenset("player team lap swim".split()),
    "toy": frozenset("bear game".split()),
}
_SENSES = 3  # a word counts as a thing of a kind if one of its first senses is


class Hypernyms(Operator):
    """Replace a thing with its kind or a thing of the same kind, throughout: 5 apples … 3 apples → 5 fruits … 3 fruits.

    The text must not mention anything else of the same kind.
    """

    name = "Hypernyms"
    polarity = "valid"
    changes = frozenset({"things", "wording"})
    needs = ("parser",)
    extras = ("augment",)

    def apply(self, problem: Problem, rng: random.Random, resources: Resources) -> str | None:
        """Replace one thing; return None if no thing can be replaced without a doubt."""
        return self.apply_batch([problem], [rng], resources)[0]

    def apply_batch(
        self, problems: Sequence[Problem], rngs: Sequence[random.Random], resources: Resources
    ) -> list[str | None]:
        """Replace one thing in each problem. All problems are parsed in one batch."""
        documents = parse(resources.require("parser", needed_by=self.name), problems)
        return [
            None if document is None else _renamed(problem, document, rng)
            for problem, document, rng in zip(problems, documents, rngs, strict=True)
        ]


def _renamed(problem: Problem, document: Document, rng: random.Random) -> str | None:
    mentions: dict[str, list[ContentWord]] = {}
    for word in content_words(problem, document):
        if word.part == "n" and word.lemma in _kind_of():
            mentions.setdefault(word.lemma, []).append(word)
    options = [lemma for lemma, words in mentions.items() if _can_replace(document, lemma, words)]
    if not options:
        return None
    lemma = rng.choice(options)
    kind = _kind_of()[lemma]
    others = [other for other in _KINDS[kind].split() if other != lemma]
    new = rng.choice(others) if kind in _ALIKE and rng.random() < 0.5 else kind
    edits = [replacement(problem.text, word, new) for word in mentions[lemma]]
    if new in document.words or any(edit is None for edit in edits):
        return None
    return keep_quantities(problem, [edit for edit in edits if edit is not None])


def _can_replace(document: Document, lemma: str, words: Sequence[ContentWord]) -> bool:
    """Return True if all mentions of a thing can be replaced and nothing else of its kind is mentioned."""
    kind = _kind_of()[lemma]
    if any(is_compound(word.token) or is_bare(word.token) for word in words):
        return False
    if sum(lemma in (lemma_of(token), token.lower_) for token in document.doc) != len(words):
        return False
    others = {lemma_of(token) for token in document.doc if token.pos_ in ("NOUN", "PROPN", "ADJ", "VERB")}
    others |= {token.lower_ for token in document.doc if token.pos_ in ("NOUN", "PROPN")}
    others -= {lemma, *(word.token.lower_ for word in words)}
    return not others & (_RELATED.get(kind, frozenset()) | {kind}) and not any(_is_a(o, kind) for o in others)


@cache
def _kind_of() -> dict[str, str]:
    return {thing: kind for kind, things in _KINDS.items() for thing in things.split()}


@cache
def _is_a(word: str, kind: str) -> bool:
    """Return True if a noun may denote a thing of a kind, or a kind that includes it."""
    if _kind_of().get(word) == kind:
        return True
    wider = {sense.synset for sense in senses(kind, "n")[:_SENSES]}
    return any(wider & {sense.synset, *above(sense.synset)} for sense in senses(word, "n")[:_SENSES])
