Feature: On z/OS, delivery delay needs a staging queue that an administrator has defined
  IBM MQ, JMS 2.0 delivery delay, lines 31, 43 and 45.

  @DD-40 @needs-delivery-delay @needs-admin @platform-zos @own-instance
  Rule: The staging queue does not exist until it is defined; until then, a delayed send fails
    Lines 31 and 43: on z/OS SYSTEM.DDELAY.LOCAL.QUEUE must be created.  The reason for the failed send is
    undocumented, so any refusal passes.

    Scenario: Without a definition, the staging queue does not exist
      Then the staging queue does not exist

    @needs-non-persistent
    Scenario Outline: Without a staging queue a delayed <mode> message is refused, and never delivered
      Given an empty queue
      And a receiver is waiting on the queue
      When message "slow" is sent to the queue with a delivery delay of 1 s and delivery mode <mode>
      And message "now" is sent to the queue
      And "slow" is overdue
      Then the receiver sees "now" exactly once
      And the receiver never sees the refused "slow"

      Examples:
        | mode           |
        | persistent     |
        | non-persistent |

    @needs-topic
    Scenario: Without a staging queue a delayed publication is refused, and never delivered
      Given a topic
      And a non-durable subscriber "reader" on the topic
      When message "slow" is sent to the topic with a delivery delay of 1 s
      And message "now" is sent to the topic
      And "slow" is overdue
      Then "reader" sees "now" exactly once
      And "reader" never sees the refused "slow"

    Scenario: After the staging queue is defined, a new delayed message is delivered, but a message that was refused before is not
      Given an empty queue
      And a receiver is waiting on the queue
      When message "before" is sent to the queue with a delivery delay of 1 s
      And the staging queue is defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And message "after" is sent to the queue with a delivery delay of 1 s
      Then the receiver sees "after" exactly once
      And the receiver sees "after" no earlier than 1 s after its send
      And the receiver never sees the refused "before"

    @evidence @needs-store-error
    Scenario: If the store refuses the definition, no staging queue exists, and a delayed send is refused
      Given an empty queue
      When the broker's store refuses the next write
      And the staging queue is defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      Then the command is refused
      And the staging queue does not exist
      When message "slow" is sent to the queue with a delivery delay of 1 s
      Then it is refused

    Scenario: After its definition, the staging queue exists
      When the staging queue is defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      Then the staging queue exists

    Scenario: After the staging queue is deleted, delayed messages are refused again
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And a receiver is waiting on the queue
      When message "before" is sent to the queue with a delivery delay of 1 s
      And the staging queue no longer holds "before"
      And the staging queue is deleted
      And message "after" is sent to the queue with a delivery delay of 1 s
      And "after" is overdue
      Then the receiver sees "before" exactly once
      And the receiver never sees the refused "after"

    @needs-restart
    Scenario: A restart does not create a staging queue
      Given the broker has been restarted
      Then the staging queue does not exist

    @evidence @needs-local-transaction
    Scenario: Without a staging queue, a session's delayed sends are refused, also after a rollback, and its undelayed sends are accepted
      Given an empty queue
      And session "work" in transacted mode
      And producer "late" of session "work" on the queue with a delivery delay of 1 s
      And producer "prompt" of session "work" on the queue with a delivery delay of 1 s
      When producer "late" sends message "slow" with delivery mode persistent for this send only
      And session "work" is rolled back
      And producer "late" sends message "again"
      And the delivery delay of producer "prompt" is set to 0 ms
      And producer "prompt" sends message "now"
      Then sending "slow" is refused
      And sending "again" is refused
      And sending "now" is accepted

    @evidence @needs-xa
    Scenario: Without a staging queue, a delayed send in a branch of a global unit of work is refused
      Given an empty queue
      And session "work" in xa mode
      And branch "job" has been started in session "work"
      When message "slow" is sent in session "work" to the queue with a delivery delay of 1 s
      Then sending "slow" is refused

  @DD-41 @needs-delivery-delay @needs-admin @platform-zos @own-instance
  Rule: The staging queue is to be defined with INDXTYPE(NONE) and MSGDLVSQ(FIFO)
    Line 43 is an instruction to the administrator.  Reading: a queue manager that accepts another
    definition breaks no rule; ours refuses it and names the attribute.  An attribute that is left out comes from
    SYSTEM.DEFAULT.LOCAL.QUEUE, where IBM MQ has INDXTYPE(NONE) and MSGDLVSQ(PRIORITY).

    Scenario: A definition with INDXTYPE(NONE) and MSGDLVSQ(FIFO) is accepted, and the queue has these values
      When the staging queue is defined with INDXTYPE(NONE) MSGDLVSQ(FIFO) MAXDEPTH(1000)
      Then the command is accepted
      And the staging queue has INDXTYPE(NONE) MSGDLVSQ(FIFO) MAXDEPTH(1000)

    Scenario Outline: A definition with INDXTYPE(<index>) is refused, and the answer names the attribute
      When the staging queue is defined with INDXTYPE(<index>) MSGDLVSQ(FIFO)
      Then the command is refused
      And the command's answer names "INDXTYPE"
      And the staging queue does not exist

      Examples:
        | index    |
        | MSGID    |
        | CORRELID |
        | GROUPID  |
        | MSGTOKEN |

    Scenario: A definition with MSGDLVSQ(PRIORITY) is refused, and the answer names the attribute
      When the staging queue is defined with INDXTYPE(NONE) MSGDLVSQ(PRIORITY)
      Then the command is refused
      And the command's answer names "MSGDLVSQ"
      And the staging queue does not exist

    Scenario: A definition that leaves MSGDLVSQ to the default is refused, and the answer names the attribute
      When the staging queue is defined with INDXTYPE(NONE)
      Then the command is refused
      And the command's answer names "MSGDLVSQ"
      And the staging queue does not exist

    Scenario Outline: The staging queue cannot be altered to <attribute>(<value>)
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      When the staging queue is altered to <attribute>(<value>)
      Then the command is refused
      And the command's answer names "<attribute>"
      And the staging queue has INDXTYPE(NONE) MSGDLVSQ(FIFO)

      Examples:
        | attribute | value    |
        | INDXTYPE  | CORRELID |
        | MSGDLVSQ  | PRIORITY |

  @DD-43 @needs-delivery-delay @needs-admin @needs-restart-at-level @platform-zos
  Rule: After a migration below level 8.0, messages stay on the staging queue until an administrator acts
    Line 45: OPMODE does not protect delivery delay, so a migration back is possible, and an earlier level has no
    delivery delay processor.  An administrator deals with the messages by removing them from the staging queue, or by
    migrating forward again.

    Scenario Outline: At level <level>, a due message stays on the staging queue
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      When the broker is restarted at command level <level>
      And a receiver starts to wait on the queue
      And "slow" is overdue
      And message "now" is sent to the queue
      Then the receiver sees "now" exactly once
      And the receiver never sees "slow"
      And the staging queue holds "slow"

      Examples:
        | level |
        | 7.0   |
        | 7.1   |
        | 7.5   |

    Scenario: At level 7.5, a due message stays on the staging queue after a second restart, too
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      When the broker is restarted at command level 7.5
      And the broker is restarted
      And a receiver starts to wait on the queue
      And "slow" is overdue
      And message "now" is sent to the queue
      Then the receiver sees "now" exactly once
      And the receiver never sees "slow"
      And the staging queue holds "slow"

    Scenario: At level 7.5, the depth of the staging queue does not change when its messages are due
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And messages "m1" to "m3" are sent to the queue with a delivery delay of 1 s
      When the broker is restarted at command level 7.5
      And "m3" is overdue
      Then the depth of the staging queue is 3
      And the staging queue holds "m1" to "m3"
      And the depth of the queue is 0

    @needs-topic @needs-durable-subscription
    Scenario: At level 7.5, a due publication stays on the staging queue, too
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And a topic
      And a durable subscriber "reader" on the topic
      And message "slow" is sent to the topic with a delivery delay of 1 s
      When the broker is restarted at command level 7.5
      And subscriber "reader" comes back
      And "slow" is overdue
      And message "now" is sent to the topic
      Then "reader" sees "now" exactly once
      And "reader" never sees "slow"
      And the staging queue holds "slow"

    Scenario: At level 7.5, an administrator can take one message off the staging queue
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And messages "m1" to "m3" are sent to the queue with a delivery delay of 1 s
      And the broker has been restarted at command level 7.5
      When the administrator takes "m2" off the staging queue by correlation id
      Then the administrator has taken "m2" off
      And the staging queue holds "m1" and "m3"
      And the staging queue does not hold "m2"

    Scenario Outline: After a migration forward to level <level>, a due message is delivered once
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      And the broker has been restarted at command level 7.5
      When "slow" is overdue
      And the broker is restarted at command level <level>
      And a receiver starts to wait on the queue
      Then the receiver sees "slow" exactly once
      And the staging queue no longer holds "slow"

      Examples:
        | level |
        | 8.0   |
        | 9.0   |

    Scenario: After a migration forward to level 8.0 during the delay, a message is not delivered early
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And message "slow" is sent to the queue with a delivery delay of 8 s
      And the broker has been restarted at command level 7.5
      When the broker is restarted at command level 8.0
      And a receiver starts to wait on the queue
      Then the receiver sees "slow" exactly once
      And the receiver sees "slow" no earlier than 8 s after its send

    Scenario: After a migration forward to level 8.0, only the message that was not taken off at level 7.5 is delivered
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And messages "m1" and "m2" are sent to the queue with a delivery delay of 1 s
      And the broker has been restarted at command level 7.5
      When the administrator takes "m1" off the staging queue by correlation id
      And the broker is restarted at command level 8.0
      And a receiver starts to wait on the queue
      Then the receiver sees "m2" exactly once
      And the receiver never sees "m1"

    Scenario Outline: At level 7.5, altering the staging queue to <attributes> and back delivers no message
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      And the broker has been restarted at command level 7.5
      And a receiver is waiting on the queue
      When the staging queue is altered to <attributes>
      And the staging queue is altered to <back>
      And "slow" is overdue
      And message "now" is sent to the queue
      Then the receiver sees "now" exactly once
      And the receiver never sees "slow"
      And the staging queue holds "slow"

      Examples:
        | attributes    | back         |
        | GET(DISABLED) | GET(ENABLED) |
        | PUT(DISABLED) | PUT(ENABLED) |

    @evidence @needs-kill
    Scenario: At level 7.5, a due message with a correlation id stays on the staging queue after a kill
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And message "slow" is sent to the queue with a delivery delay of 1 s and correlation id "c"
      When the broker is restarted at command level 7.5
      And the broker is killed and comes back
      And "slow" is overdue
      Then the staging queue holds "slow"
      And the depth of the queue is 0

  @DD-44 @needs-delivery-delay @needs-admin @needs-restart @platform-zos
  Rule: OPMODE(COMPAT) permits delayed messages
    Line 45: delivery delay is not protected by OPMODE.  Reading: at level 8.0, delivery delay works with OPMODE(COMPAT)
    as it does with OPMODE(NEWFUNC).

    @needs-non-persistent
    Scenario Outline: With OPMODE(<opmode>) a delayed <mode> message is delivered when its delay is over
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      When the broker is restarted with OPMODE(<opmode>)
      And a receiver starts to wait on the queue
      And message "slow" is sent to the queue with a delivery delay of 1 s and delivery mode <mode>
      Then sending "slow" is accepted
      And the receiver sees "slow" exactly once
      And the receiver sees "slow" no earlier than 1 s after its send

      Examples:
        | opmode  | mode           |
        | COMPAT  | persistent     |
        | COMPAT  | non-persistent |
        | NEWFUNC | persistent     |

    @needs-topic
    Scenario: With OPMODE(COMPAT) a delayed publication is delivered when its delay is over
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And a topic
      When the broker is restarted with OPMODE(COMPAT)
      And a non-durable subscriber "reader" subscribes to the topic
      And message "slow" is sent to the topic with a delivery delay of 1 s
      Then "reader" sees "slow" exactly once
      And "reader" sees "slow" no earlier than 1 s after its send

    Scenario: Messages that were staged with OPMODE(NEWFUNC) are delivered with OPMODE(COMPAT)
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      When the broker is restarted with OPMODE(NEWFUNC)
      And message "slow" is sent to the queue with a delivery delay of 5 s
      And the broker is restarted with OPMODE(COMPAT)
      And a receiver starts to wait on the queue
      Then the receiver sees "slow" exactly once
      And the receiver sees "slow" no earlier than 5 s after its send

    @evidence @needs-kill
    Scenario: With OPMODE(COMPAT), each of two delayed messages is delivered after a kill
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      When the broker is restarted with OPMODE(COMPAT)
      And message "first" is sent to the queue with a delivery delay of 1 s
      And message "second" is sent to the queue with a delivery delay of 2 s
      And the broker is killed and comes back
      And a receiver starts to wait on the queue
      Then the receiver sees "first" and "second" exactly once
