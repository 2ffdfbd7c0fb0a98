"""Reads a file that describes a broker, and finds all mistakes in its form, each with its line and a remedy."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from types import UnionType
from typing import TypeVar, Union, get_args, get_origin

from msgspec import NODEFAULT, Struct, ValidationError, convert
from msgspec.structs import FieldInfo, fields

from assay_adapters.brokers.url.model import Description
from assay_adapters.suggestions import unknown
from assay_features.toml_positions import TomlPosition, line_of_error, toml_positions

T = TypeVar("T", bound=Struct)


class Mistake(Struct, frozen=True):
    """A mistake in a file.

    Args:
        line: The line in the file, counted from 1.
        text: One sentence with the mistake and the remedy.
    """

    line: int
    text: str


class DescriptionError(LookupError):
    """The error for a file that cannot be used; it names the first mistake with file and line.

    Args:
        file: The file.
        mistakes: The mistakes, at least one.
    """

    def __init__(self, file: Path, mistakes: tuple[Mistake, ...]) -> None:
        first, *others = mistakes
        more = f" `assay adapter check {file}` shows {len(others)} more." if others else ""
        super().__init__(f"{file}:{first.line}: {first.text}{more}")
        self.file = file
        self.mistakes = mistakes


class Reading(Struct, frozen=True):
    """The content of a file, with the mistakes in the file's form.

    Args:
        description: The content; None if the file's form has a mistake.
        mistakes: The mistakes in form: syntax, unknown and missing keys, values of a wrong type.
        lines: The line number of each table header and each key, by its position (`assay_features.toml_positions`).
    """

    description: Description | None
    mistakes: tuple[Mistake, ...]
    lines: Mapping[TomlPosition, int]

    def line_of(self, table: str, key: str = "") -> int:
        """Return the line of a key; for a missing key the line of its table's header, and 1 if both are missing."""
        return _line(self.lines, table, key)


def read(file: Path) -> Reading:
    """Read the file that describes a broker; the result has its mistakes, such as invalid TOML.

    Raises:
        DescriptionError: The file cannot be opened, or is not text in UTF-8.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as problem:
        line = problem.object.count(b"\n", 0, problem.start) + 1
        told = Mistake(line, "the text is not UTF-8; save the file as UTF-8.")
        raise DescriptionError(file, (told,)) from problem
    except OSError as problem:
        remedy = "correct its name, or write one with `assay adapter new NAME`"
        told = Mistake(1, f"the file cannot be read ({problem.strerror}); {remedy}.")
        raise DescriptionError(file, (told,)) from problem
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        return Reading(None, (Mistake(line_of_error(problem, text), f"this is no valid TOML: {problem}."),), {})
    lines = toml_positions(text)
    converter = _Converter(lines)
    description = converter.table(Description, content, "")
    return Reading(description, tuple(sorted(converter.mistakes, key=lambda one: one.line)), lines)


def _line(lines: Mapping[TomlPosition, int], table: str, key: str) -> int:
    # Keys before the first header have an empty table name. A table may also be an inline table: a key with braces.
    in_braces = lines.get(TomlPosition("", 0, table or key), lines.get(TomlPosition(key, 0), 1))
    return lines.get(TomlPosition(table, 0, key), lines.get(TomlPosition(table, 0), in_braces))


class _Converter:
    """A converter of TOML tables to structures, which collects all mistakes.

    Args:
        lines: The line number of each table header and each key, by its position (`assay_features.toml_positions`).
    """

    def __init__(self, lines: Mapping[TomlPosition, int]) -> None:
        self.mistakes: list[Mistake] = []
        self._lines = lines

    def table(self, kind: type[T], content: Mapping[str, object], name: str) -> T | None:
        """Convert a table to a structure; return None if the table has a mistake.

        Args:
            kind: The class of the structure.
            content: The table.
            name: The table's name; empty for the whole file.
        """
        known = {field.encode_name: field for field in fields(kind)}
        made: dict[str, object] = {}
        before = len(self.mistakes)
        for key, value in content.items():
            if key not in known:
                self._note(name, key, unknown(f"key of [{name}]" if name else "key or table", key, known))
            elif (converted := self._value(known[key], value, name, key)) is not None:
                made[known[key].name] = converted
        for key, field in known.items():
            if field.default is NODEFAULT and field.default_factory is NODEFAULT and key not in content:
                where = f"[{name}]" if name else "the file"
                self._note(name, "", f"{where} has no {key}; add {key} = ...")
        return kind(**made) if len(self.mistakes) == before else None

    def _value(self, field: FieldInfo, value: object, table: str, key: str) -> object | None:
        inner = _struct_in(field.type)
        if inner is not None:
            if isinstance(value, dict):
                return self.table(inner, value, key)
            self._note(table, key, f"{key} is not a table; write [{key}] and its keys below.")
            return None
        if strange := _strangers(field.type, value):
            for word, text in strange.items():
                self._note(*((key, word) if isinstance(value, dict) else (table, key)), text)
            return None
        try:
            converted: object = convert(value, field.type)
        except ValidationError as problem:
            where = f"[{table}] {key}" if table else key
            self._note(table, key, f"{where} has a wrong value: {_plain(problem)}.")
            return None
        return converted

    def _note(self, table: str, key: str, text: str) -> None:
        self.mistakes.append(Mistake(_line(self._lines, table, key), text))


def _strangers(kind: object, value: object) -> dict[str, str]:
    """Return the words of a list, or the keys of a table, that the enumeration in `kind` lacks, each with an error."""
    names = next((one for one in _members(kind) if isinstance(one, type) and issubclass(one, StrEnum)), None)
    if names is None or not isinstance(value, list | dict):
        return {}
    known = [member.value for member in names]
    return {str(word): unknown(names.__name__.lower(), str(word), known) for word in value if word not in known}


_WORDS = {
    " | null`": "`",
    "`str`": "a string",
    "`int`": "a whole number",
    "`float`": "a number with a fraction",
    "`bool`": "a truth value",
    "`array`": "an array",
    "`object`": "a table",
}
"""TOML's word for each type name that the texts of msgspec's errors contain."""


def _plain(problem: ValidationError) -> str:
    """Return the text of msgspec's error, with TOML's word for each type and without the place in the file."""
    text = str(problem).split(" - at ", maxsplit=1)[0]
    for theirs, ours in _WORDS.items():
        text = text.replace(theirs, ours)
    return text[:1].lower() + text[1:]


def _members(kind: object) -> Iterator[object]:
    """Yield a type, and the types inside it: the alternatives of a union, the elements of a tuple or table."""
    yield kind
    if get_origin(kind) in {Union, UnionType, tuple, dict}:
        for part in get_args(kind):
            yield from _members(part)


def _struct_in(kind: object) -> type[Struct] | None:
    return next((one for one in _members(kind) if isinstance(one, type) and issubclass(one, Struct)), None)
