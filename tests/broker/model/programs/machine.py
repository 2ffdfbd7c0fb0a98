"""Core and model side by side, with all acts that can happen to both."""

from __future__ import annotations

from tests.broker.model.entities import Copy
from tests.broker.model.programs.acts import happens
from tests.broker.model.programs.comparison import MOST_TICKS
from tests.broker.model.programs.messaging_acts import (
    A_CREDIT,
    A_LINK,
    A_MODE,
    A_QUEUE,
    A_SESSION,
    ADMIN,
    ANYBODY,
    CLIENT_IDS,
    CONNECTIONS,
    PICK,
    SENDER,
    YES_OR_NO,
    WorkingActs,
)
from tests.broker.model.programs.translation import Predicted, address, text_of
from tests.broker.model.words import (
    DEAD,
    FITS,
    QUEUES,
    REPLY,
    SELECTORS,
    STAGING,
    TEMPORARY,
    DifferenceError,
    Sent,
    Terms,
)

from assay_broker.core import commands
from assay_broker.core.administration.authority import ADMINISTRATOR
from assay_broker.core.administration.changes import AlterObject, NativeBrowse
from assay_broker.core.effects import Browsed
from assay_broker.core.messages.descriptor import Described
from assay_broker.core.objects.model import Kind
from assay_sdk.driver import Durability, Outcome


class Comparison(WorkingActs):
    """A run of a program on core and model, which must do the same."""

    def run(self) -> None:
        """Run the program.

        Raises:
            DifferenceError: Core and model differ.
        """
        self._open()
        self.receive(connection=1, link=2, queue="P", selector=None, settled=False, session=1, credit=3)
        self.receive(connection=2, link=2, queue="P", selector=None, settled=False, session=1, credit=0)
        self._subscribed(1, 3, "T/#", "durable", 1)
        self._subscribed(2, 3, "T", "plain", 3)
        for name, arguments in self.program.acts:
            getattr(self, name)(**arguments)
        self._store(len(self.shell.pending))
        missing = self.asked - set(self.answered)
        if self.shell.held or missing:
            raise DifferenceError(f"never answered: {missing}; never let out: {self.shell.held}")
        self._look_everywhere()

    def _subscribed(self, connection: int, link: int, topic: str, kind: str, credit: int) -> None:
        self.subscribe(
            connection=connection,
            link=link,
            topic=topic,
            kind=kind,
            name="s",
            selector=None,
            settled=False,
            credit=credit,
            timeout=None,
        )

    def nothing(self) -> None:
        """Do nothing."""

    def _open(self) -> None:
        """Connect three clients, each with a sender, and an administrator."""
        for connection in CONNECTIONS:
            self._connect(connection, CLIENT_IDS.get(connection))
        self._ask(
            lambda token: commands.Connect(ADMIN, token, None, ADMINISTRATOR), lambda: self.model.connect(ADMIN, None)
        )

    def _connect(self, connection: int, client_id: str | None) -> None:
        answer = self._ask(
            lambda token: commands.Connect(connection, token, client_id),
            lambda: self.model.connect(connection, client_id),
        )
        if answer.refused is None:
            self._ask(
                lambda token: commands.AttachSender(connection, token, SENDER, None),
                lambda: self.model.open_sender(connection, SENDER, ""),
            )

    @happens(
        6,
        connection=ANYBODY,
        link=A_LINK,
        queue=A_QUEUE,
        selector=(None, *SELECTORS),
        settled=A_MODE,
        session=A_SESSION,
        credit=A_CREDIT,
    )
    def receive(
        self,
        *,
        connection: int,
        link: int,
        queue: str,
        selector: str | None,
        settled: bool,
        session: int | None,
        credit: int,
    ) -> None:
        answer = self._ask(
            lambda token: commands.Attach(
                connection=connection,
                token=token,
                link=link,
                address=address(queue),
                selector=selector,
                settled=settled,
                session=session,
            ),
            lambda: self.model.open_receiver(
                connection, link, queue, selector=selector, settled=settled, session=session
            ),
        )
        if answer.refused is None and credit:
            self._flow(connection, link, credit, drain=False)

    @happens(
        6,
        connection=ANYBODY,
        link=A_LINK,
        topic=tuple(FITS),
        kind=("plain", "shared", "durable", "durable", "durable shared"),
        name=("s", "s", "t"),
        selector=(None, None, "color = 1"),
        settled=A_MODE,
        credit=A_CREDIT,
        timeout=(None, None, 5, 12, 0),
    )
    def subscribe(
        self,
        *,
        connection: int,
        link: int,
        topic: str,
        kind: str,
        name: str,
        selector: str | None,
        settled: bool,
        credit: int,
        timeout: int | None,
    ) -> None:
        shared, durable = "shared" in kind, "durable" in kind
        named = name if shared or durable else None
        timeout = timeout if durable else None
        terms = Terms(topic, self.model.connections.get(connection), named, selector, shared=shared, durable=durable)
        answer = self._ask(
            lambda token: commands.Attach(
                connection=connection,
                token=token,
                link=link,
                address=address(topic),
                selector=selector,
                settled=settled,
                session=1,
                name=named,
                shared=shared,
                durability=Durability.DURABLE if durable else Durability.NON_DURABLE,
                timeout_ms=timeout,
            ),
            lambda: self.model.subscribe((connection, link), terms, settled=settled, timeout=timeout),
        )
        if answer.refused is None and credit:
            self._flow(connection, link, credit, drain=False)

    @happens(1, connection=ANYBODY, link=A_LINK, to=(TEMPORARY, TEMPORARY, "P", "T"))
    def open_sender(self, *, connection: int, link: int, to: str) -> None:
        self._ask(
            lambda token: commands.AttachSender(connection, token, link, address(to)),
            lambda: self.model.open_sender(connection, link, to),
        )

    @happens(1, pick=PICK)
    def detach(self, *, pick: int) -> None:
        link = self._receiver(pick)
        if link is None:
            return
        self._detach(link.connection, link.number)

    def _detach(self, connection: int, link: int) -> None:
        self._ask(lambda token: commands.Detach(connection, token, link), lambda: self.model.detach(connection, link))

    @happens(1, connection=ANYBODY, name=("s", "t"))
    def unsubscribe(self, *, connection: int, name: str) -> None:
        self._ask(
            lambda token: commands.Unsubscribe(connection, token, name),
            lambda: self.model.unsubscribe(connection, name),
        )

    @happens(1, connection=ANYBODY, clean=YES_OR_NO, again=(True, True, False))
    def disconnect(self, *, connection: int, clean: bool, again: bool) -> None:
        self._disconnect(connection, clean=clean)
        if again:
            self._connect(connection, CLIENT_IDS.get(connection))

    def _disconnect(self, connection: int, *, clean: bool) -> None:
        self._ask(
            lambda token: commands.Disconnect(connection, token, clean), lambda: self.model.disconnect(connection)
        )

    @happens(
        1,
        connection=ANYBODY,
        link=(1, 2, 3, 4),
        what=("flow", "drain", "settle", "put", "detach", "connect", "begin", "commit", "back out"),
    )
    def ask_anything(self, *, connection: int, link: int, what: str) -> None:
        """Give a command that does not fit its link, or whose link does not exist; by chance it may fit."""
        if what in {"flow", "drain"}:
            self._flow(connection, link, 1, drain=what == "drain")
        elif what == "settle":
            self._settle((connection, link), (77,), Outcome.ACCEPTED, None)
        elif what == "detach":
            self._detach(connection, link)
        elif what == "connect":
            self._connect(connection, "A")
        elif what == "begin":
            self._begin(connection, link, 2)
        elif what == "commit":
            self._ask(
                lambda token: commands.Commit(connection, token, link), lambda: self.model.commit(connection, link)
            )
        elif what == "back out":
            self._ask(
                lambda token: commands.Backout(connection, token, link), lambda: self.model.back_out(connection, link)
            )
        else:
            self._put(connection, link, "Q", Sent(text=f"m{next(self.texts)}", persistent=True, priority=4), 2)

    @happens(1, connection=ANYBODY, queue=A_QUEUE, selector=tuple(SELECTORS))
    def browse(self, *, connection: int, queue: str, selector: str | None) -> None:
        shown: list[Copy] = []

        def predict() -> Predicted:
            found = self.model.browse(connection, queue, selector)
            if isinstance(found, str):
                return found
            shown.extend(found)
            return None

        answer = self._ask(lambda token: commands.Browse(connection, token, address(queue), selector), predict)
        if answer.refused is None:
            browsed = [one for one in answer.value or () if isinstance(one, Browsed)]
            seen = [(text_of(one.message), one.count) for one in browsed]
            expected = [(one.sent.text, one.failures) for one in shown]
            if seen != expected:
                raise DifferenceError(f"{queue} shows {seen}, and the model {expected}")
            for one, copy in zip(browsed, shown, strict=True):
                self._same(one.message, copy.sent)

    def _look_everywhere(self) -> None:
        """Browse every queue as an administrator; the staging queue is in the order of due times."""
        for queue in (*QUEUES, DEAD, REPLY, STAGING):
            answer = self._ask(
                lambda token, queue=queue: commands.Administer(ADMIN, token, NativeBrowse(queue)), lambda: None
            )
            value = [one for one in answer.value or () if isinstance(one, Described)]
            copies = self.model.staged() if queue == STAGING else self.model.waiting(queue)
            copies = [one for one in copies if not self.model.expired(one)]
            shown = [(text_of(one.message), one.descriptor["BackoutCount"]) for one in value]
            expected = [(one.sent.text, one.failures) for one in copies]
            if shown != expected:
                raise DifferenceError(f"{queue} holds {shown}, and in the model {expected}")

    @happens(3, elapsed=(1, 2, 4, 8, 50))
    def wait(self, *, elapsed: int) -> None:
        until = self.shell.now_ms + elapsed
        for _ in range(MOST_TICKS):
            due = self.shell.core.next_due_ms()
            if due is None or due > until:
                break
            self.shell.now_ms = self.model.now = max(due, self.shell.now_ms)
            self._tick()
        else:
            raise DifferenceError("the core wants to be woken again and again")
        self.shell.now_ms = self.model.now = until

    @happens(5, queue=("P", "P", DEAD, REPLY, STAGING), what=("PUT", "PUT", "PUT", "GET"), shut=(False, True, True))
    def alter(self, *, queue: str, what: str, shut: bool) -> None:
        change = AlterObject(Kind.QLOCAL, queue, {what: "DISABLED" if shut else "ENABLED"})
        self._ask(
            lambda token: commands.Administer(ADMIN, token, change), lambda: self.model.alter(queue, what, shut=shut)
        )

    @happens(1, pick=PICK, what=("worker dies", "cancel", "cancel"))
    def meddle_with_staging(self, *, pick: int, what: str) -> None:
        if what == "worker dies":
            self._happens(self.shell.handle(commands.WorkerDied()), self.model.worker_died)
            return
        connection = next(iter(self.model.connections))
        staged = self.model.staged()
        text = staged[pick % len(staged)].sent.text if staged else "m1"
        self._ask(lambda token: commands.Cancel(connection, token, text), lambda: self.model.cancel(connection, text))

    @happens(3, what=("slow", "slow", "flush", "fail", "full"), batches=(1, 2, 3, 6))
    def disk(self, *, what: str, batches: int) -> None:
        """Let batches wait, or store or refuse waiting batches, or refuse the next one."""
        if what == "slow":
            self.holding = True
        elif what == "full":
            self.refuse_next = True
        elif what == "flush":
            self._store(min(batches, len(self.shell.pending)))
            self.holding = bool(self.shell.pending)
        else:
            self.holding = False
            if self.shell.pending:
                self._refuse(tuple(persist.batch for persist in reversed(self.shell.pending)))
            self._after(())

    @happens(1, kill=YES_OR_NO)
    def begin_again(self, *, kill: bool) -> None:
        """Kill or restart the core: a kill loses unflushed records, and a restart flushes them."""
        if not kill:
            for connection in tuple(self.model.connections):
                self._disconnect(connection, clean=False)
            for persist in self.shell.pending:
                self.model.stored(persist.batch)
            self.shell.flush_unheard()
        self.holding = self.refuse_next = False
        self.asked = set(self.answered)  # unanswered commands stay without an answer
        self.model.kill()
        self._happens(self.shell.kill(), self.model.recover)
        self._open()
        self._look_everywhere()
