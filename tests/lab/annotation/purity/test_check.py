"""Check pairs against the promises of their operators, without the operators' code."""

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraqd.lab.annotation.purity import check_pair as paraqd_check_pair
from paraqd.lab.operators import declarations

PROMISES = declarations()


def check_pair(question, paraphrase, operator, label, note=""):
    return paraqd_check_pair(question, paraphrase, operator, label, note, promises=PROMISES)


def label_of(operator):
    """Return the label that the operator promises."""
    return int(PROMISES[operator.split("+")[-1]].polarity == "valid")


Q = "Tom drove 100 km at 20 kmph. Then Tom's friend paid $5 for 3 pens. How many hours did Tom drive?"

KEPT = [  # (operator, question, paraphrase): nothing to find
    ("SameSentence", Q, Q),
    ("NumToWords", "It is 5 km. He paid $2.50.", "It is five km. He paid two dollars and fifty cents."),
    (
        "NumToWords",
        "How many integers lie between 100 and 200?",
        "How many integers lie between one hundred and two hundred?",
    ),
    (
        "NumToWords",
        "Add 2 1/2 and 3/4 of 1,20,000.",
        "Add two and a half and three quarters of one hundred and twenty thousand.",
    ),
    ("NumToWords", "the ratio is 3: 5. what is x?", "the ratio is three to five. what is x?"),
    ("NumToWords", "He ate 1/3rd of it on the 2nd day.", "He ate one third of it on the second day."),
    ("WordsToNumbers", "A third pipe is twice as fast.", "A 3rd pipe is 2 times as fast."),
    ("WordsToNumbers", "Half an hour later, a dozen left.", "1/2 hour later, 12 left."),
    (
        "UnitExpansion",
        "The field is 20 m * 30 m. It costs Rs. 5 per sq. m.",
        "The field is 20 metres * 30 metres. It costs 5 rupees per square metre.",
    ),
    ("UnitExpansion", "It runs 10 hrs. per day at 5 km/h.", "It runs 10 hours per day at 5 kilometres per hour."),
    ("UnitContraction", "A box is 25 inches by 6 inches. How big is it?", "A box is 25 in. by 6 in. How big is it?"),
    ("EqualQuantity", "It took half an hour and 2 kg.", "It took 30 minutes and 2000 grams."),
    ("EqualQuantity", "He got 25% of 2 hours 30 minutes.", "He got a quarter of 150 minutes."),
    ("ConsistentRenaming", "Tom met Ann. Tom's dog ran 5 km.", "Max met Sue. Max's dog ran 5 km."),
    (
        "Rewrite",
        "If a pen costs $2, how many pens cost $10?",
        "Find the number of pens that cost $10, given that a pen costs $2.",
    ),
    (
        "ConsistentRenaming+EqualQuantity",
        "Tom slept for 1 hour. When did Tom wake?",
        "Max slept for 60 minutes. When did Max wake?",
    ),
    ("NumberDeletion", "There are 7 boys and 9 girls.", "There are some boys and 9 girls."),
    ("NumberDeletion", "He ran 3 m 20 cm and 5 m.", "He ran a few m 20 cm and 5 m."),
    ("NumberChange", "There are 7 boys and 9 girls.", "There are 8 boys and 9 girls."),
    ("NumberSwap", "There are 7 boys and 9 girls.", "There are 9 boys and 7 girls."),
    ("NumberSwap", "It ran 4 miles and 975 yards.", "It ran 975 miles and 4 yards."),
    ("UnitReplacement", "It is 5 km.", "It is 5 miles."),
    ("UnitReplacement", "It costs $5.", "It costs €5."),
    ("UnitReplacement", "He walked 5 miles. How many hours?", "He walked 5 miles. How many minutes?"),
    ("LastSentenceDeletion", "He has 5 pens. How many more?", "He has 5 pens."),
    ("LastSentenceDeletion", "How many pens has he now?", "How many pens has"),
    ("QuestionTruncation", "He has 5 pens. How many pens does he need?", "He has 5 pens. How many"),
    ("QuestionReplacement", "It goes 5 km. What is its speed?", "It goes 5 km. What is its weight?"),
    ("ConditionDeletion", "He has 5 pens. He lost 2 pens. How many are left?", "He has 5 pens. How many are left?"),
    ("RelationFlip", "He has 5 more pens than Ann.", "He has 5 fewer pens than Ann."),
    ("InconsistentRenaming", "Tom ran. Then Tom slept.", "Tom ran. Then Max slept."),
    ("ImportantPhraseDeletion", "The red car goes 5 km.", "The goes 5 km."),
    ("RandomDeletion", "The car's top-speed is 2/5 of it.", "The car's topspeed is of it."),
    ("TfidfReplacement", "The car goes 5 km.", "The zebra goes 5 km."),
    ("LossyParaphrase", "The car goes 5 km.", "The car goes."),
    ("ThingRenaming", "Tom has an apple. How many apples?", "Tom has a pen. How many pens?"),
    ("ClumsyGrammar", "He has a pen. She has 2 pens.", "He have pen.She has 2 pens."),
    ("Typography", "He wrote 5 letters to Ann. How many more?", "he wrote 5 lettrs to ann. how many more ?"),
    ("Decoration", "Tom has 5 pens. How many more?", "Tom, who likes music, has 5 pens. How many more?"),
    ("SentenceOrder", "Tom has 5 pens. How many pens are red?", "How many pens are red? Tom has 5 pens."),
    ("ConverseRelation", "Ann has 5 more pens than Bob.", "Bob has 5 fewer pens than Ann."),
    ("ConverseRelation", "Ann has twice as many pens as Bob.", "Bob has half as many pens as Ann."),
    ("QuestionForm", "He ran 5 km. What is his speed?", "He ran 5 km. Find his speed."),
    ("PronounUse", "Tom has 5 pens. Tom buys 2 pens.", "Tom has 5 pens. He buys 2 pens."),
    ("Shortening", "He has 5 pens. How many pens does he have in all?", "He has 5 pens. How many pens does he have?"),
    ("LightSynonyms", "He bought 5 pens twice as fast.", "He purchased 5 pens two times as fast."),
    ("RoleSwap", "Tom gives Ann 3 pens. Tom runs. Ann runs.", "Ann gives Tom 3 pens. Tom runs. Ann runs."),
    ("ThingMixing", "Tom has an apple. How many apples?", "Tom has an apple. How many pens?"),
    ("ConditionAddition", "How many pens has he?", "How many pens has he, not counting half of them?"),
    ("EntityDeletion", "He came from Rome at 20 km/h.", "He came from at 20 km/h."),
    ("OrderedNumbers", "He ran 120 km in 3 hours. How far?", "How far? He ran 3 km in 120 hours."),
    ("BrokenConverse", "Ann has 5 more pens than Bob.", "Bob has 5 more pens than Ann."),
    ("WrongReference", "Ann is 5. Tom is 7. How old is Ann?", "Ann is 5. Tom is 7. How old is Tom?"),
    ("SmallWordChange", "It is twice as long.", "It is half as long."),
    ("InventedWord", "He packs 5 boxes.", "He packs 5 blorvens."),
    (
        "Rewrite+NumberChange",
        "If a pen costs $2, how many pens cost $10?",
        "Find the number of pens that cost $12 if a pen costs $2.",
    ),
]

BROKEN = [  # (operator, question, paraphrase, reason)
    ("SameSentence", "It is 5 km.", "It is 5  km.", "not the same text"),
    ("NumToWords", "It is 5 km.", "It is 5 km. ", "unchanged"),
    ("NumToWords", "It is 900 m.", "It is 9zerozero m.", "glued together"),
    ("NumToWords", "It is 1 km.", "It is onekm.", "glued together"),
    ("NumToWords", "It is 750 m.", "It is seven hundred and fiftym.", "glued together"),
    ("NumToWords", "It costs $5,000.", "It costs $five,zero.", "glued together"),
    ("NumToWords", "He ran 5 km. What now?", "He ran five km.What now?", "glued together"),
    ("NumToWords", "It has 10,576 pages.", "It has ten, five hundred and seventy-six pages.", "quantities differ"),
    (
        "NumToWords",
        "He left in 1995. She stayed.",
        "He left in one thousand nine hundred and ninety-five She stayed.",
        "sentence end lost or added",
    ),
    ("NumToWords", "He has 5 pens.", "He has five books.", "other words changed"),
    ("NumToWords", "He pays 20%.", "He pays twenty.", "quantities differ"),
    ("WordsToNumbers", "He took the other one.", "He took the other 1.", "quantities differ by the reader"),
    ("UnitExpansion", "If 2m + 3 = 7, find m.", "If 2 metres + 3 = 7, find m.", "quantities differ"),
    (
        "UnitExpansion",
        "He drove at 15mph. what is it?",
        "He drove at 15 miles per hour what is it?",
        "sentence end lost or added",
    ),
    (
        "UnitExpansion",
        "There are 10 boys in Ms. Smith's class.",
        "There are 10 boys in milliseconds. Smith's class.",
        "units differ",
    ),
    (
        "Rewrite",
        "Tom has 5 more pens than Ann. How many pens has Tom if Ann has 3?",
        "Tom has 5 fewer pens than Ann. How many pens has Tom if Ann has 3?",
        "a relation is reversed",
    ),
    ("EqualQuantity", "It took half an hour.", "It took 20 minutes.", "quantities differ"),
    ("ConsistentRenaming", "Tom met Ann. Tom ran.", "Max met Ann. Tom ran.", "not a consistent renaming"),
    ("ConsistentRenaming", "Tom met Ann.", "Max met Max.", "not a consistent renaming"),
    ("Rewrite", "Tom has 5 pens. How many has Ann?", "Tom has 5 pens. How many has Sue?", "names differ"),
    ("Rewrite", "Tom has 5 pens. How many are left?", "Tom has 6 pens. How many are left?", "quantities differ"),
    ("Rewrite", "Tom has 5 red pens. Find the average weight of pens.", "Tom has 5 red ones.", "question lost"),
    (
        "Rewrite",
        "He ran 5 km. How many hours did it take?",
        "He ran 5 km. How many minutes did it take?",
        "units differ",
    ),
    ("Backtranslation", "It is 0.6 km.", "It is 0,6 km.", "quantities differ"),
    ("NumberDeletion", "It has 15 pages.", "It has 1some pages.", "a quantity changed into another"),
    ("NumberDeletion", "It has 15 pages.", "It has 15 old pages.", "no quantity lost"),
    (
        "NumberDeletion",
        "He has 2 cats, 3 dogs and 4 cows.",
        "He has some cats, some dogs and some cows.",
        "more than two quantities lost",
    ),
    ("NumberChange", "It is 60 minutes long.", "It is 1 hour long.", "no quantity changed"),
    ("NumberChange", "He has 2 cats and 3 dogs.", "He has 5 cats and 6 dogs.", "more than one quantity changed"),
    (
        "NumberSwap",
        "He ran 5 km and 7 km.",
        "He ran 7 km and 5 km.",
        "every number still belongs to the same thing",
    ),
    ("UnitReplacement", "It is 5 meters.", "It is 5 metres!", "no other unit"),
    (
        "UnitReplacement",
        "What part of a litre are 90 ml?",
        "What part of a litre are 90 cu. cm?",
        "every quantity is still the same",
    ),
    ("UnitReplacement", "It is 5 km.", "It is 5 KM", "equal to the question"),
    (
        "LastSentenceDeletion",
        "He has 5 pens. She has 3. How many more?",
        "He has 5 pens.",
        "something other than the last sentence is missing",
    ),
    ("LastSentenceDeletion", "How many pens has he now?", "How many", "not three tokens fewer"),
    ("LastSentenceDeletion", "He has 5. How many?", "She has 5.", "not a beginning of the question"),
    (
        "QuestionTruncation",
        "He has 5 pens. How many are left?",
        "He has 5 pens. How many are",
        "the question is complete",
    ),
    (
        "QuestionReplacement",
        "It goes 5 km. What is its mean speed?",
        "It goes 5 km. What is its average speed?",
        "asks the same question in other words",
    ),
    (
        "QuestionReplacement",
        "It goes 5 km. What is its speed?",
        "It flies 5 km. What is its weight?",
        "changed outside the question",
    ),
    (
        "ConditionDeletion",
        "If it prints 8,000 papers, how long does it take?",
        "000 papers, how long does it take?",
        "a quantity changed into another",
    ),
    ("RelationFlip", "Each box has 5 pens.", "For every two of this box has 5 pens.", "quantities differ"),
    (
        "RelationFlip",
        "It is said that Ann has more than Tom has.",
        "It is said that Sue has more than Tom has.",
        "a name changed",
    ),
    ("EntityReplacement", "Tom has 5 pens.", "Tom has 5 books.", "no name changed"),
    ("EntityReplacement", "Tom has 5 pens.", "Max has 5 pens.", "a consistent renaming, not noted"),
    ("InconsistentRenaming", "Tom ran. Then Tom slept.", "Max ran. Then Max slept.", "a consistent renaming"),
    ("ImportantPhraseDeletion", "The red car goes 5 km.", "The old goes 5 km.", "words added"),
    ("RandomDeletion", "The car is on the hill.", "Car is on hill.", "only function words lost"),
    ("LossyParaphrase", "The car goes 5 km.", "the car goes 5 km", "equal to the question"),
    (
        "ThingRenaming",
        "Tom has an apple. How many apples?",
        "Tom has a pen. How many apples?",
        "not a consistent renaming",
    ),
    ("ClumsyGrammar", "He has a pen. She has 2 pens.", "He have pen.She has 3 pens.", "quantities differ"),
    ("Typography", "He wrote 5 letters to Ann.", "he wrote 5 lettrs to bob", "names differ"),
    ("Decoration", "Tom has 5 pens. How many more?", "Tom, who likes music, has 5 caps. How many more?", "other words"),
    ("SentenceOrder", "Tom has 5 pens. How many pens are red?", "How many pens are red? Tom has 6 pens.", "quantities"),
    ("ConverseRelation", "Ann has twice as many pens as Bob.", "Bob has a third as many pens as Ann.", "quantities"),
    (
        "QuestionForm",
        "He ran 5 km. What is his speed?",
        "He rode 5 km. Find his speed.",
        "changed outside the question",
    ),
    ("PronounUse", "Tom has 5 pens. Tom buys 2 pens.", "Tom has 5 pens. He sells 2 pens.", "other words changed"),
    ("PronounUse", "Tom met Ann. Tom has 5 pens.", "Tom met her. Tom has 5 pens.", "names differ"),
    ("LightSynonyms", "He bought 5 pens.", "He sold 5 pens.", "a relation is reversed"),
    ("RoleSwap", "Tom gives Ann 3 pens. Tom runs.", "Max gives Ann 3 pens. Max runs.", "a consistent renaming"),
    ("ThingMixing", "Tom has an apple. How many apples?", "Tom has a pen. How many pens?", "a consistent renaming"),
    ("ConditionAddition", "How many pens has he?", "How many caps has he, not counting half of them?", "words lost"),
    ("ConditionAddition", "How many pens has he?", "How many pens has he the?", "only function words added"),
    ("EntityDeletion", "He came from the town of Rome.", "He came the town of Rome.", "no content word lost"),
    (
        "OrderedNumbers",
        "He ran 120 km in 3 hours. How far?",
        "How far? He ran 4 km in 120 hours.",
        "not the same numbers",
    ),
    ("RelationFlip", "He has 5 more pens.", "He has 6 fewer pens.", "quantities differ"),
    ("InventedWord", "He packs the 5 boxes.", "He packs these 5 boxes.", "no content word lost or replaced"),
]

ODD = [  # (operator, question, paraphrase, part of the reason): marked, however the reader reads it
    ("NumToWords", "She teaches 20 third-graders.", "She teaches twenty third-graders.", "quantities differ"),
    (
        "NumToWords",
        "The area is 1200 m 2 in all.",
        "The area is one thousand two hundred m two in all.",
        "quantities differ",
    ),
    ("RelationFlip", "He came in the afternoon.", "He came in the beforenoon.", "a strange word"),
    ("T5Paraphrase", "The car goes 5 km.", "5 km the car goes.", "looks valid"),
]


@pytest.mark.parametrize(("operator", "question", "paraphrase"), KEPT)
def test_a_kept_promise_passes(operator, question, paraphrase):
    finding = check_pair(question, paraphrase, operator, label_of(operator))
    assert (finding.ok, finding.suspicious) == (True, False), finding.reason


@pytest.mark.parametrize(("operator", "question", "paraphrase", "reason"), BROKEN)
def test_a_broken_promise_is_found(operator, question, paraphrase, reason):
    finding = check_pair(question, paraphrase, operator, label_of(operator))
    assert not finding.ok
    assert finding.reason.startswith(reason)


@pytest.mark.parametrize(("operator", "question", "paraphrase", "reason"), ODD)
def test_a_pair_with_different_opinions_is_suspicious(operator, question, paraphrase, reason):
    finding = check_pair(question, paraphrase, operator, label_of(operator))
    assert reason in finding.reason
    assert finding.suspicious or not finding.ok


def test_a_wrong_label_is_impure_whatever_the_text():
    assert check_pair("It is 5 km.", "It is five km.", "NumToWords", 0).reason == "wrong label"
    assert check_pair("It is 5 km.", "It is 6 km.", "NumberChange", 1).reason == "wrong label"


def test_a_further_draw_promises_what_the_first_does():
    assert check_pair("It is 5 km.", "It is 5 kilometres.", "UnitReplacement#2", 0).reason == "no other unit"
    assert check_pair("It is 5 km.", "It is five km.", "NumToWords#3", 0).reason == "wrong label"


def test_consistent_renamings_of_f7_are_counted_separately():
    finding = check_pair("Tom ran. Tom won.", "Max ran. Max won.", "EntityReplacement", 0, "consistent_renaming")
    assert finding.ok and finding.consistent_renaming
    mixed = check_pair("Tom ran. Tom won.", "Max ran. Tom won.", "EntityReplacement", 0)
    assert mixed.ok and not mixed.consistent_renaming
    claimed = check_pair("Tom ran. Tom won.", "Max ran. Tom won.", "EntityReplacement", 0, "consistent_renaming")
    assert claimed.suspicious and not claimed.consistent_renaming


@pytest.mark.parametrize("name", PROMISES)
def test_the_wrong_label_of_any_operator_is_found(name):
    assert check_pair("It is 5 km.", "It is 6 km.", name, 1 - label_of(name)).reason == "wrong label"


def test_an_operator_without_a_promise_is_checked_by_its_label():
    assert check_pair("Tom has 5 pens.", "5 pens are Tom's.", "TheirOwn", 1).ok
    assert check_pair("Tom has 5 pens.", "Tom has 6 pens.", "TheirOwn", 1).reason == "quantities differ"
    assert check_pair("Tom has 5 pens.", "Tom has 6 pens.", "TheirOwn", 0).ok
    assert check_pair("Tom has 5 pens.", "tom has 5 pens", "TheirOwn", 0).reason == "equal to the question"


def test_nothing_of_the_operators_is_imported():
    found = "[m for m in sys.modules if m.startswith('paraqd.lab.operators')]"
    code = f"import sys, paraqd.lab.annotation.purity; print({found})"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


texts = st.text(alphabet=st.sampled_from(list("aMs.,?! \n'-/:%$€²½0123٣x")) | st.characters(), max_size=60)
words = st.lists(
    st.sampled_from(
        "Tom's one million and a half of 3 km per hour 2/3rd $5 rs. how many ? . -5 twenty third 1,2,3".split()
    ),
    max_size=25,
).map(" ".join)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([*PROMISES, "Rewrite+NumberChange", "Theirs"]), texts | words, texts | words)
def test_any_text_can_be_checked(operator, question, paraphrase):
    for label in (0, 1):
        finding = check_pair(question, paraphrase, operator, label)
        assert finding == check_pair(question, paraphrase, operator, label)
        assert finding.ok or finding.reason


def test_long_texts_are_checked_quickly():
    text = "million " * 2_000 + "9" * 5000 + " 5 km/h" * 5000
    assert check_pair(text, "x" + text, "Rewrite", 1).reason
