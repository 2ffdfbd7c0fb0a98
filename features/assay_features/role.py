"""The role of a scenario: what it contributes to the verdict of its rule."""

from enum import StrEnum


class Role(StrEnum):
    """The roles, each a tag of the same name; a scenario without such a tag is `CORE`."""

    CORE = "core"
    """The cited line of the document asks it: it decides the rule."""
    CONTROL = "control"
    """It shows that the core scenarios could have failed, for example that a retained message alone does arrive."""
    EVIDENCE = "evidence"
    """It looks harder at the same thing: at the flush, at the staging queue, at the broker's storage."""
    KIT = "kit"
    """No document asks it: it is asked of our own parts, and of a foreign part it is disclosed and never judged."""

    @property
    def meaning(self) -> str:
        """What scenarios of this role do, as a phrase for a table."""
        return _MEANINGS[self]


_MEANINGS = {
    Role.CORE: "asked by the cited line; decides the rule",
    Role.CONTROL: "shows that the core scenarios could have failed",
    Role.EVIDENCE: "a stronger look at the same thing",
    Role.KIT: "asked of our own parts only",
}
