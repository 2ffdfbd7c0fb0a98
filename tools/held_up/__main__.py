"""The command line: ``python -m tools.held_up --tries 20 --seed 1 --out held-up-out``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools.held_up import HeldUp, tell

parser = argparse.ArgumentParser(prog="python -m tools.held_up", description=__doc__)
parser.add_argument("--tries", type=int, default=20)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--out", type=Path, default=Path("held-up-out"))
asked = parser.parse_args()

tried = wrong = 0
for outcome in HeldUp(asked.out, asked.seed).tries(asked.tries):
    tried += len(outcome.held_up)
    wrong += len(outcome.wrong)
    sys.stdout.write(f"{tell(outcome)}\n")
    sys.stdout.flush()
sys.stdout.write(f"{tried} tries, {wrong} wrong verdicts\n")
sys.exit(1 if wrong else 0)
