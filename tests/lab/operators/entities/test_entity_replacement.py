"""Replace or delete names (f7)."""

import pytest

from paraqd.lab.operators import Noted, Resources, derive_rng, get
from paraqd.reading import Entity, read
from paraqd.reading.name_lists import people, places

EXAMPLE = "Alex travelled 100 km from New York at a constant speed of 20 kmph. How many hours did it take him in total?"
TOM = "Tom has 5 pens. Tom's sister has 6. How many does Tom have?"


def apply(text, seed=0):
    return get("EntityReplacement").apply(read(text), derive_rng(seed, "q", "EntityReplacement"), Resources())


def outputs(text, seeds=150):
    return [apply(text, seed) for seed in range(seeds)]


def test_the_papers_example():
    results = outputs(EXAMPLE)
    assert any("Alex" in text and "New York" not in text for text in results)
    assert any("Alex" not in text and "New York" in text for text in results)
    assert any("Alex" not in text and "New York" not in text for text in results)
    for text in results:
        assert text.endswith("How many hours did it take him in total?")
        assert "100 km" in text and "20 kmph" in text


def test_a_name_is_replaced_by_one_of_its_category():
    places_named = {text[len("He flew to ") : -1] for text in outputs("He flew to Paris.")} - {""}
    assert len(places_named) > 5
    assert all(places()[name] == "city" for name in places_named if name)


def test_a_person_keeps_the_gender():
    names = {text.split()[0] for text in outputs("Meera has 5 pens.")} - {"has", "Has"}
    assert len(names) > 5
    assert {people()[name] for name in names} == {"f"}


def test_a_title_keeps_the_gender():
    names = {text.split()[1] for text in outputs("Mr. Rao has 5 pens.")} - {"has"}
    assert len(names) > 5
    assert "f" not in {people()[name] for name in names}


def test_at_most_three_names_change():
    text = "Tom, Ann, Ravi, Meera and Zoe share 40 sweets."
    for result in outputs(text):
        lost = [name for name in ("Tom", "Ann", "Ravi", "Meera", "Zoe") if name not in result]
        assert 1 <= len(lost) <= 3


def test_names_are_replaced_and_deleted():
    results = outputs("Then Tom left.")
    assert "Then left." in results
    assert any(len(text.split()) == 3 for text in results)


def test_a_possessive_goes_with_its_name():
    assert all(" 's" not in text and not text.startswith("'s") for text in outputs(TOM))


def test_a_consistent_renaming_is_noted():
    for result in outputs(TOM):
        words = [word.removesuffix("'s") for word in result.split()]
        names = {word for word in words if word in people()}
        everywhere = len(names) == 1 and "Tom" not in names and len(words) == len(TOM.split())
        assert isinstance(result, Noted)
        assert result.note == ("consistent_renaming" if everywhere else "")


def test_some_outputs_are_consistent_and_some_are_not():
    assert {text.note for text in outputs(TOM)} == {"", "consistent_renaming"}


def test_one_mention_replaced_everywhere_is_a_consistent_renaming():
    notes = {text: text.note for text in outputs("He flew to Paris in May.")}
    assert notes.pop("He flew to in May.") == ""
    assert set(notes.values()) == {"consistent_renaming"}


def test_a_name_inside_a_longer_one_is_not_a_consistent_renaming():
    assert all(text.note == "" for text in outputs("Tom Sawyer met Tom."))


def test_lower_case_text_gets_lower_case_names():
    assert all(text == text.lower() for text in outputs("tom met ann in paris."))


def test_names_come_from_the_given_reader():
    class Reader:
        def find(self, text, tokens, sentences):
            return (Entity("Zorblax", "PERSON", 0, 7),)

    problem = read("Zorblax has 5 pens.", entities=Reader())
    result = get("EntityReplacement").apply(problem, derive_rng(0, "q", "f7"), Resources())
    assert "Zorblax" not in result


@pytest.mark.parametrize("text", ["", "A man has 5 pens.", "How many hours are there in 3 days?"])
def test_none_without_names(text):
    assert apply(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Grace scored 78, 85 and 91 on three tests.",
        "Lily practises the piano for 45 minutes a day.",
        "Sunita alone can stitch 40 uniforms in 8 days.",
    ],
)
def test_applies_wherever_there_is_a_name(text):
    assert apply(text) is not None


def test_a_list_keeps_its_commas():
    assert all(",," not in text for text in outputs("They are Tom, Ann, Ravi and Zoe."))


def test_a_sentence_begins_with_a_capital_when_its_name_is_deleted():
    results = outputs("Tom has 5 pens. How many are red?")
    assert all(text[0].isupper() for text in results)
