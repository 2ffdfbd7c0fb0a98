Feature: Automatic confirmation decides whether the client or the application acknowledges a message
  MQ Light and AMQP, lines 24 to 28.  An application that fails ends without closing its connection.  After a cut, the
  client reconnects by itself.

  @QS-11 @needs-topic @needs-quality-of-service @needs-auto-confirm @needs-lasting-subscription @needs-reconnect
  Rule: With automatic confirmation, the client acknowledges a message as soon as it has received the message
    Lines 25 and 26.  Reading: the client acknowledges after it has received the message over the network, and before
    the application has processed the message.  Tension: the public MQ Light clients confirm when their callback has
    returned.

    @needs-cut
    Scenario Outline: Received messages do not come again if the connection is cut while the application processes the first message
      Given a topic
      And subscriber "s", which does not receive yet, on the topic with quality of service at-least-once, automatic confirmation and a durable subscription
      And every connection will be cut 1 s after "m1" is first seen
      When messages "m1" to "m<count>" are sent to the topic with quality of service at-least-once
      And subscriber "s" starts to receive and works 3 s on each
      And "s" has seen "m1"
      And every connection has been cut
      And 4 s pass
      Then "s" sees "m1" to "m<count>" exactly once

      Examples:
        | count |
        | 1     |
        | 3     |

    @evidence
    Scenario: The client accepts received messages over the wire even if the callback fails
      Given a topic
      And subscriber "s", which does not receive yet, on the topic with quality of service at-least-once, automatic confirmation and a durable subscription
      When messages "m1" to "m3" are sent to the topic with quality of service at-least-once
      And subscriber "s" starts to receive and fails in callback 1
      And "s" has seen "m1" to "m3"
      Then "s" accepted "m1" to "m3" over the wire automatically

    @evidence
    Scenario Outline: The client accepts received messages over the wire before the application asks for them
      Given a topic
      And subscriber "s", which does not receive yet, on the topic with <quality>, automatic confirmation, a durable subscription and a credit of 3
      When messages "m1" to "m3" are sent to the topic with quality of service at-least-once
      Then "s" accepted "m1" to "m3" over the wire automatically
      When subscriber "s" starts to receive
      Then "s" sees "m1" to "m3" exactly once

      Examples:
        | quality                                                      |
        | quality of service at-least-once                             |
        | shared subscription "club", quality of service at-least-once |

    Scenario: The client acknowledges messages even if their callback fails
      Given a topic
      And subscriber "s", which does not receive yet, on the topic with quality of service at-least-once, automatic confirmation and a durable subscription
      When messages "m1" and "m2" are sent to the topic with quality of service at-least-once
      And subscriber "s" starts to receive and fails in callback 1
      And "s" has seen "m1" and "m2"
      And 1 s pass
      And the application of "s" fails
      And subscriber "s" comes back
      And message "control" is sent to the topic with quality of service at-least-once
      Then "s" sees "control" exactly once
      And "s" sees "m1" and "m2" exactly once

    @needs-cut
    Scenario: If all connections are cut, messages that were not received before come after the reconnection
      Given a topic
      And subscriber "s", which does not receive yet, on the topic with quality of service at-least-once, automatic confirmation and a durable subscription
      When messages "m1" to "m3" are sent to the topic with quality of service at-least-once
      And every connection is cut
      And 10 s pass
      And subscriber "s" starts to receive
      Then "s" sees "m1" to "m3" exactly once

    @needs-cut @needs-kill-at-answer
    Scenario: If all connections are cut while a message is on its way, the message comes after the reconnection
      Given a topic
      And subscriber "s" on the topic with quality of service at-least-once, automatic confirmation and a durable subscription
      When message "m1" is sent to the topic with quality of service at-least-once and every connection is cut before the broker answers
      Then "s" sees "m1" at least once

    Scenario: The client also acknowledges messages that the application gets with receive calls
      Given a topic
      And subscriber "s", which does not receive yet, on the topic with quality of service at-least-once, automatic confirmation and a durable subscription
      When messages "m1" and "m2" are sent to the topic with quality of service at-least-once
      And "s" receives 2 messages
      And 2 s pass
      And the application of "s" fails
      And subscriber "s" comes back
      And message "control" is sent to the topic with quality of service at-least-once
      Then "s" sees "control" exactly once
      And "s" sees "m1" and "m2" exactly once

    @kit @needs-cut @needs-shared-subscription
    Scenario: If all connections are cut during a receive call, the call returns a message that comes after the reconnection
      Given a topic
      And subscriber "holds", which does not receive yet, on the topic with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      And subscriber "waits", which does not receive yet, on the topic with shared subscription "club", quality of service at-least-once, automatic confirmation and a durable subscription
      When message "m1" is sent to the topic with quality of service at-least-once
      And "holds" receives a message
      And every connection will be cut in 2 s
      And "waits" receives a message
      And every connection has been cut
      Then "waits" sees "m1" within 12 s after its send
      And "waits" sees "m1" exactly once

    @evidence @needs-cut @needs-shared-subscription
    Scenario: A sharer that is closed before it reconnects receives no more messages
      Given a topic
      And subscriber "s" on the topic with shared subscription "club", quality of service at-least-once, automatic confirmation and a durable subscription
      And subscriber "other" on the topic with shared subscription "club", quality of service at-least-once, automatic confirmation and a durable subscription
      When every connection will be cut in 2 s
      And 2200 ms pass
      And the connection of "s" is closed
      And every connection has been cut
      And 5 s pass
      And messages "m1" to "m4" are sent to the topic with quality of service at-least-once
      Then "other" sees "m1" to "m4" exactly once

    Scenario: The client delivers acknowledged messages to the application before it closes the connection
      Given a topic
      And subscriber "s", which does not receive yet, on the topic with quality of service at-least-once, automatic confirmation and a durable subscription
      When messages "m1" to "m3" are sent to the topic with quality of service at-least-once
      And subscriber "s" starts to receive and works 2 s on each
      And "s" has seen "m1"
      And the connection of "s" is closed
      And subscriber "s" comes back as "heir"
      And message "control" is sent to the topic with quality of service at-least-once
      Then "heir" sees "control" exactly once
      And "s", "heir" together see "m1" to "m3" exactly once

    @evidence
    Scenario: An application that ends right after closing its client has received all acknowledged messages
      Given a topic
      And subscriber "s", which does not receive yet, on the topic with quality of service at-least-once, automatic confirmation and a durable subscription
      When messages "m1" to "m4" are sent to the topic with quality of service at-least-once
      And subscriber "s" starts to receive and works 1 s on each
      And "s" has seen "m1"
      And the connection of "s" is closed
      And the application of "s" fails
      And subscriber "s" comes back as "heir"
      And message "control" is sent to the topic with quality of service at-least-once
      Then "heir" sees "control" exactly once
      And "s" and "heir" together see "m1" to "m4" exactly once

    @needs-cut
    Scenario: After all connections are cut, every subscription of the client receives again
      Given a topic "one"
      And a topic "two"
      And a topic "three"
      And subscriber "s" on topic "one" with quality of service at-least-once, automatic confirmation and a durable subscription
      And subscriber "t", of the same client as "s", on topic "two" with quality of service at-least-once, automatic confirmation and a durable subscription
      And subscriber "u", of the same client as "s", on topic "three" with quality of service at-least-once and automatic confirmation
      When every connection is cut
      And message "m2" is sent to topic "two" with quality of service at-least-once
      And every subscriber is connected again
      And 2 s pass
      And message "m1" is sent to topic "one" with quality of service at-least-once
      And message "m3" is sent to topic "three" with quality of service at-least-once
      Then "s" sees "m1" exactly once
      And "t" sees "m2" exactly once
      And "u" sees "m3" exactly once

    @evidence @needs-cut
    Scenario: No subscription is lost if the connection is cut again while the client attaches its subscriptions
      Given a topic "one"
      And a topic "two"
      And subscriber "s" on topic "one" with quality of service at-least-once, automatic confirmation and a durable subscription
      And subscriber "t", of the same client as "s", on topic "two" with quality of service at-least-once, automatic confirmation and a subscription that lives for 60 s
      And every connection will be cut when "m1" is first seen
      When every connection is cut
      And message "m1" is sent to topic "one" with quality of service at-least-once
      And every connection has been cut
      And 10 s pass
      And message "m2" is sent to topic "two" with quality of service at-least-once
      Then "s" sees "m1" at least once
      And "t" sees "m2" exactly once

    @needs-cut @needs-shared-subscription
    Scenario: After all connections are cut, a sharer receives again
      Given a topic
      And subscriber "s" on the topic with shared subscription "club", quality of service at-least-once, automatic confirmation and a durable subscription
      When message "m1" is sent to the topic with quality of service at-least-once
      And "s" has seen "m1"
      And 2 s pass
      And every connection is cut
      And messages "m2" and "m3" are sent to the topic with quality of service at-least-once
      Then "s" sees "m1" to "m3" exactly once

    @needs-cut
    Scenario Outline: If all connections are cut twice, messages that were received in between do not come again
      Given a topic
      And subscriber "s" on the topic with <quality>, automatic confirmation and a durable subscription
      When every connection is cut
      And 10 s pass
      And messages "m1" to "m3" are sent to the topic with quality of service at-least-once
      And "s" has seen "m1" to "m3"
      And 2 s pass
      And every connection is cut
      And 10 s pass
      And message "control" is sent to the topic with quality of service at-least-once
      Then "s" sees "control" exactly once
      And "s" sees "m1" to "m3" exactly once

      Examples:
        | quality                          |
        | quality of service at-least-once |

      @needs-shared-subscription
      Examples:
        | quality                                                      |
        | shared subscription "club", quality of service at-least-once |

    Scenario: The client acknowledges the messages of both of its subscriptions
      Given a topic "one"
      And a topic "two"
      And subscriber "s" on topic "one" with quality of service at-least-once, automatic confirmation and a durable subscription
      And subscriber "t", of the same client as "s", on topic "two" with quality of service at-least-once, automatic confirmation and a durable subscription
      When message "m1" is sent to topic "one" with quality of service at-least-once
      And message "m2" is sent to topic "two" with quality of service at-least-once
      And "s" has seen "m1"
      And "t" has seen "m2"
      And 2 s pass
      And the application of "s" fails
      And subscriber "s" comes back
      And subscriber "later", of the same client as "s", subscribes to topic "two" with quality of service at-least-once, automatic confirmation and a durable subscription
      And message "control" is sent to topic "one" with quality of service at-least-once
      And message "end" is sent to topic "two" with quality of service at-least-once
      Then "s" sees "control" exactly once
      And "later" sees "end" exactly once
      And "s" sees "m1" exactly once
      And "later" never sees "m2"

    @evidence @needs-shared-subscription @needs-topic-wildcard
    Scenario: Messages that one non-durable sharer of a topic pattern has received do not go to another sharer
      Given subscriber "s" on topic "sport/#" with shared subscription "club", quality of service at-least-once and automatic confirmation
      And subscriber "heir", which does not receive yet, on topic "sport/#" with shared subscription "club", quality of service at-least-once and automatic confirmation
      When messages "m1" and "m2" are sent to topic "sport/news" with the durable header false
      And "s" has seen "m1" and "m2"
      And 1 s pass
      And the application of "s" fails
      And subscriber "heir" starts to receive
      And message "control" is sent to topic "sport/news" with the durable header false
      Then "heir" sees "control" exactly once
      And "heir" never sees "m1" and "m2"

  @QS-12 @needs-topic @needs-quality-of-service @needs-auto-confirm @needs-lasting-subscription
  Rule: With automatic confirmation, an application that fails before it has processed a message may lose it
    Line 26.  Whether the message comes again is recorded; a message that comes again is unaltered.

    Scenario Outline: If the application fails in its callback, each received message comes again at most once, and unaltered
      Given a topic
      And subscriber "s", which does not receive yet, on the topic with quality of service at-least-once, automatic confirmation and a durable subscription
      And the application of "s" will fail when "m1" is first seen
      When messages "m1" to "m<count>" are sent to the topic with quality of service at-least-once
      And subscriber "s" starts to receive and works 2 s on each
      And the application of "s" has failed
      And subscriber "s" comes back as "heir"
      And message "control" is sent to the topic with quality of service at-least-once
      Then "heir" sees "control" exactly once
      And "heir" sees "m1" to "m<count>" at most once
      And "s" sees the body of "m1" unaltered

      Examples:
        | count |
        | 1     |
        | 5     |

    @evidence @needs-shared-subscription @needs-topic-wildcard
    Scenario Outline: If the application of a sharer with <terms> fails in its callback, another sharer gets each message at most once
      Given subscriber "s", which does not receive yet, on topic "sport/#" with shared subscription "club", quality of service at-least-once, <terms>
      And subscriber "heir", which does not receive yet, on topic "sport/#" with shared subscription "club", quality of service at-least-once, <terms>
      And the application of "s" will fail when "m1" is first seen
      When messages "m1" to "m3" are sent to topic "sport/news" with the durable header false
      And subscriber "s" starts to receive and works 2 s on each
      And the application of "s" has failed
      And subscriber "heir" starts to receive
      And message "control" is sent to topic "sport/news" with the durable header false
      Then "heir" sees "control" exactly once
      And "heir" sees "m1" to "m3" at most once
      And "s" sees the body of "m1" unaltered

      Examples:
        | terms                                             |
        | automatic confirmation                            |
        | automatic confirmation and a durable subscription |

  @QS-13 @needs-topic @needs-quality-of-service @needs-auto-confirm @needs-lasting-subscription
  Rule: Without automatic confirmation, only the application acknowledges
    Lines 27 and 28.  The application enters each message in a database before it acknowledges it.  A message in the
    database may come again; a message that is not in the database must come again.

    Scenario: A message comes again if the application fails after storing it and before acknowledging it
      Given a topic
      And subscriber "s", which does not receive yet, on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When message "m1" is sent to the topic with quality of service at-least-once
      And "s" receives a message
      And "s" stores "m1" in its database
      And the application of "s" fails
      And subscriber "s" comes back
      Then "s" sees "m1" again
      And "m1" are in the database of "s"

    Scenario: A message does not come again if the application fails after storing and acknowledging it
      Given a topic
      And subscriber "s", which does not receive yet, on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When message "m1" is sent to the topic with quality of service at-least-once
      And "s" receives 1 message, storing it in its database before acknowledging it
      And the application of "s" fails
      And subscriber "s" comes back
      And message "control" is sent to the topic with quality of service at-least-once
      Then "s" sees "control" exactly once
      And "s" sees "m1" exactly once

    Scenario: The application stores every message in the end, although it fails twice before storing a message
      Given a topic
      And subscriber "s", which does not receive yet, on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m4" are sent to the topic with quality of service at-least-once
      And "s" receives 1 message, storing it in its database before acknowledging it
      And "s" receives a message
      And the application of "s" fails
      And subscriber "s" comes back and does not receive yet
      And "s" receives 1 message, storing it in its database before acknowledging it
      And "s" receives a message
      And the application of "s" fails
      And subscriber "s" comes back and does not receive yet
      And "s" receives 2 messages, storing each in its database before acknowledging it
      Then "m1" to "m4" are in the database of "s"

    Scenario Outline: Without an acknowledgement, a message comes again although its callback has returned
      Given a topic
      And subscriber "s" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m3" are sent to the topic with quality of service at-least-once
      And "s" has seen "m1" to "m3"
      And 5 s pass
      And <event>
      And subscriber "s" comes back
      Then "s" sees "m1" to "m3" again

      Examples:
        | event                           |
        | the application of "s" fails    |
        | the connection of "s" is closed |

    @evidence
    Scenario: If an acknowledging callback replaces a callback without acknowledgement, only messages of the earlier callback come again
      Given a topic
      And subscriber "s" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When message "m1" is sent to the topic with quality of service at-least-once
      And "s" has seen "m1"
      And subscriber "s" starts to receive and acknowledges as soon as 1 messages have come
      And 1 s pass
      And message "m2" is sent to the topic with quality of service at-least-once
      And "s" has seen "m2"
      And 2 s pass
      And the application of "s" fails
      And subscriber "s" comes back
      Then "s" sees "m1" again
      And "s" sees "m2" exactly once

    @evidence
    Scenario: After a receive call that returned no message, the next receive call returns a message that came meanwhile
      Given a topic
      And subscriber "s", which does not receive yet, on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When "s" asks for a message
      And message "m1" is sent to the topic with quality of service at-least-once
      And "s" receives 1 message, storing it in its database before acknowledging it
      And "s" asks for a message
      And messages "m2" and "m3" are sent to the topic with quality of service at-least-once
      And "s" receives 2 messages, storing each in its database before acknowledging it
      Then "m1" to "m3" are in the database of "s"

    @evidence
    Scenario: Over the wire, the client accepts only the acknowledged message, even after a further receive call
      Given a topic
      And subscriber "s", which does not receive yet, on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m3" are sent to the topic with quality of service at-least-once
      And "s" receives 2 messages
      And "s" acknowledges message "m2"
      And "s" receives a message
      Then "s" accepted "m2" over the wire, each after its acknowledgement
      And "s" did not accept "m1" and "m3" over the wire

    @evidence
    Scenario: A message that the application has not asked for is not accepted over the wire
      Given a topic
      And subscriber "s", which does not receive yet, on the topic with quality of service at-least-once, no automatic confirmation, a durable subscription and a credit of 5
      When messages "m1" to "m3" are sent to the topic with quality of service at-least-once
      And "s" receives 2 messages
      And "s" acknowledges message "m2"
      Then "s" accepted "m2" over the wire, each after its acknowledgement
      And "s" did not accept "m1" and "m3" over the wire

    Scenario: After the application fails and comes back, it gets the messages that it had not asked for
      Given a topic
      And subscriber "s", which does not receive yet, on the topic with quality of service at-least-once, no automatic confirmation, a durable subscription and a credit of 5
      When messages "m1" to "m3" are sent to the topic with quality of service at-least-once
      And "s" receives a message
      And the application of "s" fails
      And subscriber "s" comes back and does not receive yet
      And subscriber "s" starts to receive
      Then "s" sees "m1" again
      And "s" sees "m2" and "m3" at least once

    Scenario: A message that is not acknowledged when its consumer is closed comes again
      Given a topic
      And subscriber "s" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m3" are sent to the topic with quality of service at-least-once
      And "s" has seen "m1" to "m3"
      And "s" acknowledges message "m2"
      And 2 s pass
      And the consumer of "s" is closed
      And the connection of "s" is closed
      And subscriber "s" comes back
      Then "s" sees "m1" and "m3" again
      And "s" sees "m2" exactly once

    @kit @judges-broker
    Scenario: A message that a failed application received and did not acknowledge comes again, marked as redelivered
      Given a topic
      And subscriber "s" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m3" are sent to the topic with quality of service at-least-once
      And "s" has seen "m1" to "m3"
      And the application of "s" fails
      And subscriber "s" comes back
      Then "s" sees "m1" to "m3" again, marked as redelivered

    @needs-cut @needs-reconnect
    Scenario: A message that is not acknowledged when the connection is cut comes again
      Given a topic
      And subscriber "s" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m3" are sent to the topic with quality of service at-least-once
      And "s" has seen "m1" to "m3"
      And every connection is cut
      Then "s" sees "m1" to "m3" again

    @evidence @needs-shared-subscription @needs-topic-wildcard
    Scenario Outline: A message that a sharer with <terms> does not acknowledge goes to the other sharer
      Given subscriber "s" on topic "sport/+" with shared subscription "club", quality of service at-least-once, <terms>
      And subscriber "heir", which does not receive yet, on topic "sport/+" with shared subscription "club", quality of service at-least-once, <terms>
      When messages "m1" to "m3" are sent to topic "sport/news" with the durable header false
      And "s" has seen "m1" to "m3"
      And "s" acknowledges message "m3"
      And 2 s pass
      And the application of "s" fails
      And subscriber "heir" starts to receive
      Then "heir" sees "m1" and "m2" exactly once
      And "heir" never sees "m3"

      Examples:
        | terms                                                |
        | no automatic confirmation                            |
        | no automatic confirmation and a durable subscription |

  @QS-14 @judges-client @needs-topic @needs-quality-of-service @needs-auto-confirm @needs-lasting-subscription @needs-reconnect
  Rule: Each message is acknowledged separately, and only on the connection that delivered it
    Line 24.  The application still has the other messages when the connection is cut, 2 s after the acknowledgement:
    a broker that lets the receiver settle first does not say when it has the acknowledgement.

    @needs-cut
    Scenario Outline: If only <acknowledged> of five messages are acknowledged, <others> come again after all connections are cut
      Given a topic
      And subscriber "s" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m5" are sent to the topic with quality of service at-least-once
      And "s" has seen "m1" to "m5"
      And "s" acknowledges the first delivery of message "<first>"
      Then it is accepted
      When "s" acknowledges the first delivery of message "<second>"
      Then it is accepted
      When 2 s pass
      And every connection is cut
      Then "s" sees <others> again
      And "s" sees <acknowledged> exactly once

      Examples:
        | first | second | acknowledged    | others                 |
        | m2    | m4     | "m2" and "m4"   | "m1", "m3" and "m5"    |
        | m5    | m1     | "m1" and "m5"   | "m2" to "m4"           |

    @kit @needs-store-error
    Scenario: The application learns that the broker could not store its acknowledgement
      Given a topic
      And subscriber "s" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When message "m1" is sent to the topic with the durable header true
      And "s" has seen "m1"
      And the broker's store refuses the next write
      And "s" acknowledges the first delivery of message "m1"
      Then it is refused

    @evidence
    Scenario: Over the wire, the client accepts only the two messages that the application has acknowledged
      Given a topic
      And subscriber "s" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m4" are sent to the topic with quality of service at-least-once
      And "s" has seen "m1" to "m4"
      And "s" acknowledges message "m4"
      And "s" acknowledges message "m2"
      And 5 s pass
      Then "s" accepted "m2" and "m4" over the wire, each after its acknowledgement
      And "s" did not accept "m1" and "m3" over the wire

    @needs-cut
    Scenario: After all connections are cut, redelivered messages are also acknowledged one by one
      Given a topic
      And subscriber "s" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m3" are sent to the topic with quality of service at-least-once
      And "s" has seen "m1" to "m3"
      And every connection is cut
      And every subscriber is connected again
      And 2 s pass
      And "s" acknowledges message "m2"
      And 2 s pass
      And every connection is cut
      Then "s" sees "m1" and "m3" exactly 3 times
      And "s" sees "m2" exactly 2 times

    @needs-cut
    Scenario: An acknowledgement of a message from an earlier connection does not acknowledge another message
      Given a topic
      And subscriber "s" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m4" are sent to the topic with quality of service at-least-once
      And "s" has seen "m1" to "m4"
      And "s" acknowledges message "m1"
      And 2 s pass
      And every connection is cut
      And every subscriber is connected again
      And 2 s pass
      And "s" acknowledges the first delivery of message "m2"
      And 2 s pass
      And every connection is cut
      Then "s" sees "m3" and "m4" exactly 3 times
      And "s" sees "m1" exactly once

    @needs-cut
    Scenario: An acknowledgement in one subscription does not cover messages of the client's other subscription
      Given a topic "one"
      And a topic "two"
      And subscriber "s" on topic "one" with quality of service at-least-once, no automatic confirmation and a durable subscription
      And subscriber "t", of the same client as "s", on topic "two" with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" and "m2" are sent to topic "one" with quality of service at-least-once
      And messages "n1" and "n2" are sent to topic "two" with quality of service at-least-once
      And "s" has seen "m1" and "m2"
      And "t" has seen "n1" and "n2"
      And "s" acknowledges message "m1"
      And "t" acknowledges message "n2"
      And 2 s pass
      And every connection is cut
      Then "s" sees "m2" again
      And "t" sees "n1" again
      And "s" sees "m1" exactly once
      And "t" sees "n2" exactly once

    @needs-cut
    Scenario: A client that closes one consumer can still acknowledge the messages of its other subscription
      Given a topic "one"
      And a topic "two"
      And subscriber "s" on topic "one" with quality of service at-least-once, no automatic confirmation and a durable subscription
      And subscriber "t", of the same client as "s", on topic "two" with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" and "m2" are sent to topic "one" with quality of service at-least-once
      And "s" has seen "m1" and "m2"
      And the consumer of "t" is closed
      And "s" acknowledges the first delivery of message "m1"
      Then it is accepted
      When 2 s pass
      And every connection is cut
      Then "s" sees "m2" again
      And "s" sees "m1" exactly once

    @evidence
    Scenario: A subscriber that acknowledges each message gets more messages than its credit, each exactly once
      Given a topic
      And subscriber "s", which does not receive yet, on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When 1100 messages are sent to the topic with quality of service at-most-once
      And subscriber "s" starts to receive and acknowledges each
      Then "s" sees each of these messages exactly once

    @evidence
    Scenario: Further messages come after the application has acknowledged as many messages as the client's credit
      Given a topic
      And subscriber "s" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When 1100 messages are sent to the topic with quality of service at-most-once
      And 5 s pass
      And "s" acknowledges each of these messages that it has seen
      And 5 s pass
      And "s" acknowledges each of these messages that it has seen
      Then "s" sees each of these messages exactly once

    @kit @needs-cut
    Scenario: If all connections are cut during a callback, messages that the application did not get before come once
      Given a topic
      And subscriber "s", which does not receive yet, on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      And every connection will be cut 1 s after "m1" is first seen
      When messages "m1" to "m3" are sent to the topic with quality of service at-least-once
      And subscriber "s" starts to receive and works 3 s on each
      And "s" has seen "m1"
      And every connection has been cut
      And 20 s pass
      Then "s" sees "m2" and "m3" exactly once
