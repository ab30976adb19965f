"""Provide the command ``paraqd serve``, which answers over HTTP and serves the review page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from paraqd.cli.console import say
from paraqd.cli.options import OUTPUT, JudgeName, ModelName, Quiet, Threshold, checked_threshold
from paraqd.cli.serve_storage import add_commands

if TYPE_CHECKING:
    from paraqd.server.settings import Settings

EXAMPLE = "Example: paraqd serve --port 8080 --open"

_ACCESS, _LIMITS, _REVIEW, _PARAPHRASES = "Access", "Limits", "Review page", "Paraphrases"

app = typer.Typer(invoke_without_command=True)
add_commands(app)

Database = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="The database of the review page, such as sqlite:///review.sqlite or postgresql+psycopg://… Default: a "
        "SQLite file in your data folder.",
        rich_help_panel=_REVIEW,
    ),
]


@app.callback(epilog=EXAMPLE)
def serve(
    context: typer.Context,
    host: Annotated[str | None, typer.Option(metavar="ADDRESS", help="The address. Default: 127.0.0.1.")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="The port; 0 takes a free one. Default: 8080.")
    ] = None,
    model: ModelName = None,
    judge: JudgeName = None,
    threshold: Threshold = None,
    threads: Annotated[int | None, typer.Option(min=1, help="The number of threads. Default: one per core.")] = None,
    api_key_file: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A file with the API key that clients must send.", rich_help_panel=_ACCESS),
    ] = None,
    no_api_key: Annotated[
        bool,
        typer.Option(
            "--no-api-key", help="Let everyone who can reach the address use the server.", rich_help_panel=_ACCESS
        ),
    ] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A host name under which browsers may reach a server without an API key. May be repeated.",
            rich_help_panel=_ACCESS,
        ),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="URL",
            help="A web site whose scripts may use the server (CORS). May be repeated.",
            rich_help_panel=_ACCESS,
        ),
    ] = None,
    no_review: Annotated[
        bool, typer.Option("--no-review", help="Do not serve the review page.", rich_help_panel=_REVIEW)
    ] = False,
    database: Database = None,
    paraphrase_source: Annotated[
        str | None,
        typer.Option(
            metavar="rules|MODEL|URL|none",
            help="What writes paraphrases: rules, a model's folder or name, the address of an OpenAI-compatible "
            "endpoint, or none. Default: rules.",
            rich_help_panel=_PARAPHRASES,
        ),
    ] = None,
    paraphrase_model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The model that the endpoint should use.", rich_help_panel=_PARAPHRASES),
    ] = None,
    paraphrase_requests: Annotated[
        int | None,
        typer.Option(
            min=1, help="The most requests to the endpoint before the next start.", rich_help_panel=_PARAPHRASES
        ),
    ] = None,
    paraphrase_least_score: Annotated[
        float | None,
        typer.Option(
            min=-1,
            max=1,
            help="The lowest score of a paraphrase that the server returns. Default: 0.95.",
            rich_help_panel=_PARAPHRASES,
        ),
    ] = None,
    max_paraphrases: Annotated[
        int | None, typer.Option(min=1, help="The most paraphrases in a request.", rich_help_panel=_LIMITS)
    ] = None,
    max_paraphrasing: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="The most requests for paraphrases in progress. The server answers 429 to more.",
            rich_help_panel=_LIMITS,
        ),
    ] = None,
    max_pairs: Annotated[
        int | None, typer.Option(min=1, help="The most pairs in a request.", rich_help_panel=_LIMITS)
    ] = None,
    max_text: Annotated[
        int | None, typer.Option(min=1, help="The most characters in a text.", rich_help_panel=_LIMITS)
    ] = None,
    max_characters: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="The most characters in all pairs of a request, in which a question counts once for each pair.",
            rich_help_panel=_LIMITS,
        ),
    ] = None,
    max_body: Annotated[
        int | None, typer.Option(min=1, help="The most bytes in a request.", rich_help_panel=_LIMITS)
    ] = None,
    max_upload: Annotated[
        int | None, typer.Option(min=1, help="The most bytes in an uploaded file.", rich_help_panel=_LIMITS)
    ] = None,
    max_waiting: Annotated[
        int | None,
        typer.Option(
            min=1, help="The most pairs in progress. The server answers 429 to more.", rich_help_panel=_LIMITS
        ),
    ] = None,
    deadline: Annotated[
        float | None, typer.Option(min=0, help="The most seconds for a request.", rich_help_panel=_LIMITS)
    ] = None,
    drain_seconds: Annotated[
        float | None,
        typer.Option(min=0, help="How long to go on listening after the signal to stop.", rich_help_panel=_LIMITS),
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    access_log: Annotated[
        bool, typer.Option("--access-log", help="Log every request.", rich_help_panel=OUTPUT)
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Serve verdicts over HTTP, and the review page.

    The server listens only to programs on this machine unless you pass --host. The page /docs describes the interface.

    Every option can also be an environment variable, such as PARAQD_SERVE_PORT. PARAQD_SERVE_API_KEY holds the API key
    itself.
    """
    from paraqd.extras import require_extra

    require_extra("serve", "paraqd serve")
    from paraqd.server.settings import Settings, read_key

    settings = Settings.from_environment(
        host=host,
        port=port,
        model=model,
        judge=None if judge is None else judge.value,
        threshold=checked_threshold(threshold),
        threads=threads,
        api_key=None if api_key_file is None else read_key(api_key_file),
        open_to_all=no_api_key or None,
        allowed_hosts=tuple(allow_host) if allow_host else None,
        allowed_origins=tuple(allow_origin) if allow_origin else None,
        review=False if no_review else None,
        database=database,
        paraphrase_source=paraphrase_source,
        paraphrase_model=paraphrase_model,
        paraphrase_requests=paraphrase_requests,
        paraphrase_least_score=paraphrase_least_score,
        max_paraphrases=max_paraphrases,
        max_paraphrasing=max_paraphrasing,
        max_pairs=max_pairs,
        max_text=max_text,
        max_characters=max_characters,
        max_body=max_body,
        max_upload=max_upload,
        max_waiting=max_waiting,
        deadline=deadline,
        drain_seconds=drain_seconds,
    )
    context.obj = settings  # for the other commands of the group
    if context.invoked_subcommand is None:
        _run(settings, open_browser=open_browser, access_log=access_log, quiet=quiet)


def _run(settings: Settings, *, open_browser: bool, access_log: bool, quiet: bool) -> None:
    """Load the model, and serve until a signal arrives."""
    import logging

    from paraqd.server.settings import check_exposure

    check_exposure(settings)
    from paraqd.server.app import create_app
    from paraqd.server.process import address_of, listen, run_server

    level = logging.INFO if access_log else logging.WARNING
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    with listen(settings.host, settings.port) as listening:  # an address in use is reported before the model is loaded
        web = create_app(settings)
        address = address_of(listening)

        def started() -> None:
            if not quiet:
                say(f"paraqd serves at {address} (stop with Ctrl-C)")
                if settings.review:
                    say(f"decisions are stored in {web.state.review.database.url.removeprefix('sqlite:///')}")
            if open_browser:
                typer.launch(address)

        run_server(web, listening, started=started, access_log=access_log)
