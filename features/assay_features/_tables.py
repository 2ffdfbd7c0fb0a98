"""Reads and checks the text of a catalogue of rules."""

import re
import reprlib
import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from enum import StrEnum
from typing import NamedTuple, NoReturn, TypeVar

import msgspec

from assay_features.errors import CatalogueError
from assay_features.rule import Citation, CitedBy, Document, Judged, Profile, ProfileDefinition, Rule, Strength
from assay_features.toml_positions import TomlPosition, toml_positions

_LONGEST = 60  # characters of a faulty text that an error shows
_ID = re.compile(r"(?:DD|PD|QS|BT)-[0-9]{2}")
_DOCUMENT_KEY = re.compile(r"[A-Za-z]+")
_TOML_LINE = re.compile(r"^(?P<what>.*) \(at (?:line (?P<line>\d+), column \d+|end of document)\)$", re.DOTALL)
_WRONG_KEY = re.compile(r"`\$\.(?P<key>\w+)")

_Entry = TypeVar("_Entry", Document, Rule, ProfileDefinition)


def _one_of(words: type[StrEnum]) -> str:
    return "one of " + ", ".join(f'"{word}"' for word in words)


_WANTED: Mapping[str, str] = {
    "cited_by": _one_of(CitedBy),
    "lines": "a whole number",
    "strength": _one_of(Strength),
    "judged": 'an array of "client", "broker" or both',
    "profile": _one_of(Profile),
    "basis": "an array of strings",
    "requires": "an array of strings",
    "tries": "an array of strings",
    "history": "true or false",
}
_WORDS: Mapping[str, type[StrEnum]] = {
    "cited_by": CitedBy,
    "strength": Strength,
    "judged": Judged,
    "profile": Profile,
}


class Tables(NamedTuple):
    """The documents, rules and profiles of a catalogue, each in the order of the file."""

    documents: tuple[Document, ...]
    rules: tuple[Rule, ...]
    profiles: tuple[ProfileDefinition, ...]
    """The profiles; empty if the catalogue defines none."""


def read_tables(file: str, text: str) -> Tables:
    """Read and check the text of a catalogue.

    Args:
        file: The file's name, for error messages.
        text: The file's content.

    Raises:
        CatalogueError: The text is not valid TOML, or breaks a condition for catalogues.
    """
    return _Reader(file, text).read()


class _Reader:
    def __init__(self, file: str, text: str) -> None:
        self._file = file
        self._top = self._parse(text)
        self._lines = toml_positions(text)

    def read(self) -> Tables:
        for key in self._top:
            if key not in _ARRAYS:
                self._refuse(self._line_of(key), f"{_quoted(key)} is no part of a catalogue; {_hint(key, _ARRAYS)}")
        documents = self._entries("document", Document)
        rules = self._entries("rule", Rule)
        profiles = self._entries("profile", ProfileDefinition) if "profile" in self._top else ()
        self._distinct("document", "key", [document.key for document in documents])
        self._distinct("rule", "id", [rule.id for rule in rules])
        self._distinct("profile", "key", [profile.key for profile in profiles])
        for nth, document in enumerate(documents):
            self._check_document(nth, document)
        known = {document.key: document for document in documents}
        for nth, rule in enumerate(rules):
            self._check_rule(nth, rule)
            self._check_basis(nth, rule, known)
        return Tables(documents, rules, profiles)

    def _parse(self, text: str) -> dict[str, object]:
        try:
            return tomllib.loads(text)
        except RecursionError:
            self._refuse(1, "the brackets are nested too deeply; a catalogue needs one level.")
        except tomllib.TOMLDecodeError as error:
            match = _TOML_LINE.match(str(error))
            line = int(match["line"] or text.count("\n") + 1) if match else 1
            what = match["what"] if match else str(error)
            self._refuse(line, f"this is not TOML, correct it: {what[:1].lower()}{what[1:]}.")
        except ValueError:
            # Any other ValueError is from int(), which refuses a number of thousands of digits and names no line.
            self._refuse(_line_of_longest_number(text), "this number has too many digits; shorten it.")

    def _entries(self, array: str, kind: type[_Entry]) -> tuple[_Entry, ...]:
        tables = self._top.get(array)
        if not tables:
            self._refuse(self._line_of(array), f"a catalogue needs at least one [[{array}]] table; write one.")
        if not isinstance(tables, list):
            self._refuse(self._line_of(array), f"{array} must be an array of tables; write [[{array}]] as the header.")
        return tuple(self._entry(TomlPosition(array, nth), table, kind) for nth, table in enumerate(tables))

    def _entry(self, position: TomlPosition, table: object, kind: type[_Entry]) -> _Entry:
        if not isinstance(table, dict):
            wanted = f"write [[{position.array}]] tables instead"
            self._refuse(self._line(position), f"{position.array} holds {_shown(table)}; {wanted}.")
        fields = msgspec.structs.fields(kind)
        who = _named(position.array, table)
        names = [field.name for field in fields]
        for key in table:
            if key not in names:
                line = self._line(position._replace(key=key))
                self._refuse(line, f"{who} has an unknown key {_quoted(key)}; {_hint(key, names)}")
        for field in fields:
            if field.required and field.name not in table:
                self._refuse(self._line(position), f"{who} has no key {field.name}; add it.")
        try:
            entry = msgspec.convert(table, kind)
        except msgspec.ValidationError as error:
            match = _WRONG_KEY.search(str(error))
            key = match["key"] if match else ""
            self._refuse_value(position._replace(key=key), who, table.get(key))
        self._check_texts(position, who, table)
        return entry

    def _refuse_value(self, position: TomlPosition, who: str, value: object) -> NoReturn:
        wanted = "profile" if position.array == "profile" and position.key == "key" else position.key
        words = list(_WORDS.get(wanted, ()))
        wrong = [item for item in (value if isinstance(value, list) else [value]) if item not in words]
        nearest = _nearest(wrong[0], words) if wrong and isinstance(wrong[0], str) else None
        remedy = f"did you mean {nearest}?" if nearest else f"write {_WANTED.get(wanted, 'a string')}."
        self._refuse(self._line(position), f"{who}: {position.key} is {_shown(value)}; {remedy}")

    def _check_texts(self, position: TomlPosition, who: str, table: Mapping[str, object]) -> None:
        for key, value in table.items():
            here = self._line(position._replace(key=key))
            items = value if isinstance(value, list) else [value]
            if any(isinstance(item, str) and not item.strip() for item in items):
                self._refuse(here, f"{who}: {key} holds an empty text; fill it in or remove it.")
            if not items and key in ("judged", "basis"):
                self._refuse(here, f"{who}: {key} is empty; name at least one.")
            if len(set(items)) < len(items):
                self._refuse(here, f"{who}: {key} says something twice; remove the repetition.")

    def _distinct(self, array: str, key: str, names: Iterable[str]) -> None:
        first: dict[str, int] = {}
        for nth, name in enumerate(names):
            line = self._line(TomlPosition(array, nth, key))
            if name in first:
                self._refuse(line, f"{array} {name} is already in line {first[name]}; give this one another {key}.")
            first[name] = line

    def _check_document(self, nth: int, document: Document) -> None:
        if not _DOCUMENT_KEY.fullmatch(document.key):
            line = self._line(TomlPosition("document", nth, "key"))
            self._refuse(line, f"document key {_quoted(document.key)} must be letters only, as in DELAY.")
        line = self._line(TomlPosition("document", nth, "lines"))
        if document.cited_by is CitedBy.LINE and (document.lines is None or document.lines < 1):
            self._refuse(line, f"document {document.key} is cited by line; say in lines how many it has.")
        if document.cited_by is not CitedBy.LINE and document.lines is not None:
            self._refuse(line, f"document {document.key} is not cited by line; remove lines.")
        if document.url is not None and not document.url.startswith(("https://", "http://")):
            line = self._line(TomlPosition("document", nth, "url"))
            self._refuse(line, f"document {document.key} has the url {document.url!r}; begin it with https://.")

    def _check_rule(self, nth: int, rule: Rule) -> None:
        position = TomlPosition("rule", nth)
        if not _ID.fullmatch(rule.id):
            line = self._line(position._replace(key="id"))
            self._refuse(line, f"rule id {_quoted(rule.id)} must be DD, PD, QS or BT and two digits, as in DD-02.")
        if rule.profile not in rule.family.profiles:
            line = self._line(position._replace(key="profile"))
            fitting = " or ".join(profile for profile in Profile if profile in rule.family.profiles)
            self._refuse(line, f"rule {rule.id} is in profile {rule.profile}; rules {rule.id[:2]} belong to {fitting}.")
        if not rule.observable and rule.note is None:
            line = self._line(position._replace(key="strength"))
            self._refuse(line, f'rule {rule.id} has strength "note" and no note; write a note that says why.')
        if not rule.observable and rule.beyond_one_server is not None:
            line = self._line(position._replace(key="beyond_one_server"))
            self._refuse(line, f'rule {rule.id} has strength "note" and is tried nowhere; remove beyond_one_server.')
        if rule.observable is not bool(rule.tries):
            line = self._line(position._replace(key="tries"))
            what = "say in tries what a scenario must try" if rule.observable else 'remove tries from a rule of "note"'
            self._refuse(line, f"rule {rule.id} has strength {_quoted(rule.strength)}; {what}.")

    def _check_basis(self, nth: int, rule: Rule, documents: Mapping[str, Document]) -> None:
        line = self._line(TomlPosition("rule", nth, "basis"))
        for basis in rule.basis:
            key = Citation.parse(basis).document
            document = documents.get(key)
            if document is None:
                text = f"rule {rule.id}: basis {_quoted(basis)} names no document; {_hint(key, documents)}"
                self._refuse(line, text)
            if not document.holds(basis):
                wanted = _PLACES[document.cited_by].format(key=key, lines=document.lines)
                self._refuse(line, f"rule {rule.id}: basis {_quoted(basis)} names no place in {key}; write {wanted}.")

    def _line_of(self, array: str) -> int:
        """Return the line of an array's first header, or of a top-level key; 1 if the text has neither."""
        return self._lines.get(TomlPosition(array, 0), self._lines.get(TomlPosition("", 0, array), 1))

    def _line(self, position: TomlPosition) -> int:
        """Return the line of a table's key; if the table lacks the key, the line of the table's header."""
        return self._lines.get(position, self._lines.get(position._replace(key=""), self._line_of(position.array)))

    def _refuse(self, line: int, text: str) -> NoReturn:
        raise CatalogueError(self._file, line, text)


_ARRAYS = ("document", "rule", "profile")
_PLACES: Mapping[CitedBy, str] = {
    CitedBy.LINE: '"{key}:" and a line from 1 to {lines}, or a range such as 3-5',
    CitedBy.SECTION: '"{key}:" and the number of a section, such as 6.2.7',
    CitedBy.WHOLE: '"{key}" alone',
}


def _named(array: str, table: Mapping[str, object]) -> str:
    name = table.get("id" if array == "rule" else "key")
    return (
        f"{array} {name}" if isinstance(name, str) and name.isprintable() and len(name) <= _LONGEST else f"this {array}"
    )


def _quoted(text: str) -> str:
    short = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    return f'"{short}"' if short.isprintable() else ascii(short)


def _shown(value: object) -> str:
    return _quoted(value) if isinstance(value, str) else ascii(reprlib.repr(value))[1:-1]


def _nearest(text: str, words: Iterable[str]) -> str | None:
    return next(iter(get_close_matches(text, list(words), n=1)), None)


def _hint(text: str, words: Iterable[str]) -> str:
    nearest = _nearest(text, words)
    return f"did you mean {nearest}?" if nearest else f"known are {', '.join(words)}."


def _line_of_longest_number(text: str) -> int:
    longest = max(re.finditer(r"[0-9_]+", text), key=lambda match: len(match.group()))
    return text.count("\n", 0, longest.start()) + 1
