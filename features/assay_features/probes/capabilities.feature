Feature: A backend's declared capabilities exist, and its undeclared ones do not
  Each scenario looks for one capability through the client under test, whether the backend declares it or not.  It
  tests no rule; its verdict is about the declaration.

  @probe-queue
  Scenario: A queue delivers a message to its receiver
    Given an empty queue
    And a receiver is waiting on the queue
    When message "m1" is sent to the queue
    Then sending "m1" is accepted
    And the receiver sees "m1" exactly once

  @probe-topic
  Scenario: A topic delivers a copy to each subscriber
    Given a topic
    And a non-durable subscriber "one" on the topic
    And a non-durable subscriber "two" on the topic
    When message "m1" is sent to the topic
    Then sending "m1" is accepted
    And "one" sees "m1" exactly once
    And "two" sees "m1" exactly once

  @probe-delivery-delay
  Scenario: A delayed message does not come before its delay is over
    Given an empty queue
    And a receiver is waiting on the queue
    When message "m1" is sent to the queue with a delivery delay of 1 s
    Then sending "m1" is accepted
    And the receiver sees "m1" no earlier than 1 s after its send
    And the receiver sees "m1" exactly once

  @probe-time-to-live @needs-queue
  Scenario: A message whose time to live is over does not come
    Given an empty queue
    When message "short" is sent to the queue with a time to live of 500 ms
    And message "long" is sent to the queue
    And 1500 ms have passed since "short" was sent
    And a receiver starts to wait on the queue
    Then sending "short" is accepted
    And the receiver sees "long" exactly once
    And the receiver never sees "short"

  @probe-priority
  Scenario: A message of higher priority comes before an earlier message of lower priority
    Given an empty queue
    When message "low" is sent to the queue with priority 1
    And message "high" is sent to the queue with priority 8
    And a receiver starts to wait on the queue
    Then sending "low" is accepted
    And sending "high" is accepted
    And the receiver sees "high" and "low" in that order

  @probe-selector
  Scenario: A receiver with a selector gets only the messages that it selects
    Given an empty queue
    And receiver "selecting" is waiting on the queue for messages with "colour = 'red'"
    When message "blue" is sent to the queue with property colour = "blue"
    And message "red" is sent to the queue with property colour = "red"
    Then sending "blue" is accepted
    And "selecting" sees "red" exactly once
    And "selecting" never sees "blue"

  @probe-browse
  Scenario: A browser shows a message and leaves it on the queue
    Given an empty queue
    When message "m1" is sent to the queue
    Then sending "m1" is accepted
    And browsing the queue shows "m1"
    When a receiver starts to wait on the queue
    Then the receiver sees "m1" exactly once

  @probe-durable-subscription
  Scenario: A durable subscription keeps a message while its subscriber is away
    Given a topic
    And a durable subscriber "away" on the topic
    And subscriber "away" is inactive
    When message "m1" is sent to the topic
    And subscriber "away" comes back
    Then sending "m1" is accepted
    And "away" sees "m1" exactly once

  @probe-shared-subscription
  Scenario: Each message goes to one of two subscribers of a shared subscription
    Given a topic
    And subscriber "left" shares non-durable subscription "pair" on the topic
    And subscriber "right" shares non-durable subscription "pair" on the topic
    When messages "m1" to "m4" are sent to the topic
    Then sending "m1" is accepted
    And "left" and "right" together see "m1" to "m4" exactly once

  @probe-local-transaction
  Scenario: Messages of a unit of work come after its commit, and never after its rollback
    Given an empty queue
    And a receiver is waiting on the queue
    And session "work" in transacted mode
    When message "undone" is sent in session "work" to the queue
    And session "work" is rolled back
    And message "done" is sent in session "work" to the queue
    And session "work" is committed
    Then sending "undone" is accepted
    And sending "done" is accepted
    And the receiver sees "done" exactly once
    And the receiver never sees "undone"
