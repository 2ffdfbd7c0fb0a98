from __future__ import annotations

import pytest
from tools.pages.imports import diagram, part_of, reduced, with_picture


def test_an_import_that_follows_from_others_is_left_out() -> None:
    assert reduced({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == {"a": {"b"}, "b": {"c"}, "c": set()}
    assert reduced({"a": {"b", "d"}, "b": {"c"}, "c": {"d"}})["a"] == {"b"}


def test_a_part_is_a_folder_or_a_module_of_the_package() -> None:
    assert part_of("assay_broker", "assay_broker.core.core") == "core"
    assert part_of("assay_broker", "assay_broker.shell") == "shell"
    assert part_of("assay_broker", "assay_broker") == part_of("assay_broker", "assay_sdk.time") == ""


def test_a_part_without_imports_is_shown() -> None:
    assert diagram({"a": {"b"}, "b": set(), "c": set()}) == "```mermaid\nflowchart TD\n    a --> b\n    c\n```\n"


def test_a_picture_replaces_the_one_behind_its_mark() -> None:
    page = "# x\n\n<!-- drawn from imports: one -->\n```mermaid\nold\n```\n\nmore\n"
    assert with_picture(page, "one", "```mermaid\nnew\n```\n") == page.replace("old", "new")
    with pytest.raises(ValueError, match="no picture with the mark two"):
        with_picture(page, "two", "")
