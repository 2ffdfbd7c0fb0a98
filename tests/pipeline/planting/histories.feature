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
      And subscriber "right" comes to the topic with shared subscription "club", quality of service at-least-once, no automatic confirmation and a durable subscription
      And the connection of "left" is lost
      Then "right" sees "m1" to "<last>" exactly once

      Examples:
        | count | last |
        | 2     | m2   |
        | 5     | m5   |
        | 9     | m9   |

  @QS-20 @needs-topic @needs-quality-of-service @needs-auto-confirm @needs-lasting-subscription @needs-subscription-ttl
  Rule: The time to live of a subscription counts from its disconnection; without one, the subscription ends at once

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
      And subscriber "once" on the topic with quality of service at-most-once that does not receive yet
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
  Rule: In a local transaction, the commit acknowledges all delivered messages, and a rollback returns all of them

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
  Rule: In a global transaction, a batch behaves as in a local one, and the transaction manager decides

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
