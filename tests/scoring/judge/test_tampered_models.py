"""A model whose files were changed, and whose hashes were removed, is refused in one line or is another model."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import paraqd
from paraqd import ModelError, Scorer, SolvableChecker
from paraqd.model_folder import FACTS_FILE, ONNX_FILE, PACKED_FILE, TOKENIZER_FILE
from paraqd.scoring.judge.graph_check import check_graph
from paraqd.scoring.judge.language_model import LanguageModel

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

PAIR = "Tom has 5 pens and 7 girls. How many?", "How many pens has Tom, who is in 7 and has 5?"
TERABYTE = 1 << 40


@pytest.fixture
def folder(judge_folder, tmp_path):
    """Return a copy of the tiny judge without hashes, so that nothing is refused because it has changed."""
    copy = shutil.copytree(judge_folder, tmp_path / "model")
    change_json(copy / FACTS_FILE, lambda facts: facts.pop("sha256", None))
    return copy


def change_json(path, change):
    whole = json.loads(path.read_text("utf-8"))
    change(whole)
    path.write_text(json.dumps(whole), "utf-8")


def change_graph(folder, change):
    model = onnx.load(folder / ONNX_FILE)
    change(model.graph)
    (folder / ONNX_FILE).write_bytes(model.SerializeToString())


def refusal(folder):
    """Score a pair, which must fail with one line that says what to do, and return the line."""
    with pytest.raises(ModelError) as caught:
        Scorer.load(folder).score(*PAIR)
    message = str(caught.value)
    assert message.isprintable() and "install" in message and "again" in message
    return message


# --- the tokenizer --------------------------------------------------------------------------------


@pytest.mark.parametrize("shift", [1_000, 2**32 - 100])
def test_a_token_that_the_model_does_not_know(folder, capfd, shift):
    def change(whole):
        whole["model"]["vocab"]["pens"] += shift

    change_json(folder / TOKENIZER_FILE, change)
    assert "the tokenizer has a token that the model does not know" in refusal(folder)
    assert capfd.readouterr().err == ""  # the runtime once printed a coloured line of its own


def test_the_command_names_such_a_model_in_one_line(folder, fails, tmp_path):
    change_json(folder / TOKENIZER_FILE, lambda whole: whole["model"]["vocab"].update(pens=10**6))
    (tmp_path / "pairs.jsonl").write_text(json.dumps(dict(zip(("question", "paraphrase"), PAIR, strict=True))))
    line = fails("score", tmp_path / "pairs.jsonl", "-o", tmp_path / "out.csv", "--model", folder, "-q")
    assert f"the model in {folder} cannot be run: the tokenizer has a token that the model does not know" in line
    assert not (tmp_path / "out.csv").exists()


def test_a_tokenizer_that_fails_on_a_text(folder):
    change_json(folder / TOKENIZER_FILE, lambda whole: whole["model"]["vocab"].pop("[UNK]"))
    assert "tokenizer.json: the tokenizer cannot read a text: WordPiece error: Missing [UNK]" in refusal(folder)


DOUBLE = {"type": "Replace", "pattern": {"String": "e"}, "content": "ee"}
SLOW = {"type": "Split", "pattern": {"Regex": "([a-z]+)+$"}, "behavior": "Isolated", "invert": False}
PANIC = {"type": "Precompiled", "precompiled_charsmap": "AAAA"}  # not an Exception, and a page on standard error


@pytest.mark.parametrize(
    ("part", "step", "name"),
    [
        ("normalizer", {"type": "Sequence", "normalizers": [DOUBLE] * 60}, "Replace"),
        ("normalizer", {"type": "Sequence", "normalizers": [{"type": "NFC"}, PANIC]}, "Precompiled"),
        ("pre_tokenizer", SLOW, "Split"),
    ],
)
def test_a_tokenizer_that_could_run_forever(folder, capfd, part, step, name):
    change_json(folder / TOKENIZER_FILE, lambda whole: whole.update({part: step}))
    assert f"cannot be loaded: it has the step '{name}', which paraqd's models do not use" in refusal(folder)
    assert capfd.readouterr().err == ""


def test_a_tokenizer_that_reads_very_long_words(folder):
    change_json(folder / TOKENIZER_FILE, lambda whole: whole["model"].update(max_input_chars_per_word=10**9))
    assert "it reads words of more than 1,000 characters" in refusal(folder)


# --- the graph ------------------------------------------------------------------------------------


def move_outside(graph, location):
    """Take the values of a tensor from another file, and return its name."""
    tensor = next(each for each in graph.initializer if each.raw_data)
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    return tensor.name


def test_values_in_another_file_are_refused(folder, monkeypatch):
    """The runtime once read such a file from the current folder, and its content was in no hash and no signature."""
    names = []
    values = next(each.raw_data for each in onnx.load(folder / ONNX_FILE).graph.initializer if each.raw_data)
    (folder / "other.bin").write_bytes(values)
    monkeypatch.chdir(folder)
    change_graph(folder, lambda graph: names.append(move_outside(graph, "other.bin")))
    assert f"the values of the tensor '{names[0]}' are in another file, which no hash covers" in refusal(folder)


def test_a_language_model_may_only_lack_the_values_that_are_supplied(language_judge_folder, tmp_path):
    folder = shutil.copytree(language_judge_folder, tmp_path / "model")
    graph = onnx.load(folder / ONNX_FILE, load_external_data=False).graph
    lacking = [each.name for each in graph.initializer if each.data_location == TensorProto.EXTERNAL]
    content = (folder / ONNX_FILE).read_bytes()
    check_graph(content, lacking)
    with pytest.raises(ValueError, match=f"the values of the tensor '{lacking[0]}' are in another file"):
        check_graph(content, lacking[1:])
    with zipfile.ZipFile(folder / PACKED_FILE) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if not name.startswith(f"{lacking[0]}.")}
    write_archive(folder, members)
    with pytest.raises(ModelError, match=f"the values of the tensor '{lacking[0]}' are in another file"):
        LanguageModel(folder).session  # noqa: B018


def tensor_in_a_node(graph):
    tensor = TensorProto(name="value", dims=[1], data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL)
    graph.node.append(helper.make_node("Constant", [], ["unused"], value=tensor))


def sparse_tensor(graph):
    values, places = (
        numpy_helper.from_array(np.ones(1, np.float32), "sparse"),
        numpy_helper.from_array(np.zeros(1, int)),
    )
    graph.sparse_initializer.append(helper.make_sparse_tensor(values, places, [1 << 20, 1 << 20]))


def loop(graph):
    """Count to 2**62."""
    kinds = {"turn": TensorProto.INT64, "on": TensorProto.BOOL}
    given = [helper.make_tensor_value_info(name, kind, []) for name, kind in kinds.items()]
    out = [helper.make_tensor_value_info("on_out", TensorProto.BOOL, [])]
    body = helper.make_graph([helper.make_node("Identity", ["on"], ["on_out"])], "body", given, out)
    graph.initializer.append(numpy_helper.from_array(np.array(2**62), "turns"))
    graph.node.append(helper.make_node("Loop", ["turns", ""], [], body=body))


def declared(*dims):
    return lambda graph: graph.initializer.append(TensorProto(name="large", dims=dims, data_type=TensorProto.FLOAT))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (tensor_in_a_node, "the values of the tensor 'value' are in another file"),
        (sparse_tensor, "it has sparse tensors, which paraqd's models do not use"),
        (loop, "it has loops or branches, which paraqd's models do not use"),
        (declared(1 << 20, 1 << 20), "the tensor 'large' has fewer values than its dimensions say"),
        (declared(*[1 << 62] * 1000), "the tensor 'large' has fewer values than its dimensions say"),
        (declared(-5), "the tensor 'large' has fewer values than its dimensions say"),
    ],
    ids=["tensor in a node", "sparse tensor", "loop", "terabyte", "many dimensions", "negative"],
)
def test_a_graph_that_needs_more_than_its_file(folder, change, reason):
    change_graph(folder, change)
    assert f"{ONNX_FILE} cannot be loaded: {reason}" in refusal(folder)


def test_functions_are_refused():
    function = helper.make_function("own", "f", ["x"], ["y"], [helper.make_node("Relu", ["x"], ["y"])], [])
    model = helper.make_model(helper.make_graph([], "empty", [], []), functions=[function])
    with pytest.raises(ValueError, match="it has functions"):
        check_graph(model.SerializeToString())


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"ORTM" * 100, "it has a field of the unknown form 7"),
        (b"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "it ends inside a field"),
        (b"\xff" * 20, "it has an integer that does not end"),
        (b"\xba\x80\x80\x80\x80\x80\x80\x01\x00", "the number of a field is out of range"),
        (b"\x08\x01" * 2_000_001, "it has more than 2,000,000 fields"),
    ],
    ids=["another format", "long field", "endless number", "large number", "many fields"],
)
def test_content_that_is_not_a_graph(content, why):
    with pytest.raises(ValueError, match=why):
        check_graph(content)


def test_a_name_that_is_a_number():
    """Python would have made as many zeros of it."""
    tensor = b"\x40" + b"\xff" * 8 + b"\x7f"
    graph = b"\x2a" + bytes([len(tensor)]) + tensor
    check_graph(b"\x3a" + bytes([len(graph)]) + graph)


def test_the_graphs_of_the_package_are_accepted():
    for name in ("default", "solvable"):
        check_graph((paraqd.model_folder.find_model_folder(name) / ONNX_FILE).read_bytes())


def rename_output(graph, old, new):
    for node in graph.node:
        node.output[:] = [new if name == old else name for name in node.output]


def one_more_dimension(graph, name):
    rename_output(graph, name, "before")
    graph.initializer.append(numpy_helper.from_array(np.array([0]), "front"))
    graph.node.append(helper.make_node("Unsqueeze", ["before", "front"], [name]))
    next(each for each in graph.output if each.name == name).type.tensor_type.ClearField("shape")


def integers(graph, name):
    rename_output(graph, name, "before")
    graph.node.append(helper.make_node("Cast", ["before"], [name], to=TensorProto.INT32))
    next(each for each in graph.output if each.name == name).type.tensor_type.elem_type = TensorProto.INT32


@pytest.mark.parametrize("name", ["valid", "kinds", "places"])
@pytest.mark.parametrize("change", [one_more_dimension, integers])
def test_an_output_of_another_form(folder, change, name):
    change_graph(folder, lambda graph: change(graph, name))
    assert f"the model's output '{name}' has another form" in refusal(folder)


def test_a_graph_without_an_output(folder):
    change_graph(folder, lambda graph: graph.output.pop())
    assert f"the model in {folder} cannot be run: " in refusal(folder)


# the model computes a tensor of 4 TB when it runs
ASK = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
import paraqd
try:
    paraqd.Scorer.load(sys.argv[1]).score(*sys.argv[2:])
except paraqd.ModelError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of a process")
def test_a_graph_that_asks_for_terabytes(folder):
    def change(graph):
        rename_output(graph, "valid", "before")
        graph.initializer.append(numpy_helper.from_array(np.array([1 << 20, 1 << 20]), "size"))
        for operator, given, out, more in (
            ("Cast", ["input_ids"], "number", {"to": TensorProto.FLOAT}),
            ("ReduceMin", ["number"], "least", {"keepdims": 0}),
            ("Expand", ["least", "size"], "large", {}),
            ("ReduceSum", ["large"], "sum", {"keepdims": 0}),
            ("Add", ["before", "sum"], "valid", {}),
        ):
            graph.node.append(helper.make_node(operator, given, [out], **more))

    change_graph(folder, change)
    given = [sys.executable, "-c", ASK, str(folder), *PAIR]
    done = subprocess.run(given, capture_output=True, text=True, env=os.environ | {"PARAQD_JUDGE": "small"})
    assert done.stderr == "" and done.stdout.count("\n") == 1
    assert f"the model in {folder} cannot be run: " in done.stdout and "allocate" in done.stdout


# --- packed weights -------------------------------------------------------------------------------


def write_archive(folder, members, method=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    (folder / PACKED_FILE).write_bytes(out.getvalue())


def array(dtype, shape, data=b""):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}}}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data


@pytest.mark.parametrize(
    ("member", "method", "reason"),
    [
        (array("|u1", (TERABYTE, 4)), zipfile.ZIP_STORED, ""),
        (array("|V0", (TERABYTE, 4)), zipfile.ZIP_STORED, ""),
        (array("|O", (1,), b"\x80\x04N."), zipfile.ZIP_STORED, ""),
        (array("|u1", (1024, 1024), bytes(1 << 20)), zipfile.ZIP_DEFLATED, "its arrays are compressed or overlap"),
    ],
    ids=["terabyte", "empty items", "objects", "compressed"],
)
def test_weights_that_claim_more_than_their_file(language_judge_folder, tmp_path, member, method, reason):
    folder = shutil.copytree(language_judge_folder, tmp_path / "model")
    with zipfile.ZipFile(folder / PACKED_FILE) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members[next(iter(members))] = member
    write_archive(folder, members, method)
    with pytest.raises(ModelError, match=rf"weights\.npz cannot be loaded: .*{reason}.*; install or train") as caught:
        LanguageModel(folder).session  # noqa: B018
    assert str(caught.value).isprintable()


# --- any file -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [FACTS_FILE, ONNX_FILE, TOKENIZER_FILE])
def test_a_file_of_a_terabyte_is_not_read(folder, name):
    (folder / name).unlink()
    (folder / name).touch()
    os.truncate(folder / name, TERABYTE)  # no disk has to hold the zeros
    assert "has 1,099,511,627,776 bytes, and no model has more than" in refusal(folder)


@pytest.mark.parametrize("given", ["a\nb", "a|threshold:0.9", "\x1b[31mred"])
def test_a_name_that_would_disturb_the_signature(folder, given):
    change_json(folder / FACTS_FILE, lambda facts: facts.update(name=given))
    with pytest.raises(ModelError, match=r"paraqd\.json: the model's name is .* with a name of printable") as caught:
        Scorer.load(folder)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("scale", [10**400, True, "1", None], ids=["large", "true", "text", "none"])
def test_a_calibration_that_cannot_be_used(question_judge_folder, tmp_path, scale):
    folder = shutil.copytree(question_judge_folder, tmp_path / "model")
    change_json(folder / FACTS_FILE, lambda facts: facts.update(calibration={"scale": scale, "offset": 0}))
    with pytest.raises(ModelError, match=r"the calibration in paraqd\.json is not a scale and an offset"):
        SolvableChecker.load(folder)
