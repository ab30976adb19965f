"""Mark spans in texts without changing the texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraqd.cli.marking import Piece, marked, pieces, visible


@pytest.mark.parametrize(
    ("text", "spans", "shown"),
    [
        ("7 boys", [], "7 boys"),
        ("7 boys", [[(0, 1)]], "[1: 7] boys"),
        ("7 boys and 9 girls", [[(0, 1), (11, 12)]], "[1: 7] boys and [1: 9] girls"),
        ("7 boys and 9 girls", [[(0, 10)], [(7, 18)]], "[1: 7 boys ][1,2: and][2:  9 girls]"),
        ("7 boys", [[(0, 6)], [(2, 6)]], "[1: 7 ][1,2: boys]"),
        ("7 boys", [[(0, 3)], [], [(0, 3)]], "[1,3: 7 b]oys"),
        ("7 boys", [[(0, 2), (2, 6)]], "[1: 7 boys]"),
        ("7 boys", [[(-3, 1), (5, 99)]], "[1: 7] boy[1: s]"),
        ("7 boys", [[(3, 3), (5, 2)]], "7 boys"),
        ("", [[(0, 1)]], ""),
        ("[red]7[/] [bold]", [[(5, 6)]], "[red][1: 7][/] [bold]"),
        ("七个男孩\n7 boys", [[(0, 1), (5, 6)]], "[1: 七]个男孩\n[1: 7] boys"),
    ],
)
def test_brackets_name_the_evidence(text, spans, shown):
    assert marked(text, spans).plain == shown


def test_colours_differ_and_begin_again():
    text = marked("1 2 3 4 5 6 7", [[(2 * i, 2 * i + 1)] for i in range(7)])
    styles = [str(span.style) for span in text.spans if "underline" in str(span.style)]
    assert len(set(styles)) == 6
    assert styles[0] == styles[6]


SPANS = st.lists(st.lists(st.tuples(st.integers(-2, 32), st.integers(-2, 32)), max_size=4), max_size=5)


@given(st.text(max_size=30), SPANS)
def test_nothing_is_lost_and_every_place_has_its_numbers(text, spans):
    made = pieces(text, spans)
    assert "".join(piece.text for piece in made) == text
    numbers = [piece.numbers for piece in made for _ in piece.text]
    for place, found in enumerate(numbers):
        assert set(found) == {n for n, own in enumerate(spans, start=1) if any(a <= place < b for a, b in own)}


def test_pieces_of_a_plain_text():
    assert pieces("7 boys", []) == [Piece("7 boys", ())]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\r\nb\rc", "a\nb\ufffdc"),
        ("tab\tstays", "tab\tstays"),
        ("\x1b]0;title\x07", "\ufffd]0;title\ufffd"),
        ("half \ud83d", "half \ufffd"),
        ("\u202eturned", "\ufffdturned"),
        ("\u200fمسألة ½ €", "\u200fمسألة ½ €"),
    ],
)
def test_visible(text, shown):
    assert visible(text) == shown
