"""Steps about producers, their settings, and sends.

A step such as ``a message is sent to the queue with ...`` creates a producer, and sets on it the options that are a
producer's settings.  A step with an existing producer does not change the producer's settings, and refuses options that
would.  In both kinds of steps, the options ``for this send only`` go with the send call.
"""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from msgspec import structs
from pytest_bdd import given, when

from assay_adapters.ports.client import AS_DESTINATION, MODE_VALUES, Mode, Setting
from assay_adapters.ports.outcome import JmsErrorKind, Refused
from assay_steps.cast.actors import Producer
from assay_steps.cast.recording import Answer, SetupRefusedError
from assay_steps.cast.sessions import Session
from assay_steps.cast.world import PLAIN, World
from assay_steps.words.mistakes import MistakeError
from assay_steps.words.names import Place
from assay_steps.words.parsing import phrase
from assay_steps.words.send_options import SendOptions

STYLES = ("classic", "simplified")
MODE_NUMBERS = {mode: number for number, mode in MODE_VALUES.items()}


def prepared(producer: Producer, options: SendOptions) -> Producer:
    """Set the delay, time to live, priority and delivery mode of a send's options on a producer; return the producer.

    Raises:
        SetupRefusedError: The client refuses a setting, so the scenario is inconclusive.
    """
    for setting, value in _settings(options).items():
        answer = producer.set(setting, value)
        if isinstance(answer.outcome, Refused):
            raise SetupRefusedError(_with_hint(answer.outcome, setting), answer.ref)
    return producer


def _settings(options: SendOptions) -> dict[Setting, int]:
    """Return the settings of a producer among a send's options."""
    settings = {
        Setting.TTL: options.ttl_ms,
        Setting.DELAY: options.delay_ms,
        Setting.PRIORITY: options.priority,
        Setting.MODE: MODE_NUMBERS[options.mode] if options.mode else None,
    }
    return {setting: value for setting, value in settings.items() if value is not None}


def _with_hint(refusal: Refused, setting: Setting) -> Refused:
    """Add a hint to the text of a refused setting: the steps with which a scenario can expect the refusal."""
    if refusal.kind is JmsErrorKind.UNSUPPORTED:
        return refusal
    claimed = f'Given producer "p" on the queue, When the {setting.value} of producer "p" is set to ...'
    return structs.replace(refusal, text=f"{refusal.text}; to claim this refusal, write: {claimed}")


def producer_for(
    world: World, place: Place, options: SendOptions, name: str = "sender", session: Session | None = None
) -> Producer:
    """Create a producer, and set on it those options of a send that are settings of a producer (`prepared`).

    Raises:
        SetupRefusedError: The client refuses the producer or a setting, so the scenario is inconclusive.
    """
    face = options.face or (world.face if options.qos else None)
    return prepared(world.producer(place, name, session=session, face=face, qos=options.qos), options)


def send(world: World, producer: Producer, label: str, place: Place, options: SendOptions = PLAIN) -> Answer[object]:
    """Send one message through a producer, and store the answer; options ``for this send only`` go with the call.

    If the producer has no destination, the call passes the queue or topic.
    """
    draft = world.draft(label, options)
    to = world.address(place) if producer.to is None else None
    answer = producer.send(
        draft, mode=options.send_mode, priority=options.send_priority, ttl_ms=options.send_ttl_ms, to=to
    )
    world.note_sent(label, draft, answer, world.address(place), options.delay_ms or 0)
    world.last = Answer(answer.ref, answer.outcome)
    return world.last


def _send_through(
    world: World, name: str, label: str, place: Place | None = None, options: SendOptions = PLAIN
) -> Answer[object]:
    """Send one message through a producer that an earlier step created.

    Args:
        world: The scenario's world.
        name: The producer's name.
        label: The message's label.
        place: The queue or topic; None for the producer's own.
        options: The options of the send.

    Raises:
        MistakeError: An option would change the producer.
    """
    if options.qos or options.face:
        raise MistakeError(
            f'the producer that sends "{label}" exists, so this step cannot choose its quality of service or its '
            f'durable header: write `message "{label}" is sent to ... with ...`, which creates a producer'
        )
    for setting, value in _settings(options).items():
        _refuse(name, setting, value)
    return send(world, world.producers[name], label, place or world.places[name], options)


def _refuse(name: str, setting: Setting, value: int) -> None:
    """Refuse to change a setting of an existing producer; the error says what to write instead."""
    owner, owned = f'producer "{name}"', f'the {setting.value} of producer "{name}"'
    if name == "sender":
        owner, owned = "the producer", f"the producer's {setting.value}"
    if setting is Setting.MODE:
        wanted = MODE_VALUES[value].value
    else:
        wanted = str(value) if setting is Setting.PRIORITY else f"{value} ms"
    how = f"write `{owned} is set to {wanted}` before it"
    if setting is not Setting.DELAY and value != AS_DESTINATION:
        how += f", or add `for this send only` to the {setting.value}"
    raise MistakeError(f"the {setting.value} is a setting of {owner}, which this step does not change: {how}")


@given(phrase("a producer on {place:Place}"))
@given(phrase("a {style:Style} producer on {place:Place}"))
@given(phrase("producer {name:Name} on {place:Place}"))
def _(world: World, place: Place, style: str | None = None, name: str = "sender") -> None:
    world.producer(place, name, face=style)
    world.places[name] = place


@given(phrase("producer {name:Name} of session {session:Name} on {place:Place}"))
@given(phrase("producer {name:Name} of session {session:Name} on {place:Place} with {options:Options}"))
@given(phrase("producer {name:Name} of session {session:Name} without a destination"))
def _(world: World, name: str, session: str, place: Place | None = None, options: SendOptions = PLAIN) -> None:
    prepared(world.producer(place, name, session=world.sessions[session]), options)
    if place is not None:
        world.places[name] = place


@given(phrase("the {setting:Setting} of producer {name:Name} is {value:Duration}"))
def _(world: World, setting: Setting, name: str, value: int) -> None:
    world.producers[name].set(setting, value).needed()


@when(phrase("the {setting:Setting} of producer {name:Name} is set to {value:Duration}"))
@when(phrase("the {setting:Setting} of producer {name:Name} is set to {value:Number}"))
def _(world: World, setting: Setting, name: str, value: int) -> None:
    answer = world.producers[name].set(setting, value)
    world.last = Answer(answer.ref, answer.outcome)


@when(phrase("the {setting:Setting} of producer {name:Name} is set to {value:Duration} and it sends a message"))
def _(world: World, setting: Setting, name: str, value: int) -> None:
    _set_and_send(world, name, setting, value, world.places[name])


@when(phrase("the delivery mode of producer {name:Name} is set to {mode:Mode}"))
def _(world: World, name: str, mode: Mode) -> None:
    world.producers[name].set(Setting.MODE, MODE_NUMBERS[mode]).needed()


@when(phrase("producer {name:Name} is closed"))
def _(world: World, name: str) -> None:
    world.producers[name].close().needed()


@when(phrase("producer {name:Name} sends message {label:Name}"))
@when(phrase("producer {name:Name} sends message {label:Name} with {options:Options}"))
@when(phrase("producer {name:Name} sends message {label:Name} to {place:Place}"))
@when(phrase("producer {name:Name} sends message {label:Name} to {place:Place} with {options:Options}"))
def _(world: World, name: str, label: str, place: Place | None = None, options: SendOptions = PLAIN) -> None:
    _send_through(world, name, label, place, options)


@given(phrase("a {style:Style} producer without a destination"))
def _(world: World, style: str) -> None:
    world.producer(None, face=style)


@when(phrase("the producer sends message {label:Name} to {place:Place}"))
@when(phrase("the producer sends message {label:Name} to {place:Place} with {options:Options}"))
def _(world: World, label: str, place: Place, options: SendOptions = PLAIN) -> None:
    _send_through(world, "sender", label, place, options)


@given(phrase("the producer's {setting:Setting} is {value:Duration}"))
def _(world: World, setting: Setting, value: int) -> None:
    world.producers["sender"].set(setting, value).needed()


@given(phrase("the producer's delivery mode is {mode:Mode}"))
@when(phrase("the producer's delivery mode is set to {mode:Mode}"))
def _(world: World, mode: Mode) -> None:
    world.producers["sender"].set(Setting.MODE, MODE_NUMBERS[mode]).needed()


@when(phrase("the producer's {setting:Setting} is set to {value:Duration}"))
@when(phrase("the producer's {setting:Setting} is set to {value:Number}"))
def _(world: World, setting: Setting, value: int) -> None:
    answer = world.producers["sender"].set(setting, value)
    world.last = Answer(answer.ref, answer.outcome)


@when(phrase("the producer refuses a {setting:Setting} of {value:Duration}"))
def _(world: World, setting: Setting, value: int) -> None:
    answer = world.producers["sender"].set(setting, value)
    if answer.accepted:
        text = f"the client accepts a {setting.value} of {value} ms here; it may refuse the next send instead"
        raise SetupRefusedError(Refused(JmsErrorKind.UNSUPPORTED, text), answer.ref)


@when(phrase("the producer's {setting:Setting} is set to {value:Fraction}"))
def _(world: World, setting: Setting, value: timedelta) -> None:
    answer = world.producers["sender"].set(setting, value)
    world.last = Answer(answer.ref, answer.outcome)


@when(phrase("the producer's {setting:Setting} is set to {value:Duration} and a message is sent"))
@when(phrase("the producer's {setting:Setting} is set to {value:Duration} and a message is sent to {place:Place}"))
def _(world: World, setting: Setting, value: int, place: Place | None = None) -> None:
    _set_and_send(world, "sender", setting, value, place or world.places["sender"])


def _set_and_send(world: World, name: str, setting: Setting, value: int, place: Place) -> None:
    answer = world.producers[name].set(setting, value)
    world.tries = {"setting": Answer(answer.ref, answer.outcome)}
    if answer.accepted:
        world.tries["send"] = send(world, world.producers[name], "message", place)


@given(phrase("a classic and a simplified producer on {place:Place}"))
def _(world: World, place: Place) -> None:
    for style in STYLES:
        world.producer(place, style, face=style)
        world.places[style] = place


@given(phrase("the {setting:Setting} of both producers is {value:Duration}"))
def _(world: World, setting: Setting, value: int) -> None:
    for style in STYLES:
        world.producers[style].set(setting, value).needed()


@when(phrase("the {setting:Setting} of both producers is set to {value:Duration}"))
def _(world: World, setting: Setting, value: int) -> None:
    answers = {style: world.producers[style].set(setting, value) for style in STYLES}
    world.tries = {style: Answer(answer.ref, answer.outcome) for style, answer in answers.items()}


@when(phrase("both producers send a message with {options:Options}"))
def _(world: World, options: SendOptions) -> None:
    world.tries = {style: _send_through(world, style, style, options=options) for style in STYLES}


@when("the producer sends a message")
@when(phrase("the producer sends message {label:Name}"))
@when(phrase("the producer sends message {label:Name} with {options:Options}"))
@when(phrase("the producer sends a message with {options:Options}"))
def _(world: World, label: str = "message", options: SendOptions = PLAIN) -> None:
    _send_through(world, "sender", label, options=options)


@given(phrase("a message is sent to {place:Place}"))
@given(phrase("a message is sent to {place:Place} with {options:Options}"))
@given(phrase("message {label:Name} is sent to {place:Place}"))
@given(phrase("message {label:Name} is sent to {place:Place} with {options:Options}"))
@when(phrase("a message is sent to {place:Place}"))
@when(phrase("a message is sent to {place:Place} with {options:Options}"))
@when(phrase("message {label:Name} is sent to {place:Place}"))
@when(phrase("message {label:Name} is sent to {place:Place} with {options:Options}"))
def _(world: World, place: Place, label: str = "message", options: SendOptions = PLAIN) -> None:
    producer = producer_for(world, place, options)
    send(world, producer, label, place, options)


@given(phrase("messages {labels:Names} are sent to {place:Place}"))
@given(phrase("messages {labels:Names} are sent to {place:Place} with {options:Options}"))
@when(phrase("messages {labels:Names} are sent to {place:Place}"))
@when(phrase("messages {labels:Names} are sent to {place:Place} with {options:Options}"))
@when(phrase("messages {labels:Names} are sent to {place:Place} at intervals of {interval:Duration}"))
def _(
    world: World, labels: tuple[str, ...], place: Place, options: SendOptions = PLAIN, interval: int | None = None
) -> None:
    producer = producer_for(world, place, options)
    for label in labels:
        send(world, producer, label, place, options)
        if interval is not None:
            world.pass_time(interval)


@given(phrase("{count:Number} messages are sent to {place:Place}"))
@when(phrase("{count:Number} messages are sent to {place:Place}"))
@when(phrase("{count:Number} messages are sent to {place:Place} with {options:Options}"))
def _(world: World, count: int, place: Place, options: SendOptions = PLAIN) -> None:
    world.many = tuple(f"many{number}" for number in range(1, count + 1))
    producer = producer_for(world, place, options)
    for label in world.many:
        send(world, producer, label, place, options)


@when(phrase("message {label:Name} is sent in session {session:Name} to {place:Place}"))
@when(phrase("message {label:Name} is sent in session {session:Name} to {place:Place} with {options:Options}"))
def _(world: World, label: str, session: str, place: Place, options: SendOptions = PLAIN) -> None:
    owner: Session = world.sessions[session]
    producer = producer_for(world, place, options, f"{session}'s sender", owner)
    send(world, producer, label, place, options)


@given(phrase("{name:Name} will send {labels:Names} to {place:Place}, one in each callback"))
@given(phrase("{name:Name} will send {labels:Names} to {place:Place} with {options:Options}, one in each callback"))
def _(world: World, name: str, labels: tuple[str, ...], place: Place, options: SendOptions = PLAIN) -> None:
    producer = producer_for(world, place, options, f"{name}'s sender", world.consumers[name].session)
    for label in labels:
        world.draft(label, options)  # so a claim can name the message even if the callback never comes
        world.sightings.in_callback(name, partial(send, world, producer, label, place, options))


@when("the sender's connection is lost")
def _(world: World) -> None:
    world.sessions["sender"].connection.abort()


@given("the sender's connection has been closed")
@when("the sender's connection is closed")
def _(world: World) -> None:
    world.sessions["sender"].connection.close().needed()
