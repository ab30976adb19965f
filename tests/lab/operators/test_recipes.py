"""Load recipes."""

import pytest

from paraqd.lab.operators import Recipe, UnknownRecipeError, get, load_recipe, recipe_names
from paraqd.lab.operators.plan import make_plan
from paraqd.rewriting.rewrite import Rewrite, RewriteKeepingVoice
from paraqd.rewriting.voice import voice_edits

PAPER = [f"f{i}" for i in range(1, 11)]
TEST = [f"f{letter}" for letter in "abcde"]
BASELINES = ["ssmba", "uda"]


def parts(recipe):
    """Return every operator that a recipe may run, including stand-ins and parts of compositions."""
    stand_ins = {get(name).stand_in for name in recipe.operators} - {None, "generator"}
    found = {*recipe.operators, *stand_ins}
    return {part for name in found for part in name.split("+")}


def write(folder, text, name="mine.toml"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_recipes_that_come_with_the_package():
    assert recipe_names() == ["extended", "paper", "paper-deletion", "public-code", "ssmba", "test", "uda"]


@pytest.mark.parametrize("name", recipe_names())
def test_a_recipe_has_the_name_of_its_file(name):
    recipe = load_recipe(name)
    assert recipe.name == name
    assert recipe.description
    assert len(set(recipe.operators)) == len(recipe.operators)


def test_paper_is_f1_to_f10_in_order():
    assert [get(name).paper_id for name in load_recipe("paper").operators] == PAPER


def test_test_is_fa_to_fe_in_order():
    assert [get(name).paper_id for name in load_recipe("test").operators] == TEST


def test_nothing_in_paper_is_a_test_operator():
    """Training and test operators are disjoint, including stand-ins; in the public code they were not."""
    paper, test = load_recipe("paper"), load_recipe("test")
    assert not parts(paper) & parts(test)
    assert not {get(name).paper_id for name in parts(paper)} & set(TEST)
    assert not {type(get(name)) for name in parts(paper)} & {type(get(name)) for name in parts(test)}


def test_extended_names_no_test_operator():
    assert not parts(load_recipe("extended")) & parts(load_recipe("test"))


def test_the_stand_in_for_back_translation_keeps_the_voice():
    """Changing the voice is fa, a test operator."""
    assert get("Backtranslation").stand_in == "RewriteKeepingVoice"
    stand_in = get("RewriteKeepingVoice")
    assert stand_in.polarity == "valid"
    finders = [finder for rank in RewriteKeepingVoice.finders for finder in rank]
    assert finders
    assert voice_edits not in finders
    assert any(voice_edits in rank for rank in Rewrite.finders)


def test_extended_leaves_the_papers_entity_replacement_out():
    """It counts consistent renamings as invalid; extended has its own two operators for names."""
    operators = load_recipe("extended").operators
    assert not {name for name in operators if "EntityReplacement" in name}
    assert {"ConsistentRenaming", "InconsistentRenaming"} <= set(operators)


@pytest.mark.parametrize("name", [name for recipe in recipe_names() for name in load_recipe(recipe).operators])
def test_every_operator_of_a_recipe_exists(name):
    assert get(name).name == name


@pytest.mark.parametrize("recipe", recipe_names())
def test_every_model_operator_of_a_recipe_has_a_stand_in(recipe):
    for name in load_recipe(recipe).operators:
        operator = get(name)
        if any(need.startswith("generator.") for need in operator.needs):
            assert operator.stand_in is not None
            assert operator.stand_in == "generator" or get(operator.stand_in).polarity == operator.polarity


def test_a_recipe_may_choose_another_stand_in(tmp_path):
    path = write(
        tmp_path,
        """
        [operators]
        valid = ["Backtranslation"]
        invalid = []

        [stand_ins]
        Backtranslation = "NumToWords"
        """,
    )
    assert [step.runs for step in make_plan(path, stand_ins=True).steps] == ["NumToWords"]
    assert [step.runs for step in make_plan("paper", operators=["f1"], stand_ins=True).steps] == ["RewriteKeepingVoice"]


@pytest.mark.parametrize("recipe", recipe_names())
def test_valid_operators_come_first(recipe):
    polarities = [get(name).polarity for name in load_recipe(recipe).operators]
    assert polarities == sorted(polarities, key=["valid", "invalid"].index)
    assert set(polarities) == ({"valid"} if recipe in BASELINES else {"valid", "invalid"})


def test_uda_is_back_translation_and_low_tfidf_replacement():
    uda = load_recipe("uda")
    assert uda.operators == ("Backtranslation", "LowTfidfReplacement")


def test_ssmba_is_four_reconstructions():
    ssmba = load_recipe("ssmba")
    assert {type(get(name)).name for name in ssmba.operators} == {"MaskedReconstruction"}
    assert len({get(name).name for name in ssmba.operators}) == 4


@pytest.mark.parametrize("recipe", ["paper", "extended", "test"])
def test_the_baselines_operators_are_in_no_other_recipe(recipe):
    assert not parts(load_recipe(recipe)) & {"LowTfidfReplacement", "MaskedReconstruction"}


@pytest.mark.parametrize(("wrong", "nearest"), [("papr", "paper"), ("extend", "extended"), ("Paper", "paper")])
def test_an_unknown_recipe_suggests_the_nearest(wrong, nearest):
    with pytest.raises(UnknownRecipeError, match=rf"unknown recipe '{wrong}'; did you mean {nearest}\?"):
        load_recipe(wrong)


@pytest.mark.parametrize("wrong", ["", "zzz", "../paper", "recipes"])
def test_a_name_without_a_similar_recipe(wrong):
    with pytest.raises(UnknownRecipeError, match="extended, paper, paper-deletion, public-code, ssmba, test, uda"):
        load_recipe(wrong)


def test_a_custom_recipe(tmp_path):
    path = write(
        tmp_path,
        """
        name = "mine"
        description = "numbers only"

        [operators]
        valid = ["NumToWords"]
        invalid = ["NumberChange", "NumToWords+NumberChange"]

        [stand_ins]
        Backtranslation = "NumToWords"
        """,
    )
    assert load_recipe(path) == Recipe(
        name="mine",
        description="numbers only",
        operators=("NumToWords", "NumberChange", "NumToWords+NumberChange"),
        valid=("NumToWords",),
        stand_ins={"Backtranslation": "NumToWords"},
    )
    assert load_recipe(str(path)) == load_recipe(path)


def test_a_recipe_needs_only_its_operators(tmp_path):
    path = write(tmp_path, '[operators]\nvalid = ["NumToWords"]\ninvalid = []\n', name="short.toml")
    assert load_recipe(path) == Recipe(name="short", description="", operators=("NumToWords",), valid=("NumToWords",))


@pytest.mark.parametrize(
    "broken",
    [
        "",
        "name = ",
        "operators = 5",
        '[operators]\nvalid = ["NumToWords"]',
        "[operators]\nvalid = 5\ninvalid = 6",
        # a string is not a list of names and must not be split into letters
        '[operators]\nvalid = "NumToWords"\ninvalid = "NumberChange"',
        "[operators]\nvalid = [1]\ninvalid = [2]",
        'stand_ins = 5\n[operators]\nvalid = ["NumToWords"]\ninvalid = []',
        'stand_ins = "abc"\n[operators]\nvalid = ["NumToWords"]\ninvalid = []',
    ],
)
def test_a_broken_recipe_says_which_file(tmp_path, broken):
    path = write(tmp_path, broken)
    with pytest.raises(UnknownRecipeError, match=r"mine\.toml"):
        load_recipe(path)


def test_a_missing_recipe_file(tmp_path):
    with pytest.raises(UnknownRecipeError, match=r"absent\.toml"):
        load_recipe(tmp_path / "absent.toml")


def test_a_recipe_that_is_not_utf_8(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_bytes('name = "é"'.encode("latin-1"))
    with pytest.raises(UnknownRecipeError, match=r"mine\.toml"):
        load_recipe(path)
