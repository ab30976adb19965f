"""Open reports in Chromium, and use them as a reader does."""

import csv
import json
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
from browser import accessibility_faults, folder_of_pictures, skip_without_chromium, watched_page

from paraqd import Columns, score_file, write_report

pytestmark = [skip_without_chromium, pytest.mark.xdist_group("browser")]

EVIL = "<img src=x onerror=alert(1)></p><script>alert(2)</script>"
SIGNATURE = "paraqd:1|model:m@0|mode:fused|threshold:0.5|review:0.3,0.7"
COLUMNS = Columns(question="Original", paraphrase="Version", id="Item")
PAIRS = [  # a question and its paraphrases
    (
        "Tom 🍎 has {n} apples and buys 3 more. How many apples has he now?",
        "Tom 🍎 has {m} apples and buys 3 more. How many apples has he now?",
        "Tom 🍎 buys 3 apples. He had {n} apples. How many apples are there now?",
    ),
    (
        "A rope is {n} m long. Ann cuts off 2 m. How long is the rest?",
        "A rope is {n} km long. Ann cuts off 2 m. How long is the rest?",
        "A rope is {n} m long. Ann cuts off 2 m.",
    ),
]


def write_scored(path, times=1):
    """Score 400 pairs, and move some of them to review. The last two are hostile and not scored.

    The rows are written several times, with other ids.
    """
    rows = []
    for number in range(400):
        question, *others = PAIRS[number // 2 % 2]
        size = 10 + number // 4
        texts = [text.format(n=size, m=size + 1) for text in (question, others[number % 2])]
        rows.append({"Item": f"item-{number:05}", "Original": texts[0], "Version": texts[1]})
    rows[-2]["Version"] = f"{EVIL} {rows[-2]['Version']}"
    rows[-1]["Original"] = ""
    write_csv(path.with_name("pairs.csv"), rows)
    score_file(path.with_name("pairs.csv"), path, scorer="reading", columns=COLUMNS)
    with open(path, encoding="utf-8", newline="") as file:
        scored = list(csv.DictReader(file))
    for number, row in enumerate(scored):
        row["signature"] = SIGNATURE
        row["decision"] = "" if row["error"] else "valid" if row["valid"] == "true" else "invalid"
        if number % 10 == 0 and row["decision"] == "invalid":
            row |= {"decision": "review", "score": "0.45"}
    write_csv(path, [row | {"Item": f"item-{n:05}"} for n, row in enumerate(scored * times)])


def write_csv(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Write a report on 400 pairs, and return its address and its counts."""
    folder = tmp_path_factory.mktemp("report")
    write_scored(folder / "scored.csv")
    return (folder / "report.html").as_uri(), write_report(
        folder / "scored.csv", folder / "report.html", columns=COLUMNS
    )


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Write a report on 20,000 pairs, and return its address and its counts."""
    folder = tmp_path_factory.mktemp("large")
    write_scored(folder / "scored.csv", times=50)
    return (folder / "report.html").as_uri(), write_report(
        folder / "scored.csv", folder / "report.html", columns=COLUMNS
    )


@pytest.fixture
def opened(browser, made):
    """Open the report, and return the page."""
    with watched_page(browser, viewport={"width": 1200, "height": 900}) as page:
        page.goto(made[0])
        page.wait_for_selector("#list article")
        yield page


def count(page):
    """Return the number of pairs that match, as the page says it."""
    page.wait_for_timeout(250)  # the search waits for the end of the typing
    return int(page.locator("#count").text_content().split()[0].replace(",", ""))


def picture(page, name):
    if folder := folder_of_pictures():
        page.screenshot(path=folder / f"report-{name}.png")


def test_the_report_opens_without_a_network_and_shows_the_counts(opened, made):
    _, summary = made
    assert all(address.startswith("file:") for address in opened.watch.requests)
    headline = opened.locator("#headline").text_content()
    assert headline.startswith(
        f"{summary.valid} of {summary.rows} paraphrases are valid, {summary.invalid} are invalid"
    )
    assert summary.review and f"{summary.review} need a person’s decision" in headline
    tiles = opened.locator("#tiles .figure").all_text_contents()
    assert tiles[:4] == [str(summary.valid), str(summary.review), str(summary.invalid), "1"]
    assert opened.locator("#scores svg").count() == 1
    bars = [int(text) for text in opened.locator("#faults .figure").all_text_contents()]
    assert bars == list(summary.faults.values())
    cells = opened.locator("#scores tbody td").all_text_contents()
    assert sum(map(int, cells)) == summary.rows - summary.errors
    assert opened.locator("#worst li").count() == 6
    picture(opened, "light")


def test_each_verdict_and_fault_filters_to_its_count(opened, made):
    _, summary = made
    assert count(opened) == 400
    for decision, expected in (
        ("valid", summary.valid),
        ("review", summary.review),
        ("invalid", summary.invalid),
        ("error", summary.errors),
    ):
        opened.locator(f".tile.{decision}").click()
        assert count(opened) == expected
        assert set(opened.locator("#list article").evaluate_all("rows => rows.map(r => r.classList[2])")) == {decision}
    for index, expected in enumerate(summary.faults.values()):
        opened.locator("#faults button").nth(index).click()
        assert count(opened) == expected
    opened.get_by_role("button", name="Clear all filters").click()
    assert count(opened) == 400


def test_checkboxes_menus_and_the_score_range_combine(opened, made):
    _, summary = made
    opened.get_by_role("checkbox", name="Review").check()
    opened.get_by_role("checkbox", name="Invalid").check()
    assert count(opened) == summary.invalid + summary.review
    opened.locator("#fault-menu summary").click()
    opened.get_by_role("checkbox", name="Unit changed").check()
    units = count(opened)
    assert 0 < units < summary.invalid + summary.review
    opened.keyboard.press("Escape")
    assert not opened.get_by_role("checkbox", name="Unit changed").is_visible()
    opened.get_by_label("Lowest score").fill("0.3")
    opened.get_by_label("Lowest score").press("Enter")
    assert 0 < count(opened) < units
    assert "#decision=review,invalid&fault=unit_changed&low=0.3" in opened.url


def test_search_finds_words_phrases_and_ids_in_all_pairs(opened):
    opened.get_by_label("Search").fill("item-00123")
    assert count(opened) == 1
    opened.get_by_label("Search").fill('ROPE "is 34 m long"')
    found = opened.locator("#list article")
    assert count(opened) == found.count() > 0
    assert all("is 34 m long" in text for text in found.all_text_contents())
    opened.get_by_label("Search").fill("no such words")
    assert count(opened) == 0
    assert "No pair matches" in opened.locator("#hint").text_content()


def test_the_address_keeps_the_view(browser, made, opened):
    opened.get_by_label("Search").fill("rope")
    opened.get_by_label("Order").select_option("Lowest score first")
    opened.get_by_label("Word differences").uncheck()
    opened.get_by_role("checkbox", name="Invalid").check()
    found = count(opened)
    with watched_page(browser) as other:
        other.goto(opened.url)
        other.wait_for_selector("#list article")
        assert count(other) == found < 400
        assert other.get_by_label("Search").input_value() == "rope"
        assert other.get_by_label("Order").input_value() == "score"
        assert not other.get_by_label("Word differences").is_checked()
        assert other.locator("#list del, #list ins").count() == 0
        other.evaluate("location.hash = '#decision=valid'")
        assert count(other) == made[1].valid
        for odd in ("#decision=x&fault=y&low=z&question=0.5&sort=w", "#%E0%A4%A", "#question=99999&low=NaN"):
            other.evaluate("hash => location.hash = hash", odd)
            assert count(other) == 400


def test_pairs_can_be_sorted_by_score_and_by_question(opened):
    def scores():
        texts = opened.locator("#list .score").evaluate_all("all => all.map(e => e.title.slice(6))")
        return [float(text) for text in texts]

    opened.get_by_label("Order").select_option("Highest score first")
    assert scores() == sorted(scores(), reverse=True)
    opened.get_by_label("Order").select_option("Lowest score first")
    assert scores() == sorted(scores())
    opened.locator("#worst button").first.click()
    said = opened.locator("#worst .figure").first.text_content()  # such as "2 of 2 invalid"
    assert count(opened) == int(said.split()[2])
    opened.get_by_role("button", name="All questions").click()
    assert count(opened) == 400


def test_evidence_is_marked_in_both_texts(opened):
    opened.get_by_label("Search").fill("item-00000")
    count(opened)
    pair = opened.locator("#list article").first
    assert pair.locator("mark[data-kind=number_changed]").all_text_contents() == ["10", "11"]
    assert "Number changed" in pair.locator(".reasons").text_content()
    opened.get_by_label("Search").fill("item-00001")
    count(opened)
    assert opened.locator("#list del").count() and opened.locator("#list ins").count()


def test_the_keyboard_reaches_pairs_marks_and_tips(opened):
    opened.locator("#list article").first.focus()
    opened.keyboard.press("Tab")
    tip = opened.get_by_role("tooltip")
    assert tip.is_visible() and "became" in tip.text_content()
    opened.keyboard.press("Escape")
    assert not tip.is_visible()
    place = "document.activeElement.closest('article').getAttribute('aria-posinset')"
    for _ in range(30):
        opened.keyboard.press("j")
    assert opened.evaluate(place) == "31"
    box = opened.locator("article:focus").bounding_box()
    assert box["y"] >= 0 and box["y"] + box["height"] <= 900  # the pair is on the screen
    opened.keyboard.press("k")
    assert opened.evaluate(place) == "30"


def test_ctrl_f_goes_to_the_search_of_all_pairs(opened):
    opened.keyboard.press("Control+f")
    assert opened.evaluate("document.activeElement.id") == "q"


def test_html_in_texts_is_shown_and_never_run(opened):
    opened.get_by_label("Search").fill("onerror")
    assert count(opened) == 1
    assert EVIL in opened.locator("#list article").text_content()
    assert opened.locator("main img, main script").count() == 0  # a dialog would fail the test, too


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_accessibility_fault(browser, made, scheme):
    with watched_page(browser, color_scheme=scheme, viewport={"width": 1200, "height": 900}) as page:
        page.goto(made[0])
        page.wait_for_selector("#list article")
        assert not accessibility_faults(page)
        page.locator("#fault-menu summary").click()
        page.get_by_role("checkbox", name="Invalid").check()
        page.locator("#list mark").first.focus()
        assert not accessibility_faults(page)
        page.locator("#fault-menu summary").click()
        picture(page, scheme)


def test_dark_mode_follows_the_system(browser, made):
    def lightness(scheme):
        with watched_page(browser, color_scheme=scheme) as page:
            page.goto(made[0])
            colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
            return sum(int(part) for part in colour[4:-1].split(","))

    assert lightness("dark") < 150 < 600 < lightness("light")


def test_a_phone_shows_everything_without_scrolling_sideways(browser, made):
    with watched_page(browser, viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True) as page:
        page.goto(made[0])
        page.wait_for_selector("#list article")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        mark = page.locator("#list mark").first
        mark.scroll_into_view_if_needed()
        mark.tap()
        assert page.get_by_role("tooltip").is_visible()
        assert not accessibility_faults(page)
        picture(page, "phone")


def test_20000_pairs_scroll_to_the_end(browser, large):
    address, summary = large
    with watched_page(browser, viewport={"width": 1200, "height": 900}) as page:
        page.goto(address)
        page.wait_for_selector("#list article")
        assert count(page) == 20_000 == summary.rows
        page.locator("#pairs-title").focus()
        page.keyboard.press("End")
        page.wait_for_selector("article[aria-posinset='20000']")
        page.wait_for_timeout(300)
        last = page.locator("article[aria-posinset='20000']").bounding_box()
        assert 0 <= last["y"] <= 900  # the last pair is on the screen
        assert page.locator("#list article").count() < 100  # and the others do not exist
        for step in range(1, 20):
            page.evaluate("share => scrollTo(0, share * document.documentElement.scrollHeight)", step / 20)
            page.wait_for_timeout(50)
        boxes = page.locator("#list article").evaluate_all(
            "rows => rows.map(r => r.getBoundingClientRect()).map(b => [b.top, b.bottom])"
        )
        assert all(above[1] < below[0] for above, below in pairwise(boxes))  # none overlap
        assert boxes[0][0] < 0 and boxes[-1][1] > 900  # and there is no hole on the screen
        page.get_by_label("Search").fill("item-19990")
        assert count(page) == 1


def test_scrolling_up_does_not_jump(browser, large):
    with watched_page(browser, viewport={"width": 1000, "height": 800}) as page:
        page.goto(large[0])
        page.wait_for_selector("#list article")
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)")
        page.wait_for_timeout(200)
        place = """() => {
            const rows = [...document.querySelectorAll('#list article')];
            return Number(rows.find(row => row.getBoundingClientRect().bottom > 200).ariaPosInSet);
        }"""
        seen = [page.evaluate(place)]
        for _ in range(10):
            page.mouse.wheel(0, -400)
            page.wait_for_timeout(60)
            seen.append(page.evaluate(place))
        steps = [before - after for before, after in pairwise(seen)]
        assert all(0 <= step <= 6 for step in steps), seen


def test_more_pairs_than_a_page_holds_are_shown_in_pages(browser, tmp_path):
    path = tmp_path / "scored.csv"
    rows = [
        {"question": f"Q {n}?", "paraphrase": f"P {n}?", "score": 0.9, "signature": SIGNATURE} for n in range(20_010)
    ]
    write_csv(path, rows)
    write_report(path, tmp_path / "report.html")
    with watched_page(browser) as page:
        page.goto((tmp_path / "report.html").as_uri())
        page.wait_for_selector("#list article")
        assert page.locator("#count").text_content() == "20,010 pairs (1 to 20,000 on this page)"
        page.get_by_role("button", name="Next page").click()
        assert page.locator("#list article").count() == 10
        assert page.locator("#list article").first.get_attribute("aria-posinset") == "20001"


def test_print_contains_the_pairs_that_match(opened, made):
    opened.get_by_label("Search").fill("rope")
    opened.get_by_role("checkbox", name="Invalid").check()
    found = count(opened)
    opened.emulate_media(media="print")
    opened.evaluate("dispatchEvent(new Event('beforeprint'))")
    printed = opened.locator("#printed article")
    assert printed.count() == found and printed.first.is_visible()
    assert f"Only invalid; containing “rope”. {found} pairs of 400." in opened.locator("#printed").text_content()
    assert opened.locator("#headline").is_visible() and not opened.locator("#list").is_visible()
    assert opened.pdf()[:5] == b"%PDF-"
    opened.evaluate("dispatchEvent(new Event('afterprint'))")
    assert printed.count() == 0


def test_print_says_how_many_pairs_it_leaves_out(browser, large):
    with watched_page(browser) as page:
        page.goto(large[0])
        page.wait_for_selector("#list article")
        assert "the first 2,000 of the pairs that match" in page.locator("#hint").text_content()
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator("#printed article").count() == 2000
        assert "The first 2,000 of 20,000 pairs are printed." in page.locator("#printed").text_content()


def test_a_report_without_pairs_opens(browser, tmp_path):
    (tmp_path / "scored.jsonl").write_text("", encoding="utf-8")
    write_report(tmp_path / "scored.jsonl", tmp_path / "report.html", notes=["Only invalid pairs."])
    with watched_page(browser) as page:
        page.goto((tmp_path / "report.html").as_uri())
        page.wait_for_selector("#report:not([hidden])")
        assert page.locator("#headline").text_content() == "The file has no pairs."
        assert page.locator("#notes").text_content() == "Only invalid pairs."
        assert not accessibility_faults(page)


def test_a_damaged_report_says_so(browser, made, tmp_path):
    page_text = Path(unquote(urlparse(made[0]).path)).read_text(encoding="utf-8")
    # without the policy, because it would not run a changed script at all
    damaged = page_text.replace('REPORT_DATA = "H4sI', 'REPORT_DATA = "AAAA').replace("Content-Security-Policy", "x")
    (tmp_path / "report.html").write_text(damaged, encoding="utf-8")
    with watched_page(browser) as page:
        page.goto((tmp_path / "report.html").as_uri())
        page.get_by_text("The report cannot be opened, because the file is damaged").wait_for()


def test_the_counts_are_readable_without_javascript(browser, made):
    with watched_page(browser, java_script_enabled=False) as page:
        page.goto(made[0])
        text = page.locator("noscript").inner_text()
        assert f"{made[1].invalid}" in text and "needs JavaScript" in text
        assert json.dumps(made[1].rows) in text
