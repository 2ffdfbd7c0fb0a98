from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_reports.text import duration, seconds, slug, visible


@given(st.text(st.characters()))
def test_visible_text_is_permitted_in_xml_and_stays_so(text: str) -> None:
    element = ET.Element("a", b=visible(text))
    assert ET.fromstring(ET.tostring(element, encoding="utf-8")).attrib  # noqa: S314 - our own document
    assert visible(visible(text)) == visible(text)


@given(st.text())
def test_a_slug_is_fit_for_a_file_name_and_an_anchor(text: str) -> None:
    name = slug(text)
    assert name
    assert name.isascii()
    assert not set(name) & set("/\\. %#?\"'")


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 s"),
        (999, "999 ns"),
        (1_500, "1.5 µs"),
        (763_600_000, "763.6 ms"),
        (2_001_000_000, "2.001 s"),
        (90_000_000_000, "1.5 min"),
        (7_200_000_000_000, "2 h"),
        (-2_000_000, "-2 ms"),
        (36_000_000_000_000_000, "10000 h"),
    ],
)
def test_durations_are_written_for_people(ns: int, text: str) -> None:
    assert duration(ns) == text


def test_seconds_are_written_alike() -> None:
    assert seconds(2.4) == "2.4 s"
