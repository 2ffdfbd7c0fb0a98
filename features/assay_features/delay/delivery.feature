Feature: A delayed message is delivered once its delay is over
  IBM MQ, JMS 2.0 delivery delay, lines 5 and 7.

  @DD-03 @needs-delivery-delay
  Rule: Once the delay is over, the message is delivered
    Line 7: the message is then taken off the staging queue and placed on its target.  The document states no limit for
    lateness; the run states a limit, and each scenario about time names its own.

    @needs-browse
    Scenario: A delayed message survives a browse of its queue
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of 1 s
      And the queue is browsed every 200 ms for 2 s
      And a receiver starts to wait on the queue
      Then the receiver sees "slow" exactly once

    Scenario: A delayed send is accepted, and its message is delivered
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of 1 s
      And a receiver starts to wait on the queue
      Then sending "slow" is accepted
      And the receiver sees "slow" exactly once

    @needs-non-persistent
    Scenario Outline: A delayed <mode> message is delivered although its sender's connection is <ended>
      Given an empty queue
      And a receiver is waiting on the queue
      When message "slow" is sent to the queue with a delivery delay of 2 s and delivery mode <mode>
      And the sender's connection is <ended>
      Then the receiver sees "slow" exactly once
      Examples:
        | mode           | ended  |
        | persistent     | closed |
        | persistent     | lost   |
        | non-persistent | closed |
        | non-persistent | lost   |

    @needs-topic @needs-non-persistent
    Scenario Outline: A delayed <mode> publication is delivered although its sender's connection is closed
      Given a topic
      And a non-durable subscriber "live" on the topic
      When message "slow" is sent to the topic with a delivery delay of 2 s and delivery mode <mode>
      And the sender's connection is closed
      Then "live" sees "slow" exactly once
      Examples:
        | mode           |
        | persistent     |
        | non-persistent |

    Scenario: Each of two messages of a producer with a delay is delivered
      Given an empty queue
      And a receiver is waiting on the queue
      And a producer on the queue
      And the producer's delivery delay is 1 s
      When the producer sends message "first"
      And the producer sends message "second"
      Then the receiver sees "first" and "second" exactly once

    @evidence @needs-session
    Scenario: A message whose delay ends while the receiver's connection is stopped comes after the connection is started
      Given an empty queue
      And a receiver is waiting on the queue
      When message "slow" is sent to the queue with a delivery delay of 1 s
      And the receiver's connection is stopped
      And 3 s pass
      And message "prompt" is sent to the queue
      And the receiver's connection is started
      Then the receiver sees "slow" and "prompt" exactly once

    @evidence @needs-session @needs-topic
    Scenario: A publication whose delay ends while the subscriber's connection is stopped comes after the connection is started
      Given a topic
      And a non-durable subscriber "live" on the topic
      When message "slow" is sent to the topic with a delivery delay of 1 s
      And the connection of "live" is stopped
      And 3 s pass
      And the connection of "live" is started
      Then "live" sees "slow" exactly once

    @evidence @needs-temporary-destination @needs-session
    Scenario Outline: A <mode> message for a temporary queue comes when its delay is over
      Given session "asker" in auto mode
      And queue "answers" is a temporary queue of session "asker"
      And receiver "reader" of session "asker" on queue "answers"
      When a message listener is set on "reader"
      And message "slow" is sent to queue "answers" with a delivery delay of 2 s and delivery mode <mode>
      And message "prompt" is sent to queue "answers"
      Then "reader" sees "prompt" and "slow" exactly once
      And "reader" sees "slow" in time, 2 s after its send

      Examples:
        | mode       |
        | persistent |

      @needs-non-persistent
      Examples: Non-persistent
        | mode           |
        | non-persistent |

    @needs-topic @needs-durable-subscription @needs-non-persistent
    Scenario Outline: A durable subscriber that is inactive when the delay ends gets a <mode> message when it returns
      Given a topic
      And a durable subscriber "steady" on the topic
      And a non-durable subscriber "live" on the topic
      And subscriber "steady" is inactive
      When message "slow" is sent to the topic with a delivery delay of 1 s and delivery mode <mode>
      Then "live" sees "slow" exactly once
      When subscriber "steady" comes back
      Then "steady" sees "slow" exactly once
      Examples:
        | mode           |
        | persistent     |
        | non-persistent |

    @needs-topic @needs-shared-subscription @needs-durable-subscription @needs-non-persistent
    Scenario Outline: A shared durable subscription without a consumer keeps a <mode> message whose delay is over
      Given a topic
      And subscriber "member" shares durable subscription "club" on the topic
      And a non-durable subscriber "live" on the topic
      And subscriber "member" is inactive
      When message "slow" is sent to the topic with a delivery delay of 1 s and delivery mode <mode>
      Then "live" sees "slow" exactly once
      When subscriber "member" comes back
      Then "member" sees "slow" exactly once
      Examples:
        | mode           |
        | persistent     |
        | non-persistent |

    @needs-xa
    Scenario: A message of a global unit of work is delivered
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in xa mode
      And branch "job" has been started in session "work"
      When message "slow" is sent in session "work" to the queue with a delivery delay of 1 s
      And branch "job" is ended
      And branch "job" is prepared
      And branch "job" is committed
      Then the receiver sees "slow" exactly once

    @needs-xa
    Scenario: A message of a global unit of work that is committed during the delay comes when the delay is over
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in xa mode
      And branch "job" has been started in session "work"
      When message "slow" is sent in session "work" to the queue with a delivery delay of 20 s
      And branch "job" is ended
      And 15 s have passed since "slow" was sent
      And branch "job" is prepared
      And branch "job" is committed
      Then the receiver sees "slow" in time, 20 s after its send

    @needs-xa @needs-kill
    Scenario: A message of a global unit of work survives a kill of the broker during its delay
      Given an empty queue
      And session "work" in xa mode
      And branch "job" has been started in session "work"
      When message "slow" is sent in session "work" to the queue with a delivery delay of 5 s
      And branch "job" is ended
      And branch "job" is prepared
      And branch "job" is committed
      And the broker is killed and comes back
      And a receiver starts to wait on the queue
      Then the receiver sees "slow" exactly once

    @needs-xa @needs-restart
    Scenario: A message of a global unit of work survives a restart, even if its producer was closed before the branch was prepared
      Given an empty queue
      And session "work" in xa mode
      And producer "early" of session "work" on the queue
      And the delivery delay of producer "early" is 5 s
      And branch "job" has been started in session "work"
      When producer "early" sends message "slow"
      And producer "early" is closed
      And branch "job" is ended
      And branch "job" is prepared
      And branch "job" is committed
      And the broker is restarted
      And a receiver starts to wait on the queue
      Then the receiver sees "slow" exactly once

    @needs-restart
    Scenario Outline: A message with <option> survives a restart during its delay, and is unaltered
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of 2 s and <option>
      And the broker is restarted
      And a receiver starts to wait on the queue
      Then the receiver sees "slow" exactly once
      And "receiver" sees the body of "slow" unaltered
      Examples:
        | option                         |
        | a body of 1 MB                 |
        | an empty body                  |
        | a body of non-ASCII characters |
        | a binary body                  |

    @needs-restart
    Scenario: A persistent message survives two restarts during its delay
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of 5 s
      And the broker is restarted
      And the broker is restarted
      And a receiver starts to wait on the queue
      Then the receiver sees "slow" exactly once

    @needs-topic @needs-durable-subscription @needs-restart
    Scenario: A persistent publication survives a restart during its delay
      Given a topic
      And a durable subscriber "steady" on the topic
      And subscriber "steady" is inactive
      When message "slow" is sent to the topic with a delivery delay of 2 s
      And the broker is restarted
      And subscriber "steady" comes back
      Then "steady" sees "slow" exactly once

    Scenario: A receiver sees each of 100 delayed messages exactly once
      Given an empty queue
      And a receiver is waiting on the queue
      When messages "m1" to "m100" are sent to the queue with a delivery delay of 1 s
      Then the receiver sees "m1" to "m100" exactly once

    Scenario Outline: A receiver that already waits at the send sees the message in time, <delay> after the send
      Given an empty queue
      And a receiver is waiting on the queue
      When a message is sent to the queue with a delivery delay of <delay>
      Then the receiver sees it in time, <delay> after the send

      Examples:
        | delay |
        | 1 ms  |
        | 1 s   |
        | 2 s   |

    Scenario: A message with a short delay does not wait for an earlier message with a long delay
      Given an empty queue
      And a receiver is waiting on the queue
      When message "slow" is sent to the queue with a delivery delay of 12 s
      And message "fast" is sent to the queue with a delivery delay of 1 s
      Then the receiver sees "fast" in time, 1 s after its send

    Scenario: A receiver that already waits at the send sees the delayed message exactly once
      Given an empty queue
      And a receiver is waiting on the queue
      When message "slow" is sent to the queue with a delivery delay of 1 s
      Then the receiver sees "slow" exactly once

    Scenario Outline: A receiver that connects <when> after the send of a message with a delay of 1 s sees the message exactly once
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of 1 s
      And <when> have passed since "slow" was sent
      And a receiver starts to wait on the queue
      Then the receiver sees "slow" exactly once

      Examples: During the delay, at its end, and after it
        | when   |
        | 500 ms |
        | 1 s    |
        | 2 s    |

    Scenario: A receiver sees each of five delayed messages exactly once
      Given an empty queue
      And a receiver is waiting on the queue
      When messages "m1" to "m5" are sent to the queue with a delivery delay of 1 s
      Then the receiver sees "m1" to "m5" exactly once

    @needs-topic
    Scenario: A waiting subscriber sees the publication exactly once
      Given a topic
      And a non-durable subscriber "live" on the topic
      When message "slow" is sent to the topic with a delivery delay of 1 s
      Then "live" sees "slow" exactly once

    Scenario Outline: Delayed messages without properties are delivered although the broker <event> during their delay
      Given an empty queue
      And a producer on the queue
      And the producer's delivery delay is 2 s
      When the producer sends message "first" with no properties
      And the producer sends message "second" with no properties
      And the broker <event>
      And a receiver starts to wait on the queue
      Then the receiver sees "first" and "second" exactly once
      And "receiver" sees the body of "second" unaltered

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @needs-restart
    Scenario: Messages of two producers of a session survive a restart during their delay
      Given an empty queue
      And session "work" in auto mode
      And producer "late" of session "work" on the queue with a delivery delay of 3 s
      And producer "prompt" of session "work" on the queue with a delivery delay of 2 s
      When producer "late" sends message "slow"
      And producer "prompt" sends message "fast"
      And the broker is restarted
      And a receiver starts to wait on the queue
      Then the receiver sees "slow" and "fast" exactly once

    @needs-restart
    Scenario: A persistent message survives a restart during its delay
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of 2 s
      And the broker is restarted
      And a receiver starts to wait on the queue
      Then the receiver sees "slow" exactly once

    @needs-kill
    Scenario Outline: A message with a delay of 2 s comes exactly once although the broker is killed <moment> after the send
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of 2 s
      And <moment> have passed since "slow" was sent
      And the broker is killed and comes back
      And a receiver starts to wait on the queue
      Then the receiver sees "slow" exactly once

      Examples: Before, at and after the due moment
        | moment |
        | 1 s    |
        | 2 s    |
        | 3 s    |

    @evidence @needs-power-loss
    Scenario: A message comes exactly once if the broker loses its power during the message's delay
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of 2 s
      And the broker loses its power and comes back
      And a receiver starts to wait on the queue
      Then the receiver sees "slow" exactly once

    @needs-kill
    Scenario: A message that was delivered and acknowledged does not come again after a kill
      Given an empty queue
      And a receiver is waiting on the queue
      When message "slow" is sent to the queue with a delivery delay of 1 s
      And "receiver" has seen "slow"
      And 1 s pass
      And the broker is killed and comes back
      And receiver "second" starts to wait on the queue
      And message "now" is sent to the queue
      Then "second" sees "now" exactly once
      And "second" never sees "slow"

    @needs-topic @needs-durable-subscription
    Scenario Outline: A publication that a durable subscriber has received does not come again after the broker <event>
      Given a topic
      And a durable subscriber "steady" on the topic
      When message "slow" is sent to the topic with a delivery delay of 1 s
      And "steady" has seen "slow"
      And 1 s pass
      And subscriber "steady" goes away
      And the broker <event>
      And subscriber "steady" comes back
      And message "now" is sent to the topic
      Then "steady" sees "now" exactly once
      And "steady" sees "slow" exactly once

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @needs-topic @needs-durable-subscription
    Scenario Outline: If the broker <event> after the end of the delay, an inactive durable subscriber gets the publication once on its return
      Given a topic
      And a durable subscriber "steady" on the topic
      And a non-durable subscriber "live" on the topic
      And subscriber "steady" is inactive
      When message "slow" is sent to the topic with a delivery delay of 1 s
      And "live" has seen "slow"
      And the broker <event>
      And subscriber "steady" comes back
      And message "now" is sent to the topic
      Then "steady" sees "slow" and "now" exactly once

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @needs-topic @needs-durable-subscription @needs-shared-subscription
    Scenario Outline: If the broker <event> after the end of the delay, an inactive sharer gets the publication once on its return
      Given a topic
      And subscriber "member" shares durable subscription "club" on the topic
      And a non-durable subscriber "live" on the topic
      And subscriber "member" is inactive
      When message "slow" is sent to the topic with a delivery delay of 1 s
      And "live" has seen "slow"
      And the broker <event>
      And subscriber "member" comes back
      And message "now" is sent to the topic
      Then "member" sees "slow" and "now" exactly once

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @evidence @needs-topic @needs-durable-subscription @needs-topic-wildcard
    Scenario Outline: A publication for a durable subscription to <pattern> comes although the broker <event> during the delay
      Given a durable subscriber "steady" on topic "<pattern>"
      And subscriber "steady" is inactive
      When message "slow" is sent to topic "sport/football/results" with a delivery delay of 2 s
      And the broker <event>
      And subscriber "steady" comes back
      Then "steady" sees "slow" exactly once

      @needs-restart
      Examples: Restart
        | pattern         | event        |
        | sport/#         | is restarted |
        | sport/+/results | is restarted |

      @needs-kill
      Examples: Kill
        | pattern         | event                    |
        | sport/+/results | is killed and comes back |

    @needs-topic @needs-shared-subscription @needs-non-persistent
    Scenario Outline: Of two sharers of a subscription, exactly one gets a delayed <mode> publication
      Given a topic
      And subscriber "left" shares non-durable subscription "pair" on the topic
      And subscriber "right" shares non-durable subscription "pair" on the topic
      When message "slow" is sent to the topic with a delivery delay of 1 s and delivery mode <mode>
      Then "left" and "right" together see "slow" exactly once

      Examples:
        | mode           |
        | persistent     |
        | non-persistent |

    @needs-non-persistent
    Scenario: Several non-persistent messages are delivered, although their delays end at the same time
      Given an empty queue
      And a receiver is waiting on the queue
      When messages "m1" to "m5" are sent to the queue with a delivery delay of 1 s and delivery mode non-persistent
      Then the receiver sees "m1" to "m5" exactly once

    @needs-restart
    Scenario: A restart during the delay does not prolong the delay
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of 20 s
      And 15 s have passed since "slow" was sent
      And the broker is restarted
      And a receiver starts to wait on the queue
      Then the receiver sees "slow" in time, 20 s after its send

    @needs-topic @needs-durable-subscription @needs-restart
    Scenario: A restart does not prolong the delay of a publication
      Given a topic
      And a durable subscriber "steady" on the topic
      And subscriber "steady" is inactive
      When message "slow" is sent to the topic with a delivery delay of 20 s
      And 15 s have passed since "slow" was sent
      And the broker is restarted
      And subscriber "steady" comes back
      Then "steady" sees "slow" in time, 20 s after its send

    @needs-restart
    Scenario: Several persistent messages survive a restart during their delays
      Given an empty queue
      When messages "m1" to "m5" are sent to the queue with a delivery delay of 2 s
      And the broker is restarted
      And a receiver starts to wait on the queue
      Then the receiver sees "m1" to "m5" exactly once

    @evidence @needs-local-transaction
    Scenario Outline: Of three messages of a unit of work, the message with the longest delay comes although the broker <event>
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      When message "m1" is sent in session "work" to the queue with a delivery delay of 2 s
      And message "m2" is sent in session "work" to the queue with a delivery delay of 10 s
      And message "m3" is sent in session "work" to the queue with a delivery delay of 2 s
      And session "work" is committed
      And "receiver" has seen "m1" and "m3"
      And the broker <event>
      And receiver "after" starts to wait on the queue
      And "m2" is overdue
      Then "receiver" and "after" together see "m2" exactly once

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @needs-non-persistent
    Scenario Outline: A non-persistent message comes in time, <delay> after its send
      Given an empty queue
      And a receiver is waiting on the queue
      When a message is sent to the queue with delivery mode non-persistent and a delivery delay of <delay>
      Then the receiver sees it in time, <delay> after the send

      Examples:
        | delay |
        | 1 ms  |
        | 1 s   |

    @needs-topic
    Scenario: A delayed publication reaches a subscriber in time
      Given a topic
      And a non-durable subscriber "live" on the topic
      When message "slow" is sent to the topic with a delivery delay of 1 s
      Then "live" sees "slow" in time, 1 s after its send

    @needs-topic @needs-durable-subscription @needs-kill
    Scenario: A persistent publication survives a kill of the broker during its delay
      Given a topic
      And a durable subscriber "steady" on the topic
      And subscriber "steady" is inactive
      When message "slow" is sent to the topic with a delivery delay of 2 s
      And the broker is killed and comes back
      And subscriber "steady" comes back
      Then "steady" sees "slow" exactly once

    @evidence @topology-cluster @needs-admin
    Scenario Outline: A message for another queue manager's queue comes once, although queue manager <member> is down at the end of the delay
      Given queue "orders" at queue manager "B" has been defined with CLUSTER(SHOP) DEFBIND(NOTFIXED)
      When message "slow" is sent to queue "orders" with a delivery delay of 5 s
      And queue manager "<member>" is stopped
      And 10 s pass
      And queue manager "<member>" is started again
      And receiver "far" starts to wait on queue "orders" at queue manager "B"
      Then "far" sees "slow" exactly once

      Examples:
        | member |
        | A      |
        | B      |

    @evidence @topology-cluster @needs-admin @needs-non-persistent
    Scenario Outline: A <mode> message that was received at another queue manager does not come again after that queue manager's restart
      Given queue "orders" at queue manager "B" has been defined with CLUSTER(SHOP) DEFBIND(NOTFIXED)
      And receiver "far" is waiting on queue "orders" at queue manager "B"
      When message "slow" is sent to queue "orders" with a delivery delay of 2 s and delivery mode <mode>
      And "far" has seen "slow"
      And 2 s pass
      And queue manager "B" is stopped
      And queue manager "B" is started again
      And receiver "after" starts to wait on queue "orders" at queue manager "B"
      And message "control" is sent to queue "orders" with a delivery delay of 2 s
      Then "after" sees "control" exactly once
      And "after" never sees "slow"

      Examples:
        | mode           |
        | persistent     |
        | non-persistent |

  @DD-04 @needs-delivery-delay
  Rule: A message with a delay of 0 is not staged but available at once
    Line 7 stages messages with a nonzero delay only.  Here, *at once* means within 2 s of the send.

    Scenario: A waiting receiver sees an undelayed message at once
      Given an empty queue
      And a receiver is waiting on the queue
      When message "now" is sent to the queue with a delivery delay of 0 ms
      Then the receiver sees "now" within 2 s after its send

    @needs-topic
    Scenario: A waiting subscriber sees an undelayed publication at once
      Given a topic
      And a non-durable subscriber "live" on the topic
      When message "now" is sent to the topic with a delivery delay of 0 ms
      Then "live" sees "now" within 2 s after its send

    @needs-browse
    Scenario: A browser finds an undelayed message at once
      Given an empty queue
      When message "now" is sent to the queue with a delivery delay of 0 ms
      Then browsing the queue shows "now"

    @kit @judges-client @needs-browse
    Scenario: A browser that found nothing before the send finds an undelayed message at once
      Given an empty queue
      When the queue is browsed
      And message "now" is sent to the queue with a delivery delay of 0 ms
      Then browsing the queue shows "now"

    Scenario: A producer whose delay is set back to 0 delays no further message
      Given an empty queue
      And a receiver is waiting on the queue
      And a producer on the queue
      And the producer's delivery delay is 1 h
      When the producer sends message "slow"
      And the producer's delivery delay is set to 0 ms
      And the producer sends message "now"
      Then the receiver sees "now" within 2 s after its send

    @evidence @judges-client
    Scenario Outline: If a <style> producer sends the same message object again with a delay of 0, the second message is not delayed
      Given an empty queue
      And a receiver is waiting on the queue
      And a <style> producer on the queue
      And the producer's delivery delay is 1 h
      When the producer sends message "slow"
      And the producer's delivery delay is set to 0 ms
      And the producer sends message "again" with the message object of the send before
      Then the receiver sees "again" within 2 s after its send

      Examples:
        | style      |
        | classic    |
        | simplified |

    Scenario: A producer's delay does not apply to a message of another producer of the session
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in auto mode
      And producer "late" of session "work" on the queue with a delivery delay of 10 s
      And producer "prompt" of session "work" on the queue
      When producer "late" sends message "slow"
      And producer "prompt" sends message "now"
      Then the receiver sees "now" within 2 s after its send

    Scenario: An undelayed message does not wait for a delayed one
      Given an empty queue
      And a receiver is waiting on the queue
      When message "slow" is sent to the queue with a delivery delay of 10 s
      And message "now" is sent to the queue with a delivery delay of 0 ms
      Then the receiver sees "now", "slow" in that order

    @evidence @needs-staging-queue
    Scenario: The staging queue holds the delayed message but not the undelayed one
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of 5 s
      And message "now" is sent to the queue with a delivery delay of 0 ms
      Then inspecting or browsing the staging queue shows "slow"
      And inspecting or browsing the staging queue does not show "now"

    @evidence @needs-admin @own-instance
    Scenario Outline: An undelayed message is delivered although the staging queue has been altered to <attributes>
      Given an empty queue
      And a receiver is waiting on the queue
      And the staging queue has been altered to <attributes>
      When message "now" is sent to the queue with a delivery delay of 0 ms
      Then sending "now" is accepted
      And the receiver sees "now" exactly once

      Examples:
        | attributes    |
        | MAXDEPTH(0)   |
        | PUT(DISABLED) |
        | MAXMSGL(0)    |

    @evidence @needs-topic @needs-topic-wildcard
    Scenario Outline: An undelayed publication comes at once to <kind> subscription to a pattern
      Given <subscriber> on topic "sport/#"
      When message "now" is sent to topic "sport/football" with a delivery delay of 0 ms and correlation id "c"
      Then "live" sees "now" within 2 s after its send

      @needs-durable-subscription
      Examples: Durable
        | kind      | subscriber                  |
        | a durable | a durable subscriber "live" |

      @needs-shared-subscription
      Examples: Shared
        | kind                 | subscriber                                               |
        | a shared non-durable | subscriber "live" shares non-durable subscription "pair" |

      @needs-shared-subscription @needs-durable-subscription
      Examples: Shared and durable
        | kind             | subscriber                                           |
        | a shared durable | subscriber "live" shares durable subscription "club" |

    @evidence @needs-topic @needs-shared-subscription @needs-durable-subscription
    Scenario: An undelayed publication comes at once to a sharer after another sharer has gone
      Given a topic
      And subscriber "left" shares durable subscription "club" on the topic
      And subscriber "right" shares durable subscription "club" on the topic
      When subscriber "right" goes away
      And message "now" is sent to the topic with a delivery delay of 0 ms
      Then "left" sees "now" within 2 s after its send

    @evidence
    Scenario Outline: After the broker <event>, a receiver gets an undelayed message, while a delayed message still waits
      Given an empty queue
      When message "slow" is sent to the queue with a delivery delay of 1 h
      And message "now" is sent to the queue with a delivery delay of 0 ms
      And the broker <event>
      And a receiver starts to wait on the queue
      Then the receiver sees "now" exactly once
      And the receiver waits for 1 s and does not see "slow"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @evidence @needs-admin @own-instance @needs-xa
    Scenario: An undelayed message of a prepared branch is delivered although the staging queue has been altered to GET(DISABLED)
      Given an empty queue
      And a receiver is waiting on the queue
      And the staging queue has been altered to GET(DISABLED)
      And session "work" in xa mode
      And branch "job" has been started in session "work"
      When message "now" is sent in session "work" to the queue with a delivery delay of 0 ms
      And branch "job" is ended
      And branch "job" is prepared
      And branch "job" is committed
      Then the receiver sees "now" exactly once

    @evidence @needs-xa
    Scenario: An undelayed message of a branch comes with the branch's commit, while a delayed one waits
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in xa mode
      And branch "job" has been started in session "work"
      When message "slow" is sent in session "work" to the queue with a delivery delay of 1 h
      And message "now" is sent in session "work" to the queue with a delivery delay of 0 ms
      And branch "job" is ended
      And branch "job" is committed in one phase
      Then the receiver sees "now" exactly once
      And the receiver waits for 1 s and does not see "slow"

  @DD-27 @needs-delivery-delay @needs-local-transaction
  Rule: The delay counts from the send, not from the commit
    Line 5 adds the delay to the time of the send; so does Jakarta Messaging 3.1, section 3.4.13, also in a unit of
    work.  A commit after the end of the delay delivers at once, long before the end of a delay that would count from
    the commit.

    @evidence @judges-client
    Scenario Outline: The JMSDeliveryTime of a <style> producer's message is the time of the send plus <delay>
      Given an empty queue
      And a <style> producer on the queue
      And the producer's delivery delay is <delay>
      When the producer sends message "slow"
      Then message "slow" shows a JMSDeliveryTime of its send time plus <delay>

      Examples:
        | style      | delay |
        | classic    | 1 ms  |
        | classic    | 4 s   |
        | simplified | 4 s   |

    @evidence
    Scenario: The JMSDeliveryTime of a message counts from the send, even if the message is committed later
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      When message "slow" is sent in session "work" to the queue with a delivery delay of 4 s
      And 3500 ms have passed since "slow" was sent
      And session "work" is committed
      Then the receiver sees "slow" with a JMSDeliveryTime of its send time plus 4 s

    @evidence
    Scenario: A message whose delay ended before the commit comes at the commit, if one callback sent it and a later one commits
      Given an empty queue
      And an empty queue "replies"
      And messages "m1" and "m2" are sent to the queue
      And a receiver is waiting on queue "replies"
      And session "work" in transacted mode
      And receiver "relay" of session "work" on the queue
      And "relay" will send "slow" to queue "replies" with a delivery delay of 12 s, one in each callback
      When receiver "relay" starts to receive and works 7 s on each and commits as soon as 2 messages have come
      And "relay" has seen "m1" and "m2"
      Then the receiver sees "slow" in time, 15 s after its send
      And the receiver sees "slow" no earlier than 12 s after its send

    @needs-topic
    Scenario: A publication whose delay ended before the commit comes at the commit
      Given a topic
      And a non-durable subscriber "live" on the topic
      And session "work" in transacted mode
      When message "slow" is sent in session "work" to the topic with a delivery delay of 12 s
      And 13 s have passed since "slow" was sent
      And session "work" is committed
      Then sending "slow" is accepted
      And "live" sees "slow" in time after session "work" was committed

    @needs-topic
    Scenario: A publication that was committed during its delay comes when the delay is over
      Given a topic
      And a non-durable subscriber "live" on the topic
      And session "work" in transacted mode
      When message "slow" is sent in session "work" to the topic with a delivery delay of 12 s
      And 9 s have passed since "slow" was sent
      And session "work" is committed
      Then "live" sees "slow" in time, 12 s after its send
      And "live" sees "slow" no earlier than 12 s after its send

    Scenario: A message whose delay ended before the commit comes at the commit
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      When message "slow" is sent in session "work" to the queue with a delivery delay of 12 s
      And 13 s have passed since "slow" was sent
      And session "work" is committed
      Then sending "slow" is accepted
      And the receiver sees "slow" in time after session "work" was committed

    Scenario: A message that was committed during its delay comes when the delay is over
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      When message "slow" is sent in session "work" to the queue with a delivery delay of 12 s
      And 9 s have passed since "slow" was sent
      And session "work" is committed
      Then the receiver sees "slow" in time, 12 s after its send

    Scenario: A message that was committed during its delay does not come before the delay is over
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      When message "slow" is sent in session "work" to the queue with a delivery delay of 3 s
      And 1 s have passed since "slow" was sent
      And session "work" is committed
      Then the receiver sees "slow" no earlier than 3 s after its send

    Scenario: In one unit of work, a message with a short delay does not wait for a message with a long delay
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      When message "slow" is sent in session "work" to the queue with a delivery delay of 10 s
      And message "fast" is sent in session "work" to the queue with a delivery delay of 1 s
      And session "work" is committed
      Then the receiver sees "fast" in time, 1 s after its send

    @needs-non-persistent
    Scenario: A non-persistent message whose delay ended before the commit comes at the commit
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      When message "slow" is sent in session "work" to the queue with a delivery delay of 12 s and delivery mode non-persistent
      And 13 s have passed since "slow" was sent
      And session "work" is committed
      Then sending "slow" is accepted
      And the receiver sees "slow" in time after session "work" was committed

    Scenario: In one unit of work with two producers, each message's delay counts from the message's own send
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      And producer "late" of session "work" on the queue with a delivery delay of 12 s
      And producer "prompt" of session "work" on the queue with a delivery delay of 2 s
      When producer "prompt" sends message "fast"
      And 10 s have passed since "fast" was sent
      And producer "late" sends message "slow"
      And session "work" is committed
      Then the receiver sees "slow" no earlier than 12 s after its send
      And the receiver sees "fast" in time after session "work" was committed

    Scenario: In one unit of work of a producer without a destination, the delay of each message counts from that message's send
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      And producer "slow" of session "work" without a destination
      And the delivery delay of producer "slow" is 20 s
      When producer "slow" sends message "first" to the queue
      And 10 s have passed since "first" was sent
      And producer "slow" sends message "second" to the queue
      And session "work" is committed
      Then the receiver sees "first" in time, 20 s after its send
      And the receiver sees "second" no earlier than 20 s after its send

    Scenario: In one unit of work of a producer on the queue, the delay of each message counts from that message's send
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      And producer "slow" of session "work" on the queue with a delivery delay of 20 s
      When producer "slow" sends message "first"
      And 10 s have passed since "first" was sent
      And producer "slow" sends message "second"
      And session "work" is committed
      Then the receiver sees "first" in time, 20 s after its send
      And the receiver sees "second" no earlier than 20 s after its send

    Scenario: In one unit of work, the delay of each message counts from that message's send
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      When message "first" is sent in session "work" to the queue with a delivery delay of 20 s
      And 10 s have passed since "first" was sent
      And message "second" is sent in session "work" to the queue with a delivery delay of 20 s
      And session "work" is committed
      Then the receiver sees "first" in time, 20 s after its send
      And the receiver sees "second" no earlier than 20 s after its send

    @evidence @needs-kill
    Scenario: If the broker is killed after the commit, the delay of a message still counts from the send
      Given an empty queue
      And session "work" in transacted mode
      When message "slow" is sent in session "work" to the queue with a delivery delay of 40 s
      And 10 s have passed since "slow" was sent
      And session "work" is committed
      And the broker is killed and comes back
      And a receiver starts to wait on the queue
      Then the receiver sees "slow" in time, 40 s after its send
      And the receiver sees "slow" no earlier than 40 s after its send

    @evidence @needs-xa
    Scenario: In a branch of a global unit of work, the delay counts from the send, not from the commit
      Given an empty queue
      And a receiver is waiting on the queue
      And session "global" in xa mode
      And branch "b1" has been started in session "global"
      When message "slow" is sent in session "global" to the queue with a delivery delay of 20 s
      And branch "b1" is ended
      And branch "b1" is prepared
      And 15 s have passed since "slow" was sent
      And branch "b1" is committed
      Then the receiver sees "slow" in time, 20 s after its send
      And the receiver sees "slow" no earlier than 20 s after its send

    @evidence @needs-xa
    Scenario: In a branch that is committed in one phase, the delay counts from the send, not from the commit
      Given an empty queue
      And a receiver is waiting on the queue
      And session "global" in xa mode
      And branch "b1" has been started in session "global"
      When message "slow" is sent in session "global" to the queue with a delivery delay of 20 s
      And 15 s have passed since "slow" was sent
      And branch "b1" is ended
      And branch "b1" is committed in one phase
      Then the receiver sees "slow" in time, 20 s after its send

    @evidence @needs-xa @needs-kill
    Scenario: In a prepared branch that is committed after a kill, the delay counts from the send, not from the commit
      Given an empty queue
      And session "global" in xa mode
      And branch "b1" has been started in session "global"
      When message "slow" is sent in session "global" to the queue with a delivery delay of 20 s
      And branch "b1" is ended
      And branch "b1" is prepared
      And the broker is killed and comes back
      And branch "b1" is committed
      And a receiver starts to wait on the queue
      Then the receiver sees "slow" in time, 20 s after its send
      And the receiver sees "slow" no earlier than 20 s after its send

    @evidence @needs-xa
    Scenario: A message whose delay ended before its branch was prepared comes at the commit
      Given an empty queue
      And a receiver is waiting on the queue
      And session "global" in xa mode
      And branch "b1" has been started in session "global"
      When message "slow" is sent in session "global" to the queue with a delivery delay of 12 s
      And branch "b1" is ended
      And 13 s have passed since "slow" was sent
      And branch "b1" is prepared
      And branch "b1" is committed
      Then the receiver sees "slow" in time, 15 s after its send
      And the receiver sees "slow" exactly once

    @evidence @needs-xa @needs-kill @needs-topic @needs-durable-subscription
    Scenario: A publication whose delay ended before its branch was prepared is not lost if the broker is killed before the commit
      Given a topic
      And a durable subscriber "live" on the topic
      And subscriber "live" is inactive
      And session "global" in xa mode
      And branch "b1" has been started in session "global"
      When message "slow" is sent in session "global" to the topic with a delivery delay of 5 s
      And branch "b1" is ended
      And 6 s have passed since "slow" was sent
      And branch "b1" is prepared
      And the broker is killed and comes back
      And branch "b1" is committed
      And subscriber "live" comes back
      Then "live" sees "slow" exactly once

    @evidence @needs-topic @needs-topic-wildcard
    Scenario Outline: A publication whose delay ended before the commit comes at the commit to <kind> subscription to a pattern
      Given <subscriber> on topic "sport/#"
      And session "work" in transacted mode
      When message "slow" is sent in session "work" to topic "sport/football" with a delivery delay of 12 s
      And 13 s have passed since "slow" was sent
      And session "work" is committed
      Then sending "slow" is accepted
      And "live" sees "slow" in time after session "work" was committed

      @needs-durable-subscription
      Examples: Durable
        | kind      | subscriber                  |
        | a durable | a durable subscriber "live" |

      @needs-shared-subscription
      Examples: Shared
        | kind                 | subscriber                                               |
        | a shared non-durable | subscriber "live" shares non-durable subscription "pair" |

    @evidence @needs-topic @needs-shared-subscription @needs-durable-subscription
    Scenario: A publication whose delay ended before the commit comes at the commit to the only remaining sharer
      Given a topic
      And subscriber "left" shares durable subscription "club" on the topic
      And subscriber "right" shares durable subscription "club" on the topic
      And session "work" in transacted mode
      When message "slow" is sent in session "work" to the topic with a delivery delay of 12 s
      And subscriber "right" goes away
      And 13 s have passed since "slow" was sent
      And session "work" is committed
      Then sending "slow" is accepted
      And "left" sees "slow" in time after session "work" was committed

    @evidence @needs-restart
    Scenario: If the broker is restarted after the commit, the delay of a message still counts from the send
      Given an empty queue
      And session "work" in transacted mode
      When message "slow" is sent in session "work" to the queue with a delivery delay of 20 s
      And 10 s have passed since "slow" was sent
      And session "work" is committed
      And the broker is restarted
      And a receiver starts to wait on the queue
      Then the receiver sees "slow" in time, 20 s after its send
