Feature: Delayed messages that cannot be put to their target
  IBM MQ, JMS 2.0 delivery delay, line 74.

  @DD-70 @needs-delivery-delay @needs-admin @needs-dead-letter-queue
  Rule: A message that cannot be put when its delay is over is discarded or dead-lettered, as its report options say
    Line 74.  MQRO_DISCARD_MSG asks for the discard.  MQRO_DEAD_LETTER_Q, which is the default and has no bit, asks
    for the dead letter.  A target can be full, disabled for puts, deleted, or too small.  The send checks the target,
    too (line 78), so each obstacle begins during the delay.  The header on the dead-letter queue names the reason and
    the target.  The kit expects a dead letter to keep its ids, priority and persistence; this scenario is tagged kit.

    Scenario Outline: A <mode> message goes to the dead-letter queue when its target has become <has become>
      Given a queue with MAXDEPTH(10)
      And message "m1" is sent to the queue with a delivery delay of 2 s, a body of 300 B and delivery mode <mode>
      And the queue has been altered to <attributes>
      When the staging queue no longer holds "m1"
      And the queue is altered to <mended>
      And 2 s pass
      Then the dead-letter queue holds "m1" with reason <reason> and destination the queue
      And the queue does not hold "m1"
      And the staging queue does not hold "m1"
      Examples:
        | mode           | has become        | attributes    | mended           | reason                    |
        | persistent     | disabled for puts | PUT(DISABLED) | PUT(ENABLED)     | MQRC_PUT_INHIBITED        |
        | non-persistent | disabled for puts | PUT(DISABLED) | PUT(ENABLED)     | MQRC_PUT_INHIBITED        |
        | persistent     | too small         | MAXMSGL(299)  | MAXMSGL(4194304) | MQRC_MSG_TOO_BIG_FOR_Q    |
        | non-persistent | too small         | MAXMSGL(299)  | MAXMSGL(4194304) | MQRC_MSG_TOO_BIG_FOR_Q    |

    Scenario Outline: A <mode> message goes to the dead-letter queue when its target has become full
      Given a queue with MAXDEPTH(1)
      And message "m1" is sent to the queue with a delivery delay of 2 s and delivery mode <mode>
      And message "filler" is sent to the queue
      Then the dead-letter queue holds "m1" with reason MQRC_Q_FULL and destination the queue
      And the staging queue no longer holds "m1"
      Examples:
        | mode           |
        | persistent     |
        | non-persistent |

    @own-instance
    Scenario Outline: A <mode> message goes to the dead-letter queue when its target has been deleted
      The reference broker creates queues on use, unless CUSTOM is blank; other brokers ignore this attribute.

      Given the queue manager is altered to CUSTOM(' ')
      And a queue with MAXDEPTH(10)
      And message "m1" is sent to the queue with a delivery delay of 2 s and delivery mode <mode>
      And the sender's connection has been closed
      And the queue has been deleted
      Then the dead-letter queue holds "m1" with reason MQRC_UNKNOWN_OBJECT_NAME and destination the queue
      And the staging queue no longer holds "m1"
      Examples:
        | mode           |
        | persistent     |
        | non-persistent |

    @evidence @needs-temporary-destination
    Scenario Outline: A <mode> message to a temporary queue goes to the dead-letter queue if the queue's connection was <ended>
      Given session "asker" in auto mode
      And queue "answers" is a temporary queue of session "asker"
      And receiver "reader" of session "asker" on queue "answers"
      And message "m1" is sent to queue "answers" with a delivery delay of 2 s and delivery mode <mode>
      When the connection of "reader" is <ended>
      Then "m1" on the dead-letter queue has dead-letter reason MQRC_UNKNOWN_OBJECT_NAME
      And the staging queue no longer holds "m1"
      Examples:
        | mode           | ended  |
        | persistent     | closed |
        | non-persistent | lost   |

    Scenario: A message goes to the dead-letter queue if its alias has been re-pointed to a queue that does not exist
      Given a queue with MAXDEPTH(10)
      And an alias "front" for the queue
      And message "m1" is sent to queue "front" with a delivery delay of 2 s
      When alias "front" is re-pointed to queue "nowhere"
      Then "m1" on the dead-letter queue has dead-letter reason MQRC_UNKNOWN_ALIAS_BASE_Q
      And the queue does not hold "m1"

    Scenario Outline: A <mode> message with MQRO_DISCARD_MSG is discarded when its target has become <has become>
      Given a queue with MAXDEPTH(10)
      And message "m1" is sent to the queue with a delivery delay of 2 s, a body of 300 B, delivery mode <mode> and report options MQRO_DISCARD_MSG
      And message "control" is sent to the queue with a delivery delay of 2 s and a body of 300 B
      And the queue has been altered to <attributes>
      When the staging queue no longer holds "m1" and "control"
      And the queue is altered to <mended>
      And 2 s pass
      Then the dead-letter queue holds "control"
      And the dead-letter queue does not hold "m1"
      And the queue does not hold "m1"
      And the staging queue does not hold "m1"
      Examples:
        | mode           | has become        | attributes    | mended           |
        | persistent     | disabled for puts | PUT(DISABLED) | PUT(ENABLED)     |
        | non-persistent | disabled for puts | PUT(DISABLED) | PUT(ENABLED)     |
        | persistent     | too small         | MAXMSGL(299)  | MAXMSGL(4194304) |
        | persistent     | full              | MAXDEPTH(0)   | MAXDEPTH(10)     |

    @own-instance
    Scenario: A message with MQRO_DISCARD_MSG is discarded when its target has been deleted
      Given the queue manager is altered to CUSTOM(' ')
      And a queue with MAXDEPTH(10)
      And message "m1" is sent to the queue with a delivery delay of 2 s and report options MQRO_DISCARD_MSG
      And message "control" is sent to the queue with a delivery delay of 2 s
      And the sender's connection has been closed
      And the queue has been deleted
      When the staging queue no longer holds "m1"
      Then the dead-letter queue holds "control"
      And the dead-letter queue does not hold "m1"
      And the staging queue does not hold "m1"

    Scenario: A target that is disabled for puts, and enabled again during the delay, gets the messages
      Given a queue with MAXDEPTH(10)
      And message "m1" is sent to the queue with a delivery delay of 10 s
      And message "m2" is sent to the queue with a delivery delay of 10 s and report options MQRO_DISCARD_MSG
      And the queue has been altered to PUT(DISABLED)
      When 1 s pass
      And the queue is altered to PUT(ENABLED)
      And a receiver starts to wait on the queue
      Then the receiver sees "m1" exactly once
      And the receiver sees "m2" exactly once
      And the dead-letter queue does not hold "m1"

    Scenario: A message goes to the dead-letter queue if its alias has been disabled for puts
      Given a queue with MAXDEPTH(10)
      And an alias "front" for the queue
      And message "m1" is sent to alias "front" with a delivery delay of 2 s
      And alias "front" has been altered to PUT(DISABLED)
      Then "m1" on the dead-letter queue has dead-letter reason MQRC_PUT_INHIBITED
      And the queue does not hold "m1"

    @kit @needs-priority
    Scenario: A dead-lettered message keeps its ids, priority and persistence
      Given a queue with MAXDEPTH(10)
      And message "m1" is sent to the queue with a delivery delay of 2 s, correlation id "order 7" and priority 7
      And the queue has been altered to PUT(DISABLED)
      Then "m1" on the dead-letter queue has the ids that it was sent with
      And "m1" on the dead-letter queue has Priority "7"
      And "m1" on the dead-letter queue is persistent

    Scenario Outline: After the broker <event>, a message with MQRO_DISCARD_MSG is still discarded
      Given a queue with MAXDEPTH(10)
      And message "m1" is sent to the queue with a delivery delay of 2 s and report options MQRO_DISCARD_MSG
      And message "control" is sent to the queue with a delivery delay of 2 s
      And the queue has been altered to PUT(DISABLED)
      When the broker <event>
      And the staging queue no longer holds "m1"
      Then the dead-letter queue holds "control"
      And the dead-letter queue does not hold "m1"
      And the staging queue does not hold "m1"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    Scenario Outline: A dead letter still has its dead-letter header after the broker <event>
      Given a queue with MAXDEPTH(10)
      And message "m1" is sent to the queue with a delivery delay of 2 s
      And the queue has been altered to PUT(DISABLED)
      When the staging queue no longer holds "m1"
      And the broker <event>
      Then the dead-letter queue holds "m1" with reason MQRC_PUT_INHIBITED and destination the queue

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    Scenario: Two messages on the dead-letter queue each have their own reason and target
      Given a queue "shut" with MAXDEPTH(10)
      And a queue "small" with MAXDEPTH(10)
      And message "m1" is sent to queue "shut" with a delivery delay of 2 s and a body of 300 B
      And message "m2" is sent to queue "small" with a delivery delay of 2 s and a body of 300 B
      And queue "shut" has been altered to PUT(DISABLED)
      And queue "small" has been altered to MAXMSGL(299)
      Then the dead-letter queue holds "m1" with reason MQRC_PUT_INHIBITED and destination queue "shut"
      And the dead-letter queue holds "m2" with reason MQRC_MSG_TOO_BIG_FOR_Q and destination queue "small"

    Scenario: If the target has room for only one of two messages, the other message goes to the dead-letter queue
      Given a queue with MAXDEPTH(2)
      And messages "m1" and "m2" are sent to the queue with a delivery delay of 2 s
      And message "filler" is sent to the queue
      Then the staging queue no longer holds "m1" and "m2"
      And the queue holds 2 messages
      And each of "m1" and "m2" is on exactly one of the queue and the dead-letter queue

    Scenario: A message with MQRO_DISCARD_MSG, but without a report option for exceptions, is discarded without a report
      Given a queue with MAXDEPTH(10)
      And a queue "replies" with MAXDEPTH(10)
      And message "m1" is sent to the queue with a delivery delay of 2 s, reply-to queue "replies" and report options MQRO_DISCARD_MSG
      And the queue has been altered to PUT(DISABLED)
      When the staging queue no longer holds "m1"
      Then the dead-letter queue does not hold "m1"
      And queue "replies" holds no report

    @own-instance
    Scenario: A message with MQRO_DISCARD_MSG is discarded even if the queue manager has no dead-letter queue
      Given there is no dead-letter queue
      And a queue with MAXDEPTH(10)
      And message "m1" is sent to the queue with a delivery delay of 2 s and report options MQRO_DISCARD_MSG
      And the queue has been altered to PUT(DISABLED)
      When the staging queue no longer holds "m1"
      And the queue is altered to PUT(ENABLED)
      And 2 s pass
      Then the staging queue does not hold "m1"
      And the queue is empty

    @own-instance
    Scenario: The dead-letter header names the reason that applies when the dead-letter queue accepts the message
      Given a queue "dlq" that is the dead-letter queue, with PUT(DISABLED)
      And a queue with MAXDEPTH(10)
      And message "m1" is sent to the queue with a delivery delay of 2 s and a body of 300 B
      And the queue has been altered to MAXMSGL(299)
      When "m1" is overdue
      And the queue is altered to MAXMSGL(4194304) PUT(DISABLED)
      And queue "dlq" is altered to PUT(ENABLED)
      Then queue "dlq" holds "m1" with reason MQRC_PUT_INHIBITED and destination the queue

    @needs-local-transaction
    Scenario: A message of a unit of work goes to the dead-letter queue when its target has become disabled for puts
      Given a queue with MAXDEPTH(10)
      And session "work" in transacted mode
      When message "m1" is sent in session "work" to the queue with a delivery delay of 2 s
      And session "work" is committed
      And the queue is altered to PUT(DISABLED)
      Then the dead-letter queue holds "m1" with reason MQRC_PUT_INHIBITED and destination the queue

    @evidence @topology-cluster
    Scenario: Another queue manager dead-letters a message that its queue refuses
      Given queue "orders" at queue manager "B" has been defined with CLUSTER(SHOP) DEFBIND(NOTFIXED) MAXDEPTH(1)
      When message "m1" is sent to queue "orders" with a delivery delay of 2 s
      And message "first" is sent to queue "orders" at queue manager "B"
      Then the dead-letter queue at queue manager "B" holds "m1" with reason MQRC_Q_FULL and destination queue "orders" at queue manager "B"

    @evidence @needs-xa
    Scenario: A message of a global unit of work goes to the dead-letter queue when its target has become disabled for puts
      Given a queue with MAXDEPTH(10)
      And session "work" in xa mode
      And branch "job" has been started in session "work"
      When message "m1" is sent in session "work" to the queue with a delivery delay of 2 s
      And branch "job" is ended
      And branch "job" is prepared
      And branch "job" is committed
      And the queue is altered to PUT(DISABLED)
      Then the dead-letter queue holds "m1" with reason MQRC_PUT_INHIBITED and destination the queue

  @DD-71 @needs-delivery-delay @needs-admin @needs-dead-letter-queue @own-instance
  Rule: If discarding or dead-lettering fails, the put is tried again later
    Line 74.  The dead-letter queue can be full, disabled for puts, too small, or missing.  When the target or the
    dead-letter queue is usable again, the message arrives there once.  The document does not say when the put is
    tried again; the kit waits until the backend's time limit.

    Background:
      Given a queue with MAXDEPTH(10)
      And a queue "dlq" that is the dead-letter queue, with MAXDEPTH(10)

    Scenario Outline: If a dead-letter queue with <attributes> refused a <mode> message, the message arrives when its target is usable again
      Given message "m1" is sent to the queue with a delivery delay of 2 s, a body of 300 B and delivery mode <mode>
      And the queue has been altered to PUT(DISABLED)
      And queue "dlq" has been altered to <attributes>
      When "m1" is overdue
      And the queue is altered to PUT(ENABLED)
      And a receiver starts to wait on the queue
      Then the receiver sees "m1" exactly once
      And queue "dlq" is empty
      And the staging queue has become empty
      Examples:
        | mode           | attributes    |
        | persistent     | PUT(DISABLED) |
        | non-persistent | PUT(DISABLED) |
        | persistent     | MAXDEPTH(0)   |
        | non-persistent | MAXDEPTH(0)   |
        | persistent     | MAXMSGL(299)  |

    @evidence
    Scenario Outline: If neither the target nor the dead-letter queue took a message, the put is also tried again after the broker <event>
      Given message "m1" is sent to the queue with a delivery delay of 2 s
      And the queue has been altered to PUT(DISABLED)
      And queue "dlq" has been altered to PUT(DISABLED)
      When "m1" is overdue
      And the broker <event>
      Then the queue is empty
      When the queue is altered to PUT(ENABLED)
      And a receiver starts to wait on the queue
      Then the receiver sees "m1" exactly once
      And queue "dlq" is empty

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    Scenario Outline: If a dead-letter queue with <attributes> refused a <mode> message, the message goes there when this queue is usable again
      Given message "m1" is sent to the queue with a delivery delay of 2 s, a body of 300 B and delivery mode <mode>
      And the queue has been altered to PUT(DISABLED)
      And queue "dlq" has been altered to <attributes>
      When "m1" is overdue
      And queue "dlq" is altered to <mended>
      And the staging queue no longer holds "m1"
      And the queue is altered to PUT(ENABLED)
      Then queue "dlq" holds "m1" with reason MQRC_PUT_INHIBITED and destination the queue
      And queue "dlq" holds 1 message
      And the queue is empty
      And the staging queue is empty
      Examples:
        | mode           | attributes    | mended           |
        | persistent     | PUT(DISABLED) | PUT(ENABLED)     |
        | non-persistent | PUT(DISABLED) | PUT(ENABLED)     |
        | persistent     | MAXDEPTH(0)   | MAXDEPTH(10)     |
        | non-persistent | MAXDEPTH(0)   | MAXDEPTH(10)     |
        | persistent     | MAXMSGL(299)  | MAXMSGL(4194304) |

    Scenario: Without a dead-letter queue, a message stays staged until its target is usable
      Given there is no dead-letter queue
      And message "m1" is sent to the queue with a delivery delay of 2 s
      And the queue has been altered to PUT(DISABLED)
      When "m1" is overdue
      And the queue is altered to PUT(ENABLED)
      And a receiver starts to wait on the queue
      Then the receiver sees "m1" exactly once
      And the staging queue has become empty

    Scenario: If the dead-letter queue has been deleted, the put of the message to its target is tried again
      The reference broker creates queues on use, unless CUSTOM is blank; other brokers ignore this attribute.

      Given the queue manager is altered to CUSTOM(' ')
      And message "m1" is sent to the queue with a delivery delay of 2 s
      And the queue has been altered to PUT(DISABLED)
      And queue "dlq" has been deleted
      When "m1" is overdue
      And the queue is altered to PUT(ENABLED)
      And a receiver starts to wait on the queue
      Then the receiver sees "m1" exactly once
      And the staging queue has become empty

    Scenario: A message stays staged until the queue manager has a dead-letter queue
      Given there is no dead-letter queue
      And message "m1" is sent to the queue with a delivery delay of 2 s
      And the queue has been altered to PUT(DISABLED)
      When "m1" is overdue
      And queue "dlq" becomes the dead-letter queue
      Then queue "dlq" holds "m1"
      And the staging queue has become empty

    Scenario: A message whose put is tried again is on the staging queue only
      Given message "m1" is sent to the queue with a delivery delay of 2 s
      And the queue has been altered to PUT(DISABLED)
      And queue "dlq" has been altered to PUT(DISABLED)
      When "m1" is overdue
      Then the staging queue holds "m1"
      And the queue is empty
      And queue "dlq" is empty

    Scenario: A message whose put is tried again does not delay other messages
      Given a queue "open" with MAXDEPTH(10)
      And message "stuck" is sent to the queue with a delivery delay of 2 s
      And message "free" is sent to queue "open" with a delivery delay of 4 s
      And the queue has been altered to PUT(DISABLED)
      And queue "dlq" has been altered to PUT(DISABLED)
      Then queue "open" holds "free"
      And the staging queue holds "stuck"

    @needs-kill
    Scenario: After a kill of the broker, the put of a persistent message is still tried again
      Given message "m1" is sent to the queue with a delivery delay of 2 s
      And the queue has been altered to PUT(DISABLED)
      And queue "dlq" has been altered to PUT(DISABLED)
      When "m1" is overdue
      And the broker is killed and comes back
      And the queue is altered to PUT(ENABLED)
      And a receiver starts to wait on the queue
      Then the receiver sees "m1" exactly once
      And queue "dlq" is empty

    Scenario: Several messages whose puts are tried again all arrive
      Given messages "m1" to "m3" are sent to the queue with a delivery delay of 2 s
      And the queue has been altered to PUT(DISABLED)
      And queue "dlq" has been altered to PUT(DISABLED)
      When "m3" is overdue
      And the queue is altered to PUT(ENABLED)
      And a receiver starts to wait on the queue
      Then the receiver sees "m1" to "m3" exactly once
      And the staging queue has become empty

    Scenario: The broker tries to put a message again, however often the put fails
      Given message "m1" is sent to the queue with a delivery delay of 1 s
      And the queue has been altered to PUT(DISABLED)
      And queue "dlq" has been altered to PUT(DISABLED)
      When 20 s have passed since "m1" was sent
      Then the staging queue holds "m1"
      When the queue is altered to PUT(ENABLED)
      And a receiver starts to wait on the queue
      Then the receiver sees "m1" exactly once

    Scenario: A message with a delay of 20 s comes in time although the put of another message is tried again
      Given a queue "open" with MAXDEPTH(10)
      And message "stuck" is sent to the queue with a delivery delay of 2 s
      And message "later" is sent to queue "open" with a delivery delay of 20 s
      And the queue has been altered to PUT(DISABLED)
      And queue "dlq" has been altered to PUT(DISABLED)
      And a receiver is waiting on queue "open"
      Then the receiver sees "later" in time, 20 s after its send
      And the receiver sees "later" no earlier than 20 s after its send
      And the staging queue holds "stuck"

    @platform-zos
    Scenario: On z/OS, a message whose put is tried again does not stop the delay processor
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And a queue "open" with MAXDEPTH(10)
      And message "stuck" is sent to the queue with a delivery delay of 2 s
      And message "free" is sent to queue "open" with a delivery delay of 4 s
      And the queue has been altered to PUT(DISABLED)
      And queue "dlq" has been altered to PUT(DISABLED)
      Then queue "open" holds "free"
      And the staging queue holds "stuck"
      When the queue is altered to PUT(ENABLED)
      Then the queue holds "stuck"

    @evidence @needs-virtual-time
    Scenario: A message whose put failed for 5 minutes arrives when its target is usable again
      Given message "m1" is sent to the queue with a delivery delay of 1 s
      And the queue has been altered to PUT(DISABLED)
      And queue "dlq" has been altered to PUT(DISABLED)
      When 5 m have passed since "m1" was sent
      And the queue is altered to PUT(ENABLED)
      Then the queue holds "m1"
      And the staging queue no longer holds "m1"

    @evidence @needs-restart
    Scenario: If the dead-letter queue refused a message before a restart, the message arrives when its target is usable again
      Given message "m1" is sent to the queue with a delivery delay of 2 s
      And the queue has been altered to PUT(DISABLED)
      And queue "dlq" has been altered to PUT(DISABLED)
      When "m1" is overdue
      And the broker is restarted
      And the queue is altered to PUT(ENABLED)
      And a receiver starts to wait on the queue
      Then the receiver sees "m1" exactly once
      And queue "dlq" is empty
