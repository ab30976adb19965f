"""Define the arguments and options that several commands share, and check their values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from paraqd.scoring.decisions import Band
    from paraqd.scoring.scorer import Scorer

_NUMBERS = re.compile(r"(?=.*\d)[-+.,;\d\s]+")
# the panels that group options in the help
FILES, MODELS, OUTPUT, SPEED, TRAINING = "Files", "Models and data", "Output", "Speed", "Training"


class Mode(StrEnum):
    """The way a score is calculated."""

    fused = "fused"
    encoder = "encoder"


class JudgeChoice(StrEnum):
    """The use of the judges."""

    small = "small"
    cascade = "cascade"
    large = "large"


# --- inputs and outputs ---------------------------------------------------------------------------

_TABLE = "a .csv, .tsv, .jsonl (also .gz or .zst), .xlsx or .parquet file, a folder, or - for JSONL on standard input."

PairsInput = Annotated[str, typer.Argument(metavar="IN", help=f"Pairs: {_TABLE}")]
QuestionsInput = Annotated[str, typer.Argument(metavar="IN", help=f"Questions: the name of a data set, {_TABLE}")]
Output = Annotated[
    str,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE|DIR/",
        help="The output: a file, whose extension sets the format, or a folder (with a slash at the end).",
    ),
]
ModelOutput = Annotated[str, typer.Option("--out", "-o", metavar="DIR", help="The model folder to write.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an existing output.")]

QuestionColumn = Annotated[
    str, typer.Option(metavar="NAME", help="The column with the questions.", rich_help_panel=FILES)
]
ParaphraseColumn = Annotated[
    str, typer.Option(metavar="NAME", help="The column with the paraphrases.", rich_help_panel=FILES)
]
ParaphraseColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--paraphrase-column",
        metavar="NAME",
        help="The column with the paraphrases. If each row has several paraphrases, repeat the option, or pass a list "
        "(V1,V2) or a pattern (V*). Default: paraphrase.",
        rich_help_panel=FILES,
    ),
]
LabelColumn = Annotated[
    str, typer.Option(metavar="NAME", help="The column with the labels (1 valid, 0 invalid).", rich_help_panel=FILES)
]
IdColumn = Annotated[
    str, typer.Option(metavar="NAME", help="The column with the questions' identifiers.", rich_help_panel=FILES)
]
Encoding = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The encoding of all text files that are read, such as cp1252. Default: UTF-8.",
        rich_help_panel=FILES,
    ),
]

# --- models and data ------------------------------------------------------------------------------

ModelName = Annotated[
    str | None,
    typer.Option(
        "--model", metavar="NAME|DIR", help="A model folder, or a model from the package: default or reading."
    ),
]
ModeName = Annotated[Mode, typer.Option(help="fused, or encoder for the paper's cosine similarity.")]
JudgeName = Annotated[
    JudgeChoice | None,
    typer.Option(
        "--judge",
        help="small: the small judge alone; cascade: also the language-model judge, for unsure pairs; large: the "
        "language-model judge for every pair. Default: what PARAQD_JUDGE names, or cascade if the package "
        "paraqd-judge-lm is installed.",
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        min=-1,
        max=1,
        help="A pair is valid if its score is above this threshold. Default: the model's threshold (0.5).",
    ),
]
MEASURED = "measured"  # the value of --review without LOW,HIGH
Review = Annotated[
    str | None,
    typer.Option(
        "--review",
        metavar="[LOW,HIGH]",
        help="Add a column decision, which is review if the score lies from LOW to HIGH. Without LOW,HIGH: the band "
        "that was measured for the shipped model, outside which 95 % of the verdicts are right.",
    ),
]
DataDir = Annotated[
    str | None,
    typer.Option(
        envvar="PARAQD_DATA_DIR",
        metavar="DIR",
        help="The folder with the data sets. It is searched before the cache.",
        rich_help_panel=MODELS,
    ),
]
Generators = Annotated[
    list[str] | None,
    typer.Option(
        "--generator",
        metavar="ID=MODEL",
        help="The model for an operator, such as f9=DIR. May be repeated.",
        rich_help_panel=MODELS,
    ),
]
Entities = Annotated[
    str,
    typer.Option(
        metavar="light|spacy",
        help="The way names are recognised: light (without a model) or spacy.",
        rich_help_panel=MODELS,
    ),
]
Device = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The device for the models: cpu or cuda.", rich_help_panel=MODELS),
]
Skip = Annotated[str | None, typer.Option(metavar="NAMES", help="Operators to skip, separated by commas.")]
Seed = Annotated[int, typer.Option(help="The random seed. The same seed yields the same output.")]

# --- messages -------------------------------------------------------------------------------------

Examples = Annotated[
    int,
    typer.Option(min=0, max=3, help="The number of examples to show for each operator.", rich_help_panel=OUTPUT),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.", rich_help_panel=OUTPUT)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only warnings and errors.", rich_help_panel=OUTPUT)]


def names_in(text: str | None) -> list[str] | None:
    """Return the names in a comma-separated list, or None if there is no list.

    >>> names_in("f3, NumberChange,")
    ['f3', 'NumberChange']
    """
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def check_choice(option: str, value: str, choices: Sequence[str]) -> None:
    """Raise a usage error if an option's value is not one of its choices."""
    if value not in choices:
        raise typer.BadParameter(f"{option} {value}: choose one of {', '.join(choices)}")


def checked_threshold(threshold: float | None) -> float | None:
    """Return the value of ``--threshold``, or raise a usage error if it is not a number from -1 to 1."""
    if threshold is not None and not -1 <= threshold <= 1:  # this condition also rejects NaN
        raise typer.BadParameter(f"--threshold {threshold}: choose a number from -1 to 1")
    return threshold


def with_optional_values(arguments: Sequence[str]) -> list[str]:
    """Return command-line arguments in which ``--review`` always has a value.

    ``--review`` takes a value only if two numbers follow, so that the name of a file can follow as well.

    >>> with_optional_values(["score", "--review", "in.csv", "-o", "out.csv"])
    ['score', '--review=measured', 'in.csv', '-o', 'out.csv']
    >>> with_optional_values(["score", "in.csv", "--review", "-0.2,0.8"])
    ['score', 'in.csv', '--review=-0.2,0.8']
    """
    found: list[str] = []
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        if argument == "--":  # only names of files follow
            return [*found, argument, *rest]
        if argument == "--review":
            argument = f"--review={rest.pop(0) if rest and _NUMBERS.fullmatch(rest[0]) else MEASURED}"
        found.append(argument)
    return found


def review_of(value: str | None) -> bool | Band:
    """Return what the value of ``--review`` asks for; raise a usage error if it is not a band."""
    from paraqd.errors import ArgumentError
    from paraqd.scoring.decisions import Band

    if value is None or value == MEASURED:
        return value is not None
    try:
        return Band.parse(value)
    except ArgumentError as error:
        raise typer.BadParameter(f"--review: {error}") from None


def load_scorer(
    model: str | None,
    mode: Mode,
    threshold: float | None,
    *,
    threads: int | None = None,
    skip: bool = True,
    judge: str | None = None,
) -> Scorer:
    """Load the scorer selected with ``--model``, ``--mode``, ``--judge`` and ``--threshold``.

    The default is the shipped model.
    """
    from paraqd.scoring.scorer import Scorer

    chosen = checked_threshold(threshold)
    return Scorer.load(model, mode=mode.value, threshold=chosen, threads=threads, skip=skip, judge=judge)
