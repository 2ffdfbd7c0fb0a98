"""The events of a journal's begin and end, and of a run's plan."""

from __future__ import annotations

from msgspec import Struct

from assay_evidence.events._event import Event

LATENESS = "a message may be late by"
"""The key of `Begin.environment` for the time by which a message may be late; without it, the default limit holds."""
NOT_RUN_HERE = "not run here"
"""The key of `Begin.environment` for the sentence that the kit's authors have never run the product."""
PACE = "times of the scenarios are multiplied by"
"""The key of `Begin.environment` for the run's pace (`assay_steps.cast.timing.pace`); without it, the pace is 1."""


class PlannedScenario(Struct, frozen=True, omit_defaults=True, gc=False):
    """A scenario that was selected for the run, so that `judge` expects its events in the journals.

    Args:
        id: The scenario's id, in the form ``topic/file.feature::name[row]``.
        rules: The ids of the rules with which the scenario is tagged.
        strength: The strength of the rules: must, may or kit.
        judged: The parts that the scenario judges: client, broker or client+broker.
        foreign: Whether the scenario is not the kit's own; then it decides no rule of the catalogue.
        tags: The tags of a foreign scenario that the kit does not know, such as a team's own ids.
        role: The scenario's role for its rule's verdict: core, control, evidence or kit (`assay_features.Role`).
        probe: The capability that a probe looks for; empty for other scenarios. A probe tries no rule.
    """

    id: str
    rules: tuple[str, ...]
    strength: str
    judged: str
    foreign: bool = False
    tags: tuple[str, ...] = ()
    role: str = "core"
    probe: str = ""


class Untold(Struct, frozen=True, omit_defaults=True, gc=False):
    """A note that an imported log lacks something that a rule needs.

    Args:
        rule: The rule's id.
        reason: What the log lacks, in one sentence.
    """

    rule: str
    reason: str


class Begin(Event, frozen=True, kw_only=True, tag="begin"):
    """The first line of a file: the tested pair, its environment, the catalogue and the seed.

    Args:
        backend: The backend's name.
        client: The name, version and face of the client under test.
        ours: The parts of the pair that are the kit's own (``client``, ``broker``); only these parts can fail a `kit`
            rule.
        environment: Details by name, such as versions, the platform and image digests.
        catalogue_hash: The hash of the catalogue of rules (`Catalogue.sha256`).
        seed: The run's seed.
        capabilities: The capabilities that the pair declares, each with its source in one sentence.
        defect: The name of the defect that the run switches on; empty for a run without a defect.
        lacks: For each capability that the pair does not declare, the reason; absent for a capability without a known
            reason.
        profiles: The profiles that the backend claims; None in journals of versions without claims of profiles.
        given: The options of `assay run` that choose the tested pair, such as ``--backend=artemis``; empty in journals
            of versions that do not record them.
        decides: For an imported log, the ids of the rules that its events can decide; None for a run, whose events can
            decide all rules.
        untold: For an imported log, the information that rules need and the log lacks.
        unread: For an imported log, one sentence for each of the first lines that could not be imported; empty if all
            lines were imported. A line that could not be imported counts as damage.
    """

    backend: str
    client: str
    ours: tuple[str, ...]
    environment: dict[str, str]
    catalogue_hash: str
    seed: int
    capabilities: dict[str, str] = {}
    defect: str = ""
    lacks: dict[str, str] = {}
    profiles: tuple[str, ...] | None = None
    given: tuple[str, ...] = ()
    decides: tuple[str, ...] | None = None
    untold: tuple[Untold, ...] = ()
    unread: tuple[str, ...] = ()


class Plan(Event, frozen=True, kw_only=True, tag="plan"):
    """The list of all selected scenarios; a scenario in it without events is an error, never a pass.

    Args:
        scenarios: The selected scenarios.
        left_out: By rule, the number of further scenarios that try the rule and were not selected.
    """

    scenarios: tuple[PlannedScenario, ...]
    left_out: dict[str, int] = {}


class End(Event, frozen=True, kw_only=True, tag="end"):
    """The last line of a file.

    Args:
        events: The number of lines before this one.
        sha256: The SHA-256 digest over the bytes of these lines, hexadecimal.
        writers: The names of all writers of the run, in the file of the run's main process (the controller); empty in
            other files.
    """

    events: int
    sha256: str
    writers: tuple[str, ...] = ()
