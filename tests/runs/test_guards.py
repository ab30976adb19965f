"""Test the checks that protect earlier results, other people's files, and the soundness of a resumed run."""

import errno
import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import paraqd
from paraqd.cli.main import run
from paraqd.extras import MissingExtraError
from paraqd.lab.corpora import pseudo_labels
from paraqd.lab.corpora.augment import AugmentJob, augment, identity_of, models_of
from paraqd.lab.corpora.pseudo_labels import pseudo_label_file
from paraqd.lab.operators.resources import ResourceSpec
from paraqd.runs import survey
from paraqd.runs.locations import Location
from paraqd.tables.formats import clear_errors
from tests.runs.conftest import READING, environment, pairs, parts, same, write, write_questions


@pytest.fixture
def file(here):
    Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in pairs(300)))
    return Path("in.jsonl")


@pytest.fixture
def no_pyarrow(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)


def stop_after_first_part(stage, done, total, note=""):
    first = 100 if stage == "labelling" else 0  # a labeller also reports rows before their part is stored
    if stage in ("scoring", "augmenting", "labelling") and done > first:
        raise RuntimeError("stopped")


def change_keeping_size_and_time(path):
    before, content = path.stat(), path.read_text()
    changed = content.replace("apples", "plums!")
    assert len(changed) == len(content) and changed != content
    path.write_text(changed)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


# --- the old result is removed only after every check ---------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        ["--question-column", "body"],
        ["--model", "no-such-model"],
        ["--workers", "0"],
        ["--address", "10.0.0.1:6379"],
        ["--encoding", "utf-9"],
        ["--threads", "2", "--workers", "2"],
    ],
)
def test_overwriting_removes_nothing_if_a_check_fails(here, fails, wrong):
    Path("in/c.jsonl").write_text(json.dumps(pairs(1)[0]) + "\n")
    assert run(["score", "in", "-o", "out/", "-q", *READING]) == 0
    assert run(["score", "in", "-o", "copy/", "-q", *READING]) == 0
    fails("score", "in", "-o", "out/", "--overwrite", *READING, *wrong)
    assert same("out", "copy") and Path("out/_SUCCESS").read_bytes() == Path("copy/_SUCCESS").read_bytes()


def test_overwriting_removes_nothing_without_pyarrow(file, fails, monkeypatch):
    assert run(["score", "in.jsonl", "-o", "out/", "-q", *READING]) == 0
    before = {path.name: path.read_bytes() for path in Path("out").iterdir()}
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    fails("score", "in.jsonl", "-o", "out/", "--overwrite", *READING)
    assert {path.name: path.read_bytes() for path in Path("out").iterdir()} == before


@pytest.mark.parametrize(("source", "other"), [("in.jsonl", "instead"), ("in", "one at a time")])
def test_without_pyarrow_nothing_is_written_and_another_output_is_named(file, no_pyarrow, fails, source, other):
    line = fails("score", source, "-o", "out/", *READING)
    assert not Path("out").exists()
    assert ".csv" in line and other in line and line.index(".csv") < line.index("pip install 'paraqd[parquet]'")
    with pytest.raises(MissingExtraError, match="need pyarrow"):
        paraqd.score_file(source, "out/", scorer="reading")
    with pytest.raises(MissingExtraError, match="s3:// locations"):
        paraqd.score_file("s3://bucket/pairs", "out.csv", scorer="reading")


# --- a run is resumed only with the same input and the same models --------------------------------


@pytest.mark.parametrize("out", ["out.csv", "out/"])
def test_a_change_that_keeps_size_and_time_is_noticed(file, out):
    options = {"scorer": "reading", "part_rows": 100}
    with pytest.raises(RuntimeError, match="stopped"):
        paraqd.score_file(file, out, progress=stop_after_first_part, **options)
    whole = file.read_text()
    change_keeping_size_and_time(file)
    with pytest.raises(paraqd.TableError, match=r"another input \(the file has changed\)"):
        paraqd.score_file(file, out, **options)
    file.write_text(whole)  # another time, but the same bytes
    assert paraqd.score_file(file, out, **options).resumed == 100


@pytest.mark.parametrize("out", ["out.csv", "out/"])
def test_another_input_file_is_named(file, out):
    options = {"scorer": "reading", "part_rows": 100}
    with pytest.raises(RuntimeError, match="stopped"):
        paraqd.score_file(file, out, progress=stop_after_first_part, **options)
    Path("other.jsonl").write_text(file.read_text().replace("apples", "plums"))
    with pytest.raises(paraqd.TableError, match=r"another input \(in\.jsonl, now other\.jsonl\)"):
        paraqd.score_file("other.jsonl", out, **options)
    file.rename("renamed.jsonl")  # the same bytes are the same input
    assert paraqd.score_file("renamed.jsonl", out, **options).resumed == 100


@pytest.mark.parametrize(("source", "out", "line"), [("in.jsonl", "", "output is empty"), ("", "o/", "input is empty")])
@pytest.mark.parametrize("command", ["score", "lab augment", "lab testset", "lab purity", "lab pseudo-label"])
def test_an_empty_path_is_not_the_current_folder(file, fails, command, source, out, line):
    before = sorted(Path().iterdir())
    assert line in fails(*command.split(), source, "--offenders" if command == "lab purity" else "-o", out)
    assert sorted(Path().iterdir()) == before


def test_a_change_after_the_rows_were_counted_is_noticed(file, monkeypatch):
    count = survey.read_through

    def count_and_change(table, progress):
        found = count(table, progress)
        file.write_text(file.read_text().replace("apples", "plums!"))
        return found

    monkeypatch.setattr(survey, "read_through", count_and_change)
    with pytest.raises(paraqd.TableError, match=r"in\.jsonl was changed while it was read"):
        paraqd.score_file(file, "out.csv", scorer="reading")
    assert not Path("out.csv").exists() and not Path("out.csv.parts").exists()


def test_a_change_during_a_run_into_a_folder_is_noticed(file):
    def change(stage, done, total, note=""):
        if (stage, done) == ("scoring", 300):
            file.write_text(file.read_text().replace("apples", "plums!"))

    with pytest.raises(paraqd.TableError, match=r"changed during the run; .* with restart=True"):
        paraqd.score_file(file, "out/", scorer="reading", progress=change)
    assert not Path("out/_SUCCESS").exists()
    assert paraqd.score_file(file, "out/", scorer="reading", restart=True).rows == 300


@pytest.mark.parametrize("how", ["other bytes", "another time", "no file"])
def test_a_change_in_a_folder_during_a_run_is_noticed(here, how):
    def change(stage, done, total, note=""):
        if (stage, done) == ("scoring", 580):
            if how == "other bytes":
                write(Path("in/b.parquet"), pairs(131, "c"))
            elif how == "another time":
                os.utime("in/b.parquet")
            else:
                Path("in/b.parquet").unlink()

    with pytest.raises(paraqd.TableError, match=r"^in/b\.parquet was changed during the run; .* with restart=True$"):
        paraqd.score_file("in", "out/", scorer="reading", progress=change)
    assert not Path("out/_SUCCESS").exists()
    assert paraqd.score_file("in", "out/", scorer="reading", restart=True).rows in (450, 580, 581)
    assert Path("out/_SUCCESS").exists()


def write_model(folder, weights):
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(weights)


def test_an_augmentation_is_not_resumed_with_a_retrained_encoder(tmp_path):
    source, model = write_questions(tmp_path / "q.jsonl", 600), tmp_path / "encoder"
    options = {"operators": ["SameSentence"], "encoder": str(model)}
    write_model(model, b"first")
    with pytest.raises(RuntimeError, match="stopped"):
        augment(source, tmp_path / "out.csv", progress=stop_after_first_part, **options)
    write_model(model, b"second")
    with pytest.raises(paraqd.TableError, match="has other models"):
        augment(source, tmp_path / "out.csv", **options)
    write_model(model, b"first")
    assert augment(source, tmp_path / "out.csv", **options).resumed == 256


def test_pseudo_labels_are_not_resumed_with_a_retrained_encoder(file, monkeypatch):
    def load(name, device=None):
        return lambda texts: np.array([[1.0, 0.0] if len(text) % 2 else [0.0, 1.0] for text in texts])

    monkeypatch.setattr(pseudo_labels, "load_encoder", load)
    write_model(Path("encoder"), b"first")
    options = {"encoder": "encoder", "part_rows": 100}
    with pytest.raises(RuntimeError, match="stopped"):
        pseudo_label_file(file, "out.csv", progress=stop_after_first_part, **options)
    write_model(Path("encoder"), b"second")
    with pytest.raises(paraqd.TableError, match="has another encoder"):
        pseudo_label_file(file, "out.csv", **options)
    write_model(Path("encoder"), b"first")
    assert pseudo_label_file(file, "out.csv", **options).resumed == 100


# --- files of other people ------------------------------------------------------------------------


@pytest.mark.parametrize("content", ["years of work", '{"mine": 1}', "[]"])
def test_a_record_of_another_program_is_not_replaced(here, content):
    write_questions("q.jsonl", 5)
    Path("out.csv.meta.json").write_text(content)
    for overwrite in (False, True):
        with pytest.raises(paraqd.TableError, match=r"out\.csv\.meta\.json is in the way: paraqd did not write it"):
            augment("q.jsonl", "out.csv", operators=["SameSentence"], overwrite=overwrite)
    assert Path("out.csv.meta.json").read_text() == content and not Path("out.csv").exists()
    Path("out.csv.meta.json").unlink()
    augment("q.jsonl", "out.csv", operators=["SameSentence"])
    augment("q.jsonl", "out.csv", operators=["SameSentence"], overwrite=True)


def test_an_output_that_is_a_link_is_written_to_its_target(file):
    Path("disk").mkdir()
    Path("disk/real.csv").write_text("old")
    Path("out.csv").symlink_to("disk/real.csv")
    with pytest.raises(paraqd.TableError, match="already exists"):
        paraqd.score_file(file, "out.csv", scorer="reading")
    paraqd.score_file(file, "out.csv", scorer="reading", overwrite=True)
    assert Path("out.csv").is_symlink() and Path("disk/real.csv").read_text().startswith("id,question,paraphrase")
    Path("lost.csv").symlink_to("no/such/folder.csv")
    with pytest.raises(paraqd.TableError, match=r"it is a link to .*no/such/folder\.csv, and there is no folder"):
        paraqd.score_file(file, "lost.csv", scorer="reading")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other pipes")
@pytest.mark.parametrize("name", ["out.csv", "link.csv", "out.csv.meta.json"])
def test_a_pipe_is_not_replaced(file, name):
    """A device, such as /dev/null, is refused in the same way."""
    pipe = Path("pipe") if name == "link.csv" else Path(name)
    os.mkfifo(pipe)
    if name == "link.csv":
        Path(name).symlink_to(pipe)
    out = name.removesuffix(".meta.json")
    with pytest.raises(paraqd.TableError, match=f"cannot write {name}: it is a pipe or a device; choose another name"):
        augment(file, out, operators=["SameSentence"], overwrite=True)
    assert pipe.is_fifo() and not Path(f"{out}.parts").exists()


# --- the public function --------------------------------------------------------------------------


def test_everything_a_caller_needs_is_public(file):
    Path("other.csv").write_text("problem,rewrite\nTom has 5 pens. How many?,Tom has 6 pens. How many?\n")
    columns = paraqd.Columns(question="problem", paraphrase="rewrite")
    report = paraqd.score_file("other.csv", "out.csv", scorer="reading", threshold=0.9, mode="fused", columns=columns)
    assert isinstance(report, paraqd.ScoreReport) and (report.threshold, report.invalid) == (0.9, 1)
    model = paraqd.Model("reading", threshold=0.8)
    assert paraqd.score_file("other.csv", "two.csv", scorer=model, columns=columns).threshold == 0.8
    for scorer in (model, paraqd.Scorer.load("reading")):
        with pytest.raises(paraqd.TableError, match="mode, judge and threshold cannot be combined"):
            paraqd.score_file("other.csv", "three.csv", scorer=scorer, threshold=0.9, columns=columns)
    with pytest.raises(paraqd.ModelError, match="nowhere does not exist") as caught:
        paraqd.score_file("other.csv", "three.csv", scorer="nowhere", columns=columns)
    assert isinstance(caught.value, paraqd.ParaqdError) and issubclass(paraqd.TableError, paraqd.ParaqdError)
    for number in (5, float("nan")):
        with pytest.raises(paraqd.ParaqdError, match="must be a number from -1 to 1") as caught:
            paraqd.score_file("other.csv", "three.csv", scorer="reading", threshold=number, columns=columns)
        assert isinstance(caught.value, ValueError)
    with pytest.raises(paraqd.ParaqdError, match="pair 1") as caught:
        paraqd.Scorer.load("reading").score(" ", "How many?")
    assert isinstance(caught.value, ValueError)
    errors = {"ModelError", "ParaqdError", "RunInterrupted", "TableError"}
    assert set(dir(paraqd)) >= errors | {"Columns", "Model", "ScoreReport", "score_file"}


@pytest.mark.parametrize(
    ("source", "out", "options"),
    [
        ("in.jsonl", "there.csv", {}),
        ("in.jsonl", "finished", {}),
        ("in.jsonl", "x.csv", {"columns": paraqd.Columns(question="questions")}),
        ("in.jsonl", "x.csv", {"columns": paraqd.Columns(question="körper")}),
        ("in.jsonl", "x.csv", {"only": "good"}),
        ("in.jsonl", "x.csv", {"workers": 0}),
        ("in.jsonl", "x.csv", {"engine": "steam"}),
        ("in.jsonl", "x.csv", {"address": "auto"}),
        ("in.jsonl", "x.csv", {"threads": 2, "workers": 2}),
        ("in.jsonl", None, {"workers": 2}),
        ("in", None, {}),
        ("in", "x.csv", {}),
        ("cut.jsonl", "x.csv", {}),
        ("latin.csv", "x.csv", {}),
        ("scored.csv", "x.csv", {}),
    ],
)
def test_python_errors_name_parameters_and_not_options(file, source, out, options):
    Path("there.csv").touch()
    Path("cut.jsonl").write_text(file.read_text()[:-20])
    Path("latin.csv").write_bytes(b"question,paraphrase\na,\xa35\n")
    Path("scored.csv").write_text("question,paraphrase,score\na?,b?,1\n")
    paraqd.score_file(file, "finished/", scorer="reading")
    with pytest.raises(paraqd.TableError) as caught:
        paraqd.score_file(source, out, scorer="reading", **options)
    assert "--" not in str(caught.value) and " -o" not in str(caught.value)


def test_parts_that_were_not_reported_yet_are_counted_after_an_interrupt(file):
    def interrupted(job, pieces, on_rows):
        for result in job.worker().work(pieces, on_rows):
            if result.piece.index == 1:
                raise KeyboardInterrupt
            yield result

    with pytest.raises(paraqd.RunInterrupted) as caught:
        paraqd.score_file(file, "out/", scorer="reading", part_rows=100, engine=interrupted)
    assert (caught.value.rows, caught.value.parts, caught.value.total_parts) == (200, 2, 3) and len(parts("out")) == 2


# --- damage to parts, workers and links -----------------------------------------------------------


@pytest.mark.parametrize(
    "damage",
    [
        lambda raw: raw.replace(b'"score": 0', b'"score": 1', 1),
        lambda raw: raw.replace(b'"rows": 100', b'"rows": 101', 1),
        lambda raw: raw[:-3] + b"\x00" + raw[-2:],
        lambda raw: b"[]\n" + raw.partition(b"\n")[2],
        lambda raw: raw.partition(b"\n")[2],
    ],
)
def test_a_damaged_part_is_done_again(file, damage):
    options = {"scorer": "reading", "part_rows": 100}
    paraqd.score_file(file, "whole.csv", **options)
    with pytest.raises(RuntimeError, match="stopped"):
        paraqd.score_file(file, "out.csv", progress=stop_after_first_part, **options)
    [part] = parts("out.csv.parts")
    raw = part.read_bytes()
    assert damage(raw) != raw
    part.write_bytes(damage(raw))
    assert paraqd.score_file(file, "out.csv", **options).resumed == 0
    assert Path("out.csv").read_bytes() == Path("whole.csv").read_bytes()


def test_a_part_that_is_damaged_during_the_run_is_not_joined(file):
    def damage(stage, done, total, note=""):
        if (stage, done) == ("scoring", 300):
            part = parts("out.csv.parts")[1]
            part.write_bytes(part.read_bytes().replace(b'"score": 0', b'"score": 1', 1))

    with pytest.raises(paraqd.TableError, match=r"part-00001\.jsonl is damaged; run the same command again"):
        paraqd.score_file(file, "out.csv", scorer="reading", part_rows=100, progress=damage)
    assert not Path("out.csv").exists()
    assert paraqd.score_file(file, "out.csv", scorer="reading", part_rows=100).resumed == 200


def test_workers_with_other_weights_have_another_identity(file):
    write_model(Path("encoder"), b"first")
    spec = ResourceSpec(entities="light", encoder="encoder", generators={}, device=None)
    job = AugmentJob(None, None, None, 1, spec, identity=identity_of(models_of(spec)))
    assert job.worker().identity == job.identity and "encoder@" in job.identity
    write_model(Path("encoder"), b"second")
    assert job.worker().identity != job.identity


def test_a_labelling_worker_with_other_weights_has_another_identity(file, monkeypatch):
    jobs = []
    monkeypatch.setattr(pseudo_labels, "load_encoder", lambda name, device=None: lambda texts: np.ones((len(texts), 1)))

    def engine(job, pieces, on_rows):
        jobs.append(pickle.loads(pickle.dumps(job)))  # as a worker process receives it
        yield from job.worker().work(pieces, on_rows)

    write_model(Path("encoder"), b"first")
    pseudo_label_file(file, "out.csv", encoder="encoder", engine=engine)
    [job] = jobs
    assert job.worker().identity == job.identity and "encoder@" in job.identity
    write_model(Path("encoder"), b"second")
    assert job.worker().identity != job.identity


def test_hard_links_do_not_multiply_rows(here):
    os.link("in/a.parquet", "in/c.parquet")
    assert paraqd.score_file("in", "out/", scorer="reading").rows == 580


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no named pipes in folders")
def test_a_pipe_in_a_folder_is_listed(here):
    os.mkfifo("in/c.csv")
    report = paraqd.score_file("in", "out/", scorer="reading")
    assert report.rows == 580 and report.problems == ("in/c.csv is not a regular file but a pipe or a device",)
    assert not Path("out/_SUCCESS").exists()


@pytest.mark.parametrize(
    ("number", "remedy"),
    [(errno.ENOSPC, "free up space and run the same command again"), (errno.EACCES, "run the same command again")],
)
def test_only_a_full_disk_is_called_full(file, monkeypatch, number, remedy):
    put = Location.put

    def fail(self, name, data):
        if name == "part-00001.jsonl":
            with clear_errors(name, "write"):
                raise OSError(number, os.strerror(number))
        put(self, name, data)

    monkeypatch.setattr(Location, "put", fail)
    with pytest.raises(paraqd.TableError, match=rf"rows \(100\) are kept in out\.csv\.parts: {remedy}$"):
        paraqd.score_file(file, "out.csv", scorer="reading", part_rows=100)


def test_nothing_is_said_to_be_kept_if_the_parts_are_gone(file):
    def remove(stage, done, total, note=""):
        if stage == "scoring" and done == 100:
            shutil.rmtree("out.csv.parts")

    with pytest.raises(paraqd.TableError, match=r"^cannot write [^;]*$"):
        paraqd.score_file(file, "out.csv", scorer="reading", part_rows=100, progress=remove)


def test_a_script_without_a_guard_is_told_so(file):
    script = (
        "import paraqd\n"
        "paraqd.score_file('in.jsonl', 'out.csv', scorer='reading', part_rows=100, workers=2, restart=True)\n"
    )
    Path("script.py").write_text(script)
    done = subprocess.run(
        [sys.executable, "script.py"], env=environment(), capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 1
    assert 'does not guard its entry point with if __name__ == "__main__":' in done.stderr.splitlines()[-1]


def test_json_output_is_valid_for_numbers_that_json_cannot_represent(here):
    Path("in.jsonl").write_text(
        '{"question": "Tom has 5 pens. How many?", "paraphrase": "Tom has 5 pens. How many?", '
        '"big": 1e400, "list": [-1e400, {"a": NaN}], "small": 0.5}\n'
    )
    paraqd.score_file("in.jsonl", "out.jsonl", scorer="reading")
    row = json.loads(Path("out.jsonl").read_text(), parse_constant=pytest.fail)
    assert (row["big"], row["list"], row["small"]) == ("Infinity", ["-Infinity", {"a": "NaN"}], 0.5)
