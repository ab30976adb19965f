"""Train and score each model once, and store the scores and embeddings in the run's folder."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paraqd.evaluation.intervals import Bootstrap, Estimate, bootstrap
from paraqd.evaluation.metrics import Metrics, evaluate
from paraqd.lab.corpora.triplets import TripletSet
from paraqd.lab.experiments.data import RunData, TestSet
from paraqd.lab.experiments.errors import NotRunError, without_data_path
from paraqd.lab.experiments.methods import Training
from paraqd.lab.experiments.public_fit import fit
from paraqd.lab.training.bi_encoder import describe, train_bi_encoder
from paraqd.lab.training.encoders import check_available, embedder, load_trainable
from paraqd.lab.training.seed_search import SeedSearch, search_seed
from paraqd.lab.training.settings import CHECKPOINT_SECONDS
from paraqd.lab.training.validation import Validation, validate
from paraqd.model_runtime import quiet
from paraqd.scoring.cosine import cosine_scores
from paraqd.scoring.signature import folder_hash, signature
from paraqd.scoring.torch_encoder import EncoderUnavailableError, encoder_folder, load_encoder
from paraqd.scoring.verdict import THRESHOLD
from paraqd.tables.locks import exclusive
from paraqd.tables.table import open_table
from paraqd.tables.writers import replace_json, replacing, write_rows

_AXES = 4
_SCORE_COLUMNS = {"id": str, "score": str, "signature": str}


@dataclass(frozen=True, eq=False)
class Measured:
    """A model's scores on a test set, with metrics and confidence intervals."""

    test_set: str
    signature: str
    labels: NDArray[np.int64]
    scores: NDArray[np.float64]
    groups: tuple[str, ...]
    metrics: Metrics
    intervals: Bootstrap

    def cell(self, name: str) -> Estimate | float:
        """Return a metric with its interval, or only its value if there is no interval."""
        return self.intervals.estimates.get(name) or float(getattr(self.metrics, name))


class Measurements:
    """The measurements of a run's models.

    If ``train`` is True, missing models are trained and scored. ``keep`` contains the slugs of the models that are kept
    after scoring; all other models are deleted. ``analyse`` contains the slugs of the models whose vectors are analysed
    by their principal axes. ``worked`` is True as soon as a model has been trained or scored.
    """

    def __init__(
        self,
        data: RunData,
        *,
        keep: Sequence[str] = (),
        analyse: Sequence[str] = (),
        checkpoint_seconds: float = CHECKPOINT_SECONDS,
        train: bool = True,
    ) -> None:
        self.data = data
        self.train = train
        self.folder = data.folder
        self.keep = set(keep)
        self.analyse = set(analyse)
        self.checkpoint_seconds = checkpoint_seconds
        self._measured: dict[tuple[str, str], Measured] = {}
        self._not_run: dict[str, NotRunError] = {}
        self._available: set[str] = set()
        self.worked = False

    def ensure(
        self, training: Training, sets: Sequence[TestSet], *, embeddings: Sequence[str] = (), wait: bool = True
    ) -> None:
        """Make sure that a model has scores on all the given test sets, and train the model if necessary.

        ``embeddings`` contains the names of the test sets whose triplets are also embedded. If another process is
        training the model, this method waits for the other process or, if ``wait`` is False, raises `HeldError`. If
        another process is preparing the data, this method always waits. If a model could not be trained, later calls
        raise the same error.
        """
        if training.slug in self._not_run:
            raise self._not_run[training.slug]
        if not any(self._missing(training, sets, embeddings)):
            return
        if not self.train:
            raise NotRunError(self._stored_reason(training) or "this model has no scores yet")
        with exclusive(self.folder / "locks" / f"{training.slug}.lock", wait=wait):
            wanted, drawn = self._missing(training, sets, embeddings)
            if not wanted and not drawn:
                return
            try:
                folder, name = self._model(training)
            except NotRunError as error:
                self._not_run[training.slug] = error
                self._write_reason(training, str(error))
                raise
            self.worked = True
            self._reason_file(training).unlink(missing_ok=True)
            # loaded as in ``paraqd evaluate``, so that both give equal scores; long texts are read completely
            embed = load_encoder(str(folder), device=self.data.device)
            digest = folder_hash(folder)
            for test in wanted:
                self.data.progress(f"{training.slug}: scoring {test.name}", 0, len(test.pairs))
                scores = cosine_scores(embed, [(pair.question, pair.paraphrase) for pair in test.pairs])
                if training.slug in self.analyse:
                    _replace_npz(self._spectrum_file(training, test), _spectrum(embed, test))
                self._write_scores(training, test, scores, signature(name, digest, "encoder", THRESHOLD))
            for test in drawn:
                _replace_npz(self._vector_file(training, test), _triplet_vectors(embed, test))
            if training.slug not in self.keep:
                shutil.rmtree(self.folder / "models" / training.slug, ignore_errors=True)

    def _missing(
        self, training: Training, sets: Sequence[TestSet], embeddings: Sequence[str]
    ) -> tuple[list[TestSet], list[TestSet]]:
        """Return the test sets without scores, and the test sets without embeddings."""
        wanted = [test for test in sets if not self._score_file(training, test).is_file()]
        drawn = [test for test in sets if test.name in embeddings and not self._vector_file(training, test).is_file()]
        return wanted, drawn

    def measured(self, training: Training, test: TestSet) -> Measured:
        """Return a model's stored scores on a test set, with the metrics and intervals computed from them."""
        key = (training.slug, test.key)
        if key not in self._measured:
            rows = self._score_rows(training, test)
            labels = np.array([int(pair.label or 0) for pair in test.pairs])
            scores = np.array([float(row["score"]) for row in rows])
            groups = [row["id"] for row in rows]
            samples = self.data.scale.bootstrap_samples
            self._measured[key] = Measured(
                test_set=test.name,
                signature=rows[0]["signature"],
                labels=labels,
                scores=scores,
                groups=tuple(groups),
                metrics=evaluate(labels, scores, threshold=THRESHOLD),
                intervals=bootstrap(labels, scores, threshold=THRESHOLD, groups=groups, samples=samples),
            )
        return self._measured[key]

    def scores(self, training: Training, test: TestSet) -> list[float]:
        """Return a model's stored scores on a test set, in the order of the pairs."""
        return [float(row["score"]) for row in self._score_rows(training, test)]

    def _score_rows(self, training: Training, test: TestSet) -> list[dict[str, Any]]:
        return list(open_table(self._score_file(training, test)).rows(list(_SCORE_COLUMNS)))

    def vectors(self, training: Training, test: TestSet) -> tuple[NDArray[Any], list[tuple[int, int, int]]]:
        """Return the embeddings of the texts in a test set's triplets, and each triplet's three row indices."""
        with np.load(self._vector_file(training, test)) as held:
            return held["vectors"].astype(np.float32), [tuple(row) for row in held["triplets"].tolist()]

    def spectrum(self, training: Training, test: TestSet) -> dict[str, NDArray[Any]]:
        """Return the stored analysis of a test set's vectors by their principal axes; see `_spectrum`."""
        path = self._spectrum_file(training, test)
        if not path.is_file():
            raise NotRunError(f"{path} is missing: delete the scores of {training.slug} and run the experiment again")
        with np.load(path) as held:
            return {name: held[name] for name in held.files}

    def facts(self, training: Training) -> dict[str, Any]:
        """Return the stored record of how a model was trained: its declaration, data, validation and seeds."""
        found: dict[str, Any] = json.loads(self._facts_file(training).read_text("utf-8"))
        return found

    def _stored_reason(self, training: Training) -> str:
        """Return the reason why an earlier run could not train a model, or an empty string."""
        path = self._reason_file(training)
        return str(json.loads(path.read_text("utf-8"))["not_run"]) if path.is_file() else ""

    # models

    def _model(self, training: Training) -> tuple[Path, str]:
        """Return a model's folder and name, and train the model if its folder does not exist."""
        try:
            if training.encoder not in self._available:  # check first, because preparing the data can take hours
                check_available(training.encoder, remedy=self._remedy(training))
                self._available.add(training.encoder)
            return self._pretrained(training) if training.method.recipe is None else self._trained(training)
        except EncoderUnavailableError as error:
            raise NotRunError(str(error)) from None

    def _remedy(self, training: Training) -> str:
        """Return advice on an encoder that is not on this machine. ``--encoder`` replaces only the scale's encoder."""
        download = "download it on a machine with a connection, and copy it to the local Hugging Face cache"
        own = training.encoder == self.data.scale.encoder
        return f"{download}, or pass a folder with --encoder" if own else download

    def _pretrained(self, training: Training) -> tuple[Path, str]:
        folder, name = encoder_folder(training.encoder), training.encoder
        if training.layers or not (folder / "config.json").is_file():  # first save the encoder to a folder
            model = load_trainable(training.encoder, layers=training.layers, device=self.data.device)
            folder = self.folder / "models" / training.slug
            with quiet():
                model.save_pretrained(str(folder), create_model_card=False)
            name += f", {training.layers} layers" if training.layers else ""
        try:
            found = validate(load_encoder(str(folder), device=self.data.device), self.data.validation).to_dict()
        except NotRunError:  # the questions for validation are missing
            found = {}
        if found or not self._facts_file(training).is_file():  # keep an earlier record that has the validation
            self._write_facts(training, {"validation": found})
        return folder, name

    def _trained(self, training: Training) -> tuple[Path, str]:
        folder = self.folder / "models" / training.slug
        triplets, prepared = self.data.triplets(training)
        settings, search = training.settings, None
        options: dict[str, Any] = {
            "encoder": training.encoder,
            "layers": training.layers,
            "device": self.data.device,
            "checkpoint_seconds": self.checkpoint_seconds,
        }
        if training.seed_search:
            search = search_seed(
                triplets,
                self.data.validation,
                self.folder / "seeds" / training.slug,
                settings=settings,
                seeds=self.data.scale.seeds,
                progress=lambda stage, *rest: self.data.progress(f"{training.slug}, {stage}", *rest),
                **options,
            )
            settings = replace(settings, seed=search.best)
        started = time.monotonic()
        if training.trainer == "fit":
            self._fit(training, triplets, folder)
            return folder, training.slug
        done = train_bi_encoder(
            triplets,
            folder,
            settings=settings,
            validation=self.data.validation,
            recipe=prepared.recipe,
            stand_ins=prepared.stand_ins,
            left_out=tuple(prepared.left_out),
            progress=lambda stage, *rest: self.data.progress(f"{training.slug}: {stage}", *rest),
            overwrite=True,
            restart=True,
            **options,
        )
        facts = {
            **{key: done.facts[key] for key in ("data", "settings", "stand_ins", "validation", "history", "steps")},
            "versions": done.facts["versions"],
            "left_out": dict(prepared.left_out),
            "entities": prepared.entities,
            "seconds": None if done.reused else round(time.monotonic() - started, 1),
            "seeds": None if search is None else _seeds(search),
        }
        if not done.reused or not self._facts_file(training).is_file():  # a reused model already has its record
            self._write_facts(training, facts)
        return folder, training.slug

    def _fit(self, training: Training, triplets: TripletSet, folder: Path) -> None:
        """Train a model with ``fit`` from sentence-transformers, and save the model."""
        started = time.monotonic()
        model, steps = fit(
            triplets,
            settings=training.settings,
            encoder=training.encoder,
            layers=training.layers,
            device=self.data.device,
        )
        seconds = round(time.monotonic() - started, 1)
        prepared = self.data.triplets(training)[1]
        facts = {
            "data": describe(triplets),
            "settings": training.settings.to_dict(),
            "stand_ins": list(prepared.stand_ins),
            "left_out": dict(prepared.left_out),
            "entities": prepared.entities,
            "validation": validate(embedder(model), self.data.validation).to_dict(),
            "steps": steps,
            "seconds": seconds,
        }
        with quiet():
            model.save_pretrained(str(folder), create_model_card=False)
        self._write_facts(training, facts)

    # files

    def _score_file(self, training: Training, test: TestSet) -> Path:
        return self.folder / "scores" / training.slug / f"{test.key}.csv.gz"

    def _vector_file(self, training: Training, test: TestSet) -> Path:
        return self.folder / "embeddings" / training.slug / f"{test.key}.npz"

    def _spectrum_file(self, training: Training, test: TestSet) -> Path:
        return self.folder / "spectra" / training.slug / f"{test.key}.npz"

    def _facts_file(self, training: Training) -> Path:
        return self.folder / "trainings" / f"{training.slug}.json"

    def _reason_file(self, training: Training) -> Path:
        # not in the folder of training records: a failed attempt must not replace the record of a trained model
        return self.folder / "not-run" / f"{training.slug}.json"

    def _write_scores(self, training: Training, test: TestSet, scores: NDArray[Any], signed: str) -> None:
        # texts and labels are omitted, so that a run can be published
        rows = [
            {"id": pair.id, "score": f"{score:.6f}", "signature": signed}
            for pair, score in zip(test.pairs, scores.tolist(), strict=True)
        ]
        path = self._score_file(training, test)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_rows(path, _SCORE_COLUMNS, rows)

    def _write_facts(self, training: Training, facts: dict[str, Any]) -> None:
        replace_json(self._facts_file(training), {**training.to_dict(), **facts})

    def _write_reason(self, training: Training, reason: str) -> None:
        """Store the reason why a model could not be trained, so that a later call without training can report it."""
        cleaned = without_data_path(reason, self.data.data_dir)
        replace_json(self._reason_file(training), {**training.to_dict(), "not_run": cleaned})


def _seeds(search: SeedSearch) -> dict[str, Any]:
    tried: dict[int, Validation] = search.tried
    return {"best": search.best, "tried": {str(seed): found.to_dict() for seed, found in tried.items()}}


def _triplet_vectors(embed: Any, test: TestSet) -> dict[str, NDArray[Any]]:
    texts = list(dict.fromkeys(text for triplet in test.triplets for text in triplet))
    place = {text: number for number, text in enumerate(texts)}
    rows = [[place[text] for text in triplet] for triplet in test.triplets]
    return {"vectors": np.asarray(embed(texts), dtype=np.float16), "triplets": np.array(rows, dtype=np.int32)}


def _spectrum(embed: Any, test: TestSet) -> dict[str, NDArray[Any]]:
    """Analyse a test set's vectors by their principal axes.

    The analysis uses the unit vectors of all distinct texts, without centring. In the result, ``values`` contains the
    squared singular values of the matrix of these vectors. ``questions`` and ``paraphrases`` contain each pair's
    coordinates on the first four axes.
    """
    texts = list(dict.fromkeys(text for pair in test.pairs for text in (pair.question, pair.paraphrase)))
    vectors = np.asarray(embed(texts), dtype=np.float64)
    _, values, axes = np.linalg.svd(vectors, full_matrices=False)
    place = dict(zip(texts, (vectors @ axes[:_AXES].T).astype(np.float16), strict=True))
    return {
        "values": (values**2).astype(np.float32),
        "questions": np.array([place[pair.question] for pair in test.pairs]),
        "paraphrases": np.array([place[pair.paraphrase] for pair in test.pairs]),
    }


def _replace_npz(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary, open(temporary, "wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]  # the stubs mistake the keywords for options
