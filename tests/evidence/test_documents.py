"""Tests that the documentation of journals, predicates and schemas agrees with the code."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import get_args

import jsonschema
import pytest
from tests.evidence.histories import Memory, Story, begin, plan

from assay_evidence import events as ev
from assay_evidence import predicates
from assay_evidence.judge import judge
from assay_evidence.lines import DamageKind, encode_line
from assay_evidence.predicates.shapes import SHAPES
from assay_evidence.schemas import SCHEMAS, schema_text, write_schemas
from assay_evidence.verdicts import verdicts_json
from assay_features import load_catalogue

DOCS = Path(__file__).parents[2] / "docs"


def rows(document: str) -> dict[str, list[str]]:
    """Return the table rows of a document that begin with a name in code, by that name."""
    found: dict[str, list[str]] = {}
    for line in (DOCS / document).read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        for name in re.findall(r"`([a-z0-9-]+)`", cells[0]) if line.startswith("| `") else ():
            found[name] = cells
    return found


def test_every_predicate_has_a_decision_a_shape_and_a_row() -> None:
    names = list(get_args(ev.Predicate))
    documented = [name for name in rows("what-a-pass-means.md") if name in names]
    assert sorted(predicates.PREDICATES) == sorted(names)
    assert list(predicates.PREDICATES) == documented
    assert list(SHAPES) == documented


@pytest.mark.parametrize("name", predicates.PREDICATES)
def test_a_predicates_section_says_what_it_passes_and_what_it_cannot_see(name: str) -> None:
    _, section = (DOCS / "what-a-pass-means.md").read_text().split(f"### `{name}`\n\n")
    told = re.findall(r"^- \*\*(.+?):\*\* .+\.$", section.split("\n#")[0], re.MULTILINE)
    assert told == ["Examines", "Pass", "Fail", "Decides nothing", "Cannot see"]


@pytest.mark.parametrize("name", SHAPES)
def test_a_predicates_row_names_what_it_reads(name: str) -> None:
    _, of, bounds = rows("what-a-pass-means.md")[name]
    named = set(re.findall(r"`([a-z_]+\.?)(?:NAME)?`", of))
    shape = SHAPES[name]  # type: ignore[index]  # the parameters are the table's own keys
    synonyms = {"kid", "kids", "actor", "actors"}
    assert named - synonyms == set(shape.of) - synonyms - ({"call"} if "call" not in named else set())
    assert named & synonyms <= shape.of
    assert set(re.findall(r"`([a-z_]+)`", bounds)) == set(shape.bounds)


def test_the_journals_page_names_every_kind_with_its_fields() -> None:
    documented = rows("journal.md")
    common = set(ev.Event.__struct_fields__)
    for kind in get_args(ev.AnyEvent):
        fields = [name for name in kind.__struct_encode_fields__ if name not in common]
        assert re.findall(r"`([a-z0-9_]+)`", documented[kind.__struct_config__.tag][2]) == fields


def test_the_journals_page_names_every_kind_of_damage() -> None:
    assert set(get_args(DamageKind)) <= set(rows("journal.md"))


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schemas_file_is_the_one_that_the_types_give(name: str) -> None:
    assert (DOCS / "schemas" / name).read_bytes() == schema_text(SCHEMAS[name]()), (
        "run: python -m assay_evidence.schemas docs/schemas"
    )


def test_schemas_are_written_into_a_new_folder(tmp_path: Path) -> None:
    write_schemas(tmp_path / "new")
    assert {path.name for path in (tmp_path / "new").iterdir()} == set(SCHEMAS)


def told() -> Memory:
    sink = Memory()
    begin(sink)
    plan(sink, ev.PlannedScenario(id="delay/basics.feature::it", rules=("DD-02",), strength="must", judged="broker"))
    story = Story(sink)
    story.starts()
    with story.watching():
        send = story.send(delay_ms=5)
        story.at(5).seen(fields={"JMSPriority": 4, "JMSType": None, "flag": True})
    story.claim("not-before", {"kid": "m", "call": send.ref}, delay_ms=5)
    story.ends()
    return sink


def test_lines_are_valid_by_the_journals_schema() -> None:
    validator = jsonschema.Draft202012Validator(json.loads((DOCS / "schemas" / "journal-1.json").read_text()))
    for event in told().events:
        line = json.loads(encode_line(event))
        validator.validate(line)
        assert not validator.is_valid({name: value for name, value in line.items() if name != "sum"})


def test_verdicts_are_valid_by_their_schema() -> None:
    validator = jsonschema.Draft202012Validator(json.loads((DOCS / "schemas" / "verdicts-2.json").read_text()))
    verdicts = json.loads(verdicts_json(judge(told().events, load_catalogue())))
    validator.validate(verdicts)
    assert verdicts["rules"][0]["verdict"] == "pass"
