"""Check what every operator declares and promises."""

import csv
import random
import re
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rapidfuzz import fuzz, process

from paraqd.lab.annotation.purity import check_pair
from paraqd.lab.operators import (
    EVERYTHING,
    VARIES,
    DeclarationError,
    MissingResourceError,
    Noted,
    Operator,
    Resources,
    derive_rng,
    get,
)
from paraqd.lab.operators.models.paper import PAPER_MODELS
from paraqd.lab.operators.registry import BUILTIN
from paraqd.lab.operators.wording.vocabulary import Vocabulary
from paraqd.reading import read, same_quantities
from paraqd.reading.entities import load_spacy
from paraqd.scoring.verdict import EvidenceKind

DECLARED = {name: get(name).declaration() for name in BUILTIN}
BY_MODEL = [
    name for name, declared in DECLARED.items() if any(need.startswith("generator.") for need in declared.needs)
]
RULES = [name for name in BUILTIN if name not in BY_MODEL]
# the label of a baseline's output is the claim of its method: to UDA a number is a word like any other
VALID = [name for name in RULES if DECLARED[name].polarity == "valid" and not DECLARED[name].baseline]
COMPOSED = ["NumToWords+NumberChange", "UnitExpansion+ConsistentRenaming", "ConsistentRenaming+NumberDeletion"]

PIECES = (
    "5 12 100 0 0.6 .5 1,200 1,20,000 10,576 3,4,5 3/4 1/0 ½ ⅞ 20% % 2:3 2:3:5 45° 20°C $5 $1.30 $ Rs.40,000 Rs. ₹14 "
    "£1.30 €7 500/- 58 cents 5km 20kmph 7-inch $20-off twenty-five one two half dozen twice double third 2nd 21st "
    "10 a.m. 3:30 21:50 -5 − x^2 2y kx 2m 5g m g km kg hours minutes miles per hour / + = ( ) a an the and of to one "
    "pounds dollars years ago older more than less before after in total each Tom Ann's Paris New York Mr. Rao if If "
    "How many find what is ? . , ; ! - '' \" \n \t · × 000 007 million lakh 1e5 ²  A1 H2O x1 1️⃣ ٣ 三 ①"
).split(" ")

TEXTS = st.one_of(st.text(max_size=60), st.text(st.characters(), max_size=20))
NUMBERISH = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join),
    st.lists(st.sampled_from(PIECES), max_size=8).map("".join),
    st.text(alphabet="0123456789.,:/%$-½ kmhtndR", max_size=30),
)
ANYTHING = st.one_of(TEXTS, NUMBERISH)
CHECK = settings(max_examples=60, deadline=None, derandomize=True)


def hashed_words(texts):
    vectors = np.zeros((len(texts), 64), dtype=np.float32)
    for vector, text in zip(vectors, texts, strict=True):
        for word in re.findall(r"\w+", text.lower()):
            vector[zlib.crc32(word.encode("utf-8", "surrogatepass")) % 64] += 1
    return vectors


@pytest.fixture(scope="module")
def resources():
    return Resources(
        parser=load_spacy(),
        encoder=hashed_words,
        vocabulary=Vocabulary.of(["the red pen is here", "the red cap is there", "the pen is there"]),
    )


def global_state():
    return random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002


def run(name, text, resources, seed=3407):
    return get(name).apply(read(text), derive_rng(seed, text, name), resources)


@pytest.mark.parametrize("name", [*RULES, *COMPOSED])
@CHECK
@given(text=ANYTHING)
@example(text="\ud800")  # json.loads returns this for half of a surrogate pair
@example(text="It opens at ٣ a.m. or ٣:٣٠, ٥km away, for ٢٠% more.")
@example(text="It opens at ３ a.m. or ３:３０, ５km away, for ２０% more.")
def test_the_result_is_none_or_another_text(name, text, resources):
    result = run(name, text, resources)
    assert result is None or isinstance(result, str)
    if name != "SameSentence" and result is not None:
        assert result.strip()
        assert result != text


@pytest.mark.parametrize("name", [*RULES, *COMPOSED])
@CHECK
@given(text=ANYTHING, seed=st.integers(0, 2**32))
def test_the_same_seed_and_id_give_the_same_result(name, text, seed, resources):
    before = global_state()
    first = run(name, text, resources, seed)
    assert global_state() == before, "the global random state was touched"
    random.random()
    again = run(name, text, resources, seed)
    assert again == first
    assert getattr(again, "note", "") == getattr(first, "note", "")


@pytest.mark.parametrize("name", [*RULES, *COMPOSED])
@settings(CHECK, max_examples=20)
@given(texts=st.lists(ANYTHING, max_size=5))
def test_a_batch_gives_what_one_by_one_gives(name, texts, resources):
    operator = get(name)
    problems = [read(text) for text in texts]
    rngs = [[derive_rng(1, str(i), name) for i in range(len(texts))] for _ in range(2)]
    alone = [operator.apply(problem, rng, resources) for problem, rng in zip(problems, rngs[0], strict=True)]
    assert operator.apply_batch(problems, rngs[1], resources) == alone


@pytest.mark.parametrize("name", VALID)
@CHECK
@given(text=NUMBERISH)
def test_a_valid_operator_keeps_the_quantities(name, text, resources):
    result = run(name, text, resources)
    if result is not None:
        assert same_quantities(read(text).quantities, read(result).quantities)


@pytest.mark.parametrize("name", ["NumberChange", "NumberDeletion"])
@CHECK
@given(text=NUMBERISH)
def test_a_changed_number_changes_the_quantities(name, text, resources):
    result = run(name, text, resources)
    if result is not None:
        assert not same_quantities(read(text).quantities, read(result).quantities)


@pytest.mark.parametrize("name", [name for name in RULES if get(name).needs])
def test_what_an_operator_needs_must_be_given(name):
    with pytest.raises(MissingResourceError, match=f"{name} needs the resource"):
        get(name).apply(read("Tom has 5 red pens."), derive_rng(0, "q", name), Resources())


# --- declarations -------------------------------------------------------------------------------


def declare(**attributes):
    """Define an operator class with the given class attributes."""
    apply = lambda self, problem, rng, resources: None  # noqa: E731
    return type("Mine", (Operator,), {"apply": apply, **attributes})


def test_a_complete_declaration_is_accepted():
    assert declare(name="Mine", polarity="valid", changes=frozenset({"names"}))().declaration().changes == {"names"}
    varying = declare(name="Mine", polarity="invalid", changes=EVERYTHING, fault=VARIES)
    assert varying().declaration().fault == ""


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({}, "must declare name and polarity and changes"),
        ({"name": "Mine", "polarity": "valid"}, "must declare changes"),
        ({"name": "Mine", "polarity": "good", "changes": frozenset()}, "must be 'valid' or 'invalid', not 'good'"),
        ({"name": "Mine", "polarity": "valid", "changes": {"names"}}, "must be a frozenset of numbers, units"),
        ({"name": "Mine", "polarity": "valid", "changes": frozenset({"name"})}, "it contains name"),
        ({"name": "Mine", "polarity": "invalid", "changes": frozenset()}, "must declare its fault"),
        ({"name": "Mine", "polarity": "valid", "changes": frozenset(), "fault": "number_lost"}, "must not declare a"),
    ],
)
def test_an_incomplete_declaration_is_refused(attributes, message):
    with pytest.raises(DeclarationError, match=message):
        declare(**attributes)


@pytest.mark.parametrize("name", BUILTIN)
def test_a_built_in_operator_declares_everything(name):
    declared = DECLARED[name]
    assert declared.name == name
    assert declared.description
    assert declared.fault in {None, VARIES, *(kind.value for kind in EvidenceKind)}
    assert declared.changes or name == "SameSentence"
    models = {need.removeprefix("generator.") for need in declared.needs if need.startswith("generator.")}
    assert models <= set(PAPER_MODELS)
    assert all(PAPER_MODELS[model].operator in {name, getattr(get(name), "first", get(name)).name} for model in models)
    if declared.stand_in not in {None, "generator"}:
        assert DECLARED[declared.stand_in].polarity == declared.polarity


# --- purity on the sample questions -------------------------------------------------------------


@pytest.fixture(scope="module")
def sample_questions():
    with open(Path(__file__).parents[3] / "samples" / "questions.csv", encoding="utf-8", newline="") as file:
        return [row["question"] for row in csv.DictReader(file)]


class Paraphraser:
    """A generator that knows the questions and rewords them by a fixed table, instead of a trained model.

    It also restores a corrupted question, as the model of fb does.
    """

    name = "table"
    by_sentence = False

    def __init__(self, questions):
        sentences = [sentence.text for question in questions for sentence in read(question).sentences]
        self.known = [*questions, *sentences]

    def generate(self, texts, *, seed, decoding):
        del seed, decoding
        whole = [process.extractOne(text, self.known, scorer=fuzz.ratio)[0] for text in texts]
        return [[re.sub(r"\bHow many\b", "What number of", text.replace(" has ", " owns "))] for text in whole]


@pytest.fixture(scope="module")
def sample_resources(sample_questions):
    models = {f"generator.{key}": Paraphraser(sample_questions) for key in PAPER_MODELS if not key.startswith("fa.")}
    return Resources(
        lazy={name: (lambda model=model: model) for name, model in models.items()},
        parser=load_spacy(),
        encoder=hashed_words,
        vocabulary=Vocabulary.of(sample_questions),
    )


@pytest.mark.parametrize("name", [name for name in BUILTIN if not DECLARED[name].baseline])
def test_outputs_on_the_sample_questions_are_pure(name, sample_questions, sample_resources):
    operator = get(name)
    problems = [read(question) for question in sample_questions]
    rngs = [derive_rng(3407, question, name) for question in sample_questions]
    outputs = operator.apply_batch(problems, rngs, sample_resources)
    pairs = [(question, text) for question, text in zip(sample_questions, outputs, strict=True) if text is not None]
    assert pairs, "the operator applies to none of the sample questions"
    label = int(operator.polarity == "valid")
    for question, text in pairs:
        finding = check_pair(question, str(text), name, label, getattr(text, "note", ""), promises=DECLARED)
        assert finding.ok, f"{finding.reason}: {question} -> {text}"


def test_the_labels_of_a_baseline_are_not_pure(sample_questions, sample_resources):
    """UDA replaces numbers like any other word and labels the result valid."""
    outputs = [run("LowTfidfReplacement", question, sample_resources) for question in sample_questions]
    findings = [
        check_pair(question, text, "LowTfidfReplacement", 1, promises=DECLARED)
        for question, text in zip(sample_questions, outputs, strict=True)
        if text is not None
    ]
    assert any(finding.reason == "quantities differ" for finding in findings)


@pytest.mark.parametrize("name", RULES)
def test_a_rule_names_no_model(name):
    assert get(name).source_model(Resources()) == ""


@pytest.mark.parametrize("name", [name for name in RULES if name != "ImportantPhraseDeletion" and not get(name).needs])
def test_a_long_text_is_not_an_error(name, resources):
    text = "Tom has 5 km and $3 of it, then 20% more. " * 300
    result = run(name, text, resources)
    assert result is None or isinstance(result, str)


def test_derive_rng_depends_on_all_three():
    draws = {
        derive_rng(seed, row, name).random()
        for seed in (1, 2)
        for row in ("a", "b")
        for name in ("NumToWords", "Rewrite")
    }
    assert len(draws) == 8


def test_derive_rng_is_the_same_in_every_process():
    """The number is fixed, because changing it would change every corpus."""
    assert derive_rng(3407, "q1", "NumberChange").getrandbits(32) == 4171701170


def test_derive_rng_takes_any_id():
    assert derive_rng(1, "\ud800 é \x00", "f3").random() == derive_rng(1, "\ud800 é \x00", "f3").random()


def test_a_lazy_resource_is_made_once_at_the_first_request():
    made = []
    resources = Resources(lazy={"encoder": lambda: made.append(1) or "an encoder"}, vocabulary="words")
    assert "encoder" in resources and "vocabulary" in resources and "parser" not in resources
    assert not made
    assert resources.get("encoder") == resources.require("encoder", needed_by="me") == "an encoder"
    assert made == [1]


def test_an_absent_resource():
    resources = Resources()
    assert resources.get("encoder") is None
    with pytest.raises(MissingResourceError, match="Me needs the resource 'encoder', which is not available"):
        resources.require("encoder", needed_by="Me")


def test_drops_are_counted():
    resources = Resources()
    resources.dropped("Backtranslation", "quantities differ")
    resources.dropped("Backtranslation", "quantities differ")
    assert resources.drops == {("Backtranslation", "quantities differ"): 2}


def test_a_noted_text_is_a_text():
    text = Noted("He has 5 pens.", note="consistent_renaming")
    assert text == "He has 5 pens."
    assert (text.note, Noted("x").note) == ("consistent_renaming", "")
