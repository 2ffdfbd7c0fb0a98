"""``assay watch``: raises provisional alarms while a run goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.exits import Exit
from assay.terminal import Terminal
from assay_evidence.figures import counted
from assay_features import load_catalogue
from assay_pipeline.live import WATCHED, Alarm, watch_run


def watch(
    folder: Annotated[Path, typer.Argument(help="Output folder of a run that goes on, or a folder of journals.")],
    rule: Annotated[
        list[str] | None,
        typer.Option(help=f"Watch this rule; may be repeated. Default: {', '.join(WATCHED)}."),
    ] = None,
    idle: Annotated[float, typer.Option(min=1, help="End when no journal has grown for so many seconds.")] = 60.0,
) -> int:
    """Raise provisional alarms while a soak runs; only assay judge gives verdicts."""
    console = Terminal(soft_wrap=True)
    console.print(f"Watching {folder}. Alarms are provisional; `assay judge` gives the verdicts.", markup=False)
    catalogue = load_catalogue()

    def tell(alarm: Alarm) -> None:
        title = catalogue.rule(alarm.rule).title
        console.print(f"{alarm.rule} {title}: {alarm.text} ({alarm.scenario}, {alarm.ref})", markup=False)

    alarms = watch_run(folder, tell, rules=tuple(rule) if rule else WATCHED, idle_s=idle)
    console.print(f"{counted(alarms, 'alarm')}; no journal has grown for {idle:g} s.", markup=False)
    return Exit.NOT_AS_EXPECTED if alarms else Exit.AS_EXPECTED
