Feature: Whether a sender knows that its message has arrived depends on the quality of service
  MQ Light and AMQP, lines 15 to 18.

  @QS-03 @needs-topic @needs-quality-of-service
  Rule: With at-most-once, a message whose connection fails before its send completes may not arrive
    Line 16.  The scenarios record whether the message arrives; it never arrives twice.

    Scenario: If the sender's connection is lost right after the send, the message arrives once, or not at all
      Given a topic
      And a non-durable subscriber "reader" on the topic
      When message "m1" is sent to the topic with quality of service at-most-once
      And the sender's connection is lost
      And message "control" is sent to the topic with the durable header true
      Then "reader" sees "control" exactly once
      And "reader" sees "m1" at most once

    @needs-cut @needs-lasting-subscription
    Scenario: If every connection is cut right after the send, the message arrives once, or not at all
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "sure" is inactive
      When messages "m1" to "m5" are sent to the topic with quality of service at-most-once
      And every connection is cut
      And 10 s pass
      And subscriber "sure" comes back
      And message "control" is sent to the topic with the durable header true
      Then "sure" sees "control" exactly once
      And "sure" sees "m1" to "m5" at most once

    @needs-cut @needs-lasting-subscription
    Scenario: If every connection is cut right after a message was passed on to the broker, the message arrives once, or not at all
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "sure" is inactive
      When message "m1" is sent to the topic with quality of service at-most-once and every connection is cut right after the message was passed on
      And 10 s pass
      And message "m2" is sent to the topic with quality of service at-most-once
      And message "m3" is sent to the topic with quality of service at-most-once and every connection is cut right after the message was passed on
      And 10 s pass
      And subscriber "sure" comes back
      And message "control" is sent to the topic with the durable header true
      Then "sure" sees "control" exactly once
      And "sure" sees "m1" to "m3" at most once

    @evidence @needs-kill @needs-lasting-subscription @needs-default-persistence
    Scenario: If the broker is killed right after the send, the message arrives once, or not at all
      Given a topic with DEFPSIST(YES)
      And subscriber "sure" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "sure" is inactive
      When messages "m1" to "m3" are sent to the topic with quality of service at-most-once
      And 1 s pass
      And messages "m4" and "m5" are sent to the topic with quality of service at-most-once
      And the broker is killed and comes back
      And 10 s pass
      And subscriber "sure" comes back
      And message "control" is sent to the topic with the durable header true
      Then "sure" sees "control" exactly once
      And "sure" sees "m1" to "m5" at most once

    @evidence @needs-shared-subscription @needs-topic-wildcard
    Scenario Outline: If the sender's connection is <ended> right after the send, no message comes twice to sharers with <terms>
      Given subscriber "left" on topic "sport/#" with shared subscription "club", <terms>
      And subscriber "right" on topic "sport/#" with shared subscription "club", <terms>
      When messages "m1" to "m4" are sent to topic "sport/news" with quality of service at-most-once
      And the sender's connection is <ended>
      And message "control" is sent to topic "sport/news" with the durable header true
      Then "left" and "right" together see "control" exactly once
      And "left" and "right" together see "m1" to "m4" at most once

      Examples:
        | ended | terms                            |
        | lost  | quality of service at-least-once |

      @needs-lasting-subscription
      Examples:
        | ended  | terms                                                       |
        | closed | quality of service at-least-once and a durable subscription |

  @QS-04 @needs-topic @needs-quality-of-service @needs-lasting-subscription
  Rule: With at-least-once, a sender keeps its copy until the broker confirms that the subscribers' queues have the message
    Line 17.  Persistent messages survive a kill, so a kill after the answer tests the broker's confirmation.  A
    sender that sets the durable header waits for the answer, as with at-least-once.  A client that cannot set the
    header keeps its copy, and the frames show that the client sends the message again: a killed broker need not keep
    a non-persistent message for a subscriber that is away.

    @judges-broker @needs-kill @needs-kill-at-answer
    Scenario: If the broker is killed right after its answer, each of three subscribers still gets the message
      Given a topic
      And subscriber "first" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "second" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "third" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "first" is inactive
      And subscriber "second" is inactive
      And subscriber "third" is inactive
      When message "m1" is sent to the topic with the durable header true and the broker is killed just after it answers
      And subscriber "first" comes back
      And subscriber "second" comes back
      And subscriber "third" comes back
      Then "first" sees "m1" exactly once
      And "second" sees "m1" exactly once
      And "third" sees "m1" exactly once

    @evidence @judges-client
    Scenario: The client reports a send as done only after the broker has accepted the message over the wire
      Given a topic
      And a non-durable subscriber "reader" on the topic
      When messages "m1" to "m5" are sent to the topic with quality of service at-least-once
      Then "m1" to "m5" were accepted and settled over the wire, each before its send call returned

    @evidence
    Scenario: Two large messages of a client and a small message after them arrive unaltered
      Given a topic
      And a non-durable subscriber "reader" on the topic
      When message "m1" is sent to the topic with quality of service at-least-once and a body of 2000 KB
      And message "m2" is sent to the topic with quality of service at-least-once and a body of 2000 KB
      And message "m3" is sent to the topic with quality of service at-least-once
      Then sending "m3" is accepted
      And "reader" sees "m1" to "m3" exactly once
      And "reader" sees the body of "m1" unaltered
      And "reader" sees the body of "m2" unaltered
      And "reader" sees the body of "m3" unaltered

    @kit @judges-client @needs-subscription-list @needs-subscription-look
    Scenario: Messages of one client have different message ids
      Given a topic
      And subscriber "first" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "first" is inactive
      When messages "m1" to "m3" are sent to the topic with quality of service at-least-once
      Then "m1" to "m3" on the queue of the first subscription to the topic have different message ids

    @judges-broker @needs-kill @needs-kill-at-answer
    Scenario: If the broker is killed right after the answer to the last of three messages, subscribers get all three
      Given a topic
      And subscriber "first" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "second" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "first" is inactive
      And subscriber "second" is inactive
      When messages "m1" and "m2" are sent to the topic with the durable header true
      And message "m3" is sent to the topic with the durable header true and the broker is killed just after it answers
      And subscriber "first" comes back
      And subscriber "second" comes back
      Then "first" sees "m1" to "m3" exactly once
      And "second" sees "m1" to "m3" exactly once

    @judges-broker @needs-kill @needs-kill-at-answer
    Scenario: If the broker is killed right after its answer, a topic's only subscriber still gets the message
      Given a topic
      And subscriber "alone" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "alone" is inactive
      When message "m1" is sent to the topic with the durable header true and the broker is killed just after it answers
      And subscriber "alone" comes back
      Then "alone" sees "m1" exactly once

    @judges-broker @needs-kill @needs-kill-at-answer @needs-reconnect @needs-shared-subscription
    Scenario: If the broker is killed right after its answer, a connected subscriber and a sharer still get the message
      Given a topic
      And subscriber "there" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "member" on the topic with shared subscription "club", quality of service at-least-once and a durable subscription
      And subscriber "member" is inactive
      When message "m1" is sent to the topic with the durable header true and the broker is killed just after it answers
      And subscriber "member" comes back
      Then "there" sees "m1" at least once
      And "member" sees "m1" exactly once

    @judges-client @needs-kill @needs-kill-at-answer @needs-reconnect
    Scenario: If the broker is killed before the answer, the sender sends its copy again until the broker answers
      Given a topic
      And subscriber "first" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "second" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "first" is inactive
      And subscriber "second" is inactive
      When message "m1" is sent to the topic with quality of service at-least-once and the broker is killed before it answers
      Then sending "m1" is accepted
      And "m1" went over the wire again, not settled
      And "m1" went over the wire unaltered, each time to the same topic
      And "m1" were accepted and settled over the wire, each before its send call returned

    @judges-client @needs-cut @needs-reconnect
    Scenario: If the connection is cut before the answer, the sender sends its copy again until the broker answers
      Given a topic
      And subscriber "first" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "first" is inactive
      When message "m1" is sent to the topic with quality of service at-least-once and every connection is cut before the broker answers
      Then sending "m1" is accepted
      And "m1" went over the wire again, not settled
      And "m1" went over the wire unaltered, each time to the same topic
      And "m1" were accepted and settled over the wire, each before its send call returned

    @judges-broker @needs-cut @needs-reconnect
    Scenario: If the connection is cut before the answer, every subscriber gets the message
      Given a topic
      And subscriber "first" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "second" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "first" is inactive
      And subscriber "second" is inactive
      When message "m1" is sent to the topic with quality of service at-least-once and every connection is cut before the broker answers
      And subscriber "first" comes back
      And subscriber "second" comes back
      Then sending "m1" is accepted
      And "first" sees "m1" at least once
      And "second" sees "m1" at least once

    @evidence @needs-block-write @needs-flush-trace @needs-default-persistence @needs-subscription-list
    Scenario Outline: While the write to the <which> of three queues waits, the send gets no answer
      Given a topic with DEFPSIST(YES)
      And subscriber "first" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "second" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "third" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "first" is inactive
      And subscriber "second" is inactive
      And subscriber "third" is inactive
      When message "m1" is sent to the topic with quality of service at-least-once while the write to the queue of the <which> subscription to the topic waits for 2 s
      Then sending "m1" is accepted
      And 3 copies of "m1" were flushed to disk before its send was answered

      Examples:
        | which  |
        | first  |
        | second |
        | third  |

    @evidence @needs-block-write @needs-flush-trace @needs-default-persistence @needs-subscription-list @needs-subscription-ttl
    Scenario: While the write to a queue waits, the send gets no answer although another subscription ends
      Given a topic "kept" with DEFPSIST(YES)
      And subscriber "away" on topic "kept" with quality of service at-least-once and a durable subscription
      And subscriber "away" is inactive
      And a topic "other"
      And subscriber "gone" on topic "other" with quality of service at-least-once and a subscription that lives for 1 s
      And subscriber "gone" is inactive
      When message "m1" is sent to topic "kept" with quality of service at-least-once while the write to the queue of the subscription to topic "kept" waits for 2 s
      Then sending "m1" is accepted
      And "m1" was flushed to disk before its send was answered

    @evidence @needs-subscription-list @needs-subscription-look
    Scenario: After the broker has answered a send, the message is on every subscriber's queue
      Given a topic
      And subscriber "first" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "second" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "first" is inactive
      And subscriber "second" is inactive
      When message "m1" is sent to the topic with quality of service at-least-once
      Then sending "m1" is accepted
      And there are 2 subscriptions to the topic
      And the queue of the first subscription to the topic holds "m1"
      And the queue of the second subscription to the topic holds "m1"

    @kit @judges-broker @needs-store-error
    Scenario Outline: A message that the store could not write is refused, and an <quality> subscriber never gets it
      Given a topic
      And subscriber "s" on the topic with quality of service <quality> and a durable subscription
      When the broker's store refuses the next write
      And message "unwritten" is sent to the topic with the durable header true
      And the connection of "s" is lost
      And subscriber "s" comes back
      And message "written" is sent to the topic with the durable header true
      Then sending "unwritten" is refused
      And "s" sees "written" exactly once
      And "s" never sees the refused "unwritten"

      Examples:
        | quality       |
        | at-most-once  |
        | at-least-once |

    @evidence @judges-broker @needs-kill @needs-kill-at-answer @needs-topic-wildcard
    Scenario: If the broker is killed right after its answer, subscribers to topic patterns still get the message
      Given subscriber "all" on topic "sport/#" with quality of service at-least-once and a durable subscription
      And subscriber "some" on topic "sport/+" with quality of service at-least-once and a durable subscription
      And subscriber "all" is inactive
      And subscriber "some" is inactive
      When message "m1" is sent to topic "sport/news" with the durable header true and the broker is killed just after it answers
      And subscriber "all" comes back
      And subscriber "some" comes back
      Then "all" sees "m1" exactly once
      And "some" sees "m1" exactly once

    @evidence @needs-subscription-list @needs-subscription-look @needs-shared-subscription
    Scenario: After the sender closes its connection, a non-persistent message is on the queue of the shared subscription
      Given a topic
      And subscriber "left", which does not receive yet, on the topic with shared subscription "club" and quality of service at-least-once
      And subscriber "right", which does not receive yet, on the topic with shared subscription "club" and quality of service at-least-once
      When message "m1" is sent to the topic with the durable header false
      And the sender's connection is closed
      Then sending "m1" is accepted
      And the queue of the subscription to the topic holds "m1"
