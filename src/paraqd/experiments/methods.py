"""Define the methods of the paper, and declarations of trainings with a unique name."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any

from paraqd.training.settings import TrainSettings


@dataclass(frozen=True)
class Method:
    """A method of the paper: the recipe of its training pairs, and True if they get pseudo-labels."""

    name: str
    recipe: str | None = None
    pseudo_labels: bool = False
    in_batch: bool = False


PRETRAINED = Method("Pretrained")
UDA = Method("UDA", "uda", in_batch=True)
UDA_PL = Method("UDA (w pl)", "uda", pseudo_labels=True, in_batch=True)
SSMBA = Method("SSMBA", "ssmba", in_batch=True)
SSMBA_PL = Method("SSMBA (w pl)", "ssmba", pseudo_labels=True, in_batch=True)
PARAQD = Method("ParaQD", "paper")
PUBLIC_CODE = Method("ParaQD, public code", "public-code")
DELETION = Method("ParaQD, f8 deletes", "paper-deletion")
METHODS = (PRETRAINED, UDA, UDA_PL, SSMBA, SSMBA_PL, PARAQD)


@dataclass(frozen=True)
class Training:
    """The declaration of one model: everything that determines its weights.

    Attributes
    ----------
    sources : tuple of str
        Train only on questions whose id starts with one of these (``aqua``); on all of them if empty.
    triplets : int, optional
        Train on this many triplets, drawn at random, so that trainings on different questions have equally many steps.
    trainer : {"paraqd", "fit"}
        paraqd's own trainer, or sentence-transformers' ``fit`` as in the paper's public code.

    """

    method: Method
    encoder: str
    settings: TrainSettings
    layers: int | None = None
    without: str = ""
    questions: int | None = None
    seed_search: bool = False
    sources: tuple[str, ...] = ()
    triplets: int | None = None
    trainer: str = "paraqd"

    @property
    def slug(self) -> str:
        """A short name for files, unique for each training."""
        digest = hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()[:8]
        words = [self.method.name, "search" if self.seed_search else "", f"no-{self.without}" if self.without else ""]
        words += [*self.sources, "" if self.trainer == "paraqd" else self.trainer]
        if self.settings.loss != "triplet" or self.settings.distance != "cosine":
            words.append(self.settings.loss if self.settings.loss != "triplet" else self.settings.distance)
        plain = "-".join("".join(c for c in word.lower() if c.isalnum() or c == "-") for word in words if word)
        return f"{plain}-{digest}"

    def to_dict(self) -> dict[str, Any]:
        """Return the declaration as plain data. Newer fields appear only if used, so that names stay the same."""
        special = {"sources": list(self.sources), "triplets": self.triplets, "trainer": self.trainer}
        usual: dict[str, Any] = {"sources": [], "triplets": None, "trainer": "paraqd"}
        return {
            **{key: value for key, value in special.items() if value != usual[key]},
            "method": self.method.name,
            "encoder": self.encoder,
            "layers": self.layers,
            "without": self.without,
            "questions": self.questions,
            "seed_search": self.seed_search,
            # settings do not matter if nothing is trained
            "settings": None if self.method.recipe is None else self.settings.to_dict(),
        }

    def with_settings(self, **changes: Any) -> Training:
        """Return the same training with other settings."""
        return replace(self, settings=replace(self.settings, **changes))
