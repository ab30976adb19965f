"""Train the language-model judge from a recipe.

There are three steps, and each can run on another machine that has the work folder:

1. Preparation creates the pairs, tokenises them and asks the small judge about the validation pairs. It needs the data
   sets.
2. Training produces the weights. It needs only the folders ``language`` and ``tokens`` in the work folder and the
   language model.
3. Finishing exports the weights, fits the cascade and writes the model folder; see `language_folder`.

Both judges read the same tokens.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.lab.corpora.faulty_pairs import read_faults
from paraqd.lab.training.cascade_fitting import (
    FirstOpinions,
    SmallScorer,
    first_opinions,
    read_opinions,
    write_opinions,
)
from paraqd.lab.training.judge_tokens import JudgeTokens, join_tokens, read_tokens
from paraqd.lab.training.judge_training import DrawRows, judge_scores, train_judge
from paraqd.lab.training.language_teacher import FOLDER, ODDS, PREPARED, WEIGHTS
from paraqd.lab.training.language_weights import (
    load_base,
    load_weights,
    replace_weights,
    save_weights,
    source_digest,
    source_files,
    start_folder,
)
from paraqd.lab.training.pair_files import MANIFEST, PairFiles, pair_settings
from paraqd.lab.training.processes import refuse_several
from paraqd.lab.training.quantisation_aware import start_rounding
from paraqd.lab.training.recipes import JudgeRecipe
from paraqd.lab.training.sampled_pairs import without_sampled
from paraqd.lab.training.settings import LanguageJudgeSettings, TrainingError
from paraqd.lab.training.torch_state import reproducible
from paraqd.lab.training.work_folder import TOKENS, begin_training, recipe_pairs, store_all_tokens, token_digest
from paraqd.model_folder import TOKENIZER_FILE
from paraqd.model_runtime import pick_device, quiet, require_extra
from paraqd.progress import Progress, silent
from paraqd.scoring.torch_encoder import encoder_folder
from paraqd.tables.writers import replace_json, replacing


@dataclass(frozen=True)
class Prepared:
    """The prepared tokens: a file for each set of pairs, and the tokenizer's file."""

    folder: Path
    train: Mapping[str, Path]
    validation: Mapping[str, Path]

    @property
    def tokenizer_file(self) -> Path:
        """The file of the tokenizer."""
        return self.folder / TOKENIZER_FILE


def language_settings(recipe: JudgeRecipe) -> LanguageJudgeSettings:
    """Return a recipe's settings for the language-model judge."""
    if recipe.language_judge is None:
        raise TrainingError(f"the recipe {recipe.name} has no section language_judge: it trains only a small judge")
    unknown = sorted(set(recipe.language_judge.shares) - set(recipe.data.train))
    if unknown:
        raise TrainingError(f"language_judge.shares: there is no training set {unknown[0]!r} in the recipe")
    return recipe.language_judge


def prepare_language_judge(
    recipe: JudgeRecipe,
    work: Path,
    *,
    small: str | Path = "default",
    data_dir: str | Path | None = None,
    progress: Progress = silent,
    **options: Any,
) -> Prepared:
    """Create everything that training and finishing need in the work folder. Existing results are kept.

    ``small`` is the scorer to which the judge will be fitted. ``options`` are passed to `work_folder.recipe_pairs`.
    """
    recipe, settings, scorer = without_sampled(recipe), language_settings(recipe), SmallScorer.load(small)
    prepared = find_prepared(recipe, work)
    if prepared is None:
        source_files(settings.model, settings.start)  # a missing model is reported before the pairs are created
    opinions = _opinions_file(work, scorer)
    if prepared is None or not opinions.is_file():
        files = recipe_pairs(recipe, work, data_dir=data_dir, progress=progress, **options)
        prepared = prepared or _prepare_tokens(recipe, files, work, progress)
        if not opinions.is_file():
            found = {
                name: first_opinions(scorer, list(read_faults(path)), name=name, progress=progress)
                for name, path in files.validation.items()
            }
            write_opinions(found, opinions)
    return prepared


def find_prepared(recipe: JudgeRecipe, work: Path) -> Prepared | None:
    """Return the prepared tokens in a work folder, or None if they are missing or belong to another recipe."""
    folder, manifest = work / FOLDER, work / "pairs" / MANIFEST
    if not (folder / PREPARED).is_file():
        return None
    stored = json.loads((folder / PREPARED).read_text("utf-8"))
    if stored["recipe"] != json.loads(json.dumps(_identity(recipe))):
        return None
    if manifest.is_file() and json.loads(manifest.read_text("utf-8")) != stored["pairs"]:
        return None
    train, validation = (
        {name: work / TOKENS / file for name, file in stored[part].items()} for part in ("train", "validation")
    )
    if not all(path.is_file() for path in (*train.values(), *validation.values())):
        return None
    return Prepared(folder, train, validation)


def train_language_weights(
    recipe: JudgeRecipe, work: Path, *, device: str | None = None, restart: bool = False, progress: Progress = silent
) -> Path:
    """Train the judge on prepared tokens, and return the folder of the weights. Finished weights are reused.

    Raises
    ------
    TrainingError
        If the tokens are not prepared, or if there is an unfinished run with other settings and ``restart`` is False.

    """
    require_extra(("torch", "transformers"))
    refuse_several("the training of a judge")
    recipe = without_sampled(recipe)
    prepared, settings = find_prepared(recipe, work), language_settings(recipe)
    if prepared is None:
        raise TrainingError(f"{work} has no prepared tokens for this recipe: run the command with --prepare-only first")
    parts = training_parts(recipe, prepared)
    facts = training_facts(recipe, parts)
    # the same language model may have another path on another machine
    facts = {name: value for name, value in facts.items() if name not in ("base", "start")}
    begin_training(prepared.folder, facts, restart=restart, results=("checkpoints", WEIGHTS))
    weights = prepared.folder / WEIGHTS
    if (weights / ODDS).is_file():  # this file is written last
        return weights
    device = pick_device(device)
    checkpoints = prepared.folder / "checkpoints"
    with quiet(), reproducible(settings.training.seed):
        judge = _untrained(settings, prepared)
        sizes = {name: len(part) for name, part in parts.items()}
        tokens = join_tokens(list(parts.values()))
        parts.clear()
        train_judge(
            judge,
            tokens,
            settings=settings.training,
            device=device,
            draw=draw_rows(sizes, settings.shares, settings.pairs),
            checkpoints=checkpoints,
            stage="language-model judge",
            progress=progress,
        )
        # the validation pairs are judged with the stored weights, which are exported later
        replace_weights(judge, save_weights(judge, prepared.tokenizer_file, weights))
        start_rounding(judge)
        odds = {}
        for name, path in prepared.validation.items():
            progress(f"validation: {name}", 0, None)
            odds[name] = judge_scores(judge, read_tokens(path), device=device)
    with replacing(weights / ODDS) as temporary, open(temporary, "wb") as file:
        np.savez(file, **odds)  # type: ignore[arg-type]  # the names of sets are not those of parameters
    shutil.rmtree(checkpoints, ignore_errors=True)
    return weights


def draw_rows(sizes: Mapping[str, int], shares: Mapping[str, float], pairs: int) -> DrawRows:
    """Return a function that draws the rows of an epoch from sets that are joined in the given order.

    From a set with a share, this share of ``pairs`` is drawn; if the share is 0, the set is left out. Other sets are
    used whole.

    >>> rows = draw_rows({"a": 2, "b": 100}, {"b": 0.3}, 10)(np.random.default_rng(1))
    >>> rows[:2].tolist(), len(rows), bool(rows[2:].min() >= 2)
    ([0, 1], 5, True)
    """

    def draw(rng: np.random.Generator) -> NDArray[np.int64]:
        found, start = [np.zeros(0, dtype=np.int64)], 0
        for name, size in sizes.items():
            rows = np.arange(start, start + size)
            if name in shares:
                size_drawn = max(1, int(shares[name] * pairs)) if shares[name] else 0
                rows = rng.choice(rows, min(size, size_drawn), replace=False)
            found.append(rows)
            start += size
        return np.concatenate(found)

    return draw


def training_parts(recipe: JudgeRecipe, prepared: Prepared) -> dict[str, JudgeTokens]:
    """Return the tokens of the training sets from which the judge learns: all sets whose share is not 0."""
    shares = language_settings(recipe).shares
    return {name: read_tokens(path) for name, path in prepared.train.items() if shares.get(name) != 0}


def training_facts(recipe: JudgeRecipe, parts: Mapping[str, JudgeTokens]) -> dict[str, Any]:
    """Return the facts that determine the weights."""
    settings = language_settings(recipe)
    return {
        "recipe": recipe.name,
        "base": _name(settings.model),
        "start": _name(settings.start) if settings.start else "",
        "source_sha256": source_digest(settings.model, settings.start),
        "settings": asdict(settings.training),
        "pairs": settings.pairs,
        "shares": dict(settings.shares),
        "data": {name: {"pairs": len(part), "sha256": token_digest(part)} for name, part in parts.items()},
    }


def validation_odds(work: Path) -> dict[str, NDArray[np.float32]]:
    """Return the judge's log-odds for the validation pairs, keyed by set."""
    with np.load(work / FOLDER / WEIGHTS / ODDS, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def small_opinions(work: Path, small: SmallScorer) -> dict[str, FirstOpinions]:
    """Return what the rules and the small judge say about the validation pairs."""
    return read_opinions(_opinions_file(work, small))


def _opinions_file(work: Path, small: SmallScorer) -> Path:
    return work / FOLDER / f"opinions-{small.name.rpartition('@')[2]}.json.gz"


def _identity(recipe: JudgeRecipe) -> dict[str, Any]:
    """Return the values of a recipe that determine the prepared tokens."""
    data = recipe.data
    return {
        **pair_settings(data),
        "train": {name: asdict(each) for name, each in data.train.items()},
        "validation": {name: asdict(each) for name, each in data.validation.items()},
        "encoder": recipe.encoder,
    }


def _prepare_tokens(recipe: JudgeRecipe, files: PairFiles, work: Path, progress: Progress) -> Prepared:
    """Tokenise all pairs, unless the small judge's tokens are in the work folder."""
    folder = work / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    stored = store_all_tokens(recipe, files, work, progress=progress)
    shutil.copyfile(encoder_folder(recipe.encoder) / TOKENIZER_FILE, folder / TOKENIZER_FILE)
    manifest = json.loads((work / "pairs" / MANIFEST).read_text("utf-8"))
    names = {part: {name: path.name for name, path in found.items()} for part, found in asdict(stored).items()}
    replace_json(folder / PREPARED, {"recipe": _identity(recipe), "pairs": manifest, **names})
    return Prepared(folder, stored.train, stored.validation)


def _untrained(settings: LanguageJudgeSettings, prepared: Prepared) -> Any:
    """Return the judge with which training starts."""
    from tokenizers import Tokenizer

    if not settings.start:
        return load_base(settings.model, Tokenizer.from_file(str(prepared.tokenizer_file)))
    start = start_folder(settings.start)
    vocabularies = [
        Tokenizer.from_file(str(path)).get_vocab() for path in (start / TOKENIZER_FILE, prepared.tokenizer_file)
    ]
    if vocabularies[0] != vocabularies[1]:
        raise TrainingError(f"{start} has another vocabulary than the encoder: start from another folder")
    return load_weights(start)


def _name(model: str) -> str:
    return Path(model).name if Path(model).exists() else model
