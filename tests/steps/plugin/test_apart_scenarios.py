"""Tests of scenarios that a single server cannot run; some of them (the apart ones) do not decide their rule."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from assay_adapters.brokers.reference.inprocess.backend import ReferenceBackend
from assay_adapters.brokers.reference.server.backend import CAPABILITIES
from assay_adapters.known import KnownOutcome, KnownOutcomes
from assay_adapters.ports.backend import FaultSharing
from assay_adapters.ports.capabilities import FAULT_CAPABILITIES
from assay_evidence.verdicts import Verdict
from assay_features import Role, load_catalogue
from assay_sdk.model.capabilities import SITUATIONAL
from assay_steps.plugin.cases import CASE, Case
from assay_steps.plugin.suite import SuiteOptions, run_suite


class _Collected:
    """A pytest plugin that keeps the cases of a run."""

    def __init__(self) -> None:
        self.cases: list[Case] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.cases = [item.stash[CASE] for item in session.items]


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> list[Case]:
    collected = _Collected()
    out: Path = tmp_path_factory.mktemp("collected") / "out"
    run_suite(SuiteOptions(out=out, pytest_args=("--collect-only",)), plugins=[collected])
    return collected.cases


def test_one_server_can_be_tried_for_every_rule_but_those_that_the_catalogue_names(cases: list[Case]) -> None:
    def is_beyond(case: Case) -> bool:
        return bool(case.needs.capabilities - CAPABILITIES.keys() - SITUATIONAL) or case.needs.topology != "single"

    core = [case for case in cases if case.role == Role.CORE]
    shown = {rule for case in core if not is_beyond(case) for rule in case.rules}
    beyond = {rule for case in core for rule in case.rules} - shown
    assert beyond == {rule.id for rule in load_catalogue().rules if rule.beyond_one_server is not None}


def test_every_rule_has_a_scenario_that_decides_it_wherever_time_is_real(cases: list[Case]) -> None:
    decided = {rule for case in cases if not case.needs.capabilities & SITUATIONAL for rule in case.rules}
    assert decided == {rule.id for rule in load_catalogue().rules if rule.observable}


def test_a_scenario_that_is_known_to_stop_the_product_has_a_broker_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(ReferenceBackend, "fault_sharing", FaultSharing.TOGETHER)
    entry = KnownOutcome(
        "delay/early.feature::A waiting receiver*", Verdict.INCONCLUSIVE, "", "", "", date(2027, 1, 1), own_broker=True
    )
    monkeypatch.setattr("assay_steps.plugin.run.known_outcomes", lambda _: KnownOutcomes((entry,)))
    collected = _Collected()
    asked = SuiteOptions(out=tmp_path / "out", rules=("DD-02",), pytest_args=("--collect-only",))
    run_suite(asked, plugins=[collected])
    without_fault = [case for case in collected.cases if not case.needs.capabilities & FAULT_CAPABILITIES]
    apart = {case.id for case in without_fault if case.needs.own_instance}
    assert apart == {case.id for case in collected.cases if entry.covers(case.id)}
    assert 0 < len(apart) < len(collected.cases)
