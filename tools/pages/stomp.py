"""The page of the STOMP server, made from its tables of conversion and limits."""

from __future__ import annotations

from msgspec.structs import fields

from assay_broker.stomp.limits import StompLimits
from assay_sdk.stomp.messages import TABLE, Row

_HEAD = """# STOMP

`assay broker` speaks STOMP 1.0, 1.1 and 1.2 at `127.0.0.1:61613`; `--stomp HOST:PORT` sets another address, and `--stomp none` opens
no listener. Users and TLS work as for AMQP ([broker](broker.md)). `make pages` writes this page.

```console
$ printf 'CONNECT\\naccept-version:1.2\\nhost:any\\n\\n\\0SEND\\ndestination:/queue/ORDERS\\nreceipt:1\\n\\nhello\\0' \\
    | nc -q 1 127.0.0.1 61613
```

## Connecting

- The server takes the highest version that both ends know; it ignores blanks in `accept-version`. Without this header the version
  is 1.0.
- `host` may have any value, and may be absent.
- `client-id` is the JMS client id, which one connection at a time may have.
- If the server has users, CONNECT needs `login` and `passcode`. The server accepts them over TLS or from its own machine only, unless
  it was started with `--clear-passwords`. Without users the server ignores both headers.
- CONNECTED has the command level and the platform of the queue manager (`x-opt-mq-level`, `x-opt-mq-platform`), as over AMQP.
- The server offers to send heart-beats, and asks for them, at intervals of 100 ms or longer (`heart-beat:100,100`). So the client's
  header decides the intervals; a shorter interval than 100 ms becomes 100 ms. The server writes an end of line when it has written
  nothing for half of an interval. It closes a connection on which it has read nothing for two intervals.

## Destinations

| header | destination |
|---|---|
| `/queue/NAME`, `/amq/queue/NAME`, `queue://NAME` | the queue `NAME`; its first use creates it |
| `/topic/STRING`, `topic://STRING` | the topic; a subscription may have the wildcards `+` and `#` as levels |
| `/temp-queue/X`, `/temp-topic/X` | a temporary destination of this connection; the name `X` is valid on this connection only, in SUBSCRIBE, SEND and `reply-to` |
| `/remote-temp-queue/NAME`, `/remote-temp-topic/NAME` | a temporary destination of another connection, as `reply-to` in a MESSAGE names it |
| another text | the queue or topic object of this name, or a queue if no object has the name. The headers `destination-type` (SEND) and `subscription-type` (SUBSCRIBE) decide instead: `ANYCAST` for a queue, `MULTICAST` for a topic |

In a MESSAGE, `destination` has the same text as in the SUBSCRIBE; for a subscription with wildcards it names the message's topic.

## Sending

The receipt of a SEND comes when the queue manager has the message; a persistent message is then on disk. In a transaction the
receipt comes before the commit. A SEND that the queue manager refuses ends the connection with an ERROR, whether the SEND asks for a
receipt or not; only the [extension](#extensions) `open-errors` keeps the connection open.

## Subscribing

| header of SUBSCRIBE | meaning |
|---|---|
| `ack` | `auto`, `client` (ACK and NACK settle all earlier messages of the subscription too), `client-individual` |
| `selector` | a JMS selector; the values of a message's headers are texts, unless the message's `property-types` says otherwise |
| `no-local:true`, `activemq.noLocal:true` | no messages of this connection (topics) |
| `activemq.prefetchSize`, `prefetch-count` | the window: how many messages may be unsettled at a time. -1 means the limit `most-window`, 0 means 1; without the header, the limit `window` |
| `consumer-window-size` | the window in octets (Artemis); the server divides it by 256 to get a number of messages. -1 and 0 have the meanings of the previous row |
| `durable-subscription-name`, `durable-subscriber-name`, `activemq.subscriptionName` | a durable subscription of the client id |
| `shared:true` with one of the three headers of the previous row | a shared durable subscription of the client id; on a connection without a client id, of all clients |
| `shared-subscription-name` | a shared subscription that is not durable |
| `durable:true` | a durable subscription that all clients share, as in RabbitMQ; its name is the value of `x-queue-name`, or else the id and the destination |
| `browser:true` | copies of the messages on a queue, and then a MESSAGE with `browser:end` |

The receipt of a SUBSCRIBE comes before its first MESSAGE. UNSUBSCRIBE returns unsettled messages to their queue as failed deliveries.
With the headers of a durable subscription it also removes that subscription, even if the connection has not subscribed to it.

In the mode `auto` a message counts as received when the server sends it. A message that is under way when a connection breaks is
lost, as STOMP 1.2 says.

## Settling

- ACK and NACK name a message by `id` (1.2: the header `ack` of MESSAGE) or by `message-id` (1.1 with `subscription`). An
  unknown id is an error, and so is the id of a settled message or of another connection's message.
- NACK gives a message back; the queue manager delivers it again, with `redelivered:true` and `JMSXDeliveryCount`. When a message has
  failed as often as BOTHRESH of its queue says, the server moves it to BOQNAME or, without one, to the dead-letter queue. If the
  queue has no BOTHRESH, this happens after 6 redeliveries (the limit `redeliveries`). `requeue:false` in a NACK moves the message at once.
  Without a dead-letter queue the message is discarded, as after the outcome *rejected* over AMQP.
- In a transaction ACK and NACK take effect at the COMMIT. After an ABORT the messages are unsettled again, and stay with the client.

## Extensions

A client may ignore all of these headers; the [SDK's driver](stomp-driver.md) uses them. CONNECTED lists the
extensions: `extensions:credit,delivery-failed,open-errors`.

| extension | header | meaning |
|---|---|---|
| `credit` | `credit:N` in SUBSCRIBE | the server sends N messages at most, instead of a window. A further SUBSCRIBE with the same `id` adds credit |
| | `drain:true` in a further SUBSCRIBE | the server sends the waiting messages that the credit allows, takes back the rest of the credit, and then sends the receipt |
| `delivery-failed` | `delivery-failed:false` in NACK | the message goes back as if it had not been delivered: neither counted nor marked as redelivered |
| `open-errors` | `extensions:open-errors` in CONNECT | if a frame asks for a receipt and the queue manager refuses the frame, the ERROR has `connection:open`, and the connection stays open. If this ERROR also has `subscription`, the named subscription has ended. If a frame of a transaction asks for no receipt and is refused, the server refuses the COMMIT with the reason for which it refused the frame |

## Errors

After an ERROR the server closes the connection, and aborts its transactions. The ERROR has `message`, `mqrc` (a
[reason code](reasons.md)), `mqrc-objects` and, if the frame at fault asks for a receipt, `receipt-id`. For a violation of
the protocol `mqrc` is 2046, for an exceeded limit 2102 (`actions`: 2024, `login-ms`: 2009). An error of JMS without a reason code,
such as a client id in use, has `mqrc` 2195 and its kind in `error-kind` (`invalid-client-id`).

## Messages between STOMP and AMQP

If a SEND has several headers of one row, the first of them in the row counts. Headers that are not in the table become application
properties, and come back in MESSAGE.

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
