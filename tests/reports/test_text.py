from __future__ import annotations

from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from assay_evidence.concluding.rule_verdicts import conclude
from assay_evidence.names import token_of
from assay_evidence.verdicts import RuleVerdict, ScenarioVerdict, Verdict, Verdicts
from assay_reports.readable import readable
from assay_reports.text import slug, visible


@given(st.text(st.characters()))
def test_visible_text_is_permitted_in_xml_and_stays_so(text: str) -> None:
    element = ET.Element("a", b=visible(text))
    assert ET.fromstring(ET.tostring(element, encoding="utf-8")).attrib  # noqa: S314 - our own document
    assert visible(visible(text)) == visible(text)


@given(st.text())
def test_a_slug_is_fit_for_a_file_name_and_an_anchor(text: str) -> None:
    name = slug(text)
    assert name
    assert name.isascii()
    assert not set(name) & set("/\\. %#?\"'")


def kit_only(name: str) -> ScenarioVerdict:
    """Return the verdict on a scenario that a foreign broker did not keep and that no document demands."""
    reason = f"No document demands this of a broker that is not ours: copies of {token_of(name)}/{name} differs."
    return ScenarioVerdict(name, ("DD-15",), Verdict.UNSUPPORTED, "kit", "broker", reason)


def test_the_reason_of_a_rule_has_the_names_of_the_feature_like_those_of_its_scenarios() -> None:
    scenarios = (kit_only("after"), kit_only("before"))
    concluded = conclude(scenarios, left_out=1, ours=("client",))
    rule = RuleVerdict(
        "DD-15", concluded.verdict, "kit", "broker", "delay", scenarios, left_out=1, reason=concluded.reason
    )
    (shown,) = readable(Verdicts(1, "run", "artemis", "client", (rule,), {})).rules
    assert shown.reason == (
        "No document demands this of a broker that is not ours: copies of after differs. "
        "No document demands this of a broker that is not ours: copies of before differs. "
        "The run left out 1 more scenario."
    )
    assert [one.reason in shown.reason for one in shown.scenarios] == [True, True]
