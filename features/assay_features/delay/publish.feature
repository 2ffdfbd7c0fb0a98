Feature: A delayed publication goes to the subscriptions that exist at its send
  IBM MQ, JMS 2.0 delivery delay, lines 56 and 82.

  @DD-51 @needs-delivery-delay @needs-topic
  Rule: The broker matches a delayed publication with the subscriptions at the send
    Lines 56 and 82: the broker matches when the application calls send, and stages one message for each match.  A
    subscription that is made during the delay gets no copy.  A subscription that exists at the send gets one, even if its
    subscriber is inactive at the end of the delay.

    @needs-shared-subscription @needs-durable-subscription
    Scenario: Two sharers of a subscription together get the publication once
      Given a topic
      And subscriber "left" shares durable subscription "pair" on the topic
      And subscriber "right" shares durable subscription "pair" on the topic
      When message "news" is sent to the topic with a delivery delay of 1 s
      Then "left" and "right" together see "news" exactly once

    Scenario: A non-durable subscriber that subscribes during the delay does not get the publication
      Given a topic
      And a non-durable subscriber "early" on the topic
      When message "news" is sent to the topic with a delivery delay of 2 s
      And a non-durable subscriber "late" subscribes to the topic
      Then "early" sees "news" exactly once
      And "late" never sees "news"

    @needs-durable-subscription
    Scenario: A durable subscriber that subscribes during the delay does not get the publication
      Given a topic
      And a non-durable subscriber "early" on the topic
      When message "news" is sent to the topic with a delivery delay of 2 s
      And a durable subscriber "late" subscribes to the topic
      Then "early" sees "news" exactly once
      And "late" never sees "news"

    @evidence @needs-admin @needs-queue-limit @needs-queue-look @needs-durable-subscription
    Scenario Outline: An administered subscription gets the publication, although the broker <event> during the delay
      Given a topic
      And a queue with MAXDEPTH(10)
      And a durable subscriber "steady" on the topic
      And an administered subscription "orders" from the topic to the queue
      When message "news" is sent to the topic with a delivery delay of 5 s
      And the broker <event>
      And subscriber "steady" comes back
      Then the queue holds "news"
      And "steady" sees "news" exactly once

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @needs-durable-subscription
    Scenario: A durable subscriber that subscribed before the send gets the publication exactly once
      Given a topic
      And a durable subscriber "steady" on the topic
      When message "news" is sent to the topic with a delivery delay of 1 s
      Then sending "news" is accepted
      And "steady" sees "news" exactly once

    Scenario: A non-durable subscriber that subscribed before the send gets the publication exactly once
      Given a topic
      And a non-durable subscriber "reader" on the topic
      When message "news" is sent to the topic with a delivery delay of 1 s
      Then sending "news" is accepted
      And "reader" sees "news" exactly once

    @needs-durable-subscription
    Scenario: A durable subscriber that was inactive at the send and returns during the delay gets the publication exactly once
      Given a topic
      And a durable subscriber "steady" on the topic
      And subscriber "steady" is inactive
      When message "news" is sent to the topic with a delivery delay of 2 s
      And subscriber "steady" comes back
      Then "steady" sees "news" exactly once

    @needs-durable-subscription
    Scenario: A durable subscriber that was inactive at the send and returns after the delay gets the publication exactly once
      Given a topic
      And a durable subscriber "steady" on the topic
      And subscriber "steady" is inactive
      When message "news" is sent to the topic with a delivery delay of 1 s
      And 2 s have passed since "news" was sent
      And subscriber "steady" comes back
      Then "steady" sees "news" exactly once

    @evidence @needs-durable-subscription
    Scenario: A durable subscription that is opened for another topic during the delay gets no publication of the first topic
      Opening the subscription for another topic deletes it and creates a new one (Jakarta Messaging 3.1, section 8.3.3).

      Given a topic "old"
      And a topic "new"
      And subscriber "first" with durable subscription "news" of client "reader" on topic "old"
      When message "slow" is sent to topic "old" with a delivery delay of 5 s
      And subscriber "first" goes away
      And subscriber "second" opens durable subscription "news" of client "reader" on topic "new"
      And "slow" is overdue
      And message "now" is sent to topic "new"
      Then "second" sees "now" exactly once
      And "second" never sees "slow"

    @needs-durable-subscription @needs-non-persistent
    Scenario: A durable subscriber that leaves during the delay gets a non-persistent publication once when it returns
      Given a topic
      And a durable subscriber "steady" on the topic
      When message "news" is sent to the topic with a delivery delay of 2 s and delivery mode non-persistent
      And subscriber "steady" goes away
      And 3 s have passed since "news" was sent
      And subscriber "steady" comes back
      Then "steady" sees "news" exactly once

    @needs-durable-subscription
    Scenario: A durable subscriber that leaves during the delay gets the publication exactly once when it returns
      Given a topic
      And a durable subscriber "steady" on the topic
      When message "news" is sent to the topic with a delivery delay of 2 s
      And subscriber "steady" goes away
      And 3 s have passed since "news" was sent
      And subscriber "steady" comes back
      Then "steady" sees "news" exactly once

    @evidence
    Scenario: A subscription with noLocal does not match publications of its own connection (JMS 3.1, 8.3.2)
      Given a topic
      And session "work" in auto mode
      And receiver "own" of session "work" on the topic that gets no messages of its own connection
      When message "mine" is sent in session "work" to the topic with a delivery delay of 1 s
      And message "other" is sent to the topic with a delivery delay of 2 s
      Then "own" sees "other" exactly once
      And "own" never sees "mine"

    @needs-durable-subscription
    Scenario: A subscriber that unsubscribes and subscribes again during the delay does not get the publication
      Given a topic
      And a durable subscriber "fickle" on the topic
      And a non-durable subscriber "early" on the topic
      When message "news" is sent to the topic with a delivery delay of 2 s
      And subscriber "fickle" unsubscribes
      And subscriber "fickle" goes away
      And subscriber "fickle" comes back
      Then "early" sees "news" exactly once
      And "fickle" never sees "news"

    @needs-durable-subscription @needs-restart
    Scenario: A subscriber that unsubscribes, and subscribes again after a restart during the delay, does not get the publication
      Given a topic
      And a durable subscriber "fickle" on the topic
      When message "slow" is sent to the topic with a delivery delay of 5 s
      And subscriber "fickle" unsubscribes
      And subscriber "fickle" goes away
      And the broker is restarted
      And subscriber "fickle" comes back
      And "slow" is overdue
      And message "now" is sent to the topic
      Then "fickle" sees "now" exactly once
      And "fickle" never sees "slow"

    @evidence @needs-admin @needs-queue-limit
    Scenario: An administered subscription that is deleted and defined again during the delay gets the next publication only
      Given a topic
      And a queue with MAXDEPTH(10)
      And a receiver is waiting on the queue
      And an administered subscription "orders" from the topic to the queue
      When message "slow" is sent to the topic with a delivery delay of 2 s
      And administered subscription "orders" is deleted
      Then the command is accepted
      When administered subscription "orders" is defined from the topic to the queue
      Then the command is accepted
      When message "next" is sent to the topic with a delivery delay of 2 s
      Then the receiver sees "next" exactly once
      And the receiver never sees "slow"

    Scenario: A non-durable subscriber that leaves and comes back during the delay does not get the publication
      Given a topic
      And a non-durable subscriber "fickle" on the topic
      And a non-durable subscriber "early" on the topic
      When message "news" is sent to the topic with a delivery delay of 2 s
      And subscriber "fickle" goes away
      And subscriber "fickle" comes back
      Then "early" sees "news" exactly once
      And "fickle" never sees "news"

    @needs-durable-subscription
    Scenario: Each of several subscribers gets the publication exactly once
      Given a topic
      And a durable subscriber "one" on the topic
      And a durable subscriber "two" on the topic
      And a non-durable subscriber "three" on the topic
      When message "news" is sent to the topic with a delivery delay of 1 s
      Then "one" sees "news" exactly once
      And "two" sees "news" exactly once
      And "three" sees "news" exactly once

    @needs-local-transaction
    Scenario: If one of two subscribers leaves between send and commit, the other subscriber gets the publication
      Given a topic
      And a non-durable subscriber "gone" on the topic
      And a non-durable subscriber "stays" on the topic
      And session "work" in transacted mode
      When message "news" is sent in session "work" to the topic with a delivery delay of 1 s
      And subscriber "gone" goes away
      And session "work" is committed
      Then "stays" sees "news" exactly once

    @needs-local-transaction
    Scenario: A subscriber that subscribes between a publication's send and commit does not get the publication
      Given a topic
      And a non-durable subscriber "early" on the topic
      And session "work" in transacted mode
      When message "news" is sent in session "work" to the topic with a delivery delay of 1 s
      And a non-durable subscriber "late" subscribes to the topic
      And session "work" is committed
      Then "early" sees "news" exactly once
      And "late" never sees "news"

    @evidence @needs-durable-subscription @needs-restart
    Scenario: After a restart, the broker does not match the publication with the subscriptions again
      Given a topic
      And a durable subscriber "early" on the topic
      When message "news" is sent to the topic with a delivery delay of 2 s
      And a durable subscriber "late" subscribes to the topic
      And the broker is restarted
      And subscriber "early" comes back
      And subscriber "late" comes back
      Then "early" sees "news" exactly once
      And "late" never sees "news"

    @needs-shared-subscription
    Scenario: If one of two sharers of a subscription leaves during the delay, the other sharer gets the publication
      Given a topic
      And subscriber "left" shares non-durable subscription "pair" on the topic
      And subscriber "right" shares non-durable subscription "pair" on the topic
      When message "news" is sent to the topic with a delivery delay of 2 s
      And subscriber "left" goes away
      Then "right" sees "news" exactly once

    @evidence @needs-topic-wildcard
    Scenario: A subscriber that subscribes to a topic pattern during the delay does not get the publication
      Given a non-durable subscriber "early" on topic "sport/football"
      When message "news" is sent to topic "sport/football" with a delivery delay of 2 s
      And a non-durable subscriber "late" subscribes to topic "sport/#"
      Then "early" sees "news" exactly once
      And "late" never sees "news"

    @needs-shared-subscription @needs-durable-subscription
    Scenario: If both sharers are inactive at the end of the delay, one of them gets the publication after their return
      Given a topic
      And subscriber "left" shares durable subscription "pair" on the topic
      And subscriber "right" shares durable subscription "pair" on the topic
      When message "news" is sent to the topic with a delivery delay of 1 s
      And subscriber "left" goes away
      And subscriber "right" goes away
      And 3 s have passed since "news" was sent
      And subscriber "left" comes back
      And subscriber "right" comes back
      Then "left" and "right" together see "news" exactly once

    @needs-shared-subscription @needs-durable-subscription
    Scenario: A persistent publication is matched with a shared durable subscription that has no subscriber at the send
      Given a topic
      And subscriber "pair" shares durable subscription "pair" on the topic
      And subscriber "pair" is inactive
      And a non-durable subscriber "reader" on the topic
      When message "news" is sent to the topic with a delivery delay of 1 s
      Then "reader" sees "news" exactly once
      When subscriber "pair" comes back
      Then "pair" sees "news" exactly once

    @needs-non-persistent @needs-shared-subscription @needs-durable-subscription
    Scenario: A shared durable subscription without a subscriber at the send gets a non-persistent publication at most once
      A broker need not keep non-persistent messages for a subscription without a subscriber (PERSIST, lines 50 and 59).

      Given a topic
      And subscriber "pair" shares durable subscription "pair" on the topic
      And subscriber "pair" is inactive
      And a non-durable subscriber "reader" on the topic
      When message "news" is sent to the topic with a delivery delay of 1 s and delivery mode non-persistent
      Then "reader" sees "news" exactly once
      When subscriber "pair" comes back
      Then "pair" sees "news" at most once

    @kit @needs-non-persistent @needs-shared-subscription @needs-durable-subscription
    Scenario: The reference broker keeps a non-persistent publication for a shared durable subscription that has no subscriber at the send
      Given a topic
      And subscriber "pair" shares durable subscription "pair" on the topic
      And subscriber "pair" is inactive
      When message "news" is sent to the topic with a delivery delay of 1 s and delivery mode non-persistent
      And 3 s have passed since "news" was sent
      And subscriber "pair" comes back
      Then "pair" sees "news" exactly once

    @evidence @needs-shared-subscription @needs-durable-subscription @needs-topic-wildcard
    Scenario: A shared durable subscription to a topic pattern gets a publication although the subscription has no subscriber at the send
      Given subscriber "pair" shares durable subscription "pair" on topic "sport/#"
      And subscriber "pair" is inactive
      When message "news" is sent to topic "sport/football" with a delivery delay of 2 s
      And subscriber "pair" comes back
      Then "pair" sees "news" exactly once

    @needs-selector @needs-durable-subscription
    Scenario: Of two durable subscribers, only the one whose selector matches gets the publication
      Given a topic
      And a durable subscriber "fond" on the topic for messages with "colour = 'red'"
      And a durable subscriber "averse" on the topic for messages with "colour = 'blue'"
      When message "news" is sent to the topic with a delivery delay of 1 s and property colour = "red"
      Then "fond" sees "news" exactly once
      And "averse" never sees "news"

    Scenario: Each of two publications goes to the subscribers that exist at its own send
      Given a topic
      And a non-durable subscriber "early" on the topic
      When message "first" is sent to the topic with a delivery delay of 3 s
      And a non-durable subscriber "late" subscribes to the topic
      And message "second" is sent to the topic with a delivery delay of 3 s
      Then "early" sees "first" and "second" exactly once
      And "late" sees "second" exactly once
      And "late" never sees "first"

    @needs-non-persistent
    Scenario: A non-durable subscriber that subscribes during the delay does not get a non-persistent publication
      Given a topic
      And a non-durable subscriber "early" on the topic
      When message "news" is sent to the topic with a delivery delay of 2 s and delivery mode non-persistent
      And a non-durable subscriber "late" subscribes to the topic
      Then "early" sees "news" exactly once
      And "late" never sees "news"

    @needs-local-transaction @needs-durable-subscription
    Scenario: A durable subscriber that leaves between a publication's send and commit gets the publication on its return
      Given a topic
      And a durable subscriber "steady" on the topic
      And session "work" in transacted mode
      When message "news" is sent in session "work" to the topic with a delivery delay of 1 s
      And subscriber "steady" goes away
      And session "work" is committed
      And subscriber "steady" comes back
      Then "steady" sees "news" exactly once

    @evidence @needs-durable-subscription @needs-kill
    Scenario: After a kill, the broker does not match the publication with the subscriptions again
      Given a topic
      And a durable subscriber "early" on the topic
      When message "news" is sent to the topic with a delivery delay of 2 s
      And a durable subscriber "late" subscribes to the topic
      And the broker is killed and comes back
      And subscriber "early" comes back
      And subscriber "late" comes back
      Then "early" sees "news" exactly once
      And "late" never sees "news"
