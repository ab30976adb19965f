"""Share fixtures between the tests of several commands."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))  # the tests import pair_files
from pair_files import PARAPHRASES, QUESTION, environment, write_csv

from paraqd.cli import options
from paraqd.scoring.verdict import Evidence, EvidenceKind, Verdict


class DigitScorer:
    """A scorer that needs no model. It compares digits, so that tests know its verdicts.

    ``sizes`` contains the number of pairs in each call. ``refuses`` is a word that makes the scorer raise a ValueError.
    ``stops_after`` is the number of pairs after which the scorer behaves as if Ctrl-C was pressed.
    """

    name = mode = "digits"

    def __init__(self, threshold=0.5):
        self.threshold = threshold
        self.signature = f"paraqd:test|model:digits@00000000|mode:fused|threshold:{threshold:g}"
        self.sizes = []
        self.refuses = None
        self.stops_after = None

    def score(self, question, paraphrase):
        if self.refuses and self.refuses in paraphrase:
            raise ValueError(f"pair 1: {self.refuses} is\nrefused")
        lost = [found for found in re.finditer(r"\d+", question) if found.group() not in paraphrase]
        new = [found for found in re.finditer(r"\d+", paraphrase) if found.group() not in question]
        evidence = [
            Evidence(EvidenceKind.NUMBER_LOST, (found.span(),), (), f"The paraphrase lost {found.group()}.", -0.6)
            for found in lost
        ] + [
            Evidence(EvidenceKind.NUMBER_ADDED, (), (found.span(),), f"The paraphrase added {found.group()}.", -0.4)
            for found in new
        ]
        score = -1.0 if not paraphrase.strip() else 1.0 if paraphrase == question else -0.25 if evidence else 0.8
        return Verdict(score, score > self.threshold, tuple(evidence), self.signature)

    def begin(self, pairs):
        if self.refuses and any(self.refuses in paraphrase for _, paraphrase in pairs):
            raise ValueError("one of them is refused")
        return lambda: self.score_pairs(pairs)

    def score_pairs(self, pairs, progress=None):
        if self.stops_after is not None and sum(self.sizes) >= self.stops_after:
            raise KeyboardInterrupt
        self.sizes.append(len(pairs))
        return [self.score(*pair) for pair in pairs]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Work in an empty folder with the same four pairs in pairs.csv and pairs.jsonl."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PARAQD_DEBUG", raising=False)
    rows = [{"id": f"p{i}", "question": QUESTION, "paraphrase": text} for i, text in enumerate(PARAPHRASES)]
    write_csv("pairs.csv", rows)
    Path("pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return tmp_path


@pytest.fixture
def without_data(tmp_path, monkeypatch):
    """Work in an empty folder, in a wide terminal, without a data folder and with an empty cache."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PARAQD_DEBUG", raising=False)
    monkeypatch.delenv("PARAQD_DATA_DIR", raising=False)
    monkeypatch.setenv("PARAQD_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "160")
    return tmp_path


@pytest.fixture
def imports():
    """Run a command in a new process, and return its output and the names of the modules that it imported."""

    def start(*arguments, text=""):
        code = (
            "import sys; from paraqd.cli.main import run; code = run(sys.argv[1:]); "
            "sys.stderr.write(' '.join(sys.modules)); sys.exit(code)"
        )
        program = [sys.executable, "-c", code, *arguments]
        done = subprocess.run(program, env=environment(), input=text, capture_output=True, text=True, check=True)
        return done.stdout, set(done.stderr.split())

    return start


@pytest.fixture
def single_thread():
    """Use one thread in torch, because several threads slow small models down on a busy machine."""
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def scorer(monkeypatch):
    """Have commands score with a `DigitScorer`, and return it."""
    made = DigitScorer()

    def load(model, mode, threshold, *, threads=None, skip=True, judge=None):
        made.asked = (model, mode, threshold)
        if threshold is not None:
            made.__init__(threshold)
        return made

    monkeypatch.setattr(options, "load_scorer", load)
    return made
