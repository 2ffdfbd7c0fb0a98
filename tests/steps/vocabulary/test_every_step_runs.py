"""Tests that a feature of the kit or a sample executes every step of the vocabulary on the reference broker.

The steps of the kit's features are found from their texts; the samples' scenarios are run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_bdd.feature import get_features
from pytest_bdd.parser import ScenarioTemplate
from pytest_bdd.steps import StepFunctionContext

from assay_adapters.ports.entry import BackendOptions
from assay_adapters.registry import open_backend
from assay_features import feature_root
from assay_steps.plugin.cases import needs_of
from assay_steps.plugin.steps.lookup import vocabulary

pytest_plugins = ["pytester"]

SAMPLES = Path(__file__).with_name("samples")
PLUGINS = ("-p", "pytest_bdd.plugin", "-p", "assay_steps.entry", "-p", "no:cacheprovider", "--assert=plain")


def executed(root: Path) -> Iterator[tuple[str, str]]:
    """Return keyword and text of each step in the scenarios, and rows of outlines, that the reference pair can run."""
    able = open_backend("reference", BackendOptions()).capabilities
    for feature in get_features([str(root)]):
        for template in feature.scenarios.values():
            tags = template.tags | feature.tags | (template.rule.tags if template.rule else set())
            if needs_of(tags).capabilities <= able.keys():
                for row in rows(template):
                    yield from ((step.type, step.name) for step in template.render(row).steps)


def rows(template: ScenarioTemplate) -> list[dict[str, str]]:
    """Return the rows of an outline; for a plain scenario one empty row."""
    found = [dict(row) for examples in template.examples for row in examples.as_contexts()]
    return found or [{}]


def fits(step: StepFunctionContext, keyword: str, text: str) -> bool:
    """Check whether a step definition matches a step."""
    begins = step.parser.name.partition("{")[0].casefold()
    return step.type == keyword and text.casefold().startswith(begins) and step.parser.is_matching(text)


def test_every_step_is_executed_on_the_reference_broker() -> None:
    texts = {*executed(feature_root()), *executed(SAMPLES)}
    never = [
        f"{step.type} {step.parser.name}"
        for step in vocabulary()
        if not any(fits(step, keyword, text) for keyword, text in texts)
    ]
    assert never == []


def test_every_sample_scenario_passes(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    samples = [str(path) for path in sorted(SAMPLES.glob("*.feature"))]
    pytester.runpytest_inprocess(*PLUGINS, *samples, "--assay-out=out")
    verdicts = json.loads((pytester.path / "out" / "verdicts.json").read_text())
    wrong = {one["scenario"]: one["reason"] for one in verdicts["foreign"] if one["verdict"] != "pass"}
    assert wrong == {}
    assert verdicts["foreign"]
