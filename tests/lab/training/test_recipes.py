"""Test training recipes and overrides of their values."""

from __future__ import annotations

from pathlib import Path

import pytest

from paraqd.lab.operators.plan import make_plan
from paraqd.lab.training.language_judge import language_settings
from paraqd.lab.training.recipes import BiEncoderRecipe, JudgeRecipe, load_judge_recipe, load_recipe, recipe_names
from paraqd.lab.training.settings import TrainingError, TrainSettings
from paraqd.model_folder import read_model_folder


def test_the_recipe_default_is_that_of_the_shipped_model():
    recipe, shipped = load_judge_recipe("default"), read_model_folder("default").facts
    assert shipped["recipe"] == recipe.name and shipped["settings"] == vars(recipe.stages[-1])
    assert [teacher.model for teacher in recipe.teachers] == shipped["teachers"]
    assert list(recipe.data.train) == list(shipped["data"]) and list(recipe.data.validation) == list(
        shipped["validation"]
    )
    assert recipe.fusion.reliable <= set(shipped["fusion"]["weights"])


def test_the_recipe_default_is_that_of_the_language_judge():
    recipe = load_judge_recipe("default")
    path = Path(__file__).parents[3] / "models" / "paraqd-judge-lm" / "src" / "paraqd_judge_lm" / "model"
    facts = read_model_folder(path).facts
    assert facts["settings"] == vars(recipe.language_judge.training) and facts["shares"] == recipe.language_judge.shares
    assert facts["pairs"] == recipe.language_judge.pairs
    assert (facts["base"], facts["start"]) == (recipe.language_judge.model, recipe.language_judge.start)
    learned = [name for name in recipe.data.train if recipe.language_judge.shares.get(name) != 0 and name != "sampled"]
    assert learned == list(facts["data"])
    assert (facts["cascade"]["low"], facts["cascade"]["high"]) == (recipe.cascade.low, recipe.cascade.high)


def test_the_operators_in_the_recipe_default_exist():
    recipe = load_judge_recipe("default")
    assert len(make_plan("extended", operators=recipe.data.operators).steps) == len(set(recipe.data.operators))


def test_the_recipe_default_keeps_every_test_set_and_the_styles_for_validation_apart():
    recipe = load_judge_recipe("default")
    assert set(recipe.data.held_out) == {"aquarat", "sawp", "pawp", "styles_validation", "rewrites_validation"}
    assert {"styles", "styles_composed"} <= set(recipe.data.train)
    assert recipe.data.train["styles"].weight == 2.0 and recipe.data.train["styles_composed"].most == 1200


def test_the_recipe_default_declares_the_language_judge_and_the_cascade():
    recipe = load_judge_recipe("default")
    judge, cascade = recipe.language_judge, recipe.cascade
    assert judge.model == "sentence-transformers/all-mpnet-base-v2" and judge.start == "paraqd-judge-lm"
    assert set(judge.shares) == set(recipe.data.train) - {"written", "natural", "model_rewrites", "sampled"}
    assert (cascade.low, cascade.high) == (-2.5, 2.5)
    fewer = recipe.without(["rules"])
    assert set(fewer.language_judge.shares) == set(judge.shares) - {"rules"}


def test_the_shares_of_the_language_judge_belong_to_its_sets():
    recipe = load_judge_recipe("default", {"language_judge.shares.nothing": 0.5})
    with pytest.raises(TrainingError, match="there is no training set 'nothing'"):
        language_settings(recipe)


def test_a_recipe_without_a_language_judge_trains_a_small_judge(tmp_path):
    from importlib import resources

    text = (resources.files("paraqd.lab.training.recipes") / "default.toml").read_text("utf-8")
    path = tmp_path / "mine.toml"
    path.write_text(text.partition("[language_judge]")[0], "utf-8")
    recipe = load_judge_recipe(path)
    assert recipe.language_judge is recipe.cascade is None
    with pytest.raises(TrainingError, match="has no section language_judge"):
        language_settings(recipe)
    half = tmp_path / "half.toml"
    half.write_text(text.partition("[cascade]")[0], "utf-8")
    with pytest.raises(TrainingError, match="needs both sections"):
        load_judge_recipe(half)


def test_the_recipe_paper_has_the_papers_settings():
    recipe = load_recipe("paper")
    assert isinstance(recipe, BiEncoderRecipe)
    assert recipe.settings == TrainSettings()


def test_a_list_of_operators_selects_the_recipe_paper(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('[operators]\nvalid = ["SameSentence"]\ninvalid = ["NumberChange"]\n')
    for name in ("ssmba", str(path)):
        recipe = load_recipe(name)
        assert isinstance(recipe, BiEncoderRecipe) and recipe.operators == name


def test_a_recipe_can_be_a_users_own_file(tmp_path):
    from importlib import resources

    text = (resources.files("paraqd.lab.training.recipes") / "default.toml").read_text("utf-8")
    path = tmp_path / "mine.toml"
    path.write_text(text.replace("questions = 14000", "questions = 7"), "utf-8")
    recipe = load_recipe(path, {"judge.stages.epochs": 2, "data.train.rules.most": 5})
    assert isinstance(recipe, JudgeRecipe)
    assert recipe.data.questions == 7 and recipe.data.train["rules"].most == 5
    assert [stage.epochs for stage in recipe.stages] == [2]
    assert load_judge_recipe("default").data.questions == 14000  # the file itself is unchanged


@pytest.mark.parametrize(
    ("name", "overrides", "message"),
    [
        ("extended", {}, "use --recipe default"),
        ("nothing", {}, "there is no recipe 'nothing': use default or paper"),
        ("nowhere.toml", {}, "cannot read the recipe nowhere.toml"),
        ("default", {"data.nothing.deep": 1}, "has no value 'nothing.deep'"),
        ("default", {"judge.stages": []}, "at least one stage"),
        ("default", {"teachers": [{"model": "a", "speed": 1}]}, "'speed' is not a judge setting"),
        ("default", {"judge.stages.epochs": 0}, "epochs must be at least 1"),
        ("default", {"language_judge.training.epochs": 0}, "epochs must be at least 1"),
        ("default", {"language_judge.training.speed": 1}, "'speed' is not a judge setting"),
        ("default", {"language_judge.training.beta2": 1.0}, "beta2 must be between 0 and 1"),
        ("default", {"language_judge.pairs": 0}, "pairs must be at least 1"),
        ("default", {"language_judge.shares.rules": 2.0}, "shares must be fractions"),
        ("default", {"language_judge.speed": 1}, "has an invalid value"),
        ("default", {"cascade.first_share": []}, "first_share must be a list of numbers"),
        ("default", {"cascade.low": 3.0}, "low must be below high"),
        ("default", {"data.train": 3}, "has an invalid value"),
        ("default", {"model": ["a"]}, r"has model = \['a'\]: use one of judge, bi-encoder, solvable"),
        ("solvable", {"model": "b"}, "has model = 'b': use one of"),
        ("solvable", {"data": 3}, "data must be a table, not 3"),
        ("solvable", {"data.families": 3}, "families must be a table, not 3"),
        ("solvable", {"data.families.cuts": "Typos"}, "cuts must be a list of names, not 'Typos'"),
        ("solvable", {"data.families.cuts": ["Nothing"]}, "there is no operator 'Nothing'"),
        ("solvable", {"data.harmless.counterparts.VagueDetail": 3}, "there is no family of faults 3"),
        ("solvable", {"data.harmless.counterparts.VagueDetail": ["cuts"]}, "there is no family of faults"),
        ("solvable", {"data.most": 3}, "data.most must be a table with whole numbers from 1 for breaking and harmless"),
        ("solvable", {"data.most.breaking": "x"}, "data.most must be a table"),
        ("solvable", {"data.seed": "x"}, "data.seed must be a whole number, not 'x'"),
        ("solvable", {"data.varied": 2}, "data.varied must be a number from 0 to 1, not 2"),
        ("solvable", {"data.held_out": "sawp"}, "held_out must be a list of names, not 'sawp'"),
        ("solvable", {"data.train.single.parts": 0}, "parts must be a whole number from 1, not 0"),
        ("solvable", {"data.train.single.weight": "x"}, "weight must be a number above 0, not 'x'"),
        ("solvable", {"data.train.single.speed": 1}, "has an invalid value"),
        ("solvable", {"data.train.hand": {}}, "there is no set of texts 'hand': the sets are corpus"),
        ("solvable", {"judge.stages": 3}, "a list with at least one stage"),
        ("solvable", {"encoder": 3}, "encoder must be a text, not 3"),
        ("paper", {"training.loss": "hinge"}, "unknown loss 'hinge'"),
    ],
)
def test_errors_are_one_line(name, overrides, message):
    with pytest.raises(TrainingError, match=message) as caught:
        load_recipe(name, overrides)
    assert "\n" not in str(caught.value)


def test_a_file_with_a_wrong_kind_of_model_is_refused(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('model = ["a"]\n')
    with pytest.raises(TrainingError, match=r"has model = \['a'\]"):
        load_recipe(path)


def test_recipes_are_listed():
    assert recipe_names() == ["default", "paper", "solvable"]
