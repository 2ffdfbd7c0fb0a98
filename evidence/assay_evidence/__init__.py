"""Records the events of a run in journals, reads the journals, and computes verdicts from them."""

from __future__ import annotations

from assay_evidence.errors import ClaimError, EvidenceError, JournalError, LineError, VerdictsError
from assay_evidence.judge import judge, judge_claim
from assay_evidence.lines import JournalDamage, decode_line, encode_line
from assay_evidence.reader import Journals, read_journals
from assay_evidence.verdicts import (
    Finding,
    RuleVerdict,
    ScenarioVerdict,
    Verdict,
    Verdicts,
    load_verdicts,
    verdicts_json,
    worst,
)
from assay_evidence.writer import Instant, JournalWriter

__all__ = [
    "ClaimError",
    "EvidenceError",
    "Finding",
    "Instant",
    "JournalDamage",
    "JournalError",
    "JournalWriter",
    "Journals",
    "LineError",
    "RuleVerdict",
    "ScenarioVerdict",
    "Verdict",
    "Verdicts",
    "VerdictsError",
    "decode_line",
    "encode_line",
    "judge",
    "judge_claim",
    "load_verdicts",
    "read_journals",
    "verdicts_json",
    "worst",
]
