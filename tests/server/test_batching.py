"""The batcher scores the pairs of many requests together, and neither loses nor mixes up any."""

import asyncio
import threading

import pytest

from paraqd.scoring.verdict import Verdict
from paraqd.server.batching import Batcher
from paraqd.server.errors import Overloaded, ShuttingDown


class GatedScorer:
    """A scorer that waits at a gate, and notes the batches that pass. The score of a pair is in its paraphrase."""

    signature = "gated"

    def __init__(self, *, open_gate=True):
        self.gate = threading.Event()
        if open_gate:
            self.gate.set()
        self.batches = []

    def begin(self, pairs):
        self.batches.append(list(pairs))
        if any(paraphrase == "broken" for _, paraphrase in pairs):
            raise RuntimeError("this pair is broken")
        return lambda: self.finish(pairs)

    def finish(self, pairs):
        assert self.gate.wait(30)
        return [Verdict(float(paraphrase), False, (), question) for question, paraphrase in pairs]

    def score_pairs(self, pairs):
        return self.begin(pairs)()


def numbered(name, count):
    return [(name, str(number)) for number in range(count)]


def seen(verdicts):
    return [(verdict.signature, f"{verdict.score:g}") for verdict in verdicts]


async def until(condition):
    while not condition():
        await asyncio.sleep(0.005)


def test_verdicts_come_back_in_order_to_those_who_asked():
    async def run():
        batcher = Batcher(GatedScorer(), batch_pairs=48)
        wanted = [numbered(str(number), 1 + 37 * number % 100) for number in range(20)]
        got = await asyncio.gather(*(batcher.score(pairs) for pairs in wanted))
        await batcher.close()
        assert [seen(verdicts) for verdicts in got] == wanted
        assert max(map(len, batcher.scorer.batches)) <= 48
        assert len(batcher.scorer.batches) < 40  # small requests share batches
        assert batcher.waiting == 0

    asyncio.run(run())


def test_a_batch_ends_at_its_budget_of_characters():
    async def run():
        scorer = GatedScorer()
        batcher = Batcher(scorer, batch_characters=1000)
        pairs = [("q" * 400, "1")] * 9
        assert len(await batcher.score(pairs)) == 9
        assert [len(batch) for batch in scorer.batches] == [3, 3, 3]
        assert await batcher.score([("q" * 5000, "1")])  # one pair is always taken
        assert await batcher.score([]) == []

    asyncio.run(run())


def test_background_work_goes_on_with_a_very_slow_judge():
    async def run():
        batcher = Batcher(GatedScorer())
        batcher._rate = 1.0  # characters per second
        async with asyncio.timeout(10):
            assert seen(await batcher.score_later(numbered("slow", 3))) == numbered("slow", 3)
        await batcher.close()

    asyncio.run(run())


def test_more_pairs_than_there_is_room_for_are_refused_at_once():
    async def run():
        scorer = GatedScorer(open_gate=False)
        batcher = Batcher(scorer, max_waiting=100)
        first = asyncio.create_task(batcher.score(numbered("a", 80)))
        await until(lambda: scorer.batches)
        with pytest.raises(Overloaded) as refused:
            await batcher.score(numbered("b", 21))
        assert int(refused.value.headers["Retry-After"]) >= 1
        second = asyncio.create_task(batcher.score(numbered("c", 20)))
        scorer.gate.set()
        assert len(await first) == 80 and len(await second) == 20
        assert len(await batcher.score(numbered("d", 100))) == 100

    asyncio.run(run())


def test_a_caller_that_goes_away_frees_its_place_and_its_pairs_are_skipped():
    async def run():
        scorer = GatedScorer(open_gate=False)
        batcher = Batcher(scorer, batch_pairs=32, max_waiting=200)
        running = [asyncio.create_task(batcher.score(numbered("running", 32))) for _ in range(2)]
        await until(lambda: len(scorer.batches) == 2)
        gone = asyncio.create_task(batcher.score(numbered("gone", 100)))
        await asyncio.sleep(0)
        assert batcher.waiting == 164
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        assert batcher.waiting == 64
        late = asyncio.create_task(batcher.score(numbered("late", 5)))
        scorer.gate.set()
        assert seen(await late) == numbered("late", 5)
        await asyncio.gather(*running)
        await batcher.close()
        assert "gone" not in {question for batch in scorer.batches for question, _ in batch}

    asyncio.run(run())


def test_a_pair_that_cannot_be_scored_fails_only_its_own_request():
    async def run():
        scorer = GatedScorer(open_gate=False)
        batcher = Batcher(scorer)
        held = asyncio.create_task(batcher.score(numbered("held", 200)))
        await until(lambda: len(scorer.batches) == 2)
        good, bad = (asyncio.create_task(batcher.score(pairs)) for pairs in (numbered("good", 3), [("bad", "broken")]))
        await asyncio.sleep(0)
        scorer.gate.set()
        assert seen(await good) == numbered("good", 3)
        with pytest.raises(RuntimeError, match="broken"):
            await bad
        assert len(await held) == 200
        assert any({"good", "bad"} <= {question for question, _ in batch} for batch in scorer.batches)

    asyncio.run(run())


def test_a_large_request_does_not_hold_up_a_small_one():
    async def run():
        scorer = GatedScorer(open_gate=False)
        batcher = Batcher(scorer, batch_pairs=64)
        large = asyncio.create_task(batcher.score(numbered("large", 1000)))
        await until(lambda: len(scorer.batches) == 2)
        small = asyncio.create_task(batcher.score(numbered("small", 2)))
        await asyncio.sleep(0)
        scorer.gate.set()
        assert seen(await small) == numbered("small", 2)
        assert len(await large) == 1000
        assert {question for question, _ in scorer.batches[2]} == {"small", "large"}
        assert len(scorer.batches) > 10

    asyncio.run(run())


def test_background_work_gives_way_to_requests_in_small_slices():
    async def run():
        scorer = GatedScorer(open_gate=False)
        batcher = Batcher(scorer)
        background = asyncio.create_task(batcher.score_later(numbered("background", 300)))
        await until(lambda: len(scorer.batches) == 2)
        assert max(map(len, scorer.batches)) <= 32
        requests = [asyncio.create_task(batcher.score(numbered("request", 60))) for _ in range(4)]
        await asyncio.sleep(0)
        scorer.gate.set()
        await asyncio.gather(*requests)
        assert all("request" in dict(batch) for batch in scorer.batches[2:4])
        assert seen(await background) == numbered("background", 300)

    asyncio.run(run())


def test_closing_finishes_requests_and_gives_up_background_work():
    async def run():
        scorer = GatedScorer(open_gate=False)
        batcher = Batcher(scorer)
        request = asyncio.create_task(batcher.score(numbered("request", 500)))
        background = asyncio.create_task(batcher.score_later(numbered("background", 500)))
        await until(lambda: scorer.batches)
        closing = asyncio.create_task(batcher.close())
        await asyncio.sleep(0)
        with pytest.raises(ShuttingDown):
            await batcher.score(numbered("late", 1))
        with pytest.raises(ShuttingDown):
            await background
        scorer.gate.set()
        await closing
        assert request.done() and seen(request.result()) == numbered("request", 500)

    asyncio.run(run())
