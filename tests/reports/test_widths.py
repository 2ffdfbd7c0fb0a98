"""Tests of the pages in a real browser at the widths of a telephone and of a wide window."""

from __future__ import annotations

import json
import re
import shutil
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from tests.reports.failing import failing
from tests.reports.test_axe import chromium, found_browser

from assay_reports import render_site

pytestmark = pytest.mark.chromium

# Chromium has no window narrower than 500 pixels, so the page is in a frame.  A page from a file may not read another
# page, so the page measures itself and reports.
MEASURE = """<script>
addEventListener("load", () => {
  const shown = (box) => getComputedStyle(box, "::before").display !== "none";
  const within = (line) => {
    const place = line.getBoundingClientRect(), drawing = line.ownerSVGElement.getBoundingClientRect();
    return place.left >= Math.max(0, drawing.left) && place.right <= Math.min(innerWidth, drawing.right);
  };
  const boxes = [...document.querySelectorAll(".scroll")].filter((box) => box.clientWidth);
  const lines = [...document.querySelectorAll("details[open] line.due, details[open] svg.breaks .halo")];
  parent.postMessage(JSON.stringify({
    wider: document.documentElement.scrollWidth - innerWidth,
    width: innerWidth,
    height: document.documentElement.scrollHeight,
    clipped: boxes.filter((box) => box.scrollWidth > box.clientWidth).length,
    silent: boxes.filter((box) => shown(box) !== box.scrollWidth > box.clientWidth).length,
    marks: lines.length,
    within: lines.filter(within).length,
  }), "*");
});
</script></body>"""
FRAME = """<!doctype html><title>frame</title><body style="margin:0">
<script>addEventListener("message", (told) => {{
  const found = document.createElement("pre");
  found.id = "told";
  found.textContent = told.data;
  document.body.append(found);
}});</script>
<iframe src="{name}" style="border:0;width:{width}px;height:900px"></iframe></body>"""


@pytest.fixture(scope="module")
def browser() -> str:
    return found_browser()


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return render_site([failing()], tmp_path_factory.mktemp("out") / "report").parent


def measured(site: Path, name: str, width: int, browser: str, folder: Path, *, scripts: bool = True) -> dict[str, Any]:
    copy = folder / "site"
    shutil.copytree(site, copy)
    page = copy / name
    text = page.read_text(encoding="utf-8").replace("</body>", MEASURE)
    page.write_text(text, encoding="utf-8")
    if not scripts:
        (copy / "report.js").unlink()
    frame = page.parent / "frame.html"
    frame.write_text(FRAME.format(name=page.name, width=width), encoding="utf-8")
    dumped = chromium(browser, folder / "profile", frame, "--window-size=1600,1200", "--dump-dom")
    told = re.search(r'<pre id="told">(.*?)</pre>', dumped, re.DOTALL)
    assert told, "the page told nothing"
    result: dict[str, Any] = json.loads(unescape(told[1]))
    assert result["width"] == width
    return result


@pytest.mark.parametrize("width", [320, 390, 1440])
@pytest.mark.parametrize("name", ["index.html", "rules/DD-02.html"])
def test_a_page_fits_and_its_tables_say_where_they_clip(
    failed: Path, browser: str, tmp_path: Path, name: str, width: int
) -> None:
    found = measured(failed, name, width, browser, tmp_path)
    assert found["wider"] == 0
    assert found["silent"] == 0


def test_without_scripts_a_narrow_window_still_says_that_tables_scroll(
    failed: Path, browser: str, tmp_path: Path
) -> None:
    found = measured(failed, "rules/DD-02.html", 320, browser, tmp_path, scripts=False)
    assert found["clipped"] > 0
    assert found["silent"] == 0


@pytest.mark.parametrize("width", [320, 390])
def test_the_matrix_fits_a_phone(site: Path, browser: str, tmp_path: Path, width: int) -> None:
    found = measured(site, "matrix.html", width, browser, tmp_path)
    assert found["wider"] == 0
    assert found["silent"] == 0


@pytest.mark.parametrize("width", [320, 1440])
def test_the_time_line_shows_the_due_line_and_what_breaks_the_rule(
    failed: Path, browser: str, tmp_path: Path, width: int
) -> None:
    found = measured(failed, "rules/DD-02.html", width, browser, tmp_path)
    assert found["marks"] == found["within"] == 2


@pytest.mark.parametrize("name", ["index.html", "matrix.html", "backends/artemis--assay-sdk-0-1-0-classic.html"])
def test_at_1440_pixels_nothing_clips(site: Path, browser: str, tmp_path: Path, name: str) -> None:
    assert measured(site, name, 1440, browser, tmp_path)["clipped"] == 0


def test_a_page_of_33_failures_of_two_causes_is_short(failed: Path, browser: str, tmp_path: Path) -> None:
    found = measured(failed, "rules/DD-02.html", 1440, browser, tmp_path)
    assert found["height"] < 6_000
