Feature: A restart may lose non-persistent delayed messages
  IBM MQ, JMS 2.0 delivery delay, line 50.

  @DD-48 @needs-delivery-delay @needs-non-persistent
  Rule: A restart may lose a non-persistent delayed message, but the message is never delivered early or twice
    Line 50 permits this for messages that wait on the staging queue.  The scenarios record whether a message is lost.

    Scenario: Without a restart, a non-persistent message is delivered exactly once, and not early
      Given an empty queue
      And a receiver is waiting on the queue
      When message "light" is sent to the queue with delivery mode non-persistent and a delivery delay of 2 s
      Then sending "light" is accepted
      And the receiver sees "light" exactly once
      And the receiver sees "light" no earlier than 2 s after its send

    @needs-topic @needs-durable-subscription
    Scenario Outline: A non-persistent publication is delivered at most once if the broker <event> during the delay
      Given a topic
      And a durable subscriber "steady" on the topic
      And subscriber "steady" is inactive
      When message "light" is sent to the topic with delivery mode non-persistent and a delivery delay of 2 s
      And the broker <event>
      And 3 s have passed since "light" was sent
      And subscriber "steady" comes back
      And message "now" is sent to the topic
      Then sending "light" is accepted
      And "steady" sees "now" exactly once
      And "steady" sees "light" at most once

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    Scenario Outline: A non-persistent message is delivered at most once if the broker <event> during the delay
      Given an empty queue
      When message "light" is sent to the queue with delivery mode non-persistent and a delivery delay of 2 s
      And the broker <event>
      And 3 s have passed since "light" was sent
      And a receiver starts to wait on the queue
      And message "now" is sent to the queue
      Then sending "light" is accepted
      And the receiver sees "now" exactly once
      And the receiver sees "light" at most once

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    Scenario Outline: A non-persistent message with a delay of an hour is not delivered early if the broker <event>
      Given an empty queue
      When message "light" is sent to the queue with delivery mode non-persistent and a delivery delay of 1 h
      And the broker <event>
      And a receiver starts to wait on the queue
      And message "now" is sent to the queue
      Then sending "light" is accepted
      And the receiver sees "now" exactly once
      And the receiver waits for 1 s and does not see "light"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @evidence @needs-topic @needs-shared-subscription @needs-durable-subscription @needs-topic-wildcard
    Scenario Outline: A non-persistent publication for sharers of a topic pattern is delivered at most once if the broker <event> during the delay
      Given subscriber "left" shares durable subscription "club" on topic "sport/#"
      And subscriber "right" shares durable subscription "club" on topic "sport/#"
      And subscriber "left" is inactive
      And subscriber "right" is inactive
      When message "light" is sent to topic "sport/football" with delivery mode non-persistent and a delivery delay of 2 s
      And the broker <event>
      And 3 s have passed since "light" was sent
      And subscriber "left" comes back
      And message "now" is sent to topic "sport/football"
      Then sending "light" is accepted
      And "left" sees "now" exactly once
      And "left" sees "light" at most once

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |
