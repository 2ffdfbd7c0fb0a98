"""The page of the step vocabulary: tables and topics are made from the handbook; people write the other text."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from pathlib import Path

from assay_steps.words.handbook import handbook

PAGE = Path(__file__).parents[2] / "docs" / "vocabulary.md"
WIDTH = 120
"""The width of a paragraph on the page, in columns."""


def vocabulary_page() -> str:
    """Return the present page with new tables and topics."""
    return rewritten(PAGE.read_text(encoding="utf-8"))


def rewritten(page: str) -> str:
    """Replace the tables and topics of a page.

    Args:
        page: The current page.

    Raises:
        ValueError: The page lacks a table or a topic.
    """
    book = handbook()
    words = [(word.name, word.meaning, _coded(word.examples)) for word in book.words]
    page = _with_table(page, ("word", "what it stands for", "examples"), words)
    page = _with_table(page, ("option", "what it does"), [(_coded(one.examples), one.what) for one in book.options])
    page = _with_table(page, ("term", "what it asks for"), [(_coded(one.examples), one.what) for one in book.terms])
    for topic in book.topics:
        steps = [("<br>".join(map(_keyword_apart, s.phrases)), s.what, f"`{s.example}`") for s in topic.steps]
        text = textwrap.fill(topic.text, WIDTH, break_long_words=False, break_on_hyphens=False)
        section = f"## {topic.title}\n\n{text}\n\n{_table(('step', 'what it does', 'example'), steps)}"
        page = _replaced(page, rf"^## {re.escape(topic.title)}\n.*?(?=^## |\Z)", f"{section}\n").rstrip("\n") + "\n"
    return page


def _coded(examples: Iterable[str]) -> str:
    return ", ".join(f"`{example}`" for example in examples)


def _keyword_apart(phrase: str) -> str:
    keyword, _, text = phrase.partition(" ")
    return f"{keyword} `{text}`"


def _with_table(page: str, head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    return _replaced(page, rf"^{re.escape(_row(head))}\n(?:\|[^\n]*\n)*", _table(head, rows))


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    return "".join(f"{line}\n" for line in (_row(head), "|---" * len(head) + "|", *map(_row, rows)))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _replaced(page: str, pattern: str, text: str) -> str:
    made, found = re.subn(pattern, lambda _: text, page, count=1, flags=re.MULTILINE | re.DOTALL)
    if not found:
        raise ValueError(f"docs/vocabulary.md has no place for this; add its heading:\n{text}")
    return made
