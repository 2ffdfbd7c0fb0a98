Feature: The broker checks authority for the target of a delayed message at the send only
  IBM MQ, JMS 2.0 delivery delay, lines 25 and 33.

  @DD-30 @needs-delivery-delay @needs-authority
  Rule: Authority is checked against the target when a delayed message is sent
    Line 25.  First, a step takes all authorities on the target from all users, so that a user has only the
    authorities that later steps grant.  No line gives the reason code; only our own broker must give
    MQRC_NOT_AUTHORIZED.

    Scenario: A delayed send by a user without authority to put to the target fails
      Given an empty queue
      And ordinary users lose their authority for the queue
      When user "alice" sends message "m1" to the queue with a delivery delay of 1 s
      Then it is refused to a user who lacks authority

    Scenario Outline: A user who may only <right> the target cannot send a delayed message to it
      Given an empty queue
      And ordinary users lose their authority for the queue
      And user "alice" may <right> the queue
      When user "alice" sends message "m1" to the queue with a delivery delay of 1 s
      Then it is refused to a user who lacks authority
      Examples:
        | right    |
        | get from |
        | browse   |

    @evidence @own-instance @needs-admin
    Scenario: Authority to put to the staging queue does not replace authority to put to the target
      Given an empty queue
      And ordinary users lose their authority for the queue
      And user "alice" may put to the staging queue
      When user "alice" sends message "m1" to the queue with a delivery delay of 1 s
      Then it is refused to a user who lacks authority

    Scenario: A delayed send fails if only another user has authority to put to the target
      Given an empty queue
      And ordinary users lose their authority for the queue
      And user "bob" may put to the queue
      When user "alice" sends message "m1" to the queue with a delivery delay of 1 s
      Then it is refused to a user who lacks authority

    @evidence @own-instance @needs-admin @needs-queue-look
    Scenario: A delayed message is delivered if its sender has authority on the target but not on the staging queue
      Given an empty queue
      And ordinary users lose their authority for the queue
      And ordinary users lose their authority for the staging queue
      And user "alice" may put to the queue
      When user "alice" sends message "m1" to the queue with a delivery delay of 1 s
      Then it is accepted
      And the queue holds "m1"

    @needs-topic @own-instance @needs-admin
    Scenario: A delayed publication by a user without authority to publish to the topic fails
      Given a topic with NPMSGDLV(ALLAVAIL) PMSGDLV(ALLAVAIL)
      And a non-durable subscriber "reader" on the topic
      And ordinary users lose their authority for the topic
      And ordinary users lose their authority for the base topic
      When user "alice" sends message "news" to the topic with a delivery delay of 1 s
      Then it is refused to a user who lacks authority

    @evidence @needs-topic @own-instance @needs-admin
    Scenario: A delayed publication is delivered if its sender has authority on the topic but not on the staging queue
      Given a topic with NPMSGDLV(ALLAVAIL) PMSGDLV(ALLAVAIL)
      And a non-durable subscriber "reader" on the topic
      And ordinary users lose their authority for the topic
      And ordinary users lose their authority for the base topic
      And ordinary users lose their authority for the staging queue
      And user "alice" may publish to the topic
      When user "alice" sends message "news" to the topic with a delivery delay of 1 s
      Then it is accepted
      And "reader" sees "news" exactly once

    @needs-non-persistent
    Scenario: A non-persistent delayed send by a user without authority to put to the target fails
      Given an empty queue
      And ordinary users lose their authority for the queue
      When user "alice" sends message "m1" to the queue with a delivery delay of 1 s and delivery mode non-persistent
      Then it is refused to a user who lacks authority

    @kit @needs-admin @needs-queue-look
    Scenario: A delayed send to an alias needs authority on the alias, not on the alias's queue
      Given a queue with MAXDEPTH(10)
      And an alias "open" for the queue
      And an alias "closed" for the queue
      And ordinary users lose their authority for the queue
      And ordinary users lose their authority for alias "closed"
      And user "alice" may put to alias "open"
      When user "alice" sends message "m1" to alias "closed" with a delivery delay of 1 s
      Then it is refused to a user who lacks authority
      When user "alice" sends message "m2" to alias "open" with a delivery delay of 1 s
      Then it is accepted
      And the queue holds "m2"

    @control @needs-queue-look
    Scenario: A delayed message is delivered if its sender has authority on the target
      Given an empty queue
      And ordinary users lose their authority for the queue
      And user "alice" may put to the queue
      When user "alice" sends message "m1" to the queue with a delivery delay of 1 s
      Then it is accepted
      And the queue holds "m1"

    @control @needs-topic @own-instance @needs-admin
    Scenario: A delayed publication is delivered if its sender has authority on the topic
      Given a topic with NPMSGDLV(ALLAVAIL) PMSGDLV(ALLAVAIL)
      And a non-durable subscriber "reader" on the topic
      And ordinary users lose their authority for the topic
      And ordinary users lose their authority for the base topic
      And user "alice" may publish to the topic
      When user "alice" sends message "news" to the topic with a delivery delay of 1 s
      Then it is accepted
      And "reader" sees "news" exactly once

    @needs-topic @own-instance @needs-admin
    Scenario: A user who may only subscribe to the topic cannot send a delayed publication to it
      Given a topic with NPMSGDLV(ALLAVAIL) PMSGDLV(ALLAVAIL)
      And ordinary users lose their authority for the topic
      And ordinary users lose their authority for the base topic
      And user "alice" may subscribe to the topic
      When user "alice" sends message "news" to the topic with a delivery delay of 1 s
      Then it is refused to a user who lacks authority

    Scenario: A user without authority on the queue cannot send a delayed message through a producer without a destination
      Given an empty queue
      And ordinary users lose their authority for the queue
      And a connection "hers" of user "alice"
      And session "work" in auto mode on connection "hers"
      And producer "any" of session "work" without a destination
      And the delivery delay of producer "any" is 1 s
      When producer "any" sends message "m1" to the queue
      Then it is refused to a user who lacks authority

    @needs-topic @own-instance @needs-admin
    Scenario: A user without authority on the topic cannot send a delayed publication through a producer without a destination
      Given a topic with NPMSGDLV(ALLAVAIL) PMSGDLV(ALLAVAIL)
      And ordinary users lose their authority for the topic
      And ordinary users lose their authority for the base topic
      And a connection "hers" of user "alice"
      And session "work" in auto mode on connection "hers"
      And producer "any" of session "work" without a destination
      And the delivery delay of producer "any" is 1 s
      When producer "any" sends message "news" to the topic
      Then it is refused to a user who lacks authority

    @needs-local-transaction
    Scenario: In a unit of work, a user without authority cannot send a delayed message through a producer without a destination
      Given an empty queue
      And ordinary users lose their authority for the queue
      And a connection "hers" of user "alice"
      And session "work" in transacted mode on connection "hers"
      And producer "any" of session "work" without a destination
      And the delivery delay of producer "any" is 1 s
      When producer "any" sends message "m1" to the queue
      Then it is refused to a user who lacks authority

    @needs-queue-look
    Scenario: Authority that a user gets after a refused send counts for the user's next send
      Given an empty queue
      And ordinary users lose their authority for the queue
      When user "alice" sends message "m1" to the queue with a delivery delay of 1 s
      Then it is refused to a user who lacks authority
      When user "alice" is allowed to put to the queue
      And user "alice" sends message "m2" to the queue with a delivery delay of 1 s
      Then it is accepted
      And the queue holds "m2"

    @evidence @needs-queue-look
    Scenario Outline: After the broker <event>, a delayed send still needs authority to put to the target
      Given an empty queue
      And ordinary users lose their authority for the queue
      And user "alice" may put to the queue
      And user "carol" may browse the queue
      When the broker <event>
      And user "carol" sends message "m1" to the queue with a delivery delay of 1 s
      Then it is refused to a user who lacks authority
      When user "bob" sends message "m2" to the queue with a delivery delay of 1 s
      Then it is refused to a user who lacks authority
      When user "alice" sends message "m3" to the queue with a delivery delay of 1 s
      Then it is accepted
      And the queue holds "m3"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @evidence @needs-topic @needs-restart
    Scenario: After a restart, a queue has its own authorities, even if a topic has the same name
      Given an empty queue "same"
      And a topic "same"
      And ordinary users lose their authority for queue "same"
      And ordinary users lose their authority for topic "same"
      When the broker is restarted
      And user "alice" sends message "m1" to queue "same" with a delivery delay of 1 s
      Then it is refused to a user who lacks authority

    @kit @needs-local-transaction
    Scenario Outline: At each send in <ack> mode, the reference broker checks again whether the user may put to the queue
      IBM MQ checks it when a queue is opened.  Our broker checks it at each send, so that a revocation counts at once.

      Given an empty queue
      And ordinary users lose their authority for the queue
      And user "alice" may put to the queue
      And a connection "hers" of user "alice"
      And session "work" in <ack> mode on connection "hers"
      And producer "own" of session "work" on the queue
      And the delivery delay of producer "own" is 1 s
      When producer "own" sends message "m1"
      And user "alice" is no longer allowed to put to the queue
      And producer "own" sends message "m2"
      Then sending "m1" is accepted
      And sending "m2" is refused with MQRC_NOT_AUTHORIZED

      Examples:
        | ack        |
        | auto       |
        | transacted |

    @kit @needs-topic @own-instance @needs-admin
    Scenario: At each send to a topic, the reference broker checks again whether the user may publish to the topic
      Given a topic with NPMSGDLV(ALLAVAIL) PMSGDLV(ALLAVAIL)
      And ordinary users lose their authority for the topic
      And ordinary users lose their authority for the base topic
      And user "alice" may publish to the topic
      And a connection "hers" of user "alice"
      And session "work" in auto mode on connection "hers"
      And producer "own" of session "work" on the topic
      And the delivery delay of producer "own" is 1 s
      When producer "own" sends message "m1"
      And user "alice" is no longer allowed to publish to the topic
      And producer "own" sends message "m2"
      Then sending "m1" is accepted
      And sending "m2" is refused with MQRC_NOT_AUTHORIZED

    @evidence @needs-admin @needs-queue-look
    Scenario: A message that was refused for lack of authority is not staged
      Given an empty queue
      And ordinary users lose their authority for the queue
      And an empty queue "other"
      When message "control" is sent to queue "other" with a delivery delay of 1 h
      And user "alice" sends message "m1" to the queue with a delivery delay of 1 h
      Then it is refused to a user who lacks authority
      And the staging queue holds "control"
      And inspecting or browsing the staging queue does not show "m1"

    @kit
    Scenario: The reference broker's reason for refusing a delayed send without authority is MQRC_NOT_AUTHORIZED
      Given an empty queue
      And ordinary users lose their authority for the queue
      When user "alice" sends message "m1" to the queue with a delivery delay of 1 s
      Then it is refused with MQRC_NOT_AUTHORIZED

    @evidence @needs-xa
    Scenario: In a branch of a global unit of work, a delayed send by a user without authority fails
      Given an empty queue
      And ordinary users lose their authority for the queue
      And a connection "hers" of user "alice"
      And session "work" in xa mode on connection "hers"
      And producer "any" of session "work" without a destination
      And the delivery delay of producer "any" is 1 s
      And branch "job" has been started in session "work"
      When producer "any" sends message "m1" to the queue
      Then it is refused to a user who lacks authority

    @evidence @needs-local-transaction
    Scenario: After a refused delayed send and a rollback, an undelayed send without authority fails, too
      Given an empty queue
      And an empty queue "open"
      And ordinary users lose their authority for the queue
      And a connection "hers" of user "alice"
      And session "work" in transacted mode on connection "hers"
      And producer "late" of session "work" without a destination
      And producer "other" of session "work" without a destination
      When the delivery delay of producer "late" is set to 1 s
      And producer "other" sends message "before" to queue "open"
      And producer "late" sends message "slow" to the queue with delivery mode persistent for this send only
      Then it is refused to a user who lacks authority
      When session "work" is rolled back
      And the delivery delay of producer "late" is set to 0 ms
      And producer "late" sends message "now" to the queue
      Then it is refused to a user who lacks authority
      And sending "before" is accepted

  @DD-31 @needs-delivery-delay @needs-authority
  Rule: No authority is checked when the delay is over
    Line 25: at that time, the queue manager itself opens the target, or the dead-letter queue in its place.

    @needs-queue-look
    Scenario: A delayed message is delivered even if its sender loses its authority during the delay
      Given an empty queue
      And ordinary users lose their authority for the queue
      And user "alice" may put to the queue
      When user "alice" sends message "m1" to the queue with a delivery delay of 2 s
      And user "alice" is no longer allowed to put to the queue
      Then the queue holds "m1"

    @needs-queue-look
    Scenario: A delayed message is delivered even if all users lose their authority on its target during the delay
      Given an empty queue
      When message "m1" is sent to the queue with a delivery delay of 2 s
      And ordinary users lose their authority for the queue
      Then the queue holds "m1"

    @evidence @needs-admin @needs-queue-look
    Scenario Outline: A <mode> message whose sender lost its authority during the delay leaves the staging queue
      Given an empty queue
      And ordinary users lose their authority for the queue
      And user "alice" may put to the queue
      When user "alice" sends message "m1" to the queue with a delivery delay of 2 s and delivery mode <mode>
      And user "alice" is no longer allowed to put to the queue
      Then the queue holds "m1"
      And the staging queue does not hold "m1"

      Examples:
        | mode       |
        | persistent |

      @needs-non-persistent
      Examples: Non-persistent
        | mode           |
        | non-persistent |

    @needs-admin @needs-queue-look
    Scenario: If an alias is re-pointed during the delay, the sender needs no authority on the new queue
      Given a queue "open" with MAXDEPTH(10)
      And a queue "closed" with MAXDEPTH(10)
      And an alias "front" for queue "open"
      And ordinary users lose their authority for queue "closed"
      And user "alice" may put to alias "front"
      When user "alice" sends message "m1" to alias "front" with a delivery delay of 2 s
      And alias "front" is re-pointed to queue "closed"
      Then queue "closed" holds "m1"
      And the staging queue does not hold "m1"

    @needs-topic @own-instance @needs-admin
    Scenario: A delayed publication is delivered even if its publisher loses its authority during the delay
      Given a topic with NPMSGDLV(ALLAVAIL) PMSGDLV(ALLAVAIL)
      And a non-durable subscriber "reader" on the topic
      And ordinary users lose their authority for the topic
      And ordinary users lose their authority for the base topic
      And user "alice" may publish to the topic
      When user "alice" sends message "news" to the topic with a delivery delay of 2 s
      And user "alice" is no longer allowed to publish to the topic
      Then "reader" sees "news" exactly once

    @evidence @needs-queue-look
    Scenario Outline: A delayed message is delivered even if its sender loses its authority and the broker <event>
      Given an empty queue
      And ordinary users lose their authority for the queue
      And user "alice" may put to the queue
      When user "alice" sends message "m1" to the queue with a delivery delay of 2 s
      And user "alice" is no longer allowed to put to the queue
      And the broker <event>
      Then the queue holds "m1"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @evidence @own-instance @needs-admin @needs-queue-look
    Scenario: A message that cannot be put is dead-lettered even if its sender may not use the dead-letter queue
      Given a queue with MAXDEPTH(10)
      And ordinary users lose their authority for the dead-letter queue
      When user "alice" sends message "m1" to the queue with a delivery delay of 2 s
      And the queue is altered to PUT(DISABLED)
      Then the dead-letter queue holds "m1" with reason MQRC_PUT_INHIBITED and destination the queue

    @evidence @needs-non-persistent @needs-queue-look
    Scenario: A persistent and a non-persistent message are delivered even if their sender loses its authority during the delays
      Given an empty queue
      And ordinary users lose their authority for the queue
      And user "alice" may put to the queue
      When user "alice" sends message "m1" to the queue with a delivery delay of 2 s
      And user "alice" sends message "m2" to the queue with a delivery delay of 3 s and delivery mode non-persistent
      And user "alice" is no longer allowed to put to the queue
      Then the queue holds "m1" and "m2"

  @DD-32 @needs-delivery-delay @needs-admin @needs-authority @own-instance
  Rule: Access to the staging queue can be restricted to administrators
    Line 33 tells the administrator to secure the queue.  The scenarios test that the broker permits this, and that
    delayed sends still work.  Authority does not limit the administrator.

    @needs-browse
    Scenario: An ordinary user cannot browse the staging queue
      Given an empty queue
      And message "m1" is sent to the queue with a delivery delay of 1 h
      And ordinary users lose their authority for the staging queue
      When user "mallory" browses the staging queue
      Then it is refused with MQRC_NOT_AUTHORIZED

    Scenario: An ordinary user cannot get from the staging queue
      Given an empty queue
      And message "m1" is sent to the queue with a delivery delay of 1 h
      And ordinary users lose their authority for the staging queue
      When user "mallory" asks for a message from the staging queue
      Then it is refused with MQRC_NOT_AUTHORIZED
      And the staging queue holds "m1"

    Scenario: An ordinary user cannot put to the staging queue
      Given ordinary users lose their authority for the staging queue
      When user "mallory" sends message "m1" to the staging queue
      Then it is refused with MQRC_NOT_AUTHORIZED
      And inspecting or browsing the staging queue does not show "m1"

    Scenario: An ordinary user who has no access to the staging queue can send a delayed message
      Given an empty queue
      And ordinary users lose their authority for the staging queue
      When user "mallory" sends message "m1" to the queue with a delivery delay of 1 s
      Then it is accepted
      And the queue holds "m1"

    @needs-browse
    Scenario: An ordinary user with authority to browse the staging queue can browse it
      Given an empty queue
      And message "m1" is sent to the queue with a delivery delay of 1 h
      And ordinary users lose their authority for the staging queue
      And user "monitor" may browse the staging queue
      When user "monitor" browses the staging queue
      Then it is accepted

    Scenario: An administrator may look at the staging queue and take messages from it
      Given an empty queue
      And ordinary users lose their authority for the staging queue
      When message "m1" is sent to the queue with a delivery delay of 1 h
      Then the staging queue holds "m1"
      When the administrator takes "m1" off the staging queue by correlation id
      Then the administrator has taken "m1" off

    Scenario: An administrator may put to the staging queue
      Given ordinary users lose their authority for the staging queue
      When a native application puts "m1" on the staging queue
      Then it is accepted
