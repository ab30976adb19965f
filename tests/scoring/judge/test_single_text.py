"""A model that reads single texts covers all of a text, and its answer does not depend on other texts."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from paraqd.errors import ModelError
from paraqd.scoring.judge.single_text import SingleTextJudge, text_windows

LONG = "Tom has 5 pens and Ann has 7 . " * 60 + "How many pens have they ?"


@pytest.fixture(scope="module")
def judge(question_judge_folder):
    return SingleTextJudge(question_judge_folder, kinds=6, threads=2)


def test_a_short_text_is_one_window(judge):
    [encoded] = judge.tokenizer.encode(["Tom has 5 pens ."])
    assert [window.tolist() for window in text_windows(encoded)] == [[0, 1, 2, 3, 4]]


def test_the_windows_of_a_long_text_cover_all_of_it_and_each_holds_the_beginning_and_the_end(judge):
    [encoded] = judge.tokenizer.encode([LONG])
    windows = text_windows(encoded)
    assert len(windows) > 1
    assert set(np.concatenate(windows).tolist()) == set(range(len(encoded.ids)))
    for window in windows:
        assert len(window) <= 158
        assert window[:48].tolist() == list(range(48))
        assert window[-64:].tolist() == list(range(len(encoded.ids) - 64, len(encoded.ids)))
    first = windows[0][:-64]
    assert encoded.encoding.tokens[first[-1]] == "."  # the part ends with a sentence


def test_a_decimal_point_ends_no_part(judge):
    [encoded] = judge.tokenizer.encode(["Tom has 2.5 pens and Ann has 0.7 pens and " * 40])
    assert "." in encoded.encoding.tokens
    assert {len(window) for window in text_windows(encoded)[:-1]} == {
        158
    }  # without a full stop, a part has all the room


def test_the_longest_text_that_is_one_window(judge):
    [longest, longer] = judge.tokenizer.encode(["pens " * 158, "pens " * 159])
    assert (len(text_windows(longest)), len(text_windows(longer))) == (1, 2)


def test_a_text_without_full_stops_is_still_divided(judge):
    [encoded] = judge.tokenizer.encode(["pens and " * 400])
    windows = text_windows(encoded)
    assert set(np.concatenate(windows).tolist()) == set(range(800))


def test_the_answer_for_a_long_text_is_the_mean_of_its_windows(judge):
    [long] = judge.begin([LONG])()
    assert long.windows > 1
    assert long.log_odds == pytest.approx(np.mean([answer.solvable for answer in long.answers]))
    assert max(place.end for place in long.places) == len(LONG)


def test_an_answer_does_not_depend_on_the_other_texts(judge):
    texts = ["Tom has 5 pens.", "How many pens has Ann?", LONG, "Ann has 7 boys and girls in the pens?"]
    together = [each.log_odds for each in judge.begin(texts)()]
    assert [judge.begin([text])()[0].log_odds for text in texts] == together
    assert [each.log_odds for each in judge.begin(texts[::-1])()][::-1] == together


def test_a_model_with_another_number_of_kinds_is_refused(question_judge_folder):
    with pytest.raises(ModelError, match=r"has 6 kinds of faults, but its paraqd\.json names 5"):
        SingleTextJudge(question_judge_folder, kinds=5).begin(["Tom has 5 pens."])()


def test_the_facts_must_name_known_kinds_and_a_calibration(question_judge_folder, tmp_path):
    from paraqd import SolvableChecker

    folder = shutil.copytree(question_judge_folder, tmp_path / "model")
    facts = json.loads((folder / "paraqd.json").read_text())
    for change, message in (
        ({"kinds": ["odd"]}, "names the kind of fault 'odd', which this version does not know"),
        ({"calibration": {"scale": None, "offset": 1}}, "is not a scale and an offset"),
        ({"threshold": 3}, "which is not a number from -1 to 1"),
    ):
        (folder / "paraqd.json").write_text(json.dumps(facts | change))
        with pytest.raises(ModelError, match=message):
            SolvableChecker.load(folder)
