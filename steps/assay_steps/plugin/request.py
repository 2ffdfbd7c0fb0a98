"""The request for a run: backend, rules, face and defect; unknown names are reported before the run starts."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from assay_adapters.ports.backend import Backend, Unavailable
from assay_adapters.ports.client import Endpoint
from assay_adapters.ports.entry import BackendOptions
from assay_adapters.registry import open_backend
from assay_evidence.names import matches
from assay_features import Rule, load_catalogue
from assay_steps.behaviour import Behaviour
from assay_steps.defects import find_defect
from assay_steps.variants import find_variant


class BackendUnavailableError(LookupError):
    """The named backend cannot be started on this machine."""


class Pair(Struct, frozen=True):
    """The backend, rules and behaviour that a request names.

    Args:
        backend: The backend, not started yet.
        rules: The rules that the run tests.
        behaviour: The defect or tolerated variant that is switched on; None for neither.
    """

    backend: Backend
    rules: tuple[Rule, ...]
    behaviour: Behaviour | None


class RunRequest(Struct, frozen=True, kw_only=True):
    """A request for a run on one backend.

    Args:
        backend: The backend's name.
        profile: Test only rules of this profile; None for all.
        rules: Test only the rules with these ids; empty for all.
        seed: The seed of all random choices.
        store: The reference broker's store; None for its default.
        face: The face of the client; None for the backend's default.
        defect: The name of the defect to switch on; None for none.
        variant: The name of the tolerated variant to switch on; None for none.
        late_ms: How late a delayed message may arrive, in milliseconds; None for 5 s.
        probes: Whether to run probes; `assay_steps.plugin.probes.wanted_probes` chooses them.
        scenarios: Test only the scenarios whose ids match one of these patterns, with ``*`` and ``?``; empty for all.
    """

    backend: str = "reference"
    profile: str | None = None
    rules: tuple[str, ...] = ()
    seed: int = 0
    store: str | None = None
    face: str | None = None
    defect: str | None = None
    variant: str | None = None
    late_ms: int | None = None
    probes: bool = True
    scenarios: tuple[str, ...] = ()

    @property
    def given(self) -> tuple[str, ...]:
        """The command-line options for the pair, the lateness and the seed, so that `assay run` can repeat the run."""
        options = {
            "backend": self.backend,
            "store": self.store,
            "face": self.face,
            "defect": self.defect,
            "variant": self.variant,
            "late": None if self.late_ms is None else str(self.late_ms),
            "seed": str(self.seed) if self.seed else None,
        }
        return tuple(f"--{name}={value}" for name, value in options.items() if value is not None)

    def names(self, scenario: str) -> bool:
        """Return whether a pattern of the request matches a scenario's id; True if the request has no patterns."""
        return not self.scenarios or any(matches(pattern, scenario) for pattern in self.scenarios)

    def open(self, shared: Endpoint | None = None, meetings: Path | None = None) -> Pair:
        """Look up all names of the request; start nothing.

        Args:
            shared: The address of a broker that the run's controller has started; None to start one.
            meetings: The folder in which scenarios of several processes meet for a shared fault; None for no sharing.

        Raises:
            LookupError: A backend, rule, profile, face, store, defect or variant is unknown; the error names the
                closest known one. Or the request has both a defect and a variant, or an allowed lateness below 1 ms.
            BackendUnavailableError: The backend cannot be started on this machine.
        """
        if self.late_ms is not None and self.late_ms < 1:
            raise LookupError(
                f"The allowed lateness is {self.late_ms} ms, but no broker delivers at once: allow more, such as 5 s."
            )
        rules = load_catalogue().select(profile=self.profile, ids=self.rules)
        defect = find_defect(self.defect) if self.defect is not None else None
        variant = find_variant(self.variant) if self.variant is not None else None
        if defect is not None and variant is not None:
            raise LookupError(
                f"The defect {defect.name!r} and the variant {variant.name!r} exclude each other: leave one out."
            )
        behaviour = defect or variant
        backend = open_backend(
            self.backend,
            BackendOptions(
                seed=self.seed,
                store=self.store,
                defect=defect.broker if defect else None,
                wire=behaviour.wire if behaviour else None,
                variant=variant.broker if variant else None,
                shared=shared,
                meetings=meetings,
            ),
        )
        backend.identity(self.face)
        probe = backend.probe()
        if isinstance(probe, Unavailable):
            raise BackendUnavailableError(
                f"Backend {self.backend!r} cannot be started: {probe.reason}; {probe.remedy}."
            )
        return Pair(backend, rules, behaviour)
