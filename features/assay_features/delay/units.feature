Feature: A unit of work can get its own uncommitted message, unless the message is delayed
  IBM MQ, JMS 2.0 delivery delay, line 21.

  @DD-25 @needs-local-transaction
  Rule: A unit of work can get a message that it has put and not committed
    Line 21: IBM MQ permits this for a message without a delay.  No other receiver gets the message before the commit,
    and a rollback removes it.  Tension: by Jakarta Messaging 3.1, section 6.2.7, the messages of a transaction are
    sent at its commit.

    @needs-own-uncommitted
    Scenario Outline: A session gets its own uncommitted <mode> message
      Given an empty queue
      And session "work" in transacted mode
      And receiver "own" of session "work" on the queue
      When message "m1" is sent in session "work" to the queue with delivery mode <mode>
      Then "own" sees "m1" exactly once

      Examples:
        | mode           |
        | persistent     |
        | non-persistent |

    @kit @needs-own-uncommitted
    Scenario: A session gets several of its own messages in the order of their puts
      Given an empty queue
      And session "work" in transacted mode
      And receiver "own" of session "work" on the queue
      When message "m1" is sent in session "work" to the queue
      And message "m2" is sent in session "work" to the queue
      Then "own" sees "m1" and "m2" exactly once
      And "own" sees "m1" and "m2" in that order

    Scenario: No other receiver gets an uncommitted message before the commit
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      When message "m1" is sent in session "work" to the queue
      Then the receiver waits for 1500 ms and does not see "m1"

    @control
    Scenario: After the commit, another receiver gets the message
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      When message "m1" is sent in session "work" to the queue
      And session "work" is committed
      Then the receiver sees "m1" exactly once

    Scenario: Another session of the same connection does not get an uncommitted message before the commit
      Given an empty queue
      And session "work" in transacted mode on connection "shared"
      And session "bystander" in auto mode on connection "shared"
      And receiver "beside" of session "bystander" on the queue
      When message "m1" is sent in session "work" to the queue
      Then "beside" never sees "m1"

    Scenario Outline: After another session of the connection was <ended>, a session's commit still delivers the session's messages
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode on connection "shared"
      And session "other" in transacted mode on connection "shared"
      When message "m1" is sent in session "work" to the queue
      And message "m2" is sent in session "other" to the queue
      And session "other" is <ended>
      And session "work" is committed
      Then the receiver sees "m1" exactly once

      Examples:
        | ended       |
        | committed   |
        | rolled back |

    Scenario: A commit delivers no messages of another session of the connection
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode on connection "shared"
      And session "other" in transacted mode on connection "shared"
      When message "m1" is sent in session "work" to the queue
      And message "m2" is sent in session "other" to the queue
      And session "other" is committed
      Then the receiver sees "m2" exactly once
      And the receiver never sees "m1"

    @needs-own-uncommitted
    Scenario Outline: A session that has <ended> a unit of work gets its own message in its next unit of work
      Given an empty queue
      And session "work" in transacted mode
      And receiver "own" of session "work" on the queue
      When message "m1" is sent in session "work" to the queue
      And session "work" is <ended>
      And message "m2" is sent in session "work" to the queue
      Then "own" sees "m2" exactly once

      Examples:
        | ended       |
        | committed   |
        | rolled back |

    @needs-own-uncommitted
    Scenario Outline: The <one> of two sessions of a connection gets its own uncommitted message, and the <other> session does not get it
      Given an empty queue
      And session "first" in transacted mode on connection "shared"
      And session "second" in transacted mode on connection "shared"
      And receiver "<one>" of session "<one>" on the queue
      And receiver "<other>" of session "<other>" on the queue
      When message "m1" is sent in session "<one>" to the queue
      Then "<one>" sees "m1" exactly once
      And "<other>" never sees "m1"

      Examples:
        | one    | other  |
        | first  | second |
        | second | first  |

    @evidence @needs-browse
    Scenario: A browser of another connection does not find an uncommitted message before the commit
      Given an empty queue
      And session "work" in transacted mode
      And message "control" is sent to the queue
      When message "m1" is sent in session "work" to the queue
      Then browsing the queue shows "control"
      And browsing the queue does not show "m1"

    @needs-own-uncommitted
    Scenario: Messages that a unit of work has put and got are gone after the commit
      Given an empty queue
      And session "work" in transacted mode
      And receiver "own" of session "work" on the queue
      When message "m1" is sent in session "work" to the queue
      Then "own" sees "m1" exactly once
      When session "work" is committed
      And "own" is closed
      And a receiver starts to wait on the queue
      And message "control" is sent to the queue
      Then the receiver sees "control" exactly once
      And the receiver never sees "m1"

    @needs-own-uncommitted
    Scenario: Messages that a unit of work has put and got are gone after a rollback
      Given an empty queue
      And session "work" in transacted mode
      And receiver "own" of session "work" on the queue
      When message "m1" is sent in session "work" to the queue
      Then "own" sees "m1" exactly once
      When session "work" is rolled back
      And "own" is closed
      And a receiver starts to wait on the queue
      And message "control" is sent to the queue
      Then the receiver sees "control" exactly once
      And the receiver never sees "m1"

    @evidence @needs-own-uncommitted @needs-store-error
    Scenario: If the store refuses the commit, all messages that the unit of work has put are gone, including one that it has got
      Given an empty queue
      And session "work" in transacted mode
      And receiver "own" of session "work" on the queue
      When message "m1" is sent in session "work" to the queue
      Then "own" sees "m1" exactly once
      When "own" is closed
      And message "m2" is sent in session "work" to the queue
      And the broker's store refuses the next write
      And session "work" is committed
      Then it is refused
      When a receiver starts to wait on the queue
      And message "control" is sent to the queue
      Then the receiver sees "control" exactly once
      And the receiver never sees "m1" and "m2"

    Scenario: Messages that a unit of work has put and not got are gone after a rollback
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      When message "m1" is sent in session "work" to the queue
      And session "work" is rolled back
      And message "control" is sent to the queue
      Then the receiver sees "control" exactly once
      And the receiver never sees "m1"

    Scenario: Messages of a producer without a destination are gone after a rollback
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      And producer "any" of session "work" without a destination
      When producer "any" sends message "m1" to the queue
      And session "work" is rolled back
      And message "control" is sent to the queue
      Then the receiver sees "control" exactly once
      And the receiver never sees "m1"

    Scenario: No other receiver gets messages of a producer without a destination before the commit
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      And producer "any" of session "work" without a destination
      When producer "any" sends message "m1" to the queue
      Then the receiver waits for 1500 ms and does not see "m1"

    Scenario: Messages of a producer that is closed before the commit are delivered after the commit
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      And producer "brief" of session "work" on the queue
      When producer "brief" sends message "m1"
      And producer "brief" is closed
      And session "work" is committed
      Then the receiver sees "m1" exactly once

    Scenario: Before the commit, no receiver of another session gets a message of the unit of work, even if its producer is closed
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      And producer "brief" of session "work" on the queue
      When producer "brief" sends message "m1"
      And producer "brief" is closed
      Then the receiver waits for 1500 ms and does not see "m1"

    @evidence @needs-own-uncommitted
    Scenario: Messages that a unit of work has put and got are gone when the connection is lost
      Given an empty queue
      And session "work" in transacted mode
      And receiver "own" of session "work" on the queue
      When message "m1" is sent in session "work" to the queue
      Then "own" sees "m1" exactly once
      When the connection of "own" is lost
      And a receiver starts to wait on the queue
      And message "control" is sent to the queue
      Then the receiver sees "control" exactly once
      And the receiver never sees "m1"

    Scenario: Messages of a session that is closed before the commit are gone
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      When message "m1" is sent in session "work" to the queue
      And session "work" is closed
      And message "control" is sent to the queue
      Then the receiver sees "control" exactly once
      And the receiver never sees "m1"

    @needs-own-uncommitted @needs-selector
    Scenario: A receiver with a selector gets only the matching uncommitted messages of its own session
      Given an empty queue
      And session "work" in transacted mode
      And receiver "own" of session "work" on the queue for messages with "colour = 'red'"
      When message "blue" is sent in session "work" to the queue with property colour = "blue"
      And message "red" is sent in session "work" to the queue with property colour = "red"
      Then "own" sees "red" exactly once
      And "own" never sees "blue"

    @evidence @needs-kill
    Scenario: When the broker is killed before the commit, no receiver gets the message
      Given an empty queue
      And session "work" in transacted mode
      When message "m1" is sent in session "work" to the queue
      And the broker is killed and comes back
      And a receiver starts to wait on the queue
      And message "control" is sent to the queue
      Then the receiver sees "control" exactly once
      And the receiver never sees "m1"

    @evidence @needs-own-uncommitted
    Scenario: A session gets the uncommitted messages of both of its producers
      Given an empty queue
      And session "work" in transacted mode
      And receiver "own" of session "work" on the queue
      And producer "first" of session "work" on the queue
      And producer "second" of session "work" on the queue
      When producer "first" sends message "m1" with property colour = "red" and correlation id "c"
      And producer "second" sends message "m2"
      Then "own" sees "m1" and "m2" exactly once

    @evidence @needs-restart
    Scenario: When the broker is restarted before the commit, no receiver gets the message
      Given an empty queue
      And session "work" in transacted mode
      When message "m1" is sent in session "work" to the queue
      And the broker is restarted
      And a receiver starts to wait on the queue
      And message "control" is sent to the queue
      Then the receiver sees "control" exactly once
      And the receiver never sees "m1"

    @evidence @needs-own-uncommitted @needs-xa
    Scenario: In a branch of a global unit of work, a session gets its own uncommitted message
      Given an empty queue
      And session "work" in xa mode
      And receiver "own" of session "work" on the queue
      And branch "job" has been started in session "work"
      When message "m1" is sent in session "work" to the queue
      Then "own" sees "m1" exactly once

  @DD-26 @needs-delivery-delay @needs-local-transaction
  Rule: A delayed message cannot be got in its own unit of work, and is staged only at the commit
    Line 21: the message is placed on the staging queue when the unit of work is committed.  So before the commit, the
    message is not on its target, even if its delay was over long ago.

    Scenario: The commit of a delayed message is accepted
      Given an empty queue
      And session "work" in transacted mode
      When message "slow" is sent in session "work" to the queue with a delivery delay of 2 s
      And session "work" is committed
      Then it is accepted

    @evidence @needs-admin
    Scenario: No message is staged before the commit
      Given an empty queue
      And session "work" in transacted mode
      When message "control" is sent to the queue with a delivery delay of 1 h
      And message "slow" is sent in session "work" to the queue with a delivery delay of 1 h
      Then the staging queue holds "control"
      And the staging queue does not hold "slow"

    @evidence @needs-admin
    Scenario: A delayed message is staged after the commit
      Given an empty queue
      And session "work" in transacted mode
      When message "slow" is sent in session "work" to the queue with a delivery delay of 1 h
      And session "work" is committed
      Then the staging queue holds "slow"

    @evidence @needs-admin @needs-topic
    Scenario: A publication is staged for each subscriber after the commit
      Given a topic
      And a non-durable subscriber "one" on the topic
      And a non-durable subscriber "two" on the topic
      And session "work" in transacted mode
      When message "slow" is sent in session "work" to the topic with a delivery delay of 1 h
      And session "work" is committed
      Then the staging queue holds 2 copies of "slow"

    @evidence @needs-admin @needs-topic
    Scenario: No copy of a publication is staged before the commit
      Given a topic
      And a non-durable subscriber "one" on the topic
      And session "work" in transacted mode
      When message "control" is sent to the topic with a delivery delay of 1 h
      And message "slow" is sent in session "work" to the topic with a delivery delay of 1 h
      Then the staging queue holds "control"
      And the staging queue does not hold "slow"

    @needs-own-uncommitted
    Scenario Outline: <wait> after the send, a session does not get its own uncommitted message with a delay of 1 s
      Given an empty queue
      And session "work" in transacted mode
      And receiver "own" of session "work" on the queue
      When message "slow" is sent in session "work" to the queue with a delivery delay of 1 s
      And <wait> have passed since "slow" was sent
      And message "now" is sent in session "work" to the queue
      Then "own" sees "now" exactly once
      And "own" never sees "slow"

      Examples:
        | wait   |
        | 0 ms   |
        | 999 ms |
        | 1 s    |
        | 3 s    |

    Scenario: After the commit, a session gets its own delayed message
      Given an empty queue
      And session "work" in transacted mode
      And receiver "own" of session "work" on the queue
      When message "slow" is sent in session "work" to the queue with a delivery delay of 1 s
      And 2 s have passed since "slow" was sent
      And session "work" is committed
      Then "own" sees "slow" exactly once

    Scenario: No other receiver sees a delayed message before the commit, even when the delay is over
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      When message "slow" is sent in session "work" to the queue with a delivery delay of 1 s
      Then the receiver waits for 3 s and does not see "slow"

    @needs-non-persistent
    Scenario: No other receiver sees a non-persistent delayed message before the commit, even when the delay is over
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      When message "slow" is sent in session "work" to the queue with a delivery delay of 1 s and delivery mode non-persistent
      Then the receiver waits for 3 s and does not see "slow"

    @needs-topic
    Scenario: No subscriber sees a delayed publication before the commit, even when the delay is over
      Given a topic
      And a non-durable subscriber "live" on the topic
      And session "work" in transacted mode
      When message "slow" is sent in session "work" to the topic with a delivery delay of 1 s
      And 3 s have passed since "slow" was sent
      And message "now" is sent to the topic
      Then "live" sees "now" exactly once
      And "live" never sees "slow"

    Scenario: No receiver sees the messages of two producers in a unit of work that is rolled back
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      And producer "first" of session "work" on the queue with a delivery delay of 1 s
      And producer "second" of session "work" on the queue with a delivery delay of 1 s
      When producer "first" sends message "one"
      And producer "second" sends message "two"
      And session "work" is rolled back
      Then the receiver waits for 3 s and does not see "one"
      And the receiver waits for 3 s and does not see "two"

    Scenario: No receiver sees the messages of a producer without a destination in a unit of work that is rolled back
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      And producer "any" of session "work" without a destination
      And the delivery delay of producer "any" is 1 s
      When producer "any" sends message "one" to the queue
      And session "work" is rolled back
      Then the receiver waits for 3 s and does not see "one"

    Scenario: Delayed messages of a producer that is closed before the commit are delivered after the commit
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      And producer "brief" of session "work" on the queue with a delivery delay of 1 s
      When producer "brief" sends message "slow"
      And producer "brief" is closed
      And session "work" is committed
      Then the receiver sees "slow" exactly once

    @evidence @needs-admin @needs-restart
    Scenario: A delayed message that was not committed before a restart is not staged after the restart
      Given an empty queue
      And session "work" in transacted mode
      When message "control" is sent to the queue with a delivery delay of 1 h
      And message "slow" is sent in session "work" to the queue with a delivery delay of 1 h
      And the broker is restarted
      Then the staging queue holds "control"
      And the staging queue does not hold "slow"

    Scenario: After the commit, all messages of a unit of work are delivered, with and without a delay
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      When message "slow1" is sent in session "work" to the queue with a delivery delay of 1 s
      And message "now" is sent in session "work" to the queue
      And message "slow2" is sent in session "work" to the queue with a delivery delay of 2 s
      And session "work" is committed
      Then the receiver sees "slow1", "now" and "slow2" exactly once
      And the receiver sees "slow2" no earlier than 2 s after its send

    Scenario Outline: If a unit of work is rolled back <when> the delays are over, none of its messages is delivered
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      When message "slow1" is sent in session "work" to the queue with a delivery delay of 1 s
      And message "slow2" is sent in session "work" to the queue with a delivery delay of 1 s
      And <wait> have passed since "slow2" was sent
      And session "work" is rolled back
      And message "control" is sent to the queue with a delivery delay of 3 s
      Then the receiver sees "control" exactly once
      And the receiver never sees "slow1" and "slow2"

      Examples:
        | when   | wait |
        | before | 0 ms |
        | after  | 2 s  |

    Scenario: When the session is closed before the commit, its delayed message is never delivered
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      When message "slow" is sent in session "work" to the queue with a delivery delay of 1 s
      And session "work" is closed
      And message "control" is sent to the queue with a delivery delay of 3 s
      Then the receiver sees "control" exactly once
      And the receiver never sees "slow"

    Scenario: After a rollback, a session's next unit of work delivers only its own message
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      When message "undone" is sent in session "work" to the queue with a delivery delay of 1 s
      And session "work" is rolled back
      And message "done" is sent in session "work" to the queue with a delivery delay of 1 s
      And session "work" is committed
      Then the receiver sees "done" exactly once
      And the receiver never sees "undone"

    Scenario: A commit delivers no delayed messages of another session of the connection
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode on connection "shared"
      And session "other" in transacted mode on connection "shared"
      When message "slow" is sent in session "work" to the queue with a delivery delay of 1 s
      And message "theirs" is sent in session "other" to the queue with a delivery delay of 1 s
      And session "other" is committed
      Then the receiver sees "theirs" exactly once
      And the receiver never sees "slow"

    @needs-topic
    Scenario: A commit delivers no delayed publications of another session of the connection
      Given a topic
      And a non-durable subscriber "live" on the topic
      And session "work" in transacted mode on connection "shared"
      And session "other" in transacted mode on connection "shared"
      When message "slow" is sent in session "work" to the topic with a delivery delay of 1 s
      And message "theirs" is sent in session "other" to the topic with a delivery delay of 1 s
      And session "other" is committed
      Then "live" sees "theirs" exactly once
      And "live" never sees "slow"

    Scenario Outline: After another session of the connection was <ended>, a session's commit delivers the session's delayed messages once
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode on connection "shared"
      And session "other" in <mode> mode on connection "shared"
      When message "slow" is sent in session "work" to the queue with a delivery delay of 1 s
      And message "theirs" is sent in session "other" to the queue with a delivery delay of 1 s
      And session "other" is <ended>
      And session "work" is committed
      Then the receiver sees "slow" exactly once

      Examples:
        | ended       | mode       |
        | committed   | transacted |
        | rolled back | transacted |
        | closed      | transacted |
        | closed      | auto       |

    @evidence @needs-kill
    Scenario: A committed delayed message is delivered although the broker is killed during the delay
      Given an empty queue
      And session "work" in transacted mode
      When message "slow" is sent in session "work" to the queue with a delivery delay of 2 s
      And session "work" is committed
      And the broker is killed and comes back
      And a receiver starts to wait on the queue
      Then the receiver sees "slow" exactly once

    @evidence @needs-xa
    Scenario: A branch of a global unit of work delivers its message once, and only after the commit
      Given an empty queue
      And a receiver is waiting on the queue
      And session "global" in xa mode
      And branch "b1" has been started in session "global"
      When message "slow" is sent in session "global" to the queue with a delivery delay of 1 s
      And branch "b1" is ended
      And branch "b1" is prepared
      And 3 s have passed since "slow" was sent
      And message "now" is sent to the queue
      And branch "b1" is committed
      Then the receiver sees "now" and "slow" exactly once
      And the receiver sees "now" and "slow" in that order

    @evidence @needs-xa @needs-store-error
    Scenario: If the store refuses a branch's first commit, the message is delivered after the second commit
      Given an empty queue
      And a receiver is waiting on the queue
      And session "global" in xa mode
      And branch "b1" has been started in session "global"
      When message "slow" is sent in session "global" to the queue with a delivery delay of 1 s
      And branch "b1" is ended
      And branch "b1" is prepared
      And the broker's store refuses the next write
      And branch "b1" is committed
      And 3 s pass
      And branch "b1" is committed
      Then the receiver sees "slow" exactly once

    @evidence @needs-xa @needs-store-error
    Scenario: If the store refuses a branch's first rollback, the message is never delivered after the second rollback
      Given an empty queue
      And a receiver is waiting on the queue
      And session "global" in xa mode
      And branch "b1" has been started in session "global"
      When message "slow" is sent in session "global" to the queue with a delivery delay of 1 s
      And branch "b1" is ended
      And branch "b1" is prepared
      And the broker's store refuses the next write
      And branch "b1" is rolled back
      And branch "b1" is rolled back
      And message "control" is sent to the queue with a delivery delay of 5 s
      Then the receiver sees "control" exactly once
      And the receiver never sees "slow"

    @evidence @needs-xa
    Scenario Outline: If the broker <event> while a branch is in doubt, the branch's message is delivered only after the commit
      Given an empty queue
      And session "global" in xa mode
      And branch "b1" has been started in session "global"
      When message "slow" is sent in session "global" to the queue with a delivery delay of 5 s
      And branch "b1" is ended
      And branch "b1" is prepared
      And the broker <event>
      And a receiver starts to wait on the queue
      And "slow" is overdue
      And message "now" is sent to the queue
      And branch "b1" is committed
      Then the receiver sees "now" and "slow" exactly once
      And the receiver sees "now" and "slow" in that order

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @evidence @needs-xa @needs-topic @needs-durable-subscription
    Scenario Outline: If the broker <event> while a branch is in doubt, the branch's publication is delivered only after the commit
      Given a topic
      And a durable subscriber "steady" on the topic
      And session "global" in xa mode
      And branch "b1" has been started in session "global"
      When message "slow" is sent in session "global" to the topic with a delivery delay of 5 s
      And branch "b1" is ended
      And branch "b1" is prepared
      And subscriber "steady" goes away
      And the broker <event>
      And subscriber "steady" comes back
      And "slow" is overdue
      And message "now" is sent to the topic
      And branch "b1" is committed
      Then "steady" sees "now" and "slow" exactly once
      And "steady" sees "now" and "slow" in that order

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @evidence @needs-xa
    Scenario Outline: If the broker <event> while a branch is in doubt, the branch's message is not delivered after the rollback
      Given an empty queue
      And session "global" in xa mode
      And branch "b1" has been started in session "global"
      When message "slow" is sent in session "global" to the queue with a delivery delay of 1 s
      And branch "b1" is ended
      And branch "b1" is prepared
      And the broker <event>
      And a receiver starts to wait on the queue
      And branch "b1" is rolled back
      And message "control" is sent to the queue with a delivery delay of 3 s
      Then the receiver sees "control" exactly once
      And the receiver never sees "slow"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @evidence @needs-xa
    Scenario: A branch of a global unit of work that is rolled back delivers no message
      Given an empty queue
      And a receiver is waiting on the queue
      And session "global" in xa mode
      And branch "b1" has been started in session "global"
      When message "slow" is sent in session "global" to the queue with a delivery delay of 1 s
      And branch "b1" is ended
      And branch "b1" is prepared
      And branch "b1" is rolled back
      And message "control" is sent to the queue with a delivery delay of 3 s
      Then the receiver sees "control" exactly once
      And the receiver never sees "slow"

    @evidence @needs-admin
    Scenario Outline: If the unit of work is rolled back <when> the delay is over, the message is on no queue
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      And message "control" is sent to the queue with a delivery delay of 4 s
      When message "slow" is sent in session "work" to the queue with a delivery delay of 1 s
      And <wait> have passed since "slow" was sent
      And session "work" is rolled back
      Then the staging queue holds "control"
      And the staging queue does not hold "slow"
      And the receiver sees "control" exactly once
      And the receiver never sees "slow"

      Examples:
        | when   | wait |
        | before | 0 ms |
        | after  | 2 s  |

    @evidence @needs-admin
    Scenario: When the connection is lost before the commit, the message is on no queue
      Given an empty queue
      And session "work" in transacted mode
      And receiver "own" of session "work" on the queue
      And message "control" is sent to the queue with a delivery delay of 4 s
      When message "slow" is sent in session "work" to the queue with a delivery delay of 1 s
      And the connection of "own" is lost
      And a receiver starts to wait on the queue
      Then the staging queue holds "control"
      And the staging queue does not hold "slow"
      And the receiver sees "control" exactly once
      And the receiver never sees "slow"

    @evidence @needs-admin @own-instance
    Scenario: After a rollback, the delayed message takes no place on the staging queue
      Given the staging queue has been altered to MAXDEPTH(1)
      And an empty queue
      And session "work" in transacted mode
      When message "undone" is sent in session "work" to the queue with a delivery delay of 1 h
      And session "work" is rolled back
      And message "slow" is sent to the queue with a delivery delay of 1 h
      Then sending "slow" is accepted
      And the staging queue holds "slow"
      And the staging queue holds 1 message

    @evidence @needs-admin @needs-kill
    Scenario: When the broker is killed before the commit, the message is on no queue
      Given an empty queue
      And session "work" in transacted mode
      When message "control" is sent to the queue with a delivery delay of 1 h
      And message "slow" is sent in session "work" to the queue with a delivery delay of 1 s
      And the broker is killed and comes back
      And 2 s have passed since "slow" was sent
      And a receiver starts to wait on the queue
      And message "now" is sent to the queue
      Then the staging queue holds "control"
      And the staging queue does not hold "slow"
      And the receiver sees "now" exactly once
      And the receiver never sees "slow"

    @evidence @topology-cluster @needs-admin
    Scenario: Of two units of work for another queue manager's queue, only the committed unit delivers its message
      Given queue "orders" at queue manager "B" has been defined with CLUSTER(SHOP) DEFBIND(NOTFIXED)
      And receiver "far" is waiting on queue "orders" at queue manager "B"
      And session "work" in transacted mode
      When message "undone" is sent in session "work" to queue "orders" with a delivery delay of 1 s
      And session "work" is rolled back
      And message "done" is sent in session "work" to queue "orders" with a delivery delay of 1 s
      And session "work" is committed
      Then "far" sees "done" exactly once
      And "far" never sees "undone"

    @evidence @needs-xa
    Scenario Outline: If a prepared branch is rolled back and the broker <event>, the branch's message is never delivered
      Given an empty queue
      And session "work" in xa mode
      And branch "job" has been started in session "work"
      When message "undone" is sent in session "work" to the queue with a delivery delay of 5 s
      And branch "job" is ended
      And branch "job" is prepared
      And branch "job" is rolled back
      And the broker <event>
      And message "control" is sent to the queue with a delivery delay of 6 s
      And a receiver starts to wait on the queue
      Then the receiver sees "control" exactly once
      And the receiver never sees "undone"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @evidence @needs-xa @needs-topic @needs-durable-subscription
    Scenario Outline: If a prepared branch is rolled back and the broker <event>, the branch's publication is never delivered
      Given a topic
      And a durable subscriber "steady" on the topic
      And session "work" in xa mode
      And branch "job" has been started in session "work"
      When message "undone" is sent in session "work" to the topic with a delivery delay of 5 s
      And branch "job" is ended
      And branch "job" is prepared
      And branch "job" is rolled back
      And the broker <event>
      And message "control" is sent to the topic with a delivery delay of 6 s
      And subscriber "steady" comes back
      Then "steady" sees "control" exactly once
      And "steady" never sees "undone"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |
