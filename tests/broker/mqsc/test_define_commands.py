from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from assay_broker.core.administration.changes import AlterObject, DefineObject, DisplayObjects
from assay_broker.core.objects.attributes import Attribute, Choice, Flag, Name, Number, Text, attributes
from assay_broker.core.objects.factory import factory
from assay_broker.core.objects.host import Host
from assay_broker.core.objects.model import Definition, Kind, Value
from assay_broker.mqsc.define_commands import written
from assay_broker.mqsc.dry_run import DryRun
from assay_broker.mqsc.lines import LONGEST_COMMAND
from assay_broker.mqsc.script import run_script

_NAMES = st.text("ABab09._/%", min_size=1, max_size=48)
_LETTERS = st.characters(min_codepoint=32, exclude_categories=["Cs", "Cc"])


def _texts(longest: int) -> st.SearchStrategy[str]:
    """Return a strategy of texts: empty ones, non-blank ones, and long ones of characters with a meaning in MQSC."""
    short = st.text(_LETTERS, max_size=60)
    long = st.builds(
        lambda piece, times: (piece * times)[:longest], st.text("'+-*; (x", min_size=1), st.integers(1, 10_240)
    )
    return (
        st.one_of(short, long)
        .filter(lambda text: len(text.encode()) <= longest)
        .map(lambda text: text if text.strip(" ") else "")
    )


def _values(row: Attribute) -> st.SearchStrategy[Value]:
    match row.values:
        case Choice(words):
            return st.sampled_from(words)
        case Flag():
            return st.sampled_from(("YES", "NO"))
        case Number(lowest, highest, words):
            return st.one_of(st.integers(lowest, highest), *(st.just(number) for number in words.values()))
        case Text(longest):
            return _texts(longest)
        case Name(longest):
            return st.one_of(st.just(""), _NAMES.map(lambda name: name[:longest]))


@st.composite
def changes(draw: st.DrawFn, host: Host) -> DefineObject | AlterObject:
    kind = draw(st.sampled_from(list(Kind)))
    given_ = {
        row.keyword: draw(_values(row))
        for row in attributes(kind, zos=host.zos, level=host.level)
        if not row.shown and draw(st.booleans())
    }
    if kind is Kind.QMGR:
        return AlterObject(kind, "", given_)
    if kind in {Kind.TOPIC, Kind.SUB}:
        given_["TOPICSTR"] = draw(_texts(10_240))
        given_.pop("TOPICOBJ", None)
    if kind is Kind.SUB:
        managed = draw(st.booleans())
        given_ |= {"DESTCLAS": "MANAGED" if managed else "PROVIDED", "DEST": "" if managed else draw(_NAMES)}
    name = draw(_texts(200).filter(bool) if kind is Kind.SUB else _NAMES)
    return DefineObject(kind=kind, name=name, attributes=given_, replace=draw(st.booleans()))


def _everything(dry_run: DryRun) -> list[Definition]:
    shown = dry_run.ask(DisplayObjects(kinds=tuple(Kind), name="*"))
    assert isinstance(shown, tuple)
    found = [one for one in shown if isinstance(one, Definition)]
    return sorted(found, key=lambda one: (one.namespace, one.name))


@settings(deadline=None)  # a busy machine causes no failure
@given(st.data(), st.sampled_from([Host(), Host(level=942), Host(zos=True)]))
def test_what_display_shows_of_every_object_makes_the_same_objects_again(data: st.DataObject, host: Host) -> None:
    original = DryRun(factory("QM1", zos=host.zos), host)
    for change in data.draw(st.lists(changes(host), max_size=6)):
        original.ask(change)
    shown = _everything(original)
    again = DryRun(factory("QM1", zos=host.zos), host)
    texts = [written(one, host) for one in shown]
    # a command doubles the quotes in a value, so a value with very many quotes makes the command too long
    assume(all(len(text) <= LONGEST_COMMAND for text in texts))
    answer = run_script("".join(texts), again.ask, host)
    assert answer.refused == ()
    assert _everything(again) == shown


_HEADS = {"QUEUE": "TYPE", "TOPIC": "TOPIC", "SUB": "SUB", "QMNAME": "QMGR"}
_ONLY_SHOWN = {
    "TYPE",
    "CURDEPTH",
    "IPPROCS",
    "OPPROCS",
    "SUBID",
    "SUBTYPE",
    "DURABLE",
    "CMDLEVEL",
    "PLATFORM",
    "MAXPRTY",
}
_DISPLAY_ALL = "DISPLAY QMGR ALL\nDISPLAY QUEUE(*) ALL\nDISPLAY TOPIC(*) ALL\nDISPLAY SUB(*) ALL\n"
_ITEM = re.compile(r"(?P<keyword>[A-Z0-9]+)(?:\((?P<value>[^()]*(?:\([^()]*\))?[^()]*)\))?(?: +|$)")


def _printed_objects(lines: Iterable[str]) -> list[dict[str, str | None]]:
    """Return the objects in the output of runmqsc, as an administrator's script reads them."""
    found: list[dict[str, str | None]] = []
    for line in lines:
        if line.startswith("AMQ"):
            found.append({})
        else:
            found[-1] |= {item["keyword"]: item["value"] for item in _ITEM.finditer(line.lstrip(" "))}
    return found


def _defined_again(printed: dict[str, str | None]) -> str:
    head = next(iter(printed))
    kind = printed["TYPE"] if head == "QUEUE" else _HEADS[head]
    name = printed[head] or ""
    parts = ["ALTER QMGR" if kind == "QMGR" else f"DEFINE {kind}({_quoted_where_needed(name)}) REPLACE"]
    for keyword, value in printed.items():
        if keyword != head and keyword not in _ONLY_SHOWN:
            parts.append(keyword if value is None else f"{keyword}({_quoted_where_needed(value)})")
    return " +\n".join(parts) + "\n"


def _quoted_where_needed(value: str) -> str:
    if re.fullmatch(r"[A-Z0-9./_%]+", value):
        return value
    return "'{}'".format(value.replace("'", "''"))


@settings(deadline=None)  # a busy machine causes no failure
@given(st.data(), st.sampled_from([Host(), Host(level=942), Host(zos=True)]))
def test_what_runmqsc_prints_of_every_object_makes_the_same_objects_again(data: st.DataObject, host: Host) -> None:
    original = DryRun(factory("QM1", zos=host.zos), host)
    for change in data.draw(st.lists(changes(host), max_size=6)):
        if all(_tells_itself(str(value)) for value in (change.name, *change.attributes.values())):
            original.ask(change)
    lines = chain.from_iterable(one.lines for one in run_script(_DISPLAY_ALL, original.ask, host).answers)
    again = DryRun(factory("QM1", zos=host.zos), host)
    answer = run_script("".join(map(_defined_again, _printed_objects(lines))), again.ask, host)
    assert answer.refused == ()
    assert _everything(again) == _everything(original)


def _tells_itself(value: str) -> bool:
    """Check whether a value has no parentheses that a script could misread, and fits into one line."""
    return not set(value) & {"(", ")"} and len(value) < 1_000


def test_an_object_is_written_as_people_write_it() -> None:
    dry_run = DryRun(factory("QM1", zos=False), Host())
    dry_run.ask(DefineObject(kind=Kind.QALIAS, name="Front", attributes={"TARGET": "ORDERS", "DESCR": "it's"}))
    (shown,) = (one for one in _everything(dry_run) if one.name == "Front")
    assert written(shown, Host()) == (
        "DEFINE QALIAS('Front') REPLACE +\n"
        "    CLUSNL(' ') +\n"
        "    CLUSTER(' ') +\n"
        "    DEFBIND(OPEN) +\n"
        "    DEFPRTY(0) +\n"
        "    DEFPSIST(NO) +\n"
        "    DESCR('it''s') +\n"
        "    GET(ENABLED) +\n"
        "    PUT(ENABLED) +\n"
        "    TARGET('ORDERS') +\n"
        "    TARGTYPE(QUEUE)\n"
    )
