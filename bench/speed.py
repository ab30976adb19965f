"""Compare paraqd's scoring speed with other runtimes and with the machine's limits.

    python bench/speed.py [--with-onnx-backend] [--growth quick|full|none] [--million] [--go-on] [--quick] [--out DIR]

Every measurement runs in its own process with two threads. The contenders take turns, so that a slow minute of the
machine affects all contenders, and ratios compare measurements in the same turn. ``bench.json`` is written after every
measurement. ``README.md`` and ``bench.png`` are written at the end or after Ctrl-C. ``--go-on`` continues a stopped run
of the same code. ``--with-onnx-backend`` builds an environment for sentence-transformers' ONNX backend and fastembed
(``.venv-bench``, 1.5 GB) if it does not exist yet. The language-model judge is measured if its package is installed.
``--quick`` only shows that everything runs. ``--render`` rewrites the report from an existing ``bench.json``.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from speedlib import env
from speedlib.env import JobError, run_job
from speedlib.figures import medians_by_asked, moved
from speedlib.pairs import Material, gather, made_pairs, write_pairs
from speedlib.report import write_report

from paraqd.judge_package import JUDGE
from paraqd.scoring.judge.installed import installed_judge
from paraqd.scoring.torch_encoder import EncoderUnavailableError, encoder_folder

REFERENCE = "st-torch"
TITLES = {
    "default": "paraqd, small judge",
    "no-skip": "paraqd, small judge, every pair judged",
    "cascade": "paraqd, cascade",
    "large": "paraqd, large judge",
    "encoder": "paraqd, mode encoder (all-MiniLM-L6-v2)",
    "reading": "paraqd, reading alone",
    REFERENCE: "sentence-transformers, torch fp32",
    "st-once": "sentence-transformers, torch fp32, each text once",
    "st-onnx": "sentence-transformers, ONNX int8",
    "fastembed": "fastembed, ONNX fp32",
}
# the shape of the measured matrix product: a batch of 4096 tokens in the first half of a layer's MLP
SHAPE = (4096, 384, 1536)
_STOPPED = 130
_MILLION = 1_000_000
QUESTION = "Tom has 5 red and 3 blue pens. How many pens does he have in all?"
PARAPHRASE = "Tom owns 5 red pens and some blue ones. How many pens does he own?"
# the arguments are the model folder, the file in this folder, and both texts
_COLD = {
    REFERENCE: """
import sys
from sentence_transformers import SentenceTransformer
model = SentenceTransformer(sys.argv[1], device="cpu", local_files_only=True)
one, other = model.encode(sys.argv[3:])
print(one @ other)
""",
    "st-onnx": """
import sys
from sentence_transformers import SentenceTransformer
given = {"file_name": sys.argv[2], "provider": "CPUExecutionProvider"}
model = SentenceTransformer(sys.argv[1], backend="onnx", model_kwargs=given, local_files_only=True)
one, other = model.encode(sys.argv[3:])
print(one @ other)
""",
    "fastembed": """
import sys
from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType
given = {"pooling": PoolingType.MEAN, "normalization": True, "sources": ModelSource(hf="local/model"), "dim": 384}
TextEmbedding.add_custom_model(model="local/model", model_file=sys.argv[2], **given)
one, other = TextEmbedding("local/model", specific_model_path=sys.argv[1]).embed(sys.argv[3:])
print(one @ other)
""",
}


@dataclass(frozen=True)
class Contender:
    """A scorer to measure: the kind and options with which ``worker.py`` loads the scorer, and the interpreter."""

    kind: str
    options: dict[str, Any] = field(default_factory=dict)
    python: str = sys.executable


class Bench:
    """A run of the benchmark, whose measurements are saved after each step."""

    def __init__(self, options: argparse.Namespace, out: Path, work: Path) -> None:
        self.options = options
        self.out = out
        self.work = work
        self.repeats: int = options.repeats
        self.material: Material = gather(quick=options.quick)
        self.contenders: dict[str, Contender] = {}
        self.found: dict[str, Any] = {
            "quick": options.quick,
            "machine": env.describe(),
            "versions": env.versions(),
            "code": env.code_digest(),
            "sets": {
                name: {"pairs": len(pairs), "texts": len({text for pair in pairs for text in pair})}
                for name, pairs in self.material.sets.items()
            },
            "absent_sets": self.material.absent,
            "reference": REFERENCE,
            "titles": TITLES,
            "shape": SHAPE,
            "not_run": {},
            "failed": {},
            "limits": [],
            "runs": {},
            "counts": {},
            "quality": {},
            "cold_start": {},
            "size": {},
            "growth": [],
            "minutes": 0.0,
        }
        if options.go_on:
            self._load_stopped_run(out / "bench.json")
        self._scores: dict[str, list[float]] = {}

    def _load_stopped_run(self, path: Path) -> None:
        """Load the measurements of a stopped run, or exit if the run used other code, versions or pairs."""
        before = json.loads(path.read_text("utf-8")) if path.is_file() else {}
        mine = json.loads(json.dumps(self.found))
        if any(before.get(key) != mine[key] for key in ("quick", "versions", "code", "sets", "titles", "shape")):
            sys.exit(f"{path} has no run of the same code, versions and pairs: run without --go-on")
        for key in ("limits", "runs", "counts", "quality", "cold_start", "size", "growth", "minutes"):
            self.found[key] = before[key]

    def keep(self) -> None:
        """Save the measurements."""
        self.out.mkdir(parents=True, exist_ok=True)
        path = self.out / "bench.json"
        waiting = path.with_suffix(".writing")
        waiting.write_text(json.dumps(self.found, indent=1) + "\n", "utf-8")
        waiting.replace(path)

    def drop(self, name: str, reason: object) -> None:
        """Record why a contender is not measured."""
        self.contenders.pop(name, None)
        self.found["not_run"][name] = str(reason)
        print(f"  {TITLES[name]}: not run: {reason}", flush=True)
        self.keep()

    def attempt(self, what: str, job: dict[str, Any], python: str = sys.executable) -> dict[str, Any] | None:
        """Run a job, and return its result. If the job fails, record the reason and return None."""
        try:
            return run_job(job, python=python)
        except JobError as error:
            self.found["failed"][what] = str(error)
            print(f"  {what}: failed: {error}", flush=True)
            self.keep()
            return None

    # --- contenders -------------------------------------------------------------------------------

    def line_up(self) -> None:
        """Find the contenders that can run on this machine."""
        if self.found["machine"]["load_before"] > 0.5:
            print(f"other programs are running (load {self.found['machine']['load_before']}): expect a wide spread")
        print("contenders", flush=True)
        wanted = self.options.contenders.split(",") if self.options.contenders else list(TITLES)
        found = {
            "default": Contender("paraqd", {"judge": "small"}),
            "no-skip": Contender("paraqd", {"judge": "small", "skip": False}),
            "reading": Contender("paraqd", {"model": "reading"}),
        }
        larger = {name: Contender("paraqd", {"judge": name}) for name in ("cascade", "large")}
        if installed_judge() is not None:
            found |= larger
        for name in larger.keys() - found.keys() & set(wanted):
            self.drop(name, f"the package {JUDGE.name} is not installed")
        try:
            self._encoders(wanted, found)
        except (EncoderUnavailableError, JobError) as error:
            for name in wanted:
                if name not in found and name not in self.found["not_run"]:
                    self.drop(name, error)
        self.contenders = {name: found[name] for name in TITLES if name in found and name in wanted}

    def _encoders(self, wanted: list[str], found: dict[str, Contender]) -> None:
        """Add the contenders that encode texts as vectors. All of them use the same weights."""
        weights = encoder_folder()
        found[REFERENCE] = Contender("sentence-transformers", {"folder": str(weights)})
        found["st-once"] = Contender("sentence-transformers", {"folder": str(weights), "once": True})
        if "encoder" in wanted:
            found["encoder"] = Contender("paraqd", {"model": env.export_ours(weights, self.work), "mode": "encoder"})
        if {"st-onnx", "fastembed"} & set(wanted):
            self._rivals(weights, found)

    def _rivals(self, weights: Path, found: dict[str, Contender]) -> None:
        folder = Path(self.options.rivals)
        python = env.rivals_python(folder)
        if self.options.with_onnx_backend:
            print(f"  preparing the environment in {folder} (takes minutes the first time)", flush=True)
            failed = env.build_rivals(folder)
        elif python.is_file():
            failed = {}
        else:
            failed = dict.fromkeys(("sentence-transformers", "fastembed"), "not installed: pass --with-onnx-backend")
        why = failed.get("sentence-transformers", "")
        if why:  # fastembed runs a graph that sentence-transformers exports
            self.drop("st-onnx", why)
            self.drop(
                "fastembed", failed.get("fastembed") or "sentence-transformers, which exports its graph, is missing"
            )
            return
        out = self.work / "theirs"
        job = {"what": "prepare", "folder": str(weights), "out": str(out), "processor": env.processor()}
        try:
            made = run_job(job, python=python)
        except JobError as error:
            self.drop("st-onnx", error)
            self.drop("fastembed", "its graph could not be exported")
            return
        self.found["rivals_versions"] = env.rivals_versions(folder)
        theirs = {"folder": str(out), "file": made["int8"]}
        found["st-onnx"] = Contender("sentence-transformers", theirs, str(python))
        if failed.get("fastembed"):
            self.drop("fastembed", failed["fastembed"])
        else:  # use 32 bits, because the model that fastembed downloads under this name also has 32 bits
            found["fastembed"] = Contender("fastembed", {**theirs, "file": made["full"]}, str(python))

    # --- throughput, latency, memory ---------------------------------------------------------------

    def take_turns(self) -> None:
        """Measure the machine's limits and every contender in each turn."""
        files = {
            name: write_pairs(pairs, self.work / f"{number}.jsonl")
            for number, (name, pairs) in enumerate(self.material.sets.items())
        }
        warm = write_pairs(self.material.warm, self.work / "warm.jsonl")
        single = write_pairs(self.material.single, self.work / "single.jsonl")
        # keep only complete turns, because ratios compare measurements in the same turn
        whole = min((len(self.found["runs"].get(name, ())) for name in self.contenders), default=0)
        self.found["runs"] = {name: runs[:whole] for name, runs in self.found["runs"].items() if whole}
        self.found["limits"] = self.found["limits"][:whole]
        for turn in range(whole, self.repeats):
            print(f"turn {turn + 1} of {self.repeats}", flush=True)
            self._limits()
            for name in list(self.contenders):
                who = self.contenders[name]
                job: dict[str, Any] = {"what": "measure", "kind": who.kind, "options": who.options}
                job |= {"sets": files, "warm": warm, "single": single, "scores": turn == 0}
                try:
                    run = run_job(job, python=who.python)
                except JobError as error:
                    self.drop(name, error)
                    continue
                self._note(name, run)
                if not turn:
                    counts = self.attempt(f"counting for {TITLES[name]}", {**job, "what": "count"}, who.python)
                    self.found["counts"] |= {name: counts} if counts else {}
                self.keep()

    def _limits(self) -> None:
        made = self.attempt("the machine's limits", {"what": "machine", "shape": SHAPE})
        if made is None:
            return
        self.found["limits"].append(made)
        print(
            "  " + ", ".join(f"{name} {rate:,.0f} GOP/s" for name, rate in self.found["limits"][-1].items()), flush=True
        )

    def _note(self, name: str, run: dict[str, Any]) -> None:
        scores = [score for each in run["sets"].values() for score in each.pop("scores", [])]
        if scores:
            self._scores[name] = scores
        self.found["runs"].setdefault(name, []).append(run)
        for other in ("encoder", "st-onnx", "fastembed"):
            if other in self._scores and REFERENCE in self._scores:
                self.found["quality"][other] = moved(self._scores[other], self._scores[REFERENCE])
        rates = ", ".join(f"{each['pairs'] / each['seconds']:,.0f}" for each in run["sets"].values())
        middle = sorted(run["single_ms"])[len(run["single_ms"]) // 2]
        print(f"  {TITLES[name]}: {rates} pairs/s; one pair {middle:.1f} ms; {run['peak_mb']:,.0f} MB", flush=True)
        if any(run.get("single_asked", ())):
            sure, unsure = ([f"{ms:.0f} ms" for ms in medians_by_asked([run], asked)] for asked in (False, True))
            share = ", ".join(f"{each['asked'] / each['pairs']:.0%}" for each in run["sets"].values())
            print(f"    asked about {share}; one sure pair {sure}, one unsure pair {unsure}", flush=True)

    # --- commands ---------------------------------------------------------------------------------

    def cold_starts(self) -> None:
        """Time the commands that start Python, load a contender and score one pair."""
        if self.found["size"]:  # the next step has been done, so this step has also been done
            return
        self.found["cold_start"] = {}
        print("one pair from a cold start", flush=True)
        commands = {"python": [sys.executable, "-c", "pass"]}
        if "default" in self.contenders:
            commands["default"] = [*env.paraqd(), "explain", QUESTION, PARAPHRASE, "--judge", "small"]
        if "large" in self.contenders:
            commands["large"] = [*env.paraqd(), "explain", QUESTION, PARAPHRASE, "--judge", "large"]
        for name, who in self.contenders.items():
            if name not in _COLD:
                continue
            places = [who.options["folder"], who.options.get("file", "")]
            commands[name] = [who.python, "-c", _COLD[name], *places, QUESTION, PARAPHRASE]
        for turn in range(1 if self.options.quick else 0, self.repeats + 1):
            for name, command in commands.items():
                python = self.contenders[name].python if name in self.contenders else sys.executable
                job = {"what": "command", "command": command}
                run = self.attempt(f"a cold start of {TITLES.get(name, name)}", job, python)
                if turn and run:  # the first run fills the disk cache
                    self.found["cold_start"].setdefault(name, []).append(run)
        for name, runs in self.found["cold_start"].items():
            middle = sorted(run["seconds"] for run in runs)[len(runs) // 2]
            print(f"  {TITLES.get(name, 'python -c pass')}: {middle:.2f} s", flush=True)
        self.keep()

    def sizes(self) -> None:
        """Measure the installed size of each contender."""
        if self.found["size"]:
            return
        import paraqd

        own = Path(paraqd.__file__).parent
        files = [path for path in own.rglob("*") if path.is_file() and path.suffix != ".pyc"]
        ours = self.attempt("the size of paraqd", {"what": "size", "requirements": ["paraqd"], "excluded": "paraqd"})
        if ours:
            self.found["size"]["default"] = {**ours, "own_mb": sum(path.stat().st_size for path in files) / 1e6}
            judge = installed_judge()
            if judge is not None:
                files += [path for path in judge.path.rglob("*") if path.is_file()]
                both = {"packages": ours["packages"] + 1, "own_mb": sum(path.stat().st_size for path in files) / 1e6}
                self.found["size"]["large"] = {**ours, **both}
        needs = {REFERENCE: "sentence-transformers", "st-onnx": "sentence-transformers[onnx]", "fastembed": "fastembed"}
        for name, who in self.contenders.items():
            if name not in needs:
                continue
            job = {"what": "size", "requirements": [needs[name]]}
            found = self.attempt(f"the size of {needs[name]}", job, who.python)
            weights = Path(who.options["folder"]) / who.options.get("file", "model.safetensors")
            if found:
                self.found["size"][name] = {**found, "own_mb": weights.stat().st_size / 1e6}
        self.keep()

    # --- growth -----------------------------------------------------------------------------------

    def grow(self) -> None:
        """Score files of increasing size, and a file of one pair, with ``paraqd score`` in each turn."""
        sizes = _sizes(self.options)
        files = {size: write_pairs(made_pairs(size), self.work / f"{size}.jsonl") for size in [1, *sizes]}
        for turn in range(self.repeats if sizes else 0):
            print(f"growth, turn {turn + 1} of {self.repeats}", flush=True)
            for size, file in files.items():
                self._grown(turn, size, file)
        if self.options.million:
            file = write_pairs(made_pairs(_MILLION), self.work / "million.jsonl")
            for size, each in ((1, files[1]), (_MILLION, file)):
                self._grown(self.repeats, size, each)

    def _grown(self, turn: int, size: int, file: str) -> None:
        if any((run["turn"], run["pairs"]) == (turn, size) for run in self.found["growth"]):
            return
        scored = self.work / "scored.jsonl"
        command = [*env.paraqd(), "score", file, "-o", str(scored), "--overwrite", "--quiet", "--judge", "small"]
        run = self.attempt(f"scoring a file of {size:,} pairs", {"what": "command", "command": command})
        if run is None:
            return
        with scored.open(encoding="utf-8") as lines:
            rows = sum(1 for _ in lines)
        if rows != size:
            self.found["failed"][f"scoring a file of {size:,} pairs"] = f"{rows:,} rows came out"
            return
        self.found["growth"].append({**run, "turn": turn, "pairs": size})
        rate, peak = size / run["seconds"], run["peak_mb"]
        print(f"  {size:,} pairs: {run['seconds']:,.1f} s, {rate:,.0f} pairs/s; {peak:,.0f} MB", flush=True)
        self.keep()


def _sizes(options: argparse.Namespace) -> list[int]:
    if options.growth == "none":
        return []
    if options.quick:
        return [200]
    return [1_000, 10_000] + ([100_000] if options.growth == "full" else [])


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Parse the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--out", type=Path, help="the output folder (default: results/bench, or runs/bench-quick with --quick)"
    )
    parser.add_argument("--repeats", type=int, help="the number of turns (default: 5, or 1 with --quick)")
    parser.add_argument("--contenders", help=f"the contenders to measure (default: {','.join(TITLES)})")
    parser.add_argument("--with-onnx-backend", action="store_true", help="build the environment for the other runtimes")
    parser.add_argument("--rivals", default=str(env.RIVALS), help="the folder of this environment")
    parser.add_argument("--growth", choices=("quick", "full", "none"), default="quick")
    parser.add_argument("--million", action="store_true", help="also score a file of a million pairs once")
    parser.add_argument("--go-on", action="store_true", help="continue a stopped run of the same code")
    parser.add_argument("--quick", action="store_true", help="a trial of two minutes with few pairs")
    parser.add_argument("--render", action="store_true", help="only rewrite the report from an existing bench.json")
    options = parser.parse_args(arguments)
    unknown = [name for name in (options.contenders or "").split(",") if name and name not in TITLES]
    if unknown:
        parser.error(f"there is no contender {unknown[0]}: choose from {', '.join(TITLES)}")
    if options.repeats is not None and options.repeats < 1:
        parser.error("--repeats must be at least 1")
    options.repeats = options.repeats or (1 if options.quick else 5)
    options.out = options.out or env.ROOT / ("runs/bench-quick" if options.quick else "results/bench")
    return options


def _stop(*_: object) -> None:
    raise KeyboardInterrupt


def main() -> int:
    """Run the benchmark, write the report, and return the exit code.

    The exit code is 1 if a measurement failed, and 130 if the run was stopped.
    """
    options = parse()
    path = options.out / "bench.json"
    if options.render:
        if not path.is_file():
            sys.exit(f"{path} does not exist: run without --render first")
        write_report(json.loads(path.read_text("utf-8")), options.out)
        return 0
    signal.signal(signal.SIGTERM, _stop)  # SIGTERM has the same effect as Ctrl-C
    started = time.perf_counter()
    code = 0
    with tempfile.TemporaryDirectory(prefix="paraqd-bench-") as work:
        bench = Bench(options, options.out, Path(work))
        try:
            bench.line_up()
            bench.take_turns()
            bench.cold_starts()
            bench.sizes()
            bench.grow()
        except KeyboardInterrupt:
            print("stopped; the measurements so far are saved", file=sys.stderr)
            code = _STOPPED
        bench.found["stopped"] = code == _STOPPED
        bench.found["minutes"] = round(bench.found["minutes"] + (time.perf_counter() - started) / 60, 1)
        bench.keep()
    write_report(bench.found, options.out)
    print(f"{options.out / 'README.md'}, {bench.found['minutes']} minutes")
    return code or int(bool(bench.found["failed"]))


if __name__ == "__main__":
    sys.exit(main())
