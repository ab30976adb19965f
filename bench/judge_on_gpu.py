"""Train the judge on a GPU with every step replayed as one CUDA graph: the loop that the default model was trained in.

The losses, batches by length and the rounding of the last steps are those of `paraqd.training.judge`; what differs is
that shapes are few and fixed, so that a step is captured once for each and replayed, and that rows are gathered on the
GPU. On an H200 two such trainings side by side took 34 s each for an epoch over 333,616 pairs; the package's trainer
took 53 s for one alone, over 318,128.

    python bench/judge_on_gpu.py TOKENS... --encoder FOLDER --out judge.safetensors --odds teacher.npy --odds other.npy

TOKENS are the files that ``paraqd train --recipe extended`` leaves in ``OUT.work/tokens``, ``--odds`` what teachers say
of all rows in that order (``OUT.work/teachers``). Without a GPU the steps run one by one, for a test.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # as everybody calls it
from numpy.typing import NDArray

from paraqd.training.judge import JudgeSettings
from paraqd.training.judge_data import JudgeData, join_data, read_data
from paraqd.training.judge_model import make_judge, narrow
from paraqd.training.onnx_graph import LEVELS, RANGE, TABLE_LEVELS
from paraqd.training.rounding import round_inputs, round_rows, rounded_input, rounded_modules

# a batch has one of these lengths
LENGTHS = np.array([24, *range(32, 129, 8), 144, 160, 176, 192, 208, 232, 256, 288, 320])


class Rows:
    """Tokenised pairs on a device, gathered and padded there."""

    def __init__(self, data: JudgeData, teacher: NDArray[np.float32] | None, device: str) -> None:
        def put(array: Any, kind: torch.dtype) -> torch.Tensor:
            return torch.from_numpy(np.ascontiguousarray(array)).to(device, kind)

        self.ids, self.types = put(data.ids, torch.int32), put(data.types, torch.int8)
        self.faults, self.start = put(data.faults, torch.int8), put(data.offsets[:-1], torch.int64)
        self.length, self.labels = put(data.lengths, torch.int64), put(data.labels, torch.float32)
        self.kinds, self.weights = put(data.kinds, torch.int64), put(data.weights, torch.float32)
        self.teacher = None if teacher is None else put(teacher, torch.float32)

    def batch(self, rows: torch.Tensor, length: int) -> dict[str, Any]:
        """Gather rows; -1 is none, and counts for nothing."""
        real, row = rows >= 0, rows.clamp(min=0)
        place = torch.arange(length, device=rows.device)
        mask = place[None] < self.length[row][:, None]
        index = (self.start[row][:, None] + place).clamp(max=len(self.ids) - 1)
        return {
            "ids": torch.where(mask, self.ids[index].long(), 0),
            "types": torch.where(mask, self.types[index].long(), 0),
            "mask": mask,
            "faults": torch.where(mask & real[:, None], self.faults[index].long(), -1),
            "labels": self.labels[row],
            "kinds": torch.where(real, self.kinds[row], -1),
            "weights": torch.where(real, self.weights[row], 0.0),
            "teacher": None if self.teacher is None else self.teacher[row],
        }


class Pass:
    """The judge's arithmetic with as few operations as may be: matrices in 16 bits, sums and norms in 32."""

    def __init__(self, judge: Any) -> None:
        config = judge.classifier.config
        self.judge, self.bert, self.rounding = judge, judge.classifier.base_model, False
        self.heads, self.epsilon, self.dropout = (
            config.num_attention_heads,
            config.layer_norm_eps,
            config.hidden_dropout_prob,
        )

    def weight(self, module: Any) -> torch.Tensor:
        kept: torch.Tensor = module.weight
        levels = TABLE_LEVELS if isinstance(module, torch.nn.Embedding) else LEVELS
        return kept + (round_rows(kept, levels) - kept).detach() if self.rounding else kept

    def fed(self, module: Any, states: torch.Tensor) -> torch.Tensor:
        if not self.rounding:
            return states
        found: torch.Tensor = rounded_input(states, getattr(module, RANGE), follow=True)
        return found

    def linear(self, module: Any, states: torch.Tensor) -> torch.Tensor:
        return F.linear(states, self.weight(module).to(states.dtype), module.bias.to(states.dtype))

    def norm(self, module: Any, states: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(states, module.normalized_shape, module.weight, module.bias, self.epsilon)

    def layer(self, layer: Any, states: torch.Tensor, bias: torch.Tensor, drop: float) -> torch.Tensor:
        kind, (batch, length, width) = bias.dtype, states.shape
        own = (layer.attention.self.query, layer.attention.self.key, layer.attention.self.value)
        matrix = torch.cat([self.weight(each) for each in own]).to(kind)
        shift = torch.cat([each.bias for each in own]).to(kind)
        shape = (batch, length, 3, self.heads, width // self.heads)
        query, key, value = (
            F.linear(self.fed(own[0], states).to(kind), matrix, shift).view(shape).permute(2, 0, 3, 1, 4)
        )
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=bias, dropout_p=drop)
        outer, up, down = layer.attention.output.dense, layer.intermediate.dense, layer.output.dense
        told = self.linear(outer, self.fed(outer, mixed.transpose(1, 2).reshape(batch, length, width)))
        states = self.norm(layer.attention.output.LayerNorm, states + F.dropout(told, drop))
        told = self.linear(down, self.fed(down, F.gelu(self.linear(up, self.fed(up, states).to(kind)))))
        return self.norm(layer.output.LayerNorm, states + F.dropout(told, drop))

    def __call__(self, batch: dict[str, Any], drop: float) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        kind = torch.bfloat16 if batch["ids"].is_cuda else torch.float32
        table, mask = self.bert.embeddings, batch["mask"]
        states = F.embedding(batch["ids"], self.weight(table.word_embeddings))
        states = states + table.position_embeddings.weight[: mask.shape[1]][None]
        states = states + F.embedding(batch["types"], table.token_type_embeddings.weight)
        states = F.dropout(self.norm(table.LayerNorm, states), drop)
        bias = torch.zeros(mask.shape, dtype=kind, device=mask.device).masked_fill(~mask, -1e4)
        bias = bias[:, None, None, :].expand(len(mask), self.heads, mask.shape[1], mask.shape[1])
        for layer in self.bert.encoder.layer:
            states = self.layer(layer, states, bias, drop)
        first = self.linear(self.bert.pooler.dense, states[:, 0].to(kind)).float()
        pooled = F.dropout(torch.tanh(first), drop)
        judge = self.judge
        valid, kinds = self.linear(judge.classifier.classifier, pooled)[:, 0], self.linear(judge.kinds, pooled)
        return valid, kinds, self.linear(judge.places, states)[..., 0]


def loss_of(told: tuple[torch.Tensor, ...], batch: dict[str, Any], settings: JudgeSettings) -> torch.Tensor:
    """Return `paraqd.training.judge.judge_loss` without a shape that depends on the rows."""
    valid, kinds, places = told
    target = batch["labels"] * (1 - 2 * settings.smoothing) + settings.smoothing
    if batch["teacher"] is not None:
        share = settings.teacher_share
        target = (1 - share) * target + share * batch["teacher"].sigmoid()
    each = F.binary_cross_entropy_with_logits(valid, target, reduction="none")
    loss = (each * batch["weights"]).sum() / batch["weights"].sum().clamp(min=1e-6)
    known = batch["kinds"] >= 0
    each = F.cross_entropy(kinds, batch["kinds"].clamp(min=0), reduction="none") * known
    loss = loss + settings.kind_share * each.sum() / known.sum().clamp(min=1)
    placed, marks = batch["faults"] >= 0, batch["faults"].clamp(min=0).float()
    each = F.binary_cross_entropy_with_logits(places, marks, reduction="none") * (1 + 4 * marks) * placed
    return loss + settings.place_share * each.sum() / placed.sum().clamp(min=1)


def batches(lengths: NDArray[np.int64], tokens: int, rng: np.random.Generator) -> list[tuple[int, NDArray[np.int64]]]:
    """Return the batches of an epoch: what does not fill a shape goes on to the next longer one."""
    order = rng.permutation(len(lengths))
    slot = np.searchsorted(LENGTHS, lengths[order])
    left, found = order[:0], []
    for number, length in enumerate(LENGTHS.tolist()):
        rows, size = np.concatenate([left, order[slot == number]]), tokens // length
        whole = len(rows) // size
        found += [(length, rows[i * size : (i + 1) * size]) for i in range(whole)]
        left = rows[whole * size :]
    if len(left):
        found.append((length, np.concatenate([left, np.full(size - len(left), -1)])))
    return [found[i] for i in rng.permutation(len(found))]


def train(judge: Any, data: JudgeData, settings: JudgeSettings, teacher: NDArray[np.float32] | None) -> None:
    """Train in place."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    graphed = device == "cuda"
    torch.manual_seed(settings.seed)
    rng = np.random.default_rng(settings.seed)
    epochs = [batches(data.lengths, settings.batch_tokens, rng) for _ in range(settings.epochs)]
    steps = sum(map(len, epochs))
    exact, warm = steps - int(settings.rounded_share * steps), max(1, int(settings.warmup_share * steps))
    judge.to(device)
    step = Step(judge, Rows(data, teacher, device), settings, graphed=graphed)
    done, began = 0, time.monotonic()
    for number, epoch in enumerate(epochs, start=1):
        total = torch.zeros((), device=device)
        for length, rows in epoch:
            if done == exact:
                step.start_rounding()
            rate = min((done + 1) / warm, max(0.0, (steps - done) / max(1, steps - warm)))
            total += step(length, torch.from_numpy(rows), settings.learning_rate * rate)
            done += 1
        print(f"epoch {number}: loss {float(total) / len(epoch):.4f}, {time.monotonic() - began:.0f} s", flush=True)
    if settings.rounded_share > 0:
        with torch.no_grad():
            for module, levels in rounded_modules(judge):
                module.weight.copy_(round_rows(module.weight, levels))
            for layer in judge.classifier.base_model.encoder.layer:
                own = layer.attention.self
                for other in (own.key, own.value):  # they share the inputs of the query
                    getattr(other, RANGE).copy_(getattr(own.query, RANGE))


class Step:
    """One step of the training; on a GPU captured once for each shape, and replayed."""

    def __init__(self, judge: Any, rows: Rows, settings: JudgeSettings, *, graphed: bool) -> None:
        self.judge, self.rows, self.settings, self.graphed = judge, rows, settings, graphed
        self.told = Pass(judge)
        self.rate = torch.tensor(0.0, device=rows.ids.device)
        groups = [
            {"params": [p for p in judge.parameters() if p.ndim > 1], "weight_decay": settings.weight_decay},
            {"params": [p for p in judge.parameters() if p.ndim <= 1], "weight_decay": 0.0},
        ]
        options = {"fused": True, "capturable": True} if graphed else {}
        self.optimizer = torch.optim.AdamW(groups, lr=self.rate, **options)
        self.captured: dict[int, tuple[Any, torch.Tensor, torch.Tensor]] = {}
        self.pool: Any = None
        if graphed:
            torch.backends.cuda.enable_cudnn_sdp(False)  # planned anew for every shape

    def start_rounding(self) -> None:
        round_inputs(self.judge)
        self.told.rounding = True
        self.captured.clear()
        self.pool = None  # nothing may be captured into the memory of steps that are gone

    def __call__(self, length: int, rows: torch.Tensor, rate: float) -> torch.Tensor:
        if not self.graphed:
            self.rate.fill_(rate)
            return self._run(rows, length)
        if length not in self.captured:
            self._capture(length)
        graph, held, loss = self.captured[length]
        held.copy_(rows.pin_memory(), non_blocking=True)
        self.rate.fill_(rate)
        graph.replay()
        return loss

    def _run(self, rows: torch.Tensor, length: int) -> torch.Tensor:
        self.optimizer.zero_grad(set_to_none=True)
        batch = self.rows.batch(rows, length)
        loss = loss_of(self.told(batch, self.told.dropout), batch, self.settings)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.judge.parameters(), 1.0)
        self.optimizer.step()
        return loss.detach()

    def _capture(self, length: int) -> None:
        held = torch.zeros(self.settings.batch_tokens // length, dtype=torch.int64, device=self.rate.device)
        self.rate.zero_()  # the steps that warm up move nothing
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(2):
                self._run(held, length)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self.pool):
            loss = self._run(held, length)
        self.pool = self.pool or graph.pool()
        self.captured[length] = (graph, held, loss)


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("tokens", nargs="+", type=Path)
    parser.add_argument("--encoder", required=True, help="the folder of a pretrained encoder")
    parser.add_argument("--out", type=Path, required=True, help="where the judge's weights go (.safetensors)")
    parser.add_argument("--odds", type=Path, action="append", default=[], help="a teacher's log-odds (.npy)")
    parser.add_argument("--start", type=Path, help="the weights of a judge to begin with (.safetensors)")
    parser.add_argument("--epochs", type=int, default=11)
    parser.add_argument("--seed", type=int, default=12)
    parser.add_argument("--batch-tokens", type=int, default=16384)
    return parser.parse_args()


def _teachers(paths: list[Path]) -> Iterator[NDArray[np.float32]]:
    for path in paths:
        yield np.load(path)


def main() -> None:
    from safetensors.torch import load_file, save_file

    asked = _parsed()
    data = join_data([read_data(path) for path in asked.tokens])
    odds = list(_teachers(asked.odds))
    settings = JudgeSettings(epochs=asked.epochs, seed=asked.seed, batch_tokens=asked.batch_tokens)
    torch.manual_seed(settings.seed)
    judge = make_judge(asked.encoder)
    if asked.start:
        judge.load_state_dict({name: value.float() for name, value in load_file(asked.start).items()}, strict=False)
    narrow(judge.classifier, settings.inner)
    train(judge, data, settings, np.mean(odds, axis=0).astype(np.float32) if odds else None)
    save_file({name: value.contiguous().cpu() for name, value in judge.state_dict().items()}, str(asked.out))


if __name__ == "__main__":
    main()
