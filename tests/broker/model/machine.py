"""Core and model side by side, under random use: every answer, delivery, browse and recovery is compared."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count, product
from typing import Any

from msgspec.structs import replace
from tests.broker.model.acts import Program, happens
from tests.broker.model.model import Copy, Link, Model, Unit
from tests.broker.model.shell import Hits, Shell
from tests.broker.model.words import DEAD, FITS, QUEUES, REPLY, SELECTORS, STAGING, TEMPORARY, TOPICS, Difference, Sent, Terms

from assay_broker.core import commands
from assay_broker.core.administration.authority import ADMINISTRATOR
from assay_broker.core.administration.changes import AlterObject, NativeBrowse
from assay_broker.core.commands import Command
from assay_broker.core.effects import Answer, CloseLink, Deliver, Effect, Persist
from assay_broker.core.messages.descriptor import Described
from assay_broker.core.objects.model import Kind
from assay_broker.core.settings import Platform
from assay_broker.seams import NO_SEAMS, Seams
from assay_sdk.driver import Durability, Outcome
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import Mqrc, Refused
from assay_sdk.model.report_options import Mqro

ADMIN, MOST_TICKS = 99, 30
CONNECTIONS = (1, 2, 3)
SENDER = 1
"""The link of each connection that sends; each message names its destination."""

REPORTS = int(Mqro.EXCEPTION | Mqro.EXPIRATION)

CLIENT_IDS = {1: "A", 2: "B"}

Predicted = str | None
"""The word of a refusal; None for yes."""

Traits = tuple[bool, int, int, bool, bool]
"""Persistent, priority, colour, report wanted, discard."""

ANYBODY = (1, 1, 1, 2, 2, 3)
A_QUEUE, A_TOPIC = ("P", "P", "P", "Q", TEMPORARY), TOPICS
ANYWHERE = ("P", "P", "P", "T", "T", "Q", "T/U", TEMPORARY)
TRAITS = tuple(product((False, True), (4, 4, 9), (0, 1), (False, False, True), (False, False, True)))
A_DELAY, A_TIME = (3, 8), (None, None, 5, 12)
A_GROUP = ("g", "h")
A_LINK, A_CREDIT, A_SESSION = (2, 3, 4), (3, 1, 9, 0), (1, 1, 2, None)
A_MODE, YES_OR_NO = (False, False, True), (False, True)
PICK = tuple(range(8))


def address(name: str) -> Address:
    """A queue or a topic."""
    if name == TEMPORARY:
        return Address(AddressKind.TEMPORARY_QUEUE, name)
    return Address(AddressKind.TOPIC if name.startswith("T") else AddressKind.QUEUE, name)


def message_of(sent: Sent, to: str) -> Message:
    """A message as its sender hands it over."""
    properties: dict[str, str | int | float | bool | bytes | None] = {"color": sent.color}
    options = (REPORTS if sent.report else 0) | (int(Mqro.DISCARD_MSG) if sent.discard else 0)
    if options:
        properties["JMS_IBM_MQMD_Report"] = options
    if sent.last:
        properties["JMS_IBM_Last_Msg_In_Group"] = True
    return Message(
        message_id=sent.text,
        body=sent.text,
        to=address(to),
        durable=sent.persistent,
        priority=sent.priority,
        expiry_ms=sent.expires_ms,
        delivery_time_ms=sent.due_ms,
        group_id=sent.group,
        group_sequence=sent.seq if sent.group else None,
        reply_to=address(REPLY) if sent.report else None,
        properties=properties,
    )


def text_of(message: Message) -> str:
    """The text by which the model knows a message: its id, or of what it is a report."""
    feedback = message.properties.get("JMS_IBM_Feedback")
    return str(message.message_id) if feedback is None else f"{feedback} on {message.correlation_id}"


def word_of(refused: Refused | None) -> Predicted:
    """A refusal in one word."""
    if refused is None:
        return None
    return Mqrc(refused.mqrc).name if refused.mqrc is not None else refused.kind.name


class Comparison:
    """The core in its shell, and the model.

    Args:
        program: What happens.
        seams: Where a defect may stand.
        hits: Where lookups of the core's tables are counted.
    """

    def __init__(self, program: Program, seams: Seams = NO_SEAMS, hits: Hits | None = None) -> None:
        self.tokens = count(1)
        self.texts = count(1)
        self.sent: dict[str, Message] = {}
        self.asked: set[int] = set()
        self.answered: dict[int, Answer] = {}
        self.holding = False
        self.refuse_next = False
        self.program = program
        self.model = Model(zos=program.platform == "zos")
        self.shell = Shell(program.platform, hits or Hits(), seams, self._let_out)
        self.model.now = self.shell.now_ms

    def run(self) -> None:
        """Everything happens.

        Raises:
            Difference: Core and model differ.
        """
        self._open()
        self.receive(1, 2, "P", None, settled=False, session=1, credit=3)
        self.receive(2, 2, "P", None, settled=False, session=1, credit=0)
        self.subscribe(1, 3, "T/#", "durable", "s", None, settled=False, credit=1)
        self.subscribe(2, 3, "T", "plain", "s", None, settled=False, credit=3)
        for name, arguments in self.program.acts:
            getattr(self, name)(**arguments)
        self._store(len(self.shell.pending))
        missing = self.asked - set(self.answered)
        if self.shell.held or missing:
            raise Difference(f"never answered: {missing}; never let out: {self.shell.held}")
        self._look_everywhere()

    # ---- one step -----------------------------------------------------------------------------------------------------

    def _let_out(self, effect: Answer | Deliver) -> None:
        if isinstance(effect, Answer):
            if effect.token in self.answered or effect.token not in self.asked:
                raise Difference(f"command {effect.token} was answered twice, or never asked")
            self.answered[effect.token] = effect

    def _ask(
        self,
        command: Callable[[int], Command],
        predict: Callable[[], Predicted],
        ended: Callable[[], None] | None = None,
    ) -> Answer:
        """A command under a new token, and what the model says to it; then the disk, unless it is held up."""
        token = next(self.tokens)
        self.asked.add(token)
        effects = self.shell.handle(command(token))
        answer = self._compare(effects, predict, token, ended)
        self._after(effects)
        assert answer is not None
        return answer

    def _happens(self, effects: tuple[Effect, ...], predict: Callable[[], object]) -> None:
        """Something that nobody has asked for."""
        self._compare(effects, lambda: (predict(), None)[1], None)
        self._after(effects)

    def _after(self, effects: tuple[Effect, ...]) -> None:
        wrote = [effect for effect in effects if isinstance(effect, Persist)]
        if wrote and self.refuse_next:
            self.refuse_next = False
            self._refuse((wrote[0].batch,))
        if not self.holding:
            self._store(len(self.shell.pending))
        for _ in range(MOST_TICKS):
            due = self.shell.core.next_due_ms()
            if due is None or due > self.shell.now_ms:
                break
            self._tick()
        else:
            raise Difference("the core wants to be woken again and again")

    def _compare(
        self,
        effects: tuple[Effect, ...],
        predict: Callable[[], Predicted],
        token: int | None,
        ended: Callable[[], None] | None = None,
        refused: dict[int, str] | None = None,
    ) -> Answer | None:
        """The effects of one step against the model's.

        Args:
            effects: What the core wants.
            predict: Makes the step in the model.
            token: Of whom an answer is due; None for nobody.
            ended: What is to be done in the model once everything was delivered.
            refused: Tokens whose answers are refusals now, since a batch failed.
        """
        writes = [effect.batch for effect in effects if isinstance(effect, Persist)]
        self.model.step(self.shell.now_ms, writes[0] if writes else None)
        expected = predict()
        due = dict(refused or {})
        need = self.model.need
        mine: Answer | None = None
        for effect in effects:
            if isinstance(effect, Deliver):
                self._delivered(effect)
            elif isinstance(effect, Answer):
                word = word_of(effect.refused)
                if effect.token == token and mine is None:
                    mine = effect
                    if word != expected:
                        raise Difference(f"the core says {word or 'yes'}, and the model {expected or 'yes'}")
                    if word is None and (effect.after or 0) < need:
                        raise Difference(f"answered after batch {effect.after}, and batch {need} is needed")
                elif due.pop(effect.token, None) != word:
                    raise Difference(f"token {effect.token} is answered {word}")
        if due:
            raise Difference(f"tokens {due} are never answered")
        if token is not None and mine is None:
            raise Difference("no answer")
        closed = sorted((one.connection, one.link) for one in effects if isinstance(one, CloseLink))
        if closed != sorted(self.model.closed):
            raise Difference(f"the core closes links {closed}, and the model {self.model.closed}")
        overdue = self.model.overdue()
        if overdue:
            link, one = overdue[0]
            raise Difference(f"{one.sent.text} was not delivered to {link.connection, link.number}")
        if ended is not None:
            ended()
        self._compare_due()
        return mine

    def _delivered(self, effect: Deliver) -> None:
        key, text = (effect.connection, effect.link), text_of(effect.message)
        if effect.redelivered != (effect.count > 0):
            raise Difference(f"{text} has a count of {effect.count} and is marked {effect.redelivered}")
        sent = self.model.delivered(key, effect.delivery, text, effect.count, effect.after)
        if effect.origin != address(self.model.links[key].to):
            raise Difference(f"{text} comes from {effect.origin}")
        self._same(effect.message, sent)

    def _same(self, message: Message, sent: Sent) -> None:
        original = self.sent.get(sent.text)
        if original is not None and message != replace(original, durable=sent.persistent):
            raise Difference(f"{sent.text} was altered: {message} instead of {original}")
        if (message.durable, message.priority) != (sent.persistent, sent.priority):
            raise Difference(f"{sent.text} has another persistence or priority")

    def _compare_due(self) -> None:
        due, (must, may) = self.shell.core.next_due_ms(), self.model.due()
        if due is None and must is not None:
            raise Difference(f"the core never wants to be woken, and {must} is due")
        if due is not None and (due not in may or (must is not None and due > must)):
            raise Difference(f"the core wants to be woken at {due}, and the model at {must} (or one of {may})")

    def _tick(self) -> None:
        effects = self.shell.handle(commands.Tick())
        self._compare(effects, lambda: self.model.tick(), None)
        wrote = [effect for effect in effects if isinstance(effect, Persist)]
        if wrote and self.refuse_next:
            self.refuse_next = False
            self._refuse((wrote[0].batch,))
        if not self.holding:
            self._store(len(self.shell.pending))

    def _store(self, batches: int) -> None:
        """So many of the oldest batches become durable."""
        number = 0
        for _ in range(batches):
            number = self.shell.store_oldest()
        if number:
            self._compare(self.shell.stored(number), lambda: self.model.stored(number), None)

    def _refuse(self, batches: tuple[int, ...]) -> None:
        """These batches, the newest first, cannot be made durable."""
        dropped, effects = self.shell.refuse(batches)
        units = self.model.unit_batches
        refused = {
            one.token: "BACKED_OUT" if one.after in units else "STORAGE_MEDIUM_FULL"
            for one in dropped
            if isinstance(one, Answer)
        }
        self._compare(effects, lambda: self.model.refused(batches), None, refused=refused)

    def nothing(self) -> None:
        """Nothing happens."""

    # ---- beginning ----------------------------------------------------------------------------------------------------

    def _open(self) -> None:
        """Three clients, each with a sender, and an administrator."""
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

    # ---- picking ------------------------------------------------------------------------------------------------------

    def _receiver(self, pick: int) -> Link | None:
        receivers = [link for link in self.model.links.values() if link.queue is not None]
        return receivers[pick % len(receivers)] if receivers else None

    def _held(self) -> list[tuple[Link, int]]:
        """Deliveries that a client has, and has not settled."""
        return [
            (link, number)
            for link in self.model.links.values()
            for number, delivery in link.got.items()
            if delivery.waits is None and delivery.unit is None
        ]

    # ---- rules: messages ----------------------------------------------------------------------------------------------

    def _put(self, connection: int, link: int, to: str, sent: Sent, unit: int | None) -> None:
        message = self.sent[sent.text] = message_of(sent, to)
        self._ask(
            lambda token: commands.Put(connection, token, link, message, unit),
            lambda: self.model.put(connection, link, to, sent, unit),
        )

    def _send(self, connection: int, to: str, traits: Traits, unit: int | None = None, **more: Any) -> None:
        now, (persistent, priority, color, report, discard) = self.shell.now_ms, traits
        delay, ttl = more.pop("delay", None), more.pop("ttl", None)
        sent = Sent(
            text=f"m{next(self.texts)}",
            persistent=persistent,
            priority=priority,
            expires_ms=None if ttl is None else now + ttl,
            due_ms=None if delay is None else now + delay,
            color=color,
            report=report,
            discard=discard,
            **more,
        )
        self._put(connection, SENDER, to, sent, unit)

    @happens(3, connection=ANYBODY, to=A_QUEUE, traits=TRAITS)
    def send(self, connection: int, to: str, traits: Traits) -> None:
        self._send(connection, to, traits)

    @happens(3, connection=ANYBODY, to=A_TOPIC, traits=TRAITS)
    def publish(self, connection: int, to: str, traits: Traits) -> None:
        self._send(connection, to, traits)

    @happens(3, connection=ANYBODY, to=ANYWHERE, traits=TRAITS, delay=A_DELAY, ttl=A_TIME)
    def send_delayed(self, connection: int, to: str, traits: Traits, delay: int, ttl: int | None) -> None:
        self._send(connection, to, traits, delay=delay, ttl=ttl)

    @happens(2, connection=ANYBODY, to=ANYWHERE, traits=TRAITS, ttl=(3, 9))
    def send_for_a_while(self, connection: int, to: str, traits: Traits, ttl: int) -> None:
        self._send(connection, to, traits, ttl=ttl)

    @happens(3, connection=ANYBODY, to=ANYWHERE, traits=TRAITS, group=A_GROUP, seq=(1, 2, 3), last=YES_OR_NO)
    def send_in_group(self, connection: int, to: str, traits: Traits, group: str, seq: int, last: bool) -> None:
        self._send(connection, to, traits, group=group, seq=seq, last=last)

    @happens(3, pick=PICK, to=ANYWHERE, traits=TRAITS, delay=(None, *A_DELAY), ttl=A_TIME, group=(None, *A_GROUP))
    def send_in_unit(self, pick: int, to: str, traits: Traits, delay: int | None, ttl: int | None, group: str | None) -> None:
        unit = self._unit(pick)
        self._send(unit.connection, to, traits, unit.number, delay=delay, ttl=ttl, group=group, last=group == "h")

    def _settle(self, key: tuple[int, int], numbers: tuple[int, ...], outcome: Outcome, unit: int | None) -> None:
        self._ask(
            lambda token: commands.Settle(key[0], token, key[1], numbers, outcome, unit),
            lambda: self.model.settle(key, numbers, outcome.value, unit),
        )

    @happens(8, pick=PICK, many=YES_OR_NO, outcome=(Outcome.ACCEPTED, *Outcome))
    def settle(self, pick: int, many: bool, outcome: Outcome) -> None:
        held = self._held()
        if not held:
            return
        link, number = held[pick % len(held)]
        numbers = tuple(other for one, other in held if one is link) if many else (number,)
        self._settle((link.connection, link.number), numbers, outcome, None)

    @happens(2, pick=PICK, number=(1, 2), session=A_SESSION)
    def accept_in_unit(self, pick: int, number: int, session: int | None) -> None:
        held = self._held()
        if not held:
            return
        link, delivery = held[pick % len(held)]
        if (link.connection, number) not in self.model.units:
            self._begin(link.connection, number, session)
        self._settle((link.connection, link.number), (delivery,), Outcome.ACCEPTED, number)

    def _begin(self, connection: int, unit: int, session: int | None) -> None:
        self._ask(
            lambda token: commands.Begin(connection, token, unit, session),
            lambda: self.model.begin(connection, unit, session),
        )

    def _unit(self, pick: int) -> Unit:
        """One of the units of work; one that begins now when there is none."""
        units = list(self.model.units.values())
        if not units:
            connection = next(iter(self.model.connections))
            self._begin(connection, 1, 1)
            units = list(self.model.units.values())
        return units[pick % len(units)]

    @happens(3, pick=PICK, commit=(True, True, False))
    def end(self, pick: int, commit: bool) -> None:
        if not self.model.units:
            return
        unit = self._unit(pick)
        connection, number = unit.connection, unit.number
        if commit:
            self._ask(
                lambda token: commands.Commit(connection, token, number), lambda: self.model.commit(connection, number)
            )
        else:
            self._ask(
                lambda token: commands.Backout(connection, token, number),
                lambda: self.model.back_out(connection, number),
            )

    # ---- rules: clients -----------------------------------------------------------------------------------------------

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
    )
    def subscribe(
        self,
        connection: int,
        link: int,
        topic: str,
        kind: str,
        name: str,
        selector: str | None,
        settled: bool,
        credit: int,
    ) -> None:
        shared, durable = "shared" in kind, "durable" in kind
        named = name if shared or durable else None
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
            ),
            lambda: self.model.subscribe(connection, link, terms, settled=settled, session=1),
        )
        if answer.refused is None and credit:
            self._flow(connection, link, credit, drain=False)

    @happens(1, connection=ANYBODY, link=A_LINK, to=(TEMPORARY, TEMPORARY, "P", "T"))
    def open_sender(self, connection: int, link: int, to: str) -> None:
        self._ask(
            lambda token: commands.AttachSender(connection, token, link, address(to)),
            lambda: self.model.open_sender(connection, link, to),
        )

    def _flow(self, connection: int, link: int, credit: int, *, drain: bool) -> None:
        known = self.model.links.get((connection, link))
        ends = drain and known is not None and known.queue is not None
        self._ask(
            lambda token: commands.Flow(connection, token, link, credit, drain),
            lambda: self.model.flow(connection, link, credit),
            (lambda: self.model.drained(connection, link)) if ends else None,
        )

    @happens(4, pick=PICK, credit=(1, 3, 9))
    def flow(self, pick: int, credit: int) -> None:
        link = self._receiver(pick)
        if link is None:
            return
        self._flow(link.connection, link.number, credit, drain=False)

    @happens(1, pick=PICK)
    def detach(self, pick: int) -> None:
        link = self._receiver(pick)
        if link is None:
            return
        self._detach(link.connection, link.number)

    def _detach(self, connection: int, link: int) -> None:
        self._ask(lambda token: commands.Detach(connection, token, link), lambda: self.model.detach(connection, link))

    @happens(1, connection=ANYBODY, name=("s", "t"))
    def unsubscribe(self, connection: int, name: str) -> None:
        self._ask(
            lambda token: commands.Unsubscribe(connection, token, name),
            lambda: self.model.unsubscribe(connection, name),
        )

    @happens(1, connection=ANYBODY, clean=YES_OR_NO, again=(True, True, False))
    def disconnect(self, connection: int, clean: bool, again: bool) -> None:
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
    def ask_anything(self, connection: int, link: int, what: str) -> None:
        """What a link, or one that is not there, does not do; or does, by chance."""
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

    # ---- rules: looking -----------------------------------------------------------------------------------------------

    @happens(1, connection=ANYBODY, queue=A_QUEUE, selector=tuple(SELECTORS))
    def browse(self, connection: int, queue: str, selector: str | None) -> None:
        shown: list[Copy] = []

        def predict() -> Predicted:
            found = self.model.browse(connection, queue, selector)
            if isinstance(found, str):
                return found
            shown.extend(found)
            return None

        answer = self._ask(lambda token: commands.Browse(connection, token, address(queue), selector), predict)
        if answer.refused is None:
            messages = [one for one in answer.value or () if isinstance(one, Message)]
            texts, expected = [text_of(one) for one in messages], [one.sent.text for one in shown]
            if texts != expected:
                raise Difference(f"{queue} shows {texts}, and the model {expected}")
            for message, one in zip(messages, shown, strict=True):
                self._same(message, one.sent)

    def _look_everywhere(self) -> None:
        """An administrator sees every queue, with the staging queue in the order of due times."""
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
                raise Difference(f"{queue} holds {shown}, and in the model {expected}")

    # ---- rules: the world ---------------------------------------------------------------------------------------------

    @happens(3, elapsed=(1, 2, 4, 8, 50))
    def wait(self, elapsed: int) -> None:
        until = self.shell.now_ms + elapsed
        for _ in range(MOST_TICKS):
            due = self.shell.core.next_due_ms()
            if due is None or due > until:
                break
            self.shell.now_ms = self.model.now = max(due, self.shell.now_ms)
            self._tick()
        else:
            raise Difference("the core wants to be woken again and again")
        self.shell.now_ms = self.model.now = until

    @happens(5, queue=("P", "P", DEAD, REPLY, STAGING), what=("PUT", "PUT", "PUT", "GET"), shut=(False, True, True))
    def alter(self, queue: str, what: str, shut: bool) -> None:
        change = AlterObject(Kind.QLOCAL, queue, {what: "DISABLED" if shut else "ENABLED"})
        self._ask(
            lambda token: commands.Administer(ADMIN, token, change), lambda: self.model.alter(queue, what, shut=shut)
        )

    @happens(1, pick=PICK, what=("worker dies", "cancel", "cancel"))
    def meddle_with_staging(self, pick: int, what: str) -> None:
        if what == "worker dies":
            self._happens(self.shell.handle(commands.WorkerDied()), self.model.worker_died)
            return
        connection = next(iter(self.model.connections))
        staged = self.model.staged()
        text = staged[pick % len(staged)].sent.text if staged else "m1"
        self._ask(lambda token: commands.Cancel(connection, token, text), lambda: self.model.cancel(connection, text))

    @happens(3, what=("slow", "slow", "flush", "fail", "full"), batches=(1, 2, 3, 6))
    def disk(self, what: str, batches: int) -> None:
        """From now on batches wait; some of them, or all, become durable; all are refused; the next one is refused."""
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
    def begin_again(self, kill: bool) -> None:
        """Kill: what is not on disk is gone.  Restart: connections are lost, and what is written is flushed."""
        if not kill:
            for connection in tuple(self.model.connections):
                self._disconnect(connection, clean=False)
            for persist in self.shell.pending:
                self.model.stored(persist.batch)
            self.shell.flush_unheard()
        self.holding = self.refuse_next = False
        self.asked = set(self.answered)  # who has not heard by now never will
        self.model.kill()
        self._happens(self.shell.kill(), self.model.recover)
        self._open()
        self._look_everywhere()
