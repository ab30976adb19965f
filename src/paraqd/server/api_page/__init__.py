"""Serve the description of the HTTP interface at ``/docs``, without files from other sites."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse

api_page_router = APIRouter(include_in_schema=False)
_HERE = Path(__file__).parent
_TYPES = {"api.html": "text/html", "api.js": "text/javascript", "api.css": "text/css"}


@api_page_router.get("/docs")
async def docs() -> FileResponse:
    """Return the page that shows ``/openapi.json``."""
    return _file("api.html")


@api_page_router.get("/docs/api.js")
async def script() -> FileResponse:
    """Return the page's script."""
    return _file("api.js")


@api_page_router.get("/docs/api.css")
async def style() -> FileResponse:
    """Return the page's style sheet."""
    return _file("api.css")


def _file(name: str) -> FileResponse:
    return FileResponse(_HERE / name, media_type=_TYPES[name], headers={"Cache-Control": "no-cache"})
