"""Train with the exported model's arithmetic, which rounds weights and layer inputs to integers.

If a judge is rounded only after training, its scores change by up to 0.28. If it is trained with rounded weights and
inputs, the export does not need to round it further. Each row of a weight matrix has its own scale. The inputs of each
linear map have a single range, which adapts to the batches during training and is fixed afterwards.

A language-model judge is rounded as `language_onnx` does it: its linear maps to 4 bits, with a factor for each block of
inputs and a scale for each output, and its table of word embeddings to 8 bits. The inputs of its linear maps have one
range for each token.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from paraqd.lab.training.language_onnx import BLOCK, FACTORS, INPUT_LEVELS, LARGEST, LEAST_INPUT, SMALLEST
from paraqd.lab.training.onnx_graph import LEVELS, RANGE, TABLE_LEVELS

_TABLE = "word_embeddings"
_WIDEN, _NARROW = 0.1, 0.01  # the rates at which a range adapts to batches with a wider or a narrower range


def rounded_modules(model: Any) -> Iterator[tuple[Any, int]]:
    """Yield each module whose weights are rounded to integers, and the largest integer used for its weights.

    The modules are the linear maps and the table of word embeddings.
    """
    import torch

    for name, module in model.named_modules():
        if isinstance(module, torch.nn.Linear):
            yield module, LEVELS
        elif isinstance(module, torch.nn.Embedding) and name.endswith(_TABLE):
            yield module, TABLE_LEVELS


def start_rounding(model: Any) -> None:
    """Round weights and inputs in all later passes. Gradients still update the exact weights."""
    import torch
    from torch.nn.utils import parametrize

    if model.rounds_blocks:
        linear, table = _rounded_classes()
        for name, module in model.body.named_modules():  # the heads are not rounded
            if type(module) is torch.nn.Linear:
                module.__class__ = linear
            elif type(module) is torch.nn.Embedding and name.endswith(_TABLE):
                module.__class__ = table
        return
    for module, levels in rounded_modules(model):
        if not parametrize.is_parametrized(module, "weight"):
            parametrize.register_parametrization(module, "weight", _rounded_rows(levels))
    round_inputs(model)


def _rounded_rows(levels: int) -> Any:
    """Return a parametrisation that rounds each row of a matrix."""
    import torch

    class RoundedRows(torch.nn.Module):  # type: ignore[misc]  # torch is not type-checked
        """A parametrisation that rounds each row of a matrix."""

        def forward(self, weight: Any) -> Any:
            """Return the rounded weights, with the gradient of the exact weights."""
            return _straight_through(weight, round_rows(weight, levels))

    return RoundedRows()


@cache
def _rounded_classes() -> tuple[Any, Any]:
    """Return the classes of a language model's rounded linear maps and of its rounded table of word embeddings.

    All layers share these classes, so torch compiles one layer and uses the result for all layers.
    """
    import torch

    class RoundedLinear(torch.nn.Linear):  # type: ignore[misc]  # torch is not type-checked
        """A linear map that rounds its weights by blocks and its inputs by tokens."""

        def forward(self, given: Any) -> Any:
            """Return the outputs. The gradients are those of the exact weights and inputs."""
            weight = _straight_through(self.weight, round_blocks(self.weight))
            return torch.nn.functional.linear(rounded_tokens(given), weight, self.bias)

    class RoundedTable(torch.nn.Embedding):  # type: ignore[misc]  # torch is not type-checked
        """A table of word embeddings that rounds each row."""

        def forward(self, ids: Any) -> Any:
            """Return the rounded rows of the given tokens."""
            rows = super().forward(ids)
            flat = rows.reshape(-1, rows.shape[-1])
            return _straight_through(flat, round_rows(flat, TABLE_LEVELS)).reshape(rows.shape)

    return RoundedLinear, RoundedTable


def _straight_through(exact: Any, rounded: Any) -> Any:
    """Return rounded values with the gradient of the exact values."""
    return exact + (rounded - exact).detach()


def round_inputs(model: Any) -> None:
    """Round the inputs of the linear maps in all layers, both in training and in inference."""
    import torch

    for name, module in model.named_modules():
        if isinstance(module, torch.nn.Linear) and ".layer." in f".{name}" and not hasattr(module, RANGE):
            module.register_buffer(RANGE, torch.zeros(2, device=module.weight.device))
            module.register_forward_pre_hook(_round_input)


def finish_rounding(model: Any) -> None:
    """Replace the exact weights with the rounded weights. Inputs are still rounded in later passes.

    A judge with rounded blocks keeps its exact weights, and they are still rounded in later passes. If rounded blocks
    were rounded again, as the export does, they would change.
    """
    from torch.nn.utils import parametrize

    if model.rounds_blocks:
        return
    for module, _ in rounded_modules(model):
        if parametrize.is_parametrized(module, "weight"):
            parametrize.remove_parametrizations(module, "weight", leave_parametrized=True)


def round_rows(weight: Any, levels: int = LEVELS) -> Any:
    """Round each row of a matrix to integer multiples of a scale; see `onnx_graph.rounded_columns`."""
    import torch

    largest = weight.detach().abs().amax(dim=1, keepdim=True)
    scale = torch.where(largest > 0, largest / levels, torch.ones_like(largest))
    return torch.clamp(torch.round(weight.detach() / scale), -levels, levels) * scale


def round_blocks(weight: Any) -> Any:
    """Round each block of a matrix to 4-bit integer multiples of a scale; see `language_onnx.round_blocks`."""
    import torch

    rows = weight.detach().reshape(len(weight), -1, BLOCK)
    largest = rows.abs().amax(dim=-1, keepdim=True)
    scale = largest.amax(dim=1, keepdim=True) / ((LARGEST + 0.5) * FACTORS)
    scale = torch.where(scale > 0, scale, torch.ones_like(scale))
    factor = torch.clamp(torch.round(largest / ((LARGEST + 0.5) * scale)), 1, FACTORS)
    scale = factor * scale
    return (torch.clamp(torch.round(rows / scale), SMALLEST, LARGEST) * scale).reshape(weight.shape)


def rounded_tokens(given: Any) -> Any:
    """Round each token's values to eight bits, with the gradient of the exact values.

    >>> import torch
    >>> rounded_tokens(torch.tensor([[127.0, 3.3], [0.0, 0.0]])).tolist()
    [[127.0, 3.0], [0.0, 0.0]]
    """
    import torch

    values = given.detach().float()
    most = values.abs().amax(dim=-1, keepdim=True).clamp(min=LEAST_INPUT)
    rounded = torch.round(values / most * INPUT_LEVELS) * (most / INPUT_LEVELS)
    return _straight_through(given, rounded.to(given.dtype))


def exact_weights(model: Any) -> dict[str, Any]:
    """Return the exact weights of a language-model judge on the CPU, even if they are rounded in every pass."""
    return {name: value.detach().cpu() for name, value in model.state_dict().items()}


def rounded_input(given: Any, limits: Any, *, follow: bool) -> Any:
    """Round the inputs of a linear map to eight bits within ``limits``.

    If ``follow`` is True, ``limits`` is first adapted to the inputs in place.
    """
    import torch

    values = given.detach().float()
    if follow:
        reach = torch.stack([values.amin().clamp(max=0), values.amax().clamp(min=0.01)])
        wider = torch.stack([reach[0] < limits[0], reach[1] > limits[1]])
        limits.copy_(torch.where(limits == 0, reach, limits + (reach - limits) * torch.where(wider, _WIDEN, _NARROW)))
    scale = (limits[1] - limits[0]) / 255
    zero = torch.round(-limits[0] / scale)
    rounded = (torch.clamp(torch.round(values / scale) + zero, 0, 255) - zero) * scale
    return given + (rounded.to(given.dtype) - given).detach()


def _round_input(module: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    return (rounded_input(inputs[0], getattr(module, RANGE), follow=module.training), *inputs[1:])
