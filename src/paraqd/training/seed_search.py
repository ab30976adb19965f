"""The search for a good seed (Thakur et al., 2021): short trainings on a share of the data, judged by validation."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paraqd.data.triplets import subset
from paraqd.data.writers import replace_json
from paraqd.generators.encoder import DEFAULT_ENCODER
from paraqd.training.encoders import encoder_hash
from paraqd.training.processes import processes
from paraqd.training.settings import TrainingError, TrainSettings
from paraqd.training.train import Progress, describe, train
from paraqd.training.validation import Validation

if TYPE_CHECKING:
    from paraqd.data.triplets import TripletSet

SEEDS = (0, 1, 2, 3, 4)
SHARE = 0.2


@dataclass(frozen=True)
class SeedSearch:
    """What each seed reached, and the best of them."""

    tried: dict[int, Validation]

    @property
    def best(self) -> int:
        """The seed with the largest separation; the first where several have it."""
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
    progress: Progress | None = None,
    **options: Any,
) -> SeedSearch:
    """Train once for each seed on a share of the questions and measure each on the validation triplets.

    Every seed sees the same share, so that only the seed differs. Finished seeds stand in ``OUT/seeds.json`` and
    are not run again; models are thrown away unless ``keep``. ``options`` go to `paraqd.training.train.train`.
    """
    if not len(validation.triplets):
        raise TrainingError("the search for a seed needs validation triplets")
    if processes() > 1:
        raise TrainingError("search the seed in one process, then train with the best in several")
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

        def tell(stage: str, done: int, total: int, remark: str, number: int = number, seed: int = seed) -> None:
            if progress is not None:
                progress(f"seed {seed} ({number} of {len(seeds)}): {stage}", done, total, remark)

        if str(seed) not in known:
            model = folder / f"seed-{seed}"
            done = train(
                part,
                model,
                settings=replace(settings, seed=seed),
                validation=validation,
                restart=True,
                progress=tell,
                **options,
            )
            assert done.validation is not None
            known[str(seed)] = {key: value for key, value in done.validation.to_dict().items() if key != "separation"}
            replace_json(record, {"of": asked, "seeds": known})
            if not keep:
                shutil.rmtree(model, ignore_errors=True)
        tried[seed] = Validation(**known[str(seed)])
    return SeedSearch(tried)
