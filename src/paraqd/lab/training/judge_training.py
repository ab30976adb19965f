"""Train judges and teachers, on a CPU or a GPU.

On a GPU, the forward pass uses bfloat16. A small model's steps are captured as CUDA graphs, and the layers of a larger
model are compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paraqd.lab.training.judge_batches import Batch, DeviceRows, plan_epoch
from paraqd.lab.training.judge_tokens import JudgeTokens
from paraqd.lab.training.losses import judge_loss
from paraqd.lab.training.quantisation_aware import finish_rounding, start_rounding
from paraqd.lab.training.settings import CHECKPOINT_SECONDS, JudgeSettings
from paraqd.lab.training.steps import Steps, run_steps
from paraqd.model_runtime import without_cudnn_attention
from paraqd.progress import Progress, silent

if TYPE_CHECKING:
    from torch import Tensor

DrawRows = Callable[[np.random.Generator], NDArray[np.int64]]


def train_judge(
    judge: Any,
    tokens: JudgeTokens,
    *,
    settings: JudgeSettings | None = None,
    device: str = "cpu",
    teacher: NDArray[np.float32] | None = None,
    draw: DrawRows | None = None,
    checkpoints: Path | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    stage: str = "training",
    progress: Progress = silent,
) -> Any:
    """Train a judge in place, and return the judge.

    Parameters
    ----------
    judge : Judge
        The model to train; see `judge_model.Judge`.
    teacher : array, optional
        The teachers' log-odds for each row. Their weight in the target is ``settings.teacher_share``.
    draw : callable, optional
        A function that draws the rows of an epoch with a random number generator (default: every epoch has all rows).
    checkpoints : Path, optional
        The folder for checkpoints. If the folder contains a checkpoint, training resumes from it. A new checkpoint is
        written every ``checkpoint_seconds`` seconds and on Ctrl-C.
    stage : str
        The name of this training run in progress reports.

    Raises
    ------
    TrainingStopped
        If Ctrl-C was pressed. A checkpoint is written first.

    """
    import torch

    settings = settings or JudgeSettings()
    rng = np.random.default_rng(settings.seed)
    plan: list[Batch] = []
    for _ in range(settings.epochs):
        rows = None if draw is None else draw(rng)
        plan += plan_epoch(tokens.lengths, tokens=settings.batch_tokens, rng=rng, rows=rows)
    exact_steps = len(plan) - int(settings.rounded_share * len(plan))
    torch.manual_seed(settings.seed)
    judge.to(device).train()
    on_gpu = device.startswith("cuda")
    compiles = on_gpu and not judge.captures_well
    if compiles:
        judge.compile_layers()
    device_rows = DeviceRows(tokens, teacher, device)

    def loss(length: Any, rows: Tensor) -> Tensor:
        batch = device_rows.gather(rows, length) if steps.captures else device_rows.gather_trimmed(rows)
        return judge_loss(_outputs(judge, batch), batch, settings)

    steps = Steps(
        judge,
        loss,
        settings,
        total=len(plan),
        device=device,
        captures=judge.captures_well,
        half=on_gpu,
        beta2=settings.beta2,
    )

    def before_step(done: int) -> None:
        if done != exact_steps:
            return
        start_rounding(judge)
        steps.forget_captures()
        if compiles:
            torch.compiler.reset()  # otherwise, torch may go on with the compiled layers that do not round
            judge.compile_layers()

    start = steps.resume(checkpoints, prepare=lambda done: start_rounding(judge) if done > exact_steps else None)
    run_steps(
        steps,
        plan,
        lambda batch: (batch[0], (torch.from_numpy(batch[1]),)),
        start=start,
        checkpoints=checkpoints,
        checkpoint_seconds=checkpoint_seconds,
        before_step=before_step,
        stage=stage,
        progress=progress,
    )
    finish_rounding(judge)
    return judge.eval()


def judge_scores(
    judge: Any, tokens: JudgeTokens, *, device: str = "cpu", batch_tokens: int = 16384, half: bool = False
) -> NDArray[np.float32]:
    """Return, for each row, the judge's log-odds that the pair is valid.

    If ``half`` is True, a GPU computes in bfloat16, which is faster and less exact.
    """
    import torch

    scores = np.zeros(len(tokens), dtype=np.float32)
    rows = DeviceRows(tokens, None, device)
    judge.to(device).eval()
    half = half and device.startswith("cuda")
    # compiled layers would be compiled anew for exact numbers, which takes longer than it saves
    stance = torch.compiler.set_stance("default" if half else "force_eager")
    precision = torch.autocast("cuda", dtype=torch.bfloat16, enabled=half)
    with torch.inference_mode(), precision, stance, without_cudnn_attention():
        for _, batch in plan_epoch(tokens.lengths, tokens=batch_tokens, rng=np.random.default_rng(0)):
            real = batch[batch >= 0]
            scores[real] = (
                _outputs(judge, rows.gather_trimmed(torch.from_numpy(batch).to(device)))[0].float().cpu().numpy()
            )
    return scores


def _outputs(judge: Any, batch: dict[str, Any]) -> Any:
    return judge(**{name: batch[name] for name in ("input_ids", "token_type_ids", "attention_mask")})
