"""What the documents show works: every command of the README, its Python example, CONTRIBUTING's operator."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from paraqd.cli.main import program
from paraqd.operators import Operator, Resources, derive_rng
from paraqd.reading import read

ROOT = Path(__file__).parent.parent
GROUPS = {
    group.name: {c.name for c in group.typer_instance.registered_commands} for group in program().registered_groups
}
BLOCK = re.compile(r"^[ ]*```(\w*)\n(.*?)^[ ]*```", re.MULTILINE | re.DOTALL)


def blocks(document, language):
    text = (ROOT / document).read_text(encoding="utf-8")
    return [body for found, body in BLOCK.findall(text) if found == language]


def commands():
    lines = [line.strip() for body in blocks("README.md", "") for line in body.splitlines()]
    return [line for line in lines if line.startswith("paraqd ")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the samples, as a new user's clone has them."""
    made = tmp_path_factory.mktemp("clone")
    shutil.copytree(ROOT / "samples", made / "samples")
    return made


def test_the_readme_shows_commands():
    assert {line.split()[1] for line in commands()} >= {
        "augment",
        "checklist",
        "evaluate",
        "explain",
        "pseudo-label",
        "purity",
        "read",
        "score",
        "train",
    }


def test_every_command_of_the_readme(folder):
    # in their order: one uses what another has made
    for line in commands():
        program = [sys.executable, "-m", "paraqd.cli.main", *shlex.split(line)[1:]]
        done = subprocess.run(program, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{line}\n{done.stderr}"


def test_the_readmes_python_example():
    (body,) = blocks("README.md", "python")
    names = {}
    checked = 0
    for line in body.splitlines():
        code, _, comment = line.partition("  # ")
        if comment:
            assert repr(eval(code, names)) == comment, line
            checked += 1
        else:
            exec(line, names)
    assert checked == 5


def test_contributings_operator_keeps_the_contract():
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
    for document in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]:
        for target in re.findall(r"\]\((?!http)([^)#]+)\)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_commands_inside_the_text_have_the_options_they_name():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    options = {}
    for words, rest in re.findall(r"`paraqd ([a-z-]+(?: [a-z]+)?)([^`]*)`", text):
        group, _, name = words.partition(" ")
        command = words if group in GROUPS and name in GROUPS[group] else group
        options.setdefault(command, set()).update(re.findall(r"--[a-z-]+", rest))
    assert "generator train" in options and "annotate merge" in options
    for command, named in options.items():
        program = [sys.executable, "-m", "paraqd.cli.main", *command.split(), "--help"]
        shown = subprocess.run(
            program, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "200"}
        )
        assert shown.returncode == 0, f"there is no command {command}"
        assert {option for option in named if option not in shown.stdout} == set(), command


@pytest.mark.parametrize("target", ["setup", "demo", "test", "lint", "bench"])
def test_the_makefile_has_the_promised_targets(target):
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
