Feature: What holds for single messages holds for batches
  The proposal says nothing of delay, expiry and subscriptions; the kit demands that batches change nothing of them.

  @BT-15 @needs-batch-listener
  Rule: Delivery delay, expiry and durable subscriptions hold for batches as they do for single messages
    No message joins a batch before it is due or after it has expired, and a subscription's missed messages come.

    @needs-delivery-delay
    Scenario Outline: A message with a delay of <delay> joins no batch early
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
    Scenario: A batch does not wait for a delayed message beyond its timeout
      Given it is known how long an unbatched message takes
      And an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 2 within 500 ms
      When message "delayed" is sent to the queue with a delivery delay of 3 s
      And message "prompt" is sent to the queue
      Then the receiver sees "prompt" exactly once
      And each batch of at most 2 reaches the receiver within 500 ms of its first message

    @needs-time-to-live
    Scenario: A message that has expired on the queue joins no batch
      Given an empty queue
      And a receiver on the queue
      And message "short" is sent to the queue with a time to live of 500 ms
      And message "long" is sent to the queue
      When 2 s pass
      And the receiver starts to take batches of at most 10 within 500 ms
      Then the receiver sees "long" exactly once
      And the receiver never sees "short"

    @needs-time-to-live
    Scenario: A message that expires while its batch is filled is left out of it
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 10 within 3 s
      When message "long" is sent to the queue
      And message "short" is sent to the queue with a time to live of 1 s
      Then the receiver sees "long" exactly once
      And the receiver never sees "short"

    @needs-topic @needs-durable-subscription
    Scenario: A durable subscription is read in batches with all that it missed
      Given a topic
      And a durable subscriber "reader" on the topic that does not receive yet
      And subscriber "reader" is inactive
      When messages "m1" to "m5" are sent to the topic
      And subscriber "reader" comes back to take batches of at most 2 within 500 ms
      Then "reader" sees "m1" to "m5" exactly once

    @needs-topic @needs-durable-subscription
    Scenario: A durable subscription keeps what comes between its batches
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
