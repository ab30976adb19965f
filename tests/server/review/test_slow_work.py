"""Slow work of the review page holds up neither verdicts nor other work."""

import asyncio
import sqlite3
import tempfile
import threading
from contextlib import asynccontextmanager, closing

import httpx
import pytest
from fastapi.routing import APIRoute

from paraqd.server.api_page import api_page_router
from paraqd.server.app import create_app
from paraqd.server.page.routes import page_router
from paraqd.server.review.routes import review_router
from paraqd.server.service_routes import service_router
from paraqd.server.settings import Settings

PAIRS = [{"question": "Mia has 10 pens and buys 3. How many?", "paraphrase": "Mia owns 10 pens and gets 3. How many?"}]
SCORE = {"question": PAIRS[0]["question"], "paraphrases": [PAIRS[0]["paraphrase"]]}


@pytest.fixture
def serve(tmp_path, scorer):
    """Return a context with a client of a server in this event loop, and with the state of the server."""

    @asynccontextmanager
    async def serving(**settings):
        app = create_app(Settings(model="reading", database=str(tmp_path / "review.sqlite"), **settings), scorer=scorer)
        transport = httpx.ASGITransport(app=app)
        headers = {"X-Reviewer": "Ann"}
        async with (
            asyncio.timeout(120),
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers, timeout=None) as web,
        ):
            made = await web.post("/v1/projects", json={"name": "Pens", "pairs": PAIRS})
            yield web, f"/v1/projects/{made.json()['id']}", app.state.review

    return serving


@asynccontextmanager
async def all_busy(threads):
    """Keep all threads of a kind busy while the block runs."""
    let_go = threading.Event()
    number = threads._pool._max_workers
    begun = [threading.Event() for _ in range(number)]

    def hold(event):
        event.set()
        let_go.wait(60)

    work = [asyncio.create_task(threads.run(lambda event=event: hold(event))) for event in begun]
    for event in begun:
        await asyncio.to_thread(event.wait)
    try:
        yield
    finally:
        let_go.set()
        await asyncio.gather(*work)


@pytest.mark.parametrize("router", [api_page_router, page_router, review_router, service_router])
def test_nothing_runs_in_threads_of_the_framework(router):
    """They are few and shared by all, so that the slowest work would hold up everything else."""
    routes = [route for route in router.routes if isinstance(route, APIRoute)]
    assert len(routes) >= 3
    assert [name for route in routes for name in functions(route.dependant)] == []


def functions(dependant):
    """Return the names of what is no coroutine among a route and what it depends on."""
    found = [] if asyncio.iscoroutinefunction(dependant.call) else [dependant.call.__name__]
    return found + [name for each in dependant.dependencies for name in functions(each)]


def test_exports_and_uploads_wait_only_for_each_other(serve):
    async def run():
        async with serve() as (web, project, review):
            async with all_busy(review.exports), all_busy(review.uploads):
                waiting = [asyncio.create_task(web.get(f"{project}/export?format=csv")) for _ in range(60)]
                waiting.append(asyncio.create_task(web.post("/v1/projects", json={"name": "More", "pairs": PAIRS})))
                await asyncio.sleep(0)
                assert (await web.post("/v1/score", json=SCORE)).is_success
                assert (await web.get(project)).is_success
                decision = {"pair": 1, "decision": "accept"}
                assert (await web.post(f"{project}/decisions", json=decision)).is_success
                assert (await web.get("/readyz")).is_success
                assert not any(each.done() for each in waiting)
            assert {(await each).status_code for each in waiting} == {200, 201}

    asyncio.run(run())


def test_verdicts_do_not_wait_for_a_locked_database(serve, tmp_path):
    async def run():
        async with serve() as (web, project, _):
            with closing(sqlite3.connect(tmp_path / "review.sqlite", isolation_level=None)) as other:
                other.execute("BEGIN EXCLUSIVE")
                decision = {"pair": 1, "decision": "accept"}
                waiting = [asyncio.create_task(web.post(f"{project}/decisions", json=decision)) for _ in range(60)]
                await asyncio.sleep(0.5)
                for _ in range(10):
                    assert (await web.post("/v1/score", json=SCORE)).is_success
                assert (await web.get("/")).is_success
                assert not any(each.done() for each in waiting)
                other.rollback()
            assert {(await each).status_code for each in waiting} == {200}

    asyncio.run(run())


def test_a_request_waits_for_a_thread_no_longer_than_the_deadline(serve):
    async def run():
        async with serve(deadline=1) as (web, project, review), all_busy(review.exports), all_busy(review.page):
            for answer in await asyncio.gather(web.get(f"{project}/export"), web.get(project)):
                assert answer.status_code == 504 and answer.json()["error"]["code"] == "deadline_exceeded"

    asyncio.run(run())


@pytest.mark.parametrize("begun", [False, True])
def test_an_export_that_nobody_waits_for_leaves_nothing(serve, tmp_path, monkeypatch, begun):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    async def run():
        async with serve() as (web, project, review):
            if begun:
                export = asyncio.create_task(web.get(f"{project}/export"))
                while not list(tmp_path.glob("paraqd-temporary-*/export-*")):
                    await asyncio.sleep(0)
                export.cancel()
                await asyncio.gather(export, return_exceptions=True)
            else:
                async with all_busy(review.exports):
                    export = asyncio.create_task(web.get(f"{project}/export"))
                    await asyncio.sleep(0.2)
                    export.cancel()
                    await asyncio.gather(export, return_exceptions=True)
            await review.exports.run(lambda: None)  # what came before has ended
        assert not list(tmp_path.glob("paraqd-temporary-*/export-*"))

    asyncio.run(run())
