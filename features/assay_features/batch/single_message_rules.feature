Feature: The rules for single messages apply to batches
  The proposal does not mention delay, expiry or subscriptions; the kit demands that batches do not change them.

  @BT-15 @needs-batch-listener
  Rule: Delivery delay, expiry and durable subscriptions apply to batches as they do to single messages
    No batch contains a message that is not due yet or has expired, and a durable subscriber gets its missed messages.

    @needs-delivery-delay
    Scenario Outline: A message with a delivery delay of <delay> is in no batch before its delay is over
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 2 within 5 s
      When message "prompt" is sent to the queue
      And message "delayed" is sent to the queue with a delivery delay of <delay>
      Then the receiver sees "delayed" no earlier than <delay> after its send

      Examples:
        | delay |
        | 1 s   |
        | 3 s   |

    @needs-delivery-delay
    Scenario: A batch does not wait longer than the batch timeout for a delayed message
      Given the time of an unbatched delivery has been measured
      And an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 2 within 500 ms
      When message "delayed" is sent to the queue with a delivery delay of 1 h
      And message "prompt" is sent to the queue
      Then the receiver sees "prompt" exactly once
      And each batch of at most 2 reaches the receiver at most 500 ms after its first message could be delivered, with a tolerance

    @needs-time-to-live
    Scenario: A message that has expired on the queue is in no batch
      Given an empty queue
      And a receiver on the queue
      And message "short" is sent to the queue with a time to live of 500 ms
      And message "long" is sent to the queue
      When 2 s pass
      And the receiver starts to take batches of at most 10 within 500 ms
      Then the receiver sees "long" exactly once
      And the receiver never sees "short"

    @needs-time-to-live
    Scenario: A message that expires while its batch is being filled never comes
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 10 within 3 s
      When message "long" is sent to the queue
      And message "short" is sent to the queue with a time to live of 1 s
      Then the receiver sees "long" exactly once
      And the receiver never sees "short"

    @needs-time-to-live @needs-local-transaction
    Scenario: In a transacted session, a message that expires while its batch is being filled never comes
      Given an empty queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 10 within 3 s
      When message "long" is sent to the queue
      And message "short" is sent to the queue with a time to live of 1 s
      Then the receiver sees "long" exactly once
      And the receiver never sees "short"

    @needs-time-to-live
    Scenario: If a message expires before its batch is full, the other messages of the batch still come
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 3 within 10 s
      When message "first" is sent to the queue
      And message "short" is sent to the queue with a time to live of 1 s
      And 3 s pass
      And message "last" is sent to the queue
      Then the receiver sees "first" and "last" exactly once
      And the receiver never sees "short"

    Scenario Outline: A stopped connection delivers no message; after its start, all waiting messages come in batches
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 4 within 1 s
      When the receiver's connection is stopped
      And <count> messages are sent to the queue
      And message "last" is sent to the queue
      Then the receiver waits for 3 s and does not see "last"
      When the receiver's connection is started
      Then the receiver sees each of these messages exactly once
      And the receiver sees "last" exactly once
      And the receiver's batches hold at most 4 messages

      Examples:
        | count |
        | 1     |
        | 3     |
        | 9     |

    Scenario: A connection with an unfinished batch can be stopped and started
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 5 within 2 s
      When messages "m1" to "m3" are sent to the queue
      And the client tries to stop the receiver's connection
      Then it is accepted
      When the client tries to start the receiver's connection
      Then it is accepted
      And the receiver sees "m1" to "m3" exactly once

    Scenario: A partly filled batch waits while the connection is stopped
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 5 within 2 s
      When messages "m1" to "m3" are sent to the queue
      And the receiver's connection is stopped
      Then the receiver waits for 4 s and does not see "m3"
      When messages "m4" to "m6" are sent to the queue
      And the receiver's connection is started
      Then the receiver sees "m1" to "m6" exactly once
      And the receiver sees "m1" to "m6" in that order

    Scenario: When a stopped connection is closed, the messages of its unfinished batch go to another receiver
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 5 within 10 min
      When messages "m1" to "m3" are sent to the queue
      And 1 s pass
      And the receiver's connection is stopped
      And the receiver's connection is closed
      And receiver "after" starts to wait on the queue
      Then "after" sees "m1" to "m3" exactly once

    @needs-delivery-delay
    Scenario: A delayed message that becomes due while the connection is stopped comes after the start
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 3 within 2 s
      When message "prompt" is sent to the queue
      And message "delayed" is sent to the queue with a delivery delay of 1 s
      And the receiver's connection is stopped
      And 3 s pass
      And the receiver's connection is started
      Then the receiver sees "prompt" and "delayed" exactly once
      And the receiver's batches hold at most 3 messages

    @needs-time-to-live
    Scenario: If a message of an unfinished batch expires while the connection is stopped, the message never comes
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 5 within 2 s
      When message "long" is sent to the queue
      And message "short" is sent to the queue with a time to live of 1 s
      And the receiver's connection is stopped
      And 3 s pass
      And the receiver's connection is started
      Then the receiver sees "long" exactly once
      And the receiver never sees "short"

    Scenario Outline: A message with <body> comes unaltered in a batch
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 3 within 500 ms
      When message "before" is sent to the queue
      And message "special" is sent to the queue with <body>
      And message "after" is sent to the queue
      Then the receiver sees "before", "special", "after" exactly once
      And "receiver" sees the body of "special" unaltered

      Examples:
        | body                           |
        | an empty body                  |
        | a body of non-ASCII characters |
        | a binary body                  |
        | a body of 300 KB               |

    @needs-selector
    Scenario: A receiver with a selector gets the selected messages in batches
      Given an empty queue
      And receiver "picky" on the queue for messages with "colour = 'red'"
      And "picky" takes batches of at most 2 within 500 ms
      When messages "r1" to "r3" are sent to the queue with property colour = "red"
      And messages "b1" to "b3" are sent to the queue with property colour = "blue"
      Then "picky" sees "r1" to "r3" exactly once
      And "picky" never sees "b1" to "b3"

    @needs-non-persistent
    Scenario: Non-persistent and persistent messages on one queue both come in batches
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 4 within 500 ms
      When messages "n1" to "n3" are sent to the queue with delivery mode non-persistent
      And messages "p1" to "p3" are sent to the queue
      Then the receiver sees "n1" to "n3" exactly once
      And the receiver sees "p1" to "p3" exactly once

    @needs-topic
    Scenario: Two subscribers of a session each receive their own copies in batches
      Given a topic
      And session "both" in auto mode
      And receiver "first" of session "both" on the topic
      And receiver "second" of session "both" on the topic
      And "first" takes batches of at most 2 within 500 ms
      And "second" takes batches of at most 3 within 500 ms
      When messages "m1" to "m5" are sent to the topic
      Then "first" sees "m1" to "m5" exactly once
      And "second" sees "m1" to "m5" exactly once

    @needs-topic @needs-durable-subscription
    Scenario: A durable subscriber gets all missed messages in batches
      Given a topic
      And a durable subscriber "reader" on the topic that does not receive yet
      And subscriber "reader" is inactive
      When messages "m1" to "m5" are sent to the topic
      And subscriber "reader" comes back to take batches of at most 2 within 500 ms
      Then "reader" sees "m1" to "m5" exactly once

    @needs-topic @needs-durable-subscription
    Scenario: A durable subscriber that goes away between two batches gets the messages that it missed
      Given a topic
      And a durable subscriber "reader" on the topic that does not receive yet
      And subscriber "reader" is inactive
      When messages "m1" to "m2" are sent to the topic
      And subscriber "reader" comes back to take batches of at most 2 within 500 ms
      And "reader" has seen "m1" to "m2"
      And 1 s pass
      And subscriber "reader" goes away
      And messages "m3" to "m4" are sent to the topic
      And subscriber "reader" comes back to take batches of at most 2 within 500 ms
      Then "reader" sees "m1" to "m4" exactly once

    @needs-topic @needs-durable-subscription
    Scenario Outline: A durable subscription whose subscriber took batches of at most <size> can be removed
      Given a topic
      And a durable subscriber "reader" on the topic that does not receive yet
      And subscriber "reader" is inactive
      When messages "m1" to "m5" are sent to the topic
      And subscriber "reader" comes back to take batches of at most <size> within 500 ms
      And "reader" has seen "m1" to "m5"
      And subscriber "reader" tries to unsubscribe
      Then it is accepted

      Examples:
        | size |
        | 2    |
        | 10   |

    @evidence @judges-broker @needs-topic @needs-subscription-list
    Scenario: After a non-durable subscriber with a batch listener is closed, an administrator no longer sees its subscription
      Given a topic
      And a non-durable subscriber "passer" on the topic that does not receive yet
      And "passer" takes batches of at most 2 within 500 ms
      When messages "m1" to "m5" are sent to the topic
      And "passer" has seen "m1" to "m5"
      And the consumer of "passer" is closed
      Then no subscription to the topic remains

    Scenario Outline: A message with <option> comes in a batch as it was sent
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 3 within 500 ms
      When message "m1" is sent to the queue with <option>
      And message "m2" is sent to the queue
      Then the receiver sees "m1" as it was sent
      And the receiver sees "m2" as it was sent

      Examples:
        | option                                        |
        | reply-to queue "replies"                      |
        | correlation id "order 7"                      |
        | property colour = "red" and property size = 7 |
        | JMSType "order"                               |
        | group "g" and group sequence 1                |
        | a binary body                                 |

      @needs-priority
      Examples: Priority
        | option     |
        | priority 9 |

      @needs-time-to-live
      Examples: Time to live
        | option                |
        | a time to live of 1 h |

    @needs-topic @needs-shared-subscription @needs-durable-subscription
    Scenario: A subscriber of a shared durable subscription gets all missed messages in batches
      Given a topic
      And subscriber "member" shares durable subscription "club" on the topic
      And subscriber "member" is inactive
      When messages "m1" to "m5" are sent to the topic
      And subscriber "member" comes back to take batches of at most 2 within 500 ms
      Then "member" sees "m1" to "m5" exactly once
      And "member"'s batches hold at most 2 messages

    @evidence @needs-delivery-delay
    Scenario: A delayed message is in no batch before its delay is over, even if the listener is removed and set again
      Given an empty queue
      And a receiver on the queue
      When a batch listener of size 2 and timeout 5000 ms is set on "receiver"
      And message "delayed" is sent to the queue with a delivery delay of 3 s
      And message "prompt" is sent to the queue
      And 1 s pass
      And the batch listener of "receiver" is removed
      And a batch listener of size 2 and timeout 5000 ms is set on "receiver"
      Then the receiver sees "delayed" no earlier than 3 s after its send
      And the receiver sees "prompt" and "delayed" exactly once

    @evidence @needs-topic @needs-durable-subscription
    Scenario Outline: A durable subscriber gets all missed messages in batches after the broker <event>
      Given a topic
      And a durable subscriber "reader" on the topic that does not receive yet
      And subscriber "reader" is inactive
      When messages "m1" to "m5" are sent to the topic
      And the broker <event>
      And subscriber "reader" comes back to take batches of at most 2 within 500 ms
      Then "reader" sees "m1" to "m5" exactly once
      And "reader"'s batches hold at most 2 messages

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |
