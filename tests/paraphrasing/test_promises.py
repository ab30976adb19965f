"""The documentation promises no more than the sources keep."""

import re
from pathlib import Path

import pytest

from paraqd.paraphrasing.files import paraphrase_file
from paraqd.paraphrasing.report import ParaphraseReport

DOCS = Path(__file__).parents[2] / "docs"
PROMISE = re.compile(r"[^.]*\b(?:produces?|gives?) the same (?:rows|paraphrases)\b")


@pytest.mark.parametrize(
    "text",
    [(DOCS / "paraphrase.md").read_text("utf-8"), (DOCS / "deploy.md").read_text("utf-8"), paraphrase_file.__doc__],
    ids=["paraphrase.md", "deploy.md", "paraphrase_file"],
)
def test_only_rules_and_models_on_the_same_device_repeat_themselves(text):
    [promise] = PROMISE.findall(" ".join(text.split()))
    assert promise.strip().startswith("With rules, or with a model on the same device,")


def test_the_report_says_what_it_counts():
    described = " ".join(ParaphraseReport.__doc__.split())
    assert "counts the different texts that the source wrote, without those that repeat the question" in described
