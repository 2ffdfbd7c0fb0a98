"""The command ``assay liveness``; `assay run --profile stomp-liveness` calls it, too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from msgspec import Struct
from rich.table import Table
from rich.text import Text

from assay.exits import CannotRunError, Exit, UsageProblem
from assay.liveness.campaign import Settings, run
from assay.liveness.defects import BY_NAME, DEFECTS, Defect
from assay.liveness.judge import Finding, Verdict
from assay.liveness.plain import Target
from assay.liveness.rules import BY_ID, PROFILE, RULES, SECTION, Side
from assay.liveness.subject import OURS, SUBJECTS
from assay.messages import milliseconds
from assay.terminal import Terminal
from assay_adapters.leftovers import remove_before_a_run
from assay_adapters.ports.backend import Backend, BackendError, Unavailable
from assay_adapters.ports.capabilities import Needs, Unsupported
from assay_adapters.registry import open_backend
from assay_adapters.suggestions import unknown
from assay_sdk.stomp.conventions import RABBITMQ, Conventions

FILE = "liveness.json"
"""The file of the verdicts, in the folder of the evidence."""
DEFAULT = "reference-server+stomp"
_CONVENTIONS: Mapping[str, Conventions] = {"rabbitmq+stomp": RABBITMQ}
"""The conventions that a client needs before it gets the CONNECTED frame, by backend: RabbitMQ has a virtual host.

Other brokers are recognized by their CONNECTED frame.
"""
_TAKEN_FROM_RUN = frozenset({"profile", "backend", "out"})
"""The parameters of `assay run` that have a meaning with this profile."""
_SHORTEST_MS = 100
_DEFAULT_MS = 1_000
_STYLES = {
    Verdict.PASS: "green",
    Verdict.FAIL: "bold red",
    Verdict.INCONCLUSIVE: "yellow",
    Verdict.NOT_PROMISED: "dim",
    Verdict.RECORDED: "cyan",
}


def liveness(
    backend: Annotated[str, typer.Option(help="The broker; its clients must use STOMP.")] = DEFAULT,
    client: Annotated[str, typer.Option(help=f"The client to judge: {', '.join(SUBJECTS)}.")] = OURS,
    side: Annotated[str | None, typer.Option(help="Judge only this end: server or client.")] = None,
    interval: Annotated[str | None, typer.Option(help="The heart-beats to agree on, such as 2s. Default: 1s.")] = None,
    defect: Annotated[str | None, typer.Option(help="Simulate a defect of an end; its rule must fail.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the records and verdicts.")] = Path("liveness-out"),
    rules: Annotated[bool, typer.Option("--rules", help="List the rules and defects, and run nothing.")] = False,
) -> int:
    """Judge the heart-beats of a STOMP broker and of a STOMP client, each separately, and record the octets."""
    if rules:
        show_rules()
        return Exit.AS_EXPECTED
    interval_ms = milliseconds("--interval", interval) or _DEFAULT_MS
    if interval_ms < _SHORTEST_MS:
        raise UsageProblem(f"--interval is {interval_ms} ms: choose {_SHORTEST_MS} ms or more.")
    planted = _defect(defect)
    if client not in SUBJECTS:
        raise UsageProblem(unknown("client", client, SUBJECTS))
    return judge_pair(Asked(backend, client, out, interval_ms, planted, _sides(side, planted)))


def judge_heart_beats(run_call: typer.Context, backends: Sequence[str], out: Path) -> Exit:
    """Judge a backend and the SDK for `assay run --profile stomp-liveness`.

    Args:
        run_call: The call of `assay run`.
        backends: The named backends; empty for the default.
        out: The folder of the evidence.

    Raises:
        UsageProblem: Several backends are given, an option or argument is given that has no meaning with this profile,
            or the backend's clients do not use STOMP.
        CannotRunError: The broker cannot be started here.
    """
    if given := next(_without_meaning(run_call), None):
        raise UsageProblem(f"{given} has no meaning with --profile {PROFILE}: leave it out, or use `assay liveness`.")
    if len(backends) > 1:
        raise UsageProblem(f"--profile {PROFILE} judges one backend at a time: name one.")
    return judge_pair(Asked(backends[0] if backends else DEFAULT, OURS, out))


def _without_meaning(run_call: typer.Context) -> Iterator[str]:
    """Yield each given option and argument of `assay run` outside `_TAKEN_FROM_RUN`, as the user knows it."""
    for parameter in run_call.command.params:
        name = str(parameter.name)
        source = run_call.get_parameter_source(name)
        if name not in _TAKEN_FROM_RUN and source is not None and source.name == "COMMANDLINE":
            is_option = parameter.param_type_name == "option"
            yield parameter.opts[0] if is_option else f"{run_call.params[name][0]} (after --)"


def _defect(name: str | None) -> Defect | None:
    if name is not None and name not in BY_NAME:
        raise UsageProblem(unknown("defect", name, BY_NAME))
    return None if name is None else BY_NAME[name]


def _sides(side: str | None, defect: Defect | None) -> tuple[Side, ...]:
    if side is not None and side not in {one.value for one in Side}:
        raise UsageProblem(unknown("end", side, [one.value for one in Side]))
    if side is not None:
        return (Side(side),)
    return tuple(Side) if defect is None else (BY_ID[defect.rule].judged,)


class Asked(Struct, frozen=True):
    """The pair to judge, and the settings.

    Args:
        backend: The broker's backend.
        client: The client's name in `SUBJECTS`.
        out: The folder of the evidence.
        interval_ms: The interval of heart-beats that the kit's clients offer and request, in milliseconds.
        defect: The defect to simulate; None for none.
        sides: The ends to judge.
    """

    backend: str
    client: str
    out: Path
    interval_ms: int = _DEFAULT_MS
    defect: Defect | None = None
    sides: tuple[Side, ...] = tuple(Side)


def judge_pair(asked: Asked) -> Exit:
    """Start a broker, judge it and a client, and show and write the verdicts.

    Raises:
        UsageProblem: The backend is unknown, or its clients do not use STOMP.
        CannotRunError: The broker cannot be started here.
    """
    try:
        opened = open_backend(asked.backend)
    except LookupError as problem:
        raise UsageProblem(str(problem)) from problem
    if not opened.name.endswith("+stomp"):
        raise UsageProblem(f"The clients of {asked.backend} do not use STOMP: choose a backend such as {DEFAULT}.")
    if isinstance(probe := opened.probe(), Unavailable):
        raise CannotRunError(f"Backend {asked.backend!r} cannot be started: {probe.reason}; {probe.remedy}.")
    remove_before_a_run()
    try:
        findings = _findings(opened, asked)
    except BackendError as problem:
        raise CannotRunError(str(problem)) from problem
    finally:
        opened.close()
    _write(findings, asked)
    terminal = Terminal()
    terminal.show(_table(findings))
    terminal.print(_summary(findings, asked), markup=False, soft_wrap=True)
    return _exit(findings)


def _findings(opened: Backend, asked: Asked) -> list[Finding]:
    instance = opened.provision(Needs())
    if isinstance(instance, Unsupported):
        raise CannotRunError(f"The broker cannot be started: {instance.source.text}")
    try:
        endpoint = instance.endpoint("stomp")
        conventions = _CONVENTIONS.get(opened.name)
        host, _, port = endpoint.url.partition("://")[2].rpartition(":")
        vhost = conventions.host if conventions is not None and conventions.host else "assay"
        target = Target(host, int(port), vhost, endpoint.login)
        ours = {Side.SERVER: opened.environment.ours, Side.CLIENT: asked.client == OURS}
        subject = SUBJECTS[asked.client](target, asked.interval_ms, conventions)
        return run(target, subject, Settings(asked.interval_ms, ours, asked.out, asked.defect, asked.sides))
    finally:
        instance.close()


def _write(findings: Sequence[Finding], asked: Asked) -> None:
    asked.out.mkdir(parents=True, exist_ok=True)
    told = {
        "profile": PROFILE,
        "basis": SECTION,
        "backend": asked.backend,
        "client": asked.client,
        "interval_ms": asked.interval_ms,
        "defect": None if asked.defect is None else asked.defect.name,
        "rules": [
            {"judged": BY_ID[one.rule].judged, "strength": BY_ID[one.rule].strength, **msgspec.to_builtins(one)}
            for one in findings
        ],
    }
    (asked.out / FILE).write_bytes(msgspec.json.format(msgspec.json.encode(told), indent=2) + b"\n")


def _table(findings: Sequence[Finding]) -> Table:
    table = Table("rule", "verdict", "judged", "title", box=None, pad_edge=False, title_justify="left")
    for one in findings:
        rule = BY_ID[one.rule]
        title = Text(rule.title)
        title.append(f"\n  {one.scenario}: {one.text}", style="dim")
        table.add_row(one.rule, Text(one.verdict.value, style=_STYLES[one.verdict]), rule.judged.value, title)
    return table


def _summary(findings: Sequence[Finding], asked: Asked) -> str:
    counts = [f"{sum(one.verdict is verdict for one in findings)} {verdict.value}" for verdict in Verdict]
    pair = f"{asked.backend} with {asked.client}"
    return f"{PROFILE}, {pair}, heart-beats every {asked.interval_ms} ms: {', '.join(counts)}"


def _exit(findings: Sequence[Finding]) -> Exit:
    verdicts = {one.verdict for one in findings}
    if Verdict.FAIL in verdicts:
        return Exit.NOT_AS_EXPECTED
    return Exit.INCONCLUSIVE if Verdict.INCONCLUSIVE in verdicts else Exit.AS_EXPECTED


def show_rules() -> None:
    """Print the rules with their defects."""
    by_rule = {one.rule: one for one in DEFECTS}
    table = Table("rule", "strength", "judged", "defect", "rule and breach", box=None, pad_edge=False)
    for rule in RULES:
        text = Text(rule.title)
        text.append(f"\n{rule.rule}\nBroken if: {rule.breach}", style="dim")
        table.add_row(rule.id, rule.strength.value, rule.judged.value, by_rule[rule.id].name, text)
    Terminal().show(table)
