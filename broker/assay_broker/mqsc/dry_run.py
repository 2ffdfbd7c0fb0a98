"""The dry run of a script: computes the effect on objects and authority records without a queue manager."""

from __future__ import annotations

from collections.abc import Iterable

from assay_broker.core.administration.authority import Authorities, AuthorityRecord, plan_authority, shown_records
from assay_broker.core.administration.changes import (
    AlterObject,
    Change,
    DefineObject,
    DeleteObject,
    DisplayAuthority,
    DisplayObjects,
    SetAuthority,
)
from assay_broker.core.objects.conditions import selected
from assay_broker.core.objects.directory import Directory
from assay_broker.core.objects.host import Host
from assay_broker.core.objects.model import Definition
from assay_broker.core.objects.names import fits
from assay_broker.core.objects.plans import plan_alter, plan_define, plan_delete
from assay_broker.core.objects.reasons import object_refusal
from assay_broker.core.objects.status import complete
from assay_broker.core.refusals import RefusalError
from assay_sdk.model.command_reasons import Mqrccf
from assay_sdk.model.reasons import Refused


class DryRun:
    """The objects and authority records of a dry run; commands change them as in a queue manager without messages.

    Args:
        definitions: The objects at the start.
        host: The queue manager's platform and level.
    """

    def __init__(self, definitions: Iterable[Definition], host: Host) -> None:
        self.directory = Directory(definitions)
        self.authorities = Authorities()
        self._host = host

    def ask(self, change: Change) -> tuple[Definition | AuthorityRecord, ...] | Refused:
        """Carry out a command on the objects and authority records.

        Args:
            change: The command.  DEFINE, ALTER, DELETE, SET AUTHREC, and DISPLAY of objects or authority records are
                carried out.  All other commands are refused, because a dry run has no messages.

        Returns:
            The objects or records that a DISPLAY shows, empty for other commands, or the refusal.
        """
        try:
            return self._carry_out(change)
        except RefusalError as error:
            return error.refused

    def _carry_out(self, change: Change) -> tuple[Definition | AuthorityRecord, ...]:
        match change:
            case DefineObject():
                self.directory.put(plan_define(self.directory, change, self._host))
            case AlterObject():
                self.directory.put(plan_alter(self.directory, change, self._host))
            case DeleteObject():
                gone = plan_delete(self.directory, change)
                self.directory.remove(gone.namespace, gone.name)
            case SetAuthority():
                for record in plan_authority(self.authorities, change):
                    self.authorities.put(record)
            case DisplayObjects():
                return tuple(self._objects(change))
            case DisplayAuthority():
                return shown_records(self.authorities, change)
            case _:
                raise object_refusal(Mqrccf.COMMAND_FAILED, "A dry run has no messages.")
        return ()

    def _objects(self, change: DisplayObjects) -> list[Definition]:
        whole = (complete(one, self._host, {}) for one in self.directory if one.kind in change.kinds)
        return [
            one
            for one in whole
            if (not change.name or fits(one.name, change.name))
            and (change.where is None or selected(one, change.where, self._host))
        ]
