"""Tests of the pages in a real browser: no serious findings of axe-core; they also take screenshots for review."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tarfile
from html import unescape
from pathlib import Path
from typing import NoReturn

import pytest

pytestmark = pytest.mark.chromium

AXE = "axe-core@4.14.1"
PAGES = (
    "index.html",
    "matrix.html",
    "rules/DD-02.html",
    "rules/QS-06.html",
    "rules/DD-42.html",
    "backends/artemis--assay-sdk-0-1-0-classic.html",
)
LOOKS = {
    "light": ("--window-size=1280,1600", "--blink-settings=preferredColorScheme=1"),
    "dark": ("--window-size=1280,1600", "--blink-settings=preferredColorScheme=0"),
    "phone": ("--window-size=390,1600", "--blink-settings=preferredColorScheme=1"),
}
# Chromium only turns a file into text or a picture: without network, profile and GPU.
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--virtual-time-budget=30000",
)
RUN_AXE = """
<script src="axe.min.js"></script>
<script>
for (const fold of document.querySelectorAll("details")) fold.open = true;
axe.run(document, {resultTypes: ["violations"]}).then((result) => {
  const found = document.createElement("pre");
  found.id = "axe";
  const brief = (rule) => [rule.id, rule.impact, ...rule.nodes.map((node) => node.html.slice(0, 200))];
  found.textContent = JSON.stringify({passes: result.passes.length, violations: result.violations.map(brief)});
  document.body.append(found);
});
</script>
</body>"""


def absent(reason: str) -> NoReturn:
    """Skip the test, or fail it if ASSAY_REQUIRE names chromium."""
    if "chromium" in os.environ.get("ASSAY_REQUIRE", "").split(","):
        pytest.fail(f"ASSAY_REQUIRE names chromium, but {reason}")
    pytest.skip(reason)


def found_browser() -> str:
    """Return the browser's program; skip or fail the test if it is missing."""
    found = shutil.which("chromium")
    return found or absent("there is no chromium; install your system's package of that name")


@pytest.fixture(scope="module")
def browser() -> str:
    return found_browser()


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    npm = shutil.which("npm") or absent("there is no npm, which fetches axe-core")
    folder = tmp_path_factory.mktemp("axe")
    got = subprocess.run([npm, "pack", "--silent", AXE], cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603 - npm on a fixed name
    if got.returncode:
        absent(f"npm could not fetch {AXE}: {got.stderr.strip()[-200:]}")
    with tarfile.open(folder / got.stdout.split()[-1]) as package:
        content = package.extractfile("package/axe.min.js")
        assert content is not None
        (folder / "axe.min.js").write_bytes(content.read())
    return folder / "axe.min.js"


def chromium(browser: str, profile: Path, page: Path, *flags: str) -> str:
    command = [browser, *FLAGS, f"--user-data-dir={profile}", *flags, page.as_uri()]
    done = subprocess.run(command, capture_output=True, check=True, timeout=120)  # noqa: S603 - a browser on our own page
    return done.stdout.decode()


@pytest.fixture
def copied(site: Path, tmp_path: Path) -> Path:
    """Provide a copy of the site, into which tests put scripts."""
    copy = tmp_path / "site"
    shutil.copytree(site, copy)
    return copy


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(copied: Path, axe: Path, browser: str, name: str, look: str) -> None:
    page = copied / name
    shutil.copy(axe, page.parent / "axe.min.js")
    page.write_text(page.read_text(encoding="utf-8").replace("</body>", RUN_AXE), encoding="utf-8")
    dumped = chromium(browser, copied / "profile", page, *LOOKS[look], "--dump-dom")
    found = re.search(r'<pre id="axe">(.*?)</pre>', dumped, re.DOTALL)
    assert found, "axe-core gave no result"
    result = json.loads(unescape(found[1]))
    assert result["passes"] > 0
    assert result["violations"] == []


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", PAGES[:3])
def test_no_page_is_wider_than_its_window(copied: Path, browser: str, name: str, look: str) -> None:
    page = copied / name
    probe = "<script>document.title = document.documentElement.scrollWidth - innerWidth</script></body>"
    page.write_text(page.read_text(encoding="utf-8").replace("</body>", probe), encoding="utf-8")
    dumped = chromium(browser, copied / "profile", page, *LOOKS[look], "--dump-dom")
    title = re.search(r"<title>(.*?)</title>", dumped)
    assert title
    assert title[1] == "0"


def test_the_filter_hides_rows_and_counts_what_is_left(copied: Path, browser: str) -> None:
    page = copied / "index.html"
    act = """<script defer>addEventListener("load", () => {
      const text = document.getElementById("filter-text");
      text.value = "never early";
      text.dispatchEvent(new Event("input", {bubbles: true}));
    })</script></body>"""
    page.write_text(page.read_text(encoding="utf-8").replace("</body>", act), encoding="utf-8")
    dumped = chromium(browser, copied / "profile", page, "--dump-dom")
    assert '<p class="quiet" id="filter-count" role="status">1 of 12 rules</p>' in dumped


@pytest.mark.parametrize("look", LOOKS)
def test_pictures_are_taken_for_a_person(site: Path, browser: str, tmp_path: Path, look: str) -> None:
    folder = Path(os.environ.get("ASSAY_PICTURES", tmp_path))
    for name in (*PAGES[:3], PAGES[-1]):
        picture = folder / f"{Path(name).stem}-{look}.png"
        chromium(browser, tmp_path / "profile", site / name, *LOOKS[look], f"--screenshot={picture}")
        assert picture.stat().st_size > 10_000
