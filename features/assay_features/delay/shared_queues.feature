Feature: Delayed messages reach a shared queue through the private staging queue of one queue manager
  IBM MQ, JMS 2.0 delivery delay, lines 31, 49 and 50.  A and B are queue managers of one queue-sharing group.

  @DD-45 @needs-delivery-delay @needs-admin @platform-zos @topology-sharing-group
  Rule: A delayed send to a shared queue goes through the staging queue of the queue manager that accepted it
    Lines 31 and 49: there is one private staging queue, whether the target is shared or not.

    @needs-non-persistent
    Scenario Outline: A delayed <mode> message that queue manager A accepted is delivered to a receiver at queue manager B
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And a queue with QSGDISP(SHARED)
      And a receiver is waiting on the queue at queue manager "B"
      When message "slow" is sent to the queue with a delivery delay of 1 s and delivery mode <mode>
      Then the receiver sees "slow" exactly once
      And the receiver sees "slow" no earlier than 1 s after its send

      Examples:
        | mode           |
        | persistent     |
        | non-persistent |

    Scenario: A delayed message that queue manager A accepted is delivered to a receiver at queue manager A
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And a queue with QSGDISP(SHARED)
      And a receiver is waiting on the queue
      When message "slow" is sent to the queue with a delivery delay of 1 s
      Then the receiver sees "slow" exactly once
      And the receiver sees "slow" no earlier than 1 s after its send

    Scenario: A delayed message that was sent to an alias is delivered to a receiver at queue manager B, too
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And a queue with QSGDISP(SHARED)
      And an alias "front" for the queue
      And a receiver is waiting on the queue at queue manager "B"
      When message "slow" is sent to alias "front" with a delivery delay of 1 s
      Then the receiver sees "slow" exactly once
      And the receiver sees "slow" no earlier than 1 s after its send

    @needs-topic
    Scenario: A publication for an administered subscription is delivered to a receiver at queue manager B, too
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And a queue with QSGDISP(SHARED)
      And a topic
      And an administered subscription "orders" from the topic to the queue
      And a receiver is waiting on the queue at queue manager "B"
      When message "slow" is sent to the topic with a delivery delay of 1 s
      Then the receiver sees "slow" exactly once
      And the receiver sees "slow" no earlier than 1 s after its send

    Scenario: During the delay, the message is only on the staging queue of the queue manager that accepted it
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And the staging queue at queue manager "B" has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And a queue with QSGDISP(SHARED)
      When message "slow" is sent to the queue with a delivery delay of 1 h
      Then the staging queue holds "slow"
      And the staging queue at queue manager "B" is empty
      And the queue at queue manager "B" is empty

    Scenario: Each queue manager stages the messages that it accepted
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And the staging queue at queue manager "B" has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And a queue with QSGDISP(SHARED)
      And a receiver is waiting on the queue
      When message "first" is sent to the queue with a delivery delay of 10 s
      And message "second" is sent to the queue at queue manager "B" with a delivery delay of 10 s
      Then the staging queue holds "first"
      And the staging queue does not hold "second"
      And the staging queue at queue manager "B" holds "second"
      And the receiver sees "first" and "second" exactly once

    Scenario: A queue manager without a staging queue does not use the staging queue of another queue manager
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And a queue with QSGDISP(SHARED)
      And a receiver is waiting on the queue
      When message "slow" is sent to the queue at queue manager "B" with a delivery delay of 1 s
      And message "now" is sent to the queue at queue manager "B"
      And "slow" is overdue
      Then the receiver sees "now" exactly once
      And the receiver never sees the refused "slow"

    @needs-local-transaction
    Scenario: A delayed message of a unit of work is delivered to a receiver at queue manager B
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And a queue with QSGDISP(SHARED)
      And a receiver is waiting on the queue at queue manager "B"
      And session "work" in transacted mode
      When message "slow" is sent in session "work" to the queue with a delivery delay of 3 s
      And session "work" is committed
      Then the receiver sees "slow" exactly once
      And the receiver sees "slow" no earlier than 3 s after its send

    @own-instance
    Scenario: A message that the shared queue refuses is dead-lettered at the queue manager that staged it
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And a queue with QSGDISP(SHARED) MAXDEPTH(1)
      And message "slow" is sent to the queue with a delivery delay of 2 s
      And message "filler" is sent to the queue
      Then the dead-letter queue holds "slow" with reason MQRC_Q_FULL and destination the queue
      And the staging queue no longer holds "slow"

    @needs-time-to-live
    Scenario: On a shared queue, too, the delay counts as part of the time to live
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And a queue with QSGDISP(SHARED)
      And message "stale" is sent to the queue with a delivery delay of 5 s and a time to live of 8 s
      When 11 s have passed since "stale" was sent
      And message "fresh" is sent to the queue
      And a receiver starts to wait on the queue at queue manager "B"
      Then the receiver sees "fresh" exactly once
      And the receiver never sees "stale"

  @DD-46 @needs-delivery-delay @needs-admin @platform-zos @topology-sharing-group @own-instance
  Rule: A staged message is delivered to the shared queue only while the queue manager that staged it is running
    Line 49.  If the queue manager is down at the end of the delay, the message is delivered after its start.  The
    messages are persistent; the next rule is about non-persistent ones.

    Scenario: While the queue manager that staged the message is down, the message is not delivered
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And a queue with QSGDISP(SHARED)
      And a receiver is waiting on the queue at queue manager "B"
      And message "slow" is sent to the queue with a delivery delay of 1 s
      When queue manager "A" is stopped
      And message "now" is sent to the queue at queue manager "B"
      And "slow" is overdue
      Then the receiver sees "now" exactly once
      And the receiver never sees "slow"

    Scenario: After the start of the queue manager that staged the message, the message is delivered once
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And a queue with QSGDISP(SHARED)
      And a receiver is waiting on the queue at queue manager "B"
      And message "slow" is sent to the queue with a delivery delay of 1 s
      When queue manager "A" is stopped
      And "slow" is overdue
      And queue manager "A" is started again
      Then the receiver sees "slow" in time after queue manager "A" was started again
      And the receiver sees "slow" exactly once

    Scenario: A queue manager that starts during the delay does not deliver the message before the delay is over
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And a queue with QSGDISP(SHARED)
      And a receiver is waiting on the queue at queue manager "B"
      And message "slow" is sent to the queue with a delivery delay of 3 s
      When queue manager "A" is stopped
      And 1 s pass
      And queue manager "A" is started again
      Then the receiver sees "slow" exactly once
      And the receiver sees "slow" no earlier than 3 s after its send

    Scenario: A queue manager that is started again delivers each of the messages that it had staged
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And a queue with QSGDISP(SHARED)
      And messages "m1" to "m3" are sent to the queue with a delivery delay of 1 s
      When queue manager "A" is stopped
      And "m3" is overdue
      And queue manager "A" is started again
      And a receiver starts to wait on the queue at queue manager "B"
      Then the receiver sees "m1" to "m3" exactly once

    Scenario: A delayed message is delivered although another queue manager of the group is down
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And a queue with QSGDISP(SHARED)
      And a receiver is waiting on the queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      When queue manager "B" is stopped
      Then the receiver sees "slow" exactly once

    @evidence @needs-kill
    Scenario: After a kill of the queue manager that staged a message, the message is delivered once
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And a queue with QSGDISP(SHARED)
      And message "slow" is sent to the queue with a delivery delay of 2 s and correlation id "c"
      When the broker is killed and comes back
      And a receiver starts to wait on the queue at queue manager "B"
      Then the receiver sees "slow" exactly once

  @DD-47 @needs-delivery-delay @needs-admin @needs-non-persistent @platform-zos @topology-sharing-group @own-instance
  Rule: A non-persistent delayed message may be lost when the queue manager that staged it shuts down
    Line 50 permits the loss.  The scenarios record whether the message is lost; it comes neither early nor twice.  A
    non-persistent message that is already on the shared queue survives the stop of any queue manager; the document
    assumes this when it says that a delay makes loss more likely.

    Scenario: If a queue manager stops, a non-persistent message stays on the shared queue, and a staged message may be lost
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And a queue with QSGDISP(SHARED)
      And message "there" is sent to the queue with delivery mode non-persistent
      And message "slow" is sent to the queue with delivery mode non-persistent and a delivery delay of 1 s
      When queue manager "A" is stopped
      And queue manager "A" is started again
      And "slow" is overdue
      And a receiver starts to wait on the queue at queue manager "B"
      Then the receiver sees "there" exactly once
      And the receiver sees "slow" at most once

    Scenario: A message on the shared queue can be received while the queue manager that accepted it is down
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And a queue with QSGDISP(SHARED)
      And message "there" is sent to the queue with delivery mode non-persistent
      And message "slow" is sent to the queue with delivery mode non-persistent and a delivery delay of 1 s
      When queue manager "A" is stopped
      And "slow" is overdue
      And a receiver starts to wait on the queue at queue manager "B"
      Then the receiver sees "there" exactly once
      And the receiver waits for 1 s and does not see "slow"

    Scenario: A staged message that survives a stop of its queue manager is not delivered early
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And a queue with QSGDISP(SHARED)
      And message "slow" is sent to the queue with delivery mode non-persistent and a delivery delay of 1 h
      When queue manager "A" is stopped
      And queue manager "A" is started again
      And a receiver starts to wait on the queue at queue manager "B"
      And message "now" is sent to the queue at queue manager "B"
      Then the receiver sees "now" exactly once
      And the receiver waits for 1 s and does not see "slow"
