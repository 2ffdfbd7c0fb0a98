"""Errors about journals, claims and verdicts.

::

    EvidenceError
    ├── JournalError     a journal cannot be written or read, or a folder has no journal
    ├── LineError        a line is not an intact event (the reader records it as `JournalDamage`)
    ├── VerdictsError    a `verdicts.json` cannot be read
    └── ClaimError       a claim is malformed, or the evidence contradicts itself (the claim's verdict is then `error`)

Damage inside a journal raises no error: the reader returns it as data (`assay_evidence.lines.JournalDamage`), and
`judge` takes it into account.
"""

from __future__ import annotations

from typing import Literal


class EvidenceError(ValueError):
    """The base of all errors about evidence."""


class JournalError(EvidenceError):
    """A journal cannot be written or read, or a folder has no journal; the text names the path and a remedy."""


class LineError(EvidenceError):
    """A line is not an intact event.

    Args:
        kind: ``checksum`` if the line's checksum is wrong, ``undecodable`` if the line is not an event of the schema.
        text: The reason, in one sentence.
    """

    def __init__(self, kind: Literal["checksum", "undecodable"], text: str) -> None:
        super().__init__(text)
        self.kind: Literal["checksum", "undecodable"] = kind
        self.text = text


class VerdictsError(EvidenceError):
    """A `verdicts.json` cannot be read; the text names the file and the reason."""


class ClaimError(EvidenceError):
    """A claim is malformed or refers to an event that is not in its evidence, or the evidence contradicts itself."""
