"""Show the examples in docstrings as code blocks."""

from __future__ import annotations

import re
from typing import Any

import griffe

_SECTION = re.compile(r"^Examples\n-+$", re.MULTILINE)  # mkdocstrings already shows this section as code
_EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\n).*)*", re.MULTILINE)


class DoctestBlocks(griffe.Extension):
    """Put a fence around every example that starts with ``>>>``."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring and not _SECTION.search(obj.docstring.value):
            obj.docstring.value = _EXAMPLE.sub(lambda match: f"```pycon\n{match.group()}\n```", obj.docstring.value)
