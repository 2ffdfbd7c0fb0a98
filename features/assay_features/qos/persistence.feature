Feature: The persistence of messages on a subscriber's queue
  MQ Light and AMQP, lines 35 to 42.  An administrator looks at the queue that the broker made for the subscription.
  The subscriber does not receive yet, so that the message stays on the queue.

  @QS-30 @needs-topic @needs-quality-of-service @needs-lasting-subscription @needs-admin @needs-default-persistence
  Rule: For a non-durable subscription with at-most-once, a message is non-persistent, whatever sender and topic say
    Line 36.  Both conditions are needed: with only one of them, the message has the persistence that its sender chose.

    Scenario Outline: On a topic with DEFPSIST(<defpsist>), a message with <header> is non-persistent for a non-durable at-most-once subscriber
      Given a topic with DEFPSIST(<defpsist>)
      And subscriber "once", which does not receive yet, on the topic with quality of service at-most-once
      When message "m1" is sent to the topic with <header>
      Then "m1" on the queue of the subscription to the topic is non-persistent

      Examples:
        | header                   | defpsist |
        | the durable header true  | YES      |
        | the durable header true  | NO       |
        | no durable header        | YES      |
        | the durable header false | YES      |

    @needs-shared-subscription
    Scenario: A message with the durable header is non-persistent for a shared non-durable subscription with at-most-once
      Given a topic with DEFPSIST(YES)
      And subscriber "once", which does not receive yet, on the topic with shared subscription "club" and quality of service at-most-once
      When messages "m1" and "m2" are sent to the topic with the durable header true
      Then "m1" on the queue of the subscription to the topic is non-persistent
      And "m2" on the queue of the subscription to the topic is non-persistent

    @kit @needs-shared-subscription
    Scenario Outline: A message with the durable header is persistent for an <first> sharer and a later <then> sharer
      Given a topic with DEFPSIST(NO)
      And subscriber "first", which does not receive yet, on the topic with shared subscription "club" and quality of service <first>
      And subscriber "second", which does not receive yet, on the topic with shared subscription "club" and quality of service <then>
      When message "m1" is sent to the topic with the durable header true
      Then "m1" on the queue of the subscription to the topic is persistent

      Examples:
        | first         | then          |
        | at-most-once  | at-least-once |
        | at-least-once | at-most-once  |

    Scenario Outline: A message with the durable header is persistent for a <one> subscriber
      Given a topic with DEFPSIST(NO)
      And subscriber "other", which does not receive yet, on the topic with <terms>
      When message "m1" is sent to the topic with the durable header true
      Then "m1" on the queue of the subscription to the topic is persistent

      Examples:
        | one                       | terms                                                      |
        | durable at-most-once      | quality of service at-most-once and a durable subscription |
        | non-durable at-least-once | quality of service at-least-once                           |

    Scenario: A message is non-persistent for a non-durable at-most-once subscriber, and persistent for a durable subscriber
      Given a topic with DEFPSIST(NO)
      And subscriber "once" on the topic with quality of service at-most-once
      And subscriber "sure" on the topic with quality of service at-least-once and a durable subscription
      When message "m1" is sent to the topic with the durable header true
      Then message "m1" as seen by "once" shows JMSDeliveryMode "NON_PERSISTENT"
      And message "m1" as seen by "sure" shows JMSDeliveryMode "PERSISTENT"

    @evidence @needs-retained-publication
    Scenario Outline: A retained message with <header> is non-persistent for a new subscriber with <terms>
      Given a topic with DEFPSIST(YES)
      When message "m1" is sent to the topic with the retain option and <header>
      And subscriber "once" subscribes to the topic with <terms>
      Then message "m1" as seen by "once" shows JMSDeliveryMode "NON_PERSISTENT"

      Examples:
        | header                  | terms                           |
        | the durable header true | quality of service at-most-once |
        | no durable header       | quality of service at-most-once |

      @needs-shared-subscription
      Examples:
        | header                  | terms                                                          |
        | the durable header true | shared subscription "club" and quality of service at-most-once |

    @evidence @needs-shared-subscription
    Scenario: A message with the durable header is persistent for a durable shared subscription with at-most-once
      Given a topic with DEFPSIST(NO)
      And subscriber "other", which does not receive yet, on the topic with shared subscription "club", quality of service at-most-once and a durable subscription
      When messages "m1" and "m2" are sent to the topic with the durable header true
      Then "m1" on the queue of the subscription to the topic is persistent
      And "m2" on the queue of the subscription to the topic is persistent

    @evidence @needs-topic-wildcard
    Scenario: For an at-most-once subscriber to a topic pattern, messages are non-persistent, also after the subscriber comes back
      Given a topic "sport/news" with DEFPSIST(YES)
      And subscriber "once" on topic "sport/#" with quality of service at-most-once
      When message "m1" is sent to topic "sport/news" with the durable header true
      And "once" has seen "m1"
      And the connection of "once" is closed
      And subscriber "once" comes back and does not receive yet
      And message "m2" is sent to topic "sport/news" with the durable header true
      Then "m2" on the queue of the subscription to topic "sport/#" is non-persistent
      And message "m1" as seen by "once" shows JMSDeliveryMode "NON_PERSISTENT"

  @QS-31 @needs-topic @needs-quality-of-service
  Rule: When the queue manager stops, a non-durable subscription and its messages are gone
    Line 37.  This rule demands over AMQP what PD-27 demands.

    @needs-reconnect
    Scenario Outline: The messages of a non-durable subscription are gone after the broker <event>
      Given a topic
      And subscriber "once", which does not receive yet, on the topic with quality of service at-most-once
      When messages "m1" to "m3" are sent to the topic with the durable header true
      And the broker <event>
      And every subscriber is connected again
      And 1 s pass
      And subscriber "once" starts to receive
      And message "control" is sent to the topic with the durable header true
      Then "once" sees "control" exactly once
      And "once" never sees "m1" to "m3"

      @needs-restart
      Examples:
        | event        |
        | is restarted |

      @needs-kill
      Examples:
        | event                    |
        | is killed and comes back |

    @evidence @needs-subscription-list
    Scenario Outline: The non-durable subscription of a disconnected client is gone after the broker <event>
      Given a topic
      And subscriber "once", which does not receive yet, on the topic with quality of service at-most-once
      When message "m1" is sent to the topic with the durable header true
      And the connection of "once" is lost
      And the broker <event>
      Then there is no subscription to the topic
      When subscriber "once" comes back
      And message "control" is sent to the topic with the durable header true
      Then "once" sees "control" exactly once
      And "once" never sees "m1"

      @needs-restart
      Examples:
        | event        |
        | is restarted |

      @needs-kill
      Examples:
        | event                    |
        | is killed and comes back |

    @needs-reconnect @needs-shared-subscription
    Scenario Outline: The messages of a shared non-durable subscription are gone after the broker <event>
      Given a topic
      And subscriber "once", which does not receive yet, on the topic with shared subscription "club" and quality of service at-most-once
      When messages "m1" to "m3" are sent to the topic with the durable header true
      And the broker <event>
      And every subscriber is connected again
      And 1 s pass
      And subscriber "once" starts to receive
      And message "control" is sent to the topic with the durable header true
      Then "once" sees "control" exactly once
      And "once" never sees "m1" to "m3"

      @needs-restart
      Examples:
        | event        |
        | is restarted |

      @needs-kill
      Examples:
        | event                    |
        | is killed and comes back |

    @evidence @needs-reconnect @needs-shared-subscription @needs-topic-wildcard @needs-kill
    Scenario: After a kill, the messages of a shared non-durable subscription to a pattern, which one sharer has left, are gone
      Given subscriber "left", which does not receive yet, on topic "sport/#" with shared subscription "club" and quality of service at-least-once
      And subscriber "right", which does not receive yet, on topic "sport/#" with shared subscription "club" and quality of service at-least-once
      When message "m1" is sent to topic "sport/news" with the durable header true
      And message "m2" is sent to topic "sport/news" with the durable header false
      And the connection of "left" is closed
      And the broker is killed and comes back
      And every subscriber is connected again
      And subscriber "right" starts to receive
      And message "control" is sent to topic "sport/news" with the durable header true
      Then "right" sees "control" exactly once
      And "right" never sees "m1" and "m2"

  @QS-32 @needs-topic @needs-quality-of-service @needs-lasting-subscription
  Rule: A message with the durable header true is persistent on the subscribers' queues
    Lines 38 and 39.

    @evidence @needs-default-persistence @needs-subscription-list @needs-subscription-look
    Scenario Outline: On a topic with DEFPSIST(NO), a message with the durable header is persistent for a subscriber with <terms>
      Given a topic with DEFPSIST(NO)
      And subscriber "reader", which does not receive yet, on the topic with <terms>
      When message "m1" is sent to the topic with the durable header true
      Then "m1" on the queue of the subscription to the topic is persistent

      Examples:
        | terms                                                                  |
        | quality of service at-least-once and a durable subscription |
        | quality of service at-most-once and a durable subscription  |
        | quality of service at-least-once                                       |

    Scenario Outline: After the broker <event>, an <quality> subscriber gets a message with the durable header
      Given a topic
      And subscriber "first" on the topic with quality of service <quality> and a durable subscription
      And subscriber "second" on the topic with quality of service <quality> and a durable subscription
      And subscriber "first" is inactive
      And subscriber "second" is inactive
      When messages "m1" to "m3" are sent to the topic with the durable header true
      And the broker <event>
      And subscriber "first" comes back
      And subscriber "second" comes back
      Then "first" sees "m1" to "m3" exactly once
      And "second" sees "m1" to "m3" exactly once

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

    @evidence @needs-subscription-ttl
    Scenario Outline: After the broker <event>, a subscriber whose subscription lives for 1 h gets a message with the durable header
      Given a topic
      And subscriber "reader" on the topic with quality of service at-least-once and a subscription that lives for 1 h
      And subscriber "reader" is inactive
      When messages "m1" to "m3" are sent to the topic with the durable header true
      And the broker <event>
      And subscriber "reader" comes back
      Then "reader" sees "m1" to "m3" exactly once

      @needs-restart
      Examples:
        | event        |
        | is restarted |

      @needs-kill
      Examples:
        | event                    |
        | is killed and comes back |

    Scenario Outline: After the broker <event>, durable subscribers get a message that also went to a subscriber with <once>
      By line 36, only the copy of that one subscriber is non-persistent.

      Given a topic
      And subscriber "first" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "once" on the topic with <once>
      And subscriber "last" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "first" is inactive
      And subscriber "last" is inactive
      When messages "m1" to "m3" are sent to the topic with the durable header true
      And the connection of "once" is closed
      And the broker <event>
      And subscriber "first" comes back
      And subscriber "last" comes back
      Then "first" sees "m1" to "m3" exactly once
      And "last" sees "m1" to "m3" exactly once

      @needs-restart
      Examples:
        | event        | once                            |
        | is restarted | quality of service at-most-once |

      @needs-restart @needs-shared-subscription
      Examples: Shared
        | event        | once                                                           |
        | is restarted | shared subscription "club" and quality of service at-most-once |

      @needs-kill
      Examples: After a kill
        | event                    | once                            |
        | is killed and comes back | quality of service at-most-once |

    @needs-kill
    Scenario: A message with the durable header survives two kills of the broker
      Given a topic
      And subscriber "first" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "first" is inactive
      When messages "m1" and "m2" are sent to the topic with the durable header true
      And the broker is killed and comes back
      And message "m3" is sent to the topic with the durable header true
      And the broker is killed and comes back
      And subscriber "first" comes back
      Then "first" sees "m1" to "m3" exactly once

    @needs-kill
    Scenario Outline: After a kill, an <quality> subscriber that had left twice gets the messages of its second absence
      Given a topic
      And subscriber "reader" on the topic with quality of service <quality> and a durable subscription
      And subscriber "reader" is inactive
      When message "m1" is sent to the topic with the durable header true
      And subscriber "reader" comes back
      And "reader" has seen "m1"
      And 2 s pass
      And the connection of "reader" is closed
      And messages "m2" and "m3" are sent to the topic with the durable header true
      And the broker is killed and comes back
      And subscriber "reader" comes back
      Then "reader" sees "m1" to "m3" exactly once

      Examples:
        | quality       |
        | at-least-once |
        | at-most-once  |

    @needs-shared-subscription
    Scenario Outline: Sharers get a message with the durable header after the broker <event>
      Given a topic
      And subscriber "left" on the topic with shared subscription "club", quality of service <quality> and a durable subscription
      And subscriber "left" is inactive
      When messages "m1" to "m3" are sent to the topic with the durable header true
      And the broker <event>
      And subscriber "right" subscribes to the topic with shared subscription "club", quality of service <quality> and a durable subscription
      Then "right" sees "m1" to "m3" exactly once

      @needs-restart
      Examples:
        | event        | quality       |
        | is restarted | at-least-once |

      @needs-kill
      Examples:
        | event                    | quality       |
        | is killed and comes back | at-least-once |
        | is killed and comes back | at-most-once  |

    @needs-kill
    Scenario Outline: A message with the durable header and <body> survives a kill unaltered
      Given a topic
      And subscriber "reader" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "reader" is inactive
      When message "m1" is sent to the topic with the durable header true and <body>
      And the broker is killed and comes back
      And subscriber "reader" comes back
      Then "reader" sees "m1" exactly once
      And "reader" sees the body of "m1" unaltered

      Examples:
        | body                           |
        | an empty body                  |
        | a body of non-ASCII characters |
        | a binary body                  |
        | a body of 300 KB               |

    @evidence @needs-power-loss
    Scenario: Messages with the durable header survive a power loss of the broker
      Given a topic
      And subscriber "reader" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "reader" is inactive
      When messages "m1" and "m2" are sent to the topic with the durable header true
      And the broker loses its power and comes back
      And subscriber "reader" comes back
      Then "reader" sees "m1" and "m2" exactly once

    @evidence @needs-kill
    Scenario Outline: A message with the durable header and <option> survives a kill
      Given a topic
      And subscriber "reader" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "reader" is inactive
      When messages "m1" and "m2" are sent to the topic with the durable header true and <option>
      And the broker is killed and comes back
      And subscriber "reader" comes back
      Then "reader" sees "m1" and "m2" exactly once

      Examples:
        | option                  |
        | property colour = "red" |

      @needs-time-to-live
      Examples:
        | option                |
        | a time to live of 1 h |

    Scenario Outline: After the broker <event>, an older subscription and a new subscription each get only their own messages
      Given a topic "one"
      And a topic "two"
      And subscriber "old" on topic "one" with quality of service at-least-once and a durable subscription
      And subscriber "old" is inactive
      When message "m1" is sent to topic "one" with the durable header true
      And the broker <event>
      And subscriber "new" subscribes to topic "two" with quality of service at-least-once and a durable subscription
      And the connection of "new" is closed
      And message "m2" is sent to topic "two" with the durable header true
      And the broker <event>
      And subscriber "old" comes back
      And subscriber "new" comes back
      Then "old" sees "m1" exactly once
      And "new" sees "m2" exactly once
      And "old" never sees "m2"

      @needs-restart
      Examples:
        | event        |
        | is restarted |

      @needs-kill
      Examples:
        | event                    |
        | is killed and comes back |

    @evidence @needs-topic-wildcard @needs-kill
    Scenario: After a kill, subscribers to topic patterns get a message with the durable header
      Given subscriber "all" on topic "sport/#" with quality of service at-least-once and a durable subscription
      And subscriber "some" on topic "sport/+" with quality of service at-most-once and a durable subscription
      And subscriber "all" is inactive
      And subscriber "some" is inactive
      When messages "m1" and "m2" are sent to topic "sport/news" with the durable header true
      And the broker is killed and comes back
      And subscriber "all" comes back
      And subscriber "some" comes back
      Then "all" sees "m1" and "m2" exactly once
      And "some" sees "m1" and "m2" exactly once

  @QS-33 @needs-topic @needs-quality-of-service @needs-lasting-subscription @needs-admin @needs-default-persistence
  Rule: Without a durable header, DEFPSIST of the topic decides
    Line 40.  Reading: *not set* means absent.  If the topic has DEFPSIST(YES), the effect of an explicit false is
    recorded.

    Scenario Outline: DEFPSIST(<defpsist>) makes a message without a durable header <persistence>
      Given a topic with DEFPSIST(<defpsist>)
      And subscriber "reader", which does not receive yet, on the topic with quality of service at-least-once and a durable subscription
      When message "m1" is sent to the topic with no durable header
      Then "m1" on the queue of the subscription to the topic is <persistence>

      Examples:
        | defpsist | persistence    |
        | YES      | persistent     |
        | NO       | non-persistent |

    Scenario Outline: On a topic with DEFPSIST(<defpsist>), a message with <options> and no durable header is <persistence>
      Given a topic with DEFPSIST(<defpsist>)
      And subscriber "reader", which does not receive yet, on the topic with quality of service at-least-once and a durable subscription
      When message "m1" is sent to the topic with no durable header and <options>
      Then "m1" on the queue of the subscription to the topic is <persistence>

      @needs-time-to-live
      Examples:
        | defpsist | persistence    | options              |
        | YES      | persistent     | a time to live of 1 h |
        | NO       | non-persistent | a time to live of 1 h |

      Examples:
        | defpsist | persistence    | options                        |
        | YES      | persistent     | an empty body                  |
        | YES      | persistent     | a body of non-ASCII characters |
        | YES      | persistent     | a binary body                  |
        | YES      | persistent     | a body of 300 KB               |

    Scenario Outline: DEFPSIST(YES) makes a message of an <quality> sender persistent
      Given a topic with DEFPSIST(YES)
      And subscriber "reader", which does not receive yet, on the topic with quality of service at-least-once and a durable subscription
      When message "m1" is sent to the topic with quality of service <quality>
      Then "m1" on the queue of the subscription to the topic is persistent

      Examples:
        | quality       |
        | at-most-once  |
        | at-least-once |

    Scenario Outline: DEFPSIST(<child>) of a topic below a topic with DEFPSIST(<parent>) makes a message <persistence>
      Given a topic "a" with DEFPSIST(<parent>)
      And a topic "a/b" with DEFPSIST(<child>)
      And subscriber "reader", which does not receive yet, on topic "a/b" with quality of service at-least-once and a durable subscription
      When message "m1" is sent to topic "a/b" with no durable header
      Then "m1" on the queue of the subscription to topic "a/b" is <persistence>

      Examples:
        | parent | child    | persistence    |
        | YES    | ASPARENT | persistent     |
        | NO     | ASPARENT | non-persistent |
        | YES    | NO       | non-persistent |
        | NO     | YES      | persistent     |

    Scenario Outline: DEFPSIST(<above>) of a topic applies three levels below if no topic object on these levels has YES or NO
      Given a topic "a" with DEFPSIST(<above>)
      And a topic "a/b" with DEFPSIST(ASPARENT)
      And subscriber "reader", which does not receive yet, on topic "a/b/c/d" with quality of service at-least-once and a durable subscription
      When message "m1" is sent to topic "a/b/c/d" with no durable header
      Then "m1" on the queue of the subscription to topic "a/b/c/d" is <persistence>

      Examples:
        | above | persistence    |
        | YES   | persistent     |
        | NO    | non-persistent |

    Scenario Outline: DEFPSIST(<above>) of a topic applies three levels below if each of these levels has a topic object with ASPARENT
      Given a topic "a" with DEFPSIST(<above>)
      And a topic "a/b" with DEFPSIST(ASPARENT)
      And a topic "a/b/c" with DEFPSIST(ASPARENT)
      And a topic "a/b/c/d" with DEFPSIST(ASPARENT)
      And subscriber "reader", which does not receive yet, on topic "a/b/c/d" with quality of service at-least-once and a durable subscription
      When message "m1" is sent to topic "a/b/c/d" with no durable header
      Then "m1" on the queue of the subscription to topic "a/b/c/d" is <persistence>

      Examples:
        | above | persistence    |
        | YES   | persistent     |
        | NO    | non-persistent |

    Scenario Outline: If two levels above a topic have a DEFPSIST value, DEFPSIST(<near>) of the nearer level applies
      Given a topic "a" with DEFPSIST(<far>)
      And a topic "a/b" with DEFPSIST(<near>)
      And subscriber "reader", which does not receive yet, on topic "a/b/c" with quality of service at-least-once and a durable subscription
      When message "m1" is sent to topic "a/b/c" with no durable header
      Then "m1" on the queue of the subscription to topic "a/b/c" is <persistence>

      Examples:
        | far | near | persistence    |
        | NO  | YES  | persistent     |
        | YES | NO   | non-persistent |

    Scenario Outline: DEFPSIST(YES) of topic "<object>" does not apply to topic "<topic>"
      Given a topic "<object>" with DEFPSIST(YES)
      And subscriber "beside", which does not receive yet, on topic "<topic>" with quality of service at-least-once and a durable subscription
      And subscriber "under", which does not receive yet, on topic "<object>" with quality of service at-least-once and a durable subscription
      When message "m1" is sent to topic "<topic>" with no durable header
      And message "m2" is sent to topic "<object>" with no durable header
      Then "m1" on the queue of the subscription to topic "<topic>" is non-persistent
      And "m2" on the queue of the subscription to topic "<object>" is persistent

      Examples:
        | object | topic |
        | a      | ab    |
        | a/b    | a/bc  |
        | a/b    | a/c   |
        | a/b    | a     |
        | a/b/c  | a/b   |
        | a      | A     |
        | b      | a/b   |

    Scenario: The DEFPSIST value that a higher topic level has at the time of the send applies to the message
      Given a topic "a" with DEFPSIST(NO)
      And subscriber "reader", which does not receive yet, on topic "a/b" with quality of service at-least-once and a durable subscription
      When message "before" is sent to topic "a/b" with no durable header
      And topic "a" is altered to DEFPSIST(YES)
      And message "after" is sent to topic "a/b" with no durable header
      Then "before" on the queue of the subscription to topic "a/b" is non-persistent
      And "after" on the queue of the subscription to topic "a/b" is persistent

    Scenario: The DEFPSIST value that the topic has at the time of the send applies to the message
      Given a topic with DEFPSIST(NO)
      And subscriber "reader", which does not receive yet, on the topic with quality of service at-least-once and a durable subscription
      When message "before" is sent to the topic with no durable header
      And the topic is altered to DEFPSIST(YES)
      And message "after" is sent to the topic with no durable header
      Then "before" on the queue of the subscription to the topic is non-persistent
      And "after" on the queue of the subscription to the topic is persistent

    Scenario: After a topic object with DEFPSIST(NO) is deleted, DEFPSIST(YES) of its neighbours still applies
      Given a topic "a/news" with DEFPSIST(YES)
      And a topic "a/sport" with DEFPSIST(NO)
      And a topic "a/weather" with DEFPSIST(YES)
      And subscriber "first", which does not receive yet, on topic "a/news" with quality of service at-least-once and a durable subscription
      And subscriber "second", which does not receive yet, on topic "a/weather" with quality of service at-least-once and a durable subscription
      And topic "a/sport" has been deleted
      When message "m1" is sent to topic "a/news" with no durable header
      And message "m2" is sent to topic "a/weather" with no durable header
      Then "m1" on the queue of the subscription to topic "a/news" is persistent
      And "m2" on the queue of the subscription to topic "a/weather" is persistent

    Scenario Outline: After a topic object with DEFPSIST(<near>) is deleted, its parent's DEFPSIST(<far>) applies
      Given a topic "a" with DEFPSIST(<far>)
      And a topic "a/b" with DEFPSIST(<near>)
      And subscriber "reader", which does not receive yet, on topic "a/b" with quality of service at-least-once and a durable subscription
      And message "before" is sent to topic "a/b" with no durable header
      And topic "a/b" has been deleted
      When message "after" is sent to topic "a/b" with no durable header
      Then "before" on the queue of the subscription to topic "a/b" is <before>
      And "after" on the queue of the subscription to topic "a/b" is <after>

      Examples:
        | near | far | before         | after          |
        | YES  | NO  | persistent     | non-persistent |
        | NO   | YES | non-persistent | persistent     |

    @needs-kill
    Scenario: A message that DEFPSIST(YES) makes persistent survives a kill
      Given a topic with DEFPSIST(YES)
      And subscriber "reader" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "reader" is inactive
      When messages "m1" to "m3" are sent to the topic with no durable header
      And the broker is killed and comes back
      And subscriber "reader" comes back
      Then "reader" sees "m1" to "m3" exactly once

    @may
    Scenario: On a topic with DEFPSIST(YES), a message with the durable header false may be persistent or non-persistent
      Given a topic with DEFPSIST(YES)
      And subscriber "reader", which does not receive yet, on the topic with quality of service at-least-once and a durable subscription
      When message "m1" is sent to the topic with the durable header false
      Then the Persistence of "m1" on the queue of the subscription to the topic is recorded

    @evidence @needs-topic-wildcard @needs-shared-subscription
    Scenario Outline: For subscribers to topic patterns, DEFPSIST(<inner>) of the message's own topic makes the message <persistence>
      Given a topic "sport" with DEFPSIST(<outer>)
      And a topic "sport/news" with DEFPSIST(<inner>)
      And subscriber "left", which does not receive yet, on topic "sport/#" with shared subscription "club" and quality of service at-least-once
      And subscriber "right", which does not receive yet, on topic "sport/#" with shared subscription "club" and quality of service at-least-once
      And subscriber "member", which does not receive yet, on topic "sport/+" with shared subscription "guests", quality of service at-least-once and a durable subscription
      When the connection of "right" is closed
      And message "m1" is sent to topic "sport/news" with no durable header
      Then "m1" on the queue of the subscription to topic "sport/#" is <persistence>
      And "m1" on the queue of the subscription to topic "sport/+" is <persistence>

      Examples:
        | outer | inner | persistence    |
        | NO    | YES   | persistent     |
        | YES   | NO    | non-persistent |

    @evidence @needs-restart
    Scenario: A DEFPSIST value that was set before a restart applies after the restart
      Given a topic with DEFPSIST(NO)
      And subscriber "reader" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "reader" is inactive
      When the topic is altered to DEFPSIST(YES)
      And the broker is restarted
      And message "m1" is sent to the topic with no durable header
      Then "m1" on the queue of the subscription to the topic is persistent

  @QS-34 @needs-topic @needs-quality-of-service @needs-lasting-subscription @needs-admin
  Rule: By default, DEFPSIST of the base topic applies, and its value is NO
    Line 41.

    Scenario: With factory settings and without a durable header, a message is non-persistent
      Given a topic
      And subscriber "reader", which does not receive yet, on the topic with quality of service at-least-once and a durable subscription
      When message "m1" is sent to the topic with no durable header
      Then "m1" on the queue of the subscription to the topic is non-persistent
      And the base topic has DEFPSIST(NO)

    Scenario: A topic object with DEFPSIST(ASPARENT) leaves the persistence to the base topic
      Given a topic with DEFPSIST(ASPARENT)
      And subscriber "reader", which does not receive yet, on the topic with quality of service at-least-once and a durable subscription
      When message "m1" is sent to the topic with no durable header
      Then "m1" on the queue of the subscription to the topic is non-persistent

    @needs-default-persistence
    Scenario: After the deletion of a topic object with DEFPSIST(YES), the base topic decides again
      Given a topic with DEFPSIST(YES)
      And subscriber "reader", which does not receive yet, on the topic with quality of service at-least-once and a durable subscription
      And message "before" is sent to the topic with no durable header
      And the topic has been deleted
      When message "after" is sent to the topic with no durable header
      Then "before" on the queue of the subscription to the topic is persistent
      And "after" on the queue of the subscription to the topic is non-persistent

    @own-instance
    Scenario: DEFPSIST(YES) of the base topic applies to a topic object with DEFPSIST(ASPARENT)
      Given a topic with DEFPSIST(ASPARENT)
      And the base topic has been altered to DEFPSIST(YES)
      And subscriber "reader", which does not receive yet, on the topic with quality of service at-least-once and a durable subscription
      When message "m1" is sent to the topic with no durable header
      Then "m1" on the queue of the subscription to the topic is persistent

    @own-instance
    Scenario: DEFPSIST(YES) of the base topic makes a message without a durable header persistent
      Given a topic
      And the base topic has been altered to DEFPSIST(YES)
      And subscriber "reader", which does not receive yet, on the topic with quality of service at-least-once and a durable subscription
      When message "m1" is sent to the topic with no durable header
      Then "m1" on the queue of the subscription to the topic is persistent

    @own-instance
    Scenario: DEFPSIST(YES) of the base topic applies to the next message of a topic that was used before
      Given a topic
      And subscriber "reader", which does not receive yet, on the topic with quality of service at-least-once and a durable subscription
      And message "before" is sent to the topic with no durable header
      When the base topic is altered to DEFPSIST(YES)
      And message "after" is sent to the topic with no durable header
      Then "before" on the queue of the subscription to the topic is non-persistent
      And "after" on the queue of the subscription to the topic is persistent

    @evidence @needs-topic-wildcard @needs-shared-subscription
    Scenario: With factory settings, a message is also non-persistent for sharers of topic patterns
      Given a topic "sport/news"
      And subscriber "left", which does not receive yet, on topic "sport/#" with shared subscription "club" and quality of service at-least-once
      And subscriber "right", which does not receive yet, on topic "sport/#" with shared subscription "club" and quality of service at-least-once
      And subscriber "member", which does not receive yet, on topic "sport/+" with shared subscription "guests", quality of service at-least-once and a durable subscription
      When the connection of "member" is closed
      And message "m1" is sent to topic "sport/news" with no durable header
      And subscriber "member" comes back and does not receive yet
      And message "m2" is sent to topic "sport/news" with no durable header
      Then "m1" on the queue of the subscription to topic "sport/#" is non-persistent
      And "m1" on the queue of the subscription to topic "sport/+" is non-persistent
      And "m2" on the queue of the subscription to topic "sport/+" is non-persistent

  @QS-36 @needs-topic @needs-quality-of-service @needs-lasting-subscription @needs-admin @needs-default-persistence
  Rule: Quality, kind of subscription, header and topic together decide the persistence
    Lines 35 to 41: each combination of the four.  The effect of an explicit false on a topic with YES is recorded
    (QS-33), except where QS-30 decides.

    Scenario Outline: With <header> and DEFPSIST(<defpsist>), a message for a durable <quality> subscriber is <persistence>
      Given a topic with DEFPSIST(<defpsist>)
      And subscriber "reader", which does not receive yet, on the topic with quality of service <quality> and a durable subscription
      When message "m1" is sent to the topic with <header>
      Then "m1" on the queue of the subscription to the topic is <persistence>

      Examples:
        | quality       | header                   | defpsist | persistence    |
        | at-most-once  | no durable header        | YES      | persistent     |
        | at-most-once  | no durable header        | NO       | non-persistent |
        | at-most-once  | the durable header false | NO       | non-persistent |
        | at-most-once  | the durable header true  | YES      | persistent     |
        | at-most-once  | the durable header true  | NO       | persistent     |
        | at-least-once | no durable header        | YES      | persistent     |
        | at-least-once | no durable header        | NO       | non-persistent |
        | at-least-once | the durable header false | NO       | non-persistent |
        | at-least-once | the durable header true  | YES      | persistent     |
        | at-least-once | the durable header true  | NO       | persistent     |

    Scenario Outline: With <header> and DEFPSIST(<defpsist>), a message for a non-durable <quality> subscriber is <persistence>
      Given a topic with DEFPSIST(<defpsist>)
      And subscriber "reader", which does not receive yet, on the topic with quality of service <quality>
      When message "m1" is sent to the topic with <header>
      Then "m1" on the queue of the subscription to the topic is <persistence>

      Examples:
        | quality       | header                   | defpsist | persistence    |
        | at-most-once  | no durable header        | YES      | non-persistent |
        | at-most-once  | no durable header        | NO       | non-persistent |
        | at-most-once  | the durable header false | YES      | non-persistent |
        | at-most-once  | the durable header false | NO       | non-persistent |
        | at-most-once  | the durable header true  | YES      | non-persistent |
        | at-most-once  | the durable header true  | NO       | non-persistent |
        | at-least-once | no durable header        | YES      | persistent     |
        | at-least-once | no durable header        | NO       | non-persistent |
        | at-least-once | the durable header false | NO       | non-persistent |
        | at-least-once | the durable header true  | YES      | persistent     |
        | at-least-once | the durable header true  | NO       | persistent     |

    @may
    Scenario Outline: With <header> and DEFPSIST(<defpsist>), a message for a durable <quality> subscriber may have either persistence
      Given a topic with DEFPSIST(<defpsist>)
      And subscriber "reader", which does not receive yet, on the topic with quality of service <quality> and a durable subscription
      When message "m1" is sent to the topic with <header>
      Then the Persistence of "m1" on the queue of the subscription to the topic is recorded

      Examples:
        | quality       | header                   | defpsist |
        | at-most-once  | the durable header false | YES      |
        | at-least-once | the durable header false | YES      |

    @may
    Scenario Outline: With <header> and DEFPSIST(<defpsist>), a message for a non-durable <quality> subscriber may have either persistence
      Given a topic with DEFPSIST(<defpsist>)
      And subscriber "reader", which does not receive yet, on the topic with quality of service <quality>
      When message "m1" is sent to the topic with <header>
      Then the Persistence of "m1" on the queue of the subscription to the topic is recorded

      Examples:
        | quality       | header                   | defpsist |
        | at-least-once | the durable header false | YES      |

    @evidence @needs-subscription-ttl
    Scenario Outline: With <header> and DEFPSIST(<defpsist>), a message for a subscription with a time to live and <quality> is <persistence>
      Given a topic with DEFPSIST(<defpsist>)
      And subscriber "reader", which does not receive yet, on the topic with <quality> and a subscription that lives for 1 h
      When message "m1" is sent to the topic with <header>
      Then "m1" on the queue of the subscription to the topic is <persistence>

      Examples:
        | quality                          | header                  | defpsist | persistence    |
        | quality of service at-most-once  | the durable header true | NO       | persistent     |
        | quality of service at-most-once  | no durable header       | YES      | persistent     |
        | quality of service at-least-once | the durable header true | NO       | persistent     |
        | quality of service at-least-once | no durable header       | NO       | non-persistent |

    @kit
    Scenario Outline: A message is persistent for a durable subscription that is opened with <first> and then again with <then>
      Given a topic
      And subscriber "first" on the topic with quality of service <first> and a durable subscription
      When the consumer of "first" is closed
      And subscriber "then", of the same client as "first", subscribes to the topic with quality of service <then> and a durable subscription
      And message "m1" is sent to the topic with the durable header true
      Then message "m1" as seen by "then" shows JMSDeliveryMode "PERSISTENT"

      Examples:
        | first         | then          |
        | at-least-once | at-most-once  |
        | at-most-once  | at-least-once |
        | at-most-once  | at-most-once  |

    @evidence @needs-topic-wildcard @needs-shared-subscription
    Scenario Outline: With <header> and DEFPSIST(<defpsist>), a message for sharers of a topic pattern with <terms> is <persistence>
      Given a topic "sport/news" with DEFPSIST(<defpsist>)
      And subscriber "left", which does not receive yet, on topic "sport/#" with shared subscription "club", <terms>
      And subscriber "right", which does not receive yet, on topic "sport/#" with shared subscription "club", <terms>
      When message "m1" is sent to topic "sport/news" with <header>
      And the connection of "right" is lost
      And subscriber "right" comes back and does not receive yet
      And message "m2" is sent to topic "sport/news" with <header>
      Then "m1" on the queue of the subscription to topic "sport/#" is <persistence>
      And "m2" on the queue of the subscription to topic "sport/#" is <persistence>

      Examples:
        | terms                                                       | header                  | defpsist | persistence    |
        | quality of service at-most-once                             | the durable header true | YES      | non-persistent |
        | quality of service at-most-once and a durable subscription  | no durable header       | YES      | persistent     |
        | quality of service at-least-once                            | the durable header true | NO       | persistent     |
        | quality of service at-least-once and a durable subscription | no durable header       | NO       | non-persistent |
