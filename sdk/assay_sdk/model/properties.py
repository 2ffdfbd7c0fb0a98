"""Message properties that the client itself reads or sets.

They are properties of JMS (``JMSX...``: Jakarta Messaging 3.1, 3.5.9) and of IBM MQ (``JMS_IBM_...``).  The client
passes IBM MQ's other properties, such as report options, unchanged between the application and the broker.
"""

from __future__ import annotations

from collections.abc import Mapping

from assay_sdk.model.message import Property

GROUP_ID = "JMSXGroupID"
"""Name of the property with the id of the message's group, a string."""

GROUP_SEQUENCE = "JMSXGroupSeq"
"""Name of the property with the message's position in its group, an integer from 1."""

LAST_IN_GROUP = "JMS_IBM_Last_Msg_In_Group"
"""Name of the boolean property that marks the last message of a group."""

RETAIN = "JMS_IBM_Retain"
"""Name of the integer property that says whether the broker retains a publication; see `RETAIN_PUBLICATION`."""

RETAIN_PUBLICATION = 1
"""Value of `RETAIN` for a publication that the broker retains for later subscribers; IBM MQ's number."""


class PropertyError(ValueError):
    """The error for an invalid value of a property that the client reads.

    Attributes:
        name: Name of the property.
    """

    def __init__(self, name: str, value: object, remedy: str) -> None:
        self.name = name
        super().__init__(f"The property {name} is {value!r}; {remedy}.")


def group_properties(group_id: str | None, sequence: int | None) -> dict[str, Property]:
    """Return the properties in which an application finds the group id and the position in the group.

    Args:
        group_id: Id of the group; None for a message without a group.
        sequence: Position in the group; None for a message without one.
    """
    given: dict[str, Property] = {GROUP_ID: group_id, GROUP_SEQUENCE: sequence}
    return {name: value for name, value in given.items() if value is not None}


def group_of(properties: Mapping[str, Property]) -> tuple[str | None, int | None]:
    """Return the group id and the position in the group from a message's properties.

    Returns:
        Group id and position; each is None if the property is absent.

    Raises:
        PropertyError: The group id is not a string, or the position is not an integer of at least 0.
    """
    group_id, sequence = properties.get(GROUP_ID), properties.get(GROUP_SEQUENCE)
    if not (group_id is None or isinstance(group_id, str)):
        raise PropertyError(GROUP_ID, group_id, "give a string")
    if isinstance(sequence, bool) or not (sequence is None or (isinstance(sequence, int) and sequence >= 0)):
        raise PropertyError(GROUP_SEQUENCE, sequence, "give an integer, 1 for the first")
    return group_id, sequence
