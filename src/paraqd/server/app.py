"""Build the web application from its settings."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from paraqd.errors import ParaqdError
from paraqd.scoring.scorer import Scorer
from paraqd.server.api_page import api_page_router
from paraqd.server.batching import Batcher
from paraqd.server.errors import install_error_handlers
from paraqd.server.limits import BodyLimit, Observer
from paraqd.server.metrics import Metrics
from paraqd.server.page.routes import page_router
from paraqd.server.paraphrase_queue import ParaphraseQueue
from paraqd.server.review.errors import StorageError, answer_storage_error
from paraqd.server.review.lifespan import start_review, stop_review
from paraqd.server.review.routes import review_router
from paraqd.server.security import KeyCheck
from paraqd.server.service_routes import service_router
from paraqd.server.settings import Settings
from paraqd.version import __version__

_WARM_UP = [("Ann has 5 pens and buys 3. How many has she?", "How many pens has Ann if she buys 3 besides her 5?")]
_DESCRIPTION = (
    "Check whether a paraphrase of a math word problem is still the same problem. Scores range from -1 to 1; a pair is "
    "valid if its score is above the threshold. Every error has the same form."
)


def create_app(settings: Settings | None = None, *, scorer: Scorer | None = None) -> FastAPI:
    """Build the application.

    Parameters
    ----------
    settings : Settings, optional
        The settings (default: from environment variables such as ``PARAQD_SERVE_MODEL``).
    scorer : Scorer, optional
        The scorer (default: loaded as the settings say).

    Raises
    ------
    ModelError
        If the model cannot be loaded.

    """
    settings = Settings.from_environment() if settings is None else settings
    scorer = load_scorer(settings) if scorer is None else scorer
    app = FastAPI(
        title="paraqd",
        version=__version__,
        description=_DESCRIPTION,
        docs_url=None,  # the framework's page loads scripts from another site
        redoc_url=None,
        lifespan=_lifespan,
        # other origins may not read the answers, so a redirect to the path with a slash would only hide errors
        redirect_slashes=False,
    )
    metrics = Metrics()
    metrics.model.info({"signature": scorer.signature, "version": __version__})
    app.state.settings = settings
    app.state.scorer = scorer
    app.state.metrics = metrics
    app.state.batcher = Batcher(
        scorer,
        max_waiting=settings.max_waiting,
        batch_pairs=settings.batch_pairs,
        batch_characters=settings.batch_characters,
        metrics=metrics,
    )
    app.state.paraphrases = ParaphraseQueue(app.state.batcher, settings, metrics=metrics)
    app.state.has_storage = True
    set_ready(app, False)
    install_error_handlers(app)
    app.include_router(service_router)
    app.include_router(api_page_router)
    if settings.review:
        app.add_exception_handler(StorageError, answer_storage_error)
        app.include_router(review_router)
        app.include_router(page_router)
    # the middleware that is added last comes first
    app.add_middleware(BodyLimit, settings=settings)
    app.add_middleware(KeyCheck, settings=settings)
    if settings.allowed_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(settings.allowed_origins),
            allow_methods=["GET", "POST", "PATCH", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "X-API-Key", "X-Reviewer"],
            expose_headers=["Retry-After"],
        )
    app.add_middleware(Observer, settings=settings, metrics=metrics)
    return app


def load_scorer(settings: Settings) -> Scorer:
    """Load the scorer that the settings describe."""
    return Scorer.load(settings.model, judge=settings.judge, threshold=settings.threshold, threads=settings.threads)


def set_ready(app: FastAPI, ready: bool) -> None:
    """Set whether the server takes requests, which ``/readyz`` answers."""
    app.state.ready = ready
    app.state.metrics.ready.set(ready and app.state.has_storage)


def _set_storage(app: FastAPI, usable: bool) -> None:
    app.state.has_storage = usable
    set_ready(app, app.state.ready)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Start the parts of the server, and stop them in the opposite order."""
    review = app.state.settings.review
    try:
        await asyncio.to_thread(app.state.scorer.score_pairs, _WARM_UP)
        await asyncio.to_thread(app.state.paraphrases.start)
        if review:
            await start_review(app, partial(_set_storage, app))
    except ParaqdError as error:
        app.state.startup_error = error  # the command shows it
        raise
    set_ready(app, True)
    try:
        yield
    finally:
        set_ready(app, False)
        if review:
            await stop_review(app)
        app.state.paraphrases.close()
        await app.state.batcher.close()
