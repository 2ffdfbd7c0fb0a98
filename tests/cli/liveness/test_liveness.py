"""Tests of stomp-liveness with the reference broker, the SDK, stomp.py, and a defect for each rule."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from tests.broker.stomp.serving import StompServing, serving
from tests.cli.conftest import Assay

from assay.exits import Exit
from assay.liveness.campaign import Settings, run
from assay.liveness.defects import DEFECTS, Defect
from assay.liveness.judge import Finding, Verdict
from assay.liveness.plain import Target
from assay.liveness.rules import BY_ID, RULES, Side
from assay.liveness.subject import SUBJECTS
from assay_sdk.stomp.conventions import REFERENCE, Conventions

INTERVALS_MS = (300, 1_000, 3_000)
"""Tried one after the other, because on a busy machine both ends and the kit are late for a short interval."""
OURS = dict.fromkeys(Side, True)


@pytest.fixture(scope="module")
def server() -> Iterator[StompServing]:
    """Provide a server for the tests of the module."""
    with serving() as found:
        yield found


def found(
    server: StompServing,
    out: Path,
    every_ms: int,
    *sides: Side,
    defect: Defect | None = None,
    conventions: Conventions | None = None,
) -> dict[str, Finding]:
    target = Target("127.0.0.1", server.port)
    subject = SUBJECTS["sdk"](target, every_ms, conventions)
    return {one.rule: one for one in run(target, subject, Settings(every_ms, OURS, out, defect, sides))}


def test_the_reference_broker_and_the_sdk_keep_all_rules(server: StompServing, tmp_path: Path) -> None:
    for every_ms in INTERVALS_MS:
        verdicts = found(server, tmp_path, every_ms, *Side)
        assert list(verdicts) == [rule.id for rule in RULES]
        failed = [one for one in verdicts.values() if one.verdict is not Verdict.PASS]
        if not failed:
            break
    assert not failed
    records = sorted(path.stem for path in (tmp_path / "wire").iterdir())
    assert records == [
        *("client-busy", "client-idle", "client-idle-2", "client-silent"),
        *("server-frames", "server-idle", "server-mute", "server-none"),
    ]
    head, first, *_ = (tmp_path / "wire" / "server-idle.jsonl").read_bytes().splitlines()
    assert msgspec.json.decode(head)["scenario"] == "server-idle"
    assert msgspec.json.decode(first)["from"] == "client"


@pytest.mark.parametrize("defect", DEFECTS, ids=[one.name for one in DEFECTS])
def test_a_defect_fails_its_rule_and_no_other(server: StompServing, tmp_path: Path, defect: Defect) -> None:
    for every_ms in INTERVALS_MS:
        verdicts = found(server, tmp_path, every_ms, BY_ID[defect.rule].judged, defect=defect)
        failed = [one.rule for one in verdicts.values() if one.verdict is Verdict.FAIL]
        if failed == [defect.rule]:
            return
    assert failed == [defect.rule], [(one.rule, one.verdict, one.text) for one in verdicts.values()]


def test_the_connection_of_a_receiver_is_not_taken_for_the_second_connection(
    server: StompServing, tmp_path: Path
) -> None:
    each_its_own = replace(REFERENCE, unsubscribe_returns=False)
    for every_ms in INTERVALS_MS:
        verdicts = found(server, tmp_path, every_ms, Side.CLIENT, conventions=each_its_own)
        if verdicts["SL-13"].verdict is Verdict.PASS:
            break
    assert verdicts["SL-13"].verdict is Verdict.PASS, verdicts["SL-13"]


def test_a_busy_listener_is_judged_by_the_connection_of_its_receiver(server: StompServing, tmp_path: Path) -> None:
    each_its_own = replace(REFERENCE, unsubscribe_returns=False)
    for every_ms in INTERVALS_MS:
        verdicts = found(server, tmp_path, every_ms, Side.CLIENT, conventions=each_its_own)
        if verdicts["SL-09"].verdict is Verdict.PASS:
            break
    assert verdicts["SL-09"].verdict is Verdict.PASS, verdicts["SL-09"]
    lines = [msgspec.json.decode(line) for line in (tmp_path / "wire" / "client-busy.jsonl").read_bytes().splitlines()]
    assert any("MESSAGE" in str(line) for line in lines)


@pytest.mark.parametrize("name", ["starved-client", "once-client"])
def test_a_defect_fails_its_rule_also_if_receivers_have_connections_of_their_own(
    server: StompServing, tmp_path: Path, name: str
) -> None:
    each_its_own = replace(REFERENCE, unsubscribe_returns=False)
    defect = next(one for one in DEFECTS if one.name == name)
    for every_ms in INTERVALS_MS:
        verdicts = found(server, tmp_path, every_ms, Side.CLIENT, defect=defect, conventions=each_its_own)
        failed = [one.rule for one in verdicts.values() if one.verdict is Verdict.FAIL]
        if failed == [defect.rule]:
            return
    assert failed == [defect.rule], [(one.rule, one.verdict, one.text) for one in verdicts.values()]


def test_a_client_that_cannot_connect_is_inconclusive(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        target = Target("127.0.0.1", gone.getsockname()[1])
    settings = Settings(INTERVALS_MS[0], OURS, tmp_path, None, (Side.CLIENT,))
    verdicts = run(target, SUBJECTS["stomp.py"](target, INTERVALS_MS[0], None), settings)
    assert {one.verdict for one in verdicts} == {Verdict.INCONCLUSIVE}
    assert "stomp.py cannot connect" in verdicts[0].text


def test_a_kit_rule_is_only_recorded_for_a_product(server: StompServing, tmp_path: Path) -> None:
    target, defect = Target("127.0.0.1", server.port), next(one for one in DEFECTS if one.name == "patient-server")
    settings = Settings(INTERVALS_MS[0], dict.fromkeys(Side, False), tmp_path, defect, (Side.SERVER,))
    verdicts = {one.rule: one.verdict for one in run(target, SUBJECTS["sdk"](target, 1, None), settings)}
    assert verdicts["SL-05"] is Verdict.RECORDED


def test_the_command_shows_rules_and_refuses_impossible_options(assay: Assay, tmp_path: Path) -> None:
    ended = assay("liveness", "--rules")
    assert ended.code is Exit.AS_EXPECTED
    assert all(rule.id in ended.out for rule in RULES)
    assert "SL-13" in assay("rules", "--profile", "stomp-liveness").out
    for arguments, text in (
        (("liveness", "--backend", "reference-server"), "do not use STOMP"),
        (("liveness", "--side", "broker"), "broker"),
        (("liveness", "--client", "stompjs"), "stompjs"),
        (("liveness", "--defect", "mute"), "mute-server"),
        (("liveness", "--interval", "50ms"), "choose 100 ms or more"),
    ):
        refused = assay(*arguments, "--out", tmp_path)
        assert (refused.code, text in refused.err) == (Exit.USAGE, True), refused


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--rule", "DD-02"), "--rule"),
        (("--scenario", "DD-02/*"), "--scenario"),
        (("--times", "2"), "--times"),
        (("--times", "1"), "--times"),
        (("--workers", "0"), "--workers"),
        (("--seed", "7"), "--seed"),
        (("--store", "memory"), "--store"),
        (("--face", "classic"), "--face"),
        (("--defect", "mute"), "--defect"),
        (("--variant", "slow"), "--variant"),
        (("--late", "30s"), "--late"),
        (("--", "-x"), "-x (after --)"),
    ],
)
def test_the_profile_in_assay_run_refuses_each_option_without_a_meaning(
    assay: Assay, tmp_path: Path, arguments: tuple[str, ...], named: str
) -> None:
    out = tmp_path / "out"
    refused = assay("run", "--profile", "stomp-liveness", "--out", out, *arguments)
    text = f"{named} has no meaning with --profile stomp-liveness: leave it out, or use `assay liveness`."
    assert (refused.code, refused.err) == (Exit.USAGE, f"assay: {text}\n")
    assert not out.exists()


def test_the_profile_in_assay_run_takes_a_backend_and_a_folder(assay: Assay, tmp_path: Path) -> None:
    refused = assay("run", "--profile", "stomp-liveness", "--backend", "reference-server", "--out", tmp_path)
    assert (refused.code, "do not use STOMP" in refused.err) == (Exit.USAGE, True), refused


def test_the_command_judges_a_backend_and_writes_the_verdicts(assay: Assay, tmp_path: Path) -> None:
    for every_ms in INTERVALS_MS:
        ended = assay("liveness", "--side", "server", "--interval", f"{every_ms}ms", "--out", tmp_path)
        if ended.code is Exit.AS_EXPECTED:
            break
    assert ended.code is Exit.AS_EXPECTED, ended
    written = msgspec.json.decode((tmp_path / "liveness.json").read_bytes())
    assert (written["backend"], len(written["rules"])) == ("reference-server+stomp", 6)
