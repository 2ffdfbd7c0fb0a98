Feature: Delayed publications that a subscriber cannot receive
  IBM MQ, JMS 2.0 delivery delay, lines 74, 76 and 84.

  @DD-76 @needs-delivery-delay @needs-topic @needs-admin @own-instance
  Rule: A delayed publication is dropped silently when its subscriber has gone; requested reports still come
    Line 74: the subscriber has unsubscribed, or was non-durable and has disconnected.  Silently means without a dead
    letter.  The document does not say which feedback the report has.  An inactive durable subscription, however,
    keeps the publication.

    @needs-durable-subscription
    Scenario: A publication for a durable subscriber that has unsubscribed is dropped
      Given a topic
      And a durable subscriber "fickle" on the topic
      And a durable subscriber "steady" on the topic
      And message "news" is sent to the topic with a delivery delay of 2 s
      When subscriber "fickle" unsubscribes
      And the staging queue no longer holds "news"
      Then "steady" sees "news" exactly once
      And the dead-letter queue is empty
      And the staging queue is empty

    Scenario: A publication for a non-durable subscriber that has gone is dropped
      Given a topic
      And a non-durable subscriber "passer" on the topic
      And a non-durable subscriber "steady" on the topic
      And message "news" is sent to the topic with a delivery delay of 2 s
      When subscriber "passer" goes away
      And the staging queue no longer holds "news"
      Then "steady" sees "news" exactly once
      And the dead-letter queue is empty
      And the staging queue is empty

    @needs-durable-subscription
    Scenario Outline: A <mode> publication for a durable subscriber that has unsubscribed is reported
      Given a topic
      And a queue "replies" with MAXDEPTH(10)
      And a durable subscriber "fickle" on the topic
      And message "news" is sent to the topic with a delivery delay of 2 s, a body of 300 B, delivery mode <mode>, reply-to queue "replies" and report options <options>
      When subscriber "fickle" unsubscribes
      Then queue "replies" holds 1 report
      And the report on "news" on queue "replies" has bytes "<bytes>"
      And the report on "news" on queue "replies" has the message id of the original as its correlation id
      And the dead-letter queue is empty
      And the staging queue has become empty
      Examples:
        | mode           | options                                            | bytes |
        | persistent     | MQRO_EXCEPTION                                     | 0     |
        | persistent     | MQRO_EXCEPTION_WITH_DATA                           | 100   |
        | persistent     | MQRO_EXCEPTION_WITH_FULL_DATA and MQRO_DISCARD_MSG | 300   |
        | non-persistent | MQRO_EXCEPTION                                     | 0     |

    @evidence @needs-durable-subscription
    Scenario Outline: A publication for a durable subscriber that has unsubscribed is reported even if the broker <event>
      Given a topic
      And a queue "replies" with MAXDEPTH(10)
      And a durable subscriber "fickle" on the topic
      And message "news" is sent to the topic with a delivery delay of 10 s, reply-to queue "replies" and report options MQRO_EXCEPTION
      When subscriber "fickle" unsubscribes
      And the broker <event>
      Then queue "replies" holds 1 report
      And the report on "news" on queue "replies" has the message id of the original as its correlation id
      And the dead-letter queue is empty

      @needs-restart
      Examples:
        | event        |
        | is restarted |

      @needs-kill
      Examples:
        | event                    |
        | is killed and comes back |

    Scenario: A publication for a non-durable subscriber that has gone is reported
      Given a topic
      And a queue "replies" with MAXDEPTH(10)
      And a non-durable subscriber "passer" on the topic
      And message "news" is sent to the topic with a delivery delay of 2 s, reply-to queue "replies" and report options MQRO_EXCEPTION
      When subscriber "passer" goes away
      Then queue "replies" holds 1 report
      And the report on "news" on queue "replies" has the message id of the original as its correlation id
      And the dead-letter queue is empty

    @needs-durable-subscription
    Scenario: The report on a dropped publication goes to the dead-letter queue if the reply-to queue refuses the report
      Given a topic
      And a queue "replies" with MAXDEPTH(10)
      And a durable subscriber "fickle" on the topic
      And message "news" is sent to the topic with a delivery delay of 2 s, reply-to queue "replies" and report options MQRO_EXCEPTION
      And queue "replies" has been altered to PUT(DISABLED)
      When subscriber "fickle" unsubscribes
      Then the dead-letter queue holds a report on "news" with reason MQRC_PUT_INHIBITED and destination queue "replies"
      And the dead-letter queue holds 1 message

    @needs-durable-subscription
    Scenario: An inactive durable subscriber gets the publication when it returns, and no report comes
      Given a topic
      And a queue "replies" with MAXDEPTH(10)
      And a durable subscriber "steady" on the topic
      And message "news" is sent to the topic with a delivery delay of 2 s, reply-to queue "replies" and report options MQRO_EXCEPTION
      When subscriber "steady" goes away
      And the staging queue no longer holds "news"
      And subscriber "steady" comes back
      Then "steady" sees "news" exactly once
      And queue "replies" is empty
      And the dead-letter queue is empty

    Scenario: A publication for a non-durable subscriber that has lost its connection is dropped
      Given a topic
      And a non-durable subscriber "passer" on the topic
      And a non-durable subscriber "steady" on the topic
      And message "news" is sent to the topic with a delivery delay of 2 s
      When the connection of "passer" is lost
      And the staging queue no longer holds "news"
      Then "steady" sees "news" exactly once
      And the dead-letter queue is empty
      And the staging queue is empty

    @needs-durable-subscription
    Scenario Outline: After the broker <event>, a delayed publication for a non-durable subscriber is dropped
      Given a topic
      And a non-durable subscriber "passer" on the topic
      And a durable subscriber "steady" on the topic
      And message "news" is sent to the topic with a delivery delay of 2 s
      When the broker <event>
      And subscriber "steady" comes back
      And the staging queue no longer holds "news"
      Then "steady" sees "news" exactly once
      And the dead-letter queue is empty
      And the staging queue is empty

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @needs-durable-subscription @needs-shared-subscription @needs-non-persistent
    Scenario Outline: A shared durable subscription whose only consumer is inactive gets a <mode> publication
      Given a topic
      And a queue "replies" with MAXDEPTH(10)
      And subscriber "member" shares durable subscription "club" on the topic
      And message "news" is sent to the topic with a delivery delay of 2 s, delivery mode <mode>, reply-to queue "replies" and report options MQRO_EXCEPTION
      When subscriber "member" goes away
      And the staging queue no longer holds "news"
      And subscriber "member" comes back
      Then "member" sees "news" exactly once
      And queue "replies" is empty
      And the dead-letter queue is empty
      Examples:
        | mode           |
        | persistent     |
        | non-persistent |

    @needs-shared-subscription
    Scenario: If one of two sharers leaves a shared non-durable subscription, the other sharer gets the publication
      Given a topic
      And subscriber "left" shares non-durable subscription "pair" on the topic
      And subscriber "right" shares non-durable subscription "pair" on the topic
      And message "news" is sent to the topic with a delivery delay of 2 s
      When subscriber "left" goes away
      Then "right" sees "news" exactly once
      And the dead-letter queue is empty

    @needs-shared-subscription
    Scenario: If the only sharer leaves a shared non-durable subscription, the publication is dropped
      Given a topic
      And subscriber "left" shares non-durable subscription "pair" on the topic
      And a non-durable subscriber "steady" on the topic
      And message "news" is sent to the topic with a delivery delay of 2 s
      When subscriber "left" goes away
      And the staging queue no longer holds "news"
      Then "steady" sees "news" exactly once
      And the dead-letter queue is empty
      And the staging queue is empty

    @kit @needs-durable-subscription
    Scenario: A persistent publication for an ended durable subscription stays staged until its report can be delivered
      Line 74: the report comes as for any other message that was discarded.

      Given a topic
      And a queue "replies" with MAXDEPTH(10)
      And there is no dead-letter queue
      And a durable subscriber "fickle" on the topic
      And message "news" is sent to the topic with a delivery delay of 2 s, delivery mode persistent, reply-to queue "replies" and report options MQRO_EXCEPTION
      And queue "replies" has been altered to PUT(DISABLED)
      When subscriber "fickle" unsubscribes
      And "news" is overdue
      And queue "replies" is altered to PUT(ENABLED)
      Then queue "replies" holds 1 report
      And the staging queue has become empty

    @kit
    Scenario: A persistent publication for an ended non-durable subscription stays staged until its report can be delivered
      Given a topic
      And a queue "replies" with MAXDEPTH(10)
      And there is no dead-letter queue
      And a non-durable subscriber "passer" on the topic
      And message "news" is sent to the topic with a delivery delay of 2 s, delivery mode persistent, reply-to queue "replies" and report options MQRO_EXCEPTION
      And queue "replies" has been altered to PUT(DISABLED)
      When subscriber "passer" goes away
      And "news" is overdue
      And queue "replies" is altered to PUT(ENABLED)
      Then queue "replies" holds 1 report
      And the staging queue has become empty

    @kit @needs-durable-subscription
    Scenario: The reference broker's report on a dropped publication has the feedback MQRC_NO_SUBSCRIPTION
      Given a topic
      And a queue "replies" with MAXDEPTH(10)
      And a durable subscriber "fickle" on the topic
      When message "news" is sent to the topic with a delivery delay of 2 s, reply-to queue "replies" and report options MQRO_EXCEPTION
      And subscriber "fickle" unsubscribes
      Then a report on "news" with feedback MQRC_NO_SUBSCRIPTION and no data is on queue "replies"

    @evidence @needs-durable-subscription @needs-topic-wildcard
    Scenario: Two publications for a subscription to a topic pattern are dropped after the subscriber has unsubscribed
      Given a durable subscriber "fickle" on topic "sport/#"
      And a durable subscriber "steady" on topic "sport/#"
      And message "first" is sent to topic "sport/football" with a delivery delay of 2 s
      And message "second" is sent to topic "sport/tennis" with a delivery delay of 3 s
      When subscriber "fickle" unsubscribes
      And the staging queue no longer holds "first" and "second"
      Then "steady" sees "first" and "second" exactly once
      And the dead-letter queue is empty
      And the staging queue is empty

  @DD-77 @needs-delivery-delay @needs-topic @needs-admin @needs-dead-letter-queue @own-instance
  Rule: A delayed publication that the dead-letter queue refuses is discarded without another try
    Line 76.  Reading: line 74 demands another try (DD-71), line 76 the discard; line 76 has precedence, also for
    persistent publications.  A subscription can put publications to a queue that an administrator names; this queue
    is then the target.

    Scenario Outline: If a dead-letter queue with <attributes> refused a <mode> publication, the put to the target is not tried again
      Given a topic
      And a queue with MAXDEPTH(10)
      And an administered subscription "orders" from the topic to the queue
      And a queue "dlq" that is the dead-letter queue, with <attributes>
      And message "news" is sent to the topic with a delivery delay of 2 s, a body of 300 B and delivery mode <mode>
      And message "control" is sent to the queue with a delivery delay of 2 s, a body of 300 B and delivery mode <mode>
      And the queue has been altered to PUT(DISABLED)
      When the staging queue no longer holds "news"
      And "control" is overdue
      And the queue is altered to PUT(ENABLED)
      And the staging queue no longer holds "control"
      And queue "dlq" is altered to <mended>
      And 4 s pass
      Then the queue holds "control"
      And the queue does not hold "news"
      And queue "dlq" is empty
      And the staging queue is empty
      Examples:
        | mode           | attributes    | mended           |
        | persistent     | PUT(DISABLED) | PUT(ENABLED)     |
        | non-persistent | PUT(DISABLED) | PUT(ENABLED)     |
        | persistent     | MAXDEPTH(0)   | MAXDEPTH(10)     |
        | non-persistent | MAXDEPTH(0)   | MAXDEPTH(10)     |
        | persistent     | MAXMSGL(299)  | MAXMSGL(4194304) |

    Scenario Outline: Without a dead-letter queue, a <mode> publication that its target refuses is discarded at once
      Given a topic
      And a queue with MAXDEPTH(10)
      And an administered subscription "orders" from the topic to the queue
      And there is no dead-letter queue
      And message "news" is sent to the topic with a delivery delay of 2 s and delivery mode <mode>
      And message "control" is sent to the queue with a delivery delay of 2 s and delivery mode <mode>
      And the queue has been altered to PUT(DISABLED)
      When "control" is overdue
      Then the staging queue no longer holds "news"
      And the staging queue holds "control"
      Examples:
        | mode           |
        | persistent     |
        | non-persistent |

    @needs-durable-subscription
    Scenario: A durable subscriber never gets a publication that the subscription's full queue refused
      Given the queues of durable subscriptions are made with MAXDEPTH(1)
      And there is no dead-letter queue
      And a topic
      And a durable subscriber "steady" on the topic
      And subscriber "steady" is inactive
      And message "news" is sent to the topic with a delivery delay of 2 s
      And message "filler" is sent to the topic
      When the staging queue no longer holds "news"
      And subscriber "steady" comes back
      And 3 s pass
      Then "steady" sees "filler" exactly once
      And "steady" never sees "news"
      And the staging queue is empty

    Scenario Outline: The put of a discarded <mode> publication is not tried again, even if its report cannot be delivered
      DD-74 is about a persistent message that was dead-lettered; this publication has been discarded.

      Given a topic
      And a queue with MAXDEPTH(10)
      And a queue "replies" with MAXDEPTH(10)
      And an administered subscription "orders" from the topic to the queue
      And there is no dead-letter queue
      And message "news" is sent to the topic with a delivery delay of 2 s, delivery mode <mode>, reply-to queue "replies" and report options MQRO_EXCEPTION
      And message "control" is sent to the queue with a delivery delay of 2 s and delivery mode <mode>
      And the queue has been altered to PUT(DISABLED)
      And queue "replies" has been altered to PUT(DISABLED)
      When the staging queue no longer holds "news"
      And "control" is overdue
      And the queue is altered to PUT(ENABLED)
      Then the queue holds "control"
      And the queue does not hold "news"
      And the staging queue has become empty
      Examples:
        | mode           |
        | persistent     |
        | non-persistent |

    @may
    Scenario: The broker may report a discarded publication
      Given a topic
      And a queue with MAXDEPTH(10)
      And a queue "replies" with MAXDEPTH(10)
      And an administered subscription "orders" from the topic to the queue
      And there is no dead-letter queue
      And message "news" is sent to the topic with a delivery delay of 2 s, reply-to queue "replies" and report options MQRO_EXCEPTION
      And the queue has been altered to PUT(DISABLED)
      Then the staging queue has become empty
      And the number of reports on queue "replies" is recorded

    @kit
    Scenario: The reference broker reports a discarded publication with the target's reason, not the dead-letter queue's
      Given a topic
      And a queue with MAXDEPTH(10)
      And a queue "replies" with MAXDEPTH(10)
      And a queue "dlq" that is the dead-letter queue, with PUT(DISABLED)
      And an administered subscription "orders" from the topic to the queue
      And message "news" is sent to the topic with a delivery delay of 2 s, reply-to queue "replies" and report options MQRO_EXCEPTION
      And the queue has been altered to MAXDEPTH(0)
      Then a report on "news" with feedback MQRC_Q_FULL and no data is on queue "replies"

    Scenario: If one subscription's copy is discarded, another subscriber still gets its copy
      Given a topic
      And a queue with MAXDEPTH(10)
      And an administered subscription "orders" from the topic to the queue
      And a non-durable subscriber "live" on the topic
      And there is no dead-letter queue
      And message "news" is sent to the topic with a delivery delay of 2 s
      And the queue has been altered to PUT(DISABLED)
      Then "live" sees "news" exactly once
      And the staging queue has become empty

    @evidence @needs-durable-subscription @needs-shared-subscription @needs-topic-wildcard
    Scenario Outline: After the broker <event>, a sharer does not get a publication that the subscription's full queue refused
      Given the queues of durable subscriptions are made with MAXDEPTH(1)
      And there is no dead-letter queue
      And subscriber "left" shares durable subscription "club" on topic "sport/#"
      And subscriber "right" shares durable subscription "club" on topic "sport/#"
      And subscriber "left" is inactive
      And subscriber "right" is inactive
      And message "news" is sent to topic "sport/football" with a delivery delay of 2 s
      And message "filler" is sent to topic "sport/football"
      When the staging queue no longer holds "news"
      And the broker <event>
      And subscriber "left" comes back
      Then "left" sees "filler" exactly once
      And "left" never sees "news"
      And the staging queue is empty

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

  @DD-83 @needs-delivery-delay @needs-topic @needs-admin @own-instance
  Rule: A delayed publication that cannot be put is discarded or dead-lettered, and reported, like any delayed message
    Line 84 refers to lines 74 and 76.  Each rule is tried again with a publication instead of a message to a queue;
    DD-77 takes the place of DD-71.

    Background:
      Given a topic
      And a queue with MAXDEPTH(10)
      And an administered subscription "orders" from the topic to the queue
      And a queue "replies" with MAXDEPTH(10)

    Scenario Outline: A <mode> publication goes to the dead-letter queue when its target has become <has become>
      Given message "news" is sent to the topic with a delivery delay of 2 s, a body of 300 B and delivery mode <mode>
      And the queue has been altered to <attributes>
      Then the dead-letter queue holds "news" with reason <reason> and destination the queue
      And the dead-letter queue holds 1 message
      And the staging queue has become empty
      Examples:
        | mode           | has become        | attributes    | reason                 |
        | persistent     | disabled for puts | PUT(DISABLED) | MQRC_PUT_INHIBITED     |
        | non-persistent | disabled for puts | PUT(DISABLED) | MQRC_PUT_INHIBITED     |
        | persistent     | full              | MAXDEPTH(0)   | MQRC_Q_FULL            |
        | persistent     | too small         | MAXMSGL(299)  | MQRC_MSG_TOO_BIG_FOR_Q |

    @needs-durable-subscription
    Scenario: A publication goes to the dead-letter queue if the queue of a durable subscriber is full
      Given the queues of durable subscriptions are made with MAXDEPTH(1)
      And a durable subscriber "steady" on the topic
      And subscriber "steady" is inactive
      And message "news" is sent to the topic with a delivery delay of 2 s
      And message "filler" is sent to the topic
      When the staging queue no longer holds "news"
      And subscriber "steady" comes back
      Then "news" on the dead-letter queue has dead-letter reason MQRC_Q_FULL
      And "steady" never sees "news"

    Scenario: A publication with MQRO_DISCARD_MSG is discarded when its target refuses it
      Given message "news" is sent to the topic with a delivery delay of 2 s and report options MQRO_DISCARD_MSG
      And message "control" is sent to the topic with a delivery delay of 2 s
      And the queue has been altered to PUT(DISABLED)
      When the staging queue no longer holds "news"
      Then the dead-letter queue holds "control"
      And the dead-letter queue does not hold "news"
      And the staging queue has become empty

    Scenario Outline: A dead-lettered publication with <option> causes a report with <data>
      Given message "news" is sent to the topic with a delivery delay of 2 s, a body of 300 B, reply-to queue "replies" and report options <option>
      And the queue has been altered to PUT(DISABLED)
      Then a report on "news" with feedback MQRC_PUT_INHIBITED and <data> is on queue "replies"
      And queue "replies" holds 1 report
      And the dead-letter queue holds "news"
      Examples:
        | option                        | data                            |
        | MQRO_EXCEPTION                | no data                         |
        | MQRO_EXCEPTION_WITH_DATA      | the first 100 bytes of its body |
        | MQRO_EXCEPTION_WITH_FULL_DATA | all of its body                 |

    Scenario: A report on a publication goes to the dead-letter queue if the reply-to queue refuses the report
      Given message "news" is sent to the topic with a delivery delay of 2 s, reply-to queue "replies" and report options MQRO_EXCEPTION
      And the queue has been altered to PUT(DISABLED)
      And queue "replies" has been altered to PUT(DISABLED)
      Then the dead-letter queue holds a report on "news" with reason MQRC_PUT_INHIBITED and destination queue "replies"
      And the dead-letter queue holds "news"

    Scenario: A persistent publication whose report cannot be delivered is backed out and processed again
      Given a queue "dlq" that is the dead-letter queue, with MAXDEPTH(1)
      And message "news" is sent to the topic with a delivery delay of 2 s, delivery mode persistent, reply-to queue "replies" and report options MQRO_EXCEPTION
      And the queue has been altered to PUT(DISABLED)
      And queue "replies" has been altered to PUT(DISABLED)
      When "news" is overdue
      And the queue is altered to PUT(ENABLED)
      Then the queue holds "news"
      And queue "dlq" is empty
      And queue "replies" is empty
      And the staging queue has become empty

    Scenario: A non-persistent publication whose report is dropped stays on the dead-letter queue and is not processed again
      Given a queue "dlq" that is the dead-letter queue, with MAXDEPTH(1)
      And message "news" is sent to the topic with a delivery delay of 2 s, delivery mode non-persistent, reply-to queue "replies" and report options MQRO_EXCEPTION
      And the queue has been altered to PUT(DISABLED)
      And queue "replies" has been altered to PUT(DISABLED)
      When the staging queue no longer holds "news"
      And the queue is altered to PUT(ENABLED)
      And 4 s pass
      Then queue "dlq" holds "news"
      And the queue is empty
      And queue "replies" is empty

    Scenario: A publication for a deleted administered subscription is dropped silently
      Given message "news" is sent to the topic with a delivery delay of 2 s
      And a non-durable subscriber "live" on the topic
      And message "more" is sent to the topic with a delivery delay of 2 s
      When administered subscription "orders" is deleted
      And the staging queue no longer holds "news"
      Then "live" sees "more" exactly once
      And the queue is empty
      And the dead-letter queue is empty
      And the staging queue is empty

    Scenario: If one subscription's queue refuses its copy, another subscription's queue still gets its own copy
      Given a queue "other" with MAXDEPTH(10)
      And an administered subscription "others" from the topic to queue "other"
      And message "news" is sent to the topic with a delivery delay of 2 s
      And the queue has been altered to PUT(DISABLED)
      Then queue "other" holds "news"
      And the dead-letter queue holds "news" with reason MQRC_PUT_INHIBITED and destination the queue
      And the staging queue has become empty

    Scenario: The report on a publication with MQRO_PASS_MSG_ID and MQRO_PASS_CORREL_ID has both ids of the publication
      Given message "news" is sent to the topic with a delivery delay of 2 s, correlation id "c1", reply-to queue "replies" and report options MQRO_EXCEPTION, MQRO_PASS_MSG_ID and MQRO_PASS_CORREL_ID
      And the queue has been altered to PUT(DISABLED)
      Then the report on "news" on queue "replies" has the message id of the original as its message id
      And the report on "news" on queue "replies" has the correlation id of the original as its correlation id

    @evidence @needs-durable-subscription @needs-shared-subscription
    Scenario Outline: If a shared subscription's full queue refused a publication, the publication stays on the dead-letter queue when the broker <event>
      Given the queues of durable subscriptions are made with MAXDEPTH(1)
      And subscriber "left" shares durable subscription "club" on the topic
      And subscriber "right" shares durable subscription "club" on the topic
      And subscriber "left" is inactive
      And subscriber "right" is inactive
      And message "news" is sent to the topic with a delivery delay of 2 s
      And message "filler" is sent to the topic
      When the staging queue no longer holds "news"
      And the broker <event>
      And subscriber "left" comes back
      Then "news" on the dead-letter queue has dead-letter reason MQRC_Q_FULL
      And "left" sees "filler" exactly once
      And "left" never sees "news"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |
