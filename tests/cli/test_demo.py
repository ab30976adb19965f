"""Run the demo of the Makefile."""

import re
from pathlib import Path

import pytest
from rich.console import Console

from paraqd.cli import demo

ROOT = Path(__file__).parents[2]


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """Enter a folder that has the samples and nothing else."""
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("width", [80, 120])
def test_the_demo_fits_one_screen(clone, width):
    console = Console(width=width, record=True, file=None, highlight=False)
    assert demo.verdicts(console) == 0
    shown = console.export_text()
    assert len(shown.splitlines()) <= 40
    assert max(map(len, shown.splitlines())) <= width
    for paraphrase in demo.PARAPHRASES:
        assert paraphrase.split()[0] in shown
    words = " ".join(shown.split())
    assert len(re.findall(r"\bvalid +\d", words)) == 2
    assert len(re.findall(r"INVALID +-", words)) == 4
    assert len(re.findall("→", words)) >= 4
    right = int(re.search(r"judges (\d+) of them correctly", words).group(1))
    assert 70 <= right <= 80
    assert "paraqd lab augment samples/questions.csv" in words


def test_outside_the_repository_one_line_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert demo.main() == 2
    assert capsys.readouterr().err == ("error: samples/pairs.csv not found: run this from the root of the repository\n")
