"""The authority of users for operations on objects.

- An authority record grants one user or one group authorities on the objects that its profile covers.
- If several records of a user or group cover an object, only the record with the most specific profile applies.
- A user has the authorities of its own record and of its group's record together.
- Every user, an anonymous one included, belongs to the group ``nobody``, as on IBM MQ for UNIX, and to no other.
- The user ``mqm`` is the administrator and has all authorities.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from msgspec import Struct

from assay_broker.core.administration.changes import DisplayAuthority, SetAuthority
from assay_broker.core.objects.names import LONGEST_NAME, fits, shortened
from assay_broker.core.objects.reasons import object_refusal
from assay_sdk.model.command_reasons import Mqrccf

ADMINISTRATOR = "mqm"
"""The user who has all authorities."""
EVERYBODY = "nobody"
"""The group that every user belongs to."""

OBJECT_TYPES = ("QUEUE", "TOPIC", "QMGR")

QUEUE_MANAGER_PROFILE = "self"
"""The profile of authority records on the queue manager itself, as in IBM MQ."""

_PROFILE = re.compile(r"[A-Za-z0-9._/%*?]+")
_INTERFACE = {
    "QUEUE": ("GET", "BROWSE", "PUT", "INQ", "SET"),
    "TOPIC": ("PUB", "SUB", "RESUME"),
    "QMGR": ("CONNECT", "INQ", "SET"),
}
_ADMINISTRATION = {
    "QUEUE": ("CHG", "CLR", "CRT", "DLT", "DSP"),
    "TOPIC": ("CHG", "CLR", "CRT", "DLT", "DSP", "CTRL"),
    "QMGR": ("CHG", "DLT", "DSP", "CTRL"),
}
_CACHE_SIZE = 10_000


class AuthorityRecord(Struct, frozen=True, kw_only=True):
    """The authorities of one user or group on the objects that a profile covers.

    Args:
        profile: An object's name, or a generic profile: within a qualifier (a part between periods), ``?`` matches one
            character and ``*`` any characters; ``**`` matches any number of qualifiers.
        object_type: QUEUE, TOPIC or QMGR.
        entity: The user's or the group's name.
        group: Whether the entity is a group.
        authorities: The granted authorities, in alphabetical order.
    """

    profile: str
    object_type: str
    entity: str
    group: bool
    authorities: tuple[str, ...] = ()


_Key = tuple[str, str, str, bool]


class Authorities:
    """All authority records of a queue manager.

    Args:
        records: The authority records of a new queue manager.
    """

    def __init__(self, records: Iterable[AuthorityRecord] = ()) -> None:
        self._records: dict[_Key, AuthorityRecord] = {}
        self._cache: dict[tuple[str, str, str], frozenset[str]] = {}
        self.changes = 0
        """The number of changes to the records so far."""
        for record in records:
            self.put(record)

    def __iter__(self) -> Iterator[AuthorityRecord]:
        """Iterate over all records, in the order in which they were first set."""
        return iter(tuple(self._records.values()))

    def like(self, record: AuthorityRecord) -> AuthorityRecord | None:
        """Return the stored record with the given record's profile, object type and entity; None if there is none."""
        return self._records.get(_key(record))

    def put(self, record: AuthorityRecord) -> None:
        """Add a record; it replaces a record with the same profile, object type and entity."""
        self._records[_key(record)] = record
        self._changed()

    def remove(self, record: AuthorityRecord) -> None:
        """Remove the record with the profile, object type and entity of the given record, if it is present."""
        self._records.pop(_key(record), None)
        self._changed()

    def _changed(self) -> None:
        self._cache.clear()
        self.changes += 1

    def allowed(self, user: str | None, object_type: str, name: str, authority: str) -> bool:
        """Return whether a user has an authority on an object.

        Args:
            user: The user; None for an anonymous user.
            object_type: QUEUE, TOPIC or QMGR.
            name: The object's name; ``self`` for the queue manager.
            authority: The authority, such as ``PUT``.
        """
        if user == ADMINISTRATOR:
            return True
        asked = (user or "", object_type, name)
        granted = self._cache.get(asked)
        if granted is None:
            if len(self._cache) >= _CACHE_SIZE:
                self._cache.clear()
            granted = self._cache[asked] = self._granted(user, object_type, name)
        return authority in granted

    def _granted(self, user: str | None, object_type: str, name: str) -> frozenset[str]:
        best: dict[bool, AuthorityRecord] = {}
        for record in self._records.values():
            entity = EVERYBODY if record.group else user
            if record.object_type != object_type or record.entity != entity or not covers(record.profile, name):
                continue
            held = best.get(record.group)
            if held is None or specificity(record.profile) < specificity(held.profile):
                best[record.group] = record
        return frozenset(authority for record in best.values() for authority in record.authorities)


def _key(record: AuthorityRecord) -> _Key:
    return record.object_type, record.profile, record.entity, record.group


@lru_cache(maxsize=1_024)
def _pattern(profile: str) -> re.Pattern[str]:
    if profile == "**":
        return re.compile(r".*", re.DOTALL)
    parts: list[str] = []
    qualifiers = profile.split(".")
    for place, qualifier in enumerate(qualifiers):
        last = place == len(qualifiers) - 1
        if qualifier == "**":
            if last:
                parts[-1:] = [parts[-1].removesuffix(r"\.") + r"(?:\..*)?"] if parts else [".*"]
            else:
                parts.append(r"(?:.*\.)?")
            continue
        text = "".join(_WILD.get(letter) or re.escape(letter) for letter in re.sub(r"\*+", "*", qualifier))
        parts.append(text if last else text + r"\.")
    return re.compile("".join(parts))


_WILD = {"*": "[^.]*", "?": "[^.]"}


def covers(profile: str, name: str) -> bool:
    """Return whether a profile covers an object of this name."""
    return profile == name or (is_generic_profile(profile) and _pattern(profile).fullmatch(name) is not None)


def is_generic_profile(profile: str) -> bool:
    """Return whether a profile has wildcards, so that it may cover several objects."""
    return "*" in profile or "?" in profile


@lru_cache(maxsize=1_024)
def specificity(profile: str) -> tuple[int, ...]:
    """Return a sort key for the profiles that cover one name; the most specific profile has the lowest key.

    Profiles are compared from the left: a character is more specific than ``?``, which is more specific than ``*``,
    which is more specific than ``**``.
    """
    symbols = re.findall(r"\*\*|[*?]|[^*?]", profile)
    end = (
        _GENERALITY["**"] + 1 if is_generic_profile(profile) else -1
    )  # if one generic profile begins with another, the longer one is more specific
    return (*(_GENERALITY.get(symbol, 0) for symbol in symbols), end)


_GENERALITY = {"?": 1, "*": 2, "**": 3}


def plan_authority(authorities: Authorities, change: SetAuthority) -> tuple[AuthorityRecord, ...]:
    """Return the records that a SET AUTHREC would set, without setting them.

    Args:
        authorities: The present records.
        change: The command. If it both adds and removes an authority, the authority is removed.

    Returns:
        One record for each user or group of the command.

    Raises:
        RefusalError: An object type, profile or authority is not valid. Or the command names neither users nor groups,
            or names both.
    """
    if change.object_type not in OBJECT_TYPES:
        raise object_refusal(
            Mqrccf.ATTR_VALUE_ERROR,
            f"OBJTYPE is {' or '.join(OBJECT_TYPES)}, not {shortened(change.object_type)}.",
            keyword="OBJTYPE",
        )
    profile = _profile(change)
    if bool(change.principals) == bool(change.groups):
        raise object_refusal(
            Mqrccf.PARM_MISSING, "Name users in PRINCIPAL or groups in GROUP, not both.", keyword="PRINCIPAL"
        )
    added = expand(change.object_type, change.add, "AUTHADD")
    removed = expand(change.object_type, change.remove, "AUTHRMV")
    planned: list[AuthorityRecord] = []
    for entity in change.principals or change.groups:
        blank = AuthorityRecord(
            profile=profile, object_type=change.object_type, entity=entity, group=bool(change.groups)
        )
        held = authorities.like(blank) or blank
        left = tuple(sorted({*held.authorities, *added} - removed))
        planned.append(
            AuthorityRecord(
                profile=held.profile,
                object_type=held.object_type,
                entity=held.entity,
                group=held.group,
                authorities=left,
            )
        )
    return tuple(planned)


def _profile(change: SetAuthority) -> str:
    if change.object_type == "QMGR":
        if change.profile.lower() not in {"", QUEUE_MANAGER_PROFILE}:
            raise object_refusal(
                Mqrccf.PROFILE_NAME_ERROR, "OBJTYPE(QMGR) takes no profile; leave PROFILE out.", keyword="PROFILE"
            )
        return QUEUE_MANAGER_PROFILE
    if not 0 < len(change.profile) <= LONGEST_NAME or not _PROFILE.fullmatch(change.profile):
        raise object_refusal(
            Mqrccf.PROFILE_NAME_ERROR,
            f"{shortened(change.profile)} is not a profile: it needs a name of at most {LONGEST_NAME} characters, in"
            " which ? * and ** match others.",
            keyword="PROFILE",
        )
    return change.profile


def expand(object_type: str, words: Iterable[str], keyword: str) -> set[str]:
    """Return the authorities that a command's words stand for; a word such as ``ALLMQI`` stands for several.

    Args:
        object_type: QUEUE, TOPIC or QMGR.
        words: Authorities, and the words ``ALL``, ``ALLMQI``, ``ALLADM`` and ``NONE``.
        keyword: The keyword of the command's parameter that gave the words, for the refusal.

    Raises:
        RefusalError: A word is not an authority on this type of object.
    """
    every = (*_INTERFACE[object_type], *_ADMINISTRATION[object_type])
    groups = {"ALL": every, "ALLMQI": _INTERFACE[object_type], "ALLADM": _ADMINISTRATION[object_type], "NONE": ()}
    result: set[str] = set()
    for word in words:
        if word not in every and word not in groups:
            raise object_refusal(
                Mqrccf.AUTH_VALUE_ERROR,
                f"{shortened(word)} is not an authority on a {object_type}; valid are {', '.join((*every, *groups))}.",
                keyword=keyword,
            )
        result.update(groups.get(word, (word,)))
    return result


def shown_records(authorities: Authorities, change: DisplayAuthority) -> tuple[AuthorityRecord, ...]:
    """Return the records that a DISPLAY AUTHREC shows."""
    return tuple(
        record
        for record in authorities
        if fits(record.profile, change.profile) and change.object_type in {None, record.object_type}
    )
