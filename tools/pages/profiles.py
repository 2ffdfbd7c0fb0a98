"""The ``requires`` line of each profile in `rules.toml`: the capabilities that the profile's core scenarios need."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache

from assay_features import Profile, Role, Strength, feature_root, load_catalogue
from assay_steps.plugin.checks import tagged_scenarios
from assay_steps.words.mistakes import NEEDS_PREFIX

_LINE = re.compile(r'(?P<head>\[\[profile\]\]\nkey = "(?P<key>[^"]+)"\nwhat = "[^\n]*"\n)requires = \[[^\n]*\]')


@cache
def presupposed() -> dict[Profile, tuple[str, ...]]:
    """Return the capabilities that each profile requires, sorted by name.

    A profile requires a capability if all core scenarios of at least one of its `must` rules need the capability.
    """
    needs: defaultdict[str, list[set[str]]] = defaultdict(list)
    for path in feature_root().rglob("*.feature"):
        for scenario in tagged_scenarios(path):
            if next((role for role in Role if role in scenario.tags), Role.CORE) is Role.CORE:
                wanted = {tag.removeprefix(NEEDS_PREFIX) for tag in scenario.tags if tag.startswith(NEEDS_PREFIX)}
                for tag in scenario.tags:
                    needs[tag].append(wanted)
    found: dict[Profile, set[str]] = {profile: set() for profile in Profile}
    for rule in load_catalogue().rules:
        if rule.strength is Strength.MUST and needs[rule.id]:
            found[rule.profile] |= set.intersection(*needs[rule.id])
    return {profile: tuple(sorted(wanted)) for profile, wanted in found.items()}


def catalogue_text() -> str:
    """Return the text of `rules.toml` with the `requires` lines of the profiles computed anew."""

    def line(found: re.Match[str]) -> str:
        wanted = ", ".join(f'"{capability}"' for capability in presupposed()[Profile(found["key"])])
        return f"{found['head']}requires = [{wanted}]"

    return _LINE.sub(line, (feature_root() / "rules.toml").read_text(encoding="utf-8"))
