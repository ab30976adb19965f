"""Define the methods that the paper compares, and how a model's training is declared."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any

from paraqd.lab.operators import load_recipe
from paraqd.lab.training.settings import TrainSettings


@dataclass(frozen=True)
class Method:
    """A method for obtaining a model.

    ``recipe`` is the name of the recipe that produces the training pairs, or None if the method uses an untrained
    encoder. If ``pseudo_labels`` is True, an encoder labels the pairs. If ``in_batch`` is True, triplets may use
    in-batch negatives. If ``operators`` is not empty, only the outputs of these operators are used.
    """

    name: str
    recipe: str | None = None
    pseudo_labels: bool = False
    in_batch: bool = False
    operators: tuple[str, ...] = ()


PRETRAINED = Method("Pretrained")
UDA = Method("UDA", "uda", in_batch=True)
UDA_PL = Method("UDA (w pl)", "uda", pseudo_labels=True, in_batch=True)
SSMBA = Method("SSMBA", "ssmba", in_batch=True)
SSMBA_PL = Method("SSMBA (w pl)", "ssmba", pseudo_labels=True, in_batch=True)
PARAQD = Method("ParaQD", "paper")
PUBLIC_CODE = Method("ParaQD, public code", "public-code")
DELETION = Method("ParaQD, f8 deletes", "paper-deletion")
_OURS = (*load_recipe("paper").valid, "ImportantPhraseDeletion", "LastSentenceDeletion")
_ERRORS = ("EntityReplacement", "NumberDeletion", "UnitReplacement")  # f7, f8 and f10
_REPLACING = ("EntitiesOrTopWords", "NumbersOrTopWords", "UnitsOrTopWords")  # the same with the public code's fallback
_WITHOUT_F9 = (*_OURS, *_ERRORS)
FALLBACK_RECIPE = "fallback"  # all operators of the methods below, and the outputs that the public code published
FALLBACKS = (
    Method("without f9", FALLBACK_RECIPE, operators=_WITHOUT_F9),
    Method("f9 replaces top words", FALLBACK_RECIPE, operators=(*_WITHOUT_F9, "TopWordReplacement")),
    Method(
        "f9 replaces top words everywhere", FALLBACK_RECIPE, operators=(*_WITHOUT_F9, "TopWordReplacementEverywhere")
    ),
    Method("f9 paraphrases", FALLBACK_RECIPE, operators=(*_WITHOUT_F9, "LossyParaphrase")),
    Method("as the public code", FALLBACK_RECIPE, operators=(*_OURS, *_REPLACING, "ParaphraseOrTopWords")),
)
PUBLISHED = (
    Method("published outputs", FALLBACK_RECIPE, operators=tuple(f"published f{n}" for n in range(1, 11))),
    Method("published f9, the others ours", FALLBACK_RECIPE, operators=(*_WITHOUT_F9, "published f9")),
)
METHODS = (PRETRAINED, UDA, UDA_PL, SSMBA, SSMBA_PL, PARAQD)


@dataclass(frozen=True)
class Training:
    """The declaration of a model: its method, encoder, settings and choice of training questions.

    The pairs in the run's data folder also determine the weights. They depend, for example, on the stand-ins that were
    available. Models with the same declaration in two runs can therefore differ.

    Attributes
    ----------
    without : str
        The operator whose outputs are omitted, or an empty string to use the outputs of all operators.
    questions : int, optional
        The number of training questions (default: all).
    seed_search : bool
        Choose the seed that is best on validation data.
    sources : tuple of str
        Train only on questions whose ids start with one of these prefixes, such as ``aqua`` (default: all questions).
    triplets : int, optional
        The number of randomly drawn triplets to train on (default: all). With the same number, models trained on
        different questions take the same number of steps.
    more_questions : str
        The name of a data set whose questions are added to the training questions, such as ``em_questions`` (default:
        none).
    trainer : {"paraqd", "fit"}
        Train with paraqd's own trainer or, as in the paper's public code, with sentence-transformers' ``fit``.

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
    more_questions: str = ""

    @property
    def slug(self) -> str:
        """A short unique name for use in file names."""
        digest = hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()[:8]
        words = [self.method.name, "search" if self.seed_search else "", f"no-{self.without}" if self.without else ""]
        words += [*self.sources, self.more_questions, "" if self.trainer == "paraqd" else self.trainer]
        if self.settings.loss != "triplet" or self.settings.distance != "cosine":
            words.append(self.settings.loss if self.settings.loss != "triplet" else self.settings.distance)
        plain = "-".join("".join(c for c in word.lower() if c.isalnum() or c == "-") for word in words if word)
        return f"{plain}-{digest}"

    def to_dict(self) -> dict[str, Any]:
        """Return the declaration as a JSON-serialisable dictionary.

        Fields that were added later appear only if they differ from their defaults, so the slugs of older declarations
        do not change.
        """
        special = {
            "sources": list(self.sources),
            "triplets": self.triplets,
            "trainer": self.trainer,
            "more_questions": self.more_questions,
        }
        usual: dict[str, Any] = {"sources": [], "triplets": None, "trainer": "paraqd", "more_questions": ""}
        return {
            **{key: value for key, value in special.items() if value != usual[key]},
            "method": self.method.name,
            "encoder": self.encoder,
            "layers": self.layers,
            "without": self.without,
            "questions": self.questions,
            "seed_search": self.seed_search,
            # the settings have no effect if nothing is trained
            "settings": None if self.method.recipe is None else self.settings.to_dict(),
        }

    def with_settings(self, **changes: Any) -> Training:
        """Return a copy of the declaration with the given settings changed."""
        return replace(self, settings=replace(self.settings, **changes))
