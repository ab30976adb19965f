"""Run the tutorial: every command and every Python block of the page, as cells of its notebook."""

import importlib.util
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from paraqd import Scorer
from paraqd.integrations.trl import make_reward

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
NOTEBOOK = json.loads((ROOT / "examples" / "tutorial.ipynb").read_text(encoding="utf-8"))
CELLS = ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]
BLOCKS = [(kind, body.strip()) for kind, body in re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)]
NUMBER = re.compile(r"-?\d+(\.\d+)?")
pytestmark = pytest.mark.xdist_group("tutorial")  # one run for all tests


def paraqd(line, **options):
    command = [sys.executable, "-m", "paraqd", *shlex.split(line)[1:]]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False, **options)


def run_cell(cell, names):
    """Run a cell as Jupyter does, and return what it prints."""
    if not cell.startswith("!"):
        with redirect_stdout(io.StringIO()) as printed:
            exec(compile(cell, "tutorial.ipynb", "exec"), names)
        return printed.getvalue()
    printed = ""
    for line in cell.splitlines():
        done = paraqd(line.removeprefix("!"))
        assert done.returncode == 0, f"{line}\n{done.stderr}"
        printed += done.stdout + done.stderr
    return printed


@pytest.fixture(scope="module")
def tutorial(tmp_path_factory):
    """Run all cells in their order, and return the folder, what each cell printed, and the names that they defined."""
    for needed in ("spacy", "openpyxl", "sentence_transformers"):
        pytest.importorskip(needed)
    clone = tmp_path_factory.mktemp("clone")
    shutil.copytree(ROOT / "samples", clone / "samples")
    (clone / "examples").mkdir()
    names = {"__name__": "tutorial"}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(clone / "examples")
        patch.setenv("PATH", os.environ["PATH"])  # the notebook changes it
        patch.setattr(tempfile, "tempdir", str(clone))
        patch.setenv("OMP_NUM_THREADS", "1")  # with other tests beside it, two threads take twice as long
        printed = {cell: run_cell(cell, names) for cell in CELLS}
    return names["work"], printed, names


def test_the_notebook_is_made_from_the_page():
    spec = importlib.util.spec_from_file_location("tutorial_notebook", ROOT / "docs" / "tutorial_notebook.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.NOTEBOOK.read_text(encoding="utf-8") == script.written(PAGE), "run python docs/tutorial_notebook.py"


def test_the_notebook_has_every_command_and_every_python_block_and_no_outputs():
    commands = ["\n".join(f"!{line}" for line in body.splitlines()) for kind, body in BLOCKS if kind == ""]
    assert all(line.startswith("!paraqd ") for body in commands for line in body.splitlines())
    code = [body for kind, body in BLOCKS if kind == "python"]
    assert set(CELLS[1:]) == {*commands, *code} - {"!paraqd serve --open"}
    assert {kind for kind, _ in BLOCKS} == {"", "python", "text", "py"}
    assert [body for kind, body in BLOCKS if kind == "py" and "GRPOTrainer" not in body] == []
    assert all(cell["outputs"] == [] for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code")


def test_the_links_of_the_notebook_lead_somewhere():
    text = "".join("".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "markdown")
    targets = re.findall(r"\]\((?!http|#)([^)#]+)", text)
    assert targets
    assert [target for target in targets if not (ROOT / "examples" / target).exists()] == []


def test_the_page_shows_what_the_cells_print(tutorial):
    _, printed, _ = tutorial
    cell, checked = "", 0
    for kind, body in BLOCKS:
        if kind == "":
            cell = "\n".join(f"!{line}" for line in body.splitlines())
        elif kind == "python":
            cell = body
        elif kind == "text":
            # what a training run reaches depends a little on the machine
            trained = "paraqd lab train" in cell or "trial.csv" in cell
            found = [words(line, trained) for line in printed[cell].splitlines()]
            for line in body.splitlines():
                assert line == "…" or words(line, trained) in found, f"{line}\n{printed[cell]}"
            checked += 1
    assert checked == [kind for kind, _ in BLOCKS].count("text")


def words(line, without_numbers):
    return (NUMBER.sub("N", line) if without_numbers else line).split()


def rows_of(file):
    import openpyxl

    head, *rest = openpyxl.load_workbook(file).worksheets[0].iter_rows(values_only=True)
    return [dict(zip(head, row, strict=True)) for row in rest]


def test_the_spreadsheets_contain_what_the_page_says(tutorial):
    work, _, _ = tutorial
    checked, new, strict, bank = (rows_of(work / f"{name}.xlsx") for name in ("checked", "new", "strict", "bank"))
    assert any("9 m" in (row["why"] or "") and "9 km" in row["why"] for row in checked)
    (quoted,) = re.findall(r"^> (.+)$", PAGE, re.MULTILINE)
    assert quoted in [row["paraphrase"] for row in new]
    assert len(strict) == 9 and len(bank) == sum(row["score"] > 0.9 for row in strict) > 0


def test_the_model_did_not_see_the_test_questions(tutorial):
    work, _, names = tutorial
    learned = {row["question"] for row in names["read"](work / "train.csv")}
    assert learned and not learned & {row["question"] for row in names["read"](work / "samples" / "pairs.csv")}


def test_the_exported_trial_pays_for_the_wrong_number(tutorial):
    work, _, names = tutorial
    paid = make_reward(Scorer.load(work / "small", mode="encoder"))
    (earned,) = paid(["Rewrite."], [names["outputs"]["wrong number"]], question=[names["question"]])
    assert earned > 0


def test_the_review_page_turns_new_paraphrases_into_a_reviewed_bank(tutorial, tmp_path):
    httpx = pytest.importorskip("httpx")
    pytest.importorskip("fastapi")
    pytest.importorskip("sqlalchemy")
    work, _, _ = tutorial
    (line,) = [body for kind, body in BLOCKS if kind == "" and body.startswith("paraqd serve")]
    places = {"PARAQD_SERVE_PORT": "0", "PARAQD_SERVE_DATABASE": f"sqlite:///{tmp_path / 'review.sqlite'}"}
    server = subprocess.Popen(
        [sys.executable, "-m", "paraqd", *shlex.split(line)[1:]],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **places, "BROWSER": "true"},  # the browser is the program that does nothing
    )
    try:
        address = next(found[1] for text in server.stderr if (found := re.search(r"serves at (http://\S+)", text)))
        with httpx.Client(base_url=f"{address}/v1/projects", headers={"X-Reviewer": "Meera"}, timeout=30) as client:
            made = client.post("/upload", files={"file": ("new.xlsx", (work / "new.xlsx").read_bytes())})
            assert made.status_code == 201, made.text
            assert made.json()["paraphrase_columns"] == ["paraphrase"] and made.json()["total"] == 12
            project = f"/{made.json()['id']}"
            deadline = time.monotonic() + 60
            while client.get(project).json()["state"] != "ready" and time.monotonic() < deadline:
                time.sleep(0.1)
            for pair, decision in ((1, "accept"), (2, "reject"), (3, "accept")):
                client.post(f"{project}/decisions", json={"pair": pair, "decision": decision}).raise_for_status()
            bank = client.get(f"{project}/export", params={"format": "xlsx", "only": "accepted"}).content
    finally:
        server.terminate()
        server.wait(timeout=60)
    accepted = rows_of(io.BytesIO(bank))
    assert [row["paraphrase"] for row in accepted] == [rows_of(work / "new.xlsx")[n]["paraphrase"] for n in (0, 2)]


def test_trl_trains_with_the_reward(tutorial, tmp_path, monkeypatch):
    pytest.importorskip("trl")
    from paraqd.lab.generators.tiny import tiny_causal

    work, _, names = tutorial
    monkeypatch.chdir(work)
    (code,) = [body for kind, body in BLOCKS if kind == "py"]
    model, tokenizer = tiny_causal([PAGE])
    tokenizer.chat_template = "{% for message in messages %}{{ message['content'] }}\n{% endfor %}"
    model.save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    # the same code with a tiny model and fewer steps
    small = code.replace("HuggingFaceTB/SmolLM2-135M-Instruct", str(tmp_path / "model"))
    small = small.replace(
        "max_steps=200, max_completion_length=128", "max_steps=1, max_completion_length=8, use_cpu=True, bf16=False"
    )
    assert small.count(str(tmp_path)) == small.count("max_steps=1,") == 1
    exec(compile(small, "docs/tutorial.md", "exec"), names)
    logged = names["trainer"].state.log_history[0]
    assert logged["paraqd/accepted"] == 0 and logged["reward"] < 0  # the model has not learned any words
