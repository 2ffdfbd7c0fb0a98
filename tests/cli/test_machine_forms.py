"""Tests that the command's machine-readable output conforms to the schemas in docs/schemas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.cli.conftest import Assay

from assay.exits import Exit
from assay.schemas import SCHEMAS, schema_text, write_schemas
from assay_adapters.registry import backend_names
from assay_features import load_catalogue

FOLDER = Path(__file__).parents[2] / "docs" / "schemas"


def validator(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json.loads((FOLDER / name).read_text()))


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schemas_file_is_the_one_that_the_types_give(name: str) -> None:
    assert (FOLDER / name).read_bytes() == schema_text(SCHEMAS[name]()), "run: python -m assay.schemas docs/schemas"


def test_every_schema_in_the_folder_is_made_from_types(tmp_path: Path) -> None:
    write_schemas(tmp_path / "new")
    assert {path.name for path in (tmp_path / "new").iterdir()} == {path.name for path in FOLDER.iterdir()}


def machine_form(assay: Assay, *arguments: str) -> Any:
    ended = assay(*arguments, "--json")
    assert ended.code is Exit.AS_EXPECTED
    return json.loads(ended.out)


def test_rules_are_the_catalogues_entries(assay: Assay) -> None:
    rules = machine_form(assay, "rules")
    validator("rules-1.json").validate(rules)
    assert [rule["id"] for rule in rules] == [rule.id for rule in load_catalogue().rules]


def test_rules_can_be_chosen_by_profile_and_by_id(assay: Assay) -> None:
    chosen = machine_form(assay, "rules", "--rule", "DD-02", "--rule", "PD-01")
    assert {rule["id"] for rule in chosen} == {"DD-02", "PD-01"}
    assert {rule["profile"] for rule in machine_form(assay, "rules", "--profile", "batch")} == {"batch"}


def test_backends_say_what_they_can_and_why_not(assay: Assay) -> None:
    backends = machine_form(assay, "backends")
    validator("backends-1.json").validate(backends)
    assert [backend["name"] for backend in backends] == list(backend_names())
    reference = next(backend for backend in backends if backend["name"] == "reference")
    assert reference["available"] is True
    assert reference["capabilities"].keys().isdisjoint(reference["lacks"])


def test_a_named_backend_shows_what_it_can_and_the_list_only_whether_it_can_start(assay: Assay) -> None:
    named, listed = assay("backends", "reference"), assay("backends")
    assert "  can: " in named.out
    assert "  cannot: cancel: " in named.out
    assert all(line.startswith(("reference  ", "  can")) for line in named.out.splitlines())
    assert "  can" not in listed.out
    assert "`assay backends NAME`" in listed.out
    assert [backend["name"] for backend in machine_form(assay, "backends", "reference", "url")] == ["reference", "url"]


def test_defects_are_the_kill_matrix(assay: Assay) -> None:
    matrix = machine_form(assay, "defects", "--rule", "PD-34")
    validator("defects-1.json").validate(matrix)
    assert [rule["id"] for rule in matrix["rules"]] == ["PD-34"]
    assert any(defect["caught_by"] for defect in matrix["rules"][0]["defects"])
    assert matrix["alarms"] == matrix["unkilled"] == []


def test_a_runs_verdicts_are_valid_by_their_schema(assay: Assay, tmp_path: Path) -> None:
    assert assay("run", "--out", tmp_path, "--rule", "PD-34").code is Exit.AS_EXPECTED
    verdicts = json.loads((tmp_path / "verdicts.json").read_text())
    validator("verdicts-2.json").validate(verdicts)
    assert verdicts["backend"] == "reference"
