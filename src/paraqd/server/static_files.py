"""Read the files of pages once, and answer with them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import Response

if TYPE_CHECKING:
    from fastapi import Request

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file of a page, with its type and a tag that changes when the content does."""

    content: bytes
    media_type: str
    tag: str

    @classmethod
    def read(cls, path: Path) -> StaticFile:
        """Read a file whose ending is one of `TYPES`."""
        content = path.read_bytes()
        return cls(content, TYPES[path.suffix], f'"{hashlib.sha256(content).hexdigest()[:16]}"')

    def answer(self, request: Request) -> Response:
        """Return the file, or say that the browser's copy is still right.

        A browser asks each time, so a new version of paraqd is never mixed with an old one.
        """
        headers = {"ETag": self.tag, "Cache-Control": "no-cache"}
        if self.tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(self.content, media_type=self.media_type, headers=headers)
