"""Names of message properties that mean something to the client itself.

JMS's own (``JMSX...``: Jakarta Messaging 3.1, 3.5.9) and IBM MQ's (``JMS_IBM_...``).  The other properties of IBM MQ,
report options among them, are the application's and the broker's affair and pass through.
"""

from __future__ import annotations

from collections.abc import Mapping

from assay_sdk.model.message import Property

GROUP_ID = "JMSXGroupID"
"""The group that a message belongs to: text."""

GROUP_SEQUENCE = "JMSXGroupSeq"
"""Its place in the group: an integer, 1 for the first."""

LAST_IN_GROUP = "JMS_IBM_Last_Msg_In_Group"
"""Whether it is the last of its group: a boolean."""

RETAIN = "JMS_IBM_Retain"
"""`RETAIN_PUBLICATION` keeps a publication for later subscribers: an integer."""

RETAIN_PUBLICATION = 1
"""IBM MQ's number for it."""


class PropertyError(ValueError):
    """A property has a value that its name does not allow.

    Attributes:
        name: Which.
    """

    def __init__(self, name: str, value: object, remedy: str) -> None:
        self.name = name
        super().__init__(f"The property {name} is {value!r}; {remedy}.")


def group_properties(group_id: str | None, sequence: int | None) -> dict[str, Property]:
    """A group as the properties that show it to an application."""
    given: dict[str, Property] = {GROUP_ID: group_id, GROUP_SEQUENCE: sequence}
    return {name: value for name, value in given.items() if value is not None}


def group_of(properties: Mapping[str, Property]) -> tuple[str | None, int | None]:
    """Group id and sequence out of properties: on a wire they have fields of their own.

    Returns:
        Each is None where it is not given.

    Raises:
        PropertyError: The id is no text, or the sequence no integer that counts from 0 (0 is no place, 1 the first).
    """
    group_id, sequence = properties.get(GROUP_ID), properties.get(GROUP_SEQUENCE)
    if not (group_id is None or isinstance(group_id, str)):
        raise PropertyError(GROUP_ID, group_id, "give a string")
    if isinstance(sequence, bool) or not (sequence is None or (isinstance(sequence, int) and sequence >= 0)):
        raise PropertyError(GROUP_SEQUENCE, sequence, "give an integer, 1 for the first")
    return group_id, sequence
