"""Finished pieces of a run, kept beside the output so that a run that was broken off goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from paraqd.data.formats import TableError, reason
from paraqd.data.locks import locked
from paraqd.data.writers import replacing
from paraqd.operators.apply import Chunk, Outputs, Question, Tally
from paraqd.operators.plan import AugmentError

_MANIFEST = "manifest.json"
_LOCK = "lock"
# the manifest goes first when they are removed: parts count only as long as it is there
_OURS = (_MANIFEST, "part-*.json", ".*.writing", _LOCK)
# what a run's settings are called when two of them differ
_NAMES = {
    "input": "another input file",
    "seed": "another seed",
    "version": "another version of paraqd",
    "columns": "other columns",
    "encoding": "another encoding",
    "stand_ins": "another choice of stand-ins",
    "steps": "other operators",
    "models": "other models",
    "entities": "another entity reader",
    "chunk": "another chunk size",
}


@dataclass(frozen=True)
class Part:
    """What one chunk gave: (question, step, paraphrase, note) for each output, in the order of the rows."""

    questions: tuple[Question, ...]
    skipped: tuple[tuple[int, str], ...]
    outputs: tuple[tuple[int, int, str, str], ...]
    tallies: tuple[Tally, ...]


def parts_folder(out: Path) -> Path:
    """Return where the parts of an output lie."""
    return out.with_name(f"{out.name}.parts")


class Parts:
    """The parts of one output, held by this process alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def begun(self) -> bool:
        """Whether a run has begun here."""
        return (self.folder / _MANIFEST).is_file()

    def begin(self, manifest: Mapping[str, Any], *, restart: bool) -> None:
        """Begin a run, or go on with one of the same settings; others are refused unless ``restart``."""
        path = self.folder / _MANIFEST
        if self.begun and not restart:
            try:
                before = json.loads(path.read_text(encoding="utf-8"))
            except ValueError:
                raise AugmentError(f"{path} is damaged; start again with --restart") from None
            differing = [key for key in manifest if before.get(key) != manifest[key]]
            if differing:
                what = " and ".join(_difference(key, before.get(key), manifest[key]) for key in differing)
                raise AugmentError(
                    f"the unfinished run in {self.folder} has {what}; give the same options to go on with "
                    "it, or --restart to throw it away"
                )
            return
        self.clear(keep=(_LOCK,))  # also what is left of a run that was being removed when it was killed
        self._write(path, manifest)

    def path(self, index: int) -> Path:
        """Return the file of a chunk's part."""
        return self.folder / f"part-{index:07d}.json"

    def has(self, index: int) -> bool:
        """Whether the chunk is finished; chunks are finished in their order."""
        return self.path(index).is_file()

    def prefix(self, total: int) -> int:
        """Return how many chunks from the first on are finished."""
        return next((index for index in range(total) if not self.has(index)), total)

    def save(self, chunk: Chunk, results: Sequence[Outputs]) -> None:
        """Keep a finished chunk: after this returns it survives a power cut."""
        outputs = [
            (q, s, *text)
            for q in range(len(chunk.questions))
            for s, result in enumerate(results)
            if (text := result.texts[q]) is not None
        ]
        self._write(
            self.path(chunk.index),
            {
                "questions": chunk.questions,
                "skipped": chunk.skipped,
                "outputs": outputs,
                "tallies": [asdict(result.tally) for result in results],
            },
        )

    def load(self, index: int) -> Part:
        """Read a finished chunk."""
        path = self.path(index)
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            return Part(
                questions=tuple(Question(*question) for question in data["questions"]),
                skipped=tuple((row, why) for row, why in data["skipped"]),
                outputs=tuple((q, s, text, note) for q, s, text, note in data["outputs"]),
                tallies=tuple(Tally(**tally) for tally in data["tallies"]),
            )
        except (OSError, ValueError, KeyError, TypeError):
            raise AugmentError(f"{path} is damaged; delete it and run the same command again") from None

    def clear(self, *, keep: Sequence[str] = ()) -> None:
        """Remove what belongs to the run, and the folder if nothing else lies in it."""
        for pattern in _OURS:
            for path in self.folder.glob(pattern):
                if path.name not in keep:
                    path.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()

    def _write(self, path: Path, data: Mapping[str, Any]) -> None:
        with replacing(path) as temporary:
            temporary.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")


@contextmanager
def hold(out: Path) -> Iterator[Parts]:
    """Make the folder of an output's parts and hold it, so that no second run writes the same output.

    The folder is left where something is finished, and removed where nothing is.
    """
    folder = parts_folder(out)
    parts = Parts(folder)
    try:
        folder.mkdir(exist_ok=True)
        strangers = [] if parts.begun else [path for path in folder.iterdir() if not _is_ours(path)]
        if strangers:
            raise AugmentError(f"{folder} is in the way: it holds {strangers[0].name}; move it away")
        lock = open(folder / _LOCK, "wb")  # noqa: SIM115  # held, not read
    except OSError as error:
        raise TableError(f"cannot write {folder}: {reason(error)}") from None
    with lock:
        if not locked(lock):
            raise AugmentError(f"another run is writing {out} just now; wait for it or stop it")
        try:
            yield parts
        finally:
            if not parts.has(0):
                parts.clear()


def _is_ours(path: Path) -> bool:
    return any(path.match(pattern) for pattern in _OURS)


def _difference(key: str, before: Any, now: Any) -> str:
    shown = f" ({before}, now {now})" if key in ("seed", "version", "entities", "encoding") else ""
    return f"{_NAMES.get(key, key)}{shown}"
