Feature: The delay counts as part of the expiry interval
  IBM MQ, JMS 2.0 delivery delay, lines 62 and 64.

  @DD-55 @needs-delivery-delay @needs-time-to-live
  Rule: The time of the delay counts against the message's expiry
    Line 62: a message is put with an expiry of 20,000 ms and a delay of 5,000 ms, and got after 10,000 ms; about 50
    tenths of a second are left.  Reading: those 10 seconds count from the end of the delay, because the line counts
    15 seconds from the put.

    @needs-queue-look
    Scenario: 15 s after its send, a message with a delay of 5 s and a time to live of 20 s has an expiry interval of 5 s
      Given an empty queue
      And message "m1" is sent to the queue with a delivery delay of 5 s and a time to live of 20 s
      When 15 s have passed since "m1" was sent
      Then "m1" on the queue has the remaining part of 20 s as its Expiry, in tenths of a second, to within a second

    @needs-queue-look
    Scenario Outline: <span> after the send of a <mode> message with a delay of 5 s, the message's expiry interval is shorter by <span>
      Given an empty queue
      And message "m1" is sent to the queue with a delivery delay of 5 s, a time to live of 30 s and delivery mode <mode>
      When <span> have passed since "m1" was sent
      Then "m1" on the queue has the remaining part of 30 s as its Expiry, in tenths of a second, to within a second
      Examples:
        | mode           | span     |
        | persistent     | 5 s      |
        | persistent     | 20300 ms |
        | non-persistent | 5 s      |
        | non-persistent | 20 s     |

    @needs-queue-look
    Scenario: After a delay of 50 s, a message with a time to live of 60 s has an expiry interval of 10 s
      Given an empty queue
      And message "m1" is sent to the queue with a delivery delay of 50 s and a time to live of 1 m
      When 50 s have passed since "m1" was sent
      Then "m1" on the queue has the remaining part of 1 m as its Expiry, in tenths of a second, to within a second

    @needs-queue-look
    Scenario: A delayed message without a time to live has the expiry interval -1 (unlimited)
      Given an empty queue
      And message "m1" is sent to the queue with a delivery delay of 1 s
      Then "m1" on the queue has Expiry "-1"

    @needs-local-transaction @needs-queue-look
    Scenario: A unit of work that is committed at once does not change the expiry interval
      Given an empty queue
      And session "work" in transacted mode
      When message "m1" is sent in session "work" to the queue with a delivery delay of 5 s and a time to live of 30 s
      And session "work" is committed
      Then "m1" on the queue has the remaining part of 30 s as its Expiry, in tenths of a second, to within a second

    @needs-queue-look
    Scenario Outline: The expiry interval does not become longer if the broker <event> during the delay
      Given an empty queue
      And message "m1" is sent to the queue with a delivery delay of 10 s and a time to live of 30 s
      When 5 s have passed since "m1" was sent
      And the broker <event>
      Then "m1" on the queue has the remaining part of 30 s as its Expiry, in tenths of a second, to within a second

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @own-instance @needs-dead-letter-queue @needs-put-inhibit @needs-queue-limit @needs-queue-look
    Scenario: A message whose put is tried again does not get a longer expiry interval
      Given there is no dead-letter queue
      And a queue with MAXDEPTH(10)
      And message "m1" is sent to the queue with a delivery delay of 5 s and a time to live of 1 m
      And the queue has been altered to PUT(DISABLED)
      When "m1" is overdue
      And the queue is altered to PUT(ENABLED)
      Then "m1" on the queue has the remaining part of 1 m as its Expiry, in tenths of a second, to within a second

    @needs-dead-letter-queue @needs-put-inhibit @needs-queue-limit
    Scenario: A message that goes to the dead-letter queue does not get a longer expiry interval
      Given a queue with MAXDEPTH(10)
      And message "m1" is sent to the queue with a delivery delay of 5 s and a time to live of 1 m
      And the queue has been altered to PUT(DISABLED)
      Then "m1" on the dead-letter queue has the remaining part of 1 m as its Expiry, in tenths of a second, to within a second

    @own-instance @needs-admin
    Scenario: A message whose delay and time to live end while the queue manager is down is not delivered
      Given an empty queue
      And message "stale" is sent to the queue with a delivery delay of 1 s and a time to live of 2 s
      When queue manager "A" is stopped
      And 5 s have passed since "stale" was sent
      And queue manager "A" is started again
      And message "fresh" is sent to the queue
      And a receiver starts to wait on the queue
      Then the receiver sees "fresh" exactly once
      And the receiver never sees "stale"

    @evidence @topology-cluster @needs-admin @needs-queue-depth @needs-queue-look
    Scenario: On another queue manager's queue, the delay counts against the message's expiry interval
      Given queue "orders" at queue manager "B" has been defined with CLUSTER(SHOP) DEFBIND(NOTFIXED)
      When message "m1" is sent to queue "orders" with a delivery delay of 5 s and a time to live of 20 s
      And 15 s have passed since "m1" was sent
      Then "m1" on queue "orders" at queue manager "B" has the remaining part of 20 s as its Expiry, in tenths of a second, to within a second

    @evidence @needs-xa @needs-queue-look
    Scenario: For a message that is sent in a branch of a global unit of work, the delay counts against the expiry interval
      Given an empty queue
      And session "work" in xa mode
      And branch "job" has been started in session "work"
      When message "m1" is sent in session "work" to the queue with a delivery delay of 5 s and a time to live of 20 s
      And branch "job" is ended
      And branch "job" is prepared
      And branch "job" is committed
      And 15 s have passed since "m1" was sent
      Then "m1" on the queue has the remaining part of 20 s as its Expiry, in tenths of a second, to within a second

  @DD-57 @needs-delivery-delay @needs-time-to-live @needs-admin @needs-dead-letter-queue @own-instance
  Rule: An expiration report shows the original message, without the staging header
    Line 64.  The time to live is never below the delay, so a message can expire on the staging queue only while it
    cannot leave this queue: here its target is disabled for puts and the queue manager has no dead-letter queue, or
    the queue manager is down.  The message's report options decide which report comes and which ids it has; the
    report's body comes from the original.

    Background:
      Given a queue with MAXDEPTH(10)
      And a queue "replies" with MAXDEPTH(10)
      And there is no dead-letter queue

    Scenario Outline: An expired message with <option> causes a report with <data>
      Given message "plain" is sent to the queue
      And message "m1" is sent to the queue with a delivery delay of 2 s, a time to live of 4 s, a body of 300 B, reply-to queue "replies" and report options <option>
      And the queue has been altered to PUT(DISABLED)
      Then the staging queue holds "m1"
      And a report on "m1" with feedback MQFB_EXPIRATION and <data> is on queue "replies"
      And the report on "m1" on queue "replies" has no header of the staged message that the undelayed "plain" on the queue lacks
      Examples:
        | option                         | data                            |
        | MQRO_EXPIRATION                | no data                         |
        | MQRO_EXPIRATION_WITH_DATA      | the first 100 bytes of its body |
        | MQRO_EXPIRATION_WITH_FULL_DATA | all of its body                 |

    @evidence @needs-temporary-destination
    Scenario: An application receives the expiration report from its temporary queue
      Given session "asker" in auto mode
      And queue "answers" is a temporary queue of session "asker"
      And receiver "reader" of session "asker" on queue "answers"
      And message "m1" is sent to the queue with a delivery delay of 2 s, a time to live of 4 s, a body of 300 B, reply-to queue "answers" and report options MQRO_EXPIRATION_WITH_FULL_DATA
      And the queue has been altered to PUT(DISABLED)
      When 7 s have passed since "m1" was sent
      Then "reader" receives a report on "m1" with feedback MQFB_EXPIRATION and all of its body

    Scenario: An expired message with MQRO_EXPIRATION_WITH_DATA and a body of 60 bytes causes a report with all of its body
      Given message "m1" is sent to the queue with a delivery delay of 2 s, a time to live of 4 s, a body of 60 B, reply-to queue "replies" and report options MQRO_EXPIRATION_WITH_DATA
      And the queue has been altered to PUT(DISABLED)
      Then a report on "m1" with feedback MQFB_EXPIRATION and all of its body is on queue "replies"

    Scenario: By default, the report has a new message id, and the original's message id as its correlation id
      The report has the original's message id, not the id under which the message was staged.

      Given message "m1" is sent to the queue with a delivery delay of 2 s, a time to live of 4 s, correlation id "c1", reply-to queue "replies" and report options MQRO_EXPIRATION
      And the queue has been altered to PUT(DISABLED)
      Then the report on "m1" on queue "replies" has a new id as its message id
      And the report on "m1" on queue "replies" has the message id of the original as its correlation id

    Scenario: The report on an expired message with MQRO_PASS_MSG_ID and MQRO_PASS_CORREL_ID has both ids of the message
      Given message "m1" is sent to the queue with a delivery delay of 2 s, a time to live of 4 s, correlation id "c1", reply-to queue "replies" and report options MQRO_EXPIRATION, MQRO_PASS_MSG_ID and MQRO_PASS_CORREL_ID
      And the queue has been altered to PUT(DISABLED)
      Then the report on "m1" on queue "replies" has the message id of the original as its message id
      And the report on "m1" on queue "replies" has the correlation id of the original as its correlation id

    Scenario Outline: Once a <mode> message has expired, one report exists, and the message is on no queue
      Given message "m1" is sent to the queue with a delivery delay of 2 s, a time to live of 4 s, delivery mode <mode>, reply-to queue "replies" and report options MQRO_EXPIRATION and MQRO_EXCEPTION
      And the queue has been altered to PUT(DISABLED)
      When 7 s have passed since "m1" was sent
      And the queue is altered to PUT(ENABLED)
      Then queue "replies" holds 1 report
      And a report on "m1" with feedback MQFB_EXPIRATION is on queue "replies"
      And the staging queue has become empty
      And the queue is empty
      Examples:
        | mode           |
        | persistent     |
        | non-persistent |

    Scenario: An expired message without a report option for expiration is not reported
      Given message "m1" is sent to the queue with a delivery delay of 2 s, a time to live of 4 s, reply-to queue "replies" and report options MQRO_EXCEPTION
      And message "control" is sent to the queue with a delivery delay of 2 s, a time to live of 4 s, reply-to queue "replies" and report options MQRO_EXPIRATION
      And the queue has been altered to PUT(DISABLED)
      Then a report on "control" with feedback MQFB_EXPIRATION is on queue "replies"
      And queue "replies" holds 1 report

    Scenario: No report comes before the message has expired
      Given message "m1" is sent to the queue with a delivery delay of 2 s, a time to live of 15 s, reply-to queue "replies" and report options MQRO_EXPIRATION
      And the queue has been altered to PUT(DISABLED)
      When 8 s have passed since "m1" was sent
      Then queue "replies" holds no report
      And a report on "m1" with feedback MQFB_EXPIRATION is on queue "replies"

    Scenario: No report comes for a message that is delivered in time
      Given message "m1" is sent to the queue with a delivery delay of 2 s, a time to live of 1 h, reply-to queue "replies" and report options MQRO_EXPIRATION
      And the queue has been altered to PUT(DISABLED)
      When "m1" is overdue
      And the queue is altered to PUT(ENABLED)
      And a receiver starts to wait on the queue
      Then the receiver sees "m1" exactly once
      And queue "replies" holds no report

    Scenario: A message that expired on the staging queue while the queue manager was down is reported after the start
      Given message "plain" is sent to the queue
      And message "m1" is sent to the queue with a delivery delay of 2 s, a time to live of 4 s, a body of 300 B, reply-to queue "replies" and report options MQRO_EXPIRATION_WITH_DATA
      Then the staging queue holds "m1"
      When queue manager "A" is stopped
      And 8 s pass
      And queue manager "A" is started again
      Then a report on "m1" with feedback MQFB_EXPIRATION and the first 100 bytes of its body is on queue "replies"
      And the report on "m1" on queue "replies" has no header of the staged message that the undelayed "plain" on the queue lacks
      And queue "replies" holds 1 report

    @needs-topic @needs-durable-subscription
    Scenario: A publication that expired on the staging queue while the queue manager was down is reported after the start
      Given a topic
      And a durable subscriber "steady" on the topic
      And message "news" is sent to the topic with a delivery delay of 2 s, a time to live of 4 s, a body of 300 B, reply-to queue "replies" and report options MQRO_EXPIRATION_WITH_DATA
      When queue manager "A" is stopped
      And 8 s pass
      And queue manager "A" is started again
      Then a report on "news" with feedback MQFB_EXPIRATION and the first 100 bytes of its body is on queue "replies"
      And queue "replies" holds 1 report

    @platform-zos
    Scenario: On z/OS, a message that expired on a staging queue disabled for gets is reported after gets are enabled
      Given the staging queue has been defined with INDXTYPE(NONE) MSGDLVSQ(FIFO)
      And message "m1" is sent to the queue with a delivery delay of 2 s, a time to live of 4 s, reply-to queue "replies" and report options MQRO_EXPIRATION
      When the staging queue is altered to GET(DISABLED)
      And 8 s have passed since "m1" was sent
      And the staging queue is altered to GET(ENABLED)
      Then a report on "m1" with feedback MQFB_EXPIRATION is on queue "replies"
      And queue "replies" holds 1 report
      And the queue is empty

    Scenario Outline: An expired message with <body> causes a report with <data>
      The first 100 of the 133 octets of the non-ASCII body are 84 characters; the first 100 octets of the binary body
      are no text.

      Given message "m1" is sent to the queue with a delivery delay of 2 s, a time to live of 4 s, <body>, reply-to queue "replies" and report options <option>
      And the queue has been altered to PUT(DISABLED)
      Then a report on "m1" with feedback MQFB_EXPIRATION and <data> is on queue "replies"
      Examples:
        | body                           | option                         | data                            |
        | a body of non-ASCII characters | MQRO_EXPIRATION_WITH_DATA      | the first 100 bytes of its body |
        | a body of non-ASCII characters | MQRO_EXPIRATION_WITH_FULL_DATA | all of its body                 |
        | a binary body                  | MQRO_EXPIRATION_WITH_DATA      | the first 100 bytes of its body |
        | a binary body                  | MQRO_EXPIRATION_WITH_FULL_DATA | all of its body                 |

    @evidence @needs-kill
    Scenario: An empty message that expires after a kill of the queue manager is reported once
      Given message "m1" is sent to the queue with a delivery delay of 2 s, a time to live of 4 s, an empty body, reply-to queue "replies" and report options MQRO_EXPIRATION_WITH_FULL_DATA
      And the queue has been altered to PUT(DISABLED)
      When the broker is killed and comes back
      Then a report on "m1" with feedback MQFB_EXPIRATION and all of its body is on queue "replies"
      And queue "replies" holds 1 report
