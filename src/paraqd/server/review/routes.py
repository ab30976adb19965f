"""Offer projects, pairs and decisions over HTTP.

Everything that needs the database or a file runs in threads of the review part. A slow database and large files thus
never hold up requests for verdicts, and exports never hold up other requests of the page.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, Depends, File, Form, Query, Request, Response, UploadFile
from fastapi.responses import FileResponse
from pydantic import Field
from starlette.types import Receive, Scope, Send

from paraqd.server.errors import InvalidInput
from paraqd.server.review import added_pairs, decisions, exports, imports, pairs, projects, statistics
from paraqd.server.review.database import Database
from paraqd.server.review.errors import BadRequest, sentence
from paraqd.server.review.filters import Filter
from paraqd.server.review.lifespan import Review
from paraqd.server.review.new_projects import band_in, default_terms, listed_rows, read_band
from paraqd.server.review.requests import (
    MOST_PAIRS,
    BulkBody,
    ChangeBody,
    DecisionBody,
    NextBody,
    PairNumber,
    ParaphraseBody,
    ProjectBody,
    ProjectId,
    query_filter,
    reader,
    writer,
)
from paraqd.server.work import unless_gone
from paraqd.tables.formats import TableError
from paraqd.tables.temporary import temporary_folder
from paraqd.text_check import text_problem

review_router = APIRouter(prefix="/v1/projects", tags=["review"])
Reader = Annotated[str, Depends(reader)]
Writer = Annotated[str, Depends(writer)]


async def _review(request: Request) -> Review:
    review: Review = request.app.state.review
    return review


Server = Annotated[Review, Depends(_review)]


@review_router.get("")
async def list_projects(server: Server, me: Reader) -> dict[str, Any]:
    """Return all projects, newest first."""
    return {"projects": await server.run(projects.list_projects, me)}


@review_router.post("", status_code=201)
async def create_project(request: Request, server: Server, me: Writer, body: ProjectBody) -> dict[str, Any]:
    """Create a project from pairs. They are scored in the background."""
    terms = default_terms(request.app)

    def create() -> dict[str, Any]:
        rows = listed_rows([pair.model_dump() for pair in body.pairs], terms.most_pairs, terms.longest)
        given_ids = any(pair.id for pair in body.pairs)
        new = projects.NewProject(
            name=projects.clean_name(body.name) or "Untitled",
            threshold=terms.threshold if body.threshold is None else body.threshold,
            band=read_band(body.review, terms),
            votes_needed=body.votes_needed,
            columns=("id", "question", "paraphrase") if given_ids else ("question", "paraphrase"),
            paraphrase_columns=("paraphrase",),
        )
        project = projects.create_project(server.database, new, rows)
        server.wake()
        return projects.get_project(server.database, project, me)

    return await server.uploads.run(create)


@review_router.post("/upload", status_code=201)
async def upload_project(
    request: Request,
    server: Server,
    me: Writer,
    file: Annotated[UploadFile, File(description="A .csv, .tsv, .jsonl, .xlsx or .parquet file.")],
    name: Annotated[str, Form(max_length=200)] = "",
    question_column: Annotated[str, Form(max_length=1000)] = "",
    paraphrase_columns: Annotated[
        list[Annotated[str, Field(max_length=10_000)]],
        Form(max_length=1000, description="Names, lists with commas, or patterns."),
    ] = [],  # noqa: B006
    encoding: Annotated[str, Form(max_length=50)] = "",
    threshold: Annotated[float | None, Form(ge=-1, le=1, allow_inf_nan=False)] = None,
    review: Annotated[str, Form(max_length=100, description="A band such as 0.2,0.8, or default.")] = "",
    votes_needed: Annotated[Literal["1", "2"], Form()] = "1",
) -> dict[str, Any]:
    """Create a project from a table. A table that was exported here brings its decisions along."""
    terms = default_terms(request.app)
    band = band_in(review, terms)

    def create() -> dict[str, Any]:
        with (
            imports.saved_upload(file.file, file.filename) as (path, shown),
            imports.open_upload(
                path,
                shown,
                question=question_column.strip(),
                paraphrases=",".join(each.strip() for each in paraphrase_columns if each.strip()),
                encoding=encoding.strip(),
                most_pairs=terms.most_pairs,
                longest=terms.longest,
            ) as upload,
        ):
            new = projects.NewProject(
                name=imports.project_name(name, shown),
                threshold=terms.threshold if threshold is None else threshold,
                band=band,
                votes_needed=int(votes_needed),
                columns=upload.columns,
                paraphrase_columns=upload.paraphrases,
                delimiter=upload.table.dialect.delimiter,
                decimal=upload.table.dialect.decimal,
            )
            project = projects.create_project(server.database, new, upload.rows(), me)
        server.wake()
        return projects.get_project(server.database, project, me)

    return await server.uploads.run(create)


@review_router.get("/{project}")
async def get_project(server: Server, me: Reader, project: ProjectId) -> dict[str, Any]:
    """Return a project with its counts."""
    return await server.run(projects.get_project, project, me)


@review_router.patch("/{project}")
async def change_project(
    request: Request, server: Server, me: Writer, project: ProjectId, body: ChangeBody
) -> dict[str, Any]:
    """Change the settings of a project. Decisions of people never change by this."""
    given = body.model_dump(include=body.model_fields_set)
    changes: dict[str, Any] = {
        name: given[name] for name in ("threshold", "votes_needed") if given.get(name) is not None
    }
    if given.get("name") is not None:
        changes["name"] = projects.clean_name(given["name"])
        if not changes["name"]:
            raise InvalidInput("The name of a project must not be blank.")
    if "review" in given:
        band = read_band(body.review, default_terms(request.app))
        changes["low"], changes["high"] = band or (None, None)
    return await server.run(projects.change_project, project, changes, me)


@review_router.delete("/{project}", status_code=204)
async def delete_project(server: Server, me: Writer, project: ProjectId) -> Response:
    """Delete a project with all its decisions. This cannot be undone."""
    await server.run(projects.delete_project, project)
    return Response(status_code=204)


@review_router.get("/{project}/pairs")
async def list_pairs(
    server: Server,
    me: Reader,
    project: ProjectId,
    chosen: Annotated[Filter, Depends(query_filter)],
    offset: Annotated[int, Query(ge=0, le=MOST_PAIRS)] = 0,
    limit: Annotated[int, Query(ge=0, le=1000)] = 50,
) -> dict[str, Any]:
    """Return some of the pairs that a filter matches."""
    return await server.run(pairs.list_pairs, project, chosen, me, offset=offset, limit=limit)


@review_router.post("/{project}/pairs")
async def add_paraphrase(
    request: Request, server: Server, me: Writer, project: ProjectId, body: ParaphraseBody
) -> dict[str, Any]:
    """Add a paraphrase of the question of a pair, and accept it in this reviewer's name, as one step."""
    longest = request.app.state.settings.max_text
    if problem := text_problem(body.paraphrase, "paraphrase", longest=longest, unicode=True):
        raise InvalidInput(f"{problem[:1].upper()}{problem[1:]}.")
    answer = await server.run(added_pairs.add_paraphrase, project, me, body.pair, body.paraphrase)
    server.wake()
    return answer


@review_router.get("/{project}/pairs/{n}")
async def get_pair(server: Server, me: Reader, project: ProjectId, n: PairNumber) -> dict[str, Any]:
    """Return one pair."""
    return await server.run(pairs.get_pair, project, n, me)


@review_router.post("/{project}/next")
async def next_pair(server: Server, me: Writer, project: ProjectId, body: NextBody) -> dict[str, Any]:
    """Claim the next pair that waits for this reviewer for five minutes."""
    return await server.run(pairs.next_pair, project, body.filter.to_filter(), me, body.after)


@review_router.post("/{project}/decisions")
async def decide(server: Server, me: Writer, project: ProjectId, body: DecisionBody) -> dict[str, Any]:
    """Record a decision on one pair."""
    return await server.run(decisions.decide, project, me, body.pair, body.decision, body.note, request=body.request)


@review_router.post("/{project}/decisions/bulk")
async def decide_all(server: Server, me: Writer, project: ProjectId, body: BulkBody) -> dict[str, Any]:
    """Record a decision on all pairs that a filter matches, as one step."""
    chosen = body.filter.to_filter()
    return dict(
        await server.run(
            decisions.decide_all,
            project,
            me,
            chosen,
            body.decision,
            expected=body.expected,
            note=body.note,
            request=body.request,
        )
    )


@review_router.post("/{project}/undo")
async def undo(server: Server, me: Writer, project: ProjectId) -> dict[str, Any]:
    """Undo this reviewer's last step."""
    return await server.run(decisions.undo, project, me)


@review_router.post("/{project}/redo")
async def redo(server: Server, me: Writer, project: ProjectId) -> dict[str, Any]:
    """Redo the step that this reviewer undid last."""
    return await server.run(decisions.redo, project, me)


@review_router.get("/{project}/log")
async def read_log(
    server: Server,
    me: Reader,
    project: ProjectId,
    before: Annotated[int | None, Query(ge=0, le=2**62)] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> dict[str, Any]:
    """Return who decided what and when, newest first. Pass the ``id`` of the last event as ``before`` for more."""
    return await server.run(decisions.read_log, project, me, before=before, limit=limit)


@review_router.get("/{project}/scores")
async def read_scores(server: Server, project: ProjectId) -> dict[str, Any]:
    """Return all scores, and counts of faults, verdicts and statuses."""
    return await server.run(statistics.read_scores, project)


@review_router.get("/{project}/agreement")
async def read_agreement(server: Server, project: ProjectId) -> dict[str, Any]:
    """Return how well the reviewers agree with each other and with the model."""
    return await server.run(statistics.read_agreement, project)


@review_router.get("/{project}/suggestion")
async def read_suggestion(server: Server, project: ProjectId) -> dict[str, Any]:
    """Return the threshold and the band that the decisions suggest."""
    return await server.run(statistics.read_suggestion, project)


@review_router.get("/{project}/export", response_class=FileResponse)
async def export(
    request: Request,
    server: Server,
    project: ProjectId,
    format: Annotated[Literal["xlsx", "csv", "jsonl"], Query(description="The format of the file.")] = "xlsx",
    only: Annotated[Literal["", "accepted", "rejected"], Query(description="Only pairs with this status.")] = "",
) -> FileResponse:
    """Return the project as a file, with the user's columns first."""
    work = partial(_exported, server.database, project, format, only)
    return await unless_gone(request, server.exports.run(work, discard=_Download.remove))


def _exported(database: Database, project: str, ending: str, only: str) -> _Download:
    folder = tempfile.mkdtemp(prefix="export-", dir=temporary_folder())
    try:
        path = Path(folder) / f"export.{ending}"
        name = exports.export_project(database, project, path, only=only or None)
    except TableError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise BadRequest(sentence(str(error))) from None
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    headers = {"Content-Disposition": _attachment(name, ending), "Accept-Ranges": "none"}
    return _Download(path, media_type=exports.FORMATS[ending], headers=headers)


class _Download(FileResponse):
    """A file that is sent as a whole; then its folder is removed, even if the client has gone."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file."""
        whole = [(name, value) for name, value in scope["headers"] if name not in (b"range", b"if-range")]
        try:
            await super().__call__({**scope, "headers": whole}, receive, send)
        finally:
            self.remove()

    def remove(self) -> None:
        """Remove the file and its folder."""
        shutil.rmtree(Path(self.path).parent, ignore_errors=True)


def _attachment(name: str, ending: str) -> str:
    """Return the header that names a download. Browsers that know UTF-8 take the second name."""
    plain = re.sub(r"[^A-Za-z0-9 ._-]+", "_", name).strip(" .")[:80] or "project"
    full = re.sub(r'[\\/:*?"<>|\x00-\x1f]+', "_", name).strip(" .")[:80] or "project"
    return f"attachment; filename=\"{plain} reviewed.{ending}\"; filename*=UTF-8''{quote(f'{full} reviewed.{ending}')}"


@review_router.post("/{project}/import")
async def import_decisions(
    server: Server,
    me: Writer,
    project: ProjectId,
    file: Annotated[UploadFile, File(description="A file that was exported here.")],
    encoding: Annotated[str, Form(max_length=50)] = "",
) -> dict[str, Any]:
    """Merge the decisions of an exported file into a project, as one step of this reviewer."""

    def merge() -> dict[str, Any]:
        with (
            imports.saved_upload(file.file, file.filename) as (path, shown),
            imports.open_upload(path, shown, encoding=encoding.strip(), most_pairs=MOST_PAIRS) as upload,
        ):
            return dict(imports.merge_decisions(server.database, project, me, upload))

    return await server.uploads.run(merge)
