Feature: The broker resolves the queue name of a delayed message twice
  IBM MQ, JMS 2.0 delivery delay, lines 54 and 58.

  @DD-50 @needs-delivery-delay @needs-admin
  Rule: The name of a queue is resolved at the send, and again when the delay is over
    Line 54.  The name's meaning at the send decides whether the send is accepted; its meaning at the end of the delay
    decides where the message goes.

    Scenario: If an alias is re-pointed during the delay, its new queue gets the message
      Given a queue "old" with MAXDEPTH(10)
      And a queue "new" with MAXDEPTH(10)
      And an alias "front" for queue "old"
      When message "m1" is sent to alias "front" with a delivery delay of 2 s
      And alias "front" is re-pointed to queue "new"
      Then queue "new" holds "m1"
      And queue "old" does not hold "m1"

    Scenario: If an alias is re-pointed twice during the delay, its last queue gets the message
      Given a queue "old" with MAXDEPTH(10)
      And a queue "between" with MAXDEPTH(10)
      And a queue "new" with MAXDEPTH(10)
      And an alias "front" for queue "old"
      When message "m1" is sent to alias "front" with a delivery delay of 2 s
      And alias "front" is re-pointed to queue "between"
      And alias "front" is re-pointed to queue "new"
      Then queue "new" holds "m1"
      And queue "between" does not hold "m1"
      And queue "old" does not hold "m1"

    Scenario: If an alias is re-pointed after two sends of one producer, the alias's new queue gets both messages
      Given a queue "old" with MAXDEPTH(10)
      And a queue "new" with MAXDEPTH(10)
      And an alias "front" for queue "old"
      And a producer on alias "front"
      And the producer's delivery delay is 2 s
      When the producer sends message "first"
      And the producer sends message "second"
      And alias "front" is re-pointed to queue "new"
      Then queue "new" holds "first" and "second"
      And queue "old" does not hold "first" and "second"

    Scenario: Re-pointing an alias after the delay does not move the message
      Given a queue "old" with MAXDEPTH(10)
      And a queue "new" with MAXDEPTH(10)
      And an alias "front" for queue "old"
      When message "m1" is sent to alias "front" with a delivery delay of 1 s
      Then queue "old" holds "m1"
      When alias "front" is re-pointed to queue "new"
      Then queue "old" holds "m1"
      And queue "new" does not hold "m1"

    Scenario: If an alias is deleted during the delay, its former queue does not get the message
      The document does not say where the message goes then: to the dead-letter queue, or to a queue that is created
      for it.

      Given a queue "old" with MAXDEPTH(10)
      And an alias "front" for queue "old"
      And message "m1" is sent to alias "front" with a delivery delay of 2 s
      When the sender's connection is closed
      And alias "front" is deleted
      And the staging queue no longer holds "m1"
      And message "now" is sent to queue "old"
      Then queue "old" holds "now"
      And queue "old" does not hold "m1"

    Scenario: If a queue replaces the alias of the same name during the delay, this queue gets the message
      Given a queue "old" with MAXDEPTH(10)
      And an alias "front" for queue "old"
      And message "m1" is sent to alias "front" with a delivery delay of 2 s
      When the sender's connection is closed
      And alias "front" is deleted
      And queue "front" is defined with MAXDEPTH(10)
      Then queue "front" holds "m1"
      And queue "old" does not hold "m1"

    @evidence @needs-restart
    Scenario: If an alias is re-pointed after a restart during the delay, its new queue gets the message
      Given a queue "old" with MAXDEPTH(10)
      And a queue "new" with MAXDEPTH(10)
      And an alias "front" for queue "old"
      When message "m1" is sent to alias "front" with a delivery delay of 2 s
      And the broker is restarted
      And alias "front" is re-pointed to queue "new"
      Then queue "new" holds "m1"
      And queue "old" does not hold "m1"

    Scenario: A queue that is deleted and defined again during the delay gets the message
      Given a queue "orders" with MAXDEPTH(10)
      And a message is sent to queue "orders" with a delivery delay of 2 s
      When the sender's connection is closed
      And queue "orders" is deleted
      And queue "orders" is defined with MAXDEPTH(20)
      Then queue "orders" holds "message"

    Scenario: A send to an alias of a queue that is disabled for puts is refused, even if the alias is re-pointed later
      Given a queue "shut" with PUT(DISABLED)
      And a queue "open" with MAXDEPTH(10)
      And an alias "front" for queue "shut"
      When message "m1" is sent to alias "front" with a delivery delay of 2 s
      And alias "front" is re-pointed to queue "open"
      And a receiver starts to wait on queue "open"
      And message "control" is sent to alias "front" with a delivery delay of 3 s
      Then sending "m1" is refused
      And the receiver sees "control" exactly once
      And the receiver never sees the refused "m1"

    Scenario: If an alias replaces the queue of the same name during the delay, the alias's queue gets the message
      Given a queue "new" with MAXDEPTH(10)
      And a queue "orders" with MAXDEPTH(10)
      And message "m1" is sent to queue "orders" with a delivery delay of 2 s
      And the sender's connection has been closed
      And queue "orders" has been deleted
      And an alias "orders" for queue "new"
      Then queue "new" holds "m1"
      And the staging queue does not hold "m1"

    @needs-non-persistent
    Scenario: A non-persistent message goes to the queue to which its alias points at the end of the delay
      Given a queue "old" with MAXDEPTH(10)
      And a queue "new" with MAXDEPTH(10)
      And an alias "front" for queue "old"
      When message "m1" is sent to alias "front" with a delivery delay of 2 s and delivery mode non-persistent
      And alias "front" is re-pointed to queue "new"
      Then queue "new" holds "m1"
      And queue "old" does not hold "m1"

    Scenario: Each message goes to the queue to which the alias points when the message's own delay is over
      Given a queue "old" with MAXDEPTH(10)
      And a queue "new" with MAXDEPTH(10)
      And an alias "front" for queue "old"
      And a receiver is waiting on queue "old"
      When message "m1" is sent to alias "front" with a delivery delay of 1 s
      And message "m2" is sent to alias "front" with a delivery delay of 10 s
      And message "m3" is sent to alias "front" with a delivery delay of 10 s
      Then the receiver sees "m1" exactly once
      When alias "front" is re-pointed to queue "new"
      Then queue "new" holds "m2" and "m3"
      And the receiver never sees "m2" and "m3"

    @needs-local-transaction
    Scenario: A message of a unit of work goes to the queue to which its alias points at the end of the delay
      Given a queue "old" with MAXDEPTH(10)
      And a queue "new" with MAXDEPTH(10)
      And an alias "front" for queue "old"
      And session "work" in transacted mode
      When message "m1" is sent in session "work" to alias "front" with a delivery delay of 2 s
      And session "work" is committed
      And alias "front" is re-pointed to queue "new"
      Then queue "new" holds "m1"
      And queue "old" does not hold "m1"

    @evidence @needs-kill
    Scenario: If the broker is killed after an alias is re-pointed, the alias's new queue still gets the message
      Given a queue "old" with MAXDEPTH(10)
      And a queue "new" with MAXDEPTH(10)
      And an alias "front" for queue "old"
      When message "m1" is sent to alias "front" with a delivery delay of 2 s
      And alias "front" is re-pointed to queue "new"
      And the broker is killed and comes back
      Then queue "new" holds "m1"
      And queue "old" does not hold "m1"

    @kit @needs-topic
    Scenario: If an alias of a topic replaces the queue of the same name during the delay, the message is published
      Given a topic
      And a non-durable subscriber "reader" on the topic
      And a queue "orders" with MAXDEPTH(10)
      And message "m1" is sent to queue "orders" with a delivery delay of 2 s
      And the sender's connection has been closed
      And queue "orders" has been deleted
      And an alias "orders" for the topic
      Then "reader" sees "m1" exactly once

    @kit @needs-topic
    Scenario Outline: If an alias of a topic replaces a queue, subscribers get copies although another subscription's <what>
      Given a topic with NPMSGDLV(ALLAVAIL) PMSGDLV(ALLAVAIL)
      And a queue "copies" with MAXDEPTH(10)
      And an alias "front" for queue "copies"
      And a non-durable subscriber "first" on the topic
      And an administered subscription "copying" from the topic to alias "front"
      And a non-durable subscriber "last" on the topic
      And a queue "orders" with MAXDEPTH(10)
      And message "m1" is sent to queue "orders" with a delivery delay of 2 s
      And the sender's connection has been closed
      And queue "orders" has been deleted
      And an alias "orders" for the topic
      And <refuses>
      Then "first" sees "m1" exactly once
      And "last" sees "m1" exactly once

      Examples:
        | what                       | refuses                                           |
        | queue is disabled for puts | queue "copies" has been altered to PUT(DISABLED)  |
        | alias points to a topic    | alias "front" has been altered to TARGTYPE(TOPIC) |

    @evidence @topology-cluster
    Scenario: If a local queue with the clustered target's name is defined during the delay, the local queue gets the message
      Given queue "orders" at queue manager "B" has been defined with CLUSTER(SHOP) DEFBIND(NOTFIXED)
      When message "m1" is sent to queue "orders" with a delivery delay of 2 s
      And queue "orders" is defined
      Then queue "orders" holds "m1"
      And queue "orders" at queue manager "B" does not hold "m1"

    @evidence @topology-cluster
    Scenario: If an alias is re-pointed to another queue manager's queue, that queue gets the message
      Given queue "orders" has been defined
      And queue "shop" at queue manager "B" has been defined with CLUSTER(SHOP) DEFBIND(NOTFIXED)
      And an alias "front" for queue "orders" with DEFBIND(NOTFIXED)
      When message "m1" is sent to alias "front" with a delivery delay of 2 s
      And alias "front" is re-pointed to queue "shop"
      Then queue "shop" at queue manager "B" holds "m1"

    @evidence @needs-xa
    Scenario: A message of a global unit of work goes to the queue to which its alias points at the end of the delay
      Given a queue "old" with MAXDEPTH(10)
      And a queue "new" with MAXDEPTH(10)
      And an alias "front" for queue "old"
      And session "work" in xa mode
      And branch "job" has been started in session "work"
      When message "m1" is sent in session "work" to alias "front" with a delivery delay of 2 s
      And branch "job" is ended
      And branch "job" is prepared
      And branch "job" is committed
      And alias "front" is re-pointed to queue "new"
      Then queue "new" holds "m1"

  @DD-52 @needs-delivery-delay @needs-admin
  Rule: If the queue's definition decides the persistence or priority of a message, the first resolution fixes this value
    Line 58.  DEFPSIST and DEFPRTY decide if the sender leaves persistence and priority to the destination.

    Scenario Outline: A message keeps its persistence when DEFPSIST changes from <before> to <after> during the delay
      Given a queue with DEFPSIST(<before>)
      When message "m1" is sent to the queue with a delivery delay of 2 s and delivery mode as the destination defines
      And the queue is altered to DEFPSIST(<after>)
      Then "m1" on the queue is <kept>
      Examples:
        | before | after | kept           |
        | YES    | NO    | persistent     |
        | NO     | YES   | non-persistent |

    @needs-priority
    Scenario Outline: A message keeps its priority when DEFPRTY changes from <before> to <after> during the delay
      Given a queue with DEFPRTY(<before>)
      When message "m1" is sent to the queue with a delivery delay of 2 s and priority as the destination defines
      And the queue is altered to DEFPRTY(<after>)
      Then "m1" on the queue has Priority "<before>"
      Examples:
        | before | after |
        | 7      | 2     |
        | 0      | 9     |

    @kit @needs-priority
    Scenario: A message that is sent with priority 0 keeps it on a queue with another DEFPRTY
      Given a queue with DEFPRTY(5)
      When message "m1" is sent to the queue with a delivery delay of 2 s and priority 0
      Then "m1" on the queue has Priority "0"

    @kit @needs-priority
    Scenario: Altering and re-pointing an alias during the delay does not change a message's persistence and priority
      Given a queue "old" with DEFPRTY(1) DEFPSIST(NO)
      And a queue "new" with DEFPRTY(9) DEFPSIST(NO)
      And an alias "front" for queue "old" with DEFPRTY(7) DEFPSIST(YES)
      When message "m1" is sent to alias "front" with a delivery delay of 2 s, delivery mode as the destination defines and priority as the destination defines
      And alias "front" is altered to DEFPRTY(3) DEFPSIST(NO)
      And alias "front" is re-pointed to queue "new"
      Then "m1" on queue "new" has Priority "7"
      And "m1" on queue "new" is persistent

    @evidence @needs-priority
    Scenario: A staged message already has the persistence and priority of the queue's definition
      Given a queue with DEFPSIST(YES) DEFPRTY(7)
      When message "m1" is sent to the queue with a delivery delay of 2 s, delivery mode as the destination defines and priority as the destination defines
      Then "m1" on the staging queue has Priority "7"
      And "m1" on the staging queue is persistent

    @needs-priority
    Scenario: The receiver sees the persistence and priority that the queue's definition had at the send
      Given a queue with DEFPSIST(NO) DEFPRTY(7)
      And a receiver is waiting on the queue
      When message "m1" is sent to the queue with a delivery delay of 2 s, delivery mode as the destination defines and priority as the destination defines
      And the queue is altered to DEFPSIST(YES) DEFPRTY(2)
      Then message "m1" as seen by "receiver" shows JMSPriority "7"
      And message "m1" as seen by "receiver" shows JMSDeliveryMode "NON_PERSISTENT"

    @needs-priority @needs-local-transaction
    Scenario: In a unit of work, persistence and priority are fixed at the send, not at the commit
      Given a queue with DEFPSIST(YES) DEFPRTY(7)
      And session "work" in transacted mode
      When message "m1" is sent in session "work" to the queue with a delivery delay of 2 s, delivery mode as the destination defines and priority as the destination defines
      And the queue is altered to DEFPSIST(NO) DEFPRTY(2)
      And session "work" is committed
      Then "m1" on the queue has Priority "7"
      And "m1" on the queue is persistent

    @evidence @needs-priority @needs-restart
    Scenario: After a restart, a message has the persistence and priority that the queue's definition had at the send
      Given a queue with DEFPSIST(YES) DEFPRTY(7)
      When message "m1" is sent to the queue with a delivery delay of 2 s, delivery mode as the destination defines and priority as the destination defines
      And the queue is altered to DEFPSIST(NO) DEFPRTY(2)
      And the broker is restarted
      Then "m1" on the queue has Priority "7"
      And "m1" on the queue is persistent

    @needs-priority
    Scenario: A message has the persistence and priority that its sender has set, whatever the queue's definition is
      Given a queue with DEFPSIST(YES) DEFPRTY(7)
      And a receiver is waiting on the queue
      When message "m1" is sent to the queue with a delivery delay of 2 s, delivery mode non-persistent and priority 3
      And the queue is altered to DEFPSIST(YES) DEFPRTY(2)
      Then message "m1" as seen by "receiver" shows JMSPriority "3"
      And message "m1" as seen by "receiver" shows JMSDeliveryMode "NON_PERSISTENT"

    @kit @needs-priority @needs-topic @own-instance
    Scenario: A publication has the persistence and priority that the topic's definition had at the send
      Line 58 names the queue's definition.  IBM MQ's topics have the same attributes.

      Given a topic with DEFPSIST(NO) DEFPRTY(7) NPMSGDLV(ALLAVAIL) PMSGDLV(ALLAVAIL)
      And a non-durable subscriber "reader" on the topic
      When message "m1" is sent to the topic with a delivery delay of 2 s, delivery mode as the destination defines and priority as the destination defines
      And the topic is altered to DEFPSIST(YES) DEFPRTY(2)
      Then message "m1" as seen by "reader" shows JMSPriority "7"
      And message "m1" as seen by "reader" shows JMSDeliveryMode "NON_PERSISTENT"

    @evidence @needs-priority @needs-kill
    Scenario: After a kill, a message has the persistence and priority that the queue's definition had at the send
      Given a queue with DEFPSIST(YES) DEFPRTY(7)
      When message "m1" is sent to the queue with a delivery delay of 2 s, delivery mode as the destination defines and priority as the destination defines
      And the queue is altered to DEFPSIST(NO) DEFPRTY(2)
      And the broker is killed and comes back
      Then "m1" on the queue has Priority "7"
      And "m1" on the queue is persistent

    @evidence @topology-cluster
    Scenario: A message for another queue manager's queue has the persistence and priority of the definition at the send
      Given queue "orders" at queue manager "B" has been defined with CLUSTER(SHOP) DEFBIND(NOTFIXED) DEFPRTY(7) DEFPSIST(YES)
      When message "m1" is sent to queue "orders" with a delivery delay of 2 s, priority as the destination defines and delivery mode as the destination defines
      And queue "orders" at queue manager "B" is altered to DEFPRTY(2) DEFPSIST(NO)
      Then "m1" on queue "orders" at queue manager "B" has Priority "7"
      And "m1" on queue "orders" at queue manager "B" is persistent

    @evidence @needs-xa
    Scenario: In a branch of a global unit of work, persistence and priority are fixed at the send, too
      Given a queue with DEFPRTY(7) DEFPSIST(YES)
      And session "work" in xa mode
      And branch "job" has been started in session "work"
      When message "m1" is sent in session "work" to the queue with a delivery delay of 2 s, priority as the destination defines and delivery mode as the destination defines
      And the queue is altered to DEFPRTY(2) DEFPSIST(NO)
      And branch "job" is ended
      And branch "job" is prepared
      And branch "job" is committed
      Then "m1" on the queue has Priority "7"
      And "m1" on the queue is persistent

    @evidence @needs-priority
    Scenario: If two producers leave the priority to the queue, each message has the queue's DEFPRTY at its own send
      Given a queue with DEFPRTY(7)
      And session "work" in auto mode
      And producer "first" of session "work" on the queue with a delivery delay of 2 s and priority as the destination defines
      And producer "second" of session "work" on the queue with a delivery delay of 2 s and priority as the destination defines
      When producer "first" sends message "m1"
      And the queue is altered to DEFPRTY(2)
      And producer "second" sends message "m2"
      Then "m1" on the queue has Priority "7"
      And "m2" on the queue has Priority "2"
