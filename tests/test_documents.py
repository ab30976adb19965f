"""What the documents show works: every command of the README, its Python example, CONTRIBUTING's operator."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from paraqd.operators import Operator, Resources, derive_rng
from paraqd.reading import read

ROOT = Path(__file__).parent.parent
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
    assert {line.split()[1] for line in commands()} >= {"augment", "purity", "read"}


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
        code, _, comment = line.partition("   # ")
        if comment or re.match(r"[a-z]\w*[(\[.]", code):
            code, _, comment = line.partition("#")
            assert repr(eval(code, names)) == comment.strip(), line
            checked += 1
        else:
            exec(line, names)
    assert checked == 3


def test_contributings_operator_keeps_the_contract():
    names = {}
    code = next(body for body in blocks("CONTRIBUTING.md", "python") if "class Shout" in body)
    exec("\n".join(line.removeprefix("   ") for line in code.splitlines()), names)
    shout = names["Shout"]()
    assert isinstance(shout, Operator)
    assert shout.apply(read("Tom has 5 pens."), derive_rng(1, "a", "Shout"), Resources()) == "TOM HAS 5 PENS."
    assert shout.apply(read("5 + 5"), derive_rng(1, "a", "Shout"), Resources()) is None


@pytest.mark.parametrize("target", ["setup", "demo", "test", "lint", "bench"])
def test_the_makefile_has_the_promised_targets(target):
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
