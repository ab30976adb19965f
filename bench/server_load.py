"""Measure ``paraqd serve`` under load, and write results/server/README.md.

    python bench/server_load.py [--rounds 5] [--pairs 960] [--seconds 60] [--out results/server] [--quick]

The server runs in a process of its own, with the small judge. This process sends the load over the loopback, so both
share the machine's cores. The measurements are: the throughput with 32 pairs a request, as a share of `score_pairs` in
this process on the same pairs, in short rounds that alternate; the latency at half the capacity; and four times the
capacity. Every answer is compared with that of `score_pairs`. No pair is sent twice, so that no cache helps.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
from speedlib.env import describe
from speedlib.pairs import TextPair, shipped_pairs, with_other_numbers

import paraqd
from paraqd import Scorer
from paraqd.scoring.pair_errors import all_scored
from paraqd.server.client_messages import read_verdicts

ROOT = Path(__file__).parents[1]
PER_REQUEST = 32
CLIENTS = 8  # requests at a time when the throughput is measured
_GOAL = 0.65
_IDLE = 1.0  # the load average up to which the machine counts as idle


@dataclass
class Server:
    """A server in a process of its own."""

    process: subprocess.Popen[str]
    url: str

    @classmethod
    def start(cls) -> Server:
        """Start a server with the small judge on a free port."""
        command = [sys.executable, "-m", "paraqd", "serve", "--port", "0", "--judge", "small", "--no-review"]
        places = {**os.environ, "PYTHONPATH": str(Path(paraqd.__file__).parents[1])}
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=places)
        assert process.stderr is not None
        found = re.search(r"serves at (\S+)", process.stderr.readline())
        assert found is not None
        return cls(process, found[1])

    def memory(self) -> float:
        """Return the resident memory in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+)", status)
        return int(found[1]) / 1000 if found else 0.0

    def stop(self) -> int:
        """Stop the server, and return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=120)


@dataclass
class Load:
    """The answers to a load, with what they should be compared with."""

    statuses: Counter[str] = field(default_factory=Counter)
    latencies: list[float] = field(default_factory=list)
    refusals: list[float] = field(default_factory=list)
    answered: list[tuple[Sequence[TextPair], httpx.Response]] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    without_retry_after: int = 0
    seconds: float = 0.0


def different_pairs() -> Iterator[TextPair]:
    """Yield pairs of the shipped benchmark, with other numbers each time. No text occurs twice."""
    seen: set[str] = set()
    for turn in range(9000):
        for pair in shipped_pairs():
            changed = with_other_numbers(pair, turn)
            if seen.isdisjoint(changed):
                seen.update(changed)
                yield changed


def take(source: Iterator[TextPair], count: int) -> list[TextPair]:
    """Return the next pairs."""
    return list(islice(source, count))


def requests_of(pairs: Sequence[TextPair]) -> list[tuple[Sequence[TextPair], bytes]]:
    """Return pairs by 32, with the body of the request."""
    groups = [pairs[start : start + PER_REQUEST] for start in range(0, len(pairs), PER_REQUEST)]
    return [
        (some, json.dumps({"pairs": [{"question": q, "paraphrase": p} for q, p in some]}).encode()) for some in groups
    ]


async def send(http: httpx.AsyncClient, some: Sequence[TextPair], body: bytes, load: Load) -> None:
    """Send one request, and note the answer."""
    begun = time.perf_counter()
    try:
        response = await http.post("/v1/score/batch", content=body)
    except httpx.TransportError as error:
        load.statuses[type(error).__name__] += 1
        return
    seconds = time.perf_counter() - begun
    load.statuses[str(response.status_code)] += 1
    if response.status_code == 200:
        load.latencies.append(seconds)
        load.answered.append((some, response))
    else:
        load.refusals.append(seconds)
        load.without_retry_after += "retry-after" not in response.headers


def client(server: Server) -> httpx.AsyncClient:
    """Return a client for many connections."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=100)
    headers = {"content-type": "application/json"}
    return httpx.AsyncClient(base_url=server.url, timeout=120, limits=limits, headers=headers, trust_env=False)


async def closed_load(server: Server, pairs: Sequence[TextPair]) -> tuple[float, Load]:
    """Send pairs with a fixed number of requests at a time, and return the seconds and the answers."""
    waiting, load = iter(requests_of(pairs)), Load()

    async def work() -> None:
        for some, body in waiting:
            await send(http, some, body, load)

    async with client(server) as http:
        await http.get("/healthz")
        begun = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(CLIENTS)))
        return time.perf_counter() - begun, load


async def open_load(server: Server, source: Iterator[TextPair], rate: float, seconds: float) -> Load:
    """Send requests at random times, at a rate in pairs per second, whether or not answers come back."""
    load, tasks, rng = Load(), set[asyncio.Task[None]](), random.Random(0)

    async def watch() -> None:
        while True:
            load.memory.append(server.memory())
            await asyncio.sleep(0.5)

    async with client(server) as http:
        watching = asyncio.create_task(watch())
        now = begun = time.perf_counter()
        while now < begun + seconds:
            now += rng.expovariate(rate / PER_REQUEST)
            ((some, body),) = requests_of(take(source, PER_REQUEST))
            await asyncio.sleep(max(0.0, now - time.perf_counter()))
            tasks.add(asyncio.create_task(send(http, some, body, load)))
        await asyncio.gather(*tasks)
        load.seconds = time.perf_counter() - begun
        watching.cancel()
    assert sum(load.statuses.values()) == len(tasks)  # no answer is lost
    return load


def wrong_answers(scorer: Scorer, load: Load) -> tuple[int, int]:
    """Return the number of answered pairs, and of those with another verdict than `score_pairs` gives."""
    pairs = [pair for some, _ in load.answered for pair in some]
    found = all_scored([each for some, response in load.answered for each in read_verdicts(response, len(some))])
    expected = scorer.score_pairs(pairs)
    return len(pairs), sum(one.to_dict() != other.to_dict() for one, other in zip(found, expected, strict=True))


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which a share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


def measure(rounds: int, count: int, seconds: float) -> dict[str, Any]:
    """Run all measurements, and return the figures."""
    load_before = os.getloadavg()[0]
    source, scorer, server = different_pairs(), Scorer.load(judge="small"), Server.start()
    try:
        scorer.score_pairs(take(source, 64))
        asyncio.run(closed_load(server, take(source, 128)))
        direct, served, wrong, compared = [], [], 0, 0
        for number in range(rounds):
            pairs = take(source, count)
            begun = time.perf_counter()
            scorer.score_pairs(pairs)
            direct.append(count / (time.perf_counter() - begun))
            duration, load = asyncio.run(closed_load(server, pairs))
            served.append(count / duration)
            checked = wrong_answers(scorer, load)
            compared, wrong = compared + checked[0], wrong + checked[1]
            print(f"round {number + 1}: score_pairs {direct[-1]:.0f}, server {served[-1]:.0f} pairs per second")
        capacity = statistics.median(served)
        half = asyncio.run(open_load(server, source, capacity / 2, seconds / 2))
        print(f"half the capacity: {dict(half.statuses)}")
        over = asyncio.run(open_load(server, source, 4 * capacity, seconds))
        print(f"four times the capacity: {dict(over.statuses)}")
        for load in (half, over):
            checked = wrong_answers(scorer, load)
            compared, wrong = compared + checked[0], wrong + checked[1]
        after = asyncio.run(closed_load(server, take(source, 128)))[1]
        alive, memory = after.statuses == Counter({"200": 4}), server.memory()
    finally:
        code = server.stop()
    settled = over.memory[len(over.memory) // 4 :]
    return {
        "machine": describe(),
        "load_before": load_before,
        "signature": scorer.signature,
        "direct": direct,
        "served": served,
        "share": statistics.median(one / other for one, other in zip(served, direct, strict=True)),
        "capacity": capacity,
        "half": {"statuses": dict(half.statuses), **_latencies(half), "seconds": seconds / 2},
        "over": {
            "statuses": dict(over.statuses),
            **_latencies(over),
            "refusal_p99": percentile(over.refusals, 0.99),
            "without_retry_after": over.without_retry_after,
            "seconds": seconds,
            "answered_per_second": PER_REQUEST * len(over.answered) / over.seconds,
            "memory_start": over.memory[0],
            "memory_quarter": settled[0],
            "memory_most": max(over.memory),
            "memory_end": settled[-1],
        },
        "memory_after": memory,
        "compared": compared,
        "wrong": wrong,
        "alive": alive,
        "exit_code": code,
    }


def _latencies(load: Load) -> dict[str, float]:
    return {"p50": percentile(load.latencies, 0.5), "p99": percentile(load.latencies, 0.99)}


def page(found: dict[str, Any]) -> str:
    """Return the page with the figures."""
    machine, half, over = found["machine"], found["half"], found["over"]
    load = found.get("load_before")
    busy = load is None or load > _IDLE
    shown = "not recorded" if load is None else f"{load:.1f}"
    caveat = (
        f"**Other programs used the cores during this run (load before it: {shown}). "
        "The figures are therefore not those of an idle machine, and the share is not reliable: a process with more "
        "threads gets more of a crowded machine.**\n\n"
        if busy
        else ""
    )
    good, refused = over["statuses"].get("200", 0), over["statuses"].get("429", 0)
    others = {name: n for load in (half, over) for name, n in load["statuses"].items() if name not in ("200", "429")}
    return f"""# The server under load

`python bench/server_load.py` made this page and [server.json](server.json).

The server ran with the small judge ({found["signature"]}) on {machine["cores"]} cores ({machine["processor"]}). The \
client, a second process, ran on the same cores, so its work counts against the server. All requests had {PER_REQUEST} \
pairs. No pair was sent twice. The pairs are those of the shipped benchmark, with other numbers each time.

{caveat}| measurement | result |
| --- | --- |
| `score_pairs` in one process | {statistics.median(found["direct"]):.0f} pairs per second |
| the server, with {CLIENTS} requests at a time | {found["capacity"]:.0f} pairs per second |
| share of `score_pairs` (median of {len(found["direct"])} alternating rounds) | {found["share"]:.0%} \
(goal: {_GOAL:.0%}) |
| half the capacity for {half["seconds"]:g} s: latency of a request | median {half["p50"] * 1000:.0f} ms, \
p99 {half["p99"] * 1000:.0f} ms |
| four times the capacity for {over["seconds"]:g} s: answered | {good:,} requests, \
{over["answered_per_second"]:.0f} pairs per second |
| … refused with 429 | {refused:,} requests, 99 % of them within {over["refusal_p99"] * 1000:.0f} ms, \
{over["without_retry_after"]} without Retry-After |
| … latency of an answered request | median {over["p50"]:.1f} s, p99 {over["p99"]:.1f} s |
| … memory of the server | {over["memory_start"]:.0f} MB at the start, {over["memory_quarter"]:.0f} MB after a quarter \
of the time, {over["memory_end"]:.0f} MB at the end, {over["memory_most"]:.0f} MB at most |
| other answers, or none | {sum(others.values())}{f" ({others})" if others else ""} |
| answers compared with `score_pairs` | {found["compared"]:,} pairs, {found["wrong"]} different |
| the server afterwards | {"answers" if found["alive"] else "does not answer"}, {found["memory_after"]:.0f} MB; \
exit code after SIGTERM: {found["exit_code"]} |

The server holds up to 1,024 pairs, so under overload an admitted request waits for the pairs before it. \
`--max-waiting` trades this wait for more refusals.
"""


def main() -> int:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pairs", type=int, default=960)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "server")
    parser.add_argument("--quick", action="store_true", help="a trial of a few seconds; its figures mean nothing")
    given = parser.parse_args()
    if given.quick:
        given.rounds, given.pairs, given.seconds = 1, 192, 4.0
    found = measure(given.rounds, given.pairs, given.seconds)
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "server.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    (given.out / "README.md").write_text(page(found), "utf-8")
    print(page(found))
    return 0 if found["alive"] and not found["wrong"] else 1


if __name__ == "__main__":
    sys.exit(main())
