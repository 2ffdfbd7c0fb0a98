Feature: A producer carries a delivery delay
  IBM MQ, JMS 2.0 delivery delay, line 5.

  @DD-01 @needs-delivery-delay
  Rule: Both kinds of producer take a delivery delay in milliseconds, set before sending
    Negative spans and spans that are no whole milliseconds are no delays; a client refuses them.

    Scenario Outline: A <style> producer takes a delay of <delay>
      Given an empty queue
      And a <style> producer on the queue
      When the producer's delivery delay is set to <delay>
      Then it is accepted

      Examples:
        | style      | delay  |
        | classic    | 0 ms   |
        | classic    | 1 ms   |
        | classic    | 5 s    |
        | classic    | 8760 h |
        | simplified | 0 ms   |
        | simplified | 1 ms   |
        | simplified | 5 s    |
        | simplified | 8760 h |

    Scenario Outline: A <style> producer refuses a negative delay
      Given an empty queue
      And a <style> producer on the queue
      When the producer's delivery delay is set to -1
      Then it is refused

      Examples:
        | style      |
        | classic    |
        | simplified |

    Scenario Outline: The delay set on a <style> producer holds for what it sends
      Given an empty queue
      And a receiver is waiting on the queue
      And a <style> producer on the queue
      And the producer's delivery delay is 1500 ms
      When the producer sends message "slow"
      Then the receiver sees "slow" no earlier than 1500 ms after its send

      Examples:
        | style      |
        | classic    |
        | simplified |
