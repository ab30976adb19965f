"""Serve the description of the HTTP interface at ``/docs``, without files from other sites."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from fastapi import APIRouter, Request, Response

from paraqd.server.static_files import StaticFile

api_page_router = APIRouter(include_in_schema=False)
_HERE = Path(__file__).parent


@api_page_router.get("/docs")
async def docs(request: Request) -> Response:
    """Return the page that shows ``/openapi.json``."""
    return _file("api.html").answer(request)


@api_page_router.get("/docs/api.js")
async def script(request: Request) -> Response:
    """Return the page's script."""
    return _file("api.js").answer(request)


@api_page_router.get("/docs/api.css")
async def style(request: Request) -> Response:
    """Return the page's style sheet."""
    return _file("api.css").answer(request)


@cache
def _file(name: str) -> StaticFile:
    return StaticFile.read(_HERE / name)
