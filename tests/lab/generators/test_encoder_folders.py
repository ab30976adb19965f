"""Only encoders that are read rightly are read at all."""

from __future__ import annotations

import json
import shutil

import pytest

pytest.importorskip("torch")

from paraqd.scoring.torch_encoder import EncoderError, encoder_folder, load_encoder


@pytest.fixture
def folder(tmp_path):
    """The default encoder's folder, its weights only linked."""
    made = tmp_path / "encoder"
    shutil.copytree(encoder_folder(), made, ignore=shutil.ignore_patterns("*.safetensors"))
    (made / "model.safetensors").symlink_to(encoder_folder() / "model.safetensors")
    return made


@pytest.mark.parametrize("written", [{"pooling_mode": "cls"}, {"pooling_mode_mean_tokens": False}])
def test_another_pooling_is_refused_however_it_is_written(folder, written):
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(written))
    with pytest.raises(EncoderError, match="are not means of token vectors"):
        load_encoder(str(folder), device="cpu")


def test_modules_that_would_be_passed_over_are_refused(folder):
    modules = json.loads((folder / "modules.json").read_text())
    modules.append({"idx": 3, "name": "3", "path": "3_Dense", "type": "sentence_transformers.models.Dense"})
    (folder / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(EncoderError, match=r"unsupported modules: .*Dense"):
        load_encoder(str(folder), device="cpu")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("paraqd.json", {"format": 99}, "has format 99, but this version of paraqd reads format 1"),
        ("config.json", {"architectures": ["LlamaForCausalLM"]}, "contains a text generator"),
    ],
)
def test_a_model_of_another_version_or_kind_is_refused(folder, name, content, message):
    (folder / name).write_text(json.dumps(content))
    with pytest.raises(EncoderError, match=message):
        load_encoder(str(folder), device="cpu")


def change_tokenizer(folder):
    whole = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    whole["model"]["vocab"]["pens"] = 10**6
    (folder / "tokenizer.json").write_text(json.dumps(whole), "utf-8")


def test_a_token_that_the_model_does_not_know(folder):
    """Such a token once ended a run in the middle, with an IndexError."""
    change_tokenizer(folder)
    message = "the tokenizer of the encoder .* has a token that the model does not know \\('pens'\\): train or copy"
    with pytest.raises(EncoderError, match=message):
        load_encoder(str(folder), device="cpu")
    pytest.importorskip("sentence_transformers")
    from paraqd.lab.training.encoders import load_trainable

    with pytest.raises(EncoderError, match=message):
        load_trainable(str(folder), device="cpu")


def test_weights_that_are_missing(folder, capfd):
    """The model's library only warns, and uses random weights instead."""
    from safetensors.numpy import load_file, save_file

    path = folder / "model.safetensors"
    weights = {name: array for name, array in load_file(path).items() if "layer.3." not in name}
    path.unlink()
    save_file(weights, path)
    with pytest.raises(EncoderError, match=r"lacks weights, such as encoder\.layer\.3\..*: train or copy it again"):
        load_encoder(str(folder), device="cpu")
    assert "MISSING" not in capfd.readouterr().err
