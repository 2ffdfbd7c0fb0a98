"""Scenarios with their ids, the rules that they test and their needs, as their tags state them.

- The rule: its id, or ``@probe-<capability>`` for a probe.
- The role: ``@core @control @evidence @kit``.
- Differences from the rule: the strength (``@must @may @kit``), and the judged part (``@judges-client
  @judges-broker``).
- The needs: ``@needs-<capability>``, ``@own-instance`` (implied by every fault), and the kind of queue manager
  (``@platform-zos``, ``@level-7.5``, ``@topology-cluster``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple, get_args
from weakref import WeakKeyDictionary

import pytest
from msgspec import Struct, convert, structs
from pytest_bdd.parser import ScenarioTemplate
from pytest_bdd.scenario import scenario_wrapper_template_registry

from assay_adapters.ports.capabilities import (
    FAULT_CAPABILITIES,
    SHARED_FAULTS,
    TIMED,
    Needs,
    Platform,
    Topology,
)
from assay_evidence.events import PlannedScenario
from assay_evidence.figures import counted
from assay_features import Catalogue, Judged, Role, feature_root
from assay_sdk.model.capabilities import Capability
from assay_steps.plugin.feature_files import FeatureFile, written_tags
from assay_steps.plugin.steps.lost_steps import lost_arguments, lost_steps
from assay_steps.processes.meetings import Told, last_work, meeting_lines, slow_lines
from assay_steps.processes.scheduling import is_long
from assay_steps.words.mistakes import (
    NEEDS_PREFIX,
    PROBE_PREFIX,
    SHAPED_LIKE_OURS,
    meant_tag,
    of_placeholders,
    of_tags,
    of_unnamed_places,
)

ROLE_TAGS: tuple[str, ...] = tuple(Role)
STRENGTH_TAGS = ("must", "may", "kit")
"""The tags that state a strength.  The tag ``@kit`` also states the role."""
JUDGED_TAGS = {"judges-client": "client", "judges-broker": "broker"}
UNRULED_STRENGTH, UNRULED_JUDGED = "must", "client+broker"
"""The strength and the judged part of a foreign scenario without a rule, unless its tags state others."""
OWN_INSTANCE = "own-instance"
_ENDS = frozenset({Capability.KILL, Capability.KILL_AT_ANSWER, Capability.KILL_AT_FIRST_SIGHT, Capability.POWER_LOSS})
"""The capabilities of scenarios that may end the broker at once."""
PLATFORM_PREFIX, LEVEL_PREFIX, TOPOLOGY_PREFIX = "platform-", "level-", "topology-"
PLATFORMS: tuple[str, ...] = get_args(Platform)
TOPOLOGIES: tuple[str, ...] = get_args(Topology)
_NEEDS_BEGIN = (NEEDS_PREFIX, PLATFORM_PREFIX, LEVEL_PREFIX, TOPOLOGY_PREFIX)
LEVELS = ("7.0", "7.1", "7.5", "8.0", "9.0", "9.1", "9.2", "9.3", "9.4", "10.0")
"""The command levels that tags can name.  Delivery delay came with 8.0 (DD-10); 10.0 stands for later levels."""


class Case(Struct, frozen=True):
    """A scenario, or one row of a scenario outline, as the kit judges it.

    Args:
        id: ``topic/file.feature::name[row]``.
        feature: ``topic/file.feature``.
        name: The scenario's name as Gherkin has it.
        rules: Ids of the rules that it tests; its claims name the first. Empty for a foreign scenario without a rule.
        strength: must, may or kit.
        judged: client, broker or client+broker.
        profile: The profile of the first rule; empty without a rule.
        needs: The capabilities and the kind of queue manager that it needs.
        foreign: Whether it belongs to a user's feature.
        tags: For a foreign scenario, its tags that have no meaning for the kit; empty for the kit's scenarios.
        role: The scenario's part in the verdict on the rule.
        probe: The capability that a probe looks for; None for other scenarios.
        meets: The line numbers of the steps before which the scenario waits for the scenarios that share its faults.
        slows: The line numbers of the steps before which the disk of the scenario's own broker becomes slow.
        work: For a scenario that shares a kill, the sentence of the step before its first fault, without names and
            options; empty for other scenarios.
    """

    id: str
    feature: str
    name: str
    rules: tuple[str, ...]
    strength: str
    judged: str
    profile: str
    needs: Needs
    foreign: bool = False
    tags: tuple[str, ...] = ()
    role: Role = Role.CORE
    probe: Capability | None = None
    meets: frozenset[int] = frozenset()
    slows: frozenset[int] = frozenset()
    work: str = ""

    @property
    def judges_client(self) -> bool:
        """Whether the scenario judges the client, alone or together with the broker."""
        return Judged.CLIENT in self.judged.split("+")

    @property
    def judges_broker(self) -> bool:
        """Whether the scenario judges the broker, alone or together with the client."""
        return Judged.BROKER in self.judged.split("+")

    @property
    def alone(self) -> Case:
        """This case; if it shares kills or restarts with other scenarios, a copy that has a broker of its own."""
        return self.with_own_broker if self.needs.shared_fault in {Capability.KILL, Capability.RESTART} else self

    @property
    def with_own_broker(self) -> Case:
        """The case with a broker that no other scenario uses at the same time."""
        needs = structs.replace(self.needs, own_instance=True, shared_fault=None)
        return structs.replace(self, needs=needs, meets=frozenset())

    def can_count(self, ours: Collection[str]) -> bool:
        """Return whether the scenario can count for its rule.

        A scenario of the kit with the role ``kit`` counts only if the kit made all parts that the scenario judges. All
        other scenarios can count.

        Args:
            ours: The parts of the pair that the kit made, ``client`` or ``broker`` or both.
        """
        return self.role is not Role.KIT or self.foreign or all(part in ours for part in self.judged.split("+"))

    @property
    def planned(self) -> PlannedScenario:
        """The scenario's entry in the journal's plan."""
        return PlannedScenario(
            self.id, self.rules, self.strength, self.judged, self.foreign, self.tags, self.role, self.probe or ""
        )


CASE = pytest.StashKey[Case]()
"""The key under which a pytest item holds its `Case`, if the kit judges the item."""


def template_of(item: pytest.Item) -> ScenarioTemplate | None:
    """Return the Gherkin scenario of a pytest item; None for another kind of test."""
    function = getattr(item, "function", None)
    return scenario_wrapper_template_registry.get(function) if function is not None else None


def templates(items: Iterable[pytest.Item]) -> list[ScenarioTemplate]:
    """Return the Gherkin scenarios of pytest items; leave out other kinds of tests."""
    return [template for template in map(template_of, items) if template is not None]


def feature_of(template: ScenarioTemplate) -> str:
    """Return the name of a feature in scenario ids.

    The name is the file's path below the folder of the kit's features, or else below the working folder.  A file
    outside both folders has its file name only.
    """
    return _place(template.feature.filename)[0]


def is_foreign(template: ScenarioTemplate) -> bool:
    """Return whether a scenario belongs to a user's feature, and not to a feature of the kit."""
    return _place(template.feature.filename)[1]


@lru_cache(maxsize=1024)
def _place(filename: str) -> tuple[str, bool]:
    """Return a feature's name in ids, and whether it is a user's feature.

    Cached, because each scenario asks for it and resolving paths is slow.
    """
    path, here = Path(filename).resolve(), Path.cwd().resolve()
    if path.is_relative_to(feature_root()):
        return path.relative_to(feature_root()).as_posix(), False
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else path.name, True


def is_for_the_kit(item: pytest.Item, template: ScenarioTemplate, speaks: Callable[[str], bool]) -> bool:
    """Return whether the kit judges a scenario.

    The kit judges its own scenarios, scenarios of feature files that the command line names, and scenarios with a step
    of the kit's vocabulary.  For a scenario without steps, the steps of the other scenarios in its feature count.

    Args:
        item: The test.
        template: Its scenario.
        speaks: Returns whether a step's text belongs to the kit's vocabulary.
    """
    if not is_foreign(template) or item.getparent(FeatureFile) is not None:
        return True
    told = template.steps or [step for other in template.feature.scenarios.values() for step in other.steps]
    return any(speaks(step.name) for step in told)


_FAULTLESS: WeakKeyDictionary[ScenarioTemplate, set[tuple[frozenset[str], frozenset[str]]]] = WeakKeyDictionary()
"""The kit's scenarios without mistakes, with the tags and the rules' ids for which they were checked.

Neither the kit's features nor its vocabulary change while a process lives.  So the rows of an outline, and later runs
in the process such as trials of defects, need no second check.
"""


def mistakes_of(item: pytest.Item, catalogue: Catalogue, speaks: Callable[[str], bool]) -> list[str]:
    """List the mistakes in a scenario's tags and steps, one sentence each, with feature and line.

    Args:
        item: The test.
        catalogue: The rules.
        speaks: Returns whether a step's text belongs to the kit's vocabulary.
    """
    template = template_of(item)
    if template is None or not is_for_the_kit(item, template, speaks):
        return []
    place = f"{feature_of(template)}:{template.line_number}"
    tags = {marker.name for marker in item.iter_markers()}
    ours = not is_foreign(template)
    known, key = _FAULTLESS.setdefault(template, set()) if ours else set(), (frozenset(tags), catalogue.ids)
    if key in known:
        return []
    found = list(of_tags(template, tags, catalogue, foreign=is_foreign(template)))
    found += _misspelt(template, tags, catalogue)
    found += of_placeholders(template)
    found += of_unnamed_places(template)
    found += lost_arguments(template, speaks)
    if len(template.steps) == len(template.all_background_steps):
        found.append(
            f"scenario {template.name!r} has no steps of its own, so it tests nothing; write steps, or delete it."
        )
    if not found:
        try:
            needs_of(tags)
        except ValueError as problem:
            found = [str(problem)]
    lost = lost_steps(template, feature_of(template))
    mistakes = [*lost, *(f"{place}: {sentence}" for sentence in found)]
    if not mistakes:
        known.add(key)
    return mistakes


def _misspelt(template: ScenarioTemplate, tags: set[str], catalogue: Catalogue) -> Iterator[str]:
    """Return a sentence for each tag that looks like a mistyped kit tag, and one if the scenario has several roles."""
    told = f"scenario {template.name!r} is tagged"
    roles = [tag for tag in ROLE_TAGS if tag in own_tags(template, tags)]
    if len(roles) > 1:
        yield f"{told} {' and '.join(f'@{role}' for role in roles)}; a scenario has one role, so keep one."
    known = known_tags(catalogue)
    for tag in sorted(tags & written_tags(template) - known):
        if tag.startswith("judges-"):
            there = ", ".join(f"@{one}" for one in (*JUDGED_TAGS, OWN_INSTANCE))
            meant = meant_tag(tag, known)
            hint = f"did you mean @{meant}?" if meant else f"it knows {there}."
            yield f"{told} @{tag}, which the kit does not know; {hint}"
        elif not SHAPED_LIKE_OURS.fullmatch(tag) and (meant := meant_tag(tag, known)):
            hint = f"did you mean @{meant}? A tag of your own needs another name."
            yield f"{told} @{tag}, which the kit does not know; {hint}"


def repeated_rows(items: Iterable[pytest.Item], speaks: Callable[[str], bool]) -> list[str]:
    """Return a sentence for each row that Examples contain more than once: its scenarios would have the same id.

    Args:
        items: The collected tests.
        speaks: Returns whether a step's text belongs to the kit's vocabulary.
    """
    rows = Counter(
        (feature_of(template), template.line_number, template.name, row)
        for item in items
        if (template := template_of(item)) and is_for_the_kit(item, template, speaks) and (row := row_of(item))
    )
    return [
        f"{feature}:{line}: scenario {name!r} has the row {row} {counted(count, 'time')} in its Examples; "
        "a scenario is named after its row, so keep one."
        for (feature, line, name, row), count in rows.items()
        if count > 1
    ]


def case_of(item: pytest.Item, catalogue: Catalogue, speaks: Callable[[str], bool]) -> Case | None:
    """Make the case of a pytest item; None for a test that the kit does not judge.

    Args:
        item: The test.
        catalogue: The rules.
        speaks: Returns whether a step's text belongs to the kit's vocabulary.
    """
    template = template_of(item)
    if template is None:
        return None
    tags = {marker.name for marker in item.iter_markers()}
    rules = tuple(rule.id for rule in catalogue.rules if rule.id in tags)
    if not rules and not is_for_the_kit(item, template, speaks):
        return None
    rule = catalogue.rule(rules[0]) if rules else None
    own = own_tags(template, tags)
    feature, foreign = feature_of(template), is_foreign(template)
    prepared = _preparations(needs_of(tags), item, template)
    return Case(
        id=f"{feature}::{template.name}{row_of(item)}",
        feature=feature,
        name=template.name,
        rules=rules,
        strength=next((tag for tag in STRENGTH_TAGS if tag in own), rule.strength.value if rule else UNRULED_STRENGTH),
        judged="+".join(sorted(JUDGED_TAGS[tag] for tag in own & JUDGED_TAGS.keys()))
        or ("+".join(part.value for part in rule.judged) if rule else UNRULED_JUDGED),
        profile=rule.profile.value if rule else "",
        needs=prepared.needs,
        foreign=foreign,
        tags=tuple(sorted(written_tags(template) & tags - known_tags(catalogue))) if foreign else (),
        role=next((Role(tag) for tag in ROLE_TAGS if tag in own), Role.CORE),
        probe=probe_of(tags),
        meets=prepared.meets,
        slows=prepared.slows,
        work=prepared.work,
    )


class _Preparations(NamedTuple):
    """The fields of a `Case` that depend on its steps before a fault."""

    needs: Needs
    meets: frozenset[int] = frozenset()
    slows: frozenset[int] = frozenset()
    work: str = ""


def _preparations(needs: Needs, item: pytest.Item, template: ScenarioTemplate) -> _Preparations:
    """Find the steps that prepare a fault; remove a shared fault from the needs if the steps forbid it."""
    fault, timed = needs.shared_fault, bool(needs.capabilities & TIMED)
    is_shared = fault is Capability.KILL or (fault is Capability.RESTART and timed)
    if not is_shared and not needs.capabilities & _ENDS:
        return _Preparations(needs)
    steps = _steps_of(item, template)
    slows = slow_lines(steps)
    needs = structs.replace(needs, slow_disk=bool(slows))
    if not is_shared:
        return _Preparations(needs, slows=slows)
    lines = meeting_lines(steps, timed=timed)
    if lines is None:
        return _Preparations(structs.replace(needs, shared_fault=None), slows=slows)
    return _Preparations(needs, lines, slows, last_work(steps) if fault is Capability.KILL else "")


def _steps_of(item: pytest.Item, template: ScenarioTemplate) -> list[Told]:
    return [Told(step.line_number, step.name) for step in template.render(_values_of(item)).steps]


def may_last_long(item: pytest.Item) -> bool:
    """Return whether a pytest item is a scenario that may last ten seconds or more (`is_long`)."""
    template = template_of(item)
    return template is not None and is_long(step.text for step in _steps_of(item, template))


def probe_of(tags: Iterable[str]) -> Capability | None:
    """Return the capability that a probe's tags name; None for a scenario that is not a probe."""
    named = (tag.removeprefix(PROBE_PREFIX) for tag in tags if tag.startswith(PROBE_PREFIX))
    return next(map(Capability, named), None)


def known_tags(catalogue: Catalogue) -> frozenset[str]:
    """Return every tag that has a meaning for the kit, except the tags of probes."""
    return catalogue.ids | kit_tags()


@cache
def kit_tags() -> frozenset[str]:
    """Return every tag that has a meaning for the kit, except rules' ids and the tags of probes.

    Cached, because each scenario needs it.
    """
    needs = (f"{NEEDS_PREFIX}{capability.value}" for capability in Capability)
    return frozenset({*ROLE_TAGS, *STRENGTH_TAGS, *JUDGED_TAGS, *needs, *kind_tags(), OWN_INSTANCE})


def own_tags(template: ScenarioTemplate, tags: set[str]) -> set[str]:
    """Return the tags of a scenario and its row, without the tags of its rule and feature."""
    inherited = template.feature.tags | (template.rule.tags if template.rule else set())
    return template.tags | (tags - inherited)


def row_of(item: pytest.Item) -> str:
    """Return the row of a scenario outline as ``[value, value]``; empty for a plain scenario."""
    row = _values_of(item)
    return f"[{', '.join(str(value) for value in row.values())}]" if row else ""


def _values_of(item: pytest.Item) -> Mapping[str, object]:
    """Return the values of a scenario outline's row by their names; empty for a plain scenario."""
    callspec = getattr(item, "callspec", None)
    values: Mapping[str, object] = callspec.params.get("_pytest_bdd_example", {}) if callspec else {}
    return values


def kind_tags() -> tuple[str, ...]:
    """Return every tag that names a kind of queue manager."""
    parts = ((PLATFORM_PREFIX, PLATFORMS), (LEVEL_PREFIX, LEVELS), (TOPOLOGY_PREFIX, TOPOLOGIES))
    return tuple(f"{prefix}{value}" for prefix, values in parts for value in values)


def needs_of(tags: Iterable[str]) -> Needs:
    """Return the needs that a scenario's tags state.

    Raises:
        ValueError: A tag names an unknown capability, platform, level or topology; or two tags name different
            platforms, levels or topologies.
    """
    return _needs_of(frozenset(tag for tag in tags if tag == OWN_INSTANCE or tag.startswith(_NEEDS_BEGIN)))


@lru_cache(maxsize=1024)
def _needs_of(given: frozenset[str]) -> Needs:
    """Return the needs that these tags state.  Cached, because most scenarios have the same few needs."""
    capabilities = frozenset(
        Capability(tag.removeprefix(NEEDS_PREFIX)) for tag in given if tag.startswith(NEEDS_PREFIX)
    )
    own_instance = OWN_INSTANCE in given or bool(capabilities & FAULT_CAPABILITIES)
    plain = Needs()
    return convert(
        {
            "capabilities": capabilities,
            "platform": _one_of(given, PLATFORM_PREFIX, PLATFORMS) or plain.platform,
            "level": _one_of(given, LEVEL_PREFIX, LEVELS) or plain.level,
            "topology": _one_of(given, TOPOLOGY_PREFIX, TOPOLOGIES) or plain.topology,
            "own_instance": own_instance,
            "shared_fault": None if OWN_INSTANCE in given else _shared(capabilities),
        },
        Needs,
    )


def _shared(needed: frozenset[Capability]) -> Capability | None:
    """Return the fault that a scenario can share with others, from the capabilities that it needs.

    A cut does not count if the scenario also needs another fault.

    Returns:
        The fault; None if the scenario needs no fault, several faults, or a fault that scenarios cannot share.
    """
    faults = needed & FAULT_CAPABILITIES
    first, *others = sorted(faults - {Capability.CUT} or faults) or (None,)
    return first if first in SHARED_FAULTS and not others else None


def _one_of(tags: Iterable[str], prefix: str, known: tuple[str, ...]) -> str | None:
    found = sorted({tag.removeprefix(prefix) for tag in tags if tag.startswith(prefix)})
    unknown = [value for value in found if value not in known]
    if unknown:
        raise ValueError(f"@{prefix}{unknown[0]} is unknown; {prefix!r} knows {', '.join(known)}.")
    if len(found) > 1:
        raise ValueError(f"A scenario is tagged with {' and '.join(prefix + value for value in found)}: keep one.")
    return found[0] if found else None
