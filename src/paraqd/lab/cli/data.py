"""Provide the command ``paraqd lab data``, which lists, downloads, finds and builds data sets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paraqd.cli.console import say, stderr, stdout, write_json
from paraqd.cli.options import AsJson, DataDir, Overwrite, Quiet
from paraqd.plural import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from paraqd.cli.progress import Bar
    from paraqd.lab.corpora.mixture import Mixture
    from paraqd.progress import Progress
    from paraqd.tables.datasets import State

EXAMPLE = "Example: paraqd lab data get aquarat sawp pawp"
_LIST_EXAMPLE = "Example: paraqd lab data list --json"
_PATH_EXAMPLE = "Example: paraqd lab data path sawp"
_BUILD_EXAMPLE = "Example: paraqd lab data build questions -o questions.jsonl.gz --corpus gsm8k --corpus mathqa"

_TEST_SETS = ("aquarat", "sawp", "pawp")
_WIDE = 110  # the minimum terminal width, in columns, at which licences are shown
_OWN = "em_math"  # the prefix of data sets that users provide themselves
_PLACES = {"bundled": "bundled", "clone": "clone", "local": "local", "cache": "cache", "missing": "missing"}

app = typer.Typer(help="List, download, find and build data sets.", no_args_is_help=True)


@app.callback()
def data() -> None:
    """List, download, find and build data sets."""


@app.command("list", epilog=_LIST_EXAMPLE)
def list_(
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List the data sets with their licences, and show which of them are available."""
    from paraqd.tables.datasets import dataset_names, state

    rows = [_row(state(name, data_dir), data_dir) for name in dataset_names()]
    if as_json:
        write_json(rows)
    else:
        _show(rows)


@app.command("get", epilog=EXAMPLE)
def get(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME", help="The names of data sets (see paraqd lab data list).")
    ],
    data_dir: DataDir = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Download data sets into the cache and check them. Data sets that are already available are only checked.

    The cache is the folder paraqd in your system's cache folder, such as ~/.cache/paraqd. Set PARAQD_CACHE_DIR to use a
    different folder.
    """
    from paraqd.cli.progress import Bar
    from paraqd.lab.corpora import download
    from paraqd.tables import datasets

    for name in names:
        datasets.dataset(name)  # raises an error for an unknown name before anything is downloaded
    paths: dict[str, str] = {}
    failed: dict[str, datasets.DatasetError] = {}
    with Bar(shown=not quiet and stderr().is_terminal) as bar:
        for name in dict.fromkeys(names):
            try:
                paths[name] = str(download.get(name, data_dir, progress=_kilobytes(bar)))
            except datasets.DatasetError as error:
                failed[name] = error
    if failed and not paths and len(failed) == 1:
        raise next(iter(failed.values()))
    if as_json:
        write_json({"paths": paths, "failed": {name: str(why) for name, why in failed.items()}})
    elif not quiet:
        for path in paths.values():
            typer.echo(path)
    for why in failed.values():
        say(f"error: {why}")
    if failed:
        raise typer.Exit(1 if paths else 2)


@app.command("path", epilog=_PATH_EXAMPLE)
def path(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of a data set (see paraqd lab data list).")],
    data_dir: DataDir = None,
) -> None:
    """Show the path of a data set in the package, the data folder, a clone of the repository, or the cache."""
    from paraqd.tables.datasets import find, state

    typer.echo(find(name, data_dir))
    if state(name, data_dir).sound is False:
        say(f"{name} differs from the known file (its sha256 is different)")


@app.command("build", epilog=_BUILD_EXAMPLE)
def build(
    what: Annotated[str, typer.Argument(metavar="WHAT", help="The data set to build. The only choice is questions.")],
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FILE", help="The output file. Its extension sets the format.")
    ],
    corpus: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=FILE]",
            help="A corpus: aqua_rat, mathqa or gsm8k, with its file if it is not in the data folder. May be repeated. "
            "Default: all three.",
        ),
    ] = None,
    test_set: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME|FILE",
            help="Pairs whose questions are excluded. May be repeated. Default: aquarat, sawp and pawp.",
        ),
    ] = None,
    overwrite: Overwrite = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Build the training mixture from the public corpora.

    The mixture contains questions of 6 to 120 words. It excludes multiple-choice questions, duplicates (ignoring case
    and punctuation) and test questions (ignoring numbers). About one in fifty questions is used for validation.
    """
    from paraqd.cli.progress import Bar
    from paraqd.lab.corpora.mixture import build_mixture, write_mixture
    from paraqd.tables.datasets import load_pairs
    from paraqd.tables.writers import check_outputs

    if what != "questions":
        raise typer.BadParameter(f"cannot build {what!r}: the only choice is questions")
    files = _corpora(corpus or (), data_dir)
    check_outputs([out], list(files.values()), overwrite=overwrite)
    excluded = [pair.question for name in test_set or _TEST_SETS for pair in _test_pairs(load_pairs, name, data_dir)]
    with Bar(shown=not quiet and stderr().is_terminal) as bar:
        mixture = build_mixture(files, test_questions=excluded, progress=bar.update)
    write_mixture(mixture, out)
    if as_json:
        write_json(mixture.to_dict())
    elif not quiet:
        _show_mixture(mixture)


def _corpora(given: Sequence[str], data_dir: str | None) -> dict[str, Path]:
    from paraqd.lab.corpora.public_corpora import READERS
    from paraqd.tables.datasets import find

    files: dict[str, Path] = {}
    for item in given or READERS:
        name, sign, file = item.partition("=")
        if name not in READERS or (sign and not file):
            raise typer.BadParameter(
                f"--corpus {item}: use NAME or NAME=FILE, where NAME is one of {', '.join(READERS)}"
            )
        files[name] = Path(file) if file else find(name, data_dir)
    return files


def _test_pairs(load: Callable[..., Any], name: str, data_dir: str | None) -> Any:
    """Read a test set. If it is missing, raise an error that explains how to choose other test sets."""
    from paraqd.tables.datasets import DatasetError

    try:
        return load(name, data_dir=data_dir, labelled=False)
    except DatasetError as error:
        raise DatasetError(f"{error}; or name the test sets to use with --test-set") from None


def _kilobytes(bar: Bar) -> Progress:
    """Return a progress callback that counts in kilobytes."""

    def update(stage: str, done: int, total: int | None, note: str = "", /) -> None:
        bar.update(f"{stage} (kB)", done // 1024, None if total is None else total // 1024, note)

    return update


def _row(state: State, data_dir: str | None) -> dict[str, Any]:
    from paraqd.lab.corpora.public_corpora import load_corpus
    from paraqd.tables.datasets import load_pairs
    from paraqd.tables.formats import TableError

    record, rows, flaw = state.dataset, None, None
    if state.path is not None:
        try:
            rows = len((load_pairs if record.kind == "pairs" else load_corpus)(record.name, data_dir=data_dir))
        except TableError as error:  # the other data sets can still be listed
            flaw = str(error)
    return {
        "name": record.name,
        "kind": record.kind,
        "description": record.description,
        "licence": record.licence,
        "home": record.home or None,
        "use": record.use,
        "files": [{"name": f.name, "url": f.url, "sha256": f.sha256, "url_tried": f.tried} for f in record.files],
        "rows": rows,
        "where": state.where,
        "path": None if state.path is None else str(state.path),
        "sound": state.sound,
        "flaw": flaw,
    }


def _show(rows: list[dict[str, Any]]) -> None:
    from rich.table import Table
    from rich.text import Text

    console = stdout()
    licensed = console.width >= _WIDE
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for title in ("name", "kind", "rows", "where", *(["licence"] if licensed else []), "description"):
        table.add_column(title, no_wrap=title in ("name", "kind", "rows", "where"))
    table.columns[2].justify = "right"
    for row in rows:
        place = Text(_PLACES[row["where"]], style="dim" if row["where"] == "missing" else "green")
        if row["sound"] is False or row["flaw"]:
            place = Text("damaged" if row["flaw"] else "changed", style="red")
        count = "" if row["rows"] is None else f"{row['rows']:,}"
        licence = [Text(row["licence"])] if licensed else []
        table.add_row(row["name"], row["kind"], count, place, *licence, Text(row["description"]))
    console.print(table)
    notes = []
    if any(row["where"] == "missing" for row in rows):
        notes.append("to download a missing data set, or to learn how to obtain it, run paraqd lab data get NAME")
    own = [row["name"] for row in rows if row["name"].startswith(_OWN)]
    notes.append(f"{' and '.join(own)} are not public; put your own files into the data folder")
    if not licensed:
        notes.append("use a wider terminal or --json to see the licences")
    if any(row["sound"] is False for row in rows):
        notes.append("changed: the file differs from the known file")
    notes += [f"{row['name']}: {row['flaw']}" for row in rows if row["flaw"]]
    for note in notes:
        console.print(Text(note, style="dim"))


def _show_mixture(mixture: Mixture) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("corpus", no_wrap=True)
    for title in ("read", "kept", "validation", "formulas"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("skipped")
    for corpus in mixture.corpora:
        counts = (corpus.read, corpus.kept, corpus.validation, corpus.formulas)
        table.add_row(corpus.source, *(f"{count:,}" for count in counts), Text(_reasons(corpus.left_out)))
    stdout().print(table)
    stdout().print(Text(counted(len(mixture.rows), "question"), style="bold"))


def _reasons(left_out: Mapping[str, int]) -> str:
    return "; ".join(f"{why}: {times:,}" for why, times in left_out.items())
