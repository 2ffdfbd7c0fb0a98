"""The handler of the status page: queues, staged messages with their due times, subscriptions, topics, connections.

The page reloads itself by a ``meta`` element, without a script, and shows no message bodies.  The template escapes all
names and texts, because clients chose them.

"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import lru_cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from msgspec import Struct
from starlette.responses import Response

from assay_broker.core.administration.changes import DisplayObjects, NativeBrowse
from assay_broker.core.effects import Value
from assay_broker.core.messages.descriptor import Described
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.objects.model import Definition, Kind
from assay_broker.http.requests.connections import ManagerConnection
from assay_broker.http.requests.request import ApiRequest
from assay_broker.mqsc.words import QUEUE_KINDS
from assay_broker.wire import product_version
from assay_sdk.model.reasons import Refused

_DEFAULT_SUBSCRIPTION = "SYSTEM.DEFAULT.SUB"
_LONGEST = 120
"""The most characters of a name that the page shows."""

REFRESH = "refresh"
"""The query parameter with the seconds between reloads; 0 for no reload."""
REFRESH_S, LONGEST_REFRESH_S = 5, 3_600

Cell = str | int


class Table(Struct, frozen=True, kw_only=True):
    """A table of the status page.

    Args:
        anchor: The id of the table's heading.
        title: The table's heading.
        about: A sentence below the heading; empty for none.
        columns: The headings of the columns.
        numbers: The headings of the columns that hold numbers.
        rows: The rows that the page shows.
        left: The number of rows that the page does not show.
        empty: A sentence that the page shows if the table has no row.
    """

    anchor: str
    title: str
    about: str = ""
    columns: tuple[str, ...]
    numbers: tuple[str, ...] = ()
    rows: Sequence[tuple[Cell, ...]]
    left: int = 0
    empty: str


async def page(request: ApiRequest) -> Response:
    """Answer with the status page."""
    rows = request.served.limits.rows
    refresh_s = request.number(REFRESH, REFRESH_S, LONGEST_REFRESH_S)
    async with request.connected() as asker:
        manager = _definitions(await asker.must(DisplayObjects(kinds=(Kind.QMGR,), name="")))
        queues = _definitions(await asker.must(DisplayObjects(kinds=QUEUE_KINDS, name="*")))
        topics = _definitions(await asker.must(DisplayObjects(kinds=(Kind.TOPIC,), name="*")))
        subscriptions = _definitions(await asker.must(DisplayObjects(kinds=(Kind.SUB,), name="*")))
        staged = await _staged(asker, rows)
    tables = (
        _queues([one for one in queues if not one.name.startswith("SYSTEM.") or one.attributes.get("CURDEPTH")], rows),
        _staging(staged, queues, rows, request.now_ms),
        _subscriptions(subscriptions, rows),
        _topics(topics, rows),
        _connections(request, rows),
    )
    settings = request.served.queue_manager.settings
    text = _template().render(
        name=request.manager,
        platform="z/OS" if settings.host.zos else "distributed",
        level=settings.level,
        description=manager[0].text("DESCR") if manager else "",
        version=product_version(),
        now=_moment(request.now_ms),
        user=request.user,
        tables=tables,
        refresh_s=refresh_s,
        usual_s=REFRESH_S,
    )
    return Response(text.encode(errors="replace"), media_type="text/html; charset=utf-8")


@lru_cache(maxsize=1)
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("assay_broker.http"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("status.html")


def _definitions(value: Value) -> list[Definition]:
    return [one for one in value or () if isinstance(one, Definition)]


async def _staged(asker: ManagerConnection, rows: int) -> list[Described] | None:
    """Return the staged messages; None if the user has no authority to browse the staging queue."""
    value = await asker.administer(NativeBrowse(STAGING_QUEUE, limit=rows))
    if isinstance(value, Refused):
        return None
    return [one for one in value or () if isinstance(one, Described)]


def _short(text: object) -> str:
    whole = str(text)
    return whole if len(whole) <= _LONGEST else f"{whole[:_LONGEST]}…"


def _moment(moment_ms: int) -> str:
    try:
        moment = datetime.fromtimestamp(moment_ms / 1_000, UTC)
    except (OverflowError, ValueError, OSError):
        return f"{moment_ms} ms since 1970"
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def _left(left_ms: int) -> str:
    """Return a time span, given in milliseconds, as a text with its two largest units; "now" for 0 or less."""
    if left_ms <= 0:
        return "now"
    seconds = -(-left_ms // 1_000)
    days, hours, minutes = seconds // 86_400, seconds // 3_600 % 24, seconds // 60 % 60
    parts = [f"{figure} {unit}" for figure, unit in ((days, "d"), (hours, "h"), (minutes, "min")) if figure]
    return " ".join([*parts, f"{seconds % 60} s"][:2])


def _cut(rows: Iterable[tuple[Cell, ...]], most: int) -> tuple[list[tuple[Cell, ...]], int]:
    every = list(rows)
    return every[:most], max(len(every) - most, 0)


def _queues(queues: list[Definition], most: int) -> Table:
    local = [one for one in queues if one.kind is Kind.QLOCAL]
    others = [one for one in queues if one.kind is not Kind.QLOCAL]
    local.sort(key=lambda one: (-one.number("CURDEPTH"), one.name))
    rows, left = _cut(map(_queue, [*local, *others]), most)
    return Table(
        anchor="queues",
        title="Queues",
        about="The deepest queues first. System queues (SYSTEM.) are shown only if they hold messages.",
        columns=("Queue", "Type", "Depth", "Most", "Receivers", "Senders", "Remarks"),
        numbers=("Depth", "Most", "Receivers", "Senders"),
        rows=rows,
        left=left,
        empty="No queue exists, or you have no authority to see one (DSP). First use or DEFINE QLOCAL creates a queue.",
    )


def _queue(one: Definition) -> tuple[Cell, ...]:
    shut = [f"{keyword} disabled" for keyword in ("PUT", "GET") if one.says(keyword, "DISABLED")]
    if one.kind is Kind.QLOCAL:
        numbers: tuple[Cell, ...] = tuple(one.number(key) for key in ("CURDEPTH", "MAXDEPTH", "IPPROCS", "OPPROCS"))
    else:
        numbers = ("", "", "", "")
        if one.kind is Kind.QALIAS:
            shut.insert(0, f"stands for {_short(one.text('TARGET')) or 'nothing'}")
    return (_short(one.name), one.kind.value, *numbers, "; ".join(shut))


def _staging(staged: list[Described] | None, queues: list[Definition], most: int, now_ms: int) -> Table:
    every = next((one.number("CURDEPTH") for one in queues if one.name == STAGING_QUEUE), 0)
    rows = [_delayed(one, now_ms) for one in staged or () if one.headers]
    empty = "No message is staged."
    return Table(
        anchor="staged",
        title="Staged messages",
        about="Delayed messages, in the order of their due times.",
        columns=("Due", "In", "Destination", "Message id", "Persistent"),
        rows=rows[:most],
        left=max(every - len(rows), 0),
        empty=empty if staged is not None else "You have no authority to browse the staging queue.",
    )


def _delayed(one: Described, now_ms: int) -> tuple[Cell, ...]:
    header = one.headers[0]
    due_ms = int(header["DeliveryTime"])
    left = _left(due_ms - now_ms)
    persistent = "yes" if one.descriptor["Persistence"] else "no"
    return _moment(due_ms), left, _short(header["DestQName"]), str(header["MsgId"]), persistent


def _subscriptions(subscriptions: list[Definition], most: int) -> Table:
    rows, left = _cut(
        (
            (
                _short(one.name) or "without a name",
                _short(one.attributes["TOPICSTR"]),
                _short(one.attributes["DEST"]),
                "yes" if one.says("DURABLE", "YES") else "no",
                str(one.attributes["SUBTYPE"]),
            )
            for one in subscriptions
            if one.name != _DEFAULT_SUBSCRIPTION
        ),
        most,
    )
    return Table(
        anchor="subscriptions",
        title="Subscriptions",
        columns=("Subscription", "Topic string", "Queue", "Durable", "Made by"),
        rows=rows,
        left=left,
        empty="No subscription exists, or you have no authority to see one (DSP).",
    )


def _topics(topics: list[Definition], most: int) -> Table:
    keywords = ("TOPICSTR", "PUB", "SUB", "PMSGDLV", "NPMSGDLV")
    rows, left = _cut(
        ((_short(one.name), *(_short(one.attributes[keyword]) for keyword in keywords)) for one in topics), most
    )
    return Table(
        anchor="topics",
        title="Topic objects",
        columns=("Topic", "Topic string", "Publish", "Subscribe", "Persistent reach", "Other reach"),
        rows=rows,
        left=left,
        empty="No topic object exists, or you have no authority to see one (DSP).",
    )


def _connections(request: ApiRequest, most: int) -> Table:
    rows, left = _cut(
        (
            (
                _short(one.container_id),
                one.protocol,
                _short(one.user or "anonymous"),
                one.peer,
                one.links,
                _moment(one.since_ms),
            )
            for one in request.served.views()
        ),
        most,
    )
    return Table(
        anchor="connections",
        title="Connections",
        columns=("Client", "Protocol", "User", "From", "Links", "Since"),
        numbers=("Links",),
        rows=rows,
        left=left,
        empty="No client is connected.",
    )
