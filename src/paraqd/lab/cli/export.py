"""Provide the command ``paraqd lab export``, which converts a trained model for scoring without torch."""

from __future__ import annotations

from typing import Annotated

import typer

from paraqd.cli.console import say, write_json
from paraqd.cli.options import AsJson, Quiet

EXAMPLE = "Example: paraqd lab export models/first -o models/first-small"
_CHECKED = 300
_BITS = 8


def export(
    model: Annotated[str, typer.Argument(metavar="DIR", help="A model folder that paraqd lab train wrote.")],
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="DIR", help="The output folder. Default: the model folder.")
    ] = None,
    bits: Annotated[int, typer.Option(help="The number of bits per weight: 8, 16 or 32.")] = _BITS,
    check: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="A file of pairs to score before and after the export. Default: 300 pairs from awp-variants.",
        ),
    ] = None,
    most_moved: Annotated[
        float | None,
        typer.Option(
            help="The largest acceptable change in a score. The export fails if more than 1 % of the scores change by "
            "more. Default: 0.02, or 0.05 for a judge.",
        ),
    ] = None,
    as_package: Annotated[
        bool,
        typer.Option(
            "--as-package",
            help="Write a trained language-model judge, or a large model for single questions, as a package for pip.",
        ),
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Export a trained model as a small ONNX graph, which paraqd score loads without torch.

    The command compares the exported model's scores with the original model's scores. If they differ too much, nothing
    is written.
    """
    if as_package:
        if bits != _BITS or check is not None or most_moved is not None:
            raise typer.BadParameter("--as-package cannot be combined with --bits, --check and --most-moved")
        _write_package(model, out, as_json=as_json, quiet=quiet)
        return
    from paraqd.lab.training.export import export_model
    from paraqd.tables.datasets import load_pairs
    from paraqd.tables.table import TableError, open_table

    if check is not None:
        table = open_table(check)
        if not {"question", "paraphrase"} <= set(table.columns):
            raise TableError(f"{check} needs the columns question and paraphrase (it has: {', '.join(table.columns)})")
        pairs = [(str(row["question"]), str(row["paraphrase"])) for row in table.rows(["question", "paraphrase"])]
    else:
        pairs = [(pair.question, pair.paraphrase) for pair in load_pairs("awp-variants")[:_CHECKED]]
    done = export_model(model, out or model, pairs=pairs, bits=bits, most_moved=most_moved)
    if as_json:
        write_json(done.to_dict())
    elif not quiet:
        say(
            f"{done.folder} is ready: {done.kind}, {done.megabytes:.1f} MB; 99 % of {done.pairs} scores changed by "
            f"less than {done.nearly_all:.4f} (mean {done.mean:.4f}, maximum {done.most:.4f})"
        )


def _write_package(model: str, out: str | None, *, as_json: bool, quiet: bool) -> None:
    from paraqd.judge_package import package_of, write_judge_package
    from paraqd.model_folder import read_model_folder

    if out is None:
        raise typer.BadParameter("--as-package needs a folder: pass -o DIR")
    folder = write_judge_package(model, out)
    if as_json:
        write_json({"folder": str(folder), "package": package_of(read_model_folder(model)).name})
    elif not quiet:
        say(f"{folder} is ready: pip install {folder}")
