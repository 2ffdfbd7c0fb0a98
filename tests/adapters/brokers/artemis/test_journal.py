"""Tests with an Apache Artemis that answers before its journal is on the disk, and so breaks PD-20."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from io import BytesIO
from pathlib import Path

import docker
import pytest
from msgspec import Struct

from assay_adapters.brokers.amqp.backend import ProductBackend
from assay_adapters.brokers.artemis.product import ARTEMIS
from assay_adapters.disks import process as disks
from assay_adapters.ports.backend import Unavailable
from assay_evidence.verdicts import Verdict, load_verdicts
from assay_sdk.runners.real import RealRunner
from assay_steps.plugin.suite import SuiteOptions, run_suite

pytestmark = pytest.mark.docker

_SETTINGS = "/var/lib/artemis/etc/broker.xml"


class Broken(Struct, frozen=True):
    """An Artemis with other settings.

    Args:
        image: The name of its image.
        edits: Edits of Artemis's settings, for ``sed -E``.
        narrowed: The words of the scenario that convicts it, for ``pytest -k``.
        by_power_loss: Whether the scenario needs the disk that can lose its power.
    """

    image: str
    edits: tuple[str, ...]
    narrowed: str
    by_power_loss: bool


_LAZY = Broken(
    image="assay/artemis-with-a-lazy-journal",
    edits=(
        "s|(<journal-sync-[a-z-]*>)true|\\1false|",
        "s|</journal-datasync>|&<journal-buffer-timeout>2000000000</journal-buffer-timeout>|",
    ),
    narrowed="many_kills_each",
    by_power_loss=False,
)
"""An Artemis that answers a send at once, and writes its journal every two seconds."""
_UNFLUSHED = Broken(
    image="assay/artemis-without-flushes",
    edits=("s|(<journal-datasync>)true|\\1false|",),
    narrowed="confirmed_messages_are_still",
    by_power_loss=True,
)
"""An Artemis that writes its journal before it answers, and does not flush it; a kill alone loses nothing."""


@pytest.fixture(params=[_LAZY, _UNFLUSHED], ids=lambda broken: broken.image)
def broken(request: pytest.FixtureRequest) -> Iterator[Broken]:
    one: Broken = request.param
    with closing(RealRunner()) as runner, closing(ProductBackend(ARTEMIS, runner=runner)) as backend:
        probed = backend.probe()
    for found in (probed, disks.probe() if one.by_power_loss else probed):
        if isinstance(found, Unavailable):
            pytest.skip(f"{found.reason}; {found.remedy}")
    edits = " ".join(f"-e '{edit}'" for edit in one.edits)
    recipe = f"FROM {ARTEMIS.images[0]}\nUSER root\nRUN sed -i -E {edits} {_SETTINGS}\nUSER artemis\n"
    with closing(docker.from_env()) as client:
        client.images.build(fileobj=BytesIO(recipe.encode()), tag=one.image, rm=True, forcerm=True)
        yield one
        client.images.remove(one.image, force=True)


def test_a_broker_that_answers_before_the_disk_is_convicted(
    broken: Broken, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ARTEMIS.image_variable, broken.image)
    verdicts = {}
    for attempt in range(3):  # without worker processes, a run does not repeat what a busy machine delayed
        out = tmp_path / str(attempt)
        narrowed = ("-k", broken.narrowed)
        run_suite(SuiteOptions(out=out, backend="artemis", rules=("PD-20",), probes=False, pytest_args=narrowed))
        verdicts = {rule.id: rule.verdict for rule in load_verdicts(out / "verdicts.json").rules}
        if verdicts != {"PD-20": Verdict.INCONCLUSIVE}:
            break
    assert verdicts == {"PD-20": Verdict.FAIL}
