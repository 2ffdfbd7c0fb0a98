"""What can go wrong with evidence, as errors that a person can act on.

::

    EvidenceError
    ├── JournalError     a journal cannot be written or read at all
    ├── LineError        one line is no intact event (the reader turns it into `JournalDamage`)
    ├── VerdictsError    a `verdicts.json` cannot be read
    └── ClaimError       a claim is malformed, or the evidence contradicts itself (`judge` turns it into `error`)

Damage inside a journal is no error: it is data (`assay_evidence.lines.JournalDamage`), and `judge` weighs it.
"""

from __future__ import annotations

from typing import Literal


class EvidenceError(ValueError):
    """The root: something about journals, claims or verdicts cannot be used."""


class JournalError(EvidenceError):
    """A journal cannot be written, or no journal can be read: says where and what to do."""


class LineError(EvidenceError):
    """A line is not an intact event.

    Args:
        kind: ``checksum`` when its checksum does not fit, ``undecodable`` when it is no event of the schema.
        text: One sentence: why.
    """

    def __init__(self, kind: Literal["checksum", "undecodable"], text: str) -> None:
        super().__init__(text)
        self.kind: Literal["checksum", "undecodable"] = kind
        self.text = text


class VerdictsError(EvidenceError):
    """A file of verdicts cannot be read: says which and why."""


class ClaimError(EvidenceError):
    """A claim asks for what it does not name, or names what the journal does not hold."""
