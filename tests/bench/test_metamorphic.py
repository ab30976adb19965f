"""Test the benchmark of edits: each edit, the pairs that must not change their verdict, the report, and a run."""

import ast
import gzip
import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

import paraqd
from paraqd.tables.datasets import written_split

BENCH = Path(__file__).parents[2] / "bench"
sys.path.insert(0, str(BENCH))

import metamorphic  # noqa: E402
from metamorphiclib import name_edits, number_edits, sentence_edits, surface_edits  # noqa: E402
from metamorphiclib.edits import Edit, Edited, all_edits, apply  # noqa: E402
from metamorphiclib.invariance import Pairs, exchanged, flips, make_pairs, prefixed  # noqa: E402
from metamorphiclib.report import Outcome, Results, as_json, interval, markdown  # noqa: E402

TRAINS = "A train runs 40 km in 30 minutes. How far does it run in 90 minutes?"
NAMES = "Anna has 5 pens. Beth has 3 more pens than Anna. How many pens does Beth have?"
QUESTIONS = (TRAINS, NAMES, "Tom paid $8 for 2 cups and $8 for a jug. How much did he pay?")


def outputs(edit, text, draws=60):
    """Everything that an edit makes of a text with many draws."""
    return {edit(text, random.Random(seed)) for seed in range(draws)}


def values(text):
    return sorted(map(int, re.findall(r"\d+", text)))


class TestNumbers:
    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("He pays rs. 850 or rs.900 and $1,200 for 15%.", [850, 900, 1200, 15]),
            ("an area of 40 m2 or 40 cm 2", [40, 40]),
            ("the 4th pipe, the 9 th pipe and 3 pipes", [3]),
            ("2 1/2 of 3/4, .5 or 3.25 and 5 ⁄ 8", []),
            ("x ^ 3 + 5 x2 = 7", [5, 7]),
            ("1) Find 12 of 30.", [12, 30]),
            ("which is odd? [1] 7 [2] 9", [7, 9]),
            ("what is 6 of 8? (a) 1 (b) 2 (c) 3", []),
            ("in figure 3 there are 4 dots on page 12", [4]),
            ("it cost 1,00,000 at 8:30 in a 5km run", []),
            ("a 3-digit code", [3]),
        ],
    )
    def test_numbers_that_stand_alone(self, text, found):
        assert [number.value for number in number_edits.numbers(text)] == found

    def test_a_single_number_gets_a_value_that_does_not_occur(self):
        made = outputs(number_edits.change_single, TRAINS)
        assert len(made) > 20
        for text in made:
            assert sum(one != other for one, other in zip(values(text), values(TRAINS), strict=True)) >= 1
            assert len({*values(text)} & {*values(TRAINS)}) == 2

    def test_a_number_that_a_word_repeats_is_not_single(self):
        assert number_edits.change_single("Two men dig 2 holes.", random.Random(1)) is None

    def test_a_large_number_is_changed_at_once(self):
        text = number_edits.change_single("Divide 98765432109876 evenly.", random.Random(1))
        assert text and values(text) != [98765432109876]

    def test_a_repeated_number_is_changed_in_one_place(self):
        text = "5 men eat 5 pies in 8 hours."
        assert outputs(number_edits.change_repeated_to_other, text) == {
            "8 men eat 5 pies in 8 hours.",
            "5 men eat 8 pies in 8 hours.",
        }
        assert outputs(number_edits.change_repeated_to_one, text) == {
            "1 men eat 5 pies in 8 hours.",
            "5 men eat 1 pies in 8 hours.",
        }
        for made in outputs(number_edits.change_repeated_to_fresh, text):
            assert values(made).count(5) == values(made).count(8) == 1 and 1 not in values(made)

    @pytest.mark.parametrize("text", [TRAINS, "5 men eat pies.", "A 5th man has 5 pies."])
    def test_numbers_that_are_not_repeated(self, text):
        assert number_edits.change_repeated_to_fresh(text, random.Random(1)) is None

    @pytest.mark.parametrize(
        ("text", "made"),
        [
            ("It costs $40.", "It costs."),
            ("It grew by 15% in May.", "It grew by in May."),
            ("A 3-month loan of a bank.", "A month loan of a bank."),
            ("He ran 12 km.", "He ran km."),
            ("He pays rs. 850 now.", "He pays rs. now."),
            ("It is (5 cm) long.", "It is (cm) long."),
        ],
    )
    def test_a_number_is_deleted_with_its_sign(self, text, made):
        assert outputs(number_edits.delete_number, text) == {made}

    @pytest.mark.parametrize(
        "text", ["In 1 hour 2 men came.", "The sum of these 3 is even.", "He works 7 days a week.", "5 of 5 men"]
    )
    def test_a_number_that_the_text_does_not_need_is_not_deleted(self, text):
        assert number_edits.delete_number(text, random.Random(1)) is None

    @pytest.mark.parametrize(
        ("text", "listed"),
        [
            ("the average of 3, 5 and 7", True),
            ("the sum of 4 and 9", True),
            ("speeds of 3 km / hr, 4 km / hr and 5 km / hr", True),
            ("shares of rs. 400 and rs. 600", True),
            ("a floor of 20 cm by 30 cm", True),
            ("a floor of 20 x 30", True),
            ("a pond of 28 m * 10 m * 5 m", True),
            ("an 8-foot rope, a 20-foot rope and a 7-foot rope", True),
            ("8 boys and 5 girls", False),
            ("people have 4 and 1 person has none", False),
            ("8 boys in group a, and 5 boys in group b", False),
            ("60 m long and 40 m wide", False),
            ("$50 plus 10 percent", False),
            ("a total of $300,000, 80% of it", False),
            ("5 x + 4 = 0", False),
            ("4: 5 and 7: 9", False),
            ("between –5 and 3", False),
            ("in the series 2, 4, 8 one is odd", False),
        ],
    )
    def test_lists_and_sums_are_apart(self, text, listed):
        first, *_, last = number_edits.numbers(text)
        assert number_edits.in_one_list(text, first, last) is listed

    def test_swaps(self):
        assert outputs(number_edits.swap_numbers, "8 boys and 5 girls") == {"5 boys and 8 girls"}
        assert outputs(number_edits.swap_listed_numbers, "add 8 and 5") == {"add 5 and 8"}
        assert outputs(number_edits.swap_numbers, "add 8 and 5") == {None}
        assert outputs(number_edits.swap_numbers, "8 boys and 8 girls") == {None}
        both = "A and B need 8 and 5 days respectively."
        assert outputs(number_edits.swap_respective_numbers, both) == {"A and B need 5 and 8 days respectively."}
        assert outputs(number_edits.swap_listed_numbers, both) == {None}

    @pytest.mark.parametrize(
        "text",
        [
            "One train runs 40 km, the other 50 km.",
            "primes between n + 2 and n + 8",
            "the odd integers from 1 to 10",
        ],
    )
    def test_no_swap_where_the_text_says_the_same_of_both(self, text):
        assert outputs(number_edits.swap_numbers, text) == {None}


class TestNames:
    def test_people(self):
        assert set(name_edits.people(NAMES)) == {"anna", "beth"}
        assert set(name_edits.people("anna and tom pay the bill")) == {"anna", "tom"}
        assert set(name_edits.people("Bill pays and Tom waits.")) == {"bill", "tom"}
        assert set(name_edits.people("Anna Lee met Mr. Tom; Mikes pen is Mike's. Bill pays the bill.")) == set()

    def test_one_mention(self):
        made = outputs(name_edits.mix_one_mention, NAMES)
        assert len(made) == 4
        assert all(sorted((text.count("Anna"), text.count("Beth"))) == [1, 3] for text in made)
        assert name_edits.mix_one_mention("Anna sees Beth.", random.Random(1)) is None

    def test_one_sentence(self):
        made = outputs(name_edits.swap_in_one_sentence, NAMES)
        assert made == {"Anna has 5 pens. Anna has 3 more pens than Beth. How many pens does Beth have?"}

    @pytest.mark.parametrize(
        "text",
        [
            "Anna has 5 pens more than Beth. How many do Anna and Beth have?",
            "Anna, Zork, and Beth are friends. Anna has 5 pens more than Beth.",
        ],
    )
    def test_no_swap_in_one_sentence_if_the_rest_treats_them_alike(self, text):
        assert name_edits.swap_in_one_sentence(text, random.Random(1)) is None

    def test_respectively_tells_two_people_apart(self):
        text = "Anna and Beth have 5 and 3 pens respectively. How many more does Anna have than Beth?"
        assert outputs(name_edits.swap_in_one_sentence, text) == {
            "Beth and Anna have 5 and 3 pens respectively. How many more does Anna have than Beth?",
            "Anna and Beth have 5 and 3 pens respectively. How many more does Beth have than Anna?",
        }

    def test_everywhere(self):
        (made,) = outputs(name_edits.swap_everywhere, NAMES)
        assert made == "Beth has 5 pens. Anna has 3 more pens than Beth. How many pens does Anna have?"
        assert name_edits.swap_everywhere("tom sees Anna's pen", random.Random(1)) is None  # tom without a capital

    def test_gender_matters_only_where_the_text_shows_it(self):
        assert name_edits.swap_everywhere("Tom has 5 pens. Anna has 3.", random.Random(1))
        assert name_edits.swap_everywhere("Tom has 5 pens. He has more than Anna.", random.Random(1)) is None


class TestSentences:
    def test_harmless_sentences_have_no_numbers(self):
        words = {word for text in sentence_edits.HARMLESS for word in re.findall(r"\w+", text.lower())}
        assert len(sentence_edits.HARMLESS) == 10
        assert not words & {*number_edits.WORDS, "half", "twice"} and not any(word.isdigit() for word in words)

    def test_added(self):
        added = {f" {text}" for text in sentence_edits.HARMLESS}
        assert {made.removeprefix(TRAINS) for made in outputs(sentence_edits.add_after, TRAINS, 200)} == added
        assert all(made.endswith(f". {TRAINS}") or "!" in made for made in outputs(sentence_edits.add_before, TRAINS))
        assert sentence_edits.add_after("x + y =", random.Random(1)) is None

    def test_only_a_whole_question_is_appended(self):
        assert sentence_edits.question_sentence(TRAINS) == "How far does it run in 90 minutes?"
        assert sentence_edits.question_sentence("If x is 5, what is the value of x?") is None
        assert sentence_edits.question_sentence("Tom has 5 pens. Find x.") is None

    def test_the_appended_question_asks_something_else(self):
        donors = ["How far does the train run in total?", "What is the area of the red square?"]
        assert outputs(lambda text, rng: sentence_edits.append_question(text, rng, donors), TRAINS) == {
            f"{TRAINS} {donors[1]}"
        }
        assert sentence_edits.append_question(TRAINS, random.Random(1), donors[:1]) is None

    def test_cut_between_words(self):
        text = "Tom has 5 pens. How many red pens does Tom need?"
        made = outputs(sentence_edits.cut_between_words, text, 200)
        assert made == {
            "Tom has 5 pens.",
            "Tom has 5 pens. How",
            "Tom has 5 pens. How many",
            "Tom has 5 pens. How many red",
            "Tom has 5 pens. How many red pens",
            "Tom has 5 pens. How many red pens does",
            "Tom has 5 pens. How many red pens does Tom",
        }

    def test_no_cut_that_loses_only_what_was_said(self):
        text = "A red train is fast. What is the length of the train?"
        assert "A red train is fast. What is the length" not in outputs(sentence_edits.cut_between_words, text, 200)
        assert "A red train is fast. What is the length of the" in outputs(sentence_edits.cut_between_words, text, 200)
        assert not any(made.endswith(" tr") for made in outputs(sentence_edits.cut_in_word, text, 200))

    def test_cut_in_a_word(self):
        made = outputs(sentence_edits.cut_in_word, "Tom has 5 pens. How many brushes must Lee borrow in 3 years?", 200)
        left = {text.removeprefix("Tom has 5 pens. How many ") for text in made}
        assert left == {"br", "bru", "brushes must Lee bo", "brushes must Lee bor"}

    def test_a_text_that_does_not_ask_is_not_cut(self):
        assert sentence_edits.cut_between_words("What is x? It is a natural number.", random.Random(1)) is None
        assert sentence_edits.cut_in_word("The area of the square is", random.Random(1)) is None


class TestSurface:
    @pytest.mark.parametrize(
        ("edit", "text", "made"),
        [
            ("double_spaces", "a b?", "a  b?"),
            ("outer_spaces", "a b?", "  a b? "),
            ("question_mark_space", "How many?", "How many ?"),
            ("question_mark_space", "How many ?", "How many?"),
            ("question_mark_space", "Find x.", None),
            ("comma_space_added", "a pen, 1,000 cups", "a pen , 1,000 cups"),
            ("comma_space_removed", "a pen, a cup, 3, 4", "a pen,a cup, 3, 4"),
            ("bracket_spaces", "time (in s)", "time ( in s )"),
            ("bracket_spaces", "time ( in s )", "time (in s)"),
            ("operator_spaces", "a ratio of 2:3", "a ratio of 2 : 3"),
            ("operator_spaces", "a ratio of 2: 3", "a ratio of 2:3"),
            ("operator_spaces", "2 1/2 hours after 8:30", None),
            ("operator_spaces", "14 ^ 2 * 15 ^ 8", None),
            ("unit_space", "5 km in 3 min", "5km in 3min"),
            ("unit_space", "5km and 3 min", "5 km and 3 min"),
            ("unit_space", "5 in 6, 40 m2, 3 x", None),
            ("percent_space", "at 5%", "at 5 %"),
            ("percent_space", "at 5 %", "at 5%"),
            ("other_quotes", 'Tom\'s "red" pen', "Tom’s “red” pen"),
            ("other_quotes", "Tom’s “red” pen", 'Tom\'s "red" pen'),
            ("other_quotes", "a board of 5' 6\"", None),
            ("first_letter", "if x", "If x"),
            ("first_letter", "Anna runs", "anna runs"),
            ("first_letter", "x is 5", None),
            ("first_letter", "ABC is a triangle", None),
            ("final_stop", "Find x.", "Find x"),
            ("final_stop", "its area is", "its area is."),
            ("final_stop", "How many?", None),
        ],
    )
    def test_harmless_edits(self, edit, text, made):
        assert getattr(surface_edits, edit)(text) == made

    def test_line_breaks(self):
        text = "It costs rs. 5 at 4% p. a. interest. Tom pays. How much?"
        assert sentence_edits.break_lines(text) == "It costs rs. 5 at 4% p. a. interest.\nTom pays.\nHow much?"
        assert sentence_edits.break_lines("How much?") is None


class TestEdits:
    def test_goals(self):
        bad, good = (Edit("e", "an edit", group, lambda text, rng: text, 0.05) for group in ("invalid", "valid"))
        assert bad.meets(0.05) and not bad.meets(0.051) and good.meets(0.05) and not good.meets(0.049)
        assert Edit("e", "an edit", "valid", bad.make).meets(0.5) is None

    def test_names_are_unique(self):
        names = [edit.name for edit in all_edits(QUESTIONS)]
        assert len(names) == len({*names}) > 25

    def test_an_output_depends_only_on_the_question_and_the_seed(self):
        rows = [{"id": str(number), "question": text} for number, text in enumerate(QUESTIONS)]
        for edit in all_edits(QUESTIONS):
            once = apply(edit, rows, 1)
            assert apply(edit, rows[::-1], 1)[::-1] == once
            assert all(each.text != each.question for each in once)
        change = next(edit for edit in all_edits(QUESTIONS) if edit.name == "number-changed")
        assert apply(change, rows, 1) != apply(change, rows, 2)

    @pytest.mark.parametrize("path", sorted((BENCH / "metamorphiclib").glob("*.py")), ids=lambda path: path.stem)
    def test_edits_share_no_code_with_the_operators_or_the_reader(self, path):
        tree = ast.parse(path.read_text("utf-8"))
        names = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        names |= {each.name for node in ast.walk(tree) if isinstance(node, ast.Import) for each in node.names}
        assert {name for name in names if name and name.startswith("paraqd")} <= {"paraqd.tables.datasets"}


def written_rows(count):
    return [
        {"id": f"w-{number}", "question": f"q{number}", "heavy_valid": f"v{number}", "heavy_invalid": f"i{number}"}
        for number in range(count)
    ]


class TestInvariance:
    def test_pairs_come_from_the_training_part(self):
        pairs = make_pairs(written_rows(400), [Edited("e", "eq", "et")] * 50, 40, 1)
        assert len(pairs.valid) == len(pairs.invalid) == 40
        assert sum(pair == ("eq", "et") for pair in pairs.valid) == 20
        made = {f"w-{question[1:]}" for question, _ in pairs.all if question != "eq"}
        assert len(made) == 60 and {written_split(name) for name in made} == {"train"}
        assert all(other[0] == "i" for _, other in pairs.invalid)

    def test_changes_of_both_texts(self):
        assert prefixed([("a", "b")], "Note:") == [("Note: a", "Note: b")]
        assert exchanged([("a", "b")]) == [("b", "a")]

    def test_flips_are_counted_by_label(self):
        pairs = Pairs((("a", "b"),) * 2, (("c", "d"),) * 2)
        found = flips("x", pairs, [True, True, False, True], [False, True, True, False], 0.5)
        assert (found.valid, found.invalid, found.share, found.met) == (1, 2, 0.75, False)


class TestReport:
    def test_interval(self):
        assert interval(0, 10)[0] == 0 and interval(10, 10)[1] == 1
        assert interval(0, 10)[1] == pytest.approx(0.278, abs=0.001)

    def test_tables(self):
        edit = Edit("e", "an edit", "invalid", lambda text, rng: text, 0.03)
        edited = (Edited("1", "q1", "t\n1"), Edited("2", "q2", "t2"))
        outcome = Outcome(edit, edited, (0.9, -0.5), (True, False))
        text = markdown(Results("sig", 3, 2, 2, (outcome,)), show=5)
        assert "| an edit | 2 | 50.00% | 9.5% to 90.5% | ≤ 3% | **no** |" in text
        assert "`sig`" in text and "Seed 3" in text
        assert "- 1 (0.90)\n  - q1\n  - t⏎1" in text
        found = as_json(Results("sig", 3, 2, 2, (outcome,)), show=1)
        assert found["edits"][0]["share"] == 0.5 and found["edits"][0]["met"] is False
        assert len(found["edits"][0]["examples"]) == 1 and found["invariance"] is None


@pytest.fixture
def data(tmp_path):
    """A data folder with a few questions and written pairs."""
    rows = [
        {"id": f"q-{number}", "question": text, "skeleton": str(number), "source": "mathqa"}
        for number, text in enumerate(QUESTIONS)
    ]
    texts = {"heavy_valid": "Tom has 5 pens. How many?", "heavy_invalid": "Tom has 6 pens. How many?"}
    written = [{"id": f"w-{n}", "question": "Tom owns 5 pens. How many?", **texts} for n in range(40)]
    for name, table in (("questions", rows), ("written_pairs", written)):
        with gzip.open(tmp_path / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.write("".join(json.dumps(row) + "\n" for row in table))
    return tmp_path


def run(data, *arguments):
    environment = dict(os.environ, PYTHONPATH=str(Path(paraqd.__file__).parents[1]), PARAQD_DATA_DIR=str(data))
    program = [sys.executable, str(BENCH / "metamorphic.py"), *arguments]
    return subprocess.run(program, env=environment, capture_output=True, text=True, check=False)


def test_a_small_run(data):
    done = run(data, "--model", "reading", "--pairs", "4", "--json", "--show", "1", "--threshold", "0.4")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["signature"].endswith("threshold:0.4") and "model:reading" in found["signature"]
    assert (found["seed"], found["questions"], found["skeletons"]) == (3407, 3, 3)
    shares = {edit["name"]: edit for edit in found["edits"]}
    spaces = shares["double-spaces"]
    assert (spaces["group"], spaces["questions"], spaces["accepted"], spaces["share"]) == ("harmless", 3, 3, 1.0)
    assert (spaces["interval"], spaces["goal"], spaces["met"]) == (list(interval(3, 3)), 0.995, True)
    assert shares["number-deleted"]["accepted"] == 0 < shares["number-deleted"]["questions"]
    assert shares["names-swapped"]["examples"][0]["paraphrase"].startswith("Beth has 5 pens.")
    changes = found["invariance"]["changes"]
    assert [row["goal"] for row in changes] == [0.005] * 30 + [None]
    assert {row["pairs"] for row in changes} == {8}


def test_only_some_edits_and_questions(data):
    done = run(data, "--no-scores", "--questions", "2", "--edits", "percent-space,final-stop,double-spaces")
    assert done.returncode == 0, done.stderr
    assert "| doubled spaces | 2 | – |" in done.stdout
    assert "| a final full stop, or none | 0 | – |" in done.stdout
    assert "deleted" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "line"),
    [(["--edits", "nope"], "there is no edit nope; choose from number-changed"), (["--model", "nope"], "nope")],
)
def test_a_wrong_argument(data, arguments, line):
    done = run(data, *arguments)
    assert done.returncode == 2 and line in done.stderr and "Traceback" not in done.stderr


def test_pairs_of_valid_edits_are_not_only_white_space():
    chosen = {edit.name for edit in all_edits(QUESTIONS) if metamorphic._in_pairs(edit)}
    assert "names-swapped" in chosen and not chosen & {"double-spaces", "outer-spaces", "line-breaks", "name-mixed"}
