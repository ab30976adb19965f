"""Use the review page as an editor does, in a real Chromium against a real server process."""

from __future__ import annotations

import re
from contextlib import contextmanager

import httpx
import pytest
from browser import accessibility_faults, skip_without_chromium, watched_page
from page_server import PageServer, pair

expect = pytest.importorskip("playwright.sync_api").expect
openpyxl = pytest.importorskip("openpyxl")
expect.set_options(timeout=15_000)  # a busy machine may be slow
pytestmark = [skip_without_chromium, pytest.mark.xdist_group("page")]

WIDE = {"width": 1280, "height": 800}
PHONE = {"width": 360, "height": 740}
HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script>'


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = PageServer(tmp_path_factory.mktemp("page"))
    running.start()
    yield running
    running.stop()


@contextmanager
def page_of(browser, server, reviewer="Meera", **options):
    """Open a browser context in which the reviewer's name is known."""
    with watched_page(browser, **{"viewport": WIDE, **options}) as page:
        page.set_default_timeout(15_000)
        if reviewer:
            page.add_init_script(f"localStorage.setItem('paraqd.reviewer', '{reviewer}')")
        page.goto(server.address)
        yield page


@pytest.fixture
def page(browser, server):
    with page_of(browser, server) as opened:
        yield opened


def open_project(page, server, project, query=""):
    page.goto(f"{server.address}/?project={project}{query}")
    expect(page.locator(".row").first).to_be_visible()


def title(page):
    return page.locator(".pair-name h2")


def press(page, key, then):
    """Press a key, and wait until another pair is shown."""
    page.keyboard.press(key)
    expect(title(page)).to_have_text(f"Pair {then}")


def saved(page):
    expect(page.locator(".saving")).to_have_text("Saved")


def statuses(server, project, reviewer="Meera"):
    listed = server.get(project, "/pairs", reviewer, limit=1000)["pairs"]
    return {each["n"]: each["status"] for each in listed if each["status"] != "open"}


class Ignored(list):
    """A list that stays empty."""

    def append(self, entry):
        pass


# --- files of the page ----------------------------------------------------------------------------


def test_files_have_their_types_and_are_sent_again_only_if_they_changed(server):
    for path, kind in (("/", "text/html"), ("/static/main.js", "text/javascript"), ("/static/style.css", "text/css")):
        first = httpx.get(server.address + path)
        assert first.headers["content-type"].startswith(kind)
        again = httpx.get(server.address + path, headers={"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("path", ["/static/../routes.py", "/static/%2e%2e/routes.py", "/static/routes.py", "/static/"])
def test_nothing_else_is_served(server, path):
    with httpx.Client() as client:
        request = client.build_request("GET", server.address)
        request.url = request.url.copy_with(raw_path=path.encode())
        assert client.send(request).status_code == 404


# --- bringing pairs in ----------------------------------------------------------------------------


def test_paste_a_question_and_paraphrases(browser, server):
    with page_of(browser, server, reviewer="") as page:
        page.get_by_label("Question").fill("Ann has 12 pens and buys 5 more. How many pens does Ann have?")
        page.get_by_role("button", name="Check", exact=True).click()
        expect(page.get_by_role("alert").filter(has_text="no paraphrase")).to_be_visible()
        page.get_by_label("Paraphrases").fill(
            "Ann owns 12 pens. She buys 5 more. How many pens does she own?\n\n"
            "Ann has 13 pens and buys 5 more. How many pens does Ann have?"
        )
        page.get_by_role("button", name="Check", exact=True).click()
        page.get_by_label("Your name").fill("Meera Nair")  # asked once
        page.get_by_role("button", name="Continue").click()
        expect(page.locator(".row")).to_have_count(2)
        expect(page.locator(".row").last).to_contain_text("Number changed")
        page.locator(".row").last.click()
        expect(page.locator("mark.ev").first).to_be_visible()
        expect(page.locator(".reasons li").first).to_contain_text("12")
        page.reload()
        expect(title(page)).to_have_text("Pair 2")
        expect(page.locator(".reviewer")).to_contain_text("Meera Nair")


def book(path, rows, header=("Id", "Original", "V1", "V2")):
    workbook = openpyxl.Workbook()
    workbook.active.append(list(header))
    for row in rows:
        workbook.active.append(list(row))
    workbook.save(path)
    return path


def test_an_excel_file_of_2000_pairs_shows_progress_and_its_first_verdicts(page, tmp_path):
    rows = [(f"Q{n}", *pair(n), pair(n + 1)[1].replace("How many", "Say how many")) for n in range(1000)]
    path = book(tmp_path / "autumn.xlsx", rows)
    page.get_by_label("Choose a file").set_input_files(path)
    expect(page.locator("#scoring-progress")).to_be_visible()
    expect(page.locator(".row-verdict .icon").first).to_be_visible()
    expect(page.locator(".list-total")).to_have_text("2,000 pairs")
    expect(page.locator(".scoring")).to_be_hidden(timeout=60_000)
    assert page.locator(".row").count() < 40  # only those in view exist
    page.locator(".pair-list").press("End")
    expect(title(page)).to_have_text("Pair 2,000")
    expect(page.locator(".place")).to_have_text("Row 1,001 · Id Q999 · Column V2")
    page.reload()
    expect(page.locator(".row[aria-selected=true]")).to_contain_text("#2,000")


def test_a_file_with_unusual_columns_asks_which_to_read(page, tmp_path):
    page.watch.errors = Ignored()  # the browser reports the refusal
    path = book(tmp_path / "spring.xlsx", [(*pair(n), "easy") for n in range(4)], header=("Alpha", "Beta", "Level"))
    page.get_by_label("Choose a file").set_input_files(path)
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Column with the original questions").select_option("Alpha")
    dialog.get_by_role("button", name="Read spring.xlsx").click()
    expect(dialog.get_by_role("alert")).to_have_text("Choose at least one column with paraphrases.")
    dialog.get_by_label("Beta").check()
    dialog.get_by_role("button", name="Read spring.xlsx").click()
    expect(page.locator(".list-total")).to_have_text("4 pairs")
    expect(page.locator(".project-name")).to_have_text("spring")


def test_a_file_that_is_no_table(page, tmp_path):
    page.watch.errors = Ignored()  # the browser reports the refusal
    path = tmp_path / "notes.xlsx"
    path.write_bytes(b"\x89PNG\r\n\x1a\n not a table \x00\xff")
    page.get_by_label("Choose a file").set_input_files(path)
    alert = page.get_by_role("alert").filter(has_text="notes.xlsx")
    expect(alert).to_be_visible()
    assert page.locator("dialog").count() == 0


# --- reviewing ------------------------------------------------------------------------------------


def test_review_by_keyboard_with_undo_and_redo(page, server):
    project = server.create([pair(n) for n in range(8)], name="Keys")
    open_project(page, server, project)
    expect(title(page)).to_have_text("Pair 1")
    press(page, "a", 2)
    press(page, "r", 3)
    press(page, "s", 4)
    press(page, "k", 3)
    press(page, "j", 4)
    page.keyboard.press("n")
    page.keyboard.type("aru? say who asks")  # keys rest while somebody types
    page.keyboard.press("Escape")
    press(page, "r", 5)
    saved(page)
    expect(page.locator(".decided-text")).to_have_text("3 of 8 decided")
    assert statuses(server, project) == {1: "accepted", 2: "rejected", 4: "rejected"}
    assert server.get(project, "/pairs/4")["note"] == "aru? say who asks"
    press(page, "u", 4)
    expect(page.locator(".toast").last).to_have_text("Undone: pair 4")
    assert statuses(server, project) == {1: "accepted", 2: "rejected"}
    page.reload()  # what can be undone outlives a reload
    expect(title(page)).to_have_text("Pair 4")
    page.keyboard.press("Shift+U")
    expect(page.locator(".toast").last).to_have_text("Redone: pair 4")
    expect(page.locator(".decided-text")).to_have_text("3 of 8 decided")
    page.get_by_role("button", name="More about").click()
    page.get_by_role("button", name="Log of decisions").click()
    expect(page.locator("dialog tbody tr").first).to_contain_text("Redo: Rejected")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    page.get_by_role("switch", name="Single keys decide").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    expect(title(page)).to_have_text("Pair 4")


def test_filter_search_and_bulk_decision(page, server):
    page.watch.errors = Ignored()  # the browser reports the refusal
    pairs = [pair(n) for n in range(40)]
    project = server.create([*pairs, pairs[0], pairs[0]], name="Filters")
    open_project(page, server, project)
    expect(page.locator(".row").first).to_contain_text("× 3")  # equal pairs are folded
    page.get_by_label("Fault").select_option("number_changed")
    expect(page.locator(".list-total")).to_have_text("10 of 40 pairs")
    page.get_by_label("Order").select_option("-score")
    expect(page).to_have_url(re.compile("fault=number_changed&sort=-score"))
    page.keyboard.press("/")
    page.get_by_label("Search", exact=True).fill("MARBLES")
    expect(page.locator(".list-total")).to_have_text(re.compile(r"^[12] of 40 pairs$"))
    page.go_back()
    expect(page.locator(".list-total")).to_have_text("10 of 40 pairs")
    page.get_by_role("button", name="Decide all").click()
    httpx.post(  # meanwhile, another reviewer moves the threshold, and the filter matches nothing
        f"{server.address}/v1/projects/{project}/undo", headers={"X-Reviewer": "Ravi"}
    )
    httpx.patch(f"{server.address}/v1/projects/{project}", json={"threshold": -1}, headers={"X-Reviewer": "Ravi"})
    page.get_by_role("button", name="Reject 10 pairs").click()
    expect(page.get_by_role("alert").filter(has_text="it now has 0 pairs, not 10")).to_be_visible()
    httpx.patch(f"{server.address}/v1/projects/{project}", json={"threshold": 0.5}, headers={"X-Reviewer": "Ravi"})
    page.keyboard.press("Escape")
    expect(page.locator(".list-total")).to_have_text("10 of 40 pairs")
    page.get_by_role("button", name="Decide all").click()
    page.get_by_role("button", name="Reject 10 pairs").click()
    expect(page.locator(".toast").last).to_contain_text("10 decisions saved")
    assert len(statuses(server, project)) == 10
    page.keyboard.press("u")
    expect(page.locator(".toast").last).to_have_text("Undone: 10 pairs")
    assert statuses(server, project) == {}


def test_the_threshold_decides_again_while_it_moves(page, server):
    project = server.create([pair(n) for n in range(40)], name="Threshold")
    open_project(page, server, project, "&decision=invalid")
    expect(page.locator(".list-total")).to_have_text("20 of 40 pairs")
    slider = page.get_by_label("Threshold", exact=True)
    slider.evaluate("(input) => { input.value = 0.9; input.dispatchEvent(new Event('input')) }")  # dragging
    expect(page.locator(".chip-invalid .chip-count")).to_have_text("40")
    expect(page.locator(".list-total")).to_have_text("40 of 40 pairs")
    assert server.get(project)["threshold"] == 0.5  # not saved yet
    slider.evaluate("(input) => input.dispatchEvent(new Event('change'))")  # released
    expect(page.locator(".threshold-figure")).to_have_text("0.90")
    page.wait_for_function(
        "(id) => fetch(`v1/projects/${id}`).then((a) => a.json()).then((p) => p.threshold === 0.9)", arg=project
    )
    slider.press("ArrowLeft")
    expect(page.locator(".threshold-figure")).to_have_text("0.89")
    page.get_by_role("button", name="Suggest", exact=True).click()
    expect(page.locator(".advice")).to_contain_text("No pair is accepted or rejected yet")
    page.get_by_role("switch", name="Check uncertain pairs by hand").check()
    expect(page.locator(".chip-review .chip-count")).not_to_have_text("0")


# --- nothing is lost ------------------------------------------------------------------------------


def test_no_decision_is_lost_when_the_server_is_killed(browser, tmp_path):
    server = PageServer(tmp_path)
    server.start()
    project = server.create([pair(n) for n in range(12)], name="Killed")
    with page_of(browser, server) as page:
        page.watch.errors = Ignored()  # the browser reports every request that fails
        open_project(page, server, project)
        expect(title(page)).to_have_text("Pair 1")
        press(page, "a", 2)
        saved(page)
        server.kill()
        press(page, "r", 3)  # goes on with the pairs that are loaded
        press(page, "a", 4)
        expect(page.locator(".saving")).to_contain_text("Not saved: 2 decisions")
        server.start()
        page.reload()  # the decisions wait in the browser's storage
        saved(page)
        assert statuses(server, project) == {1: "accepted", 2: "rejected", 3: "accepted"}
        expect(page.locator(".decided-text")).to_have_text("3 of 12 decided")
        server.kill()
        page.keyboard.press("r")
        expect(page.locator(".saving")).to_contain_text("Not saved: 1 decision")
        server.start()
        page.get_by_role("button", name="Retry").click()
        saved(page)
        assert len(statuses(server, project)) == 4
    server.stop()


DECISIONS = "**/decisions"


@pytest.fixture
def troubled(browser, server):
    """Open a page whose requests may fail. The browser reports those."""
    with page_of(browser, server) as page:
        page.watch.errors = Ignored()
        yield page


def begin(page, server, name, count=8):
    project = server.create([pair(n) for n in range(count)], name=name)
    open_project(page, server, project)
    expect(title(page)).to_have_text("Pair 1")
    return project


def not_saved(page, count):
    expect(page.locator(".saving")).to_contain_text(f"Not saved: {count} decision")


def reconnect(page):
    page.unroute(DECISIONS)
    page.evaluate("dispatchEvent(new Event('online'))")
    saved(page)


def toast(page, text):
    expect(page.locator(".toast").last).to_have_text(text)


def write_note(page, text):
    page.keyboard.press("n")
    page.keyboard.type(text)
    page.keyboard.press("Escape")


def vote_and_note(server, project, n):
    found = server.get(project, f"/pairs/{n}")
    return found["my_vote"], found["note"]


def test_a_note_after_a_decision_that_is_on_its_way(page, server):
    project = begin(page, server, "Slow")
    held = []
    page.route(DECISIONS, lambda route: route.continue_() if held else held.append(route))
    with page.expect_request(DECISIONS):
        page.keyboard.press("a")
    write_note(page, "why not?")
    expect(page.locator(".saving")).to_have_text("Saving…")
    held[0].continue_()
    saved(page)
    assert vote_and_note(server, project, 1) == ("accept", "why not?")


def test_a_note_on_a_decision_that_is_not_saved(troubled, server):
    project = begin(troubled, server, "Note later")
    troubled.route(DECISIONS, lambda route: route.abort())
    press(troubled, "a", 2)
    with troubled.expect_response("**/pairs?*"):  # the list comes again, without the decision
        pass
    press(troubled, "k", 1)
    expect(troubled.locator(".decided .status")).to_have_text("Accepted")
    write_note(troubled, "still the same")
    not_saved(troubled, 2)
    troubled.reload()
    expect(title(troubled)).to_have_text("Pair 1")
    write_note(troubled, "!")
    not_saved(troubled, 3)
    reconnect(troubled)
    vote, note = vote_and_note(server, project, 1)
    assert (vote, sorted(note)) == ("accept", sorted("still the same!"))


def test_a_note_by_somebody_without_a_name_is_kept(browser, server):
    project = server.create([pair(1)], name="Nameless")
    with page_of(browser, server, reviewer="") as page:

        def give_no_name():
            expect(page.get_by_label("Your name")).to_be_visible()
            page.keyboard.press("Escape")
            expect(page.get_by_role("dialog")).to_have_count(0)

        page.goto(f"{server.address}/?project={project}&pair=1")
        give_no_name()
        expect(title(page)).to_have_text("Pair 1")
        write_note(page, "ask Ravi")
        give_no_name()
        page.reload()
        give_no_name()
        expect(page.get_by_label("Note")).to_have_value("ask Ravi")


def test_a_decision_whose_answer_is_lost_is_one_step(troubled, server):
    project = begin(troubled, server, "Lost answer")
    asked = []

    def lose_the_first_answer(route):
        asked.append(route.fetch())
        if len(asked) == 1:
            route.abort()
        else:
            route.fulfill(response=asked[-1])

    troubled.route(DECISIONS, lose_the_first_answer)
    press(troubled, "a", 2)
    saved(troubled)
    assert len(asked) == 2
    assert len(server.get(project, "/log")["events"]) == server.get(project)["undo"] == 1


def test_undo_without_a_connection_takes_back_only_what_was_never_sent(troubled, server):
    project = begin(troubled, server, "Undo offline")
    troubled.route(DECISIONS, lambda route: route.abort())
    press(troubled, "a", 2)
    press(troubled, "r", 3)
    troubled.keyboard.press("k")
    troubled.keyboard.press("u")
    toast(troubled, "Taken back before it was saved: pair 2")
    expect(troubled.locator(".people")).to_be_hidden()  # nobody decided
    troubled.keyboard.press("u")  # the first decision was sent, and perhaps saved
    toast(troubled, "Wait until your decisions are saved.")
    not_saved(troubled, 1)
    reconnect(troubled)
    assert statuses(server, project) == {1: "accepted"}
    troubled.keyboard.press("u")
    toast(troubled, "Undone: pair 1")


def test_a_refusal_by_something_else_than_the_server_keeps_the_decision(troubled, server):
    project = begin(troubled, server, "Proxy")
    troubled.route(DECISIONS, lambda route: route.fulfill(status=403, content_type="text/html", body="<h1>No</h1>"))
    press(troubled, "a", 2)
    not_saved(troubled, 1)
    troubled.unroute(DECISIONS)
    troubled.route(DECISIONS, lambda route: route.fulfill(status=200, content_type="text/html", body="<h1>Hi</h1>"))
    troubled.get_by_role("button", name="Retry").click()
    not_saved(troubled, 1)
    reconnect(troubled)
    assert statuses(server, project) == {1: "accepted"}


def test_a_refusal_by_the_server_ends_the_decision(troubled, server):
    project = begin(troubled, server, "Refused")
    answer = {"error": {"code": "not_found", "message": "The project has no pair 1.", "details": None}}
    troubled.route(DECISIONS, lambda route: route.fulfill(status=404, json=answer))
    troubled.keyboard.press("a")
    toast(troubled, "The decision on pair 1 was not saved: The project has no pair 1.")
    saved(troubled)
    assert statuses(server, project) == {}


def test_another_project_is_opened_before_decisions_are_saved(troubled, server):
    second = server.create([pair(n) for n in range(8)], name="Opened second")
    first = begin(troubled, server, "Opened first")
    troubled.route(DECISIONS, lambda route: route.abort())
    press(troubled, "a", 2)
    press(troubled, "r", 3)
    troubled.get_by_role("link", name="all projects").click()
    troubled.get_by_role("link", name="Opened second").click()
    expect(troubled.locator(".project-name")).to_have_text("Opened second")
    not_saved(troubled, 2)
    troubled.keyboard.press("u")  # not the other project's decision
    toast(troubled, "Wait until your decisions are saved.")
    not_saved(troubled, 2)
    troubled.evaluate("document.querySelectorAll('.toast').forEach((toast) => toast.remove())")
    troubled.get_by_role("button", name="Decide all").click()
    toast(troubled, "Wait until your decisions are saved.")
    sent = len([url for url in troubled.watch.requests if url.endswith("/decisions")])
    reconnect(troubled)
    assert statuses(server, first) == {1: "accepted", 2: "rejected"}
    assert statuses(server, second) == {}
    assert len([url for url in troubled.watch.requests if url.endswith("/decisions")]) <= sent + 3
    expect(troubled.locator(".decided-text")).to_have_text("0 of 8 decided")


def test_a_decision_that_comes_just_after_the_last_one_was_sent(page, server):
    project = begin(page, server, "Just after")
    page.evaluate(
        """async (project) => {
            const { outbox } = await import("/static/outbox.js");
            const add = (pair) => outbox.add({ project, pair, decision: "accept", reviewer: "Meera" });
            const request = navigator.locks.request.bind(navigator.locks);
            navigator.locks.request = async (...given) => {
                await request(...given);
                navigator.locks.request = request;
                add(2);
            };
            add(1);
        }""",
        project,
    )
    expect(page.locator(".decided-text")).to_have_text("2 of 8 decided")
    saved(page)


# --- slow answers ---------------------------------------------------------------------------------


class Held:
    """Requests to addresses of one kind, which wait until the test lets them go on."""

    def __init__(self, page, pattern):
        self.page, self.pattern, self.routes, self.is_over = page, pattern, [], False
        page.route(pattern, lambda route: route.continue_() if self.is_over else self.routes.append(route))

    def let_go(self):
        """Let all requests go on, the first one first, and hold no more."""
        self.is_over = True
        for route in self.routes:
            with self.page.expect_response(lambda answer, request=route.request: answer.request == request):
                route.continue_()


def test_a_key_is_not_lost_while_the_list_is_fetched_again(page, server):
    begin(page, server, "Key and refresh", count=250)
    held = Held(page, "**/pairs?*offset=200*")
    with page.expect_request(held.pattern):
        page.locator(".pair-list").press("End")
    with page.expect_response("**/pairs?*offset=0*"):
        page.keyboard.press("u")  # there is nothing to undo, but the list is fetched again
    held.let_go()
    expect(title(page)).to_have_text("Pair 250")


def test_a_key_waits_for_pairs_that_are_on_their_way(page, server):
    begin(page, server, "Key and scrolling", count=250)
    held = Held(page, "**/pairs?*offset=200*")
    with page.expect_request(held.pattern):
        page.locator(".pair-list").evaluate("(list) => { list.scrollTop = list.scrollHeight }")
    page.locator(".pair-list").press("End")
    held.let_go()
    expect(title(page)).to_have_text("Pair 250")


def test_keys_add_up_while_pairs_are_on_their_way(page, server):
    project = server.create([pair(n) for n in range(250)], name="Three steps")
    held = Held(page, "**/pairs?*offset=100*")
    open_project(page, server, project, "&pair=100&at=90")
    expect(title(page)).to_have_text("Pair 100")
    for _ in range(3):
        page.keyboard.press("j")
    held.let_go()
    expect(title(page)).to_have_text("Pair 103")


def test_the_last_choice_counts(page, server):
    begin(page, server, "Last choice", count=250)
    page.wait_for_load_state("networkidle")  # the list is not fetched again soon
    held = Held(page, "**/pairs?*offset=200*")
    with page.expect_request(held.pattern):
        page.locator(".pair-list").press("End")
    page.locator(".row").nth(2).click()
    expect(title(page)).to_have_text("Pair 3")
    held.let_go()
    page.evaluate("fetch('readyz').then((answer) => answer.text())")  # the page has dealt with earlier answers then
    press(page, "j", 4)


@pytest.mark.parametrize(("key", "then"), [("a", 3), ("s", 3), ("u", 1)])
def test_a_late_answer_does_not_replace_the_pair_of_a_later_key(page, server, key, then):
    begin(page, server, f"Late answer {key}", count=250)
    press(page, "a", 2)
    saved(page)
    page.wait_for_load_state("networkidle")
    held = Held(page, "**/pairs?*offset=200*")
    with page.expect_request(held.pattern):
        page.locator(".pair-list").press("End")
    press(page, key, then)
    held.let_go()
    page.evaluate("fetch('readyz').then((answer) => answer.text())")
    press(page, "j", then + 1)


def test_a_step_after_another_key_counts_although_both_answers_are_late(page, server):
    begin(page, server, "Two late answers", count=250)
    page.wait_for_load_state("networkidle")
    following, end = Held(page, "**/next*"), Held(page, "**/pairs?*offset=200*")
    with page.expect_request(following.pattern):
        page.keyboard.press("s")
    with page.expect_request(end.pattern):
        page.locator(".pair-list").press("End")
    following.let_go()
    end.let_go()
    expect(title(page)).to_have_text("Pair 250")


def test_the_chosen_pair_stays_while_somebody_types_a_search(page, server):
    begin(page, server, "Typing", count=20)
    page.locator(".row").nth(2).click()
    expect(title(page)).to_have_text("Pair 3")
    name = pair(2)[0].split()[0]
    held = Held(page, "**/pairs?*q=*")
    for letter in name[:2]:
        with page.expect_request(held.pattern):
            page.get_by_label("Search", exact=True).press(letter)
    held.let_go()
    expect(page.locator(".list-total")).to_have_text(re.compile("of 20 pairs"))
    expect(page.locator(".row[aria-selected=true]")).to_contain_text("#3")
    expect(title(page)).to_have_text("Pair 3")


# --- several people -------------------------------------------------------------------------------


def test_two_reviewers(browser, server):
    project = server.create([pair(n) for n in range(6)], name="Two", votes_needed=2)
    with page_of(browser, server) as meera, page_of(browser, server, reviewer="Ravi Ünal") as ravi:
        open_project(meera, server, project)
        expect(title(meera)).to_have_text("Pair 1")
        open_project(ravi, server, project)
        expect(title(ravi)).to_have_text("Pair 2")  # the first is claimed
        expect(ravi.locator(".row").first).to_contain_text("Meera")
        ravi.locator(".row").first.click()
        expect(ravi.locator(".claim")).to_have_text("Meera is looking at this pair")
        press(meera, "a", 3)  # Ravi has looked at the second pair and holds it still
        saved(meera)
        ravi.reload()
        expect(title(ravi)).to_have_text("Pair 1")
        expect(ravi.locator(".people")).to_be_hidden()  # Meera's vote is hidden until Ravi has decided
        ravi.keyboard.press("r")
        expect(title(ravi)).not_to_have_text("Pair 1")
        saved(ravi)
        ravi.locator(".row").first.click()
        expect(ravi.locator(".people")).to_contain_text("Disputed")
        expect(ravi.locator(".votes")).to_contain_text("by Meera")
        ravi.get_by_role("button", name="More about").click()
        ravi.get_by_role("button", name="Agreement").click()
        expect(ravi.get_by_role("table").first).to_contain_text("Meera and Ravi Ünal")


# --- files out and in -----------------------------------------------------------------------------


def test_export_and_import(page, server, tmp_path):
    pairs = [pair(n) for n in range(8)]
    first = server.create(pairs, name="First")
    open_project(page, server, first)
    expect(title(page)).to_have_text("Pair 1")
    press(page, "a", 2)
    press(page, "r", 3)
    saved(page)
    page.get_by_role("button", name="Export").click()
    dialog = page.get_by_role("dialog")
    with page.expect_download() as download:
        dialog.get_by_role("link", name="Download").click()
    download.value.save_as(tmp_path / "all.xlsx")
    dialog.get_by_label("Accepted pairs only (1)").check()
    dialog.get_by_label("Format").select_option("csv")
    with page.expect_download() as download:
        dialog.get_by_role("link", name="Download").click()
    download.value.save_as(tmp_path / "accepted.csv")
    lines = (tmp_path / "accepted.csv").read_text(encoding="utf-8-sig").splitlines()
    assert len(lines) == 2
    second = server.create(pairs, name="Second")
    open_project(page, server, second)
    page.get_by_role("button", name="Export").click()
    dialog.get_by_label("File with decisions").set_input_files(tmp_path / "all.xlsx")
    dialog.get_by_role("button", name="Import decisions").click()
    expect(dialog.get_by_role("status")).to_contain_text("2 decisions imported")
    assert statuses(server, second) == {1: "accepted", 2: "rejected"}


def test_delete_a_project(page, server):
    project = server.create([pair(1)], name="To delete")
    open_project(page, server, project)
    page.get_by_role("button", name="More about").click()
    page.get_by_role("button", name="Delete the project").click()
    page.get_by_label("Type the name").fill("Something else")
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_role("alert").filter(has_text="does not match")).to_be_visible()
    page.get_by_label("Type the name").fill("To delete")
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_role("heading", name="Projects")).to_be_visible()
    assert "error" in server.get(project)


def test_sign_in(browser, tmp_path):
    server = PageServer(tmp_path, API_KEY="a-key-of-some-length")
    server.start()
    with page_of(browser, server) as page:
        page.watch.errors = Ignored()  # the browser reports every 401
        page.get_by_label("Key", exact=True).fill("another key")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert").filter(has_text="not right")).to_be_visible()
        page.get_by_label("Key", exact=True).fill("a-key-of-some-length")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_text("No projects yet")).to_be_visible()
        page.reload()
        expect(page.get_by_text("No projects yet")).to_be_visible()
        page.get_by_label("Question").fill(pair(1)[0])
        page.get_by_label("Paraphrases").fill(pair(1)[1])
        page.get_by_role("button", name="Check", exact=True).click()
        page.get_by_role("button", name="More about").click()
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_label("Key", exact=True)).to_be_visible()
    server.stop()


# --- for everybody --------------------------------------------------------------------------------


def test_html_in_texts_is_shown_and_not_run(page, server):
    question = f"{HOSTILE} Tom has 5 pens and buys 3. How many pens has he?"
    project = server.create([(question, question.replace("5", "6"))], name=HOSTILE)
    open_project(page, server, project)
    expect(page.locator(".texts")).to_contain_text("<script>")
    expect(page.locator(".project-name")).to_have_text(HOSTILE)
    assert page.locator("main img, main script").count() == 0
    page.goto(server.address)
    expect(page.get_by_text(HOSTILE).first).to_be_visible()
    assert page.title() == "paraqd"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_fault_for_assistive_technology(browser, server, scheme):
    project = server.create([pair(n) for n in range(12)], name=f"Accessible {scheme}", review=[-0.5, 0.4])
    with page_of(browser, server, color_scheme=scheme) as page:
        expect(page.locator(".project").first).to_be_visible()
        assert accessibility_faults(page) == []
        open_project(page, server, project)
        expect(title(page)).to_have_text("Pair 1")
        press(page, "a", 2)
        press(page, "k", 1)
        saved(page)
        page.evaluate("document.querySelectorAll('.toast').forEach((toast) => toast.remove())")
        assert accessibility_faults(page) == []
        page.keyboard.press("?")
        assert accessibility_faults(page) == []
        page.keyboard.press("Escape")
        for name in ("Decide all", "Export"):
            page.get_by_role("button", name=name).click()
            assert accessibility_faults(page) == []
            page.keyboard.press("Escape")


def test_phone(browser, server):
    project = server.create([pair(n) for n in range(12)], name="A long name of a project, as people write them")
    with page_of(browser, server, viewport=PHONE, has_touch=True, is_mobile=True) as page:
        width = "document.documentElement.scrollWidth"
        expect(page.locator(".project").first).to_be_visible()
        assert page.evaluate(width) <= 360
        open_project(page, server, project)
        assert page.evaluate(width) <= 360
        page.locator(".row").nth(1).tap()
        expect(title(page)).to_have_text("Pair 2")
        assert page.evaluate(width) <= 360
        page.locator("mark.ev").first.tap()
        expect(page.get_by_role("tooltip")).to_be_visible()
        page.get_by_role("button", name="Reject").tap()
        expect(title(page)).to_have_text("Pair 3")
        saved(page)
        page.get_by_role("button", name="List").tap()
        expect(page.locator(".row").nth(1)).to_contain_text("Rejected")
        page.locator(".row").nth(4).tap()
        page.go_back()
        expect(page.locator(".row").first).to_be_visible()
        assert accessibility_faults(page) == []


def test_suggested_paraphrases(browser, server, tmp_path):
    pytest.importorskip("spacy", reason="the extra augment is not installed")
    question = "Lena reads 15 pages a day. How many pages does she read in 8 days?"
    bad = "Lena reads 16 pages a day. How many pages does she read in 8 days?"
    project = server.create([(question, bad)], name="Suggestions")
    with page_of(browser, server) as page:
        open_project(page, server, project)
        expect(page.get_by_role("button", name="Suggest paraphrases")).to_be_visible()
        assert accessibility_faults(page) == []
        page.keyboard.press("p")
        dialog = page.get_by_role("dialog", name="Suggested paraphrases")
        expect(dialog.get_by_role("status")).to_have_text(
            "5 suggestions.", timeout=240_000
        )  # the rules are loaded first
        expect(dialog.locator(".suggestions > li")).to_have_count(5)
        expect(dialog.locator(".suggestions > li").first).to_contain_text("Score 0.")
        assert accessibility_faults(page) == []
        first = dialog.locator(".suggestion-text").first.text_content()
        dialog.get_by_role("button", name="Use").first.click()
        expect(dialog.locator(".suggestion-actions").first).to_contain_text("Added as pair 2. You accepted it.")
        expect(dialog.get_by_role("button", name="Use").first).to_be_disabled()
        dialog.get_by_role("button", name="Other suggestions").click()
        expect(dialog.locator(".suggestion-text").first).not_to_have_text(first)
        page.keyboard.press("Escape")
        expect(page.locator(".row")).to_have_count(2)
        expect(page.locator(".row").last).to_contain_text("0.")  # it was scored in the background
        page.keyboard.press("j")
        expect(title(page)).to_have_text("Pair 2")
        expect(page.locator(".people")).to_contain_text("You accepted it.")
    assert statuses(server, project) == {2: "accepted"}
    exported = httpx.get(f"{server.address}/v1/projects/{project}/export", params={"format": "jsonl"}).text
    assert first in exported.splitlines()[1]


def test_a_server_without_paraphrases_offers_none(browser, tmp_path):
    server = PageServer(tmp_path, PARAPHRASE_SOURCE="none")
    server.start()
    try:
        project = server.create([pair(0)])
        with page_of(browser, server) as page:
            open_project(page, server, project)
            expect(title(page)).to_have_text("Pair 1")
            expect(page.get_by_role("button", name="Suggest paraphrases")).to_be_hidden()
            page.keyboard.press("p")
            page.keyboard.press("a")
            saved(page)
            assert page.get_by_role("dialog").count() == 0
    finally:
        server.stop()
