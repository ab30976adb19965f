"""Make the pictures of the editor's guide again: ``python docs/guide_pictures.py [FOLDER]``.

It runs the commands of the guide on a small invented workbook, opens the results in Chromium, and takes pictures.
"""

from __future__ import annotations

import html
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "server"), str(ROOT / "src")]
from browser import open_browser  # noqa: E402
from page_server import PageServer  # noqa: E402

WIDE = {"width": 1280, "height": 800}
LIMIT = 250_000  # bytes of a picture
HEADER = ("Id", "Question", "V1", "V2", "Author")
PROBLEMS = (
    (
        "Meera has 36 stickers. She gives 9 of them to Ravi. How many stickers does she have left?",
        "Meera hands 9 of her 36 stickers to Ravi. How many stickers remain with her?",
        "Meera has 36 stickers. She gives 6 of them to Ravi. How many stickers does she have left?",
    ),
    (
        "A baker packs 48 rolls into bags of 6. How many bags does the baker need?",
        "If 6 rolls fit into one bag, how many bags does a baker need for 48 rolls?",
        "A baker packs 48 rolls into bags of 6.",
    ),
    (
        "Tom walks 3 km to school every morning and the same way back. How far does he walk in 5 days?",
        "On each of 5 days, Tom walks 3 km to school and 3 km home again. How far does he walk in all?",
        "Tom walks 3 miles to school every morning and the same way back. How far does he walk in 5 days?",
    ),
    (
        "A notebook costs $4 and a pen costs $2 less. How much do both cost together?",
        "A pen is $2 cheaper than a notebook, which costs $4. What do the two cost together?",
        "A notebook costs $4 and a pen costs $2 more. How much do both cost together?",
    ),
    (
        "A farm has 24 hens and twice as many ducks. How many birds are there?",
        "There are 24 hens on a farm, and the ducks are twice as many. How many birds live there?",
        "A farm has 24 hens and twice as many ducks. How many ducks are there?",
    ),
    (
        "Lena reads 15 pages a day. How many days does she need for a book of 180 pages?",
        "A book has 180 pages. If Lena reads 15 of them each day, after how many days has she finished?",
        "Lena reads 15 pages a day. How many pages does she read in 180 days?",
    ),
    (
        "Omar saves $12 each week. How much has he saved after 8 weeks?",
        "Every week, Omar puts $12 into his money box. How much is in it after 8 weeks?",
        "Omar saves $12 each week. How much has Kofi saved after 8 weeks?",
    ),
    (
        "A train leaves at 9:15 and arrives at 11:45. How long does the journey take?",
        "How long is the journey of a train that leaves at 9:15 and arrives at 11:45?",
        "A train leaves at 9:15 and arrives at 12:45. How long does the journey take?",
    ),
    (
        "Three friends share 27 apples equally. How many apples does each friend get?",
        "27 apples are shared equally among three friends. How many does each of them get?",
        "Three friends share 27 apples. How many apples does each friend get if one of them takes 9?",
    ),
    (
        "A tank holds 60 litres. It is filled with 4 litres each minute. After how many minutes is it full?",
        "Water flows into a tank of 60 litres at 4 litres a minute. How many minutes pass until it is full?",
        "A tank holds 60 litres. It is filled with 4 litres each hour. After how many minutes is it full?",
    ),
)


def make_book(path: Path) -> None:
    """Write the workbook with which the guide begins."""
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(list(HEADER))
    for number, texts in enumerate(PROBLEMS, start=1):
        book.active.append([f"G4-{number:02}", *texts, "Nair" if number % 2 else "Weber"])
    book.save(path)


def sheet_page(path: Path, widths: dict[str, int], rows: int) -> str:
    """Return a page that shows some columns of a worksheet as a spreadsheet program does."""
    import openpyxl

    sheet = openpyxl.load_workbook(path).worksheets[0]
    names = [str(cell.value) for cell in sheet[1]]
    chosen = sorted((names.index(name), width) for name, width in widths.items() if name in names)
    letters = "".join(f"<th>{openpyxl.utils.get_column_letter(index + 1)}</th>" for index, _ in chosen)
    body = []
    for number, row in enumerate(sheet.iter_rows(min_row=1, max_row=rows + 1), start=1):
        cells = "".join(_cell(row[index], head=number == 1) for index, _ in chosen)
        body.append(f"<tr><th>{number}</th>{cells}</tr>")
    columns = "".join(f'<col style="width:{width}px">' for width in [36, *(width for _, width in chosen)])
    return f"""<!doctype html><meta charset="utf-8"><style>
      body {{ margin: 0; font: 13px/1.35 "Liberation Sans", Arial, sans-serif; }}
      table {{ border-collapse: collapse; table-layout: fixed; width: {36 + sum(width for _, width in chosen)}px; }}
      th {{ background: #f1f1f1; color: #555; font-weight: 400; }}
      th, td {{ border: 1px solid #d5d5d5; padding: 3px 6px; vertical-align: top; overflow: hidden; }}
    </style><table><colgroup>{columns}</colgroup><tr><th></th>{letters}</tr>{"".join(body)}</table>"""


def _cell(cell: Any, *, head: bool) -> str:
    """Return a cell with its colour."""
    value = "" if cell.value is None else f"{cell.value:.2f}" if isinstance(cell.value, float) else str(cell.value)
    filled = cell.fill.fill_type == "solid" and isinstance(cell.fill.fgColor.rgb, str)
    style = f' style="background:#{cell.fill.fgColor.rgb[-6:]}"' if filled else ""
    return f"<td{style}>{'<b>' if head else ''}{html.escape(value)}</td>"


def picture(target: Any, path: Path, **options: Any) -> None:
    """Take a picture of a page or an element."""
    target.screenshot(path=path, animations="disabled", **options)
    assert path.stat().st_size < LIMIT, f"{path.name} is too large"


def command_line_pictures(browser: Any, folder: Path, work: Path) -> None:
    """Run the command of the guide, and show the sheet and the report that it makes."""
    command = ["score", "book.xlsx", "-o", "scored.xlsx", "--paraphrase-column", "V*", "--review"]
    subprocess.run(
        [sys.executable, "-m", "paraqd", *command, "--report", "report.html", "--quiet"], cwd=work, check=True
    )
    page = browser.new_page(viewport=WIDE)
    page.set_content(
        sheet_page(
            work / "scored.xlsx",
            {"Id": 60, "Question": 270, "V1": 210, "V2": 210, "paraphrase_column": 128, "score": 52}
            | {"valid": 60, "decision": 72, "why": 240},
            8,
        )
    )
    picture(page.locator("table"), folder / "guide-scored.png")
    page.goto((work / "report.html").as_uri())
    page.wait_for_timeout(1500)
    picture(page, folder / "guide-report.png")
    page.close()


def review_pictures(browser: Any, server: PageServer, folder: Path, work: Path) -> None:
    """Go through the review page as the guide does."""
    context = browser.new_context(viewport=WIDE)
    page = context.new_page()
    page.goto(server.address)
    page.wait_for_selector(".projects p, .project")
    picture(page, folder / "guide-start.png")
    page.get_by_label("Choose a file").set_input_files(work / "book.xlsx")
    page.get_by_label("Your name").fill("Meera Nair")
    picture(page, folder / "guide-name.png")
    page.get_by_role("button", name="Continue").click()
    page.wait_for_selector(".scoring", state="hidden", timeout=120_000)
    page.wait_for_selector(".pair-name h2")
    for key in "arar":
        number = page.locator(".pair-name h2").inner_text()
        page.keyboard.press(key)
        page.wait_for_function("(old) => document.querySelector('.pair-name h2').textContent !== old", arg=number)
    page.locator(".row[data-n='6']").click()
    page.wait_for_timeout(400)
    picture(page, folder / "guide-review.png")
    page.locator("mark.ev").first.hover()
    page.get_by_role("tooltip").wait_for()
    picture(page.locator(".pair-panel"), folder / "guide-evidence.png")
    page.mouse.move(5, 5)
    page.locator(".chip-invalid").click()
    page.locator(".chip-open").click()
    page.wait_for_timeout(600)
    page.get_by_role("button", name="Decide all").click()
    picture(page, folder / "guide-bulk.png")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Clear filters").click()
    picture(page.locator(".list-tools"), folder / "guide-threshold.png")
    page.get_by_role("button", name="Export").click()
    picture(page, folder / "guide-export.png")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    download.value.save_as(work / "reviewed.xlsx")
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.emulate_media(color_scheme="dark")
    picture(page, folder / "review-dark.png")
    page.emulate_media(color_scheme="light")
    picture(page, folder / "review.png")
    address = page.url
    page.goto(server.address)
    page.wait_for_selector(".project")
    picture(page, folder / "start.png")
    phone = browser.new_context(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    phone.add_init_script("localStorage.setItem('paraqd.reviewer', 'Meera Nair')")
    small = phone.new_page()
    small.goto(address)
    small.wait_for_selector("mark.ev")
    picture(small, folder / "review-phone.png")
    phone.close()
    context.close()
    page = browser.new_page(viewport=WIDE)
    page.set_content(
        sheet_page(
            work / "reviewed.xlsx",
            {"Id": 60, "Question": 240, "V1": 220, "V2": 220, "paraphrase_column": 128, "score": 52}
            | {"decision": 72, "status": 80},
            8,
        )
    )
    picture(page.locator("table"), folder / "guide-reviewed.png")
    page.close()


def main(folder: Path) -> None:
    """Make all pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made, open_browser() as browser:
        work = Path(made)
        make_book(work / "book.xlsx")
        page = browser.new_page(viewport=WIDE)
        page.set_content(sheet_page(work / "book.xlsx", dict(zip(HEADER, (64, 330, 330, 330, 80), strict=True)), 6))
        picture(page.locator("table"), folder / "guide-book.png")
        page.close()
        server = PageServer(work, model="default")
        server.start()
        try:
            review_pictures(browser, server, folder, work)
        finally:
            server.stop()
        command_line_pictures(browser, folder, work)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else ROOT / "docs" / "images")
