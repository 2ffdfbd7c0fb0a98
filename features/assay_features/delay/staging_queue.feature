Feature: Delayed messages wait on one staging queue
  IBM MQ, JMS 2.0 delivery delay, lines 7 and 30.

  @DD-05 @needs-delivery-delay @needs-admin @needs-staging-queue
  Rule: A delayed message is held on one internal staging queue, with a header that names its delay and its target
    Line 7.  Only an administrator looks at this queue.  The document gives no layout of the header, so the scenarios
    test that delay and target can be read there, in any field and form: the delay in milliseconds, tenths or seconds,
    or the time of day of the delivery.

    @needs-non-persistent
    Scenario Outline: While its delay lasts, a <mode> message is on the staging queue and not on its target
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of 1 h and delivery mode <mode>
      Then the staging queue holds "slow"
      And the queue is empty
      Examples:
        | mode           |
        | persistent     |
        | non-persistent |

    @own-instance
    Scenario: A delayed message raises the depth of the staging queue, and leaves the depth of the target unchanged
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of 1 h
      Then the depth of the staging queue is 1
      And the depth of the queue is 0

    @needs-non-persistent
    Scenario Outline: A header of a staged <mode> message shows the target and the delay of <delay>
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of <delay> and delivery mode <mode>
      Then a header of "slow" on the staging queue names the queue
      And a header of "slow" on the staging queue shows its delay of <delay> or its delivery time
      Examples:
        | delay | mode           |
        | 1 m   | persistent     |
        | 1 h   | persistent     |
        | 1 h   | non-persistent |

    @own-instance
    Scenario: Messages for several targets wait on the same staging queue
      Given an empty queue "one"
      And an empty queue "two"
      When message "first" is sent to queue "one" with a delivery delay of 1 h
      And message "second" is sent to queue "two" with a delivery delay of 2 h
      Then the staging queue holds "first" and "second"
      And the staging queue holds 2 messages
      And a header of "first" on the staging queue names queue "one"
      And a header of "first" on the staging queue shows its delay of 1 h or its delivery time
      And a header of "second" on the staging queue names queue "two"
      And a header of "second" on the staging queue shows its delay of 2 h or its delivery time

    @needs-topic
    Scenario: A publication waits on the staging queue, too
      Given a topic
      And a non-durable subscriber "reader" on the topic
      When message "news" is sent to the topic with a delivery delay of 1 h
      Then the staging queue holds "news"
      And a header of "news" on the staging queue shows its delay of 1 h or its delivery time

    Scenario Outline: After the broker <event>, the header still names the target and the delay
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of 1 h
      And the broker <event>
      Then a header of "slow" on the staging queue names the queue
      And a header of "slow" on the staging queue shows its delay of 1 h or its delivery time

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @needs-local-transaction
    Scenario: The delay that the header shows counts from the send and not from the commit
      Given an empty queue
      And session "work" in transacted mode
      When message "slow" is sent in session "work" to the queue with a delivery delay of 1 h
      And 3 s have passed since "slow" was sent
      And session "work" is committed
      Then a header of "slow" on the staging queue names the queue
      And a header of "slow" on the staging queue shows its delay of 1 h or its delivery time

    @kit
    Scenario: The reference broker's header is called DDH, and has the delay in milliseconds
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of 1 h
      Then "slow" on the staging queue has headers "DDH"
      And "slow" on the staging queue has DDH.DeliveryDelay "3600000"
      And "slow" on the staging queue has DDH.StagingQName "SYSTEM.DDELAY.LOCAL.QUEUE"

    @kit @needs-local-transaction
    Scenario: In a unit of work, too, the delay in the reference broker's header counts from the send
      Given an empty queue
      And session "work" in transacted mode
      When message "slow" is sent in session "work" to the queue with a delivery delay of 1 h
      And 3 s have passed since "slow" was sent
      And session "work" is committed
      Then "slow" on the staging queue has DDH.DeliveryDelay "3600000"

  @DD-06 @needs-delivery-delay @needs-admin @needs-staging-queue
  Rule: The delivery delay processor moves each message to its target when its delay is over
    Line 7.  *Moved* means that the message is then on the target, without the header of the staging queue, and no
    longer on the staging queue.  The steps wait for this state, and do not look at a fixed time.

    @needs-non-persistent
    Scenario Outline: When its delay is over, a <mode> message is on its target and not on the staging queue
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of 1 s and delivery mode <mode>
      Then the queue holds "slow"
      And the staging queue no longer holds "slow"
      Examples:
        | mode           |
        | persistent     |
        | non-persistent |

    @own-instance
    Scenario: When the delay is over, the depth of the staging queue falls, and the depth of the target rises
      Given an empty queue
      When messages "m1" to "m3" are sent to the queue with a delivery delay of 10 s
      Then the depth of the staging queue is 3
      And the depth of the queue is 0
      When 10 s have passed since "m3" was sent
      And the staging queue no longer holds "m1" to "m3"
      Then the depth of the staging queue is 0
      And the depth of the queue is 3

    Scenario: On the target, the message has no staging header
      Given an empty queue
      When message "plain" is sent to the queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      Then "slow" on the queue and the undelayed "plain" have the same kinds of MQ header

    @kit
    Scenario: On the reference broker, a message on its target has no header at all
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of 1 s
      Then "slow" on the queue has no MQ header

    Scenario: Each message is moved when its own delay is over
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of 1 h
      And message "quick" is sent to the queue with a delivery delay of 1 s
      Then the queue holds "quick"
      And the staging queue no longer holds "quick"
      And the staging queue holds "slow"
      And the queue does not hold "slow"

    @needs-topic
    Scenario: A publication is moved to its subscriber
      Given a topic
      And a non-durable subscriber "reader" on the topic
      When message "news" is sent to the topic with a delivery delay of 1 s
      Then "reader" sees "news" exactly once
      And the staging queue no longer holds "news"

    Scenario: A target that is cleared during the delay gets the message
      Given a queue with MAXDEPTH(10)
      When message "old" is sent to the queue
      And message "slow" is sent to the queue with a delivery delay of 10 s
      And the sender's connection is closed
      And the queue is cleared
      Then the command is accepted
      And the queue is empty
      And the queue holds "slow"
      And the staging queue no longer holds "slow"

    Scenario: A target with GET(DISABLED) accepts the message
      Given a queue with GET(DISABLED)
      When message "slow" is sent to the queue with a delivery delay of 1 s
      And the staging queue no longer holds "slow"
      And the queue is altered to GET(ENABLED)
      And a receiver starts to wait on the queue
      Then sending "slow" is accepted
      And the receiver sees "slow" exactly once

    @needs-non-persistent
    Scenario Outline: When its delay is over, a <mode> message takes the last free place on its target
      Given a queue with MAXDEPTH(2)
      When message "there" is sent to the queue
      And message "slow" is sent to the queue with a delivery delay of 1 s and delivery mode <mode>
      Then the queue holds "there" and "slow"
      And the dead-letter queue does not hold "slow"
      Examples:
        | mode           |
        | persistent     |
        | non-persistent |

    @needs-non-persistent
    Scenario Outline: A <mode> message of the maximum length that its target permits is moved
      Given a queue with MAXMSGL(300)
      When message "slow" is sent to the queue with a delivery delay of 1 s, a body of 300 B and delivery mode <mode>
      Then the queue holds "slow"
      And the dead-letter queue does not hold "slow"
      Examples:
        | mode           |
        | persistent     |
        | non-persistent |

    @needs-local-transaction
    Scenario: A message whose reception is rolled back is on its target again, and is not staged again
      Given an empty queue
      And session "work" in transacted mode
      And receiver "own" of session "work" on the queue
      When message "slow" is sent to the queue with a delivery delay of 2 s
      And "own" receives a message
      And session "work" is rolled back
      And "own" is closed
      Then the queue holds "slow"
      And the staging queue does not hold "slow"

    @evidence @needs-virtual-time
    Scenario Outline: A message with a delay of <delay> is delivered in time, and not early
      Given an empty queue
      And a receiver is waiting on the queue
      When message "slow" is sent to the queue with a delivery delay of <delay>
      And <delay> pass
      Then the receiver sees "slow" in time, <delay> after its send
      And the receiver sees "slow" no earlier than <delay> after its send
      Examples:
        | delay |
        | 1 h   |
        | 30 d  |

  @DD-35 @needs-delivery-delay @needs-admin @needs-staging-queue @own-instance
  Rule: On distributed platforms the staging queue exists by default
    Line 30 names the queue SYSTEM.DDELAY.LOCAL.QUEUE.  These scenarios define no object.

    Scenario: The staging queue exists and accepts the first delayed message
      Given an empty queue
      Then the staging queue exists
      When message "slow" is sent to the queue with a delivery delay of 1 h
      Then sending "slow" is accepted
      And the staging queue holds "slow"

    @needs-restart
    Scenario: The staging queue exists after a restart
      Given the broker has been restarted
      Then the staging queue exists
      When message "slow" is sent to the queue with a delivery delay of 1 h
      Then sending "slow" is accepted
      And the staging queue holds "slow"

  @DD-36 @needs-delivery-delay @needs-admin @needs-staging-queue @own-instance
  Rule: MAXDEPTH and MAXMSGL of the staging queue can be altered, and limit what can be staged
    Line 30 tells the administrator to alter them for the load.  The target queue is large enough in all scenarios, so
    the limit is the staging queue's.  No line names the code of a refusal, so the codes are tagged kit.  Whether
    MAXMSGL counts the header is undocumented, and recorded.  A unit of work may be refused at the send or at the
    commit, so the scenarios examine the messages that it leaves on the staging queue.

    Scenario: MAXDEPTH and MAXMSGL of the staging queue can be altered
      When the staging queue is altered to MAXDEPTH(7) MAXMSGL(20000)
      Then the command is accepted
      And the staging queue has MAXDEPTH(7) MAXMSGL(20000)

    Scenario: As many messages as MAXDEPTH permits can be staged
      Given the staging queue has been altered to MAXDEPTH(2)
      And an empty queue
      When messages "m1" and "m2" are sent to the queue with a delivery delay of 1 h
      Then sending "m1" is accepted
      And sending "m2" is accepted
      And the staging queue holds "m1" and "m2"

    Scenario: The first message beyond MAXDEPTH is refused
      Given the staging queue has been altered to MAXDEPTH(2)
      And an empty queue
      When messages "m1" to "m3" are sent to the queue with a delivery delay of 1 h
      Then sending "m3" is refused
      And the staging queue holds 2 messages

    Scenario: With MAXDEPTH(0), no message can be staged
      Given the staging queue has been altered to MAXDEPTH(0)
      And an empty queue
      When message "m1" is sent to the queue with a delivery delay of 1 h
      Then sending "m1" is refused
      And the staging queue is empty

    @kit
    Scenario: The reference broker's refusals say whether the staging queue is full or the message is too long
      Given the staging queue has been altered to MAXDEPTH(1) MAXMSGL(10000)
      And an empty queue
      When message "long" is sent to the queue with a delivery delay of 1 h and a body of 10001 B
      And messages "m1" and "m2" are sent to the queue with a delivery delay of 1 h
      Then sending "long" is refused with MQRC_MSG_TOO_BIG_FOR_Q
      And sending "m2" is refused with MQRC_Q_FULL

    Scenario: Messages for all targets count towards MAXDEPTH of the staging queue
      Given the staging queue has been altered to MAXDEPTH(1)
      And an empty queue "one"
      And an empty queue "two"
      When message "m1" is sent to queue "one" with a delivery delay of 1 h
      And message "m2" is sent to queue "two" with a delivery delay of 1 h
      Then sending "m1" is accepted
      And sending "m2" is refused
      And the staging queue holds 1 message

    Scenario: After MAXDEPTH is raised, more messages can be staged
      Given the staging queue has been altered to MAXDEPTH(1)
      And an empty queue
      And messages "m1" and "m2" are sent to the queue with a delivery delay of 1 h
      When the staging queue is altered to MAXDEPTH(2)
      And message "m3" is sent to the queue with a delivery delay of 1 h
      Then sending "m2" is refused
      And sending "m3" is accepted
      And the staging queue holds "m1" and "m3"

    Scenario: Lowering MAXDEPTH and MAXMSGL removes no message that is already staged
      Given an empty queue
      And a receiver is waiting on the queue
      When messages "m1" to "m3" are sent to the queue with a delivery delay of 5 s
      And the staging queue is altered to MAXDEPTH(1) MAXMSGL(10)
      Then the command is accepted
      And the receiver sees "m1" to "m3" exactly once

    Scenario: A message that is moved to its target frees its place on the staging queue
      Given the staging queue has been altered to MAXDEPTH(1)
      And an empty queue
      And message "m1" is sent to the queue with a delivery delay of 1 s
      When the staging queue no longer holds "m1"
      And message "m2" is sent to the queue with a delivery delay of 1 h
      Then sending "m2" is accepted
      And the staging queue holds "m2"

    Scenario: A due message that cannot leave the staging queue keeps its place
      Given there is no dead-letter queue
      And the staging queue has been altered to MAXDEPTH(1)
      And a queue with MAXDEPTH(10)
      And an empty queue "other"
      And message "stuck" is sent to the queue with a delivery delay of 1 s
      And the queue has been altered to PUT(DISABLED)
      When "stuck" is overdue
      And message "more" is sent to queue "other" with a delivery delay of 1 h
      Then sending "stuck" is accepted
      And sending "more" is refused
      And the staging queue holds 1 message

    @needs-time-to-live
    Scenario: A message that expires on the staging queue frees its place
      Given there is no dead-letter queue
      And the staging queue has been altered to MAXDEPTH(1)
      And a queue with MAXDEPTH(10)
      And an empty queue "other"
      And message "stale" is sent to the queue with a delivery delay of 1 s and a time to live of 5 s
      And the queue has been altered to PUT(DISABLED)
      When 7 s have passed since "stale" was sent
      And the staging queue no longer holds "stale"
      And message "more" is sent to queue "other" with a delivery delay of 1 h
      Then sending "more" is accepted
      And the staging queue holds "more"

    @needs-local-transaction
    Scenario: A unit of work does not stage more messages than MAXDEPTH permits
      Given the staging queue has been altered to MAXDEPTH(2)
      And an empty queue
      And session "work" in transacted mode
      When message "m1" is sent in session "work" to the queue with a delivery delay of 1 h
      And message "m2" is sent in session "work" to the queue with a delivery delay of 1 h
      And message "m3" is sent in session "work" to the queue with a delivery delay of 1 h
      And session "work" is committed
      Then the staging queue holds at most 2 messages

    @needs-local-transaction
    Scenario: A unit of work and a message that is sent before the unit's commit together do not exceed MAXDEPTH
      Given the staging queue has been altered to MAXDEPTH(1)
      And an empty queue
      And session "work" in transacted mode
      When message "m1" is sent in session "work" to the queue with a delivery delay of 1 h
      And message "m2" is sent to the queue with a delivery delay of 1 h
      And session "work" is committed
      Then the staging queue holds at most 1 message

    @needs-local-transaction
    Scenario: A message of a unit of work counts only once towards MAXDEPTH
      Given the staging queue has been altered to MAXDEPTH(2)
      And an empty queue
      And session "work" in transacted mode
      When message "m1" is sent in session "work" to the queue with a delivery delay of 1 h
      And session "work" is committed
      And message "m2" is sent to the queue with a delivery delay of 1 h
      Then sending "m2" is accepted
      And the staging queue holds "m1" and "m2"

    @needs-local-transaction
    Scenario: A unit of work that was rolled back takes no place on the staging queue
      Given the staging queue has been altered to MAXDEPTH(1)
      And an empty queue
      And session "work" in transacted mode
      When message "m1" is sent in session "work" to the queue with a delivery delay of 1 h
      And session "work" is rolled back
      And message "m2" is sent to the queue with a delivery delay of 1 h
      Then sending "m2" is accepted
      And the staging queue holds "m2"
      And the staging queue does not hold "m1"

    @needs-local-transaction
    Scenario Outline: An uncommitted message frees its place on the staging queue when its session or connection ends
      Given the staging queue has been altered to MAXDEPTH(1)
      And an empty queue
      And session "work" in transacted mode
      And receiver "own" of session "work" on the queue
      When message "m1" is sent in session "work" to the queue with a delivery delay of 1 h
      And <what>
      And 5 s pass
      And message "m2" is sent to the queue with a delivery delay of 1 h
      Then sending "m2" is accepted
      And the staging queue holds "m2"
      And the staging queue does not hold "m1"

      Examples:
        | what                              |
        | session "work" is closed          |
        | the connection of "own" is closed |
        | the connection of "own" is lost   |

    @evidence @needs-xa
    Scenario: A branch whose connection is lost before its prepare frees its place on the staging queue
      Given the staging queue has been altered to MAXDEPTH(1)
      And an empty queue
      And session "global" in xa mode
      And receiver "own" of session "global" on the queue
      And branch "b1" has been started in session "global"
      When message "m1" is sent in session "global" to the queue with a delivery delay of 1 h
      And the connection of "own" is lost
      And 5 s pass
      And message "m2" is sent to the queue with a delivery delay of 1 h
      Then sending "m2" is accepted
      And the staging queue holds "m2"
      And the staging queue does not hold "m1"

    @evidence @needs-xa
    Scenario: A branch that is rolled back before its prepare frees its place on the staging queue
      Given the staging queue has been altered to MAXDEPTH(1)
      And an empty queue
      And session "global" in xa mode
      And branch "b1" has been started in session "global"
      When message "m1" is sent in session "global" to the queue with a delivery delay of 1 h
      And branch "b1" is ended
      And branch "b1" is rolled back
      And message "m2" is sent to the queue with a delivery delay of 1 h
      Then sending "m2" is accepted
      And the staging queue holds "m2"
      And the staging queue does not hold "m1"

    @kit @needs-local-transaction @needs-topic
    Scenario: Each copy of a publication in a unit of work takes a place on the staging queue before the commit
      Given the staging queue has been altered to MAXDEPTH(2)
      And a topic
      And an empty queue
      And a non-durable subscriber "one" on the topic
      And a non-durable subscriber "two" on the topic
      And session "work" in transacted mode
      When message "news" is sent in session "work" to the topic with a delivery delay of 1 h
      And message "m2" is sent to the queue with a delivery delay of 1 h
      And session "work" is committed
      Then sending "m2" is refused
      And the staging queue holds 2 copies of "news"

    @evidence @needs-xa
    Scenario: A branch that is rolled back after its prepare frees its place on the staging queue
      Given the staging queue has been altered to MAXDEPTH(1)
      And an empty queue
      And session "global" in xa mode
      And branch "b1" has been started in session "global"
      When message "m1" is sent in session "global" to the queue with a delivery delay of 1 h
      And branch "b1" is ended
      And branch "b1" is prepared
      And branch "b1" is rolled back
      And message "m2" is sent to the queue with a delivery delay of 1 h
      Then sending "m2" is accepted
      And the staging queue holds "m2"
      And the staging queue does not hold "m1"

    @evidence @needs-xa
    Scenario Outline: After the broker <event>, a branch in doubt that is <decided> <takes> on the staging queue
      Given the staging queue has been altered to MAXDEPTH(2)
      And an empty queue
      And session "global" in xa mode
      And branch "b1" has been started in session "global"
      When message "m1" is sent in session "global" to the queue with a delivery delay of 1 h
      And branch "b1" is ended
      And branch "b1" is prepared
      And the broker <event>
      And branch "b1" is <decided>
      And message "m2" is sent to the queue with a delivery delay of 1 h
      And message "m3" is sent to the queue with a delivery delay of 1 h
      Then sending "m2" is accepted
      And sending "m3" is <answered>

      @needs-restart
      Examples: Restart
        | event        | decided     | takes          | answered |
        | is restarted | committed   | takes a place  | refused  |
        | is restarted | rolled back | takes no place | accepted |

      @needs-kill
      Examples: Kill
        | event                    | decided     | takes          | answered |
        | is killed and comes back | committed   | takes a place  | refused  |
        | is killed and comes back | rolled back | takes no place | accepted |

    @needs-local-transaction @needs-non-persistent
    Scenario: A message of a unit of work frees its place on the staging queue when it is moved to its target
      Given the staging queue has been altered to MAXDEPTH(1)
      And an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      When message "m1" is sent in session "work" to the queue with a delivery delay of 1 s and delivery mode non-persistent
      And session "work" is committed
      Then the receiver sees "m1" exactly once
      When message "m2" is sent to the queue with a delivery delay of 1 h
      Then sending "m2" is accepted

    @needs-topic
    Scenario: Each copy of a publication takes a place on the staging queue
      Given the staging queue has been altered to MAXDEPTH(2)
      And a topic
      And a non-durable subscriber "one" on the topic
      And a non-durable subscriber "two" on the topic
      And a non-durable subscriber "three" on the topic
      When message "news" is sent to the topic with a delivery delay of 1 h
      Then the staging queue holds at most 2 messages

    @needs-topic
    Scenario: As many copies of a publication as MAXDEPTH permits can be staged
      Given the staging queue has been altered to MAXDEPTH(3)
      And a topic
      And a non-durable subscriber "one" on the topic
      And a non-durable subscriber "two" on the topic
      And a non-durable subscriber "three" on the topic
      When message "news" is sent to the topic with a delivery delay of 1 h
      Then sending "news" is accepted
      And the staging queue holds 3 copies of "news"

    Scenario: A message that is much shorter than MAXMSGL can be staged
      Given the staging queue has been altered to MAXMSGL(10000)
      And an empty queue
      When message "m1" is sent to the queue with a delivery delay of 1 h and a body of 8000 B
      Then sending "m1" is accepted
      And the staging queue holds "m1"

    @needs-non-persistent
    Scenario Outline: A <mode> message that is one byte longer than MAXMSGL is refused
      Given the staging queue has been altered to MAXMSGL(10000)
      And an empty queue
      When message "m1" is sent to the queue with a delivery delay of 1 h, a body of 10001 B and delivery mode <mode>
      Then sending "m1" is refused
      And the staging queue does not hold "m1"
      Examples:
        | mode           |
        | persistent     |
        | non-persistent |

    @needs-topic
    Scenario: A publication that is one byte longer than MAXMSGL is refused, and not staged
      Given the staging queue has been altered to MAXMSGL(10000)
      And a topic
      And a non-durable subscriber "reader" on the topic
      When message "long" is sent to the topic with a delivery delay of 1 h and a body of 10001 B
      Then sending "long" is refused
      And the staging queue does not hold "long"

    Scenario: MAXMSGL counts octets and not characters
      The body has 99 characters, and 133 octets in UTF-8.

      Given the staging queue has been altered to MAXMSGL(120)
      And an empty queue
      When message "m1" is sent to the queue with a delivery delay of 1 h and a body of non-ASCII characters
      Then sending "m1" is refused
      And the staging queue does not hold "m1"

    Scenario: After MAXMSGL is raised, a longer message can be staged
      Given the staging queue has been altered to MAXMSGL(10000)
      And the staging queue has been altered to MAXMSGL(20000)
      And an empty queue
      When message "m1" is sent to the queue with a delivery delay of 1 h and a body of 10001 B
      Then sending "m1" is accepted
      And the staging queue holds "m1"

    @may
    Scenario: A message of exactly MAXMSGL bytes may be staged or refused, and a longer message is refused
      Given the staging queue has been altered to MAXMSGL(10000)
      And an empty queue
      When message "edge" is sent to the queue with a delivery delay of 1 h and a body of 10000 B
      And message "over" is sent to the queue with a delivery delay of 1 h and a body of 10001 B
      Then whether sending "edge" is accepted is recorded
      And sending "over" is refused

    @needs-restart
    Scenario: An altered limit still applies after a restart
      Given the staging queue has been altered to MAXDEPTH(1) MAXMSGL(20000)
      And the broker has been restarted
      And an empty queue
      When messages "m1" and "m2" are sent to the queue with a delivery delay of 1 h
      Then sending "m1" is accepted
      And sending "m2" is refused
      And the staging queue has MAXDEPTH(1) MAXMSGL(20000)

    Scenario Outline: After the broker <event>, messages that were staged before still count towards MAXDEPTH
      Given the staging queue has been altered to MAXDEPTH(2)
      And an empty queue
      And message "m1" is sent to the queue with a delivery delay of 1 h
      When the broker <event>
      And messages "m2" and "m3" are sent to the queue with a delivery delay of 1 h
      Then sending "m2" is accepted
      And sending "m3" is refused
      And the staging queue holds "m1" and "m2"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @needs-non-persistent
    Scenario: Non-persistent messages count towards MAXDEPTH, too
      Given the staging queue has been altered to MAXDEPTH(1)
      And an empty queue
      When messages "m1" and "m2" are sent to the queue with a delivery delay of 1 h and delivery mode non-persistent
      Then sending "m1" is accepted
      And sending "m2" is refused
      And the staging queue holds 1 message

    @evidence
    Scenario: A binary body longer than MAXMSGL is refused, and an empty body is accepted
      Given the staging queue has been altered to MAXMSGL(100)
      And an empty queue
      When message "binary" is sent to the queue with a delivery delay of 1 h and a binary body
      Then sending "binary" is refused
      When the staging queue is altered to MAXMSGL(10000)
      And message "empty" is sent to the queue with a delivery delay of 1 h and an empty body
      Then sending "empty" is accepted
      And the staging queue does not hold "binary"
