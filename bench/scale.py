"""Measure the cost of scoring, and write the section of docs/scale.md on the cost for very many pairs.

    python bench/scale.py [--pairs 600] [--price 0.04] [--cores 64] [--show]

There are two kinds of texts: texts of three lengths that are generated from a few patterns, and the texts of the open
benchmark in the package. The estimates use the benchmark. The cost of a pair is measured in CPU time, which hardly
depends on other work on the machine. Several workers together are measured in wall-clock time, for which the machine
should be idle. ``--show`` prints the section instead of writing it.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import platform
import random
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from paraqd import Scorer
from paraqd.progress import silent
from paraqd.runs.engines import Engine, Result, in_this_process
from paraqd.runs.locations import Location
from paraqd.runs.manifest import make_manifest
from paraqd.runs.parts import ParquetParts
from paraqd.runs.pieces import MOST_ROWS, Piece, rows_of_a_part
from paraqd.runs.score import Model, score_file
from paraqd.runs.store import Store
from paraqd.runs.survey import Inputs, survey
from paraqd.tables.datasets import load_pairs
from paraqd.version import __version__

DOCUMENT = Path(__file__).parents[1] / "docs" / "scale.md"
BEGIN, END = "<!-- measured: python bench/scale.py -->", "<!-- end of the measured part -->"
MODELS = ("default", "reading")
LENGTHS = {"short": 1, "medium": 4, "long": 16}  # number of patterns before the question
_SMALL = 240
_ROWS_BEFORE = 60_000
_BOOK = 600  # the number of patterns in a text that is as long as a book chapter
REAL = "awp-variants"
SIZES = {"100 million": 10**8, "10 billion": 10**10}
_NAMES = ("Asha", "Ben", "Carla", "Dev", "Elif", "Farid", "Grace", "Hugo", "Ines", "Jamal")
_THINGS = ("apples", "pencils", "tickets", "stamps", "marbles", "books", "cookies", "stickers")
_WAYS = (
    ("{a} has {m} {t} and buys {n} more.", "{a} buys {n} {t} besides the {m} already there."),
    ("{a} gives {n} of {m} {t} to {b}.", "Of {m} {t}, {b} gets {n} from {a}."),
    ("A box of {t} costs {m} dollars and weighs {n} kg.", "{t} cost {m} dollars a box, which weighs {n} kg."),
    ("{a} walks {m} km in {n} hours while {b} waits.", "In {n} hours {a} walks {m} km while {b} waits."),
)


class Pair(NamedTuple):
    """A question and a paraphrase."""

    question: str
    paraphrase: str


def pairs(count: int, patterns: int, seed: int = 0) -> list[Pair]:
    """Return different pairs, some of which have lost a number. Equal pairs would be faster, because of caching."""
    rng = random.Random(f"{seed} {patterns}")
    made = []
    for i in range(count):
        sentences: tuple[list[str], list[str]] = ([], [])
        for _ in range(patterns):
            a, b = rng.sample(_NAMES, 2)
            words = {"a": a, "b": b, "t": rng.choice(_THINGS), "m": rng.randint(20, 900), "n": rng.randint(2, 19)}
            for side, way in zip(sentences, rng.choice(_WAYS), strict=True):
                side.append(way.format(**words))
        if rng.random() < 0.4:
            sentences[1][-1] = " ".join(word for word in sentences[1][-1].split() if not word.isdigit())
        ask = f"How many {rng.choice(_THINGS)} are there on day {i + 1} in all?"
        made.append(Pair(" ".join([*sentences[0], ask]), " ".join([*sentences[1], ask])))
    return made


def real_pairs(count: int) -> list[Pair]:
    """Return pairs from the open benchmark in a fixed random order."""
    found = [Pair(pair.question, pair.paraphrase) for pair in load_pairs(REAL)]
    random.Random(0).shuffle(found)
    return found[:count]


def write(folder: Path, made: list[Pair], *, files: int = 1) -> None:
    """Write pairs as Parquet files."""
    folder.mkdir()
    for number in range(files):
        some = made[number::files]
        rows = [{"id": f"{number}-{i}", **pair._asdict()} for i, pair in enumerate(some)]
        pq.write_table(pa.Table.from_pylist(rows), folder / f"pairs-{number:05}.parquet", compression="zstd")


# --- one worker ---------------------------------------------------------------------------------


def rate(model: str, made: list[Pair]) -> float:
    """Return the number of pairs that one core scores in a second."""
    scorer = Scorer.load(model, threads=1)
    scorer.score_pairs(made[:8])
    before = time.process_time()
    scorer.score_pairs(made[8:])
    return (len(made) - 8) / (time.process_time() - before)


class _MemoryWorker:
    """A worker on the cluster that reports its memory."""

    def report(self, model: str, made: list[Pair]) -> tuple[float, float]:
        """Return the process's peak memory in MB, and the CPU seconds for loading the model."""
        before = time.process_time()
        # workers in a real run also import this
        from paraqd.runs.score_job import ScoreJob  # noqa: F401

        scorer = Model(model).load(1)
        scorer.score("What is 2 + 3?", "Add 2 to 3.")
        seconds = time.process_time() - before
        scorer.begin(made)()
        status = Path("/proc/self/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024, seconds


def memory(model: str) -> tuple[float, float]:
    """Return the peak memory of a worker on the cluster in MB, and the CPU seconds for loading the model."""
    import ray

    actor = ray.remote(_MemoryWorker).options(num_cpus=1, runtime_env={"env_vars": {"OMP_NUM_THREADS": "1"}}).remote()
    held: tuple[float, float] = ray.get(actor.report.remote(model, real_pairs(256)))
    ray.kill(actor)
    return held


# --- runs over folders --------------------------------------------------------------------------


class Timed(NamedTuple):
    """The speed of a run."""

    steady: float  # rows per second, after every worker has started
    out_bytes: int


def run(source: Path, out: Path, model: str, engine: Engine, part_rows: int) -> Timed:
    """Score a folder, and return the speed."""
    reports: list[tuple[float, int]] = []

    def progress(stage: str, done: int, total: int | None, note: str = "") -> None:
        del total, note
        if stage == "scoring":
            reports.append((time.monotonic(), done))

    score_file(source, f"{out}/", scorer=model, engine=engine, part_rows=part_rows, progress=progress)
    done = [moment for moment in reports if moment[1]]
    done = done[len(done) // 3 :]  # by then every worker has started
    spent = done[-1][0] - done[0][0]
    size = _joined_size(out)
    return Timed((done[-1][1] - done[0][1]) / spent if spent else 0.0, size)


def _joined_size(out: Path) -> int:
    """Return the size of all parts joined into one file, because a small part consists mostly of its footer."""
    whole = pa.BufferOutputStream()
    rows = pa.concat_tables([pq.read_table(part, partitioning=None) for part in sorted(out.glob("part-*"))])
    pq.write_table(rows, whole, compression="zstd", compression_level=3)
    return int(whole.getvalue().size)


@contextmanager
def cluster() -> Iterator[Callable[[int], Engine]]:
    """Start a cluster, and yield a function that creates an engine on the cluster with a given number of workers.

    The cluster is started in advance, so that starting it does not count as part of a run.
    """
    import ray

    from paraqd.runs.ray_engine import on_ray

    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    options: dict[str, Any] = {"include_dashboard": False, "log_to_driver": False, "logging_level": "CRITICAL"}
    ray.init(num_cpus=2, object_store_memory=100 << 20, **options)
    try:
        yield lambda workers: on_ray(workers=workers)
    finally:
        ray.shutdown()


# --- cost that grows with the number of files and parts -----------------------------------------


class Growth(NamedTuple):
    """The cost of each file and each part for a run's leading process."""

    look_ms: float
    resume_ms: float
    manifest_bytes: float
    memory_bytes: float
    sent_bytes: int
    over_us: Mapping[str, float]


def read_over(folder: Path) -> dict[str, float]:
    """Return the microseconds for skipping one row before a part, keyed by file format."""
    folder.mkdir()
    rows = [pair._asdict() for pair in pairs(_ROWS_BEFORE, LENGTHS["medium"], 5)]
    pq.write_table(pa.Table.from_pylist(rows), folder / "pairs.parquet", compression="zstd")
    (folder / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    inputs = survey(Location.at(str(folder)), part_rows=100, check=lambda table: None, progress=silent)
    found = {}
    for name in ("pairs.parquet", "pairs.jsonl"):
        taken = []
        for piece in (part for part in inputs.pieces if part.file == name and part.start in (0, _ROWS_BEFORE - 100)):
            began = time.process_time()
            list(inputs.reader.rows(piece))
            taken.append(time.process_time() - began)
        found[name.partition(".")[2]] = 1e6 * (taken[1] - taken[0]) / _ROWS_BEFORE
    return found


def growth(folder: Path) -> Growth:
    """Measure the cost that grows with the number of files and parts."""
    write(folder / "many", pairs(600, 1, 2), files=300)
    began = time.monotonic()
    store = Location.at(str(folder / "many"))
    inputs = survey(store, check=lambda table: None, progress=silent)
    look = (time.monotonic() - began) / len(inputs.files)
    run(folder / "many", folder / "many-scored", "reading", in_this_process, 2)
    store_out = Location.at(str(folder / "many-scored"))
    part = sorted((folder / "many-scored").glob("part-*"))[0]
    facts_of_part = json.loads(pq.read_metadata(part).metadata[b"paraqd.part"])
    parts = ParquetParts(store_out, facts_of_part["run"], 5, {}, {})
    few = survey(store, part_rows=2, check=lambda table: None, progress=silent)
    began = time.monotonic()
    there = dict(Store(store_out).done(parts, few))
    resume = (time.monotonic() - began) / len(there)
    facts = there[0]
    count = 20_000
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    name = inputs.files[0].entry.name
    pieces = tuple(Piece(i, name, i * MOST_ROWS, MOST_ROWS) for i in range(count))
    many = Inputs(store, inputs.files[:1], pieces, inputs.types, MOST_ROWS)
    written = len(json.dumps(make_manifest("score", {}, many)))
    used = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    sent = len(pickle.dumps(pieces[-1])) + len(pickle.dumps(Result(pieces[-1], facts)))
    over = read_over(folder / "before")
    return Growth(1000 * look, 1000 * resume, written / count, used / count, sent, over)


# --- the section --------------------------------------------------------------------------------


def section(wanted: int, price: float, cores: int) -> str:
    """Take all measurements, and return the section."""
    rates: dict[str, dict[str, float]] = {model: {} for model in MODELS}
    for model in MODELS:
        for length, patterns in LENGTHS.items():
            count = (wanted if model == "default" else 3 * wanted) // (4 if length == "long" else 1)
            rates[model][length] = rate(model, pairs(count, patterns))
            print(f"{model} {length}: {rates[model][length]:.1f} pairs per core-second", file=sys.stderr)
        rates[model][REAL] = rate(model, real_pairs(wanted if model == "default" else 3 * wanted))
    book = pairs(1, _BOOK)[0]
    longest = {model: 1 / rate(model, [*pairs(8, 1), book]) for model in MODELS}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        real = real_pairs(wanted)
        write(folder / "default", real)
        write(folder / "reading", pairs(8 * wanted, LENGTHS["medium"], 3))
        write(folder / "small", pairs(_SMALL, 1, 4))
        in_bytes = sum(file.stat().st_size for file in (folder / "default").iterdir()) / len(real)
        several: dict[str, dict[int, Timed]] = {}
        with cluster() as on_cluster:
            held = {model: memory(model) for model in MODELS}
            for model, count in (("default", len(real)), ("reading", 8 * wanted)):
                several[model] = {}
                for workers in (1, 2):
                    out = folder / f"{model}-{workers}"
                    engine = on_cluster(workers)
                    several[model][workers] = run(folder / model, out, model, engine, max(1, count // 24))
                    print(f"{model} on {workers}: {several[model][workers].steady:.1f} pairs/s", file=sys.stderr)
            each: dict[str, float] = {}
            for label, engine in (("local", in_this_process), ("ray", on_cluster(1))):
                # each part has one row, so that the cost of a part can be separated from the cost of its rows
                taken = [run(folder / "small", folder / f"{label}-{i}", "reading", engine, 1).steady for i in (1, 2)]
                each[label] = 1000 / max(taken) - 1000 / rates["reading"]["short"]
        out_bytes = several["default"][1].out_bytes / len(real)
        grown = growth(folder)
    facts = Facts(rates, longest, held, several, each, in_bytes, out_bytes, grown)
    return written(facts, wanted, price, cores)


class Facts(NamedTuple):
    """All measurements."""

    rates: dict[str, dict[str, float]]
    longest: dict[str, float]
    held: dict[str, tuple[float, float]]
    several: dict[str, dict[int, Timed]]
    each: dict[str, float]
    in_bytes: float
    out_bytes: float
    grown: Growth


def table(header: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table in which all columns except the first are numbers."""
    lines = [" | ".join(header), " | ".join(["---", *["---:"] * (len(header) - 1)]), *(" | ".join(row) for row in rows)]
    return "\n".join(f"| {line} |" for line in lines)


def written(facts: Facts, wanted: int, price: float, cores: int) -> str:
    """Return the section as Markdown."""
    sizes = {length: pairs(50, patterns) for length, patterns in LENGTHS.items()}
    sizes[REAL] = real_pairs(500)
    mean = {length: sum(len(pair.question) for pair in made) / len(made) for length, made in sizes.items()}
    blocks = [
        f"paraqd {__version__}, {platform.machine()}, {os.cpu_count()} cores ({_processor()}), Python "
        f"{platform.python_version()}; {wanted} pairs of each length for the default model. One worker has one thread.",
        table(
            ["pairs per core-second", *(f"{length} ({mean[length]:.0f} characters)" for length in sizes)],
            [[model, *(f"{facts.rates[model][length]:,.1f}" for length in sizes)] for model in MODELS],
        ),
        table(
            [
                "one worker",
                "peak memory, MB",
                "loading, core-seconds",
                "a text as long as a book chapter, core-seconds",
            ],
            [
                [model, f"{facts.held[model][0]:,.0f}", f"{facts.held[model][1]:.1f}", f"{facts.longest[model]:.1f}"]
                for model in MODELS
            ],
        ),
        table(
            ["Ray workers on this machine, pairs per second (wall clock)", "1", "2", "ratio"],
            [
                [
                    model,
                    *(f"{facts.several[model][n].steady:,.1f}" for n in (1, 2)),
                    f"{facts.several[model][2].steady / max(0.01, facts.several[model][1].steady):.2f}",
                ]
                for model in MODELS
            ],
        ),
        table(
            ["cost of a part, without its rows", "ms"],
            [
                ["write it safely to disk, local engine", f"{facts.each['local']:.1f}"],
                ["the same with Ray: assign, work, report", f"{facts.each['ray']:.1f}"],
                ["read its footer when a run resumes", f"{facts.grown.resume_ms:.1f}"],
                ["check an input file before the run", f"{facts.grown.look_ms:.1f}"],
            ],
        ),
        f"A pair of {REAL} takes {facts.in_bytes:.0f} bytes of Parquet before scoring and {facts.out_bytes:.0f} after, "
        "with its evidence (zstd).",
        "### Estimates for many pairs",
        arithmetic(facts, price, cores),
        "### Where it breaks first",
        limits(facts, cores),
    ]
    return "\n\n".join(blocks)


def arithmetic(facts: Facts, price: float, cores: int) -> str:
    """Return the table of core-hours, machines, money and storage."""
    rows = []
    for label, count in SIZES.items():
        for model in MODELS:
            size = rows_of_a_part(count)
            seconds = count / facts.rates[model][REAL] + count / size * facts.each["ray"] / 1000
            hours = seconds / 3600
            rows.append(
                [
                    f"{label}, {model}",
                    f"{hours:,.0f}",
                    f"{price * hours:,.0f}",
                    f"{-(-hours // (24 * cores)):,.0f}",
                    f"{-(-count // size):,}",
                    f"{size / facts.rates[model][REAL] / 60:,.1f}",
                    f"{count * facts.in_bytes / 1e9:,.0f} → {count * facts.out_bytes / 1e9:,.0f}",
                ]
            )
    header = [
        "pairs, model",
        "core-hours",
        f"cost at {price:g} per core-hour",
        f"machines of {cores} cores for a day",
        "parts",
        "minutes per part",
        "Parquet before → after, GB",
    ]
    note = (
        "Core-hours = pairs ÷ (pairs per core-second × 3600) + parts × cost of a part, at the rate of "
        f"{REAL}. See the first table for texts of other lengths. The price is an example; `--price` sets another."
    )
    return f"{table(header, rows)}\n\n{note}"


def limits(facts: Facts, cores: int) -> str:
    """Return a list of the limits that are reached first, with measurements."""
    grown = facts.grown
    parts = -(-(10**10) // MOST_ROWS)
    slots = MOST_ROWS / facts.rates["default"][REAL] / (facts.each["ray"] / 1000)
    worst = facts.rates["default"][REAL] * facts.longest["default"]
    small = 10**10 / 1000
    characters = len(pairs(1, _BOOK)[0].question)
    added = facts.each["ray"] - facts.each["local"]
    held = {model: cores * facts.held[model][0] / 1000 for model in MODELS}
    lines = [
        f"**Many small files.** Each file makes at least one part. 10 billion pairs in files of 1,000 are {small:,.0f} "
        f"files. Checking them takes {small * grown.look_ms / 3.6e6:,.1f} hours before the first pair is scored "
        f"({grown.look_ms:.1f} ms each on a local disk, 16 at a time; object stores are slower). The leading process "
        f"needs {small * grown.memory_bytes / 1e9:,.1f} GB, the manifest has {small * grown.manifest_bytes / 1e9:,.1f} "
        f"GB, and assigning parts takes {small * facts.each['ray'] / 3.6e6:,.0f} hours. With files of 100,000 rows or "
        "more, all of this is negligible.",
        f"**Very long texts.** A pair of {characters:,} characters takes the default model "
        f"{facts.longest['default']:.1f} core-seconds, as much as {worst:,.0f} pairs of the benchmark. (The judge "
        "reads at most 64 windows of a text.) A part with long texts delays the end of a run, but no other part; "
        "`--part-rows` makes parts smaller.",
        f"**Large row groups and text files.** If a row group is larger than a part, each part reads it from its "
        f"start: {grown.over_us['parquet']:.1f} µs per skipped row. The last part of a row group of a million "
        f"rows starts {grown.over_us['parquet']:.1f} seconds late, of ten million "
        f"rows {10 * grown.over_us['parquet']:.0f} seconds. A text file is read once by the leading process and once "
        f"by each worker that has a part of it, at {grown.over_us['jsonl']:.1f} µs per row of JSON Lines. For Parquet "
        "with row groups of 100,000 rows, this is negligible.",
        f"**The leading process.** It needs {grown.memory_bytes:,.0f} bytes of memory and {grown.manifest_bytes:.0f} "
        f"bytes of manifest per part. For 10 billion pairs in large files ({parts:,} parts), this is "
        f"{parts * grown.memory_bytes / 1e6:,.0f} MB and {parts * grown.manifest_bytes / 1e6:,.0f} MB. To resume, it "
        f"reads the footer of each part, {grown.resume_ms:.1f} ms each here, 16 at a time.",
        f"**Assigning parts.** A part costs {facts.each['ray']:.1f} ms with Ray and {facts.each['local']:.1f} ms "
        f"without ({added:+.1f} ms). Even if the leader needed all of this time, it could keep {slots:,.0f} "
        f"workers busy with parts of {MOST_ROWS:,} rows and the default model, or {slots * 1024 / MOST_ROWS:,.0f} with "
        "parts of 1,024 rows.",
        f"**Ray's object store** holds no rows: {grown.sent_bytes:,} bytes per part go through Ray, in both directions "
        "together. The 128 MB of a cluster that paraqd starts itself are never filled.",
        f"**Memory.** A machine with {cores} cores runs {cores} workers. They need {held['default']:,.0f} GB for the "
        f"default model and {held['reading']:,.0f} GB for `reading`, and each worker at most "
        f"{MOST_ROWS * facts.out_bytes / 1e6:,.0f} MB for the compressed part it is making.",
    ]
    return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, start=1))


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else ():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=600, help="the number of pairs per length for the default model")
    parser.add_argument("--price", type=float, default=0.04, help="the price of a core-hour")
    parser.add_argument("--cores", type=int, default=64, help="the number of cores per machine")
    parser.add_argument("--show", action="store_true", help="print the section without writing it")
    given = parser.parse_args()
    text = section(given.pairs, given.price, given.cores)
    if given.show:
        print(text)
        return
    before, _, rest = DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    DOCUMENT.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
