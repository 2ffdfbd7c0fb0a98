"""The comparison of one step of the core with one step of the model: answers, deliveries and due times."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from msgspec.structs import replace
from tests.broker.model.model import Model
from tests.broker.model.programs.acts import Program
from tests.broker.model.programs.shell import Hits, Shell
from tests.broker.model.programs.translation import Predicted, address, text_of, word_of
from tests.broker.model.words import (
    DifferenceError,
    Sent,
)

from assay_broker.core import commands
from assay_broker.core.commands import Command
from assay_broker.core.effects import Answer, CloseLink, Deliver, Effect, Persist
from assay_broker.seams import NO_SEAMS, Seams
from assay_sdk.model.message import Message

MOST_TICKS = 30
"""The largest number of ticks at one time; a core that asks for more is taken to ask for ticks without end."""


class Comparing:
    """The core in its shell, and the model.

    Args:
        program: The program.
        seams: The seams, which may have a defect.
        hits: The counter of lookups of the core's tables.
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

    def _let_out(self, effect: Answer | Deliver) -> None:
        if isinstance(effect, Answer):
            if effect.token in self.answered or effect.token not in self.asked:
                raise DifferenceError(f"command {effect.token} was answered twice, or never asked")
            self.answered[effect.token] = effect

    def _ask(
        self,
        command: Callable[[int], Command],
        predict: Callable[[], Predicted],
        ended: Callable[[], None] | None = None,
    ) -> Answer:
        """Give a command to core and model, compare their answers, and store the batch, unless the disk waits."""
        token = next(self.tokens)
        self.asked.add(token)
        effects = self.shell.handle(command(token))
        answer = self._compare(effects, predict, token, ended)
        self._after(effects)
        assert answer is not None
        return answer

    def _happens(self, effects: tuple[Effect, ...], predict: Callable[[], object]) -> None:
        """Compare a step without a client's command."""
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
            raise DifferenceError("the core wants to be woken again and again")

    def _compare(
        self,
        effects: tuple[Effect, ...],
        predict: Callable[[], Predicted],
        token: int | None,
        ended: Callable[[], None] | None = None,
        refused: dict[int, str] | None = None,
    ) -> Answer | None:
        """Return the answer in the effects of one step, after comparing the effects with the model's.

        Args:
            effects: The core's effects.
            predict: Makes the step in the model.
            token: The token that must be answered; None for no answer.
            ended: A function for the model after all deliveries.
            refused: The tokens whose answers are now refusals, because a batch failed.
        """
        writes = [effect.batch for effect in effects if isinstance(effect, Persist)]
        self.model.step(self.shell.now_ms, writes[0] if writes else None)
        expected = predict()
        need = self.model.need
        due = dict(refused or {})
        mine: Answer | None = None
        for effect in effects:
            if isinstance(effect, Deliver):
                self._delivered(effect)
            elif isinstance(effect, Answer) and effect.token == token:
                mine, token = effect, None
                self._answered(effect, expected, need)
            elif isinstance(effect, Answer) and due.pop(effect.token, None) != word_of(effect.refused):
                raise DifferenceError(f"token {effect.token} is answered {word_of(effect.refused)}")
        if due or token is not None:
            raise DifferenceError(f"{due or token} is never answered")
        self._compare_end(effects)
        if ended is not None:
            ended()
        self._compare_due()
        return mine

    def _answered(self, answer: Answer, expected: Predicted, need: int) -> None:
        word = word_of(answer.refused)
        if word != expected:
            raise DifferenceError(f"the core says {word or 'yes'}, and the model {expected or 'yes'}")
        if word is None and (answer.after or 0) < need:
            raise DifferenceError(f"answered after batch {answer.after}, and batch {need} is needed")

    def _compare_end(self, effects: tuple[Effect, ...]) -> None:
        """Compare the closed links, and check that no delivery is missing."""
        closed = sorted((one.connection, one.link) for one in effects if isinstance(one, CloseLink))
        if closed != sorted(self.model.closed):
            raise DifferenceError(f"the core closes links {closed}, and the model {self.model.closed}")
        for link, one in self.model.overdue():
            raise DifferenceError(f"{one.sent.text} was not delivered to {link.connection, link.number}")

    def _delivered(self, effect: Deliver) -> None:
        key, text = (effect.connection, effect.link), text_of(effect.message)
        if effect.redelivered != (effect.count > 0):
            raise DifferenceError(f"{text} has a count of {effect.count} and is marked {effect.redelivered}")
        sent = self.model.delivered(key, effect.delivery, text, effect.count, effect.after)
        if effect.origin != address(self.model.links[key].to):
            raise DifferenceError(f"{text} comes from {effect.origin}")
        self._same(effect.message, sent)

    def _same(self, message: Message, sent: Sent) -> None:
        original = self.sent.get(sent.text)
        if original is not None and message != replace(original, durable=sent.persistent):
            raise DifferenceError(f"{sent.text} was altered: {message} instead of {original}")
        if (message.durable, message.priority) != (sent.persistent, sent.priority):
            raise DifferenceError(f"{sent.text} has another persistence or priority")

    def _compare_due(self) -> None:
        due, (must, may) = self.shell.core.next_due_ms(), self.model.due()
        if due is None and must is not None:
            raise DifferenceError(f"the core never wants to be woken, and {must} is due")
        if due is not None and (due not in may or (must is not None and due > must)):
            raise DifferenceError(f"the core wants to be woken at {due}, and the model at {must} (or one of {may})")

    def _tick(self) -> None:
        effects = self.shell.handle(commands.Tick())
        self._compare(effects, self.model.tick, None)
        wrote = [effect for effect in effects if isinstance(effect, Persist)]
        if wrote and self.refuse_next:
            self.refuse_next = False
            self._refuse((wrote[0].batch,))
        if not self.holding:
            self._store(len(self.shell.pending))

    def _store(self, batches: int) -> None:
        """Store this number of batches, the oldest first, and compare core and model."""
        number = 0
        for _ in range(batches):
            number = self.shell.store_oldest()
        if number:
            self._compare(self.shell.stored(number), lambda: self.model.stored(number), None)

    def _refuse(self, batches: tuple[int, ...]) -> None:
        """Make the store refuse batches, which are given with the newest first, and compare core and model."""
        dropped, effects = self.shell.refuse(batches)
        units = self.model.unit_batches
        refused = {
            one.token: "BACKED_OUT" if one.after in units else "STORAGE_MEDIUM_FULL"
            for one in dropped
            if isinstance(one, Answer)
        }
        self._compare(effects, lambda: self.model.refused(batches), None, refused=refused)
