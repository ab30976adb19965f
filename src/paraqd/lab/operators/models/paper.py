"""List the models that the paper's operators and baselines use.

To use a different model from a folder or from the Hugging Face Hub, pass ``--generator``, as in ``--generator f9=DIR``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from paraqd.errors import ArgumentError
from paraqd.lab.generators import (
    PLAIN,
    Generator,
    GeneratorUnavailableError,
    MaskedGenerator,
    Prompt,
    load_generator,
    read_card,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperModel:
    """A published model, the operator that uses the model, and the model's prompt.

    ``certain`` is False if the paper names the base model and the data but not the published weights; ``model`` is then
    the most likely choice. If ``train_first`` is True, the published weights must first be trained further with
    ``paraqd lab generator train``. If ``masked`` is True, the operator requires a masked language model.
    """

    operator: str
    model: str
    prompt: Prompt = PLAIN
    certain: bool = True
    train_first: bool = False
    masked: bool = False


PAPER_MODELS: Mapping[str, PaperModel] = MappingProxyType(
    {
        "f1.forward": PaperModel(operator="Backtranslation", model="facebook/wmt19-en-de"),
        "f1.backward": PaperModel(operator="Backtranslation", model="facebook/wmt19-de-en"),
        "f9": PaperModel(operator="LossyParaphrase", model="tuner007/pegasus_paraphrase", certain=False),
        "fa.passive": PaperModel(
            operator="ActivePassive",
            model="prithivida/active_to_passive_styletransfer",
            prompt=Prompt("transfer Active to Passive: {text}"),
            certain=False,
        ),
        "fa.grammar": PaperModel(
            operator="ActivePassive",
            model="prithivida/grammar_error_correcter_v1",
            prompt=Prompt("gec: {text}"),
            certain=False,
        ),
        "fb": PaperModel(operator="CorruptedReconstruction", model="t5-base", train_first=True),
        "fe": PaperModel(
            operator="T5Paraphrase",
            model="ramsrigouthamg/t5_paraphraser",
            prompt=Prompt("paraphrase: {text}"),
            certain=False,
        ),
        "ssmba": PaperModel(operator="MaskedReconstruction", model="bert-base-cased", certain=False, masked=True),
    }
)


def load_paper_generator(key: str, model: str | Path | None = None, *, device: str | None = None) -> Generator:
    """Load the generator for a key of ``PAPER_MODELS``.

    ``model`` is a folder or a name on the Hugging Face Hub (default: the paper's model). Raise
    ``GeneratorUnavailableError`` if the model is not available or does not suit the operator.
    """
    if key not in PAPER_MODELS:
        raise ArgumentError(f"unknown generator {key!r}; choose one of {', '.join(PAPER_MODELS)}")
    paper = PAPER_MODELS[key]
    if model is None and paper.train_first:
        raise GeneratorUnavailableError(
            f"{paper.operator} needs {paper.model} trained to reconstruct questions; run `paraqd lab generator train "
            f"{key} --base-model {paper.model} --out DIR` and pass --generator {key}=DIR, or use --stand-ins"
        )
    chosen = paper.model if model is None else model
    card = read_card(chosen)
    if card and card.get("kind", key) != key:
        raise GeneratorUnavailableError(
            f"--generator {key}={model}: this model was trained for {card['kind']}, not for {paper.operator}"
        )
    loaded = load_generator(
        chosen,
        device=device,
        # a model folder that this project wrote contains its own prompt
        prompt=None if card else paper.prompt,
        needed_by=paper.operator,
        option=key,
    )
    if paper.masked and not isinstance(loaded, MaskedGenerator):
        raise GeneratorUnavailableError(
            f"--generator {key}={model}: {paper.operator} needs a masked language model; "
            f"run `paraqd lab generator train {key} --out DIR` to train one"
        )
    return loaded
