Feature: Sentences of steps that the kit's own features do not use

  @PD-34
  Rule: Receivers
    Scenario: A named receiver closes its session, and a receiver that connects later gets the message
      Given an empty queue
      And receiver "early" on the queue in client mode
      When message "m1" is sent to the queue
      And "early" receives 1 messages
      And the session of "early" is closed
      And receiver "late" connects to the queue
      Then "late" sees "m1" exactly once
    Scenario: A receiver connects in client mode
      Given an empty queue
      When message "m1" is sent to the queue
      And receiver "late" connects to the queue in client mode
      Then "late" sees "m1" exactly once
    Scenario: A receiver without a name connects
      Given an empty queue
      When 2 messages are sent to the queue with priority 7
      And a receiver connects to the queue
      Then the receiver sees each of these messages exactly once
    Scenario: A receiver gets only the messages that it selects
      Given an empty queue
      And receiver "red" on the queue for messages with "colour = 'red'"
      And receiver "any" on the queue
      When message "m1" is sent to the queue with property colour = "red"
      And receiver "red" polls every 100 ms for 1 s
      Then "red" sees "m1" exactly once
    Scenario: A receiver that is closed leaves the message to the next
      Given an empty queue
      And a receiver on the queue
      When the receiver is closed
      And message "m1" is sent to the queue with correlation id "c"
      And receiver "late" starts to wait on the queue
      Then "late" sees "m1" as it was sent
      And "late" sees "m1" with the ids that it was sent with
      And "late" sees "m1" in time, 0 ms after its send
    Scenario: A receiver whose connection is closed leaves the message to the next
      Given an empty queue
      And a receiver on the queue
      When the receiver's connection is closed
      And message "m1" is sent to the queue
      And receiver "late" starts to wait on the queue
      Then "late" sees "m1" exactly once
    Scenario: A receiver whose connection is lost leaves the message to the next
      Given an empty queue
      And a receiver on the queue
      When the receiver's connection is lost
      And message "m1" is sent to the queue
      And receiver "late" starts to wait on the queue
      Then "late" sees "m1" exactly once
    Scenario: A session that is recovered delivers its message again
      Given an empty queue
      And session "work" in client mode
      And receiver "worker" of session "work" on the queue
      When message "m1" is sent to the queue
      And "worker" receives 1 messages
      And session "work" is recovered
      Then "worker" sees "m1" again, marked as redelivered
    Scenario: A session that is closed leaves its message to the next
      Given an empty queue
      And session "work" in client mode
      And receiver "worker" of session "work" on the queue
      When message "m1" is sent to the queue
      And session "work" is closed
      And receiver "late" starts to wait on the queue
      Then "late" sees "m1" exactly once
    Scenario: Two producers of a session have different settings
      Given an empty queue
      And session "work" in auto mode
      And producer "first" of session "work" on the queue
      And producer "second" of session "work" without a destination
      When the priority of producer "first" is set to 9
      And the time to live of producer "first" is set to 1 h
      And producer "second" sends message "m1" to the queue with priority 3 for this send only
      And producer "second" is closed
      And producer "first" sends message "m2"
      And a receiver starts to wait on the queue
      Then the receiver sees "m1" and "m2" exactly once
    Scenario: An idle producer does not affect the messages of other producers
      Given an empty queue
      And producer "idle" on the queue
      And a receiver is waiting on the queue
      When message "m1" is sent to the queue
      Then the receiver sees "m1" exactly once
    Scenario: Messages show their headers
      Given an empty queue
      And a receiver is waiting on the queue
      When a message is sent to the queue with delivery mode persistent
      Then the message shows JMSDeliveryMode "PERSISTENT" after the send
      And the message as seen by "receiver" shows JMSDeliveryMode "PERSISTENT"
    Scenario: A queue is browsed
      Given an empty queue
      When message "m1" is sent to the queue
      And the queue is browsed
      Then the queue holds "m1"

  @PD-34 @needs-batch-listener
  Rule: Batches
    Scenario: A named receiver takes batches
      Given an empty queue
      And messages "m1" to "m4" are sent to the queue
      And receiver "clerk" on the queue
      When "clerk" starts to take batches of at most 2 within 1 s
      Then "clerk" sees "m1" to "m4" exactly once
      And "clerk"'s batches hold at most 2 messages
      And "clerk" receives 2 batches of exactly 2 messages
    Scenario: A named receiver works on each of its batches
      Given an empty queue
      And messages "m1" to "m4" are sent to the queue
      And receiver "clerk" on the queue
      When "clerk" starts to take batches of at most 2 within 1 s and works 100 ms on each
      Then "clerk" sees "m1" to "m4" exactly once

  @PD-34 @needs-admin @own-instance
  Rule: Objects and users
    Scenario: A queue is defined, and a command is refused
      Given an empty queue
      When queue "orders" is defined
      And message "m1" is sent to queue "orders"
      And queue "orders" is deleted
      Then the command is refused with MQRC_OBJECT_IN_USE
    Scenario: The queue manager no longer uses its dead-letter queue
      Given a queue "dlq" that is the dead-letter queue
      When the queue manager no longer has a dead-letter queue
      And the queue manager is altered to MAXUMSGS(2)
      And message "m1" is sent to queue "dlq"
      Then queue "dlq" holds "m1"
    Scenario: A user may put to a queue that ordinary users may not use
      Given an empty queue
      And ordinary users lose their authority for the queue
      And a connection "hers" of user "alice"
      When user "alice" is allowed to put to the queue
      And user "alice" sends message "m1" to the queue
      Then the queue holds "m1"
    Scenario: The send of a user without authority is refused
      Given an empty queue
      And ordinary users lose their authority for the queue
      When user "alice" sends message "m1" to the queue
      Then it is refused as a security error
    @needs-delivery-delay
    Scenario: A report comes back
      Given a queue with MAXDEPTH(10)
      And a queue "replies" with MAXDEPTH(10)
      And message "m1" is sent to the queue with a delivery delay of 2 s, reply-to queue "replies" and report options MQRO_EXCEPTION and MQRO_DISCARD_MSG
      And the queue has been altered to PUT(DISABLED)
      When 4 s have passed since "m1" was sent
      Then queue "replies" holds 1 reports

  @PD-34 @needs-topic @needs-shared-subscription @needs-durable-subscription
  Rule: Subscribers
    Scenario: A second subscriber joins a shared subscription to a named topic
      Given a topic "news"
      And subscriber "first" shares durable subscription "club" on topic "news"
      When subscriber "first" goes away
      And subscriber "second" joins shared durable subscription "club" on topic "news"
      And message "m1" is sent to topic "news"
      Then "second" sees "m1" exactly once

  @PD-34 @topology-cluster
  Rule: Queue managers
    Scenario: A client is connected to the second queue manager
      Given an empty queue
      And a connection "far" to queue manager "B"
      And a receiver is waiting on the queue
      When message "m1" is sent to the queue
      Then the receiver sees "m1" exactly once

  @PD-34 @needs-kill @needs-kill-at-answer @needs-kill-at-first-sight @needs-cut
  Rule: Faults
    Scenario: Connections are cut
      Given an empty queue
      When message "m1" is sent to the queue
      And every connection is cut
      And receiver "late" starts to wait on the queue
      Then "late" sees "m1" exactly once
    Scenario: The broker is killed at the answer to a message
      Given an empty queue
      When message "m1" is sent to the queue and the broker is killed just after it answers
      And receiver "late" starts to wait on the queue
      Then "late" sees "m1" exactly once
    Scenario: The broker is killed at the answer to a message with options
      Given an empty queue
      When message "m1" is sent to the queue with priority 7 and the broker is killed just after it answers
      And receiver "late" starts to wait on the queue
      Then "late" sees "m1" exactly once
    Scenario: The broker is killed before the answer, and takes messages again
      Given an empty queue
      When message "m1" is sent to the queue and the broker is killed before it answers
      And message "m2" is sent to the queue with priority 7 and the broker is killed before it answers
      And message "control" is sent to the queue
      And receiver "late" starts to wait on the queue
      Then "late" sees "control" exactly once
    Scenario: The broker is killed at the first sight of a message with options
      Given an empty queue
      And a receiver is waiting on the queue
      When message "m1" is sent to the queue with delivery mode persistent and the broker is killed when the message is first seen
      And receiver "late" starts to wait on the queue
      Then "late" sees "m1" at most once

    Scenario: A named receiver sees a message that came while its connection was stopped
      Given an empty queue
      And receiver "late" is waiting on the queue
      When the connection of "late" is stopped
      And message "m1" is sent to the queue
      And the connection of "late" is started
      Then "late" sees "m1" within 2 s after its connection was started, with a tolerance of a second

  @PD-34 @needs-topic @needs-quality-of-service @needs-subscription-ttl @needs-admin
  Rule: Subscriptions
    Scenario: Two subscriptions are counted
      Given a topic
      And subscriber "one" on the topic with quality of service at-least-once
      And subscriber "two" on the topic with quality of service at-most-once and a subscription that lives for 1 h
      When message "m1" is sent to the topic
      Then there are 2 subscriptions to the topic
