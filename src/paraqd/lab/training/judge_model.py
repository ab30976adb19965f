"""Define the judges that can be trained.

A judge predicts whether a pair is valid, which kind of fault it has, and which tokens are at fault. The training loop
relies only on the `Judge` protocol. The shipped judge is a ``CrossEncoderJudge``, which is a standard sequence
classifier with two additional heads; the ``CrossEncoder`` class in sentence-transformers can load the classifier. A
``LanguageJudge`` adds the same heads to MPNet. A ``CausalJudge`` adds them to a causal language model; it can only be a
teacher.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from paraqd.lab.training.onnx_graph import RANGE
from paraqd.lab.training.quantisation_aware import round_inputs
from paraqd.paraphrasing.text_models.causal import load_gguf
from paraqd.scoring.verdict import EvidenceKind

if TYPE_CHECKING:
    from torch import Tensor

KINDS = tuple(kind.value for kind in EvidenceKind)
HEADS_FILE = "heads.safetensors"
WEIGHTS_FILE = "model.safetensors"
CAUSAL_MARKS = ("<|im_start|>", "<|im_end|>")  # a causal language model's tokens before and after the paraphrase
_MASKED = -1e4  # what padding adds to the attention; half precision can represent it


class Judge(Protocol):
    """A torch module that the training loop can train.

    ``captures_well`` is True if the model is so small that a GPU takes longer to launch its kernels than to run them.
    The training steps of such a model are captured as CUDA graphs; the layers of other models are compiled.
    ``rounds_blocks`` is True if the exported model has 4-bit weights with a scale for each block of inputs; see
    `quantisation_aware`.
    """

    captures_well: bool
    rounds_blocks: bool

    def __call__(self, *, input_ids: Tensor, token_type_ids: Tensor, attention_mask: Tensor) -> tuple[Any, Any, Any]:
        """Return the log-odds of the three predictions for each pair in a batch.

        The shapes are (batch) for validity, (batch, kinds) for the kinds of fault, and (batch, tokens) for the tokens
        at fault. ``attention_mask`` is boolean, and rows are padded on the right.
        """
        ...

    def compile_layers(self) -> None:
        """Have torch compile the layers, if this makes them faster."""
        ...


def make_judge(folder: str | Path, *, inner: int | None = None) -> Any:
    """Build an untrained judge on top of an encoder's weights.

    If ``inner`` is passed, keep only that many inner units in each layer.
    """
    import torch
    from transformers import AutoModelForSequenceClassification

    classifier = AutoModelForSequenceClassification.from_pretrained(str(folder), num_labels=1, local_files_only=True)
    classifier = classifier.float()  # weights may be stored in half precision
    if inner is not None:
        narrow(classifier, inner)
    width = int(classifier.config.hidden_size)

    class CrossEncoderJudge(torch.nn.Module):  # type: ignore[misc]  # torch is not type-checked
        """A judge whose encoder reads both texts together."""

        captures_well = True
        rounds_blocks = False

        def __init__(self) -> None:
            super().__init__()
            self.classifier = classifier
            self.kinds = torch.nn.Linear(width, len(KINDS))
            self.places = torch.nn.Linear(width, 1)

        def forward(self, *, input_ids: Any, token_type_ids: Any, attention_mask: Any) -> tuple[Any, Any, Any]:
            """Return the log-odds of the three heads."""
            # The model uses a four-dimensional mask unchanged. If the mask had two dimensions, the model would build
            # its own mask and wait for the GPU to find out whether anything is masked.
            length = attention_mask.shape[1]
            mask = attention_mask.bool()[:, None, None, :].expand(-1, 1, length, -1)
            states = self.classifier.base_model(input_ids=input_ids, token_type_ids=token_type_ids, attention_mask=mask)
            pooled = self.classifier.dropout(states.pooler_output)
            valid = self.classifier.classifier(pooled)[:, 0]
            return valid, self.kinds(pooled), self.places(states.last_hidden_state)[:, :, 0]

        def compile_layers(self) -> None:
            """Do nothing, because captured steps are faster."""

    return CrossEncoderJudge()


def make_language_judge(body: Any) -> Any:
    """Build an untrained judge on top of MPNet, a language model that reads in both directions.

    MPNet has no types of tokens, so the judge adds a vector to the tokens of each text. The vectors start at zero.
    """
    import torch

    width = int(body.config.hidden_size)

    class LanguageJudge(torch.nn.Module):  # type: ignore[misc]  # torch is not type-checked
        """A judge whose language model reads both texts together."""

        captures_well = False
        rounds_blocks = True

        def __init__(self) -> None:
            super().__init__()
            self.body = body
            self.types = torch.nn.Embedding(2, width)
            self.pooler = torch.nn.Linear(width, width)
            self.dropout = torch.nn.Dropout(body.config.hidden_dropout_prob)
            self.valid = torch.nn.Linear(width, 1)
            self.kinds = torch.nn.Linear(width, len(KINDS))
            self.places = torch.nn.Linear(width, 1)
            torch.nn.init.zeros_(self.types.weight)

        def forward(self, *, input_ids: Any, token_type_ids: Any, attention_mask: Any) -> tuple[Any, Any, Any]:
            """Return the log-odds of the three heads."""
            words = self.body.embeddings.word_embeddings(input_ids) + self.types(token_type_ids)
            states = self.body.embeddings(inputs_embeds=words)  # adds the positions
            if torch.is_autocast_enabled(states.device.type):  # otherwise, the states between layers would stay float32
                states = states.to(torch.get_autocast_dtype(states.device.type))
            masked = torch.zeros_like(attention_mask, dtype=states.dtype).masked_fill(~attention_mask.bool(), _MASKED)
            states = self.body.encoder(states, attention_mask=masked[:, None, None, :])[0]
            pooled = self.dropout(torch.tanh(self.pooler(states[:, 0])))
            return self.valid(pooled)[:, 0], self.kinds(pooled), self.places(states)[..., 0]

        def compile_layers(self) -> None:
            """Have torch compile the layers. They have the same code, so only one of them is compiled."""
            for layer in self.body.encoder.layer:
                layer.compile(dynamic=True)

    return LanguageJudge()


def make_causal_judge(body: Any) -> Any:
    """Build an untrained judge on top of a causal language model whose head was removed.

    The judge reads rows from `judge_tokens.repeat_questions`. The heads for validity and for the kind of fault read the
    state of the last token. The head for the tokens at fault reads the state of every token.
    """
    import torch

    width = int(body.config.hidden_size)
    use_fused_norms(body)

    class CausalJudge(torch.nn.Module):  # type: ignore[misc]  # torch is not type-checked
        """A judge whose language model reads the question, the paraphrase and then the question again."""

        captures_well = False
        rounds_blocks = True

        def __init__(self) -> None:
            super().__init__()
            self.body = body
            self.valid = torch.nn.Linear(width, 1)
            self.kinds = torch.nn.Linear(width, len(KINDS))
            self.places = torch.nn.Linear(width, 1)

        def forward(self, *, input_ids: Any, token_type_ids: Any, attention_mask: Any) -> tuple[Any, Any, Any]:
            """Return the log-odds of the three heads."""
            del token_type_ids
            given = self.body.embed_tokens(input_ids)
            if torch.is_autocast_enabled(given.device.type):  # otherwise, the states between layers would stay float32
                given = given.to(torch.get_autocast_dtype(given.device.type))
            # no mask is needed, because padding is on the right and no token attends to a later token
            states = self.body(inputs_embeds=given, use_cache=False).last_hidden_state
            ends = states[torch.arange(len(states), device=states.device), attention_mask.sum(1) - 1]
            return self.valid(ends)[:, 0], self.kinds(ends), self.places(states)[..., 0]

        def compile_layers(self) -> None:
            """Have torch compile the layers. They have the same code, so only one of them is compiled."""
            for layer in self.body.layers:
                layer.compile(dynamic=True)

    return CausalJudge()


def use_fused_norms(body: Any) -> None:
    """Replace the norms of a model with the structure of Llama by torch's own, which run as one kernel on a GPU."""
    import torch

    class FusedNorm(torch.nn.RMSNorm):  # type: ignore[misc]  # torch is not type-checked
        """A norm that keeps the precision of its input, so that torch does not fall back to several kernels."""

        def forward(self, given: Any) -> Any:
            """Return the normalised values."""
            with torch.autocast(given.device.type, enabled=False):
                weight = self.weight.to(given.dtype)
                return torch.nn.functional.rms_norm(given, self.normalized_shape, weight, self.eps)

    for module in list(body.modules()):
        for name, child in list(module.named_children()):
            if type(child).__name__ == "LlamaRMSNorm":
                norm = FusedNorm(len(child.weight), eps=child.variance_epsilon)
                norm.weight = child.weight
                setattr(module, name, norm)


def load_causal_base(path: Path) -> tuple[Any, Any]:
    """Load a language model from a GGUF file or a model folder, and build an untrained judge on top of the model.

    Return the tokenizer, which is configured for pairs, and the judge.
    """
    if path.is_dir():
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        tokenizer = AutoTokenizer.from_pretrained(str(path), local_files_only=True)
        model = AutoModelForCausalLM.from_pretrained(str(path), dtype=torch.float32, local_files_only=True)
    else:
        model, tokenizer = load_gguf(path)
    frame_paraphrases(tokenizer)
    return tokenizer, make_causal_judge(model.model)


def frame_paraphrases(tokenizer: Any) -> None:
    """Configure a language model's tokenizer for pairs. Two special tokens frame the paraphrase.

    The special tokens have the type of the paraphrase, so `judge_tokens.repeat_questions` repeats the question alone.
    """
    from tokenizers.processors import TemplateProcessing

    marks = [(mark, tokenizer.convert_tokens_to_ids(mark)) for mark in CAUSAL_MARKS]
    first, last = CAUSAL_MARKS
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="$A", pair=f"$A:0 {first}:1 $B:1 {last}:1", special_tokens=marks
    )


def narrow(classifier: Any, inner: int) -> None:
    """Keep only the ``inner`` feed-forward units with the largest weights in each layer.

    If the layers have at most ``inner`` units, the model is not changed.
    """
    import torch

    if inner >= int(classifier.config.intermediate_size):
        return
    for layer in classifier.base_model.encoder.layer:
        up, down = layer.intermediate.dense, layer.output.dense
        size = up.weight.data.norm(dim=1) * down.weight.data.norm(dim=0)
        kept = size.topk(inner).indices.sort().values
        up.weight = torch.nn.Parameter(up.weight.data[kept].clone())
        up.bias = torch.nn.Parameter(up.bias.data[kept].clone())
        down.weight = torch.nn.Parameter(down.weight.data[:, kept].clone())
        up.out_features = down.in_features = inner
    classifier.config.intermediate_size = inner


def save_judge(judge: Any, tokenizer: Any, folder: str | Path) -> None:
    """Write a cross-encoder judge as a standard classifier, with the two additional heads in a separate file."""
    from safetensors.torch import save_file

    judge.classifier.save_pretrained(str(folder))
    tokenizer.backend_tokenizer.no_truncation()  # tokenising for training has set a limit
    tokenizer.save_pretrained(str(folder))
    heads = {
        f"{name}.{part}": value.contiguous().cpu()
        for name in ("kinds", "places")
        for part, value in getattr(judge, name).state_dict().items()
    }
    save_file(heads, str(Path(folder) / HEADS_FILE))


def resize_kinds(judge: Any, kinds: int) -> None:
    """Give a judge a new head for ``kinds`` kinds of fault, unless it has as many already."""
    import torch

    if judge.kinds.out_features != kinds:
        judge.kinds = torch.nn.Linear(judge.kinds.in_features, kinds)


def load_judge(folder: str | Path, *, inner: int | None = None, exact: bool = False) -> Any:
    """Load a judge that `save_judge` wrote.

    If ``exact`` is True, the inputs are not rounded, even if the judge was trained with rounded inputs. Use this option
    to train a judge further.
    """
    from safetensors.torch import load_file

    judge = make_judge(folder, inner=inner)
    weights = load_file(str(Path(folder) / WEIGHTS_FILE))
    ranges = {name: value for name, value in weights.items() if name.endswith(RANGE)}
    if ranges and not exact:
        round_inputs(judge)
        judge.classifier.load_state_dict(ranges, strict=False)
    heads = load_file(str(Path(folder) / HEADS_FILE))
    resize_kinds(judge, len(heads["kinds.bias"]))
    for name in ("kinds", "places"):
        parts = {key.partition(".")[2]: value for key, value in heads.items() if key.startswith(f"{name}.")}
        getattr(judge, name).load_state_dict(parts)
    return judge
