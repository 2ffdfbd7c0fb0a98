Feature: Each sender and each subscriber chooses one of two qualities of service
  MQ Light and AMQP, lines 11 to 15.  The sender's choice shows on the wire: with at-most-once, the sender settles its
  transfer.  The subscriber's choice shows when its application fails before it has processed a message.

  @QS-01 @needs-topic @needs-quality-of-service @needs-auto-confirm @needs-lasting-subscription
  Rule: At-most-once or at-least-once is chosen for each sender and for each subscriber
    Lines 11 to 13.  Reading: line 13 speaks of the disposition; with at-most-once, the broker sends a subscriber
    settled messages.  With at-least-once, the client accepts the messages that the application has acknowledged, and
    settles them at the same time or after the broker has settled them: AMQP 1.0, sections 2.6.12 and 2.7.3, allows
    both.

    Scenario Outline: An <sender> sender and an <subscriber> subscriber each have their chosen quality of service
      Given a topic
      And subscriber "s" on the topic with quality of service <subscriber>, no automatic confirmation and a durable subscription
      When message "m1" is sent to the topic with quality of service <sender>
      And "s" has seen "m1"
      And the application of "s" fails
      And subscriber "s" comes back
      Then "m1" went over the wire once, <settled>
      And "s" sees "m1" exactly <times> times

      Examples:
        | sender        | subscriber    | settled     | times |
        | at-most-once  | at-most-once  | settled     | 1     |
        | at-most-once  | at-least-once | settled     | 2     |
        | at-least-once | at-most-once  | not settled | 1     |
        | at-least-once | at-least-once | not settled | 2     |

    @kit @needs-virtual-time
    Scenario Outline: A client can subscribe with quality of service <quality>
      Our own broker, in the same process, refuses no subscription, so a refusal could only come from the client.

      Given a topic
      When subscriber "s" tries to subscribe to the topic with quality of service <quality>
      Then it is accepted

      Examples:
        | quality       |
        | at-most-once  |
        | at-least-once |

    Scenario: Over the wire, the client accepts only the messages that the application has acknowledged
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m3" are sent to the topic with quality of service at-least-once
      And "sure" has seen "m1" to "m3"
      And "sure" acknowledges message "m2"
      Then "sure" accepted "m2" over the wire, each after its acknowledgement
      And "sure" did not accept "m1" and "m3" over the wire

    Scenario: Messages that a client sends within its callbacks have the quality of service of their sender
      Given a topic "one"
      And a topic "two"
      And subscriber "relay", which does not receive yet, on topic "one" with quality of service at-most-once
      And "relay" will send "m1" to topic "two" with quality of service at-least-once, one in each callback
      And "relay" will send "m2" to topic "two" with quality of service at-most-once, one in each callback
      And "relay" will send "m3" to topic "two" with quality of service at-least-once, one in each callback
      When subscriber "relay" starts to receive
      And messages "a1" to "a3" are sent to topic "one"
      And "relay" has seen "a1" to "a3"
      Then "m1" and "m3" went over the wire once, not settled
      And "m2" went over the wire once, settled

    Scenario: Two senders of one client each have their own quality of service
      Given a topic "one"
      And a topic "two"
      When message "m1" is sent to topic "one" with quality of service at-least-once
      And message "m2" is sent to topic "two" with quality of service at-most-once
      And message "m3" is sent to topic "one" with quality of service at-most-once
      And message "m4" is sent to topic "two" with quality of service at-least-once
      Then "m1" and "m4" went over the wire once, not settled
      And "m2" and "m3" went over the wire once, settled

    Scenario: Two subscribers of one topic each have their own quality of service
      Given a topic
      And subscriber "once" on the topic with quality of service at-most-once, no automatic confirmation and a durable subscription
      And subscriber "sure" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m3" are sent to the topic with quality of service at-least-once
      And "once" has seen "m1" to "m3"
      And "sure" has seen "m1" to "m3"
      And the application of "once" fails
      And the application of "sure" fails
      And subscriber "once" comes back
      And subscriber "sure" comes back
      Then "once" sees "m1" to "m3" exactly once
      And "sure" sees "m1" to "m3" exactly 2 times

    Scenario: Two subscriptions of one client each have their own quality of service
      Given a topic "one"
      And a topic "two"
      And subscriber "once" on topic "one" with quality of service at-most-once, no automatic confirmation and a durable subscription
      And subscriber "sure", of the same client as "once", on topic "two" with quality of service at-least-once, no automatic confirmation and a durable subscription
      When message "m1" is sent to topic "one" with quality of service at-least-once
      And message "m2" is sent to topic "two" with quality of service at-least-once
      And "once" has seen "m1"
      And "sure" has seen "m2"
      And the application of "once" fails
      And subscriber "once" comes back
      And subscriber "later", of the same client as "once", subscribes to topic "two" with quality of service at-least-once, no automatic confirmation and a durable subscription
      And message "control" is sent to topic "one" with quality of service at-least-once
      Then "once" sees "control" exactly once
      And "once" sees "m1" exactly once
      And "later" sees "m2" exactly once

    @needs-cut @needs-reconnect
    Scenario Outline: After all connections are cut, a client's <first> and <second> subscriptions each keep their quality of service
      Given a topic "one"
      And a topic "two"
      And subscriber "former" on topic "one" with quality of service <first>, no automatic confirmation and a durable subscription
      And subscriber "latter", of the same client as "former", on topic "two" with quality of service <second>, no automatic confirmation and a durable subscription
      When every connection is cut
      And every subscriber is connected again
      And message "m1" is sent to topic "one" with quality of service at-least-once
      And message "m2" is sent to topic "two" with quality of service at-least-once
      And "former" has seen "m1"
      And "latter" has seen "m2"
      And 2 s pass
      And every connection is cut
      And every subscriber is connected again
      And message "control" is sent to topic "one" with quality of service at-least-once
      And message "end" is sent to topic "two" with quality of service at-least-once
      Then "former" sees "control" at least once
      And "latter" sees "end" at least once
      And "former" sees "m1" exactly <once> times
      And "latter" sees "m2" exactly <then> times

      Examples:
        | first         | second        | once | then |
        | at-most-once  | at-least-once | 1    | 2    |
        | at-least-once | at-most-once  | 2    | 1    |

    @needs-shared-subscription
    Scenario Outline: An <first> sharer and a later <second> sharer each have their own quality of service
      Given a topic
      And subscriber "former" on the topic with shared subscription "club", quality of service <first>, no automatic confirmation and a durable subscription
      And subscriber "latter" on the topic with shared subscription "club", quality of service <second>, no automatic confirmation and a durable subscription
      When messages "m1" to "m6" are sent to the topic with quality of service at-least-once
      And 5 s pass
      And the application of "<sure>" fails
      And 10 s pass
      And subscriber "third" subscribes to the topic with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      And the application of "<once>" fails
      And 5 s pass
      And message "control" is sent to the topic with quality of service at-least-once
      Then "third" sees "control" exactly once
      And "<once>" sees "m1" to "m6" exactly once
      And "third" never sees "m1" to "m6"

      Examples:
        | first         | second        | sure   | once   |
        | at-most-once  | at-least-once | latter | former |
        | at-least-once | at-most-once  | former | latter |

    @evidence @needs-shared-subscription @needs-topic-wildcard
    Scenario Outline: A non-durable <first> sharer and a later <second> sharer of a topic pattern each have their own quality of service
      Given subscriber "former" on topic "sport/#" with shared subscription "club", quality of service <first> and no automatic confirmation
      And subscriber "latter" on topic "sport/#" with shared subscription "club", quality of service <second> and no automatic confirmation
      When messages "m1" to "m6" are sent to topic "sport/news" with the durable header false
      And 5 s pass
      And the connection of "<sure>" is closed
      And 10 s pass
      And subscriber "third" subscribes to topic "sport/#" with shared subscription "club", quality of service at-least-once and no automatic confirmation
      And the connection of "<once>" is closed
      And 5 s pass
      And message "control" is sent to topic "sport/news" with the durable header false
      Then "third" sees "control" exactly once
      And "<once>" sees "m1" to "m6" exactly once
      And "third" never sees "m1" to "m6"

      Examples:
        | first         | second        | sure   | once   |
        | at-most-once  | at-least-once | latter | former |
        | at-least-once | at-most-once  | former | latter |

  @QS-02 @needs-topic @needs-quality-of-service
  Rule: With at-most-once, a sender waits for no answer and keeps no copy
    Line 15.  Each transfer is settled as it is sent, and none is sent a second time.

    Scenario: The sender sends each message settled, and each message arrives
      Given a topic
      And a non-durable subscriber "reader" on the topic
      When messages "m1" to "m5" are sent to the topic with quality of service at-most-once
      Then "m1" to "m5" went over the wire once, settled
      And "reader" sees "m1" to "m5" exactly once

    @evidence
    Scenario Outline: A message with <option> is also sent settled
      Given a topic
      And a non-durable subscriber "reader" on the topic
      When messages "m1" and "m2" are sent to the topic with quality of service at-most-once and <option>
      Then "m1" and "m2" went over the wire once, settled
      And "reader" sees "m1" and "m2" exactly once

      Examples:
        | option                  |
        | property colour = "red" |

      @needs-time-to-live
      Examples:
        | option                 |
        | a time to live of 60 s |

    Scenario: The sender also sends a message settled if the topic has no subscriptions
      Given a topic
      When message "m1" is sent to the topic with quality of service at-most-once
      Then sending "m1" is accepted
      And "m1" went over the wire once, settled

    @needs-cut @needs-reconnect
    Scenario: After all connections are cut, messages that were sent before are not sent again
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once
      When messages "m1" to "m3" are sent to the topic with quality of service at-most-once
      And 1 s pass
      And every connection is cut
      And every subscriber is connected again
      And 1 s pass
      And message "control" is sent to the topic with quality of service at-most-once
      Then "sure" sees "control" exactly once
      And "m1" to "m3" went over the wire once, settled
      And "sure" sees "m1" to "m3" at most once

    @needs-cut @needs-reconnect
    Scenario: If every connection is cut right after a message was passed on to the broker, the message is not sent again
      Given a topic
      When message "m1" is sent to the topic with quality of service at-most-once and every connection is cut right after the message was passed on
      And 10 s pass
      And message "m2" is sent to the topic with quality of service at-most-once
      And 1 s pass
      Then "m1" went over the wire once, settled

    Scenario Outline: A message with <body> arrives unaltered
      Given a topic
      And a non-durable subscriber "reader" on the topic
      When message "m1" is sent to the topic with quality of service at-most-once and <body>
      Then "m1" went over the wire once, settled
      And "reader" sees "m1" exactly once
      And "reader" sees the body of "m1" unaltered

      Examples:
        | body                           |
        | an empty body                  |
        | a body of non-ASCII characters |
        | a binary body                  |
        | a body of 300 KB               |

    @evidence @needs-lasting-subscription
    Scenario: Messages that were sent before the sender's connection was closed arrive, and are not sent again
      Given a topic
      And subscriber "keeper" on the topic with quality of service at-least-once and a durable subscription
      And a non-durable subscriber "reader" on the topic
      When messages "m1" to "m3" are sent to the topic with quality of service at-most-once
      And the sender's connection is closed
      And message "m4" is sent to the topic with quality of service at-most-once
      Then "keeper" sees "m1" to "m4" exactly once
      And "reader" sees "m1" to "m4" exactly once
      And "m1" to "m4" went over the wire once, settled
