"""Add the documents outside ``docs/`` to the site, and adjust the links between documents.

In the repository, a link names a file, such as ``../CONTRIBUTING.md``. On the site, the same document has another
address. A link to a file that has no page, such as a source file, becomes plain text.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
PAGES = {  # path in the repository: path on the site
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "results/README.md": "paper-results.md",
    "results/scorer/README.md": "accuracy.md",
    "results/bench/README.md": "speed.md",
    "results/bench/bench.png": "bench.png",
    "results/server/README.md": "server-load.md",
}
_SOURCES = {page: source for source, page in PAGES.items()}
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add every page of ``PAGES``."""
    for source, page in PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Rewrite the links of a page from paths in the repository to paths on the site."""
    source = _SOURCES.get(page.file.src_uri, f"docs/{page.file.src_uri}")
    folder = posixpath.dirname(source)

    def rewritten(match: re.Match[str]) -> str:
        image, text, target, anchor = match.groups()
        path = posixpath.normpath(posixpath.join(folder, target))
        to = PAGES.get(path, path.removeprefix("docs/") if path.startswith("docs/") else None)
        if to is None:
            return text
        return f"{image}[{text}]({to}{anchor or ''})"

    return _LINK.sub(rewritten, markdown)
