"""Run the review interface alone, with the model ``reading``: ``python tests/server/review/small_app.py [PORT]``."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from paraqd import Scorer
from paraqd.server.review.errors import ReviewError
from paraqd.server.review.lifespan import start_review, stop_review
from paraqd.server.review.routes import review_router


class SmallBatcher:
    """Score in a thread, without batching."""

    def __init__(self, scorer):
        self.scorer = scorer

    async def score_later(self, pairs):
        return await asyncio.to_thread(self.scorer.score_pairs, list(pairs))


def small_app(database):
    @asynccontextmanager
    async def lifespan(app):
        app.state.settings = SimpleNamespace(database=database)
        app.state.batcher = SmallBatcher(Scorer.load("reading"))
        await start_review(app)
        yield
        await stop_review(app)

    app = FastAPI(lifespan=lifespan)
    app.include_router(review_router)

    @app.exception_handler(ReviewError)
    def answer(request, error):
        content = {"error": {"code": error.code, "message": str(error), "details": error.details}}
        return JSONResponse(content, error.status)

    @app.exception_handler(RequestValidationError)
    def refuse(request, error):
        details = [{"where": list(each["loc"]), "message": each["msg"]} for each in error.errors()]
        message = "; ".join(f"{'.'.join(map(str, each['where']))}: {each['message']}" for each in details[:3])
        return JSONResponse({"error": {"code": "invalid", "message": message, "details": details}}, 422)

    return app


if __name__ == "__main__":
    import uvicorn

    folder = Path(tempfile.gettempdir()) / "paraqd-review"
    uvicorn.run(small_app(str(folder / "review.sqlite")), port=int(sys.argv[1]) if sys.argv[1:] else 8000)
