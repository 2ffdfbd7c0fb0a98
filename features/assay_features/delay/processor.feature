Feature: The delivery delay processor starts with the queue manager, and again after a failure
  IBM MQ, JMS 2.0 delivery delay, lines 68 and 70.

  @DD-60 @needs-delivery-delay
  Rule: The processor starts with the queue manager, without any command
    Line 70 for distributed platforms, line 68 for z/OS, where it opens the staging queue if that is available, and
    waits.  So in these scenarios nobody commands anything after the start, and what is staged is delivered.

    Scenario Outline: The broker <event> during the delay, and the message comes
      Given an empty queue
      And message "slow" is sent to the queue with a delivery delay of 2 s
      When the broker <event>
      And a receiver starts to wait on the queue
      Then the receiver sees "slow" exactly once

      @needs-restart
      Examples: In order
        | event        |
        | is restarted |

      @needs-kill
      Examples: At once
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
    Scenario: What is staged after the start is delivered too
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
      Examples: In order
        | event        |
        | is restarted |

      @needs-kill
      Examples: At once
        | event                    |
        | is killed and comes back |

    @needs-admin @platform-zos @needs-restart
    Scenario: On z/OS it finds the staging queue empty at the start, and waits for what comes
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And the broker has been restarted
      And an empty queue
      And a receiver is waiting on the queue
      When message "slow" is sent to the queue with a delivery delay of 1 s
      Then the receiver sees "slow" exactly once

    @needs-admin @own-instance
    Scenario: Of several messages whose delay ends while the queue manager is down each comes after its start
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue with a delivery delay of 1 s
      When queue manager "A" is stopped
      And 2 s pass
      And queue manager "A" is started again
      And a receiver starts to wait on the queue
      Then the receiver sees "m1" to "m3" exactly once

  @DD-65 @needs-delivery-delay
  Rule: On distributed platforms the processor restarts by itself after a recoverable failure
    Line 70.  The failures that are tried: what does the processor's work dies, and the store refuses what the processor
    has to write.  Nobody commands anything afterwards; every message comes, and none comes twice.

    @needs-worker-dies
    Scenario: Its worker dies during the delay
      Given an empty queue
      And a receiver is waiting on the queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      When the worker of the delivery delay processor dies
      Then the receiver sees "slow" exactly once
      And the receiver sees "slow" no earlier than 1 s after its send

    @needs-worker-dies
    Scenario: Its worker dies twice
      Given an empty queue
      And a receiver is waiting on the queue
      And message "first" is sent to the queue with a delivery delay of 1 s
      When the worker of the delivery delay processor dies
      And 5 s have passed since "first" was sent
      And message "second" is sent to the queue with a delivery delay of 1 s
      And the worker of the delivery delay processor dies
      Then the receiver sees "first" and "second" exactly once

    @needs-worker-dies
    Scenario: Its worker dies before anything is staged
      Given an empty queue
      And a receiver is waiting on the queue
      When the worker of the delivery delay processor dies
      And message "slow" is sent to the queue with a delivery delay of 1 s
      Then the receiver sees "slow" exactly once

    @needs-worker-dies @needs-topic
    Scenario: A publication comes too after its worker has died
      Given a topic
      And a non-durable subscriber "reader" on the topic
      And message "slow" is sent to the topic with a delivery delay of 1 s
      When the worker of the delivery delay processor dies
      Then "reader" sees "slow" exactly once

    @needs-store-error
    Scenario Outline: The store refuses <writes> when the delay is over
      Given an empty queue
      And a receiver is waiting on the queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      When the broker's store refuses <writes>
      And 2 s have passed since "slow" was sent
      Then the receiver sees "slow" exactly once
      And the receiver sees "slow" no earlier than 1 s after its send

      Examples:
        | writes            |
        | the next write    |
        | the next 3 writes |

    @needs-store-error
    Scenario: Several messages fall due at the write that the store refuses
      Given an empty queue
      And a receiver is waiting on the queue
      And messages "m1" to "m3" are sent to the queue with a delivery delay of 1 s
      When the broker's store refuses the next write
      And 2 s have passed since "m3" was sent
      Then the receiver sees "m1" to "m3" exactly once

    @needs-store-error
    Scenario: What is staged after the failure is delivered too
      Given an empty queue
      And a receiver is waiting on the queue
      And message "first" is sent to the queue with a delivery delay of 1 s
      When the broker's store refuses the next write
      And 2 s have passed since "first" was sent
      And message "second" is sent to the queue with a delivery delay of 1 s
      Then the receiver sees "first" and "second" exactly once

    @needs-store-error
    Scenario: The store refuses many writes on end
      Given an empty queue
      And a receiver is waiting on the queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      When the broker's store refuses the next 12 writes
      And 20 s have passed since "slow" was sent
      Then the receiver sees "slow" exactly once
