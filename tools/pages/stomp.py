"""The page of the STOMP server, made from its tables of conversion and limits."""

from __future__ import annotations

from msgspec.structs import fields

from assay_broker.stomp.conversion import TABLE, Row
from assay_broker.stomp.limits import StompLimits

_HEAD = """# STOMP

`assay broker` speaks STOMP 1.0, 1.1 and 1.2 at `127.0.0.1:61613` (`--stomp HOST:PORT`, `--stomp none`). Users and TLS are those of
AMQP ([broker](broker.md)). `make pages` writes this page.

```console
$ printf 'CONNECT\\naccept-version:1.2\\nhost:any\\n\\n\\0SEND\\ndestination:/queue/ORDERS\\nreceipt:1\\n\\nhello\\0' \\
    | nc -q 1 127.0.0.1 61613
```

## Connecting

- The server takes the highest common version; blanks in `accept-version` have no meaning. Without this header the version is 1.0.
- `host` may have any value, and may be absent.
- `client-id` is the JMS client id, which one connection at a time may have.
- If the server has users, CONNECT needs `login` and `passcode`. The server takes them over TLS or from its own machine only
  (`--clear-passwords` as for AMQP). Without users it ignores them.
- The server promises and wishes heart-beats every 100 ms or more rarely (`heart-beat:100,100`), so the client's numbers decide. It
  writes an end of line when half of an interval has passed without output. It closes a connection after two intervals of silence.

## Destinations

| header | destination |
|---|---|
| `/queue/NAME`, `/amq/queue/NAME`, `queue://NAME` | the queue `NAME`; its first use creates it |
| `/topic/STRING`, `topic://STRING` | the topic; a subscription may have the wildcards `+` and `#` as levels |
| `/temp-queue/X`, `/temp-topic/X` | a temporary destination of this connection; `X` names it here only, in SUBSCRIBE, SEND and `reply-to` |
| `/remote-temp-queue/NAME`, `/remote-temp-topic/NAME` | a temporary destination of another connection, as `reply-to` in a MESSAGE names it |
| another text | the kind of the object of this name, else a queue; `destination-type` (SEND) and `subscription-type` (SUBSCRIBE) say `ANYCAST` or `MULTICAST` |

A MESSAGE repeats the destination in the words of its SUBSCRIBE.

## Sending

The receipt of a SEND comes when the queue manager has the message; a persistent message is then on disk. In a transaction it comes
before the commit. A SEND that the queue manager refuses ends the connection with an ERROR, with or without a receipt.

## Subscribing

| header of SUBSCRIBE | meaning |
|---|---|
| `ack` | `auto`, `client` (ACK and NACK settle all earlier messages of the subscription too), `client-individual` |
| `selector` | a JMS selector; header values are texts, unless `property-types` says otherwise |
| `no-local:true`, `activemq.noLocal:true` | no messages of this connection (topics) |
| `activemq.prefetchSize`, `prefetch-count` | the window: messages that may be unsettled at a time; -1 for the largest, 0 means 1 |
| `consumer-window-size` | the window in octets (Artemis), counted as messages of 256 octets; -1 for the largest, 0 means 1 |
| `durable-subscription-name`, `durable-subscriber-name`, `activemq.subscriptionName` | a durable subscription of the client id |
| `shared:true` with one of these | a shared durable subscription; without a client id it belongs to nobody |
| `shared-subscription-name` | a shared subscription that is not durable |
| `durable:true` | a durable subscription in RabbitMQ's way: the id and the destination name it, or `x-queue-name`; all clients share it |
| `browser:true` | copies of the messages on a queue, and then a MESSAGE with `browser:end` |

The receipt of a SUBSCRIBE comes before its first MESSAGE. UNSUBSCRIBE returns unsettled messages to their queue as failed deliveries.
With the headers of a durable subscription it also removes that subscription, even if the connection has not subscribed to it.

In the mode `auto` a message counts as received when the server sends it. A message that is under way when a connection breaks is
lost, as STOMP 1.2 says.

## Settling

- ACK and NACK name a message by `id` (1.2: the header `ack` of MESSAGE) or by `message-id` (1.1 with `subscription`). An unknown,
  foreign or settled message is an error.
- NACK gives a message back; the queue manager delivers it again, with `redelivered:true` and `JMSXDeliveryCount`. When a message has
  failed as often as BOTHRESH of its queue says, the server moves it to BOQNAME or, without one, to the dead-letter queue. If the
  queue has no BOTHRESH, this happens after `redeliveries` (6) redeliveries. `requeue:false` in a NACK moves the message at once.
  Without a dead-letter queue the message is discarded, as after the outcome *rejected* over AMQP.
- In a transaction ACK and NACK count at the COMMIT. After an ABORT the messages are unsettled again, and stay with the client.

## Errors

After an ERROR the server closes the connection, and aborts its transactions. The ERROR has `message`, `mqrc` (a
[reason code](reasons.md)), `mqrc-objects` and, if the frame at fault asks for a receipt, `receipt-id`. Faults of the protocol have
2046, exceeded limits 2102.

## Messages between STOMP and AMQP

The first header of a row that SEND has counts. All other headers become application properties, and come back in MESSAGE.

| part of the message | SEND | AMQP 1.0 | MESSAGE | notes | a round trip loses |
|---|---|---|---|---|---|
"""

_BODIES = """
| kind of body (`amq-msg-type`) | octets in the frame | AMQP body |
|---|---|---|
| `text` | the text in UTF-8 | amqp-value with a string |
| `bytes` | the octets | data |
| `map`, `list` | JSON | amqp-value with a map (JMS: MapMessage) or a list |
| `empty` | none | amqp-value with null |
| `amqp` | the encoded sections of the AMQP body | any other body |

`property-types` is a JSON object, as in `property-types:{"count":"integer"}`. The types are `boolean`, `integer`, `double`, `bytes`
(base64) and `null`. The server writes it if a message has such properties; a client that copies the headers of a MESSAGE to a SEND
keeps the types.

## Limits

Each limit has a key in `[stomp-limits]` of the configuration file, in kebab case; [the file](../broker/assay_broker/stomp/limits.py)
has their meanings.

| limit | default |
|---|---|
"""


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(name if " " in name else f"`{name}`" for name in names)


def _line(row: Row) -> str:
    message = _names(tuple(row.message.split(", "))) if row.message else ""
    return f"| {row.part} | {_names(row.send)} | {row.amqp} | {message} | {row.note} | {row.lost} |\n"


def stomp_page() -> str:
    """Return the page as Markdown."""
    limits = (f"| `{one.encode_name.replace('_', '-')}` | {one.default:,} |\n" for one in fields(StompLimits))
    return _HEAD + "".join(map(_line, TABLE)) + _BODIES + "".join(limits)
