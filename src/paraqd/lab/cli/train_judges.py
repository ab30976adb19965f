"""Run the steps of ``paraqd lab train`` for judges and report their results."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from paraqd.cli.console import say, stderr, write_json
from paraqd.cli.progress import Bar
from paraqd.interrupts import EXIT_CODE

if TYPE_CHECKING:
    from paraqd.lab.training.recipes import JudgeRecipe
    from paraqd.lab.training.recipes.solvable import SolvableRecipe


def train_judge(recipe: JudgeRecipe, out: Path, *, large: bool, as_json: bool, quiet: bool, **options: Any) -> None:
    """Train a judge and report the result."""
    from paraqd.lab.training.fused_scorer import train_scorer
    from paraqd.lab.training.language_folder import train_language_judge

    with _bar(quiet=quiet) as bar:
        done = (train_language_judge if large else train_scorer)(recipe, out, progress=bar.update, **options)
    if as_json:
        write_json({"out": str(done.folder), **done.facts})
    elif not quiet and large:
        for name, found in done.facts["validation"].items():
            if figures := found["cascade"]:
                alone = f"the small judge alone {found['small']['macro_f1']:.3f}, {found['small']['auc']:.3f}"
                say(
                    f"validation, {name}: macro F1 {figures['macro_f1']:.3f}, AUC {figures['auc']:.3f} ({alone}); "
                    f"asked about {found['asked']:.0%} of the pairs"
                )
        say(f"{done.folder} is trained; it fits the model {done.facts['cascade']['model']}")
    elif not quiet:
        for name, found in done.facts["validation"].items():
            say(f"validation, {name}: macro F1 {found['macro_f1']:.3f}, AUC {found['auc']:.3f}")
        say(f"{done.folder} is trained; to use it for scoring, export it: paraqd lab export {done.folder} -o DIR")


def prepare_judge(
    recipe: JudgeRecipe,
    out: Path,
    *,
    large: bool,
    as_json: bool,
    quiet: bool,
    overwrite: bool,
    restart: bool,
    work: str | None,
    **options: Any,
) -> None:
    """Create a judge's pairs and tokens and say where they are."""
    from paraqd.lab.training.fused_scorer import prepare_scorer
    from paraqd.lab.training.language_judge import prepare_language_judge
    from paraqd.lab.training.work_folder import work_folder

    place = work_folder(out, work)
    with _bar(quiet=quiet) as bar:
        if large:
            prepare_language_judge(recipe, place, progress=bar.update, **options)
        else:
            prepare_scorer(recipe, place, progress=bar.update, **options)
    _say_place(place, "the pairs and tokens are prepared", as_json=as_json, quiet=quiet)


def train_weights(
    recipe: JudgeRecipe, out: Path, *, as_json: bool, quiet: bool, work: str | None, **options: Any
) -> None:
    """Train the weights of the language-model judge and say where they are."""
    from paraqd.lab.training.language_judge import train_language_weights
    from paraqd.lab.training.work_folder import work_folder

    with _bar(quiet=quiet) as bar:
        kept = {name: options[name] for name in ("device", "restart")}
        folder = train_language_weights(recipe, work_folder(out, work), progress=bar.update, **kept)
    _say_place(folder, "the weights are trained", as_json=as_json, quiet=quiet)


def train_solvable_model(
    recipe: SolvableRecipe,
    out: Path,
    *,
    large: bool,
    prepare_only: bool,
    as_json: bool,
    quiet: bool,
    work: str | None,
    overwrite: bool,
    restart: bool,
    device: str | None,
    **options: Any,
) -> None:
    """Train a model of ``paraqd solvable``, or only prepare the texts and tokens, and report the result."""
    from paraqd.lab.training.solvable_training import prepare_solvable, train_solvable
    from paraqd.lab.training.work_folder import work_folder

    place = work_folder(out, work)
    with _bar(quiet=quiet) as bar:
        if prepare_only:
            prepare_solvable(recipe, place, progress=bar.update, **options)
        else:
            done = train_solvable(
                recipe,
                out,
                large=large,
                work=place,
                device=device,
                overwrite=overwrite,
                restart=restart,
                progress=bar.update,
                **options,
            )
    if prepare_only:
        _say_place(place, "the texts and tokens are prepared", as_json=as_json, quiet=quiet)
    elif as_json:
        write_json({"out": str(done.folder), **done.facts})
    elif not quiet:
        held_out = done.facts["held_out_families"]
        for name, found in done.facts["validation"].items():
            unseen = f" ({done.facts['measured'][name]['auc']:.3f} if held out)" if name in held_out else ""
            say(f"validation, {name}: AUC {found['auc']:.3f}{unseen}")
        use = (
            f"use it with paraqd solvable --model {done.folder}"
            if large
            else f"export it: paraqd lab export {done.folder} -o DIR"
        )
        say(f"{done.folder} is trained; {use if large else 'to use it, ' + use}")


def _say_place(folder: Path, done: str, *, as_json: bool, quiet: bool) -> None:
    if as_json:
        write_json({"work": str(folder)})
    elif not quiet:
        say(f"{folder}: {done}")


@contextmanager
def _bar(*, quiet: bool) -> Iterator[Bar]:
    """Show a progress bar, and end the command if Ctrl-C is pressed."""
    try:
        with Bar(shown=not quiet and stderr().is_terminal) as bar:
            yield bar
    except KeyboardInterrupt:
        say("stopped; run the same command again to continue")
        raise typer.Exit(EXIT_CODE) from None
