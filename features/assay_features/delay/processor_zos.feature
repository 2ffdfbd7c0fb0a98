Feature: On z/OS, the delivery delay processor depends on the state of the staging queue
  IBM MQ, JMS 2.0 delivery delay, line 68.

  @DD-61 @needs-delivery-delay @needs-admin @platform-zos @own-instance
  Rule: The processor shuts down when the staging queue is not defined, is disabled for gets, or on another error
    Line 68.  After the shutdown, due messages stay on the staging queue.  Reading: *another error* means that
    the processor's worker dies, or that the store refuses the processor's write; afterwards, the processor does not
    start again by itself, as it would on distributed platforms (line 70).

    @evidence @needs-store-error
    Scenario: If the store refuses the staging queue's change to GET(DISABLED), due messages are still delivered
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And a receiver is waiting on the queue
      When message "slow" is sent to the queue with a delivery delay of 2 s
      And the broker's store refuses the next write
      And the staging queue is altered to GET(DISABLED)
      Then the command is refused
      And the receiver sees "slow" exactly once

    Scenario: While the staging queue is disabled for gets, due messages stay on it
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And a receiver is waiting on the queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      When the staging queue is altered to GET(DISABLED)
      And "slow" is overdue
      And message "now" is sent to the queue
      Then the receiver sees "now" exactly once
      And the receiver never sees "slow"
      And the staging queue holds "slow"

    Scenario: A staging queue that is disabled for gets accepts delayed messages, and they stay there when they are due
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO) GET(DISABLED)
      And an empty queue
      And a receiver is waiting on the queue
      When message "slow" is sent to the queue with a delivery delay of 1 s
      And "slow" is overdue
      And message "now" is sent to the queue
      Then sending "slow" is accepted
      And the receiver sees "now" exactly once
      And the receiver never sees "slow"
      And the staging queue holds "slow"

    @needs-topic
    Scenario: While the staging queue is disabled for gets, due publications stay on it, too
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And a topic
      And a non-durable subscriber "reader" on the topic
      And message "slow" is sent to the topic with a delivery delay of 1 s
      When the staging queue is altered to GET(DISABLED)
      And "slow" is overdue
      And message "now" is sent to the topic
      Then "reader" sees "now" exactly once
      And "reader" never sees "slow"
      And the staging queue holds "slow"

    Scenario Outline: If the broker <event> while the staging queue is disabled for gets, due messages stay on the queue
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      When the staging queue is altered to GET(DISABLED)
      And the broker <event>
      And a receiver starts to wait on the queue
      And "slow" is overdue
      And message "now" is sent to the queue
      Then the receiver sees "now" exactly once
      And the receiver never sees "slow"
      And the staging queue holds "slow"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    Scenario: After the staging queue is deleted, its messages are never delivered
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And a receiver is waiting on the queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      When the staging queue is deleted
      And "slow" is overdue
      And message "now" is sent to the queue
      Then the command is accepted
      And the receiver sees "now" exactly once
      And the receiver never sees "slow"

    @needs-worker-dies
    Scenario: After the processor's worker has died, due messages stay on the staging queue
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And a receiver is waiting on the queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      When the worker of the delivery delay processor dies
      And "slow" is overdue
      And message "now" is sent to the queue
      Then the receiver sees "now" exactly once
      And the receiver never sees "slow"
      And the staging queue holds "slow"

    @needs-store-error
    Scenario: After the store has refused the processor's write, due messages stay on the staging queue
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And a receiver is waiting on the queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      When the broker's store refuses the next write
      And "slow" is overdue
      And message "now" is sent to the queue
      Then the receiver sees "now" exactly once
      And the receiver never sees "slow"
      And the staging queue holds "slow"

  @DD-62 @needs-delivery-delay @needs-admin @platform-zos @own-instance
  Rule: Defining the staging queue, or enabling it for gets, starts the processor again
    Line 68.

    Scenario: After the staging queue is enabled for gets again, a due message is delivered once
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And a receiver is waiting on the queue
      And the staging queue has been altered to GET(DISABLED)
      And message "slow" is sent to the queue with a delivery delay of 1 s
      When "slow" is overdue
      And the staging queue is altered to GET(ENABLED)
      Then the receiver sees "slow" exactly once
      And the staging queue no longer holds "slow"

    Scenario: If the staging queue is enabled for gets again before the delay is over, no message is early
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And a receiver is waiting on the queue
      And the staging queue has been altered to GET(DISABLED)
      And message "slow" is sent to the queue with a delivery delay of 10 s
      When 1 s have passed since "slow" was sent
      And the staging queue is altered to GET(ENABLED)
      Then the receiver sees "slow" exactly once
      And the receiver sees "slow" no earlier than 10 s after its send

    Scenario: After the staging queue is defined on a running queue manager, delayed messages are delivered
      Given an empty queue
      And a receiver is waiting on the queue
      When the staging queue is defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And message "slow" is sent to the queue with a delivery delay of 1 s
      Then the receiver sees "slow" exactly once

    Scenario: After the staging queue is deleted and defined again, delayed messages are delivered
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And the staging queue has been deleted
      And an empty queue
      And a receiver is waiting on the queue
      When the staging queue is defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And message "slow" is sent to the queue with a delivery delay of 1 s
      Then the receiver sees "slow" exactly once

    @needs-restart
    Scenario: After a restart with gets disabled, enabling gets delivers each due message once
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO) GET(DISABLED)
      And an empty queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      And the broker has been restarted
      And a receiver is waiting on the queue
      When "slow" is overdue
      And the staging queue is altered to GET(ENABLED)
      Then the receiver sees "slow" exactly once

    @needs-topic
    Scenario: After the staging queue is enabled for gets again, due publications are delivered
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And a topic
      And a non-durable subscriber "reader" on the topic
      And the staging queue has been altered to GET(DISABLED)
      And message "slow" is sent to the topic with a delivery delay of 1 s
      When "slow" is overdue
      And the staging queue is altered to GET(ENABLED)
      Then "reader" sees "slow" exactly once

    Scenario: The processor starts every time that the staging queue is enabled for gets
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And a receiver is waiting on the queue
      When the staging queue is altered to GET(DISABLED)
      And the staging queue is altered to GET(ENABLED)
      And the staging queue is altered to GET(DISABLED)
      And messages "m1" to "m3" are sent to the queue with a delivery delay of 1 s
      And "m3" is overdue
      And the staging queue is altered to GET(ENABLED)
      Then the receiver sees "m1" to "m3" exactly once

    @needs-non-persistent
    Scenario: After the staging queue is enabled for gets again, non-persistent messages are delivered, too
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And a receiver is waiting on the queue
      And messages "m1" and "m2" are sent to the queue with a delivery delay of 1 s and delivery mode non-persistent
      When the staging queue is altered to GET(DISABLED)
      And "m2" is overdue
      And the staging queue is altered to GET(ENABLED)
      Then the receiver sees "m1" and "m2" exactly once

    @kit @needs-worker-dies
    Scenario: After the processor's worker has died, disabling and enabling gets delivers each due message once
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And a receiver is waiting on the queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      When the worker of the delivery delay processor dies
      And "slow" is overdue
      And the staging queue is altered to GET(DISABLED)
      And the staging queue is altered to GET(ENABLED)
      Then the receiver sees "slow" exactly once
      And the staging queue no longer holds "slow"

    @evidence @needs-kill
    Scenario: After a kill with gets disabled, enabling gets delivers each due message once
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And the staging queue has been altered to GET(DISABLED)
      And message "first" is sent to the queue with a delivery delay of 1 s
      And message "second" is sent to the queue with a delivery delay of 2 s
      When the broker is killed and comes back
      And "second" is overdue
      And the staging queue is altered to GET(ENABLED)
      And a receiver starts to wait on the queue
      Then the receiver sees "first" and "second" exactly once

  @DD-63 @needs-delivery-delay @needs-admin @platform-zos @own-instance
  Rule: After a shutdown on an error, disabling and enabling puts restarts the processor
    Line 68.

    @kit @needs-worker-dies
    Scenario: After the processor's worker has died, altering MAXDEPTH does not start the processor
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And a receiver is waiting on the queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      When the worker of the delivery delay processor dies
      And "slow" is overdue
      And the staging queue is altered to MAXDEPTH(500)
      And message "now" is sent to the queue
      Then the receiver sees "now" exactly once
      And the receiver never sees "slow"
      And the staging queue holds "slow"

    @needs-worker-dies
    Scenario: After the processor's worker has died, disabling and enabling puts delivers each due message once
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And a receiver is waiting on the queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      When the worker of the delivery delay processor dies
      And "slow" is overdue
      And the staging queue is altered to PUT(DISABLED)
      And the staging queue is altered to PUT(ENABLED)
      Then the receiver sees "slow" exactly once
      And the staging queue no longer holds "slow"

    @needs-worker-dies
    Scenario: A processor that is restarted during the delay delivers no message early
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And a receiver is waiting on the queue
      And message "slow" is sent to the queue with a delivery delay of 2 s
      When the worker of the delivery delay processor dies
      And the staging queue is altered to PUT(DISABLED)
      And the staging queue is altered to PUT(ENABLED)
      Then the receiver sees "slow" exactly once
      And the receiver sees "slow" no earlier than 2 s after its send

    @needs-worker-dies
    Scenario: A restarted processor delivers a message that is sent after the restart
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And a receiver is waiting on the queue
      When the worker of the delivery delay processor dies
      And the staging queue is altered to PUT(DISABLED)
      And the staging queue is altered to PUT(ENABLED)
      And message "slow" is sent to the queue with a delivery delay of 1 s
      Then the receiver sees "slow" exactly once

    @needs-store-error
    Scenario: After the store has refused the processor's write, disabling and enabling puts delivers each due message once
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And a receiver is waiting on the queue
      And messages "m1" and "m2" are sent to the queue with a delivery delay of 1 s
      When the broker's store refuses the next write
      And "m2" is overdue
      And the staging queue is altered to PUT(DISABLED)
      And the staging queue is altered to PUT(ENABLED)
      Then the receiver sees "m1" and "m2" exactly once

  @DD-64 @needs-delivery-delay @needs-admin @platform-zos @own-instance
  Rule: Disabling the staging queue for puts stops the processor
    Line 68 names this as the way to stop the processor for any reason.

    @evidence @needs-store-error
    Scenario: If the store refuses the staging queue's change to PUT(DISABLED), due messages are still delivered
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And a receiver is waiting on the queue
      When message "slow" is sent to the queue with a delivery delay of 2 s
      And the broker's store refuses the next write
      And the staging queue is altered to PUT(DISABLED)
      Then the command is refused
      And the receiver sees "slow" exactly once

    Scenario: While the staging queue is disabled for puts, due messages stay on it
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And a receiver is waiting on the queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      When the staging queue is altered to PUT(DISABLED)
      And "slow" is overdue
      And message "now" is sent to the queue
      Then the receiver sees "now" exactly once
      And the receiver never sees "slow"
      And the staging queue holds "slow"

    @needs-topic
    Scenario: While the staging queue is disabled for puts, due publications stay on it, too
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And a topic
      And a non-durable subscriber "reader" on the topic
      And message "slow" is sent to the topic with a delivery delay of 1 s
      When the staging queue is altered to PUT(DISABLED)
      And "slow" is overdue
      And message "now" is sent to the topic
      Then "reader" sees "now" exactly once
      And "reader" never sees "slow"
      And the staging queue holds "slow"

    Scenario Outline: If the staging queue is disabled for puts, altering the queue to <attributes> does not start the processor
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And a receiver is waiting on the queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      When the staging queue is altered to PUT(DISABLED)
      And the staging queue is altered to <attributes>
      And "slow" is overdue
      And message "now" is sent to the queue
      Then the receiver sees "now" exactly once
      And the receiver never sees "slow"
      And the staging queue holds "slow"
      Examples:
        | attributes                 |
        | MAXDEPTH(500)              |
        | PUT(DISABLED) MAXMSGL(500) |

    Scenario Outline: If the broker <event> while the staging queue is disabled for puts, the processor stays stopped
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      When the staging queue is altered to PUT(DISABLED)
      And the broker <event>
      And a receiver starts to wait on the queue
      And "slow" is overdue
      And message "now" is sent to the queue
      Then the receiver sees "now" exactly once
      And the receiver never sees "slow"
      And the staging queue holds "slow"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    Scenario: After the staging queue is enabled for puts again, a due message is delivered once
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And a receiver is waiting on the queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      When the staging queue is altered to PUT(DISABLED)
      And "slow" is overdue
      And the staging queue is altered to PUT(ENABLED)
      Then the receiver sees "slow" exactly once
      And the staging queue no longer holds "slow"

    Scenario: If the staging queue is enabled for puts again before the delay is over, no message is early
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And a receiver is waiting on the queue
      And message "slow" is sent to the queue with a delivery delay of 10 s
      When the staging queue is altered to PUT(DISABLED)
      And 1 s pass
      And the staging queue is altered to PUT(ENABLED)
      Then the receiver sees "slow" exactly once
      And the receiver sees "slow" no earlier than 10 s after its send

    Scenario: The processor stops every time that puts are disabled, and starts every time that they are enabled
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And a receiver is waiting on the queue
      When the staging queue is altered to PUT(DISABLED)
      And the staging queue is altered to PUT(ENABLED)
      And messages "m1" to "m3" are sent to the queue with a delivery delay of 1 s
      And the staging queue is altered to PUT(DISABLED)
      And "m3" is overdue
      Then the staging queue holds "m1" to "m3"
      When the staging queue is altered to PUT(ENABLED)
      Then the receiver sees "m1" to "m3" exactly once

    @needs-non-persistent
    Scenario: After the staging queue is enabled for puts again, non-persistent messages are delivered, too
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And a receiver is waiting on the queue
      And message "slow" is sent to the queue with a delivery delay of 1 s and delivery mode non-persistent
      When the staging queue is altered to PUT(DISABLED)
      And "slow" is overdue
      And the staging queue is altered to PUT(ENABLED)
      Then the receiver sees "slow" exactly once

    Scenario Outline: If gets and puts are disabled, due messages stay staged after <first> and are delivered after <then>
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And a receiver is waiting on the queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      When the staging queue is altered to PUT(DISABLED)
      And the staging queue is altered to GET(DISABLED)
      And the staging queue is altered to <first>
      And "slow" is overdue
      And message "now" is sent to the queue
      Then the receiver sees "now" exactly once
      And the staging queue holds "slow"
      When the staging queue is altered to <then>
      Then the receiver sees "slow" exactly once
      Examples:
        | first        | then         |
        | GET(ENABLED) | PUT(ENABLED) |
        | PUT(ENABLED) | GET(ENABLED) |
