"""Annotators brought together: who decides, what is written, what is refused."""

import csv
import json

import pytest

from paraqd.errors import OutputExistsError
from paraqd.lab.annotation.journals import open_journal, shuffled
from paraqd.lab.annotation.merging import (
    both_labelled,
    disagreements,
    merge,
    merge_files,
    read_annotators,
    write_merged,
    write_sheet,
)
from paraqd.lab.annotation.pairs_to_label import AnnotationError, read_pairs_to_label
from paraqd.tables.table import open_table

COLUMNS = ["id", "question", "paraphrase", "label", "operator", "paper_id", "stand_in", "intended"]


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for i in range(6):
            valid = i % 2 == 0
            operator = ("ActivePassive", "fa") if valid else ("RandomDeletion", "fd")
            writer.writerow([f"q{i // 2}", f"How many, {i // 2}?", f"What, {i}?", "", *operator, "false", int(valid)])
    return read_pairs_to_label(path)


@pytest.fixture
def journal(tmp_path, pairs):
    """Write an annotator's journal with the labels of the pairs in their order; None is a skip, '' nothing."""

    def write(name, labels, *, notes=None, **options):
        path = tmp_path / f"{name}.jsonl"
        with open_journal(path, pairs, annotator=name, **options) as opened:
            for i, label in enumerate(labels):
                if label != "":
                    opened.decide(pairs.pairs[i].key, label)
            for i, note in (notes or {}).items():
                opened.note(pairs.pairs[i].key, note)
        return path

    return write


def test_agreement_majority_and_ties(pairs, journal):
    sources = [journal("ann", [1, 0, 1, 1, None, 1]), journal("bob", [1, 0, 0, 1, 0, None])]
    merged = merge(pairs, read_annotators(sources, pairs))
    assert [item.label for item in merged] == [1, 0, None, 1, 0, 1]
    assert [item.agreed for item in merged] == [True, True, False, True, None, None]
    assert merged[2].votes == {"ann": 1, "bob": 0}
    sources.append(journal("carl", [0, 0, 0, "", "", ""]))
    merged = merge(pairs, read_annotators(sources, pairs))
    assert [item.label for item in merged] == [1, 0, 0, 1, 0, 1]
    assert merged[0].agreed is False


def test_who_settles_decides_alone_and_counts_for_no_agreement(pairs, journal):
    sources = [journal("ann", [1, 0, 1, 1, 1, 1]), journal("bob", [1, 0, 0, 1, 0, 1])]
    three = [*sources, journal("dora", [1, 0, 1, 1, 1, 1])]
    judges = read_annotators(sources, pairs)
    assert disagreements(judges) == [pairs.pairs[2].key, pairs.pairs[4].key]
    settled = journal("carl", ["", "", 0, "", 0, ""], resolves=["ann", "bob"])
    merged = merge(pairs, read_annotators([*sources, settled], pairs))
    assert [item.label for item in merged] == [1, 0, 0, 1, 0, 1]
    assert [item.agreed for item in merged] == [True, True, False, True, False, True]
    merged = merge(pairs, read_annotators([*three, settled], pairs))
    assert merged[2].label == 0  # against a majority of two
    assert disagreements(read_annotators([*three, settled], pairs)) == disagreements(judges)
    with pytest.raises(AnnotationError, match="also pass the file of bob"):
        read_annotators([sources[0], settled], pairs)


def test_labels_that_both_gave(pairs, journal):
    first, second = read_annotators([journal("ann", [1, 0, "", 1]), journal("bob", [1, 1, 0, None])], pairs)
    assert both_labelled(first, second, pairs) == ([1, 0], [1, 1])


def test_the_merged_file(tmp_path, pairs, journal):
    sources = [journal("ann", [1, 0, 1, 1, 0, 0], notes={2: "odd; but fine"}), journal("bob", [1, 0, 0, 1, 0, 0])]
    write_merged(tmp_path / "merged.csv", pairs, merge(pairs, read_annotators(sources, pairs)))
    rows = list(open_table(tmp_path / "merged.csv").rows())
    assert list(rows[0]) == [*COLUMNS, "annotators", "agreed", "annotator_notes"]
    assert rows[0] == {
        "id": "q0",
        "question": "How many, 0?",
        "paraphrase": "What, 0?",
        "label": "1",
        "operator": "ActivePassive",
        "paper_id": "fa",
        "stand_in": "false",
        "intended": "1",
        "annotators": "ann=1; bob=1",
        "agreed": "true",
        "annotator_notes": "",
    }
    assert (rows[2]["label"], rows[2]["agreed"]) == ("", "false")
    assert rows[2]["annotator_notes"] == "ann: odd; but fine"


def test_files_are_merged_and_the_agreement_is_reported(tmp_path, pairs, journal):
    files = [journal("ann", [1, 1, 0, 0, 1, ""]), journal("bob", [1, 0, 0, 0, 1, ""]), journal("eve", ["", "", 0])]
    source, out, disputed = tmp_path / "pairs.csv", tmp_path / "merged.csv", tmp_path / "disputed.csv"
    report = merge_files(source, files, out, disagreements=disputed, drop_open=True)
    assert (report.pairs, report.written, report.valid, report.invalid, report.disagreed) == (6, 4, 2, 2, 1)
    assert [item.pair.number for item in report.unsettled] == [3, 7]
    assert report.annotators == {"ann": 5, "bob": 5, "eve": 1}
    found = {(first, second): agreement for first, second, agreement in report.agreements}
    assert {names: agreement.n for names, agreement in found.items()} == {
        ("ann", "bob"): 5,
        ("ann", "eve"): 1,
        ("bob", "eve"): 1,
    }
    # observed 4/5, expected (3 * 2 + 2 * 3) / 25
    assert found["ann", "bob"].kappa == pytest.approx((0.8 - 0.48) / (1 - 0.48))
    assert [row["label"] for row in open_table(out).rows()] == ["1", "0", "0", "1"]
    assert [row["paraphrase"] for row in open_table(disputed).rows()] == ["What, 1?"]
    assert json.loads(json.dumps(report.to_dict()))["open"] == 2
    with pytest.raises(OutputExistsError, match="already exists"):
        merge_files(source, files, out)


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "tsv.gz"])
def test_other_formats_and_columns_of_other_types(tmp_path, ending):
    rows = [
        {"question": "a?", "paraphrase": f"b{i}?", "label": i % 2, "score": 0.5, "tags": [i], "mixed": [1, "x"][i % 2]}
        for i in range(4)
    ]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pairs = read_pairs_to_label(tmp_path / "pairs.jsonl")
    with open_journal(tmp_path / "ann.jsonl", pairs, annotator="ann") as opened:
        for item in pairs.pairs:
            opened.decide(item.key, 1)
    merged = merge(pairs, read_annotators([tmp_path / "ann.jsonl"], pairs))
    write_merged(tmp_path / f"merged.{ending}", pairs, merged)
    made = list(open_table(tmp_path / f"merged.{ending}").rows())
    # the label that stood there is what was intended
    assert [str(row["intended"]) for row in made] == ["0", "1", "0", "1"]
    assert {str(row["label"]) for row in made} == {"1"}
    assert [row["tags"] for row in made] == ["[0]", "[1]", "[2]", "[3]"]
    assert [row["mixed"] for row in made] == ["1", "x", "1", "x"]
    assert {row["agreed"] for row in made} <= {None, ""}


# --- spreadsheets


def test_a_sheet_goes_out_blind_and_comes_back_with_labels(tmp_path, pairs, journal):
    sheet = tmp_path / "bob.csv"
    write_sheet(sheet, pairs, shuffled(pairs, annotator="bob", seed=3407))
    assert sheet.read_bytes().startswith(b"\xef\xbb\xbfid,question,paraphrase,label\n")
    text = sheet.read_text(encoding="utf-8-sig")
    assert "ActivePassive" not in text and len(text.splitlines()) == 7
    # Excel: semicolons, other line ends, a blank where bob did not know
    lines = text.splitlines()
    filled = [line.removesuffix(",") + f",{i % 2}" for i, line in enumerate(lines[1:-1])] + [lines[-1]]
    rows = list(csv.reader([lines[0], *filled]))
    with open(sheet, "w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file, delimiter=";", lineterminator="\r\n").writerows(rows)
    (ann, bob) = read_annotators([journal("ann", [1] * 6), sheet], pairs)
    assert (ann.name, bob.name, len(bob.labels)) == ("ann", "bob", 5)


def test_several_annotators_in_one_sheet(tmp_path, pairs):
    sheet = tmp_path / "sheet.csv"
    with open(sheet, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["question", "paraphrase", "ann", "bob"])
        writer.writerows([item.question, item.paraphrase, 1, "0.0"] for item in pairs.pairs)
    found = read_annotators([sheet], pairs, label_columns=["ann", "bob"])
    assert [(one.name, set(one.labels.values())) for one in found] == [("ann", {1}), ("bob", {0})]
    (alone,) = read_annotators([sheet], pairs, label_columns=["bob"])
    assert alone.name == "sheet"


# --- what is refused


def sheet_of(path, rows, header="question,paraphrase,label"):
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def test_labels_other_than_0_and_1(tmp_path, pairs):
    for label in ("2", "valid", "nan", "0.5"):
        sheet = sheet_of(tmp_path / "bob.csv", ['"How many, 0?","What, 0?",1', f'"How many, 0?","What, 1?",{label}'])
        with pytest.raises(
            AnnotationError, match=rf"the label of row 3 is '{label}'; it must be 1 \(valid\).*true, false"
        ):
            read_annotators([sheet], pairs)


def test_sheets_that_do_not_fit(tmp_path, pairs):
    sheet = sheet_of(tmp_path / "bob.csv", ['"How many, 0?","What, 9?",1'])
    with pytest.raises(AnnotationError, match=r"the pair in row 2 of .*bob.csv is not in"):
        read_annotators([sheet], pairs)
    sheet_of(sheet, ['"How many, 0?","What, 0?",1'], "question,paraphrase,verdict")
    with pytest.raises(AnnotationError, match=r"no column 'label' .*--label-column NAME"):
        read_annotators([sheet], pairs)
    sheet_of(sheet, ['"How many, 0?","What, 0?",1', '"How many, 0?","What, 0?",0'])
    with pytest.raises(AnnotationError, match="rows 2 and 3 are the same pair"):
        read_annotators([sheet], pairs)


def test_journals_of_different_pairs_and_the_same_annotator_twice(tmp_path, pairs, journal):
    ann = journal("ann", [1, 0])
    (tmp_path / "copy.jsonl").write_bytes(ann.read_bytes())
    with pytest.raises(AnnotationError, match=r"ann appears twice: in .*ann.jsonl and in .*copy.jsonl"):
        read_annotators([ann, tmp_path / "copy.jsonl"], pairs)
    sheet_of(tmp_path / "other.csv", ["a?,b?,"])
    other = read_pairs_to_label(tmp_path / "other.csv")
    with pytest.raises(AnnotationError, match=r"other.csv have changed since .*ann.jsonl was started"):
        read_annotators([ann], other)
