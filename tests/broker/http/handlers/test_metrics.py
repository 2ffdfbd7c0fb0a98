"""Tests of ``/metrics``, with Prometheus' own parser, and of the status page's reload."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.broker.http.conftest import KnownUsers, Serve, Served, basic
from tests.broker.http.handlers.test_messaging import send_later

from assay_broker.http import HttpLimits

EVIL = 'Q"\\n{le="1"}'
SECRET = "a body that nobody else may read"

Labels = tuple[tuple[str, str], ...]


def scraped(served: Served, headers: dict[str, str] | None = None) -> dict[tuple[str, Labels], float]:
    """Return all samples of ``/metrics``, by name and labels."""
    reply = served.ask("GET", "/metrics", headers=headers or {})
    assert (reply.status, reply.headers["content-type"].split(";")[0]) == (200, "text/plain")
    assert SECRET not in reply.text
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(reply.text)
        for sample in family.samples
    }


def test_depths_staged_messages_subscriptions_and_traffic_are_counted(served: Served) -> None:
    before = scraped(served)
    for _ in range(3):
        served.put(SECRET)
    send_later(served, "ORDERS", SECRET, 600_000)
    served.must("DEFINE SUB(NEWS) TOPICSTR('sport') DEST(ORDERS)")
    after = scraped(served)
    orders = (("queue", "ORDERS"),)
    assert after["assay_queue_depth", orders] == 3
    assert (after["assay_staged_messages", ()], after["assay_messages", ()]) == (1, 3)
    assert after["assay_subscriptions", (("durable", "yes"),)] == 1
    assert after["assay_connections", (("protocol", "amqp"),)] == 0
    assert after["assay_puts_total", ()] - before["assay_puts_total", ()] >= 1
    assert after["assay_store_flushes_total", ()] > before["assay_store_flushes_total", ()]
    assert after["assay_store_flushed_batches_total", ()] >= after["assay_store_flushes_total", ()]
    assert after["assay_store_flush_seconds_total", ()] >= 0
    (info,) = [dict(labels) for name, labels in after if name == "assay_queue_manager_info"]
    assert (info["name"], info["platform"], info["level"]) == ("ASSAY", "distributed", "8.0")


def test_names_of_queues_are_escaped(served: Served) -> None:
    send_later(served, EVIL, "x", delay_ms=0)
    assert scraped(served)["assay_queue_depth", (("queue", EVIL),)] == 1


def test_only_the_deepest_queues_are_shown_and_all_are_summed(serve: Serve) -> None:
    served = serve(limits=HttpLimits(rows=2))
    for number in range(4):
        served.must(f"DEFINE QLOCAL(Q{number})")
        for _ in range(number):
            served.put("x", f"/ibmmq/rest/v2/messaging/qmgr/ASSAY/queue/Q{number}/message")
    found = scraped(served)
    assert [labels for name, labels in found if name == "assay_queue_depth"] == [(("queue", "Q3"),), (("queue", "Q2"),)]
    assert found["assay_messages", ()] == 6


def test_metrics_are_for_users_where_there_are_users(serve: Serve) -> None:
    served = serve(KnownUsers(mqm="secret"))
    assert served.ask("GET", "/metrics").status == 401
    assert scraped(served, basic("mqm", "secret"))


def test_metrics_are_for_users_who_may_see_the_status_page(serve: Serve) -> None:
    served = serve(KnownUsers(mqm="secret", alice="wonder"))
    alice = basic("alice", "wonder")
    assert [served.ask("GET", path, headers=alice).status for path in ("/", "/metrics")] == [403, 403]


def test_two_servers_in_one_process_do_not_mix(serve: Serve) -> None:
    one, other = serve(), serve()
    one.put("x")
    assert (scraped(one)["assay_messages", ()], scraped(other)["assay_messages", ()]) == (1, 0)


@pytest.mark.parametrize(("query", "seconds"), [("", "5"), ("?refresh=30", "30"), ("?refresh=999999", "3600")])
def test_the_status_page_loads_itself_anew(served: Served, query: str, seconds: str) -> None:
    page = served.ask("GET", f"/{query}").text
    assert f'<meta http-equiv="refresh" content="{seconds}">' in page
    assert '<a href="?refresh=0">Stop reloading</a>' in page


def test_the_status_page_can_be_paused_and_goes_on(served: Served) -> None:
    page = served.ask("GET", "/?refresh=0").text
    assert "http-equiv" not in page
    assert '<a href="?refresh=5">reload every 5 s</a>' in page
    assert served.ask("GET", "/?refresh=soon").error[:1] == (400,)


def test_the_status_page_shows_no_bodies(served: Served) -> None:
    served.put(SECRET)
    send_later(served, "ORDERS", SECRET, 600_000)
    assert SECRET not in served.ask("GET", "/").text
