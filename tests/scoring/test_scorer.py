"""Contracts of the scorer that hold for every model."""

from __future__ import annotations

import ast
import json
import math
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from counted_calls import calls

import paraqd
from paraqd import EvidenceKind, Scorer
from paraqd.errors import ModelError
from paraqd.scoring.evidence.finding import FEATURES, Finding
from paraqd.scoring.fused import FusedMethod
from paraqd.scoring.fusion import Fusion
from paraqd.scoring.verdict import VerdictTerms

BAG = "A bag of cat food weighs 7 pounds and 4 ounces. How much does the bag weigh in ounces?"
PAIRS = [
    (BAG, "A bag of cat food weighs 7 pounds and ounces. How much does the bag weigh in ounces?"),
    (BAG, "How much, in ounces, does a bag of cat food of 7 lb 4 oz weigh?"),
    ("Ann is 12. How old is she in 3 years?", "Ann is 12 now."),
    (
        "Tom has 5 more pens than Ann, who has 7. How many has Tom?",
        "Tom has 5 fewer pens than Ann, who has 7. How many?",
    ),
    (
        "John walked 200 kilometres. How long did he walk in metres?",
        "John walked 200 centimetres. How long did he walk?",
    ),
]


@pytest.fixture(scope="module")
def scorer():
    return Scorer.load()


def test_identical_texts_score_one_and_a_blank_paraphrase_minus_one(scorer):
    assert scorer.score(BAG, BAG).score == 1.0
    assert scorer.score(BAG, f"  {BAG}\n").score == 1.0
    blank = scorer.score(BAG, " \n")
    assert (blank.score, blank.valid) == (-1.0, False)
    assert blank.evidence[0].question_spans == ((0, len(BAG)),)


@pytest.mark.parametrize(("question", "paraphrase"), [("", "x"), (" ", "x"), (None, "x"), ("x", 5)])
def test_a_blank_question_or_something_that_is_no_text_is_an_error(scorer, question, paraphrase):
    with pytest.raises(ValueError, match="pair 1"):
        scorer.score(question, paraphrase)


def test_evidence_names_the_fault_and_where_it_is(scorer):
    lost, fine, asked, turned, unit = scorer.score_pairs(PAIRS)
    assert not lost.valid
    assert lost.evidence[0].kind is EvidenceKind.NUMBER_LOST
    (span,) = lost.evidence[0].question_spans
    assert BAG[slice(*span)] == "4 ounces"
    assert fine.valid
    assert not fine.evidence
    assert asked.evidence[0].kind is EvidenceKind.QUESTION_LOST
    assert EvidenceKind.RELATION_CHANGED in {piece.kind for piece in turned.evidence}
    assert unit.evidence[0].kind is EvidenceKind.UNIT_CHANGED
    for verdict in (lost, asked, turned, unit):
        assert all(piece.delta <= 0 and piece.message.endswith((".", '."', '?"')) for piece in verdict.evidence)


def test_a_score_depends_on_nothing_but_the_pair(scorer):
    together = [verdict.score for verdict in scorer.score_pairs(PAIRS)]
    assert [scorer.score(*pair).score for pair in reversed(PAIRS)] == pytest.approx(together[::-1], abs=1e-3)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda pair: scorer.score(*pair).score, PAIRS * 10)) == pytest.approx(
            together * 10, abs=1e-3
        )
    assert scorer.score(PAIRS[0][0], PAIRS[0][1] + "  \n").score == pytest.approx(together[0], abs=1e-3)


@pytest.mark.parametrize(
    "text",
    [
        "5 " * 20_000,
        "\x00\x07 5 apples?",
        "Juan tiene 5 manzanas. ¿Cuántas le quedan?",
        "<p>Tom has <b>5</b> apples. How many?</p>",
        r"If $\frac{1}{2}x = 4$, find $x$.",
        "\u200fTom has 5 apples\u202e. How many?",
        "\ud800 5 apples?",
    ],
)
def test_any_text_gets_a_verdict(scorer, text):
    verdict = scorer.score("Tom has 5 apples and eats 2. How many has he left?", text)
    assert -1 <= verdict.score <= 1
    for piece in verdict.evidence:
        assert all(0 <= start < end <= len(text) for start, end in piece.paraphrase_spans)


def test_nothing_heavy_is_imported():
    code = "import sys; from paraqd import Scorer; Scorer.load().score('5 a?', '6 a?'); print([m for m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"'torch'", "'spacy'", "'transformers'", "'sentence_transformers'"}
    assert not heavy & set(done.stdout.strip("[]\n").split(", "))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "has no paraqd.json"),
        ("{", "cannot be read"),
        ('{"format": 99, "fusion": {}}', "has format 99"),
        ('{"format": 1}', "no weights"),
        ('{"format": 1, "fusion": {"bias": "x"}}', "cannot be read"),
        ('{"format": 1, "fusion": {"bias": 0, "weights": {"number_lost": 1}}}', "wrong sign"),
        ('{"format": 1, "kind": "reading", "fusion": {"bias": 1.5, "weights": {}}}', "no weights for evidence"),
        ('{"format": 1, "kind": "reading", "fusion": {"bias": 1, "weights": {"unit_changed": 0}}}', "no weights for"),
        ('{"format": 1, "fusion": {"bias": 0, "weights": {"nummer_lost": -1}}}', "'nummer_lost', which this version"),
        ('{"format": 1, "fusion": {"bias": NaN, "weights": {}}}', "NaN is not a number"),
        ('{"format": 1, "fusion": {"bias": 1e999, "weights": {}}}', "value for bias is not a number from -100 to 100"),
        (
            '{"format": 1, "fusion": {"bias": 0, "weights": {"number_lost": -1e999}}}',
            "number_lost is not a number from",
        ),
        (
            '{"format": 1, "fusion": {"bias": 0, "weights": {}, "model_weight": 1e999}}',
            "model_weight is not a number from",
        ),
        ('{"format": 1, "fusion": {"bias": 0, "weights": {}, "ceiling": 1e999}}', "ceiling is not a finite number"),
        ('{"format": 1, "fusion": {"bias": 0, "weights": {}, "presumed": 1e999}}', "presumed is not a number from"),
        ('{"format": 1, "kind": "reading", "fusion": FUSION, "threshold": 5}', "threshold .* is 5"),
        ('{"format": 1, "kind": "reading", "fusion": FUSION, "threshold": "abc"}', "is 'abc'"),
        ('{"format": 1, "kind": "reading", "fusion": FUSION, "threshold": true}', "is True, which is not a number"),
        ('{"format": 1, "kind": "steam", "fusion": FUSION}', "'steam', which this .* version of paraqd that wrote"),
        ('{"format": 1, "fusion": {"bias": true, "weights": {"number_lost": -1}}}', "fusion cannot be read"),
        ('{"format": 1, "fusion": {"bias": 0, "weights": {"number_lost": false}}}', "fusion cannot be read"),
        ('{"format": 1, "fusion": {"bias": 0, "weights": {"number_lost": "-1"}}}', "fusion cannot be read"),
        ('{"format": 1, "fusion": {"bias": 0, "weights": {}, "presumed": 1e308}}', "presumed is not a number from"),
        ('{"format": 1, "fusion": {"bias": 0, "weights": {}, "ceiling": -1e308}}', "ceiling is not a number from"),
    ],
)
def test_a_broken_model_folder_is_one_line(tmp_path, content, message):
    if content is not None:
        fusion = '{"bias": 0, "weights": {"number_lost": -1}}'
        (tmp_path / "paraqd.json").write_text(content.replace("FUSION", fusion))
    with pytest.raises(ModelError, match=message) as caught:
        Scorer.load(tmp_path)
    assert "\n" not in str(caught.value)


def test_the_known_features_are_those_of_the_rules():
    """A rule with a feature that is not listed could not be given a weight."""
    rules = Path(paraqd.__file__).parent / "scoring" / "evidence"
    sources = {path.name: path.read_text("utf-8") for path in rules.glob("*.py") if path.name != "finding.py"}
    made = set()
    for source in sources.values():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Finding":
                made |= _strings(node.args[0])
            elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "feature":
                made |= _strings(node.value)
    assert made == FEATURES


def _strings(node):
    """Return the strings that an expression may evaluate to."""
    if isinstance(node, ast.IfExp):
        return _strings(node.body) | _strings(node.orelse)
    return {node.value} if isinstance(node, ast.Constant) else set()


def test_a_score_that_is_not_finite_is_an_error_and_never_a_verdict():
    terms = VerdictTerms(0.5, "")
    for score in (math.nan, math.inf, -math.inf):
        with pytest.raises(ModelError, match="not a number"):
            terms.verdict(score)
        with pytest.raises(ModelError, match="not a number"):
            Fusion(1.0, {}, 1.0).score([], score)


def test_every_finding_lowers_the_score_and_more_lower_it_further():
    fusion = Fusion(1.0, {"number_lost": -2.0, "unit_changed": -0.5})
    scores = [fusion.score(["number_lost"] * count) for count in range(4)]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 4
    assert fusion.score(["number_lost", "unit_changed"]) < fusion.score(["number_lost"])


def test_the_deltas_of_many_findings_are_computed_once_for_each_feature():
    """For every finding, all findings were counted again."""
    fusion = Fusion(1.0, {"number_lost": -2.0, "unit_changed": -0.5, "word_missing": -1.0})
    features = ("unit_changed", "number_lost", "number_lost", "unit_changed", "word_missing")

    def findings(count):
        return [Finding(feature, EvidenceKind.NUMBER_LOST, (), (), "") for feature in features * count]

    for piece in (findings(1), findings(3)):
        for place, evidence in zip(range(len(piece)), fusion.evidence(piece), strict=True):
            order = sorted(range(len(piece)), key=lambda i: (fusion.weights[piece[i].feature], i))
            others = [each.feature for i, each in enumerate(piece) if i != order[place]]
            assert evidence.delta == fusion.score([each.feature for each in piece]) - fusion.score(others)
    assert calls(fusion.evidence, findings(80)) < 5 * calls(fusion.evidence, findings(20))


def test_a_verdict_can_be_written_as_json(scorer):
    verdict = scorer.score(*PAIRS[0])
    again = json.loads(json.dumps(verdict.to_dict()))
    assert again["evidence"][0]["kind"] == "number_lost"
    assert again["signature"].startswith("paraqd:")
    assert "|mode:fused|threshold:0.5" in again["signature"]


def test_things_that_change_places_around_a_verb_are_no_fault_and_people_are(scorer):
    rolls = "A baker made 48 rolls. The baker sold three quarters of the rolls. How many were left?"
    turned = (
        "Of the 48 rolls that a baker made, three quarters of the rolls were sold by the baker. How many were left?"
    )
    assert scorer.score(rolls, turned).valid
    question = "Tomás has 25 stickers. Tomás gives Anneke 3 stickers. How many has Tomás now?"
    exchanged = "Tomás has 25 stickers. Anneke gives Tomás 3 stickers. How many has Tomás now?"
    assert EvidenceKind.ENTITY_CHANGED in {piece.kind for piece in scorer.score(question, exchanged).evidence}


def test_thousands_of_numbers_are_no_burden():
    def text(step):
        return " ".join(f"Box {i} holds {i * step + 7} pens." for i in range(3000)) + " How many pens are there?"

    verdict = Scorer.load("reading").score(text(3), text(11))
    assert not verdict.valid
    assert 0 < len(verdict.evidence) < 200


@pytest.mark.parametrize(
    ("paraphrase", "same"),
    [
        ("A roll costs $3. A bun costs $2. Ines buys 3 rolls and 2 buns. How much does she pay?", True),
        ("A bun costs $2. Ines buys 3 rolls and 2 buns. A roll costs $3. How much does she pay?", True),
        ("How much does she pay? A bun costs $2. A roll costs $3. Ines buys 3 rolls and 2 buns.", False),
        ("A bun costs $3. A roll costs $2. Ines buys 3 rolls and 2 buns. How much does she pay?", False),
    ],
)
def test_sentences_in_another_order_are_the_same_where_none_points_back(paraphrase, same):
    question = "A bun costs $2. A roll costs $3. Ines buys 3 rolls and 2 buns. How much does she pay?"
    assert (Scorer.load("reading").score(question, paraphrase).score == 1.0) is same


@pytest.mark.parametrize(
    ("question", "paraphrase", "apart"),
    [
        ("A cart goes 60 km in 5 hours.", "एक दर्जन केले 60 रुपये के हैं। 5 केलों का दाम?", True),
        ("एक गाड़ी 5 घंटे में 60 किमी चलती है।", "A cart goes 60 km in 5 hours.", True),
        ("Zoë går 60 km på 5 timer.", "På 5 timer går Zoë 60 km.", False),
        ("Find π if x² ≤ 4 and α + β = 5.", "α + β = 5; x² ≤ 4; π = ?", False),
    ],
)
def test_texts_in_different_scripts_are_not_compared(question, paraphrase, apart):
    verdict = Scorer.load("reading").score(question, paraphrase)
    assert (verdict.score == -1.0) is apart
    if apart:
        (piece,) = verdict.evidence
        assert piece.paraphrase_spans == ((0, len(paraphrase)),)


@pytest.mark.parametrize(
    "paraphrase",
    [BAG.replace("?", " ?"), BAG.replace("7 pounds", "7pounds"), BAG.lower()[0] + BAG[1:], BAG.replace(" ", "\u00a0")],
)
def test_texts_that_differ_in_typography_score_one(scorer, paraphrase):
    verdict = scorer.score(BAG, paraphrase)
    assert (verdict.score, verdict.valid, verdict.evidence, verdict.warnings) == (1.0, True, (), ())


def test_the_mode_encoder_ignores_only_white_space():
    class Half:
        """A method that gives every pair the score 0.5."""

        def begin(self, pairs, terms):
            return lambda: [terms.verdict(0.5)] * len(pairs)

    encoder, fused = (Scorer(name="half", digest="0", method=Half(), mode=mode) for mode in ("encoder", "fused"))
    assert [encoder.score(BAG, other).score for other in (f"{BAG} ", BAG.replace("?", " ?"))] == [1.0, 0.5]
    assert [fused.score(BAG, other).score for other in (f"{BAG} ", BAG.replace("?", " ?"))] == [1.0, 1.0]
    (warning,) = encoder.score(BAG, f"Sure! {BAG}").warnings
    assert warning == 'The paraphrase seems to contain a remark by an assistant: "Sure!".'


SPANISH = "Juan tiene 5 manzanas y come 2. ¿Cuántas manzanas le quedan?"


@pytest.mark.parametrize(
    ("question", "paraphrase", "which"),
    [
        (SPANISH, "Juan come 2 de sus 5 manzanas. ¿Cuántas tiene ahora?", "two texts do"),
        (SPANISH, "Juan has 5 apples and eats 2. How many are left?", "original does"),
        ("Juan has 5 apples and eats 2. How many are left?", SPANISH, "paraphrase does"),
        ("Juan has 5 apples and eats 2. How many are left?", "राम के पास 5 सेब हैं। कितने सेब बचे?", "paraphrase does"),
    ],
)
def test_a_text_in_another_language_is_reported(question, paraphrase, which):
    (warning,) = Scorer.load("reading").score(question, paraphrase).warnings
    assert warning == (
        f"The {which} not seem to be in English. The scorer was made for English, so the score may be wrong."
    )


def test_warnings_do_not_depend_on_other_pairs_and_identical_texts_have_none():
    pairs = [(SPANISH, SPANISH), (SPANISH, " "), (BAG, PAIRS[0][1]), (SPANISH, f"{SPANISH} Sí."), (BAG, f"Sure! {BAG}")]
    counts = [len(verdict.warnings) for verdict in Scorer.load("reading").score_pairs(pairs)]
    assert counts == [0, 0, 0, 1, 1]


class SureJudge:
    """A judge that always gives the same log-odds."""

    def __init__(self, log_odds):
        answer = SimpleNamespace(
            log_odds=log_odds, kind=EvidenceKind.INCOHERENT, question_places=(), paraphrase_places=()
        )
        self.begin = lambda pairs: lambda: [answer] * len(pairs)


@pytest.mark.parametrize(
    ("judge", "threshold", "reason"),
    [
        (
            SureJudge(0.5),
            0.5,
            "A possible fault was found, but the judge, which compares the whole texts, finds the paraphrase valid.",
        ),
        (SureJudge(-0.5), 0.5, "A possible fault was found, but the evidence is too weak to reject the paraphrase."),
        (None, 0.5, "A possible fault was found, but the evidence is too weak to reject the paraphrase."),
        (
            SureJudge(-9.0),
            -1,
            "A possible fault was found. The paraphrase is valid only because the threshold is below 0.5.",
        ),
        (SureJudge(-9.0), 0.5, None),  # an invalid verdict needs no such reason
    ],
)
def test_a_valid_verdict_says_why_its_evidence_does_not_decide(judge, threshold, reason):
    method = FusedMethod(Fusion(2.0, {"number_lost": -1.0}, 1.0), judge)
    (verdict,) = method.begin(PAIRS[:1], VerdictTerms(threshold, ""))()
    assert verdict.evidence
    assert verdict.valid is (reason is not None)
    assert verdict.warnings == (() if reason is None else (reason,))


def test_a_valid_verdict_without_evidence_needs_no_reason(scorer):
    verdict = scorer.score(*PAIRS[1])
    assert (verdict.valid, verdict.evidence, verdict.warnings) == (True, (), ())
