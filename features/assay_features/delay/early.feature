Feature: A delayed message cannot be had before its delay is over
  IBM MQ, JMS 2.0 delivery delay, lines 3 and 5.

  @DD-02 @needs-delivery-delay
  Rule: Nobody can get the message before send time + delay
    Early means: seen before the start of the send call plus the delay, on the observer's clock.

    Scenario Outline: A waiting receiver sees it no earlier than its delay
      Given an empty queue
      And a receiver is waiting on the queue
      When a message is sent to the queue with a delivery delay of <delay>
      Then the receiver sees it no earlier than <delay> after the send

      Examples:
        | delay   |
        | 1 ms    |
        | 500 ms  |
        | 2 s     |

    Scenario: A receiver that polls sees nothing early
      Given an empty queue
      And a receiver on the queue
      When a message is sent to the queue with a delivery delay of 1500 ms
      And the receiver polls every 100 ms for 2 s
      Then the receiver sees it no earlier than 1500 ms after the send

    @needs-browse
    Scenario: A browser does not find it early
      Given an empty queue
      When message "now" is sent to the queue
      And message "slow" is sent to the queue with a delivery delay of 2 s
      Then browsing the queue does not show "slow"
      And browsing the queue shows "now"

    @needs-topic
    Scenario: A waiting subscriber sees it no earlier than its delay
      Given a topic
      And a non-durable subscriber "live" on the topic
      When message "slow" is sent to the topic with a delivery delay of 1500 ms
      Then "live" sees "slow" no earlier than 1500 ms after its send

    @needs-topic @needs-shared-subscription
    Scenario: Two who share a subscription see it no earlier than its delay
      Given a topic
      And subscriber "left" shares non-durable subscription "pair" on the topic
      And subscriber "right" shares non-durable subscription "pair" on the topic
      When message "slow" is sent to the topic with a delivery delay of 1500 ms
      Then nobody sees "slow" earlier than 1500 ms after its send

    @needs-selector
    Scenario: A receiver that selects sees it no earlier than its delay
      Given an empty queue
      And receiver "picky" is waiting on the queue for messages with "colour = 'red'"
      When message "slow" is sent to the queue with a delivery delay of 1500 ms and property colour = "red"
      Then "picky" sees "slow" no earlier than 1500 ms after its send

    Scenario: A later send with a shorter delay overtakes
      Given an empty queue
      And a receiver is waiting on the queue
      When message "slow" is sent to the queue with a delivery delay of 3 s
      And message "fast" is sent to the queue with a delivery delay of 1 s
      Then the receiver sees "fast", "slow" in that order

    Scenario: Several delays interleave without one coming early
      Given an empty queue
      And a receiver is waiting on the queue
      When message "third" is sent to the queue with a delivery delay of 3 s
      And message "first" is sent to the queue with a delivery delay of 1 s
      And message "second" is sent to the queue with a delivery delay of 2 s
      Then nobody sees "first" earlier than 1 s after its send
      And nobody sees "second" earlier than 2 s after its send
      And nobody sees "third" earlier than 3 s after its send

    @needs-priority
    Scenario: A high priority does not shorten the delay
      Given an empty queue
      And a receiver is waiting on the queue
      When message "urgent" is sent to the queue with a delivery delay of 1500 ms and priority 9
      Then the receiver sees "urgent" no earlier than 1500 ms after its send

    @needs-local-transaction
    Scenario: A send that is rolled back is never seen
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      When message "undone" is sent in session "work" to the queue with a delivery delay of 1 s
      And session "work" is rolled back
      And message "done" is sent to the queue with a delivery delay of 1 s
      Then the receiver sees "done" exactly once
      And the receiver never sees "undone"

    @needs-kill
    Scenario: A kill during the delay does not bring it early
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of 12 s
      And the broker is killed and comes back
      And a receiver starts to wait on the queue
      Then the receiver sees "slow" no earlier than 12 s after its send
