"""The checker tells whether single questions are solvable, and why not."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from paraqd import ModelError, QuestionFault, Scorer, SolvableChecker
from paraqd.data.question_texts import KINDS
from paraqd.model_folder import find_model_folder
from paraqd.scoring.verdict import score_of

SOLVABLE = (
    "Mia buys 4 notebooks at $3 each and a pen for $2. How much does she pay?",
    "A train travels 180 km in 3 hours. What is its average speed?",
    "A rectangle is 8 cm long and 5 cm wide. Find its area.",
)
# a broken text, its fault, and the words that the evidence must mark
BROKEN = (
    ("Mia buys 4 notebooks at $3 each and a pen for $2.", "question_missing", None),
    ("Mia buys several notebooks at $3 each. How much does she pay?", "number_missing", "several"),
    ("A train travels 180 km in 3 hours. What is its average sp", "cut_off", "sp"),
    ("He then gave 7 of them to his sister. How many did he keep?", "reference_dangling", "He"),
    ("A rectangle is 8 cm long and 5 cm brimf. Find its area.", "incoherent", "brimf"),
)


@pytest.fixture(scope="module")
def checker():
    return SolvableChecker.load()


@pytest.fixture(scope="module")
def tiny(question_judge_folder):
    return SolvableChecker.load(question_judge_folder)


@pytest.mark.parametrize("text", SOLVABLE)
def test_complete_questions_are_solvable(checker, text):
    found = checker.check(text)
    assert found.solvable and 0.5 < found.score <= 1
    assert found.evidence == () and found.warnings == ()


@pytest.mark.parametrize(("text", "kind", "words"), BROKEN)
def test_broken_questions_are_not_solvable_and_the_evidence_marks_the_fault(checker, text, kind, words):
    found = checker.check(text)
    assert not found.solvable and -1 <= found.score < 0.5
    [evidence] = found.evidence
    assert evidence.kind == kind
    assert evidence.message.endswith(".")
    if words is None:
        assert evidence.spans == ()
    else:
        assert any(words in text[start:end] for start, end in evidence.spans)
        assert words in evidence.message


def test_spans_refer_to_the_original_text(checker):
    text = "😀 <p>Sam earns $15 an hour &amp; works <b>several</b> hours. How much does he earn?</p>"
    [evidence] = checker.check(text).evidence
    assert [text[start:end] for start, end in evidence.spans] == ["several"]


def test_the_kinds_are_those_of_the_training_data():
    assert tuple(kind.value for kind in QuestionFault) == KINDS


def test_the_score_follows_from_the_calibrated_log_odds(tiny):
    text = "Tom has 5 pens. How many pens has Ann?"
    log_odds = tiny._judge.begin([text])()[0].log_odds
    assert tiny.check(text).score == pytest.approx(score_of(1 / (1 + 2.718281828459045 ** -(0.5 * log_odds + 0.1))))


def test_the_threshold_changes_the_verdict_but_not_the_score(question_judge_folder, tiny):
    texts = ["Tom has 5 pens. How many pens has Ann?", "Ann has 7 boys and girls.", "How much is the pens of Tom?"]
    scores = [each.score for each in tiny.check_texts(texts)]
    middle = sorted(scores)[1]
    others = SolvableChecker.load(question_judge_folder, threshold=middle).check_texts(texts)
    assert [each.score for each in others] == scores
    assert [each.solvable for each in others] == [score > middle for score in scores]
    for each in others:
        assert bool(each.evidence) != each.solvable
        assert each.signature.endswith(f"|mode:solvable|threshold:{middle:g}")


def test_batches_order_and_threads_do_not_change_scores(checker):
    texts = [*SOLVABLE, *(text for text, _, _ in BROKEN)] * 40
    expected = checker.check_texts(texts)
    assert expected[:8] == [checker.check(text) for text in texts[:8]]
    assert checker.check_texts(texts[::-1])[::-1] == expected
    assert SolvableChecker.load(threads=1).check_texts(texts[:8]) == expected[:8]
    with ThreadPoolExecutor(16) as pool:
        for found in pool.map(checker.check_texts, [texts[:24]] * 16):
            assert found == expected[:24]


def test_a_long_text_is_read_to_its_end_and_has_a_warning(checker):
    story = "Maria walks to the market on a sunny day and meets her friend Paul near the old bridge. " * 25
    whole = checker.check(story + "She buys 5 apples at 2 dollars each. How much does she pay in total?")
    cut = checker.check(story + "She buys 5 apples at 2 dollars each. How much does she p")
    assert whole.score > cut.score
    assert cut.evidence[0].kind == "cut_off"
    for found in (whole, cut):
        assert found.warnings == ("The text is long, so the model read it in 2 parts. The score is less certain.",)


def test_a_text_in_another_language_has_a_warning(checker):
    [warning] = checker.check("Juan tiene 5 manzanas y compra 3 manzanas. ¿Cuántas manzanas tiene?").warnings
    assert warning.startswith("The text does not seem to be in English.")


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["Tom has 5 pens.", " \n"], "question 2: blank question"),
        ([None], "question 1: blank question"),
        ([5], "question 1: question is not text"),
        ("Tom has 5 pens.", "texts is a single string"),
    ],
)
def test_what_is_not_a_text_is_refused(tiny, texts, message):
    with pytest.raises(ValueError, match=message):
        tiny.check_texts(texts)


def test_odd_texts_get_a_finite_score(tiny):
    for text in ("\ud83d 5 pens?", "<b></b>", "?", "5"):
        assert -1 <= tiny.check(text).score <= 1


def test_progress_is_reported(tiny):
    calls = []
    tiny.check_texts(["Tom has 5 pens."] * 300, progress=lambda *call: calls.append(call))
    assert calls == [("checking", 256, 300), ("checking", 300, 300)]


def test_a_verdict_can_be_written_as_json(checker):
    found = checker.check(BROKEN[1][0]).to_dict()
    assert list(found) == ["score", "solvable", "evidence", "warnings", "signature"]
    assert found["evidence"][0]["kind"] == "number_missing"


def test_a_damaged_or_missing_model_is_refused(tmp_path):
    folder = shutil.copytree(find_model_folder("solvable"), tmp_path / "model")
    with open(folder / "onnx" / "model.onnx", "ab") as file:
        file.write(b"x")
    with pytest.raises(ModelError, match="has changed since the model was written"):
        SolvableChecker.load(folder)
    (folder / "onnx" / "model.onnx").unlink()
    with pytest.raises(ModelError, match=r"has no onnx/model\.onnx"):
        SolvableChecker.load(folder)
    with pytest.raises(ModelError, match="does not exist"):
        SolvableChecker.load(tmp_path / "none")


def test_models_of_other_kinds_are_refused_with_a_hint():
    with pytest.raises(ModelError, match="does not hold a model for single questions: pass solvable"):
        SolvableChecker.load("default")
    with pytest.raises(ModelError, match="use paraqd solvable"):
        Scorer.load("solvable")
    with pytest.raises(ValueError, match="the threshold must be a number from -1 to 1"):
        SolvableChecker.load(threshold=2)
    with pytest.raises(ModelError, match="0 is not a valid number of threads"):
        SolvableChecker.load(threads=0)
