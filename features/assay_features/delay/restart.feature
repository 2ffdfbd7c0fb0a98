Feature: A restart may lose delayed messages that are not persistent
  IBM MQ, JMS 2.0 delivery delay, line 50.

  @DD-48 @needs-delivery-delay @needs-non-persistent
  Rule: A non-persistent delayed message may be lost when the broker restarts, and then never comes early or twice
    Line 50 says so of messages that wait on the staging queue.  Lost or kept is recorded; either is permitted.

    Scenario Outline: The broker <event> during the delay, and it comes at most once
      Given an empty queue
      When message "light" is sent to the queue with delivery mode non-persistent and a delivery delay of 2 s
      And the broker <event>
      And 3 s have passed since "light" was sent
      And a receiver starts to wait on the queue
      And message "now" is sent to the queue
      Then the receiver sees "now" exactly once
      And the receiver sees "light" at most once

      @needs-restart
      Examples: In order
        | event        |
        | is restarted |

      @needs-kill
      Examples: At once
        | event                    |
        | is killed and comes back |

    Scenario Outline: The broker <event> during a delay of an hour, and it does not come afterwards
      Given an empty queue
      When message "light" is sent to the queue with delivery mode non-persistent and a delivery delay of 1 h
      And the broker <event>
      And a receiver starts to wait on the queue
      And message "now" is sent to the queue
      Then the receiver sees "now" exactly once
      And the receiver sees nothing of "light" for 1 s

      @needs-restart
      Examples: In order
        | event        |
        | is restarted |

      @needs-kill
      Examples: At once
        | event                    |
        | is killed and comes back |
