"""State tables for pages: as a Mermaid diagram, and as a Markdown table with a row for each transition."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TypeVar

State = TypeVar("State", bound=Enum)
Input = TypeVar("Input", bound=Enum)
Action = TypeVar("Action", bound=Enum)


def diagram(table: Mapping[tuple[State, Input], tuple[State, Action]], start: State) -> str:
    """Return a state table as a Mermaid state diagram.

    Args:
        table: The mapping of (state, input) to (next state, action).
        start: The first state.
    """
    lines = ["```mermaid", "stateDiagram-v2", f"    [*] --> {start.name}"]
    arrows: dict[tuple[State, State], list[str]] = {}
    for (state, happened), (following, action) in table.items():
        arrows.setdefault((state, following), []).append(f"{_words(happened)} / {_words(action)}")
    lines += [
        f"    {state.name} --> {following.name}: {'<br>'.join(labels)}" for (state, following), labels in arrows.items()
    ]
    leaving = {state for state, _ in table}
    ends = dict.fromkeys(following for following, _ in table.values() if following not in leaving)
    lines += [f"    {end.name} --> [*]" for end in ends]
    return "\n".join([*lines, "```"]) + "\n"


def listing(table: Mapping[tuple[State, Input], tuple[State, Action]], heads: tuple[str, str, str, str]) -> str:
    """Return a state table as Markdown, with a row for each transition.

    Args:
        table: The mapping of (state, input) to (next state, action).
        heads: The column titles of state, input, next state and action.
    """
    rows = [
        f"| {_words(state)} | {_words(happened)} | {_words(following)} | {_words(action)} |"
        for (state, happened), (following, action) in table.items()
    ]
    return "\n".join([f"| {' | '.join(heads)} |", "|---|---|---|---|", *rows]) + "\n"


def _words(cell: Enum) -> str:
    return cell.name.lower().replace("_", " ")
