Feature: Delayed messages wait on one staging queue
  IBM MQ, JMS 2.0 delivery delay, lines 7 and 30.

  @DD-05 @needs-delivery-delay @needs-admin
  Rule: A delayed message is held on one internal staging queue, with a header that names its delay and its target
    Line 7.  Nobody but an administrator looks at that queue.  The document gives no layout of the header, so what is
    tried is that both can be read there, under whatever name.

    @needs-non-persistent
    Scenario Outline: While its delay lasts, a <mode> message is on the staging queue and not on its target
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of 2 s and delivery mode <mode>
      Then the staging queue holds "slow"
      And the queue is empty
      Examples:
        | mode           |
        | persistent     |
        | non-persistent |

    @own-instance
    Scenario: The staging queue has one message more, and the target none
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of 2 s
      Then the depth of the staging queue is 1
      And the depth of the queue is 0

    Scenario Outline: The header names the target and a delay of <delay>
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of <delay>
      Then the header of "slow" on the staging queue names the queue and a delay of <delay>
      Examples:
        | delay |
        | 2 s   |
        | 1 h   |

    @own-instance
    Scenario: Messages for several targets wait on the same staging queue
      Given an empty queue "one"
      And an empty queue "two"
      When message "first" is sent to queue "one" with a delivery delay of 2 s
      And message "second" is sent to queue "two" with a delivery delay of 3 s
      Then the staging queue holds "first" and "second"
      And the staging queue holds 2 messages
      And the header of "first" on the staging queue names queue "one" and a delay of 2 s
      And the header of "second" on the staging queue names queue "two" and a delay of 3 s

    @needs-topic
    Scenario: A publication waits there too
      Given a topic
      And a non-durable subscriber "reader" on the topic
      When message "news" is sent to the topic with a delivery delay of 2 s
      Then the staging queue holds "news"

    @needs-restart
    Scenario: After a restart the header still names the target and the delay
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of 1 h
      And the broker is restarted
      Then the header of "slow" on the staging queue names the queue and a delay of 1 h

  @DD-06 @needs-delivery-delay @needs-admin
  Rule: The delivery delay processor moves each message to its target when its delay is over
    Line 7.  Moved: from then on it is on the target, as its sender sent it, and no longer on the staging queue.

    @needs-non-persistent
    Scenario Outline: When its delay is over, a <mode> message is on its target and not on the staging queue
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of 1 s and delivery mode <mode>
      And 2 s have passed since "slow" was sent
      Then the queue holds "slow"
      And the staging queue does not hold "slow"
      Examples:
        | mode           |
        | persistent     |
        | non-persistent |

    @own-instance
    Scenario: The depths of both queues change places
      Given an empty queue
      When messages "m1" to "m3" are sent to the queue with a delivery delay of 1 s
      Then the depth of the staging queue is 3
      And the depth of the queue is 0
      When 2 s have passed since "m3" was sent
      Then the depth of the staging queue is 0
      And the depth of the queue is 3

    Scenario: The header is gone on the target
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of 1 s
      And 2 s have passed since "slow" was sent
      Then "slow" on the queue has no header

    Scenario: Each message is moved at its own moment
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of 4 s
      And message "quick" is sent to the queue with a delivery delay of 1 s
      And 2 s have passed since "quick" was sent
      Then the queue holds "quick"
      And the staging queue holds "slow"
      And the staging queue does not hold "quick"
      And the queue does not hold "slow"

    @needs-topic
    Scenario: A publication is moved to its subscriber
      Given a topic
      And a non-durable subscriber "reader" on the topic
      When message "news" is sent to the topic with a delivery delay of 1 s
      And 2 s have passed since "news" was sent
      Then the staging queue does not hold "news"
      And "reader" sees "news" exactly once

    @needs-local-transaction
    Scenario: Rolled back by who has received it, the message is on its queue and does not wait again
      Given an empty queue
      And session "work" in transacted mode
      And receiver "own" of session "work" on the queue
      When message "slow" is sent to the queue with a delivery delay of 2 s
      And "own" receives a message
      And session "work" is rolled back
      And "own" is closed
      Then the queue holds "slow"

    @needs-virtual-time
    Scenario: A message comes in time after a delay of an hour too
      Given an empty queue
      And a receiver is waiting on the queue
      When message "slow" is sent to the queue with a delivery delay of 1 h
      And 1 h pass
      Then the receiver sees "slow" in time, 1 h after its send

  @DD-35 @needs-delivery-delay @needs-admin @own-instance
  Rule: On distributed platforms the staging queue exists by default
    Line 30, which names it SYSTEM.DDELAY.LOCAL.QUEUE.  Nobody defines anything in these scenarios.

    Scenario: It is there, and takes the first delayed message
      Given an empty queue
      Then the staging queue exists
      When message "slow" is sent to the queue with a delivery delay of 2 s
      Then sending "slow" is accepted
      And the staging queue holds "slow"

    @needs-restart
    Scenario: It is there after a restart
      Given the broker has been restarted
      Then the staging queue exists
      When message "slow" is sent to the queue with a delivery delay of 2 s
      Then sending "slow" is accepted
      And the staging queue holds "slow"

  @DD-36 @needs-delivery-delay @needs-admin @own-instance
  Rule: MAXDEPTH and MAXMSGL of the staging queue can be altered, and limit what can be staged
    Line 30 has them altered so that they suffice for the load.  The target queue is large enough in all scenarios, so
    the limit is the staging queue's.  Whether MAXMSGL counts the header is undocumented, and recorded.

    Scenario: Both can be altered
      When the staging queue is altered to MAXDEPTH(7) MAXMSGL(20000)
      Then the command is accepted
      And the staging queue has MAXDEPTH(7) MAXMSGL(20000)

    Scenario: As many messages as MAXDEPTH says can be staged
      Given the staging queue has been altered to MAXDEPTH(2)
      And an empty queue
      When messages "m1" and "m2" are sent to the queue with a delivery delay of 2 s
      Then sending "m1" is accepted
      And sending "m2" is accepted
      And the staging queue holds "m1" and "m2"

    Scenario: One more than MAXDEPTH is refused
      Given the staging queue has been altered to MAXDEPTH(2)
      And an empty queue
      When messages "m1" to "m3" are sent to the queue with a delivery delay of 2 s
      Then sending "m3" is refused with MQRC_Q_FULL
      And the staging queue holds 2 messages

    Scenario: Messages for other targets count too
      Given the staging queue has been altered to MAXDEPTH(1)
      And an empty queue "one"
      And an empty queue "two"
      When message "m1" is sent to queue "one" with a delivery delay of 2 s
      And message "m2" is sent to queue "two" with a delivery delay of 2 s
      Then sending "m2" is refused with MQRC_Q_FULL
      And the staging queue holds 1 message

    Scenario: Once MAXDEPTH is raised, more can be staged
      Given the staging queue has been altered to MAXDEPTH(1)
      And an empty queue
      And messages "m1" and "m2" are sent to the queue with a delivery delay of 2 s
      When the staging queue is altered to MAXDEPTH(2)
      And message "m3" is sent to the queue with a delivery delay of 2 s
      Then sending "m2" is refused with MQRC_Q_FULL
      And sending "m3" is accepted
      And the staging queue holds "m1" and "m3"

    Scenario: A place that a moved message leaves can be taken again
      Given the staging queue has been altered to MAXDEPTH(1)
      And an empty queue
      And message "m1" is sent to the queue with a delivery delay of 1 s
      When 2 s have passed since "m1" was sent
      And message "m2" is sent to the queue with a delivery delay of 1 s
      Then sending "m2" is accepted
      And the staging queue holds "m2"

    Scenario: A message that is well below MAXMSGL can be staged
      Given the staging queue has been altered to MAXMSGL(10000)
      And an empty queue
      When message "m1" is sent to the queue with a delivery delay of 2 s and a body of 8000 B
      Then sending "m1" is accepted
      And the staging queue holds "m1"

    Scenario: A message of one byte more than MAXMSGL is refused
      Given the staging queue has been altered to MAXMSGL(10000)
      And an empty queue
      When message "m1" is sent to the queue with a delivery delay of 2 s and a body of 10001 B
      Then sending "m1" is refused with MQRC_MSG_TOO_BIG_FOR_Q
      And the staging queue does not hold "m1"

    Scenario: Once MAXMSGL is raised, a longer message can be staged
      Given the staging queue has been altered to MAXMSGL(10000)
      And the staging queue has been altered to MAXMSGL(20000)
      And an empty queue
      When message "m1" is sent to the queue with a delivery delay of 2 s and a body of 10001 B
      Then sending "m1" is accepted
      And the staging queue holds "m1"

    Scenario: Whether a message of just MAXMSGL can be staged is recorded, and one byte more cannot
      Given the staging queue has been altered to MAXMSGL(10000)
      And an empty queue
      When message "edge" is sent to the queue with a delivery delay of 2 s and a body of 10000 B
      And message "over" is sent to the queue with a delivery delay of 2 s and a body of 10001 B
      Then sending "edge" is accepted or refused, which is recorded
      And sending "over" is refused with MQRC_MSG_TOO_BIG_FOR_Q

    @needs-restart
    Scenario: A limit that was altered still holds after a restart
      Given the staging queue has been altered to MAXDEPTH(1) MAXMSGL(20000)
      And the broker has been restarted
      And an empty queue
      When messages "m1" and "m2" are sent to the queue with a delivery delay of 2 s
      Then sending "m1" is accepted
      And sending "m2" is refused with MQRC_Q_FULL
      And the staging queue has MAXDEPTH(1) MAXMSGL(20000)

    @needs-restart
    Scenario: What was staged before a restart counts after it
      Given the staging queue has been altered to MAXDEPTH(2)
      And an empty queue
      And message "m1" is sent to the queue with a delivery delay of 1 h
      And the broker has been restarted
      When messages "m2" and "m3" are sent to the queue with a delivery delay of 1 h
      Then sending "m2" is accepted
      And sending "m3" is refused with MQRC_Q_FULL
      And the staging queue holds "m1" and "m2"

    @needs-non-persistent
    Scenario: Non-persistent messages count too
      Given the staging queue has been altered to MAXDEPTH(1)
      And an empty queue
      When messages "m1" and "m2" are sent to the queue with a delivery delay of 1 h and delivery mode non-persistent
      Then sending "m1" is accepted
      And sending "m2" is refused with MQRC_Q_FULL
      And the staging queue holds 1 message
