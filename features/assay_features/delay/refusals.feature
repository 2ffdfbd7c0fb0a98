Feature: A delay longer than the time to live is refused
  IBM MQ, JMS 2.0 delivery delay, lines 11 and 15.

  @DD-12 @needs-delivery-delay @needs-time-to-live
  Rule: A nonzero time to live below the producer's nonzero delay is refused with MQRC_EXPIRY_ERROR
    Reading: the call that sets the time to live is refused.  Line 15 also allows the check at the send, so a client
    that refuses only the send is recorded as such; a client that accepts both fails.  A time to live of 0 is no
    limit and is allowed, although a literal comparison would refuse it.  Tension: the explanation of reason 2013
    advises a delay below the expiry; the document allows equal values.

    Scenario Outline: A <style> producer with a delay of <delay> refuses a time to live of <ttl>
      Given an empty queue
      And a <style> producer on the queue
      And the producer's delivery delay is <delay>
      When the producer's time to live is set to <ttl> and a message is sent
      Then the setting or the send is refused with MQRC_EXPIRY_ERROR

      Examples:
        | style      | delay | ttl     |
        | classic    | 5 s   | 4999 ms |
        | classic    | 5 s   | 1 ms    |
        | classic    | 2 ms  | 1 ms    |
        | simplified | 5 s   | 4999 ms |
        | simplified | 5 s   | 1 ms    |
        | simplified | 2 ms  | 1 ms    |

    Scenario Outline: A <style> producer with a delay of 5 s accepts a time to live of <ttl>, and sends a message
      Given an empty queue
      And a <style> producer on the queue
      And the producer's delivery delay is 5 s
      When the producer's time to live is set to <ttl> and a message is sent
      Then the setting and the send are accepted

      Examples:
        | style      | ttl     |
        | classic    | 0 ms    |
        | classic    | 5 s     |
        | classic    | 5001 ms |
        | simplified | 0 ms    |
        | simplified | 5 s     |
        | simplified | 5001 ms |

    Scenario: A delay that has been set back to 0 does not limit the time to live
      Given an empty queue
      And a producer on the queue
      And the producer's delivery delay is 5 s
      When the producer's delivery delay is set to 0 ms
      And the producer's time to live is set to 1 s and a message is sent
      Then the setting and the send are accepted

    Scenario: The delay of another producer of the session does not limit the time to live
      Given an empty queue
      And session "work" in auto mode
      And producer "late" of session "work" on the queue with a delivery delay of 5 s
      And producer "prompt" of session "work" on the queue
      When the time to live of producer "prompt" is set to 1 s and it sends a message
      Then the setting and the send are accepted

    Scenario: In a session with two producers, a producer's time to live is compared with that producer's own delay
      Given an empty queue
      And session "work" in auto mode
      And producer "late" of session "work" on the queue with a delivery delay of 5 s
      And producer "later" of session "work" on the queue with a delivery delay of 1 s
      When the time to live of producer "late" is set to 4999 ms and it sends a message
      Then the setting or the send is refused with MQRC_EXPIRY_ERROR

    Scenario: After a send with a permitted time to live, the producer still refuses a time to live below its delay
      Given an empty queue
      And a producer on the queue
      And the producer's delivery delay is 5 s
      And the producer's time to live is 10 s
      When the producer sends message "before"
      And the producer's time to live is set to 4999 ms and a message is sent
      Then the setting or the send is refused with MQRC_EXPIRY_ERROR

    Scenario Outline: A <style> producer without a destination refuses a time to live below its delay
      Given an empty queue
      And a <style> producer without a destination
      And the producer's delivery delay is 5 s
      When the producer's time to live is set to 4999 ms and a message is sent to the queue
      Then the setting or the send is refused with MQRC_EXPIRY_ERROR

      Examples:
        | style      |
        | classic    |
        | simplified |

    Scenario: After a send whose own time to live is 0, the producer still refuses a time to live below its delay
      Given an empty queue
      And a producer on the queue
      And the producer's delivery delay is 5 s
      When the producer sends message "before" with a time to live of 0 ms for this send only and correlation id "c"
      And the producer's time to live is set to 4999 ms and a message is sent
      Then the setting or the send is refused with MQRC_EXPIRY_ERROR

  @DD-13 @needs-delivery-delay @needs-time-to-live
  Rule: A delay above the producer's nonzero time to live is refused with MQRC_EXPIRY_ERROR
    The opposite order of DD-12: line 15 says "vice versa".  Reading: the call that sets the delay is refused.  A client
    that refuses only the send is recorded as such; a client that accepts both fails.  With a time to live of 0, which
    is no limit, every delay is allowed.

    Scenario Outline: A <style> producer with a time to live of <ttl> refuses a delay of <delay>
      Given an empty queue
      And a <style> producer on the queue
      And the producer's time to live is <ttl>
      When the producer's delivery delay is set to <delay> and a message is sent
      Then the setting or the send is refused with MQRC_EXPIRY_ERROR

      Examples:
        | style      | ttl  | delay   |
        | classic    | 5 s  | 5001 ms |
        | classic    | 5 s  | 8760 h  |
        | classic    | 1 ms | 2 ms    |
        | simplified | 5 s  | 5001 ms |
        | simplified | 5 s  | 8760 h  |
        | simplified | 1 ms | 2 ms    |

    Scenario Outline: A <style> producer with a time to live of <ttl> accepts a delay of <delay>, and sends a message
      Given an empty queue
      And a <style> producer on the queue
      And the producer's time to live is <ttl>
      When the producer's delivery delay is set to <delay> and a message is sent
      Then the setting and the send are accepted

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

    Scenario: A time to live that has been set back to 0 does not limit the delay
      Given an empty queue
      And a producer on the queue
      And the producer's time to live is 1 s
      When the producer's time to live is set to 0 ms
      And the producer's delivery delay is set to 5 s and a message is sent
      Then the setting and the send are accepted

    Scenario: After a send with a permitted delay, the producer still refuses a delay above its time to live
      Given an empty queue
      And a producer on the queue
      And the producer's time to live is 5 s
      And the producer's delivery delay is 1 s
      When the producer sends message "before"
      And the producer's delivery delay is set to 5001 ms and a message is sent
      Then the setting or the send is refused with MQRC_EXPIRY_ERROR

    Scenario Outline: A <style> producer without a destination refuses a delay above its time to live
      Given an empty queue
      And a <style> producer without a destination
      And the producer's time to live is 5 s
      When the producer's delivery delay is set to 5001 ms and a message is sent to the queue
      Then the setting or the send is refused with MQRC_EXPIRY_ERROR

      Examples:
        | style      |
        | classic    |
        | simplified |

    Scenario: The time to live of another producer of the session does not limit the delay
      Given an empty queue
      And session "work" in auto mode
      And producer "brief" of session "work" on the queue with a time to live of 4 s
      And producer "lasting" of session "work" on the queue
      When the delivery delay of producer "lasting" is set to 5 s and it sends a message
      Then the setting and the send are accepted

    Scenario: In a session with two producers, a producer's delay is compared with that producer's own time to live
      Given an empty queue
      And session "work" in auto mode
      And producer "brief" of session "work" on the queue with a time to live of 4 s
      And producer "lasting" of session "work" on the queue with a time to live of 10 s
      When the delivery delay of producer "brief" is set to 4001 ms and it sends a message
      Then the setting or the send is refused with MQRC_EXPIRY_ERROR

    Scenario: After a send whose own time to live is 1 h, the producer's time to live still limits the delay
      Given an empty queue
      And a producer on the queue
      And the producer's time to live is 5 s
      When the producer sends message "before" with a time to live of 1 h for this send only and correlation id "c"
      And the producer's delivery delay is set to 5001 ms and a message is sent
      Then the setting or the send is refused with MQRC_EXPIRY_ERROR

  @DD-14 @needs-delivery-delay @needs-time-to-live
  Rule: A send whose own time to live is below the producer's delay is refused with MQRC_EXPIRY_ERROR
    Line 15: if the send gives the time to live, the check is at the send.  The boundaries are those of DD-12.

    Scenario Outline: A <style> producer with a delay of 5 s refuses a send whose own time to live is <ttl>
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

    Scenario Outline: A <style> producer with a delay of 5 s accepts a send whose own time to live is <ttl>
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

    Scenario Outline: A <style> producer without a destination refuses a send whose own time to live is below the delay
      Given an empty queue
      And a <style> producer without a destination
      And the producer's delivery delay is 5 s
      When the producer sends message "slow" to the queue with a time to live of 4999 ms for this send only
      Then it is refused with MQRC_EXPIRY_ERROR

      Examples:
        | style      |
        | classic    |
        | simplified |

    @needs-non-persistent
    Scenario: A non-persistent message with a time to live below the delay is refused, too
      Given an empty queue
      And a producer on the queue
      And the producer's delivery delay is 5 s
      When the producer sends a message with a time to live of 4999 ms for this send only and delivery mode non-persistent for this send only
      Then it is refused with MQRC_EXPIRY_ERROR

    Scenario: A send's own time to live of 0 sets JMSExpiration to 0, whatever the producer's time to live is
      Given an empty queue
      And a producer on the queue
      And the producer's delivery delay is 5 s
      And the producer's time to live is 6 s
      When the producer sends message "lasting" with a time to live of 0 ms for this send only
      Then sending "lasting" is accepted
      And message "lasting" shows JMSExpiration "0" after the send

    Scenario: The time to live of one send does not apply to the next send
      Given an empty queue
      And a producer on the queue
      And the producer's delivery delay is 5 s
      And the producer's time to live is 20 s
      When the producer sends message "short" with a time to live of 6 s for this send only
      And the producer sends message "next"
      Then after its send, "short" has a time to live of 6 s, to within 200 ms
      And after its send, "next" has a time to live of 20 s, to within 200 ms

    @needs-priority
    Scenario: The producer's time to live also applies if the send call gives a priority
      Given an empty queue
      And a producer on the queue
      And the producer's delivery delay is 5 s
      And the producer's time to live is 20 s
      When the producer sends message "urgent" with priority 9 for this send only
      Then after its send, "urgent" has a time to live of 20 s, to within 200 ms

    Scenario: The delay of another producer of the session does not limit a send's own time to live
      Given an empty queue
      And session "work" in auto mode
      And producer "late" of session "work" on the queue with a delivery delay of 5 s
      And producer "prompt" of session "work" on the queue
      When producer "prompt" sends message "brief" with a time to live of 1 s for this send only
      Then it is accepted

    Scenario: After another producer of the session has sent a message, a producer's own delay still limits a send's time to live
      Given an empty queue
      And session "work" in auto mode
      And producer "late" of session "work" on the queue with a delivery delay of 5 s
      And producer "prompt" of session "work" on the queue with a delivery delay of 1 s
      When producer "prompt" sends message "fast"
      And producer "late" sends message "slow" with a time to live of 4999 ms for this send only
      Then it is refused with MQRC_EXPIRY_ERROR

    @kit @judges-broker @needs-checks-off
    Scenario: Without the client's own check, the broker refuses a send with a time to live below the delay
      Given the client's own checks are switched off
      And an empty queue
      When a message is sent to the queue with a delivery delay of 5 s and a time to live of 4999 ms
      Then it is refused with MQRC_EXPIRY_ERROR

    Scenario: A send's own time to live is compared with the producer's latest delay
      Given an empty queue
      And a producer on the queue
      And the producer's delivery delay is 5 s
      When the producer sends message "before" with a time to live of 6 s for this send only
      And the producer's delivery delay is set to 7 s
      And the producer sends message "after" with a time to live of 6 s for this send only
      Then sending "before" is accepted
      And sending "after" is refused with MQRC_EXPIRY_ERROR

  @DD-15 @needs-delivery-delay @needs-time-to-live
  Rule: After a refusal, the producer's earlier values stay in force, and its next valid send is accepted
    No document demands this, but an application that caught the exception relies on it.

    Scenario Outline: After a refused <setting>, a <style> producer can still send a message
      Given an empty queue
      And a <style> producer on the queue
      And the producer's <earlier> is 5 s
      When the producer refuses a <setting> of <refused>
      And the producer sends message "next"
      Then sending "next" is accepted

      Examples:
        | style      | earlier        | setting        | refused |
        | classic    | delivery delay | time to live   | 1 s     |
        | classic    | time to live   | delivery delay | 6 s     |
        | simplified | delivery delay | time to live   | 1 s     |
        | simplified | time to live   | delivery delay | 6 s     |

    @evidence
    Scenario Outline: After a refused <setting>, a <style> producer still shows its earlier <setting>
      Given an empty queue
      And a <style> producer on the queue
      And the producer's time to live is 10 s
      And the producer's delivery delay is 5 s
      When the producer refuses a <setting> of <refused>
      Then the producer shows a <setting> of <earlier>

      Examples:
        | style      | setting        | refused | earlier |
        | classic    | delivery delay | 11 s    | 5 s     |
        | classic    | time to live   | 4999 ms | 10 s    |
        | simplified | delivery delay | 11 s    | 5 s     |
        | simplified | time to live   | 4999 ms | 10 s    |

    Scenario Outline: After a refused send, a <style> producer can still send a message
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
      The scenario examines only the values that the client shows, and does not judge how the broker counts them.

      Given an empty queue
      And a <style> producer on the queue
      And the producer's delivery delay is 1500 ms
      And the producer's time to live is 10 s
      When the producer refuses a delivery delay of 11 s
      And the producer sends message "next"
      Then after its send, "next" has a delivery delay of 1500 ms, to within 200 ms
      And after its send, "next" has a time to live of 10 s, to within 200 ms

      Examples:
        | style      |
        | classic    |
        | simplified |

    Scenario Outline: A refused time to live leaves a <style> producer's earlier time to live in force
      Given an empty queue
      And a <style> producer on the queue
      And the producer's delivery delay is 1 s
      And the producer's time to live is 20 s
      When the producer refuses a time to live of 500 ms
      And the producer sends message "next"
      Then after its send, "next" has a time to live of 20 s, to within 200 ms
      And after its send, "next" has a delivery delay of 1 s, to within 200 ms

      Examples:
        | style      |
        | classic    |
        | simplified |

    Scenario Outline: If a <style> producer's send with <what> is refused, the producer's settings stay in force
      Given an empty queue
      And a <style> producer on the queue
      And the producer's delivery delay is 5 s
      And the producer's time to live is 20 s
      When the producer sends message "bad" with <what>
      And the producer sends message "next"
      Then sending "bad" is refused
      And sending "next" is accepted
      And after its send, "next" has a delivery delay of 5 s, to within 200 ms
      And after its send, "next" has a time to live of 20 s, to within 200 ms

      Examples:
        | style      | what                                  |
        | classic    | a time to live of 1 s for this send only |
        | classic    | group "g"                             |
        | simplified | a time to live of 1 s for this send only |
        | simplified | group "g"                             |

    @needs-local-transaction
    Scenario: A send that is refused in a unit of work does not affect the unit's other sends
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      And producer "own" of session "work" on the queue
      When producer "own" sends message "before"
      And the delivery delay of producer "own" is set to 2 s
      And producer "own" sends message "refused" with a time to live of 1 s for this send only
      And producer "own" sends message "slow"
      And session "work" is committed
      Then sending "refused" is refused with MQRC_EXPIRY_ERROR
      And the receiver sees "before" and "slow" exactly once

    Scenario: A refused send of one producer does not affect another producer of the session
      Given an empty queue
      And session "work" in auto mode
      And producer "late" of session "work" on the queue with a delivery delay of 5 s
      And producer "other" of session "work" on the queue with a delivery delay of 2 s
      When producer "late" sends message "brief" with a time to live of 1 s for this send only
      And producer "other" sends message "slow"
      Then after its send, "slow" has a delivery delay of 2 s, to within 200 ms

    Scenario: After a refusal, the delay can be set to 0, and a send with a short time to live is then accepted
      Given an empty queue
      And session "work" in auto mode
      And producer "own" of session "work" on the queue with a delivery delay of 5 s and a time to live of 20 s
      When the time to live of producer "own" is set to 1 s
      And the delivery delay of producer "own" is set to 0 ms
      And producer "own" sends message "next" with a time to live of 1 s for this send only
      Then sending "next" is accepted
      And after its send, "next" has a time to live of 1 s, to within 200 ms

  @DD-18 @needs-delivery-delay @needs-time-to-live
  Rule: The classic producer raises the checked exception, the simplified one the runtime exception, with the same reason
    Line 11: the restrictions hold for both producers, with an unchecked exception for the simplified producer.  The
    same reason means the same code; only our own client must give the same words, too.

    Scenario Outline: A time to live below the delay of a <style> producer raises a <exception> exception
      Given an empty queue
      And a <style> producer on the queue
      And the producer's delivery delay is 5 s
      When the producer's time to live is set to 4999 ms and a message is sent
      Then the setting or the send is refused with MQRC_EXPIRY_ERROR as a <exception> exception

      Examples:
        | style      | exception |
        | classic    | checked   |
        | simplified | runtime   |

    Scenario Outline: A delay above the time to live of a <style> producer raises a <exception> exception
      Given an empty queue
      And a <style> producer on the queue
      And the producer's time to live is 5 s
      When the producer's delivery delay is set to 5001 ms and a message is sent
      Then the setting or the send is refused with MQRC_EXPIRY_ERROR as a <exception> exception

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
    Scenario: The classic and the simplified producer refuse a time to live below the delay with the same reason code
      Given an empty queue
      And a classic and a simplified producer on the queue
      And the delivery delay of both producers is 5 s
      When the time to live of both producers is set to 4999 ms
      Then both are refused with MQRC_EXPIRY_ERROR

    @kit
    Scenario: The classic and the simplified producer refuse a delay above the time to live with the same reason code
      Given an empty queue
      And a classic and a simplified producer on the queue
      And the time to live of both producers is 5 s
      When the delivery delay of both producers is set to 5001 ms
      Then both are refused with MQRC_EXPIRY_ERROR

    Scenario: The classic and the simplified producer refuse a send with a time to live below the delay with the same reason code
      Given an empty queue
      And a classic and a simplified producer on the queue
      And the delivery delay of both producers is 5 s
      When both producers send a message with a time to live of 4999 ms for this send only
      Then both are refused with MQRC_EXPIRY_ERROR

    Scenario: The classic and the simplified producer refuse a delayed message in a group with the same reason code
      Given an empty queue
      And a classic and a simplified producer on the queue
      And the delivery delay of both producers is 5 s
      When both producers send a message with group "g"
      Then both are refused with MQRC_OPTIONS_ERROR

    @needs-topic
    Scenario: The classic and the simplified producer refuse a delayed retained publication with the same reason code
      Given a topic
      And a classic and a simplified producer on the topic
      And the delivery delay of both producers is 5 s
      When both producers send a message with the retain option
      Then both are refused with MQRC_OPTIONS_ERROR

    @level-7.5
    Scenario: The classic and the simplified producer refuse a delay at level 7.5 with the same reason code
      Given an empty queue
      And a classic and a simplified producer on the queue
      When the delivery delay of both producers is set to 5 s
      Then both are refused with MQRC_FUNCTION_NOT_SUPPORTED

    @kit
    Scenario: The classic and the simplified producer refuse a time to live below the delay in the same words
      Given an empty queue
      And a classic and a simplified producer on the queue
      And the delivery delay of both producers is 5 s
      When the time to live of both producers is set to 4999 ms
      Then both are refused with MQRC_EXPIRY_ERROR and the same text

    @kit
    Scenario: The classic and the simplified producer refuse a delay above the time to live in the same words
      Given an empty queue
      And a classic and a simplified producer on the queue
      And the time to live of both producers is 5 s
      When the delivery delay of both producers is set to 5001 ms
      Then both are refused with MQRC_EXPIRY_ERROR and the same text

    @kit
    Scenario: The classic and the simplified producer refuse a send with a time to live below the delay in the same words
      Given an empty queue
      And a classic and a simplified producer on the queue
      And the delivery delay of both producers is 5 s
      When both producers send a message with a time to live of 4999 ms for this send only
      Then both are refused with MQRC_EXPIRY_ERROR and the same text

    @kit
    Scenario: The classic and the simplified producer refuse a delayed message in a group in the same words
      Given an empty queue
      And a classic and a simplified producer on the queue
      And the delivery delay of both producers is 5 s
      When both producers send a message with group "g"
      Then both are refused with MQRC_OPTIONS_ERROR and the same text

    @kit @needs-topic
    Scenario: The classic and the simplified producer refuse a delayed retained publication in the same words
      Given a topic
      And a classic and a simplified producer on the topic
      And the delivery delay of both producers is 5 s
      When both producers send a message with the retain option
      Then both are refused with MQRC_OPTIONS_ERROR and the same text

    @kit @level-7.5
    Scenario: The classic and the simplified producer refuse a delay at level 7.5 in the same words
      Given an empty queue
      And a classic and a simplified producer on the queue
      When the delivery delay of both producers is set to 5 s
      Then both are refused with MQRC_FUNCTION_NOT_SUPPORTED and the same text

    Scenario: After an accepted send, the refused send of a simplified producer raises a runtime exception
      Given an empty queue
      And a simplified producer on the queue
      And the producer's delivery delay is 5 s
      When the producer sends message "before" with a time to live of 0 ms for this send only and correlation id "c"
      And the producer sends message "after" with a time to live of 4999 ms for this send only
      Then sending "before" is accepted
      And it is refused with MQRC_EXPIRY_ERROR as a runtime exception
