"""The command line of the fuzzing: ``python -m tests.broker.amqp.fuzzing --seconds 600 --seed 1``.

The hunt runs in a process of its own, so that a crash of the engine is reported with its case.  Each case depends only
on the seed and the case's number: ``--first 1234 --cases 1`` repeats one case.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import mmap
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import coverage
from tests.broker.amqp.fuzzing.attackers import WrongError
from tests.broker.amqp.fuzzing.hunt import Tally, hunt

_PARSING = "assay_broker.amqp,assay_sdk.amqp"
_STEP_S = 15.0
_STUCK_S = 60
_SIZE = 8


def _say(text: str) -> None:
    """Print a line of progress."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.broker.amqp.fuzzing", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--seconds", type=float, default=600.0, help="how long to hunt")
    parser.add_argument("--cases", type=int, default=sys.maxsize, help="how many cases at most")
    parser.add_argument("--seed", type=int, default=1, help="what all chance comes from")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--place", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def _more(options: argparse.Namespace) -> Callable[[Tally], bool]:
    told = time.monotonic()

    def more(tally: Tally) -> bool:
        nonlocal told
        now = time.monotonic()
        if now - told > _STEP_S:
            told = now
            memory = f", {tally.resident[-1] >> 20} MB" if tally.resident else ""
            _say(f"{now - tally.began:6.0f} s  {tally.cases} cases{memory}")
        return now - tally.began < options.seconds and tally.cases < options.cases

    return more


def _hunt(options: argparse.Namespace) -> int:
    """Run the hunt in the inner process, and return its exit code."""
    faulthandler.enable()
    with options.place.open("r+b") as file, mmap.mmap(file.fileno(), _SIZE) as place:

        def watch(number: int) -> None:
            place[:] = number.to_bytes(_SIZE)
            faulthandler.dump_traceback_later(_STUCK_S, exit=True)

        try:
            tally = hunt(options.seed, _more(options), first=options.first, watch=watch)
        except WrongError as error:
            _say(f"found: {error}")
            return 1
        finally:
            faulthandler.cancel_dump_traceback_later()
    _tell(tally)
    return 0


def _tell(tally: Tally) -> None:
    seconds = time.monotonic() - tally.began
    _say(f"{tally.cases} cases in {seconds:.0f} s, {len(tally.resident)} rounds, nothing found")
    _say(f"memory after the first rounds {tally.resident[:4][-1] >> 20} MB, at the end {tally.resident[-1] >> 20} MB")
    _say("begun from: " + ", ".join(f"{name} {count}" for name, count in tally.scenes.most_common()))
    _say("the server said: " + ", ".join(f"0x{code:02x} {count}" for code, count in sorted(tally.said.items())))


def _tell_coverage(data: Path) -> None:
    covered = coverage.Coverage(data_file=data, config_file=False)
    covered.load()
    found = data.with_suffix(".json")
    covered.json_report(outfile=str(found))
    report = json.loads(found.read_text(encoding="utf-8"))
    _say("branch coverage of the parsing code:")
    for name, one in sorted(report["files"].items()):
        _line("/".join(Path(name).parts[-3:]), one["summary"])
    _line("all of it", report["totals"])


def _line(name: str, summary: dict[str, float]) -> None:
    reached, there = summary["covered_branches"], summary["num_branches"]
    if there:
        _say(f"  {name:45} {100 * reached / there:5.1f} %  {reached:.0f} of {there:.0f}")


def main() -> int:
    """Run the hunt in a process of its own, and report the case in which the process died."""
    options = _options()
    if options.place is not None:
        return _hunt(options)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "case"
        place.write_bytes(bytes(_SIZE))
        data = Path(folder) / "coverage"
        measured = ("coverage", "run", "--branch", f"--source={_PARSING}", f"--data-file={data}", "--rcfile=", "-m")
        command = (sys.executable, "-m", *measured, "tests.broker.amqp.fuzzing", *sys.argv[1:], "--place", str(place))
        code = subprocess.run(command, check=False).returncode  # noqa: S603  a command of this project
        if data.exists():
            _tell_coverage(data)
        if code not in {0, 1}:
            number = int.from_bytes(place.read_bytes())
            _say(f"found: the process ended with {code} in case {number} of seed {options.seed}")
        return 1 if code else 0


if __name__ == "__main__":
    sys.exit(main())
