"""``assay crash``: kills the reference broker under load, and judges it from the clients' journals."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from assay.campaign.campaign import Campaign, CampaignOptions, Tally
from assay.campaign.clients import ClientDownError
from assay.campaign.defects import STORE_DEFECTS
from assay.campaign.phases import BETWEEN, Phase
from assay.campaign.server import STORES
from assay.commands.report import write_reports
from assay.exits import CannotRunError, UsageProblem
from assay.outcome import ending, scenarios_of, show, tell
from assay.terminal import Terminal
from assay_adapters.known import Surprise
from assay_adapters.leftovers import remove_before_a_run
from assay_adapters.suggestions import unknown
from assay_evidence.figures import counted
from assay_evidence.verdicts import Verdict
from assay_steps.plugin.folder import make_room, room
from assay_steps.plugin.run import conclude

LINES = 10
"""About how many lines of progress a campaign prints."""


def crash(
    kills: Annotated[int, typer.Option(min=1, help="How often to kill the broker: at least once.")] = 30,
    seed: Annotated[int, typer.Option(help="Seed of the random load and kills: a whole number.")] = 0,
    store: Annotated[str, typer.Option(help="The broker's store: sqlite or memory.")] = "sqlite",
    defect: Annotated[
        str | None, typer.Option(help=f"Plant a defect in the store: {', '.join(STORE_DEFECTS)}.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for journals, verdicts and the report.")] = Path("crash-out"),
) -> int:
    """Kill a reference broker under load many times, and judge the deliveries of every message."""
    if store not in STORES:
        raise UsageProblem(unknown("store", store, STORES))
    if defect is not None and defect not in STORE_DEFECTS:
        raise UsageProblem(unknown("defect", defect, STORE_DEFECTS))
    terminal = Terminal()
    began = time.perf_counter()
    remove_before_a_run()
    with room(out):
        make_room(out)
        tally = suffer(CampaignOptions(out=out, kills=kills, seed=seed, store=store, defect=defect))
        concluded = conclude(out)
        verdicts = concluded.verdicts
        terminal.show(histogram(tally))
        terminal.print(spoken(tally), markup=False, soft_wrap=True)
        show(verdicts, terminal, seconds=time.perf_counter() - began)
        surprises = [Surprise.of(one) for one in scenarios_of(verdicts) if one.verdict is not Verdict.PASS]
        tell([one.text for one in surprises], terminal)
        terminal.print(f"report: {write_reports({out: concluded}, out)}", markup=False, soft_wrap=True)
        return ending(verdicts, surprises)


def suffer(options: CampaignOptions) -> Tally:
    """Run the campaign and show its progress.

    Raises:
        CannotRunError: A client's process failed, so the campaign gives no verdict about the broker.
    """
    console = Console(stderr=True, soft_wrap=True, highlight=False, emoji=False)
    every = max(1, options.kills // LINES)

    def told(kills: int) -> None:
        if kills % every == 0 or kills == options.kills:
            console.print(f"{kills} of {counted(options.kills, 'kill')}", markup=False)

    with Campaign(options, told) as campaign:
        try:
            return campaign.run()
        except ClientDownError as error:
            raise CannotRunError(str(error)) from error


def histogram(tally: Tally) -> Table:
    """Make the table of kills by phase of the broker's work."""
    table = Table("the broker was killed", "times", box=None, pad_edge=False)
    for phase in Phase:
        table.add_row(phase.words, str(tally.kills[phase]))
    return table


def spoken(tally: Tally) -> str:
    """Return the campaign's figures in a few lines."""
    kills = sum(tally.kills.values())
    between = sum(number for phase, number in tally.kills.items() if phase in BETWEEN)
    messages = ", ".join(f"{family.value} {number}" for family, number in tally.messages.items())
    fates = ", ".join(f"{name} {number}" for name, number in sorted(tally.fates.items()))
    starts = sorted(tally.start_ms)
    took = f"{starts[len(starts) // 2]:.0f} ms in the median, {starts[-1]:.0f} ms at most"
    lines = [
        f"{counted(kills, 'kill')}, {between} of them between write and answer; a start took {took}",
        f"{counted(sum(tally.messages.values()), 'message')}: {messages}",
        f"fates of messages and units of work: {fates}",
    ]
    return "\n".join([*lines, tally.down] if tally.down else lines)
