"""Generate text with models that share one protocol, and train the models that some operators need.

Importing this package does not load a model library. Generating and training require the extra ``generate``:
``pip install 'paraqd[generate]'``.
"""

from paraqd.extras import MissingExtraError
from paraqd.generators.base import (
    GREEDY,
    PLAIN,
    Decoding,
    Generator,
    GeneratorUnavailableError,
    Prompt,
)
from paraqd.generators.causal import CausalGenerator
from paraqd.generators.loading import load_generator, read_card
from paraqd.generators.masked import MaskedGenerator
from paraqd.generators.runtime import require_extra
from paraqd.generators.seq2seq import Seq2SeqGenerator
from paraqd.generators.train import train_generator
from paraqd.generators.training_data import TrainingDataError, read_paraphrases, read_questions
from paraqd.generators.training_loop import GeneratorTrainingError

__all__ = [
    "GREEDY",
    "PLAIN",
    "CausalGenerator",
    "Decoding",
    "Generator",
    "GeneratorTrainingError",
    "GeneratorUnavailableError",
    "MaskedGenerator",
    "MissingExtraError",
    "Prompt",
    "Seq2SeqGenerator",
    "TrainingDataError",
    "load_generator",
    "read_card",
    "read_paraphrases",
    "read_questions",
    "require_extra",
    "train_generator",
]
