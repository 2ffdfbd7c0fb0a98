"""The reasons why no scenario tests a rule under a trait, from the file `untried.toml`."""

from functools import cache
from importlib import resources
from pathlib import Path

import msgspec

from assay_features.rule import Rule


class Untried(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One reason why no scenario tests some rules under some traits.

    Args:
        traits: The names of traits, or of dimensions; a dimension stands for all its traits.
        rules: The ids of rules, or the names of groups (`Reasons.groups`) or profiles.
        why: The reason why no scenario tests these rules under these traits, in one sentence.
        open: Whether a scenario could test these rules under these traits but has not been written.
    """

    traits: tuple[str, ...]
    rules: tuple[str, ...]
    why: str
    open: bool = False


class Reasons(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All reasons of one file.

    Args:
        groups: Lists of rule ids, by the name of the group.
        untried: The reasons; if several match, the first is used.
    """

    untried: tuple[Untried, ...] = ()
    groups: dict[str, tuple[str, ...]] = {}

    def of(self, rule: Rule, dimension: str, trait: str) -> Untried | None:
        """Return the reason why no scenario tests a rule under a trait; None if the file gives no reason."""
        names = {rule.id, rule.profile.value, *(name for name, ids in self.groups.items() if rule.id in ids)}
        for reason in self.untried:
            if not {dimension, trait}.isdisjoint(reason.traits) and not names.isdisjoint(reason.rules):
                return reason
        return None


@cache
def load_reasons(path: Path | None = None) -> Reasons:
    """Read a file of reasons; without a path, the file of this package.

    Raises:
        msgspec.ValidationError: The file does not have the form of `Reasons`.
    """
    source = resources.files("assay_features").joinpath("untried.toml") if path is None else path
    return msgspec.toml.decode(source.read_bytes(), type=Reasons)
