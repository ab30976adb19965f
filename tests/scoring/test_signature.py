"""The signature names the version, the model with a hash of its files, the mode and the threshold."""

import pytest

import paraqd
from paraqd.scoring.signature import folder_hash, signature


@pytest.fixture
def folder(tmp_path):
    model = tmp_path / "model"
    model.mkdir()
    (model / "model.safetensors").write_bytes(b"weights")
    (model / "tokenizer.json").write_text("{}")
    (model / "README.md").write_text("a card")
    return model


def test_signature():
    expected = f"paraqd:{paraqd.__version__}|model:tiny@0123abcd|mode:encoder|threshold:0.5"
    assert signature("tiny", "0123abcd", "encoder", 0.5) == expected


def test_the_hash_follows_weights_and_tokenizer_alone(folder, tmp_path):
    first = folder_hash(folder)
    assert len(first) == 8 and int(first, 16) >= 0
    (folder / "README.md").write_text("another card")
    (folder / "checkpoint-5").mkdir()
    (folder / "checkpoint-5" / "model.safetensors").write_bytes(b"older weights")
    assert folder_hash(folder) == first
    assert folder_hash(folder.rename(tmp_path / "renamed")) == first


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_another_model_has_another_hash(folder, name):
    first = folder_hash(folder)
    (folder / name).write_text("changed")
    assert folder_hash(folder) != first


def test_modules_beside_the_transformer_count(folder):
    first = folder_hash(folder)
    (folder / "2_Dense").mkdir()
    (folder / "2_Dense" / "model.safetensors").write_bytes(b"more weights")
    assert folder_hash(folder) != first


def test_a_folder_without_weights(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not contain weights"):
        folder_hash(tmp_path)
