"""The role of a scenario: its part in the verdict on its rule."""

from enum import StrEnum


class Role(StrEnum):
    """The role of a scenario, from its tag of the same name; a scenario without such a tag is `CORE`."""

    CORE = "core"
    """A scenario that tests the cited demand itself, and so decides the verdict on the rule."""
    CONTROL = "control"
    """A scenario that shows that the core scenarios could have failed."""
    EVIDENCE = "evidence"
    """A scenario that examines the broker more closely: the flush, the staging queue or the storage."""
    KIT = "kit"
    """A scenario for a demand of the kit itself.

    The verdict counts only for the kit's own broker and client; for other products, the kit only reports the outcome.
    """

    @property
    def meaning(self) -> str:
        """The purpose of scenarios with this role, as a phrase for a table."""
        return _MEANINGS[self]


_MEANINGS = {
    Role.CORE: "tests the cited demand itself; decides the rule",
    Role.CONTROL: "shows that the core scenarios could have failed",
    Role.EVIDENCE: "examines the same demand more closely",
    Role.KIT: "tests a demand on the kit's own parts only",
}
