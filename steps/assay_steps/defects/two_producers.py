"""Defects by which two producers of one session, or of one client, change each other."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from msgspec.structs import replace

from assay_adapters.ports.client import MODE_VALUES, Client, ClientProducer, Mode, Sent, Setting
from assay_adapters.ports.outcome import Mqrc, Ok, Outcome, Refused, refused
from assay_steps.defects.model import Defect, at_port
from assay_steps.defects.ports import ClientFilter, ProducerFilter, Sending


class _Member(ProducerFilter):
    """A producer that knows the other producers of its client and their settings."""

    def __init__(self, behind: ClientProducer, members: list[_Member]) -> None:
        super().__init__(behind)
        self.members = members
        self.values: dict[Setting, int] = {}
        members.append(self)

    @property
    def others(self) -> list[_Member]:
        return [member for member in self.members if member is not self]

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        answer = self.behind.set(setting, value)
        if isinstance(answer, Ok) and isinstance(value, int):
            self.values[setting] = value
        return answer


def _together(member: type[_Member]) -> Callable[[Client], Client]:
    """Make a filter for `Defect.port` whose clients have producers that know each other."""

    def twisted(client: Client) -> Client:
        members: list[_Member] = []
        return ClientFilter(client, lambda behind: member(behind, members))

    return twisted


def _expiry_error() -> Refused:
    return refused(Mqrc.EXPIRY_ERROR, "The time to live is less than the delivery delay.")


class _Compared(_Member):
    """A producer compares its delay and time to live with the settings of the other producers."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        if isinstance(value, int) and value and self._clashes(setting, value):
            return _expiry_error()
        return super().set(setting, value)

    def _clashes(self, setting: Setting, value: int) -> bool:
        if setting is Setting.TTL:
            return any(other.values.get(Setting.DELAY, 0) > value for other in self.others)
        lives = [other.values.get(Setting.TTL, 0) for other in self.others]
        return setting is Setting.DELAY and any(0 < life < value for life in lives)

    def sending(self, asked: Sending) -> Outcome[Sent]:
        if asked.ttl_ms and self._clashes(Setting.TTL, asked.ttl_ms):
            return _expiry_error()
        return super().sending(asked)


class _Unchecked(_Member):
    """Only the newest producer of a client compares its delay with its time to live."""

    def _spared(self, answer: Outcome[None] | Outcome[Sent]) -> bool:
        wrong = isinstance(answer, Refused) and answer.mqrc == Mqrc.EXPIRY_ERROR
        return wrong and self is not self.members[-1]

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        answer = super().set(setting, value)
        return Ok(None) if self._spared(answer) else answer

    def sending(self, asked: Sending) -> Outcome[Sent]:
        answer = super().sending(asked)
        return super().sending(replace(asked, ttl_ms=None)) if self._spared(answer) else answer


class _ResetByRefusal(_Member):
    """A refused send sets the delays of the other producers to 0."""

    def sending(self, asked: Sending) -> Outcome[Sent]:
        answer = super().sending(asked)
        if isinstance(answer, Refused):
            for other in self.others:
                other.behind.set(Setting.DELAY, 0)
        return answer


class _OneMode(_Member):
    """The delivery mode that was set last applies to all producers."""

    def set(self, setting: Setting, value: int | timedelta) -> Outcome[None]:
        answer = super().set(setting, value)
        if setting is Setting.MODE:
            for other in self.others:
                other.behind.set(setting, value)
        return answer

    def sending(self, asked: Sending) -> Outcome[Sent]:
        said = [other.values[Setting.MODE] for other in self.others if Setting.MODE in other.values]
        if said and Setting.MODE not in self.values:
            self.behind.set(Setting.MODE, said[-1])
        return super().sending(asked)


class _OwnOptionsSpread(_Member):
    """Delivery mode and priority given with a send are also set on the other producers."""

    def sending(self, asked: Sending) -> Outcome[Sent]:
        for other in self.others:
            if asked.mode is not None:
                other.behind.set(Setting.MODE, _number(asked.mode))
            if asked.priority is not None:
                other.behind.set(Setting.PRIORITY, asked.priority)
        return super().sending(asked)


def _number(mode: Mode) -> int:
    return next(number for number, named in MODE_VALUES.items() if named is mode)


TWO_PRODUCERS_DEFECTS: tuple[Defect, ...] = (
    at_port(_together, _Compared, "spans-compared-across-producers", "DD-12", "DD-13", "DD-14"),
    at_port(_together, _Unchecked, "spans-checked-by-last-producer", "DD-12", "DD-13", "DD-14"),
    at_port(_together, _ResetByRefusal, "refusal-resets-other-producers", "DD-15"),
    at_port(_together, _OneMode, "mode-shared-by-producers", "PD-01", "PD-02"),
    at_port(_together, _OwnOptionsSpread, "own-options-spread-to-other-producers", "PD-03"),
)
"""All defects of this module."""
