Feature: A subscription exists for its time to live after its application has disconnected, and no longer
  MQ Light and AMQP, lines 30 to 33.  On the wire the time is in whole seconds.  No line says how soon a broker must
  answer when it is asked for its subscriptions, so the scenarios ask any broker a while before the end of the time to
  live, and our own broker in the last millisecond.  No line says how soon the broker must remove an ended subscription,
  either: any broker must have removed it after twice its time to live, our own broker at the exact end.

  @QS-20 @needs-topic @needs-subscription-ttl @needs-quality-of-service
  Rule: The time to live of a subscription counts from its disconnection; without a time to live, the subscription ends at once
    Line 31.  The close and the loss of a connection both start the count; it does not run while a
    connection exists.

    @evidence @needs-subscription-list
    Scenario Outline: After its connection was <ended>, a subscription with a time to live of <ttl> exists until the end of this time
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for <ttl>
      When the connection of "lasting" is <ended>
      And <almost> have passed since subscriber "lasting" left
      Then there is 1 subscription to the topic
      When <past> have passed since subscriber "lasting" left
      Then there is no subscription to the topic

      @needs-virtual-time
      Examples:
        | ended  | ttl  | almost | past |
        | closed | 30 s | 29 s   | 60 s |
        | lost   | 30 s | 29 s   | 60 s |

      Examples:
        | ended  | ttl | almost | past |
        | closed | 4 s | 2 s    | 8 s  |
        | lost   | 4 s | 2 s    | 8 s  |

    @kit @needs-virtual-time @needs-subscription-list
    Scenario Outline: After its connection was <ended>, a subscription is gone at the exact end of its time to live
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 30 s
      When the connection of "lasting" is <ended>
      And 30 s have passed since subscriber "lasting" left
      Then there is no subscription to the topic

      Examples:
        | ended  |
        | closed |
        | lost   |

    @evidence @needs-virtual-time @needs-subscription-list
    Scenario Outline: A subscription with a time to live of <ttl> does not end before this time has passed
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for <ttl>
      When the connection of "lasting" is lost
      And <almost> have passed since subscriber "lasting" left
      Then there is 1 subscription to the topic

      Examples:
        | ttl     | almost    |
        | 2900 ms | 2400 ms   |
        | 2 h     | 7199 s    |
        | 720 h   | 2591999 s |

    @kit @needs-virtual-time @needs-subscription-list
    Scenario Outline: A subscription with a time to live of <ttl> ends exactly when this time has passed
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for <ttl>
      When the connection of "lasting" is lost
      And <almost> have passed since subscriber "lasting" left
      Then there is 1 subscription to the topic
      When <ttl> have passed since subscriber "lasting" left
      Then there is no subscription to the topic

      Examples:
        | ttl     | almost        |
        | 1500 ms | 1499 ms       |
        | 30 s    | 29999 ms      |
        | 2 h     | 7199999 ms    |
        | 720 h   | 2591999999 ms |

    @evidence @needs-subscription-list
    Scenario: A subscription with a time to live of a month still exists after 4 s
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 720 h
      When the connection of "lasting" is lost
      And 4 s have passed since subscriber "lasting" left
      Then there is 1 subscription to the topic

    Scenario Outline: The time before the connection is <ended> does not count towards a subscription's time to live
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 4 s
      When 6 s pass
      And the connection of "lasting" is <ended>
      And message "missed" is sent to the topic with the durable header true
      And subscriber "lasting" comes back 2 s after it left
      Then "lasting" sees "missed" exactly once

      Examples:
        | ended  |
        | closed |
        | lost   |

    Scenario Outline: A subscription ends when its time to live has passed since its connection was <ended>
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 4 s
      When the connection of "lasting" is <ended>
      And message "missed" is sent to the topic with the durable header true
      And subscriber "lasting" comes back 8 s after it left
      And message "after" is sent to the topic with the durable header true
      Then "lasting" sees "after" exactly once
      And "lasting" never sees "missed"

      Examples:
        | ended  |
        | closed |
        | lost   |

    @needs-shared-subscription
    Scenario Outline: A shared subscription's time to live of <ttl> starts when its last sharer leaves
      Given a topic
      And subscriber "left" on the topic with shared subscription "club", quality of service at-least-once and a subscription that lives for <ttl>
      And subscriber "right" on the topic with shared subscription "club", quality of service at-least-once and a subscription that lives for <ttl>
      When the connection of "left" is lost
      And <between> pass
      And the connection of "right" is lost
      And message "missed" is sent to the topic with the durable header true
      And subscriber "right" comes back <almost> after it left
      Then "right" sees "missed" exactly once

      @kit @needs-virtual-time
      Examples:
        | ttl  | between | almost   |
        | 30 s | 20 s    | 29999 ms |

      Examples:
        | ttl | between | almost |
        | 6 s | 4 s     | 3 s    |

    @needs-shared-subscription
    Scenario Outline: The time to live does not start when a sharer's connection is <ended> while another sharer is connected
      Given a topic
      And subscriber "left" on the topic with shared subscription "club", quality of service at-least-once and a subscription that lives for 4 s
      And subscriber "right" on the topic with shared subscription "club", quality of service at-least-once and a subscription that lives for 4 s
      When the connection of "left" is <ended>
      And 8 s have passed since subscriber "left" left
      And message "m1" is sent to the topic with the durable header true
      And "right" has seen "m1"
      And the connection of "right" is <ended>
      And message "missed" is sent to the topic with the durable header true
      And subscriber "right" comes back 2 s after it left
      Then "right" sees "m1" at least once
      And "right" sees "missed" exactly once

      Examples:
        | ended  |
        | lost   |
        | closed |

    @evidence @needs-lasting-subscription
    Scenario Outline: After its connection was <ended>, a durable subscription still exists <while> later
      Given a topic
      And subscriber "lasting" on the topic with quality of service <quality> and a durable subscription
      When the connection of "lasting" is <ended>
      And message "missed" is sent to the topic with the durable header true
      And subscriber "lasting" comes back <while> after it left
      Then "lasting" sees "missed" exactly once

      @needs-virtual-time
      Examples:
        | ended  | quality       | while |
        | closed | at-least-once | 720 h |
        | lost   | at-least-once | 720 h |

      Examples:
        | ended  | quality       | while |
        | closed | at-most-once  | 8 s   |
        | lost   | at-least-once | 8 s   |

    Scenario Outline: After a client's connection is <ended>, each of its two subscriptions has its own time to live
      Given a topic "one"
      And a topic "two"
      And subscriber "former" on topic "one" with quality of service at-least-once and a subscription that lives for <former>
      And subscriber "latter", of the same client as "former", on topic "two" with quality of service at-least-once and a subscription that lives for <latter>
      When the connection of "former" is <ended>
      And message "m1" is sent to topic "one" with the durable header true
      And message "m2" is sent to topic "two" with the durable header true
      And subscriber "former" comes back 8 s after it left
      And subscriber "again", of the same client as "former", subscribes to topic "two" with quality of service at-least-once and a subscription that lives for <latter>
      And message "n1" is sent to topic "one" with the durable header true
      And message "n2" is sent to topic "two" with the durable header true
      Then "former" sees "n1" exactly once
      And "again" sees "n2" exactly once
      And <kept>
      And <gone>

      Examples:
        | ended  | former | latter | kept                             | gone                     |
        | closed | 1 h    | 4 s    | "former" sees "m1" exactly once  | "again" never sees "m2"  |
        | lost   | 4 s    | 1 h    | "again" sees "m2" exactly once   | "former" never sees "m1" |

    @kit
    Scenario Outline: A subscription without a time to live is gone as soon as its connection is <ended>
      Given a topic
      And subscriber "passing" on the topic with quality of service at-least-once
      When the connection of "passing" is <ended>
      And message "missed" is sent to the topic with the durable header true
      And subscriber "passing" comes back
      And message "after" is sent to the topic with the durable header true
      Then "passing" sees "after" exactly once
      And "passing" never sees "missed"

      Examples:
        | ended  |
        | closed |
        | lost   |

    @kit @needs-subscription-list
    Scenario Outline: A new time to live of zero ends a subscription as soon as its connection is <ended>
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 30 s
      And subscriber "lasting" is inactive
      When message "missed" is sent to the topic with the durable header true
      And subscriber "lasting" comes back 2 s after it left, with a subscription that lives for 0 ms
      And "lasting" has seen "missed"
      And the connection of "lasting" is <ended>
      And 1 s pass
      Then there is no subscription to the topic

      Examples:
        | ended  |
        | closed |
        | lost   |

    @may @needs-restart
    Scenario: A subscription's time to live may or may not include the time of a restart of the broker
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 9 s
      And subscriber "longer" on the topic with quality of service at-least-once and a subscription that lives for 1 h
      When the connection of "lasting" is closed
      And the connection of "longer" is closed
      And message "missed" is sent to the topic with the durable header true
      And 6 s pass
      And the broker is restarted
      And subscriber "lasting" comes back 12 s after it left
      And subscriber "longer" comes back
      Then "lasting" sees "missed" at most once
      And "longer" sees "missed" exactly once

    @kit
    Scenario Outline: Nothing remains of <subscription> when its subscriber unsubscribes
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and <subscription>
      When subscriber "lasting" unsubscribes
      And message "missed" is sent to the topic with the durable header true
      And the connection of "lasting" is closed
      And subscriber "lasting" comes back
      And message "after" is sent to the topic with the durable header true
      Then "lasting" sees "after" exactly once
      And "lasting" never sees "missed"

      Examples:
        | subscription                      |
        | a subscription that lives for 1 h |
        | a durable subscription            |

    @kit
    Scenario Outline: A client that unsubscribed from one topic keeps its other subscription when its connection is <ended>
      Given a topic "one"
      And a topic "two"
      And subscriber "one" on topic "one" with quality of service at-least-once and a subscription that lives for 1 h
      And subscriber "two", of the same client as "one", on topic "two" with quality of service at-least-once and a subscription that lives for 1 h
      When subscriber "one" unsubscribes
      And message "m1" is sent to topic "two" with the durable header true
      And "two" has seen "m1"
      And 2 s pass
      And the connection of "one" is <ended>
      And message "missed" is sent to topic "two" with the durable header true
      And subscriber "one" comes back
      And subscriber "again", of the same client as "one", subscribes to topic "two" with quality of service at-least-once and a subscription that lives for 1 h
      Then "again" sees "missed" exactly once
      And "again" never sees "m1"

      Examples:
        | ended  |
        | closed |
        | lost   |

    @kit @needs-shared-subscription
    Scenario: The time to live that a later sharer requests applies to the shared subscription
      Given a topic
      And subscriber "short" on the topic with shared subscription "club", quality of service at-least-once and a subscription that lives for 4 s
      And subscriber "long" on the topic with shared subscription "club", quality of service at-least-once and a subscription that lives for 1 h
      When the connection of "short" is lost
      And the connection of "long" is lost
      And message "missed" is sent to the topic with the durable header true
      And subscriber "long" comes back 8 s after it left
      Then "long" sees "missed" exactly once

    @kit @needs-shared-subscription
    Scenario: When the last sharer unsubscribes, the shared subscription ends despite its time to live
      Given a topic
      And subscriber "left" on the topic with shared subscription "club", quality of service at-least-once and a subscription that lives for 1 h
      When subscriber "left" tries to unsubscribe
      And message "missed" is sent to the topic with the durable header true
      And subscriber "right" subscribes to the topic with shared subscription "club", quality of service at-least-once and a subscription that lives for 1 h
      And message "after" is sent to the topic with the durable header true
      Then "right" sees "after" exactly once
      And "right" never sees "missed"

    @may @needs-kill
    Scenario: A subscription's time to live may or may not include the time in which a killed broker is down
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 9 s
      And subscriber "longer" on the topic with quality of service at-least-once and a subscription that lives for 1 h
      When the connection of "lasting" is lost
      And the connection of "longer" is lost
      And message "missed" is sent to the topic with the durable header true
      And 6 s pass
      And the broker is killed and comes back
      And subscriber "lasting" comes back 12 s after it left
      And subscriber "longer" comes back
      Then "lasting" sees "missed" at most once
      And "longer" sees "missed" exactly once

    @kit @needs-shared-subscription @needs-topic-wildcard
    Scenario: Without a time to live, a shared subscription to a topic pattern ends when its last sharer leaves
      Given subscriber "left" on topic "sport/#" with shared subscription "club" and quality of service at-least-once
      And subscriber "right" on topic "sport/#" with shared subscription "club" and quality of service at-least-once
      When the connection of "left" is closed
      And message "m1" is sent to topic "sport/news" with the durable header false
      And "right" has seen "m1"
      And the connection of "right" is closed
      And message "missed" is sent to topic "sport/news" with the durable header true
      And subscriber "right" comes back
      And message "after" is sent to topic "sport/news" with the durable header false
      Then "right" sees "after" exactly once
      And "right" sees "m1" exactly once
      And "right" never sees "missed"

  @QS-21 @needs-topic @needs-subscription-ttl @needs-quality-of-service
  Rule: A subscription whose application reconnects in time resumes, with the messages that came meanwhile
    Line 31.  Jakarta Messaging 3.1, section 6.2.9, demands the order of the missed messages.

    @evidence @needs-store-error
    Scenario: A subscriber that was refused because of a store error can resume its subscription at the next attempt
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 60 s
      When the connection of "lasting" is closed
      And messages "m1" and "m2" are sent to the topic with the durable header true
      And 2 s pass
      And the broker's store refuses the next write
      And subscriber "lasting" tries to come back
      And 2 s pass
      And subscriber "lasting" tries to come back
      Then it is accepted
      When subscriber "lasting" starts to receive
      Then "lasting" sees "m1" and "m2" at least once

    Scenario Outline: After its <part> is closed, a subscriber with <terms> can subscribe again
      Given a topic
      And subscriber "lasting" on the topic with <terms>
      When the <part> of "lasting" is closed
      And subscriber "lasting" tries to come back
      Then it is accepted

      Examples:
        | part       | terms                                                                   |
        | consumer   | quality of service at-least-once and a subscription that lives for 30 s |
        | connection | quality of service at-least-once and a subscription that lives for 30 s |
        | consumer   | quality of service at-most-once and a subscription that lives for 30 s  |

      @needs-shared-subscription
      Examples: Shared
        | part       | terms                                                                                               |
        | consumer   | shared subscription "club", quality of service at-least-once and a subscription that lives for 30 s |
        | connection | shared subscription "club", quality of service at-least-once and a subscription that lives for 30 s |

    @evidence
    Scenario Outline: After the broker <event>, a subscriber with <terms> can subscribe again
      Given a topic
      And subscriber "lasting" on the topic with <terms>
      And subscriber "lasting" is inactive
      When the broker <event>
      And subscriber "lasting" tries to come back
      Then it is accepted

      @needs-restart
      Examples:
        | event        | terms                                                                  |
        | is restarted | quality of service at-least-once and a subscription that lives for 1 h |

      @needs-shared-subscription @needs-restart
      Examples: Shared
        | event        | terms                                                                                              |
        | is restarted | shared subscription "club", quality of service at-least-once and a subscription that lives for 1 h |

      @needs-kill
      Examples: After a kill
        | event                    | terms                                                                  |
        | is killed and comes back | quality of service at-least-once and a subscription that lives for 1 h |

    Scenario Outline: With a time to live of <ttl>, a subscriber that comes back <almost> after its connection was <ended> gets all missed messages
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for <ttl>
      When the connection of "lasting" is <ended>
      And messages "m1" to "m3" are sent to the topic with <header>
      And subscriber "lasting" comes back <almost> after it left
      Then "lasting" sees "m1" to "m3" exactly once

      @kit @needs-virtual-time
      Examples:
        | ended  | header                   | ttl  | almost   |
        | closed | the durable header true  | 30 s | 29999 ms |
        | closed | the durable header false | 30 s | 29999 ms |
        | lost   | the durable header true  | 30 s | 29999 ms |
        | lost   | the durable header false | 30 s | 29999 ms |

      Examples:
        | ended  | header                   | ttl | almost |
        | closed | the durable header true  | 6 s | 3 s    |
        | closed | the durable header false | 6 s | 3 s    |
        | lost   | the durable header true  | 6 s | 3 s    |
        | lost   | the durable header false | 6 s | 3 s    |

    @kit @judges-client
    Scenario: A client does not round a subscription's time to live of 1999 ms down to 1 s
      The field of AMQP 1.0 (section 3.5.3) has whole seconds, so a client has to round up.

      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 1999 ms
      When the connection of "lasting" is closed
      And message "missed" is sent to the topic with the durable header true
      And subscriber "lasting" comes back 1200 ms after it left
      Then "lasting" sees "missed" exactly once

    @kit
    Scenario Outline: After the connection was <ended>, the missed messages come in order
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 6 s
      When the connection of "lasting" is <ended>
      And messages "m1" to "m3" are sent to the topic with the durable header true
      And subscriber "lasting" comes back 3 s after it left
      Then "lasting" sees "m1" to "m3" in that order

      Examples:
        | ended  |
        | closed |
        | lost   |

    Scenario Outline: The time to live of <ttl> starts again each time that the connection is <ended>
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for <ttl>
      When the connection of "lasting" is <ended>
      And message "m1" is sent to the topic with the durable header true
      And subscriber "lasting" comes back <almost> after it left
      And <while> pass
      And the connection of "lasting" is <ended>
      And message "m2" is sent to the topic with the durable header true
      And subscriber "lasting" comes back <almost> after it left
      And 1 s pass
      And the connection of "lasting" is <ended>
      And message "m3" is sent to the topic with the durable header true
      And subscriber "lasting" comes back <almost> after it left
      Then "lasting" sees "m3" at least once
      And "lasting" sees "m1" to "m3" exactly once

      @kit @needs-virtual-time
      Examples:
        | ended  | ttl  | almost   | while |
        | closed | 30 s | 29999 ms | 20 s  |
        | lost   | 30 s | 29999 ms | 20 s  |

      Examples:
        | ended  | ttl | almost | while |
        | closed | 6 s | 3 s    | 2 s   |
        | lost   | 6 s | 3 s    | 2 s   |

    @needs-shared-subscription
    Scenario Outline: Another client can resume a shared subscription within its time to live of <ttl>
      Given a topic
      And subscriber "left" on the topic with shared subscription "club", quality of service at-least-once and a subscription that lives for <ttl>
      When the connection of "left" is lost
      And message "missed" is sent to the topic with <header>
      And <while> pass
      And subscriber "right" subscribes to the topic with shared subscription "club", quality of service at-least-once and a subscription that lives for <ttl>
      And <past> pass
      And message "late" is sent to the topic with the durable header true
      Then "right" sees "missed" exactly once
      And "right" sees "late" exactly once

      @needs-virtual-time
      Examples:
        | ttl  | while | past  | header                  |
        | 30 s | 20 s  | 1 min | the durable header true |

      Examples:
        | ttl | while | past | header                   |
        | 6 s | 3 s   | 8 s  | the durable header true  |
        | 6 s | 3 s   | 8 s  | the durable header false |

    Scenario Outline: After the broker <event>, a subscription can still be resumed within its time to live of <ttl>
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for <ttl>
      When the connection of "lasting" is lost
      And the broker <event>
      And subscriber "lasting" comes back
      And <past> pass
      And the connection of "lasting" is lost
      And message "missed" is sent to the topic with the durable header true
      And subscriber "lasting" comes back <almost> after it left
      Then "lasting" sees "missed" exactly once

      @kit @needs-restart @needs-virtual-time
      Examples:
        | event        | ttl  | past  | almost   |
        | is restarted | 30 s | 1 min | 29999 ms |

      @kit @needs-kill @needs-virtual-time
      Examples:
        | event                    | ttl  | past  | almost   |
        | is killed and comes back | 30 s | 1 min | 29999 ms |

      @needs-restart
      Examples:
        | event        | ttl | past | almost |
        | is restarted | 6 s | 8 s  | 3 s    |

      @needs-kill
      Examples:
        | event                    | ttl | past | almost |
        | is killed and comes back | 6 s | 8 s  | 3 s    |

    Scenario Outline: A resumed subscription does not end when its earlier time to live of <ttl> has passed
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for <ttl>
      When the connection of "lasting" is lost
      And subscriber "lasting" comes back <almost> after it left
      And <past> pass
      And message "m1" is sent to the topic with the durable header true
      Then "lasting" sees "m1" exactly once

      @kit @needs-virtual-time
      Examples:
        | ttl  | almost   | past  |
        | 30 s | 29999 ms | 1 min |

      Examples:
        | ttl | almost | past |
        | 6 s | 3 s    | 8 s  |

    Scenario: The time to live that a resuming subscriber requests replaces the earlier time to live
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 4 s
      When the connection of "lasting" is lost
      And subscriber "lasting" comes back 1 s after it left, with a subscription that lives for 30 s
      And the connection of "lasting" is lost
      And message "m1" is sent to the topic with the durable header true
      And subscriber "lasting" comes back 8 s after it left
      Then "lasting" sees "m1" exactly once

    Scenario Outline: A subscriber that resumes with <another> gets the messages that came after its connection was <ended>
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 30 s
      When the connection of "lasting" is <ended>
      And messages "m1" to "m3" are sent to the topic with the durable header true
      And subscriber "lasting" comes back 2 s after it left, with a subscription that lives for <ttl>
      Then "lasting" sees "m1" to "m3" exactly once

      Examples:
        | ended  | another                | ttl  |
        | closed | a longer time to live  | 1 h  |
        | lost   | a longer time to live  | 1 h  |
        | closed | a shorter time to live | 10 s |
        | lost   | a shorter time to live | 10 s |

      @kit
      Examples: Time to live of zero
        | ended  | another                | ttl  |
        | closed | a time to live of zero | 0 ms |
        | lost   | a time to live of zero | 0 ms |

    @evidence @judges-client @needs-cut @needs-reconnect
    Scenario: After all connections are cut, each of three subscriptions of a client resumes
      Given a topic "one"
      And a topic "two"
      And a topic "three"
      And subscriber "first" on topic "one" with quality of service at-least-once and a subscription that lives for 1 h
      And subscriber "second", of the same client as "first", on topic "two" with quality of service at-least-once and a subscription that lives for 1 h
      And subscriber "third", of the same client as "first", on topic "three" with quality of service at-least-once and a subscription that lives for 1 h
      When every connection is cut
      And every subscriber is connected again
      And message "m1" is sent to topic "one" with the durable header true
      And message "m2" is sent to topic "two" with the durable header true
      And message "m3" is sent to topic "three" with the durable header true
      Then "first" sees "m1" exactly once
      And "second" sees "m2" exactly once
      And "third" sees "m3" exactly once

    @kit @judges-client @needs-cut @needs-reconnect @needs-admin
    Scenario: After all connections are cut, a refused subscription does not prevent the client's next subscription from resuming
      Given a topic "one" with SUB(ENABLED)
      And a topic "two"
      And subscriber "first" on topic "one" with quality of service at-least-once and a subscription that lives for 1 h
      And subscriber "second", of the same client as "first", on topic "two" with quality of service at-least-once and a subscription that lives for 1 h
      When topic "one" is altered to SUB(DISABLED)
      And every connection is cut
      And 10 s pass
      And message "m2" is sent to topic "two" with the durable header true
      Then "second" sees "m2" exactly once

    @kit @needs-admin
    Scenario: A subscription whose resumption the topic refused can be resumed later
      Given a topic with SUB(ENABLED)
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 1 h
      When the connection of "lasting" is closed
      And message "missed" is sent to the topic with the durable header true
      And the topic is altered to SUB(DISABLED)
      And subscriber "lasting" tries to come back
      And the topic is altered to SUB(ENABLED)
      And subscriber "lasting" tries to come back
      Then it is accepted
      When subscriber "lasting" starts to receive
      Then "lasting" sees "missed" exactly once

    @needs-auto-confirm
    Scenario: A resumed subscription delivers the unacknowledged messages again
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once, no automatic confirmation and a subscription that lives for 4 s
      When message "held" is sent to the topic with the durable header true
      And "lasting" has seen "held"
      And the connection of "lasting" is lost
      And message "missed" is sent to the topic with the durable header true
      And subscriber "lasting" comes back 1 s after it left
      Then "lasting" sees "held" again
      And "lasting" sees "missed" exactly once

    @needs-auto-confirm @needs-kill @needs-reconnect
    Scenario: A resumed subscription that is in use when the broker is killed does not end after its earlier time to live
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once, no automatic confirmation and a subscription that lives for 40 s
      When the connection of "lasting" is lost
      And subscriber "lasting" comes back 2 s after it left
      And message "held" is sent to the topic with the durable header true
      And "lasting" has seen "held"
      And 40 s pass
      And the broker is killed and comes back
      And 10 s pass
      Then "lasting" sees "held" again

    @evidence @judges-client @needs-cut @needs-reconnect
    Scenario: A client that reconnects by itself requests the same time to live for its subscription
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 30 s
      When every connection is cut
      And every subscriber is connected again
      And the connection of "lasting" is lost
      And message "missed" is sent to the topic with the durable header true
      And subscriber "lasting" comes back 8 s after it left
      Then "lasting" sees "missed" exactly once

    Scenario Outline: After the broker <event>, an <quality> subscriber gets its missed messages
      Given a topic
      And subscriber "lasting" on the topic with quality of service <quality> and a subscription that lives for 1 h
      And subscriber "lasting" is inactive
      When messages "m1" to "m3" are sent to the topic with the durable header true
      And the broker <event>
      And subscriber "lasting" comes back
      Then "lasting" sees "m1" to "m3" exactly once

      @needs-restart
      Examples:
        | event        | quality       |
        | is restarted | at-least-once |
        | is restarted | at-most-once  |

      @needs-kill
      Examples:
        | event                    | quality       |
        | is killed and comes back | at-least-once |
        | is killed and comes back | at-most-once  |

    @evidence @needs-topic-wildcard
    Scenario: A resumed subscription to a topic pattern has the messages that came meanwhile to each matching topic
      Given subscriber "lasting" on topic "sport/#" with quality of service at-least-once and a subscription that lives for 6 s
      When the connection of "lasting" is closed
      And message "m1" is sent to topic "sport/news" with the durable header true
      And message "m2" is sent to topic "sport/news/today" with the durable header false
      And subscriber "lasting" comes back 3 s after it left
      And message "m3" is sent to topic "sport/weather" with the durable header true
      Then "lasting" sees "m1" to "m3" exactly once

    @kit
    Scenario: A subscription whose consumer was closed stores messages until the client connects again
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 1 h
      When the consumer of "lasting" is closed
      And message "missed" is sent to the topic with the durable header true
      And the connection of "lasting" is closed
      And subscriber "lasting" comes back
      Then "lasting" sees "missed" exactly once

  @QS-22 @needs-topic @needs-subscription-ttl @needs-quality-of-service
  Rule: After its time to live, a subscription is gone with all its messages, also the persistent messages
    Line 32.  A subscriber that comes back too late gets a new subscription.

    @evidence @needs-store-error @needs-subscription-list
    Scenario: A subscription ends in time although its subscriber was refused because of a store error
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 30 s
      When the connection of "lasting" is closed
      And message "m1" is sent to the topic with the durable header true
      And 2 s pass
      And the broker's store refuses the next write
      And subscriber "lasting" tries to come back
      And the connection of "lasting" is closed
      And 60 s pass
      Then no subscription to the topic remains

    @evidence @needs-store-error @needs-subscription-list
    Scenario: A subscription ends in time although the store refused a longer time to live
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 4 s
      When the connection of "lasting" is closed
      And the broker's store refuses the next write
      And subscriber "lasting" tries to subscribe to the topic with quality of service at-least-once and a subscription that lives for 1 d
      Then it is refused
      When 30 s pass
      Then no subscription to the topic remains

    @evidence @needs-store-error @needs-subscription-list
    Scenario: A subscription that no subscriber resumes ends although the store could not write its end
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 4 s
      When the connection of "lasting" is lost
      And message "m1" is sent to the topic with the durable header true
      And 2 s pass
      And the broker's store refuses the next write
      And 30 s pass
      Then no subscription to the topic remains

    @evidence @needs-store-error
    Scenario Outline: A subscription ends in time although the store could not write that <what>
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 4 s
      When <first>
      And 1 s pass
      And <second>
      And 1 s pass
      And <third>
      And subscriber "lasting" comes back 8 s after it left
      And message "after" is sent to the topic with the durable header true
      Then "lasting" sees "after" exactly once
      And "lasting" never sees "missed"

      Examples:
        | what                | first                                     | second                                                             | third                                                              |
        | its subscriber left | the broker's store refuses the next write | the connection of "lasting" is lost                                | message "missed" is sent to the topic with the durable header true |
        | it ended            | the connection of "lasting" is lost       | message "missed" is sent to the topic with the durable header true | the broker's store refuses the next write                          |

    Scenario Outline: A subscription with a time to live of <ttl> is gone <past> after its connection was <ended>
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for <ttl>
      When the connection of "lasting" is <ended>
      And messages "m1" to "m3" are sent to the topic with <header>
      And subscriber "lasting" comes back <past> after it left
      And message "after" is sent to the topic with <header>
      Then "lasting" sees "after" exactly once
      And "lasting" never sees "m1" to "m3"

      @needs-virtual-time
      Examples:
        | ended  | header                   | ttl  | past |
        | closed | the durable header true  | 30 s | 60 s |
        | closed | the durable header false | 30 s | 60 s |
        | lost   | the durable header true  | 30 s | 60 s |
        | lost   | the durable header false | 30 s | 60 s |

      @kit @needs-virtual-time
      Examples: At the exact end
        | ended  | header                   | ttl  | past |
        | closed | the durable header true  | 30 s | 30 s |
        | closed | the durable header false | 30 s | 30 s |
        | lost   | the durable header true  | 30 s | 30 s |
        | lost   | the durable header false | 30 s | 30 s |

      Examples:
        | ended  | header                   | ttl | past |
        | closed | the durable header true  | 4 s | 8 s  |
        | closed | the durable header false | 4 s | 8 s  |
        | lost   | the durable header true  | 4 s | 8 s  |
        | lost   | the durable header false | 4 s | 8 s  |

    Scenario Outline: A subscription that was resumed twice is gone after its time to live of <ttl>
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for <ttl>
      When the connection of "lasting" is <ended>
      And subscriber "lasting" comes back <within> after it left
      And the connection of "lasting" is <ended>
      And subscriber "lasting" comes back <within> after it left
      And the connection of "lasting" is <ended>
      And message "missed" is sent to the topic with the durable header true
      And subscriber "lasting" comes back <past> after it left
      And message "after" is sent to the topic with the durable header true
      Then "lasting" sees "after" exactly once
      And "lasting" never sees "missed"

      @needs-virtual-time
      Examples:
        | ended  | ttl  | within | past |
        | closed | 30 s | 20 s   | 60 s |
        | lost   | 30 s | 20 s   | 60 s |

      Examples:
        | ended  | ttl | within | past |
        | closed | 4 s | 2 s    | 8 s  |
        | lost   | 4 s | 2 s    | 8 s  |

    @needs-shared-subscription
    Scenario Outline: A shared subscription is gone when all sharers have been away for its time to live of <ttl>
      Given a topic
      And subscriber "left" on the topic with shared subscription "club", quality of service at-least-once and a subscription that lives for <ttl>
      And subscriber "right" on the topic with shared subscription "club", quality of service at-least-once and a subscription that lives for <ttl>
      When the connection of "left" is lost
      And the connection of "right" is lost
      And message "missed" is sent to the topic with the durable header true
      And subscriber "right" comes back <past> after it left
      And message "after" is sent to the topic with the durable header true
      Then "right" sees "after" exactly once
      And "right" never sees "missed"

      @needs-virtual-time
      Examples:
        | ttl  | past |
        | 30 s | 60 s |

      Examples:
        | ttl | past |
        | 4 s | 8 s  |

    Scenario Outline: After the broker <event>, a resumed subscription still ends after its time to live of <ttl>
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for <ttl>
      When the connection of "lasting" is lost
      And the broker <event>
      And subscriber "lasting" comes back
      And the connection of "lasting" is lost
      And message "missed" is sent to the topic with the durable header true
      And subscriber "lasting" comes back <past> after it left
      And message "after" is sent to the topic with the durable header true
      Then "lasting" sees "after" exactly once
      And "lasting" never sees "missed"

      @needs-restart @needs-virtual-time
      Examples:
        | event        | ttl  | past |
        | is restarted | 30 s | 60 s |

      @needs-kill @needs-virtual-time
      Examples:
        | event                    | ttl  | past |
        | is killed and comes back | 30 s | 60 s |

      @needs-restart
      Examples:
        | event        | ttl | past |
        | is restarted | 4 s | 8 s  |

      @needs-kill
      Examples:
        | event                    | ttl | past |
        | is killed and comes back | 4 s | 8 s  |

    @evidence @judges-client @needs-cut @needs-reconnect
    Scenario: After its client has reconnected by itself, a subscription still ends when its time to live is over
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 10 s
      When every connection is cut
      And every subscriber is connected again
      And the connection of "lasting" is lost
      And message "missed" is sent to the topic with the durable header true
      And subscriber "lasting" comes back 20 s after it left
      And message "after" is sent to the topic with the durable header true
      Then "lasting" sees "after" exactly once
      And "lasting" never sees "missed"

    @evidence
    Scenario: A subscriber can subscribe again after the end of its subscription
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 1 s
      And subscriber "lasting" is inactive
      When 4 s pass
      And subscriber "lasting" tries to come back
      Then it is accepted

    Scenario: A message that is published after the end of a subscription is not kept for the subscriber
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 4 s
      When the connection of "lasting" is lost
      And 8 s have passed since subscriber "lasting" left
      And message "late" is sent to the topic with the durable header true
      And subscriber "lasting" comes back
      And message "after" is sent to the topic with the durable header true
      Then "lasting" sees "after" exactly once
      And "lasting" never sees "late"

    Scenario Outline: The messages of an ended subscription do not come back when the broker <event> afterwards
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 4 s
      When the connection of "lasting" is lost
      And messages "m1" to "m3" are sent to the topic with the durable header true
      And 8 s have passed since subscriber "lasting" left
      And the broker <event>
      And subscriber "lasting" comes back
      And message "after" is sent to the topic with the durable header true
      Then "lasting" sees "after" exactly once
      And "lasting" never sees "m1" to "m3"

      @needs-restart
      Examples:
        | event        |
        | is restarted |

      @needs-kill
      Examples:
        | event                    |
        | is killed and comes back |

    Scenario: The end of a subscription does not affect another client's subscription
      Given a topic
      And subscriber "short" on the topic with quality of service at-least-once and a subscription that lives for 4 s
      And subscriber "long" on the topic with quality of service at-least-once and a subscription that lives for 1 h
      When the connection of "short" is lost
      And the connection of "long" is lost
      And message "m1" is sent to the topic with the durable header true
      And subscriber "long" comes back 8 s after it left
      Then "long" sees "m1" exactly once

    @needs-auto-confirm
    Scenario: Unacknowledged messages are gone when their subscription has ended
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once, no automatic confirmation and a subscription that lives for 4 s
      When message "held" is sent to the topic with the durable header true
      And "lasting" has seen "held"
      And the connection of "lasting" is lost
      And subscriber "lasting" comes back 8 s after it left
      And message "after" is sent to the topic with the durable header true
      Then "lasting" sees "after" exactly once
      And "lasting" sees "held" exactly once

    Scenario Outline: A subscription ends in time although the broker <event> while its subscriber is away
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 4 s
      When message "missed" is sent to the topic with the durable header true
      And "lasting" has seen "missed"
      And the connection of "lasting" is <ended>
      And message "kept" is sent to the topic with the durable header true
      And the broker <event>
      And 10 s pass
      And subscriber "lasting" comes back
      And message "after" is sent to the topic with the durable header true
      Then "lasting" sees "after" exactly once
      And "lasting" never sees "kept"

      @needs-restart
      Examples:
        | event        | ended  |
        | is restarted | lost   |
        | is restarted | closed |

      @needs-kill
      Examples:
        | event                    | ended |
        | is killed and comes back | lost  |

    Scenario Outline: A subscription ends in time if its application fails after the broker <event>
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 4 s
      And subscriber "other" on the topic with quality of service at-least-once and a subscription that lives for 1 h
      And subscriber "other" is inactive
      When the broker <event>
      And the application of "lasting" fails
      And message "missed" is sent to the topic with the durable header true
      And 10 s pass
      And subscriber "lasting" comes back
      And subscriber "other" comes back
      And message "after" is sent to the topic with the durable header true
      Then "lasting" sees "after" exactly once
      And "lasting" never sees "missed"
      And "other" sees "missed" exactly once

      @needs-restart
      Examples:
        | event        |
        | is restarted |

      @needs-kill
      Examples:
        | event                    |
        | is killed and comes back |

    @evidence @needs-subscription-list
    Scenario Outline: An administrator no longer sees an ended subscription even if the broker <event> while the subscriber is away
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 4 s
      And subscriber "lasting" is inactive
      When message "missed" is sent to the topic with the durable header true
      And the broker <event>
      Then no subscription to the topic remains

      @needs-restart
      Examples:
        | event        |
        | is restarted |

      @needs-kill
      Examples:
        | event                    |
        | is killed and comes back |

    @evidence @needs-subscription-list
    Scenario Outline: After a client's connection is <ended>, its subscriptions end, and an administrator no longer sees them
      Given a topic "one"
      And a topic "two"
      And subscriber "former" on topic "one" with quality of service at-least-once and a subscription that lives for <former>
      And subscriber "latter", of the same client as "former", on topic "two" with quality of service at-least-once and a subscription that lives for <latter>
      When the connection of "former" is <ended>
      And message "m1" is sent to topic "one" with the durable header true
      And message "m2" is sent to topic "two" with the durable header true
      Then no subscription to topic "one" remains
      And no subscription to topic "two" remains

      Examples:
        | ended  | former | latter |
        | lost   | 4 s    | 4 s    |
        | closed | 4 s    | 5 s    |
        | lost   | 5 s    | 4 s    |

    Scenario: Two subscriptions that end at the same time are both gone
      Given a topic
      And subscriber "first" on the topic with quality of service at-least-once and a subscription that lives for 4 s
      And subscriber "second" on the topic with quality of service at-least-once and a subscription that lives for 4 s
      When the connection of "first" is lost
      And the connection of "second" is lost
      And message "missed" is sent to the topic with the durable header true
      And 8 s have passed since subscriber "second" left
      And subscriber "first" comes back
      And subscriber "second" comes back
      And message "after" is sent to the topic with the durable header true
      Then "first" sees "after" exactly once
      And "second" sees "after" exactly once
      And "first" never sees "missed"
      And "second" never sees "missed"

    Scenario Outline: Both subscriptions of a client, with times to live of <former> and <latter>, end after its connection is <ended>
      Given a topic "one"
      And a topic "two"
      And subscriber "former" on topic "one" with quality of service at-least-once and a subscription that lives for <former>
      And subscriber "latter", of the same client as "former", on topic "two" with quality of service at-least-once and a subscription that lives for <latter>
      When the connection of "former" is <ended>
      And message "m1" is sent to topic "one" with the durable header true
      And message "m2" is sent to topic "two" with the durable header true
      And subscriber "former" comes back 10 s after it left
      And subscriber "again", of the same client as "former", subscribes to topic "two" with quality of service at-least-once and a subscription that lives for <latter>
      And message "n1" is sent to topic "one" with the durable header true
      And message "n2" is sent to topic "two" with the durable header true
      Then "former" sees "n1" exactly once
      And "again" sees "n2" exactly once
      And "former" never sees "m1"
      And "again" never sees "m2"

      Examples:
        | ended  | former | latter |
        | lost   | 4 s    | 4 s    |
        | closed | 4 s    | 5 s    |
        | lost   | 5 s    | 4 s    |

    @evidence @needs-topic-wildcard
    Scenario: The end of a subscription to a topic pattern does not affect another client's subscription to the topic
      Given subscriber "lasting" on topic "sport/#" with quality of service at-least-once and a subscription that lives for 4 s
      And subscriber "other" on topic "sport/+" with quality of service at-least-once and a durable subscription
      When the connection of "lasting" is lost
      And message "missed" is sent to topic "sport/news" with the durable header true
      And 8 s have passed since subscriber "lasting" left
      And message "late" is sent to topic "sport/news" with the durable header true
      And subscriber "lasting" comes back
      And message "after" is sent to topic "sport/news" with the durable header true
      Then sending "late" is accepted
      And "lasting" sees "after" exactly once
      And "lasting" never sees "missed"
      And "lasting" never sees "late"
      And "other" sees "missed", "late" and "after" exactly once
