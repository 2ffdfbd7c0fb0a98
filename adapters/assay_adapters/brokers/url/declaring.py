"""The capabilities of a pair, from the broker's file and from the kit, and the reasons for missing capabilities."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from assay_adapters.brokers.amqp.administration import OFFERED_BY
from assay_adapters.brokers.amqp.common import OF_THE_KIT, lacks_of
from assay_adapters.brokers.url.model import Description, Operation
from assay_adapters.ports.client import Source
from assay_sdk.model.capabilities import Capability

_PROXY = frozenset({Capability.CUT, Capability.KILL_AT_ANSWER, Capability.KILL_AT_FIRST_SIGHT})
_ENDS = frozenset({Capability.RESTART, Capability.KILL})

_OPERATIONS: Mapping[Capability, frozenset[Operation]] = {
    Capability.QUEUE_DEPTH: frozenset(
        {Operation.CREATE_QUEUE, Operation.DELETE_QUEUE, Operation.CLEAR_QUEUE, Operation.DEPTH}
    ),
    Capability.QUEUE_LOOK: frozenset({Operation.BROWSE}),
    Capability.SUBSCRIPTION_LIST: frozenset({Operation.SUBSCRIPTIONS}),
    Capability.SUBSCRIPTION_LOOK: frozenset({Operation.SUBSCRIPTIONS, Operation.BROWSE}),
    Capability.AUTHORITY: frozenset({Operation.AUTHORISE}),
}
"""For each capability, the operations that an administration program must offer to give the pair the capability."""

ADDED = frozenset({*OF_THE_KIT, *_OPERATIONS} - {Capability.QUEUE, Capability.POWER_LOSS})
"""Capabilities that a file must not declare: the kit itself gives them, or derives them from the file's tables."""

IMPOSSIBLE: frozenset[Capability] = frozenset(
    {
        *(OFFERED_BY.keys() - _OPERATIONS.keys()),
        Capability.ADMIN,
        Capability.MESSAGE_LIMIT,
        Capability.PUT_INHIBIT,
        Capability.DEFAULT_PERSISTENCE,
        Capability.ALIAS,
        Capability.DEAD_LETTER_QUEUE,
        Capability.NATIVE_PUT,
        Capability.XA,
        Capability.CANCEL,
        Capability.FACTORY_SETTINGS,
        Capability.STAGING_QUEUE,
        Capability.FLUSH_TRACE,
        Capability.BLOCK_WRITE,
        Capability.RESTART_AT_LEVEL,
        Capability.STORE_ERROR,
        Capability.POWER_LOSS,
        Capability.WORKER_DIES,
        Capability.NAMELESS_CONNECTION,
        Capability.VIRTUAL_TIME,
    }
)
"""Capabilities that no broker can have through this backend."""


def capabilities(description: Description, file: Path) -> Mapping[Capability, Source]:
    """Return the capabilities of broker, client and kit together, each with its source."""
    declared = {one: Source(text, file.name) for one, text in description.capabilities.items()}
    kept = {one: source for one, source in OF_THE_KIT.items() if one in ADDED and one not in _PROXY | _ENDS}
    offered = frozenset(description.administration.operations if description.administration else ())
    by_program = Source("The administration program offers the operations.", file.name)
    administered = {one: by_program for one, operations in _OPERATIONS.items() if operations <= offered}
    del kept[Capability.DATA_FOLDER]
    proxied = {one: OF_THE_KIT[one] for one in _PROXY}
    return {**declared, **kept, **proxied, **administered, **_ending(description), **_folder(description)}


def lacks(description: Description, file: Path) -> Mapping[Capability, Source]:
    """Return the reason for each capability that broker, client and kit together lack."""
    has = capabilities(description, file)
    silent = dict.fromkeys(Capability, Source(f"{file.name} does not declare it."))
    usual = {one: impossible(one, description.title) for one in IMPOSSIBLE}
    no_process = Source(f"{file.name} has neither [process] nor [container], so the kit cannot end the broker.")
    missing = {
        one: Source(f"The administration program in {file.name} does not offer {', '.join(sorted(operations))}.")
        for one, operations in _OPERATIONS.items()
    }
    no_program = dict.fromkeys(_OPERATIONS, Source(f"{file.name} has no [administration]."))
    no_folder = Source(f"{file.name} names no data-folders of a container.")
    told = {one: Source(text, file.name) for one, text in description.lacks.items()}
    whole = {
        **silent,
        **usual,
        **dict.fromkeys(_ENDS, no_process),
        Capability.DATA_FOLDER: no_folder,
        **(no_program if description.administration is None else missing),
        **told,
    }
    return {one: source for one, source in whole.items() if one not in has}


def impossible(capability: Capability, title: str) -> Source:
    """Return the reason why no broker can have a capability of `IMPOSSIBLE` through this backend."""
    if capability is Capability.POWER_LOSS:
        return Source("The kit puts the data of no broker that a file describes on a disk of its own.")
    return lacks_of(title).get(capability, Source("The administration program has no operation for this."))


def _ending(description: Description) -> Mapping[Capability, Source]:
    if description.container is not None:
        return dict.fromkeys(_ENDS, Source("The broker runs in a container, through Docker."))
    if description.process is not None:
        return dict.fromkeys(_ENDS, Source("The kit ends the broker's process and starts it again."))
    return {}


def _folder(description: Description) -> Mapping[Capability, Source]:
    container = description.container
    if container is None or container.image is None or not container.data_folders:
        return {}
    return {Capability.DATA_FOLDER: OF_THE_KIT[Capability.DATA_FOLDER]}
