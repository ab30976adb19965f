"""Names, found by the light reader and by spaCy."""

from __future__ import annotations

import pytest

from paraqd.reading import EntityReader, LightEntities, read
from paraqd.reading.entities import SpacyEntities, load_spacy
from paraqd.reading.name_lists import organisations, people, places

CATEGORIES = {"PERSON", "PLACE", "ORGANISATION", "GROUP", "PRODUCT"}


def names(text: str, reader: EntityReader | None = None) -> list[tuple[str, str]]:
    return [(entity.text, entity.category) for entity in read(text, entities=reader).entities]


def persons(*found: str) -> list[tuple[str, str]]:
    return [(name, "PERSON") for name in found]


@pytest.fixture(scope="session")
def spacy_reader() -> SpacyEntities:
    pytest.importorskip("spacy")
    return SpacyEntities(load_spacy())  # `make test` installs a pipeline: its absence is a failure


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Meera bought 5 pens.", persons("Meera")),
        ("Meera and Tom bought 5 pens.", persons("Meera", "Tom")),
        ("Yesterday Meera bought 5 pens from Ravi.", persons("Meera", "Ravi")),
        ("If Tom gives Ann 5 pens, she has 9.", persons("Tom", "Ann")),
        ("Tom has $5, Ann $6, and Raj $7.", persons("Tom", "Ann", "Raj")),
        ("5 friends met Tom.", persons("Tom")),
        ("Does Priya earn more than Karan?", persons("Priya", "Karan")),
        ('"Tom has 5 pens," said Ann.', persons("Tom", "Ann")),
        ("John Smith sold 5 cars to Mary Brown.", persons("John Smith", "Mary Brown")),
        ("Ann told Xyzzyx about it.", persons("Ann", "Xyzzyx")),
        ("Tom has 5 pens. Tom gives Ann 3 of them.", persons("Tom", "Tom", "Ann")),
        ("Rs. 500 is paid by Ravi.", persons("Ravi")),
    ],
)
def test_people(text: str, expected: list[tuple[str, str]]):
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The train goes from Delhi to Mumbai.", ["Delhi", "Mumbai"]),
        ("A bus runs between Boston and New York.", ["Boston", "New York"]),
        ("Paris is 300 km from Lyon.", ["Paris", "Lyon"]),
        ("In India 5 rivers flood every year.", ["India"]),
        ("New Delhi is 1,400 km from Mumbai.", ["New Delhi", "Mumbai"]),
        ("Los Angeles is far.", ["Los Angeles"]),
        ("He lives on Baker Street.", ["Baker Street"]),
        ("She drove from Xyzzyx to the coast.", ["Xyzzyx"]),
    ],
)
def test_places(text: str, expected: list[str]):
    assert names(text) == [(name, "PLACE") for name in expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The team met at Sunrise School.", ["Sunrise School"]),
        ("She joined Greenfield Academy.", ["Greenfield Academy"]),
        ("The fees at Lakeview College rose by 5%.", ["Lakeview College"]),
        ("Microsoft hired 500 people.", ["Microsoft"]),
    ],
)
def test_organisations(text: str, expected: list[str]):
    assert names(text) == [(name, "ORGANISATION") for name in expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Meera's brother has 7 marbles.", persons("Meera")),
        ("Tom’s bike cost $40.", persons("Tom")),
        ("Kavita's and Sunil's ages add up to 40.", persons("Kavita", "Sunil")),
        ("The sum of Tom's money is $5.", persons("Tom")),
        ("London's population grew by 5%.", [("London", "PLACE")]),
        ("Mark's stamps cost $5.", persons("Mark")),
    ],
)
def test_possessives(text: str, expected: list[tuple[str, str]]):
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mr. Rao paid $5.", persons("Rao")),
        ("Dr. Smith and Mrs. Jones met Prof. Iyer.", persons("Smith", "Jones", "Iyer")),
        ("Miss Lee teaches 30 pupils.", persons("Lee")),
        ("Mr Brown sold 5 cars.", persons("Brown")),
        ("Uncle Sam has 5 cows.", persons("Sam")),
        ("Yesterday Mr. Baker baked 5 cakes.", persons("Baker")),
    ],
)
def test_titles(text: str, expected: list[tuple[str, str]]):
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mark has 7 stamps.", persons("Mark")),
        ("Mark the point on the line.", []),
        ("Will he buy 5 pens?", []),
        ("Will has 5 pens.", persons("Will")),
        ("Yesterday Will bought 5 pens.", persons("Will")),
        ("May I have 5 pens?", []),
        ("May has 5 dolls.", persons("May")),
        ("In May it rained for 5 days.", []),
        ("Rose bought a rose for $2.", persons("Rose")),
        ("The price rose by 5%.", []),
        ("Grace gave Hope 5 pens.", persons("Grace", "Hope")),
        ("Pat the dog twice.", []),
        ("Sam is twice as old as Pat.", persons("Sam", "Pat")),
        ("Jack, Jill and Bill have 9 pens.", persons("Jack", "Jill", "Bill")),
        ("The bill was $5.", []),
    ],
)
def test_words_that_are_names_too(text: str, expected: list[tuple[str, str]]):
    assert names(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Find the sum of 5 and 7.",
        "How many pens are left?",
        "A train passes a pole. How long is it?",
        "On Monday 5 boys and on Tuesday 6 girls came.",
        "The English test had 50 marks.",
        "Two pipes A and B fill a tank.",
        "It was 30 degrees Celsius in July.",
        "Each pen costs Rs. 5. The total is Rs. 50.",
        "If x = 5, then y = 6.",
        "",
        "5",
        "?!",
    ],
)
def test_no_names(text: str):
    assert names(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("meera bought 5 pens from ravi in delhi.", [*persons("meera", "ravi"), ("delhi", "PLACE")]),
        ("how many pens does tom have?", persons("tom")),
        ("tom's bike cost $40.", persons("tom")),
        ("she drove from new york to boston.", [("new york", "PLACE"), ("boston", "PLACE")]),
        ("the mark on the bill will rise in may.", []),
        ("a rose and a lily cost $5.", []),
        ("the pens are left.", []),
    ],
)
def test_lower_case(text: str, expected: list[tuple[str, str]]):
    assert names(text) == expected


def test_upper_case():
    assert names("MEERA BOUGHT 5 PENS FROM RAVI.") == persons("MEERA", "RAVI")


VARIED = [
    "Meera's brother met Dr. Smith at Sunrise School in New Delhi on Monday.",
    "“Tom,” said Ann, “has 5 pens.” Will Jack’s sister buy 3 of Mary Brown's?",
    "if ravi gives meera 5 pens, how many has he?",
    "Ünal and Zoë paid €5.",
    "Tom\x00Ann 🙂 Raj\u0301 (Paris)",
    "",
    " \n ",
]


def check_spans(text: str, reader: EntityReader) -> None:
    problem = read(text, entities=reader)
    position = 0
    for entity in problem.entities:
        assert text[entity.start : entity.end] == entity.text
        assert entity.text.strip()
        assert entity.category in CATEGORIES
        assert position <= entity.start < entity.end <= len(text)
        position = entity.end


@pytest.mark.parametrize("text", VARIED)
def test_light_spans(text: str):
    check_spans(text, LightEntities())


@pytest.mark.parametrize("text", VARIED)
def test_spacy_spans(text: str, spacy_reader: SpacyEntities):
    check_spans(text, spacy_reader)


def test_the_light_reader_is_the_default():
    for text in VARIED:
        assert read(text).entities == read(text, entities=LightEntities()).entities


def test_only_the_entities_depend_on_the_reader(spacy_reader: SpacyEntities):
    for text in VARIED:
        light, heavy = read(text), read(text, entities=spacy_reader)
        assert light.quantities == heavy.quantities
        assert light.sentences == heavy.sentences
        assert light.questions == heavy.questions


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Meera bought 5 pens.", persons("Meera")),
        ("The train goes from Delhi to Mumbai.", [("Delhi", "PLACE"), ("Mumbai", "PLACE")]),
        ("John Smith sold 5 cars to Mary Brown.", persons("John Smith", "Mary Brown")),
        ("Microsoft hired 500 people.", [("Microsoft", "ORGANISATION")]),
        ("On Monday 5 boys paid $5 each at 10 a.m.", []),
    ],
)
def test_spacy_names(text: str, expected: list[tuple[str, str]], spacy_reader: SpacyEntities):
    assert names(text, spacy_reader) == expected


@pytest.mark.parametrize(
    "text", ["If Tom gives Ann 5 pens, she has 9.", "Tom has $5, Ann $6, and Raj $7.", "Meera paid Ravi 500 rupees."]
)
def test_spacy_names_keep_out_of_quantities(text: str, spacy_reader: SpacyEntities):
    problem = read(text, entities=spacy_reader)
    for entity in problem.entities:
        for quantity in problem.quantities:
            assert entity.end <= quantity.start or quantity.end <= entity.start, (entity.text, quantity.surface)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\ud800", []),
        ("Tom \udfff has 5 pens.", ["Tom"]),
        ("\x00", []),
        ("🙂🙂 Tom has 5 pens.", ["Tom"]),
        ("\u202eTom\u202c", []),
        ("a\u0300" * 50, []),
    ],
)
def test_spacy_reads_any_text(text: str, expected: list[str], spacy_reader: SpacyEntities):
    problem = read(text, entities=spacy_reader)
    assert problem.text == text
    assert [entity.text for entity in problem.entities] == expected
    assert all(text[entity.start : entity.end] == entity.text for entity in problem.entities)


def test_spacy_leaves_very_long_texts_to_the_light_reader(spacy_reader: SpacyEntities):
    text = "Tom paid Ann $5. " * 6_000
    assert len(text) > spacy_reader.nlp.max_length // 10
    assert read(text, entities=spacy_reader).entities == read(text).entities


def test_load_spacy_loads_once(spacy_reader: SpacyEntities):
    assert load_spacy() is spacy_reader.nlp


def test_both_follow_the_protocol(spacy_reader: SpacyEntities):
    readers: list[EntityReader] = [LightEntities(), spacy_reader]
    problem = read("Tom met Ann yesterday.")
    for reader in readers:
        found = reader.find(problem.text, problem.tokens, problem.sentences)
        assert isinstance(found, tuple)
        assert [entity.text for entity in found] == ["Tom", "Ann"]


def test_a_reader_of_ones_own():
    class Nobody:
        def find(self, text, tokens, sentences):
            return ()

    assert read("Tom paid Ann $5.", entities=Nobody()).entities == ()


def test_lists():
    assert len(people()) > 1000
    assert set(people().values()) == {"f", "m", "u"}
    assert len(places()) > 500
    assert len(organisations()) > 100
    for name in (*people(), *places(), *organisations()):
        assert name == name.strip() != ""
