"""Check the marks, the word differences and the tips that the report and the review page share."""

import json
from importlib.resources import files

import pytest
from browser import accessibility_faults, skip_without_chromium, watched_page

pytestmark = [skip_without_chromium, pytest.mark.xdist_group("browser")]

REPORT = files("paraqd.runs.report")
QUESTION = "Tom 🍎 has 5 apples and buys 3 more. How many apples has he now?"
PARAPHRASE = "Tom 🍎 has 6 apples and buys 3 more. How many apples does he have?"
NUMBER = {
    "kind": "number_changed",
    "question_spans": [[10, 11]],
    "paraphrase_spans": [[10, 11]],
    "message": 'A number changed: "5" became "6".',
    "delta": -0.8,
}


@pytest.fixture
def page(browser):
    with watched_page(browser) as page:
        page.set_content('<!doctype html><html lang="en"><title>Pair</title><main class="pair-view"></main></html>')
        page.add_style_tag(content=REPORT.joinpath("pair_view.css").read_text())
        page.add_script_tag(content=REPORT.joinpath("pair_view.js").read_text())
        page.evaluate("PairView.attachTips(document.querySelector('main'))")
        yield page


def render(page, pair, **options):
    """Show a pair, and return the HTML of both texts."""
    return page.evaluate(
        """([pair, options]) => {
            const texts = PairView.render(pair, options);
            const [question, paraphrase] = [document.createElement('p'), document.createElement('p')];
            question.append(texts.question);
            paraphrase.append(texts.paraphrase);
            document.querySelector('main').replaceChildren(question, paraphrase);
            return [question.innerHTML, paraphrase.innerHTML];
        }""",
        [{"evidence": [], "warnings": [], **pair}, options],
    )


def marks(page):
    return page.evaluate("[...document.querySelectorAll('mark')].map(m => [m.dataset.evidence, m.textContent])")


def test_spans_count_code_points_so_an_emoji_is_one(page):
    render(page, {"question": QUESTION, "paraphrase": PARAPHRASE, "evidence": [NUMBER]})
    assert marks(page) == [["0", "5"], ["0", "6"]]


def test_differing_words_are_marked_in_both_texts(page):
    question, paraphrase = render(page, {"question": "It is 5 km away.", "paraphrase": "It is 5 kilometres away."})
    assert question == "It is 5 <del>km</del> away."
    assert paraphrase == "It is 5 <ins>kilometres</ins> away."


def test_the_word_differences_can_be_switched_off(page):
    texts = render(page, {"question": "It is 5 km away.", "paraphrase": "It is 5 miles away."}, diff=False)
    assert texts == ["It is 5 km away.", "It is 5 miles away."]


def test_a_lone_small_word_between_differences_counts_as_different(page):
    question, _ = render(page, {"question": "Red pens of Tom cost 5.", "paraphrase": "Blue hats of Ann cost 5."})
    assert question == "<del>Red pens of Tom</del> cost 5."


def test_a_number_is_compared_as_a_whole(page):
    question, _ = render(page, {"question": "It costs $4.50.", "paraphrase": "It costs $4.80."})
    assert question == "It costs $<del>4.50</del>."


def test_overlapping_spans_become_marks_that_name_each_piece_of_evidence(page):
    lost = {"kind": "content_lost", "question_spans": [[4, 12]], "paraphrase_spans": [], "message": "Lost."}
    number = {"kind": "number_lost", "question_spans": [[8, 9]], "paraphrase_spans": [], "message": "A number."}
    render(page, {"question": "Tom has 5 pens.", "paraphrase": "Tom.", "evidence": [lost, number]}, diff=False)
    assert marks(page) == [["0", "has "], ["0 1", "5"], ["0", " pe"]]


def test_an_empty_span_becomes_a_point(page):
    lost = {"kind": "question_lost", "question_spans": [], "paraphrase_spans": [[8, 8]], "message": "Lost."}
    render(page, {"question": "Tom has 5.", "paraphrase": "Tom has.", "evidence": [lost]}, diff=False)
    point = page.locator("mark.ev-point")
    assert point.get_attribute("aria-label") == "Question lost"
    assert page.locator("p").nth(1).text_content() == "Tom has."


@pytest.mark.parametrize("spans", [[[5, 500]], [[-3, 2]], [[9, 4]]])
def test_spans_outside_the_text_are_cut_to_the_text(page, spans):
    piece = {"kind": "number_lost", "question_spans": spans, "paraphrase_spans": [], "message": "Lost."}
    render(page, {"question": "Tom has 5.", "paraphrase": "Tom.", "evidence": [piece]})
    assert page.locator("p").first.text_content() == "Tom has 5."


def test_html_in_texts_is_shown_and_never_run(page):
    evil = "<img src=x onerror=alert(1)></p><script>alert(2)</script>"
    piece = {"kind": "incoherent", "question_spans": [[0, 4]], "paraphrase_spans": [[0, 4]], "message": evil}
    render(page, {"question": evil, "paraphrase": evil + "!", "evidence": [piece]})
    page.locator("mark").first.focus()
    assert page.locator("main img, main script, .ev-tip img").count() == 0
    assert page.locator("p").first.text_content() == evil
    assert page.get_by_role("tooltip").text_content() == evil


def test_focus_hover_and_tap_show_the_sentence_and_escape_closes_it(page):
    render(page, {"question": QUESTION, "paraphrase": PARAPHRASE, "evidence": [NUMBER]})
    tip = page.get_by_role("tooltip")
    first, second = page.locator("mark").nth(0), page.locator("mark").nth(1)
    page.keyboard.press("Tab")
    assert tip.text_content() == NUMBER["message"]
    assert first.get_attribute("aria-describedby") == tip.get_attribute("id")
    assert page.locator(".ev-active").count() == 2  # the counterpart in the other text lights up, too
    page.keyboard.press("Escape")
    assert tip.count() == 0
    second.hover()
    assert tip.is_visible()
    page.keyboard.press("Escape")
    second.click()
    assert tip.is_visible()
    assert not accessibility_faults(page)


def test_names_and_sentences(page):
    pair = {"question": "", "paraphrase": "", "evidence": [NUMBER], "warnings": ["Look."]}
    assert page.evaluate("p => PairView.messages(p)", pair) == [NUMBER["message"], "Look."]
    names = page.evaluate("k => k.map(PairView.faultName)", ["number_changed", "brand_new", "constructor"])
    assert names == ["Number changed", "Brand new", "Constructor"]


def test_every_kind_of_evidence_has_a_name():
    from paraqd import EvidenceKind

    script = REPORT.joinpath("pair_view.js").read_text()
    assert [kind.value for kind in EvidenceKind if f"{kind.value}: {json.dumps('')[0]}" not in script] == []


def test_long_texts_are_compared_quickly_enough_to_show(page):
    long = " ".join(f"word{number}" for number in range(4000))
    question, paraphrase = render(page, {"question": long, "paraphrase": "x " + long[::-1]})
    assert question == f"<del>{long}</del>"
    assert paraphrase.startswith("<ins>x")
