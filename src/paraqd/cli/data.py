"""``paraqd data``: the data sets that have a name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from paraqd.cli.console import say, stderr, stdout, write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from paraqd.cli.progress import Bar
    from paraqd.data.datasets import State
    from paraqd.data.mixture import Mixture
    from paraqd.progress import Progress

EXAMPLE = "Example: paraqd data get aquarat sawp pawp"
_LIST_EXAMPLE = "Example: paraqd data list --data-dir data/"
_PATH_EXAMPLE = "Example: paraqd data path sawp"
_BUILD_EXAMPLE = "Example: paraqd data build questions -o questions.jsonl.gz --corpus gsm8k --corpus mathqa"

_TEST_SETS = ("aquarat", "sawp", "pawp")
_WIDE = 110  # columns of a terminal in which the licences have room; elsewhere --json has them
_OWN = "em_math"  # what names of sets that are a user's own begin with
_PLACES = {"bundled": "bundled", "clone": "clone", "local": "local", "cache": "cache", "missing": "not here"}

app = typer.Typer(help="List, fetch, find and build data sets.", no_args_is_help=True)

_DATA_DIR = typer.Option(
    None,
    "--data-dir",
    envvar="PARAQD_DATA_DIR",
    metavar="DIR",
    help="A folder that holds data sets already; looked into before the cache.",
)
_JSON = typer.Option(False, "--json", help="Write JSON for a program.")
_QUIET = typer.Option(False, "--quiet", "-q", help="No progress, no table.")


@app.callback()
def data() -> None:
    """List, fetch, find and build data sets."""


@app.command("list", epilog=_LIST_EXAMPLE)
def list_(
    data_dir: str | None = _DATA_DIR,
    as_json: bool = _JSON,
) -> None:
    """List the data sets: what each is, its licence, and whether it is here."""
    from paraqd.data.datasets import dataset_names, state

    rows = [_row(state(name, data_dir), data_dir) for name in dataset_names()]
    if as_json:
        write_json(rows)
    else:
        _show(rows)


@app.command("get", epilog=EXAMPLE)
def get(
    names: list[str] = typer.Argument(..., metavar="NAME...", help="Data sets, as paraqd data list names them."),
    data_dir: str | None = _DATA_DIR,
    as_json: bool = _JSON,
    quiet: bool = _QUIET,
) -> None:
    """Download data sets into the cache and check them; what is here already is only checked.

    The cache is ~/.cache/paraqd (or your system's cache folder); PARAQD_CACHE_DIR names another.
    """
    from paraqd.cli.progress import Bar
    from paraqd.data import datasets

    for name in names:
        datasets.dataset(name)  # a wrong name is found before anything is downloaded
    paths: dict[str, str] = {}
    failed: dict[str, datasets.DatasetError] = {}
    with Bar(shown=not quiet and stderr().is_terminal) as bar:
        for name in dict.fromkeys(names):
            try:
                paths[name] = str(datasets.get(name, data_dir, progress=_kilobytes(bar)))
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
    name: str = typer.Argument(..., metavar="NAME", help="A data set, as paraqd data list names it."),
    data_dir: str | None = _DATA_DIR,
) -> None:
    """Write where a data set lies: in the package, in the data folder or in the cache."""
    from paraqd.data.datasets import find, state

    typer.echo(find(name, data_dir))
    if state(name, data_dir).sound is False:
        say(f"{name} has other bytes than the known file (its sha256 differs)")


@app.command("build", epilog=_BUILD_EXAMPLE)
def build(
    what: str = typer.Argument(..., metavar="WHAT", help="questions: the training mixture."),
    out: str = typer.Option(..., "--out", "-o", metavar="FILE", help="Where it goes; the format by its name."),
    corpus: list[str] = typer.Option(
        [],
        "--corpus",
        metavar="NAME[=FILE]",
        help="aqua_rat, mathqa or gsm8k, and its file if it lies elsewhere; all three unless given.",
    ),
    test_set: list[str] = typer.Option(
        [],
        "--test-set",
        metavar="NAME|FILE",
        help="Pairs whose questions must not be in it; aquarat, sawp and pawp unless given.",
    ),
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace a file that is there."),
    data_dir: str | None = _DATA_DIR,
    as_json: bool = _JSON,
    quiet: bool = _QUIET,
) -> None:
    """Build the training mixture from the public corpora.

    Kept are questions of 6 to 120 words that are not multiple choice, do not repeat each other but for case and
    punctuation, and are not in a test set, numbers apart. About one in fifty is for validation.
    """
    from paraqd.cli.progress import Bar
    from paraqd.data.datasets import load_pairs
    from paraqd.data.mixture import build_mixture, write_mixture
    from paraqd.data.tables import check_writable

    if what != "questions":
        raise typer.BadParameter(f"cannot build {what!r}; what can be built is: questions")
    check_writable(out)
    if Path(out).exists() and not overwrite:
        raise FileExistsError(f"{out} is there already; give another name, or --overwrite")
    files = _corpora(corpus, data_dir)
    excluded = [pair.question for name in test_set or _TEST_SETS for pair in _test_pairs(load_pairs, name, data_dir)]
    with Bar(shown=not quiet and stderr().is_terminal) as bar:
        mixture = build_mixture(files, test_questions=excluded, progress=bar.update)
    write_mixture(mixture, out)
    if as_json:
        write_json(mixture.to_dict())
    elif not quiet:
        _show_mixture(mixture)


def _corpora(given: list[str], data_dir: str | None) -> dict[str, Path]:
    from paraqd.data.datasets import find
    from paraqd.data.public_corpora import READERS

    files: dict[str, Path] = {}
    for item in given or READERS:
        name, sign, file = item.partition("=")
        if name not in READERS or (sign and not file):
            raise typer.BadParameter(f"--corpus {item}: give NAME or NAME=FILE, where NAME is {', '.join(READERS)}")
        files[name] = Path(file) if file else find(name, data_dir)
    return files


def _test_pairs(load: Callable[..., Any], name: str, data_dir: str | None) -> Any:
    """Read a test set; one that is not here can be left out only by naming the others."""
    from paraqd.data.datasets import DatasetError

    try:
        return load(name, data_dir=data_dir, labelled=False)
    except DatasetError as error:
        raise DatasetError(f"{error}; or name the test sets that matter with --test-set") from None


def _kilobytes(bar: Bar) -> Progress:
    """Return a progress callback that counts in kilobytes."""

    def update(stage: str, done: int, total: int | None, note: str = "", /) -> None:
        bar.update(f"{stage} (kB)", done // 1024, None if total is None else total // 1024, note)

    return update


def _row(state: State, data_dir: str | None) -> dict[str, Any]:
    from paraqd.data.datasets import load_pairs, load_questions
    from paraqd.data.formats import TableError

    record, rows, flaw = state.dataset, None, None
    if state.path is not None:
        try:
            rows = len((load_pairs if record.kind == "pairs" else load_questions)(record.name, data_dir=data_dir))
        except TableError as error:  # the other sets can be listed all the same
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
    for title in ("name", "kind", "rows", "where", *(["licence"] if licensed else []), "what it is"):
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
        notes.append("paraqd data get NAME fetches what is not here, or says how to come by it")
    own = [row["name"] for row in rows if row["name"].startswith(_OWN)]
    notes.append(f"{' and '.join(own)} are not public: put files of your own in their place, in the data folder")
    if not licensed:
        notes.append("a wider terminal, or --json, shows the licences")
    if any(row["sound"] is False for row in rows):
        notes.append("changed: its bytes are not those of the known file")
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
    table.add_column("left out")
    for corpus in mixture.corpora:
        counts = (corpus.read, corpus.kept, corpus.validation, corpus.formulas)
        table.add_row(corpus.source, *(f"{count:,}" for count in counts), Text(_reasons(corpus.left_out)))
    stdout().print(table)
    stdout().print(Text(f"{len(mixture.rows):,} questions", style="bold"))


def _reasons(left_out: Mapping[str, int]) -> str:
    return "; ".join(f"{why}: {times:,}" for why, times in left_out.items())
