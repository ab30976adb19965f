"""``evaluate_file``: scores from a file or a model are compared with the labels, without a command line."""

import pytest

import paraqd
from paraqd.errors import OutputExistsError
from paraqd.evaluation.errors import EvaluationError
from paraqd.tables.table import open_table

# two questions, each with a valid and an invalid paraphrase
PAIRS = [
    ("Tom has 5 pens and buys 2 more. How many?", "Tom has 5 pens. He buys 2 more. How many?", 1),
    ("Tom has 5 pens and buys 2 more. How many?", "Tom has 5 pens and buys 3 more. How many?", 0),
    ("Ann ran 4 km in 30 minutes. How fast?", "In 30 minutes, Ann ran 4 km. How fast?", 1),
    ("Ann ran 4 km in 30 minutes. How fast?", "Ann ran 9 km in 30 minutes. How fast?", 0),
]


@pytest.fixture
def write(tmp_path):
    """Write the pairs with the scores, or without scores, and return the path."""

    def written(name, scores=None, names=("question", "paraphrase", "label", "score")):
        lines = [";".join(names if scores else names[:3])]
        for i, pair in enumerate(PAIRS):
            lines.append(";".join(map(str, (*pair, scores[i]) if scores else pair)))
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return written


def test_scores_in_the_file(write):
    said = []
    report = paraqd.evaluate_file(write("scored.csv", [0.9, 0.8, 0.7, -0.5]), intervals=False, say=said.append)
    assert report.metrics.confusion == ((1, 1), (0, 2))
    assert report.to_dict()["signature"] == f"paraqd:{paraqd.__version__}|scores:scored.csv|threshold:0.5"
    assert (report.intervals, report.other, said) == (None, None, [])
    strict = paraqd.evaluate_file(write("scored.csv", [0.9, 0.8, 0.7, -0.5]), threshold=0.85, intervals=False)
    assert strict.metrics.confusion == ((2, 0), (1, 1))


def test_a_model_scores_the_pairs_and_its_scores_can_be_compared(write, tmp_path):
    said, stages = [], []
    pairs, out = write("pairs.csv"), tmp_path / "default.csv"
    made = paraqd.evaluate_file(
        pairs, scores_out=out, intervals=False, say=said.append, progress=lambda stage, *rest: stages.append(stage)
    )
    assert said == ["there is no column 'score', so the pairs are scored with the model default"]
    assert any(stage.endswith(" with default") for stage in stages)
    expected = [verdict.score for verdict in paraqd.Scorer.load().score_pairs([pair[:2] for pair in PAIRS])]
    assert made.scored.scores == pytest.approx(expected, abs=1e-6)
    assert [float(row["score"]) for row in open_table(out).rows()] == pytest.approx(expected, abs=1e-6)

    scored = write("scored.csv", [0.9, 0.8, 0.7, -0.5])
    by_file = paraqd.evaluate_file(scored, compare=out, intervals=False)
    by_model = paraqd.evaluate_file(scored, compare="default", intervals=False)
    assert by_file.comparison == by_model.comparison
    assert by_file.other.signature == by_model.other.signature == made.scored.signature


def test_a_named_model_takes_precedence_over_scores_in_the_file(write):
    file = write("scored.csv", ["bad"] * 4)
    with pytest.raises(paraqd.TableError, match="row 2: 'score' is 'bad'"):
        paraqd.evaluate_file(file)
    assert paraqd.evaluate_file(file, model="reading", intervals=False).scored.name == "reading"


def test_columns_with_other_names(write):
    file = write("scored.csv", [1, 0, 1, 0], ("q", "p", "y", "points"))
    columns = paraqd.Columns(question="q", paraphrase="p", label="y")
    assert paraqd.evaluate_file(file, columns=columns, score_column="points", intervals=False).metrics.accuracy == 1


def test_files_of_the_same_name_are_told_apart_by_their_paths(write, tmp_path):
    (tmp_path / "other").mkdir()
    first, second = write("scored.csv", [1, 0, 1, 0]), write("other/scored.csv", [1, 1, 1, 0])
    report = paraqd.evaluate_file(first, compare=second, intervals=False)
    assert (report.scored.name, report.other.name) == (str(first), str(second))


def test_a_file_of_scores_never_replaces_an_input(write):
    file = write("scored.csv", [1, 0, 1, 0])
    with pytest.raises(OutputExistsError, match="is also an input"):
        paraqd.evaluate_file(file, scores_out=file, overwrite=True)
    existing = write("existing.csv")
    with pytest.raises(OutputExistsError, match="already exists"):
        paraqd.evaluate_file(file, scores_out=existing)


def test_standard_input_can_be_read_only_once():
    with pytest.raises(EvaluationError, match="only once"):
        paraqd.evaluate_file("-", compare="-")
