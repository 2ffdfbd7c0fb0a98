Feature: Report options of delayed messages
  IBM MQ, JMS 2.0 delivery delay, lines 87 to 93.

  @DD-85 @needs-delivery-delay @needs-admin
  Rule: The processor supports every report option and acts on it, except for those of confirmation and activity
    Lines 87 to 93.  What is done to a message that cannot be put (exception, discard, dead letter) and to one that
    expires while it is staged is tried here option by option; DD-57, DD-70 and DD-72 have the rest.

    Background:
      Given a queue with MAXDEPTH(10)
      And a queue "replies" with MAXDEPTH(10)

    Scenario Outline: An exception report with <options> brings <data>
      Given message "m1" is sent to the queue with a delivery delay of 2 s, a body of 300 B, reply-to queue "replies" and report options <options>
      And the queue has been altered to PUT(DISABLED)
      When 4 s have passed since "m1" was sent
      Then a report on "m1" with feedback MQRC_PUT_INHIBITED and <data> is on queue "replies"
      Examples:
        | options                                                        | data                            |
        | MQRO_EXCEPTION and MQRO_EXPIRATION_WITH_FULL_DATA              | no data                         |
        | MQRO_EXCEPTION_WITH_DATA and MQRO_EXPIRATION                   | the first 100 bytes of its body |
        | MQRO_EXCEPTION_WITH_FULL_DATA and MQRO_EXPIRATION_WITH_DATA    | all of its body                 |

    @needs-time-to-live @own-instance
    Scenario Outline: An expiration report with <options> brings <data>
      Given there is no dead-letter queue
      And message "m1" is sent to the queue with a delivery delay of 2 s, a time to live of 4 s, a body of 300 B, reply-to queue "replies" and report options <options>
      And the queue has been altered to PUT(DISABLED)
      When 6 s have passed since "m1" was sent
      Then a report on "m1" with feedback MQFB_EXPIRATION and <data> is on queue "replies"
      Examples:
        | options                                                        | data                            |
        | MQRO_EXPIRATION and MQRO_EXCEPTION_WITH_FULL_DATA              | no data                         |
        | MQRO_EXPIRATION_WITH_DATA and MQRO_EXCEPTION                   | the first 100 bytes of its body |
        | MQRO_EXPIRATION_WITH_FULL_DATA and MQRO_EXCEPTION_WITH_DATA    | all of its body                 |

    Scenario Outline: With <options>, an exception report has <message id> and <correlation id>
      Given message "m1" is sent to the queue with a delivery delay of 2 s, correlation id "c1", reply-to queue "replies" and report options MQRO_EXCEPTION, <options>
      And the queue has been altered to PUT(DISABLED)
      When 4 s have passed since "m1" was sent
      Then the report on "m1" on queue "replies" has <message id> as its message id
      And the report on "m1" on queue "replies" has <correlation id> as its correlation id
      Examples:
        | options                                         | message id                     | correlation id                     |
        | MQRO_NEW_MSG_ID, MQRO_COPY_MSG_ID_TO_CORREL_ID  | a new id                       | the message id of the original     |
        | MQRO_PASS_MSG_ID, MQRO_COPY_MSG_ID_TO_CORREL_ID | the message id of the original | the message id of the original     |
        | MQRO_NEW_MSG_ID, MQRO_PASS_CORREL_ID            | a new id                       | the correlation id of the original |
        | MQRO_PASS_MSG_ID, MQRO_PASS_CORREL_ID           | the message id of the original | the correlation id of the original |

    @needs-time-to-live @own-instance
    Scenario Outline: With <options>, an expiration report has <message id> and <correlation id>
      Given there is no dead-letter queue
      And message "m1" is sent to the queue with a delivery delay of 2 s, a time to live of 4 s, correlation id "c1", reply-to queue "replies" and report options MQRO_EXPIRATION, <options>
      And the queue has been altered to PUT(DISABLED)
      When 6 s have passed since "m1" was sent
      Then the report on "m1" on queue "replies" has <message id> as its message id
      And the report on "m1" on queue "replies" has <correlation id> as its correlation id
      Examples:
        | options                                         | message id                     | correlation id                     |
        | MQRO_NEW_MSG_ID, MQRO_COPY_MSG_ID_TO_CORREL_ID  | a new id                       | the message id of the original     |
        | MQRO_PASS_MSG_ID, MQRO_COPY_MSG_ID_TO_CORREL_ID | the message id of the original | the message id of the original     |
        | MQRO_NEW_MSG_ID, MQRO_PASS_CORREL_ID            | a new id                       | the correlation id of the original |
        | MQRO_PASS_MSG_ID, MQRO_PASS_CORREL_ID           | the message id of the original | the correlation id of the original |

    Scenario Outline: With <options>, the message <outcome>
      Given message "m1" is sent to the queue with a delivery delay of 2 s, reply-to queue "replies" and report options MQRO_EXCEPTION, <options>
      And the queue has been altered to PUT(DISABLED)
      When 4 s have passed since "m1" was sent
      Then a report on "m1" with feedback MQRC_PUT_INHIBITED is on queue "replies"
      And the dead-letter queue <claim> "m1"
      Examples:
        | options            | outcome           | claim         |
        | MQRO_DEAD_LETTER_Q | is dead-lettered  | holds         |
        | MQRO_DISCARD_MSG   | is discarded      | does not hold |

    @needs-time-to-live
    Scenario: With MQRO_PASS_DISCARD_AND_EXPIRY, an exception report has the rest of the original's life
      Given message "m1" is sent to the queue with a delivery delay of 2 s, a time to live of 20 s, reply-to queue "replies" and report options MQRO_EXCEPTION and MQRO_PASS_DISCARD_AND_EXPIRY
      And the queue has been altered to PUT(DISABLED)
      When 5 s have passed since "m1" was sent
      Then the report on "m1" on queue "replies" has an Expiry of 15 s, in tenths of a second
      And the report on "m1" on queue "replies" has Report "0"

    @needs-time-to-live
    Scenario: With MQRO_PASS_DISCARD_AND_EXPIRY and MQRO_DISCARD_MSG, an exception report may be discarded too
      Given message "m1" is sent to the queue with a delivery delay of 2 s, a time to live of 20 s, reply-to queue "replies" and report options MQRO_EXCEPTION, MQRO_PASS_DISCARD_AND_EXPIRY and MQRO_DISCARD_MSG
      And the queue has been altered to PUT(DISABLED)
      When 5 s have passed since "m1" was sent
      Then the report on "m1" on queue "replies" has exactly the report options MQRO_DISCARD_MSG
      And the report on "m1" on queue "replies" has an Expiry of 15 s, in tenths of a second

    @needs-time-to-live
    Scenario: Without MQRO_PASS_DISCARD_AND_EXPIRY, an exception report never expires
      Given message "m1" is sent to the queue with a delivery delay of 2 s, a time to live of 20 s, reply-to queue "replies" and report options MQRO_EXCEPTION and MQRO_DISCARD_MSG
      And the queue has been altered to PUT(DISABLED)
      When 4 s have passed since "m1" was sent
      Then the report on "m1" on queue "replies" has Expiry "-1"
      And the report on "m1" on queue "replies" has Report "0"

    Scenario: The options are still on a message that reaches its target
      Given message "m1" is sent to the queue with a delivery delay of 1 s, reply-to queue "replies" and report options MQRO_EXCEPTION_WITH_DATA, MQRO_EXPIRATION, MQRO_PASS_MSG_ID, MQRO_PASS_CORREL_ID, MQRO_PASS_DISCARD_AND_EXPIRY and MQRO_DISCARD_MSG
      Then "m1" on the queue has exactly the report options MQRO_EXCEPTION_WITH_DATA, MQRO_EXPIRATION, MQRO_PASS_MSG_ID, MQRO_PASS_CORREL_ID, MQRO_PASS_DISCARD_AND_EXPIRY and MQRO_DISCARD_MSG

  @DD-86 @needs-delivery-delay @needs-admin
  Rule: The processor ignores the options for confirmation and activity, and they are on the message when it arrives
    Lines 87 to 93: COA, COD, PAN, NAN and ACTIVITY.  Nothing is confirmed while the message is staged, nor because it
    was taken off the staging queue.  What COA does on arrival, and COD at the final get, is not said: it is recorded.

    Background:
      Given a queue with MAXDEPTH(10)
      And a queue "replies" with MAXDEPTH(10)

    Scenario Outline: Nothing is reported while a message with <options> is staged
      Given message "m1" is sent to the queue with a delivery delay of 3 s, reply-to queue "replies" and report options <options>
      When 2 s have passed since "m1" was sent
      Then the staging queue holds "m1"
      And queue "replies" holds no report
      Examples:
        | options                 |
        | MQRO_COA                |
        | MQRO_COA_WITH_DATA      |
        | MQRO_COA_WITH_FULL_DATA |
        | MQRO_COD                |
        | MQRO_COD_WITH_DATA      |
        | MQRO_COD_WITH_FULL_DATA |
        | MQRO_PAN                |
        | MQRO_NAN                |
        | MQRO_ACTIVITY           |

    Scenario Outline: Nothing is reported because a message with <options> was taken off the staging queue
      It is on its target, and nobody has got it: there is nothing yet that could be confirmed.

      Given message "m1" is sent to the queue with a delivery delay of 1 s, reply-to queue "replies" and report options <options>
      When 3 s have passed since "m1" was sent
      Then the queue holds "m1"
      And queue "replies" holds no report
      Examples:
        | options                 |
        | MQRO_COD                |
        | MQRO_COD_WITH_DATA      |
        | MQRO_COD_WITH_FULL_DATA |
        | MQRO_PAN                |
        | MQRO_NAN                |

    Scenario Outline: A <mode> message arrives with <options>
      Given message "m1" is sent to the queue with a delivery delay of 1 s, delivery mode <mode>, reply-to queue "replies" and report options <options>
      Then "m1" on the queue has exactly the report options <options>
      Examples:
        | mode           | options                                                                              |
        | persistent     | MQRO_COA                                                                             |
        | persistent     | MQRO_COA_WITH_DATA                                                                   |
        | persistent     | MQRO_COA_WITH_FULL_DATA                                                              |
        | persistent     | MQRO_COD                                                                             |
        | persistent     | MQRO_COD_WITH_DATA                                                                   |
        | persistent     | MQRO_COD_WITH_FULL_DATA                                                              |
        | persistent     | MQRO_PAN                                                                             |
        | persistent     | MQRO_NAN                                                                             |
        | persistent     | MQRO_ACTIVITY                                                                        |
        | persistent     | MQRO_COA_WITH_DATA, MQRO_COD_WITH_FULL_DATA, MQRO_PAN, MQRO_NAN and MQRO_ACTIVITY    |
        | non-persistent | MQRO_COA_WITH_DATA, MQRO_COD_WITH_FULL_DATA, MQRO_PAN, MQRO_NAN and MQRO_ACTIVITY    |
        | persistent     | MQRO_COA, MQRO_COD, MQRO_EXCEPTION_WITH_DATA, MQRO_PASS_MSG_ID and MQRO_DISCARD_MSG  |

    @needs-restart
    Scenario: They are still on it after a restart during the delay
      Given message "m1" is sent to the queue with a delivery delay of 2 s, reply-to queue "replies" and report options MQRO_COA, MQRO_COD_WITH_DATA, MQRO_PAN, MQRO_NAN and MQRO_ACTIVITY
      When the broker is restarted
      Then "m1" on the queue has exactly the report options MQRO_COA, MQRO_COD_WITH_DATA, MQRO_PAN, MQRO_NAN and MQRO_ACTIVITY

    Scenario: They are still on a message that was dead-lettered, and the processor's own report comes all the same
      Given message "m1" is sent to the queue with a delivery delay of 2 s, reply-to queue "replies" and report options MQRO_EXCEPTION, MQRO_COD and MQRO_PAN
      And the queue has been altered to PUT(DISABLED)
      When 4 s have passed since "m1" was sent
      Then a report on "m1" with feedback MQRC_PUT_INHIBITED is on queue "replies"
      And queue "replies" holds 1 report
      And "m1" on the dead-letter queue has exactly the report options MQRO_EXCEPTION, MQRO_COD and MQRO_PAN

    @needs-topic
    Scenario: They are on the copy that a subscriber gets
      Given a topic
      And a non-durable subscriber "live" on the topic
      And message "news" is sent to the topic with a delivery delay of 1 s, reply-to queue "replies" and report options MQRO_COA, MQRO_COD and MQRO_NAN
      Then message "news" as seen by "live" shows JMS_IBM_Report_COA "256"
      And message "news" as seen by "live" shows JMS_IBM_Report_COD "2048"
      And message "news" as seen by "live" shows JMS_IBM_Report_NAN "2"

    @may
    Scenario Outline: What <options> bring about after the arrival is recorded
      Given message "m1" is sent to the queue with a delivery delay of 1 s, reply-to queue "replies" and report options <options>
      When 3 s have passed since "m1" was sent
      And a receiver starts to wait on the queue
      Then the receiver sees "m1" exactly once
      And how many reports queue "replies" holds is recorded
      Examples:
        | options               |
        | MQRO_COA              |
        | MQRO_COD              |
        | MQRO_COA and MQRO_COD |

    @needs-topic
    Scenario Outline: Nothing is reported while a publication with <options> is staged
      Given a topic
      And a non-durable subscriber "live" on the topic
      And message "news" is sent to the topic with a delivery delay of 3 s, reply-to queue "replies" and report options <options>
      When 2 s have passed since "news" was sent
      Then the staging queue holds "news"
      And queue "replies" holds no report
      Examples:
        | options       |
        | MQRO_COA      |
        | MQRO_COD      |
        | MQRO_ACTIVITY |
