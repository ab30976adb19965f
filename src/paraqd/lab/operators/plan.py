"""Turn a recipe into a plan, with stand-ins for unavailable models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from paraqd.errors import ParaqdError
from paraqd.lab.operators import Recipe, UnknownOperatorError, get, load_recipe
from paraqd.lab.operators.models.paper import PAPER_MODELS
from paraqd.lab.operators.registry import BUILTIN, base_name

if TYPE_CHECKING:
    from paraqd.lab.operators import Operator

_TRAINED_MODEL = "generator"  # the stand-in is a model that the user trains
_PREFIX = "generator."  # the prefix of every resource that is a generator


class AugmentError(ParaqdError, ValueError):
    """Raised when the settings of an augmentation run cannot be used."""


@dataclass(frozen=True)
class Step:
    """A step of a plan, which applies one operator.

    ``name``, ``paper_id`` and ``label`` are written next to the outputs. ``runs`` is the name of the operator that
    produces the outputs. It differs from ``name`` if a rule operator stands in for a model operator. ``models`` lists
    the required resources that are models. A step with models runs in a single process, in batches. ``extras`` lists
    the extras that the operator's own code requires.
    """

    name: str
    paper_id: str
    label: int
    runs: str
    needs: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    stand_in: bool = False
    source_model: str = ""

    @property
    def generators(self) -> tuple[str, ...]:
        """The keys of the step's generators, such as ``f9``."""
        return tuple(name.removeprefix(_PREFIX) for name in self.models if name.startswith(_PREFIX))


@dataclass(frozen=True)
class Plan:
    """The steps of a recipe, in order.

    ``left_out`` maps the name of each skipped operator to the reason. ``generators`` maps the key of each required
    generator, such as ``f9``, to the folder or name of its model, or to None for the paper's model.
    """

    recipe: str
    steps: tuple[Step, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)
    generators: Mapping[str, str | None] = field(default_factory=dict)

    def needs(self, resource: str) -> bool:
        """Return True if any step requires the resource."""
        return any(resource in step.needs for step in self.steps)


def make_plan(
    recipe: str | Path | Recipe,
    *,
    operators: Sequence[str] | None = None,
    skip: Sequence[str] = (),
    stand_ins: bool = False,
    generators: Mapping[str, str] | None = None,
) -> Plan:
    """Create a plan from a recipe.

    ``operators`` replaces the recipe's operators, and the operators in ``skip`` are omitted. ``generators`` maps keys
    to model folders or names: ``{"f9": "pegasus-paws/"}``. A model operator whose model is not in ``generators`` uses
    the paper's model or, if ``stand_ins`` is True, the stand-in that the recipe or the operator declares.

    >>> plan = make_plan("paper", operators=["f1", "NumToWords"], stand_ins=True)
    >>> [(step.name, step.runs, step.stand_in) for step in plan.steps]
    [('Backtranslation', 'RewriteKeepingVoice', True), ('NumToWords', 'NumToWords', False)]
    """
    loaded = recipe if isinstance(recipe, Recipe) else load_recipe(recipe)
    if operators is not None and not operators:
        raise AugmentError("--operators is empty; run `paraqd lab operators` to list the operators")
    chosen = list(dict.fromkeys(_full_name(name) for name in (loaded.operators if operators is None else operators)))
    skipped = _skipped(skip, chosen)
    given = _checked_generators(generators or {})
    steps: list[Step] = []
    left_out: dict[str, str] = {}
    used: dict[str, str | None] = {}
    for name in chosen:
        if name in skipped:
            continue
        operator = _find(name)
        if operators is None and loaded.valid and (operator.polarity == "valid") != (name in loaded.valid):
            listed = "valid" if name in loaded.valid else "invalid"
            raise AugmentError(
                f"the recipe {loaded.name} lists {name} as {listed}, but {name} produces {operator.polarity} pairs"
            )
        missing = [need for need in _generators_needed(operator) if need not in given]
        if stand_ins and missing:
            step = _with_stand_ins(operator, given, loaded, left_out)
        else:
            step = _step(operator, operator, given)
            # fa can use rules instead of the paper's model
            if _stand_in(operator, loaded) == name and not step.models:
                step = replace(step, stand_in=True, source_model="rules")
        if step is not None:
            steps.append(step)
            used |= {key: given.get(key) for key in step.generators}
    if not steps:
        reasons = "; ".join(f"{name}: {why}" for name, why in left_out.items())
        raise AugmentError(f"no operator is left to apply{f' ({reasons})' if reasons else ''}")
    name = "custom" if operators else loaded.name
    return Plan(recipe=name, steps=tuple(steps), left_out=left_out, generators=used)


def _full_name(name: str) -> str:
    """Return the name of an operator that is specified by its name or paper id."""
    return name if all(part in BUILTIN for part in name.split("+")) else _find(name).name


def _find(name: str) -> Operator:
    try:
        return get(name)
    except UnknownOperatorError:
        raise
    except ValueError as error:  # a composition whose first operator is invalid
        raise AugmentError(f"{name}: {error}") from None


def _skipped(skip: Sequence[str], chosen: Sequence[str]) -> set[str]:
    names = {_full_name(name) for name in skip}
    unknown = sorted(names - set(chosen))
    if unknown:
        raise AugmentError(f"--skip {unknown[0]}: not among the operators ({', '.join(chosen)})")
    return names


def _checked_generators(generators: Mapping[str, str]) -> dict[str, str]:
    """Return the generators that the user passed, or raise `AugmentError` if a key is wrong."""
    for key, model in generators.items():
        parts = [name for name in PAPER_MODELS if name.startswith(f"{key}.")]
        if parts:
            options = " and ".join(f"--generator {part}=MODEL" for part in parts)
            raise AugmentError(f"--generator {key}={model}: {key} needs {len(parts)} models; pass {options}")
        if key not in PAPER_MODELS:
            known = ", ".join(PAPER_MODELS)
            raise AugmentError(f"--generator {key}={model}: unknown generator; choose one of {known}")
    return dict(generators)


def _stand_in(operator: Operator, recipe: Recipe) -> str | None:
    """Return the stand-in that the recipe sets for an operator, or else the stand-in that the operator declares."""
    return recipe.stand_ins.get(base_name(operator.name), operator.stand_in)


def rules_stand_in(name: str, recipe: Recipe) -> bool:
    """Return True if an operator requires no generator when ``--stand-ins`` is set.

    >>> rules_stand_in("Backtranslation", load_recipe("paper")), rules_stand_in("T5Paraphrase", load_recipe("test"))
    (True, False)
    """
    parts = [get(part) for part in name.split("+")]
    return all(_stand_in(part, recipe) not in {None, _TRAINED_MODEL} for part in parts if _generators_needed(part))


def _generators_needed(operator: Operator) -> list[str]:
    return [need.removeprefix(_PREFIX) for need in operator.needs if need.startswith(_PREFIX)]


def _step(named: Operator, runs: Operator, given: Mapping[str, str]) -> Step:
    """Create a step that applies the operator ``runs`` and attributes the outputs to the operator ``named``."""
    if named.polarity != runs.polarity:
        raise AugmentError(f"{runs.name} ({runs.polarity}) cannot stand in for {named.name} ({named.polarity})")
    models = [need for need in runs.needs if need == "encoder" or need.startswith(_PREFIX)]
    # add the models that the user passed for an operator that also works without them (fa)
    paper_ids = {get(part).paper_id for part in runs.name.split("+")}
    models += [f"{_PREFIX}{key}" for key in given if key.partition(".")[0] in paper_ids]
    return Step(
        name=named.name,
        paper_id=named.paper_id or "",
        label=1 if named.polarity == "valid" else 0,
        runs=runs.name,
        needs=tuple(dict.fromkeys(runs.needs)),
        models=tuple(dict.fromkeys(models)),
        extras=tuple(dict.fromkeys(runs.extras)),
        stand_in=runs.name != named.name,
        source_model="" if runs.name == named.name else runs.name,
    )


def _with_stand_ins(
    operator: Operator, given: Mapping[str, str], recipe: Recipe, left_out: dict[str, str]
) -> Step | None:
    """Create a step in which rule operators stand in for the parts of a composition whose models are missing.

    If no rule operator can stand in for such a part, record the reason in ``left_out`` and return None.
    """
    parts = []
    for name in operator.name.split("+"):
        part, base = get(name), base_name(name)
        missing = [need for need in _generators_needed(part) if need not in given]
        stand_in = _stand_in(part, recipe)
        if not missing:
            parts.append(name)
        elif stand_in is None or stand_in == _TRAINED_MODEL:
            how = " ".join(f"--generator {key}=DIR" for key in missing)
            if stand_in is not None:
                how += f"; train one with `paraqd lab generator train {missing[0]} --out DIR`"
            left_out[operator.name] = f"no stand-in model was passed ({how})"
            return None
        else:
            parts.append(stand_in + name.removeprefix(base))
    return _step(operator, get("+".join(parts)), given)


def models_in(given: Sequence[str] | None) -> dict[str, str]:
    """Return the models passed with ``--generator``, keyed by operator.

    >>> models_in(["f9=models/f9"])
    {'f9': 'models/f9'}
    """
    models = {}
    for item in given or ():
        key, sign, model = item.partition("=")
        if not sign or not key.strip() or not model.strip():
            raise AugmentError(f"--generator {item}: write it as ID=MODEL, such as --generator f9=DIR")
        models[key.strip()] = model.strip()
    return models
