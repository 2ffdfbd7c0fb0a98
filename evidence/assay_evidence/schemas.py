"""The JSON Schemas of journals and verdicts, made from their types.

``python -m assay_evidence.schemas docs/schemas`` writes the files; a test compares them with the types.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from assay_evidence.events import AnyEvent
from assay_evidence.verdicts import Verdicts

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_SUM = {
    "type": "string",
    "pattern": "^[0-9a-f]{8}$",
    "description": 'The CRC-32 of the line\'s octets before ,"sum": as eight hexadecimal digits; the last field.',
}

Schema = dict[str, Any]


def journal_schema() -> Schema:
    """Return the schema of one line of a journal."""
    schema = msgspec.json.schema(AnyEvent)
    for name in schema["discriminator"]["mapping"].values():
        event = schema["$defs"][name.rpartition("/")[2]]
        event["properties"]["sum"] = _SUM
        event["required"].append("sum")
    return {"$schema": DIALECT, "title": "One line of an Assay journal, version 1", **schema}


def verdicts_schema() -> Schema:
    """Return the schema of a `verdicts.json`."""
    schema = msgspec.json.schema(Verdicts)
    return {"$schema": DIALECT, "title": "Assay verdicts, schema 2", **schema}


SCHEMAS: Mapping[str, Callable[[], Schema]] = {"journal-1.json": journal_schema, "verdicts-2.json": verdicts_schema}


def schema_text(schema: Schema) -> bytes:
    """Return a schema as the content of its file: indented JSON."""
    return msgspec.json.format(msgspec.json.encode(schema), indent=2) + b"\n"


def write_schemas(folder: Path) -> None:
    """Write all schemas into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in SCHEMAS.items():
        (folder / name).write_bytes(schema_text(make()))


if __name__ == "__main__":
    if len(sys.argv) != 2:  # noqa: PLR2004 - the program and its one argument
        sys.exit("Name the folder for the schemas: python -m assay_evidence.schemas docs/schemas")
    write_schemas(Path(sys.argv[1]))
