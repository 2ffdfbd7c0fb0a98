Feature: Retained publications and grouped messages cannot be delayed
  IBM MQ, JMS 2.0 delivery delay, lines 16 and 17.

  @DD-16 @needs-delivery-delay @needs-topic
  Rule: A retained publication with a delay is refused
    Line 16: a message that is marked as retained (JMS_IBM_Retain is 1) and is published with a delay fails with
    MQRC_OPTIONS_ERROR.  A retained publication without a delay is allowed, and so is a delayed publication that is
    not retained.  The document leaves open whether client or broker refuses; with the client's checks switched off,
    only the broker can refuse.

    Scenario Outline: A <style> producer's retained publication with a delay of <delay> is refused
      Given a topic
      And a <style> producer on the topic
      And the producer's delivery delay is <delay>
      When the producer sends message "news" with the retain option
      Then it is refused with MQRC_OPTIONS_ERROR as a <exception> exception

      Examples:
        | style      | delay | exception |
        | classic    | 1 ms  | checked   |
        | classic    | 5 s   | checked   |
        | simplified | 1 ms  | runtime   |
        | simplified | 5 s   | runtime   |

    @evidence @needs-admin
    Scenario: A retained publication with a delay is refused when it is sent to an alias
      Given a topic
      And an alias "front" for the topic
      When message "news" is sent to alias "front" with the retain option and a delivery delay of 1 s
      Then it is refused with MQRC_OPTIONS_ERROR

    @control
    Scenario: A retained publication without a delay reaches an existing subscriber
      Given a topic
      And a non-durable subscriber "early" on the topic
      When message "news" is sent to the topic with the retain option
      Then sending "news" is accepted
      And "early" sees "news" exactly once

    @control @needs-retained-publication
    Scenario: A retained publication without a delay reaches a later subscriber
      Given a topic
      When message "news" is sent to the topic with the retain option
      And a non-durable subscriber "late" subscribes to the topic
      Then sending "news" is accepted
      And "late" sees "news" exactly once

    @control @needs-retained-publication
    Scenario: A retained publication with a delay of 0 reaches a later subscriber
      Given a topic
      When message "news" is sent to the topic with the retain option and a delivery delay of 0 ms
      And a non-durable subscriber "late" subscribes to the topic
      Then sending "news" is accepted
      And "late" sees "news" exactly once

    @control
    Scenario: After a refused retained publication, a delayed publication without the retain option is accepted
      Given a topic
      And a non-durable subscriber "early" on the topic
      And a producer on the topic
      And the producer's delivery delay is 1 s
      When the producer sends message "retained" with the retain option
      And the producer sends message "news"
      Then sending "retained" is refused with MQRC_OPTIONS_ERROR
      And sending "news" is accepted
      And "early" sees "news" exactly once

    @evidence
    Scenario: A refused publication does not reach an existing subscriber
      Given a topic
      And a non-durable subscriber "early" on the topic
      When message "news" is sent to the topic with the retain option and a delivery delay of 1 s
      And 3 s have passed since "news" was sent
      And message "control" is sent to the topic
      Then sending "news" is refused with MQRC_OPTIONS_ERROR
      And "early" sees "control" exactly once
      And "early" never sees the refused "news"

    @evidence
    Scenario: A refused publication is not retained for a later subscriber
      Given a topic
      When message "news" is sent to the topic with the retain option and a delivery delay of 1 s
      And 3 s have passed since "news" was sent
      And a non-durable subscriber "late" subscribes to the topic
      And message "control" is sent to the topic
      Then sending "news" is refused with MQRC_OPTIONS_ERROR
      And "late" sees "control" exactly once
      And "late" never sees the refused "news"

    @evidence @needs-retained-publication
    Scenario: A publication that was retained before the refusal stays retained
      Given a topic
      And message "old" is sent to the topic with the retain option
      When message "new" is sent to the topic with the retain option and a delivery delay of 1 s
      And 3 s have passed since "new" was sent
      And a non-durable subscriber "late" subscribes to the topic
      Then sending "new" is refused with MQRC_OPTIONS_ERROR
      And "late" sees "old" exactly once

    @kit @needs-retained-publication @needs-store-error
    Scenario: If the store refuses a retained publication without a delay, the earlier publication stays retained
      Given a topic
      And message "old" is sent to the topic with the retain option
      When the broker's store refuses the next write
      And message "new" is sent to the topic with the retain option
      And a non-durable subscriber "late" subscribes to the topic
      Then sending "new" is refused
      And "late" sees "old" exactly once
      And "late" never sees the refused "new"

    @kit @needs-retained-publication @needs-store-error
    Scenario: If the store refuses a topic's first retained publication, a later subscriber does not get the publication
      Given a topic
      When the broker's store refuses the next write
      And message "new" is sent to the topic with the retain option
      And a non-durable subscriber "late" subscribes to the topic
      And message "control" is sent to the topic
      Then sending "new" is refused
      And "late" sees "control" exactly once
      And "late" never sees the refused "new"

    @kit @needs-retained-publication @needs-local-transaction @needs-store-error
    Scenario: If the store refuses the commit of retained publications, the earlier publication stays retained
      Given a topic
      And message "old" is sent to the topic with the retain option
      And session "work" in transacted mode
      When message "first" is sent in session "work" to the topic with the retain option
      And message "second" is sent in session "work" to the topic with the retain option
      And the broker's store refuses the next write
      And session "work" is committed
      Then it is refused
      When a non-durable subscriber "late" subscribes to the topic
      Then "late" sees "old" exactly once
      And "late" never sees "first" and "second"

    @evidence @needs-admin
    Scenario: A refused publication is not staged
      Given a topic
      And a non-durable subscriber "early" on the topic
      When message "control" is sent to the topic with a delivery delay of 1 h
      And message "news" is sent to the topic with the retain option and a delivery delay of 1 h
      Then sending "news" is refused with MQRC_OPTIONS_ERROR
      And the staging queue holds "control"
      And the staging queue does not hold "news"

    @kit @judges-broker @needs-checks-off
    Scenario: Without the client's own check, the broker refuses a retained publication with a delay
      Given the client's own checks are switched off
      And a topic
      When a message is sent to the topic with the retain option and a delivery delay of 1 s
      Then it is refused with MQRC_OPTIONS_ERROR

    @kit @judges-broker @needs-checks-off @needs-non-persistent
    Scenario: Without the client's own check, the broker refuses a non-persistent retained publication with a delay
      Given the client's own checks are switched off
      And a topic
      When a message is sent to the topic with the retain option, a delivery delay of 1 s and delivery mode non-persistent
      Then it is refused with MQRC_OPTIONS_ERROR

    @kit @judges-broker @needs-checks-off @needs-local-transaction
    Scenario: Without the client's own check, the broker refuses a retained publication with a delay in a unit of work
      Given the client's own checks are switched off
      And a topic
      And session "work" in transacted mode
      When message "news" is sent in session "work" to the topic with the retain option and a delivery delay of 1 s
      Then sending "news" is refused with MQRC_OPTIONS_ERROR

    Scenario Outline: A <style> producer without a destination cannot send a retained publication with a delay
      Given a topic
      And a <style> producer without a destination
      And the producer's delivery delay is 1 s
      When the producer sends message "news" to the topic with the retain option
      Then it is refused with MQRC_OPTIONS_ERROR

      Examples:
        | style      |
        | classic    |
        | simplified |

    @evidence @needs-xa
    Scenario: In a branch of a global unit of work, a retained publication with a delay is refused, too
      Given a topic
      And session "work" in xa mode
      And branch "job" has been started in session "work"
      When message "kept" is sent in session "work" to the topic with a delivery delay of 1 s and the retain option
      Then sending "kept" is refused with MQRC_OPTIONS_ERROR

    @evidence @needs-local-transaction
    Scenario: After a rollback, a retained publication with a delay is refused again
      Given a topic
      And a non-durable subscriber "one" on the topic
      And a non-durable subscriber "two" on the topic
      And session "work" in transacted mode
      And producer "late" of session "work" on the topic with a delivery delay of 1 s
      And producer "prompt" of session "work" on the topic
      When producer "prompt" sends message "plain" with the retain option
      And producer "late" sends message "slow" with the retain option and delivery mode persistent for this send only
      And session "work" is rolled back
      And the delivery delay of producer "late" is set to 2 s
      And producer "late" sends message "again" with the retain option
      And message "control" is sent to the topic with a delivery delay of 3 s
      Then sending "plain" is accepted
      And sending "slow" is refused with MQRC_OPTIONS_ERROR
      And sending "again" is refused with MQRC_OPTIONS_ERROR
      And "one" sees "control" exactly once
      And "two" sees "control" exactly once
      And "two" never sees the refused "again"

  @DD-17 @needs-delivery-delay
  Rule: A message in a group is refused if it has a delay
    Line 17: using both fails with MQRC_OPTIONS_ERROR.  A message is in a group if it has a group id, a place in a
    group (JMSXGroupSeq), or the flag of a group's last message (JMS_IBM_Last_Msg_In_Group).  The document leaves open
    whether client or broker refuses; with the client's checks switched off, only the broker can refuse.

    Scenario Outline: If a <style> producer has a delay of <delay>, its message with <group> is refused
      Given an empty queue
      And a <style> producer on the queue
      And the producer's delivery delay is <delay>
      When the producer sends a message with <group>
      Then it is refused with MQRC_OPTIONS_ERROR as a <exception> exception

      Examples:
        | style      | delay | group                                                  | exception |
        | classic    | 1 ms  | group "g"                                              | checked   |
        | classic    | 5 s   | group "g"                                              | checked   |
        | classic    | 5 s   | group "g" and group sequence 1                         | checked   |
        | classic    | 5 s   | group sequence 2                                       | checked   |
        | classic    | 5 s   | the last-in-group flag                                 | checked   |
        | classic    | 5 s   | group "g", group sequence 2 and the last-in-group flag | checked   |
        | simplified | 1 ms  | group "g"                                              | runtime   |
        | simplified | 5 s   | group "g" and group sequence 1                         | runtime   |
        | simplified | 5 s   | group sequence 2                                       | runtime   |
        | simplified | 5 s   | the last-in-group flag                                 | runtime   |

    @kit
    Scenario Outline: If a <style> producer has a delay, its message with the group sequence 0 is refused
      Given an empty queue
      And a <style> producer on the queue
      And the producer's delivery delay is 5 s
      When the producer sends a message with group sequence 0
      Then it is refused with MQRC_OPTIONS_ERROR as a <exception> exception

      Examples:
        | style      | exception |
        | classic    | checked   |
        | simplified | runtime   |

    @needs-topic
    Scenario: A delayed publication in a group is refused
      Given a topic
      And a non-durable subscriber "early" on the topic
      When message "news" is sent to the topic with group "g", group sequence 1 and a delivery delay of 1 s
      Then it is refused with MQRC_OPTIONS_ERROR

    @control
    Scenario: A message group without a delay is delivered completely and in order
      Given an empty queue
      And a receiver is waiting on the queue
      When message "m1" is sent to the queue with group "g", group sequence 1 and a delivery delay of 0 ms
      And message "m2" is sent to the queue with group "g", group sequence 2 and a delivery delay of 0 ms
      And message "m3" is sent to the queue with group "g", group sequence 3 and the last-in-group flag
      Then sending "m1" is accepted
      And sending "m2" is accepted
      And sending "m3" is accepted
      And the receiver sees "m1" to "m3" exactly once
      And the receiver sees "m1" to "m3" in that order

    @control
    Scenario: After a refused message in a group, a delayed message without a group is accepted
      Given an empty queue
      And a receiver is waiting on the queue
      And a producer on the queue
      And the producer's delivery delay is 1 s
      When the producer sends message "grouped" with group "g"
      And the producer sends message "slow"
      Then sending "grouped" is refused with MQRC_OPTIONS_ERROR
      And sending "slow" is accepted
      And the receiver sees "slow" exactly once

    @evidence
    Scenario: After a refused delayed message, the other messages of its group are delivered
      Given an empty queue
      And a receiver is waiting on the queue
      When message "m1" is sent to the queue with group "g" and group sequence 1
      And message "slow" is sent to the queue with group "g", group sequence 2 and a delivery delay of 1 s
      And message "m2" is sent to the queue with group "g", group sequence 2 and the last-in-group flag
      And 3 s have passed since "slow" was sent
      Then sending "slow" is refused with MQRC_OPTIONS_ERROR
      And the receiver sees "m1" and "m2" exactly once
      And the receiver never sees the refused "slow"

    @evidence @needs-admin
    Scenario Outline: A refused message with <group> is not staged
      Given an empty queue
      When message "control" is sent to the queue with a delivery delay of 1 h
      And message "slow" is sent to the queue with <group> and a delivery delay of 1 h
      Then sending "slow" is refused with MQRC_OPTIONS_ERROR
      And the staging queue holds "control"
      And the staging queue does not hold "slow"

      Examples:
        | group                  |
        | group "g"              |
        | group sequence 2       |
        | the last-in-group flag |

    @kit @judges-broker @needs-checks-off
    Scenario Outline: Without the client's own check, the broker refuses a delayed message with <group>
      Given the client's own checks are switched off
      And an empty queue
      When message "slow" is sent to the queue with <group> and a delivery delay of 1 s
      Then it is refused with MQRC_OPTIONS_ERROR

      Examples:
        | group                  |
        | group "g"              |
        | group sequence 2       |
        | the last-in-group flag |

    @kit @judges-broker @needs-checks-off @needs-topic
    Scenario: Without the client's own check, the broker refuses a delayed publication in a group
      Given the client's own checks are switched off
      And a topic
      When message "slow" is sent to the topic with group "g" and a delivery delay of 1 s
      Then it is refused with MQRC_OPTIONS_ERROR

    @kit @judges-broker @needs-checks-off @needs-local-transaction
    Scenario: Without the client's own check, the broker refuses a delayed message in a group in a unit of work
      Given the client's own checks are switched off
      And an empty queue
      And session "work" in transacted mode
      When message "slow" is sent in session "work" to the queue with group "g" and a delivery delay of 1 s
      Then sending "slow" is refused with MQRC_OPTIONS_ERROR

    Scenario Outline: A <style> producer without a destination cannot send a delayed message in a group
      Given an empty queue
      And a <style> producer without a destination
      And the producer's delivery delay is 1 s
      When the producer sends message "slow" to the queue with group "g"
      Then it is refused with MQRC_OPTIONS_ERROR

      Examples:
        | style      |
        | classic    |
        | simplified |

    @evidence @needs-xa
    Scenario Outline: In a branch of a global unit of work, a delayed message with <group> is refused, too
      Given an empty queue
      And session "work" in xa mode
      And branch "job" has been started in session "work"
      When message "part" is sent in session "work" to the queue with a delivery delay of 1 s and <group>
      Then sending "part" is refused with MQRC_OPTIONS_ERROR
      Examples:
        | group                  |
        | group "g"              |
        | the last-in-group flag |

    @evidence @needs-non-persistent @needs-local-transaction
    Scenario: After a rollback, a delayed message in a group is refused again
      Given an empty queue
      And session "work" in transacted mode
      And producer "late" of session "work" on the queue with a delivery delay of 1 s
      And producer "prompt" of session "work" on the queue
      When producer "prompt" sends message "plain" with group "g"
      And producer "late" sends message "slow" with group "g" and delivery mode non-persistent for this send only
      And session "work" is rolled back
      And the delivery delay of producer "late" is set to 2 s
      And producer "late" sends message "again" with group "g"
      Then sending "plain" is accepted
      And sending "slow" is refused with MQRC_OPTIONS_ERROR
      And sending "again" is refused with MQRC_OPTIONS_ERROR
