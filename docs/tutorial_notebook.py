"""Write the notebook of the tutorial from its page: ``python docs/tutorial_notebook.py``.

The commands and the Python blocks of the page become cells that run. Everything else becomes text, also the output that
the page shows, and the command that starts a server, because its cell would never end. Run this after every change to
``docs/tutorial.md``; a test fails if the notebook differs from the page.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "tutorial.md"
NOTEBOOK = ROOT / "examples" / "tutorial.ipynb"
SETUP = """\
# Make a new folder with a copy of the samples, and go there. Let commands use the Python of this notebook.
import os
import shutil
import sys
import tempfile
from pathlib import Path

clone = next(folder for folder in [Path.cwd(), *Path.cwd().parents] if (folder / "samples" / "bank.csv").exists())
work = Path(tempfile.mkdtemp(prefix="paraqd-tutorial-"))
shutil.copytree(clone / "samples", work / "samples")
os.chdir(work)
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
print(work)
"""
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?![a-z]+:|#)([^)\s]+)\)")


def notebook(page: str) -> dict[str, Any]:
    """Return the notebook of a page, without any outputs."""
    intro, heading, rest = page.partition("\n## ")
    cells = [*_text(intro), _cell("code", SETUP), *_cells(f"{heading}{rest}")]
    names = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": names}, "nbformat": 4, "nbformat_minor": 4}


def written(page: str) -> str:
    """Return the text of the notebook file."""
    return json.dumps(notebook(page), ensure_ascii=False, indent=1) + "\n"


def _cells(page: str) -> list[dict[str, Any]]:
    cells: list[dict[str, Any]] = []
    done = 0
    for block in _BLOCK.finditer(page):
        code = _code(*block.groups())
        if code:
            cells += [*_text(page[done : block.start()]), _cell("code", code)]
            done = block.end()
    return [*cells, *_text(page[done:])]


def _code(language: str, body: str) -> str:
    """Return the code of a cell for a block, or an empty string if the block stays text."""
    if language == "python":
        return body
    if language or body.startswith("paraqd serve"):
        return ""
    return "".join(f"!{line}\n" for line in body.splitlines())


def _text(text: str) -> list[dict[str, Any]]:
    """Return a cell with text, whose links start from the folder of the notebook, or nothing if the text is blank."""
    linked = _LINK.sub(lambda link: f"]({_from_examples(link[1])})", text.strip())
    return [_cell("markdown", linked)] if linked else []


def _from_examples(target: str) -> str:
    return target.removeprefix("../examples/") if target.startswith("../") else f"../docs/{target}"


def _cell(kind: str, text: str) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": text.strip().splitlines(keepends=True)}
    return {**cell, "execution_count": None, "outputs": []} if kind == "code" else cell


if __name__ == "__main__":
    NOTEBOOK.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
