"""Generate text with models that share one protocol, and train the models that some operators need.

Importing this package does not load a model library. Generating and training require the extra ``generate``:
``pip install 'paraqd[generate]'``.
"""

from paraqd.extras import MissingExtraError
from paraqd.lab.generators.train import train_generator
from paraqd.lab.generators.training_data import TrainingDataError, read_paraphrases, read_questions
from paraqd.lab.generators.training_loop import GeneratorTrainingError
from paraqd.model_runtime import GeneratorUnavailableError, require_extra
from paraqd.paraphrasing.text_models.base import GREEDY, PLAIN, Decoding, Generator, Prompt
from paraqd.paraphrasing.text_models.causal import CausalGenerator
from paraqd.paraphrasing.text_models.loading import load_generator, read_card
from paraqd.paraphrasing.text_models.masked import MaskedGenerator
from paraqd.paraphrasing.text_models.seq2seq import Seq2SeqGenerator

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
