"""Train a bi-encoder from a recipe: read or create the pairs, train the model and write the model folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from paraqd.lab.training.bi_encoder import Trained, train_bi_encoder
from paraqd.lab.training.processes import check_shares, join, refuse_several
from paraqd.lab.training.recipe_corpus import TrainingPairs, read_pairs_for_training
from paraqd.lab.training.recipes import BiEncoderRecipe
from paraqd.lab.training.saving import check_out
from paraqd.lab.training.seed_search import search_seed
from paraqd.lab.training.settings import TrainingError
from paraqd.progress import Progress, silent


@dataclass(frozen=True)
class TrainedFromRecipe:
    """A trained model and the pairs on which it was trained."""

    model: Trained
    pairs: TrainingPairs


def train_from_recipe(
    recipe: BiEncoderRecipe,
    out: str | Path,
    *,
    files: Sequence[str | Path] = (),
    seeds: Sequence[int] = (),
    layers: int | None = None,
    device: str | None = None,
    overwrite: bool = False,
    restart: bool = False,
    say: Callable[[str], None] | None = None,
    progress: Progress = silent,
    **reading: Any,
) -> TrainedFromRecipe:
    """Read the pairs, train a bi-encoder and write the model folder.

    Parameters
    ----------
    files : sequence of str or Path
        Files of augmented pairs (default: the recipe's corpus).
    seeds : sequence of int
        Seeds to compare in short training runs. The model is trained with the best seed (default: the recipe's seed).
    say : callable, optional
        A function that receives a line about each compared seed.
    reading : dict
        Further arguments for `recipe_corpus.read_pairs_for_training`.

    The other parameters are explained in `bi_encoder.train_bi_encoder`.

    """
    if seeds:
        refuse_several("--search-seeds")
    crew = join(device)
    check_shares(recipe.settings.batch_size, crew.size)
    crew.by_main(lambda: check_out(Path(out)))
    pairs = crew.main_first(
        lambda: read_pairs_for_training(
            files,
            recipe=recipe.operators,
            questions=recipe.questions,
            seed=recipe.data_seed,
            device=device,
            progress=progress,
            **reading,
        )
    )
    options: dict[str, Any] = {"encoder": recipe.encoder, "layers": layers, "device": device}
    settings = recipe.settings
    if seeds:
        settings = replace(settings, seed=_best_seed(recipe, pairs, Path(out), seeds, say, progress, options))
    model = train_bi_encoder(
        pairs.triplets,
        out,
        settings=settings,
        validation=pairs.validation,
        recipe=pairs.recipe,
        stand_ins=pairs.stand_ins,
        left_out=pairs.left_out,
        overwrite=overwrite,
        restart=restart,
        progress=progress,
        **options,
    )
    return TrainedFromRecipe(model, pairs)


def _best_seed(
    recipe: BiEncoderRecipe,
    pairs: TrainingPairs,
    out: Path,
    seeds: Sequence[int],
    say: Callable[[str], None] | None,
    progress: Progress,
    options: dict[str, Any],
) -> int:
    if pairs.validation is None:
        raise TrainingError("--search-seeds needs validation pairs: pass --validation FILE")
    place = out.with_name(f"{out.name}.seeds")
    found = search_seed(
        pairs.triplets, pairs.validation, place, settings=recipe.settings, seeds=seeds, progress=progress, **options
    )
    for seed, measured in found.tried.items():
        if say is not None:
            say(f"seed {seed}: separation {measured.separation:.3f}" + (" (best)" if seed == found.best else ""))
    return found.best
