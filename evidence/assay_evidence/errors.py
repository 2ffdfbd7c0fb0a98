"""Errors about journals, claims and verdicts.

::

    EvidenceError
    ├── JournalError     a journal cannot be written or read at all
    ├── LineError        a line is not an intact event (the reader turns it into `JournalDamage`)
    ├── VerdictsError    a `verdicts.json` cannot be read
    └── ClaimError       a claim is malformed, or the evidence contradicts itself (`judge` turns it into `error`)

Damage inside a journal raises no error: it is data (`assay_evidence.lines.JournalDamage`), which `judge` weighs.
"""

from __future__ import annotations

from typing import Literal


class EvidenceError(ValueError):
    """Base of the errors about evidence."""


class JournalError(EvidenceError):
    """A journal cannot be written, or no journal can be read; the text says where and what to do."""


class LineError(EvidenceError):
    """A line is not an intact event.

    Args:
        kind: ``checksum`` if its checksum does not fit, ``undecodable`` if it is not an event of the schema.
        text: The reason, in one sentence.
    """

    def __init__(self, kind: Literal["checksum", "undecodable"], text: str) -> None:
        super().__init__(text)
        self.kind: Literal["checksum", "undecodable"] = kind
        self.text = text


class VerdictsError(EvidenceError):
    """A `verdicts.json` cannot be read; the text says which and why."""


class ClaimError(EvidenceError):
    """A claim lacks a reference or a bound, or refers to an event that the journal does not hold."""
