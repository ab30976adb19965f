"""``paraqd export``: a trained model in the form that scores without torch."""

from __future__ import annotations

import typer

from paraqd.cli.console import say, write_json

EXAMPLE = "Example: paraqd export models/first -o models/first-small"
_CHECKED = 300


def export(
    model: str = typer.Argument(..., metavar="FOLDER", help="A model folder that paraqd train made."),
    out: str | None = typer.Option(None, "--out", "-o", help="Where to write it; into the folder itself unless given."),
    bits: int = typer.Option(8, "--bits", help="Bits of a weight: 8, 16 or 32."),
    check: str | None = typer.Option(
        None, "--check", help="Pairs to compare scores on; 300 of the bundled benchmark unless given."
    ),
    most_moved: float | None = typer.Option(
        None,
        "--most-moved",
        help="Refuse where more than one score in a hundred moves further: 0.02 unless given, 0.05 for a judge.",
    ),
    as_json: bool = typer.Option(False, "--json", help="What was done as JSON."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No report."),
) -> None:
    """Turn a trained model into an ONNX graph with small weights, which paraqd score loads without torch.

    Scores are compared with those of the full weights; where one moves too far nothing is written.
    """
    from paraqd.data.datasets import load_pairs
    from paraqd.data.tables import TableError, open_table
    from paraqd.training.export import export_model

    if check is not None:
        table = open_table(check)
        if not {"question", "paraphrase"} <= set(table.columns):
            raise TableError(f"{check} has no columns question and paraphrase (it has: {', '.join(table.columns)})")
        pairs = [(str(row["question"]), str(row["paraphrase"])) for row in table.rows(["question", "paraphrase"])]
    else:
        pairs = [(pair.question, pair.paraphrase) for pair in load_pairs("awp-variants")[:_CHECKED]]
    done = export_model(model, out or model, pairs=pairs, bits=bits, most_moved=most_moved)
    if as_json:
        write_json(done.to_dict())
    elif not quiet:
        say(
            f"{done.folder} is ready: {done.kind}, {done.megabytes:.1f} MB; of {done.pairs} scores 99 in a "
            f"hundred moved by less than {done.nearly_all:.4f} (mean {done.mean:.4f}, most {done.most:.4f})"
        )
