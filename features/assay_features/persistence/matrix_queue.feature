Feature: Messages on a queue after a restart or a kill of the broker
  Persistent and durable delivery, lines 37 to 40 and 59.

  @PD-20 @needs-queue
  Rule: A persistent message to a queue is on disk before its sender is answered, and is kept until a consumer has it
    Lines 38 and 39: the broker dispatches the message to a connected consumer, or keeps it until a consumer connects,
    through restart and kill.  A kill does not clear the operating system's page cache, so only scenarios that observe
    the flush claim that a message is on disk.  An acknowledgement has no answer in AMQP, so the scenarios give the
    broker a second to process it before a kill.

    Scenario Outline: Of two messages without properties, only the unreceived message is there after the broker <event>
      Given an empty queue
      And receiver "first" is waiting on the queue
      And a producer on the queue
      When the producer sends message "taken" with no properties
      And "first" has seen "taken"
      And "first" is closed
      And 1 s pass
      And the producer sends message "kept" with no properties
      And the broker <event>
      And receiver "second" starts to wait on the queue
      Then "second" sees "kept" exactly once
      And "second" never sees "taken"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @kit
    Scenario Outline: A message that no consumer had received is not marked as redelivered after the broker <event>
      Given an empty queue
      When message "m1" is sent to the queue
      And message "m2" is sent to the queue with a delivery delay of 2 s
      And the broker <event>
      And a receiver starts to wait on the queue
      Then message "m1" as seen by "receiver" shows JMSRedelivered "false"
      And message "m1" as seen by "receiver" shows JMSXDeliveryCount "1"
      And message "m2" as seen by "receiver" shows JMSRedelivered "false"

      @needs-restart @needs-delivery-delay
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill @needs-delivery-delay
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @kit @needs-restart
    Scenario: A message that returned to the queue before a restart is marked as redelivered after the restart
      Given an empty queue
      And receiver "first" is waiting on the queue in client mode
      When message "m1" is sent to the queue
      And "first" has seen "m1"
      And "first"'s connection is lost
      And the broker is restarted
      And a receiver starts to wait on the queue
      Then message "m1" as seen by "receiver" shows JMSRedelivered "true"
      And message "m1" as seen by "receiver" shows JMSXDeliveryCount "2"

    @kit @needs-restart
    Scenario: A message that was received and not acknowledged before a restart is marked as redelivered afterwards
      Given an empty queue
      And receiver "first" is waiting on the queue in client mode
      When messages "m1" and "m2" are sent to the queue
      And "first" has seen "m1" and "m2"
      And the broker is restarted
      And a receiver starts to wait on the queue
      Then message "m1" as seen by "receiver" shows JMSRedelivered "true"
      And message "m1" as seen by "receiver" shows JMSXDeliveryCount "2"
      And message "m2" as seen by "receiver" shows JMSRedelivered "true"

    @needs-local-transaction @needs-kill
    Scenario: All messages of a unit of work are there after a kill
      Given an empty queue
      And session "work" in transacted mode
      When message "m1" is sent in session "work" to the queue
      And message "m2" is sent in session "work" to the queue
      And message "m3" is sent in session "work" to the queue
      And session "work" is committed
      And the broker is killed and comes back
      And a receiver starts to wait on the queue
      Then the receiver sees "m1" to "m3" exactly once
      And the receiver sees "m1" to "m3" in that order

    @evidence @needs-local-transaction @needs-non-persistent
    Scenario Outline: The persistent messages of a unit of work that <ordered> are there after the broker <event>
      Given an empty queue
      And session "work" in transacted mode
      When message "first" is sent in session "work" to the queue with delivery mode <first>
      And message "second" is sent in session "work" to the queue with delivery mode <second>
      And message "third" is sent in session "work" to the queue with delivery mode persistent
      And session "work" is committed
      And the broker <event>
      And a receiver starts to wait on the queue
      Then the receiver sees "<kept>" and "third" exactly once

      @needs-restart
      Examples: Restart
        | ordered                                    | first          | second         | kept   | event        |
        | begins with a non-persistent message       | non-persistent | persistent     | second | is restarted |
        | has a non-persistent message in the middle | persistent     | non-persistent | first  | is restarted |

      @needs-kill
      Examples: Kill
        | ordered                                    | first          | second         | kept   | event                    |
        | begins with a non-persistent message       | non-persistent | persistent     | second | is killed and comes back |
        | has a non-persistent message in the middle | persistent     | non-persistent | first  | is killed and comes back |

    @evidence @needs-power-loss
    Scenario: Confirmed messages are still on the queue after the broker loses power
      Given an empty queue
      When messages "m1" to "m3" are sent to the queue
      And the broker loses its power and comes back
      And a receiver starts to wait on the queue
      Then the receiver sees "m1" to "m3" exactly once
      And the receiver sees "m1" to "m3" in that order

    @needs-local-transaction @needs-kill
    Scenario: Messages that a unit of work sent to two queues are there after a kill
      Given an empty queue "one"
      And an empty queue "two"
      And session "work" in transacted mode
      When message "m1" is sent in session "work" to queue "one"
      And message "m2" is sent in session "work" to queue "two"
      And session "work" is committed
      And the broker is killed and comes back
      And receiver "first" starts to wait on queue "one"
      And receiver "second" starts to wait on queue "two"
      Then "first" sees "m1" exactly once
      And "second" sees "m2" exactly once

    @needs-local-transaction
    Scenario Outline: Messages that a committed unit of work received do not return after the broker <event>
      Given an empty queue
      And receiver "first" is waiting on the queue in transacted mode
      When messages "m1" to "m3" are sent to the queue
      And "first" has seen "m1" to "m3"
      And session "first" is committed
      And the broker <event>
      And message "left" is sent to the queue
      And receiver "second" starts to wait on the queue
      Then "second" sees "left" exactly once
      And "second" never sees "m1" to "m3"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    Scenario Outline: Messages that a committed unit of work received from two queues do not return after the broker <event>
      Given an empty queue "one"
      And an empty queue "two"
      And message "first" is sent to queue "one"
      And message "second" is sent to queue "two"
      And session "work" in transacted mode
      And receiver "of one" of session "work" on queue "one"
      And receiver "of two" of session "work" on queue "two"
      When "of one" receives a message
      And "of two" receives a message
      And session "work" is committed
      And the broker <event>
      And message "left in one" is sent to queue "one"
      And message "left in two" is sent to queue "two"
      And receiver "after one" starts to wait on queue "one"
      And receiver "after two" starts to wait on queue "two"
      Then "after one" sees "left in one" exactly once
      And "after two" sees "left in two" exactly once
      And "after one" never sees "first"
      And "after two" never sees "second"

      @needs-local-transaction @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-local-transaction @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @needs-restart
    Scenario: A message that was redelivered and then acknowledged is gone after a restart
      Given an empty queue
      And receiver "first" is waiting on the queue in client mode
      When message "heavy" is sent to the queue
      And "first" has seen "heavy"
      And "first"'s connection is closed
      And receiver "second" starts to wait on the queue
      Then "second" sees "heavy" exactly once
      When "second"'s connection is closed
      And the broker is restarted
      And message "left" is sent to the queue
      And receiver "third" starts to wait on the queue
      Then "third" sees "left" exactly once
      And "third" never sees "heavy"

    @evidence @needs-selector @needs-local-transaction
    Scenario Outline: Messages that a transacted consumer's selector skipped are there after the broker <event>
      Given an empty queue
      And session "work" in transacted mode
      And receiver "picky" of session "work" on the queue for messages with "colour = 'red'"
      When message "red1" is sent to the queue with property colour = "red"
      And message "blue1" is sent to the queue with property colour = "blue"
      And message "red2" is sent to the queue with property colour = "red"
      And message "blue2" is sent to the queue with property colour = "blue"
      And message "blue3" is sent to the queue with property colour = "blue"
      And message "red3" is sent to the queue with property colour = "red"
      And "picky" receives 3 messages
      And session "work" is committed
      And the broker <event>
      And a receiver starts to wait on the queue
      Then the receiver sees "blue1" to "blue3" exactly once
      And the receiver never sees "red1" to "red3"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    Scenario Outline: Messages covered by one acknowledgement do not return after the broker <event>
      Given an empty queue
      And receiver "first" is waiting on the queue in client mode
      When messages "m1" to "m3" are sent to the queue
      And "first" has seen "m1" to "m3"
      And "first" acknowledges message "m3"
      And 1 s pass
      And the broker <event>
      And message "left" is sent to the queue
      And receiver "second" starts to wait on the queue
      Then "second" sees "left" exactly once
      And "second" never sees "m1" to "m3"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    Scenario Outline: A message received after a restart or kill does not return after the next restart or kill
      Given an empty queue
      When message "heavy" is sent to the queue
      And the broker <event>
      And receiver "first" starts to wait on the queue
      Then "first" sees "heavy" exactly once
      When the broker <event>
      And message "left" is sent to the queue
      And receiver "second" starts to wait on the queue
      Then "second" sees "left" exactly once
      And "second" never sees "heavy"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @needs-restart
    Scenario: Messages from before and after a restart are all there after another restart
      Given an empty queue
      When messages "m1" to "m3" are sent to the queue
      And the broker is restarted
      And messages "m4" to "m6" are sent to the queue
      And the broker is restarted
      And a receiver starts to wait on the queue
      Then the receiver sees "m1" to "m6" exactly once

    @needs-restart
    Scenario: Messages that no consumer has received are there after three restarts
      Given an empty queue
      When messages "m1" to "m3" are sent to the queue
      And the broker is restarted
      And the broker is restarted
      And the broker is restarted
      And a receiver starts to wait on the queue
      Then the receiver sees "m1" to "m3" exactly once

    @needs-local-transaction @needs-restart
    Scenario: If a connection with an open unit of work is closed, the received messages are there after a restart
      Given an empty queue
      And receiver "first" is waiting on the queue in transacted mode
      When messages "m1" to "m3" are sent to the queue
      And "first" has seen "m1" to "m3"
      And "first"'s connection is closed
      And the broker is restarted
      And receiver "second" starts to wait on the queue
      Then "second" sees "m1" to "m3" exactly once

    @needs-local-transaction
    Scenario Outline: Messages that an open unit of work received are there after the broker <event>
      Given an empty queue
      And receiver "first" is waiting on the queue in transacted mode
      When messages "m1" to "m3" are sent to the queue
      And "first" has seen "m1" to "m3"
      And the broker <event>
      And receiver "second" starts to wait on the queue
      Then "second" sees "m1" to "m3" exactly once

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @evidence @needs-store-error
    Scenario: A message that the store could not write is refused, and no consumer gets it
      Given an empty queue
      And a receiver is waiting on the queue
      When the broker's store refuses the next write
      And message "unwritten" is sent to the queue
      And message "written" is sent to the queue
      Then sending "unwritten" is refused
      And the receiver sees "written" exactly once
      And the receiver never sees the refused "unwritten"

    @kit @needs-store-error
    Scenario Outline: A message that the store could not write is not there after the broker <event>
      Given an empty queue
      And message "before" is sent to the queue
      When the broker's store refuses the next write
      And message "unwritten" is sent to the queue
      And message "written" is sent to the queue
      And the broker <event>
      And a receiver starts to wait on the queue
      Then the receiver sees "before" and "written" exactly once
      And the receiver never sees the refused "unwritten"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @evidence @needs-store-error
    Scenario: After a hundred messages that the store could not write, a waiting consumer gets the next message
      Given an empty queue
      And a receiver is waiting on the queue
      When the broker's store refuses the next 100 writes
      And 100 messages are sent to the queue
      And message "written" is sent to the queue
      Then the receiver sees "written" exactly once

    @evidence @needs-store-error @needs-local-transaction
    Scenario: A unit of work that the store could not write delivers nothing, and the next unit of work delivers its message
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      When message "unwritten" is sent in session "work" to the queue
      And the broker's store refuses the next write
      And session "work" is committed
      And message "written" is sent in session "work" to the queue
      And session "work" is committed
      Then the receiver sees "written" exactly once
      And the receiver never sees "unwritten"

    @kit @needs-local-transaction @needs-restart
    Scenario Outline: Uncommitted messages that a session sent before it was <ended> are not there after a restart
      Given an empty queue
      And session "work" in transacted mode
      When message "undone" is sent in session "work" to the queue
      And session "work" is <ended>
      And the broker is restarted
      And message "after" is sent to the queue
      And a receiver starts to wait on the queue
      Then the receiver sees "after" exactly once
      And the receiver never sees "undone"

      Examples:
        | ended       |
        | rolled back |
        | closed      |

    @needs-time-to-live @needs-restart
    Scenario: A message with a time to live survives a restart during that time
      Given an empty queue
      When message "heavy" is sent to the queue with a time to live of 1 h
      And the broker is restarted
      And a receiver starts to wait on the queue
      Then the receiver sees "heavy" exactly once

    @kit @needs-time-to-live @needs-restart
    Scenario: The time to live of a message does not start again at a restart
      Given an empty queue
      When message "short" is sent to the queue with a time to live of 10 s
      And message "lasting" is sent to the queue
      And 6 s pass
      And the broker is restarted
      And 6 s pass
      And a receiver starts to wait on the queue
      Then the receiver sees "lasting" exactly once
      And the receiver never sees "short"

    @kit @needs-restart @needs-selector
    Scenario Outline: A message still has its property size = <size> after a restart
      Given an empty queue
      When message "m1" is sent to the queue with property size = <size>
      And message "m2" is sent to the queue with property colour = "red"
      And the broker is restarted
      And receiver "picky" starts to wait on the queue for messages with "<selector>"
      Then "picky" sees "m1" exactly once
      And "picky" never sees "m2"

      Examples:
        | size | selector    |
        | 7    | size > 6    |
        | 2.5  | size > 2.4  |
        | true | size = TRUE |

    @kit @needs-restart @needs-priority
    Scenario: Waiting messages are still delivered by priority after a restart
      Given an empty queue
      When message "lowest" is sent to the queue with priority 0
      And message "low" is sent to the queue with priority 1
      And message "high" is sent to the queue with priority 8
      And message "usual" is sent to the queue
      And the broker is restarted
      And a receiver starts to wait on the queue
      Then the receiver sees "high", "usual", "low" and "lowest" in that order

    @needs-local-transaction
    Scenario Outline: Messages that a unit of work sent after an earlier unit of work was <ended> are there after the broker <event>
      Given an empty queue
      And session "work" in transacted mode
      When message "before" is sent in session "work" to the queue
      And session "work" is <ended>
      And message "m1" is sent in session "work" to the queue
      And message "m2" is sent in session "work" to the queue
      And session "work" is committed
      And the broker <event>
      And a receiver starts to wait on the queue
      Then the receiver sees "m1" and "m2" exactly once

      @needs-restart
      Examples:
        | ended       | event        |
        | rolled back | is restarted |

      @needs-kill
      Examples:
        | ended       | event                    |
        | rolled back | is killed and comes back |
        | committed   | is killed and comes back |

    @needs-restart
    Scenario: A message that a consumer did not acknowledge before its connection was closed is there after a restart
      Given an empty queue
      And receiver "first" is waiting on the queue in client mode
      When message "heavy" is sent to the queue
      And "first" has seen "heavy"
      And "first"'s connection is closed
      And the broker is restarted
      And receiver "second" starts to wait on the queue
      Then "second" sees "heavy" exactly once

    Scenario: A persistent message goes to a connected consumer
      Given an empty queue
      And a receiver is waiting on the queue
      When message "heavy" is sent to the queue
      Then the receiver sees "heavy" exactly once

    Scenario: A persistent message waits for a consumer that connects later
      Given an empty queue
      When message "heavy" is sent to the queue
      And 1 s pass
      And a receiver starts to wait on the queue
      Then the receiver sees "heavy" exactly once

    Scenario Outline: A persistent message without a consumer is there after the broker <event>
      Given an empty queue
      When message "heavy" is sent to the queue
      And the broker <event>
      And a receiver starts to wait on the queue
      Then the receiver sees "heavy" exactly once

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    Scenario Outline: A message that a connected consumer has not received yet is there after the broker <event>
      Given an empty queue
      And a receiver on the queue
      When message "heavy" is sent to the queue
      And the broker <event>
      And a receiver starts to wait on the queue
      Then the receiver sees "heavy" exactly once

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    Scenario Outline: A persistent message is unaltered after the broker <event>
      Given an empty queue
      When message "heavy" is sent to the queue
      And the broker <event>
      And a receiver starts to wait on the queue
      Then the receiver sees "heavy" exactly once
      And "receiver" sees the body of "heavy" unaltered

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    Scenario Outline: A persistent message with an empty, large, binary or non-ASCII body is unaltered after the broker <event>
      Given an empty queue
      When message "heavy" is sent to the queue with <body>
      And the broker <event>
      And a receiver starts to wait on the queue
      Then the receiver sees "heavy" exactly once
      And "receiver" sees the body of "heavy" unaltered

      @needs-restart
      Examples: Restart
        | body                                                | event        |
        | an empty body                                       | is restarted |
        | a body of non-ASCII characters                      | is restarted |
        | a binary body                                       | is restarted |
        | a body of 256 KB                                    | is restarted |
        | a body of 300 KB                                    | is restarted |
        | a body of 300 KB and a body of non-ASCII characters | is restarted |
        | a body of 300 KB and a binary body                  | is restarted |

      @needs-kill
      Examples: Kill
        | body                                                | event                    |
        | an empty body                                       | is killed and comes back |
        | a body of non-ASCII characters                      | is killed and comes back |
        | a binary body                                       | is killed and comes back |
        | a body of 300 KB                                    | is killed and comes back |
        | a body of 300 KB and a body of non-ASCII characters | is killed and comes back |
        | a body of 300 KB and a binary body                  | is killed and comes back |

    @evidence
    Scenario Outline: Three large persistent messages are unaltered after the broker <event>
      Given an empty queue
      When messages "m1" to "m3" are sent to the queue with a body of 300 KB
      And the broker <event>
      And a receiver starts to wait on the queue
      Then the receiver sees "m1" to "m3" exactly once
      And "receiver" sees the body of "m1" unaltered
      And "receiver" sees the body of "m2" unaltered
      And "receiver" sees the body of "m3" unaltered

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @kit @needs-restart
    Scenario Outline: After a restart, a persistent message with a text or binary body is delivered exactly as it was sent
      Given an empty queue
      When message "heavy" is sent to the queue with <body>
      And the broker is restarted
      And a receiver starts to wait on the queue
      Then the receiver sees "heavy" as it was sent

      Examples:
        | body                                 |
        | a body of 4 KB                       |
        | a body of 300 KB                     |
        | a binary body                        |
        | a body of 300 KB and a binary body   |

    @needs-restart
    Scenario Outline: A persistent message still shows <field> "<value>" after a restart
      Given an empty queue
      When message "heavy" is sent to the queue with <option>
      And the broker is restarted
      And a receiver starts to wait on the queue
      Then message "heavy" as seen by "receiver" shows <field> "<value>"

      Examples:
        | option                   | field            | value      |
        | delivery mode persistent | JMSDeliveryMode  | PERSISTENT |
        | correlation id "order 7" | JMSCorrelationID | order 7    |
        | property colour = "red"  | colour           | red        |
        | property size = 7        | size             | 7          |
        | group "g"                | JMSXGroupID      | g          |
        | JMSType "order"          | JMSType          | order      |

      @needs-priority
      Examples: A header that not every client supports
        | option     | field       | value |
        | priority 0 | JMSPriority | 0     |
        | priority 7 | JMSPriority | 7     |
        | priority 9 | JMSPriority | 9     |

    @needs-restart
    Scenario Outline: A persistent message still has its reply-to <reply> after a restart
      Given an empty queue
      When message "heavy" is sent to the queue with reply-to <reply>
      And the broker is restarted
      And a receiver starts to wait on the queue
      Then message "heavy" as seen by "receiver" shows the JMSReplyTo that its sender saw

      Examples:
        | reply           |
        | queue "replies" |

      @needs-topic
      Examples: A topic
        | reply           |
        | topic "replies" |

    @kit @needs-restart
    Scenario Outline: A persistent message still has the <field> of its send after a restart
      Given an empty queue
      When message "heavy" is sent to the queue
      And the broker is restarted
      And a receiver starts to wait on the queue
      Then message "heavy" as seen by "receiver" shows the <field> that its sender saw

      Examples:
        | field        |
        | JMSMessageID |
        | JMSTimestamp |

    @needs-time-to-live @needs-restart
    Scenario: A persistent message still expires after a restart
      Given an empty queue
      When message "short" is sent to the queue with a time to live of 5 s
      And message "lasting" is sent to the queue
      And the broker is restarted
      And 6 s pass
      And a receiver starts to wait on the queue
      Then the receiver sees "lasting" exactly once
      And the receiver never sees "short"

    Scenario Outline: A message that a consumer has received does not return after the broker <event>
      Given an empty queue
      And receiver "first" is waiting on the queue
      When message "taken" is sent to the queue
      Then "first" sees "taken" exactly once
      When the broker <event>
      And message "left" is sent to the queue
      And receiver "second" starts to wait on the queue
      Then "second" sees "left" exactly once
      And "second" never sees "taken"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @needs-kill-at-answer
    Scenario: Many kills, each right after the answer to a send, lose no message
      Given an empty queue
      When several messages are sent to the queue one at a time, and the broker is killed just after each answer
      And a receiver starts to wait on the queue
      Then the receiver sees each of these messages exactly once

    @needs-kill-at-answer
    Scenario: A kill right after the answer to a producer's third send loses none of the three messages
      Given an empty queue
      And a producer on the queue
      When the producer sends message "m1"
      And the producer sends message "m2"
      And the producer sends message "m3" and the broker is killed just after it answers
      And a receiver starts to wait on the queue
      Then the receiver sees "m1" to "m3" exactly once

    @needs-kill-at-answer
    Scenario: A kill right after the answer to a send that directly follows an acknowledgement loses no message
      Given an empty queue
      And an empty queue "other"
      And receiver "busy" is waiting on queue "other"
      When message "taken" is sent to queue "other"
      And "busy" has seen "taken"
      And message "heavy" is sent to the queue and the broker is killed just after it answers
      And a receiver starts to wait on the queue
      Then the receiver sees "heavy" exactly once

    @evidence @needs-admin @needs-block-write @needs-flush-trace
    Scenario: A send is answered only after its own write, even if an earlier acknowledgement is already written
      Given an empty queue
      And an empty queue "other"
      And receiver "busy" is waiting on queue "other"
      When message "taken" is sent to queue "other"
      And "busy" has seen "taken"
      And message "heavy" is sent to the queue with delivery mode persistent while the write to the queue waits for 2 s
      Then sending "heavy" is accepted
      And "heavy" was flushed to disk before its send was answered

    @evidence @needs-flush-trace
    Scenario: A message to a queue without a consumer is flushed to disk before its send is answered
      Given an empty queue
      When message "heavy" is sent to the queue
      Then "heavy" was flushed to disk before its send was answered

    @evidence @needs-flush-trace
    Scenario: A message to a queue with a waiting consumer is flushed to disk before its send is answered
      Given an empty queue
      And a receiver is waiting on the queue
      When message "heavy" is sent to the queue
      Then "heavy" was flushed to disk before its send was answered

    @evidence @needs-xa @needs-kill
    Scenario: Messages of a branch that was committed in one phase are there after a kill
      Given an empty queue
      And session "far" in xa mode
      And branch "job" has been started in session "far"
      When message "m1" is sent in session "far" to the queue
      And message "m2" is sent in session "far" to the queue
      And branch "job" is ended
      And branch "job" is committed in one phase
      And the broker is killed and comes back
      And a receiver starts to wait on the queue
      Then the receiver sees "m1" and "m2" exactly once

  @PD-21 @needs-queue @needs-non-persistent
  Rule: A non-persistent message to a queue is dispatched at once to a connected consumer, and never twice
    Lines 40 and 59.  *At once* means: as promptly as a persistent message, or at most a second later.

    Scenario: A waiting consumer gets a non-persistent message at once
      Given an empty queue
      And a receiver is waiting on the queue
      When message "heavy" is sent to the queue
      And "receiver" has seen "heavy"
      And message "light" is sent to the queue with delivery mode non-persistent
      Then "light" takes at most a second longer from its send to the receiver than "heavy"
      And the receiver sees "light" exactly once

    Scenario: A waiting consumer gets each of many messages once
      Given an empty queue
      And a receiver is waiting on the queue
      When messages "m1" to "m10" are sent to the queue with delivery mode non-persistent
      Then the receiver sees "m1" to "m10" exactly once

    @needs-local-transaction
    Scenario: A waiting consumer gets the messages of a unit of work once
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      When message "light" is sent in session "work" to the queue with delivery mode non-persistent
      And session "work" is committed
      Then the receiver sees "light" exactly once

    Scenario: Two waiting consumers together get no message twice
      Given an empty queue
      And receiver "left" is waiting on the queue
      And receiver "right" is waiting on the queue
      When messages "m1" to "m10" are sent to the queue with delivery mode non-persistent
      Then "left" and "right" together see "m1" to "m10" exactly once

    Scenario: After a consumer loses its connection, the next consumer gets the unacknowledged message at most once
      Given an empty queue
      And receiver "first" is waiting on the queue in client mode
      When message "held" is sent to the queue with delivery mode non-persistent
      And "first" has seen "held"
      And the connection of "first" is lost
      And receiver "second" starts to wait on the queue
      And message "after" is sent to the queue with delivery mode non-persistent
      Then "second" sees "after" exactly once
      And "second" sees "held" at most once

    @needs-selector
    Scenario: A waiting consumer with a selector gets each selected message once, and no other message
      Given an empty queue
      And receiver "picky" is waiting on the queue for messages with "colour = 'red'"
      When message "blue" is sent to the queue with delivery mode non-persistent and property colour = "blue"
      And message "red" is sent to the queue with delivery mode non-persistent and property colour = "red"
      Then "picky" sees "red" exactly once
      And "picky" never sees "blue"

    Scenario: A consumer that calls receive gets no message twice
      Given an empty queue
      And a receiver on the queue
      When messages "m1" to "m3" are sent to the queue with delivery mode non-persistent
      And "receiver" receives 3 messages
      And message "after" is sent to the queue with delivery mode non-persistent
      Then the receiver sees "after" exactly once
      And the receiver sees "m1" at most once
      And the receiver sees "m2" at most once
      And the receiver sees "m3" at most once

    @needs-local-transaction
    Scenario: No consumer gets the messages of a rolled-back unit of work
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      When message "undone" is sent in session "work" to the queue with delivery mode non-persistent
      And session "work" is rolled back
      And message "after" is sent to the queue with delivery mode non-persistent
      Then the receiver sees "after" exactly once
      And the receiver never sees "undone"

    Scenario: A message that one consumer has received does not come to the next consumer
      Given an empty queue
      And receiver "first" is waiting on the queue
      When message "taken" is sent to the queue with delivery mode non-persistent
      Then "first" sees "taken" exactly once
      When "first" is closed
      And receiver "second" starts to wait on the queue
      And message "after" is sent to the queue with delivery mode non-persistent
      Then "second" sees "after" exactly once
      And "second" never sees "taken"

    @evidence @needs-xa
    Scenario: A waiting consumer gets the non-persistent messages of a branch once
      Given an empty queue
      And a receiver is waiting on the queue
      And session "far" in xa mode
      And branch "job" has been started in session "far"
      When message "m1" is sent in session "far" to the queue with delivery mode non-persistent
      And message "m2" is sent in session "far" to the queue with delivery mode non-persistent
      And branch "job" is ended
      And branch "job" is prepared
      And branch "job" is committed
      Then the receiver sees "m1" and "m2" exactly once

  @PD-22 @needs-queue @needs-non-persistent
  Rule: A non-persistent message that is on a queue when the broker restarts may be lost
    Line 40.  Reading: the loss is permitted, not demanded, because line 59 speaks of messages without a guarantee,
    although line 40 says that the message is lost for ever.  The scenarios record the loss; a second or altered
    delivery is not permitted.  Our own broker loses the message.

    Scenario Outline: A non-persistent message comes at most once, and unaltered, after the broker <event>
      Given an empty queue
      When message "light" is sent to the queue with delivery mode non-persistent
      And the broker <event>
      And a receiver starts to wait on the queue
      And message "after" is sent to the queue with delivery mode non-persistent
      Then the receiver sees "after" exactly once
      And the receiver sees "light" at most once

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @kit
    Scenario Outline: A non-persistent message is gone after the broker <event>, as the document says
      Given an empty queue
      When message "light" is sent to the queue with delivery mode non-persistent
      And the broker <event>
      And a receiver starts to wait on the queue
      And message "after" is sent to the queue with delivery mode non-persistent
      Then the receiver sees "after" exactly once
      And the receiver never sees "light"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @evidence @needs-kill @needs-selector @needs-local-transaction
    Scenario: After a kill, unacknowledged non-persistent messages of units of work come at most once
      Given an empty queue
      And receiver "holder" is waiting on the queue in client mode
      And session "work" in transacted mode
      When message "undone" is sent in session "work" to the queue with delivery mode non-persistent and property colour = "red"
      And session "work" is rolled back
      And message "m1" is sent in session "work" to the queue with delivery mode non-persistent, priority 7 and property colour = "red"
      And session "work" is committed
      And message "m2" is sent in session "work" to the queue with delivery mode non-persistent and property colour = "red"
      And session "work" is committed
      And "holder" has seen "m1" and "m2"
      And session "work" is closed
      And the broker is killed and comes back
      And receiver "picky" starts to wait on the queue for messages with "colour = 'red'"
      And message "after" is sent to the queue with delivery mode non-persistent and property colour = "red"
      Then "picky" sees "after" exactly once
      And "picky" sees "m1" and "m2" at most once
      And "picky" never sees "undone"

  @PD-31 @needs-non-persistent
  Rule: Non-persistent messages are not persisted and need not survive a restart
    Lines 50 and 59.  A broker may page messages out to disk and still not persist them, so the scenarios only record
    what survives.  Our own broker must keep the rule literally: its data folder has no byte of the body.

    @needs-topic @needs-durable-subscription
    Scenario Outline: A non-persistent message that an active durable subscriber has not received yet may be gone after the broker <event>
      Given a topic
      And a durable subscriber "keeper" on the topic that does not receive yet
      When message "light" is sent to the topic with delivery mode non-persistent
      And the broker <event>
      And subscriber "keeper" comes back
      And message "after" is sent to the topic with delivery mode non-persistent
      Then "keeper" sees "after" exactly once
      And "keeper" sees "light" at most once

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @kit @needs-data-folder
    Scenario: The broker's files do not contain a non-persistent message on a queue
      Given an empty queue
      When message "light" is sent to the queue with delivery mode non-persistent
      And message "heavy" is sent to the queue
      Then the data folder holds the body of "heavy"
      And the broker's data folder does not hold the body of "light"

    Scenario Outline: A non-persistent message on a queue may be gone after the broker <event>
      Given an empty queue
      When message "light" is sent to the queue with delivery mode non-persistent
      And the broker <event>
      And a receiver starts to wait on the queue
      And message "after" is sent to the queue with delivery mode non-persistent
      Then the receiver sees "after" exactly once
      And the receiver sees "light" at most once

      @needs-queue @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-queue @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @kit @needs-data-folder @needs-xa
    Scenario: The broker's files do not contain a non-persistent message that a prepared branch has sent
      Given an empty queue
      And session "s" in xa mode
      And branch "b" has been started in session "s"
      When message "heavy" is sent in session "s" to the queue with delivery mode persistent
      And message "light" is sent in session "s" to the queue with delivery mode non-persistent
      And branch "b" is ended
      And branch "b" is prepared
      Then the data folder holds the body of "heavy"
      And the broker's data folder does not hold the body of "light"

    @kit @needs-data-folder @needs-xa @needs-delivery-delay
    Scenario: The broker's files do not contain a delayed non-persistent message that a prepared branch has sent
      Given an empty queue
      And session "s" in xa mode
      And branch "b" has been started in session "s"
      When message "heavy" is sent in session "s" to the queue with a delivery delay of 1 h and delivery mode persistent
      And message "light" is sent in session "s" to the queue with a delivery delay of 1 h and delivery mode non-persistent
      And branch "b" is ended
      And branch "b" is prepared
      Then the data folder holds the body of "heavy"
      And the broker's data folder does not hold the body of "light"

    @kit @needs-data-folder @needs-topic @needs-retained-publication
    Scenario: The broker's files do not contain a non-persistent message that is retained
      Given a topic "one"
      And a topic "other"
      When message "light" is sent to topic "one" with the retain option and delivery mode non-persistent
      And message "heavy" is sent to topic "other" with the retain option
      Then the data folder holds the body of "heavy"
      And the broker's data folder does not hold the body of "light"

    @kit @needs-data-folder @needs-topic @needs-retained-publication
    Scenario: The broker's files do not contain a retained non-persistent message that replaced a persistent one
      Given a topic "one"
      And a topic "other"
      When message "first" is sent to topic "one" with the retain option
      And message "light" is sent to topic "one" with the retain option and delivery mode non-persistent
      And message "heavy" is sent to topic "other" with the retain option
      Then the data folder holds the body of "heavy"
      And the broker's data folder does not hold the body of "light"

    @kit @needs-data-folder @needs-admin @needs-dead-letter-queue @needs-delivery-delay
    Scenario: The broker's files do not contain a non-persistent message on the dead-letter queue
      Given a queue with MAXDEPTH(1)
      When message "light" is sent to the queue with a delivery delay of 2 s and delivery mode non-persistent
      And message "heavy" is sent to the queue
      Then the dead-letter queue holds "light" with reason MQRC_Q_FULL and destination the queue
      And the data folder holds the body of "heavy"
      And the broker's data folder does not hold the body of "light"

    @kit @needs-data-folder @needs-topic @needs-shared-subscription
    Scenario: The broker's files do not contain a non-persistent message for a shared durable subscription
      Given a topic
      And subscriber "member" shares durable subscription "club" on the topic
      And subscriber "member" is inactive
      When message "light" is sent to the topic with delivery mode non-persistent
      And message "heavy" is sent to the topic
      Then the data folder holds the body of "heavy"
      And the broker's data folder does not hold the body of "light"

    @kit @needs-data-folder @needs-delivery-delay
    Scenario: The broker's files do not contain a delayed non-persistent message
      Given an empty queue
      When message "light" is sent to the queue with delivery mode non-persistent and a delivery delay of 60 s
      And message "heavy" is sent to the queue with a delivery delay of 60 s
      Then the data folder holds the body of "heavy"
      And the broker's data folder does not hold the body of "light"

    @kit @needs-data-folder
    Scenario: The broker's files do not contain a non-persistent message that was delivered and returned
      Given an empty queue
      And receiver "first" is waiting on the queue in client mode
      When message "light" is sent to the queue with delivery mode non-persistent
      And message "heavy" is sent to the queue
      And "first" has seen "light" and "heavy"
      And "first"'s connection is closed
      Then the data folder holds the body of "heavy"
      And the broker's data folder does not hold the body of "light"

    @kit @needs-data-folder
    Scenario: The broker's files do not contain a large non-persistent message on a queue
      Given an empty queue
      When message "light" is sent to the queue with delivery mode non-persistent and a body of 300 KB
      And message "heavy" is sent to the queue
      Then the data folder holds the body of "heavy"
      And the broker's data folder does not hold the body of "light"

    @kit @needs-data-folder @needs-local-transaction
    Scenario: The broker's files do not contain a non-persistent message that was committed with a persistent message
      Given an empty queue
      And session "work" in transacted mode
      When message "heavy" is sent in session "work" to the queue with delivery mode persistent
      And message "light" is sent in session "work" to the queue with delivery mode non-persistent
      And session "work" is committed
      Then the data folder holds the body of "heavy"
      And the broker's data folder does not hold the body of "light"

    @kit @needs-data-folder @needs-topic @needs-durable-subscription
    Scenario: The broker's files do not contain a non-persistent message for an inactive durable subscription
      Given a topic
      And a durable subscriber "keeper" on the topic
      And subscriber "keeper" is inactive
      When message "light" is sent to the topic with delivery mode non-persistent
      And message "heavy" is sent to the topic
      Then the data folder holds the body of "heavy"
      And the broker's data folder does not hold the body of "light"

    @kit @needs-data-folder @needs-restart
    Scenario: An orderly restart writes no non-persistent message to the broker's files
      Given an empty queue
      When message "light" is sent to the queue with delivery mode non-persistent
      And message "heavy" is sent to the queue
      And the broker is restarted
      Then the data folder holds the body of "heavy"
      And the broker's data folder does not hold the body of "light"

    @kit @needs-data-folder @needs-selector @needs-local-transaction
    Scenario: The broker's files do not contain a non-persistent message that a consumer with a selector rolled back
      Given an empty queue
      And session "work" in transacted mode
      And receiver "picky" of session "work" on the queue for messages with "colour = 'red'"
      When message "light" is sent to the queue with delivery mode non-persistent and property colour = "red"
      And message "heavy" is sent to the queue with property colour = "red"
      And "picky" receives 2 messages
      And session "work" is rolled back
      Then the data folder holds the body of "heavy"
      And the broker's data folder does not hold the body of "light"

  @PD-32 @needs-queue @needs-non-persistent
  Rule: A non-persistent message to a queue without a consumer may be kept in memory until a consumer connects
    Lines 40 and 59 do not guarantee this, so the scenarios record whether the message was kept; a second or altered
    delivery is not permitted.

    Scenario: A non-persistent message comes at most once, and unaltered, to a consumer that connects later
      Given an empty queue
      When message "light" is sent to the queue with delivery mode non-persistent
      And 1 s pass
      And a receiver starts to wait on the queue
      And message "after" is sent to the queue with delivery mode non-persistent
      Then the receiver sees "after" exactly once
      And the receiver sees "light" at most once

    @kit
    Scenario Outline: A non-persistent message with <body> is kept for a consumer that connects after the sender has disconnected
      Given an empty queue
      When message "light" is sent to the queue with delivery mode non-persistent and <option>
      And the sender's connection is closed
      And 1 s pass
      And a receiver starts to wait on the queue
      Then the receiver sees "light" exactly once
      And "receiver" sees the body of "light" unaltered

      Examples:
        | body           | option                         |
        | an empty body  | an empty body                  |
        | a large body   | a body of 300 KB               |
        | a Unicode text | a body of non-ASCII characters |
        | a binary body  | a binary body                  |

    @kit
    Scenario: Many non-persistent messages are kept in their order
      Given an empty queue
      When messages "m1" to "m20" are sent to the queue with delivery mode non-persistent
      And a receiver starts to wait on the queue
      Then the receiver sees "m1" to "m20" in that order
      And the receiver sees "m1" to "m20" exactly once

    @kit
    Scenario: A non-persistent message is kept for a consumer that connects later
      Given an empty queue
      When message "light" is sent to the queue with delivery mode non-persistent
      And 1 s pass
      And a receiver starts to wait on the queue
      Then the receiver sees "light" exactly once

    @evidence @needs-selector @needs-local-transaction
    Scenario: Non-persistent messages of units of work come at most once, and unaltered, to consumers that connect later
      Given an empty queue
      And session "work" in transacted mode
      When message "undone" is sent in session "work" to the queue with delivery mode non-persistent and property colour = "red"
      And session "work" is rolled back
      And message "m1" is sent in session "work" to the queue with delivery mode non-persistent and property colour = "red"
      And session "work" is committed
      And message "m2" is sent in session "work" to the queue with delivery mode non-persistent and property colour = "blue"
      And session "work" is committed
      And receiver "picky" starts to wait on the queue for messages with "colour = 'red'"
      And receiver "other" starts to wait on the queue
      And message "after" is sent to the queue with delivery mode non-persistent and property colour = "blue"
      Then "other" sees "after" exactly once
      And "picky" and "other" together see "m1" and "m2" at most once
      And "picky" never sees "undone"
