"""The public corpora are read in the shapes in which they are published."""

import json
import tracemalloc
import zipfile

import pytest

from paraqd.lab.corpora.public_corpora import LIMIT, CorpusQuestion, read_aqua, read_gsm8k, read_mathqa
from paraqd.tables.formats import TableError

PROBLEM = {
    "Problem": "a shop sold 3 / 4 of its pens for rs . 500 . what is 5 % of tom ' s share ?",
    "Rationale": "…",
    "options": "a ) 1 , b ) 2",
    "correct": "a",
    "annotated_formula": "multiply(500, divide(5, const_100))",
}
READ = CorpusQuestion(
    source="mathqa",
    text="a shop sold 3/4 of its pens for rs. 500. what is 5% of tom's share?",
    cased=False,
    formula="multiply(500, divide(5, const_100))",
)


def test_aqua_rat(tmp_path):
    row = {"question": "If  2x = 6,\nwhat is x?", "options": ["A)3", "B)4"], "rationale": "…", "correct": "A"}
    (tmp_path / "train.json").write_text(json.dumps(row) + "\n\n" + json.dumps(row) + "\n", encoding="utf-8")
    assert list(read_aqua(tmp_path / "train.json")) == [CorpusQuestion("aqua", "If 2x = 6, what is x?")] * 2


def test_gsm8k(tmp_path):
    row = {"question": "Weng earns $12 an hour. How much is it for 2 hours?", "answer": "24\n#### 24"}
    (tmp_path / "train.jsonl").write_text(json.dumps(row), encoding="utf-8")
    assert [question.text for question in read_gsm8k(tmp_path / "train.jsonl")] == [row["question"]]


def test_mathqa_unpacked_and_in_its_archive(tmp_path):
    (tmp_path / "train.json").write_text(json.dumps([PROBLEM]), encoding="utf-8")
    assert list(read_mathqa(tmp_path / "train.json")) == [READ]
    with zipfile.ZipFile(tmp_path / "MathQA.zip", "w") as archive:
        archive.writestr("__MACOSX/train.json", "not the file")
        archive.writestr("train.json", json.dumps([PROBLEM]))
        archive.writestr("test.json", json.dumps([]))
    assert list(read_mathqa(tmp_path / "MathQA.zip")) == [READ]


@pytest.mark.parametrize(
    ("read", "content", "says"),
    [
        (read_aqua, b'{"question": "How many?"}\n{"quest', "cannot be read at line"),
        (read_aqua, b'{"Problem": "how many ?"}', "line 1 has no text 'question'; check that this is the right corpus"),
        (read_aqua, b'{"question": "\xff"}', "cannot be read at line 1"),
        (read_gsm8k, b'["How many?"]', "line 1 has no text 'question'"),
        (read_mathqa, b"[{", "is not JSON"),
        (read_mathqa, b"[" * 100_000, "is not JSON: nested too deeply"),
        (read_aqua, b"[" * 100_000, "cannot be read at line 1: nested too deeply"),
        (read_mathqa, b'{"Problem": "how many ?"}', "is not a JSON list of problems"),
        (read_mathqa, b'[{"question": "how many ?"}]', "problem 1 has no text 'Problem'"),
    ],
)
def test_another_file_is_one_line(tmp_path, read, content, says):
    path = tmp_path / "train.json"
    path.write_bytes(content)
    with pytest.raises(TableError, match=says):
        list(read(path))


def test_a_broken_archive(tmp_path):
    (tmp_path / "MathQA.zip").write_bytes(b"PK but cut off")
    with pytest.raises(TableError, match="not a valid zip archive"):
        list(read_mathqa(tmp_path / "MathQA.zip"))
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("readme.txt", "nothing here")
    with pytest.raises(TableError, match=r"contains no train\.json"):
        list(read_mathqa(tmp_path / "other.zip"))
    with pytest.raises(TableError, match="there is no file"):
        list(read_mathqa(tmp_path / "none.zip"))


def test_an_archive_that_unpacks_to_gigabytes_is_refused(tmp_path):
    path = tmp_path / "MathQA.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("train.json", "w") as member:
        for _ in range(300):
            member.write(b" " * (1 << 20))
    assert path.stat().st_size < 1 << 20
    tracemalloc.start()
    with pytest.raises(TableError, match=r"train\.json in .* has more than 67,108,864 bytes"):
        list(read_mathqa(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * LIMIT


def test_a_line_that_does_not_end_is_refused(tmp_path):
    path = tmp_path / "train.json"
    path.write_bytes(b'{"question": "' + b"a" * (1 << 25))
    with pytest.raises(TableError, match="line 1 is longer than 16,777,216 characters"):
        list(read_aqua(path))
