"""The processor time to write an event: to a journal in one file, to a journal in parts, or as JSON to a plain file.

Run with the source roots on Python's path: ``python bench/journal.py [EVENTS]``.
"""

from __future__ import annotations

import hashlib
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from assay_evidence.events import Begin, MessageRef, Seen
from assay_evidence.files.parts import PartLimits
from assay_evidence.reader import read_journals
from assay_evidence.writer import Instant, JournalWriter

ROUNDS = 5
NS_PER_US = 1_000


AT = Instant("boot", 1, 1_700_000_000_000_000_000, 0)
MESSAGE = MessageRef(key="0123abcd/m", sha256=hashlib.sha256(b"m").hexdigest(), bytes=52, broker_id="ID:1")


def seen(journal: JournalWriter) -> Seen:
    """Write the event of a received message to a journal, and return the event."""
    return journal.write(
        Seen,
        AT,
        scenario="delay/basics.feature::it",
        actor="receiver",
        link="receiver/1",
        destination="queue://Q",
        msg=MESSAGE,
        count=1,
        redelivered=False,
    )


def write_round(folder: Path, name: str, events: int, parts: PartLimits | None) -> float:
    """Write a journal, in one file or in parts, and return the processor time of an event, in microseconds.

    Args:
        folder: The folder for the journal.
        name: The journal's name.
        events: The number of events.
        parts: The limits of the parts; None for one file.
    """
    with JournalWriter(folder / f"{name}.jsonl", run="bench", writer=name, parts=parts) as journal:
        journal.write(Begin, AT, backend="b", client="c", ours=(), environment={}, catalogue_hash="0", seed=1)
        start = time.process_time_ns()
        for _ in range(events):
            seen(journal)
        return (time.process_time_ns() - start) / events / NS_PER_US


def dump_round(folder: Path, name: str, events: int) -> float:
    """Write the same fields with the standard library's `json`; return the microseconds of processor time per line."""
    with JournalWriter(folder / f"{name}.jsonl", run="bench", writer=name) as journal:
        journal.write(Begin, AT, backend="b", client="c", ours=(), environment={}, catalogue_hash="0", seed=1)
        fields = msgspec.to_builtins(seen(journal))
    with (folder / f"{name}.json").open("w", encoding="utf-8") as file:
        start = time.process_time_ns()
        for seq in range(events):
            fields["seq"] = seq
            file.write(json.dumps(fields) + "\n")
        return (time.process_time_ns() - start) / events / NS_PER_US


def main(events: int) -> None:
    """Measure in rounds, each with all three ways of writing, and print the medians.

    Args:
        events: The number of events.
    """
    with tempfile.TemporaryDirectory() as name:
        rounds = []
        for number in range(ROUNDS):
            folder = Path(name, str(number))
            plain = write_round(folder, "plain", events, None)
            parts = write_round(folder, "parts", events, PartLimits())
            rounds.append((plain, parts, dump_round(folder, "dump", events)))
        plain, parts, dump = (statistics.median(column) for column in zip(*rounds, strict=True))
        sizes = [sum(path.stat().st_size for path in folder.glob(form)) for form in ("plain.jsonl", "parts.*")]
        start = time.process_time_ns()
        read = len(read_journals([folder / "plain.jsonl"]).events)
        read_us = (time.process_time_ns() - start) / read / NS_PER_US
    print(f"events a round     {events}")
    print(f"write, plain       {plain:.2f} us ({plain / dump:.2f} times json.dumps to an open file: {dump:.2f} us)")
    print(f"write, in parts    {parts:.2f} us ({parts / dump:.2f} times json.dumps), compression included")
    print(f"bytes of an event  {sizes[0] / events:.0f} plain, {sizes[1] / events:.0f} in parts")
    print(f"read, each         {read_us:.2f} us")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
