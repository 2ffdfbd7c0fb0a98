Feature: A subscription outlives its application for a time, and no longer
  MQ Light and AMQP, lines 30 to 33.  On the wire the time is in whole seconds; to the millisecond it is tried where
  the clock is exact.

  @QS-20 @needs-topic @needs-subscription-ttl @needs-quality-of-service
  Rule: The time to live of a subscription counts from its disconnection; with none, the subscription ends at once
    Line 31.  A connection that is closed and one that is lost both start the count; being connected does not.

    @needs-admin @needs-virtual-time
    Scenario Outline: After its connection was <ended> a subscription that lives for 30 s is there for just so long
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 30 s
      When the connection of "lasting" is <ended>
      And 29999 ms have passed since subscriber "lasting" left
      Then there is 1 subscription to the topic
      When 30 s have passed since subscriber "lasting" left
      Then there is no subscription to the topic

      Examples:
        | ended  |
        | closed |
        | lost   |

    @needs-admin @needs-virtual-time
    Scenario Outline: A subscription that lives for <ttl> lives neither shorter nor longer
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
        | 2 h     | 7199999 ms    |
        | 720 h   | 2591999999 ms |

    Scenario Outline: Time in which the subscriber is connected does not count, its connection <ended> in the end
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 4 s
      When 9 s pass
      And the connection of "lasting" is <ended>
      And message "missed" is sent to the topic with the durable header true
      And subscriber "lasting" comes back 2 s after it left
      Then "lasting" sees "missed" exactly once

      Examples:
        | ended  |
        | closed |
        | lost   |

    Scenario Outline: Its time runs out after its connection was <ended>
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

    @needs-shared-subscription @needs-virtual-time
    Scenario: Of those who share a subscription the last one to leave starts its time
      Given a topic
      And subscriber "left" on the topic with shared subscription "club", quality of service at-least-once and a subscription that lives for 30 s
      And subscriber "right" on the topic with shared subscription "club", quality of service at-least-once and a subscription that lives for 30 s
      When the connection of "left" is lost
      And 20 s pass
      And the connection of "right" is lost
      And message "missed" is sent to the topic with the durable header true
      And subscriber "right" comes back 29999 ms after it left
      Then "right" sees "missed" exactly once

    @kit
    Scenario Outline: Without a time to live it is over as soon as its connection is <ended>
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

    @kit @needs-admin
    Scenario Outline: Zero in place of an earlier time ends it as soon as its connection is <ended>
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 30 s
      And subscriber "lasting" is inactive
      When message "missed" is sent to the topic with the durable header true
      And subscriber "lasting" comes back 10 s after it left, to live for 0 ms
      And "lasting" has seen "missed"
      And the connection of "lasting" is <ended>
      And 1 s pass
      Then there is no subscription to the topic

      Examples:
        | ended  |
        | closed |
        | lost   |

    @may @needs-restart
    Scenario: Whether a restart of the broker counts is recorded
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 30 s
      And subscriber "longer" on the topic with quality of service at-least-once and a subscription that lives for 1 h
      When the connection of "lasting" is closed
      And the connection of "longer" is closed
      And message "missed" is sent to the topic with the durable header true
      And 20 s pass
      And the broker is restarted
      And subscriber "lasting" comes back 40 s after it left
      And subscriber "longer" comes back
      Then "lasting" sees "missed" at most once
      And "longer" sees "missed" exactly once

  @QS-21 @needs-topic @needs-subscription-ttl @needs-quality-of-service
  Rule: A subscription whose application connects again in time resumes, with what came meanwhile
    Line 31.

    @needs-virtual-time
    Scenario Outline: One millisecond before its end after its connection was <ended> it has everything, in order
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 30 s
      When the connection of "lasting" is <ended>
      And messages "m1" to "m3" are sent to the topic with <header>
      And subscriber "lasting" comes back 29999 ms after it left
      Then "lasting" sees "m1" to "m3" exactly once
      And "lasting" sees "m1" to "m3" in that order

      Examples:
        | ended  | header                   |
        | closed | the durable header true  |
        | closed | the durable header false |
        | lost   | the durable header true  |
        | lost   | the durable header false |

    @needs-virtual-time
    Scenario Outline: The time starts anew at each disconnection, each time the connection is <ended>
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 30 s
      When the connection of "lasting" is <ended>
      And message "m1" is sent to the topic with the durable header true
      And subscriber "lasting" comes back 29999 ms after it left
      And 20 s pass
      And the connection of "lasting" is <ended>
      And message "m2" is sent to the topic with the durable header true
      And subscriber "lasting" comes back 29999 ms after it left
      And 1 s pass
      And the connection of "lasting" is <ended>
      And message "m3" is sent to the topic with the durable header true
      And subscriber "lasting" comes back 29999 ms after it left
      Then "lasting" sees "m3" at least once
      And "lasting" sees "m1" to "m3" exactly once

      Examples:
        | ended  |
        | closed |
        | lost   |

    @needs-shared-subscription @needs-virtual-time
    Scenario: Where it is shared somebody else may resume it
      Given a topic
      And subscriber "left" on the topic with shared subscription "club", quality of service at-least-once and a subscription that lives for 30 s
      When the connection of "left" is lost
      And message "missed" is sent to the topic with the durable header true
      And 20 s pass
      And subscriber "right" comes to the topic with shared subscription "club", quality of service at-least-once and a subscription that lives for 30 s
      And 1 min pass
      And message "late" is sent to the topic with the durable header true
      Then "right" sees "missed" exactly once
      And "right" sees "late" exactly once

    @needs-virtual-time
    Scenario Outline: It resumes in time after the broker <event>, too
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 30 s
      When the connection of "lasting" is lost
      And the broker <event>
      And subscriber "lasting" comes back
      And 1 min pass
      And the connection of "lasting" is lost
      And message "missed" is sent to the topic with the durable header true
      And subscriber "lasting" comes back 29999 ms after it left
      Then "lasting" sees "missed" exactly once

      @needs-restart
      Examples:
        | event        |
        | is restarted |

      @needs-kill
      Examples:
        | event                    |
        | is killed and comes back |

    @needs-virtual-time
    Scenario: Once it has resumed, it does not end when the old time is over
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 30 s
      When the connection of "lasting" is lost
      And subscriber "lasting" comes back 29999 ms after it left
      And 1 min pass
      And message "m1" is sent to the topic with the durable header true
      Then "lasting" sees "m1" exactly once

    Scenario: A later time replaces the earlier one
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 4 s
      When the connection of "lasting" is lost
      And subscriber "lasting" comes back 1 s after it left, to live for 30 s
      And the connection of "lasting" is lost
      And message "m1" is sent to the topic with the durable header true
      And subscriber "lasting" comes back 8 s after it left
      Then "lasting" sees "m1" exactly once

    @needs-auto-confirm
    Scenario: What was held and not acknowledged is among what it resumes with
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once, no automatic confirmation and a subscription that lives for 4 s
      When message "held" is sent to the topic with the durable header true
      And "lasting" has seen "held"
      And the connection of "lasting" is lost
      And message "missed" is sent to the topic with the durable header true
      And subscriber "lasting" comes back 1 s after it left
      Then "lasting" sees "held" again
      And "lasting" sees "missed" exactly once

  @QS-22 @needs-topic @needs-subscription-ttl @needs-quality-of-service
  Rule: Past its time to live a subscription is gone with its messages, persistent ones too
    Line 32.  What the subscriber finds when it comes back too late is a new subscription.

    @needs-virtual-time
    Scenario Outline: On the millisecond of its end after its connection was <ended> nothing of it is left
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 30 s
      When the connection of "lasting" is <ended>
      And messages "m1" to "m3" are sent to the topic with <header>
      And subscriber "lasting" comes back 30 s after it left
      And message "after" is sent to the topic with <header>
      Then "lasting" sees "after" exactly once
      And "lasting" never sees "m1" to "m3"

      Examples:
        | ended  | header                   |
        | closed | the durable header true  |
        | closed | the durable header false |
        | lost   | the durable header true  |
        | lost   | the durable header false |

    @needs-virtual-time
    Scenario Outline: Nothing is left either when its time is over after it has resumed twice, its connection <ended> each time
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 30 s
      When the connection of "lasting" is <ended>
      And subscriber "lasting" comes back 20 s after it left
      And the connection of "lasting" is <ended>
      And subscriber "lasting" comes back 20 s after it left
      And the connection of "lasting" is <ended>
      And message "missed" is sent to the topic with the durable header true
      And subscriber "lasting" comes back 30 s after it left
      And message "after" is sent to the topic with the durable header true
      Then "lasting" sees "after" exactly once
      And "lasting" never sees "missed"

      Examples:
        | ended  |
        | closed |
        | lost   |

    @needs-shared-subscription @needs-virtual-time
    Scenario: Nothing is left of one that was shared when all have been away for its time
      Given a topic
      And subscriber "left" on the topic with shared subscription "club", quality of service at-least-once and a subscription that lives for 30 s
      And subscriber "right" on the topic with shared subscription "club", quality of service at-least-once and a subscription that lives for 30 s
      When the connection of "left" is lost
      And the connection of "right" is lost
      And message "missed" is sent to the topic with the durable header true
      And subscriber "right" comes back 30 s after it left
      And message "after" is sent to the topic with the durable header true
      Then "right" sees "after" exactly once
      And "right" never sees "missed"

    @needs-virtual-time
    Scenario Outline: Nothing is left when its time is over after it has resumed where the broker <event>
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 30 s
      When the connection of "lasting" is lost
      And the broker <event>
      And subscriber "lasting" comes back
      And the connection of "lasting" is lost
      And message "missed" is sent to the topic with the durable header true
      And subscriber "lasting" comes back 30 s after it left
      And message "after" is sent to the topic with the durable header true
      Then "lasting" sees "after" exactly once
      And "lasting" never sees "missed"

      @needs-restart
      Examples:
        | event        |
        | is restarted |

      @needs-kill
      Examples:
        | event                    |
        | is killed and comes back |

    Scenario Outline: Messages with <header> are gone with it
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 4 s
      When the connection of "lasting" is lost
      And messages "m1" to "m3" are sent to the topic with <header>
      And subscriber "lasting" comes back 8 s after it left
      And message "after" is sent to the topic with <header>
      Then "lasting" sees "after" exactly once
      And "lasting" never sees "m1" to "m3"

      Examples:
        | header                   |
        | the durable header true  |
        | the durable header false |

    Scenario: What is published past its end is not kept for it either
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once and a subscription that lives for 4 s
      When the connection of "lasting" is lost
      And 8 s have passed since subscriber "lasting" left
      And message "late" is sent to the topic with the durable header true
      And subscriber "lasting" comes back
      And message "after" is sent to the topic with the durable header true
      Then "lasting" sees "after" exactly once
      And "lasting" never sees "late"

    Scenario Outline: Its messages do not come back when the broker <event> afterwards
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

    Scenario: Its end leaves the subscription of somebody else alone
      Given a topic
      And subscriber "short" on the topic with quality of service at-least-once and a subscription that lives for 4 s
      And subscriber "long" on the topic with quality of service at-least-once and a subscription that lives for 1 h
      When the connection of "short" is lost
      And the connection of "long" is lost
      And message "m1" is sent to the topic with the durable header true
      And subscriber "long" comes back 8 s after it left
      Then "long" sees "m1" exactly once

    @needs-auto-confirm
    Scenario: What was held and not acknowledged is gone with it
      Given a topic
      And subscriber "lasting" on the topic with quality of service at-least-once, no automatic confirmation and a subscription that lives for 4 s
      When message "held" is sent to the topic with the durable header true
      And "lasting" has seen "held"
      And the connection of "lasting" is lost
      And subscriber "lasting" comes back 8 s after it left
      And message "after" is sent to the topic with the durable header true
      Then "lasting" sees "after" exactly once
      And "lasting" sees "held" exactly once
