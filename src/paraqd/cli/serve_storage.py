"""Provide the commands of ``paraqd serve`` that look after the database of the review page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from paraqd.cli.console import say, stdout, write_json
from paraqd.cli.options import AsJson, Overwrite, Quiet
from paraqd.plural import counted

_BACKUP = "Example: paraqd serve backup review-copy.sqlite"
_PROJECTS = "Example: paraqd serve projects"
_DELETE = "Example: paraqd serve delete 3f9c0a71b2de --yes"

_Database = Annotated[
    str | None,
    typer.Option("--database", metavar="URL", help="The database: a file or a URL. Default: that of paraqd serve."),
]


def add_commands(app: typer.Typer) -> None:
    """Add the commands to the group ``paraqd serve``."""
    app.command("backup", epilog=_BACKUP)(backup)
    app.command("projects", epilog=_PROJECTS)(projects)
    app.command("delete", epilog=_DELETE)(delete)


def backup(
    context: typer.Context,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write.")],
    database: _Database = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Copy the database of the review page to a file.

    The server may go on working meanwhile. The copy contains every decision that was saved when the command began. To
    restore it, stop the server, and start it with --database OUT.
    """
    from paraqd.server.review.maintenance import back_up

    written = back_up(database or context.obj.database, out, overwrite=overwrite)
    if not quiet:
        say(f"wrote {written}")


def projects(context: typer.Context, database: _Database = None, as_json: AsJson = False) -> None:
    """List the projects of the review page, newest first."""
    from paraqd.server.review.maintenance import read_projects

    found = read_projects(database or context.obj.database)
    if as_json:
        write_json({"projects": found})
        return
    for each in found:
        decided = each["total"] - each["status"]["open"]
        pairs = f"{counted(each['total'], 'pair')}, {decided:,} decided"
        stdout().print(
            f"{each['id']}  {each['created'][:10]}  {pairs:<32} {each['name']}", markup=False, soft_wrap=True
        )
    if not found:
        say("there are no projects")


def delete(
    context: typer.Context,
    project: Annotated[str, typer.Argument(metavar="PROJECT", help="The id of the project, or its name.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    database: _Database = None,
    quiet: Quiet = False,
) -> None:
    """Delete a project of the review page with its pairs, decisions and log.

    This cannot be undone. Export the project or make a backup first if you may need it again.
    """
    from paraqd.server.review.maintenance import remove_project

    if not yes:
        if not sys.stdin.isatty():
            raise typer.BadParameter("pass --yes to delete without being asked")
        if not typer.confirm(f"Delete the project {project} with all its decisions?", err=True):
            say("nothing was deleted")
            return
    name = remove_project(database or context.obj.database, project)
    if not quiet:
        say(f"deleted {name}")
