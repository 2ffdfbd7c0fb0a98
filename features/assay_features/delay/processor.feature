Feature: The delivery delay processor starts with the queue manager, and again after a failure
  IBM MQ, JMS 2.0 delivery delay, lines 68 and 70.

  @DD-60 @needs-delivery-delay
  Rule: The processor starts with the queue manager, without any command
    Line 70 is about distributed platforms.  Line 68 is about z/OS, where the processor opens the staging queue if
    this queue is available, and then waits.  So these scenarios give no command after the start, and the staged
    messages are delivered.

    Scenario Outline: The broker <event> during the delay, and the message comes
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
    Scenario: A message whose delay ends while the queue manager is down comes after its start
      Given an empty queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      When queue manager "A" is stopped
      And 2 s pass
      And queue manager "A" is started again
      And a receiver starts to wait on the queue
      Then the receiver sees "slow" exactly once

    @needs-restart
    Scenario: A message that is staged after the start is delivered, too
      Given the broker has been restarted
      And an empty queue
      And a receiver is waiting on the queue
      When message "slow" is sent to the queue with a delivery delay of 1 s
      Then the receiver sees "slow" exactly once

    @needs-admin @platform-zos
    Scenario Outline: On z/OS, the broker <event> during the delay, and the message comes
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
    Scenario: On z/OS, the processor finds an empty staging queue at the start, and waits for messages
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And the broker has been restarted
      And an empty queue
      And a receiver is waiting on the queue
      When message "slow" is sent to the queue with a delivery delay of 1 s
      Then the receiver sees "slow" exactly once

    @needs-admin @own-instance
    Scenario: Several messages whose delay ends while the queue manager is down come after its start
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue with a delivery delay of 1 s
      When queue manager "A" is stopped
      And 2 s pass
      And queue manager "A" is started again
      And a receiver starts to wait on the queue
      Then the receiver sees "m1" to "m3" exactly once

    @kit @needs-admin @own-instance
    Scenario Outline: The staging queue is disabled for puts when the broker <event>, and the message comes
      Line 68 stops the processor by PUT(DISABLED) on z/OS; line 70 does not mention this for distributed platforms, so
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
    Scenario: After a restart, each of several messages comes, beside non-persistent ones that may be lost
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
    Scenario: The processor's worker dies during the delay, and the message comes
      Given an empty queue
      And a receiver is waiting on the queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      When the worker of the delivery delay processor dies
      Then the receiver sees "slow" exactly once
      And the receiver sees "slow" no earlier than 1 s after its send

    @needs-worker-dies
    Scenario: The processor's worker dies twice, and the message comes
      Given an empty queue
      And a receiver is waiting on the queue
      And message "first" is sent to the queue with a delivery delay of 1 s
      When the worker of the delivery delay processor dies
      And "first" is overdue
      And message "second" is sent to the queue with a delivery delay of 1 s
      And the worker of the delivery delay processor dies
      Then the receiver sees "first" and "second" exactly once

    @needs-worker-dies
    Scenario: The processor's worker dies again before it has restarted, and the message comes
      Given an empty queue
      And a receiver is waiting on the queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      When the worker of the delivery delay processor dies
      And the worker of the delivery delay processor dies
      Then the receiver sees "slow" exactly once

    @needs-worker-dies
    Scenario: The processor's worker dies before a message is staged, and the message comes
      Given an empty queue
      And a receiver is waiting on the queue
      When the worker of the delivery delay processor dies
      And message "slow" is sent to the queue with a delivery delay of 1 s
      Then the receiver sees "slow" exactly once

    @needs-worker-dies @needs-topic
    Scenario: A publication also comes after the processor's worker has died
      Given a topic
      And a non-durable subscriber "reader" on the topic
      And message "slow" is sent to the topic with a delivery delay of 1 s
      When the worker of the delivery delay processor dies
      Then "reader" sees "slow" exactly once

    @needs-store-error
    Scenario Outline: The store refuses <writes> at the end of the delay, and the message comes
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
    Scenario: Several messages are due at the write that the store refuses, and all come
      Given an empty queue
      And a receiver is waiting on the queue
      And messages "m1" to "m3" are sent to the queue with a delivery delay of 1 s
      When the broker's store refuses the next write
      Then the receiver sees "m1" to "m3" exactly once

    @needs-store-error
    Scenario: A message that is staged after the failure is delivered, too
      Given an empty queue
      And a receiver is waiting on the queue
      And message "first" is sent to the queue with a delivery delay of 1 s
      When the broker's store refuses the next write
      And "first" is overdue
      And message "second" is sent to the queue with a delivery delay of 1 s
      Then the receiver sees "first" and "second" exactly once

    @evidence @needs-store-error @needs-virtual-time
    Scenario: The store refuses many writes, and the message comes
      Given an empty queue
      And a receiver is waiting on the queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      When the broker's store refuses the next 12 writes
      And 5 m pass
      Then the receiver sees "slow" exactly once

    @needs-store-error @needs-topic @needs-durable-subscription
    Scenario: The store refuses the next write when a publication for a durable subscription is due, and it comes
      Given a topic
      And a durable subscriber "steady" on the topic
      And message "news" is sent to the topic with a delivery delay of 1 s
      When the broker's store refuses the next write
      Then "steady" sees "news" exactly once

    @needs-store-error @needs-non-persistent
    Scenario: A staged non-persistent message also comes after the failure
      Given an empty queue
      And a receiver is waiting on the queue
      And message "heavy" is sent to the queue with a delivery delay of 1 s
      And message "light" is sent to the queue with a delivery delay of 3 s and delivery mode non-persistent
      When the broker's store refuses the next write
      Then the receiver sees "heavy" and "light" exactly once
      And the receiver sees "light" no earlier than 3 s after its send

    @needs-worker-dies @needs-non-persistent
    Scenario: The processor's worker dies, and a non-persistent message also comes
      Given an empty queue
      And a receiver is waiting on the queue
      And message "light" is sent to the queue with a delivery delay of 3 s and delivery mode non-persistent
      When the worker of the delivery delay processor dies
      Then the receiver sees "light" exactly once
      And the receiver sees "light" no earlier than 3 s after its send

    @needs-worker-dies @needs-admin @own-instance
    Scenario: The processor's worker dies while a put is tried again, and the message comes
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
    Scenario: The staging queue is disabled for gets and puts, and enabled for gets only, and the message comes
      Line 68 stops the processor by PUT(DISABLED) on z/OS; line 70 does not mention this, so another broker may stop on
      distributed platforms, too, until puts are enabled again.

      Given an empty queue
      And a receiver is waiting on the queue
      And message "slow" is sent to the queue with a delivery delay of 2 s
      When the staging queue is altered to GET(DISABLED) PUT(DISABLED)
      And "slow" is overdue
      And the staging queue is altered to GET(ENABLED)
      Then the receiver sees "slow" exactly once

    @needs-admin @own-instance
    Scenario: The staging queue is disabled for gets, and enabled again, and the message comes
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
    Scenario: The staging queue is disabled for gets and puts, and both are enabled again, and the message comes
      Given an empty queue
      And a receiver is waiting on the queue
      And message "slow" is sent to the queue with a delivery delay of 2 s
      When the staging queue is altered to GET(DISABLED) PUT(DISABLED)
      And "slow" is overdue
      And the staging queue is altered to GET(ENABLED)
      And the staging queue is altered to PUT(ENABLED)
      Then the receiver sees "slow" exactly once

    @needs-admin @own-instance
    Scenario Outline: The staging queue is disabled for gets when the broker <event>, and enabled later, and the message comes
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
