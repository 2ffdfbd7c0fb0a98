Feature: In a publish/subscribe hierarchy, the other queue manager distributes the publication after the delay
  IBM MQ, JMS 2.0 delivery delay, line 82.  A and B are parent and child in a publish/subscribe hierarchy.

  @DD-81 @needs-delivery-delay @needs-topic @topology-hierarchy
  Rule: One message is staged for a proxy subscription, and the other queue manager distributes it after the delay
    Line 82.  The delayed publication is matched at its send with the proxy subscription, which stands for all
    subscriptions at the other queue manager.  Without a subscription there, no proxy subscription exists
    (PROXYSUB(FIRSTUSE), IBM MQ's default).  Each subscription that exists at the send receives the publication
    when the delay is over, and not before.

    Scenario Outline: A subscriber at queue manager <far> gets a publication from queue manager <near> when the delay is over
      Given a topic
      And a non-durable subscriber "reader" on the topic at queue manager "<far>"
      When message "slow" is sent to the topic at queue manager "<near>" with a delivery delay of 2 s
      Then "reader" sees "slow" exactly once
      And "reader" sees "slow" no earlier than 2 s after its send

      Examples:
        | near | far |
        | A    | B   |
        | B    | A   |

    @needs-non-persistent
    Scenario: A subscriber at the other queue manager gets a non-persistent publication when the delay is over
      Given a topic
      And a non-durable subscriber "reader" on the topic at queue manager "B"
      When message "slow" is sent to the topic with a delivery delay of 2 s and delivery mode non-persistent
      Then "reader" sees "slow" exactly once
      And "reader" sees "slow" no earlier than 2 s after its send

    @evidence @needs-admin
    Scenario: During the delay, the publication waits at the queue manager of its publisher
      Given a topic
      And a non-durable subscriber "reader" on the topic at queue manager "B"
      When message "slow" is sent to the topic with a delivery delay of 2 s
      Then the staging queue holds "slow"
      And the staging queue at queue manager "B" does not hold "slow"

    Scenario: Two subscribers at queue manager B each get the publication once
      Given a topic
      And a non-durable subscriber "first" on the topic at queue manager "B"
      And a non-durable subscriber "second" on the topic at queue manager "B"
      When message "slow" is sent to the topic with a delivery delay of 2 s
      Then "first" sees "slow" exactly once
      And "second" sees "slow" exactly once

    Scenario: A subscriber at queue manager A and a subscriber at queue manager B each get the publication once
      Given a topic
      And a non-durable subscriber "near" on the topic
      And a non-durable subscriber "far" on the topic at queue manager "B"
      When message "slow" is sent to the topic with a delivery delay of 2 s
      Then "near" sees "slow" exactly once
      And "far" sees "slow" exactly once

    @evidence @needs-admin
    Scenario: One message is staged for two subscribers at queue manager B, and each of them gets a copy
      Given a topic
      And a non-durable subscriber "first" on the topic at queue manager "B"
      And a non-durable subscriber "second" on the topic at queue manager "B"
      When message "slow" is sent to the topic with a delivery delay of 2 s
      Then the staging queue holds 1 copy of "slow"
      And "first" sees "slow" exactly once
      And "second" sees "slow" exactly once

    @evidence @needs-admin
    Scenario: One message is staged for a subscriber at queue manager A, and one for a subscriber at queue manager B
      Given a topic
      And a non-durable subscriber "near" on the topic
      And a non-durable subscriber "far" on the topic at queue manager "B"
      When message "slow" is sent to the topic with a delivery delay of 2 s
      Then the staging queue holds 2 copies of "slow"
      And "near" sees "slow" exactly once
      And "far" sees "slow" exactly once

    Scenario: If no subscription exists at the send, a later subscriber at queue manager B does not get the publication
      Given a topic
      When message "slow" is sent to the topic with a delivery delay of 1 s
      And a non-durable subscriber "late" subscribes to the topic at queue manager "B"
      And 2 s have passed since "slow" was sent
      And message "now" is sent to the topic
      Then "late" sees "now" exactly once
      And "late" never sees "slow"

    Scenario: A subscriber at queue manager B gets each of two publications after the publication's own delay
      Given a topic
      And a non-durable subscriber "reader" on the topic at queue manager "B"
      When message "slow" is sent to the topic with a delivery delay of 10 s
      And message "fast" is sent to the topic with a delivery delay of 1 s
      Then "reader" sees "fast" and "slow" exactly once
      And "reader" sees "fast" and "slow" in that order
      And "reader" sees "slow" no earlier than 10 s after its send

    @needs-local-transaction
    Scenario: A subscriber at queue manager B gets a committed publication, but not a publication that was rolled back
      Given a topic
      And a non-durable subscriber "reader" on the topic at queue manager "B"
      And session "work" in transacted mode
      When message "undone" is sent in session "work" to the topic with a delivery delay of 1 s
      And session "work" is rolled back
      And message "slow" is sent in session "work" to the topic with a delivery delay of 2 s
      And session "work" is committed
      Then "reader" sees "slow" exactly once
      And "reader" never sees "undone"

    @evidence @needs-admin @needs-durable-subscription
    Scenario: If queue manager A is down at the end of the delay, a subscriber at queue manager B gets the publication after A's start
      Given a topic
      And a durable subscriber "steady" on the topic at queue manager "B"
      When message "slow" is sent to the topic with a delivery delay of 2 s
      And queue manager "A" is stopped
      And 5 s pass
      And queue manager "A" is started again
      Then "steady" sees "slow" exactly once

    @evidence @needs-admin @needs-durable-subscription
    Scenario: If queue manager B is down at the end of the delay, a subscriber there gets the publication after B's start
      Given a topic
      And a durable subscriber "steady" on the topic at queue manager "B"
      And subscriber "steady" is inactive
      When message "slow" is sent to the topic with a delivery delay of 2 s
      And queue manager "B" is stopped
      And 5 s pass
      And queue manager "B" is started again
      And subscriber "steady" comes back
      Then "steady" sees "slow" exactly once

    @evidence @needs-store-error @needs-durable-subscription
    Scenario: A subscriber at queue manager B gets a publication exactly once although B's store refused it first
      Given a topic
      And a durable subscriber "steady" on the topic at queue manager "B"
      When message "slow" is sent to the topic with a delivery delay of 3 s
      And 1 s pass
      And the store of queue manager "B" refuses the next write
      And message "next" is sent to the topic with a delivery delay of 4 s
      Then "steady" sees "slow" and "next" exactly once

    @evidence @needs-admin @needs-durable-subscription
    Scenario: If queue manager B is down at the send, an inactive durable subscription there gets the publication after B's start
      Given a topic
      And a durable subscriber "steady" on the topic at queue manager "B"
      And subscriber "steady" is inactive
      When queue manager "B" is stopped
      And message "slow" is sent to the topic with a delivery delay of 2 s
      And 5 s pass
      And queue manager "B" is started again
      And subscriber "steady" comes back
      Then "steady" sees "slow" exactly once

    @evidence @needs-admin @needs-durable-subscription
    Scenario: A subscriber at queue manager B does not get the publication again after both queue managers are restarted
      Given a topic
      And a durable subscriber "steady" on the topic at queue manager "B"
      When message "slow" is sent to the topic with a delivery delay of 1 s
      And "steady" has seen "slow"
      And subscriber "steady" goes away
      And queue manager "B" is stopped
      And queue manager "B" is started again
      And queue manager "A" is stopped
      And queue manager "A" is started again
      And subscriber "steady" comes back
      And message "now" is sent to the topic
      Then "steady" sees "now" exactly once
      And "steady" sees "slow" at most once

    @needs-durable-subscription
    Scenario: An inactive durable subscriber at queue manager B gets the publication when it returns after the delay
      Given a topic
      And a durable subscriber "steady" on the topic at queue manager "B"
      When message "slow" is sent to the topic with a delivery delay of 1 s
      And subscriber "steady" goes away
      And 2 s have passed since "slow" was sent
      And subscriber "steady" comes back
      Then "steady" sees "slow" exactly once

    Scenario: The other queue manager does not delay the publication a second time
      Given a topic
      And a non-durable subscriber "reader" on the topic at queue manager "B"
      When message "slow" is sent to the topic with a delivery delay of 20 s
      Then "reader" sees "slow" in time, 20 s after its send

    @needs-topic-wildcard
    Scenario: A subscriber to a topic pattern at queue manager B gets the publication
      Given a non-durable subscriber "wide" on topic "sport/#" at queue manager "B"
      When message "slow" is sent to topic "sport/football" with a delivery delay of 2 s
      Then "wide" sees "slow" exactly once
      And "wide" sees "slow" no earlier than 2 s after its send

    Scenario: A subscriber at queue manager B gets the publication unaltered
      Given a topic
      And a non-durable subscriber "reader" on the topic at queue manager "B"
      When message "slow" is sent to the topic with a delivery delay of 2 s, priority 7 and property colour = "red"
      Then "reader" sees "slow" as it was sent

    @evidence @needs-admin
    Scenario: After the topic's last subscriber at queue manager B has gone, no message is staged for B
      No line says how soon the other queue manager learns that the subscriber has gone, so the scenario waits.

      Given a topic
      And a non-durable subscriber "reader" on the topic at queue manager "B"
      When message "before" is sent to the topic with a delivery delay of 1 h
      And subscriber "reader" goes away
      And 2 s pass
      And message "after" is sent to the topic with a delivery delay of 1 h
      Then the staging queue holds "before"
      And the staging queue does not hold "after"

    @evidence @needs-admin
    Scenario: An administered subscription at queue manager B gets the publication
      Given a topic
      And queue "orders" at queue manager "B" has been defined
      And an administered subscription "billing" from the topic at queue manager "B" to queue "orders" at queue manager "B"
      And receiver "far" is waiting on queue "orders" at queue manager "B"
      When message "slow" is sent to the topic with a delivery delay of 2 s
      Then "far" sees "slow" exactly once
      And "far" sees "slow" no earlier than 2 s after its send

    @needs-durable-subscription @needs-time-to-live
    Scenario: A publication whose time to live is over is not delivered at queue manager B
      Given a topic
      And a durable subscriber "steady" on the topic at queue manager "B"
      When message "slow" is sent to the topic with a delivery delay of 2 s and a time to live of 10 s
      And message "lasting" is sent to the topic with a delivery delay of 2 s
      And subscriber "steady" goes away
      And 20 s have passed since "slow" was sent
      And subscriber "steady" comes back
      Then "steady" sees "lasting" exactly once
      And "steady" never sees "slow"

    @needs-selector @needs-durable-subscription
    Scenario: At queue manager B, each subscription gets only the publications that its selector selects
      Given a topic
      And a durable subscriber "fond" on the topic at queue manager "B" for messages with "colour = 'red'"
      And a durable subscriber "averse" on the topic at queue manager "B" for messages with "colour = 'blue'"
      When message "slow" is sent to the topic with a delivery delay of 2 s and property colour = "red"
      Then "fond" sees "slow" exactly once
      And "averse" never sees "slow"

    @evidence @needs-shared-subscription
    Scenario Outline: Two sharers of a <kind> subscription at queue manager B together get the publication once
      Given a topic
      And subscriber "left" shares <kind> subscription "club" on the topic at queue manager "B"
      And subscriber "right" shares <kind> subscription "club" on the topic at queue manager "B"
      When message "slow" is sent to the topic with a delivery delay of 2 s
      Then "left" and "right" together see "slow" exactly once
      And no receiver sees "slow" earlier than 2 s after its send

      Examples: Shared
        | kind        |
        | non-durable |

      @needs-durable-subscription
      Examples: Shared and durable
        | kind    |
        | durable |

    @evidence @needs-durable-subscription @needs-kill
    Scenario: A durable subscriber at queue manager B gets the publication although the broker is killed during the delay
      Given a topic
      And a durable subscriber "steady" on the topic at queue manager "B"
      When message "slow" is sent to the topic with a delivery delay of 2 s
      And subscriber "steady" goes away
      And the broker is killed and comes back
      And subscriber "steady" comes back
      Then "steady" sees "slow" exactly once

  @DD-84 @needs-delivery-delay @needs-topic @topology-hierarchy
  Rule: A client that subscribes at the other queue manager during the delay may receive the publication
    Line 82 itself calls this a deviation from JMS 2.0: by section 7.9 of that specification, a subscription gets
    only messages that are sent after it was made.  The scenarios record whether the publication is received; it comes
    neither early nor twice, and each subscriber that exists at the send gets it.  At the publisher's own queue manager,
    subscriptions are matched at the send (line 56).

    Scenario: A subscriber that comes to queue manager B during the delay gets the publication at most once
      Given a topic
      And a non-durable subscriber "before" on the topic at queue manager "B"
      When message "slow" is sent to the topic with a delivery delay of 2 s
      And a non-durable subscriber "during" subscribes to the topic at queue manager "B"
      Then "before" sees "slow" exactly once
      And "during" sees "slow" at most once

    Scenario: A subscriber that comes to queue manager B during the delay does not get the publication early
      Given a topic
      And a non-durable subscriber "before" on the topic at queue manager "B"
      When message "slow" is sent to the topic with a delivery delay of 3 s
      And a non-durable subscriber "during" subscribes to the topic at queue manager "B"
      And message "now" is sent to the topic
      Then "during" sees "now" exactly once
      And no receiver sees "slow" earlier than 3 s after its send

    @needs-durable-subscription
    Scenario: A durable subscriber that comes to queue manager B during the delay gets the publication at most once
      Given a topic
      And a durable subscriber "before" on the topic at queue manager "B"
      When message "slow" is sent to the topic with a delivery delay of 2 s
      And a durable subscriber "during" subscribes to the topic at queue manager "B"
      Then "before" sees "slow" exactly once
      And "during" sees "slow" at most once

    @must
    Scenario: A subscriber that comes to the publisher's queue manager during the delay does not get the publication
      Given a topic
      And a non-durable subscriber "before" on the topic at queue manager "B"
      When message "slow" is sent to the topic with a delivery delay of 1 s
      And a non-durable subscriber "here" subscribes to the topic
      And 2 s have passed since "slow" was sent
      And message "now" is sent to the topic
      Then "before" sees "slow" exactly once
      And "here" sees "now" exactly once
      And "here" never sees "slow"

    @needs-non-persistent @needs-shared-subscription @needs-topic-wildcard
    Scenario Outline: Two sharers of a <kind> subscription together get the publication once even if another subscriber comes during the delay
      Given subscriber "left" shares <kind> subscription "club" on topic "sport/#" at queue manager "B"
      And subscriber "right" shares <kind> subscription "club" on topic "sport/#" at queue manager "B"
      When message "slow" is sent to topic "sport/football" with a delivery delay of 2 s and delivery mode non-persistent
      And a non-durable subscriber "during" subscribes to topic "sport/football" at queue manager "B"
      Then "left" and "right" together see "slow" exactly once
      And "during" sees "slow" at most once

      Examples: Shared
        | kind        |
        | non-durable |

      @needs-durable-subscription
      Examples: Shared and durable
        | kind    |
        | durable |

    @needs-admin @needs-durable-subscription
    Scenario: A durable subscriber that comes during the delay gets the publication at most once if queue manager B is restarted
      Given a topic
      And a durable subscriber "before" on the topic at queue manager "B"
      When message "slow" is sent to the topic with a delivery delay of 5 s
      And a durable subscriber "during" subscribes to the topic at queue manager "B"
      And subscriber "before" goes away
      And subscriber "during" goes away
      And queue manager "B" is stopped
      And queue manager "B" is started again
      And subscriber "before" comes back
      And subscriber "during" comes back
      Then "before" sees "slow" exactly once
      And "during" sees "slow" at most once
