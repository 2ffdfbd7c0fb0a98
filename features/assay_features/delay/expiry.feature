Feature: A message whose time to live is over is not delivered
  IBM MQ, JMS 2.0 delivery delay, line 62.

  @DD-56 @needs-time-to-live
  Rule: An expired message is not delivered; the time to live counts from the send, the delay included
    Line 62 gives an example: a message was put 15 s ago, with a time to live of 20 s and a delay of 5 s; then 15 s of
    its time to live are over.  Tension: Jakarta Messaging 3.1, section 3.4.9, does not promise that an expired
    message is never received, and section 7.8 leaves open how exact the clocks are.  So the scenarios state a limit:
    3 s after the end of its time to live, a delayed message is not delivered any more.  The line is about delayed
    messages outside a unit of work.  The scenarios without a delay, and those about the start of the time to live in a
    unit of work, test our own expectation, and are tagged kit.

    @needs-delivery-delay
    Scenario: A send with a time to live longer than its delay is accepted, and its message is delivered
      Given an empty queue
      And a receiver is waiting on the queue
      When message "slow" is sent to the queue with a delivery delay of 1 s and a time to live of 1 m
      Then sending "slow" is accepted
      And the receiver sees "slow" exactly once

    @needs-delivery-delay
    Scenario: A receiver that starts after the end of the delay and before the end of the time to live gets the message
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of 1 s and a time to live of 1 m
      And 2 s have passed since "slow" was sent
      And a receiver starts to wait on the queue
      Then the receiver sees "slow" exactly once

    @needs-delivery-delay @needs-non-persistent
    Scenario Outline: The time to live of a <mode> message does not start anew when the delay is over
      Given an empty queue
      When message "stale" is sent to the queue with a delivery delay of 10 s, a time to live of 12 s and delivery mode <mode>
      And 15 s have passed since "stale" was sent
      And message "fresh" is sent to the queue
      And a receiver starts to wait on the queue
      Then the receiver sees "fresh" exactly once
      And the receiver never sees "stale"
      Examples:
        | mode           |
        | persistent     |
        | non-persistent |

    @needs-delivery-delay
    Scenario: Delayed messages without properties expire
      Given an empty queue
      And a producer on the queue
      And the producer's time to live is 12 s
      And the producer's delivery delay is 10 s
      When the producer sends message "stale" with no properties
      And the producer sends message "stale too" with no properties
      And 15 s have passed since "stale too" was sent
      And message "fresh" is sent to the queue
      And a receiver starts to wait on the queue
      Then the receiver sees "fresh" exactly once
      And the receiver never sees "stale"
      And the receiver never sees "stale too"

    @kit @needs-queue
    Scenario: An undelayed message without properties expires
      Given an empty queue
      And a producer on the queue
      When the producer sends message "first" with no properties
      And the producer's time to live is set to 2 s
      And the producer sends message "stale" with no properties
      And 5 s have passed since "stale" was sent
      And a receiver starts to wait on the queue
      Then the receiver sees "first" exactly once
      And the receiver never sees "stale"

    @kit @needs-delivery-delay @needs-queue-depth
    Scenario Outline: After the broker <event>, an expired message is removed from the queue although no consumer asks for messages
      Given an empty queue
      And the queue has been defined
      When message "stale" is sent to the queue with a delivery delay of 1 s and a time to live of 9 s
      And 3 s have passed since "stale" was sent
      And the broker <event>
      And 20 s have passed since "stale" was sent
      Then the depth of the queue is 0

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @kit @needs-delivery-delay @needs-queue-depth @needs-store-error
    Scenario: An expired message is removed from the queue although the broker's store refuses the first try
      Given an empty queue
      And the queue has been defined
      When message "stale" is sent to the queue with a delivery delay of 1 s and a time to live of 9 s
      And 3 s have passed since "stale" was sent
      And the broker's store refuses the next write
      And 20 s have passed since "stale" was sent
      Then the depth of the queue is 0

    @needs-delivery-delay
    Scenario: A send's own time to live counts from the send, not from the end of the delay
      Given an empty queue
      When message "stale" is sent to the queue with a delivery delay of 5 s and a time to live of 6 s for this send only
      And 9 s have passed since "stale" was sent
      And message "fresh" is sent to the queue
      And a receiver starts to wait on the queue
      Then the receiver sees "fresh" exactly once
      And the receiver never sees "stale"

    @needs-delivery-delay @needs-topic @needs-durable-subscription
    Scenario: The time to live of a publication does not start anew when the delay is over
      Given a topic
      And a durable subscriber "steady" on the topic
      And subscriber "steady" is inactive
      When message "stale" is sent to the topic with a delivery delay of 10 s and a time to live of 12 s
      And 15 s have passed since "stale" was sent
      And message "fresh" is sent to the topic
      And subscriber "steady" comes back
      Then "steady" sees "fresh" exactly once
      And "steady" never sees "stale"

    @needs-delivery-delay @needs-restart
    Scenario: A restart does not renew the time to live
      Given an empty queue
      When message "stale" is sent to the queue with a delivery delay of 10 s and a time to live of 12 s
      And 9 s have passed since "stale" was sent
      And the broker is restarted
      And 15 s have passed since "stale" was sent
      And message "fresh" is sent to the queue
      And a receiver starts to wait on the queue
      Then the receiver sees "fresh" exactly once
      And the receiver never sees "stale"

    @needs-delivery-delay @needs-topic @needs-durable-subscription @needs-kill
    Scenario: A kill does not renew the time to live of a publication
      Given a topic
      And a durable subscriber "steady" on the topic
      And subscriber "steady" is inactive
      When message "stale" is sent to the topic with a delivery delay of 10 s and a time to live of 12 s
      And 9 s have passed since "stale" was sent
      And the broker is killed and comes back
      And 15 s have passed since "stale" was sent
      And message "fresh" is sent to the topic
      And subscriber "steady" comes back
      Then "steady" sees "fresh" exactly once
      And "steady" never sees "stale"

    @needs-delivery-delay @needs-local-transaction
    Scenario: A delayed message of a unit of work expires
      The message is committed at once, so its time to live may count from the send or from the commit.

      Given an empty queue
      And session "work" in transacted mode
      When message "stale" is sent in session "work" to the queue with a delivery delay of 10 s and a time to live of 12 s
      And session "work" is committed
      And 15 s have passed since "stale" was sent
      And message "fresh" is sent to the queue
      And a receiver starts to wait on the queue
      Then the receiver sees "fresh" exactly once
      And the receiver never sees "stale"

    @needs-delivery-delay @needs-topic @needs-alias @needs-durable-subscription
    Scenario: A delayed message to an alias of a topic expires
      Given a topic
      And an alias "front" for the topic
      And a durable subscriber "steady" on the topic
      And subscriber "steady" is inactive
      When message "stale" is sent to queue "front" with a delivery delay of 5 s and a time to live of 8 s
      And 11 s have passed since "stale" was sent
      And message "fresh" is sent to the topic
      And subscriber "steady" comes back
      Then "steady" sees "fresh" exactly once
      And "steady" never sees "stale"

    @kit @needs-delivery-delay @needs-topic @needs-admin @needs-durable-subscription
    Scenario: A delayed message expires although its queue is replaced with an alias of a topic
      Given a topic
      And a queue "orders" with MAXDEPTH(10)
      And a durable subscriber "steady" on the topic
      And subscriber "steady" is inactive
      And message "stale" is sent to queue "orders" with a delivery delay of 5 s and a time to live of 8 s
      And the sender's connection has been closed
      And queue "orders" has been deleted
      And an alias "orders" for the topic
      When 11 s have passed since "stale" was sent
      And message "fresh" is sent to the topic
      And subscriber "steady" comes back
      Then "steady" sees "fresh" exactly once
      And "steady" never sees "stale"

    @needs-delivery-delay @may
    Scenario: A message whose time to live equals its delay is delivered at most once
      Given an empty queue
      And a receiver is waiting on the queue
      When message "edge" is sent to the queue with a delivery delay of 1 s and a time to live of 1 s
      And 2 s have passed since "edge" was sent
      Then the receiver sees "edge" at most once

    @kit @needs-local-transaction
    Scenario: The time to live of an undelayed message counts from the send and not from the commit
      Given an empty queue
      And session "work" in transacted mode
      When message "stale" is sent in session "work" to the queue with a time to live of 2 s
      And 1500 ms have passed since "stale" was sent
      And session "work" is committed
      And 3 s have passed since "stale" was sent
      And message "fresh" is sent to the queue
      And a receiver starts to wait on the queue
      Then the receiver sees "fresh" exactly once
      And the receiver never sees "stale"

    @kit @needs-non-persistent
    Scenario: An undelayed non-persistent message expires
      Given an empty queue
      When message "stale" is sent to the queue with delivery mode non-persistent and a time to live of 1 s
      And 1500 ms have passed since "stale" was sent
      And message "fresh" is sent to the queue
      And a receiver starts to wait on the queue
      Then the receiver sees "fresh" exactly once
      And the receiver never sees "stale"

    @kit @needs-queue
    Scenario: An undelayed message is not delivered 500 ms after the end of its time to live
      Given an empty queue
      When message "stale" is sent to the queue with a time to live of 1 s
      And 1500 ms have passed since "stale" was sent
      And message "fresh" is sent to the queue
      And a receiver starts to wait on the queue
      Then the receiver sees "fresh" exactly once
      And the receiver never sees "stale"

    @kit @needs-queue
    Scenario: An undelayed message expires if the send call gives a time to live
      Given an empty queue
      When message "stale" is sent to the queue with a time to live of 1 s for this send only
      And 1500 ms have passed since "stale" was sent
      And message "fresh" is sent to the queue
      And a receiver starts to wait on the queue
      Then the receiver sees "fresh" exactly once
      And the receiver never sees "stale"

    @kit @needs-topic @needs-durable-subscription
    Scenario: An undelayed publication expires while its durable subscriber is inactive
      Given a topic
      And a durable subscriber "steady" on the topic
      And subscriber "steady" is inactive
      When message "stale" is sent to the topic with a time to live of 1 s
      And 1500 ms have passed since "stale" was sent
      And message "fresh" is sent to the topic
      And subscriber "steady" comes back
      Then "steady" sees "fresh" exactly once
      And "steady" never sees "stale"

    @kit @needs-queue
    Scenario: A time to live of 0 for one send overrides the producer's time to live
      Given an empty queue
      And a producer on the queue
      And the producer's time to live is 1 s
      When the producer sends message "lasting" with a time to live of 0 ms for this send only
      And 3 s have passed since "lasting" was sent
      And a receiver starts to wait on the queue
      Then the receiver sees "lasting" exactly once

    @kit @needs-delivery-delay @judges-client
    Scenario: A delayed message that expires while the client waits for a full batch is not delivered
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 5 within 17 s
      When message "fresh" is sent to the queue
      And message "stale" is sent to the queue with a delivery delay of 10 s and a time to live of 12 s
      And 20 s have passed since "stale" was sent
      Then the receiver sees "fresh" exactly once
      And the receiver never sees "stale"

    @kit @needs-delivery-delay @needs-local-transaction
    Scenario: The time to live of a delayed message counts from the send and not from the commit
      Given an empty queue
      And session "work" in transacted mode
      When message "stale" is sent in session "work" to the queue with a delivery delay of 1 s and a time to live of 2 s
      And 1500 ms have passed since "stale" was sent
      And session "work" is committed
      And 3 s have passed since "stale" was sent
      And message "fresh" is sent to the queue
      And a receiver starts to wait on the queue
      Then the receiver sees "fresh" exactly once
      And the receiver never sees "stale"

    @evidence @topology-cluster @needs-delivery-delay @needs-admin @needs-queue-depth
    Scenario: On another queue manager's queue, the time to live does not start anew when the delay is over
      Given queue "orders" at queue manager "B" has been defined with CLUSTER(SHOP) DEFBIND(NOTFIXED)
      When message "stale" is sent to queue "orders" with a delivery delay of 5 s and a time to live of 8 s
      And message "lasting" is sent to queue "orders" with a delivery delay of 5 s
      And 11 s have passed since "stale" was sent
      And receiver "late" starts to wait on queue "orders" at queue manager "B"
      Then "late" sees "lasting" exactly once
      And "late" never sees "stale"

    @evidence @needs-delivery-delay @needs-xa
    Scenario: A delayed message of a branch that is committed in one phase expires
      Given an empty queue
      And session "work" in xa mode
      And branch "job" has been started in session "work"
      When message "stale" is sent in session "work" to the queue with a delivery delay of 5 s and a time to live of 8 s
      And message "lasting" is sent in session "work" to the queue with a delivery delay of 5 s
      And branch "job" is ended
      And branch "job" is committed in one phase
      And 11 s have passed since "stale" was sent
      And receiver "late" starts to wait on the queue
      Then "late" sees "lasting" exactly once
      And "late" never sees "stale"

    @evidence @needs-delivery-delay @needs-xa
    Scenario: A delayed message of a branch that is prepared and committed expires
      Given an empty queue
      And session "work" in xa mode
      And branch "job" has been started in session "work"
      When message "stale" is sent in session "work" to the queue with a delivery delay of 5 s and a time to live of 8 s
      And message "lasting" is sent in session "work" to the queue with a delivery delay of 5 s
      And branch "job" is ended
      And branch "job" is prepared
      And branch "job" is committed
      And 11 s have passed since "stale" was sent
      And receiver "late" starts to wait on the queue
      Then "late" sees "lasting" exactly once
      And "late" never sees "stale"

    @evidence @needs-delivery-delay @needs-topic @needs-shared-subscription @needs-durable-subscription @needs-topic-wildcard
    Scenario: The time to live of a publication for two sharers does not start anew when the delay is over
      Given subscriber "left" shares durable subscription "club" on topic "sport/#"
      And subscriber "right" shares durable subscription "club" on topic "sport/#"
      And subscriber "left" is inactive
      And subscriber "right" is inactive
      When message "stale" is sent to topic "sport/football" with a delivery delay of 10 s and a time to live of 12 s
      And 15 s have passed since "stale" was sent
      And message "fresh" is sent to topic "sport/football"
      And subscriber "left" comes back
      Then "left" sees "fresh" exactly once
      And "left" never sees "stale"

    @evidence @needs-delivery-delay @needs-topic @needs-shared-subscription
    Scenario: A sharer does not get a publication that expired while the sharer's connection was stopped
      Given a topic
      And subscriber "member" shares non-durable subscription "pair" on the topic
      When the connection of "member" is stopped
      And message "stale" is sent to the topic with a delivery delay of 1 s and a time to live of 2 s
      And 6 s have passed since "stale" was sent
      And message "fresh" is sent to the topic
      And the connection of "member" is started
      Then "member" sees "fresh" exactly once
      And "member" never sees "stale"
