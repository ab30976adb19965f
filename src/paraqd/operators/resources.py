"""What operators may ask for, built in each process when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

from paraqd.generators.encoder import DEFAULT_ENCODER, EncoderError, load_encoder
from paraqd.operators import Resources
from paraqd.operators.models.paper import load_paper_generator
from paraqd.operators.plan import AugmentError, Plan, Step
from paraqd.operators.registry import get
from paraqd.operators.wording.vocabulary import Vocabulary

ENTITY_READERS = ("light", "spacy")


@dataclass(frozen=True)
class ResourceSpec:
    """Everything a process needs to know to build the resources; small, and sent to each worker."""

    entities: str = "light"
    encoder: str = DEFAULT_ENCODER
    generators: Mapping[str, str | None] = field(default_factory=dict)
    device: str | None = None
    vocabulary: Vocabulary | None = None


def build_resources(spec: ResourceSpec) -> Resources:
    """Return resources that are made at the first request."""
    lazy: dict[str, Callable[[], Any]] = {
        "parser": _parser,
        "encoder": partial(load_encoder, spec.encoder, device=spec.device),
    }
    if spec.entities == "spacy":
        lazy["entities"] = _spacy_entities
    for key, model in spec.generators.items():
        lazy[f"generator.{key}"] = partial(load_paper_generator, key, model, device=spec.device)
    given: dict[str, Any] = {} if spec.vocabulary is None else {"vocabulary": spec.vocabulary}
    return Resources(lazy, **given)


def load_models(plan: Plan, resources: Resources) -> Plan:
    """Load every model of the plan now, so that a missing one is said before any work is done.

    Returns the plan with the models' names, and whether they stand in, in its steps.
    """
    return replace(plan, steps=tuple(_with_models(step, resources) for step in plan.steps))


def _with_models(step: Step, resources: Resources) -> Step:
    if not step.models:
        return step
    try:
        loaded = [resources.require(model, needed_by=step.name) for model in step.models]
    except (AugmentError, EncoderError) as error:
        raise AugmentError(f"{step.name}: {error}, or leave it out with --skip {step.name}") from None
    name = get(step.runs).source_model(resources)
    return replace(
        step,
        source_model=name or step.source_model,
        stand_in=step.stand_in or any(bool(getattr(model, "stand_in", False)) for model in loaded),
    )


@cache
def _parser() -> Any:
    from paraqd.reading.entities import load_spacy

    return load_spacy()


def _spacy_entities() -> Any:
    from paraqd.reading.entities import SpacyEntities

    return SpacyEntities(_parser())
