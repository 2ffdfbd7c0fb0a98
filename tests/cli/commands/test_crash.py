"""Tests of ``assay crash`` with a few real kills; ``make crash`` runs many more."""

from __future__ import annotations

import multiprocessing
import re
from pathlib import Path

import pytest
from tests.cli.conftest import Assay

from assay.campaign.campaign import Campaign, CampaignOptions
from assay.campaign.defects import STORE_DEFECTS
from assay.campaign.phases import Halt, Phase
from assay.campaign.server import BrokerOrder
from assay.campaign.supervisor import BrokerDownError, Supervisor
from assay.exits import Exit
from assay_evidence.verdicts import Verdict, Verdicts, load_verdicts
from assay_sdk.runners.machine_clock import MachineClock
from assay_steps.plugin.folder import VERDICTS, make_room
from assay_steps.plugin.run import conclude


def rules(verdicts: Verdicts) -> dict[str, Verdict]:
    return {rule.id: rule.verdict for rule in verdicts.rules}


def test_a_broker_on_disk_survives_its_kills(assay: Assay, tmp_path: Path) -> None:
    ended = assay("crash", "--kills", 6, "--out", tmp_path / "out")
    assert ended.code is Exit.AS_EXPECTED, ended.out
    assert set(rules(load_verdicts(tmp_path / "out" / VERDICTS)).values()) == {Verdict.PASS}
    counted = [
        int(number) for number in re.findall(r"^(?:idle|before|between|in the|after).* (\d+)$", ended.out, re.MULTILINE)
    ]
    assert (len(counted), sum(counted)) == (len(Phase), 6)
    assert (tmp_path / "out" / "report" / "index.html").exists()


def test_a_broker_that_keeps_everything_in_memory_is_found_out(assay: Assay, tmp_path: Path) -> None:
    ended = assay("crash", "--kills", 4, "--store", "memory", "--out", tmp_path / "out")
    assert ended.code is Exit.NOT_AS_EXPECTED
    found = rules(load_verdicts(tmp_path / "out" / VERDICTS))
    assert (found["PD-20"], found["PD-22"]) == (Verdict.FAIL, Verdict.PASS)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("defect", "kills"),
    [
        ("no-flush", 16),
        ("answer-before-flush", 24),
        pytest.param("records-swapped", 30, id="records-swapped: only a kill amid a flush shows it"),
    ],
)
def test_a_planted_bug_of_the_store_is_found(assay: Assay, tmp_path: Path, defect: str, kills: int) -> None:
    ended = assay("crash", "--kills", kills, "--defect", defect, "--out", tmp_path / "out")
    assert ended.code is Exit.NOT_AS_EXPECTED
    assert f"with defect {defect} switched on" in ended.out


def test_every_planted_bug_is_tried() -> None:
    assert len(STORE_DEFECTS) == 3


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--store", "sqlit"], "did you mean 'sqlite'?"),
        (["--defect", "noflush"], "did you mean 'no-flush'?"),
        (["--kills", "0"], "'--kills'"),
    ],
)
def test_what_does_not_exist_starts_nothing(assay: Assay, tmp_path: Path, arguments: list[str], says: str) -> None:
    ended = assay("crash", "--out", tmp_path / "out", *arguments)
    assert ended.code is Exit.USAGE
    assert says in ended.err
    assert not (tmp_path / "out").exists()


def test_a_broker_that_cannot_be_started_again_has_lost_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_room(tmp_path / "out")
    start = Supervisor.start

    def only_once(supervisor: Supervisor) -> None:
        if supervisor.start_ns:
            raise BrokerDownError("The store cannot be opened: its file is damaged.")
        start(supervisor)

    monkeypatch.setattr(Supervisor, "start", only_once)
    with Campaign(CampaignOptions(out=tmp_path / "out", kills=1)) as campaign:
        tally = campaign.run()
    assert "damaged" in tally.down
    conclude(tmp_path / "out")
    verdicts = load_verdicts(tmp_path / "out" / VERDICTS)
    assert rules(verdicts)["PD-20"] is Verdict.FAIL
    assert any("its file is damaged" in finding.observed for one in verdicts.scenarios for finding in one.findings)


class TestSupervisor:
    """Tests of the broker's process alone."""

    def test_it_stops_where_it_is_told_to_and_is_killed_there(self, tmp_path: Path) -> None:
        supervisor = self.supervisor(tmp_path)
        supervisor.start()
        assert supervisor.kill() is Phase.IDLE
        supervisor.start()
        supervisor.arm(Halt(Phase.WRITTEN, 1))
        assert not supervisor.await_halt(0.05), "nobody writes anything"
        supervisor.stop()
        assert dict(supervisor.kills) == {Phase.IDLE: 1}

    def test_a_store_that_refuses_is_told_in_its_own_words(self, tmp_path: Path) -> None:
        (tmp_path / "data").write_text("no folder")
        supervisor = self.supervisor(tmp_path)
        with pytest.raises(BrokerDownError, match="The store cannot be opened: "):
            supervisor.start()
        supervisor.abandon()

    def test_a_process_that_ends_by_itself_is_told_so(self, tmp_path: Path) -> None:
        supervisor = self.supervisor(tmp_path)
        supervisor.start()
        assert supervisor.process.pid is not None
        supervisor.process.terminate()
        with pytest.raises(BrokerDownError, match="ended by itself"):
            supervisor.await_halt(60)
        supervisor.abandon()

    @staticmethod
    def supervisor(folder: Path) -> Supervisor:
        order = BrokerOrder(folder=folder, store="sqlite", defect=None)
        return Supervisor(order, multiprocessing.get_context("forkserver"), MachineClock())
