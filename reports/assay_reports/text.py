"""Makes text from journals safe to show, so that no character hides, reorders or breaks the text around it."""

from __future__ import annotations

import re
import unicodedata

_ESCAPED_CATEGORIES = frozenset({"Cc", "Cs", "Cn", "Co", "Zl", "Zp"})
_KEPT = frozenset("\n\t")
# Characters that reorder text (bidirectional controls) or are invisible (zero-width ones, the byte order mark).
# The joiners U+200C and U+200D are left out, because some scripts and emoji need them.
_UNSEEN = frozenset("\u061c\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff")
_UNPLAIN = re.compile(r"[^\x20-\x7e\n\t]")
_SLUG = re.compile(r"[^a-z0-9]+")
_SLUG_LENGTH = 80


def visible(text: str) -> str:
    r"""Replace characters that are invisible or reorder text by escapes such as ``\x00`` and ``\u202e``.

    HTML and XML 1.0 permit all characters of the result.
    """
    return _UNPLAIN.sub(_shown, text)


def _shown(found: re.Match[str]) -> str:
    character = found[0]
    hidden = character in _UNSEEN or unicodedata.category(character) in _ESCAPED_CATEGORIES
    if not hidden or character in _KEPT:
        return character
    code = ord(character)
    if code <= 0xFF:  # noqa: PLR2004 - as Python writes the character itself
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 - as Python writes an escape of four digits


def slug(text: str) -> str:
    """Make a name for a file or an anchor from a text: lower-case letters, digits and dashes, never empty."""
    folded = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return _SLUG.sub("-", folded).strip("-")[:_SLUG_LENGTH].strip("-") or "x"
