"""The cost of one event: `python bench/journal.py [EVENTS]`."""

from __future__ import annotations

import hashlib
import statistics
import sys
import tempfile
import time
from pathlib import Path

from assay_evidence.events import Begin, MessageRef, Seen
from assay_evidence.reader import read_journals
from assay_evidence.writer import Instant, JournalWriter

ROUNDS = 5
NS_PER_US = 1_000


def write_round(folder: Path, number: int, events: int) -> float:
    """Write a journal, and return the microseconds for each event, its creation included."""
    at = Instant("boot", 1, 1_700_000_000_000_000_000, 0)
    message = MessageRef(key="0123abcd/m", sha256=hashlib.sha256(b"m").hexdigest(), bytes=52, broker_id="ID:1")
    with JournalWriter(folder / f"w{number}.jsonl", run="bench", writer=f"w{number}") as journal:
        journal.write(
            Begin, at, backend="bench", client="bench", ours=(), environment={}, catalogue_hash="0" * 64, seed=1
        )
        start = time.perf_counter_ns()
        for _ in range(events):
            journal.write(
                Seen,
                at,
                scenario="delay/basics.feature::it",
                actor="receiver",
                link="receiver/1",
                destination="queue://Q",
                msg=message,
                count=1,
                redelivered=False,
            )
        return (time.perf_counter_ns() - start) / events / NS_PER_US


def main(events: int) -> None:
    """Print the table.

    Args:
        events: The number of events.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        written = [write_round(folder, number, events) for number in range(ROUNDS)]
        start = time.perf_counter_ns()
        journals = read_journals(folder)
        read = (time.perf_counter_ns() - start) / len(journals.events) / NS_PER_US
    print(f"events a round     {events}")
    print(f"write, each        {statistics.median(written):.2f} us (best {min(written):.2f})")
    print(f"read, each         {read:.2f} us")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
