Feature: Messages to a topic after a restart or a kill of the broker
  Persistent and durable delivery, lines 41 to 52 and 59.

  @PD-23 @needs-topic @needs-durable-subscription
  Rule: A persistent message to a topic has a copy on disk for every durable subscription, active or not
    Line 43.  A kill does not clear the operating system's page cache, so only scenarios that observe the flush claim
    that a message is on disk.

    @evidence @needs-store-error
    Scenario: A publication that the store could not write is refused, and no subscriber gets it
      Given a topic
      And a durable subscriber "steady" on the topic
      And a durable subscriber "away" on the topic
      And a non-durable subscriber "live" on the topic
      And subscriber "away" is inactive
      When the broker's store refuses the next write
      And message "unwritten" is sent to the topic
      And message "written" is sent to the topic
      And subscriber "away" comes back
      Then sending "unwritten" is refused
      And "steady" sees "written" exactly once
      And "away" sees "written" exactly once
      And "live" sees "written" exactly once
      And "steady" never sees the refused "unwritten"
      And "away" never sees the refused "unwritten"
      And "live" never sees the refused "unwritten"

    @needs-selector @needs-restart
    Scenario: The copy for a durable subscription with a selector is there after a restart
      Given a topic
      And a durable subscriber "picky" on the topic for messages with "colour = 'red'"
      And subscriber "picky" is inactive
      When message "heavy" is sent to the topic with property colour = "red"
      And the broker is restarted
      And subscriber "picky" comes back
      Then "picky" sees "heavy" exactly once

    @kit @needs-admin @needs-queue-look @needs-local-transaction
    Scenario: A committed publication is on the queue of an administered subscription, although nobody has used the queue
      Given a topic
      And an administered subscription "orders" from the topic to queue "unused"
      And session "work" in transacted mode
      When message "m1" is sent in session "work" to the topic
      And session "work" is committed
      Then queue "unused" holds "m1"

    @evidence @needs-admin @needs-queue-limit @needs-queue-look
    Scenario Outline: After the broker <event>, a durable subscriber and an administered subscription each have all messages
      Given a topic
      And a queue with MAXDEPTH(10)
      And a durable subscriber "keeper" on the topic
      And an administered subscription "orders" from the topic to the queue
      And subscriber "keeper" is inactive
      When message "before" is sent to the topic
      And the broker <event>
      And message "after" is sent to the topic
      And subscriber "keeper" comes back
      Then "keeper" sees "before" and "after" exactly once
      And the queue holds "before" and "after"

      @needs-restart
      Examples:
        | event        |
        | is restarted |

      @needs-kill
      Examples:
        | event                    |
        | is killed and comes back |

    Scenario Outline: A durable subscription still has its copies after the broker <event>, although a non-durable subscriber got the messages
      Given a topic
      And a non-durable subscriber "passer" on the topic
      And a durable subscriber "keeper" on the topic
      And subscriber "keeper" is inactive
      When messages "m1" to "m3" are sent to the topic
      And "passer" has seen "m1" to "m3"
      And the broker <event>
      And subscriber "keeper" comes back
      Then "keeper" sees "m1" to "m3" exactly once

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @needs-restart
    Scenario: Copies of messages from before and after a restart are all there after another restart
      Given a topic
      And a durable subscriber "keeper" on the topic
      And subscriber "keeper" is inactive
      When messages "m1" to "m2" are sent to the topic
      And the broker is restarted
      And messages "m3" to "m4" are sent to the topic
      And the broker is restarted
      And subscriber "keeper" comes back
      Then "keeper" sees "m1" to "m4" exactly once

    @needs-restart
    Scenario: Two durable subscriptions, one created after a restart, each have their own copies after another restart
      Given a topic
      And a durable subscriber "old" on the topic
      And subscriber "old" is inactive
      When message "m1" is sent to the topic
      And the broker is restarted
      And a durable subscriber "new" subscribes to the topic
      And subscriber "new" goes away
      And message "m2" is sent to the topic
      And the broker is restarted
      And subscriber "old" comes back
      And subscriber "new" comes back
      And message "after" is sent to the topic
      Then "old" sees "m1", "m2", "after" exactly once
      And "new" sees "m2", "after" exactly once
      And "new" never sees "m1"

    @kit @needs-restart
    Scenario: The copy of a durable subscription to a topic pattern is there after a restart
      Given a durable subscriber "keeper" on topic "sport/#"
      And subscriber "keeper" is inactive
      When message "heavy" is sent to topic "sport/football/results"
      And the broker is restarted
      And subscriber "keeper" comes back
      Then "keeper" sees "heavy" exactly once

    @needs-restart
    Scenario Outline: The copy of a durable subscription still shows <field> "<value>" after a restart
      Given a topic
      And a durable subscriber "keeper" on the topic
      And subscriber "keeper" is inactive
      When message "heavy" is sent to the topic with <option>
      And the broker is restarted
      And subscriber "keeper" comes back
      Then message "heavy" as seen by "keeper" shows <field> "<value>"

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
        | priority 9 | JMSPriority | 9     |

    Scenario Outline: A <kind> subscriber sees the reply-to <reply> that the sender set
      Given a topic
      And a <kind> subscriber "reader" on the topic
      When message "heavy" is sent to the topic with reply-to <reply>
      Then message "heavy" as seen by "reader" shows the JMSReplyTo that its sender saw

      Examples:
        | kind        | reply           |
        | durable     | queue "replies" |
        | durable     | topic "replies" |
        | non-durable | queue "replies" |

    @kit @needs-restart
    Scenario Outline: The copy of a message with reply-to <reply> still has the <field> of its send after a restart
      Given a topic
      And a durable subscriber "keeper" on the topic
      And subscriber "keeper" is inactive
      When message "heavy" is sent to the topic with reply-to <reply>
      And the broker is restarted
      And subscriber "keeper" comes back
      Then message "heavy" as seen by "keeper" shows the <field> that its sender saw

      Examples:
        | reply           | field        |
        | queue "replies" | JMSReplyTo   |
        | topic "replies" | JMSReplyTo   |
        | queue "replies" | JMSMessageID |
        | queue "replies" | JMSTimestamp |

    @needs-local-transaction @needs-restart
    Scenario: No durable subscription gets messages of a rolled-back unit of work after a restart
      Given a topic
      And a durable subscriber "keeper" on the topic
      And subscriber "keeper" is inactive
      And session "work" in transacted mode
      When message "undone" is sent in session "work" to the topic
      And session "work" is rolled back
      And message "heavy" is sent to the topic
      And the broker is restarted
      And subscriber "keeper" comes back
      Then "keeper" sees "heavy" exactly once
      And "keeper" never sees "undone"

    @needs-local-transaction @needs-kill
    Scenario: Two durable subscriptions have all messages of a unit of work after a kill
      Given a topic
      And a durable subscriber "first" on the topic
      And a durable subscriber "second" on the topic
      And subscriber "first" is inactive
      And subscriber "second" is inactive
      And session "work" in transacted mode
      When message "m1" is sent in session "work" to the topic
      And message "m2" is sent in session "work" to the topic
      And session "work" is committed
      And the broker is killed and comes back
      And subscriber "first" comes back
      And subscriber "second" comes back
      Then "first" sees "m1", "m2" exactly once
      And "second" sees "m1", "m2" exactly once

    @evidence @needs-power-loss
    Scenario: An active and an inactive durable subscriber get all messages after the broker loses power
      Given a topic
      And a durable subscriber "active" on the topic that does not receive yet
      And a durable subscriber "keeper" on the topic
      And subscriber "keeper" is inactive
      When messages "m1" to "m3" are sent to the topic
      And the broker loses its power and comes back
      And subscriber "active" comes back
      And subscriber "keeper" comes back
      Then "active" sees "m1" to "m3" exactly once
      And "keeper" sees "m1" to "m3" exactly once

    @evidence @needs-xa @needs-kill
    Scenario Outline: Two durable subscriptions get the messages of a branch that is committed <when> a kill
      Given a topic
      And a durable subscriber "first" on the topic
      And a durable subscriber "second" on the topic
      And subscriber "first" is inactive
      And subscriber "second" is inactive
      And session "work" in xa mode
      And branch "job" has been started in session "work"
      When message "m1" is sent in session "work" to the topic
      And message "m2" is sent in session "work" to the topic
      And branch "job" is ended
      And branch "job" is prepared
      And <one>
      And <other>
      And subscriber "first" comes back
      And subscriber "second" comes back
      Then "first" sees "m1" and "m2" exactly once
      And "second" sees "m1" and "m2" exactly once

      Examples:
        | when   | one                                 | other                               |
        | before | branch "job" is committed           | the broker is killed and comes back |
        | after  | the broker is killed and comes back | branch "job" is committed           |

    @needs-restart
    Scenario Outline: A copy with an empty, large, binary or non-ASCII body is unaltered after a restart
      Given a topic
      And a durable subscriber "keeper" on the topic
      And subscriber "keeper" is inactive
      When message "heavy" is sent to the topic with <body>
      And the broker is restarted
      And subscriber "keeper" comes back
      Then "keeper" sees "heavy" exactly once
      And "keeper" sees the body of "heavy" unaltered

      Examples:
        | body                                                |
        | an empty body                                       |
        | a body of non-ASCII characters                      |
        | a binary body                                       |
        | a body of 256 KB                                    |
        | a body of 300 KB                                    |
        | a body of 300 KB and a body of non-ASCII characters |

    Scenario Outline: A copy that an active durable subscriber has not received yet is there after the broker <event>
      Given a topic
      And a durable subscriber "keeper" on the topic that does not receive yet
      When message "heavy" is sent to the topic
      And the broker <event>
      And subscriber "keeper" comes back
      Then "keeper" sees "heavy" exactly once

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    Scenario Outline: An active and an inactive durable subscription each have a copy after the broker <event>
      Given a topic
      And a durable subscriber "active" on the topic that does not receive yet
      And a durable subscriber "inactive" on the topic
      And subscriber "inactive" is inactive
      When message "heavy" is sent to the topic
      And the broker <event>
      And subscriber "active" comes back
      And subscriber "inactive" comes back
      Then "active" sees "heavy" exactly once
      And "inactive" sees "heavy" exactly once

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @needs-kill-at-answer
    Scenario: Many kills, each right after the answer to a send, lose no copy
      Given a topic
      And a durable subscriber "first" on the topic
      And a durable subscriber "second" on the topic
      And subscriber "first" is inactive
      And subscriber "second" is inactive
      When several messages are sent to the topic one at a time, and the broker is killed just after each answer
      And subscriber "first" comes back
      And subscriber "second" comes back
      Then "first" sees each of these messages exactly once
      And "second" sees each of these messages exactly once

    @evidence @needs-flush-trace
    Scenario: The copies for an active and an inactive durable subscription are flushed before the answer to the send
      Given a topic
      And a durable subscriber "active" on the topic
      And a durable subscriber "inactive" on the topic
      And subscriber "inactive" is inactive
      When message "heavy" is sent to the topic
      Then 2 copies of "heavy" were flushed to disk before its send was answered

    @evidence @needs-shared-subscription @needs-selector
    Scenario Outline: The copy of a shared durable subscription with a selector is there after the broker <event>
      Given a topic
      And subscriber "left" shares durable subscription "club" on the topic for messages with "colour = 'red'"
      And subscriber "left" is inactive
      When message "red" is sent to the topic with property colour = "red"
      And message "blue" is sent to the topic with property colour = "blue"
      And the broker <event>
      And message "later" is sent to the topic with property colour = "red"
      And message "grey" is sent to the topic with property colour = "grey"
      And subscriber "left" comes back
      Then "left" sees "red", "later" exactly once
      And "left" never sees "blue", "grey"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @evidence @own-instance @needs-admin @needs-dead-letter-queue
    Scenario: A publication is refused if one of two durable subscriptions cannot store its copy
      Given a topic with PMSGDLV(ALLDUR)
      And there is no dead-letter queue
      And the queues of durable subscriptions are made with MAXDEPTH(1)
      And a durable subscriber "full" on the topic
      And subscriber "full" is inactive
      And a durable subscriber "free" on the topic
      When message "m1" is sent to the topic
      And "free" has seen "m1"
      And 1 s pass
      And message "m2" is sent to the topic
      And subscriber "full" comes back
      Then sending "m2" is refused
      And "full" sees "m1" exactly once

    @evidence @own-instance @needs-shared-subscription @needs-admin @needs-dead-letter-queue
    Scenario: A publication is refused if a shared durable subscription cannot store its copy
      Given a topic with PMSGDLV(ALLDUR)
      And there is no dead-letter queue
      And the queues of durable subscriptions are made with MAXDEPTH(1)
      And subscriber "member" shares durable subscription "club" on the topic
      And subscriber "member" is inactive
      When message "m1" is sent to the topic
      And message "m2" is sent to the topic
      And subscriber "member" comes back
      Then sending "m2" is refused
      And "member" sees "m1" exactly once

    @evidence @needs-kill @needs-shared-subscription
    Scenario: After a kill, two inactive sharers get their messages, and a durable subscriber gets its unacknowledged messages again
      Given a topic
      And subscriber "left" shares durable subscription "club" on the topic
      And subscriber "right" shares durable subscription "club" on the topic
      And a durable subscriber "keeper" on the topic in client mode
      And subscriber "left" is inactive
      And subscriber "right" is inactive
      When messages "m1" and "m2" are sent to the topic
      And "keeper" has seen "m1" and "m2"
      And the broker is killed and comes back
      And subscriber "left" comes back
      And subscriber "right" comes back
      And subscriber "keeper" comes back
      Then "left" and "right" together see "m1" and "m2" exactly once
      And "keeper" sees "m1" and "m2" again

  @PD-24 @needs-topic @needs-durable-subscription
  Rule: An active durable subscriber gets a persistent message after the message is on disk
    Lines 44 and 47: the broker first saves the message and then dispatches it, so that a failure in between loses
    nothing.  An acknowledgement has no answer in AMQP, so the scenarios give the broker a second to process it
    before a kill.

    Scenario: An active durable subscriber gets a persistent message once
      Given a topic
      And a durable subscriber "keeper" on the topic
      When message "heavy" is sent to the topic
      Then "keeper" sees "heavy" exactly once

    @needs-kill-at-first-sight
    Scenario: If the broker is killed when the subscriber receives a message, the message is delivered again
      Given a topic
      And a durable subscriber "keeper" on the topic in client mode
      When message "heavy" is sent to the topic and the broker is killed when the message is first seen
      And subscriber "keeper" comes back
      Then "keeper" sees "heavy" again

    @needs-kill-at-first-sight
    Scenario: If the broker is killed when the subscriber receives a second message, both messages are delivered again
      Given a topic
      And a durable subscriber "keeper" on the topic in client mode
      When message "earlier" is sent to the topic
      And "keeper" has seen "earlier"
      And message "heavy" is sent to the topic and the broker is killed when the message is first seen
      And subscriber "keeper" comes back
      Then "keeper" sees "earlier" again
      And "keeper" sees "heavy" again

    @evidence @needs-store-error
    Scenario: After a hundred messages that the store could not write, an active durable subscriber gets the next message
      Given a topic
      And a durable subscriber "keeper" on the topic
      When the broker's store refuses the next 100 writes
      And 100 messages are sent to the topic
      And message "written" is sent to the topic
      Then "keeper" sees "written" exactly once

    @kit @needs-store-error
    Scenario Outline: In <mode> mode, a message is delivered again if the store cannot write its acknowledgement
      Given a topic
      And a durable subscriber "keeper" on the topic in <mode> mode
      When message "heavy" is sent to the topic
      And "keeper" has seen "heavy"
      And the broker's store refuses the next write
      And <settled>
      Then "keeper" sees "heavy" again

      @needs-virtual-time
      Examples:
        | mode   | settled                                                     |
        | client | "keeper" acknowledges the first delivery of message "heavy" |

      @needs-local-transaction
      Examples:
        | mode       | settled                       |
        | transacted | session "keeper" is committed |

    @kit @needs-store-error
    Scenario: If the store cannot write the acknowledgement of a message, the message comes again when the subscriber returns
      Given a topic
      And a durable subscriber "keeper" on the topic in client mode
      When message "heavy" is sent to the topic
      And "keeper" has seen "heavy"
      And the broker's store refuses the next write
      And "keeper" acknowledges the first delivery of message "heavy"
      And subscriber "keeper" goes away
      And subscriber "keeper" comes back
      Then "keeper" sees "heavy" again

    @kit @needs-store-error @needs-kill-at-first-sight @needs-virtual-time
    Scenario: If the store cannot write the automatic acknowledgement of a message, the message is delivered again
      Given a topic
      And a durable subscriber "keeper" on the topic
      And the broker's store will refuse the next write when "heavy" is first seen
      When message "heavy" is sent to the topic
      And the broker's store has refused the write
      Then "keeper" sees "heavy" again

    @needs-restart
    Scenario: If the broker is restarted before the acknowledgement of a message, the message is delivered again
      Given a topic
      And a durable subscriber "keeper" on the topic in client mode
      When message "heavy" is sent to the topic
      And "keeper" has seen "heavy"
      And the broker is restarted
      And subscriber "keeper" comes back
      Then "keeper" sees "heavy" again

    @needs-local-transaction @needs-release
    Scenario: Messages that a unit of work received and rolled back are delivered again
      Given a topic
      And a durable subscriber "keeper" on the topic in transacted mode
      When message "heavy" is sent to the topic
      And "keeper" has seen "heavy"
      And session "keeper" is rolled back
      Then "keeper" sees "heavy" again

    @needs-local-transaction
    Scenario Outline: Messages that a committed unit of work received are not delivered again after the broker <event>
      Given a topic
      And a durable subscriber "keeper" on the topic in transacted mode
      When messages "m1" to "m3" are sent to the topic
      And "keeper" has seen "m1" to "m3"
      And session "keeper" is committed
      And the broker <event>
      And subscriber "keeper" comes back
      And message "after" is sent to the topic
      Then "keeper" sees "after" exactly once
      And "keeper" sees "m1" to "m3" exactly once

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @needs-restart
    Scenario: A message that survived a restart and was then received does not return after another restart
      Given a topic
      And a durable subscriber "keeper" on the topic
      And subscriber "keeper" is inactive
      When message "heavy" is sent to the topic
      And the broker is restarted
      And subscriber "keeper" comes back
      Then "keeper" sees "heavy" exactly once
      When the broker is restarted
      And subscriber "keeper" comes back
      And message "after" is sent to the topic
      Then "keeper" sees "after" exactly once
      And "keeper" sees "heavy" exactly once

    Scenario Outline: Messages covered by one acknowledgement are not delivered again after the broker <event>
      Given a topic
      And a durable subscriber "keeper" on the topic in client mode
      When messages "m1" to "m3" are sent to the topic
      And "keeper" has seen "m1" to "m3"
      And "keeper" acknowledges message "m3"
      And 1 s pass
      And the broker <event>
      And subscriber "keeper" comes back
      And message "after" is sent to the topic
      Then "keeper" sees "after" exactly once
      And "keeper" sees "m1" to "m3" exactly once

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @needs-local-transaction
    Scenario: Messages that an open unit of work received are delivered again when the connection is lost
      Given a topic
      And a durable subscriber "keeper" on the topic in transacted mode
      When messages "m1" to "m3" are sent to the topic
      And "keeper" has seen "m1" to "m3"
      And the connection of "keeper" is lost
      And subscriber "keeper" comes back
      Then "keeper" sees "m1" to "m3" again

    Scenario Outline: An acknowledged message is not delivered again after the broker <event>
      Given a topic
      And a durable subscriber "keeper" on the topic
      When message "taken" is sent to the topic
      Then "keeper" sees "taken" exactly once
      When the broker <event>
      And subscriber "keeper" comes back
      And message "after" is sent to the topic
      Then "keeper" sees "after" exactly once
      And "keeper" sees "taken" exactly once

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @evidence @needs-flush-trace
    Scenario: The copy of a durable subscription is flushed to disk before the subscriber receives it
      Given a topic
      And a durable subscriber "keeper" on the topic
      When message "heavy" is sent to the topic
      Then "heavy" was flushed to disk before "keeper" saw it

    @evidence @needs-shared-subscription @needs-topic-wildcard @needs-selector @needs-local-transaction
    Scenario: Two active sharers with a topic pattern and a selector together get a message of a unit of work once
      Given subscriber "left" shares durable subscription "club" on topic "sport/#" for messages with "colour = 'red'"
      And subscriber "right" shares durable subscription "club" on topic "sport/#" for messages with "colour = 'red'"
      And session "work" in transacted mode
      When message "heavy" is sent in session "work" to topic "sport/results" with priority 7 and property colour = "red"
      And session "work" is committed
      Then "left" and "right" together see "heavy" exactly once

  @PD-25 @needs-topic @needs-durable-subscription
  Rule: An inactive durable subscriber gets a persistent message when it becomes active
    Line 44.

    @needs-shared-subscription @needs-restart
    Scenario: Messages for an inactive shared durable subscription are there after a restart
      Given a topic
      And subscriber "member" shares durable subscription "club" on the topic
      And subscriber "member" is inactive
      When message "heavy" is sent to the topic
      And the broker is restarted
      And subscriber "member" comes back
      Then "member" sees "heavy" exactly once

    @needs-selector @needs-restart
    Scenario: A durable subscription still has its selector after a restart
      Given a topic
      And a durable subscriber "picky" on the topic for messages with "colour = 'red'"
      And subscriber "picky" is inactive
      When the broker is restarted
      And message "blue" is sent to the topic with property colour = "blue"
      And message "red" is sent to the topic with property colour = "red"
      And subscriber "picky" comes back
      Then "picky" sees "red" exactly once
      And "picky" never sees "blue"

    @needs-selector
    Scenario Outline: A subscription with the selector "<selector>" still has its messages after the broker <event>
      Given a topic
      And a durable subscriber "picky" on the topic for messages with "<selector>"
      And subscriber "picky" is inactive
      When message "blue" is sent to the topic with property colour = "blue"
      And message "red" is sent to the topic with property colour = "red"
      And the broker <event>
      And subscriber "picky" comes back
      Then "picky" sees "red" exactly once
      And "picky" never sees "blue"

      @needs-restart
      Examples: Restart
        | selector                | event        |
        | colour='red'            | is restarted |
        | not ( colour='blue' )   | is restarted |
        | colour in ('red','rot') | is restarted |

      @needs-kill
      Examples: Kill
        | selector     | event                    |
        | colour='red' | is killed and comes back |

    @needs-selector
    Scenario Outline: After the broker <event>, the topic of an inactive durable subscription with a selector accepts messages
      Given a topic
      And a durable subscriber "picky" on the topic for messages with "colour = 'red'"
      And subscriber "picky" is inactive
      When the broker <event>
      And message "red" is sent to the topic with property colour = "red"
      Then sending "red" is accepted
      When subscriber "picky" comes back
      Then "picky" sees "red" exactly once

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    Scenario Outline: After the broker <event>, the topic of an inactive durable subscription accepts messages
      Given a topic
      And <kind>
      And subscriber "keeper" is inactive
      When message "before" is sent to the topic
      And the broker <event>
      And message "after" is sent to the topic
      Then sending "after" is accepted
      When subscriber "keeper" comes back
      Then "keeper" sees "before" and "after" exactly once

      @needs-restart
      Examples: Restart
        | kind                                     | event        |
        | a durable subscriber "keeper" on the topic | is restarted |

      @needs-kill
      Examples: Kill
        | kind                                     | event                    |
        | a durable subscriber "keeper" on the topic | is killed and comes back |

      @needs-shared-subscription @needs-restart
      Examples: Shared
        | kind                                                             | event        |
        | subscriber "keeper" shares durable subscription "club" on the topic | is restarted |

      @needs-shared-subscription @needs-kill
      Examples: Shared, kill
        | kind                                                             | event                    |
        | subscriber "keeper" shares durable subscription "club" on the topic | is killed and comes back |

    Scenario Outline: A durable subscription stores messages even if the broker <event> right after the subscription was created
      With its own broker, the scenario can have a slow disk; a kill then shows an answer that comes before the write.

      Given a topic
      And a durable subscriber "keeper" on the topic
      When the broker <event>
      And message "later" is sent to the topic
      And subscriber "keeper" comes back
      Then "keeper" sees "later" exactly once

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @own-instance @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    Scenario Outline: A durable subscription keeps its message when other subscribers leave and join and the broker <event>
      Given a topic
      And a <first> subscriber "former" on the topic
      And a durable subscriber "keeper" on the topic
      And subscriber "keeper" is inactive
      When subscriber "former" <ended>
      And message "heavy" is sent to the topic
      And the broker <event>
      And a <new> subscriber "new" subscribes to the topic
      And message "later" is sent to the topic
      And subscriber "keeper" comes back
      Then "keeper" sees "heavy" and "later" exactly once
      And "new" sees "later" exactly once
      And "new" never sees "heavy"

      @needs-restart
      Examples: Restart
        | event        | first       | ended        | new         |
        | is restarted | non-durable | goes away    | durable     |
        | is restarted | durable     | unsubscribes | non-durable |

      @needs-kill
      Examples: Kill
        | event                    | first       | ended        | new         |
        | is killed and comes back | non-durable | goes away    | non-durable |
        | is killed and comes back | durable     | unsubscribes | durable     |

    @needs-restart
    Scenario: An inactive durable subscription also stores messages after a second restart
      Given a topic
      And a durable subscriber "keeper" on the topic
      And subscriber "keeper" is inactive
      When the broker is restarted
      And the broker is restarted
      And message "later" is sent to the topic
      And subscriber "keeper" comes back
      Then "keeper" sees "later" exactly once

    @needs-shared-subscription @needs-client-id @needs-restart
    Scenario: Messages for an inactive shared durable subscription with a client id are there after a restart
      Given a topic
      And subscriber "member" of client "ann" shares durable subscription "club" on the topic
      And subscriber "member" is inactive
      When message "heavy" is sent to the topic
      And the broker is restarted
      And message "later" is sent to the topic
      And subscriber "member" comes back
      Then "member" sees "heavy", "later" exactly once

    @needs-shared-subscription @needs-restart
    Scenario: After a restart, two sharers together get each stored message once
      Given a topic
      And subscriber "left" shares durable subscription "club" on the topic
      And subscriber "right" shares durable subscription "club" on the topic
      And subscriber "left" is inactive
      And subscriber "right" is inactive
      When messages "m1" to "m6" are sent to the topic
      And the broker is restarted
      And subscriber "left" comes back
      And subscriber "right" comes back
      Then "left" and "right" together see "m1" to "m6" exactly once

    @needs-selector
    Scenario: A returning durable subscriber with a selector gets only the messages that it selects
      Given a topic
      And a durable subscriber "picky" on the topic for messages with "colour = 'red'"
      And subscriber "picky" is inactive
      When message "red" is sent to the topic with property colour = "red"
      And message "blue" is sent to the topic with property colour = "blue"
      And subscriber "picky" comes back
      Then "picky" sees "red" exactly once
      And "picky" never sees "blue"

    @needs-time-to-live @needs-restart
    Scenario: A message for an inactive subscription still expires after a restart
      Given a topic
      And a durable subscriber "keeper" on the topic
      And subscriber "keeper" is inactive
      When message "short" is sent to the topic with a time to live of 5 s
      And message "lasting" is sent to the topic
      And the broker is restarted
      And 6 s pass
      And subscriber "keeper" comes back
      Then "keeper" sees "lasting" exactly once
      And "keeper" never sees "short"

    @evidence @needs-session
    Scenario Outline: A returning subscriber with noLocal gets the messages of other clients after the broker <event>
      Given a topic
      And a durable subscriber "keeper" on the topic that gets no messages of its own connection
      And session "own" in auto mode on connection "keeper"
      When message "said" is sent in session "own" to the topic
      And subscriber "keeper" goes away
      And message "m1" is sent to the topic
      And the broker <event>
      And message "m2" is sent to the topic
      And subscriber "keeper" comes back
      Then "keeper" sees "m1", "m2" exactly once
      And "keeper" never sees "said"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @kit @needs-restart
    Scenario: A durable subscription to a topic pattern still stores messages after a restart
      Given a durable subscriber "keeper" on topic "sport/#"
      And subscriber "keeper" is inactive
      When the broker is restarted
      And message "later" is sent to topic "sport/football/results"
      And subscriber "keeper" comes back
      Then "keeper" sees "later" exactly once

    @needs-restart
    Scenario: A durable subscription can be opened again after a restart
      Given a topic
      And a durable subscriber "keeper" on the topic
      And subscriber "keeper" is inactive
      When the broker is restarted
      And subscriber "keeper" tries to come back
      Then it is accepted

    @evidence @needs-kill
    Scenario: A durable subscription can be opened again after a kill
      Given a topic
      And a durable subscriber "keeper" on the topic
      And subscriber "keeper" is inactive
      When the broker is killed and comes back
      And subscriber "keeper" tries to come back
      Then it is accepted

    @needs-restart @needs-shared-subscription @needs-client-id
    Scenario: A shared durable subscription with a client id can be opened again after a restart
      Given a topic
      And subscriber "member" of client "ann" shares durable subscription "club" on the topic
      And subscriber "member" is inactive
      When the broker is restarted
      And subscriber "member" tries to come back
      Then it is accepted

    @kit @needs-restart @needs-time-to-live
    Scenario: The time to live of a message for an inactive subscription does not start again at a restart
      Given a topic
      And a durable subscriber "keeper" on the topic
      And subscriber "keeper" is inactive
      When message "short" is sent to the topic with a time to live of 10 s
      And message "lasting" is sent to the topic
      And 6 s pass
      And the broker is restarted
      And 6 s pass
      And subscriber "keeper" comes back
      Then "keeper" sees "lasting" exactly once
      And "keeper" never sees "short"

    @needs-restart @needs-shared-subscription
    Scenario: A shared durable subscription can be opened again after a restart
      Given a topic
      And subscriber "member" shares durable subscription "club" on the topic
      And subscriber "member" is inactive
      When the broker is restarted
      And subscriber "member" tries to come back
      Then it is accepted

    Scenario: A large message is there when the subscriber returns
      Given a topic
      And a durable subscriber "keeper" on the topic
      And subscriber "keeper" is inactive
      When message "heavy" is sent to the topic with a body of 300 KB
      And subscriber "keeper" comes back
      Then "keeper" sees "heavy" exactly once

    Scenario: A persistent message is there when the subscriber returns
      Given a topic
      And a durable subscriber "keeper" on the topic
      And subscriber "keeper" is inactive
      When message "heavy" is sent to the topic
      And 1 s pass
      And subscriber "keeper" comes back
      Then "keeper" sees "heavy" exactly once

    Scenario Outline: A persistent message is there when the subscriber returns after the broker <event>
      Given a topic
      And a durable subscriber "keeper" on the topic
      And subscriber "keeper" is inactive
      When message "heavy" is sent to the topic
      And the broker <event>
      And subscriber "keeper" comes back
      Then "keeper" sees "heavy" exactly once

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @evidence
    Scenario Outline: A message with <option> is there when a durable subscriber returns after the broker <event>
      Given a topic
      And a durable subscriber "keeper" on the topic
      And subscriber "keeper" is inactive
      When messages "m1" and "m2" are sent to the topic with <option>
      And the broker <event>
      And subscriber "keeper" comes back
      Then "keeper" sees "m1", "m2" exactly once

      @needs-time-to-live @needs-restart
      Examples:
        | option                | event        |
        | a time to live of 1 h | is restarted |

      @needs-time-to-live @needs-kill
      Examples:
        | option                | event                    |
        | a time to live of 1 h | is killed and comes back |

      @needs-priority @needs-kill
      Examples:
        | option     | event                    |
        | priority 9 | is killed and comes back |

    @kit @needs-priority @needs-restart
    Scenario: A durable subscriber gets its missed messages by priority when it returns after a restart
      Given a topic
      And a durable subscriber "keeper" on the topic
      And subscriber "keeper" is inactive
      When message "lowest" is sent to the topic with priority 0
      And message "usual" is sent to the topic
      And message "high" is sent to the topic with priority 9
      And the broker is restarted
      And subscriber "keeper" comes back
      Then "keeper" sees "high", "usual" and "lowest" in that order

    Scenario Outline: An inactive durable subscription still stores messages after the broker <event>
      Given a topic
      And a durable subscriber "keeper" on the topic
      When message "earlier" is sent to the topic
      Then "keeper" sees "earlier" exactly once
      When subscriber "keeper" goes away
      And the broker <event>
      And message "later" is sent to the topic
      And subscriber "keeper" comes back
      Then "keeper" sees "later" exactly once

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @evidence @needs-kill @needs-local-transaction
    Scenario: An inactive durable subscriber gets the messages of units of work that were committed before a kill
      Given a topic
      And a durable subscriber "keeper" on the topic in client mode
      And subscriber "keeper" is inactive
      And session "work" in transacted mode
      When message "undone" is sent in session "work" to the topic
      And session "work" is rolled back
      And message "m1" is sent in session "work" to the topic with priority 7 and property colour = "red"
      And session "work" is committed
      And message "m2" is sent in session "work" to the topic
      And session "work" is committed
      And the broker is killed and comes back
      And subscriber "keeper" comes back
      Then "keeper" sees "m1" and "m2" exactly once
      And "keeper" never sees "undone"

  @PD-26 @needs-topic
  Rule: An active non-durable subscriber gets a copy of a persistent message, and later subscribers get none
    Line 45: no message is kept for later subscribers, even when a durable subscription holds the message.  Line 58: a
    message is persisted for queues and durable subscriptions, not for non-durable ones.

    # MQ Light's client, which has no queues, leaves persistence to the topic.
    @evidence @needs-data-folder @needs-durable-subscription @needs-queue
    Scenario: The broker's files do not contain a persistent message that only a non-durable subscription gets
      Given a topic "lasting"
      And a durable subscriber "keeper" on topic "lasting"
      And subscriber "keeper" is inactive
      And a topic "passing"
      And a non-durable subscriber "passer" on topic "passing" that does not receive yet
      When message "kept" is sent to topic "lasting"
      And message "light" is sent to topic "passing"
      Then the data folder holds the body of "kept"
      And the broker's data folder does not hold the body of "light"

    @evidence @needs-data-folder @needs-durable-subscription @needs-queue @needs-shared-subscription
    Scenario: The broker's files do not contain a persistent message that only a shared non-durable subscription gets
      Given a topic "lasting"
      And a durable subscriber "keeper" on topic "lasting"
      And subscriber "keeper" is inactive
      And a topic "passing"
      And subscriber "left" shares non-durable subscription "pair" on topic "passing"
      When message "kept" is sent to topic "lasting"
      And message "light" is sent to topic "passing"
      Then the data folder holds the body of "kept"
      And the broker's data folder does not hold the body of "light"

    @needs-local-transaction
    Scenario: An active non-durable subscriber gets all messages of a unit of work once
      Given a topic
      And a non-durable subscriber "live" on the topic
      And session "work" in transacted mode
      When message "m1" is sent in session "work" to the topic
      And message "m2" is sent in session "work" to the topic
      And session "work" is committed
      Then "live" sees "m1" and "m2" exactly once

    @needs-session
    Scenario: Two subscribers of one session each get a copy
      Given a topic
      And session "both" in auto mode
      And receiver "first" of session "both" on the topic
      And receiver "second" of session "both" on the topic
      When messages "m1" to "m3" are sent to the topic
      Then "first" sees "m1" to "m3" exactly once
      And "second" sees "m1" to "m3" exactly once

    Scenario: An active non-durable subscriber gets a persistent message once
      Given a topic
      And a non-durable subscriber "live" on the topic
      When message "heavy" is sent to the topic
      Then "live" sees "heavy" exactly once

    @evidence @needs-store-error @needs-durable-subscription
    Scenario: After a hundred messages that the store could not write, a non-durable subscriber gets the next message
      Given a topic
      And a durable subscriber "keeper" on the topic
      And subscriber "keeper" is inactive
      And a non-durable subscriber "live" on the topic
      When the broker's store refuses the next 100 writes
      And 100 messages are sent to the topic
      And message "written" is sent to the topic
      Then "live" sees "written" exactly once

    Scenario: An active non-durable subscriber gets the persistent messages sent before its receive call
      Given a topic
      And a non-durable subscriber "busy" on the topic that does not receive yet
      When messages "m1" to "m3" are sent to the topic
      And 2 s pass
      And subscriber "busy" starts to receive
      Then "busy" sees "m1" to "m3" exactly once

    Scenario: A later non-durable subscriber gets no persistent message that an active subscriber got
      Given a topic
      And a non-durable subscriber "live" on the topic
      When message "heavy" is sent to the topic
      And a non-durable subscriber "late" subscribes to the topic
      And message "after" is sent to the topic
      Then "late" sees "after" exactly once
      And "late" never sees "heavy"

    @needs-durable-subscription
    Scenario: A later non-durable subscriber gets no persistent message that a durable subscription stores
      Given a topic
      And a durable subscriber "keeper" on the topic
      And subscriber "keeper" is inactive
      When message "heavy" is sent to the topic
      And a non-durable subscriber "late" subscribes to the topic
      And message "after" is sent to the topic
      Then "late" sees "after" exactly once
      And "late" never sees "heavy"

    @kit @needs-selector @needs-durable-subscription
    Scenario: A non-durable subscriber to a topic pattern gets the messages that it selects; a later subscriber gets none of them
      Given a non-durable subscriber "live" on topic "sport/#" for messages with "colour = 'red'"
      And a durable subscriber "keeper" on topic "sport/#"
      And subscriber "keeper" is inactive
      When message "red" is sent to topic "sport/football/results" with property colour = "red"
      And message "blue" is sent to topic "sport/football/results" with property colour = "blue"
      And a non-durable subscriber "late" subscribes to topic "sport/#"
      And message "after" is sent to topic "sport/football/results" with property colour = "red"
      Then "live" sees "red", "after" exactly once
      And "live" never sees "blue"
      And "late" sees "after" exactly once
      And "late" never sees "red", "blue"

    @evidence @needs-shared-subscription @needs-local-transaction
    Scenario: Non-durable subscribers, shared or not, get a committed message; a sharer that returns gets no missed message
      Given a topic
      And subscriber "left" shares non-durable subscription "pair" on the topic
      And subscriber "right" shares non-durable subscription "pair" on the topic
      And a non-durable subscriber "single" on the topic in client mode
      And session "work" in transacted mode
      When message "m1" is sent in session "work" to the topic with priority 7 and property colour = "red"
      And session "work" is committed
      And message "undone" is sent in session "work" to the topic
      And session "work" is rolled back
      Then "left" and "right" together see "m1" exactly once
      And "single" sees "m1" exactly once
      When subscriber "left" goes away
      And subscriber "right" goes away
      And message "missed" is sent to the topic
      And subscriber "right" comes back
      And message "after" is sent to the topic
      Then "right" sees "after" exactly once
      And "right" never sees "missed"
      And "single" never sees "undone"

  @PD-27 @needs-topic
  Rule: After a restart or a kill, a non-durable subscription and its messages are gone
    Line 48 quotes JMS.  *Gone* means that its messages reach no subscriber, and that it stores no messages until
    a subscriber comes back.

    @needs-non-persistent
    Scenario Outline: A <mode> message that a non-durable subscriber had not received is gone after the broker <event>
      Given a topic
      And a non-durable subscriber "passer" on the topic that does not receive yet
      When message "held" is sent to the topic with delivery mode <mode>
      And the broker <event>
      And subscriber "passer" comes back
      And message "after" is sent to the topic
      Then "passer" sees "after" exactly once
      And "passer" never sees "held"

      @needs-restart
      Examples: Restart
        | mode           | event        |
        | persistent     | is restarted |
        | non-persistent | is restarted |

      @needs-kill
      Examples: Kill
        | mode           | event                    |
        | persistent     | is killed and comes back |
        | non-persistent | is killed and comes back |

    @evidence @needs-non-persistent @needs-retained-publication
    Scenario Outline: A retained message that another message replaced does not come to a new subscriber after the broker <event>
      The other message is not persistent, so the broker may lose it.  A client need not wait for the answer to its send,
      so the scenario gives the broker a second to process it.

      Given a topic
      When message "replaced" is sent to the topic with the retain option and delivery mode persistent
      And message "retained" is sent to the topic with the retain option and delivery mode non-persistent
      And 1 s pass
      And the broker <event>
      And a non-durable subscriber "late" subscribes to the topic
      And message "after" is sent to the topic
      Then "late" sees "after" exactly once
      And "late" never sees "replaced"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @evidence @needs-delivery-delay
    Scenario Outline: After the broker <event>, a delayed message for a non-durable subscriber does not come to a subscriber of another topic
      Given a topic "one"
      And a topic "two"
      And a non-durable subscriber "passer" on topic "one"
      When message "delayed" is sent to topic "one" with a delivery delay of 20 s
      And the broker <event>
      And a non-durable subscriber "late" subscribes to topic "two"
      And "delayed" is overdue
      And message "after" is sent to topic "two"
      Then "late" sees "after" exactly once
      And "late" never sees "delayed"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @needs-session
    Scenario Outline: After the broker <event>, a non-durable subscriber gets no message sent before it subscribes again
      Given a topic
      And a non-durable subscriber "passer" on the topic
      When the broker <event>
      And message "missed" is sent to the topic
      And subscriber "passer" comes back
      And message "after" is sent to the topic
      Then "passer" sees "after" exactly once
      And "passer" never sees "missed"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @needs-session @needs-shared-subscription
    Scenario Outline: After the broker <event>, a sharer of a non-durable subscription gets no message sent before it subscribes again
      Given a topic
      And subscriber "left" shares non-durable subscription "pair" on the topic
      When the broker <event>
      And message "missed" is sent to the topic
      And subscriber "left" comes back
      And message "after" is sent to the topic
      Then "left" sees "after" exactly once
      And "left" never sees "missed"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @evidence @needs-session @needs-shared-subscription @needs-subscription-list
    Scenario Outline: After the broker <event>, an administrator no longer sees non-durable subscriptions, shared or not
      Given a topic
      And a non-durable subscriber "passer" on the topic
      And subscriber "left" shares non-durable subscription "pair" on the topic
      When the broker <event>
      Then no subscription to the topic remains

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @needs-non-persistent @needs-durable-subscription
    Scenario Outline: After the broker <event>, a new subscriber gets no earlier <mode> message
      Given a topic
      And a durable subscriber "keeper" on the topic
      And subscriber "keeper" is inactive
      When message "earlier" is sent to the topic with delivery mode <mode>
      And the broker <event>
      And a non-durable subscriber "late" subscribes to the topic
      And message "after" is sent to the topic
      Then "late" sees "after" exactly once
      And "late" never sees "earlier"

      @needs-restart
      Examples: Restart
        | mode           | event        |
        | persistent     | is restarted |
        | non-persistent | is restarted |

      @needs-kill
      Examples: Kill
        | mode           | event                    |
        | persistent     | is killed and comes back |
        | non-persistent | is killed and comes back |

    @kit @needs-session @needs-selector
    Scenario Outline: After the broker <event>, a non-durable subscriber to a topic pattern gets no message sent before it subscribes again
      Given a non-durable subscriber "passer" on topic "sport/#" for messages with "colour = 'red'"
      When the broker <event>
      And message "missed" is sent to topic "sport/football/results" with property colour = "red"
      And subscriber "passer" comes back
      And message "after" is sent to topic "sport/football/results" with property colour = "red"
      Then "passer" sees "after" exactly once
      And "passer" never sees "missed"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @evidence @needs-kill @needs-shared-subscription @needs-local-transaction
    Scenario: After a kill, non-durable subscribers, shared or not, get no message that was committed before the kill
      Given a topic
      And subscriber "left" shares non-durable subscription "pair" on the topic
      And subscriber "right" shares non-durable subscription "pair" on the topic
      And a non-durable subscriber "single" on the topic in client mode
      And session "work" in transacted mode
      When subscriber "left" goes away
      And message "undone" is sent in session "work" to the topic
      And session "work" is rolled back
      And message "m1" is sent in session "work" to the topic
      And session "work" is committed
      And message "m2" is sent in session "work" to the topic
      And session "work" is committed
      And "single" has seen "m1" and "m2"
      And the broker is killed and comes back
      And message "missed" is sent to the topic
      And subscriber "left" comes back
      And subscriber "right" comes back as "heir"
      And subscriber "single" comes back as "late"
      And message "after" is sent to the topic
      Then "left" and "heir" together see "after" exactly once
      And "late" sees "after" exactly once
      And "late" never sees "m1", "m2" and "missed"
      And "heir" never sees "m1", "m2" and "missed"
      And "left" never sees "missed"

  @PD-28 @needs-topic @needs-durable-subscription @needs-non-persistent
  Rule: Active durable subscribers get a copy of a non-persistent message
    Line 49.

    Scenario: An active durable subscriber gets a non-persistent message once
      Given a topic
      And a durable subscriber "keeper" on the topic
      When message "light" is sent to the topic with delivery mode non-persistent
      Then "keeper" sees "light" exactly once

    @evidence @needs-admin @own-instance
    Scenario: If the queue of a durable subscription is full, the other subscribers still get a non-persistent message
      Given the queues of durable subscriptions are made with MAXDEPTH(1)
      And there is no dead-letter queue
      And a topic
      And a durable subscriber "full" on the topic
      And subscriber "full" is inactive
      And a durable subscriber "keeper" on the topic
      And a non-durable subscriber "live" on the topic
      When message "filler" is sent to the topic with delivery mode non-persistent
      And "keeper" has seen "filler"
      And 1 s pass
      And message "light" is sent to the topic with delivery mode non-persistent
      Then "keeper" sees "light" exactly once
      And "live" sees "light" exactly once

    @kit @needs-local-transaction
    Scenario: A non-persistent message that a unit of work received comes again if the session is closed without a commit
      Given a topic
      And a durable subscriber "keeper" on the topic in transacted mode
      When message "light" is sent to the topic with delivery mode non-persistent
      And "keeper" has seen "light"
      And the session of "keeper" is closed
      And subscriber "keeper" comes back
      Then "keeper" sees "light" again

    @needs-local-transaction
    Scenario Outline: After a unit of work was <ended>, an active durable subscriber gets each message of the next unit of work
      Given a topic
      And a durable subscriber "keeper" on the topic
      And session "work" in transacted mode
      When message "earlier" is sent in session "work" to the topic with delivery mode non-persistent
      And session "work" is <ended>
      And message "m1" is sent in session "work" to the topic with delivery mode non-persistent
      And message "m2" is sent in session "work" to the topic with delivery mode non-persistent
      And message "m3" is sent in session "work" to the topic with delivery mode non-persistent
      And session "work" is committed
      Then "keeper" sees "m1" to "m3" exactly once

      Examples:
        | ended       |
        | committed   |
        | rolled back |

    @needs-local-transaction
    Scenario: An active durable subscriber gets the messages of a unit of work once
      Given a topic
      And a durable subscriber "keeper" on the topic
      And session "work" in transacted mode
      When message "light" is sent in session "work" to the topic with delivery mode non-persistent
      And session "work" is committed
      Then "keeper" sees "light" exactly once

    Scenario: An active durable subscriber gets the non-persistent messages sent before its receive call
      Given a topic
      And a durable subscriber "busy" on the topic that does not receive yet
      When messages "m1" to "m3" are sent to the topic with delivery mode non-persistent
      And 2 s pass
      And subscriber "busy" starts to receive
      Then "busy" sees "m1" to "m3" exactly once

    @needs-shared-subscription
    Scenario: Two active sharers together get each message once
      Given a topic
      And subscriber "left" shares durable subscription "club" on the topic
      And subscriber "right" shares durable subscription "club" on the topic
      When messages "m1" to "m6" are sent to the topic with delivery mode non-persistent
      Then "left" and "right" together see "m1" to "m6" exactly once

    @needs-selector
    Scenario: An active durable subscriber with a selector gets the messages that it selects
      Given a topic
      And a durable subscriber "picky" on the topic for messages with "colour = 'red'"
      When message "red" is sent to the topic with delivery mode non-persistent and property colour = "red"
      And message "blue" is sent to the topic with delivery mode non-persistent and property colour = "blue"
      Then "picky" sees "red" exactly once
      And "picky" never sees "blue"

    Scenario: A durable and a non-durable subscriber each get a copy while a third subscriber is inactive
      Given a topic
      And a durable subscriber "away" on the topic
      And subscriber "away" is inactive
      And a durable subscriber "keeper" on the topic
      And a non-durable subscriber "live" on the topic
      When messages "m1" to "m3" are sent to the topic with delivery mode non-persistent
      Then "keeper" sees "m1" to "m3" exactly once
      And "live" sees "m1" to "m3" exactly once

    Scenario: Each of three active durable subscribers gets a copy of its own
      Given a topic
      And a durable subscriber "first" on the topic
      And a durable subscriber "second" on the topic
      And a durable subscriber "third" on the topic
      When message "light" is sent to the topic with delivery mode non-persistent
      Then "first" sees "light" exactly once
      And "second" sees "light" exactly once
      And "third" sees "light" exactly once

    @evidence @needs-topic-wildcard @needs-local-transaction
    Scenario: In client mode, a durable subscriber to a topic pattern gets a non-persistent message of a unit of work once
      Given a durable subscriber "keeper" on topic "sport/#" in client mode
      And session "work" in transacted mode
      When message "light" is sent in session "work" to topic "sport/results" with delivery mode non-persistent
      And session "work" is committed
      Then "keeper" sees "light" exactly once

  @PD-29 @needs-topic @needs-durable-subscription @needs-non-persistent
  Rule: A non-persistent message for an inactive durable subscription may be kept in memory until the subscription becomes active
    Lines 49 and 59 do not guarantee this, so the scenarios record whether the message was kept; a second or altered
    delivery is not permitted.

    Scenario: A non-persistent message comes at most once, and unaltered, when the subscription becomes active
      Given a topic
      And a durable subscriber "keeper" on the topic
      And subscriber "keeper" is inactive
      When message "light" is sent to the topic with delivery mode non-persistent
      And subscriber "keeper" comes back
      And message "after" is sent to the topic with delivery mode non-persistent
      Then "keeper" sees "after" exactly once
      And "keeper" sees "light" at most once

    @evidence @needs-restart
    Scenario: A non-persistent message that is sent after a restart comes at most once, and unaltered
      Given a topic
      And a durable subscriber "keeper" on the topic
      And subscriber "keeper" is inactive
      When the broker is restarted
      And message "light" is sent to the topic with delivery mode non-persistent
      And subscriber "keeper" comes back
      And message "after" is sent to the topic with delivery mode non-persistent
      Then "keeper" sees "after" exactly once
      And "keeper" sees "light" at most once

    @kit @needs-shared-subscription
    Scenario: A non-persistent message is kept for a shared subscription until the subscription becomes active
      Given a topic
      And subscriber "member" shares durable subscription "club" on the topic
      And subscriber "member" is inactive
      When messages "m1" to "m5" are sent to the topic with delivery mode non-persistent
      And the sender's connection is closed
      And subscriber "member" comes back
      Then "member" sees "m1" to "m5" exactly once

    @kit @needs-local-transaction
    Scenario: Non-persistent messages of a unit of work are kept for each of two subscriptions
      Given a topic
      And a durable subscriber "first" on the topic
      And a durable subscriber "second" on the topic
      And subscriber "first" is inactive
      And subscriber "second" is inactive
      And session "work" in transacted mode
      When message "light" is sent in session "work" to the topic with delivery mode non-persistent
      And session "work" is committed
      And subscriber "first" comes back
      And subscriber "second" comes back
      Then "first" sees "light" exactly once
      And "second" sees "light" exactly once

    @kit
    Scenario: A non-persistent message is kept until the subscription becomes active
      Given a topic
      And a durable subscriber "keeper" on the topic
      And subscriber "keeper" is inactive
      When message "light" is sent to the topic with delivery mode non-persistent
      And subscriber "keeper" comes back
      Then "keeper" sees "light" exactly once

    @kit @needs-store-error
    Scenario: A non-persistent message is kept when the store refuses the removal of its subscription
      Given a topic
      And a durable subscriber "keeper" on the topic that does not receive yet
      When message "light" is sent to the topic with delivery mode non-persistent
      And the broker's store refuses the next write
      And subscriber "keeper" tries to unsubscribe
      Then it is refused
      When subscriber "keeper" comes back
      Then "keeper" sees "light" exactly once

    @kit @needs-selector
    Scenario: A returning subscriber to a topic pattern gets only messages that match its selector
      Given a durable subscriber "keeper" on topic "sport/#" for messages with "colour = 'red'"
      And subscriber "keeper" is inactive
      When message "red" is sent to topic "sport/football/results" with delivery mode non-persistent and property colour = "red"
      And message "blue" is sent to topic "sport/football/results" with delivery mode non-persistent and property colour = "blue"
      And subscriber "keeper" comes back
      And message "after" is sent to topic "sport/tennis" with delivery mode non-persistent and property colour = "red"
      Then "keeper" sees "after" exactly once
      And "keeper" sees "red" at most once
      And "keeper" never sees "blue"

    @evidence @needs-shared-subscription @needs-local-transaction
    Scenario: Non-persistent messages of a unit of work come at most once, and unaltered, to subscribers that become active
      Given a topic
      And subscriber "left" shares durable subscription "club" on the topic
      And subscriber "right" shares durable subscription "club" on the topic
      And a durable subscriber "single" on the topic in client mode
      And subscriber "left" is inactive
      And subscriber "right" is inactive
      And subscriber "single" is inactive
      And session "work" in transacted mode
      When message "undone" is sent in session "work" to the topic with delivery mode non-persistent
      And session "work" is rolled back
      And message "light" is sent in session "work" to the topic with delivery mode non-persistent
      And session "work" is committed
      And subscriber "left" comes back
      And subscriber "right" comes back
      And subscriber "single" comes back
      And message "after" is sent to the topic with delivery mode non-persistent
      Then "left" and "right" together see "after" exactly once
      And "left" and "right" together see "light" at most once
      And "single" sees "light" at most once
      And "single" never sees "undone"

  @PD-30 @needs-topic @needs-durable-subscription @needs-non-persistent
  Rule: A restart may lose non-persistent messages of an inactive durable subscription; the subscription survives
    Lines 50 and 52.  Reading as in PD-22: the loss is permitted.  The survival of the subscription is demanded.

    Scenario Outline: A non-persistent message comes at most once, and unaltered, after the broker <event>
      Given a topic
      And a durable subscriber "keeper" on the topic
      And subscriber "keeper" is inactive
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

    @kit
    Scenario Outline: A non-persistent message is gone after the broker <event>, as the document says
      Given a topic
      And a durable subscriber "keeper" on the topic
      And subscriber "keeper" is inactive
      When message "light" is sent to the topic with delivery mode non-persistent
      And the broker <event>
      And subscriber "keeper" comes back
      And message "after" is sent to the topic with delivery mode non-persistent
      Then "keeper" sees "after" exactly once
      And "keeper" never sees "light"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @must
    Scenario Outline: The durable subscription survives and stores messages again after the broker <event>
      Given a topic
      And a durable subscriber "keeper" on the topic
      When message "earlier" is sent to the topic
      Then "keeper" sees "earlier" exactly once
      When subscriber "keeper" goes away
      And message "light" is sent to the topic with delivery mode non-persistent
      And the broker <event>
      And message "heavy" is sent to the topic
      And subscriber "keeper" comes back
      Then "keeper" sees "heavy" exactly once

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @kit @needs-selector
    Scenario Outline: A subscription to a topic pattern survives with its selector when the broker <event>
      Given a durable subscriber "keeper" on topic "sport/#" for messages with "colour = 'red'"
      And subscriber "keeper" is inactive
      When message "light" is sent to topic "sport/football/results" with delivery mode non-persistent and property colour = "red"
      And the broker <event>
      And message "blue" is sent to topic "sport/football/results" with property colour = "blue"
      And message "heavy" is sent to topic "sport/football/results" with property colour = "red"
      And subscriber "keeper" comes back
      Then "keeper" sees "heavy" exactly once
      And "keeper" never sees "blue"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @evidence @needs-kill @needs-shared-subscription @needs-local-transaction
    Scenario: After a kill, a shared subscription still exists, and non-persistent messages of units of work come at most once
      Given a topic
      And subscriber "left" shares durable subscription "club" on the topic
      And subscriber "right" shares durable subscription "club" on the topic
      And a durable subscriber "single" on the topic in client mode
      And subscriber "left" is inactive
      And subscriber "right" is inactive
      And subscriber "single" is inactive
      And session "work" in transacted mode
      When message "undone" is sent in session "work" to the topic with delivery mode non-persistent
      And session "work" is rolled back
      And message "m1" is sent in session "work" to the topic with delivery mode non-persistent
      And session "work" is committed
      And message "m2" is sent in session "work" to the topic with delivery mode non-persistent
      And session "work" is committed
      And the broker is killed and comes back
      And message "after" is sent to the topic
      And subscriber "left" comes back
      And subscriber "right" comes back
      And subscriber "single" comes back
      Then "left" and "right" together see "after" exactly once
      And "single" sees "after" exactly once
      And "left" and "right" together see "m1" and "m2" at most once
      And "single" sees "m1" and "m2" at most once
      And "single" never sees "undone"

  @PD-33 @needs-topic @needs-non-persistent
  Rule: Active non-durable subscribers get a copy of a non-persistent message, and later subscribers get none
    Line 52: neither disk nor memory keeps a message for later subscribers.

    Scenario: An active non-durable subscriber gets a non-persistent message once
      Given a topic
      And a non-durable subscriber "live" on the topic
      When message "light" is sent to the topic with delivery mode non-persistent
      Then "live" sees "light" exactly once

    @needs-local-transaction
    Scenario Outline: After a unit of work was <ended>, an active non-durable subscriber gets each message of the next unit of work
      Given a topic
      And a non-durable subscriber "live" on the topic
      And session "work" in transacted mode
      When message "earlier" is sent in session "work" to the topic with delivery mode non-persistent
      And session "work" is <ended>
      And message "m1" is sent in session "work" to the topic with delivery mode non-persistent
      And message "m2" is sent in session "work" to the topic with delivery mode non-persistent
      And message "m3" is sent in session "work" to the topic with delivery mode non-persistent
      And session "work" is committed
      Then "live" sees "m1" to "m3" exactly once

      Examples:
        | ended       |
        | committed   |
        | rolled back |

    @needs-local-transaction
    Scenario: An active non-durable subscriber gets the messages of a unit of work once
      Given a topic
      And a non-durable subscriber "live" on the topic
      And session "work" in transacted mode
      When message "light" is sent in session "work" to the topic with delivery mode non-persistent
      And session "work" is committed
      Then "live" sees "light" exactly once

    Scenario: An active non-durable subscriber gets the non-persistent messages sent before its receive call
      Given a topic
      And a non-durable subscriber "busy" on the topic that does not receive yet
      When messages "m1" to "m3" are sent to the topic with delivery mode non-persistent
      And 2 s pass
      And subscriber "busy" starts to receive
      Then "busy" sees "m1" to "m3" exactly once

    Scenario: A new non-durable subscriber does not get a non-persistent message that another subscriber got before
      Given a topic
      And a non-durable subscriber "live" on the topic
      When message "light" is sent to the topic with delivery mode non-persistent
      And a non-durable subscriber "late" subscribes to the topic
      And message "after" is sent to the topic with delivery mode non-persistent
      Then "late" sees "after" exactly once
      And "late" never sees "light"

    @needs-durable-subscription
    Scenario: A new non-durable subscriber does not get a non-persistent message sent while only a durable subscription existed
      Given a topic
      And a durable subscriber "keeper" on the topic
      And subscriber "keeper" is inactive
      When message "light" is sent to the topic with delivery mode non-persistent
      And a non-durable subscriber "late" subscribes to the topic
      And message "after" is sent to the topic with delivery mode non-persistent
      Then "late" sees "after" exactly once
      And "late" never sees "light"

    @kit @needs-selector
    Scenario: A non-durable subscriber to a topic pattern gets the non-persistent messages that it selects; a later subscriber gets none
      Given a non-durable subscriber "live" on topic "sport/+/results" for messages with "colour = 'red'"
      When message "red" is sent to topic "sport/football/results" with delivery mode non-persistent and property colour = "red"
      And message "blue" is sent to topic "sport/football/results" with delivery mode non-persistent and property colour = "blue"
      And a non-durable subscriber "late" subscribes to topic "sport/+/results"
      And message "after" is sent to topic "sport/tennis/results" with delivery mode non-persistent and property colour = "red"
      Then "live" sees "red", "after" exactly once
      And "live" never sees "blue"
      And "late" sees "after" exactly once
      And "late" never sees "red", "blue"

    @evidence @needs-shared-subscription @needs-local-transaction
    Scenario: Non-durable subscribers, shared or not, get a committed non-persistent message; a sharer that returns gets no missed message
      Given a topic
      And subscriber "left" shares non-durable subscription "pair" on the topic
      And subscriber "right" shares non-durable subscription "pair" on the topic
      And a non-durable subscriber "single" on the topic in client mode
      And session "work" in transacted mode
      When message "light" is sent in session "work" to the topic with delivery mode non-persistent
      And session "work" is committed
      Then "left" and "right" together see "light" exactly once
      And "single" sees "light" exactly once
      When subscriber "left" goes away
      And subscriber "right" goes away
      And message "missed" is sent to the topic with delivery mode non-persistent
      And subscriber "right" comes back
      And message "after" is sent to the topic with delivery mode non-persistent
      Then "right" sees "after" exactly once
      And "right" never sees "missed"

  @PD-34 @needs-topic
  Rule: A persistent message to a topic without any subscription is not kept
    Lines 42 to 46.

    Scenario: A non-durable subscriber does not get a message that was sent before any subscription existed
      Given a topic
      When message "unheard" is sent to the topic
      And a non-durable subscriber "late" subscribes to the topic
      And message "after" is sent to the topic
      Then "late" sees "after" exactly once
      And "late" never sees "unheard"

    @needs-durable-subscription @needs-restart
    Scenario: After a restart, a durable subscriber does not get a message that was sent before any subscription existed
      Given a topic
      When message "unheard" is sent to the topic
      And the broker is restarted
      And a durable subscriber "late" subscribes to the topic
      And message "after" is sent to the topic
      Then "late" sees "after" exactly once
      And "late" never sees "unheard"

    @needs-durable-subscription
    Scenario: A durable subscriber does not get a message that was sent before any subscription existed
      Given a topic
      When message "unheard" is sent to the topic
      And a durable subscriber "late" subscribes to the topic
      And message "after" is sent to the topic
      Then "late" sees "after" exactly once
      And "late" never sees "unheard"

    @kit @needs-durable-subscription
    Scenario Outline: A <kind> subscriber to a topic pattern gets no message that was sent before any matching subscription existed
      Given a durable subscriber "aside" on topic "music/#"
      When message "unheard" is sent to topic "sport/football/results"
      And a <kind> subscriber "late" subscribes to topic "sport/#"
      And message "after" is sent to topic "sport/football/results"
      Then "late" sees "after" exactly once
      And "late" never sees "unheard"
      And "aside" never sees "unheard"

      Examples:
        | kind        |
        | durable     |
        | non-durable |

    @evidence @needs-local-transaction
    Scenario: No later subscriber gets messages that a committed unit of work published to a topic without subscriptions
      Given a topic
      And session "work" in transacted mode
      When message "unheard" is sent in session "work" to the topic
      And session "work" is committed
      And message "undone" is sent in session "work" to the topic
      And session "work" is rolled back
      And a non-durable subscriber "late" subscribes to the topic
      And message "after" is sent in session "work" to the topic
      And session "work" is committed
      Then "late" sees "after" exactly once
      And "late" never sees "unheard", "undone"

    @evidence @needs-shared-subscription @needs-durable-subscription
    Scenario: The first subscriber of a shared durable subscription gets no message that was sent before the subscription existed
      Given a topic
      When message "unheard" is sent to the topic
      And subscriber "late" joins shared durable subscription "club" on the topic
      And message "after" is sent to the topic
      Then "late" sees "after" exactly once
      And "late" never sees "unheard"

    @evidence @needs-shared-subscription @needs-selector @needs-local-transaction
    Scenario: Returning non-durable subscribers do not get a message that a unit of work published while all of them were away
      Given a topic
      And subscriber "left" shares non-durable subscription "pair" on the topic
      And subscriber "right" shares non-durable subscription "pair" on the topic
      And a non-durable subscriber "picky" on the topic for messages with "colour = 'red'"
      And a non-durable subscriber "single" on the topic in client mode
      And session "work" in transacted mode
      When subscriber "left" goes away
      And subscriber "right" goes away
      And subscriber "picky" goes away
      And subscriber "single" goes away
      And message "lost" is sent in session "work" to the topic with priority 7 and property colour = "red"
      And session "work" is committed
      And subscriber "left" comes back
      And subscriber "right" comes back
      And subscriber "picky" comes back
      And subscriber "single" comes back
      And message "after" is sent to the topic with property colour = "red"
      Then "left" and "right" together see "after" exactly once
      And "picky" sees "after" exactly once
      And "single" sees "after" exactly once
      And "picky" never sees "lost"
      And "single" never sees "lost"
      And "left" never sees "lost"
      And "right" never sees "lost"
