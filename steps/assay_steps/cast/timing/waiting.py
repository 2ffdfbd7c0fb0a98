"""The waits of a scenario's steps, through the backend's runner and clock, within the backend's time limits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from assay_adapters.ports.backend import Instance
from assay_adapters.ports.outcome import Ok, is_the_clients
from assay_evidence import events
from assay_evidence.spans import subtract, total
from assay_evidence.watching import CATCHING_UP_NS
from assay_sdk.time import NS_PER_MS
from assay_steps.cast.actors import Consumer
from assay_steps.cast.messages import SentMessage
from assay_steps.cast.recording import Recorder
from assay_steps.cast.sightings import Sightings
from assay_steps.cast.timing.limits import TimeLimits
from assay_steps.words.mistakes import Cast

RECONNECTED_MS = 90_000
"""The longest wait, in milliseconds, for a client that reconnects by itself.

It is longer than the longest pause between two attempts of the kit's client, also on a slow machine.
"""
MOST_SPOILED = 3
"""A wait ends after this number of receives without a message, if the harness was delayed during each of them."""


class Waiting:
    """Waits for the steps of a scenario: for a time, and for messages to its consumers.

    Args:
        instance: The broker instance.
        limits: The time limits.
        recorder: Records the scenario's calls.
        sightings: The messages that the scenario's consumers have received.
        judges_client: Whether the scenario judges the client.
    """

    def __init__(
        self,
        instance: Instance,
        limits: TimeLimits,
        recorder: Recorder,
        sightings: Sightings,
        *,
        judges_client: bool = False,
    ) -> None:
        self.instance = instance
        self.limits = limits
        self.consumers: Cast[Consumer] = Cast("receiver or subscriber")
        self.messages: Cast[SentMessage] = Cast("message")
        self._recorder = recorder
        self._sightings = sightings
        self._judges_client = judges_client
        self.missed: set[str] = set()
        """The keys of the messages that the actor had not received when `await_first` stopped waiting for them."""
        self.client_error: Exception | None = None
        """The first exception that the judged client raised during a wait; a scenario with one cannot pass."""

    def sent_ns(self, label: str) -> int:
        """Return when the send of a message began, in nanoseconds of the backend's monotonic clock."""
        call = self.messages[label].call
        return next(event.mono_ns for event in self._recorder.journal.events if event.ref == call)

    def now_ms(self) -> int:
        """Return the time of the backend's monotonic clock, in milliseconds."""
        return self.instance.clock.monotonic_ns() // NS_PER_MS

    def wait_until(self, done: Callable[[], bool], timeout_ms: int) -> bool:
        """Wait until a condition is true, at most ``timeout_ms`` milliseconds; return whether it is true.

        The backend's clock counts the milliseconds.
        """
        deadline = self.instance.clock.monotonic_ns() + timeout_ms * NS_PER_MS
        return self._run_until(done, deadline)

    def wait_since(self, label: str, span_ms: int) -> None:
        """Wait until ``span_ms`` milliseconds have passed since the send of a message began."""
        self._run_until(lambda: False, self.sent_ns(label) + span_ms * NS_PER_MS)

    def wait_until_overdue(self, label: str) -> None:
        """Wait until a message is overdue: its delay and the allowed lateness are over."""
        self.wait_since(label, self.messages[label].delay_ms + self.limits.late_ms)

    def wait_after(self, name: str, span_ms: int) -> None:
        """Wait until ``span_ms`` milliseconds have passed since an actor began to end its consumer or connection."""
        left_ns = self._recorder.left(name).mono_ns
        self._run_until(lambda: False, left_ns + span_ms * NS_PER_MS)

    def _run_until(self, done: Callable[[], bool], deadline_ns: int) -> bool:
        """Run the runner until a condition is true or the deadline is over.

        An error in the code of a judged client does not end the wait; the method stores it in `client_error`.
        """
        while True:
            try:
                return self.instance.runner.run_until(done, deadline_ns)
            except Exception as error:  # a judged client may raise anything
                if not self._judges_client or not is_the_clients(error):
                    raise
                self.client_error = self.client_error or error

    def pass_time(self, span_ms: int) -> None:
        """Wait for a time, in milliseconds of the backend's clock."""
        self.wait_until(lambda: False, span_ms)

    def await_reconnections(
        self, actors: Iterable[str] | None = None, done: Callable[[], bool] = lambda: False
    ) -> tuple[str, ...]:
        """Wait until consumers whose clients reconnect by themselves are connected again after the last fault.

        Args:
            actors: The names of the consumers; None for all consumers of the scenario.
            done: A condition that ends the wait earlier.

        Returns:
            The names of the consumers that are not connected again at the end of the wait, after `RECONNECTED_MS` at
            most.
        """
        names = tuple(self.consumers if actors is None else actors)

        def away() -> tuple[str, ...]:
            return tuple(name for name in names if self.consumers[name].session.connection.is_away)

        self.wait_until(lambda: done() or not away(), RECONNECTED_MS)
        return away()

    def listen_for(self, span_ms: int, actors: Collection[str] = ()) -> None:
        """Wait for a time in which the actors receive no message, as evidence of silence.

        A delay of the harness and a message to one of the actors prolong the wait, by `TimeLimits.expected_ms` at most.
        The wait ends only after the harness has noted its delays up to the end of the silence, because each of them
        shortens the silence.

        Args:
            span_ms: The length of the silence, in milliseconds.
            actors: The names of the actors.
        """
        begun_ns = now_ns = self.instance.clock.monotonic_ns()
        give_up_ns = begun_ns + (span_ms + self.limits.expected_ms) * NS_PER_MS
        while now_ns < give_up_ns:
            begun_ns = max(begun_ns, self._sightings.last_ns(actors))
            missing_ns = span_ms * NS_PER_MS - self._listened_ns(begun_ns, now_ns)
            if missing_ns <= 0:
                return
            self._run_until(lambda: False, now_ns + missing_ns)
            self._await_beat()
            now_ns = self.instance.clock.monotonic_ns()

    def _await_beat(self) -> None:
        """Wait until the harness has noted its delays up to now."""
        if self.limits.beat_ms:
            self.pass_time(self.limits.beat_ms)

    def _listened_ns(self, begun_ns: int, now_ns: int) -> int:
        """Return the time between two moments in nanoseconds, minus the delays of the harness.

        Each delay counts as `CATCHING_UP_NS` longer than it was.  The judge does the same
        (`assay_evidence.watching.Axis.held`).
        """
        late = (event for event in self._recorder.journal.events if isinstance(event, events.Late))
        held = [(one.mono_ns - one.held_ns, one.mono_ns + CATCHING_UP_NS) for one in late]
        return total(subtract([(begun_ns, now_ns)], held))

    def left_ms(self, label: str, delay_ms: int) -> int:
        """Return the rest of a message's delay, in milliseconds; 0 after its end."""
        left_ns = self.sent_ns(label) + delay_ms * NS_PER_MS - self.instance.clock.monotonic_ns()
        return max(0, left_ns // NS_PER_MS)

    def observe(self, actors: Iterable[str], keys: Iterable[str], times: int = 1, *, due_in_ms: int = 0) -> None:
        """Wait until the actors have received each message, and then for a time of silence.

        If a fault ended the listeners' connections, the time limit counts from the reconnection.  Actors without a
        listener receive one message after the other.

        Args:
            actors: The names of the actors.
            keys: The keys of the messages.
            times: How often the actors together must receive each message.
            due_in_ms: The time until the messages are due, in milliseconds; the time limit counts from then.
        """
        expected_ms = self.limits.expected_ms + due_in_ms
        names = tuple(actors)
        complete = self._sightings.completion(names, keys, times)
        listeners = [name for name in names if self.consumers[name].listening]
        if listeners:
            self.await_reconnections(listeners)
            self._await_receptions(names, complete, expected_ms)
            self.listen_for(self.limits.quiet_ms, listeners)
        for name in names:
            consumer = self.consumers[name]
            if not consumer.listening and consumer.session.connection.open:
                self._drain(consumer, complete, expected_ms)

    def await_sightings(self, actors: Iterable[str], keys: Iterable[str], times: int = 1) -> None:
        """Wait until the actors' listeners have received each message ``times`` times.

        The wait ends earlier if no new message comes within the time limit.
        """
        names = tuple(actors)
        complete = self._sightings.completion(names, keys, times)
        self.await_reconnections(names, complete)
        self._await_receptions(names, complete, self.limits.expected_ms)

    def await_first(self, actor: str, keys: Collection[str]) -> None:
        """Wait, as `await_sightings` does, for messages that the next steps expect the actor to have received.

        The method adds to `missed` the keys of the messages that the actor has not received at the end of the wait.
        """
        self.await_sightings((actor,), keys)
        self.missed |= {key for key in keys if not self._sightings.completion((actor,), (key,))()}

    def _await_receptions(self, actors: Sequence[str], complete: Callable[[], bool], limit_ms: int) -> None:
        """Wait until a condition on receptions is true, or until ``limit_ms`` after the last new message.

        Each new message restarts the limit, because a slow broker may need more time for a thousand messages.
        """
        deadline_ns = self.instance.clock.monotonic_ns() + limit_ms * NS_PER_MS
        while not self._run_until(complete, deadline_ns):
            later_ns = self._sightings.last_new_ns(actors) + limit_ms * NS_PER_MS
            if later_ns <= deadline_ns:
                return
            deadline_ns = later_ns

    def _drain(self, consumer: Consumer, complete: Callable[[], bool], expected_ms: int) -> None:
        spoiled = 0
        while spoiled < MOST_SPOILED:
            timeout = self.limits.quiet_ms * (1 + spoiled) if complete() else expected_ms
            begun_ns = self.instance.clock.monotonic_ns()
            answer = consumer.receive(timeout)
            if not isinstance(answer.outcome, Ok):
                return
            if answer.outcome.value is None:
                ended_ns = self.instance.clock.monotonic_ns()
                self._await_beat()
                if self._listened_ns(begun_ns, ended_ns) >= self.limits.quiet_ms * NS_PER_MS:
                    return
                spoiled += 1  # the harness was delayed during the receive, so the next one lasts longer
