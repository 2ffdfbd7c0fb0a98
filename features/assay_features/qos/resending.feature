Feature: With at-least-once, a sender sends unanswered messages again
  MQ Light and AMQP, line 18.  A second transfer of a message is seen on the wire.  The message may then be delivered
  twice, which this quality of service permits.

  @QS-05 @needs-topic @needs-quality-of-service @needs-lasting-subscription @needs-reconnect
  Rule: After its reconnection, the sender sends unanswered messages again, and no message that the broker has answered
    Line 18.  The send call returns only after the broker has answered.  A broker may lose non-persistent messages when
    it is killed, and need not keep new ones for a subscriber that is away.  So after a kill, the frames that the client
    sends are the evidence.

    @needs-cut @needs-kill-at-answer
    Scenario: A message is sent again if the connection is cut before the answer
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once and a durable subscription
      When message "m1" is sent to the topic with quality of service at-least-once and every connection is cut before the broker answers
      Then sending "m1" is accepted
      And "m1" went over the wire again, not settled
      And "sure" sees "m1" at least once

    @needs-kill @needs-kill-at-answer
    Scenario: A message is sent again, unaltered, if the broker is killed before the answer
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "sure" is inactive
      When message "m1" is sent to the topic with quality of service at-least-once and the broker is killed before it answers
      Then sending "m1" is accepted
      And "m1" went over the wire again, not settled
      And "m1" went over the wire unaltered, each time to the same topic

    @needs-cut
    Scenario: After all connections are cut, messages that the broker answered before are never sent again
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once and a durable subscription
      When messages "m1" to "m3" are sent to the topic with quality of service at-least-once
      And 1 s pass
      And every connection is cut
      And 10 s pass
      And message "control" is sent to the topic with quality of service at-least-once
      Then "sure" sees "control" exactly once
      And "m1" to "m3" went over the wire once, not settled
      And "sure" sees "m1" to "m3" exactly once

    @needs-cut @needs-kill-at-answer
    Scenario: With one answered and one unanswered message, only the unanswered message is sent again
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once and a durable subscription
      When message "m1" is sent to the topic with quality of service at-least-once
      And 1 s pass
      And message "m2" is sent to the topic with quality of service at-least-once and every connection is cut before the broker answers
      Then "m2" went over the wire again, not settled
      And "m1" went over the wire once, not settled
      And "sure" sees "m1" exactly once

    @needs-cut @needs-kill-at-answer
    Scenario: A message is sent again each time that the connection is cut before the answer
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once and a durable subscription
      When message "m1" is sent to the topic with quality of service at-least-once and every connection is cut before each of the broker's first two answers
      Then sending "m1" is accepted
      And "m1" went over the wire at least 3 times, not settled
      And "sure" sees "m1" at least once

    @needs-cut
    Scenario: Messages that the application sends while no connection exists are sent on the next connection
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once and a durable subscription
      When message "m1" is sent to the topic with quality of service at-least-once
      And every connection is cut
      And messages "m2" and "m3" are sent to the topic with quality of service at-least-once
      Then sending "m3" is accepted
      And "sure" sees "m2" and "m3" exactly once

    @needs-cut @needs-kill-at-answer
    Scenario Outline: A message with <body> is unaltered when it is sent again
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once and a durable subscription
      When message "m1" is sent to the topic with quality of service at-least-once, <body> and every connection is cut before the broker answers
      Then "m1" went over the wire again, not settled
      And "m1" went over the wire unaltered, each time to the same topic
      And "sure" sees "m1" at least once
      And "sure" sees the body of "m1" unaltered

      Examples:
        | body                           |
        | an empty body                  |
        | a body of non-ASCII characters |
        | a binary body                  |
        | a body of 300 KB               |

    @evidence @needs-cut @needs-kill-at-answer
    Scenario: If the connection is cut before the answer, the message arrives with the id that the send returns
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once and a durable subscription
      When message "m1" is sent to the topic with quality of service at-least-once and every connection is cut before the broker answers
      Then "sure" sees "m1" at least once
      And message "m1" as seen by "sure" shows the JMSMessageID that its sender saw

    @evidence @needs-kill @needs-kill-at-answer
    Scenario: A message that is sent again has the id that the send returns
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "sure" is inactive
      When message "m1" is sent to the topic with quality of service at-least-once and the broker is killed before it answers
      Then "m1" went over the wire again, not settled
      And "m1" went over the wire each time with the message id that its sender saw

    @needs-cut
    Scenario: If its first reconnection attempts are refused, a client retries until it has a connection
      Given a topic
      And subscriber "sure" on the topic with quality of service at-least-once and a durable subscription
      When message "m1" is sent to the topic with quality of service at-least-once
      And every connection is cut, and none is accepted for 5 s
      And message "m2" is sent to the topic with quality of service at-least-once
      Then sending "m2" is accepted
      And "sure" sees "m2" exactly once

    @needs-cut
    Scenario: A message is sent again if the connection is cut at the client's first send to a topic
      Given a topic "one"
      And a topic "two"
      And subscriber "sure" on topic "two" with quality of service at-least-once and a durable subscription
      And subscriber "sure" is inactive
      When message "m1" is sent to topic "one" with quality of service at-least-once
      And message "m2" is sent to topic "two" with quality of service at-least-once and every connection is cut during the send
      And subscriber "sure" comes back
      Then "m2" went over the wire at least 1 times, not settled
      And "sure" sees "m2" at least once

    @kit @judges-client @needs-store-error
    Scenario: A message that the broker has refused is not sent again
      Given a topic with DEFPSIST(YES)
      And subscriber "sure" on the topic with quality of service at-least-once and a durable subscription
      When the broker's store refuses the next write
      And message "unwritten" is sent to the topic with quality of service at-least-once
      And message "written" is sent to the topic with quality of service at-least-once
      Then sending "unwritten" is refused
      And "sure" sees "written" exactly once
      And "sure" never sees the refused "unwritten"
