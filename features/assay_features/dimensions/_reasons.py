"""The reasons why no scenario tries a rule with a trait: `untried.toml`."""

from functools import cache
from importlib import resources
from pathlib import Path

import msgspec

from assay_features.dimensions._traits import DIMENSIONS
from assay_features.rule import Rule


class Untried(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One reason, for some traits of some rules.

    Args:
        traits: Names of traits, or of dimensions, which stand for all their traits.
        rules: Ids of rules, names of groups, or profiles.
        why: The reason, in a sentence.
        open: Whether a scenario could try it, and none does yet.
    """

    traits: tuple[str, ...]
    rules: tuple[str, ...]
    why: str
    open: bool = False


class Reasons(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All reasons.

    Args:
        groups: Ids of rules by the name of their group.
        untried: The reasons, in the order in which they count.
    """

    untried: tuple[Untried, ...] = ()
    groups: dict[str, tuple[str, ...]] = {}

    def of(self, rule: Rule, dimension: str, trait: str) -> Untried | None:
        """The reason why a rule is not tried across a trait; None without one."""
        names = {rule.id, rule.profile.value, *(name for name, ids in self.groups.items() if rule.id in ids)}
        for reason in self.untried:
            if not {dimension, trait}.isdisjoint(reason.traits) and not names.isdisjoint(reason.rules):
                return reason
        return None

    def unknown_traits(self) -> set[str]:
        """Names of traits that do not exist."""
        known = {dimension.name for dimension in DIMENSIONS}
        known |= {trait.name for dimension in DIMENSIONS for trait in dimension.traits}
        return {trait for reason in self.untried for trait in reason.traits} - known


@cache
def load_reasons(path: Path | None = None) -> Reasons:
    """Read the reasons; those of this package if no file is given.

    Raises:
        msgspec.ValidationError: The file has another form.
    """
    source = resources.files("assay_features").joinpath("untried.toml") if path is None else path
    return msgspec.toml.decode(source.read_bytes(), type=Reasons)
