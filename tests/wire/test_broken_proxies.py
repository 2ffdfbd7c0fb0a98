"""Tests that the suite convicts correct brokers behind proxies that break frames, and acquits those that break nothing.

`make test` tries a few proxies, because each run takes seconds.  `make interop` tries all, also before four products in
containers.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from tests.wire import backends
from tests.wire.breaker import Connection
from tests.wire.breaks import BROKEN, QUICK, RIGHT

from assay.application import ending
from assay.exits import Exit
from assay_adapters.known import known_outcomes
from assay_adapters.ports.backend import Available
from assay_adapters.ports.entry import GROUP
from assay_adapters.registry import open_backend
from assay_evidence.verdicts import Verdict, Verdicts, load_verdicts
from assay_features import feature_root
from assay_steps.plugin.checks import tagged_scenarios

SERVER = "wire-reference-server"
PRODUCTS = ("wire-artemis", "wire-activemq", "wire-broker-j", "wire-rabbitmq")
ENTRIES = {
    SERVER: "SERVER",
    "wire-artemis": "BEFORE_ARTEMIS",
    "wire-activemq": "BEFORE_ACTIVEMQ",
    "wire-broker-j": "BEFORE_BROKER_J",
    "wire-rabbitmq": "BEFORE_RABBITMQ",
}
"""The entry of each backend in `tests.wire.backends`."""
BACKENDS = (SERVER, *(pytest.param(name, marks=(pytest.mark.docker, pytest.mark.proof)) for name in PRODUCTS))
QUICK_ONES = {"drops-acknowledgements", "splits-transfers"}
"""The proxies that `make test` tries."""
CANNOT_SHOW: Mapping[str, frozenset[str]] = {
    # RabbitMQ 4.0 has no durable subscriptions, delays or transactions over AMQP 1.0.
    "wire-rabbitmq": frozenset({
        "drops-acknowledgements", "acknowledges-earlier-messages", "settles-deliveries", "reorders", "strips-delay",
        "strips-time-to-live", "commits-rollbacks",
    }),
}  # fmt: skip
"""The broken proxies whose scenarios a product cannot run."""
LEFT_OUT: Mapping[tuple[str, str], str] = {
    # Artemis 2.56.0 then sometimes closes the connection: "Cannot invoke DeliveryImpl.getTransportDelivery()".
    ("wire-artemis", "splits-transfers"): "commits-rollbacks",
}
"""By product and proxy that breaks nothing, the broken proxy whose scenario then shows a mistake of the product."""
BROKEN_ONES, RIGHT_ONES = (
    [pytest.param(name, marks=() if name in QUICK_ONES else (pytest.mark.proof,)) for name in table]
    for table in (BROKEN, RIGHT)
)


@pytest.fixture(scope="module", autouse=True)
def _installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Install the backends behind proxies, and end their brokers after the last test."""
    site = tmp_path_factory.mktemp("site")
    told = site / "wire-1.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: wire\nVersion: 1\n")
    points = [f"{name} = tests.wire.backends:{entry}" for name, entry in ENTRIES.items()]
    (told / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *points, ""]))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "path", [*sys.path, str(site)])
        yield
    backends.close_all()


def run(backend: str, kind: type[Connection], scenarios: tuple[str, ...], out: Path) -> Verdicts:
    """Run scenarios on a broker behind a proxy."""
    if not isinstance(probed := open_backend(backend).probe(), Available):
        pytest.skip(f"{probed.reason}; {probed.remedy}")
    chosen = [word for scenario in scenarios for word in ("--scenario", scenario)]
    for attempt in range(3):  # without worker processes, a run does not repeat what a busy machine delayed
        folder = out / str(attempt)
        with backends.behind(kind):
            code = ending(["run", "--backend", backend, "--out", str(folder), "--workers", "0", *chosen])
        assert code in {Exit.AS_EXPECTED, Exit.NOT_AS_EXPECTED, Exit.INCONCLUSIVE}
        verdicts = load_verdicts(folder / "verdicts.json")
        if Verdict.INCONCLUSIVE not in {one.verdict for one in verdicts.scenarios}:
            break
    return verdicts


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_proxy_names_scenarios_that_exist(name: str) -> None:
    file, _, pattern = BROKEN[name].scenario.partition("::")
    titles = [one.name for one in tagged_scenarios(feature_root() / file)]
    assert [title for title in titles if fnmatchcase(title, pattern.partition("[")[0])]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", BROKEN_ONES)
def test_a_broken_proxy_is_convicted_by_its_rule(name: str, backend: str, tmp_path: Path) -> None:
    if name in CANNOT_SHOW.get(backend, ()):
        pytest.skip("the product lacks what the scenario needs")
    broken = BROKEN[name]
    verdicts = run(backend, broken.kind, (broken.scenario,), tmp_path / "out")
    assert verdicts.scenarios, "no scenario has this name"
    if any(known_outcomes(backend).find(one.scenario, Verdict.FAIL) for one in verdicts.scenarios):
        pytest.skip("a known outcome: the product fails this scenario without a proxy, too")
    told = [(one.scenario, one.verdict, one.reason) for one in verdicts.scenarios]
    assert {rule.id: rule.verdict for rule in verdicts.rules}.get(broken.rule) is Verdict.FAIL, told


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", RIGHT_ONES)
def test_a_proxy_that_breaks_nothing_is_acquitted(name: str, backend: str, tmp_path: Path) -> None:
    left_out = LEFT_OUT.get((backend, name))
    shown = BROKEN.keys() - CANNOT_SHOW.get(backend, frozenset()) - {left_out}
    whole = backend in PRODUCTS or name == "passes-on"
    scenarios = tuple(BROKEN[one].scenario for one in sorted(shown)) if whole else QUICK
    verdicts = run(backend, RIGHT[name], scenarios, tmp_path / "out")
    known = known_outcomes(backend)
    other = [one for one in verdicts.scenarios if one.verdict is not Verdict.PASS]
    told = [(one.scenario, one.verdict, one.reason) for one in other if known.find(one.scenario, one.verdict) is None]
    assert told == []
    assert len(verdicts.scenarios) >= len(scenarios)
