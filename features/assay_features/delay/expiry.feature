Feature: A message whose time to live is over is not delivered
  IBM MQ, JMS 2.0 delivery delay, line 62.

  @DD-56 @needs-time-to-live
  Rule: An expired message is not delivered; the time to live counts from the send, the delay included
    Line 62 counts 15 s of a time to live of 20 s as spent where the put was 15 s ago, of which 5 s were its delay.
    Tension: JMS 3.4.9 does not promise that an expired message is never received, and 7.8 leaves open how exactly time
    is kept.  So the limit is stated: 500 ms after its time to live is over a message is not delivered any more.

    @needs-local-transaction
    Scenario: The time to live counts from the send and not from the commit
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

    @needs-non-persistent
    Scenario: A non-persistent message expires likewise
      Given an empty queue
      When message "stale" is sent to the queue with delivery mode non-persistent and a time to live of 1 s
      And 1500 ms have passed since "stale" was sent
      And message "fresh" is sent to the queue
      And a receiver starts to wait on the queue
      Then the receiver sees "fresh" exactly once
      And the receiver never sees "stale"

    @needs-queue
    Scenario: Without a delay, a receiver that comes 500 ms too late gets nothing
      Given an empty queue
      When message "stale" is sent to the queue with a time to live of 1 s
      And 1500 ms have passed since "stale" was sent
      And message "fresh" is sent to the queue
      And a receiver starts to wait on the queue
      Then the receiver sees "fresh" exactly once
      And the receiver never sees "stale"

    @needs-queue
    Scenario: A time to live of the send alone ends likewise
      Given an empty queue
      When message "stale" is sent to the queue with a time to live of 1 s for this send only
      And 1500 ms have passed since "stale" was sent
      And message "fresh" is sent to the queue
      And a receiver starts to wait on the queue
      Then the receiver sees "fresh" exactly once
      And the receiver never sees "stale"

    @needs-topic @needs-durable-subscription
    Scenario: What a durable subscriber missed expires too
      Given a topic
      And a durable subscriber "steady" on the topic
      And subscriber "steady" is inactive
      When message "stale" is sent to the topic with a time to live of 1 s
      And 1500 ms have passed since "stale" was sent
      And message "fresh" is sent to the topic
      And subscriber "steady" comes back
      Then "steady" sees "fresh" exactly once
      And "steady" never sees "stale"

    @needs-delivery-delay
    Scenario: A receiver that comes between the delay and the time to live gets it
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of 1 s and a time to live of 4 s
      And 2 s have passed since "slow" was sent
      And a receiver starts to wait on the queue
      Then the receiver sees "slow" exactly once

    @needs-delivery-delay
    Scenario: A receiver that waits all along gets it when its delay is over
      Given an empty queue
      And a receiver is waiting on the queue
      When message "slow" is sent to the queue with a delivery delay of 1 s and a time to live of 4 s
      Then the receiver sees "slow" exactly once

    @needs-delivery-delay
    Scenario: The time to live does not start anew when the delay is over
      Given an empty queue
      When message "stale" is sent to the queue with a delivery delay of 2 s and a time to live of 3 s
      And 4 s have passed since "stale" was sent
      And message "fresh" is sent to the queue
      And a receiver starts to wait on the queue
      Then the receiver sees "fresh" exactly once
      And the receiver never sees "stale"

    @needs-delivery-delay @needs-topic @needs-durable-subscription
    Scenario: The time to live of a publication does not start anew either
      Given a topic
      And a durable subscriber "steady" on the topic
      And subscriber "steady" is inactive
      When message "stale" is sent to the topic with a delivery delay of 2 s and a time to live of 3 s
      And 4 s have passed since "stale" was sent
      And message "fresh" is sent to the topic
      And subscriber "steady" comes back
      Then "steady" sees "fresh" exactly once
      And "steady" never sees "stale"

    @needs-delivery-delay @needs-restart
    Scenario: A restart does not renew the time to live
      Given an empty queue
      When message "stale" is sent to the queue with a delivery delay of 1 s and a time to live of 2 s
      And the broker is restarted
      And 2500 ms have passed since "stale" was sent
      And message "fresh" is sent to the queue
      And a receiver starts to wait on the queue
      Then the receiver sees "fresh" exactly once
      And the receiver never sees "stale"

    @needs-delivery-delay @may
    Scenario: A time to live equal to the delay leaves either outcome
      Given an empty queue
      And a receiver is waiting on the queue
      When message "edge" is sent to the queue with a delivery delay of 1 s and a time to live of 1 s
      And 2 s have passed since "edge" was sent
      Then the receiver sees "edge" at most once

    @needs-delivery-delay @needs-local-transaction
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
