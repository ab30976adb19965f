"""Build the resources that a plan requires, and check that the required packages are installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from paraqd import rewriting
from paraqd.extras import EXTRAS, MissingExtraError
from paraqd.lab.generators.language_model import load_language_model
from paraqd.lab.operators import Resources
from paraqd.lab.operators.models.paper import load_paper_generator
from paraqd.lab.operators.plan import AugmentError, Plan, Step
from paraqd.lab.operators.registry import get
from paraqd.lab.operators.wording.vocabulary import Vocabulary
from paraqd.reading.entities import INSTALL_PIPELINE, load_spacy
from paraqd.scoring.torch_encoder import DEFAULT_ENCODER, EncoderError, load_encoder

ENTITY_READERS = ("light", "spacy")
_EXTRA_OF_RESOURCE = {"parser": "augment", "entities": "augment", "encoder": "generate"}
# the modules that operators require from an extra, if they do not require the whole extra
_MODULES = {"generate": ("torch", "transformers")}
_MOST_NAMED = 3  # the maximum number of operators that an error message names


@dataclass(frozen=True)
class ResourceSpec:
    """The settings from which each process builds its resources."""

    entities: str = "light"
    encoder: str = DEFAULT_ENCODER
    generators: Mapping[str, str | None] = field(default_factory=dict)
    device: str | None = None
    vocabulary: Vocabulary | None = None
    language_model: str | None = None


def build_resources(spec: ResourceSpec) -> Resources:
    """Create the resources; each resource is loaded when it is first requested."""
    lazy: dict[str, Callable[[], Any]] = {
        "parser": load_spacy,
        "encoder": partial(load_encoder, spec.encoder, device=spec.device),
    }
    if spec.entities == "spacy":
        lazy["entities"] = _spacy_entities
    for key, model in spec.generators.items():
        lazy[f"generator.{key}"] = partial(load_paper_generator, key, model, device=spec.device)
    if spec.language_model is not None:
        lazy["language_model"] = partial(load_language_model, spec.language_model, device=spec.device)
    given: dict[str, Any] = {} if spec.vocabulary is None else {"vocabulary": spec.vocabulary}
    return Resources(lazy, **given)


def load_models(plan: Plan, resources: Resources) -> Plan:
    """Check a plan's requirements, load its models, and return the plan with the names of the models filled in.

    A missing package or model is therefore reported before the work begins.
    """
    check_needs(plan, entities="spacy" if "entities" in resources else "light")
    resources.get("language_model")  # loaded now if it was asked for
    return replace(plan, steps=tuple(_load_step_models(step, resources) for step in plan.steps))


def _load_step_models(step: Step, resources: Resources) -> Step:
    if not step.models:
        return step
    try:
        loaded = [resources.require(model, needed_by=step.name) for model in step.models]
    except (AugmentError, EncoderError) as error:
        raise AugmentError(f"{step.name}: {error}, or skip this operator with --skip {step.name}") from None
    name = get(step.runs).source_model(resources)
    return replace(
        step,
        source_model=name or step.source_model,
        stand_in=step.stand_in or any(bool(getattr(model, "stand_in", False)) for model in loaded),
    )


# --- needs --------------------------------------------------------------------------------------


def needed_extras(needs: Iterable[str], extras: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the extras that an operator requires for its resources (``needs``) and for its own code (``extras``).

    >>> needed_extras(["encoder", "parser"]), needed_extras(["generator.f9"]), needed_extras(["vocabulary"])
    (('augment', 'generate'), ('generate',), ())
    """
    found = {_EXTRA_OF_RESOURCE.get(need, "generate" if need.startswith("generator.") else "") for need in needs}
    return tuple(sorted({*found, *extras} - {""}))


def missing_packages(extra: str) -> list[str]:
    """Return an extra's packages that operators require and that are not installed."""
    if extra == "augment":
        return rewriting.missing_packages()
    return [name for name in _MODULES.get(extra, EXTRAS[extra]) if importlib.util.find_spec(name) is None]


def check_needs(plan: Plan, *, entities: str = "light") -> None:
    """Raise `MissingExtraError`, naming all missing packages, if a plan requires packages that are not installed."""
    users: dict[str, list[str]] = {}
    for step in plan.steps:
        for extra in needed_extras((*step.needs, *step.models), step.extras):
            users.setdefault(extra, []).append(step.name)
    if entities == "spacy":
        users.setdefault("augment", []).append("--entities spacy")
    missing = {extra: packages for extra in sorted(users) if (packages := missing_packages(extra))}
    if not missing:
        return
    commands = []
    installable = [extra for extra in missing if any(" " not in package for package in missing[extra])]
    if installable:
        commands.append(f"pip install 'paraqd[{','.join(installable)}]'")
    if any(" " in package for packages in missing.values() for package in packages):
        commands.append(INSTALL_PIPELINE)
    listed = ", ".join(package for packages in missing.values() for package in packages)
    names = list(dict.fromkeys(name for extra in missing for name in users[extra]))
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    raise MissingExtraError(
        f"not installed: {listed} (needed by {', '.join(names[:_MOST_NAMED])}{more}); run {' and '.join(commands)}, "
        "or skip these operators with --skip"
    )


def _spacy_entities() -> Any:
    from paraqd.reading.entities import SpacyEntities

    return SpacyEntities(load_spacy())
