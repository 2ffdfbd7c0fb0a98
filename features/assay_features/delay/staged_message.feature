Feature: A staged message can be found and taken back, and arrives unaltered
  IBM MQ, JMS 2.0 delivery delay, lines 35 and 64.

  @DD-37 @needs-delivery-delay @needs-admin @needs-staging-queue
  Rule: A staged message has a new message id, and its original message id as its correlation id
    Line 35.  The original message id is the one that the sender's message shows after the send.

    @needs-non-persistent @needs-message-id
    Scenario Outline: A <mode> message is staged under a new id
      Given an empty queue
      When message "m1" is sent to the queue with a delivery delay of 1 h and delivery mode <mode>
      Then "m1" on the staging queue has a new message id, and its original message id as its correlation id
      Examples:
        | mode           |
        | persistent     |
        | non-persistent |

    @needs-message-id
    Scenario: A message with its own correlation id is staged under a new id
      Given an empty queue
      When message "m1" is sent to the queue with a delivery delay of 1 h and correlation id "order 7"
      Then "m1" on the staging queue has a new message id, and its original message id as its correlation id

    @needs-topic @needs-message-id
    Scenario: A publication is staged under a new id
      Given a topic
      And a non-durable subscriber "reader" on the topic
      When message "news" is sent to the topic with a delivery delay of 1 h
      Then "news" on the staging queue has a new message id, and its original message id as its correlation id

    @needs-message-id
    Scenario Outline: After the broker <event>, a message is still staged under its new id
      Given an empty queue
      When message "m1" is sent to the queue with a delivery delay of 1 h
      And the broker <event>
      Then "m1" on the staging queue has a new message id, and its original message id as its correlation id

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @needs-local-transaction @needs-message-id
    Scenario: A message of a unit of work is staged under a new id
      Given an empty queue
      And session "work" in transacted mode
      When message "m1" is sent in session "work" to the queue with a delivery delay of 1 h and correlation id "order 7"
      And session "work" is committed
      Then "m1" on the staging queue has a new message id, and its original message id as its correlation id

    @kit @needs-authority @own-instance
    Scenario: A user who browses the staging queue sees the new id of a staged message, too
      Given an empty queue
      And user "monitor" may browse the staging queue
      When message "m1" is sent to the queue with a delivery delay of 1 h and correlation id "order 7"
      Then user "monitor" finds "m1" by browsing the staging queue, with a new message id, and its original message id as correlation id

    Scenario: Messages that are sent in quick succession are staged under different ids
      Given an empty queue
      When messages "m1" to "m5" are sent to the queue with a delivery delay of 1 h
      Then "m1" to "m5" on the staging queue have different message ids

    @needs-topic
    Scenario: The copies of a publication are staged under different ids
      Given a topic
      And a non-durable subscriber "left" on the topic
      And a non-durable subscriber "right" on the topic
      When message "news" is sent to the topic with a delivery delay of 1 h
      Then the 2 copies of "news" on the staging queue have different message ids

    @needs-xa @needs-message-id
    Scenario: A message of a global unit of work is staged under a new id
      Given an empty queue
      And session "work" in xa mode
      And branch "job" has been started in session "work"
      When message "m1" is sent in session "work" to the queue with a delivery delay of 1 h and correlation id "order 7"
      And branch "job" is ended
      And branch "job" is prepared
      And branch "job" is committed
      Then "m1" on the staging queue has a new message id, and its original message id as its correlation id

    @evidence @needs-message-id
    Scenario: If a message object is sent twice, the two messages are staged under new, different ids
      Given an empty queue
      And a producer on the queue
      And the producer's delivery delay is 1 h
      When the producer sends message "m1"
      And the producer sends message "m2" with the message object of the send before
      Then "m1" on the staging queue has a new message id, and its original message id as its correlation id
      And "m2" on the staging queue has a new message id, and its original message id as its correlation id
      And "m1" and "m2" on the staging queue have different message ids

  @DD-38 @needs-delivery-delay @needs-admin @needs-staging-queue
  Rule: An administrator can take back a staged message by its correlation id; the message is then never delivered
    Line 35 is about a delay that is far too long by mistake.  The copies of one publication share their correlation
    id, because they share their original message id: one get takes one of them.

    Scenario: A message that an administrator takes back never arrives; the other messages arrive
      Given an empty queue
      And a receiver is waiting on the queue
      When messages "m1" to "m3" are sent to the queue with a delivery delay of 5 s
      And the administrator takes "m2" off the staging queue by correlation id
      Then the administrator has taken "m2" off
      And the receiver sees "m1" and "m3" exactly once
      And the receiver never sees "m2"

    Scenario: The other messages arrive in time after one message was taken back
      Given an empty queue
      And a receiver is waiting on the queue
      When messages "m1" to "m3" are sent to the queue with a delivery delay of 5 s
      And the administrator takes "m2" off the staging queue by correlation id
      Then the receiver sees "m1" in time, 5 s after its send
      And the receiver sees "m3" in time, 5 s after its send

    Scenario: The other messages arrive in time after many messages were taken back
      Given an empty queue
      And a receiver is waiting on the queue
      When message "last" is sent to the queue with a delivery delay of 60 s
      And messages "m1" to "m100" are sent to the queue with a delivery delay of 1 h
      And message "first" is sent to the queue with a delivery delay of 20 s
      And the administrator takes "m1" to "m100" off the staging queue by correlation id
      Then the receiver sees "first" in time, 20 s after its send
      And the receiver sees "last" in time, 60 s after its send
      And the receiver sees "first" and "last" exactly once

    Scenario: A message that was sent with a correlation id can be taken back by its original message id, too
      Given an empty queue
      When message "m1" is sent to the queue with a delivery delay of 1 h and correlation id "order 7"
      And the administrator takes "m1" off the staging queue by correlation id
      Then the administrator has taken "m1" off
      And the staging queue does not hold "m1"

    Scenario: A message with a delay of a year can be taken back
      Given an empty queue
      When message "m1" is sent to the queue with a delivery delay of 8760 h
      And the administrator takes "m1" off the staging queue by correlation id
      Then the administrator has taken "m1" off
      And the staging queue does not hold "m1"

    @needs-topic
    Scenario: If several copies of one publication are staged, one get removes one copy
      Given a topic
      And a non-durable subscriber "left" on the topic
      And a non-durable subscriber "right" on the topic
      When message "news" is sent to the topic with a delivery delay of 10 s
      And the administrator takes "news" off the staging queue by correlation id
      Then the administrator has taken "news" off
      And the staging queue holds 1 copy of "news"
      And "left" and "right" together see "news" exactly once

    @needs-topic
    Scenario: A second get takes the second staged copy of a publication
      Given a topic
      And a non-durable subscriber "left" on the topic
      And a non-durable subscriber "right" on the topic
      When message "news" is sent to the topic with a delivery delay of 8 s
      And message "next" is sent to the topic with a delivery delay of 10 s
      And the administrator takes "news" off the staging queue by correlation id
      And the administrator takes "news" off the staging queue by correlation id
      Then the administrator has taken "news" off
      And "left" sees "next" exactly once
      And "right" sees "next" exactly once
      And "left" never sees "news"
      And "right" never sees "news"

    @needs-restart
    Scenario: A message that was taken back does not return after a restart
      Given an empty queue
      When messages "m1" and "m2" are sent to the queue with a delivery delay of 10 s
      And the administrator takes "m1" off the staging queue by correlation id
      And the broker is restarted
      And a receiver starts to wait on the queue
      Then the receiver sees "m2" exactly once
      And the receiver never sees "m1"

    @kit @needs-restart
    Scenario: A message that was cleared from the staging queue does not return after a restart
      Given an empty queue
      When message "m1" is sent to the queue with a delivery delay of 10 s
      And the staging queue is cleared
      And the broker is restarted
      And a receiver starts to wait on the queue
      And "m1" is overdue
      And message "now" is sent to the queue
      Then the receiver sees "now" exactly once
      And the receiver never sees "m1"

    Scenario: A message that has been moved to its target cannot be taken back
      Given an empty queue
      When message "m1" is sent to the queue with a delivery delay of 1 s
      And the staging queue no longer holds "m1"
      And the administrator takes "m1" off the staging queue by correlation id
      Then the administrator found no message
      And the queue holds "m1"

    Scenario: A get that finds no matching message removes no other message
      Given an empty queue
      When message "m1" is sent to the queue with a delivery delay of 1 s
      And message "m2" is sent to the queue with a delivery delay of 1 h
      And the staging queue no longer holds "m1"
      And the administrator takes "m1" off the staging queue by correlation id
      Then the administrator found no message
      And the staging queue holds "m2"

    @needs-restart
    Scenario: A message that survived a restart can be taken back
      Given an empty queue
      When messages "m1" and "m2" are sent to the queue with a delivery delay of 1 h
      And the broker is restarted
      And the administrator takes "m1" off the staging queue by correlation id
      Then the administrator has taken "m1" off
      And the staging queue does not hold "m1"
      And the staging queue holds "m2"

    @own-instance
    Scenario: A message that is taken back frees its place on the staging queue
      Given the staging queue has been altered to MAXDEPTH(1)
      And an empty queue
      When message "m1" is sent to the queue with a delivery delay of 1 h
      And the administrator takes "m1" off the staging queue by correlation id
      And message "m2" is sent to the queue with a delivery delay of 1 h
      Then sending "m2" is accepted
      And the staging queue holds "m2"

    @needs-non-persistent
    Scenario: A non-persistent message can be taken back, too
      Given an empty queue
      When messages "m1" and "m2" are sent to the queue with a delivery delay of 1 h and delivery mode non-persistent
      And the administrator takes "m1" off the staging queue by correlation id
      Then the administrator has taken "m1" off
      And the staging queue holds "m2"
      And the staging queue does not hold "m1"

    @needs-local-transaction
    Scenario: A message of a unit of work can be taken back, too
      Given an empty queue
      And session "work" in transacted mode
      When message "m1" is sent in session "work" to the queue with a delivery delay of 1 h and correlation id "order 7"
      And 2 s pass
      And session "work" is committed
      And the administrator takes "m1" off the staging queue by correlation id
      Then the administrator has taken "m1" off
      And the staging queue does not hold "m1"

    @own-instance
    Scenario: A due message that cannot leave the staging queue can be taken back, and is not delivered afterwards
      Given there is no dead-letter queue
      And a queue with MAXDEPTH(10)
      And messages "m1" and "m2" are sent to the queue with a delivery delay of 1 s
      And the queue has been altered to PUT(DISABLED)
      When "m2" is overdue
      And the administrator takes "m1" off the staging queue by correlation id
      Then the administrator has taken "m1" off
      When the queue is altered to PUT(ENABLED)
      And a receiver starts to wait on the queue
      Then the receiver sees "m2" exactly once
      And the receiver never sees "m1"

    @kit @needs-store-error
    Scenario: If the store refuses to remove a message that is taken back, the message is still delivered in time
      Given an empty queue
      And a receiver is waiting on the queue
      When messages "m1" and "m2" are sent to the queue with a delivery delay of 5 s
      And the broker's store refuses the next write
      And the administrator tries to take "m1" off the staging queue by correlation id
      Then the command is refused
      And the receiver sees "m1" in time, 5 s after its send
      And the receiver sees "m1" and "m2" exactly once

    @kit @needs-store-error @needs-non-persistent
    Scenario: If the store refuses to clear the staging queue, no message is removed
      Given an empty queue
      And a receiver is waiting on the queue
      When messages "m1" and "m2" are sent to the queue with a delivery delay of 5 s
      And message "light" is sent to the queue with a delivery delay of 5 s and delivery mode non-persistent
      And the broker's store refuses the next write
      And the staging queue is cleared
      Then the command is refused
      And the receiver sees "m1", "m2" and "light" exactly once
      And the receiver sees "m1" no earlier than 5 s after its send

    @needs-kill
    Scenario: A message that was taken back does not return after a kill
      Given an empty queue
      When messages "m1" and "m2" are sent to the queue with a delivery delay of 10 s
      And the administrator takes "m1" off the staging queue by correlation id
      And the broker is killed and comes back
      And a receiver starts to wait on the queue
      Then the receiver sees "m2" exactly once
      And the receiver never sees "m1"

  @DD-39 @needs-delivery-delay
  Rule: On the target the message is as it was sent
    Lines 35 and 64: the new id and the header belong to the staging queue, so on the target the original ids are back
    and the header is gone.  We ourselves expect that properties, persistence, priority and body are unaltered, too; the
    scenarios for these are tagged kit.

    @needs-non-persistent @needs-queue-look @needs-message-id
    Scenario Outline: A <mode> message on its target has its original ids
      Given an empty queue
      When message "m1" is sent to the queue with a delivery delay of 1 s, delivery mode <mode> and correlation id "order 7"
      Then "m1" on the queue has the ids that it was sent with
      Examples:
        | mode           |
        | persistent     |
        | non-persistent |

    @needs-queue-look @needs-message-id
    Scenario: A message that is sent without a correlation id has no correlation id on its target
      Given an empty queue
      When message "m1" is sent to the queue with a delivery delay of 1 s
      Then "m1" on the queue has the ids that it was sent with

    @needs-message-id
    Scenario: A receiver sees the message's original ids
      Given an empty queue
      And a receiver is waiting on the queue
      When message "m1" is sent to the queue with a delivery delay of 1 s and correlation id "order 7"
      Then the receiver sees "m1" with the ids that it was sent with

    @evidence @needs-admin @needs-authority @own-instance @needs-message-id
    Scenario: A receiver sees the message's original ids although a user has browsed the staging queue
      Given an empty queue
      And a receiver is waiting on the queue
      And user "monitor" may browse the staging queue
      When message "m1" is sent to the queue with a delivery delay of 5 s and correlation id "order 7"
      And user "monitor" browses the staging queue
      Then the receiver sees "m1" with the ids that it was sent with

    @needs-queue-look @needs-staging-queue
    Scenario: A message on its target has no staging header
      Given an empty queue
      When message "plain" is sent to the queue
      And message "m1" is sent to the queue with a delivery delay of 1 s
      Then "m1" on the queue and the undelayed "plain" have the same kinds of MQ header

    @needs-restart @needs-queue-look @needs-message-id
    Scenario: After a restart during the delay, a message has its original ids
      Given an empty queue
      When message "m1" is sent to the queue with a delivery delay of 2 s and correlation id "order 7"
      And the broker is restarted
      Then "m1" on the queue has the ids that it was sent with

    @kit @needs-non-persistent @needs-priority @needs-admin @needs-queue-look
    Scenario Outline: A message with <option> is unaltered on its target queue
      Given an empty queue
      When message "m1" is sent to the queue with a delivery delay of 1 s and <option>
      Then "m1" on the queue is as it was sent
      Examples:
        | option                                        |
        | delivery mode persistent                      |
        | delivery mode non-persistent                  |
        | priority 0                                    |
        | priority 9                                    |
        | a body of 4 KB                                |
        | a body of 1 MB                                |
        | a body of non-ASCII characters                |
        | a binary body                                 |
        | an empty body                                 |
        | property colour = "red" and property size = 7 |
        | property colour = "grün €"                    |
        | property size = 3000000000                    |
        | property size = -1                            |
        | correlation id "Auftrag №7"                   |
        | JMSType "Größe"                               |
        | property colour = "" and property size = 0    |
        | reply-to queue "replies"                      |
        | JMSType "order"                               |
        | a time to live of 1 h                         |

    @kit @needs-non-persistent @needs-priority
    Scenario Outline: A receiver sees a message with <option> as it was sent
      Given an empty queue
      And a receiver is waiting on the queue
      When message "m1" is sent to the queue with a delivery delay of 1 s and <option>
      Then the receiver sees "m1" as it was sent
      Examples:
        | option                                        |
        | a body of 1 MB and a binary body              |
        | delivery mode non-persistent                  |
        | priority 0                                    |
        | priority 9                                    |
        | a body of 4 KB                                |
        | a body of 1 MB                                |
        | a body of non-ASCII characters                |
        | a binary body                                 |
        | an empty body                                 |
        | property colour = "red" and property size = 7 |
        | property colour = "grün €"                    |
        | property size = 3000000000                    |
        | property size = -1                            |
        | correlation id "Auftrag №7"                   |
        | JMSType "Größe"                               |
        | property colour = "" and property size = 0    |
        | property weight = -0.5                        |
        | property urgent = true                        |
        | property urgent = false                       |
        | reply-to topic "replies"                      |
        | reply-to queue "replies"                      |
        | JMSType "order"                               |
        | a time to live of 1 h                         |

    @kit @judges-client
    Scenario: A message object that is changed and sent again does not alter the message that was sent before
      Given an empty queue
      And a receiver is waiting on the queue
      And a producer on the queue
      And the producer's delivery delay is 2 s
      When the producer sends message "m1" with property colour = "red"
      And the producer sends message "m2" with the message object of the send before and property colour = "blue"
      Then the receiver sees "m1" as it was sent
      And the receiver sees "m2" as it was sent

    @kit @needs-admin @needs-queue-look
    Scenario Outline: A message is unaltered although the broker <event> during the delay
      Given an empty queue
      When message "m1" is sent to the queue with a delivery delay of 2 s, priority 7, property colour = "red", reply-to queue "replies", JMSType "order" and a body of 4 KB
      And the broker <event>
      Then "m1" on the queue is as it was sent

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @needs-topic @needs-message-id
    Scenario: A subscriber sees the publication's original ids
      Given a topic
      And a non-durable subscriber "live" on the topic
      When message "news" is sent to the topic with a delivery delay of 1 s and correlation id "order 7"
      Then "live" sees "news" with the ids that it was sent with

    @kit @needs-topic @needs-non-persistent @needs-priority
    Scenario Outline: A subscriber sees a publication with <option> as it was sent
      Given a topic
      And a non-durable subscriber "live" on the topic
      When message "news" is sent to the topic with a delivery delay of 1 s and <option>
      Then "live" sees "news" as it was sent
      Examples:
        | option                                        |
        | delivery mode non-persistent                  |
        | priority 0                                    |
        | priority 9                                    |
        | a body of 4 KB                                |
        | a body of non-ASCII characters                |
        | a binary body                                 |
        | an empty body                                 |
        | property colour = "red" and property size = 7 |
        | property colour = "grün €"                    |
        | property size = 3000000000                    |
        | property size = -1                            |
        | correlation id "Auftrag №7"                   |
        | JMSType "Größe"                               |
        | property colour = "" and property size = 0    |
        | property weight = -0.5                        |
        | property urgent = true                        |
        | property urgent = false                       |
        | reply-to topic "replies"                      |
        | reply-to queue "replies"                      |
        | JMSType "order"                               |
        | a time to live of 1 h                         |

    @kit @needs-temporary-destination @needs-session
    Scenario: A message whose reply-to is a temporary queue can be answered after its delay
      Given an empty queue
      And a receiver is waiting on the queue
      And session "asker" in auto mode
      And queue "answers" is a temporary queue of session "asker"
      And receiver "reader" of session "asker" on queue "answers"
      When a message listener is set on "reader"
      And message "question" is sent to the queue with a delivery delay of 1 s and reply-to queue "answers"
      Then the receiver sees "question" as it was sent
      When message "answer" is sent to queue "answers"
      Then "reader" sees "answer" exactly once

    @kit
    Scenario: The staging of a message does not count as a delivery
      Given an empty queue
      And a receiver is waiting on the queue
      When message "m1" is sent to the queue with a delivery delay of 1 s
      Then message "m1" as seen by "receiver" shows JMSRedelivered "false"

    @kit @own-instance @needs-dead-letter-queue @needs-put-inhibit @needs-queue-limit
    Scenario: A repeated put to the target does not count as a delivery
      Given there is no dead-letter queue
      And a queue with MAXDEPTH(10)
      And message "m1" is sent to the queue with a delivery delay of 1 s and correlation id "order 7"
      And the queue has been altered to PUT(DISABLED)
      When "m1" is overdue
      And the queue is altered to PUT(ENABLED)
      And a receiver starts to wait on the queue
      Then message "m1" as seen by "receiver" shows JMSRedelivered "false"
      And the receiver sees "m1" as it was sent

    @kit @needs-priority @needs-staging-queue
    Scenario: On the target, messages are received in the order of their priorities
      Given an empty queue
      When message "low" is sent to the queue with a delivery delay of 1 s and priority 0
      And message "high" is sent to the queue with a delivery delay of 1 s and priority 9
      And the staging queue no longer holds "low" and "high"
      And a receiver starts to wait on the queue
      Then the receiver sees "high", "low" in that order

    @kit @needs-priority @needs-staging-queue
    Scenario Outline: On the target, messages are received in the order of their priorities although the broker <event> during the delay
      Given an empty queue
      When message "low" is sent to the queue with a delivery delay of 5 s and priority 0
      And message "usual" is sent to the queue with a delivery delay of 5 s
      And message "high" is sent to the queue with a delivery delay of 5 s and priority 9
      And the broker <event>
      And the staging queue no longer holds "low", "usual" and "high"
      And a receiver starts to wait on the queue
      Then the receiver sees "high", "usual" and "low" in that order

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @kit @needs-local-transaction
    Scenario: A message whose reception is rolled back is delivered again, marked as redelivered
      Given an empty queue
      And session "work" in transacted mode
      And receiver "own" of session "work" on the queue
      When message "m1" is sent to the queue with a delivery delay of 1 s
      And "own" receives a message
      And session "work" is rolled back
      Then "own" sees "m1" again, marked as redelivered

    @kit @topology-cluster @needs-non-persistent @needs-priority @needs-admin @needs-queue-depth @needs-queue-look
    Scenario Outline: A message with <option> is unaltered on another queue manager's queue
      Given queue "orders" at queue manager "B" has been defined with CLUSTER(SHOP) DEFBIND(NOTFIXED)
      When message "m1" is sent to queue "orders" with a delivery delay of 1 s and <option>
      Then "m1" on queue "orders" at queue manager "B" is as it was sent
      Examples:
        | option                                        |
        | delivery mode non-persistent                  |
        | priority 0                                    |
        | priority 9                                    |
        | a body of 4 KB                                |
        | an empty body                                 |
        | a binary body                                 |
        | property colour = "red" and property size = 7 |
        | correlation id "order 7"                      |
        | reply-to queue "replies"                      |
        | JMSType "order"                               |
        | a time to live of 1 h                         |

    @kit @needs-xa @needs-non-persistent @needs-priority @needs-admin @needs-queue-look
    Scenario Outline: A message with <option> that was sent in a branch of a global unit of work is unaltered on its target queue
      Given an empty queue
      And session "work" in xa mode
      And branch "job" has been started in session "work"
      When message "m1" is sent in session "work" to the queue with a delivery delay of 2 s and <option>
      And branch "job" is ended
      And branch "job" is prepared
      And branch "job" is committed
      Then "m1" on the queue is as it was sent
      Examples:
        | option                                        |
        | delivery mode non-persistent                  |
        | priority 0                                    |
        | priority 9                                    |
        | a body of 4 KB                                |
        | an empty body                                 |
        | a binary body                                 |
        | property colour = "red" and property size = 7 |
        | property colour = "grün €"                    |
        | property size = 3000000000                    |
        | property size = -1                            |
        | correlation id "Auftrag №7"                   |
        | JMSType "Größe"                               |
        | correlation id "order 7"                      |
        | reply-to queue "replies"                      |
        | JMSType "order"                               |
        | a time to live of 1 h                         |

    @kit @needs-xa @needs-admin @needs-queue-look
    Scenario Outline: If a branch in doubt is committed after the broker <event>, the branch's message is unaltered
      Given an empty queue
      And session "work" in xa mode
      And branch "job" has been started in session "work"
      When message "m1" is sent in session "work" to the queue with a delivery delay of 2 s, priority 7, property colour = "red", reply-to queue "replies", JMSType "order" and a body of 4 KB
      And branch "job" is ended
      And branch "job" is prepared
      And the broker <event>
      And branch "job" is committed
      Then "m1" on the queue is as it was sent

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @kit @needs-priority @needs-admin @needs-alias @needs-queue-limit @needs-queue-look
    Scenario Outline: A message with <option> that was sent to an alias is unaltered on the alias's queue
      Given a queue with MAXDEPTH(10)
      And an alias "front" for the queue
      When message "m1" is sent to alias "front" with a delivery delay of 1 s and <option>
      Then "m1" on the queue is as it was sent
      Examples:
        | option                                        |
        | priority 0                                    |
        | priority 9                                    |
        | a body of 4 KB                                |
        | property colour = "red" and property size = 7 |
        | correlation id "order 7"                      |
        | reply-to queue "replies"                      |
        | JMSType "order"                               |
        | a time to live of 1 h                         |
