"""The page of measures: complete, escaped, and legible in light and dark."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest
from tests.reports.test_escaping import HOSTILE

from assay_evidence.histories.measures import MEASURES_SCHEMA, Batches, FaultSpan, Lateness, Measures, Rate
from assay_reports import measures_page
from assay_reports.histories import measures as module

RUN = Measures(
    schema=MEASURES_SCHEMA,
    run="run-1",
    backend="acme",
    folder="soak-out",
    lateness=(
        Lateness("all delayed messages", 1000, (1.5, 2.5, 30.25, 400.0, 512.75)),
        Lateness("due near a fault", 10, (3.5, 4.5, 5.5, 6.5, 7.5)),
    ),
    rates=(Rate(0.0, 10.0, 9.0), Rate(1.0, 20.0, 0.0), Rate(2.0, 5.0, 41.5)),
    faults=(FaultSpan("kill", 0.7, 1.1, 0.9, 7), FaultSpan("cut", 2.0, None, None, 0)),
    batches=Batches(4, 1, 0.625),
    repeats={"after a fault, marked as redelivered": 7},
)


class Text(HTMLParser):
    """Collects the texts of a page, without style sheets."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: list[str] = []
        self._hidden = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.tags.append(tag)
        self._hidden = tag == "style"

    def handle_endtag(self, tag: str) -> None:
        del tag
        self._hidden = False

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.texts.append(data)


def test_each_figure_is_in_a_table() -> None:
    told = " ".join(Text(measures_page([RUN])).texts)
    for figure in (
        "30.25",
        "512.75",
        "41.5",
        "kill",
        "0.9",
        "62.5 %",
        "not in the journal",
        "4 batches, 1 of them full",
    ):
        assert figure in told


def test_each_plot_is_a_whole_svg_with_a_description_and_colours_of_the_page() -> None:
    plots = re.findall(r"<svg.*?</svg>", measures_page([RUN]), flags=re.DOTALL)
    assert len(plots) == 2
    for plot in plots:
        root = ET.fromstring(plot)  # noqa: S314 - our own text
        assert root.attrib["role"] == "img"
        assert root.attrib["aria-label"]
        assert "var(--ink)" in plot
        assert "#0101" not in plot
        assert "#000000" not in plot.replace("var(--ink)", "")


def test_the_page_is_the_same_each_time() -> None:
    assert measures_page([RUN]) == measures_page([RUN])


def test_a_run_without_delays_faults_and_batches_says_so() -> None:
    told = " ".join(Text(measures_page([Measures(MEASURES_SCHEMA, "r", "b", "f")])).texts)
    for sentence in ("No delayed message came", "No fault.", "No batches.", "No copy was received twice."):
        assert sentence in told


def test_hostile_texts_stay_texts() -> None:
    hostile = Measures(MEASURES_SCHEMA, HOSTILE, HOSTILE, HOSTILE, faults=(FaultSpan(HOSTILE, 0.0, 1.0, None, 0),))
    page = Text(measures_page([hostile]))
    assert not {"script", "img"} & set(page.tags)


def test_without_matplotlib_the_tables_remain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda _name: None)
    page = measures_page([RUN])
    assert "<svg" not in page
    assert "no plots, because the package matplotlib is not installed" in page
    assert "512.75" in page
