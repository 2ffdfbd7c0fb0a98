"""Tests that the tables of ``docs/mqsc.md`` agree with the code."""

from __future__ import annotations

from pathlib import Path

from assay_broker.core.objects.attributes import ATTRIBUTES, Attribute, Flag
from assay_broker.core.objects.host import Host
from assay_broker.core.objects.values import expected, shown
from assay_broker.mqsc.defaults import default_objects
from assay_broker.mqsc.dry_run import DryRun
from assay_broker.mqsc.lines import SourceCommand, source_commands
from assay_broker.mqsc.script import run_script
from assay_broker.mqsc.words import NOUNS, VALID, VERBS

PAGE = (Path(__file__).parents[3] / "docs" / "mqsc.md").read_text(encoding="utf-8")


def row(attribute: Attribute) -> str:
    flag = isinstance(attribute.values, Flag)
    values = f"{attribute.keyword} or NO{attribute.keyword}" if flag else expected(attribute)
    default = attribute.keyword if flag else shown(attribute, attribute.default) or "' '"
    return f"| {attribute.keyword} | {values} | {'' if attribute.shown else default} | "


def test_the_page_has_every_attribute_with_its_values_and_factory_setting() -> None:
    for kind, attributes in ATTRIBUTES.items():
        section = PAGE.partition(f": {kind}\n")[2].partition("\n#")[0]
        rows = section.strip().splitlines()[2:]
        expected_rows = [row(attribute) for attribute in sorted(attributes, key=lambda one: one.keyword)]
        assert len(rows) == len(expected_rows), kind
        for written, wanted in zip(rows, expected_rows, strict=True):
            assert written.startswith(wanted)


def test_the_page_names_every_verb_noun_and_synonym() -> None:
    commands = PAGE.partition("## Commands")[2].partition("## Authority")[0]
    for verb, nouns in VALID.items():
        assert verb in commands
        assert all(noun in commands for noun in nouns)
    synonyms = [word for words in (VERBS, NOUNS) for word, full in words.items() if word != full]
    assert f"Synonyms: {' '.join(synonyms)}." in commands


def test_the_pages_example_runs_as_it_is_shown() -> None:
    block = PAGE.partition("```console\n")[2].partition("```")[0]
    script, answer = block.removeprefix("$ cat orders.mqsc\n").split("$ assay mqsc orders.mqsc\n")
    dry_run = DryRun(default_objects("ASSAY").objects, Host())
    assert "\n".join(run_script(script, dry_run.ask, Host()).lines) + "\n" == answer
    assert sum(isinstance(item, SourceCommand) for item in source_commands(script)) == 2
