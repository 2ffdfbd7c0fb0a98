Feature: A delay longer than the time to live is refused
  IBM MQ, JMS 2.0 delivery delay, lines 11 and 15.

  @DD-12 @needs-delivery-delay @needs-time-to-live
  Rule: A nonzero time to live below the producer's nonzero delay is refused with MQRC_EXPIRY_ERROR
    Reading: when the time to live is set.  Line 15 also allows the send as the moment of the check, so a client that
    refuses only there is recorded as such; one that accepts both fails.  Zero never expires and is allowed, although a
    literal comparison would refuse it.
    Tension: the explanation of reason 2013 advises a delay below the expiry; the document allows equal.

    Scenario Outline: A <style> producer with a delay of <delay> refuses a time to live of <ttl>
      Given an empty queue
      And a <style> producer on the queue
      And the producer's delivery delay is <delay>
      When the producer's time to live is set to <ttl> and a message is sent
      Then the setting is refused with MQRC_EXPIRY_ERROR, or else the send

      Examples:
        | style      | delay | ttl     |
        | classic    | 5 s   | 4999 ms |
        | classic    | 5 s   | 1 ms    |
        | classic    | 2 ms  | 1 ms    |
        | simplified | 5 s   | 4999 ms |
        | simplified | 5 s   | 1 ms    |
        | simplified | 2 ms  | 1 ms    |

    Scenario Outline: A <style> producer takes a time to live of <ttl> beside a delay of 5 s
      Given an empty queue
      And a <style> producer on the queue
      And the producer's delivery delay is 5 s
      When the producer's time to live is set to <ttl>
      Then it is accepted

      Examples:
        | style      | ttl     |
        | classic    | 0 ms    |
        | classic    | 5 s     |
        | classic    | 5001 ms |
        | simplified | 0 ms    |
        | simplified | 5 s     |
        | simplified | 5001 ms |

  @DD-13 @needs-delivery-delay @needs-time-to-live
  Rule: A delay above the producer's nonzero time to live is refused with MQRC_EXPIRY_ERROR
    The mirror of DD-12, after line 15's "vice versa".  Reading: when the delay is set; refused at the send only is
    recorded as such, accepted at both fails.  With a time to live of 0, which never ends, every delay is allowed.

    Scenario Outline: A <style> producer with a time to live of <ttl> refuses a delay of <delay>
      Given an empty queue
      And a <style> producer on the queue
      And the producer's time to live is <ttl>
      When the producer's delivery delay is set to <delay> and a message is sent
      Then the setting is refused with MQRC_EXPIRY_ERROR, or else the send

      Examples:
        | style      | ttl  | delay   |
        | classic    | 5 s  | 5001 ms |
        | classic    | 5 s  | 8760 h  |
        | classic    | 1 ms | 2 ms    |
        | simplified | 5 s  | 5001 ms |
        | simplified | 5 s  | 8760 h  |
        | simplified | 1 ms | 2 ms    |

    Scenario Outline: A <style> producer with a time to live of <ttl> takes a delay of <delay>
      Given an empty queue
      And a <style> producer on the queue
      And the producer's time to live is <ttl>
      When the producer's delivery delay is set to <delay>
      Then it is accepted

      Examples:
        | style      | ttl  | delay   |
        | classic    | 5 s  | 0 ms    |
        | classic    | 5 s  | 4999 ms |
        | classic    | 5 s  | 5 s     |
        | classic    | 0 ms | 5 s     |
        | simplified | 5 s  | 0 ms    |
        | simplified | 5 s  | 4999 ms |
        | simplified | 5 s  | 5 s     |
        | simplified | 0 ms | 5 s     |

  @DD-14 @needs-delivery-delay @needs-time-to-live
  Rule: A send whose own time to live is below the producer's delay is refused with MQRC_EXPIRY_ERROR
    Line 15 has the check at the send where the pair comes about there.  The boundaries are those of DD-12.

    Scenario Outline: A <style> producer with a delay of 5 s refuses to send with a time to live of <ttl>
      Given an empty queue
      And a <style> producer on the queue
      And the producer's delivery delay is 5 s
      When the producer sends a message with a time to live of <ttl> for this send only
      Then it is refused with MQRC_EXPIRY_ERROR

      Examples:
        | style      | ttl     |
        | classic    | 4999 ms |
        | classic    | 1 ms    |
        | simplified | 4999 ms |
        | simplified | 1 ms    |

    Scenario Outline: A <style> producer with a delay of 5 s sends with a time to live of <ttl>
      Given an empty queue
      And a <style> producer on the queue
      And the producer's delivery delay is 5 s
      When the producer sends a message with a time to live of <ttl> for this send only
      Then it is accepted

      Examples:
        | style      | ttl     |
        | classic    | 0 ms    |
        | classic    | 5 s     |
        | classic    | 5001 ms |
        | simplified | 0 ms    |
        | simplified | 5 s     |
        | simplified | 5001 ms |

    @kit @judges-broker @needs-checks-off
    Scenario: A broker refuses the pair from a client that does not check
      Given the client's own checks are switched off
      And an empty queue
      When a message is sent to the queue with a delivery delay of 5 s and a time to live of 4999 ms
      Then it is refused with MQRC_EXPIRY_ERROR

  @DD-15 @needs-delivery-delay @needs-time-to-live
  Rule: After a refusal the producer keeps its earlier value, and a following valid send works
    No document says so; an application that caught the exception relies on it.

    Scenario Outline: After a refused <setting> a <style> producer sends on
      Given an empty queue
      And a <style> producer on the queue
      And the producer's <earlier> is 5 s
      When the producer's <setting> is set to <refused>
      And the producer sends message "next"
      Then sending "next" is accepted

      Examples:
        | style      | earlier        | setting        | refused |
        | classic    | delivery delay | time to live   | 1 s     |
        | classic    | time to live   | delivery delay | 6 s     |
        | simplified | delivery delay | time to live   | 1 s     |
        | simplified | time to live   | delivery delay | 6 s     |

    Scenario Outline: After a refused send a <style> producer sends on
      Given an empty queue
      And a <style> producer on the queue
      And the producer's delivery delay is 5 s
      When the producer sends message "bad" with a time to live of 1 s for this send only
      And the producer sends message "next"
      Then sending "next" is accepted

      Examples:
        | style      |
        | classic    |
        | simplified |

    Scenario Outline: A refused delay leaves a <style> producer's earlier delay in force
      Given an empty queue
      And a receiver is waiting on the queue
      And a <style> producer on the queue
      And the producer's delivery delay is 1500 ms
      And the producer's time to live is 10 s
      When the producer's delivery delay is set to 11 s
      And the producer sends message "next"
      Then the receiver sees "next" no earlier than 1500 ms after its send

      Examples:
        | style      |
        | classic    |
        | simplified |

    Scenario Outline: A refused time to live leaves a <style> producer's earlier one in force
      Given an empty queue
      And a <style> producer on the queue
      And the producer's delivery delay is 1 s
      And the producer's time to live is 2 s
      When the producer's time to live is set to 500 ms
      And the producer sends message "stale"
      And 3 s have passed since "stale" was sent
      And message "fresh" is sent to the queue
      And a receiver starts to wait on the queue
      Then the receiver sees "fresh" exactly once
      And the receiver never sees "stale"

      Examples:
        | style      |
        | classic    |
        | simplified |

  @DD-18 @needs-delivery-delay @needs-time-to-live
  Rule: The classic producer raises the checked exception, the simplified one the runtime exception, and both say the same
    Line 11: the restrictions hold for both styles alike, with an unchecked exception for the simplified producer.  The
    same means: the same code, and a text of the same words, which names the code.

    Scenario Outline: A time to live below the delay of a <style> producer raises a <exception> exception
      Given an empty queue
      And a <style> producer on the queue
      And the producer's delivery delay is 5 s
      When the producer's time to live is set to 4999 ms
      Then it is refused with MQRC_EXPIRY_ERROR as a <exception> exception

      Examples:
        | style      | exception |
        | classic    | checked   |
        | simplified | runtime   |

    Scenario Outline: A delay above the time to live of a <style> producer raises a <exception> exception
      Given an empty queue
      And a <style> producer on the queue
      And the producer's time to live is 5 s
      When the producer's delivery delay is set to 5001 ms
      Then it is refused with MQRC_EXPIRY_ERROR as a <exception> exception

      Examples:
        | style      | exception |
        | classic    | checked   |
        | simplified | runtime   |

    Scenario Outline: A send with a time to live below the delay of a <style> producer raises a <exception> exception
      Given an empty queue
      And a <style> producer on the queue
      And the producer's delivery delay is 5 s
      When the producer sends a message with a time to live of 4999 ms for this send only
      Then it is refused with MQRC_EXPIRY_ERROR as a <exception> exception

      Examples:
        | style      | exception |
        | classic    | checked   |
        | simplified | runtime   |

    @kit
    Scenario: Both styles say the same of a time to live below the delay
      Given an empty queue
      And a classic and a simplified producer on the queue
      And the delivery delay of both producers is 5 s
      When the time to live of both producers is set to 4999 ms
      Then both are refused with MQRC_EXPIRY_ERROR in the same words

    @kit
    Scenario: Both styles say the same of a delay above the time to live
      Given an empty queue
      And a classic and a simplified producer on the queue
      And the time to live of both producers is 5 s
      When the delivery delay of both producers is set to 5001 ms
      Then both are refused with MQRC_EXPIRY_ERROR in the same words

    @kit
    Scenario: Both styles say the same of a send with a time to live below the delay
      Given an empty queue
      And a classic and a simplified producer on the queue
      And the delivery delay of both producers is 5 s
      When both producers send a message with a time to live of 4999 ms for this send only
      Then both are refused with MQRC_EXPIRY_ERROR in the same words
