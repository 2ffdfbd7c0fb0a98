Feature: A client of MQ Light leaves the persistence of its messages to the topic
  MQ Light and AMQP, line 42.

  @QS-35 @needs-topic @needs-quality-of-service @needs-lasting-subscription @needs-admin @needs-default-persistence
  Rule: Messages of an MQ Light client have no durable header, so that DEFPSIST decides
    Line 42 is a remark on a product.  The scenarios try it on our own client, which has no option for the header.

    Scenario Outline: With DEFPSIST(<defpsist>), a message of an <quality> sender is <persistence>
      Given a topic with DEFPSIST(<defpsist>)
      And subscriber "s" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "s" is inactive
      When message "m1" is sent to the topic with quality of service <quality>
      Then "m1" on the queue of the subscription to the topic is <persistence>

      Examples:
        | defpsist | quality       | persistence    |
        | YES      | at-most-once  | persistent     |
        | YES      | at-least-once | persistent     |
        | NO       | at-most-once  | non-persistent |
        | NO       | at-least-once | non-persistent |

    @needs-restart @needs-reconnect
    Scenario: With DEFPSIST(YES), a message survives a restart of the broker
      Given a topic with DEFPSIST(YES)
      And subscriber "s" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "s" is inactive
      When message "m1" is sent to the topic with quality of service at-least-once
      And the broker is restarted
      And subscriber "s" comes back
      And message "control" is sent to the topic with quality of service at-least-once
      Then "s" sees "control" exactly once
      And "s" sees "m1" exactly once

    @needs-kill @needs-kill-at-answer @needs-reconnect
    Scenario: With DEFPSIST(YES), a message that is sent again after a kill of the broker is persistent
      Given a topic with DEFPSIST(YES)
      And subscriber "s" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "s" is inactive
      When message "m1" is sent to the topic with quality of service at-least-once and the broker is killed before it answers
      Then sending "m1" is accepted
      And "m1" on the queue of the subscription to the topic is persistent

    @needs-kill @needs-kill-at-answer @needs-reconnect
    Scenario: A message that is sent again has no durable header
      With DEFPSIST(NO), a broker need not keep the message for a subscriber that is away, so the frames are the
      evidence.

      Given a topic with DEFPSIST(NO)
      And subscriber "s" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "s" is inactive
      When message "m1" is sent to the topic with quality of service at-least-once and the broker is killed before it answers
      Then sending "m1" is accepted
      And "m1" went over the wire again, not settled
      And "m1" went over the wire each time without a durable field in its header

    @evidence
    Scenario: Messages that are sent before and after the sender's connection is closed have no durable header
      Given a topic with DEFPSIST(YES)
      And subscriber "s" on the topic with quality of service at-least-once and a durable subscription
      And subscriber "s" is inactive
      When message "m1" is sent to the topic with quality of service at-least-once
      And the sender's connection is closed
      And message "m2" is sent to the topic with quality of service at-least-once
      Then "m1" went over the wire each time without a durable field in its header
      And "m2" went over the wire each time without a durable field in its header
      And "m2" on the queue of the subscription to the topic is persistent
