"""The messages, copies and batches that broke a rule in a history, each with its events."""

from __future__ import annotations

from msgspec import Struct

from assay_evidence.events import AnyEvent


class Offence(Struct, frozen=True):
    """A message, copy or batch that breaks a rule, with its events.

    Args:
        folder: The folder of the run's journals.
        run: The run's id.
        backend: The backend of the run.
        rule: The rule's id.
        scenario: The scenario's id.
        subject: The name of the message, copy or batch, unique in its scenario.
        expected: What the invariant demands.
        observed: What the journals show instead.
        ref: The reference (``writer:seq``) of one event of the subject (`Subject.ref`).
        events: The events about the message (its sends, receptions and settlements, and the answers), and the
            scenario's faults and watches.
    """

    folder: str
    run: str
    backend: str
    rule: str
    scenario: str
    subject: str
    expected: str
    observed: str
    ref: str
    events: tuple[AnyEvent, ...]
