"""Train the language-model judge from a recipe.

There are three steps, and each can run on another machine that has the work folder:

1. Preparation creates the pairs, cuts the vocabulary, tokenises the pairs and asks the small judge about the validation
   pairs. It needs the data sets.
2. Training produces the weights. It needs only the folder ``language`` in the work folder and the language model.
3. Finishing exports the weights, fits the cascade and writes the model folder; see `language_folder`.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.data.datasets import find, load_questions, state
from paraqd.data.faulty_pairs import read_faults
from paraqd.data.tables import open_table
from paraqd.data.writers import replace_json, replacing
from paraqd.generators.runtime import pick_device, quiet, require_extra
from paraqd.model_folder import TOKENIZER_FILE
from paraqd.progress import Progress, silent
from paraqd.scoring.judge.language_model import LONGEST
from paraqd.training.cascade_fitting import (
    FirstOpinions,
    SmallScorer,
    first_opinions,
    read_opinions,
    write_opinions,
)
from paraqd.training.judge_tokens import JudgeTokens, join_tokens, read_tokens, repeat_questions
from paraqd.training.judge_training import DrawRows, judge_scores, train_judge
from paraqd.training.language_teacher import FOLDER, ODDS, PREPARED, WEIGHTS
from paraqd.training.language_weights import (
    base_path,
    cut_tokenizer,
    load_cut_base,
    load_weights,
    replace_weights,
    save_weights,
    source_digest,
    source_files,
    start_folder,
    wrap_tokenizer,
)
from paraqd.training.pair_files import MANIFEST, PairFiles, pair_settings
from paraqd.training.processes import refuse_several
from paraqd.training.quantisation_aware import start_rounding
from paraqd.training.recipes import JudgeRecipe
from paraqd.training.settings import LanguageJudgeSettings, TrainingError
from paraqd.training.torch_state import reproducible
from paraqd.training.vocabulary import count_tokens
from paraqd.training.work_folder import begin_training, recipe_pairs, store_tokens, token_digest


@dataclass(frozen=True)
class Prepared:
    """The prepared tokens of a language-model judge.

    ``old_ids`` are the ids that the tokens of the cut vocabulary have in the language model. They are empty if the
    vocabulary belongs to an earlier judge.
    """

    folder: Path
    train: Mapping[str, Path]
    validation: Mapping[str, Path]
    old_ids: tuple[int, ...]
    facts: Mapping[str, Any]  # facts about the vocabulary for ``paraqd.json``

    @property
    def tokenizer_file(self) -> Path:
        """The file of the cut tokenizer."""
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
    settings, scorer = language_settings(recipe), SmallScorer.load(small)
    prepared = find_prepared(recipe, work)
    if prepared is None:
        source_files(settings.model, settings.start)  # a missing model is reported before the pairs are created
    opinions = _opinions_file(work, scorer)
    if prepared is None or not opinions.is_file():
        files = recipe_pairs(recipe, work, data_dir=data_dir, progress=progress, **options)
        prepared = prepared or _prepare_tokens(recipe, files, work, data_dir, progress)
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
        {name: folder / "tokens" / file for name, file in stored[part].items()} for part in ("train", "validation")
    )
    if not all(path.is_file() for path in (*train.values(), *validation.values())):
        return None
    return Prepared(folder, train, validation, tuple(stored["old_ids"]), stored["vocabulary"])


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
    prepared, settings = find_prepared(recipe, work), language_settings(recipe)
    if prepared is None:
        raise TrainingError(f"{work} has no prepared tokens for this recipe: run the command with --prepare-only first")
    parts = {name: read_tokens(path) for name, path in prepared.train.items()}
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
        tokens = join_tokens([repeat_questions(parts.pop(name)) for name in list(parts)])  # frees the parts
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
            odds[name] = judge_scores(judge, repeat_questions(read_tokens(path)), device=device)
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
    settings, data = language_settings(recipe), recipe.data
    return {
        **pair_settings(data),
        "train": {name: asdict(each) for name, each in data.train.items()},
        "validation": {name: asdict(each) for name, each in data.validation.items()},
        "start": _name(settings.start) if settings.start else "",
        "least_count": settings.least_count,
        "texts": settings.texts,
    }


def _prepare_tokens(
    recipe: JudgeRecipe, files: PairFiles, work: Path, data_dir: str | Path | None, progress: Progress
) -> Prepared:
    """Cut the vocabulary and tokenise all pairs."""
    settings, folder = language_settings(recipe), work / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with quiet():
        tokenizer, old_ids, facts = _vocabulary(settings, files, data_dir, progress)
        tokenizer.save(str(folder / TOKENIZER_FILE))
        wrapped = wrap_tokenizer(tokenizer)
        stored: dict[str, dict[str, Path]] = {"train": {}, "validation": {}}
        for part, paths in (("train", files.train), ("validation", files.validation)):
            for name, path in paths.items():
                weight = recipe.data.train[name].weight if part == "train" else 1.0
                stored[part][name] = store_tokens(
                    path, wrapped, folder / "tokens", weight, max_length=LONGEST, progress=progress
                )
    manifest = json.loads((work / "pairs" / MANIFEST).read_text("utf-8"))
    replace_json(
        folder / PREPARED,
        {
            "recipe": _identity(recipe),
            "pairs": manifest,
            **{part: {name: path.name for name, path in found.items()} for part, found in stored.items()},
            "vocabulary": facts,
            "old_ids": old_ids,
        },
    )
    return Prepared(folder, stored["train"], stored["validation"], tuple(old_ids), facts)


def _vocabulary(
    settings: LanguageJudgeSettings, files: PairFiles, data_dir: str | Path | None, progress: Progress
) -> tuple[Any, list[int], dict[str, Any]]:
    """Return the tokenizer, the old ids of its tokens, and the facts about the vocabulary."""
    from tokenizers import Tokenizer

    if settings.start:
        tokenizer = Tokenizer.from_file(str(start_folder(settings.start) / TOKENIZER_FILE))
        return tokenizer, [], {"tokens": tokenizer.get_vocab_size(), "from": _name(settings.start)}
    progress("cutting the vocabulary", 0, None)
    whole = _base_tokenizer(settings.model)
    counts = count_tokens(whole, _pair_texts(files))
    used = []
    for name in settings.texts:
        if state(name, data_dir, check=False).where != "missing":
            used.append(name)
            for token, count in count_tokens(whole, _data_texts(name, data_dir)).items():
                counts[token] = counts.get(token, 0) + count
    tokenizer, old_ids = cut_tokenizer(whole, counts, settings.least_count)
    return tokenizer, old_ids, {"tokens": len(old_ids), "least_count": settings.least_count, "texts": used}


def _base_tokenizer(model: str) -> Any:
    """Return a language model's `tokenizers.Tokenizer`, without loading the weights."""
    from transformers import AutoTokenizer

    path = base_path(model)
    if path.is_dir():
        return AutoTokenizer.from_pretrained(str(path), local_files_only=True).backend_tokenizer
    require_extra(("torch", "transformers", "gguf"))
    return AutoTokenizer.from_pretrained(str(path.parent), gguf_file=path.name).backend_tokenizer


def _pair_texts(files: PairFiles) -> Iterator[str]:
    """Yield each text of the training pairs once."""
    seen: set[int] = set()  # hashes, because the texts of all pairs would need much memory
    for path in files.train.values():
        for pair in read_faults(path):
            for text in (pair.question, pair.paraphrase):
                if (key := hash(text)) not in seen:
                    seen.add(key)
                    yield text


def _data_texts(name: str, data_dir: str | Path | None) -> Iterator[str]:
    """Yield the texts of a data set of questions or of paraphrases."""
    path = find(name, data_dir)
    if name == "general_paraphrases":
        for row in open_table(path).rows():
            yield str(row["a"])
            yield str(row["b"])
        return
    for row in load_questions(name, data_dir=data_dir):
        yield str(row["question"])


def _untrained(settings: LanguageJudgeSettings, prepared: Prepared) -> Any:
    """Return the judge with which training starts."""
    from tokenizers import Tokenizer

    if not settings.start:
        return load_cut_base(settings.model, Tokenizer.from_file(str(prepared.tokenizer_file)), prepared.old_ids)
    start = start_folder(settings.start)
    if (start / TOKENIZER_FILE).read_bytes() != prepared.tokenizer_file.read_bytes():
        raise TrainingError(f"{start} has another vocabulary than the prepared tokens: prepare them again")
    return load_weights(start)


def _name(model: str) -> str:
    return Path(model).name if Path(model).exists() else model
