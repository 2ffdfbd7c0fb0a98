Feature: Exception reports on delayed messages that could not be put
  IBM MQ, JMS 2.0 delivery delay, line 74.

  @DD-72 @needs-delivery-delay @needs-admin
  Rule: After a message was discarded or dead-lettered, the requested exception report goes to its reply-to queue
    Line 74.  The report's feedback is the reason why the target refused the message.  As the report option says, the
    report contains no data, the first 100 bytes of the body, or the whole body.  A report follows only the discard or
    the dead letter: no report comes while the put is tried again, and one report comes when the last try is over.

    Background:
      Given a queue with MAXDEPTH(10)
      And a queue "replies" with MAXDEPTH(10)

    Scenario Outline: A dead-lettered message with <option> causes a report with <data>
      Given message "m1" is sent to the queue with a delivery delay of 2 s, a body of 300 B, reply-to queue "replies" and report options <option>
      And the queue has been altered to PUT(DISABLED)
      Then a report on "m1" with feedback MQRC_PUT_INHIBITED and <data> is on queue "replies"
      And queue "replies" holds 1 report
      And the dead-letter queue holds "m1"
      Examples:
        | option                        | data                            |
        | MQRO_EXCEPTION                | no data                         |
        | MQRO_EXCEPTION_WITH_DATA      | the first 100 bytes of its body |
        | MQRO_EXCEPTION_WITH_FULL_DATA | all of its body                 |

    Scenario Outline: A discarded <mode> message with <option> causes a report with <data>
      Given message "m1" is sent to the queue with a delivery delay of 2 s, a body of 300 B, delivery mode <mode>, reply-to queue "replies" and report options <option> and MQRO_DISCARD_MSG
      And the queue has been altered to PUT(DISABLED)
      Then a report on "m1" with feedback MQRC_PUT_INHIBITED and <data> is on queue "replies"
      And queue "replies" holds 1 report
      And the dead-letter queue does not hold "m1"
      Examples:
        | mode           | option                        | data                            |
        | persistent     | MQRO_EXCEPTION                | no data                         |
        | persistent     | MQRO_EXCEPTION_WITH_DATA      | the first 100 bytes of its body |
        | persistent     | MQRO_EXCEPTION_WITH_FULL_DATA | all of its body                 |
        | non-persistent | MQRO_EXCEPTION                | no data                         |

    Scenario Outline: The feedback of the report is <reason>, the reason why the target refused the message
      Given message "m1" is sent to the queue with a delivery delay of 2 s, a body of 300 B, reply-to queue "replies" and report options MQRO_EXCEPTION
      And the queue has been altered to <attributes>
      Then a report on "m1" with feedback <reason> is on queue "replies"
      Examples:
        | attributes    | reason                 |
        | PUT(DISABLED) | MQRC_PUT_INHIBITED     |
        | MAXDEPTH(0)   | MQRC_Q_FULL            |
        | MAXMSGL(299)  | MQRC_MSG_TOO_BIG_FOR_Q |

    Scenario Outline: A report with data contains at most the first 100 bytes of a body of <size> bytes
      Given message "m1" is sent to the queue with a delivery delay of 2 s, a body of <size> B, reply-to queue "replies" and report options MQRO_EXCEPTION_WITH_DATA
      And the queue has been altered to PUT(DISABLED)
      Then a report on "m1" with feedback MQRC_PUT_INHIBITED and the first 100 bytes of its body is on queue "replies"
      Examples:
        | size |
        | 60   |
        | 100  |
        | 101  |

    Scenario: A dead-lettered message without report options is not reported
      Given message "m1" is sent to the queue with a delivery delay of 2 s and reply-to queue "replies"
      And the queue has been altered to PUT(DISABLED)
      Then the dead-letter queue holds "m1"
      And queue "replies" holds no report

    Scenario: A message with MQRO_EXCEPTION that reaches its target is not reported
      Given message "m1" is sent to the queue with a delivery delay of 1 s, reply-to queue "replies" and report options MQRO_EXCEPTION
      Then the queue holds "m1"
      And queue "replies" holds no report

    @own-instance
    Scenario: No report comes while the put is tried again
      Given there is no dead-letter queue
      And message "m1" is sent to the queue with a delivery delay of 2 s, reply-to queue "replies" and report options MQRO_EXCEPTION
      And the queue has been altered to PUT(DISABLED)
      When "m1" is overdue
      Then the staging queue holds "m1"
      And queue "replies" holds no report

    @own-instance
    Scenario: One report comes when the dead-letter queue accepts the message after several tries
      Given a queue "dlq" that is the dead-letter queue, with PUT(DISABLED)
      And message "m1" is sent to the queue with a delivery delay of 2 s, reply-to queue "replies" and report options MQRO_EXCEPTION
      And the queue has been altered to PUT(DISABLED)
      When "m1" is overdue
      And queue "dlq" is altered to PUT(ENABLED)
      Then queue "dlq" holds "m1"
      And queue "replies" holds 1 report
      And a report on "m1" with feedback MQRC_PUT_INHIBITED is on queue "replies"

    @own-instance
    Scenario: No report comes when the target accepts the message after several tries
      Given there is no dead-letter queue
      And message "m1" is sent to the queue with a delivery delay of 2 s, reply-to queue "replies" and report options MQRO_EXCEPTION
      And the queue has been altered to PUT(DISABLED)
      When "m1" is overdue
      And the queue is altered to PUT(ENABLED)
      Then the queue holds "m1"
      And queue "replies" holds no report

    Scenario: Each of two messages is reported to its own reply-to queue
      Given a queue "others" with MAXDEPTH(10)
      And message "m1" is sent to the queue with a delivery delay of 2 s, reply-to queue "replies" and report options MQRO_EXCEPTION
      And message "m2" is sent to the queue with a delivery delay of 2 s, reply-to queue "others" and report options MQRO_EXCEPTION
      And the queue has been altered to PUT(DISABLED)
      Then a report on "m1" with feedback MQRC_PUT_INHIBITED is on queue "replies"
      And a report on "m2" with feedback MQRC_PUT_INHIBITED is on queue "others"
      And queue "replies" holds 1 report
      And queue "others" holds 1 report

    Scenario Outline: A dead-lettered message with <body> causes a report with <data>
      The first 100 of the 133 octets of the non-ASCII body are 84 characters; the first 100 octets of the binary body
      are no text.

      Given message "m1" is sent to the queue with a delivery delay of 2 s, <body>, reply-to queue "replies" and report options <option>
      And the queue has been altered to PUT(DISABLED)
      Then a report on "m1" with feedback MQRC_PUT_INHIBITED and <data> is on queue "replies"
      Examples:
        | body                           | option                        | data                            |
        | a body of non-ASCII characters | MQRO_EXCEPTION_WITH_DATA      | the first 100 bytes of its body |
        | a body of non-ASCII characters | MQRO_EXCEPTION_WITH_FULL_DATA | all of its body                 |
        | a binary body                  | MQRO_EXCEPTION_WITH_DATA      | the first 100 bytes of its body |
        | a binary body                  | MQRO_EXCEPTION_WITH_FULL_DATA | all of its body                 |

    Scenario Outline: A <mode> message that was dead-lettered is reported
      Given message "m1" is sent to the queue with a delivery delay of 2 s, delivery mode <mode>, reply-to queue "replies" and report options MQRO_EXCEPTION
      And the queue has been altered to PUT(DISABLED)
      Then a report on "m1" with feedback MQRC_PUT_INHIBITED is on queue "replies"
      And queue "replies" holds 1 report
      And the dead-letter queue holds "m1"
      Examples:
        | mode           |
        | persistent     |
        | non-persistent |

    Scenario Outline: A discarded message is still reported if the broker <event> during the delay
      Given message "m1" is sent to the queue with a delivery delay of 5 s, a body of 300 B, reply-to queue "replies" and report options MQRO_EXCEPTION_WITH_DATA and MQRO_DISCARD_MSG
      And the queue has been altered to PUT(DISABLED)
      When the broker <event>
      Then a report on "m1" with feedback MQRC_PUT_INHIBITED and the first 100 bytes of its body is on queue "replies"
      And queue "replies" holds 1 report

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    Scenario: If the reply-to queue is an alias, the report goes to the alias's queue
      Given an alias "front" for queue "replies"
      And message "m1" is sent to the queue with a delivery delay of 2 s, reply-to alias "front" and report options MQRO_EXCEPTION
      And the queue has been altered to PUT(DISABLED)
      Then a report on "m1" with feedback MQRC_PUT_INHIBITED is on queue "replies"

    @evidence @needs-temporary-destination
    Scenario Outline: From a temporary queue, an application receives the report on a <mode> message, with <data>
      Given session "asker" in auto mode
      And queue "answers" is a temporary queue of session "asker"
      And receiver "reader" of session "asker" on queue "answers"
      And message "m1" is sent to the queue with a delivery delay of 2 s, a body of 300 B, delivery mode <mode>, reply-to queue "answers" and report options <option>
      And the queue has been altered to PUT(DISABLED)
      When the staging queue no longer holds "m1"
      Then "reader" receives a report on "m1" with feedback MQRC_PUT_INHIBITED and <data>
      And the dead-letter queue holds "m1"
      Examples:
        | mode           | option                        | data                            |
        | persistent     | MQRO_EXCEPTION                | no data                         |
        | non-persistent | MQRO_EXCEPTION_WITH_DATA      | the first 100 bytes of its body |
        | persistent     | MQRO_EXCEPTION_WITH_FULL_DATA | all of its body                 |

    Scenario Outline: From the reply-to queue, an application receives the report on a message, with <data>
      Given receiver "reader" on queue "replies"
      And message "m1" is sent to the queue with a delivery delay of 2 s, a body of 300 B, reply-to queue "replies" and report options <option>
      And the queue has been altered to PUT(DISABLED)
      When the staging queue no longer holds "m1"
      Then "reader" receives a report on "m1" with feedback MQRC_PUT_INHIBITED and <data>
      Examples:
        | option                        | data                            |
        | MQRO_EXCEPTION_WITH_DATA      | the first 100 bytes of its body |
        | MQRO_EXCEPTION_WITH_FULL_DATA | all of its body                 |

    @kit
    Scenario Outline: The reference broker's report on a <mode> message is <mode> and has the priority of the message
      Given message "m1" is sent to the queue with a delivery delay of 2 s, delivery mode <mode>, priority 7, reply-to queue "replies" and report options MQRO_EXCEPTION
      And the queue has been altered to PUT(DISABLED)
      Then the report on "m1" on queue "replies" has Persistence "<persistence>"
      And the report on "m1" on queue "replies" has Priority "7"
      Examples:
        | mode           | persistence |
        | persistent     | 1           |
        | non-persistent | 0           |

    @evidence @needs-xa
    Scenario: A dead-lettered message of a global unit of work is reported
      Given session "work" in xa mode
      And branch "job" has been started in session "work"
      When message "m1" is sent in session "work" to the queue with a delivery delay of 2 s, report options MQRO_EXCEPTION and reply-to queue "replies"
      And branch "job" is ended
      And branch "job" is prepared
      And branch "job" is committed
      And the queue is altered to PUT(DISABLED)
      Then a report on "m1" with feedback MQRC_PUT_INHIBITED and no data is on queue "replies"

  @DD-73 @needs-delivery-delay @needs-admin @needs-dead-letter-queue
  Rule: A report that cannot be sent goes to the dead-letter queue
    Line 74.  The report's header names the reply-to queue, and the reason why this queue refused the report.

    Background:
      Given a queue with MAXDEPTH(10)
      And a queue "replies" with MAXDEPTH(10)

    Scenario Outline: The report on a dead-lettered <mode> message goes to the dead-letter queue if the reply-to queue has become <has become>
      Given message "m1" is sent to the queue with a delivery delay of 2 s, a body of 300 B, delivery mode <mode>, reply-to queue "replies" and report options MQRO_EXCEPTION_WITH_FULL_DATA
      And the queue has been altered to PUT(DISABLED)
      And queue "replies" has been altered to <attributes>
      Then the dead-letter queue holds a report on "m1" with reason <reason> and destination queue "replies"
      And queue "replies" holds no report
      And the staging queue no longer holds "m1"
      Examples:
        | mode           | has become        | attributes    | reason                 |
        | persistent     | disabled for puts | PUT(DISABLED) | MQRC_PUT_INHIBITED     |
        | non-persistent | disabled for puts | PUT(DISABLED) | MQRC_PUT_INHIBITED     |
        | persistent     | full              | MAXDEPTH(0)   | MQRC_Q_FULL            |
        | persistent     | too small         | MAXMSGL(299)  | MQRC_MSG_TOO_BIG_FOR_Q |

    Scenario Outline: The report on a discarded <mode> message goes to the dead-letter queue if the reply-to queue refuses the report
      Given message "m1" is sent to the queue with a delivery delay of 2 s, delivery mode <mode>, reply-to queue "replies" and report options MQRO_EXCEPTION and MQRO_DISCARD_MSG
      And the queue has been altered to PUT(DISABLED)
      And queue "replies" has been altered to PUT(DISABLED)
      Then the dead-letter queue holds a report on "m1" with reason MQRC_PUT_INHIBITED and destination queue "replies"
      And the dead-letter queue does not hold "m1"
      Examples:
        | mode           |
        | persistent     |
        | non-persistent |

    @evidence @needs-temporary-destination
    Scenario Outline: The report goes to the dead-letter queue if the connection of a temporary reply-to queue was <ended>
      Given session "asker" in auto mode
      And queue "answers" is a temporary queue of session "asker"
      And receiver "reader" of session "asker" on queue "answers"
      And message "m1" is sent to the queue with a delivery delay of 2 s, reply-to queue "answers" and report options MQRO_EXCEPTION
      And the queue has been altered to PUT(DISABLED)
      When the connection of "reader" is <ended>
      Then a report on "m1" with feedback MQRC_PUT_INHIBITED is on the dead-letter queue
      And the dead-letter queue holds "m1"
      Examples:
        | ended  |
        | closed |
        | lost   |

    @own-instance
    Scenario: The report goes to the dead-letter queue if the reply-to queue does not exist
      The reference broker creates queues on use, unless CUSTOM is blank; other brokers ignore this attribute.

      Given the queue manager is altered to CUSTOM(' ')
      And message "m1" is sent to the queue with a delivery delay of 2 s, reply-to queue "nowhere" and report options MQRO_EXCEPTION
      And the queue has been altered to PUT(DISABLED)
      Then the dead-letter queue holds a report on "m1" with reason MQRC_UNKNOWN_OBJECT_NAME and destination queue "nowhere"
      And the dead-letter queue holds 2 messages

    @kit @needs-time-to-live
    Scenario: A report on the dead-letter queue is still there after the end of the message's time to live
      Given message "m1" is sent to the queue with a delivery delay of 2 s, a time to live of 40 s, reply-to queue "replies" and report options MQRO_EXCEPTION
      And the queue has been altered to PUT(DISABLED)
      And queue "replies" has been altered to PUT(DISABLED)
      When the staging queue no longer holds "m1"
      And 45 s have passed since "m1" was sent
      Then the dead-letter queue holds a report on "m1" with reason MQRC_PUT_INHIBITED and destination queue "replies"

    Scenario: A report that went to the dead-letter queue does not go to the reply-to queue later
      Given message "m1" is sent to the queue with a delivery delay of 2 s, reply-to queue "replies" and report options MQRO_EXCEPTION
      And the queue has been altered to PUT(DISABLED)
      And queue "replies" has been altered to PUT(DISABLED)
      When the staging queue no longer holds "m1"
      And queue "replies" is altered to PUT(ENABLED)
      And 3 s pass
      Then the dead-letter queue holds a report on "m1" with reason MQRC_PUT_INHIBITED and destination queue "replies"
      And queue "replies" holds no report

    @evidence
    Scenario Outline: A report that is still on the dead-letter queue after the broker <event> still has its header
      Given message "m1" is sent to the queue with a delivery delay of 2 s, reply-to queue "replies" and report options MQRO_EXCEPTION
      And the queue has been altered to PUT(DISABLED)
      And queue "replies" has been altered to PUT(DISABLED)
      When the staging queue no longer holds "m1"
      Then the dead-letter queue holds a report on "m1" with reason MQRC_PUT_INHIBITED and destination queue "replies"
      When the broker <event>
      Then the dead-letter queue holds no report on "m1", or only reports with reason MQRC_PUT_INHIBITED and destination queue "replies"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @kit
    Scenario Outline: The reference broker's report on a persistent message is still on the dead-letter queue after the broker <event>
      Given message "m1" is sent to the queue with a delivery delay of 2 s, reply-to queue "replies" and report options MQRO_EXCEPTION
      And the queue has been altered to PUT(DISABLED)
      And queue "replies" has been altered to PUT(DISABLED)
      When the staging queue no longer holds "m1"
      And the broker <event>
      Then the dead-letter queue holds a report on "m1" with reason MQRC_PUT_INHIBITED and destination queue "replies"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    Scenario Outline: On the dead-letter queue, a report for <option> contains <bytes> bytes of data
      Given message "m1" is sent to the queue with a delivery delay of 2 s, a body of 300 B, reply-to queue "replies" and report options <option>
      And the queue has been altered to PUT(DISABLED)
      And queue "replies" has been altered to PUT(DISABLED)
      Then the dead-letter queue holds a report on "m1" with reason MQRC_PUT_INHIBITED and destination queue "replies"
      And the report on "m1" on the dead-letter queue has bytes "<bytes>"
      Examples:
        | option                        | bytes |
        | MQRO_EXCEPTION                | 0     |
        | MQRO_EXCEPTION_WITH_DATA      | 100   |
        | MQRO_EXCEPTION_WITH_FULL_DATA | 300   |

  @DD-74 @needs-delivery-delay @needs-admin @needs-dead-letter-queue @own-instance
  Rule: If the dead-letter queue cannot take the report either, a persistent message is backed out and processed again
    Line 74.  Everything is backed out: the message is on the staging queue again, and neither on the dead-letter
    queue nor lost.  When one of the three queues is usable again, the message is processed, and one copy of it
    exists.

    Background:
      Given a queue with MAXDEPTH(10)
      And a queue "replies" with MAXDEPTH(10)

    Scenario: If the dead-letter queue has room for the message but not for its report, the message stays staged
      Given a queue "dlq" that is the dead-letter queue, with MAXDEPTH(1)
      And message "m1" is sent to the queue with a delivery delay of 2 s, delivery mode persistent, reply-to queue "replies" and report options MQRO_EXCEPTION
      And the queue has been altered to PUT(DISABLED)
      And queue "replies" has been altered to PUT(DISABLED)
      When "m1" is overdue
      Then the staging queue holds "m1"
      And queue "dlq" is empty
      And queue "replies" is empty

    Scenario: A persistent message with MQRO_DISCARD_MSG stays staged if its report cannot be delivered
      Given a queue "dlq" that is the dead-letter queue, with PUT(DISABLED)
      And message "m1" is sent to the queue with a delivery delay of 2 s, delivery mode persistent, reply-to queue "replies" and report options MQRO_EXCEPTION and MQRO_DISCARD_MSG
      And the queue has been altered to PUT(DISABLED)
      And queue "replies" has been altered to PUT(DISABLED)
      When "m1" is overdue
      Then the staging queue holds "m1"
      And queue "replies" is empty

    Scenario: Once the reply-to queue is usable again, the message causes exactly one dead letter and one report
      Given a queue "dlq" that is the dead-letter queue, with MAXDEPTH(1)
      And message "m1" is sent to the queue with a delivery delay of 2 s, delivery mode persistent, reply-to queue "replies" and report options MQRO_EXCEPTION
      And the queue has been altered to PUT(DISABLED)
      And queue "replies" has been altered to PUT(DISABLED)
      When "m1" is overdue
      And queue "replies" is altered to PUT(ENABLED)
      Then queue "dlq" holds "m1" with reason MQRC_PUT_INHIBITED and destination the queue
      And queue "dlq" holds 1 message
      And a report on "m1" with feedback MQRC_PUT_INHIBITED is on queue "replies"
      And queue "replies" holds 1 report
      And the staging queue is empty

    Scenario: Once the dead-letter queue has enough room, it contains exactly the dead letter and its report
      Given a queue "dlq" that is the dead-letter queue, with MAXDEPTH(1)
      And message "m1" is sent to the queue with a delivery delay of 2 s, delivery mode persistent, reply-to queue "replies" and report options MQRO_EXCEPTION
      And the queue has been altered to PUT(DISABLED)
      And queue "replies" has been altered to PUT(DISABLED)
      When "m1" is overdue
      And queue "dlq" is altered to MAXDEPTH(10)
      Then queue "dlq" holds "m1"
      And queue "dlq" holds a report on "m1" with reason MQRC_PUT_INHIBITED and destination queue "replies"
      And queue "dlq" holds 2 messages
      And the staging queue has become empty

    Scenario: When the target is usable again, the message arrives once, without a report
      Given a queue "dlq" that is the dead-letter queue, with MAXDEPTH(1)
      And message "m1" is sent to the queue with a delivery delay of 2 s, delivery mode persistent, reply-to queue "replies" and report options MQRO_EXCEPTION
      And the queue has been altered to PUT(DISABLED)
      And queue "replies" has been altered to PUT(DISABLED)
      When "m1" is overdue
      And the queue is altered to PUT(ENABLED)
      And a receiver starts to wait on the queue
      Then the receiver sees "m1" exactly once
      And queue "dlq" is empty
      And queue "replies" is empty

    @needs-kill
    Scenario: If the broker is killed between two tries, the message still causes exactly one dead letter and one report
      Given a queue "dlq" that is the dead-letter queue, with MAXDEPTH(1)
      And message "m1" is sent to the queue with a delivery delay of 2 s, delivery mode persistent, reply-to queue "replies" and report options MQRO_EXCEPTION
      And the queue has been altered to PUT(DISABLED)
      And queue "replies" has been altered to PUT(DISABLED)
      When "m1" is overdue
      And the broker is killed and comes back
      And queue "replies" is altered to PUT(ENABLED)
      Then queue "dlq" holds "m1"
      And queue "dlq" holds 1 message
      And queue "replies" holds 1 report

    @evidence @needs-restart
    Scenario: Two messages whose reports could not be delivered before a restart are each processed once after the restart
      Given a queue "dlq" that is the dead-letter queue, with PUT(DISABLED)
      And message "m1" is sent to the queue with a delivery delay of 2 s, delivery mode persistent, reply-to queue "replies" and report options MQRO_EXCEPTION and MQRO_DISCARD_MSG
      And message "m2" is sent to the queue with a delivery delay of 2 s, delivery mode persistent, reply-to queue "replies" and report options MQRO_EXCEPTION and MQRO_DISCARD_MSG
      And the queue has been altered to PUT(DISABLED)
      And queue "replies" has been altered to PUT(DISABLED)
      When "m2" is overdue
      And the broker is restarted
      And queue "replies" is altered to PUT(ENABLED)
      Then a report on "m1" with feedback MQRC_PUT_INHIBITED is on queue "replies"
      And a report on "m2" with feedback MQRC_PUT_INHIBITED is on queue "replies"
      And queue "replies" holds 2 reports
      And the staging queue has become empty

    @kit @needs-temporary-destination
    Scenario: A persistent message whose temporary target queue was deleted is processed again until its report can be delivered
      Given a queue "dlq" that is the dead-letter queue, with MAXDEPTH(1)
      And session "asker" in auto mode
      And queue "answers" is a temporary queue of session "asker"
      And receiver "reader" of session "asker" on queue "answers"
      And message "m1" is sent to queue "answers" with a delivery delay of 2 s, delivery mode persistent, reply-to queue "replies" and report options MQRO_EXCEPTION
      And queue "replies" has been altered to PUT(DISABLED)
      When the connection of "reader" is closed
      And "m1" is overdue
      And queue "replies" is altered to PUT(ENABLED)
      Then queue "dlq" holds "m1"
      And queue "dlq" holds 1 message
      And queue "replies" holds 1 report
      And the staging queue has become empty

  @DD-75 @needs-delivery-delay @needs-admin @needs-dead-letter-queue @needs-non-persistent @own-instance
  Rule: If the dead-letter queue refuses the report, too, the report on a non-persistent message is dropped
    Line 74.  The message stays on the dead-letter queue, or stays discarded, and is not processed again, even
    if a queue becomes usable later.

    Background:
      Given a queue with MAXDEPTH(10)
      And a queue "replies" with MAXDEPTH(10)

    Scenario: The dead letter stays even if the dead-letter queue has no room for its report
      Given a queue "dlq" that is the dead-letter queue, with MAXDEPTH(1)
      And message "m1" is sent to the queue with a delivery delay of 2 s, delivery mode non-persistent, reply-to queue "replies" and report options MQRO_EXCEPTION
      And the queue has been altered to PUT(DISABLED)
      And queue "replies" has been altered to PUT(DISABLED)
      Then queue "dlq" holds "m1" with reason MQRC_PUT_INHIBITED and destination the queue
      And the staging queue has become empty
      And queue "replies" is empty

    Scenario: A dropped report does not come later, and its message is not processed again
      Given a queue "dlq" that is the dead-letter queue, with MAXDEPTH(1)
      And message "m1" is sent to the queue with a delivery delay of 2 s, delivery mode non-persistent, reply-to queue "replies" and report options MQRO_EXCEPTION
      And the queue has been altered to PUT(DISABLED)
      And queue "replies" has been altered to PUT(DISABLED)
      When the staging queue no longer holds "m1"
      And queue "dlq" is altered to MAXDEPTH(10)
      And queue "replies" is altered to PUT(ENABLED)
      And the queue is altered to PUT(ENABLED)
      And 4 s pass
      Then queue "dlq" holds "m1"
      And queue "dlq" holds 1 message
      And queue "replies" is empty
      And the queue is empty

    Scenario: A message with MQRO_DISCARD_MSG is discarded even if its report is dropped
      The other message shows that the queues accept reports when they are usable again.

      Given a queue "dlq" that is the dead-letter queue, with PUT(DISABLED)
      And message "m1" is sent to the queue with a delivery delay of 2 s, delivery mode non-persistent, reply-to queue "replies" and report options MQRO_EXCEPTION and MQRO_DISCARD_MSG
      And message "control" is sent to the queue with a delivery delay of 10 s, delivery mode non-persistent, reply-to queue "replies" and report options MQRO_EXCEPTION and MQRO_DISCARD_MSG
      And the queue has been altered to PUT(DISABLED)
      And queue "replies" has been altered to PUT(DISABLED)
      When the staging queue no longer holds "m1"
      And queue "replies" is altered to PUT(ENABLED)
      Then a report on "control" with feedback MQRC_PUT_INHIBITED is on queue "replies"
      And queue "replies" holds 1 report
      And the staging queue has become empty
      And queue "dlq" is empty

    @evidence
    Scenario Outline: After the broker <event>, a dead letter whose report was dropped is not processed again
      Given a queue "dlq" that is the dead-letter queue, with MAXDEPTH(1)
      And message "m1" is sent to the queue with a delivery delay of 2 s, delivery mode non-persistent, reply-to queue "replies" and report options MQRO_EXCEPTION
      And the queue has been altered to PUT(DISABLED)
      And queue "replies" has been altered to PUT(DISABLED)
      When the staging queue no longer holds "m1"
      And the broker <event>
      And the queue is altered to PUT(ENABLED)
      And a receiver starts to wait on the queue
      And message "control" is sent to the queue
      Then the receiver sees "control" exactly once
      And the receiver never sees "m1"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |
