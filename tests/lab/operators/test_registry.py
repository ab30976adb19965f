"""Find operators by name, compose them, and load those of other packages."""

import json
import random
import sys

import pytest

import paraqd.lab.operators
from paraqd.cli.main import run
from paraqd.lab.operators import Composed, Operator, Resources, UnknownOperatorError, derive_rng, get
from paraqd.lab.operators import registry as registry_module
from paraqd.lab.operators.registry import fault_of, full_name, names
from paraqd.reading import Entity, read

PAPER = {
    "f1": "Backtranslation",
    "f2": "SameSentence",
    "f3": "NumToWords",
    "f4": "UnitExpansion",
    "f5": "ImportantPhraseDeletion",
    "f6": "LastSentenceDeletion",
    "f7": "EntityReplacement",
    "f8": "NumberDeletion",
    "f9": "LossyParaphrase",
    "f10": "UnitReplacement",
    "fa": "ActivePassive",
    "fb": "CorruptedReconstruction",
    "fc": "TfidfReplacement",
    "fd": "RandomDeletion",
    "fe": "T5Paraphrase",
}
OURS = {
    "Rewrite": "valid",
    "WordsToNumbers": "valid",
    "UnitContraction": "valid",
    "EqualQuantity": "valid",
    "ConsistentRenaming": "valid",
    "NumberChange": "invalid",
    "NumberSwap": "invalid",
    "RelationFlip": "invalid",
    "ConditionDeletion": "invalid",
    "QuestionReplacement": "invalid",
    "QuestionTruncation": "invalid",
    "InconsistentRenaming": "invalid",
    "LowTfidfReplacement": "valid",
    "MaskedReconstruction": "valid",
}
VALID_IN_THE_PAPER = {"f1", "f2", "f3", "f4", "fa", "fb"}


def apply(name, text, seed=0, resources=None):
    return get(name).apply(read(text), derive_rng(seed, "q", name), resources or Resources())


@pytest.fixture
def fresh_plugins():
    """Clear the cache of the operators of other packages before and after the test."""
    registry_module._plugins.cache_clear()
    yield
    registry_module._plugins.cache_clear()


@pytest.mark.parametrize(("paper_id", "name"), PAPER.items())
def test_the_papers_operators(paper_id, name):
    operator = get(name)
    assert (operator.name, operator.paper_id) == (name, paper_id)
    assert operator.polarity == ("valid" if paper_id in VALID_IN_THE_PAPER else "invalid")
    assert type(get(paper_id)) is type(operator)


@pytest.mark.parametrize(("name", "polarity"), OURS.items())
def test_our_operators(name, polarity):
    operator = get(name)
    assert (operator.name, operator.paper_id, operator.polarity) == (name, None, polarity)


def test_names_has_every_operator_once_the_papers_first():
    assert names()[: len(PAPER)] == list(PAPER.values())
    assert set(OURS) <= set(names())
    assert len(names()) == len(set(names()))


def test_names_stays_a_function_after_every_operator_was_loaded():
    """A module ``paraqd.lab.operators.names`` would replace the function once it is imported."""
    get("ConsistentRenaming")
    assert paraqd.lab.operators.names() == names()


@pytest.mark.parametrize(
    ("wrong", "nearest"),
    [
        ("NumToWord", "NumToWords"),
        ("numtowords", "NumToWords"),
        ("num_to_words", "NumToWords"),
        ("EntityReplacment", "EntityReplacement"),
        ("NumberSwop", "NumberSwap"),
        ("NumToWords+NumberChanged", "NumberChange"),
    ],
)
def test_an_unknown_operator_suggests_the_nearest(wrong, nearest):
    with pytest.raises(UnknownOperatorError, match=rf"did you mean {nearest}\?"):
        get(wrong)


@pytest.mark.parametrize("wrong", ["", "qqqqqq", "+", "NumToWords+", "+NumToWords", "f11"])
def test_a_name_without_a_similar_operator(wrong):
    with pytest.raises(UnknownOperatorError, match="unknown operator"):
        get(wrong)


@pytest.mark.parametrize(
    ("name", "full"),
    [("NumToWords#2", "NumToWords#2"), ("f3#12", "NumToWords#12"), ("f3+f8#3", "NumToWords+NumberDeletion#3")],
)
def test_a_further_draw_of_an_operator(name, full):
    again, base = get(name), get(name.partition("#")[0])
    assert again.name == full == full_name(name)
    assert (again.polarity, again.paper_id) == (get(full).polarity, get(full).paper_id)
    assert base.name == full_name(name.partition("#")[0]), "the operator itself keeps its name"


def test_a_further_draw_of_an_operator_differs():
    text = "He ran 50 km in 20 hours, 3 km before 9 and 40 after it."
    drawn = {apply(name, text) for name in ("NumberChange", *(f"NumberChange#{i}" for i in range(2, 8)))}
    assert len(drawn) > 3
    assert text not in drawn


@pytest.mark.parametrize(
    "wrong", ["NumToWords#", "NumToWords#1", "NumToWords#02", "NumToWords#x", "#2", "NumToWords#²"]
)
def test_an_invalid_number_of_a_draw(wrong):
    with pytest.raises(UnknownOperatorError, match="unknown operator"):
        get(wrong)


def test_an_unknown_operator_is_a_value_error():
    assert issubclass(UnknownOperatorError, ValueError)


@pytest.mark.parametrize(
    ("name", "polarity"),
    [
        ("NumToWords+NumberChange", "invalid"),
        ("ConsistentRenaming+EqualQuantity", "valid"),
        ("NumToWords+UnitExpansion+NumberSwap", "invalid"),
    ],
)
def test_a_composition_has_both_names_and_the_last_polarity(name, polarity):
    operator = get(name)
    assert isinstance(operator, Composed)
    assert (operator.name, operator.polarity, operator.paper_id) == (name, polarity, None)


def test_a_composition_by_paper_ids():
    assert get("f3+f8").name == "NumToWords+NumberDeletion"


def test_a_composition_declares_what_both_declare():
    composed = get("NumToWords+TfidfReplacement")
    assert set(composed.needs) == {"vocabulary"}
    assert composed.changes == {"numbers", "wording"}
    assert composed.fault == "incoherent"
    assert get("Rewrite+NumToWords").extras == ("augment",)
    assert composed.declaration().description.count("Then:") == 1


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("NumberDeletion", "number_lost"),
        ("Rewrite+NumberDeletion", "number_lost"),
        ("NumberDeletion#2", "number_lost"),
        ("f8", "number_lost"),
        ("LossyParaphrase", ""),
        ("NumToWords", ""),
    ],
)
def test_the_fault_of_an_operator(name, fault):
    assert fault_of(name) == fault


def test_the_fault_of_an_unknown_operator_is_an_error():
    with pytest.raises(UnknownOperatorError):
        fault_of("NoSuchOperator")


@pytest.mark.parametrize("name", ["NumberChange+NumToWords", "NumberChange+NumberSwap"])
def test_only_a_valid_operator_is_composed_on(name):
    with pytest.raises(ValueError, match="must be valid; NumberChange is invalid"):
        get(name)


def test_the_second_operator_works_on_the_firsts_output():
    text = "He ran 5 km in 2 hours."
    assert apply("UnitExpansion+NumToWords", text) == "He ran five kilometres in two hours."
    assert apply("UnitExpansion+NumberSwap", text) == "He ran 2 kilometres in 5 hours."


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("NumToWords+NumberChange", "No number here."),
        ("UnitExpansion+NumberChange", "He has 5 pens."),
        ("NumToWords+UnitReplacement", "He has 5 pens."),
    ],
)
def test_a_composition_applies_only_if_both_operators_do(name, text):
    assert apply(name, text) is None


def test_a_composition_that_restores_the_text_returns_none():
    assert apply("NumToWords+WordsToNumbers", "He has 5 pens.") is None
    assert apply("UnitExpansion+UnitContraction", "He ran 5 km.") is None


def test_a_composition_reads_with_the_given_reader():
    class Reader:
        def find(self, text, tokens, sentences):
            start = text.index("Zorblax")
            return (Entity("Zorblax", "PERSON", start, start + 7),)

    resources = Resources(entities=Reader())
    problem = read("Then Zorblax has 5 pens.", entities=Reader())
    result = get("NumToWords+EntityReplacement").apply(problem, random.Random(0), resources)
    assert "five pens" in result
    assert "Zorblax" not in result


def test_a_composition_of_a_batch():
    texts = ["He has 5 pens.", "No number.", "He has 7 caps."]
    operator = get("NumToWords+NumberChange")
    batch = operator.apply_batch(
        [read(text) for text in texts], [derive_rng(1, text, operator.name) for text in texts], Resources()
    )
    one_by_one = [operator.apply(read(text), derive_rng(1, text, operator.name), Resources()) for text in texts]
    assert batch == one_by_one
    assert batch[1] is None


PLUGIN = '''
from paraqd.lab.operators import Operator

class Shout(Operator):
    """Writes everything in capitals."""

    name = "Shout"
    polarity = "valid"
    changes = frozenset({"punctuation"})

    def apply(self, problem, rng, resources):
        loud = problem.text.upper()
        return loud if loud != problem.text else None

class NumToWords(Shout):
    """Has the name of one of ours."""
'''


@pytest.fixture
def installed_plugin(tmp_path, monkeypatch, fresh_plugins):
    """Install a package with two operators, as pip would."""
    info = tmp_path / "shouting-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shouting\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[paraqd.lab.operators]\nShout = shouting_operators:Shout\nNumToWords = shouting_operators:NumToWords\n"
    )
    (tmp_path / "shouting_operators.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("installed_plugin")
class TestOperatorsOfOtherPackages:
    def test_they_are_found_by_name(self):
        assert names()[-1] == "Shout"
        assert isinstance(get("Shout"), Operator)
        assert apply("Shout", "He has 5 pens.") == "HE HAS 5 PENS."

    def test_they_compose_with_built_in_operators(self):
        assert apply("Shout+NumToWords", "He has 5 pens.") == "HE HAS five PENS."

    def test_they_cannot_replace_built_in_operators(self):
        assert apply("NumToWords", "He has 5 pens.") == "He has five pens."
        assert names().count("NumToWords") == 1

    def test_they_are_suggested(self):
        with pytest.raises(UnknownOperatorError, match=r"did you mean Shout\?"):
            get("Shoutt")


OLD_PLUGIN = PLUGIN.replace('    changes = frozenset({"punctuation"})\n', "")


@pytest.mark.usefixtures("installed_plugin")
def test_an_operator_of_another_package_without_declarations_is_refused(tmp_path):
    (tmp_path / "shouting_operators.py").write_text(OLD_PLUGIN)
    sys.modules.pop("shouting_operators", None)
    with pytest.raises(UnknownOperatorError, match="the operator Shout must declare changes"):
        get("Shout")


@pytest.mark.usefixtures("installed_plugin")
@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import sys; sys.exit(0)", "it ends the program with the code 0"),
        ("class Shout:\n    def __init__(self):\n        raise SystemExit", "it ends the program with the code None"),
        ("raise ValueError('no\\x1b[31m\\nlist')", "no\ufffd[31m"),
        ("def Shout():\n    return 5", "int is not a subclass of paraqd.lab.operators.Operator"),
        ("1 +", "invalid syntax"),
        ("class Odd(BaseException): pass\nraise Odd", "Odd"),
    ],
)
def test_a_damaged_operator_of_another_package(tmp_path, fails, code, why):
    (tmp_path / "shouting_operators.py").write_text(code)
    sys.modules.pop("shouting_operators", None)
    (tmp_path / "q.jsonl").write_text('{"question": "He has 5 pens. How many?"}')
    arguments = ["lab", "augment", tmp_path / "q.jsonl", "-o", tmp_path / "out.jsonl", "--operators", "Shout"]
    for line in (fails(*arguments), fails("lab", "operators")):
        assert f"the operator 'Shout' of the package shouting cannot be loaded ({why}" in line
        assert line.endswith("install the package again, or remove it")


def test_an_operator_that_ends_the_program_fails_on_its_questions_only(plug, tmp_path, capsys):
    class Quits(Operator):
        """Ends the program at a question with a number."""

        name, polarity, changes = "Quits", "valid", frozenset({"wording"})

        def apply(self, problem, rng, resources):
            return sys.exit(0) if "5" in problem.text else problem.text.upper()

    plug(Quits)
    questions = ["He has 5 pens. How many?", "He has pens. How many?"]
    (tmp_path / "q.jsonl").write_text("".join(json.dumps({"question": text}) + "\n" for text in questions))
    assert (
        run(["lab", "augment", str(tmp_path / "q.jsonl"), "-o", str(tmp_path / "out.jsonl"), "--operators", "Quits"])
        == 1
    )
    assert "SystemExit" in capsys.readouterr().err
    assert [json.loads(line)["question"] for line in (tmp_path / "out.jsonl").open()] == questions[1:]


def test_without_other_packages_there_are_only_ours(fresh_plugins, monkeypatch):
    monkeypatch.setattr(registry_module, "provided", lambda group: ())
    assert names() == list(registry_module.BUILTIN)
