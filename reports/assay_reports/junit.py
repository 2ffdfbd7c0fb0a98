"""JUnit XML, for continuous integration.

JUnit has four outcomes, and each verdict on a scenario becomes one of them:

- passed: pass
- failure: fail
- error: error and inconclusive, because the result is unknown and a person must look at it
- skipped: unsupported and not-demonstrated, because the rule was not tested and must not look passed

The attribute `type` of an element for a failure, an error or a skipped test holds the verdict itself.
"""

from collections.abc import Iterable, Sequence
from xml.etree import ElementTree as ET

from assay_evidence.concluding.clients import client_title
from assay_evidence.figures import counted
from assay_evidence.verdicts import RuleVerdict, ScenarioVerdict, Verdict, Verdicts
from assay_reports.readable import readable
from assay_reports.text import visible

_ELEMENTS = {
    Verdict.FAIL: "failure",
    Verdict.ERROR: "error",
    Verdict.INCONCLUSIVE: "error",
    Verdict.PARTIAL: "skipped",
    Verdict.UNSUPPORTED: "skipped",
    Verdict.NOT_DEMONSTRATED: "skipped",
}
_COUNTED = {"failure": "failures", "error": "errors", "skipped": "skipped"}


def junit_xml(runs: Sequence[Verdicts]) -> bytes:
    """Make one document of all runs, with a test suite for each feature on each pair and a test case for each scenario.

    Args:
        runs: The runs' verdicts.

    Returns:
        The document, encoded as UTF-8.
    """
    root = ET.Element("testsuites", name="assay")
    everything: list[ScenarioVerdict] = []
    for run in map(readable, runs):
        for feature, scenarios in _by_feature(run).items():
            suite = ET.SubElement(root, "testsuite", name=visible(f"{run.backend}: {feature}"))
            _count(suite, scenarios)
            properties = ET.SubElement(suite, "properties")
            _property(properties, "run", run.run)
            _property(properties, "backend", run.backend)
            _property(properties, "client", client_title(run.client, scenarios))
            _claims(properties, run)
            for scenario in scenarios:
                _case(suite, run, feature, scenario)
            everything += scenarios
    _count(root, everything)
    ET.indent(root)
    document: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _by_feature(run: Verdicts) -> dict[str, list[ScenarioVerdict]]:
    scenarios = {scenario.scenario: scenario for scenario in (*run.scenarios, *run.probes)}
    features: dict[str, list[ScenarioVerdict]] = {}
    for name in sorted(scenarios):
        features.setdefault(name.partition("::")[0], []).append(scenarios[name])
    return features


def _count(element: ET.Element, scenarios: Iterable[ScenarioVerdict]) -> None:
    scenarios = tuple(scenarios)
    elements = [_ELEMENTS.get(scenario.verdict) for scenario in scenarios]
    element.set("tests", str(len(scenarios)))
    for name, attribute in _COUNTED.items():
        element.set(attribute, str(elements.count(name)))
    element.set("time", f"{sum(scenario.seconds for scenario in scenarios):.3f}")


def _claims(properties: ET.Element, run: Verdicts) -> None:
    """Add the profiles that the backend claims, and each required capability that the pair does not declare."""
    claimed = [statement for statement in run.profiles if statement.claimed]
    if run.profiles:
        _property(properties, "profiles", " ".join(statement.profile for statement in claimed))
    for statement in claimed:
        for capability, reason in statement.not_claimed.items():
            _property(properties, "not-claimed", f"{capability} ({statement.profile}): {reason}")


def _case(suite: ET.Element, run: Verdicts, feature: str, scenario: ScenarioVerdict) -> None:
    name = scenario.scenario.partition("::")[2] or scenario.scenario
    case = ET.SubElement(
        suite,
        "testcase",
        name=visible(name),
        classname=visible(f"{run.backend}.{feature.removesuffix('.feature').replace('/', '.')}"),
        time=f"{scenario.seconds:.3f}",
    )
    properties = ET.SubElement(case, "properties")
    _property(properties, "rules", " ".join(scenario.rules))
    _property(properties, "verdict", scenario.verdict)
    if scenario.probe:
        _property(properties, "probe", scenario.probe)
    else:
        _property(properties, "role", scenario.role)
    _property(properties, "strength", scenario.strength)
    _property(properties, "judged", scenario.judged)
    if scenario.levels:
        _property(properties, "evidence", " ".join(scenario.levels))
    for rule in run.rules:
        if rule.id in scenario.rules and not scenario.foreign:
            _property(properties, rule.id, told(rule))
    if scenario.client:
        _property(properties, "client", scenario.client)
    if scenario.foreign:
        _property(properties, "foreign", "true")
    if scenario.tags:
        _property(properties, "tags", " ".join(scenario.tags))
    if scenario.disclosed:
        _property(properties, "disclosed", scenario.disclosed)
    if element := _ELEMENTS.get(scenario.verdict):
        # The message begins with the verdict: JUnit viewers show it in lists, and several verdicts share one element.
        message = visible(f"{scenario.verdict}: {scenario.reason}" if scenario.reason else scenario.verdict)
        outcome = ET.SubElement(case, element, type=scenario.verdict, message=message)
        outcome.text = visible(_details(scenario))


def told(rule: RuleVerdict) -> str:
    """Return the verdict on a rule as text, with the number of passed core scenarios and the level of evidence."""
    if not rule.asked:
        return rule.verdict.value
    evidence = f", {rule.evidence}" if rule.evidence else ""
    return f"{rule.verdict}: {rule.passed} of {counted(rule.asked, 'core scenario')} passed{evidence}"


def _details(scenario: ScenarioVerdict) -> str:
    lines = (("expected", scenario.expected), ("observed", scenario.observed))
    return "\n".join(f"{name}: {text}" for name, text in lines if text)


def _property(properties: ET.Element, name: str, value: str) -> None:
    ET.SubElement(properties, "property", name=name, value=visible(value))
