Feature: Whose authority a delayed message needs, and when
  IBM MQ, JMS 2.0 delivery delay, lines 25 and 33.

  @DD-30 @needs-delivery-delay @needs-admin
  Rule: Authority is checked against the target when a delayed message is sent
    Line 25.  The target is withheld from everybody first, so that a user may do there what a step grants and no more.

    Scenario: Without authority to put to the target the send fails
      Given an empty queue
      And the queue is withheld from ordinary users
      When user "alice" sends message "m1" to the queue with a delivery delay of 1 s
      Then it is refused with MQRC_NOT_AUTHORIZED
      And the staging queue does not show "m1"

    Scenario Outline: Authority to <right> the target is not enough
      Given an empty queue
      And the queue is withheld from ordinary users
      And user "alice" may <right> the queue
      When user "alice" sends message "m1" to the queue with a delivery delay of 1 s
      Then it is refused with MQRC_NOT_AUTHORIZED
      And the staging queue does not show "m1"
      Examples:
        | right    |
        | get from |
        | browse   |

    @evidence @own-instance
    Scenario: Authority to put to the staging queue does not stand in for the target's
      Given an empty queue
      And the queue is withheld from ordinary users
      And user "alice" may put to the staging queue
      When user "alice" sends message "m1" to the queue with a delivery delay of 1 s
      Then it is refused with MQRC_NOT_AUTHORIZED
      And the staging queue does not show "m1"

    Scenario: Somebody else's authority does not count
      Given an empty queue
      And the queue is withheld from ordinary users
      And user "bob" may put to the queue
      When user "alice" sends message "m1" to the queue with a delivery delay of 1 s
      Then it is refused with MQRC_NOT_AUTHORIZED
      And the staging queue does not show "m1"

    @evidence @own-instance
    Scenario: With authority on the target, and none on the staging queue, the message is delivered
      Given an empty queue
      And the queue is withheld from ordinary users
      And the staging queue is withheld from ordinary users
      And user "alice" may put to the queue
      When user "alice" sends message "m1" to the queue with a delivery delay of 1 s
      Then it is accepted
      When 2 s have passed since "m1" was sent
      Then the queue holds "m1"

    @needs-topic @own-instance
    Scenario: Without authority to publish on the target the send fails
      Given a topic with NPMSGDLV(ALLAVAIL) PMSGDLV(ALLAVAIL)
      And a non-durable subscriber "reader" on the topic
      And the topic is withheld from ordinary users
      And the base topic is withheld from ordinary users
      When user "alice" sends message "news" to the topic with a delivery delay of 1 s
      Then it is refused with MQRC_NOT_AUTHORIZED
      And the staging queue does not show "news"

    @evidence @needs-topic @own-instance
    Scenario: With authority on the topic, and none on the staging queue, the publication is delivered
      Given a topic with NPMSGDLV(ALLAVAIL) PMSGDLV(ALLAVAIL)
      And a non-durable subscriber "reader" on the topic
      And the topic is withheld from ordinary users
      And the base topic is withheld from ordinary users
      And the staging queue is withheld from ordinary users
      And user "alice" may publish to the topic
      When user "alice" sends message "news" to the topic with a delivery delay of 1 s
      Then it is accepted
      And "reader" sees "news" exactly once

    @needs-non-persistent
    Scenario: Without authority to put to the target the send of a non-persistent message fails
      Given an empty queue
      And the queue is withheld from ordinary users
      When user "alice" sends message "m1" to the queue with a delivery delay of 1 s and delivery mode non-persistent
      Then it is refused with MQRC_NOT_AUTHORIZED
      And the staging queue does not show "m1"

    @kit
    Scenario: The authority that counts is that on the alias which was named
      Given a queue with MAXDEPTH(10)
      And an alias "open" for the queue
      And an alias "closed" for the queue
      And the queue is withheld from ordinary users
      And alias "closed" is withheld from ordinary users
      And user "alice" may put to alias "open"
      When user "alice" sends message "m1" to alias "closed" with a delivery delay of 1 s
      Then it is refused with MQRC_NOT_AUTHORIZED
      When user "alice" sends message "m2" to alias "open" with a delivery delay of 1 s
      Then it is accepted
      When 2 s have passed since "m2" was sent
      Then the queue holds "m2"

  @DD-31 @needs-delivery-delay @needs-admin
  Rule: No authority is checked when the delay is over
    Line 25: the queue manager opens the target itself then, and so it does the dead-letter queue in the target's place.

    Scenario: A sender who has lost the authority during the delay is not asked again
      Given an empty queue
      And the queue is withheld from ordinary users
      And user "alice" may put to the queue
      When user "alice" sends message "m1" to the queue with a delivery delay of 2 s
      And user "alice" is no longer allowed to put to the queue
      And 3 s have passed since "m1" was sent
      Then the queue holds "m1"
      And the staging queue does not hold "m1"

    Scenario: A queue that is withheld from everybody during the delay takes the message
      Given an empty queue
      When message "m1" is sent to the queue with a delivery delay of 2 s
      And the queue is withheld from ordinary users
      And 3 s have passed since "m1" was sent
      Then the queue holds "m1"
      And the staging queue does not hold "m1"

    Scenario: An alias that comes to stand for a queue which the sender may not use takes it there
      Given a queue "open" with MAXDEPTH(10)
      And a queue "closed" with MAXDEPTH(10)
      And an alias "front" for queue "open"
      And queue "closed" is withheld from ordinary users
      And user "alice" may put to alias "front"
      When user "alice" sends message "m1" to alias "front" with a delivery delay of 2 s
      And alias "front" is re-pointed to queue "closed"
      And 3 s have passed since "m1" was sent
      Then queue "closed" holds "m1"
      And the staging queue does not hold "m1"

    @needs-topic @own-instance
    Scenario: A publisher who has lost the authority during the delay is not asked again
      Given a topic with NPMSGDLV(ALLAVAIL) PMSGDLV(ALLAVAIL)
      And a non-durable subscriber "reader" on the topic
      And the topic is withheld from ordinary users
      And the base topic is withheld from ordinary users
      And user "alice" may publish to the topic
      When user "alice" sends message "news" to the topic with a delivery delay of 2 s
      And user "alice" is no longer allowed to publish to the topic
      Then "reader" sees "news" exactly once

    @evidence @needs-restart
    Scenario: Nor is a sender asked again after a restart
      Given an empty queue
      And the queue is withheld from ordinary users
      And user "alice" may put to the queue
      When user "alice" sends message "m1" to the queue with a delivery delay of 2 s
      And user "alice" is no longer allowed to put to the queue
      And the broker is restarted
      And 3 s have passed since "m1" was sent
      And 1 s pass
      Then the queue holds "m1"
      And the staging queue does not hold "m1"

    @evidence @own-instance
    Scenario: A message that cannot be put is dead-lettered although its sender may not use the dead-letter queue
      Given a queue with MAXDEPTH(10)
      And the dead-letter queue is withheld from ordinary users
      When user "alice" sends message "m1" to the queue with a delivery delay of 2 s
      And the queue is altered to PUT(DISABLED)
      And 4 s have passed since "m1" was sent
      Then the dead-letter queue holds "m1" with reason MQRC_PUT_INHIBITED and destination the queue

  @DD-32 @needs-delivery-delay @needs-admin @own-instance
  Rule: Access to the staging queue can be kept to those who maintain and monitor it
    Line 33 tells the administrator to secure the queue.  Tried is that a broker lets the administrator do so, and that
    delayed sends go on then.  The administrator stands outside authority.

    Scenario: An ordinary user cannot browse it
      Given an empty queue
      And message "m1" is sent to the queue with a delivery delay of 1 h
      And the staging queue is withheld from ordinary users
      When user "mallory" browses the staging queue
      Then it is refused with MQRC_NOT_AUTHORIZED

    Scenario: An ordinary user cannot get from it
      Given an empty queue
      And message "m1" is sent to the queue with a delivery delay of 1 h
      And the staging queue is withheld from ordinary users
      When user "mallory" asks for a message from the staging queue
      Then it is refused with MQRC_NOT_AUTHORIZED
      And the staging queue holds "m1"

    Scenario: An ordinary user cannot put to it
      Given the staging queue is withheld from ordinary users
      When user "mallory" sends message "m1" to the staging queue
      Then it is refused with MQRC_NOT_AUTHORIZED
      And the staging queue does not show "m1"

    Scenario: The same user's delayed send works
      Given an empty queue
      And the staging queue is withheld from ordinary users
      When user "mallory" sends message "m1" to the queue with a delivery delay of 1 s
      Then it is accepted
      When 2 s have passed since "m1" was sent
      Then the queue holds "m1"

    Scenario: A user who has been given the authority to browse it may
      Given an empty queue
      And message "m1" is sent to the queue with a delivery delay of 1 h
      And the staging queue is withheld from ordinary users
      And user "monitor" may browse the staging queue
      When user "monitor" browses the staging queue
      Then it is accepted

    Scenario: An administrator may look at it and take from it
      Given an empty queue
      And the staging queue is withheld from ordinary users
      When message "m1" is sent to the queue with a delivery delay of 1 h
      Then the staging queue holds "m1"
      When the administrator takes "m1" off the staging queue by correlation id
      Then the administrator has "m1"

    Scenario: An administrator may put to it
      Given the staging queue is withheld from ordinary users
      When a native application puts "m1" on the staging queue
      Then it is accepted
