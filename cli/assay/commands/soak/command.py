"""``assay soak``: puts seeded load and faults on a broker for a chosen time; `assay judge` judges the journals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from assay.campaign.clients import ClientDownError
from assay.exits import CannotRunError, Exit, UsageProblem
from assay.soak.display import Display
from assay.soak.ending import Ending, How
from assay.soak.faults import KINDS
from assay.soak.plan import Plan, SoakOptions, make_plan
from assay.soak.soak import Soak
from assay.terminal import Terminal
from assay_adapters.leftovers import remove_before_a_run
from assay_adapters.ports.backend import Backend, BackendError
from assay_adapters.suggestions import unknown
from assay_evidence.figures import counted
from assay_sdk.model.capabilities import Capability
from assay_steps.plugin.folder import JOURNALS, make_room, room
from assay_steps.plugin.request import BackendUnavailableError, Pair, RunRequest

CODES = {
    How.WHOLE: Exit.AS_EXPECTED,
    How.STOPPED: Exit.INCONCLUSIVE,
    How.LOST: Exit.NOT_AS_EXPECTED,
    How.BROKEN: Exit.INCONCLUSIVE,
}
"""The exit code for each end of a soak. A soak itself finds only one breach, `LOST`; `assay judge` finds the others."""


def soak(
    backend: Annotated[str, typer.Option(help="The broker; it must run in real time.")] = "reference-server",
    seconds: Annotated[float, typer.Option(min=1, help="How long the producers send.")] = 60,
    seed: Annotated[int, typer.Option(help="Seed of the plan: a whole number.")] = 0,
    rate: Annotated[int, typer.Option(min=1, help="Messages a second, of all producers together.")] = 50,
    producers: Annotated[int, typer.Option(min=1, max=64, help="Number of producer processes.")] = 1,
    consumers: Annotated[int, typer.Option(min=1, max=64, help="Number of consumer processes.")] = 1,
    faults: Annotated[str, typer.Option(help=f"Kinds of faults, with commas: {', '.join(KINDS)}; or none.")] = "none",
    gap: Annotated[float, typer.Option(min=0.5, help="Mean time between two faults, in seconds.")] = 8,
    defect: Annotated[str | None, typer.Option(help="Switch on a named defect of the reference pair.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the plan and the journals.")] = Path("soak-out"),
) -> int:
    """Send and receive under load and faults for some time, and record a history for assay judge."""
    request = RunRequest(backend=backend, seed=seed, defect=defect)
    kinds = kinds_of(faults)
    pair = opened(request)
    options = SoakOptions(
        backend=backend,
        seconds=seconds,
        seed=seed,
        rate=rate,
        producers=producers,
        consumers=consumers,
        faults=kinds,
        gap_s=gap,
        defect=defect,
    )
    plan = planned(options, pair.backend)
    terminal = Terminal(soft_wrap=True)
    remove_before_a_run()
    with room(out):
        make_room(out)
        for one in plan.left_out:
            terminal.print(f"left out: {one.what}. {one.why}", markup=False)
        try:
            with Display(seconds) as display, Soak(plan, pair, request, out, display.show) as running:
                ending = running.run()
        except (BackendError, ClientDownError, LookupError) as error:
            raise CannotRunError(str(error)) from error
    terminal.print("\n".join((*by_workload(plan, ending), *told(ending, out, running.unclosed))), markup=False)
    return Exit.INCONCLUSIVE if ending.cut_off and CODES[ending.how] is Exit.AS_EXPECTED else CODES[ending.how]


def kinds_of(faults: str) -> tuple[str, ...]:
    """Return the kinds of faults that the option names.

    Raises:
        UsageProblem: A kind is unknown.
    """
    named = [name for name in faults.split(",") if name]
    if named == ["none"]:
        return ()
    for name in named:
        if name not in KINDS:
            raise UsageProblem(unknown("fault", name, KINDS))
    return tuple(dict.fromkeys(named))


def opened(request: RunRequest) -> Pair:
    """Look up the backend and the defect.

    Raises:
        UsageProblem: A name is unknown, or the backend works in virtual time.
        CannotRunError: The backend cannot be started on this machine.
    """
    try:
        pair = request.open()
    except BackendUnavailableError as error:
        raise CannotRunError(str(error)) from error
    except LookupError as error:
        raise UsageProblem(str(error)) from error
    if Capability.VIRTUAL_TIME in pair.backend.capabilities:
        raise UsageProblem(
            f"Backend {request.backend!r} runs in this process and in virtual time, so no other process can load it: "
            "name another backend, such as reference-server."
        )
    return pair


def planned(options: SoakOptions, backend: Backend) -> Plan:
    """Make the plan for a backend.

    Raises:
        UsageProblem: The pair has neither queues nor topics, so no workload can run.
    """
    lacks = {name: source.text for name, source in backend.lacks.items()}
    kinds = {
        name: lacks.get(kind.needs, f"The pair does not declare the capability {kind.needs.value}.")
        for name, kind in KINDS.items()
        if name in options.faults and kind.needs not in backend.capabilities
    }
    plan = make_plan(options, backend.capabilities, lacks, kinds)
    if not plan.workloads:
        raise UsageProblem(f"Backend {options.backend!r} has neither queues nor topics: name another one.")
    return plan


def by_workload(plan: Plan, ending: Ending) -> Sequence[str]:
    """Return a line for each workload with its planned, sent and received messages, and one for each left-out fault."""
    planned: Counter[str] = Counter()
    for producer in plan.producers:
        planned.update(producer.by_workload)
    lines = [
        f"{name}: {planned[name]} planned, {ending.sent_to.get(name, 0)} sent, {ending.seen_from.get(name, 0)} received"
        for name in plan.workloads
    ]
    return [*lines, *(f"left out: {one.what}. {one.why}" for one in ending.left_out)]


def told(ending: Ending, out: Path, unclosed: str = "") -> Sequence[str]:
    """Return the lines that the command prints at the end of a soak.

    Args:
        ending: The end of the soak.
        out: The folder of the plan and the journals.
        unclosed: The reason why the broker could not be removed; empty if it was removed.
    """
    messages = f"{ending.sent} messages sent, {ending.refused} refused or lost with their connection"
    lines = [
        f"{messages}, {ending.skipped} skipped during outages; {ending.seen} received",
        f"{counted(ending.faults, 'fault')}; {counted(ending.unfinished, 'consumer')} not silent at the drain's end",
    ]
    if ending.missed:
        lines.append(f"{counted(ending.missed, 'planned fault')} did not happen: the load was over before")
    if ending.why:
        lines.append(f"{ending.how.value}: {ending.why}")
    if unclosed:
        lines.append(unclosed)
    lines += [f"{name} did not close its journal, so the judge will call it damaged." for name in ending.cut_off]
    lines.append(f"journals: {out / JOURNALS}; judge them with: assay judge {out} --out {out}-judged")
    return lines
