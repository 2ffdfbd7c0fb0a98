"""The catalogue of rules.  Features, journals, verdicts and reports refer to its rules by id."""

import hashlib
import re
from collections.abc import Collection
from difflib import get_close_matches
from functools import cached_property, lru_cache
from importlib import resources
from pathlib import Path

import msgspec

from assay_features._tables import read_tables
from assay_features.errors import CatalogueError, UnknownProfileError, UnknownRuleError
from assay_features.rule import Document, Family, Judged, Profile, ProfileDefinition, Rule, Strength

__all__ = [
    "Catalogue",
    "CatalogueError",
    "Document",
    "Family",
    "Judged",
    "Profile",
    "ProfileDefinition",
    "Rule",
    "Strength",
    "UnknownProfileError",
    "UnknownRuleError",
    "load_catalogue",
]

_SHORT = 12
_LOOSE_ID = re.compile(r"([A-Z]{2})[-_ ]?([0-9]{1,2})")


class Catalogue(msgspec.Struct, frozen=True, dict=True):  # cached properties need a `__dict__`
    """The catalogue: all rules, and the documents that demand them; `load_catalogue` returns it."""

    documents: tuple[Document, ...]
    """All cited documents, in the order of the file."""
    rules: tuple[Rule, ...]
    """All rules, in the order of the file."""
    profiles: tuple[ProfileDefinition, ...] = ()
    """The definitions of profiles, in the order of the file."""

    def rule(self, rule_id: str) -> Rule:
        """Return the rule with this id.

        Raises:
            UnknownRuleError: No rule has this id; the error names the most similar id.
        """
        try:
            return self._by_id[rule_id]
        except KeyError:
            raise UnknownRuleError(rule_id, self._nearest(rule_id)) from None

    def document(self, key: str) -> Document | None:
        """Return the document with this key, such as `DELAY`; None if the catalogue has no such document."""
        return next((document for document in self.documents if document.key == key), None)

    def profile(self, profile: Profile | str) -> tuple[Rule, ...]:
        """Return the rules of this profile only: for `delay`, no rules of `delay-mq` and `delay-zos`.

        Raises:
            UnknownProfileError: No profile has this name; the error gives the most similar name.
        """
        return self.select(profile=profile)

    def definition(self, profile: Profile | str) -> ProfileDefinition | None:
        """Return the definition of a profile; None if the catalogue does not define it.

        Raises:
            UnknownProfileError: No profile has this name; the error gives the most similar name.
        """
        wanted = _known(profile)
        return next((one for one in self.profiles if one.key is wanted), None)

    def family(self, family: Family) -> tuple[Rule, ...]:
        """Return the rules of a family from all its profiles: for `DD`, from `delay`, `delay-mq` and `delay-zos`."""
        return tuple(rule for rule in self.rules if rule.family is family)

    def select(self, profile: Profile | str | None = None, ids: Collection[str] = ()) -> tuple[Rule, ...]:
        """Select rules by profile, by ids, or by both, in the order of the file.

        Args:
            profile: The profile or its name; None for all profiles.
            ids: The ids of rules; empty for all rules.

        Returns:
            The rules that have one of the ids and belong to the profile; empty if no rule fulfils both.

        Raises:
            UnknownProfileError: No profile has this name; the error gives the most similar name.
            UnknownRuleError: The catalogue lacks one of the ids; the error names the most similar id.
        """
        chosen = None if profile is None else _known(profile)
        wanted = {self.rule(rule_id).id for rule_id in ids}
        return tuple(
            rule
            for rule in self.rules
            if (chosen is None or rule.profile is chosen) and (not wanted or rule.id in wanted)
        )

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 hash of the catalogue's data, without comments and layout, as hexadecimal digits."""
        return hashlib.sha256(msgspec.json.encode(self, order="sorted")).hexdigest()

    @property
    def hash(self) -> str:
        """The first 12 digits of `sha256`, for texts that people read."""
        return self.sha256[:_SHORT]

    @cached_property
    def ids(self) -> frozenset[str]:
        """The ids of all rules, such as `DD-02`."""
        return frozenset(self._by_id)

    @cached_property
    def families(self) -> frozenset[str]:
        """The first two letters of all rules' ids, such as `DD`."""
        return frozenset(rule.id.partition("-")[0] for rule in self.rules)

    @cached_property
    def _by_id(self) -> dict[str, Rule]:
        return {rule.id: rule for rule in self.rules}

    def _nearest(self, rule_id: str) -> str | None:
        upper = rule_id.upper()
        # For "dd2", difflib finds DD-02 and DD-82 equally similar, although only DD-02 can be meant.
        loose = _LOOSE_ID.fullmatch(upper)
        if loose and (tidy := f"{loose[1]}-{int(loose[2]):02}") in self._by_id:
            return tidy
        return next(iter(get_close_matches(upper, self._by_id, n=1)), None)


def _known(profile: str) -> Profile:
    try:
        return Profile(profile)
    except ValueError:
        nearest = get_close_matches(profile.lower(), [known.value for known in Profile], n=1)
        raise UnknownProfileError(profile, nearest[0] if nearest else None) from None


def load_catalogue(path: Path | None = None) -> Catalogue:
    """Load and check a catalogue.

    Args:
        path: The file; None for the catalogue of this package.

    Returns:
        The catalogue.

    Raises:
        CatalogueError: The file cannot be read, or is no valid catalogue; the error names file, line and remedy.
    """
    source = resources.files("assay_features").joinpath("rules.toml") if path is None else path
    file = str(source)
    try:
        content = source.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a path that holds a null character
        raise CatalogueError(file, None, f"the catalogue cannot be read ({error}); name a file that can.") from error
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise CatalogueError(file, line, "the text is not UTF-8; save the file as UTF-8.") from error
    return _read(file, text)


@lru_cache(maxsize=4)
def _read(file: str, text: str) -> Catalogue:
    return Catalogue(*read_tables(file, text))
