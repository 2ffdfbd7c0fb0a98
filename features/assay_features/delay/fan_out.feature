Feature: A delayed publication is staged for each subscription, if the topic permits delays
  IBM MQ, JMS 2.0 delivery delay, lines 82 and 84.

  @DD-80 @needs-delivery-delay @needs-topic
  Rule: A delayed publication is staged once for each matching subscription
    Line 82.  A shared subscription counts once, however many sharers it has.  The wildcards are those of IBM MQ's topic
    levels.

    @needs-staging-queue
    Scenario: Without a subscription, no message is staged
      Given a topic
      When message "news" is sent to the topic with a delivery delay of 2 s
      Then sending "news" is accepted
      And the staging queue does not hold "news"

    @needs-staging-queue
    Scenario: One copy is staged for a non-durable subscription
      Given a topic
      And a non-durable subscriber "reader" on the topic
      When message "news" is sent to the topic with a delivery delay of 2 s
      Then the staging queue holds 1 copy of "news"

    @needs-durable-subscription @needs-staging-queue
    Scenario: One copy is staged for a durable subscription whose subscriber is inactive
      Given a topic
      And a durable subscriber "reader" on the topic
      And subscriber "reader" is inactive
      When message "news" is sent to the topic with a delivery delay of 2 s
      Then the staging queue holds 1 copy of "news"

    @needs-shared-subscription @needs-durable-subscription @needs-staging-queue
    Scenario: One copy is staged for a shared durable subscription whose subscriber is inactive
      Given a topic
      And subscriber "pair" shares durable subscription "pair" on the topic
      And subscriber "pair" is inactive
      When message "news" is sent to the topic with a delivery delay of 2 s
      Then the staging queue holds 1 copy of "news"

    @needs-shared-subscription @needs-durable-subscription @needs-staging-queue
    Scenario: One copy is staged for a durable subscription with two sharers
      Given a topic
      And subscriber "left" shares durable subscription "pair" on the topic
      And subscriber "right" shares durable subscription "pair" on the topic
      When message "news" is sent to the topic with a delivery delay of 2 s
      Then the staging queue holds 1 copy of "news"

    @needs-shared-subscription @needs-staging-queue
    Scenario: One copy is staged for a non-durable subscription with two sharers
      Given a topic
      And subscriber "left" shares non-durable subscription "pair" on the topic
      And subscriber "right" shares non-durable subscription "pair" on the topic
      When message "news" is sent to the topic with a delivery delay of 2 s
      Then the staging queue holds 1 copy of "news"

    @needs-staging-queue
    Scenario: Three copies are staged for three subscriptions
      Given a topic
      And a non-durable subscriber "r1" on the topic
      And a non-durable subscriber "r2" on the topic
      And a non-durable subscriber "r3" on the topic
      When message "news" is sent to the topic with a delivery delay of 2 s
      Then the staging queue holds 3 copies of "news"

    Scenario Outline: Two subscriptions in <where> of one connection get one copy each
      Given a topic
      And session "one" in auto mode on connection "shared"
      And session "other" in auto mode on connection "shared"
      And receiver "left" of session "one" on the topic
      And receiver "right" of session "<second>" on the topic
      When message "news" is sent to the topic with a delivery delay of 2 s
      Then "left" sees "news" exactly once
      And "right" sees "news" exactly once

      Examples:
        | where        | second |
        | one session  | one    |
        | two sessions | other  |

    @needs-durable-subscription @needs-staging-queue
    Scenario: Two durable subscriptions of one client get one copy each
      Given a topic
      And subscriber "left" with durable subscription "left news" of client "twice" on the topic
      And subscriber "left" is inactive
      And subscriber "right" with durable subscription "right news" of client "twice" on the topic
      When message "news" is sent to the topic with a delivery delay of 2 s
      Then the staging queue holds 2 copies of "news"
      And "right" sees "news" exactly once
      When subscriber "right" goes away
      And subscriber "left" comes back
      Then "left" sees "news" exactly once

    @needs-topic-wildcard @needs-staging-queue
    Scenario Outline: One copy is staged for a subscription to <pattern>
      Given a non-durable subscriber "reader" on topic "<pattern>"
      When message "news" is sent to topic "sport/football/results" with a delivery delay of 2 s
      Then the staging queue holds 1 copy of "news"
      Examples:
        | pattern                  |
        | sport/#                  |
        | sport/+/results          |
        | sport/football/+         |
        | sport/football/results/# |

    @needs-topic-wildcard @needs-staging-queue
    Scenario: No copy is staged for a subscription whose wildcards do not match
      Given a non-durable subscriber "near" on topic "sport/#"
      And a non-durable subscriber "far" on topic "sport/+"
      When message "news" is sent to topic "sport/football/results" with a delivery delay of 2 s
      Then the staging queue holds 1 copy of "news"

    @needs-selector @needs-durable-subscription @needs-staging-queue
    Scenario: No copy is staged for a subscription whose selector does not match
      Given a topic
      And a durable subscriber "fond" on the topic for messages with "colour = 'red'"
      And a durable subscriber "averse" on the topic for messages with "colour = 'blue'"
      When message "news" is sent to the topic with a delivery delay of 2 s and property colour = "red"
      Then the staging queue holds 1 copy of "news"

    @needs-durable-subscription @needs-shared-subscription @needs-topic-wildcard @needs-staging-queue
    Scenario: One copy is staged for each of four kinds of subscription, and each subscription gets its own copy
      Given a durable subscriber "steady" on topic "sport/football"
      And a non-durable subscriber "passer" on topic "sport/football"
      And a non-durable subscriber "collector" on topic "sport/#"
      And subscriber "left" shares durable subscription "pair" on topic "sport/football"
      And subscriber "right" shares durable subscription "pair" on topic "sport/football"
      When message "news" is sent to topic "sport/football" with a delivery delay of 2 s
      Then the staging queue holds 4 copies of "news"
      And "steady" sees "news" exactly once
      And "passer" sees "news" exactly once
      And "collector" sees "news" exactly once
      And "left" and "right" together see "news" exactly once

    @needs-alias @needs-staging-queue
    Scenario: A publication through an alias of a topic is staged for that topic's subscriptions
      Given a topic
      And an alias "front" for the topic
      And a non-durable subscriber "reader" on the topic
      When message "news" is sent to alias "front" with a delivery delay of 2 s
      Then the staging queue holds 1 copy of "news"
      And "reader" sees "news" exactly once

    @evidence @needs-durable-subscription
    Scenario Outline: After the broker <event>, each durable subscription still gets its own copy
      Given a topic
      And a durable subscriber "one" on the topic
      And a durable subscriber "two" on the topic
      When message "news" is sent to the topic with a delivery delay of 2 s
      And the broker <event>
      And subscriber "one" comes back
      And subscriber "two" comes back
      Then "one" sees "news" exactly once
      And "two" sees "news" exactly once

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @evidence @needs-alias
    Scenario: A publication that is sent through an alias does not come before its delay is over
      Given a topic
      And an alias "front" for the topic
      And a non-durable subscriber "live" on the topic
      When message "slow" is sent to alias "front" with a delivery delay of 1500 ms
      Then "live" sees "slow" no earlier than 1500 ms after its send

    @needs-admin @needs-queue-limit @needs-queue-look
    Scenario: An administered subscription that is defined during the delay gets no copy
      Given a topic
      And a queue with MAXDEPTH(10)
      And a non-durable subscriber "early" on the topic
      And message "news" is sent to the topic with a delivery delay of 2 s
      And an administered subscription "orders" from the topic to the queue
      When 3 s have passed since "news" was sent
      Then "early" sees "news" exactly once
      And the queue is empty

    @needs-admin @needs-queue-limit @needs-queue-look
    Scenario: An administered subscription that is deleted and defined again during the delay gets no copy
      Given a topic
      And a queue with MAXDEPTH(10)
      And a non-durable subscriber "early" on the topic
      And an administered subscription "orders" from the topic to the queue
      When message "news" is sent to the topic with a delivery delay of 2 s
      And administered subscription "orders" is deleted
      Then the command is accepted
      When administered subscription "orders" is defined from the topic to the queue
      Then the command is accepted
      When 3 s have passed since "news" was sent
      Then "early" sees "news" exactly once
      And the queue is empty

    @needs-non-persistent @needs-staging-queue
    Scenario: A non-persistent publication is staged once for each subscription
      Given a topic
      And a non-durable subscriber "r1" on the topic
      And a non-durable subscriber "r2" on the topic
      When message "news" is sent to the topic with a delivery delay of 2 s and delivery mode non-persistent
      Then the staging queue holds 2 copies of "news"

    @needs-staging-queue
    Scenario: Each of two publications is staged once for each subscription
      Given a topic
      And a non-durable subscriber "r1" on the topic
      And a non-durable subscriber "r2" on the topic
      When message "first" is sent to the topic with a delivery delay of 2 s
      And message "second" is sent to the topic with a delivery delay of 2 s
      Then the staging queue holds 2 copies of "first"
      And the staging queue holds 2 copies of "second"
      And "r1" sees "first" and "second" exactly once
      And "r2" sees "first" and "second" exactly once

    @needs-admin @needs-queue-limit @needs-queue-look @needs-staging-queue
    Scenario: One copy is staged for an administered subscription, and the subscription's queue gets this copy
      Given a topic
      And a queue with MAXDEPTH(10)
      And an administered subscription "orders" from the topic to the queue
      When message "news" is sent to the topic with a delivery delay of 2 s
      Then the staging queue holds 1 copy of "news"
      And the queue holds "news"

    @needs-topic-wildcard @needs-staging-queue
    Scenario: One copy is staged for a subscription to a topic, and one for a subscription to a pattern
      Given a non-durable subscriber "near" on topic "sport/football"
      And a non-durable subscriber "wide" on topic "sport/+"
      When message "news" is sent to topic "sport/football" with a delivery delay of 2 s
      Then the staging queue holds 2 copies of "news"
      And "near" sees "news" exactly once
      And "wide" sees "news" exactly once

  @DD-82 @needs-delivery-delay @needs-topic @needs-admin
  Rule: A delayed publication needs ALLAVAIL on its topic
    Line 84.  Reading: "(N)PMSGDLV" is the attribute that matches the persistence: PMSGDLV for a persistent
    publication, NPMSGDLV for a non-persistent one; the other attribute does not matter.  ASPARENT is resolved through
    the topic tree up to SYSTEM.BASE.TOPIC.  A topic without its own setting behaves like one with ASPARENT.

    Scenario Outline: A delayed <mode> publication is refused on a topic with <attributes>
      Given a topic with <attributes>
      And a non-durable subscriber "reader" on the topic
      When message "news" is sent to the topic with a delivery delay of 1 s and delivery mode <mode>
      Then sending "news" is refused with MQRC_PUBLICATION_FAILURE

      Examples:
        | mode           | attributes                          |
        | persistent     | PMSGDLV(ALL) NPMSGDLV(ALLAVAIL)     |
        | persistent     | PMSGDLV(ALLDUR) NPMSGDLV(ALLAVAIL)  |

      @needs-non-persistent
      Examples:
        | mode           | attributes                          |
        | non-persistent | PMSGDLV(ALLAVAIL) NPMSGDLV(ALL)     |
        | non-persistent | PMSGDLV(ALLAVAIL) NPMSGDLV(ALLDUR)  |

    @evidence
    Scenario Outline: After the broker <event>, a topic that was altered to <attributes> still refuses a delayed publication
      Given a topic with PMSGDLV(ALLAVAIL) NPMSGDLV(ALLAVAIL)
      And the topic has been altered to <attributes>
      When the broker <event>
      And message "news" is sent to the topic with a delivery delay of 1 s and delivery mode persistent
      Then sending "news" is refused with MQRC_PUBLICATION_FAILURE

      @needs-restart
      Examples: Restart
        | event        | attributes      |
        | is restarted | PMSGDLV(ALL)    |
        | is restarted | PMSGDLV(ALLDUR) |

      @needs-kill
      Examples: Kill
        | event                    | attributes   |
        | is killed and comes back | PMSGDLV(ALL) |

    @control
    Scenario Outline: A delayed <mode> publication is delivered on a topic with <attributes>
      Given a topic with <attributes>
      And a non-durable subscriber "reader" on the topic
      When message "news" is sent to the topic with a delivery delay of 1 s and delivery mode <mode>
      Then sending "news" is accepted
      And "reader" sees "news" exactly once
      Examples:
        | mode           | attributes                          |
        | persistent     | PMSGDLV(ALLAVAIL) NPMSGDLV(ALL)     |
        | persistent     | PMSGDLV(ALLAVAIL) NPMSGDLV(ALLDUR)  |

      @needs-non-persistent
      Examples:
        | mode           | attributes                          |
        | non-persistent | PMSGDLV(ALL) NPMSGDLV(ALLAVAIL)     |
        | non-persistent | PMSGDLV(ALLDUR) NPMSGDLV(ALLAVAIL)  |

    @control
    Scenario Outline: Without a delay, a <mode> publication is delivered on a topic with <attributes>
      Given a topic with <attributes>
      And a non-durable subscriber "reader" on the topic
      When message "news" is sent to the topic with delivery mode <mode>
      Then sending "news" is accepted
      And "reader" sees "news" exactly once
      Examples:
        | mode           | attributes         |
        | persistent     | PMSGDLV(ALL)       |
        | persistent     | PMSGDLV(ALLDUR)    |
        | persistent     | PMSGDLV(ALLAVAIL)  |

      @needs-non-persistent
      Examples:
        | mode           | attributes         |
        | non-persistent | NPMSGDLV(ALL)      |
        | non-persistent | NPMSGDLV(ALLDUR)   |
        | non-persistent | NPMSGDLV(ALLAVAIL) |

    @evidence
    Scenario: A refused publication is not staged
      Given a topic with PMSGDLV(ALLDUR) NPMSGDLV(ALLAVAIL)
      And a non-durable subscriber "reader" on the topic
      When message "news" is sent to the topic with a delivery delay of 1 h
      Then sending "news" is refused with MQRC_PUBLICATION_FAILURE
      And the staging queue does not hold "news"

    Scenario: A refused publication reaches no subscriber
      Given a topic with PMSGDLV(ALLDUR)
      And a non-durable subscriber "reader" on the topic
      When message "news" is sent to the topic with a delivery delay of 1 s
      And 3 s have passed since "news" was sent
      And message "now" is sent to the topic
      Then sending "news" is refused with MQRC_PUBLICATION_FAILURE
      And "reader" sees "now" exactly once
      And "reader" never sees the refused "news"

    @needs-durable-subscription
    Scenario: On a topic with PMSGDLV(ALLDUR), a delayed publication is refused even if all subscriptions are durable
      Given a topic with PMSGDLV(ALLDUR)
      And a durable subscriber "steady" on the topic
      When message "news" is sent to the topic with a delivery delay of 1 s
      Then sending "news" is refused with MQRC_PUBLICATION_FAILURE

    Scenario: A topic that is altered to PMSGDLV(ALL) refuses the producer's next delayed publication
      Given a topic with PMSGDLV(ALLAVAIL)
      And a producer on the topic
      And the producer's delivery delay is 1 h
      When the producer sends message "one"
      And the topic is altered to PMSGDLV(ALL)
      And the producer sends message "two"
      Then sending "one" is accepted
      And sending "two" is refused with MQRC_PUBLICATION_FAILURE

    Scenario: A topic that is altered to PMSGDLV(ALLAVAIL) before a producer's first send accepts the publication
      Given a topic with PMSGDLV(ALL)
      And a non-durable subscriber "reader" on the topic
      And a producer on the topic
      And the producer's delivery delay is 1 s
      When the topic is altered to PMSGDLV(ALLAVAIL)
      And the producer sends message "one"
      Then sending "one" is accepted
      And "reader" sees "one" exactly once

    @kit
    Scenario: After a refused publication, the reference broker accepts the producer's next publication if the topic is altered to ALLAVAIL
      The document does not say that a producer is usable after a refused send; some brokers close the producer's link.

      Given a topic with PMSGDLV(ALL)
      And a non-durable subscriber "reader" on the topic
      And a producer on the topic
      And the producer's delivery delay is 1 s
      When the producer sends message "one"
      And the topic is altered to PMSGDLV(ALLAVAIL)
      And the producer sends message "two"
      Then sending "one" is refused with MQRC_PUBLICATION_FAILURE
      And sending "two" is accepted
      And "reader" sees "two" exactly once

    @own-instance
    Scenario: PMSGDLV is inherited from the nearest parent that sets PMSGDLV, even if a nearer parent sets NPMSGDLV
      Given the base topic has been altered to PMSGDLV(ALL) NPMSGDLV(ALL)
      And a topic "sport" with PMSGDLV(ALLAVAIL)
      And a topic "sport/football" with NPMSGDLV(ALLAVAIL)
      And a non-durable subscriber "reader" on topic "sport/football/results"
      When message "news" is sent to topic "sport/football/results" with a delivery delay of 1 s
      Then sending "news" is accepted
      And "reader" sees "news" exactly once

    Scenario: PMSGDLV(ALLDUR) forbids a delayed publication that a parent topic's DEFPSIST(YES) makes persistent
      Given a topic "sport" with DEFPSIST(YES) PMSGDLV(ALLDUR) NPMSGDLV(ALLAVAIL)
      When message "news" is sent to topic "sport/football" with a delivery delay of 1 s and delivery mode as the destination defines
      Then sending "news" is refused with MQRC_PUBLICATION_FAILURE

    Scenario Outline: PMSGDLV(ALLDUR) forbids a delayed publication of a <style> producer without a destination
      Given a topic with PMSGDLV(ALLDUR)
      And a <style> producer without a destination
      And the producer's delivery delay is 1 s
      When the producer sends message "news" to the topic
      Then it is refused with MQRC_PUBLICATION_FAILURE as a <exception> exception

      Examples:
        | style      | exception |
        | classic    | checked   |
        | simplified | runtime   |

    Scenario: On a topic with PMSGDLV(ALL), a delayed publication is refused even if the topic has no subscription
      Given a topic with PMSGDLV(ALL)
      When message "news" is sent to the topic with a delivery delay of 1 s
      Then sending "news" is refused with MQRC_PUBLICATION_FAILURE

    Scenario: PMSGDLV(ALLDUR) forbids a delayed publication that the topic's own DEFPSIST(YES) makes persistent
      Given a topic with DEFPSIST(YES) PMSGDLV(ALLDUR) NPMSGDLV(ALLAVAIL)
      When message "news" is sent to the topic with a delivery delay of 1 s and delivery mode as the destination defines
      Then sending "news" is refused with MQRC_PUBLICATION_FAILURE

    Scenario Outline: A topic that <is> refuses a delayed <mode> publication if its parent has <attribute>(<value>)
      Given a topic "sport" with PMSGDLV(<value>) NPMSGDLV(<value>)
      And a topic "sport/football" with <attributes>
      When message "news" is sent to topic "sport/football" with a delivery delay of 1 s and delivery mode <mode>
      Then sending "news" is refused with MQRC_PUBLICATION_FAILURE
      Examples:
        | is                         | mode       | attribute | value  | attributes                           |
        | has PMSGDLV(ASPARENT)      | persistent | PMSGDLV   | ALL    | PMSGDLV(ASPARENT) NPMSGDLV(ALLAVAIL) |
        | has no PMSGDLV of its own  | persistent | PMSGDLV   | ALLDUR | DEFPRTY(5)                           |

      @needs-non-persistent
      Examples:
        | is                     | mode           | attribute | value  | attributes                           |
        | has NPMSGDLV(ASPARENT) | non-persistent | NPMSGDLV  | ALLDUR | PMSGDLV(ALLAVAIL) NPMSGDLV(ASPARENT) |

    Scenario: A topic without a topic object refuses a delayed publication if a parent topic has PMSGDLV(ALL)
      Given a topic "sport" with PMSGDLV(ALL)
      When message "news" is sent to topic "sport/football/results" with a delivery delay of 1 s
      Then sending "news" is refused with MQRC_PUBLICATION_FAILURE

    @control @own-instance
    Scenario: A delayed publication is accepted if the nearest parent with a value of its own allows delayed publications
      Given the base topic has been altered to PMSGDLV(ALL) NPMSGDLV(ALL)
      And a topic "sport" with PMSGDLV(ALLAVAIL)
      And a topic "sport/football" with PMSGDLV(ASPARENT)
      And a non-durable subscriber "reader" on topic "sport/football"
      When message "news" is sent to topic "sport/football" with a delivery delay of 1 s
      Then sending "news" is accepted
      And "reader" sees "news" exactly once

    @control @own-instance
    Scenario: A topic's own ALLAVAIL overrides the values of its parents
      Given the base topic has been altered to PMSGDLV(ALL) NPMSGDLV(ALL)
      And a topic "sport" with PMSGDLV(ALLDUR)
      And a topic "sport/football" with PMSGDLV(ALLAVAIL)
      And a non-durable subscriber "reader" on topic "sport/football"
      When message "news" is sent to topic "sport/football" with a delivery delay of 1 s
      Then sending "news" is accepted
      And "reader" sees "news" exactly once

    @own-instance
    Scenario: With the base topic's factory settings, a persistent delayed publication is refused
      The factory settings are PMSGDLV(ALLDUR) and NPMSGDLV(ALLAVAIL); they apply when the base topic has no object.

      Given the base topic has been deleted
      And a topic
      And a non-durable subscriber "reader" on the topic
      When message "news" is sent to the topic with a delivery delay of 1 s
      Then sending "news" is refused with MQRC_PUBLICATION_FAILURE

    @control @own-instance @needs-non-persistent
    Scenario: With the base topic's factory settings, a non-persistent delayed publication is delivered
      Given the base topic has been deleted
      And a topic
      And a non-durable subscriber "reader" on the topic
      When message "news" is sent to the topic with a delivery delay of 1 s and delivery mode non-persistent
      Then sending "news" is accepted
      And "reader" sees "news" exactly once

    @evidence @needs-factory-settings
    Scenario: If nobody has changed the base topic, a persistent delayed publication is refused
      Given a topic
      And a non-durable subscriber "reader" on the topic
      When message "news" is sent to the topic with a delivery delay of 1 s
      Then sending "news" is refused with MQRC_PUBLICATION_FAILURE
      And the base topic has PMSGDLV(ALLDUR) NPMSGDLV(ALLAVAIL)

    @control @needs-factory-settings @needs-non-persistent
    Scenario: If nobody has changed the base topic, a non-persistent delayed publication is delivered
      Given a topic
      And a non-durable subscriber "reader" on the topic
      When message "news" is sent to the topic with a delivery delay of 1 s and delivery mode non-persistent
      Then sending "news" is accepted
      And "reader" sees "news" exactly once

    @needs-local-transaction
    Scenario: In a unit of work, a delayed publication is refused on a topic with PMSGDLV(ALLDUR)
      Given a topic with PMSGDLV(ALLDUR)
      And session "work" in transacted mode
      When message "news" is sent in session "work" to the topic with a delivery delay of 1 s
      Then sending "news" is refused with MQRC_PUBLICATION_FAILURE

    Scenario: A delayed publication through an alias is refused if the topic has PMSGDLV(ALLDUR)
      Given a topic with PMSGDLV(ALLDUR)
      And an alias "front" for the topic
      When message "news" is sent to alias "front" with a delivery delay of 1 s
      Then sending "news" is refused with MQRC_PUBLICATION_FAILURE

    @own-instance
    Scenario: A topic with ASPARENT refuses a delayed publication if its parent has ASPARENT and its grandparent has ALL
      Given the base topic has been altered to PMSGDLV(ALLAVAIL) NPMSGDLV(ALLAVAIL)
      And a topic "sport" with PMSGDLV(ALL)
      And a topic "sport/football" with PMSGDLV(ASPARENT)
      And a topic "sport/football/results" with PMSGDLV(ASPARENT)
      When message "news" is sent to topic "sport/football/results" with a delivery delay of 1 s
      Then sending "news" is refused with MQRC_PUBLICATION_FAILURE

    Scenario: A delayed publication is delivered even if the topic is altered to PMSGDLV(ALL) during the delay
      Given a topic with PMSGDLV(ALLAVAIL)
      And a non-durable subscriber "reader" on the topic
      When message "news" is sent to the topic with a delivery delay of 2 s
      And the topic is altered to PMSGDLV(ALL)
      Then sending "news" is accepted
      And "reader" sees "news" exactly once

    @control @needs-non-persistent
    Scenario: A delayed publication that the topic's DEFPSIST(NO) makes non-persistent needs only NPMSGDLV(ALLAVAIL)
      Given a topic with DEFPSIST(NO) PMSGDLV(ALLDUR) NPMSGDLV(ALLAVAIL)
      And a non-durable subscriber "reader" on the topic
      When message "news" is sent to the topic with a delivery delay of 1 s and delivery mode as the destination defines
      Then sending "news" is accepted
      And "reader" sees "news" exactly once

    @evidence @needs-xa
    Scenario: In a branch of a global unit of work, a delayed publication is refused on a topic with PMSGDLV(ALL)
      Given a topic with PMSGDLV(ALL)
      And session "work" in xa mode
      And branch "job" has been started in session "work"
      When message "news" is sent in session "work" to the topic with a delivery delay of 1 s
      Then sending "news" is refused with MQRC_PUBLICATION_FAILURE

    @evidence @needs-local-transaction
    Scenario: After a rollback, delayed publications are still refused, and undelayed publications are accepted
      Given a topic with PMSGDLV(ALL) NPMSGDLV(ALLAVAIL)
      And a non-durable subscriber "one" on the topic
      And a non-durable subscriber "two" on the topic
      And session "work" in transacted mode
      And producer "late" of session "work" on the topic with a delivery delay of 1 s
      And producer "prompt" of session "work" on the topic with a delivery delay of 1 s
      When producer "late" sends message "slow" with delivery mode persistent for this send only
      And session "work" is rolled back
      And producer "late" sends message "again"
      And the delivery delay of producer "prompt" is set to 0 ms
      And producer "prompt" sends message "now"
      Then sending "slow" is refused with MQRC_PUBLICATION_FAILURE
      And sending "again" is refused with MQRC_PUBLICATION_FAILURE
      And sending "now" is accepted
