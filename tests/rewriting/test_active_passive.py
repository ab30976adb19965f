"""Change the voice (fa). Each example is a sentence and its result."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraqd.lab.operators import MissingResourceError, Resources, derive_rng
from paraqd.lab.operators.wording.active_passive import ActivePassive
from paraqd.reading import read
from paraqd.rewriting.verbs import Verb, active_words, passive_words

TO_PASSIVE = [
    ("Tom bought 5 apples.", "5 apples were bought by Tom."),
    ("Tom bought one apple.", "One apple was bought by Tom."),
    ("Maria sells 12 cakes on Friday.", "12 cakes are sold by Maria on Friday."),
    ("Maria sells a cake for $9.", "A cake is sold by Maria for $9."),
    ("Ben has painted 3 chairs.", "3 chairs have been painted by Ben."),
    ("Ben had painted a chair.", "A chair had been painted by Ben."),
    ("Ben is painting 3 chairs.", "3 chairs are being painted by Ben."),
    ("Ben was painting a chair.", "A chair was being painted by Ben."),
    ("Ben will paint 3 chairs tomorrow.", "3 chairs will be painted by Ben tomorrow."),
    ("Ben would have painted the chairs.", "The chairs would have been painted by Ben."),
    ("Priya can finish the job in 6 days.", "The job can be finished by Priya in 6 days."),
    ("He read 40 pages on Monday.", "40 pages were read by him on Monday."),
    ("They baked 24 cookies for the party.", "24 cookies were baked by them for the party."),
    ("On Sunday, Lena planted 8 trees.", "On Sunday, 8 trees were planted by Lena."),
    ("Ann and Bob ate 6 plums.", "6 plums were eaten by Ann and Bob."),
    ("Lena planted 8 roses and 5 tulips.", "8 roses and 5 tulips were planted by Lena."),
    (
        "If Lena sells 8 plants, how much money does she have?",
        "If 8 plants are sold by Lena, how much money does she have?",
    ),
    ("Ravi spent $40 on books.", "$40 was spent by Ravi on books."),
    ("A can do a piece of work in 9 days.", "A piece of work can be done by A in 9 days."),
    ("pipe a can fill a tank in 9 hours.", "a tank can be filled by pipe a in 9 hours."),
    ("a alone can do a piece of work in 9 days.", "a piece of work can be done by a alone in 9 days."),
    ("How many apples did Tom buy?", "How many apples were bought by Tom?"),
    ("how many cards will priya write in 3 weeks?", "how many cards will be written by priya in 3 weeks?"),
    ("How many pages does she read every day?", "How many pages are read by her every day?"),
    ("How much money did Omar save in May?", "How much money was saved by Omar in May?"),
    ("How much did Omar spend on toys?", "How much was spent by Omar on toys?"),
    (
        "In how many days will Priya finish the job?",
        "In how many days will the job be finished by Priya?",
    ),
    ("What is the price of the books that Omar bought?", "What is the price of the books bought by Omar?"),
]

TO_ACTIVE = [
    ("5 apples were bought by Tom.", "Tom bought 5 apples."),
    ("The fence is painted by two men in 3 days.", "Two men paint the fence in 3 days."),
    ("The fence is painted by a man in 3 days.", "A man paints the fence in 3 days."),
    ("The letters were sent to Ann by Tom.", "Tom sent the letters to Ann."),
    ("The wall can be built by 12 men in 5 days.", "12 men can build the wall in 5 days."),
    ("The chairs have been painted by Ben.", "Ben has painted the chairs."),
    ("A song was written by him in May.", "He wrote a song in May."),
    ("How many cakes were eaten by Maria?", "How many cakes did Maria eat?"),
    ("How many cakes can be eaten by the boys?", "How many cakes can the boys eat?"),
    (
        "Find the number of days taken by Rina to do the work.",
        "Find the number of days that Rina takes to do the work.",
    ),
]

LEFT_ALONE = [
    "He and Ann saved a total of $500.",  # a pronoun in a list has no object form here
    "TOM BOUGHT 5 APPLES.",
    "Tom has 5 apples.",  # have has no passive
    "A pen costs $3 and a book weighs 2 pounds.",
    "The train travels 60 km in an hour.",  # a measure, not an object
    "The trip took 3 hours.",
    "Tom is 12 years old.",
    "Tom bought 5 apples and ate 2.",  # the subject is shared
    "Tom gave Ann 5 apples.",  # two objects
    "Tom sold his bike.",  # *his bike was sold by Tom*: whose?
    "Tom bought 3 more apples than Ann.",
    "If Tom picks a pear, an egg and a fig, what is left?",  # a list, which the parser may split
    "Lena bought tickets to the show.",  # the show belongs to the tickets
    "Omar ate half the plums Lena did.",
    "Tom washed himself.",
    "The boy who lives next door bought 5 apples.",
    "Pipe A can fill a tank in 8 hours, pipe B in 4 hours and pipe C in 24 hours.",  # without verbs
    "Three friends bought two tickets.",  # two each?
    "6 workers earn $50.",
    'Tom said, "Ann bought 5 apples."',
    "The number is divided by 5.",
    "The price was increased by 20%.",
    "Find the sum of 3 and 4.",
    "Tom picked up 5 stones.",
    "She makes a profit of 10%.",
    "Baking all day, Carla made 45 pies.",  # the participle would dangle
    "Working together, how many chairs can they make?",
    "What number should fill the gap?",
    "5 + 3 = 8",
    "",
    "   ",
    "?",
]


def turn(parser, text, **resources):
    return ActivePassive().apply(read(text), random.Random(0), Resources(parser=parser, **resources))


@pytest.mark.parametrize(("active", "passive"), TO_PASSIVE)
def test_active_becomes_passive(parser, active, passive):
    assert turn(parser, active) == passive


@pytest.mark.parametrize(("passive", "active"), TO_ACTIVE)
def test_passive_becomes_active(parser, passive, active):
    assert turn(parser, passive) == active


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_a_clause_without_a_simple_structure_stays(parser, text):
    assert turn(parser, text) is None


def test_all_clauses_of_a_problem_are_changed(parser):
    text = "Lena bought 8 lamps. Omar bought 5 rugs. How many rugs will Omar sell?"
    assert turn(parser, text) == (
        "8 lamps were bought by Lena. 5 rugs were bought by Omar. How many rugs will be sold by Omar?"
    )


def test_lower_case_stays_lower_case(parser):
    assert turn(parser, "the baker made 30 rolls. how many rolls are left?") == (
        "30 rolls were made by the baker. how many rolls are left?"
    )


def test_white_space_and_line_breaks_stay(parser):
    assert turn(parser, "  Tom bought 5 apples.\n\nHow many are left?") == (
        "  5 apples were bought by Tom.\n\nHow many are left?"
    )


def test_a_batch_gives_what_one_by_one_gives(parser):
    texts = [text for text, _ in TO_PASSIVE] + LEFT_ALONE
    rngs = [random.Random(0) for _ in texts]
    together = ActivePassive().apply_batch([read(t) for t in texts], rngs, Resources(parser=parser))
    assert together == [turn(parser, text) for text in texts]


def test_a_very_long_text_is_left(parser):
    assert turn(parser, "Tom bought 5 apples. " * 50_000) is None


def test_the_parser_must_be_given():
    with pytest.raises(MissingResourceError, match="ActivePassive needs the resource 'parser'"):
        ActivePassive().apply(read("Tom bought 5 apples."), random.Random(0), Resources())


class Answers:
    """A generator that answers from a table, or with its input."""

    stand_in = False
    by_sentence = True

    def __init__(self, name, answers):
        self.name = name
        self.answers = answers

    def generate(self, texts, *, seed, decoding=None):
        return [[self.answers[text]] if text in self.answers else [] for text in texts]


def test_a_given_model_is_used(parser):
    model = Answers("passive", {"Tom bought 5 apples.": "5 apples was bought by Tom."})
    grammar = Answers("grammar", {"5 apples was bought by Tom.": "5 apples were bought by Tom."})
    given = {"generator.fa.passive": model, "generator.fa.grammar": grammar}
    resources = Resources(parser=parser, **given)
    operator = ActivePassive()
    text = "Tom bought 5 apples. How many are left?"
    assert operator.apply(read(text), random.Random(0), resources) == (
        "5 apples were bought by Tom. How many are left?"
    )
    assert operator.source_model(resources) == "passive grammar"
    assert operator.source_model(Resources(parser=parser)) == ""


def test_a_model_that_changes_a_number_is_not_believed():
    model = Answers("passive", {"Tom bought 5 apples.": "6 apples were bought by Tom."})
    resources = Resources(**{"generator.fa": model})
    assert ActivePassive().apply(read("Tom bought 5 apples."), random.Random(0), resources) is None
    assert resources.drops["ActivePassive", "quantities differ"] == 1


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.text(max_size=80), st.integers(0, 99))
def test_any_text_and_the_same_each_time(parser, text, seed):
    problem, resources = read(text), Resources(parser=parser)
    first = ActivePassive().apply(problem, derive_rng(seed, "q", "fa"), resources)
    assert first is None or first != text
    assert ActivePassive().apply(problem, derive_rng(seed, "q", "fa"), resources) == first


def test_verb_groups_in_both_voices():
    bought = Verb("buy", "VBD")
    assert passive_words(bought, plural=False) == ("was", "bought")
    assert active_words(bought, plural=False, question=True) == ("did", "buy")
    assert active_words(Verb("write", "VBZ", perfect=True), plural=True, question=False) == ("have", "written")
    assert passive_words(Verb("qzx", "VBD"), plural=False) is None
