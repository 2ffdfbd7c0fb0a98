"""Defects of the client in how a batch listener is set, and with which size and timeout (BT-01 to BT-06, BT-14)."""

from __future__ import annotations

from assay_adapters.ports.client import Script, Seen
from assay_adapters.ports.outcome import JmsErrorKind, Ok, Outcome, Refused
from assay_sdk.driver import Durability
from assay_steps.defects.consumers import ConsumerFilter, consuming
from assay_steps.defects.model import Defect

HOUR_MS = 3_600_000
TEN_SECONDS_MS = 10_000
MS_PER_SECOND = 1_000
LARGE = 100


class _Refuses(ConsumerFilter):
    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        if script is None:
            return super().listen_batch(script, size, timeout_ms)
        return Refused(JmsErrorKind.MESSAGING, "This client knows no batches.", checked=False)


class _OneByOne(ConsumerFilter):
    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        del size, timeout_ms
        return super().listen(script)


class _SizeIgnored(ConsumerFilter):
    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        return super().listen_batch(script, max(size, LARGE), timeout_ms)


class _OneTooMany(ConsumerFilter):
    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        return super().listen_batch(script, size + 1, timeout_ms)


class _HalfFilled(ConsumerFilter):
    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        return super().listen_batch(script, max(1, size // 2), timeout_ms)


class _InSeconds(ConsumerFilter):
    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        return super().listen_batch(script, size, timeout_ms * MS_PER_SECOND)


class _RoundedUp(ConsumerFilter):
    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        return super().listen_batch(script, size, -(-timeout_ms // TEN_SECONDS_MS) * TEN_SECONDS_MS)


class _OneMillisecondMore(ConsumerFilter):
    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        return super().listen_batch(script, size, timeout_ms + 1)


class _ZeroIsForEver(ConsumerFilter):
    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        return super().listen_batch(script, size, timeout_ms or HOUR_MS)


class _TakesTheOthersPlace(ConsumerFilter):
    def listen(self, script: Script | None) -> Outcome[None]:
        super().listen_batch(None, 1, 0)
        return super().listen(script)

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        super().listen(None)
        return super().listen_batch(script, size, timeout_ms)


class _NeverTakenAway(ConsumerFilter):
    def listen(self, script: Script | None) -> Outcome[None]:
        return Ok(None) if script is None else super().listen(script)

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        return Ok(None) if script is None else super().listen_batch(script, size, timeout_ms)


class _ReceivesBesideBatches(ConsumerFilter):
    def receive(self, timeout_ms: int) -> Outcome[Seen | None]:
        answer = super().receive(timeout_ms)
        mixed = isinstance(answer, Refused) and answer.kind is JmsErrorKind.ILLEGAL_STATE
        return Ok(None) if mixed else answer


class _SenselessTaken(ConsumerFilter):
    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        return super().listen_batch(script, max(1, size), max(0, timeout_ms))


class _RefusalTakesThePlace(ConsumerFilter):
    _refused = False

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        if self._refused:
            return Ok(None)
        answer = super().listen_batch(script, size, timeout_ms)
        self._refused = isinstance(answer, Refused)
        return answer


class _SubscribesAnew(ConsumerFilter):
    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Outcome[None]:
        if self.of.durability is Durability.DURABLE and self.of.name is not None:
            self.behind.close()
            self.session.unsubscribe(self.of.name, shared=self.of.shared)
            made = self.session.consumer(self.of, actor=self.actor)
            if isinstance(made, Refused):
                return made
            self.behind = made.value
        return super().listen_batch(script, size, timeout_ms)


LISTENER_DEFECTS = (
    Defect(
        name="batch-listeners-refused",
        rules=("BT-01", "BT-03"),
        text="A batch listener is refused.",
        port=consuming(_Refuses),
    ),
    Defect(
        name="batches-one-by-one",
        rules=("BT-01",),
        text="A batch listener is called as a message listener would be.",
        port=consuming(_OneByOne),
    ),
    Defect(
        name="batch-size-ignored",
        rules=("BT-02", "BT-04", "BT-06"),
        text="The batch size is ignored: a hundred messages come in a batch.",
        port=consuming(_SizeIgnored),
    ),
    Defect(
        name="one-too-many-in-a-batch",
        rules=("BT-04", "BT-05", "BT-06"),
        text="A batch takes one message more than its size.",
        port=consuming(_OneTooMany),
    ),
    Defect(
        name="batches-half-filled",
        rules=("BT-06",),
        text="A batch is handed over when it is half full.",
        port=consuming(_HalfFilled),
    ),
    Defect(
        name="batch-timeout-in-seconds",
        rules=("BT-02", "BT-05"),
        text="The batch timeout is taken for seconds.",
        port=consuming(_InSeconds),
    ),
    Defect(
        name="batch-timeout-rounded-up",
        rules=("BT-02", "BT-05", "BT-15"),
        text="The batch timeout is rounded up to tens of seconds.",
        port=consuming(_RoundedUp),
    ),
    Defect(
        name="batch-timeout-one-millisecond-more",
        rules=("BT-05",),
        text="A batch comes a millisecond after its deadline.",
        port=consuming(_OneMillisecondMore),
    ),
    Defect(
        name="batch-timeout-zero-is-for-ever",
        rules=("BT-05",),
        text="A batch timeout of 0 waits without a limit.",
        port=consuming(_ZeroIsForEver),
    ),
    Defect(
        name="listeners-take-each-others-place",
        rules=("BT-03",),
        text="A listener of one kind takes the place of one of the other kind.",
        port=consuming(_TakesTheOthersPlace),
    ),
    Defect(
        name="listeners-never-taken-away",
        rules=("BT-03",),
        text="Taking a listener away has no effect.",
        port=consuming(_NeverTakenAway),
    ),
    Defect(
        name="receives-beside-batches",
        rules=("BT-03",),
        text="A receive call beside a listener finds nothing instead of being refused.",
        port=consuming(_ReceivesBesideBatches),
    ),
    Defect(
        name="senseless-batches-taken",
        rules=("BT-14",),
        text="Sizes below 1 and negative timeouts are taken for 1 and 0.",
        port=consuming(_SenselessTaken),
    ),
    Defect(
        name="refused-listener-takes-the-place",
        rules=("BT-14",),
        text="After a batch listener was refused the consumer never calls another.",
        port=consuming(_RefusalTakesThePlace),
    ),
    Defect(
        name="batches-subscribe-anew",
        rules=("BT-15",),
        text="A batch listener on a durable subscription begins the subscription anew.",
        port=consuming(_SubscribesAnew),
    ),
)
