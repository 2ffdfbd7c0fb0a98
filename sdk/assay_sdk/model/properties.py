"""Message properties that the client itself reads or sets.

They are JMS's own (``JMSX...``: Jakarta Messaging 3.1, 3.5.9) and some of IBM MQ's (``JMS_IBM_...``).  The client
forwards IBM MQ's other properties, report options among them, unchanged between the application and the broker.
"""

from __future__ import annotations

from collections.abc import Mapping

from assay_sdk.model.message import Property

GROUP_ID = "JMSXGroupID"
"""Group that the message belongs to: a string."""

GROUP_SEQUENCE = "JMSXGroupSeq"
"""Position in the group: an integer, 1 for the first message."""

LAST_IN_GROUP = "JMS_IBM_Last_Msg_In_Group"
"""Whether the message is the last one of its group: a boolean."""

RETAIN = "JMS_IBM_Retain"
"""An integer; with `RETAIN_PUBLICATION` the broker keeps the publication for later subscribers."""

RETAIN_PUBLICATION = 1
"""IBM MQ's number (MQRO option of the same name)."""


class PropertyError(ValueError):
    """A property with a value that its name does not allow.

    Attributes:
        name: Name of the property.
    """

    def __init__(self, name: str, value: object, remedy: str) -> None:
        self.name = name
        super().__init__(f"The property {name} is {value!r}; {remedy}.")


def group_properties(group_id: str | None, sequence: int | None) -> dict[str, Property]:
    """Return the properties that represent a group to an application."""
    given: dict[str, Property] = {GROUP_ID: group_id, GROUP_SEQUENCE: sequence}
    return {name: value for name, value in given.items() if value is not None}


def group_of(properties: Mapping[str, Property]) -> tuple[str | None, int | None]:
    """Return group id and sequence number from properties; a wire carries them in their own fields.

    Returns:
        Group id and sequence number; each is None when absent.

    Raises:
        PropertyError: The id is not a string, or the sequence number is not an integer of at least 0.
    """
    group_id, sequence = properties.get(GROUP_ID), properties.get(GROUP_SEQUENCE)
    if not (group_id is None or isinstance(group_id, str)):
        raise PropertyError(GROUP_ID, group_id, "give a string")
    if isinstance(sequence, bool) or not (sequence is None or (isinstance(sequence, int) and sequence >= 0)):
        raise PropertyError(GROUP_SEQUENCE, sequence, "give an integer, 1 for the first")
    return group_id, sequence
