"""The page /docs works in a real browser, with the server's security headers and without another site."""

import shutil

import pytest
from server_process import KEY

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
OPTIONS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_the_page_shows_the_interface_and_sends_requests(start):
    server = start(environment={"PARAQD_SERVE_API_KEY": KEY})
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        page = browser.new_page()
        noted, asked = [], []
        page.on("console", lambda message: noted.append(message.text))
        page.on("pageerror", lambda error: noted.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{server.url}/docs")
        page.locator("details", has_text="/v1/score/batch").wait_for()
        assert noted == []
        score = page.locator("details").first
        score.locator("summary").click()
        page.get_by_label("API key").fill(KEY)
        score.get_by_role("button", name="Send").click()
        answer = score.locator("pre", has_text="200 OK")
        answer.wait_for()
        assert "verdicts" in answer.inner_text()
        assert all(url.startswith((server.url, "data:")) for url in asked)
        browser.close()
