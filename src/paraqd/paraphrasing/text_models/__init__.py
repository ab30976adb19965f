"""Load text-to-text models behind one protocol, and decode with them.

Importing this package does not load a model library. Generating requires the extra ``generate``.
"""

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
    "GeneratorUnavailableError",
    "MaskedGenerator",
    "Prompt",
    "Seq2SeqGenerator",
    "load_generator",
    "read_card",
    "require_extra",
]
