from __future__ import annotations

import time

import pytest

from assay_broker.core.administration.authority import Authorities
from assay_broker.core.objects.directory import Directory
from assay_broker.core.objects.factory import BASE_TOPIC, DEAD_LETTER_QUEUE, STAGING_QUEUE
from assay_broker.core.objects.host import Host
from assay_broker.core.objects.model import Namespace
from assay_broker.mqsc.defaults import default_objects, default_script
from assay_broker.mqsc.dry_run import DryRun
from assay_broker.mqsc.script import run_script


def test_the_default_script_has_no_mistakes() -> None:
    dry_run = DryRun(default_objects("QM1").objects, Host())
    assert run_script(default_script(), dry_run.ask, Host()).refused == ()


def test_by_default_queues_are_made_on_use_and_publications_may_be_delayed() -> None:
    directory = Directory(default_objects("QM1").objects)
    own = directory.queue_manager()
    assert (own.name, own.text("CUSTOM"), own.text("DEADQ")) == ("QM1", "ONUSE(YES)", DEAD_LETTER_QUEUE)
    base = directory.find(Namespace.TOPIC, BASE_TOPIC)
    assert base is not None
    assert (base.text("PMSGDLV"), base.text("NPMSGDLV")) == ("ALLAVAIL", "ALLAVAIL")


@pytest.mark.parametrize("zos", [False, True])
def test_by_default_everybody_may_do_what_an_application_does_but_not_with_system_queues(zos: bool) -> None:
    authorities = Authorities(default_objects("MQ01", zos=zos).authorities)
    for authority in ("GET", "BROWSE", "PUT", "INQ"):
        assert authorities.allowed(None, "QUEUE", "ORDERS.NEW", authority)
        assert not authorities.allowed("alice", "QUEUE", STAGING_QUEUE, authority)
    assert authorities.allowed(None, "TOPIC", BASE_TOPIC, "PUB")
    assert authorities.allowed(None, "QMGR", "self", "CONNECT")
    assert not authorities.allowed(None, "QUEUE", "ORDERS.NEW", "DLT")


def test_on_zos_there_is_no_staging_queue_by_default() -> None:
    assert Directory(default_objects("MQ01", zos=True).objects).queue(STAGING_QUEUE) is None
    assert Directory(default_objects("MQ01").objects).queue(STAGING_QUEUE) is not None


def test_the_default_objects_are_worked_out_once() -> None:
    default_objects("QM1")
    begun = time.process_time()
    for _ in range(1_000):
        default_objects("QM1")
    assert time.process_time() - begun < 1
