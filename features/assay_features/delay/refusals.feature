Feature: A delay longer than the time to live is refused
  IBM MQ, JMS 2.0 delivery delay, lines 11 and 15.

  @DD-12 @needs-delivery-delay @needs-time-to-live
  Rule: A nonzero time to live below the producer's nonzero delay is refused with MQRC_EXPIRY_ERROR
    Reading: when the time to live is set.  Line 15 also allows the send as the moment of the check, so a client that
    refuses only there is recorded as such; one that accepts both fails.  Zero never expires and is allowed.
    Tension: the explanation of reason 2013 advises a delay below the expiry; the document allows equal.

    Scenario Outline: A <style> producer refuses a time to live of 1 ms less than its delay
      Given an empty queue
      And a <style> producer on the queue
      And the producer's delivery delay is 5 s
      When the producer's time to live is set to 4999 ms and a message is sent
      Then the setting is refused with MQRC_EXPIRY_ERROR, or else the send

      Examples:
        | style      |
        | classic    |
        | simplified |

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
