"""The command ``python -m tools.held_up``, for example with ``--tries 20 --seed 1 --out held-up-out``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools.held_up import HELD_S, HeldUp, tell

parser = argparse.ArgumentParser(
    prog="python -m tools.held_up",
    description=f"Stop the harness for {HELD_S:g} s during scenarios against the reference broker's server, and look"
    " for wrong verdicts: a fail of a broker without a defect, or a pass of one whose defect breaks the scenario.",
    epilog="The exit code is 1 if a verdict was wrong, otherwise 0.",
)
parser.add_argument("--tries", type=int, default=20, help="scenarios in which to stop the harness; default %(default)s")
parser.add_argument("--seed", type=int, default=1, help="seed of the random times of the stops; default %(default)s")
parser.add_argument(
    "--out", type=Path, default=Path("held-up-out"), help="folder for the evidence of all runs; default %(default)s"
)
asked = parser.parse_args()

tried = wrong = 0
for outcome in HeldUp(asked.out, asked.seed).tries(asked.tries):
    tried += len(outcome.held_up)
    wrong += len(outcome.wrong)
    sys.stdout.write(f"{tell(outcome)}\n")
    sys.stdout.flush()
sys.stdout.write(f"{tried} tries, {wrong} wrong verdicts\n")
sys.exit(1 if wrong else 0)
