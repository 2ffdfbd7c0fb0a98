"""Plans of DEFINE, ALTER and DELETE: the resulting objects, checked before anything changes."""

from __future__ import annotations

from assay_broker.core.administration.changes import AlterObject, DefineObject, DeleteObject
from assay_broker.core.objects.attributes import ATTRIBUTES, attribute
from assay_broker.core.objects.directory import Directory
from assay_broker.core.objects.factory import BASE_TOPIC, STAGING_QUEUE
from assay_broker.core.objects.host import Host
from assay_broker.core.objects.model import NAMESPACES, Definition, Kind, Namespace, Value
from assay_broker.core.objects.names import check_name, shortened
from assay_broker.core.objects.reasons import object_refusal
from assay_broker.core.objects.values import ValueFaultError, accepted
from assay_sdk.model.command_reasons import Mqrccf
from assay_sdk.model.reasons import Mqrc

DEFAULT_OBJECTS: dict[Kind, str] = {
    Kind.QLOCAL: "SYSTEM.DEFAULT.LOCAL.QUEUE",
    Kind.QALIAS: "SYSTEM.DEFAULT.ALIAS.QUEUE",
    Kind.QMODEL: "SYSTEM.DEFAULT.MODEL.QUEUE",
    Kind.TOPIC: "SYSTEM.DEFAULT.TOPIC",
    Kind.SUB: "SYSTEM.DEFAULT.SUB",
}
"""The objects from which DEFINE copies the attributes that the command does not give."""

_OWN = {Kind.TOPIC: ("TOPICSTR",), Kind.SUB: ("TOPICSTR", "TOPICOBJ", "DEST", "SELECTOR")}
"""The attributes that DEFINE never copies from another object, because they distinguish objects."""


def plan_define(directory: Directory, change: DefineObject, host: Host) -> Definition:
    """Return the object that a DEFINE would create.

    Args:
        directory: The present objects.
        change: The command.
        host: The queue manager's platform and level.

    Raises:
        RefusalError: The object is a queue manager, the name or an attribute is not valid, the attributes contradict
            each other or other objects, or the object to copy from does not exist. Or an object of the name exists
            already, and one of these conditions holds: the object is of another kind, the command has no REPLACE, or
            the command would change a fixed attribute.
    """
    kind, name = change.kind, change.name
    if kind is Kind.QMGR:
        raise object_refusal(Mqrccf.PARM_SYNTAX_ERROR, "A queue manager cannot be defined; alter its attributes.", name)
    check_name(kind, name)
    old = directory.find(NAMESPACES[kind], name)
    if old is not None and old.kind is not kind:
        raise object_refusal(Mqrccf.OBJECT_WRONG_TYPE, f"{name} exists already, as a {old.kind}.", name)
    if old is not None and not change.replace:
        raise object_refusal(
            Mqrccf.OBJECT_ALREADY_EXISTS, f"The {kind} {shortened(name)} exists already; REPLACE redefines it.", name
        )
    begin = _pattern(directory, change) | dict.fromkeys(_OWN.get(kind, ()), "")
    planned = Definition(kind, name, begin | _accepted(kind, name, change.attributes, host))
    check_object(directory, planned, host)
    if kind is Kind.SUB:
        planned = _with_whole_topic_string(directory, planned)
    if old is not None:
        _keep_fixed(old, planned)
    return planned


def plan_alter(directory: Directory, change: AlterObject, host: Host) -> Definition:
    """Return the object with the changes that an ALTER would make.

    Args:
        directory: The present objects.
        change: The command; its name may be empty for the queue manager itself.
        host: The queue manager's platform and level.

    Raises:
        RefusalError: The object does not exist or is of another kind, an attribute is not valid or cannot be altered,
            or the attributes contradict each other or other objects.
    """
    old = existing(directory, change.kind, change.name)
    given = _accepted(old.kind, old.name, change.attributes, host)
    planned = Definition(old.kind, old.name, old.attributes | given)
    _keep_fixed(old, planned)
    check_object(directory, planned, host)
    return planned


def plan_delete(directory: Directory, change: DeleteObject) -> Definition:
    """Return the object that a DELETE would remove. The caller checks whether the object is in use or holds messages.

    Args:
        directory: The present objects.
        change: The command.

    Raises:
        RefusalError: The object does not exist, is of another kind, or is the queue manager itself.
    """
    if change.kind is Kind.QMGR:
        raise object_refusal(Mqrccf.PARM_SYNTAX_ERROR, "A queue manager cannot be deleted by a command.", change.name)
    return existing(directory, change.kind, change.name)


def existing(directory: Directory, kind: Kind, name: str) -> Definition:
    """Return an object; refuse the command if no such object exists.

    Args:
        directory: The present objects.
        kind: The kind that the object has to be.
        name: The object's name; may be empty for the queue manager itself.

    Raises:
        RefusalError: The object does not exist, or is of another kind.
    """
    if kind is Kind.QMGR:
        own = directory.queue_manager()
        if name in {"", own.name}:
            return own
        raise object_refusal(
            Mqrc.UNKNOWN_OBJECT_NAME, f"This queue manager is {own.name}, not {shortened(name)}.", name
        )
    found = directory.find(NAMESPACES[kind], name)
    if found is None:
        raise object_refusal(Mqrc.UNKNOWN_OBJECT_NAME, f"There is no {kind} {shortened(name)}.", name)
    if found.kind is not kind:
        raise object_refusal(Mqrccf.OBJECT_WRONG_TYPE, f"{name} is a {found.kind}, not a {kind}.", name)
    return found


def _pattern(directory: Directory, change: DefineObject) -> dict[str, Value]:
    """Return the attributes that a DEFINE copies from the object that LIKE names, or from the default object."""
    kind = change.kind
    if change.like is None:
        found = directory.find(NAMESPACES[kind], DEFAULT_OBJECTS[kind])
        if found is not None and found.kind is kind:
            return found.attributes
        return {row.keyword: row.default for row in ATTRIBUTES[kind] if not row.shown}
    found = directory.find(NAMESPACES[kind], change.like)
    if found is None:
        raise object_refusal(
            Mqrc.UNKNOWN_OBJECT_NAME,
            f"There is no {kind} {shortened(change.like)} to copy from.",
            change.like,
            keyword="LIKE",
        )
    if found.kind is not kind:
        raise object_refusal(
            Mqrccf.LIKE_OBJECT_WRONG_TYPE,
            f"{change.like} is a {found.kind}, not a {kind}.",
            change.like,
            keyword="LIKE",
        )
    return found.attributes


def _accepted(kind: Kind, name: str, given: dict[str, Value], host: Host) -> dict[str, Value]:
    result: dict[str, Value] = {}
    for keyword, value in given.items():
        row = attribute(kind, keyword.upper(), zos=host.zos, level=host.level)
        if row is None:
            raise object_refusal(
                Mqrccf.PARM_SYNTAX_ERROR, f"A {kind} has no attribute {shortened(keyword)}.", name, keyword=keyword
            )
        if row.shown:
            raise object_refusal(
                Mqrccf.PARM_SYNTAX_ERROR, f"{row.keyword} is read-only; it cannot be set.", name, keyword=row.keyword
            )
        if row.keyword in result:
            raise object_refusal(Mqrccf.PARM_SYNTAX_ERROR, f"{row.keyword} is given twice.", name, keyword=row.keyword)
        try:
            result[row.keyword] = accepted(row, value)
        except ValueFaultError as fault:
            raise object_refusal(Mqrccf.ATTR_VALUE_ERROR, str(fault), name, keyword=row.keyword) from fault
    return result


def _keep_fixed(old: Definition, planned: Definition) -> None:
    for row in ATTRIBUTES[old.kind]:
        if row.fixed and planned.attributes[row.keyword] != old.attributes[row.keyword]:
            raise object_refusal(
                Mqrccf.ATTR_VALUE_ERROR,
                f"{row.keyword} of {old.name} cannot be changed; delete it and define it anew.",
                old.name,
                keyword=row.keyword,
            )


# conditions on several attributes or objects together -----------------------------------------------------------------


def check_object(directory: Directory, planned: Definition, host: Host) -> None:
    """Refuse an object whose attributes are incomplete, or contradict each other or other objects.

    Args:
        directory: The present objects.
        planned: The object.
        host: The queue manager's platform and level.

    Raises:
        RefusalError: A required attribute is missing, or the attributes contradict each other or other objects.
    """
    if planned.kind is Kind.QALIAS:
        _check_alias(directory, planned)
    elif planned.kind is Kind.TOPIC:
        _check_topic(directory, planned)
    elif planned.kind is Kind.SUB:
        _check_subscription(planned)
    elif planned.kind is Kind.QMGR:
        _check_queue_manager(planned)
    elif planned.kind is Kind.QLOCAL:
        _check_local(planned, host)
    if planned.attributes.get("CLUSTER") and planned.attributes.get("CLUSNL"):
        raise _fault(planned, "CLUSNL", "A queue has CLUSTER or CLUSNL, not both.")


def _fault(planned: Definition, keyword: str, why: str) -> Exception:
    return object_refusal(Mqrccf.ATTR_VALUE_ERROR, why, planned.name, keyword=keyword)


def _missing(planned: Definition, keyword: str, why: str) -> Exception:
    return object_refusal(Mqrccf.PARM_MISSING, why, planned.name, keyword=keyword)


def _check_alias(directory: Directory, planned: Definition) -> None:
    """Refuse an alias that leads back to itself.

    An alias of a missing queue may be defined, but the alias cannot be opened (MQRC 2082).
    """
    seen = [planned.name]
    found: Definition | None = planned
    while found is not None and found.kind is Kind.QALIAS and found.says("TARGTYPE", "QUEUE"):
        target = found.text("TARGET")
        if target == planned.name:
            raise _fault(planned, "TARGET", f"The alias leads back to itself: {' -> '.join((*seen, target))}.")
        if target in seen:
            return
        seen.append(target)
        found = directory.queue(target)


def _check_topic(directory: Directory, planned: Definition) -> None:
    if planned.name in {DEFAULT_OBJECTS[Kind.TOPIC], BASE_TOPIC}:
        return
    topic = planned.text("TOPICSTR")
    if not topic:
        raise _missing(planned, "TOPICSTR", f"The TOPIC {planned.name} needs a TOPICSTR.")
    for other in directory:
        if other.kind is Kind.TOPIC and other.name != planned.name and other.says("TOPICSTR", topic):
            raise object_refusal(
                Mqrccf.OBJECT_ALREADY_EXISTS,
                f"The topic string {shortened(topic)} belongs to the object {other.name} already.",
                planned.name,
                keyword="TOPICSTR",
            )


def _check_subscription(planned: Definition) -> None:
    if planned.name == DEFAULT_OBJECTS[Kind.SUB]:
        return
    if not planned.text("TOPICOBJ") and not planned.text("TOPICSTR"):
        raise _missing(planned, "TOPICSTR", "A subscription needs a TOPICSTR or a TOPICOBJ.")
    provided = planned.says("DESTCLAS", "PROVIDED")
    if provided and not planned.text("DEST"):
        raise _missing(planned, "DEST", "A subscription with DESTCLAS(PROVIDED) needs a DEST.")
    if not provided and planned.text("DEST"):
        raise _fault(planned, "DEST", "A subscription with DESTCLAS(MANAGED) has no DEST of its own.")


def _with_whole_topic_string(directory: Directory, planned: Definition) -> Definition:
    """Return a SUB object whose TOPICSTR begins with the topic string of its TOPICOBJ.

    The subscription keeps this string, even if the topic object is deleted or defined with another string.

    Raises:
        RefusalError: The topic object does not exist.
    """
    named = planned.text("TOPICOBJ")
    if not named:
        return planned
    topic = directory.find(Namespace.TOPIC, named)
    if topic is None:
        raise object_refusal(Mqrc.UNKNOWN_OBJECT_NAME, f"There is no TOPIC {named}.", named, keyword="TOPICOBJ")
    parts = (topic.text("TOPICSTR"), planned.text("TOPICSTR"))
    whole = "/".join(part for part in parts if part)
    return Definition(planned.kind, planned.name, planned.attributes | {"TOPICSTR": whole})


def _check_queue_manager(planned: Definition) -> None:
    if planned.says("DEADQ", STAGING_QUEUE):
        raise _fault(planned, "DEADQ", f"The staging queue {STAGING_QUEUE} cannot be the dead-letter queue.")
    if planned.says("DEADQ", planned.name):
        raise _fault(planned, "DEADQ", f"{planned.name} is the queue manager itself; DEADQ must name a local queue.")
    if planned.says("PARENT", planned.name):
        raise _fault(planned, "PARENT", "A queue manager cannot be its own parent.")


_STAGING_ON_ZOS = {"INDXTYPE": "NONE", "MSGDLVSQ": "FIFO"}


def _check_local(planned: Definition, host: Host) -> None:
    if planned.name == planned.attributes["BOQNAME"]:
        raise _fault(planned, "BOQNAME", f"BOQNAME must name another queue than {planned.name} itself.")
    if host.zos and planned.name == STAGING_QUEUE:  # DD-41
        for keyword, word in _STAGING_ON_ZOS.items():
            if not planned.says(keyword, word):
                raise _fault(planned, keyword, f"The staging queue must be defined with {keyword}({word}).")
        if not planned.says("QSGDISP", "QMGR"):  # DD-45: each member of a sharing group has its own staging queue
            raise _fault(planned, "QSGDISP", "The staging queue is private to its queue manager: QSGDISP(QMGR).")
