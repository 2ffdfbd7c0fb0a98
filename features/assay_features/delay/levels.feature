Feature: Delivery delay requires a queue manager of level 8.0 or later
  IBM MQ, JMS 2.0 delivery delay, lines 9 and 13.

  @DD-10 @needs-delivery-delay
  Rule: A producer that is connected to a queue manager older than level 8.0 refuses every delay but 0
    Line 13: the call that sets the delay fails, before any send.  A delay of 0 is no delay, so it is accepted at every
    level.  The queue manager's level at the time of the producer's connection decides.

    Scenario Outline: A <style> producer at level <level> refuses a delay of <delay>
      Given an empty queue
      And a <style> producer on the queue
      When the producer's delivery delay is set to <delay>
      Then it is refused with MQRC_FUNCTION_NOT_SUPPORTED as a <exception> exception

      @level-7.1
      Examples:
        | level | style      | delay | exception |
        | 7.1   | classic    | 1 ms  | checked   |
        | 7.1   | classic    | 5 s   | checked   |
        | 7.1   | simplified | 1 ms  | runtime   |
        | 7.1   | simplified | 5 s   | runtime   |

      @level-7.5
      Examples:
        | level | style      | delay | exception |
        | 7.5   | classic    | 1 ms  | checked   |
        | 7.5   | classic    | 5 s   | checked   |
        | 7.5   | simplified | 1 ms  | runtime   |
        | 7.5   | simplified | 5 s   | runtime   |

    @level-7.5
    Scenario: At level 7.5 a producer that has refused a delay refuses the same delay again
      Given an empty queue
      And a producer on the queue
      When the producer's delivery delay is set to 1 h
      And the producer's delivery delay is set to 1 h
      Then it is refused with MQRC_FUNCTION_NOT_SUPPORTED

    @level-7.5
    Scenario: At level 7.5 a producer that has sent a message refuses a delay
      Given an empty queue
      And a producer on the queue
      When the producer sends message "now"
      And the producer's delivery delay is set to 1 h
      Then it is refused with MQRC_FUNCTION_NOT_SUPPORTED

    @level-7.5
    Scenario Outline: At level 7.5 a <style> producer without a destination refuses a delay
      Given a <style> producer without a destination
      When the producer's delivery delay is set to 1 h
      Then it is refused with MQRC_FUNCTION_NOT_SUPPORTED

      Examples:
        | style      |
        | classic    |
        | simplified |

    @level-7.5 @needs-topic
    Scenario: At level 7.5 a producer on a topic refuses a delay
      Given a topic
      And a producer on the topic
      When the producer's delivery delay is set to 1 h
      Then it is refused with MQRC_FUNCTION_NOT_SUPPORTED

    @kit
    Scenario Outline: After a refused delay, a <style> producer at level <level> can send a message without a delay
      Given an empty queue
      And a receiver is waiting on the queue
      And a <style> producer on the queue
      When the producer's delivery delay is set to 1 h
      And the producer sends message "next"
      Then sending "next" is accepted
      And the receiver sees "next" within 2 s after its send

      @level-7.1
      Examples:
        | level | style      |
        | 7.1   | classic    |
        | 7.1   | simplified |

      @level-7.5
      Examples:
        | level | style      |
        | 7.5   | classic    |
        | 7.5   | simplified |

    Scenario Outline: A <style> producer at level <level> accepts a delay of 0
      Given an empty queue
      And a <style> producer on the queue
      When the producer's delivery delay is set to 0 ms
      Then it is accepted

      @level-7.1
      Examples:
        | level | style      |
        | 7.1   | classic    |
        | 7.1   | simplified |

      @level-7.5
      Examples:
        | level | style      |
        | 7.5   | classic    |
        | 7.5   | simplified |

      @level-8.0
      Examples:
        | level | style      |
        | 8.0   | classic    |
        | 8.0   | simplified |

      @level-9.4
      Examples:
        | level | style      |
        | 9.4   | classic    |
        | 9.4   | simplified |

    Scenario Outline: A <style> producer at level <level> accepts a delay of <delay>
      Given an empty queue
      And a <style> producer on the queue
      When the producer's delivery delay is set to <delay>
      Then it is accepted

      @level-8.0
      Examples:
        | level | style      | delay |
        | 8.0   | classic    | 1 ms  |
        | 8.0   | classic    | 5 s   |
        | 8.0   | simplified | 1 ms  |
        | 8.0   | simplified | 5 s   |

      @level-9.0
      Examples:
        | level | style      | delay |
        | 9.0   | classic    | 1 ms  |
        | 9.0   | simplified | 1 ms  |

      @level-9.4
      Examples:
        | level | style      | delay |
        | 9.4   | classic    | 5 s   |
        | 9.4   | simplified | 5 s   |

      @level-10.0
      Examples: Level 10.0, which a comparison of texts would place before level 8.0
        | level | style      | delay |
        | 10.0  | classic    | 1 ms  |
        | 10.0  | simplified | 1 ms  |

    @evidence @needs-restart-at-level
    Scenario: After the queue manager is migrated back to level 7.5, a producer refuses a delay
      Given an empty queue
      And a message is sent to the queue with a delivery delay of 1 s
      And the broker has been restarted at command level 7.5
      And a classic producer on the queue
      When the producer's delivery delay is set to 1 s
      Then it is refused with MQRC_FUNCTION_NOT_SUPPORTED

    @evidence @needs-restart-at-level @level-7.5
    Scenario: After the queue manager is migrated to level 8.0, a producer accepts a delay
      Given an empty queue
      And a message is sent to the queue
      And the broker has been restarted at command level 8.0
      And a classic producer on the queue
      When the producer's delivery delay is set to 1 s
      Then it is accepted

    @kit @judges-broker @needs-checks-off
    Scenario Outline: Without the client's own check, the broker at level <level> refuses a delayed message
      Given the client's own checks are switched off
      And an empty queue
      When message "slow" is sent to the queue with a delivery delay of 1 s
      Then sending "slow" is refused with MQRC_FUNCTION_NOT_SUPPORTED

      @level-7.1
      Examples:
        | level |
        | 7.1   |

      @level-7.5
      Examples:
        | level |
        | 7.5   |

    @kit @judges-broker @needs-checks-off @needs-topic @level-7.5
    Scenario: Without the client's own check, the broker at level 7.5 refuses a delayed publication
      Given the client's own checks are switched off
      And a topic
      When message "slow" is sent to the topic with a delivery delay of 1 s
      Then sending "slow" is refused with MQRC_FUNCTION_NOT_SUPPORTED

    @level-7.5
    Scenario: At level 7.5 each of two producers of a session refuses a delay after it has sent a message
      Given an empty queue
      And session "work" in auto mode
      And producer "first" of session "work" on the queue
      And producer "second" of session "work" on the queue
      When producer "first" sends message "one" with delivery mode persistent for this send only and correlation id "c"
      And the delivery delay of producer "first" is set to 1 h
      Then it is refused with MQRC_FUNCTION_NOT_SUPPORTED
      When producer "second" sends message "two"
      And the delivery delay of producer "second" is set to 1 h
      Then it is refused with MQRC_FUNCTION_NOT_SUPPORTED
