"""The JSON Schemas of the command's JSON output, of journals and of verdicts, made from the Python types.

``python -m assay.schemas docs/schemas`` writes all schemas; a test compares the files with the types.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from assay.commands.backends import BackendReport
from assay_evidence.schemas import DIALECT, Schema, schema_text
from assay_evidence.schemas import SCHEMAS as EVIDENCE
from assay_features import Rule
from assay_reports import Comparison
from assay_steps.kill_matrix.matrix import KillMatrix


def rules_schema() -> Schema:
    """Make the schema of ``assay rules --json``."""
    schema = msgspec.json.schema(list[Rule])
    return {"$schema": DIALECT, "title": "Rules of the Assay catalogue, version 1", **schema}


def backends_schema() -> Schema:
    """Make the schema of ``assay backends --json``."""
    schema = msgspec.json.schema(list[BackendReport])
    return {"$schema": DIALECT, "title": "Backends that Assay can test, version 1", **schema}


def defects_schema() -> Schema:
    """Make the schema of ``assay defects --json``."""
    schema = msgspec.json.schema(KillMatrix)
    return {"$schema": DIALECT, "title": "Kill matrix of Assay's scenarios and defects, version 1", **schema}


def matrix_schema() -> Schema:
    """Make the schema of the `matrix.json` of a report on several pairs."""
    schema = msgspec.json.schema(Comparison)
    return {"$schema": DIALECT, "title": "Matrix of brokers and clients, version 1", **schema}


SCHEMAS: Mapping[str, Callable[[], Schema]] = {
    **EVIDENCE,
    "rules-1.json": rules_schema,
    "backends-1.json": backends_schema,
    "defects-1.json": defects_schema,
    "matrix-1.json": matrix_schema,
}


def write_schemas(folder: Path) -> None:
    """Write every schema into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in SCHEMAS.items():
        (folder / name).write_bytes(schema_text(make()))


if __name__ == "__main__":
    if len(sys.argv) != 2:  # noqa: PLR2004 - the program and its one argument
        sys.exit("Name the folder for the schemas: python -m assay.schemas docs/schemas")
    write_schemas(Path(sys.argv[1]))
