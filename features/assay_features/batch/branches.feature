Feature: In a global unit of work, the transaction manager decides about a batch
  JMS_SPEC-36, line 40.

  @BT-13 @needs-batch-listener @needs-xa
  Rule: In a global transaction, batches behave as in a local one, and the transaction manager decides whether to commit or to roll back
    Line 40.  Reading: after prepare, the branch has no effect yet and is not forgotten, whatever happens to clients
    and broker, until the transaction manager commits it or rolls it back (X/Open XA, chapter 2; Jakarta Messaging
    3.1, chapter 11).  If its client ends, a branch that is not prepared is rolled back.

    Scenario: Prepare and commit acknowledge three batches
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And session "s" in xa mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 500 ms
      And branch "b" has been started in session "s"
      When "receiver" has seen "m1" to "m6"
      And branch "b" is ended
      And branch "b" is prepared
      And branch "b" is committed
      And "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then it is accepted
      And "after" sees "control" exactly once
      And "after" never sees "m1" to "m6"

    @evidence @needs-queue-limit
    Scenario: After a prepared branch is rolled back, its sent message does not count against the queue's MAXDEPTH
      Given a queue with MAXDEPTH(1)
      And session "s" in xa mode
      And branch "b" has been started in session "s"
      When message "undone" is sent in session "s" to the queue
      And branch "b" is ended
      And branch "b" is prepared
      And branch "b" is rolled back
      And message "m1" is sent to the queue
      And a receiver starts to wait on the queue
      Then sending "m1" is accepted
      And the receiver sees "m1" exactly once
      And the receiver never sees "undone"

    @evidence @needs-store-error
    Scenario: If the store refuses a commit, a second commit acknowledges three batches
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And session "s" in xa mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 500 ms
      And branch "b" has been started in session "s"
      When "receiver" has seen "m1" to "m6"
      And branch "b" is ended
      And branch "b" is prepared
      And the broker's store refuses the next write
      And branch "b" is committed
      And branch "b" is committed
      And "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m6"

    @evidence @needs-store-error
    Scenario: If the store refuses a commit, the branch's sent message comes only after the second commit
      Given an empty queue
      And a receiver is waiting on the queue
      And session "s" in xa mode
      And branch "b" has been started in session "s"
      When message "m1" is sent in session "s" to the queue
      And branch "b" is ended
      And branch "b" is prepared
      And the broker's store refuses the next write
      And branch "b" is committed
      And message "control" is sent to the queue
      Then the receiver sees "control" exactly once
      And the receiver waits for 1 s and does not see "m1"
      When branch "b" is committed
      Then the receiver sees "m1" exactly once

    @kit @needs-store-error
    Scenario: If the store refuses a rollback, the branch's batch comes to the next receiver only after the second rollback
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in xa mode
      And receiver "taker" of session "s" on the queue
      And "taker" takes batches of at most 3 within 500 ms
      And branch "b" has been started in session "s"
      When "taker" has seen "m1" to "m3"
      And branch "b" is ended
      And branch "b" is prepared
      And the broker's store refuses the next write
      And branch "b" is rolled back
      And "taker" is closed
      And a receiver starts to wait on the queue
      And message "control" is sent to the queue
      Then the receiver sees "control" exactly once
      And the receiver waits for 1 s and does not see "m1"
      When branch "b" is rolled back
      Then the receiver sees "m1" to "m3" exactly once

    @evidence @needs-store-error
    Scenario Outline: If the store refuses a <call>, a later rollback returns three batches
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And session "s" in xa mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 500 ms
      And branch "b" has been started in session "s"
      When "receiver" has seen "m1" to "m6"
      And branch "b" is ended
      And <one>
      And <other>
      And branch "b" is rolled back
      And branch "b" is rolled back
      And "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      Then "after" sees "m1" to "m6" exactly once

      Examples:
        | call                | one                                       | other                                     |
        | rollback            | branch "b" is prepared                    | the broker's store refuses the next write |
        | prepare             | the broker's store refuses the next write | branch "b" is prepared                    |
        | commit in one phase | the broker's store refuses the next write | branch "b" is committed in one phase      |

    Scenario: A commit in one phase acknowledges three batches
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And session "s" in xa mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 500 ms
      And branch "b" has been started in session "s"
      When "receiver" has seen "m1" to "m6"
      And branch "b" is ended
      And branch "b" is committed in one phase
      And "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then it is accepted
      And "after" sees "control" exactly once
      And "after" never sees "m1" to "m6"

    Scenario: Prepare and rollback return three batches
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And session "s" in xa mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 500 ms
      And branch "b" has been started in session "s"
      When "receiver" has seen "m1" to "m6"
      And branch "b" is ended
      And branch "b" is prepared
      And branch "b" is rolled back
      And "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      Then it is accepted
      And "after" sees "m1" to "m6" exactly once

    Scenario: A rollback without prepare returns three batches
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And session "s" in xa mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 500 ms
      And branch "b" has been started in session "s"
      When "receiver" has seen "m1" to "m6"
      And branch "b" is ended
      And branch "b" is rolled back
      And "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      Then it is accepted
      And "after" sees "m1" to "m6" exactly once

    Scenario: Messages that were rolled back before prepare come again in the next branch of the same session
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And session "s" in xa mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      And branch "first" has been started in session "s"
      When "receiver" has seen "m1" to "m6"
      And branch "first" is ended
      And branch "first" is rolled back
      And branch "second" is started in session "s"
      Then "receiver" sees "m1" to "m6" again

    Scenario: Messages that were rolled back after prepare come again in the next branch of the same session
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And session "s" in xa mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      And branch "first" has been started in session "s"
      When "receiver" has seen "m1" to "m6"
      And branch "first" is ended
      And branch "first" is prepared
      And branch "first" is rolled back
      Then it is accepted
      When branch "second" is started in session "s"
      Then "receiver" sees "m1" to "m6" again

    @evidence @needs-non-persistent
    Scenario: Non-persistent messages that were rolled back after prepare come again in the next branch
      Given an empty queue
      And session "s" in xa mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 500 ms
      And branch "first" has been started in session "s"
      And messages "m1" to "m6" are sent to the queue with delivery mode non-persistent
      When "receiver" has seen "m1" to "m6"
      And branch "first" is ended
      And branch "first" is prepared
      And branch "first" is rolled back
      Then it is accepted
      When branch "second" is started in session "s"
      Then "receiver" sees "m1" to "m6" again

    @evidence @needs-non-persistent
    Scenario: Non-persistent messages that were rolled back before prepare come again in the next branch
      Given an empty queue
      And session "s" in xa mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 500 ms
      And branch "first" has been started in session "s"
      And messages "m1" to "m6" are sent to the queue with delivery mode non-persistent
      When "receiver" has seen "m1" to "m6"
      And branch "first" is ended
      And branch "first" is rolled back
      And branch "second" is started in session "s"
      Then "receiver" sees "m1" to "m6" again

    @evidence
    Scenario: A message that a producer without a destination sends in a branch never comes if the branch is rolled back
      Given an empty queue
      And a receiver is waiting on the queue
      And session "s" in xa mode
      And producer "any" of session "s" without a destination
      And branch "b" has been started in session "s"
      When producer "any" sends message "m1" to the queue
      And branch "b" is ended
      And branch "b" is rolled back
      And message "control" is sent to the queue
      Then the receiver sees "control" exactly once
      And the receiver never sees "m1"

    @kit
    Scenario: Messages that were rolled back after prepare come again in order, marked as redelivered
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And session "s" in xa mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      And branch "first" has been started in session "s"
      When "receiver" has seen "m1" to "m6"
      And branch "first" is ended
      And messages "m7" to "m8" are sent to the queue
      And branch "first" is prepared
      And branch "first" is rolled back
      And "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      Then "after" sees "m1" to "m8" exactly once
      And "after" sees "m1" to "m8" in that order
      And every redelivery of "m1" to "m6" that "after" sees is marked as redelivered

    Scenario: The commit of a branch acknowledges the batches of all consumers of the session
      Given an empty queue "one"
      And an empty queue "two"
      And messages "a1" to "a3" are sent to queue "one"
      And messages "b1" to "b3" are sent to queue "two"
      And session "s" in xa mode
      And receiver "first" of session "s" on queue "one"
      And receiver "second" of session "s" on queue "two"
      And "first" takes batches of at most 3 within 500 ms
      And "second" takes batches of at most 3 within 500 ms
      And branch "b" has been started in session "s"
      When "first" has seen "a1" to "a3"
      And "second" has seen "b1" to "b3"
      And branch "b" is ended
      And branch "b" is prepared
      And branch "b" is committed
      And "first"'s connection is closed
      And receiver "after one" starts to wait on queue "one"
      And receiver "after two" starts to wait on queue "two"
      And message "control one" is sent to queue "one"
      And message "control two" is sent to queue "two"
      Then "after one" sees "control one" exactly once
      And "after two" sees "control two" exactly once
      And "after one" never sees "a1" to "a3"
      And "after two" never sees "b1" to "b3"

    Scenario: One branch of a session can be rolled back after another branch of the session was committed
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in xa mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      And branch "first" has been started in session "s"
      When "receiver" has seen "m1" to "m3"
      And branch "first" is ended
      And messages "m4" to "m6" are sent to the queue
      And branch "second" is started in session "s"
      And "receiver" has seen "m4" to "m6"
      And branch "second" is ended
      And branch "first" is prepared
      And branch "second" is prepared
      And branch "second" is committed
      And branch "first" is rolled back
      And "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      Then it is accepted
      And "after" sees "m1" to "m3" exactly once
      And "after" never sees "m4" to "m6"

    Scenario: Messages that a prepared branch has received come to no other consumer until the branch is rolled back
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in xa mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      And branch "b" has been started in session "s"
      When "receiver" has seen "m1" to "m3"
      And branch "b" is ended
      And branch "b" is prepared
      And "receiver" is closed
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then it is accepted
      And "after" sees "control" exactly once
      And "after" never sees "m1" to "m3"
      When branch "b" is rolled back
      Then it is accepted
      And "after" sees "m1" to "m3" exactly once

    @evidence
    Scenario: Messages that a prepared branch has sent come to no consumer before the branch's commit
      Given an empty queue
      And session "s" in xa mode
      And branch "b" has been started in session "s"
      When message "m1" is sent in session "s" to the queue
      And message "m2" is sent in session "s" to the queue
      And branch "b" is ended
      And branch "b" is prepared
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" and "m2"
      When branch "b" is committed
      Then it is accepted
      And "after" sees "m1" and "m2" exactly once
      And "after" sees "m1" and "m2" in that order

    @kit
    Scenario: The delivery count of a message grows with each rollback of a prepared branch
      Given an empty queue
      And message "m1" is sent to the queue
      And session "s" in xa mode
      And receiver "receiver" of session "s" on the queue
      And branch "first" has been started in session "s"
      When "receiver" receives a message
      And branch "first" is ended
      And branch "first" is prepared
      And branch "first" is rolled back
      And branch "second" is started in session "s"
      And "receiver" receives a message
      And branch "second" is ended
      And branch "second" is prepared
      And branch "second" is rolled back
      And receiver "after" starts to wait on the queue
      Then message "m1" as seen by "after" shows JMSXDeliveryCount "3"

    @evidence
    Scenario: The end of a suspended branch leaves the session in its present branch
      Given an empty queue
      And session "s" in xa mode
      And branch "first" has been started in session "s"
      When message "m1" is sent in session "s" to the queue
      And branch "first" is suspended
      And branch "second" is started in session "s"
      And branch "first" is ended
      And message "m2" is sent in session "s" to the queue
      And branch "second" is ended
      And branch "first" is rolled back
      And branch "second" is rolled back
      And message "control" is sent to the queue
      And a receiver starts to wait on the queue
      Then sending "m2" is accepted
      And the receiver sees "control" exactly once
      And the receiver never sees "m1" and "m2"

    @evidence
    Scenario Outline: Messages of a branch come once, although other messages came between prepare and commit and the broker <event>
      Given an empty queue
      And session "s" in xa mode
      And branch "b" has been started in session "s"
      When message "m1" is sent in session "s" to the queue
      And message "m2" is sent in session "s" to the queue
      And branch "b" is ended
      And branch "b" is prepared
      And message "between" is sent to the queue
      And branch "b" is committed
      And the broker <event>
      And a receiver starts to wait on the queue
      Then the receiver sees "between" exactly once
      And the receiver sees "m1" and "m2" exactly once
      And the receiver sees "m1" and "m2" in that order

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @kit @needs-non-persistent
    Scenario: A non-persistent message that a prepared branch has sent comes when the branch is committed
      Given an empty queue
      And session "s" in xa mode
      And a receiver is waiting on the queue
      And branch "b" has been started in session "s"
      When message "light" is sent in session "s" to the queue with delivery mode non-persistent
      And branch "b" is ended
      And branch "b" is prepared
      And branch "b" is committed
      Then the receiver sees "light" exactly once

    @evidence @needs-topic
    Scenario: Messages that a branch published come to each subscriber when the branch is committed in one phase
      Given a topic
      And a non-durable subscriber "first" on the topic
      And a non-durable subscriber "second" on the topic
      And session "s" in xa mode
      And branch "b" has been started in session "s"
      When message "m1" is sent in session "s" to the topic
      And branch "b" is ended
      And branch "b" is committed in one phase
      Then it is accepted
      And "first" sees "m1" exactly once
      And "second" sees "m1" exactly once

    @evidence
    Scenario Outline: A <mode> message of a branch that is rolled back after prepare never comes
      Given an empty queue
      And session "s" in xa mode
      And a receiver is waiting on the queue
      And branch "b" has been started in session "s"
      When message "m1" is sent in session "s" to the queue with delivery mode <mode>
      And branch "b" is ended
      And branch "b" is prepared
      And branch "b" is rolled back
      And message "control" is sent to the queue
      Then the receiver sees "control" exactly once
      And the receiver never sees "m1"

      Examples:
        | mode           |
        | persistent     |
        | non-persistent |

    Scenario: If a client loses its connection before prepare, its branch is rolled back
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in xa mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      And branch "b" has been started in session "s"
      When "receiver" has seen "m1" to "m3"
      And "receiver" is closed
      And message "out" is sent in session "s" to the queue
      And branch "b" is ended
      And "receiver"'s connection is lost
      And receiver "after" starts to wait on the queue
      Then "after" sees "m1" to "m3" exactly once
      And "after" never sees "out"
      And branch "b" is not in doubt

    @evidence
    Scenario Outline: A prepared branch whose connection is <ended> stays in doubt until it is <decided>
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in xa mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      And branch "b" has been started in session "s"
      When "receiver" has seen "m1" to "m3"
      And "receiver" is closed
      And message "out" is sent in session "s" to the queue
      And branch "b" is ended
      And branch "b" is prepared
      And "receiver"'s connection is <ended>
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then branch "b" is in doubt
      And "after" sees "control" exactly once
      And "after" never sees "m1" to "m3"
      And "after" never sees "out"
      When branch "b" is <decided>
      Then it is accepted
      And "after" sees <there> exactly once
      And "after" never sees <gone>
      And branch "b" is not in doubt

      Examples:
        | ended  | decided     | there        | gone         |
        | lost   | committed   | "out"        | "m1" to "m3" |
        | lost   | rolled back | "m1" to "m3" | "out"        |
        | closed | committed   | "out"        | "m1" to "m3" |
        | closed | rolled back | "m1" to "m3" | "out"        |

    @evidence @needs-kill
    Scenario: Messages of an unprepared branch come back when the broker is killed
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And session "s" in xa mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 500 ms
      And branch "b" has been started in session "s"
      When "receiver" has seen "m1" to "m6"
      And branch "b" is ended
      And the broker is killed and comes back
      And receiver "after" starts to wait on the queue
      Then branch "b" is not in doubt
      And "after" sees "m1" to "m6" exactly once

    @evidence @needs-kill
    Scenario Outline: After the broker is killed, a prepared branch is still in doubt until it is <decided>
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And session "s" in xa mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 500 ms
      And branch "b" has been started in session "s"
      When "receiver" has seen "m1" to "m6"
      And "receiver" is closed
      And message "out" is sent in session "s" to the queue
      And branch "b" is ended
      And branch "b" is prepared
      And the broker is killed and comes back
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then branch "b" is in doubt
      And "after" sees "control" exactly once
      And "after" never sees "m1" to "m6"
      And "after" never sees "out"
      When branch "b" is <decided>
      Then it is accepted
      And "after" sees <there> exactly once
      And "after" never sees <gone>
      And branch "b" is not in doubt

      Examples:
        | decided     | there        | gone         |
        | committed   | "out"        | "m1" to "m6" |
        | rolled back | "m1" to "m6" | "out"        |

    @evidence @needs-restart
    Scenario Outline: After the broker is restarted twice, a prepared branch is still in doubt until it is <decided>
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in xa mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      And branch "b" has been started in session "s"
      When "receiver" has seen "m1" to "m3"
      And "receiver" is closed
      And message "out" is sent in session "s" to the queue
      And branch "b" is ended
      And branch "b" is prepared
      And the broker is restarted
      And the broker is restarted
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then branch "b" is in doubt
      And "after" sees "control" exactly once
      And "after" never sees "m1" to "m3"
      When branch "b" is <decided>
      Then it is accepted
      And "after" sees <there> exactly once
      And "after" never sees <gone>

      Examples:
        | decided     | there        | gone         |
        | committed   | "out"        | "m1" to "m3" |
        | rolled back | "m1" to "m3" | "out"        |

    @evidence
    Scenario Outline: After the broker <event>, a prepared branch that only received messages is in doubt until it is <decided>
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in xa mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      And branch "b" has been started in session "s"
      When "receiver" has seen "m1" to "m3"
      And "receiver" is closed
      And branch "b" is ended
      And branch "b" is prepared
      And the broker <event>
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then branch "b" is in doubt
      And "after" sees "control" exactly once
      And "after" never sees "m1" to "m3"
      When branch "b" is <decided>
      And message "last" is sent to the queue
      Then "after" sees "last" exactly once
      And <claim>
      And branch "b" is not in doubt

      @needs-kill
      Examples:
        | event                    | decided     | claim                                  |
        | is killed and comes back | committed   | "after" never sees "m1" to "m3"        |
        | is killed and comes back | rolled back | "after" sees "m1" to "m3" exactly once |

      @needs-restart
      Examples:
        | event        | decided     | claim                                  |
        | is restarted | committed   | "after" never sees "m1" to "m3"        |
        | is restarted | rolled back | "after" sees "m1" to "m3" exactly once |

    @evidence
    Scenario Outline: After the broker <event>, one of two branches in doubt can be committed, and the other branch can be rolled back
      Given an empty queue "in"
      And an empty queue "out"
      And messages "m1" to "m3" are sent to queue "in"
      And session "s" in xa mode
      And receiver "receiver" of session "s" on queue "in"
      And "receiver" takes batches of at most 3 within 500 ms
      And branch "one" has been started in session "s"
      When "receiver" has seen "m1" to "m3"
      And message "from one" is sent in session "s" to queue "out"
      And branch "one" is ended
      And messages "m4" to "m6" are sent to queue "in"
      And branch "two" is started in session "s"
      And "receiver" has seen "m4" to "m6"
      And message "from two" is sent in session "s" to queue "out"
      And branch "two" is ended
      And branch "one" is prepared
      And branch "two" is prepared
      And the broker <event>
      Then branch "one" is in doubt
      And branch "two" is in doubt
      When branch "<first>" is committed
      Then branch "<then>" is in doubt
      And branch "<first>" is not in doubt
      When branch "<then>" is rolled back
      Then it is accepted
      When receiver "after" starts to wait on queue "in"
      And receiver "other" starts to wait on queue "out"
      Then "after" sees <there> exactly once
      And "other" sees "from <first>" exactly once
      And "after" never sees <gone>
      And "other" never sees "from <then>"

      @needs-kill
      Examples:
        | event                    | first | then | there        | gone         |
        | is killed and comes back | two   | one  | "m1" to "m3" | "m4" to "m6" |
        | is killed and comes back | one   | two  | "m4" to "m6" | "m1" to "m3" |

      @needs-restart
      Examples:
        | event        | first | then | there        | gone         |
        | is restarted | one   | two  | "m4" to "m6" | "m1" to "m3" |

    @evidence @needs-kill
    Scenario Outline: After the broker is killed, a prepared branch with messages of two queues is <decided> on both queues
      Given an empty queue "one"
      And an empty queue "two"
      And messages "a1" to "a3" are sent to queue "one"
      And messages "b1" to "b3" are sent to queue "two"
      And session "s" in xa mode
      And receiver "first" of session "s" on queue "one"
      And receiver "second" of session "s" on queue "two"
      And "first" takes batches of at most 3 within 500 ms
      And "second" takes batches of at most 3 within 500 ms
      And branch "b" has been started in session "s"
      When "first" has seen "a1" to "a3"
      And "second" has seen "b1" to "b3"
      And "first" is closed
      And "second" is closed
      And message "a4" is sent in session "s" to queue "one"
      And message "b4" is sent in session "s" to queue "two"
      And branch "b" is ended
      And branch "b" is prepared
      And the broker is killed and comes back
      And branch "b" is <decided>
      And receiver "after one" starts to wait on queue "one"
      And receiver "after two" starts to wait on queue "two"
      And message "control one" is sent to queue "one"
      And message "control two" is sent to queue "two"
      Then "after one" sees "control one" exactly once
      And "after two" sees "control two" exactly once
      And "after one" sees <there one> exactly once
      And "after two" sees <there two> exactly once
      And "after one" never sees <gone one>
      And "after two" never sees <gone two>

      Examples:
        | decided     | there one    | there two    | gone one     | gone two     |
        | committed   | "a4"         | "b4"         | "a1" to "a3" | "b1" to "b3" |
        | rolled back | "a1" to "a3" | "b1" to "b3" | "a4"         | "b4"         |

    @evidence @needs-kill @needs-topic @needs-durable-subscription
    Scenario: If a branch in doubt is committed after a broker kill, its published messages come to a durable subscriber
      Given a topic
      And a durable subscriber "reader" on the topic that does not receive yet
      And subscriber "reader" is inactive
      And session "s" in xa mode
      And branch "b" has been started in session "s"
      When message "m1" is sent in session "s" to the topic
      And message "m2" is sent in session "s" to the topic
      And branch "b" is ended
      And branch "b" is prepared
      And the broker is killed and comes back
      And subscriber "reader" comes back
      And message "control" is sent to the topic
      Then "reader" sees "control" exactly once
      And "reader" never sees "m1" and "m2"
      When branch "b" is committed
      Then it is accepted
      And "reader" sees "m1" and "m2" exactly once

    @evidence @needs-kill
    Scenario: A commit in one phase is still in effect after a kill of the broker
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in xa mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      And branch "b" has been started in session "s"
      When "receiver" has seen "m1" to "m3"
      And "receiver" is closed
      And message "out" is sent in session "s" to the queue
      And branch "b" is ended
      And branch "b" is committed in one phase
      And the broker is killed and comes back
      And receiver "after" starts to wait on the queue
      Then branch "b" is not in doubt
      And "after" sees "out" exactly once
      And "after" never sees "m1" to "m3"

    @evidence
    Scenario: A branch is in doubt only between its prepare and its commit
      Given an empty queue
      And session "s" in xa mode
      And branch "b" has been started in session "s"
      When message "m1" is sent in session "s" to the queue
      Then branch "b" is not in doubt
      When branch "b" is ended
      Then branch "b" is not in doubt
      When branch "b" is prepared
      Then branch "b" is in doubt
      When branch "b" is committed
      And a receiver starts to wait on the queue
      Then branch "b" is not in doubt
      And the receiver sees "m1" exactly once

    @evidence @needs-kill
    Scenario Outline: A branch that was <decided> is still <decided> after two kills of the broker
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in xa mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      And branch "b" has been started in session "s"
      When "receiver" has seen "m1" to "m3"
      And "receiver" is closed
      And message "out" is sent in session "s" to the queue
      And branch "b" is ended
      And branch "b" is prepared
      And branch "b" is <decided>
      And the broker is killed and comes back
      And the broker is killed and comes back
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then branch "b" is not in doubt
      And "after" sees "control" exactly once
      And "after" sees <there> exactly once
      And "after" never sees <gone>

      Examples:
        | decided     | there        | gone         |
        | committed   | "out"        | "m1" to "m3" |
        | rolled back | "m1" to "m3" | "out"        |

    @evidence @needs-kill @needs-delivery-delay
    Scenario: After a broker kill, a delayed message of a branch in doubt comes only after the branch's commit
      Given an empty queue
      And session "s" in xa mode
      And branch "b" has been started in session "s"
      When message "slow" is sent in session "s" to the queue with a delivery delay of 1 s
      And branch "b" is ended
      And branch "b" is prepared
      And the broker is killed and comes back
      And a receiver starts to wait on the queue
      Then the receiver waits for 3 s and does not see "slow"
      When branch "b" is committed
      Then it is accepted
      And the receiver sees "slow" exactly once

    @kit @needs-restart
    Scenario: Messages that were rolled back after prepare are also marked as redelivered after a broker restart
      Given an empty queue
      And session "s" in xa mode
      And receiver "receiver" of session "s" on the queue
      And branch "b" has been started in session "s"
      And "receiver" takes batches of at most 3 within 500 ms
      When messages "m1" to "m3" are sent to the queue
      And "receiver" has seen "m1" to "m3"
      And branch "b" is ended
      And branch "b" is prepared
      And branch "b" is rolled back
      And the broker is restarted
      And receiver "after" starts to wait on the queue
      Then "after" sees "m1" to "m3" exactly once
      And every redelivery of "m1" to "m3" that "after" sees is marked as redelivered

    @evidence
    Scenario: Messages that are sent after the end of a session's branch are delivered exactly once
      Given an empty queue
      And session "s" in xa mode
      And receiver "receiver" of session "s" on the queue
      And branch "b" has been started in session "s"
      And "receiver" takes batches of at most 2 within 500 ms
      When messages "m1" and "m2" are sent to the queue
      And "receiver" has seen "m1" and "m2"
      And branch "b" is ended
      And messages "m3" and "m4" are sent to the queue
      And 2 s pass
      And branch "b" is prepared
      And branch "b" is committed
      And session "s" is closed
      And receiver "after" starts to wait on the queue
      Then "receiver" and "after" together see "m3" and "m4" exactly once

    @evidence
    Scenario: The rollback of a branch returns the messages that came before and after its suspension
      Given an empty queue
      And session "s" in xa mode
      And receiver "receiver" of session "s" on the queue
      And branch "b" has been started in session "s"
      And "receiver" takes batches of at most 2 within 500 ms
      When messages "m1" and "m2" are sent to the queue
      And "receiver" has seen "m1" and "m2"
      And branch "b" is suspended
      And messages "m3" and "m4" are sent to the queue
      And branch "b" is resumed
      And "receiver" has seen "m3" and "m4"
      And branch "b" is ended
      And branch "b" is prepared
      And branch "b" is rolled back
      And branch "c" is started in session "s"
      Then "receiver" sees "m1" to "m4" again

    @evidence
    Scenario Outline: A branch whose work has failed cannot be <decided>, and its messages come back
      A transaction manager can end the work in a branch as failed.  Then the branch can only be rolled back (X/Open XA,
      xa_end with TMFAIL).

      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in xa mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      And branch "b" has been started in session "s"
      When "receiver" has seen "m1" to "m3"
      And branch "b" is ended as failed
      And branch "b" is <decided>
      Then it is refused
      When "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      Then "after" sees "m1" to "m3" exactly once

      Examples:
        | decided                |
        | prepared               |
        | committed in one phase |

    @evidence
    Scenario: Messages that are sent while a session's branch is suspended are delivered exactly once
      Given an empty queue
      And session "s" in xa mode
      And receiver "receiver" of session "s" on the queue
      And branch "b" has been started in session "s"
      And "receiver" takes batches of at most 2 within 500 ms
      When branch "b" is suspended
      And messages "m1" and "m2" are sent to the queue
      And 2 s pass
      And session "s" is closed
      And receiver "after" starts to wait on the queue
      Then "receiver" and "after" together see "m1" and "m2" exactly once

    @evidence @needs-kill
    Scenario: If another session joins a branch, the branch's commit acknowledges the batches of both sessions
      Given an empty queue
      And session "s" in xa mode
      And receiver "first" of session "s" on the queue
      And session "t" in xa mode
      And receiver "second" of session "t" on the queue
      And branch "b" has been started in session "s"
      And "first" takes batches of at most 2 within 500 ms
      When messages "m1" and "m2" are sent to the queue
      And "first" has seen "m1" and "m2"
      And branch "b" is ended
      And branch "b" is joined in session "t"
      And "second" starts to take batches of at most 2 within 500 ms
      And messages "m3" and "m4" are sent to the queue
      And "second" has seen "m3" and "m4"
      And branch "b" is ended
      And branch "b" is prepared
      And branch "b" is committed
      And the broker is killed and comes back
      And message "control" is sent to the queue
      And receiver "after" starts to wait on the queue
      Then "after" sees "control" exactly once
      And "first", "second" and "after" together see "m1" to "m4" exactly once

    @evidence
    Scenario: A branch that another session has joined can be committed although its first session is closed
      Given an empty queue
      And session "s" in xa mode
      And receiver "first" of session "s" on the queue
      And session "t" in xa mode
      And receiver "second" of session "t" on the queue
      And branch "b" has been started in session "s"
      And "first" takes batches of at most 2 within 500 ms
      When messages "m1" and "m2" are sent to the queue
      And "first" has seen "m1" and "m2"
      And branch "b" is ended
      And branch "b" is joined in session "t"
      And "second" starts to take batches of at most 2 within 500 ms
      And messages "m3" and "m4" are sent to the queue
      And "second" has seen "m3" and "m4"
      And branch "b" is ended
      And session "s" is closed
      And branch "b" is prepared
      And branch "b" is committed
      And session "t" is closed
      And message "control" is sent to the queue
      And receiver "after" starts to wait on the queue
      Then "after" sees "control" exactly once
      And "first", "second" and "after" together see "m1" to "m4" exactly once

    @evidence
    Scenario: If another session joins a branch, the branch's rollback returns the batches of both sessions
      Given an empty queue
      And session "s" in xa mode
      And receiver "first" of session "s" on the queue
      And session "t" in xa mode
      And receiver "second" of session "t" on the queue
      And branch "b" has been started in session "s"
      And "first" takes batches of at most 2 within 500 ms
      When messages "m1" and "m2" are sent to the queue
      And "first" has seen "m1" and "m2"
      And branch "b" is ended
      And branch "b" is joined in session "t"
      And "second" starts to take batches of at most 2 within 500 ms
      And messages "m3" and "m4" are sent to the queue
      And "second" has seen "m3" and "m4"
      And branch "b" is ended
      And branch "b" is rolled back
      And session "s" is closed
      And session "t" is closed
      And receiver "after" starts to wait on the queue
      Then "after" sees "m1" to "m4" exactly once

    @kit
    Scenario Outline: After a batch listener is removed and another is set, the branch is <decided> with the messages of both listeners
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in xa mode
      And receiver "receiver" of session "s" on the queue
      And branch "b" has been started in session "s"
      When a batch listener of size 3 and timeout 500 ms is set on "receiver"
      And "receiver" has seen "m1" to "m3"
      And the batch listener of "receiver" is removed
      And a batch listener of size 2 and timeout 500 ms is set on "receiver"
      And messages "m4" to "m5" are sent to the queue
      And "receiver" has seen "m4" to "m5"
      And 1 s pass
      And branch "b" is ended
      And branch "b" is prepared
      And branch "b" is <decided>
      And "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "after" sees "control" exactly once
      And <claim>

      Examples:
        | decided     | claim                                  |
        | committed   | "after" never sees "m1" to "m5"        |
        | rolled back | "after" sees "m1" to "m5" exactly once |
