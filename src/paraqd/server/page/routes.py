"""Serve the review page and its static files."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fastapi import APIRouter, HTTPException, Request, Response

PAGE = Path(__file__).parent
SHARED = Path(__file__).parents[2] / "runs" / "report"  # the report marks pairs with the same code
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
SHARED_FILES = ("pair_view.js", "pair_view.css")

page_router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file of the page, with its type and a tag that changes when the content does."""

    content: bytes
    media_type: str
    tag: str


@cache
def static_files() -> dict[str, StaticFile]:
    """Read all files of the page, by name.

    Only these names are served. A path in a request is never joined to a folder, so it cannot lead outside.
    """
    paths = [PAGE / "index.html", *sorted((PAGE / "static").iterdir()), *(SHARED / name for name in SHARED_FILES)]
    return {path.name: _read(path) for path in paths if path.suffix in TYPES and path.is_file()}


def _read(path: Path) -> StaticFile:
    content = path.read_bytes()
    return StaticFile(content, TYPES[path.suffix], f'"{hashlib.sha256(content).hexdigest()[:16]}"')


def _answer(name: str, request: Request) -> Response:
    found = static_files().get(name)
    if found is None:
        raise HTTPException(404, "The page has no such file.")
    # A browser asks each time whether its copy is still right, so a new version of paraqd is never mixed with an old.
    headers = {"ETag": found.tag, "Cache-Control": "no-cache"}
    if found.tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(found.content, media_type=found.media_type, headers=headers)


@page_router.api_route("/", methods=["GET", "HEAD"])
def index(request: Request) -> Response:
    """Return the review page."""
    return _answer("index.html", request)


@page_router.api_route("/static/{name}", methods=["GET", "HEAD"])
def static_file(name: str, request: Request) -> Response:
    """Return a style sheet, a script or an image of the review page."""
    return _answer(name, request)


@page_router.api_route("/favicon.ico", methods=["GET", "HEAD"])
def icon(request: Request) -> Response:
    """Return the icon for browsers that do not read the one in the page."""
    return _answer("icon.svg", request)
