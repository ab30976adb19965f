"""Cases are read from a folder; whatever is wrong with one is said in a line that names it."""

import json
import re
from pathlib import Path

import pytest

from paraqd.evaluation.checklist import ChecklistError, load_cases, parse_case
from paraqd.scoring.verdict import EvidenceKind

QUESTION = "Tom weighs 6 pounds and 4 ounces. How many ounces is that?"
DOCUMENT = Path(__file__).parents[3] / "docs" / "checklist.md"
VALID = {"question": QUESTION, "paraphrase": "How many ounces are six pounds and four ounces?", "label": 1}
INVALID = {
    "question": QUESTION,
    "paraphrase": "Tom weighs 6 pounds and ounces. How many ounces is that?",
    "label": 0,
    "kinds": ["number_lost"],
    "where": {"question": ["4 ounces"], "paraphrase": ["pounds and ounces"]},
}


@pytest.fixture
def folder(tmp_path):
    def write(name, *cases):
        text = "\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path

    return write


def test_a_valid_case():
    case = parse_case(VALID, capability="number_words", line=3)
    assert (case.capability, case.line, case.question, case.label) == ("number_words", 3, QUESTION, 1)
    assert (case.kinds, case.question_spans, case.paraphrase_spans) == ((), (), ())


def test_an_invalid_case_knows_where_its_words_stand():
    case = parse_case(INVALID, capability="number_lost")
    assert case.kinds == (EvidenceKind.NUMBER_LOST,)
    assert case.question_spans == ((24, 32),)
    assert case.where == INVALID["where"]


@pytest.mark.parametrize("case", [VALID, INVALID])
def test_a_case_is_written_as_it_was_read(case):
    assert parse_case(case, capability="c", line=7).to_dict() == {"capability": "c", "line": 7, **case}


def test_spans_count_code_points():
    case = parse_case(
        {
            "question": "🍎 costs ₹4.",
            "paraphrase": "🍎 costs €4.",
            "label": 0,
            "kinds": ["unit_changed"],
            "where": {"question": ["₹"], "paraphrase": ["€"]},
        },
        capability="currency",
    )
    assert case.question_spans == ((8, 9),)


def test_evidence_need_not_be_asked_for():
    assert parse_case({**VALID, "label": 0}, capability="mine").kinds == ()


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"question": " "}, "blank question"),
        ({"question": 5}, "question is not text"),
        ({"paraphrase": None}, "paraphrase is not text"),
        ({"label": "1"}, "'label' must be 1"),
        ({"label": True}, "'label' must be 1"),
        ({"label": 2}, "'label' must be 1"),
        ({"label": 1}, "a valid pair has no fault"),
        ({"kind": ["number_lost"]}, "unknown key 'kind'"),
        ({"kinds": ["number_gone"]}, "unknown kind 'number_gone'; use number_lost"),
        ({"kinds": "number_lost"}, "'kinds' must be a list"),
        ({"kinds": [["number_lost"]]}, "unknown kind"),
        ({"kinds": []}, r"\(the words at fault\), or neither"),
        ({"where": {"question": [], "paraphrase": []}}, r"\(the words at fault\), or neither"),
        ({"where": ["4 ounces"]}, "'where' must be an object"),
        ({"where": {"text": ["4 ounces"]}}, "'where' must be an object"),
        ({"where": {"question": "4 ounces"}}, "'where' must list words of the question"),
        ({"where": {"question": [""]}}, "'where' must list words of the question"),
        ({"where": {"question": ["5 ounces"]}}, "'5 ounces' is not in the question"),
        ({"where": {"question": ["ounces"]}}, "'ounces' is in the question more than once"),
    ],
)
def test_what_is_wrong_with_a_case_is_said(changed, line):
    with pytest.raises(ChecklistError, match=line):
        parse_case({**INVALID, **changed}, capability="c")


def test_words_that_overlap_themselves_are_not_exactly_once():
    with pytest.raises(ChecklistError, match="more than once"):
        parse_case({**INVALID, "paraphrase": "aaa", "where": {"paraphrase": ["aa"]}}, capability="c")


def test_a_folder_is_read_file_by_file(folder):
    folder("b.jsonl", VALID, INVALID)
    root = folder("a.jsonl", INVALID)
    (root / "notes.txt").write_text("not a case")
    cases = load_cases(root)
    assert [(case.capability, case.line) for case in cases] == [("a", 1), ("b", 1), ("b", 2)]


def test_blank_lines_a_byte_order_mark_and_strange_breaks_inside_texts_do_no_harm(tmp_path):
    line = json.dumps({**VALID, "question": f"{QUESTION}\u2028"}, ensure_ascii=False)
    (tmp_path / "a.jsonl").write_bytes(f"\ufeff{line}\r\n\r\n{line}\r\n".encode())
    assert [case.line for case in load_cases(tmp_path)] == [1, 3]


def test_some_capabilities_only(folder):
    folder("units.jsonl", VALID)
    root = folder("numbers.jsonl", VALID)
    assert {case.capability for case in load_cases(root, capabilities=["units"])} == {"units"}
    with pytest.raises(ChecklistError, match=r"no capability 'unit'; did you mean units\?"):
        load_cases(root, capabilities=["numbers", "unit"])
    with pytest.raises(ChecklistError, match="choose from numbers, units"):
        load_cases(root, capabilities=["xyz"])


def test_a_wrong_line_is_named(folder):
    root = folder("a.jsonl", VALID, {**VALID, "label": 3})
    with pytest.raises(ChecklistError, match=r"^a\.jsonl, line 2: 'label' must be 1"):
        load_cases(root)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b'{"question": "How', "a.jsonl, line 1: not valid JSON"),
        (b"[" * 100_000, "a.jsonl, line 1: not valid JSON"),
        (b"[]", "a.jsonl, line 1: a case must be a JSON object"),
        (b'{"question": "\xa35?"}', "a.jsonl is not UTF-8"),
        (b" \n", "a.jsonl is empty"),
    ],
)
def test_files_that_hold_no_cases(tmp_path, content, line):
    (tmp_path / "a.jsonl").write_bytes(content)
    with pytest.raises(ChecklistError, match=line):
        load_cases(tmp_path)


def test_folders_that_hold_no_cases(tmp_path):
    with pytest.raises(ChecklistError, match="there is no folder"):
        load_cases(tmp_path / "none")
    with pytest.raises(ChecklistError, match="has no cases"):
        load_cases(tmp_path)
    (tmp_path / "a.jsonl").mkdir()
    with pytest.raises(ChecklistError, match=r"cannot read a\.jsonl"):
        load_cases(tmp_path)


def test_the_documented_lines_are_cases(tmp_path):
    text = DOCUMENT.read_text(encoding="utf-8")
    (lines,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    (tmp_path / "mine.jsonl").write_text(lines, encoding="utf-8")
    assert [case.label for case in load_cases(tmp_path)] == [1, 0]
    assert [kind for kind in EvidenceKind if f"`{kind}`" not in text] == []
