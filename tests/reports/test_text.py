from __future__ import annotations

from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from assay_reports.text import slug, visible


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
