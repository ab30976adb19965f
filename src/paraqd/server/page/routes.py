"""Serve the review page and its static files."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from fastapi import APIRouter, HTTPException, Request, Response

from paraqd.server.static_files import TYPES, StaticFile

PAGE = Path(__file__).parent
SHARED = Path(__file__).parents[2] / "runs" / "report"  # the report marks pairs with the same code
SHARED_FILES = ("pair_view.js", "pair_view.css")

page_router = APIRouter(include_in_schema=False)


@cache
def static_files() -> dict[str, StaticFile]:
    """Read all files of the page, by name.

    Only these names are served. A path in a request is never joined to a folder, so it cannot lead outside.
    """
    paths = [PAGE / "index.html", *sorted((PAGE / "static").iterdir()), *(SHARED / name for name in SHARED_FILES)]
    return {path.name: StaticFile.read(path) for path in paths if path.suffix in TYPES and path.is_file()}


def _answer(name: str, request: Request) -> Response:
    found = static_files().get(name)
    if found is None:
        raise HTTPException(404, "The page has no such file.")
    return found.answer(request)


@page_router.api_route("/", methods=["GET", "HEAD"])
async def index(request: Request) -> Response:
    """Return the review page."""
    return _answer("index.html", request)


@page_router.api_route("/static/{name}", methods=["GET", "HEAD"])
async def static_file(name: str, request: Request) -> Response:
    """Return a style sheet, a script or an image of the review page."""
    return _answer(name, request)


@page_router.api_route("/favicon.ico", methods=["GET", "HEAD"])
async def icon(request: Request) -> Response:
    """Return the icon for browsers that do not read the one in the page."""
    return _answer("icon.svg", request)
