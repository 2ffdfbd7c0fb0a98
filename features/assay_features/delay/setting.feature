Feature: A producer carries a delivery delay
  IBM MQ, JMS 2.0 delivery delay, lines 5 and 11.

  @DD-01 @needs-delivery-delay
  Rule: Both kinds of producer take a delivery delay in milliseconds, set before sending
    Line 5 names the two setters, each with a long of milliseconds.  A span below 0, or one that is no whole number of
    milliseconds, is no such delay; a client refuses it and does not guess.

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

    @kit
    Scenario Outline: A <style> producer refuses a delay of <delay>, which is no number of milliseconds from 0
      Given an empty queue
      And a <style> producer on the queue
      When the producer's delivery delay is set to <delay>
      Then it is refused

      Examples:
        | style      | delay    |
        | classic    | -1       |
        | classic    | -5000    |
        | classic    | 0.5 ms   |
        | classic    | 999.9 ms |
        | simplified | -1       |
        | simplified | -5000    |
        | simplified | 0.5 ms   |
        | simplified | 999.9 ms |

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

    Scenario Outline: The delay of a <style> producer holds for its second send too
      Given an empty queue
      And a receiver is waiting on the queue
      And a <style> producer on the queue
      And the producer's delivery delay is 1500 ms
      When the producer sends message "one"
      And the producer sends message "two"
      Then the receiver sees "two" no earlier than 1500 ms after its send

      Examples:
        | style      |
        | classic    |
        | simplified |

    Scenario Outline: A delay of a <style> producer that is set back to 0 delays nothing
      Given an empty queue
      And a receiver is waiting on the queue
      And a <style> producer on the queue
      And the producer's delivery delay is 8760 h
      When the producer's delivery delay is set to 0 ms
      And the producer sends message "now"
      Then the receiver sees "now" exactly once

      Examples:
        | style      |
        | classic    |
        | simplified |
