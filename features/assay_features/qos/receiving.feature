Feature: Whether the broker delivers a message again depends on the subscriber's quality of service
  MQ Light and AMQP, lines 19 to 24.  With at-most-once, the broker forgets a message when it sends it.  With
  at-least-once, the broker keeps the message until it is acknowledged, and sends it again if the connection fails
  first.

  @QS-06 @needs-topic @needs-quality-of-service @needs-lasting-subscription
  Rule: With at-most-once, the broker discards its copy without waiting for an acknowledgement
    Line 19.  The subscriber sends no acknowledgement, and still no message comes back: not to this subscriber, not to
    another one, and not after a stop of the broker, if the broker had a second to drop the message.  A later message
    shows that the subscription still exists.

    Scenario Outline: A delivered message does not come again when the connection is <ended>
      Given a topic
      And subscriber "once" on the topic with quality of service at-most-once and a durable subscription
      When messages "m1" to "m3" are sent to the topic with <header>
      And "once" has seen "m1" to "m3"
      And the connection of "once" is <ended>
      And subscriber "once" comes back
      And message "control" is sent to the topic with <header>
      Then "once" sees "control" exactly once
      And "once" sees "m1" to "m3" exactly once

      Examples:
        | ended  | header                   |
        | lost   | the durable header true  |
        | lost   | the durable header false |
        | closed | the durable header true  |

    Scenario: A message does not come again if the connection is lost at the moment of its delivery
      Given a topic
      And subscriber "once" on the topic with quality of service at-most-once and a durable subscription
      And the connection of "once" will be lost when "m1" is first seen
      When message "m1" is sent to the topic with the durable header true
      And the connection of "once" has been lost
      And subscriber "once" comes back
      And message "control" is sent to the topic with the durable header true
      Then "once" sees "control" exactly once
      And "once" sees "m1" exactly once

    Scenario Outline: A delivered message does not come again after the broker <event>
      Given a topic
      And subscriber "once" on the topic with quality of service at-most-once and a durable subscription
      When messages "m1" to "m3" are sent to the topic with the durable header true
      And "once" has seen "m1" to "m3"
      And the connection of "once" is lost
      And 1 s pass
      And the broker <event>
      And subscriber "once" comes back
      And message "control" is sent to the topic with the durable header true
      Then "once" sees "control" exactly once
      And "once" sees "m1" to "m3" exactly once

      @needs-restart
      Examples:
        | event        |
        | is restarted |

      @needs-kill
      Examples:
        | event                    |
        | is killed and comes back |

    @needs-kill
    Scenario: A delivered message does not come again when the broker is killed a second time
      Given a topic
      And subscriber "once" on the topic with quality of service at-most-once and a durable subscription
      When messages "m1" to "m3" are sent to the topic with the durable header true
      And "once" has seen "m1" to "m3"
      And the connection of "once" is lost
      And 1 s pass
      And the broker is killed and comes back
      And subscriber "once" comes back
      And message "between" is sent to the topic with the durable header true
      And "once" has seen "between"
      And the connection of "once" is lost
      And 1 s pass
      And the broker is killed and comes back
      And subscriber "once" comes back
      And message "control" is sent to the topic with the durable header true
      Then "once" sees "control" exactly once
      And "once" sees "m1" to "m3" exactly once
      And "once" sees "between" exactly once

    @needs-shared-subscription
    Scenario: A message that was delivered to one sharer does not go to another sharer
      Given a topic
      And subscriber "left" on the topic with shared subscription "club", quality of service at-most-once and a durable subscription
      When messages "m1" to "m3" are sent to the topic with the durable header true
      And "left" has seen "m1" to "m3"
      And subscriber "right" subscribes to the topic with shared subscription "club", quality of service at-most-once and a durable subscription
      And the connection of "left" is lost
      And 5 s pass
      And message "control" is sent to the topic with the durable header true
      Then "right" sees "control" exactly once
      And "right" never sees "m1" to "m3"

    @evidence @needs-subscription-list @needs-subscription-look
    Scenario: After the delivery, no message is left on the subscriber's queue
      Given a topic
      And subscriber "once" on the topic with quality of service at-most-once and a durable subscription
      When messages "m1" to "m3" are sent to the topic with the durable header true
      And "once" has seen "m1" to "m3"
      And the connection of "once" is lost
      And 1 s pass
      Then the queue of the subscription to the topic is empty

    Scenario: A subscriber that closes its connection and comes back gets only the messages that it has not received
      Given a topic
      And subscriber "once", which does not receive yet, on the topic with quality of service at-most-once and a durable subscription
      When messages "m1" to "m3" are sent to the topic with the durable header true
      And "once" receives a message
      And the connection of "once" is closed
      And subscriber "once" comes back
      Then "once" sees "m1" to "m3" exactly once

    @evidence
    Scenario: Over the wire, the broker sends each delivery settled
      Given a topic
      And subscriber "once" on the topic with quality of service at-most-once and a durable subscription
      When messages "m1" to "m3" are sent to the topic with the durable header true
      And "once" has seen "m1" to "m3"
      Then "m1" to "m3" came over the wire to "once" once, settled

    @evidence
    Scenario: Each of many messages is delivered, although their number exceeds the client's credit
      Given a topic
      And subscriber "once" on the topic with quality of service at-most-once and a durable subscription
      When 1100 messages are sent to the topic with quality of service at-most-once
      Then "once" sees each of these messages exactly once

    @evidence
    Scenario: An at-most-once subscriber without automatic confirmation gets more messages than its credit
      Given a topic
      And subscriber "once" on the topic with quality of service at-most-once, no automatic confirmation, a durable subscription and a credit of 2
      When messages "m1" to "m5" are sent to the topic with quality of service at-most-once
      Then "once" sees "m1" to "m5" exactly once

    @evidence @needs-shared-subscription @needs-topic-wildcard
    Scenario: A message that was sent to one non-durable sharer of a topic pattern does not go to another sharer
      Given subscriber "left" on topic "sport/#" with shared subscription "club" and quality of service at-most-once
      When messages "m1" to "m3" are sent to topic "sport/news" with the durable header true
      And "left" has seen "m1" to "m3"
      And subscriber "right" subscribes to topic "sport/#" with shared subscription "club" and quality of service at-most-once
      And the connection of "left" is lost
      And 5 s pass
      And message "control" is sent to topic "sport/news" with the durable header true
      Then "right" sees "control" exactly once
      And "right" never sees "m1" to "m3"

  @QS-07 @needs-topic @needs-quality-of-service @needs-lasting-subscription
  Rule: With at-most-once, a message that has not been received when the connection fails may be lost
    Line 20.  The scenarios record whether the message arrives; it never arrives twice.

    Scenario Outline: No message comes twice if the connection is lost while <count> messages are on their way
      Given a topic
      And subscriber "once" on the topic with quality of service at-most-once and a durable subscription
      And subscriber "once" is inactive
      And messages "m1" to "m<count>" are sent to the topic with the durable header true
      When subscriber "once" comes back, and its connection is lost when "m1" is first seen
      And the connection of "once" has been lost
      And subscriber "once" comes back
      And message "control" is sent to the topic with the durable header true
      Then "once" sees "control" exactly once
      And "once" sees "m1" to "m<count>" at most once

      Examples:
        | count |
        | 2     |
        | 20    |

    @needs-kill @needs-kill-at-first-sight
    Scenario: No message comes twice if the broker is killed while messages are on their way
      Given a topic
      And subscriber "once" on the topic with quality of service at-most-once and a durable subscription
      And subscriber "once" is inactive
      And messages "m1" to "m5" are sent to the topic with the durable header true
      And the broker will be killed when "m1" is first seen
      When subscriber "once" comes back
      And the broker has been killed and is back
      And 10 s pass
      And message "control" is sent to the topic with the durable header true
      Then "once" sees "control" exactly once
      And "once" sees "m1" to "m5" at most once

    @evidence @needs-shared-subscription @needs-topic-wildcard
    Scenario Outline: If one sharer's connection is <ended>, no message comes twice to two sharers with <terms>
      Given subscriber "left" on topic "sport/#" with shared subscription "club", <terms>
      And subscriber "right" on topic "sport/#" with shared subscription "club", <terms>
      When messages "m1" to "m6" are sent to topic "sport/news" with the durable header false
      And the connection of "left" is <ended>
      And 5 s pass
      And message "control" is sent to topic "sport/news" with the durable header true
      Then "right" sees "control" exactly once
      And "left" and "right" together see "m1" to "m6" at most once

      Examples:
        | ended  | terms                                                      |
        | lost   | quality of service at-most-once                            |
        | closed | quality of service at-most-once and a durable subscription |

  @QS-08 @needs-topic @needs-quality-of-service @needs-auto-confirm @needs-lasting-subscription
  Rule: With at-least-once, the broker keeps its copy until the message is acknowledged
    Line 21.  Acknowledged messages never come again; unacknowledged messages beside them do.  An AMQP 1.0 broker may
    let the receiver settle first, and then does not say when it has an acknowledgement.  So the scenarios wait
    for 2 s before they stop or kill the broker.

    Scenario Outline: An acknowledged message never comes again after the connection was <ended>
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" and "m2" are sent to the topic with <header>
      And "sure" has seen "m1" and "m2"
      And "sure" acknowledges message "m1"
      And "sure" acknowledges message "m2"
      And the connection of "sure" is <ended>
      And subscriber "sure" comes back
      And message "control" is sent to the topic with <header>
      Then "sure" sees "control" exactly once
      And "sure" sees "m1" and "m2" exactly once

      Examples:
        | ended  | header                   |
        | lost   | the durable header true  |
        | lost   | the durable header false |
        | closed | the durable header true  |

    Scenario Outline: An unacknowledged message comes again when the subscriber reconnects after its connection was <ended>
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m3" are sent to the topic with <header>
      And "sure" has seen "m1" to "m3"
      And the connection of "sure" is <ended>
      And subscriber "sure" comes back
      Then "sure" sees "m1" to "m3" again

      Examples:
        | ended  | header                   |
        | lost   | the durable header true  |
        | lost   | the durable header false |
        | closed | the durable header true  |

    Scenario Outline: After the broker <event>, unacknowledged messages come again, and acknowledged messages do not
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m3" are sent to the topic with the durable header true
      And "sure" has seen "m1" to "m3"
      And "sure" acknowledges message "m1"
      And 2 s pass
      And the connection of "sure" is lost
      And the broker <event>
      And subscriber "sure" comes back
      Then "sure" sees "m2" and "m3" again
      And "sure" sees "m1" exactly once

      @needs-restart
      Examples:
        | event        |
        | is restarted |

      @needs-kill
      Examples:
        | event                    |
        | is killed and comes back |

    @evidence
    Scenario: Over the wire, the broker sends each delivery unsettled
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m3" are sent to the topic with the durable header true
      And "sure" has seen "m1" to "m3"
      Then "m1" to "m3" came over the wire to "sure" once, not settled

    @evidence
    Scenario: Deliveries that the client has accepted are settled over the wire, by the client or by the broker
      AMQP 1.0, section 2.6.12: both ends forget the delivery. The scenario records which of them settles first.

      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once, automatic confirmation and a durable subscription
      And subscriber "here" on the topic with quality of service at-least-once and automatic confirmation
      When messages "m1" to "m3" are sent to the topic with the durable header true
      And "sure" has seen "m1" to "m3"
      And "here" has seen "m1" to "m3"
      Then each of "m1" to "m3" that "sure" accepted was settled over the wire
      And each of "m1" to "m3" that "here" accepted was settled over the wire

    @needs-kill
    Scenario: A redelivered message is kept until it is acknowledged, even if the broker is killed twice
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m3" are sent to the topic with the durable header true
      And "sure" has seen "m1" to "m3"
      And "sure" acknowledges message "m1"
      And 2 s pass
      And the connection of "sure" is lost
      And the broker is killed and comes back
      And subscriber "sure" comes back
      And 5 s pass
      And "sure" acknowledges message "m2"
      And 2 s pass
      And the connection of "sure" is lost
      And the broker is killed and comes back
      And subscriber "sure" comes back
      Then "sure" sees "m3" exactly 3 times
      And "sure" sees "m2" exactly 2 times
      And "sure" sees "m1" exactly once

    Scenario: One subscriber's acknowledgement does not acknowledge another subscriber's copy
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      And subscriber "other" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      And subscriber "other" is inactive
      When messages "m1" and "m2" are sent to the topic with the durable header true
      And "sure" has seen "m1" and "m2"
      And "sure" acknowledges message "m1"
      And subscriber "other" comes back
      Then "other" sees "m1" and "m2" exactly once

    @needs-shared-subscription
    Scenario: When a sharer closes its connection, its unacknowledged messages go to another sharer
      Given a topic
      And subscriber "left" on the topic with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m3" are sent to the topic with the durable header true
      And "left" has seen "m1" to "m3"
      And "left" acknowledges message "m2"
      And the connection of "left" is closed
      And subscriber "right" subscribes to the topic with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      Then "right" sees "m1" and "m3" exactly once
      And "right" never sees "m2"

    @evidence @needs-topic-wildcard @needs-kill
    Scenario Outline: After a kill, an unacknowledged message of a subscription to <pattern> comes again
      Given subscriber "sure" on topic "<pattern>" with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m3" are sent to topic "sport/football/results" with the durable header true
      And "sure" has seen "m1" to "m3"
      And "sure" acknowledges message "m2"
      And 2 s pass
      And the connection of "sure" is lost
      And message "m4" is sent to topic "sport/football/results" with the durable header true
      And the broker is killed and comes back
      And subscriber "sure" comes back
      And message "m5" is sent to topic "sport/football/results" with the durable header true
      Then "sure" sees "m1" and "m3" again
      And "sure" sees "m2", "m4" and "m5" exactly once

      Examples:
        | pattern         |
        | sport/#         |
        | sport/+/results |

    @kit @needs-time-to-live
    Scenario Outline: A subscriber that comes back does not get an expired message of an <quality> sender
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "sure" is inactive
      When message "short" is sent to the topic with quality of service <quality> and a time to live of 2 s
      And message "long" is sent to the topic with quality of service <quality> and a time to live of 1 h
      And 5 s pass
      And subscriber "sure" comes back
      Then "sure" sees "long" exactly once
      And "sure" never sees "short"

      Examples:
        | quality       |
        | at-most-once  |
        | at-least-once |

    @kit @needs-store-error
    Scenario: A message whose acknowledgement the store could not write comes again over the next connection
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" and "m2" are sent to the topic with the durable header true
      And "sure" has seen "m1" and "m2"
      And the broker's store refuses the next write
      And "sure" acknowledges the first delivery of message "m1"
      And the connection of "sure" is lost
      And subscriber "sure" comes back
      Then "sure" sees "m1" and "m2" again

    @kit @needs-store-error @needs-virtual-time
    Scenario: A message whose acknowledgement the store could not write is marked as redelivered when it comes again
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When message "m1" is sent to the topic with the durable header true
      And "sure" has seen "m1"
      And the broker's store refuses the next write
      And "sure" acknowledges the first delivery of message "m1"
      Then "sure" sees "m1" again, marked as redelivered

    @kit @needs-store-error @needs-virtual-time
    Scenario: A message whose acknowledgement the store could not write comes again
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" and "m2" are sent to the topic with the durable header true
      And "sure" has seen "m1" and "m2"
      And the broker's store refuses the next write
      And "sure" acknowledges the first delivery of message "m1"
      Then "sure" sees "m1" again
      And "sure" sees "m2" exactly once

    @evidence @needs-shared-subscription
    Scenario: An unacknowledged message of a disconnected non-durable sharer goes to another sharer
      Given a topic
      And subscriber "left" on the topic with shared subscription "club", quality of service at-least-once and no automatic confirmation
      And subscriber "right", which does not receive yet, on the topic with shared subscription "club", quality of service at-least-once and no automatic confirmation
      When messages "m1" to "m3" are sent to the topic with the durable header true
      And "left" has seen "m1" to "m3"
      And "left" acknowledges message "m1"
      And 2 s pass
      And the connection of "left" is lost
      And 10 s pass
      And subscriber "right" starts to receive
      Then "right" sees "m2" and "m3" exactly once
      And "right" never sees "m1"

  @QS-09 @needs-topic @needs-quality-of-service @needs-auto-confirm @needs-lasting-subscription
  Rule: After a failed connection the broker sends an unacknowledged message again
    Line 22.  Reading: the line speaks of the queue manager, so the scenarios try a subscriber that connects again and
    a broker that starts again.  By the line, the messages that come again need neither be marked as redelivered nor
    come in order.  Jakarta Messaging 3.1 demands both, in its sections 6.2.11 and 6.2.9.

    Scenario: An unacknowledged message comes again to the same subscriber when the subscriber has reconnected
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m5" are sent to the topic with the durable header true
      And "sure" has seen "m1" to "m5"
      And the connection of "sure" is lost
      And subscriber "sure" comes back
      Then "sure" sees "m1" to "m5" again

    @evidence @judges-client @needs-cut @needs-reconnect
    Scenario: After all connections are cut, unacknowledged messages come again to each subscription of a client
      Given a topic "one"
      And a topic "two"
      And subscriber "former" on topic "one" with quality of service at-least-once, no automatic confirmation and a durable subscription
      And subscriber "latter", of the same client as "former", on topic "two" with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" and "m2" are sent to topic "one" with the durable header true
      And messages "n1" and "n2" are sent to topic "two" with the durable header true
      And "former" has seen "m1" and "m2"
      And "latter" has seen "n1" and "n2"
      And every connection is cut
      Then "former" sees "m1" and "m2" again
      And "latter" sees "n1" and "n2" again

    @evidence @judges-client @needs-cut @needs-reconnect
    Scenario: After all connections are cut, an unacknowledged message comes again although 600 other messages were sent
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When message "m1" is sent to the topic with the durable header true
      And 600 messages are sent to the topic with quality of service at-most-once
      And "sure" has seen "m1"
      And 5 s pass
      And every connection is cut
      Then "sure" sees "m1" again

    @kit @judges-client @needs-cut @needs-reconnect
    Scenario: A client that reconnects while another connection uses its client id retries until the id is free
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When message "m1" is sent to the topic with the durable header true
      And "sure" has seen "m1"
      And every connection is cut
      And a connection "other" asks for client id "sure"
      And 4 s pass
      And connection "other" is closed
      And 20 s pass
      And subscriber "sure" tries to unsubscribe
      Then it is accepted
      And "sure" sees "m1" at least once

    @kit
    Scenario: Redelivered messages come in order
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m5" are sent to the topic with the durable header true
      And "sure" has seen "m1" to "m5"
      And the connection of "sure" is lost
      And subscriber "sure" comes back as "again"
      Then "again" sees "m1" to "m5" in that order

    @kit
    Scenario Outline: After the connection was <ended>, redelivered messages come before messages that come for the first time
      Given a topic
      And subscriber "sure", which does not receive yet, on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m5" are sent to the topic with the durable header <header>
      And "sure" receives <count> messages
      And the connection of "sure" is <ended>
      And subscriber "sure" comes back as "again"
      Then "again" sees "m1" to "m5" in that order
      And "again" sees "m1" to "m5" exactly once

      Examples:
        | ended  | header | count |
        | lost   | true   | 2     |
        | closed | true   | 3     |
        | lost   | false  | 2     |

    @kit
    Scenario: After a lost connection, an unacknowledged message comes again marked as redelivered
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m5" are sent to the topic with the durable header true
      And "sure" has seen "m1" to "m5"
      And the connection of "sure" is lost
      And subscriber "sure" comes back
      Then "sure" sees "m1" to "m5" again, marked as redelivered

    @kit
    Scenario Outline: After a connection is <ended>, a redelivered message with <header> shows JMSRedelivered and its delivery count
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When message "m1" is sent to the topic with <header>
      And "sure" has seen "m1"
      And the connection of "sure" is <ended>
      And subscriber "sure" comes back as "heir"
      Then message "m1" as seen by "heir" shows JMSRedelivered "true"
      And message "m1" as seen by "heir" shows JMSXDeliveryCount "2"

      Examples:
        | header                   | ended  |
        | the durable header true  | lost   |
        | the durable header true  | closed |
        | the durable header false | lost   |
        | the durable header false | closed |

    @kit @needs-restart
    Scenario: After a restart, a message that was delivered once before is marked as redelivered, with a delivery count of 2
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When message "m1" is sent to the topic with the durable header true
      And "sure" has seen "m1"
      And the connection of "sure" is lost
      And 2 s pass
      And the broker is restarted
      And subscriber "sure" comes back as "heir"
      Then message "m1" as seen by "heir" shows JMSRedelivered "true"
      And message "m1" as seen by "heir" shows JMSXDeliveryCount "2"

    @kit
    Scenario Outline: A message with <body> is also marked as redelivered when it comes again
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When message "m1" is sent to the topic with the durable header true and <body>
      And "sure" has seen "m1"
      And the connection of "sure" is lost
      And subscriber "sure" comes back
      Then "sure" sees "m1" again, marked as redelivered

      Examples:
        | body             |
        | an empty body    |
        | a body of 300 KB |

    Scenario: A message without properties also comes again after a lost connection
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m5" are sent to the topic with the durable header true and no properties
      And "sure" has seen "m1" to "m5"
      And the connection of "sure" is lost
      And subscriber "sure" comes back
      Then "sure" sees "m1" to "m5" again

    Scenario: An unacknowledged message comes again after each lost connection
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When message "m1" is sent to the topic with the durable header true
      And "sure" has seen "m1"
      And the connection of "sure" is lost
      And subscriber "sure" comes back
      And 5 s pass
      And the connection of "sure" is lost
      And subscriber "sure" comes back
      And 5 s pass
      And the connection of "sure" is lost
      And subscriber "sure" comes back
      And 5 s pass
      And the connection of "sure" is lost
      And subscriber "sure" comes back
      Then "sure" sees "m1" exactly 5 times

    Scenario Outline: An unacknowledged message comes again to the same subscriber after the broker <event>
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m3" are sent to the topic with the durable header true
      And "sure" has seen "m1" to "m3"
      And the connection of "sure" is lost
      And 1 s pass
      And the broker <event>
      And subscriber "sure" comes back
      Then "sure" sees "m1" to "m3" again

      @needs-restart
      Examples:
        | event        |
        | is restarted |

      @needs-kill
      Examples:
        | event                    |
        | is killed and comes back |

    @needs-reconnect
    Scenario Outline: An unacknowledged message comes again to a subscriber that is connected when the broker <event>
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m3" are sent to the topic with the durable header true
      And "sure" has seen "m1" to "m3"
      And "sure" acknowledges message "m2"
      And 2 s pass
      And the broker <event>
      And every subscriber is connected again
      Then "sure" sees "m1" and "m3" again
      And "sure" sees "m2" exactly once

      @needs-restart
      Examples:
        | event        |
        | is restarted |

      @needs-kill
      Examples:
        | event                    |
        | is killed and comes back |

    @kit
    Scenario: A message that the subscriber sees for the first time is not marked as redelivered
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      And subscriber "sure" is inactive
      When message "m1" is sent to the topic with the durable header true
      And subscriber "sure" comes back
      Then message "m1" as seen by "sure" shows JMSRedelivered "false"

    @judges-client @needs-cut @needs-reconnect
    Scenario Outline: After all connections are cut, a client with a credit of <credit> gets unacknowledged messages again, and then the next message
      Given a topic
      And subscriber "s" on the topic with quality of service at-least-once, no automatic confirmation, a durable subscription and a credit of <credit>
      When messages "m1" to "m3" are sent to the topic with quality of service at-least-once
      And "s" has seen <first>
      And every connection is cut
      Then "s" sees <first> again
      When "s" acknowledges message "m1"
      Then "s" sees <next> at least once

      Examples:
        | credit | first         | next |
        | 1      | "m1"          | "m2" |
        | 2      | "m1" and "m2" | "m3" |

    @evidence @needs-shared-subscription @needs-topic-wildcard
    Scenario Outline: An unacknowledged message comes again to a reconnected sharer of a topic pattern with <terms>
      The other sharer does not ask for messages, so the messages go to the first one again.

      Given subscriber "left" on topic "sport/#" with shared subscription "club", quality of service at-least-once, <terms>
      And subscriber "right", which does not receive yet, on topic "sport/#" with shared subscription "club", quality of service at-least-once, <terms>
      When messages "m1" to "m3" are sent to topic "sport/news" with the durable header true
      And "left" has seen "m1" to "m3"
      And the connection of "left" is lost
      And subscriber "left" comes back
      Then "left" sees "m1" to "m3" again

      Examples:
        | terms                                                |
        | no automatic confirmation                            |
        | no automatic confirmation and a durable subscription |

  @QS-10 @needs-topic @needs-quality-of-service @needs-auto-confirm @needs-lasting-subscription @needs-shared-subscription
  Rule: An unacknowledged message of a shared subscription may go to another subscriber
    Line 22.  Jakarta Messaging 3.1, section 6.2.11, demands that the message is marked as redelivered.

    Scenario: A message that one sharer has not acknowledged goes to another sharer
      Given a topic
      And subscriber "left" on the topic with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m3" are sent to the topic with the durable header true
      And "left" has seen "m1" to "m3"
      And subscriber "right" subscribes to the topic with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      And the connection of "left" is lost
      Then "right" sees "m1" to "m3" exactly once

    @kit
    Scenario: A message that goes from one sharer to another sharer is marked as redelivered
      Given a topic
      And subscriber "left" on the topic with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m3" are sent to the topic with the durable header true
      And "left" has seen "m1" to "m3"
      And subscriber "right" subscribes to the topic with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      And the connection of "left" is lost
      Then "right" sees "m1" to "m3" exactly once
      And message "m1" as seen by "right" shows JMSRedelivered "true"

    @kit
    Scenario Outline: After a sharer's connection is <ended>, its message (durable header <header>) goes to another sharer, marked as redelivered
      Given a topic
      And subscriber "left" on the topic with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      When message "m1" is sent to the topic with the durable header <header>
      And "left" has seen "m1"
      And subscriber "right" subscribes to the topic with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      And the connection of "left" is <ended>
      Then message "m1" as seen by "right" shows JMSRedelivered "true"

      Examples:
        | header | ended  |
        | true   | closed |
        | false  | lost   |
        | false  | closed |

    @control
    Scenario: Another shared subscription to the same topic gets its own copies
      Given a topic
      And subscriber "left" on the topic with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      And subscriber "other" on the topic with shared subscription "guests", quality of service at-least-once and a durable subscription
      When messages "m1" to "m3" are sent to the topic with the durable header true
      Then "left" sees "m1" to "m3" exactly once
      And "other" sees "m1" to "m3" exactly once

    Scenario: A message that one sharer has acknowledged does not go to another sharer
      Given a topic
      And subscriber "left" on the topic with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" and "m2" are sent to the topic with the durable header true
      And "left" has seen "m1" and "m2"
      And "left" acknowledges message "m1"
      And subscriber "right" subscribes to the topic with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      And the connection of "left" is lost
      Then "right" sees "m2" exactly once
      And "right" never sees "m1"

    Scenario: A message that two sharers have not acknowledged goes to a third sharer
      Given a topic
      And subscriber "left" on the topic with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m3" are sent to the topic with the durable header true
      And "left" has seen "m1" to "m3"
      And the connection of "left" is lost
      And subscriber "right" subscribes to the topic with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      And "right" has seen "m1" to "m3"
      And "right" acknowledges message "m2"
      And the connection of "right" is lost
      And subscriber "third" subscribes to the topic with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      Then "third" sees "m1" and "m3" exactly once
      And "third" never sees "m2"

    Scenario Outline: A message that one sharer has not acknowledged goes to another sharer after the broker <event>
      Given a topic
      And subscriber "left" on the topic with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m3" are sent to the topic with the durable header true
      And "left" has seen "m1" to "m3"
      And "left" acknowledges message "m1"
      And 2 s pass
      And the connection of "left" is lost
      And the broker <event>
      And subscriber "right" subscribes to the topic with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      Then "right" sees "m2" and "m3" exactly once
      And "right" never sees "m1"

      @needs-restart
      Examples:
        | event        |
        | is restarted |

      @needs-kill
      Examples:
        | event                    |
        | is killed and comes back |

    Scenario: When one of two sharers loses its connection, the other sharer gets all messages
      Given a topic
      And subscriber "left" on the topic with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      And subscriber "right" on the topic with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m6" are sent to the topic with the durable header true
      And 5 s pass
      And the connection of "left" is lost
      Then "right" sees "m1" to "m6" exactly once

    Scenario Outline: Messages that two sharers received and did not acknowledge go to a third sharer after the broker <event>
      Given a topic
      And subscriber "left" on the topic with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      And subscriber "right" on the topic with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m4" are sent to the topic with the durable header true
      And 2 s pass
      And the connection of "left" is lost
      And the connection of "right" is lost
      And the broker <event>
      And subscriber "third" subscribes to the topic with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      Then "third" sees "m1" to "m4" exactly once

      @needs-restart
      Examples:
        | event        |
        | is restarted |

      @needs-kill
      Examples:
        | event                    |
        | is killed and comes back |

    Scenario: A shared subscription of the same name on another topic is a separate subscription
      Given a topic "one"
      And a topic "two"
      And subscriber "left" on topic "one" with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      When message "m1" is sent to topic "one" with the durable header true
      And "left" has seen "m1"
      And the connection of "left" is lost
      And subscriber "right" subscribes to topic "two" with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      And message "m2" is sent to topic "two" with the durable header true
      And "right" has seen "m2"
      And the connection of "right" is lost
      And subscriber "third" subscribes to topic "one" with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      Then "third" sees "m1" exactly once

    Scenario: A message that an at-least-once sharer has not acknowledged goes to an at-most-once sharer
      Given a topic
      And subscriber "sure" on the topic with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      And subscriber "once" on the topic with shared subscription "club", quality of service at-most-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m6" are sent to the topic with the durable header true
      And 5 s pass
      And the connection of "sure" is lost
      Then "once" sees "m1" to "m6" exactly once

    @evidence
    Scenario Outline: After a sharer's connection is <ended>, its message with the durable header <header> goes to the remaining sharer
      Given a topic
      And subscriber "left" on the topic with shared subscription "club", quality of service at-least-once and no automatic confirmation
      When messages "m1" to "m3" are sent to the topic with the durable header <header>
      And "left" has seen "m1" to "m3"
      And "left" acknowledges message "m2"
      And 2 s pass
      And subscriber "right" subscribes to the topic with shared subscription "club", quality of service at-least-once and no automatic confirmation
      And the connection of "left" is <ended>
      Then "right" sees "m1" and "m3" exactly once
      And "right" never sees "m2"

      Examples:
        | header | ended  |
        | true   | lost   |
        | true   | closed |
        | false  | lost   |

    Scenario: A non-persistent unacknowledged message also goes to another sharer
      Given a topic
      And subscriber "left" on the topic with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m3" are sent to the topic with the durable header false
      And "left" has seen "m1" to "m3"
      And subscriber "right" subscribes to the topic with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      And the connection of "left" is lost
      Then "right" sees "m1" to "m3" exactly once

    @kit
    Scenario Outline: When a sharer's consumer is closed and its connection stays open, its unacknowledged message goes to another sharer
      Given a topic
      And subscriber "left" on the topic with quality of service at-least-once, no automatic confirmation, <terms>
      When messages "m1" to "m3" are sent to the topic with the durable header true
      And "left" has seen "m1" to "m3"
      And subscriber "right" subscribes to the topic with quality of service at-least-once, no automatic confirmation, <terms>
      And the consumer of "left" is closed
      Then "right" sees "m1" to "m3" exactly once

      Examples:
        | terms                                                |
        | shared subscription "club"                           |
        | shared subscription "club" and a durable subscription |

    Scenario: A sharer that no longer asks for messages gets no message
      Given a topic
      And subscriber "asking", which does not receive yet, on the topic with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      And subscriber "there", which does not receive yet, on the topic with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      When "asking" receives a message
      And subscriber "there" starts to receive
      And messages "m1" to "m3" are sent to the topic with the durable header true
      Then "there" sees "m1" to "m3" exactly once

    @evidence @needs-topic-wildcard
    Scenario: An unacknowledged message of one sharer of a topic pattern goes to another sharer
      Given subscriber "left" on topic "sport/+" with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      When message "m1" is sent to topic "sport/news" with the durable header true
      And message "m2" is sent to topic "sport/weather" with the durable header true
      And "left" has seen "m1" and "m2"
      And subscriber "right" subscribes to topic "sport/+" with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      And the connection of "left" is lost
      Then "right" sees "m1" and "m2" exactly once

  @QS-14 @judges-broker @needs-topic @needs-quality-of-service @needs-auto-confirm @needs-lasting-subscription
  Rule: Each message is acknowledged separately, when its subscriber decides
    Line 24.  The scenarios detect an acknowledgement that covers earlier messages, or the whole connection.

    Scenario Outline: If only "<acknowledged>" of three messages is acknowledged, the other two come again
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m3" are sent to the topic with the durable header true
      And "sure" has seen "m1" to "m3"
      And "sure" acknowledges message "<acknowledged>"
      And the connection of "sure" is lost
      And subscriber "sure" comes back
      Then "sure" sees "<first>" and "<second>" again
      And "sure" sees "<acknowledged>" exactly once

      Examples:
        | acknowledged | first | second |
        | m1           | m2    | m3     |
        | m2           | m1    | m3     |
        | m3           | m1    | m2     |

    @kit
    Scenario: If one of three messages is acknowledged, the other two come again marked as redelivered
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m3" are sent to the topic with the durable header true
      And "sure" has seen "m1" to "m3"
      And "sure" acknowledges message "m2"
      And the connection of "sure" is lost
      And subscriber "sure" comes back
      Then "sure" sees "m1" and "m3" again, marked as redelivered

    @evidence @needs-shared-subscription @needs-topic-wildcard
    Scenario Outline: When a sharer disconnects after acknowledging one of three messages, the other two go to a sharer with <terms>
      Given subscriber "left" on topic "sport/#" with shared subscription "club", quality of service at-least-once, <terms>
      And subscriber "right", which does not receive yet, on topic "sport/#" with shared subscription "club", quality of service at-least-once, <terms>
      When messages "m1" to "m3" are sent to topic "sport/news" with the durable header false
      And "left" has seen "m1" to "m3"
      And "left" acknowledges message "m2"
      And the connection of "left" is closed
      And subscriber "right" starts to receive
      Then "right" sees "m1" and "m3" exactly once
      And "right" never sees "m2"

      Examples:
        | terms                                                |
        | no automatic confirmation                            |
        | no automatic confirmation and a durable subscription |
