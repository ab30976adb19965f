"""Take one measurement in its own process: ``python -P worker.py JOB.json RESULT.json``.

This file also runs in the environment for the other runtimes, so it imports paraqd only to measure paraqd. The pairs
are in JSON Lines files with a question and a paraphrase in each line. The result is a JSON object.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

Pairs = list[tuple[str, str]]
Score = Callable[[Pairs], list[float]]
Note = Callable[[Any], None]


# --- contenders -----------------------------------------------------------------------------------


def load(kind: str, options: dict[str, Any], threads: int) -> tuple[Score, Any]:
    """Load a contender, and return a function that scores pairs, and the model.

    The model is None if tokens are not counted with a hook on the model.
    """
    makers = {"paraqd": _paraqd, "sentence-transformers": _sentence_transformers, "fastembed": _fastembed}
    return makers[kind](options, threads)


def _paraqd(options: dict[str, Any], threads: int) -> tuple[Score, Any]:
    from paraqd import Scorer

    given = dict(options)
    scorer = Scorer.load(given.pop("model", None), threads=threads, **given)
    _watch_second_judge(scorer)
    return lambda pairs: [verdict.score for verdict in scorer.score_pairs(pairs)], None


_asked = {"pairs": 0}  # the number of pairs about which a language-model judge was asked


def _watch_second_judge(scorer: Any) -> None:
    second = getattr(scorer.method, "second", None)
    if second is None:
        return
    begin = second.judge.begin

    def noted(pairs: Sequence[Any]) -> Any:
        _asked["pairs"] += len(pairs)
        return begin(pairs)

    second.judge.begin = noted


def _sentence_transformers(options: dict[str, Any], threads: int) -> tuple[Score, Any]:
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(threads)
    given: dict[str, Any] = {"device": "cpu", "local_files_only": True}
    if "file" in options:
        given |= {
            "backend": "onnx",
            "model_kwargs": {"file_name": options["file"], "provider": "CPUExecutionProvider"},
        }
    model = SentenceTransformer(options["folder"], **given)

    def encode(texts: list[str]) -> Any:
        return model.encode(texts, batch_size=32, show_progress_bar=False)

    def once(texts: list[str]) -> Any:
        distinct = list(dict.fromkeys(texts))
        place = {text: number for number, text in enumerate(distinct)}
        return encode(distinct)[[place[text] for text in texts]]

    embed = once if options.get("once") else encode
    return lambda pairs: _cosines(embed(_texts(pairs))), model


def _fastembed(options: dict[str, Any], threads: int) -> tuple[Score, Any]:
    import numpy as np
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    name = "local/all-MiniLM-L6-v2"
    TextEmbedding.add_custom_model(
        model=name,
        pooling=PoolingType.MEAN,
        normalization=True,
        sources=ModelSource(hf=name),
        dim=384,
        model_file=options["file"],
    )
    model = TextEmbedding(name, specific_model_path=options["folder"], threads=threads)
    return lambda pairs: _cosines(np.array(list(model.embed(_texts(pairs))))), None


def _texts(pairs: Pairs) -> list[str]:
    return [question for question, _ in pairs] + [paraphrase for _, paraphrase in pairs]


def _cosines(vectors: Any) -> list[float]:
    import numpy as np

    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    half = len(units) // 2
    found: list[float] = np.einsum("ij,ij->i", units[:half], units[half:]).tolist()
    return found


# --- speed and memory of a contender --------------------------------------------------------------


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """Time a contender on each set and on single pairs, and measure the memory of the process."""
    started = time.perf_counter()
    score, _ = load(job["kind"], job["options"], job["threads"])
    loaded = time.perf_counter() - started
    score(read_pairs(job["warm"]))
    sets = {name: read_pairs(path) for name, path in job["sets"].items()}
    resident = status("VmRSS")
    forget_peak()
    found: dict[str, Any] = {"load_s": loaded, "sets": {}}
    for name, pairs in sets.items():
        before, started = _asked["pairs"], time.perf_counter()
        scores = score(pairs)
        found["sets"][name] = {"seconds": time.perf_counter() - started, "pairs": len(pairs)}
        found["sets"][name]["asked"] = _asked["pairs"] - before
        if job.get("scores"):
            found["sets"][name]["scores"] = scores
    found["peak_mb"] = status("VmHWM")
    found["growth_mb"] = found["peak_mb"] - resident
    singles = single(score, read_pairs(job["single"])) if "single" in job else []
    found["single_ms"], found["single_asked"] = [ms for ms, _ in singles], [asked for _, asked in singles]
    return found


def count(job: dict[str, Any]) -> dict[str, Any]:
    """Count the rows and tokens that a newly loaded contender processes."""
    score, model = load(job["kind"], job["options"], job["threads"])
    return counted(score, model, {name: read_pairs(path) for name, path in job["sets"].items()})


def single(score: Score, pairs: Pairs, warm: int = 20) -> list[tuple[float, bool]]:
    """Score pairs one at a time, and return the figures for each pair after a warm-up.

    The figures are the milliseconds, and True if the language-model judge was asked about the pair.
    """
    found = []
    for pair in pairs:
        before, started = _asked["pairs"], time.perf_counter()
        score([pair])
        found.append(((time.perf_counter() - started) * 1e3, _asked["pairs"] > before))
    return found[min(warm, len(found) // 2) :]


def counted(score: Score, model: Any, sets: dict[str, Pairs]) -> dict[str, Any]:
    """Score the pairs, and count the rows, tokens and cells (tokens and padding) that the model processes."""
    found = {}
    seen: dict[str, int] = {}
    lock = Lock()

    def note(ids: Any) -> None:
        import numpy as np

        lengths = (np.asarray(ids) != 0).sum(axis=-1)  # 0 is [PAD]
        with lock:  # several threads may call the runtime
            seen["calls"] += 1
            seen["rows"] += lengths.size
            seen["tokens"] += int(lengths.sum())
            seen["cells"] += int(np.asarray(ids).size)
            seen["squares"] += int((lengths.astype(np.int64) ** 2).sum())

    _watch(model, note)
    for name, pairs in sets.items():
        seen.update(dict.fromkeys(("calls", "rows", "tokens", "cells", "squares"), 0))
        score(pairs)
        found[name] = {**seen, "pairs": len(pairs)}
    return found


def _watch(model: Any, note: Note) -> None:
    """Call ``note`` with the token ids of every batch, in any runtime."""
    if model is not None and getattr(model, "backend", "torch") == "torch":
        model[0].register_forward_pre_hook(lambda _, inputs: note(inputs[0]["input_ids"]))
        return
    try:
        from onnxruntime.capi.onnxruntime_inference_collection import Session
    except ImportError:
        return  # the contender has no model
    run = Session.run

    def noted(self: Any, names: Any, feed: Any, *more: Any, **options: Any) -> Any:
        if "input_ids" in feed:
            note(feed["input_ids"])
        return run(self, names, feed, *more, **options)

    Session.run = noted


# --- limits of the machine ------------------------------------------------------------------------


def machine(job: dict[str, Any]) -> dict[str, float]:
    """Return the GOP/s of plain matrix products with the shape of most of the encoder's products."""
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    rows, inner, outer = job["shape"]
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, inner)).astype(np.float32)
    weight = rng.normal(size=(inner, outer)).astype(np.float32) * np.float32(0.05)
    scale = (np.abs(weight).max(axis=0) / 127).astype(np.float32)
    held = {
        "w": np.rint(weight / scale).astype(np.int8),
        "step": np.array(8 / 255, dtype=np.float32),
        "scale": scale,
        "middle": np.array(128, dtype=np.uint8),
        "none": np.zeros(outer, dtype=np.int8),
        "bias": np.zeros(outer, dtype=np.float32),
    }
    product = ["rounded", "w", "step", "scale", "middle", "none", "bias"]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["m", k]) for n, k in (("x", inner), ("y", outer))]

    def session(nodes: list[Any], arrays: dict[str, Any]) -> Callable[[], Any]:
        import onnxruntime

        kept = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
        graph = helper.make_graph(nodes, "product", ends[:1], ends[1:], kept)
        sets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=sets)
        model.ir_version = 10
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = job["threads"]
        made = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return lambda: made.run(None, {"x": x})

    plain = session([helper.make_node("MatMul", ["x", "w"], ["y"])], {"w": weight})
    rounded = session(
        [
            helper.make_node("QuantizeLinear", ["x", "step", "middle"], ["rounded"]),
            helper.make_node("MatMulIntegerToFloat", product, ["y"], domain="com.microsoft"),
        ],
        held,
    )
    operations = 2 * rows * inner * outer
    return {
        "fp32, numpy": operations / best(lambda: x @ weight) / 1e9,
        "fp32, onnxruntime": operations / best(plain) / 1e9,
        "int8, onnxruntime": operations / best(rounded) / 1e9,
    }


def best(work: Callable[[], Any], times: int = 12) -> float:
    """Run ``work`` several times after two warm-up runs, and return the shortest time."""
    found = []
    for number in range(times + 2):
        started = time.perf_counter()
        work()
        if number > 1:
            found.append(time.perf_counter() - started)
    return min(found)


# --- weights for other runtimes --------------------------------------------------------------------


def prepare(job: dict[str, Any]) -> dict[str, str]:
    """Have sentence-transformers write its own ONNX graph and quantise the graph to eight bits for this processor."""
    from sentence_transformers import SentenceTransformer, export_dynamic_quantized_onnx_model

    given = {"export": True, "provider": "CPUExecutionProvider"}
    model = SentenceTransformer(job["folder"], backend="onnx", model_kwargs=given, local_files_only=True)
    model.save_pretrained(job["out"])
    export_dynamic_quantized_onnx_model(model, job["processor"], job["out"])
    return {"full": "onnx/model.onnx", "int8": f"onnx/model_qint8_{job['processor']}.onnx"}


# --- commands, sizes ------------------------------------------------------------------------------


def command(job: dict[str, Any]) -> dict[str, Any]:
    """Run a command, and return its wall time, CPU time and peak memory.

    This small process starts the command, because a child's peak memory is at least the size of its parent.
    """
    started = time.perf_counter()
    done = subprocess.run(job["command"], capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - started
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1])
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime
    return {"seconds": seconds, "cpu_s": cpu, "peak_mb": used.ru_maxrss * _unit() / 1e6}


def size(job: dict[str, Any]) -> dict[str, Any]:
    """Return the number and total size in MB of the packages that the requirements install, without bytecode."""
    from importlib.metadata import distribution

    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    waiting = [Requirement(each) for each in job["requirements"]]
    sizes: dict[str, float] = {}
    asked: set[tuple[str, str]] = set()
    while waiting:
        need = waiting.pop()
        name = str(canonicalize_name(need.name))
        held = distribution(name)
        if name not in sizes:
            places = [Path(str(file.locate())) for file in held.files or () if file.suffix != ".pyc"]
            # the caller measures paraqd itself, because an editable install lists no files
            mine = name == job.get("excluded")
            sizes[name] = 0 if mine else sum(place.stat().st_size for place in places if place.is_file()) / 1e6
        for extra in {"", *need.extras} - {e for n, e in asked if n == name}:
            asked.add((name, extra))
            for line in held.requires or ():
                inner = Requirement(line)
                if inner.marker is None or inner.marker.evaluate({"extra": extra}):
                    waiting.append(inner)
    largest = dict(sorted(sizes.items(), key=lambda each: -each[1])[:5])
    return {"packages": len(sizes), "mb": sum(sizes.values()), "largest": largest}


# --- this process ---------------------------------------------------------------------------------


def read_pairs(path: str) -> Pairs:
    """Read a file of pairs."""
    with open(path, encoding="utf-8") as lines:
        return [_pair(line) for line in lines]


def _pair(line: str) -> tuple[str, str]:
    row = json.loads(line)
    return row["question"], row["paraphrase"]


def status(name: str) -> float:
    """Return the memory of this process in MB; ``VmRSS`` is the current size, and ``VmHWM`` is the peak."""
    try:
        text = Path("/proc/self/status").read_text("ascii")
    except OSError:  # other systems do not have this file and report only the peak
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _unit() / 1e6
    line = next(line for line in text.splitlines() if line.startswith(f"{name}:"))
    return int(line.split()[1]) * 1024 / 1e6


def forget_peak() -> None:
    """Reset the peak memory, so that it does not include importing and loading."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", "ascii")


def _unit() -> int:
    return 1 if sys.platform == "darwin" else 1024


def hold_cores(threads: int) -> None:
    """Restrict this process and its child processes to the given number of cores."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def hold_threads(threads: int) -> None:
    """Limit the number of threads in onnxruntime, which would otherwise use all cores of the machine."""
    if (os.cpu_count() or 1) <= threads:
        return
    try:
        import onnxruntime
    except ImportError:
        return

    class Limited(onnxruntime.SessionOptions):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.intra_op_num_threads = threads

    onnxruntime.SessionOptions = Limited


def main(arguments: Sequence[str]) -> None:
    """Run the job in the file that the first argument names, and write the result to the second file."""
    job = json.loads(Path(arguments[0]).read_text("utf-8"))
    hold_cores(job["threads"])
    if job["what"] in ("measure", "count"):
        hold_threads(job["threads"])
    jobs: dict[str, Callable[[dict[str, Any]], Any]] = {
        "measure": measure,
        "count": count,
        "machine": machine,
        "prepare": prepare,
        "command": command,
        "size": size,
    }
    made = jobs[job["what"]](job)
    Path(arguments[1]).write_text(json.dumps(made), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
