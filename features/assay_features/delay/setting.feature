Feature: An application can set a delivery delay on a producer
  IBM MQ, JMS 2.0 delivery delay, lines 5 and 11.

  @DD-01 @needs-delivery-delay
  Rule: Both kinds of producer accept a delivery delay in milliseconds, which is set before the send
    Line 5 names the two setters, each of which takes a long in milliseconds.  A negative duration, or one with a fraction
    of a millisecond, is not a valid delay; a client refuses it.

    Scenario Outline: A <style> producer accepts a delay of <delay>
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

    @evidence
    Scenario Outline: A <style> producer shows a delivery delay of 0 until the application sets one
      Jakarta Messaging 3.1, setDeliveryDelay of MessageProducer and JMSProducer: the default is 0.

      Given an empty queue
      And a <style> producer on the queue
      Then the producer shows a delivery delay of 0 ms

      Examples:
        | style      |
        | classic    |
        | simplified |

    @evidence
    Scenario Outline: A <style> producer shows the delivery delay that was set last (<last>)
      Jakarta Messaging 3.1, getDeliveryDelay of MessageProducer and JMSProducer.

      Given an empty queue
      And a <style> producer on the queue
      And the producer's delivery delay is 5 s
      When the producer's delivery delay is set to <last>
      Then the producer shows a delivery delay of <last>

      Examples:
        | style      | last   |
        | classic    | 0 ms   |
        | classic    | 8760 h |
        | simplified | 0 ms   |
        | simplified | 8760 h |

    @kit
    Scenario Outline: A <style> producer refuses the delay <delay>: a delay is a whole number of milliseconds, not below 0
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

    Scenario Outline: A delay that is set on a <style> producer applies to the producer's next send
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

    Scenario Outline: The delay of a <style> producer applies to its second send, too
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

    Scenario Outline: A <style> producer sends without a delay after its delay is set back to 0
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

    Scenario Outline: A delay that is set on a <style> producer after its first send applies from then on
      Given an empty queue
      And a receiver is waiting on the queue
      And a <style> producer on the queue
      When the producer sends message "first"
      And the producer's delivery delay is set to 1500 ms
      And the producer sends message "second"
      Then the receiver sees "first" exactly once
      And the receiver sees "second" no earlier than 1500 ms after its send

      Examples:
        | style      |
        | classic    |
        | simplified |

    Scenario Outline: On a <style> producer, a new delay of <after> replaces the delay of <before>
      Given an empty queue
      And a <style> producer on the queue
      And the producer's delivery delay is <before>
      When the producer sends message "before"
      And the producer's delivery delay is set to <after>
      And the producer sends message "after"
      Then after its send, "before" has a delivery delay of <before>, to within 200 ms
      And after its send, "after" has a delivery delay of <after>, to within 200 ms

      Examples:
        | style      | before | after  |
        | classic    | 8760 h | 1 h    |
        | classic    | 1 h    | 8760 h |
        | simplified | 8760 h | 1 h    |
        | simplified | 1 h    | 8760 h |

    Scenario: Each message's delay counts from its own send
      Given an empty queue
      And a receiver is waiting on the queue
      And a producer on the queue
      And the producer's delivery delay is 1500 ms
      When the producer sends message "one"
      And 1 s have passed since "one" was sent
      And the producer sends message "two"
      Then the receiver sees "two" no earlier than 1500 ms after its send

    Scenario: A producer also delays the second send of the same message object
      Given an empty queue
      And a receiver is waiting on the queue
      And a producer on the queue
      And the producer's delivery delay is 2 s
      When the producer sends message "first"
      And the producer sends message "again" with the message object of the send before
      Then the receiver sees "again" no earlier than 2 s after its send

    Scenario Outline: A <style> producer without a destination delays its messages
      Given an empty queue
      And a receiver is waiting on the queue
      And a <style> producer without a destination
      And the producer's delivery delay is 1500 ms
      When the producer sends message "slow" to the queue
      Then the receiver sees "slow" no earlier than 1500 ms after its send

      Examples:
        | style      |
        | classic    |
        | simplified |

    Scenario: Each of two producers of a session has its own delay
      Given an empty queue
      And session "work" in auto mode
      And producer "late" of session "work" on the queue
      And producer "prompt" of session "work" on the queue
      And a receiver is waiting on the queue
      And the delivery delay of producer "late" is 1 h
      And the delivery delay of producer "prompt" is 1500 ms
      When producer "late" sends message "slow"
      And producer "prompt" sends message "fast"
      Then the receiver sees "fast" no earlier than 1500 ms after its send
      And after its send, "slow" has a delivery delay of 1 h, to within 200 ms

    Scenario Outline: The delay applies to a message with <what>
      Given an empty queue
      And a receiver is waiting on the queue
      And a producer on the queue
      And the producer's delivery delay is 1500 ms
      When the producer sends message "slow" with <what>
      Then the receiver sees "slow" no earlier than 1500 ms after its send

      Examples:
        | what                                           |
        | an empty body                                  |
        | a body of non-ASCII characters                 |
        | a binary body                                  |
        | a body of 100 KB                               |
        | property colour = "red"                        |
        | property colour = "red" and correlation id "c" |
        | correlation id "c"                             |

    @needs-priority
    Scenario: The producer's delay also applies if the send call gives a priority
      Given an empty queue
      And a receiver is waiting on the queue
      And a producer on the queue
      And the producer's delivery delay is 1500 ms
      When the producer sends message "slow" with priority 9 for this send only
      Then the receiver sees "slow" no earlier than 1500 ms after its send

    @needs-non-persistent
    Scenario: The producer's delay also applies if the send call gives a delivery mode
      Given an empty queue
      And a receiver is waiting on the queue
      And a producer on the queue
      And the producer's delivery delay is 1500 ms
      When the producer sends message "slow" with delivery mode non-persistent for this send only
      Then the receiver sees "slow" no earlier than 1500 ms after its send

    @needs-time-to-live
    Scenario: The producer's delay also applies if the send call gives a time to live
      Given an empty queue
      And a receiver is waiting on the queue
      And a producer on the queue
      And the producer's delivery delay is 1500 ms
      When the producer sends message "slow" with a time to live of 1 h for this send only
      Then the receiver sees "slow" no earlier than 1500 ms after its send

    @needs-priority
    Scenario: Setting a priority does not change the delay
      Given an empty queue
      And a producer on the queue
      And the producer's delivery delay is 1 h
      When the producer's priority is set to 7
      And the producer sends message "slow"
      Then after its send, "slow" has a delivery delay of 1 h, to within 200 ms

    @needs-non-persistent
    Scenario: Setting a delivery mode does not change the delay
      Given an empty queue
      And a producer on the queue
      And the producer's delivery delay is 1 h
      When the producer's delivery mode is set to non-persistent
      And the producer sends message "slow"
      Then after its send, "slow" has a delivery delay of 1 h, to within 200 ms

    @needs-time-to-live
    Scenario: Setting a time to live does not change the delay
      Given an empty queue
      And a producer on the queue
      And the producer's delivery delay is 1 h
      When the producer's time to live is set to 2 h
      And the producer's time to live is set to 0 ms
      And the producer sends message "slow"
      Then after its send, "slow" has a delivery delay of 1 h, to within 200 ms

    @kit
    Scenario Outline: A delay of <hours> that is set as a timedelta applies in full
      Given an empty queue
      And a producer on the queue
      When the producer's delivery delay is set to <span>
      And the producer sends message "slow"
      Then after its send, "slow" has a delivery delay of <hours>, to within 200 ms

      Examples:
        | hours | span           |
        | 1 h   | 3600000.0 ms   |
        | 72 h  | 259200000.0 ms |
