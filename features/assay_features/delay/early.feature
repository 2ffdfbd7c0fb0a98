Feature: No receiver or browser gets a delayed message before its delay is over
  IBM MQ, JMS 2.0 delivery delay, lines 3 and 5.

  @DD-02 @needs-delivery-delay
  Rule: No receiver or browser gets the message before the time of its send plus its delay
    Line 3: the message is held back until the delay is over.  Line 5: the delay is added to the time of the send.
    Early means: seen by any receiver or browser before the start of the send call plus the delay, on the observer's
    clock.

    Scenario: A receiver that starts during the delay does not see the message before the delay is over
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of 4 s
      And 500 ms have passed since "slow" was sent
      And a receiver starts to wait on the queue
      Then the receiver sees "slow" no earlier than 4 s after its send

    Scenario Outline: A waiting receiver does not see a message with a delay of <delay> before the delay is over
      Given an empty queue
      And a receiver is waiting on the queue
      When a message is sent to the queue with a delivery delay of <delay>
      Then the receiver sees it no earlier than <delay> after the send

      Examples: Including delays that a clock in whole seconds would end early
        | delay   |
        | 500 ms  |
        | 999 ms  |
        | 1001 ms |
        | 1999 ms |
        | 2 s     |

    @evidence @needs-temporary-destination @needs-session
    Scenario: The receiver of a temporary queue does not see the message before its delay is over
      Given session "asker" in auto mode
      And queue "answers" is a temporary queue of session "asker"
      And receiver "reader" of session "asker" on queue "answers"
      When a message listener is set on "reader"
      And message "slow" is sent to queue "answers" with a delivery delay of 2 s
      Then "reader" sees "slow" no earlier than 2 s after its send

    @needs-non-persistent
    Scenario: With the shortest delay, 1 ms, a non-persistent message does not come early
      Given an empty queue
      And a receiver is waiting on the queue
      When a message is sent to the queue with delivery mode non-persistent and a delivery delay of 1 ms
      Then the receiver sees it no earlier than 1 ms after the send

    Scenario: A delay of more milliseconds than 32 bits can hold is not cut to 500 ms
      Given an empty queue
      And a receiver is waiting on the queue
      When message "far" is sent to the queue with a delivery delay of 4294967796 ms
      And message "near" is sent to the queue with a delivery delay of 500 ms
      Then the receiver sees "near" exactly once
      And the receiver waits for 1500 ms and does not see "far"

    Scenario: A receiver that polls sees no message early
      Given an empty queue
      And a receiver on the queue
      When a message is sent to the queue with a delivery delay of 1500 ms
      And the receiver polls every 100 ms for 3 s
      Then the receiver sees it no earlier than 1500 ms after the send

    @needs-browse
    Scenario: A browser does not find the message early
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of 1500 ms
      And the queue is browsed every 200 ms for 8 s
      And a receiver starts to wait on the queue
      Then no receiver sees "slow" earlier than 1500 ms after its send

    @needs-topic
    Scenario: A waiting subscriber does not see the publication before its delay is over
      Given a topic
      And a non-durable subscriber "live" on the topic
      When message "slow" is sent to the topic with a delivery delay of 1500 ms
      Then "live" sees "slow" no earlier than 1500 ms after its send

    @needs-topic @needs-durable-subscription
    Scenario: A durable subscriber that comes back during the delay does not see the publication before the delay is over
      Given a topic
      And a durable subscriber "steady" on the topic
      And subscriber "steady" is inactive
      When message "slow" is sent to the topic with a delivery delay of 4 s
      And subscriber "steady" comes back
      Then "steady" sees "slow" no earlier than 4 s after its send

    @needs-topic @needs-shared-subscription
    Scenario: Two sharers of a subscription do not see the message before its delay is over
      Given a topic
      And subscriber "left" shares non-durable subscription "pair" on the topic
      And subscriber "right" shares non-durable subscription "pair" on the topic
      When message "slow" is sent to the topic with a delivery delay of 1500 ms
      Then no receiver sees "slow" earlier than 1500 ms after its send

    @needs-selector
    Scenario: A receiver with a selector does not see the message before its delay is over
      Given an empty queue
      And receiver "picky" is waiting on the queue for messages with "colour = 'red'"
      When message "slow" is sent to the queue with a delivery delay of 1500 ms and property colour = "red"
      Then "picky" sees "slow" no earlier than 1500 ms after its send

    Scenario: A delayed send is accepted, and its message does not come before the delay is over
      Given an empty queue
      And a receiver is waiting on the queue
      When message "slow" is sent to the queue with a delivery delay of 1 s
      Then sending "slow" is accepted
      And the receiver sees "slow" no earlier than 1 s after its send

    Scenario Outline: Neither of two messages of a producer with a delay of <delay> comes before its delay is over
      Given an empty queue
      And a receiver is waiting on the queue
      And a producer on the queue
      And the producer's delivery delay is <delay>
      When the producer sends message "first"
      And the producer sends message "second"
      Then the receiver sees "first" no earlier than <delay> after its send
      And the receiver sees "second" no earlier than <delay> after its send
      Examples:
        | delay |
        | 1 s   |
        | 2 s   |

    @needs-non-persistent @needs-priority @needs-time-to-live
    Scenario Outline: If a producer sends a message with <option>, the producer's delay applies
      Given an empty queue
      And a receiver is waiting on the queue
      And a producer on the queue
      And the producer's delivery delay is 2 s
      When the producer sends message "slow" with <option>
      Then the receiver sees "slow" no earlier than 2 s after its send
      Examples:
        | option                                          |
        | delivery mode non-persistent for this send only |
        | delivery mode persistent for this send only     |
        | priority 9 for this send only                   |
        | a time to live of 1 h for this send only        |
        | a time to live of 1 min for this send only       |
        | correlation id "order 7"                        |

    Scenario Outline: Neither of two <mode> messages without properties comes before its delay is over
      Given an empty queue
      And a receiver is waiting on the queue
      And a producer on the queue
      And the producer's delivery mode is <mode>
      And the producer's delivery delay is 1500 ms
      When the producer sends message "first" with no properties
      And the producer sends message "second" with no properties
      Then the receiver sees "first" no earlier than 1500 ms after its send
      And the receiver sees "second" no earlier than 1500 ms after its send
      Examples:
        | mode       |
        | persistent |

      @needs-non-persistent
      Examples: Non-persistent
        | mode           |
        | non-persistent |

    Scenario: After a send without a delay, the producer's new delay applies to a message without properties
      Given an empty queue
      And a receiver is waiting on the queue
      And a producer on the queue
      When the producer sends message "prompt" with no properties
      And the producer's delivery delay is set to 1500 ms
      And the producer sends message "slow" with no properties
      Then the receiver sees "slow" no earlier than 1500 ms after its send

    Scenario: If the sender closes its connection, the message still does not come before its delay is over
      Given an empty queue
      And a receiver is waiting on the queue
      When message "slow" is sent to the queue with a delivery delay of 1500 ms
      And the sender's connection is closed
      Then the receiver sees "slow" no earlier than 1500 ms after its send

    Scenario: Each of two producers of a session delays its messages by its own delay
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in auto mode
      And producer "late" of session "work" on the queue with a delivery delay of 2 s
      And producer "prompt" of session "work" on the queue with a delivery delay of 1 s
      When producer "prompt" sends message "fast"
      And producer "late" sends message "slow"
      And producer "prompt" sends message "fast too"
      Then the receiver sees "fast" no earlier than 1 s after its send
      And the receiver sees "slow" no earlier than 2 s after its send
      And the receiver sees "fast too" no earlier than 1 s after its send

    @needs-xa
    Scenario: A message sent in a global unit of work that is committed in two phases does not come before its delay is over
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in xa mode
      And branch "job" has been started in session "work"
      When message "slow" is sent in session "work" to the queue with a delivery delay of 5 s
      And branch "job" is ended
      And branch "job" is prepared
      And branch "job" is committed
      Then the receiver sees "slow" no earlier than 5 s after its send

    @needs-xa
    Scenario: A message sent in a global unit of work that is committed in one phase does not come before its delay is over
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in xa mode
      And branch "job" has been started in session "work"
      When message "slow" is sent in session "work" to the queue with a delivery delay of 5 s
      And branch "job" is ended
      And branch "job" is committed in one phase
      Then the receiver sees "slow" no earlier than 5 s after its send

    Scenario: A message that is sent later with a shorter delay is delivered first
      The delays differ by more than the default limit for the lateness of a message (5 s).

      Given an empty queue
      And a receiver is waiting on the queue
      When message "slow" is sent to the queue with a delivery delay of 10 s
      And message "fast" is sent to the queue with a delivery delay of 1 s
      Then the receiver sees "fast", "slow" in that order

    Scenario Outline: Of three messages with overlapping delays, "<label>" does not come before its delay of <delay> is over
      Given an empty queue
      And a receiver is waiting on the queue
      When message "third" is sent to the queue with a delivery delay of 3 s
      And message "first" is sent to the queue with a delivery delay of 1 s
      And message "second" is sent to the queue with a delivery delay of 2 s
      Then no receiver sees "<label>" earlier than <delay> after its send

      Examples:
        | label  | delay |
        | first  | 1 s   |
        | second | 2 s   |
        | third  | 3 s   |

    @needs-priority
    Scenario: A high priority does not shorten the delay
      Given an empty queue
      And a receiver is waiting on the queue
      When message "urgent" is sent to the queue with a delivery delay of 1500 ms and priority 9
      Then the receiver sees "urgent" no earlier than 1500 ms after its send

    @needs-local-transaction
    Scenario: A message of a unit of work that is committed at once does not come before its delay is over
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      When message "slow" is sent in session "work" to the queue with a delivery delay of 1500 ms
      And session "work" is committed
      Then the receiver sees "slow" no earlier than 1500 ms after its send

    @needs-local-transaction
    Scenario: A delayed message whose send is rolled back is never seen
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      When message "undone" is sent in session "work" to the queue with a delivery delay of 1 s
      And session "work" is rolled back
      And message "done" is sent to the queue with a delivery delay of 1 s
      Then the receiver sees "done" exactly once
      And the receiver never sees "undone"

    Scenario Outline: If the broker <event> during a message's delay of an hour, the message does not come early
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of 1 h
      And the broker <event>
      And a receiver starts to wait on the queue
      And message "now" is sent to the queue
      Then the receiver sees "now" exactly once
      And the receiver waits for 1 s and does not see "slow"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    Scenario Outline: If the broker <event> during the delay of a message with a long body, the message does not come early
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of 1 h and a body of 1 MB
      And the broker <event>
      And a receiver starts to wait on the queue
      And message "now" is sent to the queue
      Then the receiver sees "now" exactly once
      And the receiver waits for 1 s and does not see "slow"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    Scenario Outline: If the broker <event> during a delay of <delay>, the delay is not cut to whole seconds
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of <delay>
      And the broker <event>
      And a receiver starts to wait on the queue
      Then the receiver sees "slow" no earlier than <delay> after its send

      @needs-restart
      Examples: Restart
        | event        | delay    |
        | is restarted | 24500 ms |
        | is restarted | 24999 ms |

      @needs-kill
      Examples: Kill
        | event                    | delay    |
        | is killed and comes back | 24500 ms |
        | is killed and comes back | 24999 ms |

    @needs-non-persistent
    Scenario Outline: A waiting receiver does not see a non-persistent message with a delay of <delay> before the delay is over
      Given an empty queue
      And a receiver is waiting on the queue
      When a message is sent to the queue with delivery mode non-persistent and a delivery delay of <delay>
      Then the receiver sees it no earlier than <delay> after the send

      Examples:
        | delay   |
        | 500 ms  |
        | 1999 ms |

    Scenario: A delay of more milliseconds than 31 bits can hold is not treated as negative
      Given an empty queue
      And a receiver is waiting on the queue
      When message "far" is sent to the queue with a delivery delay of 2147543648 ms
      And message "near" is sent to the queue with a delivery delay of 500 ms
      Then the receiver sees "near" exactly once
      And the receiver waits for 1500 ms and does not see "far"

    Scenario: A message is not delivered early when another message is due 400 ms before it
      Given an empty queue
      And a receiver is waiting on the queue
      When message "first" is sent to the queue with a delivery delay of 1 s
      And message "second" is sent to the queue with a delivery delay of 1400 ms
      Then the receiver sees "first" exactly once
      And the receiver sees "second" no earlier than 1400 ms after its send

    Scenario Outline: Of 100 messages with the same delay, "<label>" does not come before its delay is over
      Given an empty queue
      And a receiver is waiting on the queue
      When messages "m1" to "m100" are sent to the queue with a delivery delay of 5 s
      Then the receiver sees "<label>" no earlier than 5 s after its send

      Examples:
        | label |
        | m1    |
        | m50   |
        | m100  |

    @needs-topic @needs-durable-subscription
    Scenario Outline: If the broker <event> during a publication's delay, the publication does not come before the delay is over
      Given a topic
      And a durable subscriber "steady" on the topic
      And subscriber "steady" is inactive
      When message "slow" is sent to the topic with a delivery delay of 24 s
      And the broker <event>
      And subscriber "steady" comes back
      Then "steady" sees "slow" no earlier than 24 s after its send

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @needs-local-transaction
    Scenario Outline: In a unit of work, message "<label>" does not come before its own delay of <delay> is over
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      When message "slow" is sent in session "work" to the queue with a delivery delay of 3 s
      And message "slower" is sent in session "work" to the queue with a delivery delay of 5 s
      And message "fast" is sent in session "work" to the queue with a delivery delay of 1 s
      And session "work" is committed
      Then the receiver sees "<label>" no earlier than <delay> after its send

      Examples:
        | label  | delay |
        | fast   | 1 s   |
        | slow   | 3 s   |
        | slower | 5 s   |

    @evidence @topology-cluster @needs-admin
    Scenario: A message for another queue manager's queue does not come there before its delay is over
      Given queue "orders" at queue manager "B" has been defined with CLUSTER(SHOP) DEFBIND(NOTFIXED)
      And receiver "far" is waiting on queue "orders" at queue manager "B"
      When message "slow" is sent to queue "orders" with a delivery delay of 4 s
      Then "far" sees "slow" no earlier than 4 s after its send

    @evidence @needs-topic @needs-shared-subscription @needs-durable-subscription @needs-topic-wildcard
    Scenario: A sharer of a durable subscription to a pattern does not get a publication before its delay is over
      Given subscriber "member" shares durable subscription "club" on topic "sport/#"
      When message "slow" is sent to topic "sport/football" with a delivery delay of 1500 ms
      Then "member" sees "slow" no earlier than 1500 ms after its send
