"""Run the examples."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("filter_paraphrases.py", "→ Twelve rolls cost $9"),
        ("own_operator.py", "Here is a problem for you."),
        ("compare_scorers.py", "right: "),
    ],
)
def test_example(name, expected):
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name)], capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    assert expected in done.stdout


def test_every_example_is_listed_and_tested():
    files = {path.name for path in EXAMPLES.glob("*.py")}
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert files == {"filter_paraphrases.py", "own_operator.py", "compare_scorers.py"}
    assert all(name in listed for name in files)
