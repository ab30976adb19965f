"""Check that the documents show commands and code that work."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from paraqd import Scorer
from paraqd.cli.program import program
from paraqd.lab.operators import Operator, Resources, derive_rng
from paraqd.paraphrasing.distance import overlap
from paraqd.paraphrasing.sources.rules import RuleSource
from paraqd.reading import read
from paraqd.tables.questions import Question
from paraqd.tables.table import open_table

ROOT = Path(__file__).parent.parent
PAGES = sorted(["README.md", "CONTRIBUTING.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))])
RUN = {  # every command in a code block is run; these extras are needed
    "README.md": (),
    "docs/score.md": ("excel",),
    "docs/decisions.md": ("excel",),
    "docs/solvable.md": (),
    "docs/paraphrase.md": ("augment", "excel"),
    "docs/augment.md": ("augment", "parquet"),
    "docs/training.md": ("train", "parquet"),
}


def names_in(app, names=()):
    """Return the names of a group, of all commands in it, and of those in the groups in it."""
    found = {" ".join(names), *(" ".join((*names, command.name)) for command in app.registered_commands)} - {""}
    return found.union(*(names_in(group.typer_instance, (*names, group.name)) for group in app.registered_groups))


COMMANDS = names_in(program())
BLOCK = re.compile(r"^[ ]*```(\w*)\n(.*?)^[ ]*```", re.MULTILINE | re.DOTALL)


def text_of(page):
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page, language):
    return [body for found, body in BLOCK.findall(text_of(page)) if found == language]


def commands(page):
    lines = [line.strip() for body in blocks(page, "") for line in body.splitlines()]
    return [line for line in lines if line.startswith("paraqd ")]


def paraqd(arguments, **options):
    command = [sys.executable, "-m", "paraqd", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


@pytest.fixture
def folder(tmp_path):
    """Make a folder with the samples, as in a clone."""
    shutil.copytree(ROOT / "samples", tmp_path / "samples")
    return tmp_path


def test_the_readme_is_short_and_names_what_a_newcomer_needs():
    words = text_of("README.md").split()
    assert len(words) <= 600
    for needed in ("pip install paraqd", "make demo", "make test", "CONTRIBUTING.md", "docs/score.md"):
        assert needed in text_of("README.md")


def test_the_pages_show_the_main_commands():
    shown = {name for page in RUN for line in commands(page) for name in COMMANDS if line.startswith(f"paraqd {name} ")}
    lab = {f"lab {name}" for name in ("augment", "checklist", "pseudo-label", "purity", "read", "train")}
    assert lab | {"evaluate", "explain", "paraphrase", "score", "solvable"} <= shown


@pytest.mark.parametrize("page", [pytest.param(page, marks=pytest.mark.extra(*RUN[page])) for page in RUN])
def test_every_command_of_the_page(page, folder):
    assert commands(page)
    for line in commands(page):  # in their order: one may use the output of another
        done = paraqd(shlex.split(line)[1:], cwd=folder)
        assert done.returncode == 0, f"{line}\n{done.stderr}"


def test_the_summary_in_the_readme_is_what_the_command_prints(folder):
    (line,) = commands("README.md")
    printed = [row.split() for row in paraqd(shlex.split(line)[1:], cwd=folder).stdout.splitlines()]
    (shown,) = blocks("README.md", "text")
    for row in shown.splitlines():
        assert row.strip() == "…" or row.split() in printed, row


@pytest.mark.parametrize(
    ("page", "results"),
    [
        ("README.md", 3),
        ("docs/score.md", 2),
        ("docs/decisions.md", 2),
        ("docs/solvable.md", 3),
        pytest.param("docs/paraphrase.md", 2, marks=pytest.mark.extra("augment")),
    ],
)
def test_python_examples_give_the_results_in_their_comments(page, results, folder, monkeypatch):
    monkeypatch.chdir(folder)
    names = {}
    checked = 0
    for body in blocks(page, "python"):
        for line in body.splitlines():
            code, _, comment = line.partition("  # ")
            if comment:
                assert repr(eval(code, names)) == comment, line
                checked += 1
            else:
                exec(line, names)
    assert checked == results


def shown_paraphrases():
    section = text_of("docs/paraphrase.md").partition("## Examples")[2].partition("## Styles")[0]
    pairs = re.findall(r"^\| ([A-Z].+?) \| (.+?) \|$", section, re.MULTILINE)
    assert len(pairs) == 20
    return pairs


def test_the_rules_write_the_paraphrases_in_the_guide():
    pytest.importorskip("spacy", reason="the extra augment is not installed")
    ids = {row["question"]: row["id"] for row in open_table(ROOT / "samples" / "questions.csv").rows()}
    questions = [Question(ids[question], question) for question, _ in shown_paraphrases()]
    written = RuleSource().candidates(questions, count=40, seed=3407)
    for (_, paraphrase), found in zip(shown_paraphrases(), written, strict=True):
        assert paraphrase in [each.text for each in found.candidates], paraphrase


def test_the_paraphrases_in_the_guide_are_valid_and_differ_from_their_questions():
    pairs = shown_paraphrases()
    for (question, paraphrase), verdict in zip(pairs, Scorer.load().score_pairs(pairs), strict=True):
        assert verdict.valid, paraphrase
        assert overlap(question, paraphrase) <= 0.8


def test_the_operator_in_contributing_keeps_the_contract():
    names = {}
    code = next(body for body in blocks("CONTRIBUTING.md", "python") if "class PoliteOpening" in body)
    exec("\n".join(line.removeprefix("   ") for line in code.splitlines()), names)
    polite = names["PoliteOpening"]()
    assert isinstance(polite, Operator)
    output = polite.apply(read("Tom has 5 pens."), derive_rng(1, "a", "PoliteOpening"), Resources())
    assert output is not None
    assert output.endswith(" Tom has 5 pens.")
    assert polite.apply(read(""), derive_rng(1, "a", "PoliteOpening"), Resources()) is None


def test_links_between_the_documents_lead_somewhere():
    for document in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("results/**/*.md")]:
        for target in re.findall(r"\]\((?!http)([^)#]+)\)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_architecture_lists_every_room_and_every_root_module():
    package = ROOT / "src" / "paraqd"
    places = [*package.glob("*/__init__.py"), *package.glob("lab/*/__init__.py")]
    rooms = {f"`{path.parent.relative_to(package).as_posix()}/`" for path in places} - {"`lab/`"}
    modules = {f"`{path.stem}`" for path in package.glob("*.py") if not path.stem.startswith("__")}
    listed = set(re.findall(r"^\| (`[a-z_/]+`) \|", text_of("docs/architecture.md"), re.MULTILINE))
    assert listed == rooms | modules


def test_every_page_is_in_the_navigation_of_the_site():
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    missing = [page for page in PAGES if page.startswith("docs/") and page.removeprefix("docs/") not in site]
    assert missing == []


@pytest.mark.extra("serve")
def test_commands_inside_the_text_have_the_options_they_name():
    options = {}
    for page in PAGES:
        prose = BLOCK.sub("", text_of(page))
        written = re.findall(r"`paraqd ([a-z][^`]*)`", prose)
        written += re.findall(r"^paraqd ([a-z].*)$", "\n".join(blocks(page, "")), re.MULTILINE)
        for line in written:
            names = [name for name in COMMANDS if f"{line} ".startswith(f"{name} ")]
            command = max(names, key=len, default=line.split()[0])
            options.setdefault(command, set()).update(re.findall(r"--[a-z][a-z-]*", line))
    assert "lab generator train" in options and "lab annotate merge" in options
    for command, named in options.items():
        shown = paraqd([*command.split(), "--help"], env={**os.environ, "COLUMNS": "200"})
        assert shown.returncode == 0, f"there is no command {command}"
        assert {option for option in named if option not in shown.stdout} == set(), command


@pytest.mark.parametrize("target", ["setup", "demo", "test", "lint", "docs", "bench"])
def test_the_makefile_has_the_promised_targets(target):
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def test_ci_runs_everything():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    targets = [word for line in re.findall(r"^make (.+)", script, re.MULTILINE) for word in line.split()]
    assert [word for word in targets if not word.startswith("-")] == ["setup", "lint", "test", "docs", "demo"]
