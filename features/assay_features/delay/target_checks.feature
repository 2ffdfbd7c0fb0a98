Feature: The target of a delayed message is checked when the message is sent
  IBM MQ, JMS 2.0 delivery delay, line 78.

  @DD-78 @needs-delivery-delay
  Rule: A target that is disabled for puts, full, or too small for the message refuses a delayed send at once
    Line 78: these checks make it less likely that the message cannot be put when its delay is over.  So the state of
    the target at the send decides, whatever its state at the end of the delay.  No line gives the reason codes: our
    own broker must give IBM MQ's codes, any other broker must refuse the send.

    @needs-put-inhibit
    Scenario: A queue that is disabled for puts refuses a delayed message
      Given a queue with PUT(DISABLED)
      When message "slow" is sent to the queue with a delivery delay of 1 s
      Then it is refused

    @needs-alias @needs-queue-depth
    Scenario: An alias that is disabled for puts refuses a delayed message
      Given an empty queue
      And the queue has been defined
      And an alias "front" for the queue with PUT(DISABLED)
      When message "slow" is sent to alias "front" with a delivery delay of 1 s
      Then it is refused

    @needs-alias @needs-put-inhibit
    Scenario: An alias of a queue that is disabled for puts refuses a delayed message
      Given a queue with PUT(DISABLED)
      And an alias "front" for the queue
      When message "slow" is sent to alias "front" with a delivery delay of 1 s
      Then it is refused

    @needs-put-inhibit
    Scenario: A send to a queue that is disabled for puts is refused even if puts are enabled before the delay is over
      Given a queue with PUT(DISABLED)
      And a receiver is waiting on the queue
      When message "slow" is sent to the queue with a delivery delay of 2 s
      And the queue is altered to PUT(ENABLED)
      And 3 s have passed since "slow" was sent
      And message "control" is sent to the queue
      Then sending "slow" is refused
      And the receiver sees "control" exactly once
      And the receiver never sees the refused "slow"

    @control @needs-get-inhibit
    Scenario: A queue with GET(DISABLED) accepts a delayed message
      Given a queue with GET(DISABLED)
      When message "slow" is sent to the queue with a delivery delay of 1 s
      Then it is accepted

    @needs-message-limit
    Scenario: A message that is one byte longer than the queue permits is refused
      Given a queue with MAXMSGL(1000)
      When message "slow" is sent to the queue with a body of 1001 B and a delivery delay of 1 s
      Then it is refused

    @control @needs-message-limit
    Scenario: A message of the queue's maximum length is accepted
      Given a queue with MAXMSGL(1000)
      And a receiver is waiting on the queue
      When message "slow" is sent to the queue with a body of 1000 B and a delivery delay of 1 s
      Then sending "slow" is accepted
      And the receiver sees "slow" exactly once

    @needs-alias @needs-message-limit
    Scenario: A message to an alias is refused if it is one byte longer than the alias's queue permits
      Given a queue with MAXMSGL(1000)
      And an alias "front" for the queue
      When message "slow" is sent to alias "front" with a body of 1001 B and a delivery delay of 1 s
      Then it is refused

    @evidence @needs-admin @needs-store-error @needs-restart
    Scenario Outline: If altering a queue from <old> to <new> fails in the store, <old> still applies to delayed messages, also after a restart
      Given a queue with <old>
      When the broker's store refuses the next write
      And the queue is altered to <new>
      Then the command is refused
      When message "before" is sent to the queue with a body of 1001 B and a delivery delay of 1 s
      Then it is refused
      When the broker is restarted
      And message "after" is sent to the queue with a body of 1001 B and a delivery delay of 1 s
      Then it is refused

      Examples:
        | old           | new           |
        | PUT(DISABLED) | PUT(ENABLED)  |
        | MAXDEPTH(0)   | MAXDEPTH(10)  |
        | MAXMSGL(1000) | MAXMSGL(4000) |

    @evidence @needs-admin @needs-store-error
    Scenario Outline: If altering a queue from <old> to <new> fails in the store, <old> still applies, and a second, delayed message is <answer>
      Given a queue with <old>
      And message "there" is sent to the queue
      When the broker's store refuses the next write
      And the queue is altered to <new>
      Then the command is refused
      When message "slow" is sent to the queue with a body of 1001 B and a delivery delay of 1 s
      Then it is <answer>

      Examples:
        | old           | new           | answer   |
        | MAXDEPTH(1)   | MAXDEPTH(10)  | refused  |
        | MAXMSGL(1000) | MAXMSGL(4000) | refused  |
        | MAXDEPTH(10)  | MAXDEPTH(1)   | accepted |
        | PUT(ENABLED)  | PUT(DISABLED) | accepted |

    @evidence @needs-admin
    Scenario Outline: If a queue is altered to <attributes> and the broker <event>, a delayed message that violates this value is refused
      Given a queue with MAXDEPTH(10)
      And the queue has been altered to <attributes>
      When the broker <event>
      And message "slow" is sent to the queue with a body of 1001 B and a delivery delay of 1 s
      Then it is refused

      @needs-restart
      Examples: Restart
        | event        | attributes    |
        | is restarted | PUT(DISABLED) |
        | is restarted | MAXDEPTH(0)   |
        | is restarted | MAXMSGL(1000) |

      @needs-kill
      Examples: Kill
        | event                    | attributes    |
        | is killed and comes back | PUT(DISABLED) |

    @needs-message-limit
    Scenario: A message that is too long is refused even if MAXMSGL is raised before the delay is over
      Given a queue with MAXMSGL(1000)
      And a receiver is waiting on the queue
      When message "slow" is sent to the queue with a body of 1001 B and a delivery delay of 2 s
      And the queue is altered to MAXMSGL(2000)
      And 3 s have passed since "slow" was sent
      And message "control" is sent to the queue with a body of 1001 B
      Then sending "slow" is refused
      And the receiver sees "control" exactly once
      And the receiver never sees the refused "slow"

    @needs-queue-limit
    Scenario: A full queue refuses a delayed message
      Given a queue with MAXDEPTH(2)
      And 2 messages are sent to the queue
      When message "slow" is sent to the queue with a delivery delay of 1 s
      Then it is refused

    @needs-queue-limit
    Scenario: A queue with MAXDEPTH(0) refuses a delayed message
      Given a queue with MAXDEPTH(0)
      When message "slow" is sent to the queue with a delivery delay of 1 h
      Then sending "slow" is refused

    @needs-alias @needs-queue-limit
    Scenario: A full queue behind an alias refuses a delayed message
      Given a queue with MAXDEPTH(1)
      And an alias "front" for the queue
      And a message is sent to the queue
      When message "slow" is sent to alias "front" with a delivery delay of 1 s
      Then it is refused

    @control @needs-queue-limit @needs-queue-look
    Scenario: A queue with one free place accepts a delayed message
      Given a queue with MAXDEPTH(2)
      And message "filler" is sent to the queue
      When message "slow" is sent to the queue with a delivery delay of 1 s
      Then sending "slow" is accepted
      And the queue holds "filler" and "slow"

    @control @needs-queue-limit @needs-staging-queue
    Scenario: Staged messages do not count towards the MAXDEPTH of their target
      Given a queue with MAXDEPTH(1)
      When message "one" is sent to the queue with a delivery delay of 1 h
      And message "two" is sent to the queue with a delivery delay of 1 h
      Then sending "two" is accepted

    @needs-queue-depth @needs-queue-limit
    Scenario: A send to a full queue is refused even if the queue is cleared before the delay is over
      Given a queue with MAXDEPTH(1)
      And message "filler" is sent to the queue
      When message "slow" is sent to the queue with a delivery delay of 2 s
      And the queue is cleared
      And a receiver starts to wait on the queue
      And 3 s have passed since "slow" was sent
      And message "control" is sent to the queue
      Then sending "slow" is refused
      And the receiver sees "control" exactly once
      And the receiver never sees the refused "slow"

    @control @needs-queue-limit
    Scenario: A queue that was full and is empty again accepts a delayed message
      Given a queue with MAXDEPTH(1)
      And a receiver on the queue
      And message "filler" is sent to the queue
      When "receiver" receives a message
      And message "slow" is sent to the queue with a delivery delay of 1 s
      Then sending "slow" is accepted
      And the receiver sees "filler" exactly once
      And the receiver sees "slow" exactly once

    @needs-local-transaction
    Scenario Outline: In a unit of work, too, a delayed message that violates the queue's <attributes> is refused at the send
      Given a queue with <attributes>
      And message "filler" is sent to the queue
      And session "work" in transacted mode
      When message "slow" is sent in session "work" to the queue with a body of 1001 B and a delivery delay of 1 s
      Then sending "slow" is refused

      @needs-put-inhibit
      Examples:
        | attributes    |
        | PUT(DISABLED) |

      @needs-message-limit
      Examples:
        | attributes    |
        | MAXMSGL(1000) |

      @needs-queue-limit
      Examples:
        | attributes    |
        | MAXDEPTH(1)   |

    @needs-non-persistent
    Scenario Outline: A delayed non-persistent message that violates the queue's <attributes> is refused, too
      Given a queue with <attributes>
      And message "filler" is sent to the queue
      When message "slow" is sent to the queue with delivery mode non-persistent, a body of 1001 B and a delivery delay of 1 s
      Then it is refused

      @needs-put-inhibit
      Examples:
        | attributes    |
        | PUT(DISABLED) |

      @needs-message-limit
      Examples:
        | attributes    |
        | MAXMSGL(1000) |

      @needs-queue-limit
      Examples:
        | attributes    |
        | MAXDEPTH(1)   |

    @needs-put-inhibit @needs-queue-limit
    Scenario: If a queue is altered to PUT(DISABLED) between two sends of a producer, it refuses the second send
      Given a queue with MAXDEPTH(10)
      And a producer on the queue
      And the producer's delivery delay is 1 h
      When the producer sends message "one"
      And the queue is altered to PUT(DISABLED)
      And the producer sends message "two"
      Then sending "one" is accepted
      And sending "two" is refused

    @needs-message-limit
    Scenario: A non-ASCII message that is one byte too long is refused although it has fewer characters than MAXMSGL
      Given a queue with MAXMSGL(1000)
      When message "slow" is sent to the queue with a body of non-ASCII characters, a body of 1001 B and a delivery delay of 1 s
      Then it is refused

    @control @needs-message-limit
    Scenario: A non-ASCII message of the queue's maximum length is accepted
      Given a queue with MAXMSGL(1000)
      And a receiver is waiting on the queue
      When message "slow" is sent to the queue with a body of non-ASCII characters, a body of 1000 B and a delivery delay of 1 s
      Then sending "slow" is accepted
      And the receiver sees "slow" exactly once

    @needs-queue-limit
    Scenario Outline: A full queue refuses a delayed message with <what>, too
      Given a queue with MAXDEPTH(1)
      And message "filler" is sent to the queue
      When message "slow" is sent to the queue with <what> and a delivery delay of 1 s
      Then it is refused

      Examples:
        | what                    |
        | an empty body           |
        | property colour = "red" |

    @needs-priority @needs-queue-limit
    Scenario: A full queue refuses a delayed message of the highest priority, too
      Given a queue with MAXDEPTH(1)
      And message "filler" is sent to the queue
      When message "slow" is sent to the queue with priority 9 and a delivery delay of 1 s
      Then it is refused

    @needs-time-to-live @needs-queue-limit
    Scenario: A full queue refuses a delayed message with a time to live, too
      Given a queue with MAXDEPTH(1)
      And message "filler" is sent to the queue
      When message "slow" is sent to the queue with a time to live of 1 h and a delivery delay of 1 s
      Then it is refused

    Scenario Outline: A delayed message of a <style> producer without a destination is refused if it violates the queue's <attributes>
      Given a queue with <attributes>
      And message "filler" is sent to the queue
      And a <style> producer without a destination
      And the producer's delivery delay is 1 s
      When the producer sends message "slow" to the queue with a body of 1001 B
      Then it is refused

      @needs-put-inhibit
      Examples:
        | style      | attributes    |
        | classic    | PUT(DISABLED) |

      @needs-queue-limit
      Examples:
        | style      | attributes    |
        | classic    | MAXDEPTH(1)   |

      @needs-message-limit
      Examples:
        | style      | attributes    |
        | simplified | MAXMSGL(1000) |

    @control @needs-local-transaction @needs-message-limit @needs-queue-limit
    Scenario: In a unit of work, too, a queue with a free place and a sufficient MAXMSGL accepts a delayed message
      Given a queue with MAXDEPTH(1) MAXMSGL(1001)
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      When message "slow" is sent in session "work" to the queue with a body of 1001 B and a delivery delay of 1 s
      And session "work" is committed
      Then sending "slow" is accepted
      And the receiver sees "slow" exactly once

    @control @needs-alias @needs-message-limit @needs-queue-limit
    Scenario: A queue behind an alias accepts a delayed message if it has a free place and a sufficient MAXMSGL
      Given a queue with MAXDEPTH(1) MAXMSGL(1001)
      And an alias "front" for the queue
      And a receiver is waiting on the queue
      When message "slow" is sent to alias "front" with a body of 1001 B and a delivery delay of 1 s
      Then sending "slow" is accepted
      And the receiver sees "slow" exactly once

    @needs-queue-limit
    Scenario: A queue that is filled between two sends of a producer refuses the second send
      Given a queue with MAXDEPTH(1)
      And a receiver on the queue
      And a producer on the queue
      And the producer's delivery delay is 1 s
      When the producer sends message "one"
      And "receiver" receives a message
      And message "filler" is sent to the queue
      And the producer sends message "two"
      Then sending "one" is accepted
      And sending "two" is refused

    @kit @needs-local-transaction @needs-queue-limit
    Scenario: On the reference broker, an uncommitted message already counts towards the MAXDEPTH of its queue
      Given a queue with MAXDEPTH(1)
      And session "work" in transacted mode
      When message "filler" is sent in session "work" to the queue
      And message "slow" is sent to the queue with a delivery delay of 1 s
      Then sending "slow" is refused with MQRC_Q_FULL

    @kit
    Scenario Outline: If a delayed message violates the queue's <attributes>, the reference broker refuses it with <reason>
      Given a queue with <attributes>
      And message "filler" is sent to the queue
      When message "slow" is sent to the queue with a body of 1001 B and a delivery delay of 1 s
      Then it is refused with <reason>

      @needs-put-inhibit
      Examples:
        | attributes    | reason                 |
        | PUT(DISABLED) | MQRC_PUT_INHIBITED     |

      @needs-message-limit
      Examples:
        | attributes    | reason                 |
        | MAXMSGL(1000) | MQRC_MSG_TOO_BIG_FOR_Q |

      @needs-queue-limit
      Examples:
        | attributes    | reason                 |
        | MAXDEPTH(1)   | MQRC_Q_FULL            |

    @evidence @needs-xa
    Scenario Outline: In a branch of a global unit of work, too, a delayed message that violates the queue's <attributes> is refused at the send
      Given a queue with <attributes>
      And session "work" in xa mode
      And branch "job" has been started in session "work"
      When message "m1" is sent in session "work" to the queue with a delivery delay of 1 h and a body of 200 B
      Then sending "m1" is refused
      @needs-put-inhibit
      Examples:
        | attributes    |
        | PUT(DISABLED) |

      @needs-message-limit
      Examples:
        | attributes    |
        | MAXMSGL(100)  |

      @needs-queue-limit
      Examples:
        | attributes    |
        | MAXDEPTH(0)   |

    @evidence @needs-put-inhibit @needs-local-transaction
    Scenario: After a rollback, each send of a session is still checked against its own target queue
      Given a queue with PUT(DISABLED)
      And an empty queue "open"
      And session "work" in transacted mode
      And producer "late" of session "work" without a destination
      And producer "other" of session "work" on queue "open" with a delivery delay of 1 s
      When the delivery delay of producer "late" is set to 1 s
      And producer "other" sends message "before"
      And producer "late" sends message "slow" to the queue with delivery mode persistent for this send only
      And session "work" is rolled back
      And producer "late" sends message "again" to the queue
      And producer "other" sends message "after"
      Then sending "slow" is refused
      And sending "again" is refused
      And sending "after" is accepted
