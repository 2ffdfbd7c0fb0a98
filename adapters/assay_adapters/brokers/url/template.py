"""The file that `assay adapter new` writes, with a comment for each key."""

from __future__ import annotations

from pathlib import Path

_TEMPLATE = Path(__file__).with_name("template.toml")


def text_for(name: str) -> str:
    """Return the content of a new file.

    Args:
        name: The broker's name: letters, digits, ``-`` and ``_``.
    """
    words = {
        "@FILE@": f"{name}.toml",
        "@TITLE@": name,
        "@NAME@": name,
        "@VARIABLE@": name.upper().replace("-", "_"),
    }
    text = _TEMPLATE.read_text(encoding="utf-8")
    for mark, word in words.items():
        text = text.replace(mark, word)
    return text
