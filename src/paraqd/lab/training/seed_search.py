"""Search for a good seed with short training runs on a fraction of the data (Thakur et al., 2021)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paraqd.lab.corpora.triplets import subset
from paraqd.lab.training.bi_encoder import describe, train_bi_encoder
from paraqd.lab.training.encoders import encoder_hash
from paraqd.lab.training.processes import processes
from paraqd.lab.training.settings import TrainingError, TrainSettings
from paraqd.lab.training.validation import Validation
from paraqd.progress import Progress, silent
from paraqd.scoring.torch_encoder import DEFAULT_ENCODER
from paraqd.tables.writers import replace_json

if TYPE_CHECKING:
    from paraqd.lab.corpora.triplets import TripletSet

SEEDS = (0, 1, 2, 3, 4)
SHARE = 0.2  # the fraction of the questions that a short training run uses


@dataclass(frozen=True)
class SeedSearch:
    """The result of a seed search: the validation metrics, keyed by seed."""

    tried: dict[int, Validation]

    @property
    def best(self) -> int:
        """The seed with the largest separation. In a tie, the smallest seed wins."""
        return max(self.tried, key=lambda seed: (self.tried[seed].separation, -seed))


def search_seed(
    triplets: TripletSet,
    validation: TripletSet,
    out: str | Path,
    *,
    settings: TrainSettings,
    seeds: Sequence[int] = SEEDS,
    share: float = SHARE,
    keep: bool = False,
    progress: Progress = silent,
    **options: Any,
) -> SeedSearch:
    """Train a model for each seed on a fraction of the questions, and evaluate every model on ``validation``.

    ``share`` is the fraction. All seeds use the same questions, so only the seed differs. The results are stored in
    ``OUT/seeds.json``, and seeds with stored results are not run again. The models are deleted unless ``keep`` is True.
    ``options`` are passed to `bi_encoder.train_bi_encoder`.
    """
    if not len(validation.triplets):
        raise TrainingError("a seed search needs validation triplets")
    if processes() > 1:
        raise TrainingError(
            "a seed search runs in one process: search for the seed first, then train with --seed in several processes"
        )
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    part = subset(triplets, share, settings.seed)
    record = folder / "seeds.json"
    decisive = {key: value for key, value in options.items() if key in ("encoder", "layers")}
    asked = json.loads(
        json.dumps(
            {
                **settings.to_dict(),
                **decisive,
                "encoder_hash": encoder_hash(options.get("encoder", DEFAULT_ENCODER)),
                "share": share,
                "data": describe(part),
                "validation": describe(validation),
            }
        )
    )
    known: dict[str, Any] = {}
    if record.is_file():
        written = json.loads(record.read_text("utf-8"))
        known = written["seeds"] if written["of"] == asked else {}
    tried: dict[int, Validation] = {}
    for number, seed in enumerate(seeds, start=1):

        def report(
            stage: str,
            done: int,
            total: int | None,
            note: str = "",
            name: str = f"seed {seed} ({number} of {len(seeds)})",
        ) -> None:
            progress(f"{name}: {stage}", done, total, note)

        if str(seed) not in known:
            model = folder / f"seed-{seed}"
            done = train_bi_encoder(
                part,
                model,
                settings=replace(settings, seed=seed),
                validation=validation,
                restart=True,
                progress=report,
                **options,
            )
            assert done.validation is not None
            known[str(seed)] = {key: value for key, value in done.validation.to_dict().items() if key != "separation"}
            replace_json(record, {"of": asked, "seeds": known})
            if not keep:
                shutil.rmtree(model, ignore_errors=True)
        tried[seed] = Validation(**known[str(seed)])
    return SeedSearch(tried)
