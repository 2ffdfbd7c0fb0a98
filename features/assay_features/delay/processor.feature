Feature: The delivery delay processor starts with the queue manager, and again after a failure
  IBM MQ, JMS 2.0 delivery delay, lines 68 and 70.

  @DD-60 @needs-delivery-delay
  Rule: The processor starts with the queue manager, without any command
    Line 70 is about distributed platforms.  Line 68 is about z/OS, where the processor opens the staging queue if
    this queue is available, and then waits.  So these scenarios give no command after the start, and the staged
    messages are delivered.

    Scenario Outline: If the broker <event> during the delay, the message is still delivered once
      Given an empty queue
      And message "slow" is sent to the queue with a delivery delay of 2 s
      When the broker <event>
      And a receiver starts to wait on the queue
      Then the receiver sees "slow" exactly once

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @needs-admin @own-instance
    Scenario: A message whose delay ended while the queue manager was down is delivered after the start
      Given an empty queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      When queue manager "A" is stopped
      And 2 s pass
      And queue manager "A" is started again
      And a receiver starts to wait on the queue
      Then the receiver sees "slow" exactly once

    @needs-restart
    Scenario: A message that is staged after a restart is delivered
      Given the broker has been restarted
      And an empty queue
      And a receiver is waiting on the queue
      When message "slow" is sent to the queue with a delivery delay of 1 s
      Then the receiver sees "slow" exactly once

    @needs-admin @platform-zos
    Scenario Outline: On z/OS, if the broker <event> during the delay, the message is still delivered once
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And an empty queue
      And message "slow" is sent to the queue with a delivery delay of 2 s
      When the broker <event>
      And a receiver starts to wait on the queue
      Then the receiver sees "slow" exactly once

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @needs-admin @platform-zos @needs-restart
    Scenario: On z/OS, a processor that starts with an empty staging queue delivers a message that is staged later
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And the broker has been restarted
      And an empty queue
      And a receiver is waiting on the queue
      When message "slow" is sent to the queue with a delivery delay of 1 s
      Then the receiver sees "slow" exactly once

    @needs-admin @own-instance
    Scenario: Several messages whose delays ended while the queue manager was down are delivered after the start
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue with a delivery delay of 1 s
      When queue manager "A" is stopped
      And 2 s pass
      And queue manager "A" is started again
      And a receiver starts to wait on the queue
      Then the receiver sees "m1" to "m3" exactly once

    @kit @needs-admin @own-instance
    Scenario Outline: If the broker <event> while the staging queue is disabled for puts, the message is still delivered
      Line 68: on z/OS, PUT(DISABLED) stops the processor.  Line 70 does not mention this for distributed platforms, so
      another broker may wait there, too, until puts are enabled.

      Given an empty queue
      And message "slow" is sent to the queue with a delivery delay of 2 s
      When the staging queue is altered to PUT(DISABLED)
      And the broker <event>
      And a receiver starts to wait on the queue
      Then the receiver sees "slow" exactly once

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @evidence @needs-restart @needs-non-persistent
    Scenario: After a restart, each persistent message is delivered once, and each non-persistent one at most once
      Given an empty queue
      And messages "light1" and "light2" are sent to the queue with a delivery delay of 2 s and delivery mode non-persistent
      And messages "m1" and "m2" are sent to the queue with a delivery delay of 2 s
      When the broker is restarted
      And a receiver starts to wait on the queue
      Then the receiver sees "m1" and "m2" exactly once
      And the receiver sees "light1" and "light2" at most once

  @DD-65 @needs-delivery-delay
  Rule: On distributed platforms the processor restarts by itself after a recoverable failure
    Line 70.  The scenarios try two failures: the processor's worker dies, or the store refuses the processor's
    write.  No command follows; every message comes, and none comes twice.

    @needs-worker-dies
    Scenario: If the processor's worker dies during the delay, the message is still delivered once
      Given an empty queue
      And a receiver is waiting on the queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      When the worker of the delivery delay processor dies
      Then the receiver sees "slow" exactly once
      And the receiver sees "slow" no earlier than 1 s after its send

    @kit @needs-admin @needs-store-error @own-instance
    Scenario: If the store refuses to disable the staging queue for gets, due messages are still delivered
      Given an empty queue
      And a receiver is waiting on the queue
      And message "slow" is sent to the queue with a delivery delay of 5 s
      When the broker's store refuses the next write
      And the staging queue is altered to GET(DISABLED)
      Then the receiver sees "slow" exactly once

    @needs-worker-dies
    Scenario: If the processor's worker dies during each of two delays, both messages are still delivered
      Given an empty queue
      And a receiver is waiting on the queue
      And message "first" is sent to the queue with a delivery delay of 1 s
      When the worker of the delivery delay processor dies
      And "first" is overdue
      And message "second" is sent to the queue with a delivery delay of 1 s
      And the worker of the delivery delay processor dies
      Then the receiver sees "first" and "second" exactly once

    @needs-worker-dies
    Scenario: If the processor's worker dies again before the processor has restarted, the message is still delivered
      Given an empty queue
      And a receiver is waiting on the queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      When the worker of the delivery delay processor dies
      And the worker of the delivery delay processor dies
      Then the receiver sees "slow" exactly once

    @needs-worker-dies @needs-admin @own-instance
    Scenario: If the staging queue is altered after the processor's worker has died, the message is still delivered
      Line 70.  The new MAXDEPTH has room for the message, so the command does not stop the processor.

      Given an empty queue
      And a receiver is waiting on the queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      When the worker of the delivery delay processor dies
      And the staging queue is altered to MAXDEPTH(10)
      Then the receiver sees "slow" exactly once

    @needs-worker-dies
    Scenario: If the processor's worker dies before a message is staged, the message is still delivered
      Given an empty queue
      And a receiver is waiting on the queue
      When the worker of the delivery delay processor dies
      And message "slow" is sent to the queue with a delivery delay of 1 s
      Then the receiver sees "slow" exactly once

    @needs-worker-dies @needs-topic
    Scenario: If the processor's worker dies during the delay, a publication is still delivered
      Given a topic
      And a non-durable subscriber "reader" on the topic
      And message "slow" is sent to the topic with a delivery delay of 1 s
      When the worker of the delivery delay processor dies
      Then "reader" sees "slow" exactly once

    @needs-store-error
    Scenario Outline: If the store refuses <writes> after the send, the processor still delivers the message
      Given an empty queue
      And a receiver is waiting on the queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      When the broker's store refuses <writes>
      Then the receiver sees "slow" exactly once
      And the receiver sees "slow" no earlier than 1 s after its send

      Examples:
        | writes            |
        | the next write    |
        | the next 3 writes |

    @needs-store-error
    Scenario: If several messages are due when the store refuses a write, all of them are still delivered
      Given an empty queue
      And a receiver is waiting on the queue
      And messages "m1" to "m3" are sent to the queue with a delivery delay of 1 s
      When the broker's store refuses the next write
      Then the receiver sees "m1" to "m3" exactly once

    @needs-store-error
    Scenario: After the store has refused a write, a message that is staged later is delivered, too
      Given an empty queue
      And a receiver is waiting on the queue
      And message "first" is sent to the queue with a delivery delay of 1 s
      When the broker's store refuses the next write
      And "first" is overdue
      And message "second" is sent to the queue with a delivery delay of 1 s
      Then the receiver sees "first" and "second" exactly once

    @evidence @needs-store-error @needs-virtual-time
    Scenario: If the store refuses 12 writes in a row, the message is still delivered
      Given an empty queue
      And a receiver is waiting on the queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      When the broker's store refuses the next 12 writes
      And 5 m pass
      Then the receiver sees "slow" exactly once

    @needs-store-error @needs-topic @needs-durable-subscription
    Scenario: If the store refuses a write when a publication is due, the durable subscriber still gets the publication
      Given a topic
      And a durable subscriber "steady" on the topic
      And message "news" is sent to the topic with a delivery delay of 1 s
      When the broker's store refuses the next write
      Then "steady" sees "news" exactly once

    @needs-store-error @needs-non-persistent
    Scenario: After the store has refused a write, a staged non-persistent message is still delivered
      Given an empty queue
      And a receiver is waiting on the queue
      And message "heavy" is sent to the queue with a delivery delay of 1 s
      And message "light" is sent to the queue with a delivery delay of 3 s and delivery mode non-persistent
      When the broker's store refuses the next write
      Then the receiver sees "heavy" and "light" exactly once
      And the receiver sees "light" no earlier than 3 s after its send

    @needs-worker-dies @needs-non-persistent
    Scenario: If the processor's worker dies during the delay, a non-persistent message is still delivered
      Given an empty queue
      And a receiver is waiting on the queue
      And message "light" is sent to the queue with a delivery delay of 3 s and delivery mode non-persistent
      When the worker of the delivery delay processor dies
      Then the receiver sees "light" exactly once
      And the receiver sees "light" no earlier than 3 s after its send

    @needs-worker-dies @needs-admin @own-instance
    Scenario: If the processor's worker dies while a failed put is tried again, the message is still delivered
      Given there is no dead-letter queue
      And a queue with MAXDEPTH(10)
      And message "stuck" is sent to the queue with a delivery delay of 1 s
      And the queue has been altered to PUT(DISABLED)
      When "stuck" is overdue
      And the worker of the delivery delay processor dies
      And the queue is altered to PUT(ENABLED)
      And a receiver starts to wait on the queue
      Then the receiver sees "stuck" exactly once

    @kit @needs-admin @own-instance
    Scenario: If the staging queue was disabled for gets and puts, the message is delivered after only gets are enabled
      Line 68: on z/OS, PUT(DISABLED) stops the processor.  Line 70 does not mention this, so another broker may stop on
      distributed platforms, too, until puts are enabled again.

      Given an empty queue
      And a receiver is waiting on the queue
      And message "slow" is sent to the queue with a delivery delay of 2 s
      When the staging queue is altered to GET(DISABLED) PUT(DISABLED)
      And "slow" is overdue
      And the staging queue is altered to GET(ENABLED)
      Then the receiver sees "slow" exactly once

    @needs-admin @own-instance
    Scenario: If the staging queue was disabled for gets, due and later messages are delivered after gets are enabled
      A broker may treat this as a failure or not; when it can get the messages again, they come.

      Given an empty queue
      And a receiver is waiting on the queue
      And message "slow" is sent to the queue with a delivery delay of 2 s
      When the staging queue is altered to GET(DISABLED)
      And "slow" is overdue
      And the staging queue is altered to GET(ENABLED)
      And message "next" is sent to the queue with a delivery delay of 1 s
      Then the receiver sees "slow" and "next" exactly once

    @needs-admin @own-instance
    Scenario: If the staging queue was disabled for gets and puts, the message is delivered after both are enabled
      Given an empty queue
      And a receiver is waiting on the queue
      And message "slow" is sent to the queue with a delivery delay of 2 s
      When the staging queue is altered to GET(DISABLED) PUT(DISABLED)
      And "slow" is overdue
      And the staging queue is altered to GET(ENABLED)
      And the staging queue is altered to PUT(ENABLED)
      Then the receiver sees "slow" exactly once

    @needs-admin @own-instance
    Scenario Outline: If the broker <event> while the staging queue is disabled for gets, enabling gets delivers the message
      Given an empty queue
      And message "slow" is sent to the queue with a delivery delay of 2 s
      When the staging queue is altered to GET(DISABLED)
      And the broker <event>
      And "slow" is overdue
      And the staging queue is altered to GET(ENABLED)
      And a receiver starts to wait on the queue
      Then the receiver sees "slow" exactly once

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |
