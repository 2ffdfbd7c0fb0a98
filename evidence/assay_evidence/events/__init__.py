"""The journal's schema: all kinds of events, each of them a JSON object on its own line.

The journals are the only evidence.  Each writer (a process) has one file.  `seq` counts from 0 without gaps and the
last record is `end`, so the reader detects a missing or repeated line.  Each line ends with a checksum
(`assay_evidence.lines`), so the reader also detects an altered line.  To compare the times of two events, use `mono_ns`
if both have the same `boot`, or else `wall_ns` with the `unc_ns` of both.

The schema changes by additions only.  A field keeps its name and has the same type in all kinds of events, because the
Spark pipeline reads all kinds with one flat schema.
"""

from __future__ import annotations

from assay_evidence.events._broker import FATAL, LOSING, SUDDEN, Admin, Disk, Fault, Inspected, Log, Past
from assay_evidence.events._client import (
    CONNECTION_LOST,
    LEAVING,
    Call,
    Callback,
    RefusedInfo,
    Return,
    Seen,
    SessionEnded,
    Settle,
    Unit,
    Watch,
)
from assay_evidence.events._event import Event, MessageRef, Phase, Scalar
from assay_evidence.events._frame import Frame, Said, Wire
from assay_evidence.events._run import LATENESS, NOT_RUN_HERE, PACE, Begin, End, Plan, PlannedScenario, Untold
from assay_evidence.events._scenario import Claim, Late, Predicate, ScenarioBegin, ScenarioEnd, Step, Unsupported

__all__ = [
    "CONNECTION_LOST",
    "FATAL",
    "LATENESS",
    "LEAVING",
    "LOSING",
    "NOT_RUN_HERE",
    "PACE",
    "SUDDEN",
    "Admin",
    "AnyEvent",
    "Begin",
    "Call",
    "Callback",
    "Claim",
    "Disk",
    "End",
    "Event",
    "Fault",
    "Frame",
    "Inspected",
    "Late",
    "Log",
    "MessageRef",
    "Past",
    "Phase",
    "Plan",
    "PlannedScenario",
    "Predicate",
    "RefusedInfo",
    "Return",
    "Said",
    "Scalar",
    "ScenarioBegin",
    "ScenarioEnd",
    "Seen",
    "SessionEnded",
    "Settle",
    "Step",
    "Unit",
    "Unsupported",
    "Untold",
    "Watch",
    "Wire",
]

AnyEvent = (
    Begin
    | Plan
    | ScenarioBegin
    | ScenarioEnd
    | Late
    | Unsupported
    | Step
    | Call
    | Return
    | Seen
    | Callback
    | Settle
    | Unit
    | SessionEnded
    | Admin
    | Fault
    | Disk
    | Frame
    | Wire
    | Inspected
    | Log
    | Past
    | Watch
    | Claim
    | End
)
