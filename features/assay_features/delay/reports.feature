Feature: Report options of delayed messages
  IBM MQ, JMS 2.0 delivery delay, lines 87 to 93.

  @DD-85 @needs-delivery-delay @needs-admin
  Rule: The processor acts on every report option, except the options for confirmation and activity
    Lines 87 to 93.  The scenarios try each option for a message that cannot be put (exception, discard, dead letter) or
    expires while it is staged.  DD-57, DD-70 and DD-72 have further scenarios.

    Background:
      Given a queue with MAXDEPTH(10)
      And a queue "replies" with MAXDEPTH(10)

    Scenario Outline: A message with <options> causes an exception report with <data>
      Given message "m1" is sent to the queue with a delivery delay of 2 s, a body of 300 B, reply-to queue "replies" and report options <options>
      And the queue has been altered to PUT(DISABLED)
      Then a report on "m1" with feedback MQRC_PUT_INHIBITED and <data> is on queue "replies"
      Examples:
        | options                                                        | data                            |
        | MQRO_EXCEPTION and MQRO_EXPIRATION_WITH_FULL_DATA              | no data                         |
        | MQRO_EXCEPTION_WITH_DATA and MQRO_EXPIRATION                   | the first 100 bytes of its body |
        | MQRO_EXCEPTION_WITH_FULL_DATA and MQRO_EXPIRATION_WITH_DATA    | all of its body                 |

    @needs-time-to-live @own-instance
    Scenario Outline: A message with <options> causes an expiration report with <data>
      Given there is no dead-letter queue
      And message "m1" is sent to the queue with a delivery delay of 2 s, a time to live of 4 s, a body of 300 B, reply-to queue "replies" and report options <options>
      And the queue has been altered to PUT(DISABLED)
      Then a report on "m1" with feedback MQFB_EXPIRATION and <data> is on queue "replies"
      Examples:
        | options                                                        | data                            |
        | MQRO_EXPIRATION and MQRO_EXCEPTION_WITH_FULL_DATA              | no data                         |
        | MQRO_EXPIRATION_WITH_DATA and MQRO_EXCEPTION                   | the first 100 bytes of its body |
        | MQRO_EXPIRATION_WITH_FULL_DATA and MQRO_EXCEPTION_WITH_DATA    | all of its body                 |

    Scenario Outline: With <options>, an exception report's message id is <message id>, and its correlation id is <correlation id>
      Given message "m1" is sent to the queue with a delivery delay of 2 s, correlation id "c1", reply-to queue "replies" and report options MQRO_EXCEPTION, <options>
      And the queue has been altered to PUT(DISABLED)
      Then the report on "m1" on queue "replies" has <message id> as its message id
      And the report on "m1" on queue "replies" has <correlation id> as its correlation id
      Examples:
        | options                                         | message id                     | correlation id                     |
        | MQRO_NEW_MSG_ID, MQRO_COPY_MSG_ID_TO_CORREL_ID  | a new id                       | the message id of the original     |
        | MQRO_PASS_MSG_ID, MQRO_COPY_MSG_ID_TO_CORREL_ID | the message id of the original | the message id of the original     |
        | MQRO_NEW_MSG_ID, MQRO_PASS_CORREL_ID            | a new id                       | the correlation id of the original |
        | MQRO_PASS_MSG_ID, MQRO_PASS_CORREL_ID           | the message id of the original | the correlation id of the original |

    Scenario: With MQRO_PASS_CORREL_ID, an exception report on a message without a correlation id has no correlation id either
      Given message "m1" is sent to the queue with a delivery delay of 2 s, reply-to queue "replies" and report options MQRO_EXCEPTION, MQRO_PASS_MSG_ID, MQRO_PASS_CORREL_ID
      And the queue has been altered to PUT(DISABLED)
      Then the report on "m1" on queue "replies" has the correlation id of the original as its correlation id

    @needs-time-to-live @own-instance
    Scenario Outline: With <options>, an expiration report's message id is <message id>, and its correlation id is <correlation id>
      Given there is no dead-letter queue
      And message "m1" is sent to the queue with a delivery delay of 2 s, a time to live of 4 s, correlation id "c1", reply-to queue "replies" and report options MQRO_EXPIRATION, <options>
      And the queue has been altered to PUT(DISABLED)
      Then the report on "m1" on queue "replies" has <message id> as its message id
      And the report on "m1" on queue "replies" has <correlation id> as its correlation id
      Examples:
        | options                                         | message id                     | correlation id                     |
        | MQRO_NEW_MSG_ID, MQRO_COPY_MSG_ID_TO_CORREL_ID  | a new id                       | the message id of the original     |
        | MQRO_PASS_MSG_ID, MQRO_COPY_MSG_ID_TO_CORREL_ID | the message id of the original | the message id of the original     |
        | MQRO_NEW_MSG_ID, MQRO_PASS_CORREL_ID            | a new id                       | the correlation id of the original |
        | MQRO_PASS_MSG_ID, MQRO_PASS_CORREL_ID           | the message id of the original | the correlation id of the original |

    Scenario Outline: With <options>, a message that cannot be put <outcome>
      Given message "m1" is sent to the queue with a delivery delay of 2 s, reply-to queue "replies" and report options MQRO_EXCEPTION, <options>
      And the queue has been altered to PUT(DISABLED)
      Then a report on "m1" with feedback MQRC_PUT_INHIBITED is on queue "replies"
      And the dead-letter queue <claim> "m1"
      Examples:
        | options            | outcome           | claim         |
        | MQRO_DEAD_LETTER_Q | is dead-lettered  | holds         |
        | MQRO_DISCARD_MSG   | is discarded      | does not hold |

    @needs-time-to-live
    Scenario: With MQRO_PASS_DISCARD_AND_EXPIRY, an exception report has the rest of the original's time to live
      Given message "m1" is sent to the queue with a delivery delay of 2 s, a time to live of 1 min, reply-to queue "replies" and report options MQRO_EXCEPTION and MQRO_PASS_DISCARD_AND_EXPIRY
      And the queue has been altered to PUT(DISABLED)
      Then the report on "m1" on queue "replies" has the remaining part of 1 min as its Expiry, in tenths of a second, to within a second
      And the report on "m1" on queue "replies" has Report "0"

    @needs-time-to-live
    Scenario: With MQRO_PASS_DISCARD_AND_EXPIRY, an exception report has the original's MQRO_DISCARD_MSG and expiry
      Given message "m1" is sent to the queue with a delivery delay of 2 s, a time to live of 1 min, reply-to queue "replies" and report options MQRO_EXCEPTION, MQRO_PASS_DISCARD_AND_EXPIRY and MQRO_DISCARD_MSG
      And the queue has been altered to PUT(DISABLED)
      Then the report on "m1" on queue "replies" has exactly the report options MQRO_DISCARD_MSG
      And the report on "m1" on queue "replies" has the remaining part of 1 min as its Expiry, in tenths of a second, to within a second

    @needs-time-to-live
    Scenario: Without MQRO_PASS_DISCARD_AND_EXPIRY, an exception report never expires
      Given message "m1" is sent to the queue with a delivery delay of 2 s, a time to live of 1 min, reply-to queue "replies" and report options MQRO_EXCEPTION and MQRO_DISCARD_MSG
      And the queue has been altered to PUT(DISABLED)
      Then the report on "m1" on queue "replies" has Expiry "-1"
      And the report on "m1" on queue "replies" has Report "0"

    @kit
    Scenario: A message that reaches its target still has its report options
      Line 88 says this about the options that the processor ignores (DD-86).

      Given message "m1" is sent to the queue with a delivery delay of 1 s, reply-to queue "replies" and report options MQRO_EXCEPTION_WITH_DATA, MQRO_EXPIRATION, MQRO_PASS_MSG_ID, MQRO_PASS_CORREL_ID, MQRO_PASS_DISCARD_AND_EXPIRY and MQRO_DISCARD_MSG
      Then "m1" on the queue has exactly the report options MQRO_EXCEPTION_WITH_DATA, MQRO_EXPIRATION, MQRO_PASS_MSG_ID, MQRO_PASS_CORREL_ID, MQRO_PASS_DISCARD_AND_EXPIRY and MQRO_DISCARD_MSG

    @needs-time-to-live
    Scenario: With MQRO_PASS_DISCARD_AND_EXPIRY, an exception report has the rest of a long time to live, too
      Given message "m1" is sent to the queue with a delivery delay of 2 s, a time to live of 1 h, reply-to queue "replies" and report options MQRO_EXCEPTION and MQRO_PASS_DISCARD_AND_EXPIRY
      And the queue has been altered to PUT(DISABLED)
      Then the report on "m1" on queue "replies" has the remaining part of 1 h as its Expiry, in tenths of a second, to within a second

    Scenario Outline: If the broker <event> during the delay, the report options still apply
      Given message "m1" is sent to the queue with a delivery delay of 5 s, a body of 300 B, correlation id "c1", reply-to queue "replies" and report options MQRO_EXCEPTION_WITH_DATA, MQRO_PASS_MSG_ID, MQRO_PASS_CORREL_ID and MQRO_DISCARD_MSG
      And the queue has been altered to PUT(DISABLED)
      When the broker <event>
      Then a report on "m1" with feedback MQRC_PUT_INHIBITED and the first 100 bytes of its body is on queue "replies"
      And the report on "m1" on queue "replies" has the message id of the original as its message id
      And the report on "m1" on queue "replies" has the correlation id of the original as its correlation id
      And the dead-letter queue does not hold "m1"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @needs-topic
    Scenario: Exception reports on two copies of one publication have different message ids
      Given a topic
      And a queue "other" with MAXDEPTH(10)
      And an administered subscription "orders" from the topic to the queue
      And an administered subscription "others" from the topic to queue "other"
      And message "news" is sent to the topic with a delivery delay of 2 s, reply-to queue "replies" and report options MQRO_EXCEPTION
      And the queue has been altered to PUT(DISABLED)
      And queue "other" has been altered to PUT(DISABLED)
      Then queue "replies" holds 2 reports
      And the reports on "news" on queue "replies" have different message ids

    Scenario: For a message with MQRO_EXCEPTION, MQRO_COD and MQRO_PAN, the processor sends the exception report only
      Given message "m1" is sent to the queue with a delivery delay of 2 s, reply-to queue "replies" and report options MQRO_EXCEPTION, MQRO_COD and MQRO_PAN
      And the queue has been altered to PUT(DISABLED)
      Then a report on "m1" with feedback MQRC_PUT_INHIBITED is on queue "replies"
      And queue "replies" holds 1 report

    @evidence @needs-non-persistent
    Scenario: For each of two messages, the processor sends the exception report that the message asks for
      Given message "m1" is sent to the queue with a delivery delay of 2 s, a body of 300 B, reply-to queue "replies" and report options MQRO_EXCEPTION_WITH_FULL_DATA
      And message "m2" is sent to the queue with a delivery delay of 2 s, a body of 300 B, delivery mode non-persistent, reply-to queue "replies" and report options MQRO_EXCEPTION and MQRO_DISCARD_MSG
      And the queue has been altered to PUT(DISABLED)
      Then a report on "m1" with feedback MQRC_PUT_INHIBITED and all of its body is on queue "replies"
      And a report on "m2" with feedback MQRC_PUT_INHIBITED and no data is on queue "replies"
      And the dead-letter queue holds "m1"
      And the dead-letter queue does not hold "m2"

  @DD-86 @needs-delivery-delay @needs-admin
  Rule: The processor ignores the options for confirmation and activity, and leaves them on the message
    Lines 87 to 93: COA, COD, PAN, NAN and ACTIVITY.  No confirmation comes while the message is staged, or because it
    left the staging queue.  The document does not say which reports COA causes at the arrival, and COD at the get, so
    the scenarios record the number of reports.

    Background:
      Given a queue with MAXDEPTH(10)
      And a queue "replies" with MAXDEPTH(10)

    Scenario Outline: While a message with <options> is staged, no report is sent
      Given message "m1" is sent to the queue with a delivery delay of 1 h, reply-to queue "replies" and report options <options>
      When 5 s have passed since "m1" was sent
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

    Scenario Outline: No report is sent when a message with <options> leaves the staging queue
      The message is on its target, and no application has received it, so no confirmation is due.

      Given message "m1" is sent to the queue with a delivery delay of 1 s, reply-to queue "replies" and report options <options>
      When the staging queue no longer holds "m1"
      And 2 s pass
      Then the queue holds "m1"
      And queue "replies" holds no report
      Examples:
        | options                 |
        | MQRO_COD                |
        | MQRO_COD_WITH_DATA      |
        | MQRO_COD_WITH_FULL_DATA |
        | MQRO_PAN                |
        | MQRO_NAN                |

    Scenario Outline: A <mode> message still has <options> on its target
      Given message "m1" is sent to the queue with a delivery delay of 1 s, delivery mode <mode>, reply-to queue "replies" and report options <options>
      Then "m1" on the queue still has the report options <options>
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

    @kit
    Scenario Outline: With the reference broker, a message on its target has exactly <options>
      Given message "m1" is sent to the queue with a delivery delay of 1 s, reply-to queue "replies" and report options <options>
      Then "m1" on the queue has exactly the report options <options>
      Examples:
        | options                                                                             |
        | MQRO_COA                                                                            |
        | MQRO_COA_WITH_DATA, MQRO_COD_WITH_FULL_DATA, MQRO_PAN, MQRO_NAN and MQRO_ACTIVITY   |
        | MQRO_COA, MQRO_COD, MQRO_EXCEPTION_WITH_DATA, MQRO_PASS_MSG_ID and MQRO_DISCARD_MSG |

    Scenario Outline: If the broker <event> during the delay, the message still has its options for confirmation and activity
      Given message "m1" is sent to the queue with a delivery delay of 2 s, reply-to queue "replies" and report options MQRO_COA, MQRO_COD_WITH_DATA, MQRO_PAN, MQRO_NAN and MQRO_ACTIVITY
      When the broker <event>
      Then "m1" on the queue still has the report options MQRO_COA, MQRO_COD_WITH_DATA, MQRO_PAN, MQRO_NAN and MQRO_ACTIVITY

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @kit
    Scenario: A message that the reference broker dead-letters still has its report options
      Given message "m1" is sent to the queue with a delivery delay of 2 s, reply-to queue "replies" and report options MQRO_EXCEPTION, MQRO_COD and MQRO_PAN
      And the queue has been altered to PUT(DISABLED)
      Then "m1" on the dead-letter queue has exactly the report options MQRO_EXCEPTION, MQRO_COD and MQRO_PAN

    @needs-topic
    Scenario Outline: A copy of a publication still has <options> on the subscription's queue
      Given a topic
      And an administered subscription "orders" from the topic to the queue
      And message "news" is sent to the topic with a delivery delay of 1 s, reply-to queue "replies" and report options <options>
      Then "news" on the queue still has the report options <options>
      Examples:
        | options                                                                           |
        | MQRO_COA, MQRO_COD and MQRO_NAN                                                   |
        | MQRO_COA_WITH_DATA, MQRO_COD_WITH_FULL_DATA, MQRO_PAN, MQRO_NAN and MQRO_ACTIVITY |

    @needs-topic
    Scenario Outline: If the broker <event> during the delay, a copy of a publication still has its report options
      Given a topic
      And an administered subscription "orders" from the topic to the queue
      And message "news" is sent to the topic with a delivery delay of 5 s, reply-to queue "replies" and report options MQRO_COA, MQRO_COD_WITH_DATA and MQRO_PAN
      When the broker <event>
      Then "news" on the queue still has the report options MQRO_COA, MQRO_COD_WITH_DATA and MQRO_PAN

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @needs-non-persistent
    Scenario Outline: No report is sent when a non-persistent message with <options> leaves the staging queue
      Given message "m1" is sent to the queue with a delivery delay of 1 s, delivery mode non-persistent, reply-to queue "replies" and report options <options>
      When the staging queue no longer holds "m1"
      And 2 s pass
      Then the queue holds "m1"
      And queue "replies" holds no report
      Examples:
        | options                 |
        | MQRO_COD                |
        | MQRO_COD_WITH_FULL_DATA |

    @kit
    Scenario: The reference broker sends no report when an administrator takes a message off the staging queue
      Given message "m1" is sent to the queue with a delivery delay of 1 h, reply-to queue "replies" and report options MQRO_COA, MQRO_COD and MQRO_EXCEPTION
      When the administrator takes "m1" off the staging queue by correlation id
      Then the administrator has taken "m1" off
      And queue "replies" holds no report

    @kit @needs-topic
    Scenario: A subscriber that uses Assay's client sees a publication's report options as JMS properties
      Given a topic
      And a non-durable subscriber "live" on the topic
      And message "news" is sent to the topic with a delivery delay of 1 s, reply-to queue "replies" and report options MQRO_COA, MQRO_COD and MQRO_NAN
      Then message "news" as seen by "live" shows JMS_IBM_Report_COA "256"
      And message "news" as seen by "live" shows JMS_IBM_Report_COD "2048"
      And message "news" as seen by "live" shows JMS_IBM_Report_NAN "2"

    @may
    Scenario Outline: A received message with <options> may cause reports
      Given message "m1" is sent to the queue with a delivery delay of 1 s, reply-to queue "replies" and report options <options>
      When a receiver starts to wait on the queue
      Then the receiver sees "m1" exactly once
      And the number of reports on queue "replies" is recorded
      Examples:
        | options               |
        | MQRO_COA              |
        | MQRO_COD              |
        | MQRO_COA and MQRO_COD |

    @needs-topic
    Scenario Outline: While a publication with <options> is staged, no report is sent
      Given a topic
      And a non-durable subscriber "live" on the topic
      And message "news" is sent to the topic with a delivery delay of 1 h, reply-to queue "replies" and report options <options>
      When 5 s have passed since "news" was sent
      Then the staging queue holds "news"
      And queue "replies" holds no report
      Examples:
        | options       |
        | MQRO_COA      |
        | MQRO_COD      |
        | MQRO_ACTIVITY |
