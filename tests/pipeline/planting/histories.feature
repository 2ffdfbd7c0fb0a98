Feature: Histories in which some breaches can be planted
  No workload of a soak, and too few scenarios of the suite, have the subjects of these rules.  Each scenario has the
  messages, the losses and the silences that a breach needs to show.

  @QS-10 @needs-topic @needs-quality-of-service @needs-auto-confirm @needs-lasting-subscription @needs-shared-subscription
  Rule: An unacknowledged message of a shared subscription may go to another subscriber

    Scenario Outline: Of <count> unacknowledged messages of a lost sharer, the other gets each
      Given a topic
      And subscriber "left" on the topic with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      When message "m0" is sent to the topic with the durable header true
      And "left" has seen "m0"
      And "left" acknowledges message "m0"
      And messages "m1" to "<last>" are sent to the topic with the durable header true
      And "left" has seen "m1" to "<last>"
      And subscriber "right" subscribes to the topic with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      And the connection of "left" is lost
      Then "right" sees "m1" to "<last>" exactly once

      Examples:
        | count | last |
        | 2     | m2   |
        | 5     | m5   |
        | 9     | m9   |

  @QS-20 @needs-topic @needs-quality-of-service @needs-auto-confirm @needs-lasting-subscription @needs-subscription-ttl
  Rule: The time to live of a subscription counts from its disconnection; without a time to live, the subscription ends at once

    Scenario Outline: A subscription of <ttl> resumes <count> messages after <age>
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once, no automatic confirmation and a subscription that lives for <ttl>
      When <age> pass
      And the connection of "lasting" is lost
      And messages "m1" to "<last>" are sent to the topic with the durable header true
      And subscriber "lasting" comes back 1 s after it left
      Then "lasting" sees "m1" to "<last>" exactly once

      Examples:
        | ttl | age  | count | last |
        | 4 s | 20 s | 3     | m3   |
        | 6 s | 30 s | 5     | m5   |
        | 9 s | 60 s | 2     | m2   |
        | 5 s | 40 s | 4     | m4   |
        | 3 s | 15 s | 6     | m6   |
        | 8 s | 25 s | 7     | m7   |

  @QS-21 @needs-topic @needs-quality-of-service @needs-auto-confirm @needs-lasting-subscription @needs-subscription-ttl
  Rule: A subscription resumes if its client reconnects in time

    Scenario Outline: A subscription of <ttl> resumes <count> messages
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once, no automatic confirmation and a subscription that lives for <ttl>
      When the connection of "lasting" is lost
      And messages "m1" to "<last>" are sent to the topic with the durable header true
      And subscriber "lasting" comes back 1 s after it left
      Then "lasting" sees "m1" to "<last>" exactly once

      Examples:
        | ttl | count | last |
        | 4 s | 3     | m3   |
        | 6 s | 5     | m5   |
        | 9 s | 2     | m2   |

  @QS-31 @needs-topic @needs-quality-of-service
  Rule: A stop of the queue manager removes non-durable subscriptions

    Scenario Outline: After the broker <event>, a client with quality of service at-most-once gets none of <count> messages
      Given a topic
      And subscriber "once", which does not receive yet, on the topic with quality of service at-most-once
      When messages "m1" to "<last>" are sent to the topic with the durable header true
      And the connection of "once" is lost
      And the broker <event>
      And subscriber "once" comes back
      And message "control" is sent to the topic with the durable header true
      Then "once" sees "control" exactly once
      And "once" never sees "m1" to "<last>"

      Examples:
        | event                    | count | last |
        | is killed and comes back | 3     | m3   |
        | is restarted             | 2     | m2   |
        | is killed and comes back | 4     | m4   |

  @DD-27
  Rule: The delay counts from the send

    Scenario Outline: A message with a delay of <delay> comes in time although its unit of work was committed <late> after it
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      When message "slow" is sent in session "work" to the queue with a delivery delay of <delay>
      And <late> pass
      And session "work" is committed
      And <rest> pass
      Then the receiver sees "slow" exactly once

      Examples:
        | delay | late | rest |
        | 6 s   | 5 s  | 20 s |
        | 8 s   | 5 s  | 20 s |
        | 9 s   | 7 s  | 20 s |

  @BT-12
  Rule: In a local transaction, the commit acknowledges all delivered messages, and after a rollback all of them are delivered again

    Scenario Outline: After a rollback, another receiver gets <count> messages in batches
      Given an empty queue
      And messages "m1" to "<last>" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 20 within 500 ms
      When "receiver" has seen "m1" to "<last>"
      And session "s" is rolled back
      And the consumer of "receiver" is closed
      And receiver "after" starts to wait on the queue
      And 10 s pass
      Then "after" sees "m1" to "<last>" exactly once

      Examples:
        | count | last |
        | 3     | m3   |
        | 6     | m6   |
        | 9     | m9   |

  @BT-13
  Rule: In a global transaction, batches behave as in a local one, and the transaction manager decides whether to commit or to roll back

    Scenario Outline: After a rollback of a branch, another receiver gets <count> messages in batches
      Given an empty queue
      And messages "m1" to "<last>" are sent to the queue
      And session "s" in xa mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 20 within 500 ms
      And branch "b" has been started in session "s"
      When "receiver" has seen "m1" to "<last>"
      And branch "b" is ended
      And branch "b" is prepared
      And branch "b" is rolled back
      And the consumer of "receiver" is closed
      And receiver "after" starts to wait on the queue
      And 10 s pass
      Then "after" sees "m1" to "<last>" exactly once

      Examples:
        | count | last |
        | 3     | m3   |
        | 6     | m6   |
        | 9     | m9   |

  @PD-13 @needs-topic @needs-durable-subscription
  Rule: A durable subscription stores messages while it is inactive

    Scenario Outline: A subscriber that returns gets <mode> messages of one priority, and the broker is killed later
      Given a topic
      And a durable subscriber "keeper" on the topic
      And subscriber "keeper" is inactive
      When message "m1" is sent to the topic with priority 8 and delivery mode <mode>
      And message "m2" is sent to the topic with priority 8 and delivery mode <mode>
      And message "m3" is sent to the topic with priority 8 and delivery mode <mode>
      And subscriber "keeper" comes back
      And "keeper" has seen "m1" to "m3"
      And 10 s pass
      And <end>
      Then sending "m1" is accepted

      Examples:
        | mode           | end                          |
        | persistent     | 1 s pass                     |
        | non-persistent | 1 s pass                     |
        | non-persistent | the broker is killed and comes back |

  @PD-33 @needs-topic
  Rule: A non-durable subscriber gets non-persistent messages only while active

    Scenario: Two subscribers get non-persistent messages of high priority
      Given a topic
      And a non-durable subscriber "first" on the topic
      And a non-durable subscriber "second" on the topic
      When message "m1" is sent to the topic with priority 8 and delivery mode non-persistent
      And message "m2" is sent to the topic with priority 8 and delivery mode non-persistent
      Then "first" sees "m1" exactly once
      And "second" sees "m1" exactly once

  @PD-22
  Rule: A restart may lose a non-persistent message on a queue

    Scenario: Two receivers get non-persistent messages some time before the broker is killed
      Given an empty queue
      And receiver "first" is waiting on the queue
      And receiver "second" is waiting on the queue
      When message "m1" is sent to the queue with delivery mode non-persistent
      And message "m2" is sent to the queue with delivery mode non-persistent
      And 5 s pass
      And the broker is killed and comes back
      And 5 s pass
      Then sending "m1" is accepted

  @QS-05 @needs-topic @needs-quality-of-service @needs-auto-confirm @needs-lasting-subscription @needs-reconnect
  Rule: With at-least-once, a sender sends an unanswered message again

    Scenario Outline: A subscriber gets the messages before and after <event>
      Given a topic
      And subscriber "s" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When message "m1" is sent to the topic with quality of service at-least-once
      And "s" has seen "m1"
      And "s" acknowledges message "m1"
      And 5 s pass
      And <event>
      And 10 s pass
      And message "m2" is sent to the topic with quality of service at-least-once
      And 5 s pass
      Then "s" sees "m2" exactly once

      Examples:
        | event                               |
        | every connection is cut             |
        | the broker is killed and comes back |

  @QS-32 @needs-topic @needs-quality-of-service @needs-auto-confirm @needs-lasting-subscription
  Rule: A durable header makes the message persistent

    Scenario: An inactive subscriber gets persistent messages after a kill
      Given a topic
      And subscriber "s" on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      And subscriber "s" is inactive
      When messages "m1" to "m3" are sent to the topic with the durable header true
      And the broker is killed and comes back
      And subscriber "s" comes back
      Then "s" sees "m1" to "m3" exactly once

  @BT-15 @needs-batch-listener
  Rule: Delay, expiry and durability apply to batches

    Scenario Outline: Messages with delays of <first> and <second> come in two batches
      Given an empty queue
      And session "s" in auto mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 9 within 200 ms
      When message "a1" is sent to the queue with a delivery delay of <first>
      And message "b1" is sent to the queue with a delivery delay of <second>
      And message "b2" is sent to the queue with a delivery delay of <second>
      And message "b3" is sent to the queue with a delivery delay of <second>
      And 20 s pass
      Then "receiver" sees "a1" exactly once

      Examples:
        | first  | second |
        | 9 s    | 10 s   |
        | 2 s    | 10 s   |
        | 500 ms | 10 s   |

  @BT-16 @needs-batch-listener
  Rule: An acknowledged batch never comes again

    Scenario: A receiver gets three batches, and another receiver comes, before every connection is cut
      Given an empty queue
      And session "s" in auto mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 9 within 200 ms
      When messages "m1" to "m3" are sent to the queue
      And 5 s pass
      And messages "m4" to "m6" are sent to the queue
      And 5 s pass
      And messages "m7" to "m9" are sent to the queue
      And 5 s pass
      And receiver "other" starts to wait on the queue
      And 5 s pass
      And every connection is cut
      And receiver "last" starts to wait on the queue
      And 5 s pass
      Then sending "m1" is accepted

  @BT-12 @needs-batch-listener @needs-local-transaction
  Rule: All messages of a unit of work are acknowledged together

    Scenario: A committed batch is followed by another batch
      Given an empty queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 9 within 200 ms
      When messages "m1" to "m3" are sent to the queue
      And "receiver" has seen "m1" to "m3"
      And session "s" is committed
      And 5 s pass
      And messages "m4" to "m6" are sent to the queue
      And "receiver" has seen "m4" to "m6"
      And session "s" is committed
      And 5 s pass
      Then "receiver" sees "m4" exactly once

  @QS-14 @needs-topic @needs-quality-of-service @needs-auto-confirm @needs-lasting-subscription @needs-reconnect
  Rule: Messages are acknowledged one by one

    Scenario: A subscriber acknowledges its third message only, and loses its connection
      Given a topic
      And subscriber "s", which does not receive yet, on the topic with quality of service at-least-once, no automatic confirmation and a durable subscription
      When messages "m1" to "m4" are sent to the topic with the durable header true
      And subscriber "s" starts to receive and acknowledges as soon as 3 messages have come
      And 5 s pass
      And the connection of "s" is lost
      And subscriber "s" comes back
      And 10 s pass
      Then sending "m1" is accepted
