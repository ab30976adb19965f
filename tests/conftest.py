"""Share fixtures between the tests of several rooms."""

from __future__ import annotations

import gc
import os
import signal
import sys
from importlib.metadata import entry_points
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, settings

sys.path.append(str(Path(__file__).parent))  # the tests import language_judge and browser
import browser as browsers
import language_judge

import paraqd.scoring.fused
from paraqd.cli.main import run
from paraqd.judge_package import JUDGE, SOLVABLE
from paraqd.lab.operators import apply, registry

# A test does not fail because the machine is busy.
settings.register_profile("paraqd", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("paraqd")


def pytest_configure() -> None:
    """Listen to Ctrl-C again if the tests were started where it is ignored, as with ``nohup make test &``.

    Programs that a test starts inherit an ignored signal, and would then never end when the test interrupts them.
    """
    # the small judge gives the same scores whether or not the package of the other judge is installed
    os.environ["PARAQD_JUDGE"] = "small"
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Disable garbage collection while tests are collected, and exempt what was imported from it afterwards.

    None of it is garbage, but each pass over it takes half a second.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(params=["first"])
def faulty_rule(request, monkeypatch):
    """Make the first or the last step of the comparison fail for texts with the word *faulty*."""
    steps = {"first": (paraqd.scoring.fused, "prepare_pair"), "last": (paraqd.scoring.fused.FusedMethod, "_conclude")}
    real = getattr(*steps[request.param])

    def failing(*arguments, **options):
        if "faulty" in str(arguments):
            raise ZeroDivisionError("a \x1b[31mrule\nfailed")
        return real(*arguments, **options)

    monkeypatch.setattr(*steps[request.param], failing)


def pytest_collection_modifyitems(items):
    """Run the tests that mostly wait first."""
    items.sort(key=lambda item: item.get_closest_marker("waits") is None)


@pytest.fixture
def fails(capsys):
    """Run a command that must fail, and return the one line it writes."""

    def failing(*arguments):
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert code == 2, captured
        assert captured.out == ""
        assert captured.err.startswith("error: ") and captured.err.count("\n") == 1, captured.err
        assert "Traceback" not in captured.err
        return captured.err.strip()

    return failing


@pytest.fixture(scope="module")
def browser():
    """Start Chromium for the tests of a module, or skip them where it is not installed."""
    if why := browsers.reason_to_skip():
        pytest.skip(why)
    with browsers.open_browser() as opened:
        yield opened


@pytest.fixture
def plug(monkeypatch):
    """Register operators for one test, as the entry points of another package would."""

    def install(*operators):
        points = {op.name: SimpleNamespace(value="test", load=lambda op=op: op) for op in operators}
        monkeypatch.setattr(registry, "_plugins", lambda: points)

    apply._operator.cache_clear()
    yield install
    apply._operator.cache_clear()


@pytest.fixture(scope="session")
def language_judge_folder(tmp_path_factory):
    """Return the model folder of a tiny language-model judge that belongs to the default model."""
    pytest.importorskip("onnx")
    return language_judge.write_judge(tmp_path_factory.mktemp("language-judge") / "tiny")


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Return an empty folder of packages on the path, and hide judges that are installed elsewhere.

    What a test imports from the folder is forgotten afterwards.
    """
    folder = tmp_path / "site"
    folder.mkdir()
    found = [entry for package in (JUDGE, SOLVABLE) for entry in entry_points(group=package.group)]
    elsewhere = {str(entry.dist.locate_file("")) for entry in found}
    monkeypatch.setattr(
        "paraqd.plugins.entry_points",
        lambda group: [e for e in entry_points(group=group) if str(e.dist.locate_file("")) not in elsewhere],
    )
    monkeypatch.delenv("PARAQD_JUDGE", raising=False)
    for name in [name for name in sys.modules if name.startswith(("paraqd_judge", "paraqd_solvable"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(str(folder))
    yield folder
    for name in [name for name in sys.modules if name.startswith(("paraqd_judge", "paraqd_solvable"))]:
        del sys.modules[name]


@pytest.fixture
def installed(site, language_judge_folder):
    """Install the tiny language-model judge for one test, and return its model folder."""
    return language_judge.install_judge(site, language_judge_folder)


@pytest.fixture(scope="session")
def parser():
    """The spaCy pipeline that rules and operators get as the resource ``parser``; slow to load."""
    from paraqd.reading.entities import load_spacy

    return load_spacy()
