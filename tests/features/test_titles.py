from __future__ import annotations

from pathlib import Path

from assay_features.titles import titles

FEATURE = """Feature: f

  Scenario: A plain one
    Given a queue

  Rule: r

    Scenario Outline: A <mode> message has <field> "<value>" of <mode> kind
      Given a queue

      Examples:
        | mode       | of  | value | field |
        | persistent | "g" | 7     | size  |

      Examples: none yet
"""


def test_a_row_is_named_with_its_values_in_their_places_and_the_rest_in_brackets(tmp_path: Path) -> None:
    (tmp_path / "topic").mkdir()
    (tmp_path / "topic" / "one.feature").write_text(FEATURE, encoding="utf-8")
    row = 'topic/one.feature::A <mode> message has <field> "<value>" of <mode> kind[persistent, "g", 7, size]'
    assert dict(titles(tmp_path)) == {row: 'A persistent message has size "7" of persistent kind ("g")'}


def test_no_row_of_the_kit_keeps_a_place_without_a_value() -> None:
    assert titles()
    assert [title for title in titles().values() if "<" in title] == []
