Feature: A subscription is durable or not, and a queue is one subscription shared by its consumers
  Persistent and durable delivery, lines 11 to 34.

  @PD-10 @needs-topic @needs-durable-subscription
  Rule: A subscription is durable or non-durable; its topic, its messages and queues are neither
    Line 11.  Both kinds exist beside each other on one topic; each behaves as its kind demands, whatever the delivery
    mode.

    Scenario: A durable subscription stores messages that a non-durable subscription to the same topic misses
      Given a topic
      And a non-durable subscriber "passer" on the topic
      And a durable subscriber "keeper" on the topic
      When subscriber "passer" goes away
      And subscriber "keeper" goes away
      And message "missed" is sent to the topic
      And subscriber "keeper" comes back
      Then "keeper" sees "missed" exactly once

    @needs-non-persistent
    Scenario Outline: A <mode> message does not make a non-durable subscription durable
      Given a topic
      And a durable subscriber "keeper" on the topic
      And a non-durable subscriber "passer" on the topic
      When subscriber "keeper" goes away
      And subscriber "passer" goes away
      And message "missed" is sent to the topic with delivery mode <mode>
      And subscriber "passer" comes back
      And message "after" is sent to the topic with delivery mode <mode>
      Then "passer" sees "after" exactly once
      And "passer" never sees "missed"

      Examples:
        | mode           |
        | persistent     |
        | non-persistent |

    @needs-non-persistent
    Scenario: A non-persistent message does not make a durable subscription non-durable
      Given a topic
      And a durable subscriber "keeper" on the topic
      When subscriber "keeper" goes away
      And message "light" is sent to the topic with delivery mode non-persistent
      And message "heavy" is sent to the topic
      And subscriber "keeper" comes back
      Then "keeper" sees "heavy" exactly once

    Scenario: The end of a non-durable subscription does not end a durable subscription
      Given a topic
      And a durable subscriber "keeper" on the topic
      And a non-durable subscriber "passer" on the topic
      When subscriber "passer" goes away
      And message "late" is sent to the topic
      Then "keeper" sees "late" exactly once

    Scenario: A durable subscriber that unsubscribed gets no message that was sent before it comes back
      Given a topic
      And a durable subscriber "keeper" on the topic
      And a durable subscriber "leaver" on the topic
      When subscriber "leaver" unsubscribes
      And message "missed" is sent to the topic
      And subscriber "leaver" comes back
      And message "after" is sent to the topic
      Then "leaver" sees "after" exactly once
      And "leaver" never sees "missed"

    @evidence @needs-shared-subscription
    Scenario: A client can open a shared non-durable subscription while a durable subscription of the same name has a consumer
      Jakarta Messaging 3.1, section 8.3.2: the two subscriptions are completely separate.
      Given a topic
      And subscriber "passer" shares non-durable subscription "club" on the topic
      And subscriber "passer" is inactive
      And subscriber "keeper" shares durable subscription "club" on the topic
      When subscriber "passer" tries to come back
      Then it is accepted

    @evidence @needs-shared-subscription
    Scenario: A shared non-durable subscription gets no messages of an inactive durable subscription of the same name
      Given a topic
      And subscriber "passer" shares non-durable subscription "club" on the topic
      And subscriber "passer" is inactive
      And subscriber "keeper" shares durable subscription "club" on the topic
      And subscriber "keeper" is inactive
      When message "missed" is sent to the topic
      And subscriber "passer" comes back
      And message "after" is sent to the topic
      Then "passer" sees "after" exactly once
      And "passer" never sees "missed"
      When subscriber "passer" goes away
      And subscriber "keeper" comes back
      Then "keeper" sees "missed", "after" exactly once

    @evidence @needs-shared-subscription
    Scenario: A shared durable and a shared non-durable subscription of the same name are separate subscriptions
      Jakarta Messaging 3.1, section 8.3.2: the two subscriptions are completely separate.
      Given a topic
      And subscriber "keeper" shares durable subscription "club" on the topic
      And subscriber "passer" shares non-durable subscription "club" on the topic
      When message "both" is sent to the topic
      Then "keeper" sees "both" exactly once
      And "passer" sees "both" exactly once
      When subscriber "keeper" goes away
      And subscriber "passer" goes away
      And message "missed" is sent to the topic
      And subscriber "keeper" comes back
      And subscriber "passer" comes back
      And message "after" is sent to the topic
      Then "keeper" sees "missed", "after" exactly once
      And "passer" sees "after" exactly once
      And "passer" never sees "missed"

    Scenario: No subscriber gets the messages of a removed durable subscription
      Given a topic
      And a durable subscriber "leaver" on the topic that does not receive yet
      When message "held" is sent to the topic
      And subscriber "leaver" unsubscribes
      And subscriber "leaver" comes back
      And message "after" is sent to the topic
      Then "leaver" sees "after" exactly once
      And "leaver" never sees "held"

    @needs-restart
    Scenario: A durable subscription that is removed after a restart does not exist after the next restart
      Given a topic
      And a durable subscriber "leaver" on the topic
      And subscriber "leaver" is inactive
      When the broker is restarted
      And subscriber "leaver" comes back
      And subscriber "leaver" unsubscribes
      And the broker is restarted
      And message "missed" is sent to the topic
      And subscriber "leaver" comes back
      And message "after" is sent to the topic
      Then "leaver" sees "after" exactly once
      And "leaver" never sees "missed"

    @own-instance @needs-kill
    Scenario: A durable subscription that has been removed does not exist after a kill
      With its own broker, the scenario can have a slow disk; a kill then shows an answer that comes before the write.

      Given a topic
      And a durable subscriber "leaver" on the topic
      When subscriber "leaver" unsubscribes
      And the broker is killed and comes back
      And message "missed" is sent to the topic
      And subscriber "leaver" comes back
      And message "after" is sent to the topic
      Then "leaver" sees "after" exactly once
      And "leaver" never sees "missed"

    @needs-shared-subscription @needs-restart
    Scenario: A shared durable subscription that has been removed does not exist after a restart
      Given a topic
      And subscriber "leaver" shares durable subscription "club" on the topic
      When subscriber "leaver" unsubscribes
      And the broker is restarted
      And message "missed" is sent to the topic
      And subscriber "leaver" comes back
      And message "after" is sent to the topic
      Then "leaver" sees "after" exactly once
      And "leaver" never sees "missed"

    @needs-restart
    Scenario: A durable subscription that has been removed does not exist after a restart
      Given a topic
      And a durable subscriber "leaver" on the topic
      When subscriber "leaver" unsubscribes
      And the broker is restarted
      And message "missed" is sent to the topic
      And subscriber "leaver" comes back
      And message "after" is sent to the topic
      Then "leaver" sees "after" exactly once
      And "leaver" never sees "missed"

    @kit @needs-selector
    Scenario: Of two subscriptions to a topic pattern with the same selector, only the durable one stores messages
      Given a durable subscriber "keeper" on topic "sport/#" for messages with "colour = 'red'"
      And a non-durable subscriber "passer" on topic "sport/#" for messages with "colour = 'red'"
      When subscriber "keeper" goes away
      And subscriber "passer" goes away
      And message "red" is sent to topic "sport/football/results" with property colour = "red"
      And message "blue" is sent to topic "sport/football/results" with property colour = "blue"
      And subscriber "keeper" comes back
      And subscriber "passer" comes back
      And message "after" is sent to topic "sport/tennis" with property colour = "red"
      Then "keeper" sees "red", "after" exactly once
      And "keeper" never sees "blue"
      And "passer" sees "after" exactly once
      And "passer" never sees "red"

    @evidence @needs-local-transaction
    Scenario: A durable subscription stores a message committed in its subscriber's absence; a non-durable subscription does not
      Given a topic
      And a durable subscriber "keeper" on the topic in client mode
      And a non-durable subscriber "passer" on the topic in dups-ok mode
      And session "work" in transacted mode
      When message "undone" is sent in session "work" to the topic
      And session "work" is rolled back
      And message "m1" is sent in session "work" to the topic with priority 7 and property colour = "red"
      And session "work" is committed
      And "keeper" has seen "m1"
      And "passer" has seen "m1"
      And "keeper" acknowledges message "m1"
      And subscriber "keeper" goes away
      And subscriber "passer" goes away
      And message "m2" is sent in session "work" to the topic
      And session "work" is committed
      And subscriber "keeper" comes back
      And subscriber "passer" comes back
      And message "m3" is sent to the topic
      Then "keeper" sees "m1" to "m3" exactly once
      And "passer" sees "m1" and "m3" exactly once
      And "passer" never sees "m2"
      And "keeper" never sees "undone"

  @PD-11 @needs-topic @needs-durable-subscription
  Rule: Open durable and non-durable subscriptions each get a copy of every message
    Line 28.

    @needs-non-persistent
    Scenario Outline: A <kind> subscriber gets each <mode> message once
      Given a topic
      And a durable subscriber "durable" on the topic
      And a non-durable subscriber "non-durable" on the topic
      When messages "m1" to "m3" are sent to the topic with delivery mode <mode>
      Then "<kind>" sees "m1" to "m3" exactly once

      Examples:
        | kind        | mode           |
        | durable     | persistent     |
        | durable     | non-persistent |
        | non-durable | persistent     |
        | non-durable | non-persistent |

    Scenario Outline: A <kind> subscriber gets the publications of its own connection
      Given a topic
      And a <kind> subscriber "speaker" on the topic
      And session "own" in auto mode on connection "speaker"
      When message "said" is sent in session "own" to the topic
      Then "speaker" sees "said" exactly once

      Examples:
        | kind        |
        | durable     |
        | non-durable |

    @evidence @needs-local-transaction @needs-non-persistent
    Scenario Outline: Two subscribers get a <mode> message that is committed after a third subscriber's <part> is <ended>
      Given a topic
      And a non-durable subscriber "gone" on the topic
      And a durable subscriber "durable" on the topic
      And a non-durable subscriber "non-durable" on the topic
      And session "work" in transacted mode
      When message "m1" is sent in session "work" to the topic with delivery mode <mode>
      And the <part> of "gone" is <ended>
      And session "work" is committed
      Then "durable" sees "m1" exactly once
      And "non-durable" sees "m1" exactly once

      Examples:
        | mode           | part       | ended  |
        | persistent     | consumer   | closed |
        | persistent     | connection | lost   |
        | non-persistent | consumer   | closed |
        | non-persistent | connection | closed |

    @evidence @needs-xa
    Scenario Outline: Two subscribers get a message of a branch although a third subscriber is closed <when> the branch is prepared
      Given a topic
      And a non-durable subscriber "gone" on the topic
      And a durable subscriber "durable" on the topic
      And a non-durable subscriber "non-durable" on the topic
      And session "work" in xa mode
      And branch "job" has been started in session "work"
      When message "m1" is sent in session "work" to the topic
      And branch "job" is ended
      And <first>
      And <second>
      And branch "job" is committed
      Then "durable" sees "m1" exactly once
      And "non-durable" sees "m1" exactly once

      Examples:
        | when   | first                            | second                           |
        | before | the consumer of "gone" is closed | branch "job" is prepared         |
        | after  | branch "job" is prepared         | the consumer of "gone" is closed |

    @needs-session
    Scenario: Each of two non-durable subscribers of one session gets a copy of its own
      Given a topic
      And session "both" in auto mode
      And receiver "first" of session "both" on the topic
      And receiver "second" of session "both" on the topic
      When messages "m1" to "m3" are sent to the topic
      Then "first" sees "m1" to "m3" exactly once
      And "second" sees "m1" to "m3" exactly once

    Scenario: Each of two durable subscribers gets a copy of its own
      Given a topic
      And a durable subscriber "first" on the topic
      And a durable subscriber "second" on the topic
      When messages "m1" to "m3" are sent to the topic
      Then "first" sees "m1" to "m3" exactly once
      And "second" sees "m1" to "m3" exactly once

    @kit
    Scenario Outline: A <first> subscriber to <one> and a <second> subscriber to <other> each get a copy
      Given a <first> subscriber "first" on topic "<one>"
      And a <second> subscriber "second" on topic "<other>"
      When messages "m1" to "m3" are sent to topic "sport/football"
      Then "first" sees "m1" to "m3" exactly once
      And "second" sees "m1" to "m3" exactly once

      Examples:
        | first       | one            | second      | other          |
        | durable     | sport/football | durable     | sport/#        |
        | durable     | sport/+        | non-durable | sport/football |
        | non-durable | sport/football | durable     | sport/+        |
        | non-durable | sport/football | non-durable | sport/#        |
        | durable     | sport/+        | non-durable | sport/#        |
        | durable     | sport/#        | durable     | sport/#        |

    @needs-topic-wildcard
    Scenario Outline: After a subscriber to "<ended>" has disconnected, a <kind> subscriber to "<left>" gets a copy
      Given a non-durable subscriber "passer" on topic "<ended>"
      And a <kind> subscriber "stayer" on topic "<left>"
      When subscriber "passer" goes away
      And 1 s pass
      And messages "m1" to "m3" are sent to topic "<topic>"
      Then "stayer" sees "m1" to "m3" exactly once

      Examples:
        | ended           | kind        | left            | topic                  |
        | sport/+         | non-durable | sport/+/results | sport/football/results |
        | sport/+         | durable     | sport/+/results | sport/football/results |
        | sport/+/results | non-durable | sport/+         | sport/football         |

    Scenario: Each of two non-durable subscribers gets a copy of its own
      Given a topic
      And a non-durable subscriber "first" on the topic
      And a non-durable subscriber "second" on the topic
      When messages "m1" to "m3" are sent to the topic
      Then "first" sees "m1" to "m3" exactly once
      And "second" sees "m1" to "m3" exactly once

    @kit @needs-selector
    Scenario Outline: A <kind> subscription to a topic pattern gets the messages that it selects on each matching topic
      Given a <kind> subscriber "wide" on topic "sport/+/results" for messages with "colour = 'red'"
      When message "football" is sent to topic "sport/football/results" with property colour = "red"
      And message "blue" is sent to topic "sport/football/results" with property colour = "blue"
      And message "tennis" is sent to topic "sport/tennis/results" with property colour = "red"
      And message "aside" is sent to topic "sport/tennis/players" with property colour = "red"
      Then "wide" sees "football", "tennis" exactly once
      And "wide" never sees "blue", "aside"

      Examples:
        | kind        |
        | durable     |
        | non-durable |

    @evidence @needs-shared-subscription
    Scenario: Shared and unshared subscriptions, durable and non-durable, each get a copy of a message
      Given a topic
      And subscriber "first" shares durable subscription "club" on the topic
      And subscriber "second" shares durable subscription "club" on the topic
      And subscriber "third" shares non-durable subscription "pair" on the topic
      And subscriber "fourth" shares non-durable subscription "pair" on the topic
      And a durable subscriber "keeper" on the topic
      And a non-durable subscriber "live" on the topic
      When messages "m1" to "m4" are sent to the topic
      Then "first" and "second" together see "m1" to "m4" exactly once
      And "third" and "fourth" together see "m1" to "m4" exactly once
      And "keeper" sees "m1" to "m4" exactly once
      And "live" sees "m1" to "m4" exactly once

    @evidence @needs-local-transaction
    Scenario: A durable and a non-durable subscriber get a unit of work's message after an earlier unit was rolled back
      Given a topic
      And a durable subscriber "keeper" on the topic
      And a non-durable subscriber "live" on the topic
      And session "work" in transacted mode
      When message "undone" is sent in session "work" to the topic
      And session "work" is rolled back
      And message "done" is sent in session "work" to the topic
      And session "work" is committed
      Then "keeper" sees "done" exactly once
      And "live" sees "done" exactly once
      And "keeper" never sees "undone"
      And "live" never sees "undone"

    @evidence @needs-session
    Scenario Outline: A <kind> subscriber with noLocal gets the publications of other connections
      Given a topic
      And a <kind> subscriber "speaker" on the topic that gets no messages of its own connection
      And session "own" in auto mode on connection "speaker"
      When message "said" is sent in session "own" to the topic
      And messages "m1" to "m3" are sent to the topic
      Then "speaker" sees "m1" to "m3" exactly once
      And "speaker" never sees "said"

      Examples:
        | kind        |
        | durable     |
        | non-durable |

    @evidence
    Scenario: When a dups-ok durable subscriber has come back, it and a non-durable subscriber each get the next message
      Given a topic
      And a durable subscriber "durable" on the topic in dups-ok mode
      And a non-durable subscriber "non-durable" on the topic in client mode
      When message "m1" is sent to the topic with priority 7 and property colour = "red"
      And "durable" has seen "m1"
      And 2 s pass
      And subscriber "durable" goes away
      And subscriber "durable" comes back
      And message "m2" is sent to the topic with priority 2 and property colour = "blue"
      Then "durable" sees "m2" exactly once
      And "non-durable" sees "m1" and "m2" exactly once

  @PD-12 @needs-topic
  Rule: Closing the subscriber, or its connection, ends a non-durable subscription
    Lines 20 and 29.  Ended means that the subscription stores no more messages, and that the broker keeps nothing of
    it.  A later subscriber, even of the same client or under the same name, gets no earlier message.  Clients alone
    cannot see what an ended subscription still stores; an administrator can.

    Scenario Outline: A non-durable subscriber whose <part> was <ended> gets no message that was sent before it comes back
      Given a topic
      And a non-durable subscriber "passer" on the topic
      When the <part> of "passer" is <ended>
      And message "missed" is sent to the topic
      And subscriber "passer" comes back
      And message "after" is sent to the topic
      Then "passer" sees "after" exactly once
      And "passer" never sees "missed"

      Examples:
        | part       | ended  |
        | consumer   | closed |
        | connection | closed |
        | connection | lost   |

      @needs-session
      Examples: A session, which not every client has
        | part    | ended  |
        | session | closed |

    @needs-client-id
    Scenario Outline: With a client id, a non-durable subscriber whose <part> was <ended> gets no message sent before it comes back
      Given a topic
      And a non-durable subscriber "passer" of client "traveller" on the topic
      When the <part> of "passer" is <ended>
      And message "missed" is sent to the topic
      And subscriber "passer" comes back
      And message "after" is sent to the topic
      Then "passer" sees "after" exactly once
      And "passer" never sees "missed"

      Examples:
        | part       | ended  |
        | consumer   | closed |
        | connection | closed |

    Scenario Outline: Messages that a non-durable subscriber had not received are gone when its <part> is <ended>
      Given a topic
      And a non-durable subscriber "passer" on the topic that does not receive yet
      When message "untaken" is sent to the topic
      And the <part> of "passer" is <ended>
      And subscriber "passer" comes back
      And message "after" is sent to the topic
      Then "passer" sees "after" exactly once
      And "passer" never sees "untaken"

      Examples:
        | part       | ended  |
        | consumer   | closed |
        | connection | closed |
        | connection | lost   |

    @evidence @needs-session
    Scenario Outline: A <kind> subscription of the classic face stores no message after the subscriber has gone
      Given a topic
      And <subscriber> on the topic
      When subscriber "reader" goes away
      And message "missed" is sent to the topic
      And subscriber "reader" comes back
      And message "control" is sent to the topic
      Then "reader" sees "control" exactly once
      And "reader" never sees "missed"

      Examples:
        | kind        | subscriber                                |
        | non-durable | a classic non-durable subscriber "reader" |

      @needs-shared-subscription
      Examples:
        | kind               | subscriber                                                             |
        | shared non-durable | a classic subscriber "reader" that shares non-durable subscription "c" |

    @evidence @needs-subscription-list
    Scenario Outline: An administrator no longer sees a non-durable subscription whose <part> is <ended>
      Given a topic
      And a non-durable subscriber "passer" on the topic
      When the <part> of "passer" is <ended>
      Then no subscription to the topic remains

      Examples:
        | part       | ended  |
        | consumer   | closed |
        | connection | closed |
        | connection | lost   |

      @needs-session
      Examples:
        | part    | ended  |
        | session | closed |

    @evidence @needs-session @needs-subscription-list
    Scenario Outline: An administrator no longer sees a dups-ok non-durable subscription whose <part> is <ended>
      Given a topic
      And a non-durable subscriber "passer" on the topic in dups-ok mode that does not receive yet
      When message "m1" is sent to the topic
      And "passer" receives a message
      And the <part> of "passer" is <ended>
      Then no subscription to the topic remains

      Examples:
        | part       | ended  |
        | consumer   | closed |
        | connection | closed |

    @evidence @needs-local-transaction @needs-subscription-list
    Scenario Outline: An administrator no longer sees a non-durable subscription whose <part> is <ended> during a unit of work
      Given a topic
      And a non-durable subscriber "passer" on the topic in transacted mode
      When message "untaken" is sent to the topic
      And "passer" has seen "untaken"
      And the <part> of "passer" is <ended>
      Then no subscription to the topic remains

      Examples:
        | part       | ended  |
        | session    | closed |
        | connection | closed |
        | connection | lost   |

    @evidence @needs-subscription-list
    Scenario: An administrator no longer sees a non-durable subscription that ended with an unacknowledged message
      Given a topic
      And a non-durable subscriber "passer" on the topic in client mode
      When message "untaken" is sent to the topic
      And "passer" has seen "untaken"
      And the connection of "passer" is lost
      Then no subscription to the topic remains

    @evidence @needs-session @needs-subscription-list
    Scenario: An administrator no longer sees a closed non-durable subscription after one call has acknowledged its messages
      Given a topic
      And a non-durable subscriber "passer" on the topic in client mode
      When messages "m1" to "m3" are sent to the topic
      And "passer" has seen "m1" to "m3"
      And "passer" acknowledges message "m3"
      And the consumer of "passer" is closed
      Then no subscription to the topic remains

    @evidence @judges-client @needs-session @needs-subscription-list
    Scenario: An administrator no longer sees a non-durable subscription once the message of its closed consumer is acknowledged
      Given a topic
      And a non-durable subscriber "passer" on the topic in client mode
      When message "m1" is sent to the topic
      And "passer" has seen "m1"
      And the consumer of "passer" is closed
      And "passer" acknowledges message "m1"
      Then no subscription to the topic remains

    @evidence @needs-session @needs-local-transaction @needs-subscription-list
    Scenario: An administrator no longer sees a closed non-durable subscription after a commit has acknowledged its messages
      Given a topic
      And session "work" in transacted mode
      And receiver "passer" of session "work" on the topic
      When messages "m1" to "m3" are sent to the topic
      And "passer" receives 3 messages
      And session "work" is committed
      And the consumer of "passer" is closed
      Then no subscription to the topic remains

    @evidence @needs-xa @needs-subscription-list
    Scenario Outline: An administrator no longer sees a non-durable subscription whose connection is <ended> before its branch is <decided>
      Given a topic
      And session "work" in xa mode
      And receiver "passer" of session "work" on the topic
      And branch "b" has been started in session "work"
      When messages "m1" to "m3" are sent to the topic
      And "passer" receives 3 messages
      And branch "b" is ended
      And branch "b" is prepared
      And "passer"'s connection is <ended>
      And branch "b" is <decided>
      Then no subscription to the topic remains

      Examples:
        | ended  | decided     |
        | closed | committed   |
        | lost   | committed   |
        | closed | rolled back |
        | lost   | rolled back |

    @evidence @needs-subscription-list @needs-topic-wildcard
    Scenario Outline: An administrator no longer sees a non-durable subscription to <pattern> whose subscriber has disconnected
      Given a non-durable subscriber "passer" on topic "<pattern>"
      When message "m1" is sent to topic "sport/football/results"
      And "passer" has seen "m1"
      And subscriber "passer" goes away
      Then no subscription to topic "<pattern>" remains

      Examples:
        | pattern         |
        | sport/#         |
        | sport/+/results |

    @evidence @needs-shared-subscription @needs-subscription-list
    Scenario: An administrator no longer sees a shared non-durable subscription after its last sharer has left
      Given a topic
      And subscriber "left" shares non-durable subscription "pair" on the topic
      And subscriber "right" shares non-durable subscription "pair" on the topic
      When subscriber "left" goes away
      And subscriber "right" goes away
      Then no subscription to the topic remains

    @needs-session
    Scenario: Closing one subscriber does not end the subscription of another subscriber of the session
      Given a topic
      And session "both" in auto mode
      And receiver "first" of session "both" on the topic
      And receiver "second" of session "both" on the topic
      When "first" is closed
      And messages "m1" to "m3" are sent to the topic
      Then "second" sees "m1" to "m3" exactly once

    @needs-client-id @needs-durable-subscription
    Scenario Outline: A client's non-durable subscription ends when its <part> is <ended>, even if the client has a durable subscription
      Given a topic
      And subscriber "keeper" with durable subscription "news" of client "ann" on the topic
      And subscriber "keeper" is inactive
      And a non-durable subscriber "passer" of client "ann" on the topic
      When the <part> of "passer" is <ended>
      And message "missed" is sent to the topic
      And subscriber "passer" comes back
      And message "after" is sent to the topic
      Then "passer" sees "after" exactly once
      And "passer" never sees "missed"

      Examples:
        | part       | ended  |
        | connection | closed |
        | connection | lost   |

    @evidence @needs-client-id @needs-durable-subscription @needs-subscription-list
    Scenario Outline: When the <part> of a client's non-durable subscription is <ended>, an administrator sees only the client's durable subscription
      Given a topic
      And subscriber "keeper" with durable subscription "news" of client "ann" on the topic
      And subscriber "keeper" is inactive
      And a non-durable subscriber "passer" of client "ann" on the topic
      When the <part> of "passer" is <ended>
      And 1 s pass
      Then there is 1 subscription to the topic

      Examples:
        | part       | ended  |
        | consumer   | closed |
        | connection | closed |
        | connection | lost   |

    @needs-shared-subscription
    Scenario: A shared non-durable subscription continues while one sharer remains
      Given a topic
      And subscriber "left" shares non-durable subscription "pair" on the topic
      And subscriber "right" shares non-durable subscription "pair" on the topic
      When subscriber "left" goes away
      And messages "m1" to "m3" are sent to the topic
      Then "right" sees "m1" to "m3" exactly once

    @needs-shared-subscription
    Scenario: A shared non-durable subscription ends when its last sharer leaves
      Given a topic
      And subscriber "left" shares non-durable subscription "pair" on the topic
      And subscriber "right" shares non-durable subscription "pair" on the topic
      When subscriber "left" goes away
      And subscriber "right" goes away
      And message "missed" is sent to the topic
      And subscriber "left" comes back
      And message "after" is sent to the topic
      Then "left" sees "after" exactly once
      And "left" never sees "missed"

    @needs-shared-subscription
    Scenario Outline: A shared non-durable subscription ends when the <part> of its last sharer is <ended>
      Given a topic
      And subscriber "left" shares non-durable subscription "pair" on the topic
      And subscriber "right" shares non-durable subscription "pair" on the topic
      When subscriber "left" goes away
      And the <part> of "right" is <ended>
      And 1 s pass
      And message "missed" is sent to the topic
      And subscriber "left" comes back
      And message "after" is sent to the topic
      Then "left" sees "after" exactly once
      And "left" never sees "missed"

      Examples:
        | part       | ended  |
        | consumer   | closed |
        | connection | closed |
        | connection | lost   |

    @kit @needs-selector
    Scenario Outline: A non-durable subscription to a topic pattern ends when its <part> is <ended>
      Given a non-durable subscriber "passer" on topic "sport/#" for messages with "colour = 'red'"
      When the <part> of "passer" is <ended>
      And message "missed" is sent to topic "sport/football/results" with property colour = "red"
      And subscriber "passer" comes back
      And message "after" is sent to topic "sport/football/results" with property colour = "red"
      Then "passer" sees "after" exactly once
      And "passer" never sees "missed"

      Examples:
        | part       | ended  |
        | consumer   | closed |
        | connection | closed |
        | connection | lost   |

    @evidence @needs-shared-subscription @needs-selector
    Scenario: A shared non-durable subscription with a selector ends when its last sharer leaves
      Given a topic
      And subscriber "left" shares non-durable subscription "pair" on the topic for messages with "colour = 'red'"
      When message "blue" is sent to the topic with property colour = "blue"
      And message "red" is sent to the topic with property colour = "red"
      And "left" has seen "red"
      And subscriber "left" goes away
      And 1 s pass
      And message "missed" is sent to the topic with property colour = "red"
      And subscriber "left" comes back
      And message "after" is sent to the topic with property colour = "red"
      Then "left" sees "red", "after" exactly once
      And "left" never sees "blue", "missed"

    @kit
    Scenario Outline: The end of a non-durable subscription to "<ended>" does not end a <kind> subscription to "<left>"
      Given a non-durable subscriber "passer" on topic "<ended>"
      And a <kind> subscriber "stayer" on topic "<left>"
      When the connection of "passer" is closed
      And 1 s pass
      And message "m1" is sent to topic "<topic>"
      Then "stayer" sees "m1" exactly once

      @needs-durable-subscription
      Examples:
        | ended           | kind    | left              | topic                    |
        | sport/+         | durable | sport/+/results   | sport/football/results   |
        | sport/#/results | durable | sport/#           | sport/football/results   |
        | sport/football  | durable | sport/football/+  | sport/football/results   |

      Examples:
        | ended           | kind        | left              | topic                    |
        | sport/#         | non-durable | sport/#/results   | sport/football/results   |
        | sport/+/results | non-durable | sport/+           | sport/football           |
        | sport/+/results | non-durable | sport/+/results/# | sport/football/results/1 |

    @evidence @needs-non-persistent
    Scenario Outline: Non-persistent messages that a non-durable subscriber had not received are gone when its <part> is <ended>
      Given a topic
      And a non-durable subscriber "passer" on the topic that does not receive yet
      When message "untaken" is sent to the topic with delivery mode non-persistent, priority 7 and property colour = "red"
      And the <part> of "passer" is <ended>
      And subscriber "passer" comes back
      And message "after" is sent to the topic with delivery mode non-persistent
      Then "passer" sees "after" exactly once
      And "passer" never sees "untaken"

      Examples:
        | part       | ended  |
        | consumer   | closed |
        | connection | lost   |

  @PD-13 @needs-topic @needs-durable-subscription
  Rule: A durable subscription outlives its subscriber and the connection, and stores messages while it is inactive
    Line 29.

    @evidence @needs-store-error
    Scenario: If the store refuses to remove a durable subscription, the subscription keeps its messages and stores more
      Given a topic
      And a durable subscriber "keeper" on the topic that does not receive yet
      When messages "m1" and "m2" are sent to the topic
      And the broker's store refuses the next write
      And subscriber "keeper" tries to unsubscribe
      And message "m3" is sent to the topic
      And subscriber "keeper" comes back
      Then "keeper" sees "m1" to "m3" at least once

    @evidence @needs-store-error
    Scenario Outline: If the store first refuses a durable subscription and then accepts it, the subscription is there after the broker <event>
      Given a topic
      And a durable subscriber "keeper" on the topic
      When subscriber "keeper" unsubscribes
      And the broker's store refuses the next write
      And subscriber "keeper" tries to come back
      And subscriber "keeper" comes back
      And the broker <event>
      And message "missed" is sent to the topic
      And subscriber "keeper" comes back
      Then "keeper" sees "missed" exactly once

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @evidence @needs-session
    Scenario Outline: A <kind> subscription of the classic face stores messages while the subscriber is inactive
      Given a topic
      And <subscriber> on the topic
      When subscriber "reader" goes away
      And message "m1" is sent to the topic
      And subscriber "reader" comes back
      Then "reader" sees "m1" exactly once

      Examples:
        | kind    | subscriber                            |
        | durable | a classic durable subscriber "reader" |

      @needs-shared-subscription
      Examples:
        | kind           | subscriber                                                         |
        | shared durable | a classic subscriber "reader" that shares durable subscription "c" |

    Scenario: An inactive durable subscription stores many messages
      Given a topic
      And a durable subscriber "keeper" on the topic
      When subscriber "keeper" goes away
      And messages "m1" to "m100" are sent to the topic
      And subscriber "keeper" comes back
      Then "keeper" sees "m1" to "m100" exactly once

    Scenario Outline: A durable subscription whose <part> is <ended> continues to store messages
      Given a topic
      And a durable subscriber "keeper" on the topic
      When the <part> of "keeper" is <ended>
      And messages "m1" to "m3" are sent to the topic
      And subscriber "keeper" comes back
      Then "keeper" sees "m1" to "m3" exactly once

      Examples:
        | part       | ended  |
        | consumer   | closed |
        | session    | closed |
        | connection | closed |
        | connection | lost   |

    Scenario Outline: A returning durable subscriber gets the messages that it had not received when its <part> was <ended>
      Given a topic
      And a durable subscriber "keeper" on the topic that does not receive yet
      When messages "m1" to "m3" are sent to the topic
      And the <part> of "keeper" is <ended>
      And subscriber "keeper" comes back
      Then "keeper" sees "m1" to "m3" exactly once

      Examples:
        | part       | ended  |
        | consumer   | closed |
        | connection | closed |
        | connection | lost   |

    Scenario: A returning durable subscriber gets the messages that waited in the client when its consumer was closed
      Given a topic
      And a durable subscriber "keeper" on the topic that does not receive yet
      When messages "m1" to "m5" are sent to the topic
      And subscriber "keeper" starts to receive and works 1 s on each
      And "keeper" has seen "m1"
      And the consumer of "keeper" is closed
      And subscriber "keeper" comes back
      Then "keeper" sees "m1" to "m5" exactly once

    @needs-local-transaction
    Scenario Outline: Messages that a durable subscriber received and did not commit come again after its <part> was <ended>
      Given a topic
      And a durable subscriber "keeper" on the topic in transacted mode
      When messages "m1" to "m3" are sent to the topic
      And "keeper" has seen "m1" to "m3"
      And the <part> of "keeper" is <ended>
      And subscriber "keeper" comes back
      Then "keeper" sees "m1" to "m3" again

      Examples:
        | part       | ended  |
        | session    | closed |
        | connection | closed |
        | connection | lost   |

    Scenario Outline: Messages that a durable subscriber received and did not acknowledge come again after its <part> was <ended>
      Given a topic
      And a durable subscriber "keeper" on the topic in client mode
      When messages "m1" to "m3" are sent to the topic
      And "keeper" has seen "m1" to "m3"
      And the <part> of "keeper" is <ended>
      And subscriber "keeper" comes back
      Then "keeper" sees "m1" to "m3" again

      Examples:
        | part       | ended  |
        | session    | closed |
        | connection | closed |
        | connection | lost   |

    @needs-shared-subscription
    Scenario: A shared durable subscription continues to store messages when its last sharer has left
      Given a topic
      And subscriber "left" shares durable subscription "club" on the topic
      And subscriber "right" shares durable subscription "club" on the topic
      When subscriber "left" goes away
      And subscriber "right" goes away
      And messages "m1" to "m4" are sent to the topic
      And subscriber "right" comes back
      Then "right" sees "m1" to "m4" exactly once

    Scenario: A durable subscription stores messages while its subscriber has not acknowledged an earlier message
      Given a topic
      And a durable subscriber "keeper" on the topic in client mode
      When message "first" is sent to the topic
      And "keeper" has seen "first"
      And messages "m1" to "m3" are sent to the topic
      And the connection of "keeper" is lost
      And messages "m4" to "m5" are sent to the topic
      And subscriber "keeper" comes back
      Then "keeper" sees "m4" to "m5" exactly once
      And "keeper" sees "first" again

    Scenario: A durable subscription stores messages through several absences of its subscriber
      Given a topic
      And a durable subscriber "keeper" on the topic
      When subscriber "keeper" goes away
      And message "first" is sent to the topic
      And subscriber "keeper" comes back
      Then "keeper" sees "first" exactly once
      When subscriber "keeper" goes away
      And message "second" is sent to the topic
      And subscriber "keeper" comes back
      Then "keeper" sees "second" exactly once

    @kit @needs-selector
    Scenario: A durable subscription to a topic pattern stores the messages that it selects on each matching topic
      Given a durable subscriber "keeper" on topic "sport/#" for messages with "colour = 'red'"
      When subscriber "keeper" goes away
      And message "football" is sent to topic "sport/football/results" with property colour = "red"
      And message "blue" is sent to topic "sport/football/results" with property colour = "blue"
      And message "tennis" is sent to topic "sport/tennis" with property colour = "red"
      And message "aside" is sent to topic "music/jazz" with property colour = "red"
      And subscriber "keeper" comes back
      Then "keeper" sees "football", "tennis" exactly once
      And "keeper" never sees "blue", "aside"

    @evidence @needs-local-transaction
    Scenario: A durable subscription stores the messages of a committed unit of work, and none of a rolled-back unit of work
      Given a topic
      And a durable subscriber "keeper" on the topic
      And session "work" in transacted mode
      When subscriber "keeper" goes away
      And message "undone" is sent in session "work" to the topic
      And session "work" is rolled back
      And message "m1" is sent in session "work" to the topic
      And message "m2" is sent in session "work" to the topic
      And session "work" is committed
      And subscriber "keeper" comes back
      Then "keeper" sees "m1", "m2" exactly once
      And "keeper" never sees "undone"

    @evidence @needs-shared-subscription @needs-selector
    Scenario: A shared durable subscription with a selector stores messages when its last sharer has left
      Given a topic
      And subscriber "left" shares durable subscription "club" on the topic for messages with "colour = 'red'"
      When subscriber "left" goes away
      And messages "m1" to "m3" are sent to the topic with property colour = "red"
      And message "blue" is sent to the topic with property colour = "blue"
      And subscriber "left" comes back
      Then "left" sees "m1" to "m3" exactly once
      And "left" never sees "blue"

    @evidence @needs-xa
    Scenario: A durable subscription stores the messages of a branch that is committed while the subscription is inactive
      Given a topic
      And a durable subscriber "keeper" on the topic
      And session "far" in xa mode
      And branch "job" has been started in session "far"
      When message "m1" is sent in session "far" to the topic with priority 7 and property colour = "red"
      And branch "job" is ended
      And branch "job" is prepared
      And subscriber "keeper" goes away
      And branch "job" is committed
      And subscriber "keeper" comes back
      Then "keeper" sees "m1" exactly once

  @PD-14 @needs-topic
  Rule: A new non-durable subscriber receives only messages that are sent after its subscription
    Line 31.

    Scenario: The first subscriber to a topic does not get a message that was sent before the subscription
      Given a topic
      When message "before" is sent to the topic
      And a non-durable subscriber "first" subscribes to the topic
      And message "after" is sent to the topic
      Then "first" sees "after" exactly once
      And "first" never sees "before"

    @needs-client-id
    Scenario Outline: A client's second non-durable subscriber gets no message that was sent before its own subscription
      Given a topic
      And a non-durable subscriber "first" of client "traveller" on the topic
      When message "during" is sent to the topic
      And subscriber "first" goes away
      And message "between" is sent to the topic
      And a non-durable subscriber "second" of client "traveller" subscribes to the topic
      And message "after" is sent to the topic
      Then "second" sees "after" exactly once
      And "second" never sees "<when>"

      Examples:
        | when    |
        | during  |
        | between |

    Scenario: A later subscriber gets no message that was sent for an earlier subscriber
      Given a topic
      And a non-durable subscriber "early" on the topic
      When message "before" is sent to the topic
      And a non-durable subscriber "late" subscribes to the topic
      And message "after" is sent to the topic
      Then "late" sees "after" exactly once
      And "late" never sees "before"
      And "early" sees "before", "after" exactly once

    @evidence @needs-durable-subscription @needs-delivery-delay
    Scenario Outline: After the broker <event>, a new subscriber gets no delayed message for a removed subscription to another topic
      Given a topic "one"
      And a topic "two"
      And a durable subscriber "early" on topic "one"
      When message "delayed" is sent to topic "one" with a delivery delay of 20 s
      And subscriber "early" unsubscribes
      And the broker <event>
      And a non-durable subscriber "late" subscribes to topic "two"
      And "delayed" is overdue
      And message "after" is sent to topic "two"
      Then "late" sees "after" exactly once
      And "late" never sees "delayed"

      @needs-restart
      Examples:
        | event        |
        | is restarted |

      @needs-kill
      Examples:
        | event                    |
        | is killed and comes back |

    @kit @needs-selector
    Scenario: A new subscriber to a topic pattern gets no earlier message
      Given a non-durable subscriber "early" on topic "sport/#" for messages with "colour = 'red'"
      When message "before" is sent to topic "sport/football/results" with property colour = "red"
      And a non-durable subscriber "late" subscribes to topic "sport/#"
      And message "after" is sent to topic "sport/football/results" with property colour = "red"
      Then "late" sees "after" exactly once
      And "late" never sees "before"
      And "early" sees "before", "after" exactly once

    @evidence @needs-local-transaction
    Scenario: A subscriber gets no message of a unit of work that was rolled back before the subscription
      Given a topic
      And session "work" in transacted mode
      When message "undone" is sent in session "work" to the topic
      And session "work" is rolled back
      And a non-durable subscriber "late" subscribes to the topic
      And message "after" is sent to the topic
      Then "late" sees "after" exactly once
      And "late" never sees "undone"

    @evidence @needs-local-transaction @needs-shared-subscription @needs-non-persistent
    Scenario: Returning non-durable subscribers get no message of a unit of work that was committed while they were away
      Given a topic
      And subscriber "left" shares non-durable subscription "pair" on the topic
      And subscriber "right" shares non-durable subscription "pair" on the topic
      And a non-durable subscriber "single" on the topic in client mode
      And session "work" in transacted mode
      When subscriber "left" goes away
      And subscriber "right" goes away
      And subscriber "single" goes away
      And message "before" is sent in session "work" to the topic with delivery mode non-persistent, priority 7 and property colour = "red"
      And session "work" is committed
      And subscriber "left" comes back
      And subscriber "right" comes back
      And subscriber "single" comes back
      And message "after" is sent to the topic
      Then "left" and "right" together see "after" exactly once
      And "single" sees "after" exactly once
      And "left" never sees "before"
      And "right" never sees "before"
      And "single" never sees "before"

  @PD-15 @needs-topic @needs-durable-subscription
  Rule: A subscriber with the same client id and subscription name opens the durable subscription again, and gets the missed messages in order
    Line 32; Jakarta Messaging 3.1, section 6.2.9, demands the order.

    @evidence @needs-retained-publication
    Scenario: A durable subscriber that opens its subscription again does not get a retained message again
      Given a topic
      And a durable subscriber "keeper" on the topic
      When message "fixed" is sent to the topic with the retain option
      And "keeper" has seen "fixed"
      And the consumer of "keeper" is closed
      And subscriber "keeper" comes back
      And message "after" is sent to the topic
      Then "keeper" sees "after" exactly once
      And "keeper" sees "fixed" exactly once

    @needs-restart
    Scenario: Stored messages also come in order after a restart
      Given a topic
      And subscriber "first" with durable subscription "news" of client "reader" on the topic
      And subscriber "first" is inactive
      When messages "m1" to "m5" are sent to the topic
      And the broker is restarted
      And subscriber "second" opens durable subscription "news" of client "reader" on the topic
      Then "second" sees "m1" to "m5" in that order
      And "second" sees "m1" to "m5" exactly once

    @kit @needs-restart
    Scenario Outline: Subscription "<subscription>" of client "<client>" to topic "<topic>" can be opened again after a restart
      Given subscriber "keeper" with durable subscription "<subscription>" of client "<client>" on topic "<topic>"
      And subscriber "keeper" is inactive
      When message "m1" is sent to topic "<topic>"
      And the broker is restarted
      And message "m2" is sent to topic "<topic>"
      And subscriber "keeper" comes back
      Then "keeper" sees "m1" to "m2" exactly once

      Examples:
        | subscription | client  | topic         |
        | größe        | ann     | news          |
        | news         | ännchen | news          |
        | news         | ann     | straße/zürich |

    @evidence @judges-client
    Scenario Outline: A durable subscription in <mode> mode can be opened again when only its consumer is closed
      Given a topic
      And a durable subscriber "keeper" on the topic in <mode> mode
      When messages "m1" to "m3" are sent to the topic
      And "keeper" has seen "m1" to "m3"
      And 1 s pass
      And the consumer of "keeper" is closed
      And subscriber "keeper" tries to come back
      Then it is accepted

      Examples:
        | mode    |
        | auto    |
        | dups-ok |

    @evidence @judges-client
    Scenario: A durable subscription can be opened again once the message of its closed consumer is acknowledged
      Given a topic
      And a durable subscriber "keeper" on the topic in client mode
      When message "m1" is sent to the topic
      And "keeper" has seen "m1"
      And the consumer of "keeper" is closed
      And "keeper" acknowledges message "m1"
      And 1 s pass
      And subscriber "keeper" tries to come back
      Then it is accepted

    @evidence @judges-client
    Scenario: A durable subscription can be opened again after one call has acknowledged its messages and its consumer is closed
      Given a topic
      And a durable subscriber "keeper" on the topic in client mode
      When messages "m1" to "m3" are sent to the topic
      And "keeper" has seen "m1" to "m3"
      And "keeper" acknowledges message "m3"
      And 1 s pass
      And the consumer of "keeper" is closed
      And subscriber "keeper" tries to come back
      Then it is accepted

    Scenario: A durable subscription that is opened again delivers each stored message once
      Given a topic
      And subscriber "first" with durable subscription "news" of client "reader" on the topic
      And subscriber "first" is inactive
      When messages "m1" to "m5" are sent to the topic
      And subscriber "second" opens durable subscription "news" of client "reader" on the topic
      Then "second" sees "m1" to "m5" exactly once

    Scenario: Stored messages come in the order in which they were sent
      Given a topic
      And subscriber "first" with durable subscription "news" of client "reader" on the topic
      And subscriber "first" is inactive
      When messages "m1" to "m5" are sent to the topic
      And subscriber "second" opens durable subscription "news" of client "reader" on the topic
      Then "second" sees "m1" to "m5" in that order
      And "second" sees "m1" to "m5" exactly once

    Scenario: Messages that are sent after a durable subscription is opened again come after the stored messages
      Given a topic
      And subscriber "first" with durable subscription "news" of client "reader" on the topic
      And subscriber "first" is inactive
      When messages "missed1" to "missed3" are sent to the topic
      And subscriber "second" opens durable subscription "news" of client "reader" on the topic
      And message "new" is sent to the topic
      Then "second" sees "missed1", "missed2", "missed3", "new" in that order
      And "second" sees "missed1", "missed2", "missed3", "new" exactly once

    @kit
    Scenario: Messages that were received and not acknowledged come before the stored messages
      Given a topic
      And subscriber "first" with durable subscription "news" of client "reader" on the topic in client mode
      When messages "m1" to "m3" are sent to the topic
      And "first" has seen "m1" to "m3"
      And subscriber "first" goes away
      And messages "m4" to "m6" are sent to the topic
      And subscriber "second" opens durable subscription "news" of client "reader" on the topic
      Then "second" sees "m1" to "m6" in that order
      And "second" sees "m1" to "m6" exactly once

    Scenario: A durable subscription can be opened a third time, with the messages stored since the second time
      Given a topic
      And subscriber "first" with durable subscription "news" of client "reader" on the topic
      And subscriber "first" is inactive
      When messages "m1" to "m2" are sent to the topic
      And subscriber "second" opens durable subscription "news" of client "reader" on the topic
      Then "second" sees "m1" to "m2" exactly once
      When subscriber "second" goes away
      And messages "m3" to "m4" are sent to the topic
      And subscriber "third" opens durable subscription "news" of client "reader" on the topic
      Then "third" sees "m3" to "m4" exactly once
      And "third" sees "m3" to "m4" in that order
      And "third" never sees "m1" to "m2"

    Scenario: A durable subscription that is opened again does not deliver received messages again
      Given a topic
      And subscriber "first" with durable subscription "news" of client "reader" on the topic
      When message "old" is sent to the topic
      Then "first" sees "old" exactly once
      When subscriber "first" goes away
      And message "missed" is sent to the topic
      And subscriber "second" opens durable subscription "news" of client "reader" on the topic
      Then "second" sees "missed" exactly once
      And "second" never sees "old"

    @kit @needs-selector
    Scenario: A durable subscription that is opened with another selector gets the messages that the new selector selects
      The new selector ends the subscription and creates another (Jakarta Messaging 3.1, section 8.3.3).

      Given subscriber "first" with durable subscription "news" of client "reader" on topic "sport" for messages with "colour = 'red'"
      And subscriber "first" is inactive
      When subscriber "second" opens durable subscription "news" of client "reader" on topic "sport" for messages with "colour = 'blue'"
      And message "red" is sent to topic "sport" with property colour = "red"
      And message "blue" is sent to topic "sport" with property colour = "blue"
      Then "second" sees "blue" exactly once
      And "second" never sees "red"

    @kit @needs-selector @needs-restart @needs-topic-wildcard
    Scenario Outline: A reopened subscription to a topic pattern has the messages that it selects, in order, after the broker <event>
      Given subscriber "first" with durable subscription "news" of client "reader" on topic "sport/#" for messages with "colour = 'red'"
      And subscriber "first" is inactive
      When message "m1" is sent to topic "sport/football/results" with property colour = "red"
      And message "blue" is sent to topic "sport/football/results" with property colour = "blue"
      And message "m2" is sent to topic "sport/tennis" with property colour = "red"
      And the broker <event>
      And message "m3" is sent to topic "sport/football/results" with property colour = "red"
      And subscriber "second" opens durable subscription "news" of client "reader" on topic "sport/#" for messages with "colour = 'red'"
      Then "second" sees "m1", "m2", "m3" in that order
      And "second" sees "m1", "m2", "m3" exactly once
      And "second" never sees "blue"

      Examples:
        | event        |
        | is restarted |

    Scenario Outline: A durable subscription can be opened again once its <part> is closed
      Given a topic
      And a durable subscriber "keeper" on the topic
      When the <part> of "keeper" is closed
      And subscriber "keeper" tries to come back
      Then it is accepted

      Examples:
        | part       |
        | consumer   |
        | session    |
        | connection |

    @kit @needs-admin
    Scenario: A durable subscription that the topic refused once can be opened again on the same connection
      Given a topic with SUB(ENABLED)
      And a durable subscriber "keeper" on the topic
      When the consumer of "keeper" is closed
      And message "missed" is sent to the topic
      And the topic is altered to SUB(DISABLED)
      And subscriber "keeper" tries to come back
      And the topic is altered to SUB(ENABLED)
      And subscriber "keeper" tries to come back
      Then it is accepted
      When subscriber "keeper" starts to receive
      Then "keeper" sees "missed" exactly once

    @evidence @needs-admin
    Scenario: A durable subscription that the topic refused once can be opened again on a new connection
      Given a topic with SUB(ENABLED)
      And a durable subscriber "keeper" on the topic
      When the connection of "keeper" is closed
      And message "missed" is sent to the topic
      And the topic is altered to SUB(DISABLED)
      And subscriber "keeper" tries to come back
      And the connection of "keeper" is closed
      And the topic is altered to SUB(ENABLED)
      And subscriber "keeper" tries to come back
      Then it is accepted
      When subscriber "keeper" starts to receive
      Then "keeper" sees "missed" exactly once

    @kit @needs-admin @needs-shared-subscription
    Scenario: A shared durable subscription that the topic refused once can be opened again on the same connection
      Given a topic with SUB(ENABLED)
      And subscriber "member" shares durable subscription "club" on the topic
      When the consumer of "member" is closed
      And the topic is altered to SUB(DISABLED)
      And subscriber "member" tries to come back
      And the topic is altered to SUB(ENABLED)
      And subscriber "member" tries to come back
      Then it is accepted

    @needs-shared-subscription
    Scenario Outline: A shared durable subscription can be opened again once its <part> is closed
      Given a topic
      And subscriber "member" shares durable subscription "club" on the topic
      When the <part> of "member" is closed
      And subscriber "member" tries to come back
      Then it is accepted

      Examples:
        | part       |
        | consumer   |
        | session    |
        | connection |

    @evidence @needs-kill @needs-local-transaction @needs-client-id
    Scenario: Stored messages of units of work also come in order after a kill
      Given a topic
      And subscriber "first" with durable subscription "news" of client "reader" on the topic
      And subscriber "first" is inactive
      And session "work" in transacted mode
      When message "undone" is sent in session "work" to the topic
      And session "work" is rolled back
      And message "m1" is sent in session "work" to the topic with correlation id "c1" and property colour = "red"
      And session "work" is committed
      And message "m2" is sent in session "work" to the topic
      And session "work" is committed
      And message "m3" is sent to the topic
      And the broker is killed and comes back
      And subscriber "second" opens durable subscription "news" of client "reader" on the topic
      Then "second" sees "m1" to "m3" in that order
      And "second" sees "m1" to "m3" exactly once
      And "second" never sees "undone"

    @evidence @needs-shared-subscription
    Scenario: When two sharers open their durable subscription again, each stored message goes to one of them
      Given a topic
      And subscriber "left" shares durable subscription "club" on the topic
      And subscriber "right" shares durable subscription "club" on the topic
      And subscriber "left" is inactive
      And subscriber "right" is inactive
      When messages "m1" to "m4" are sent to the topic
      And subscriber "left" comes back
      And subscriber "right" comes back
      Then "left" and "right" together see "m1" to "m4" exactly once

  @PD-16 @needs-topic @needs-durable-subscription
  Rule: Client id and name together identify a durable subscription
    Line 33: the same name under another client id is another subscription, with copies of its own.

    @kit
    Scenario: Subscription names that differ only in case identify two subscriptions
      Given a topic
      And subscriber "upper" with durable subscription "News" of client "ann" on the topic
      And subscriber "upper" is inactive
      And subscriber "lower" with durable subscription "news" of client "ann" on the topic
      And subscriber "lower" is inactive
      When message "both" is sent to the topic
      And subscriber "upper" comes back
      Then "upper" sees "both" exactly once
      When subscriber "upper" goes away
      And subscriber "lower" comes back
      Then "lower" sees "both" exactly once

    @kit
    Scenario: Clients whose ids differ only in case have separate subscriptions
      Given a topic
      And subscriber "upper" with durable subscription "news" of client "Ann" on the topic
      And subscriber "upper" is inactive
      And subscriber "lower" with durable subscription "news" of client "ann" on the topic
      And subscriber "lower" is inactive
      When message "both" is sent to the topic
      And subscriber "upper" comes back
      Then "upper" sees "both" exactly once
      When subscriber "upper" goes away
      And subscriber "lower" comes back
      Then "lower" sees "both" exactly once

    @kit
    Scenario: Removing a subscription does not remove a subscription of the same name whose client id differs only in case
      Given a topic
      And subscriber "upper" with durable subscription "news" of client "Ann" on the topic
      And subscriber "upper" is inactive
      And subscriber "lower" with durable subscription "news" of client "ann" on the topic
      When message "missed" is sent to the topic
      And subscriber "lower" unsubscribes
      And subscriber "upper" comes back
      Then "upper" sees "missed" exactly once

    Scenario Outline: Two subscriptions each get a copy even if client id and name, joined with "<sign>", form the same text
      Given a topic
      And subscriber "short" of client "ann" on the topic, with a durable subscription named exactly "club<sign>news"
      And subscriber "short" is inactive
      And subscriber "long" of client "ann<sign>club" on the topic, with a durable subscription named exactly "news"
      And subscriber "long" is inactive
      When message "both" is sent to the topic
      And subscriber "short" comes back
      Then "short" sees "both" exactly once
      When subscriber "short" goes away
      And subscriber "long" comes back
      Then "long" sees "both" exactly once

      Examples:
        | sign |
        | :    |

    Scenario: Two active clients with subscriptions of the same name each get a copy
      Given a topic
      And subscriber "ann" with durable subscription "news" of client "ann" on the topic
      And subscriber "ben" with durable subscription "news" of client "ben" on the topic
      When messages "m1" to "m3" are sent to the topic
      Then "ann" sees "m1" to "m3" exactly once
      And "ben" sees "m1" to "m3" exactly once

    Scenario: Two inactive clients with subscriptions of the same name each get a copy when they return
      Given a topic
      And subscriber "ann" with durable subscription "news" of client "ann" on the topic
      And subscriber "ben" with durable subscription "news" of client "ben" on the topic
      And subscriber "ann" is inactive
      And subscriber "ben" is inactive
      When messages "m1" to "m3" are sent to the topic
      And subscriber "ann" comes back
      And subscriber "ben" comes back
      Then "ann" sees "m1" to "m3" exactly once
      And "ben" sees "m1" to "m3" exactly once

    Scenario: A client that opens a subscription by name does not get another client's subscription of this name
      Given a topic
      And subscriber "ann" with durable subscription "news" of client "ann" on the topic
      And subscriber "ann" is inactive
      When message "for ann" is sent to the topic
      And subscriber "ben" opens durable subscription "news" of client "ben" on the topic
      And message "for both" is sent to the topic
      Then "ben" sees "for both" exactly once
      And "ben" never sees "for ann"

    @needs-restart
    Scenario: Two inactive clients with subscriptions of the same name each get a copy after a restart
      Given a topic
      And subscriber "ann" with durable subscription "news" of client "ann" on the topic
      And subscriber "ben" with durable subscription "news" of client "ben" on the topic
      And subscriber "ann" is inactive
      And subscriber "ben" is inactive
      When message "before" is sent to the topic
      And the broker is restarted
      And message "after" is sent to the topic
      And subscriber "ann" comes back
      And subscriber "ben" comes back
      Then "ann" sees "before", "after" exactly once
      And "ben" sees "before", "after" exactly once

    Scenario Outline: After the broker <event>, a client that opens a subscription by name does not get another client's subscription
      Given a topic
      And subscriber "ann" with durable subscription "news" of client "ann" on the topic
      And subscriber "ann" is inactive
      When message "for ann" is sent to the topic
      And the broker <event>
      And subscriber "ben" opens durable subscription "news" of client "ben" on the topic
      And message "for both" is sent to the topic
      And subscriber "ann" comes back
      Then "ben" sees "for both" exactly once
      And "ben" never sees "for ann"
      And "ann" sees "for ann", "for both" exactly once

      @needs-restart
      Examples:
        | event        |
        | is restarted |

      @needs-kill
      Examples:
        | event                    |
        | is killed and comes back |

    Scenario: Removing a subscription does not remove the messages of another client's inactive subscription of the same name
      Given a topic
      And subscriber "ann" with durable subscription "news" of client "ann" on the topic
      And subscriber "ben" with durable subscription "news" of client "ben" on the topic
      And subscriber "ann" is inactive
      When message "missed" is sent to the topic
      And subscriber "ben" unsubscribes
      And subscriber "ann" comes back
      Then "ann" sees "missed" exactly once

    @evidence @needs-store-error
    Scenario: If the store refuses to remove a subscription, this subscription and another client's subscription of the same name remain
      Given a topic
      And subscriber "ann" with durable subscription "news" of client "ann" on the topic
      And subscriber "ben" with durable subscription "news" of client "ben" on the topic
      And subscriber "ann" is inactive
      When the broker's store refuses the next write
      And subscriber "ben" tries to unsubscribe
      And message "late" is sent to the topic
      And subscriber "ann" comes back
      And subscriber "ben" comes back
      Then "ann" sees "late" exactly once
      And "ben" sees "late" exactly once

    Scenario: Removing a subscription does not remove another client's subscription of the same name
      Given a topic
      And subscriber "ann" with durable subscription "news" of client "ann" on the topic
      And subscriber "ben" with durable subscription "news" of client "ben" on the topic
      And subscriber "ann" is inactive
      When subscriber "ben" unsubscribes
      And message "late" is sent to the topic
      And subscriber "ann" comes back
      Then "ann" sees "late" exactly once

    Scenario: Removing a subscription a second time does not remove another client's subscription of the same name
      Given a topic
      And subscriber "ann" with durable subscription "news" of client "ann" on the topic
      And subscriber "ben" with durable subscription "news" of client "ben" on the topic
      And subscriber "ann" is inactive
      When message "missed" is sent to the topic
      And subscriber "ben" unsubscribes
      And subscriber "ben" tries to unsubscribe
      And message "late" is sent to the topic
      And subscriber "ann" comes back
      Then "ann" sees "missed", "late" exactly once

    @needs-shared-subscription @needs-client-id
    Scenario: Two clients with shared subscriptions of the same name each get a copy
      Given a topic
      And subscriber "ann" of client "ann" shares durable subscription "news" on the topic
      And subscriber "ben" of client "ben" shares durable subscription "news" on the topic
      When messages "m1" to "m3" are sent to the topic
      Then "ann" sees "m1" to "m3" exactly once
      And "ben" sees "m1" to "m3" exactly once

    @needs-shared-subscription @needs-client-id
    Scenario: A client can open its shared subscription again while another client uses a subscription of the same name
      Given a topic
      And subscriber "ben" of client "ben" shares durable subscription "news" on the topic
      And subscriber "ben" is inactive
      And subscriber "ann" of client "ann" shares durable subscription "news" on the topic
      When subscriber "ben" tries to come back
      Then it is accepted

    @needs-shared-subscription @needs-client-id
    Scenario: Two inactive clients with shared subscriptions of the same name each get a copy when they return
      Given a topic
      And subscriber "ann" of client "ann" shares durable subscription "news" on the topic
      And subscriber "ben" of client "ben" shares durable subscription "news" on the topic
      And subscriber "ann" is inactive
      And subscriber "ben" is inactive
      When messages "m1" to "m3" are sent to the topic
      And subscriber "ann" comes back
      Then "ann" sees "m1" to "m3" exactly once
      When subscriber "ben" comes back
      Then "ben" sees "m1" to "m3" exactly once

    @needs-shared-subscription @needs-client-id
    Scenario: Shared subscriptions of the same name with and without a client id are two subscriptions
      Given a topic
      And subscriber "ann" of client "ann" shares durable subscription "news" on the topic
      And subscriber "anybody" shares durable subscription "news" on the topic
      And subscriber "ann" is inactive
      And subscriber "anybody" is inactive
      When messages "m1" to "m3" are sent to the topic
      And subscriber "ann" comes back
      And subscriber "anybody" comes back
      Then "ann" sees "m1" to "m3" exactly once
      And "anybody" sees "m1" to "m3" exactly once

    @needs-shared-subscription @needs-client-id
    Scenario: Removing a client's shared subscription does not remove the same-named subscription without a client id
      Given a topic
      And subscriber "ann" of client "ann" shares durable subscription "news" on the topic
      And subscriber "anybody" shares durable subscription "news" on the topic
      And subscriber "anybody" is inactive
      When message "before" is sent to the topic
      And "ann" has seen "before"
      And subscriber "ann" unsubscribes
      And message "missed" is sent to the topic
      And subscriber "ann" comes back
      And subscriber "anybody" comes back
      And message "after" is sent to the topic
      Then "anybody" sees "before", "missed" and "after" exactly once
      And "ann" sees "after" exactly once
      And "ann" never sees "missed"

    @needs-shared-subscription @needs-client-id
    Scenario: Removing a client's shared subscription a second time does not remove the same-named subscription without a client id
      Given a topic
      And subscriber "ann" of client "ann" shares durable subscription "news" on the topic
      And subscriber "anybody" shares durable subscription "news" on the topic
      And subscriber "anybody" is inactive
      When message "before" is sent to the topic
      And subscriber "ann" unsubscribes
      And subscriber "ann" tries to unsubscribe
      And message "after" is sent to the topic
      And subscriber "anybody" comes back
      Then "anybody" sees "before" and "after" exactly once

    Scenario: Removing a subscription does not remove another client's active subscription of the same name
      Given a topic
      And subscriber "ann" with durable subscription "news" of client "ann" on the topic
      And subscriber "ben" with durable subscription "news" of client "ben" on the topic
      When subscriber "ben" tries to unsubscribe
      Then it is accepted
      When message "late" is sent to the topic
      Then "ann" sees "late" exactly once

    Scenario: Two subscription names of one client identify two subscriptions
      Given a topic
      And subscriber "morning" with durable subscription "morning" of client "ann" on the topic
      And subscriber "morning" is inactive
      And subscriber "evening" with durable subscription "evening" of client "ann" on the topic
      And subscriber "evening" is inactive
      When message "news" is sent to the topic
      And subscriber "morning" comes back
      Then "morning" sees "news" exactly once
      When subscriber "morning" goes away
      And subscriber "evening" comes back
      Then "evening" sees "news" exactly once

    @evidence @needs-client-id @needs-selector @needs-topic-wildcard @needs-non-persistent @needs-local-transaction
    Scenario: Active clients with subscriptions of the same name each get only the committed messages that they select
      Given subscriber "one" with durable subscription "news" of client "ann" on topic "sport/#" for messages with "colour = 'red'"
      And subscriber "two" with durable subscription "news" of client "bob" on topic "sport/#" for messages with "colour = 'blue'"
      And subscriber "three" with durable subscription "news" of client "carl" on topic "sport/results" in client mode
      And session "work" in transacted mode
      When message "undone" is sent in session "work" to topic "sport/results" with property colour = "red"
      And session "work" is rolled back
      And message "red" is sent in session "work" to topic "sport/results" with delivery mode non-persistent and property colour = "red"
      And session "work" is committed
      And message "blue" is sent in session "work" to topic "sport/results" with priority 7 and property colour = "blue"
      And session "work" is committed
      Then "one" sees "red" exactly once
      And "two" sees "blue" exactly once
      And "three" sees "red" and "blue" exactly once
      And "one" never sees "blue"
      And "two" never sees "red"
      And "one" never sees "undone"

  @PD-17 @needs-topic @needs-durable-subscription
  Rule: An unshared durable subscription needs a client id, and no second connection gets a client id in use
    Jakarta Messaging 3.1, sections 8.3.3 and 6.1.2.  A shared durable subscription needs no client id.  The second
    connection with a client id in use is refused, or waits until the first one has ended; a client that stops waiting
    counts as refused.

    Scenario Outline: A <style> client without a client id gets no unshared durable subscription
      Given a topic
      When a <style> client opens durable subscription "news" on the topic without a client id
      Then it is refused as an illegal state error

      Examples:
        | style      |
        | classic    |
        | simplified |

    @kit @judges-broker @needs-checks-off @needs-nameless-connection
    Scenario: The broker itself refuses a durable subscription that has no client id
      Given a topic
      And the client's own checks are switched off
      When a durable subscription "news" is opened on the topic without a client id
      Then it is refused

    @needs-shared-subscription
    Scenario Outline: A <style> client without a client id gets a shared durable subscription
      Given a topic
      When a <style> client opens shared durable subscription "club" on the topic without a client id
      Then it is accepted

      Examples:
        | style      |
        | classic    |
        | simplified |

    @needs-shared-subscription
    Scenario: A shared durable subscription without a client id stores messages while it is inactive
      Given a topic
      And subscriber "member" shares durable subscription "club" on the topic
      And subscriber "member" is inactive
      When message "missed" is sent to the topic
      And subscriber "member" comes back
      Then "member" sees "missed" exactly once

    @judges-broker @needs-client-id
    Scenario: A client id in use is not given to a second connection
      Given a connection "first" with client id "twin"
      When a connection "second" asks for client id "twin"
      Then the call is refused or returns no message

    @judges-broker @needs-client-id
    Scenario: A client id in use is not given to a third connection after the second asked for it
      Given a connection "first" with client id "twin"
      When a connection "second" asks for client id "twin"
      And a connection "third" asks for client id "twin"
      Then the call is refused or returns no message

    @judges-broker @needs-client-id
    Scenario: A client id is free again once its connection is lost
      Given a topic
      And a durable subscriber "twin" on the topic
      When the connection of "twin" is lost
      And a connection "second" asks for client id "twin"
      Then it is accepted

    @judges-broker @needs-client-id
    Scenario: When another connection asks for a client id in use, the client that uses the id still gets messages
      Given a topic
      And a durable subscriber "twin" on the topic
      When a connection "second" asks for client id "twin"
      And message "still here" is sent to the topic
      Then "twin" sees "still here" exactly once

    @evidence @judges-broker @needs-client-id
    Scenario Outline: A client id is free again once the broker <event>
      Given a connection "first" with client id "twin"
      When the broker <event>
      And a connection "second" asks for client id "twin"
      Then it is accepted

      @needs-restart
      Examples:
        | event        |
        | is restarted |

      @needs-kill
      Examples:
        | event                    |
        | is killed and comes back |

    @evidence @judges-broker @needs-client-id
    Scenario Outline: A client id that was refused to another connection is free once the first connection is <ended>
      Given a topic
      And a durable subscriber "twin" on the topic
      When a connection "second" asks for client id "twin"
      And the connection of "twin" is <ended>
      And a connection "third" asks for client id "twin"
      Then it is accepted

      Examples:
        | ended  |
        | closed |
        | lost   |

    @judges-broker @needs-client-id
    Scenario: A client id is free again once its connection is closed
      Given a connection "first" with client id "twin"
      When connection "first" is closed
      And a connection "second" asks for client id "twin"
      Then it is accepted

    @evidence @needs-topic-wildcard
    Scenario: A client without a client id gets no unshared durable subscription to a topic pattern
      When a classic client opens durable subscription "news" on topic "sport/#" without a client id
      Then it is refused as an illegal state error

    @evidence @needs-shared-subscription
    Scenario: Two sharers without a client id together get each missed message once
      Given a topic
      And subscriber "left" shares durable subscription "club" on the topic
      And subscriber "right" shares durable subscription "club" on the topic
      And subscriber "left" is inactive
      And subscriber "right" is inactive
      When messages "m1" to "m4" are sent to the topic
      And subscriber "right" comes back
      And subscriber "left" comes back
      Then "left" and "right" together see "m1" to "m4" exactly once

  @PD-18 @needs-queue
  Rule: A queue acts as one built-in durable subscription that its consumers share
    Line 34.

    Scenario Outline: When a consumer's <part> is <ended>, its unacknowledged message comes to the next consumer
      Given an empty queue
      And receiver "first" is waiting on the queue in client mode
      When message "held" is sent to the queue
      And "first" has seen "held"
      And the <part> of "first" is <ended>
      And receiver "second" starts to wait on the queue
      Then "second" sees "held" exactly once

      Examples:
        | part       | ended  |
        | session    | closed |
        | connection | closed |
        | connection | lost   |

    @evidence @needs-local-transaction
    Scenario: A persistent message whose producer was closed before the commit waits on the queue for a consumer
      Given an empty queue
      And session "work" in transacted mode
      And producer "brief" of session "work" on the queue
      When producer "brief" sends message "m1"
      And producer "brief" is closed
      And session "work" is committed
      And receiver "late" starts to wait on the queue
      Then "late" sees "m1" exactly once

    @evidence @needs-local-transaction @needs-non-persistent
    Scenario Outline: A transacted session that is <ended> after its consumer was closed returns its <mode> messages to the queue
      Given an empty queue
      And session "giver" in auto mode
      And producer "brief" of session "giver" on the queue with delivery mode <mode>
      And session "work" in transacted mode
      And receiver "taker" of session "work" on the queue
      When producer "brief" sends message "m1"
      And producer "brief" sends message "m2"
      And producer "brief" is closed
      And "taker" receives 2 messages
      And "taker" is closed
      And session "work" is <ended>
      And a receiver starts to wait on the queue
      Then the receiver sees "m1" and "m2" exactly once

      Examples:
        | mode           | ended       |
        | persistent     | rolled back |
        | non-persistent | rolled back |
        | persistent     | closed      |
        | non-persistent | closed      |

    Scenario: Messages that a consumer has received do not come again when its connection is lost
      Given an empty queue
      And receiver "first" is waiting on the queue
      When message "taken" is sent to the queue
      Then "first" sees "taken" exactly once
      When the connection of "first" is lost
      And message "left" is sent to the queue
      And receiver "second" starts to wait on the queue
      Then "second" sees "left" exactly once
      And "second" never sees "taken"

    @kit
    Scenario Outline: When a consumer's <part> is <ended>, its unacknowledged messages come before waiting messages
      Given an empty queue
      And receiver "first" on the queue in <mode> mode
      When messages "m1" to "m5" are sent to the queue
      And "first" receives 2 messages
      And the <part> of "first" is <ended>
      And receiver "second" starts to wait on the queue
      Then "second" sees "m1" to "m5" in that order
      And "second" sees "m1" to "m5" exactly once

      Examples:
        | mode   | part       | ended  |
        | client | connection | closed |
        | client | connection | lost   |
        | client | session    | closed |

      @needs-local-transaction
      Examples:
        | mode       | part       | ended  |
        | transacted | connection | lost   |
        | transacted | session    | closed |

    @kit @needs-non-persistent
    Scenario Outline: When a consumer's <part> is <ended>, its unacknowledged <mode> message comes again marked as redelivered
      Given an empty queue
      And receiver "first" is waiting on the queue in <ack> mode
      When message "held" is sent to the queue with delivery mode <mode>
      And "first" has seen "held"
      And the <part> of "first" is <ended>
      And receiver "second" starts to wait on the queue
      Then message "held" as seen by "second" shows JMSRedelivered "true"
      And message "held" as seen by "second" shows JMSXDeliveryCount "2"

      Examples:
        | mode           | ack    | part       | ended  |
        | persistent     | client | connection | lost   |
        | persistent     | client | session    | closed |
        | non-persistent | client | connection | lost   |
        | non-persistent | client | connection | closed |

      @needs-local-transaction
      Examples:
        | mode           | ack        | part       | ended  |
        | non-persistent | transacted | connection | lost   |
        | non-persistent | transacted | session    | closed |

    @needs-selector @needs-typed-properties
    Scenario Outline: Each matching message goes to exactly one of two consumers with selectors "<first>" and "<second>"
      Given an empty queue
      And receiver "a" is waiting on the queue for messages with "<first>"
      And receiver "b" is waiting on the queue for messages with "<second>"
      When messages "m1" to "m6" are sent to the queue with property size = 7
      And message "other" is sent to the queue with property size = 1
      And receiver "c" starts to wait on the queue
      Then "a" and "b" together see "m1" to "m6" exactly once
      And "c" sees "other" exactly once
      And "c" never sees "m1" to "m6"

      Examples:
        | first    | second    |
        | size > 5 | size > 5  |
        | size > 5 | size = 7  |
        | size > 5 | size = 9  |

    @needs-selector
    Scenario: A later consumer with a selector gets the messages that wait behind 40 other messages
      Given an empty queue
      When 40 messages are sent to the queue with property colour = "blue"
      And messages "red1" to "red2" are sent to the queue with property colour = "red"
      And receiver "picky" starts to wait on the queue for messages with "colour = 'red'"
      Then "picky" sees "red1" to "red2" exactly once
      When receiver "second" starts to wait on the queue
      Then "second" sees each of these messages exactly once
      And "second" never sees "red1" to "red2"

    @needs-selector
    Scenario: A consumer with a selector leaves other messages on the queue
      Given an empty queue
      And receiver "picky" is waiting on the queue for messages with "colour = 'red'"
      When message "blue" is sent to the queue with property colour = "blue"
      And message "plain" is sent to the queue
      And receiver "second" starts to wait on the queue
      Then "second" sees "blue" and "plain" exactly once

    Scenario Outline: Each message on a queue goes to exactly one of three waiting consumers
      Given an empty queue
      And receiver "a" is waiting on the queue
      And receiver "b" is waiting on the queue
      And receiver "c" is waiting on the queue
      When messages "m1" to "<last>" are sent to the queue
      Then "a", "b" and "c" together see "m1" to "<last>" exactly once

      Examples:
        | last |
        | m1   |
        | m12  |

    @kit @needs-selector @needs-local-transaction
    Scenario Outline: Uncommitted messages of a consumer with a selector go to another consumer after a rollback, close or lost connection
      Given an empty queue
      And session "work" in transacted mode
      And receiver "first" of session "work" on the queue for messages with "colour = 'red'"
      And receiver "second" on the queue for messages with "colour = 'red'"
      When messages "m1" to "m4" are sent to the queue with property colour = "red"
      And "first" receives 2 messages
      And <event>
      And "second" receives 5 messages
      Then "second" sees "m1" to "m4" exactly once

      Examples:
        | event                             |
        | the connection of "first" is lost |
        | session "work" is closed          |
        | session "work" is rolled back     |

    @kit @needs-selector @needs-local-transaction
    Scenario Outline: A consumer with selector "<other>" gets messages that a consumer with selector "<own>" rolled back
      Given an empty queue
      And session "work" in transacted mode
      And receiver "first" of session "work" on the queue for messages with "<own>"
      And receiver "second" on the queue for messages with "<other>"
      When messages "m1" to "m4" are sent to the queue with property colour = "red" and property size = 7
      And "first" receives 2 messages
      And session "work" is rolled back
      And "second" receives 5 messages
      Then "second" sees "m1" to "m4" exactly once

      Examples:
        | own            | other          |
        | size = 7       | colour = 'red' |
        | colour = 'red' | size > 0       |

    Scenario: A queue stores messages while it has neither a consumer nor a sender
      Given an empty queue
      And receiver "first" is waiting on the queue
      When message "taken" is sent to the queue
      Then "first" sees "taken" exactly once
      When messages "m1" to "m3" are sent to the queue
      And "first" has seen "m1" to "m3"
      And "first"'s connection is closed
      And messages "m4" to "m6" are sent to the queue
      And the sender's connection is closed
      And 1 s pass
      And receiver "second" starts to wait on the queue
      Then "second" sees "m4" to "m6" exactly once

    @needs-local-transaction
    Scenario Outline: When a transacted consumer's <part> is <ended>, its uncommitted messages go to the next consumer
      Given an empty queue
      And receiver "first" is waiting on the queue in transacted mode
      When messages "m1" to "m3" are sent to the queue
      And "first" has seen "m1" to "m3"
      And the <part> of "first" is <ended>
      And receiver "second" starts to wait on the queue
      Then "second" sees "m1" to "m3" exactly once

      Examples:
        | part       | ended  |
        | session    | closed |
        | connection | closed |
        | connection | lost   |

    Scenario: When a consumer's connection is closed, messages that waited in the client go to the next consumer
      Given an empty queue
      And messages "m1" to "m5" are sent to the queue
      And receiver "first" on the queue
      When "first" receives a message
      And "first"'s connection is closed
      And receiver "second" starts to wait on the queue
      Then "first" and "second" together see "m1" to "m5" exactly once

    Scenario: Two consumers of a session together get each message once
      Given an empty queue
      And session "both" in auto mode
      And receiver "first" of session "both" on the queue
      And receiver "second" of session "both" on the queue
      When messages "m1" to "m6" are sent to the queue
      Then "first" and "second" together see "m1" to "m6" exactly once

    Scenario: A queue stores messages while it has no consumer
      Given an empty queue
      When messages "m1" to "m3" are sent to the queue
      And a receiver starts to wait on the queue
      Then the receiver sees "m1" to "m3" exactly once

    Scenario Outline: A queue continues to store messages when its only receiving client's <part> is <ended>
      Given an empty queue
      And receiver "first" is waiting on the queue
      When the <part> of "first" is <ended>
      And message "missed" is sent to the queue
      And receiver "second" starts to wait on the queue
      Then "second" sees "missed" exactly once

      Examples:
        | part       | ended  |
        | consumer   | closed |
        | connection | closed |
        | connection | lost   |

    Scenario: A message that one consumer has received is gone for later consumers
      Given an empty queue
      And receiver "first" is waiting on the queue
      When message "taken" is sent to the queue
      Then "first" sees "taken" exactly once
      When "first" is closed
      And message "left" is sent to the queue
      And receiver "second" starts to wait on the queue
      Then "second" sees "left" exactly once
      And "second" never sees "taken"

    @evidence @needs-xa
    Scenario: A message that a branch received and rolled back goes to the next consumer
      Given an empty queue
      And session "far" in xa mode
      And receiver "first" of session "far" on the queue
      And branch "job" has been started in session "far"
      When messages "m1" and "m2" are sent to the queue
      And "first" receives 2 messages
      And branch "job" is ended
      And branch "job" is prepared
      And the connection of "first" is closed
      And branch "job" is rolled back
      And receiver "second" starts to wait on the queue
      Then "second" sees "m1" and "m2" exactly once
