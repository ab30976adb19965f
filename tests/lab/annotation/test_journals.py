"""Journals of annotators: on disk at once, the same after a kill, refused where they do not fit."""

import json
import os

import pytest

from paraqd.lab.annotation.journals import (
    Session,
    annotator_name,
    journal_path,
    open_journal,
    read_journal,
    shuffled,
)
from paraqd.lab.annotation.pairs_to_label import AnnotationError, pair_key, read_pairs_to_label
from paraqd.tables.table import TableError


def write_pairs(path, count=6, start=0):
    rows = [
        {"id": f"q{i}", "question": f"Tom has {i} apples. How many?", "paraphrase": f"Tom owns {i} apples. How many?"}
        for i in range(start, start + count)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def pairs(tmp_path):
    return read_pairs_to_label(write_pairs(tmp_path / "pairs.jsonl"))


@pytest.fixture
def journal(tmp_path):
    return tmp_path / "pairs.ann.jsonl"


def label_all(path, pairs, decide=lambda item: 1, **options):
    with open_journal(path, pairs, annotator="ann", **options) as opened:
        session = Session(opened, pairs)
        while session.current is not None:
            session.decide(decide(session.current))
    return read_journal(path)[1]


# --- the journal


def test_every_decision_is_in_the_file_before_the_next(pairs, journal):
    with open_journal(journal, pairs, annotator="ann") as opened:
        session = Session(opened, pairs)
        for done in range(6):
            assert len(journal.read_text().splitlines()) == 1 + done
            key = session.current.key
            session.decide(done % 2)
            assert json.loads(journal.read_text().splitlines()[-1]) == {"pair": key, "label": done % 2}
        assert session.current is None


def test_every_decision_is_flushed_to_the_disk(pairs, journal, monkeypatch):
    synced = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda handle: (synced.append(handle), real(handle)))
    with open_journal(journal, pairs, annotator="ann") as opened:
        before = len(synced)
        Session(opened, pairs).decide(1)
        assert len(synced) == before + 1


def test_a_session_goes_on_where_the_last_one_ended(pairs, journal):
    whole = journal.with_name("whole.jsonl")
    label_all(whole, pairs, lambda item: int(item.id[1]) % 2)
    for _ in range(3):  # three sessions of two decisions
        with open_journal(journal, pairs, annotator="ann") as opened:
            session = Session(opened, pairs)
            for _ in range(2):
                session.decide(int(session.current.id[1]) % 2)
    assert journal.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("cut", range(1, 40))
def test_a_last_line_that_was_cut_off_is_asked_again(pairs, journal, cut):
    whole = label_all(journal, pairs)
    complete = journal.read_bytes()
    assert cut < len(complete.splitlines(keepends=True)[-1])
    journal.write_bytes(complete[:-cut])
    assert len(read_journal(journal)[1].labels) == 5
    assert label_all(journal, pairs).labels == whole.labels
    assert journal.read_bytes() == complete


@pytest.mark.parametrize("kept", [0, 1, 12, 60])
def test_a_first_line_that_was_cut_off_is_begun_again(pairs, journal, kept):
    label_all(journal, pairs)
    complete = journal.read_bytes()
    journal.write_bytes(complete[:kept])
    label_all(journal, pairs)
    assert journal.read_bytes() == complete


def test_undo_takes_the_last_decision_back_also_after_a_restart(pairs, journal):
    with open_journal(journal, pairs, annotator="ann") as opened:
        session = Session(opened, pairs)
        first = session.current
        session.decide(1)
        second = session.current
        session.decide(1)
    with open_journal(journal, pairs, annotator="ann") as opened:
        session = Session(opened, pairs)
        assert session.undo()
        assert session.current == second
        assert session.undo()
        assert session.current == first
        assert not session.undo()
        session.decide(0)
        assert session.current == second
    assert read_journal(journal)[1].labels == {first.key: 0}


def test_a_skipped_pair_comes_again_in_the_next_session_after_the_others(pairs, journal):
    with open_journal(journal, pairs, annotator="ann") as opened:
        session = Session(opened, pairs)
        skipped = session.current
        session.decide(None)
        session.decide(1)
        assert (session.labelled, session.skipped, session.left) == (1, 1, 4)
    with open_journal(journal, pairs, annotator="ann") as opened:
        session = Session(opened, pairs)
        for _ in range(4):
            assert session.current != skipped
            session.decide(0)
        assert session.current == skipped
        session.decide(1)
        assert (session.labelled, session.skipped, session.left) == (6, 0, 0)


def test_undoing_a_skip_and_a_label_over_a_skip(pairs, journal):
    with open_journal(journal, pairs, annotator="ann") as opened:
        session = Session(opened, pairs)
        key = session.current.key
        session.decide(None)
        session.undo()
        assert session.current.key == key and session.skipped == 0
        session.decide(None)
    with open_journal(journal, pairs, annotator="ann") as opened:
        session = Session(opened, pairs)
        while session.current.key != key:
            session.decide(1)
        session.decide(0)
        session.undo()
        assert session.skipped == 1 and session.current.key == key


def test_notes(pairs, journal):
    with open_journal(journal, pairs, annotator="ann") as opened:
        session = Session(opened, pairs)
        key = session.current.key
        session.note("  naïve\n wording ")
        session.decide(1)
    assert read_journal(journal)[1].notes == {key: "naïve wording"}
    with open_journal(journal, pairs, annotator="ann") as opened:
        session = Session(opened, pairs)
        session.undo()
        session.note("")
    assert read_journal(journal)[1].notes == {}


def test_a_scope_shows_only_some(pairs, journal):
    scope = [item.key for item in pairs.pairs[:2]]
    with open_journal(journal, pairs, annotator="carl", resolves=["ann", "bob"]) as opened:
        session = Session(opened, pairs, scope=scope)
        assert (session.total, session.left) == (2, 2)
        assert session.current.key in scope


# --- order


def test_the_order_is_the_annotators_own_and_does_not_follow_the_file(tmp_path, pairs):
    ann = shuffled(pairs, annotator="ann", seed=1)
    assert sorted(ann) == sorted(item.key for item in pairs.pairs)
    assert ann == shuffled(pairs, annotator="ann", seed=1)
    others = [shuffled(pairs, annotator="bob", seed=1), shuffled(pairs, annotator="ann", seed=2)]
    assert ann not in others and others[0] != others[1]
    turned = tmp_path / "turned.jsonl"
    turned.write_text("".join(reversed((tmp_path / "pairs.jsonl").read_text().splitlines(keepends=True))))
    again = read_pairs_to_label(turned)
    assert again.digest == pairs.digest
    assert shuffled(again, annotator="ann", seed=1) == ann


# --- what does not fit is refused


def test_pairs_that_changed_since_the_journal_began(tmp_path, pairs, journal):
    label_all(journal, pairs)
    before = journal.read_bytes()
    more = read_pairs_to_label(write_pairs(tmp_path / "pairs.jsonl", 7))
    with pytest.raises(AnnotationError, match=r"have changed since .*6 pairs then, 7 now"):
        label_all(journal, more)
    changed = read_pairs_to_label(write_pairs(tmp_path / "pairs.jsonl", 6, start=1))
    with pytest.raises(AnnotationError, match="have changed since"):
        label_all(journal, changed)
    assert journal.read_bytes() == before


def test_another_annotators_journal_seed_or_purpose(pairs, journal):
    label_all(journal, pairs)
    with (
        pytest.raises(AnnotationError, match="is the journal of ann, not of bob"),
        open_journal(journal, pairs, annotator="bob"),
    ):
        pass
    with pytest.raises(AnnotationError, match="started with --seed 3407"):
        label_all(journal, pairs, seed=1)
    label_all(journal, pairs, seed=3407)
    with pytest.raises(AnnotationError, match="was started to label all pairs"):
        label_all(journal, pairs, resolves=["x", "y"])


def test_a_file_that_is_no_journal_is_not_touched(tmp_path, pairs):
    for name, text in [("a.csv", "precious"), ("b.jsonl", '{"question": "x"}\n'), ("c", '{"paraqd": "other"}\n')]:
        (tmp_path / name).write_text(text)
        with pytest.raises(AnnotationError, match="is not a journal"):
            label_all(tmp_path / name, pairs)
        assert (tmp_path / name).read_text() == text


def test_a_damaged_line_in_the_middle(pairs, journal):
    label_all(journal, pairs)
    for line in ["{}", "nonsense", '{"pair": "x", "label": 2}', '{"pair": "x", "label": "1"}', "[]"]:
        lines = journal.read_text().splitlines()
        lines[2] = line
        damaged = journal.with_name("damaged.jsonl")
        damaged.write_text("\n".join(lines) + "\n")
        with pytest.raises(AnnotationError, match="is damaged in line 3"):
            read_journal(damaged)


def test_two_sessions_at_once(pairs, journal):
    pytest.importorskip("fcntl")
    with (
        open_journal(journal, pairs, annotator="ann"),
        pytest.raises(AnnotationError, match="another session is writing"),
        open_journal(journal, pairs, annotator="ann"),
    ):
        pass


def test_a_disk_that_is_full_loses_only_the_decision_that_was_not_written(pairs, journal, monkeypatch):
    def full(handle):
        raise OSError(28, "No space left on device")

    with open_journal(journal, pairs, annotator="ann") as opened:
        session = Session(opened, pairs)
        session.decide(1)
        before = journal.read_bytes()
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            with pytest.raises(TableError, match="No space left on device; earlier decisions are safe"):
                session.decide(0)
        assert journal.read_bytes() == before
        assert session.labelled == 1
        session.decide(0)
    assert len(read_journal(journal)[1].labels) == 2


def test_a_journal_that_cannot_be_written(tmp_path, pairs):
    with pytest.raises(TableError, match="cannot write"):
        label_all(tmp_path / "none" / "j.jsonl", pairs)
    with pytest.raises(TableError, match="cannot write"):
        label_all(tmp_path, pairs)


# --- pairs and names


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["a", "b"], ["c", "d"], ["a ", " b"]], "rows 1 and 3 are the same pair"),
        ([["", "b"]], "row 1: blank question"),
        ([[None, "b"]], "row 1: blank question"),
        ([["a", 5]], "row 1: paraphrase is not text"),
        ([["a", "\ud800"]], "row 1: paraphrase is not valid Unicode"),
    ],
)
def test_pairs_that_cannot_be_labelled(tmp_path, rows, message):
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps({"question": q, "paraphrase": p}) + "\n" for q, p in rows))
    with pytest.raises((AnnotationError, TableError), match=message):
        read_pairs_to_label(path)


def test_no_rows_missing_columns_and_an_id_for_two_questions(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("question,paraphrase\n")
    with pytest.raises(AnnotationError, match="has no rows"):
        read_pairs_to_label(path)
    path.write_text("question,augmented\na,b\n")
    with pytest.raises(TableError, match="did you mean paraphrase='augmented'"):
        read_pairs_to_label(path)
    path.write_text("id,question,paraphrase\n1,a,b\n1,c,d\n")
    with pytest.raises(AnnotationError, match="rows 2 and 3 have the id '1' but different questions"):
        read_pairs_to_label(path)


def test_a_blank_paraphrase_is_a_pair_too(tmp_path):
    (tmp_path / "pairs.csv").write_text("question,paraphrase\na,\n")
    assert read_pairs_to_label(tmp_path / "pairs.csv").pairs[0].paraphrase == ""


def test_keys_tell_the_sides_apart():
    assert pair_key("a b", "c") != pair_key("a", "b c") != pair_key("c", "a b")


def test_names_and_where_journals_lie(tmp_path):
    assert annotator_name("  Ann  Lee ") == "Ann Lee"
    assert journal_path(tmp_path / "pairs.parquet", "Ann Lee") == tmp_path / "pairs.Ann_Lee.jsonl"
    for name in ("", " ", "../ann", "a;b", "a=1", ".hidden", "a\x1bb"):
        with pytest.raises(AnnotationError, match="--annotator"):
            annotator_name(name)
