"""Tests with an Apache Artemis that answers before its journal is on disk, and so breaks PD-20."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from io import BytesIO
from pathlib import Path

import docker
import pytest

from assay_adapters.brokers.amqp.backend import ProductBackend
from assay_adapters.brokers.artemis.product import ARTEMIS
from assay_adapters.ports.backend import Unavailable
from assay_evidence.verdicts import Verdict, load_verdicts
from assay_sdk.runners.real import RealRunner
from assay_steps.plugin.suite import SuiteOptions, run_suite

pytestmark = pytest.mark.docker

_LAZY = "assay/artemis-with-a-lazy-journal"
_SETTINGS = "/var/lib/artemis/etc/broker.xml"
_EDITS = (
    "s|(<journal-sync-[a-z-]*>)true|\\1false|",
    "s|</journal-datasync>|&<journal-buffer-timeout>2000000000</journal-buffer-timeout>|",
)
"""Edits of Artemis's settings: it then answers a send at once, and writes its journal every two seconds."""


@pytest.fixture(scope="module")
def image() -> Iterator[str]:
    with closing(RealRunner()) as runner, closing(ProductBackend(ARTEMIS, runner=runner)) as backend:
        probed = backend.probe()
    if isinstance(probed, Unavailable):
        pytest.skip(f"{probed.reason}; {probed.remedy}")
    edits = " ".join(f"-e '{edit}'" for edit in _EDITS)
    recipe = f"FROM {ARTEMIS.images[0]}\nUSER root\nRUN sed -i -E {edits} {_SETTINGS}\nUSER artemis\n"
    with closing(docker.from_env()) as client:
        client.images.build(fileobj=BytesIO(recipe.encode()), tag=_LAZY, rm=True, forcerm=True)
        yield _LAZY
        client.images.remove(_LAZY, force=True)


def test_a_broker_that_answers_before_the_disk_is_convicted(
    image: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ARTEMIS.image_variable, image)
    narrowed = ("-k", "many_kills_each")
    verdicts = {}
    for attempt in range(3):  # without worker processes, a run does not repeat what a busy machine delayed
        out = tmp_path / str(attempt)
        run_suite(SuiteOptions(out=out, backend="artemis", rules=("PD-20",), probes=False, pytest_args=narrowed))
        verdicts = {rule.id: rule.verdict for rule in load_verdicts(out / "verdicts.json").rules}
        if verdicts != {"PD-20": Verdict.INCONCLUSIVE}:
            break
    assert verdicts == {"PD-20": Verdict.FAIL}
