"""The command line of the fuzzing: ``python -m tests.sdk.stomp.fuzzing --seconds 600 --seed 1``."""

from __future__ import annotations

import argparse
import sys
import time

from tests.sdk.stomp.fuzzing.hunt import Tally, WrongError, hunt


def main() -> int:
    """Hunt for the given time; return 1 if the reader broke a promise."""
    parser = argparse.ArgumentParser(prog="python -m tests.sdk.stomp.fuzzing", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="how long to hunt")
    parser.add_argument("--seed", type=int, default=1, help="what all chance comes from")
    options = parser.parse_args()
    end = time.monotonic() + options.seconds

    def more(tally: Tally) -> bool:
        return tally.cases % 256 != 0 or time.monotonic() < end

    try:
        tally = hunt(options.seed, more)
    except WrongError as error:
        sys.stdout.write(f"found: {error}\n")
        return 1
    sys.stdout.write(
        f"{tally.cases} inputs, {tally.pool} kept, {tally.reached} pairs of lines reached, nothing found\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
