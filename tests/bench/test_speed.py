"""Test the speed benchmark: pairs, measuring processes, report, and a small run, complete and stopped."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import paraqd

BENCH = Path(__file__).parents[2] / "bench"
sys.path.insert(0, str(BENCH))

from speedlib import figures, pairs, plot, report  # noqa: E402
from speedlib.env import JobError, resolver_line, run_job  # noqa: E402

NUMBER = re.compile(r"\d+")


def run_of(*seconds):
    """A run's figures: the reference takes a second for 100 pairs, ours what is given."""
    ours = [{"sets": {"s": {"pairs": 100, "seconds": each}}} for each in seconds]
    theirs = [{"sets": {"s": {"pairs": 100, "seconds": 1.0}}}] * len(seconds)
    return {"reference": "st-torch", "runs": {"encoder": ours, "st-torch": theirs}, "counts": {}, "limits": []}


class TestPairs:
    def test_no_text_of_the_shipped_pairs_is_there_twice(self):
        texts = [text for pair in pairs.shipped_pairs() for text in pair]
        assert len(texts) == len(set(texts)) > 1000

    def test_what_warms_up_or_is_scored_alone_is_in_no_set(self):
        material = pairs.gather()
        whole, once = ({text for pair in material.sets[name] for text in pair} for name in (pairs.WHOLE, pairs.ONCE))
        assert whole.isdisjoint(once)
        assert (whole | once).isdisjoint(text for pair in [*material.warm, *material.single] for text in pair)

    def test_a_text_of_a_whole_problem_comes_back(self):
        whole = pairs.gather().sets[pairs.WHOLE]
        assert len(whole) > 150
        assert len({question for question, _ in whole}) < len(whole) / 2

    def test_made_pairs_are_all_different(self):
        assert len(set(pairs.made_pairs(5000))) == 5000

    def test_texts_of_a_later_turn_are_no_longer(self):
        for pair in pairs.shipped_pairs()[:100]:
            lengths = {tuple(map(len, pairs.with_other_numbers(pair, turn))) for turn in (0, 1, 899, 8999)}
            assert len(lengths) == 1

    @pytest.mark.parametrize("turn", [0, 1, 899, 900, 1700])
    def test_other_numbers_are_the_same_where_they_were(self, turn):
        question, paraphrase = pairs.with_other_numbers(("5 of 12, then 1,200.5", "12 less 5; 7"), turn)
        (five, twelve, *_), (again, once_more, seven) = NUMBER.findall(question), NUMBER.findall(paraphrase)
        assert (five, twelve, seven) == (once_more, again, "7")
        assert len({five, twelve, "5", "12"}) == 4
        assert question.endswith("then 1,200.5")


class TestFigures:
    def test_a_ratio_is_taken_within_a_turn(self):
        found = run_of(0.5, 0.25)
        assert figures.ratios(found, "encoder", "s") == [2.0, 4.0]
        found["runs"]["st-torch"] = found["runs"]["st-torch"][:1]  # stopped between the two
        assert figures.ratios(found, "encoder", "s") == [2.0]

    def test_operations_of_a_pair(self):
        # six layers of twelve squares of the width, an addition and a multiplication each: 2 x 10.6 M for a token
        assert figures.operations({"tokens": 10, "squares": 0, "pairs": 10}) == pytest.approx(2 * 10.6e6, rel=0.01)
        assert figures.operations({"tokens": 0, "squares": 9, "pairs": 1}) == 6 * 4 * 384 * 9

    def test_the_judges_width_is_that_of_the_shipped_one(self):
        onnx = pytest.importorskip("onnx")
        graph = onnx.load(str(Path(paraqd.__file__).parent / "models" / "default" / "onnx" / "model.onnx")).graph
        shapes = {tuple(held.dims) for held in graph.initializer if len(held.dims) == 2}
        assert (384, figures.JUDGE_INNER) in shapes and (384, figures.INNER) not in shapes
        both = {name: {"s": {"tokens": 10, "squares": 0, "pairs": 1}} for name in ("no-skip", "st-torch")}
        judged, encoded = (figures.needed({"counts": both}, name, "s") for name in ("default", "encoder"))
        assert judged / encoded == pytest.approx(8 / 12)

    def test_the_limit_is_the_better_of_the_runtimes(self):
        found = {
            "limits": [{"fp32, a": 10, "fp32, b": 30, "int8, b": 90}, {"fp32, a": 10, "fp32, b": 50, "int8, b": 90}]
        }
        assert figures.limits(found) == {"fp32": 40, "int8": 90}

    def test_the_cost_of_asking_a_larger_judge(self):
        small = {"sets": {"s": {"pairs": 10, "seconds": 1.0, "asked": 0}}, "single_ms": [4.0], "single_asked": [False]}
        mine = {"sets": {"s": {"pairs": 10, "seconds": 1.5, "asked": 2}}, "single_ms": [5.0, 250.0, 270.0]}
        mine["single_asked"] = [False, True, True]
        found = {"runs": {"default": [small], "cascade": [mine]}, "sets": {"s": None}, "titles": {"cascade": "both"}}
        assert figures.costs_of_asking(found, "cascade", "s") == [250.0]
        table = report.asking(found)
        assert "| both | s | 20.0% | 6.7 | 250.0 |" in table and "| both | 5.0 | 260.0 |" in table
        assert report.asking({**found, "titles": {"default": "small"}}) == []

    def test_how_far_scores_moved(self):
        assert figures.moved([0.5, 0.9, 1.0], [0.5, 0.8, 1.0]) == {"pairs": 3, "median": 0.0, "p99": 0.098, "max": 0.1}

    def test_growth_excludes_the_start_of_the_same_turn(self):
        def run_with(turn, size, seconds):
            return {"turn": turn, "pairs": size, "seconds": seconds, "cpu_s": 2 * seconds, "peak_mb": 100}

        runs = [run_with(0, 1, 1.0), run_with(0, 1001, 2.0), run_with(0, 10001, 12.0)]
        runs += [run_with(1, 1, 5.0), run_with(1, 10001, 15.0), run_with(2, 1, 1.0), run_with(2, 100001, 121.0)]
        found = {"growth": runs}
        assert figures.pair_costs(found, 10001, "seconds") == pytest.approx({0: 0.0011, 1: 0.001})
        table = report.growth(found)
        assert "| 1 | 1.0 (1.0 to 5.0) | – | – | 100 (100 to 100) | 3 |" in table
        assert "| 100,001 | 121.0 | 833 | 2.40 | 100 | 1 |" in table
        [_, ten, hundred] = report.flatness(found)
        assert ten == "- A pair in a file of 10,001 against one of 1,001: +10.0% wall time, +10.0% CPU time."
        assert "+20.0% wall time" in hundred
        assert report.flatness({"growth": runs[:2]}) == []

    @pytest.mark.parametrize("sets", [1, 4, 6])
    def test_a_plot_of_any_number_of_sets(self, sets, tmp_path):
        pytest.importorskip("matplotlib")
        names = [f"set {number}, of some pairs" for number in range(sets)]
        timed = {name: {"pairs": 100, "seconds": 1.5} for name in names}
        runs = [{"sets": timed, "single_ms": [5.0, 6.0], "peak_mb": 100, "growth_mb": 5, "load_s": 0.2}] * 2
        grown = [{"turn": 0, "pairs": n, "seconds": n / 10, "cpu_s": n / 5, "peak_mb": 90} for n in (1, 100, 1000)]
        grown.append({**grown[-1], "turn": 1, "pairs": 5000})  # without the run of one pair that goes with it
        found = {
            "sets": dict.fromkeys(names), "reference": "st-torch", "titles": {"default": "ours", "st-torch": "theirs"},
            "runs": {"default": runs, "st-torch": runs}, "growth": grown,
        }  # fmt: skip
        plot.plot(found, tmp_path / "bench.png")
        assert (tmp_path / "bench.png").stat().st_size > 10_000

    def test_spread(self):
        assert report.spread([3, 1, 2], "{:.1f}".format) == "2.0 (1.0 to 3.0)"
        assert report.spread([], str) == "–"


class TestProcesses:
    def test_the_size_of_a_package_with_what_it_needs(self):
        found = run_job({"what": "size", "requirements": ["rich"]})
        assert {"rich", "pygments", "markdown-it-py"} <= set(found["largest"])
        alone = run_job({"what": "size", "requirements": ["mdurl"]})
        assert alone["packages"] == 1
        assert 0 < alone["mb"] < found["mb"]

    def test_a_command_that_fails_says_its_last_line(self):
        with pytest.raises(JobError, match="no such thing"):
            run_job({"what": "command", "command": [sys.executable, "-c", "raise SystemExit('no such thing')"]})

    def test_a_commands_memory_is_its_own(self):
        held = "x = bytearray(300_000_000); x[::4096] = x[::4096]"
        small, large = (run_job({"what": "command", "command": [sys.executable, "-c", code]}) for code in ("", held))
        assert small["peak_mb"] < 100
        assert large["peak_mb"] > 300


@pytest.mark.parametrize(
    ("stderr", "line"),
    [
        ("WARNING: slow\nERROR: Cannot install a==1 and b==2 because these package versions have conflicting "
         "dependencies.\nERROR: ResolutionImpossible: for help visit a page\n", "Cannot install a==1 and b==2"),
        ("ERROR: Could not find a version\nERROR: No matching distribution found for a==99\n", "No matching"),
        ("Killed\n", "pip failed"),
    ],
)  # fmt: skip
def test_why_a_runtime_cannot_be_installed(stderr, line):
    assert resolver_line(stderr).startswith(line)


def environment(*more):
    path = os.pathsep.join(map(str, (Path(paraqd.__file__).parents[1], *more)))
    return dict(os.environ, PYTHONPATH=path, PYTHONUNBUFFERED="1")


def test_the_language_model_judge_is_measured_if_it_is_installed(tmp_path, installed):
    program = [sys.executable, str(BENCH / "speed.py"), "--quick", "--contenders", "default,cascade,large"]
    program += ["--growth", "none", "--out", str(tmp_path)]
    done = subprocess.run(program, env=environment(installed.parents[1]), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "bench.json").read_text("utf-8"))
    asked = {name: runs[0]["sets"][pairs.ONCE]["asked"] for name, runs in found["runs"].items()}
    assert asked["default"] == 0 < asked["cascade"] < asked["large"] <= 32
    assert "## The language-model judge" in (tmp_path / "README.md").read_text("utf-8")


@pytest.mark.extra("train")
def test_a_small_run(tmp_path):
    program = [
        sys.executable,
        str(BENCH / "speed.py"),
        "--quick",
        "--contenders",
        "reading,default",
        "--growth",
        "quick",
    ]
    done = subprocess.run(
        [*program, "--out", str(tmp_path)], env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "bench.json").read_text("utf-8"))
    assert list(found["runs"]) == ["default", "reading"]
    counts = found["counts"]
    assert counts["default"][pairs.ONCE]["rows"] > 0
    assert 0 < counts["default"][pairs.ONCE]["tokens"] <= counts["default"][pairs.ONCE]["cells"]
    assert counts["reading"][pairs.ONCE]["rows"] == 0
    assert found["cold_start"]["default"][0]["seconds"] > found["cold_start"]["python"][0]["seconds"]
    assert found["size"]["default"]["own_mb"] > 21  # the model alone has 21 MB
    text = (tmp_path / "README.md").read_text("utf-8")
    assert "| paraqd, reading alone |" in text
    assert "This was a trial run" in text
    assert [row["pairs"] for row in found["growth"]] == [1, 200] and "## Growing files" in text
    assert (tmp_path / "bench.png").is_file()
    assert (tmp_path / "bench.png").stat().st_size > 10_000


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.extra("train")
def test_a_stopped_run_keeps_what_it_measured(tmp_path, stop):
    program = [sys.executable, str(BENCH / "speed.py"), "--quick", "--contenders", "reading", "--repeats", "500"]
    running = subprocess.Popen(
        [*program, "--out", str(tmp_path)], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    for line in running.stdout:
        if line.startswith("  paraqd, reading alone"):
            running.send_signal(stop)
            break
    _, errors = running.communicate()
    assert running.returncode == 130, errors
    assert errors.strip() == "stopped; the measurements so far are saved"
    found = json.loads((tmp_path / "bench.json").read_text("utf-8"))
    assert found["stopped"] and found["runs"]["reading"]
    assert "The run was stopped" in (tmp_path / "README.md").read_text("utf-8")
    before = found["runs"]["reading"]
    program[program.index("500")] = str(len(before) + 1)
    program += ["--growth", "none", "--go-on", "--out", str(tmp_path)]
    done = subprocess.run(program, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "bench.json").read_text("utf-8"))
    assert not found["stopped"] and found["size"]
    assert found["runs"]["reading"][:-1] == before
    (tmp_path / "bench.json").write_text(json.dumps({**found, "code": "other"}))
    done = subprocess.run(program, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "has no run of the same code" in done.stderr


def test_an_unknown_contender():
    done = subprocess.run(
        [sys.executable, str(BENCH / "speed.py"), "--contenders", "readin"],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "there is no contender readin" in done.stderr
