"""Damage copies of the shipped models, and ask each copy for one score in a process of its own.

    python bench/damaged_models.py [--variants 200] [--seed 0]

Each variant changes one file of a model. In a sixth of the variants, ``paraqd.json`` still records the hash of the
intact file. In the others it records no hash for this file, as if somebody who changed the file had removed it. A
variant is well if the process prints nothing else and

- refuses the model with a `ParaqdError` whose message is one line that names the model and says what to do,
- gives the score of the intact model, or
- gives another score under another signature, because the file is one of a working, but different model.

Anything else is a fault: another exception, a crash, a message in several lines, more than 6 GiB of memory, or more
than a minute. The exit code is 1 if there is a fault.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import paraqd
from paraqd.model_folder import FACTS_FILE, ONNX_FILE, PACKED_FILE, TOKENIZER_FILE, find_model_folder

ROOT = Path(__file__).parents[1]
QUESTION = "Tom has 5 pens and buys 3 more. How many pens does he have now?"
PARAPHRASE = "Tom, who owned 5 pens, bought 3 further pens. How many pens are his now?"
MEMORY, SECONDS = 6 << 30, 60
JUDGE = "judge"  # the language-model judge, which is loaded through its package
SOURCES = {
    "default": find_model_folder("default"),
    "reading": find_model_folder("reading"),
    "solvable": find_model_folder("solvable"),
    JUDGE: ROOT / "models" / "paraqd-judge-lm" / "src" / "paraqd_judge_lm" / "model",
}
TERABYTE = 1 << 40
_WORDS = ("install", "again", "pass ", "run paraqd", "keep ")  # a remedy contains one of them

# loads the model in a folder and prints what came of it; limits its memory first
CHILD = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({memory}, {memory}))
import paraqd
kind, folder, question, paraphrase = sys.argv[1:]
try:
    if kind == "solvable":
        model = paraqd.SolvableChecker.load(folder)
        found = model.check(question)
    else:
        model = paraqd.Scorer.load(judge="large") if kind == "judge" else paraqd.Scorer.load(folder)
        found = model.score(question, paraphrase)
    print(json.dumps(["scored", found.score, found.signature]))
except paraqd.ParaqdError as error:
    print(json.dumps(["refused", type(error).__name__, str(error)]))
"""

Content = bytes
Damage = Callable[[Content, random.Random], "Content | None"]  # None: the path is not a regular file any more


class Variant(NamedTuple):
    """A way to damage a model: the model's name, the file, what happens to it, and whether its hash stays recorded."""

    model: str
    file: str
    name: str
    damage: Damage
    recorded: bool


class Outcome(NamedTuple):
    """What came of a variant: ``refused``, ``same``, ``other`` or ``fault``, with the message."""

    kind: str
    message: str


# --- bytes ----------------------------------------------------------------------------------------


def truncated(content: Content, rng: random.Random) -> Content:
    return content[: rng.randrange(len(content))]


def flipped(content: Content, rng: random.Random) -> Content:
    return _flipped(content, rng, len(content))


def flipped_early(content: Content, rng: random.Random) -> Content:
    """Flip a bit among the first 20,000 bytes, where a graph has its nodes."""
    return _flipped(content, rng, 20_000)


def _flipped(content: Content, rng: random.Random, within: int) -> Content:
    changed = bytearray(content)
    changed[rng.randrange(min(within, len(content)))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def overwritten(content: Content, rng: random.Random) -> Content:
    place = rng.randrange(len(content))
    return content[:place] + rng.randbytes(64) + content[place + 64 :]


BYTES: dict[str, Damage] = {
    "truncated": truncated,
    "one bit flipped": flipped,
    "one bit flipped early": flipped_early,
    "64 bytes overwritten": overwritten,
    "empty": lambda content, rng: b"",
    "random bytes": lambda content, rng: rng.randbytes(10_000),
    "another file's text": lambda content, rng: b"question,paraphrase\n" * 100,
    "something appended": lambda content, rng: content + rng.randbytes(100),
    "gone": lambda content, rng: None,
    "a folder": lambda content, rng: None,
    "a pipe": lambda content, rng: None,
    "a link to itself": lambda content, rng: None,
    "a terabyte of zeros": lambda content, rng: None,
}


# --- JSON -----------------------------------------------------------------------------------------

_OTHERS: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1e300,
    10**400,
    "",
    "two\nlines \x1b[31m",
    "\ud800",
    [],
    {},
    [[[]]],
    {"type": "no such type"},
)


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each value in a JSON document, except those deep inside long lists and objects."""
    if path:
        yield path
    if isinstance(value, dict | list) and len(value) < 100:
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _paths(inner, (*path, key))


def _changed(content: Content, rng: random.Random, change: Callable[[Any, Any], None]) -> Content:
    whole = json.loads(content)
    *outer, last = rng.choice(list(_paths(whole)))
    place = whole
    for key in outer:
        place = place[key]
    change(place, last)
    return json.dumps(whole).encode()


def _replace(content: Content, rng: random.Random) -> Content:
    return _changed(content, rng, lambda place, key: place.__setitem__(key, rng.choice(_OTHERS)))


def _delete(content: Content, rng: random.Random) -> Content:
    return _changed(content, rng, lambda place, key: place.__delitem__(key))


JSON: dict[str, Damage] = {
    "a value replaced": _replace,
    "a value removed": _delete,
    "nested deeply": lambda content, rng: b'{"format": 1, "fusion": ' + b"[" * 5_000 + b"]" * 5_000 + b"}",
    "a name of two lines": lambda content, rng: json.dumps(json.loads(content) | {"name": "a\nb|mode:c"}).encode(),
}


def _tokenizer(change: Callable[[dict[str, Any]], Any]) -> Damage:
    def damage(content: Content, rng: random.Random) -> Content:
        whole = json.loads(content)
        change(whole)
        return json.dumps(whole).encode()

    return damage


def _shift_ids(whole: dict[str, Any], by: int) -> None:
    vocabulary = whole["model"]["vocab"]
    for word in list(vocabulary)[2000:]:
        vocabulary[word] += by


_DOUBLE = {"type": "Replace", "pattern": {"String": "e"}, "content": "ee"}
_REGEX = {"type": "Split", "pattern": {"Regex": "([a-z]+)+$"}, "behavior": "Isolated", "invert": False}
TOKENIZER: dict[str, Damage] = {
    "ids out of range": _tokenizer(lambda whole: _shift_ids(whole, 1_000_000)),
    "ids near the limit": _tokenizer(lambda whole: _shift_ids(whole, 2**32 - 40_000)),
    "text that doubles": _tokenizer(lambda whole: whole.update(normalizer=_several("normalizers", [_DOUBLE] * 60))),
    "a slow pattern": _tokenizer(lambda whole: whole.update(pre_tokenizer=_REGEX)),
    "no words": _tokenizer(lambda whole: whole["model"].update(vocab={"[UNK]": 0, "[CLS]": 1, "[SEP]": 2})),
    "no unknown word": _tokenizer(lambda whole: whole["model"].update(unk_token="[NONE]", vocab={"a": 0})),
    "no special tokens": _tokenizer(lambda whole: (whole["model"]["vocab"].pop("[CLS]"), whole.pop("added_tokens"))),
}


def _several(key: str, parts: list[Any]) -> dict[str, Any]:
    return {"type": "Sequence", key: parts}


# --- graphs ---------------------------------------------------------------------------------------


def _graph(change: Callable[[Any, random.Random], Any]) -> Damage:
    def damage(content: Content, rng: random.Random) -> Content:
        import onnx

        model = onnx.load_model_from_string(content)
        change(model.graph, rng)
        return bytes(model.SerializeToString())

    return damage


def _rename_output(graph: Any, old: str, new: str) -> None:
    for node in graph.node:
        node.output[:] = [new if name == old else name for name in node.output]


def _store(graph: Any, array: Any, name: str) -> None:
    from onnx import numpy_helper

    graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))


def _add_terabyte(graph: Any, rng: random.Random) -> None:
    """Let the graph compute a tensor of four terabytes when it runs, and add its sum to the answer."""
    from onnx import helper

    _store(graph, np.array([2**20, 2**20]), "size")
    _rename_output(graph, "valid", "before")
    made = [("Cast", ["input_ids"], "number", {"to": 1}), ("Expand", ["cell", "size"], "large", {})]
    for operator, given, out, more in (
        *made[:1],
        ("ReduceMin", ["number"], "cell", {"keepdims": 0}),
        *made[1:],
        ("ReduceSum", ["large"], "sum", {"keepdims": 0}),
        ("Add", ["before", "sum"], "valid", {}),
    ):
        graph.node.append(helper.make_node(operator, given, [out], **more))


def _add_loop(graph: Any, rng: random.Random) -> None:
    """Let the graph count to 2**62."""
    from onnx import TensorProto, helper

    kinds = {"turn": TensorProto.INT64, "on": TensorProto.BOOL, "state": TensorProto.FLOAT}
    given = [helper.make_tensor_value_info(name, kind, None if name == "state" else []) for name, kind in kinds.items()]
    out = [helper.make_tensor_value_info(f"{name}_out", kinds[name], None) for name in ("on", "state")]
    nodes = [helper.make_node("Identity", [name], [f"{name}_out"]) for name in ("on", "state")]
    _store(graph, np.array(2**62), "turns")
    _store(graph, np.array(True), "yes")
    _rename_output(graph, "valid", "before")
    body = helper.make_graph(nodes, "body", given, out)
    graph.node.append(helper.make_node("Loop", ["turns", "yes", "before"], ["valid"], body=body))


def _to_outside(graph: Any, rng: random.Random) -> None:
    """Take the values of a tensor from another file."""
    from onnx import TensorProto

    tensor = rng.choice([each for each in graph.initializer if each.raw_data])
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="other.bin")


def _declare_terabyte(graph: Any, rng: random.Random) -> None:
    rng.choice(graph.initializer).dims[:] = [2**20, 2**20]


GRAPH: dict[str, Damage] = {
    "a node removed": _graph(lambda graph, rng: graph.node.pop(rng.randrange(len(graph.node)))),
    "another operator": _graph(lambda graph, rng: setattr(rng.choice(graph.node), "op_type", "Relu")),
    "an unknown operator": _graph(lambda graph, rng: setattr(rng.choice(graph.node), "op_type", "\x1b[31mNo\nop")),
    "a tensor removed": _graph(lambda graph, rng: graph.initializer.pop(rng.randrange(len(graph.initializer)))),
    "a tensor of another type": _graph(lambda graph, rng: setattr(rng.choice(graph.initializer), "data_type", 1)),
    "a tensor of a terabyte": _graph(_declare_terabyte),
    "a terabyte when it runs": _graph(_add_terabyte),
    "a loop": _graph(_add_loop),
    "values in another file": _graph(_to_outside),
    "an output of another shape": _graph(lambda graph, rng: _reshape(graph, rng.choice(("valid", "kinds", "places")))),
    "an output of another type": _graph(lambda graph, rng: _retype(graph, rng.choice(("valid", "kinds", "places")))),
    "an input removed": _graph(lambda graph, rng: graph.input.pop()),
    "an output removed": _graph(lambda graph, rng: graph.output.pop(rng.randrange(len(graph.output)))),
}


def _reshape(graph: Any, name: str) -> None:
    """Give an output one more dimension."""
    from onnx import helper

    _rename_output(graph, name, "before")
    _store(graph, np.array([0]), "front")
    graph.node.append(helper.make_node("Unsqueeze", ["before", "front"], [name]))
    next(each for each in graph.output if each.name == name).type.tensor_type.ClearField("shape")


def _retype(graph: Any, name: str) -> None:
    """Make the numbers of an output integers."""
    from onnx import TensorProto, helper

    _rename_output(graph, name, "before")
    graph.node.append(helper.make_node("Cast", ["before"], [name], to=TensorProto.INT32))
    next(each for each in graph.output if each.name == name).type.tensor_type.elem_type = TensorProto.INT32


# --- packed weights -------------------------------------------------------------------------------


def _archive(change: Callable[[dict[str, bytes]], Any], method: int = zipfile.ZIP_STORED) -> Damage:
    def damage(content: Content, rng: random.Random) -> Content:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        change(members)
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", method) as archive:
            for name, member in members.items():
                archive.writestr(name, member)
        return out.getvalue()

    return damage


def _array(dtype: str, shape: str, data: bytes = b"") -> bytes:
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}}}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data


def _first(members: dict[str, bytes]) -> str:
    return next(name for name in members if name.endswith(".packed.npy"))


def _with_first(member: bytes) -> Callable[[dict[str, bytes]], None]:
    return lambda members: members.update({_first(members): member})


ARCHIVE: dict[str, Damage] = {
    "an array of a terabyte": _archive(_with_first(_array("|u1", "(1048576, 1048576)"))),
    "an array of many empty items": _archive(_with_first(_array("|V0", "(1048576, 1048576)"))),
    "an array of objects": _archive(_with_first(_array("|O", "(1,)", b"\x80\x04N."))),
    "an array of text": _archive(_with_first(_array("<U4", "(2, 2)", b"a\0\0\0" * 16))),
    "an array removed": _archive(lambda members: members.pop(_first(members))),
    "an array of ten gigabytes, compressed": _archive(
        _with_first(_array("|u1", "(1024, 4194304)", bytes(1 << 30))), zipfile.ZIP_DEFLATED
    ),
    "a weight that nothing uses": _archive(
        lambda members: members.update({"more.packed.npy": members[_first(members)], "more.factors.npy": b""})
    ),
}


# --- the run --------------------------------------------------------------------------------------


def damages(file: str) -> dict[str, Damage]:
    """Return the ways to damage a file, keyed by name."""
    if file == FACTS_FILE:
        return BYTES | JSON
    if file == TOKENIZER_FILE:
        return BYTES | {name: JSON[name] for name in list(JSON)[:2]} | TOKENIZER
    return BYTES | (GRAPH if file == ONNX_FILE else ARCHIVE)


def variants(count: int, seed: int) -> list[Variant]:
    """Return each way to damage each file of each model once, then random ones of those that depend on chance."""
    found = []
    for model, source in SOURCES.items():
        for file in (FACTS_FILE, ONNX_FILE, PACKED_FILE, TOKENIZER_FILE):
            if (source / file).is_file():
                found += [Variant(model, file, name, each, False) for name, each in damages(file).items()]
    rng = random.Random(seed)
    rng.shuffle(found)
    found = found[:count]
    while len(found) < count:
        found.append(rng.choice(found))
    return [each._replace(recorded=number % 6 == 0 and each.file != FACTS_FILE) for number, each in enumerate(found)]


def prepare(variant: Variant, place: Path, rng: random.Random) -> Path:
    """Write a damaged copy of a model, and return its folder. Files that stay as they are become links."""
    source, folder = SOURCES[variant.model], place / "model"
    shutil.copytree(source, folder, copy_function=os.link)
    path = folder / variant.file
    content = path.read_bytes()
    path.unlink()
    damaged = variant.damage(content, rng)
    if damaged is not None:
        path.write_bytes(damaged)
    elif variant.name == "a folder":
        path.mkdir()
    elif variant.name == "a pipe":
        os.mkfifo(path)
    elif variant.name == "a link to itself":
        path.symlink_to(path.name)
    elif variant.name == "a terabyte of zeros":
        path.touch()
        os.truncate(path, TERABYTE)
    if variant.file != FACTS_FILE and not variant.recorded:
        facts = json.loads((folder / FACTS_FILE).read_text("utf-8"))
        del facts["sha256"][variant.file]
        (folder / FACTS_FILE).unlink()
        (folder / FACTS_FILE).write_text(json.dumps(facts), "utf-8")
    return folder


def ask(kind: str, folder: Path, place: Path) -> tuple[int, str, str]:
    """Load the model in a folder in a process of its own, and return its exit code, its answer and its messages."""
    env = dict(os.environ, PYTHONPATH=str(Path(paraqd.__file__).parents[1]), PARAQD_JUDGE="small")
    if kind == JUDGE:  # a package of the judge's name that comes before the installed one
        module, info = place / "paraqd_judge_lm", place / "paraqd_judge_lm-0.dist-info"
        module.mkdir()
        (module / "__init__.py").write_text(f"def folder():\n    return {str(folder)!r}\n")
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: paraqd-judge-lm\nVersion: 0\n")
        (info / "entry_points.txt").write_text("[paraqd.judges]\nlanguage-model = paraqd_judge_lm:folder\n")
        env["PYTHONPATH"] = f"{place}{os.pathsep}{env['PYTHONPATH']}"
    code = CHILD.format(memory=MEMORY)
    given = [sys.executable, "-c", code, kind, str(folder), QUESTION, PARAPHRASE]
    try:
        done = subprocess.run(given, env=env, capture_output=True, text=True, timeout=SECONDS, errors="replace")
    except subprocess.TimeoutExpired:
        return 124, "", f"took more than {SECONDS} s"
    return done.returncode, done.stdout, done.stderr


def judge(found: tuple[int, str, str], folder: Path, right: list[Any]) -> Outcome:
    """Return the outcome of a variant, given what its process printed and what the intact model answers."""
    code, out, errors = found
    if code or errors.strip():
        return Outcome("fault", f"exit {code}: {' / '.join(errors.strip().splitlines()[-2:])}")
    kind, *answer = json.loads(out)
    if kind == "refused":
        message = str(answer[1])
        well = message.isprintable() and any(word in message for word in _WORDS)
        return Outcome("refused" if well else "fault", message)
    score, signature = answer
    if abs(score - right[1]) < 1e-6:
        return Outcome("same", "")
    well = -1 <= score <= 1 and signature != right[2] and signature.isprintable()
    return Outcome("other" if well else "fault", f"scored {score} instead of {right[1]} as {signature}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variants", type=int, default=240)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    right: dict[str, list[Any]] = {}
    counts: Counter[str] = Counter()
    for number, variant in enumerate(variants(given.variants, given.seed)):
        with tempfile.TemporaryDirectory() as work:
            if variant.model not in right:
                (place := Path(work) / "intact").mkdir()
                right[variant.model] = json.loads(ask(variant.model, SOURCES[variant.model], place)[1])
            (place := Path(work) / "damaged").mkdir()
            folder = prepare(variant, place, random.Random(f"{given.seed} {number}"))
            outcome = judge(ask(variant.model, folder, place), folder, right[variant.model])
        counts[outcome.kind] += 1
        hidden = "recorded" if variant.recorded else "unrecorded"
        line = f"{outcome.kind:8}{variant.model}/{variant.file}: {variant.name} ({hidden})  {outcome.message}"
        print(line.encode("unicode_escape").decode(), flush=True)
    print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
    return 1 if counts["fault"] else 0


if __name__ == "__main__":
    sys.exit(main())
