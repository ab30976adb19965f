from __future__ import annotations

import pytest

from paraqd.evaluation.edits import detailed_edit_kind, edit_kind


@pytest.mark.parametrize(
    ("paraphrase", "kind"),
    [
        ("a train covers 60 km in 2 hours. how fast is it?", "same words"),
        ("A train covers 60 km in 2 hours. How fast?", "words deleted"),
        ("A train covers 60 in 2 hours. How fast is it?", "words deleted, with a number or unit"),
        ("A sona covers 60 km in 2 hours. How fast is it?", "words replaced"),
        ("A train covers 60 miles in 2 hours. How fast is it?", "words replaced, with a number or unit"),
        ("A train covers 60 km in 2 hours. At what average speed does it travel?", "reworded"),
        ("In 2 hours, a train covers some distance. How fast is it?", "reworded, with a number or unit"),
    ],
)
def test_kinds_of_edits(paraphrase, kind):
    question = "A train covers 60 km in 2 hours. How fast is it?"
    assert detailed_edit_kind(question, paraphrase) == kind
    assert kind.startswith(edit_kind(question, paraphrase))
