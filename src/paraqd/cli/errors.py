"""The errors that say in one line what is wrong with what was given."""

from __future__ import annotations

from paraqd.corpus.annotation_items import AnnotationError
from paraqd.corpus.datasets_download import DatasetError
from paraqd.corpus.formats import TableError
from paraqd.corpus.plan import AugmentError
from paraqd.evaluation.errors import EvaluationError
from paraqd.experiments.errors import ExperimentError
from paraqd.generators.base import GeneratorUnavailableError, MissingExtraError
from paraqd.generators.training_data import TrainingDataError
from paraqd.generators.training_loop import TrainingError
from paraqd.integrations.ray_engine import ClusterError
from paraqd.operators import MissingResourceError, UnknownOperatorError, UnknownRecipeError
from paraqd.reading.entities import PipelineUnavailableError
from paraqd.scoring.errors import ModelError
from paraqd.training.settings import EncoderTrainingError

EXPECTED: tuple[type[Exception], ...] = (
    AnnotationError,
    AugmentError,
    ClusterError,
    DatasetError,
    EncoderTrainingError,
    EvaluationError,
    ExperimentError,
    GeneratorUnavailableError,
    MissingExtraError,
    MissingResourceError,
    ModelError,
    PipelineUnavailableError,
    TableError,
    TrainingDataError,
    TrainingError,
    FileExistsError,
    UnknownOperatorError,
    UnknownRecipeError,
)

# packages that come with an extra
_EXTRAS = {
    "augment": ("spacy", "lemminflect"),
    "generate": ("torch", "transformers", "sentencepiece", "sacremoses", "gguf", "safetensors"),
    "ray": ("ray",),
    "train": ("sentence_transformers", "accelerate", "datasets", "matplotlib", "sklearn"),
}


def missing_extra(error: Exception) -> str | None:
    """Return what to install where a package of an extra is missing, else None."""
    if isinstance(error, ModuleNotFoundError):
        package = (error.name or "").partition(".")[0]
        for extra, packages in _EXTRAS.items():
            if package in packages:
                return f"{package} is not installed: pip install 'paraqd[{extra}]'"
    return None
