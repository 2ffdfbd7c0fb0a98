from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from assay_broker.mqsc.lines import Position, Remark, SourceCommand, source_commands


def only(script: str) -> SourceCommand:
    (command,) = (item for item in source_commands(script) if isinstance(item, SourceCommand))
    return command


def texts(script: str) -> list[str]:
    return [item.text for item in source_commands(script) if isinstance(item, SourceCommand)]


def test_each_line_is_a_command() -> None:
    assert texts("DIS QMGR\n  DIS Q(*)\n") == ["DIS QMGR", "DIS Q(*)"]


def test_comments_and_blank_lines_are_none() -> None:
    items = list(source_commands("* comment\n\n   \nDIS QMGR\n"))
    assert [type(item) for item in items] == [Remark, Remark, Remark, SourceCommand]


def test_an_asterisk_makes_a_comment_in_the_first_column_only() -> None:
    assert texts(" * no comment\n") == ["* no comment"]


def test_plus_goes_on_at_the_next_lines_first_character() -> None:
    assert only("DEF QL(A) DESCR('one +  \n     two')").text == "DEF QL(A) DESCR('one two')"


def test_minus_goes_on_at_the_next_lines_first_column() -> None:
    assert only("DEF QL(A) DESCR('one-\n  two')").text == "DEF QL(A) DESCR('one  two')"


def test_comments_and_blank_lines_within_a_command_are_left_out() -> None:
    command = only("DEF QL(A) +\n* comment\n\n  PUT(DISABLED)")
    assert command.text == "DEF QL(A) PUT(DISABLED)"
    assert len(command.lines) == 4


def test_a_command_goes_on_to_the_end_of_the_script() -> None:
    assert only("DEF QL(A) +\n").text == "DEF QL(A) "


def test_a_semicolon_ends_a_command_even_after_a_plus() -> None:
    assert texts("DIS QMGR +\n;\nDIS Q(*)") == ["DIS QMGR ", "DIS Q(*)"]
    assert texts("DIS QMGR;\nDIS Q(*) ; +\n") == ["DIS QMGR", "DIS Q(*) "]


def test_a_semicolon_in_quotes_ends_nothing() -> None:
    assert only("DEF QL(A) DESCR('a;b +\n;c')").text == "DEF QL(A) DESCR('a;b ;c')"


def test_nothing_follows_a_semicolon() -> None:
    fault = only("DIS QMGR; DIS Q(*)").fault
    assert fault is not None
    assert fault.at == Position(1, 11)


def test_a_line_has_2048_characters_at_most() -> None:
    assert only("A" * 2_048).fault is None
    fault = only("A" * 2_049).fault
    assert fault is not None
    assert fault.at == Position(1, 2_049)


def test_a_command_of_many_lines_is_limited_too() -> None:
    fault = only(("A" * 1_000 + " +\n") * 40).fault
    assert fault is not None
    assert "32762" in fault.text


def test_lines_may_end_as_on_windows() -> None:
    assert texts("DIS QMGR +\r\n ALL\r\n") == ["DIS QMGR ALL"]


def test_a_character_is_found_again_in_the_script() -> None:
    command = only("* comment\n   DEF QL(A) +\n* comment\n     DESCR('one-\n two')")
    assert command.position(command.text.index("QL")) == Position(2, 8)
    assert command.position(command.text.index("DESCR")) == Position(4, 6)
    assert command.position(command.text.index("two")) == Position(5, 2)


@settings(deadline=None)  # a busy machine causes no failure
@given(st.text("AB '();+-*\n\r\t", max_size=300))
def test_every_line_is_in_exactly_one_item(script: str) -> None:
    lines: list[str] = []
    for item in source_commands(script):
        lines.extend([item.line] if isinstance(item, Remark) else item.lines)
    expected = script.split("\n")
    if not expected[-1]:
        expected.pop()
    assert lines == [line.removesuffix("\r") for line in expected]
