Feature: The sender chooses whether a message is persistent
  Persistent and durable delivery, lines 2 to 10.

  @PD-01 @needs-queue
  Rule: The sender chooses the delivery mode; the default is persistent
    Line 2 leaves the mode to the client that sends; line 6 makes a message persistent if the client chooses no mode.

    Scenario Outline: A message of a <style> producer with the default delivery mode shows PERSISTENT after its send
      Given an empty queue
      And a <style> producer on the queue
      When the producer sends message "plain"
      Then message "plain" shows JMSDeliveryMode "PERSISTENT" after the send

      Examples:
        | style      |
        | classic    |
        | simplified |

    Scenario Outline: A <style> producer with the default delivery mode sends persistent messages
      Given an empty queue
      And a receiver is waiting on the queue
      And a <style> producer on the queue
      When the producer sends message "plain"
      Then message "plain" as seen by "receiver" shows JMSDeliveryMode "PERSISTENT"

      Examples:
        | style      |
        | classic    |
        | simplified |

    @evidence @needs-temporary-destination @needs-session
    Scenario: A message for a temporary queue is persistent by default
      Given session "asker" in auto mode
      And queue "answers" is a temporary queue of session "asker"
      And receiver "reader" of session "asker" on queue "answers"
      When a message listener is set on "reader"
      And message "plain" is sent to queue "answers"
      Then message "plain" as seen by "reader" shows JMSDeliveryMode "PERSISTENT"

    @needs-non-persistent
    Scenario Outline: A message of a <style> producer with the delivery mode <mode> arrives with this mode
      Given an empty queue
      And a receiver is waiting on the queue
      And a <style> producer on the queue
      And the producer's delivery mode is <mode>
      When the producer sends message "chosen"
      Then message "chosen" as seen by "receiver" shows JMSDeliveryMode "<shown>"

      Examples:
        | style      | mode           | shown          |
        | classic    | persistent     | PERSISTENT     |
        | classic    | non-persistent | NON_PERSISTENT |
        | simplified | persistent     | PERSISTENT     |
        | simplified | non-persistent | NON_PERSISTENT |

    @needs-non-persistent
    Scenario: A producer with the default mode sends persistent messages even if another producer of its session is non-persistent
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in auto mode
      And producer "light" of session "work" on the queue with delivery mode non-persistent
      And producer "plain" of session "work" on the queue
      When producer "light" sends message "lost"
      And producer "plain" sends message "kept"
      Then message "kept" as seen by "receiver" shows JMSDeliveryMode "PERSISTENT"

    Scenario Outline: A <style> producer without a destination and with the default delivery mode sends persistent messages
      Given an empty queue
      And a receiver is waiting on the queue
      And a <style> producer without a destination
      When the producer sends message "plain" to the queue
      Then message "plain" as seen by "receiver" shows JMSDeliveryMode "PERSISTENT"

      Examples:
        | style      |
        | classic    |
        | simplified |

    @needs-non-persistent
    Scenario Outline: A non-persistent message of a <style> producer without a destination arrives as non-persistent
      Given an empty queue
      And a receiver is waiting on the queue
      And a <style> producer without a destination
      And the producer's delivery mode is non-persistent
      When the producer sends message "chosen" to the queue
      Then message "chosen" as seen by "receiver" shows JMSDeliveryMode "NON_PERSISTENT"

      Examples:
        | style      |
        | classic    |
        | simplified |

    @evidence @needs-restart
    Scenario Outline: Messages of a <style> producer with the default delivery mode survive a restart
      Given an empty queue
      And a <style> producer on the queue
      When the producer sends message "plain"
      And the broker is restarted
      And a receiver starts to wait on the queue
      Then the receiver sees "plain" exactly once

      Examples:
        | style      |
        | classic    |
        | simplified |

    @needs-non-persistent
    Scenario Outline: A message that is sent with delivery mode <mode> and two other options arrives with this mode
      Given an empty queue
      And a receiver is waiting on the queue
      When message "chosen" is sent to the queue with delivery mode <mode>, priority 7 and property colour = "red"
      Then message "chosen" as seen by "receiver" shows JMSDeliveryMode "<shown>"

      Examples:
        | mode           | shown          |
        | persistent     | PERSISTENT     |
        | non-persistent | NON_PERSISTENT |

  @PD-02 @needs-non-persistent
  Rule: A delivery mode set on the producer applies to every later send
    Lines 7 and 8.  The mode applies to every later send, not only to the next one, and to no earlier send.

    Scenario Outline: A mode that is set on a <style> producer applies to its next three sends
      Given an empty queue
      And a receiver is waiting on the queue
      And a <style> producer on the queue
      When the producer's delivery mode is set to non-persistent
      And the producer sends message "first"
      And the producer sends message "second"
      And the producer sends message "third"
      Then message "first" as seen by "receiver" shows JMSDeliveryMode "NON_PERSISTENT"
      And message "second" as seen by "receiver" shows JMSDeliveryMode "NON_PERSISTENT"
      And message "third" as seen by "receiver" shows JMSDeliveryMode "NON_PERSISTENT"

      Examples:
        | style      |
        | classic    |
        | simplified |

    Scenario Outline: Messages that a <style> producer sent before its mode was set keep the earlier mode
      Given an empty queue
      And a receiver on the queue
      And a <style> producer on the queue
      When the producer sends message "before"
      And the producer's delivery mode is set to non-persistent
      And the producer sends message "after"
      Then message "before" as seen by "receiver" shows JMSDeliveryMode "PERSISTENT"
      And message "after" as seen by "receiver" shows JMSDeliveryMode "NON_PERSISTENT"

      Examples:
        | style      |
        | classic    |
        | simplified |

    Scenario: Two producers of a session each keep their own mode
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in auto mode
      And producer "heavy" of session "work" on the queue
      And producer "light" of session "work" on the queue
      When the delivery mode of producer "light" is set to non-persistent
      And producer "heavy" sends message "kept"
      And producer "light" sends message "lost"
      Then message "kept" as seen by "receiver" shows JMSDeliveryMode "PERSISTENT"
      And message "lost" as seen by "receiver" shows JMSDeliveryMode "NON_PERSISTENT"

    Scenario Outline: The mode of a <style> producer can be set back to persistent
      Given an empty queue
      And a receiver is waiting on the queue
      And a <style> producer on the queue
      When the producer's delivery mode is set to non-persistent
      And the producer sends message "light"
      And the producer's delivery mode is set to persistent
      And the producer sends message "heavy"
      Then message "light" as seen by "receiver" shows JMSDeliveryMode "NON_PERSISTENT"
      And message "heavy" as seen by "receiver" shows JMSDeliveryMode "PERSISTENT"

      Examples:
        | style      |
        | classic    |
        | simplified |

    @needs-local-transaction
    Scenario: Messages delivered by a commit have the mode that was set on their producer
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      When message "light" is sent in session "work" to the queue with delivery mode non-persistent
      And message "heavy" is sent in session "work" to the queue with delivery mode persistent
      And session "work" is committed
      Then message "light" as seen by "receiver" shows JMSDeliveryMode "NON_PERSISTENT"
      And message "heavy" as seen by "receiver" shows JMSDeliveryMode "PERSISTENT"

    @needs-priority
    Scenario Outline: Setting the priority of a <style> producer does not change its delivery mode
      Given an empty queue
      And a receiver is waiting on the queue
      And a <style> producer on the queue
      When the producer's delivery mode is set to non-persistent
      And the producer's priority is set to 7
      And the producer sends message "light"
      Then message "light" as seen by "receiver" shows JMSDeliveryMode "NON_PERSISTENT"
      And message "light" as seen by "receiver" shows JMSPriority "7"

      Examples:
        | style      |
        | classic    |
        | simplified |

    Scenario Outline: Setting the <setting> of a producer does not change its delivery mode
      Given an empty queue
      And a receiver is waiting on the queue
      And a producer on the queue
      When the producer's delivery mode is set to non-persistent
      And the producer's <setting> is set to <value>
      And the producer sends message "light"
      Then message "light" as seen by "receiver" shows JMSDeliveryMode "NON_PERSISTENT"

      @needs-time-to-live
      Examples: An expiry
        | setting      | value |
        | time to live | 60 s  |

      @needs-delivery-delay
      Examples: A delay
        | setting        | value |
        | delivery delay | 1 s   |

    @needs-priority
    Scenario: Setting the delivery mode of a producer does not change its priority
      Given an empty queue
      And a receiver is waiting on the queue
      And a producer on the queue
      When the producer's priority is set to 7
      And the producer's delivery mode is set to non-persistent
      And the producer sends message "light"
      Then message "light" as seen by "receiver" shows JMSPriority "7"
      And message "light" as seen by "receiver" shows JMSDeliveryMode "NON_PERSISTENT"

    @needs-time-to-live
    Scenario: Setting the delivery mode of a producer does not change its time to live
      Given an empty queue
      And a producer on the queue
      When the producer's time to live is set to 500 ms
      And the producer's delivery mode is set to non-persistent
      And the producer sends message "short"
      And 2 s pass
      And a receiver starts to wait on the queue
      And message "after" is sent to the queue
      Then the receiver sees "after" exactly once
      And the receiver never sees "short"

    @needs-default-persistence
    Scenario Outline: The <mode> mode of a producer overrides DEFPSIST(<defpsist>) of the <place>
      Given a <place> with DEFPSIST(<defpsist>)
      And a <receiver> on the <place>
      And a producer on the <place>
      When the producer's delivery mode is set to <mode>
      And the producer sends message "chosen"
      Then message "chosen" as seen by "receiver" shows JMSDeliveryMode "<shown>"

      @evidence @needs-queue-depth
      Examples: A queue
        | place | receiver                          | mode           | defpsist | shown          |
        | queue | receiver                          | non-persistent | YES      | NON_PERSISTENT |
        | queue | receiver                          | persistent     | NO       | PERSISTENT     |

      @evidence @needs-topic
      Examples: A topic
        | place | receiver                          | mode       | defpsist | shown      |
        | topic | non-durable subscriber "receiver" | persistent | NO       | PERSISTENT |

      # A broker may treat an AMQP header that is not durable as no header; then the topic decides.
      @kit @judges-broker @needs-topic
      Examples: A topic that makes messages persistent
        | place | receiver                          | mode           | defpsist | shown          |
        | topic | non-durable subscriber "receiver" | non-persistent | YES      | NON_PERSISTENT |

    Scenario: Setting the mode of one producer leaves the other producers unchanged
      Given an empty queue
      And a receiver is waiting on the queue
      And a producer on the queue
      When the producer's delivery mode is set to non-persistent
      And the producer sends message "mine"
      And message "theirs" is sent to the queue
      Then message "mine" as seen by "receiver" shows JMSDeliveryMode "NON_PERSISTENT"
      And message "theirs" as seen by "receiver" shows JMSDeliveryMode "PERSISTENT"

    Scenario: A mode that is set on a producer also applies to a send with two other options
      Given an empty queue
      And a receiver is waiting on the queue
      And a classic producer on the queue
      When the producer's delivery mode is set to non-persistent
      And the producer sends message "first" with correlation id "c1" and property colour = "red"
      And the producer sends message "second"
      Then message "first" as seen by "receiver" shows JMSDeliveryMode "NON_PERSISTENT"
      And message "second" as seen by "receiver" shows JMSDeliveryMode "NON_PERSISTENT"

  @PD-03 @needs-non-persistent
  Rule: A delivery mode that is given with one send applies to that send only, as priority and time to live do
    Line 9.  The send neither uses nor changes the producer's own values.

    Scenario Outline: The <given> mode of one send overrides the <own> mode of its <style> producer
      Given an empty queue
      And a receiver is waiting on the queue
      And a <style> producer on the queue
      And the producer's delivery mode is <own>
      When the producer sends message "special" with delivery mode <given> for this send only
      Then message "special" as seen by "receiver" shows JMSDeliveryMode "<shown>"

      Examples:
        | style      | own            | given          | shown          |
        | classic    | persistent     | non-persistent | NON_PERSISTENT |
        | classic    | non-persistent | persistent     | PERSISTENT     |
        | simplified | persistent     | non-persistent | NON_PERSISTENT |
        | simplified | non-persistent | persistent     | PERSISTENT     |

    Scenario: A mode given with one producer's send does not change the mode of the session's other producer
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in auto mode
      And producer "first" of session "work" on the queue
      And producer "second" of session "work" on the queue
      When producer "first" sends message "special" with delivery mode non-persistent for this send only
      And producer "second" sends message "kept"
      Then message "kept" as seen by "receiver" shows JMSDeliveryMode "PERSISTENT"

    @needs-priority
    Scenario: A priority given with one producer's send does not change the priority of the session's other producer
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in auto mode
      And producer "urgent" of session "work" on the queue with priority 8
      And producer "patient" of session "work" on the queue with priority 2
      When producer "urgent" sends message "special" with priority 0 for this send only
      And producer "patient" sends message "low"
      And producer "urgent" sends message "high"
      Then message "low" as seen by "receiver" shows JMSPriority "2"
      And message "high" as seen by "receiver" shows JMSPriority "8"

    Scenario Outline: After one send with <given> mode, a <style> producer uses its own <own> mode again
      Given an empty queue
      And a receiver is waiting on the queue
      And a <style> producer on the queue
      And the producer's delivery mode is <own>
      When the producer sends message "special" with delivery mode <given> for this send only
      And the producer sends message "next"
      Then message "next" as seen by "receiver" shows JMSDeliveryMode "<shown>"

      Examples:
        | style      | own            | given          | shown          |
        | classic    | persistent     | non-persistent | PERSISTENT     |
        | classic    | non-persistent | persistent     | NON_PERSISTENT |
        | simplified | persistent     | non-persistent | PERSISTENT     |
        | simplified | non-persistent | persistent     | NON_PERSISTENT |

    @needs-priority
    Scenario Outline: A send that sets only the mode uses the priority of its <style> producer
      Given an empty queue
      And a receiver is waiting on the queue
      And a <style> producer on the queue
      When the producer's priority is set to 7
      And the producer sends message "special" with delivery mode non-persistent for this send only
      Then message "special" as seen by "receiver" shows JMSPriority "7"
      And message "special" as seen by "receiver" shows JMSDeliveryMode "NON_PERSISTENT"

      Examples:
        | style      |
        | classic    |
        | simplified |

    @needs-priority
    Scenario Outline: A send that sets only the priority uses the mode of its <style> producer
      Given an empty queue
      And a receiver is waiting on the queue
      And a <style> producer on the queue
      And the producer's delivery mode is non-persistent
      When the producer sends message "special" with priority 7 for this send only
      Then message "special" as seen by "receiver" shows JMSDeliveryMode "NON_PERSISTENT"
      And message "special" as seen by "receiver" shows JMSPriority "7"

      Examples:
        | style      |
        | classic    |
        | simplified |

    @needs-time-to-live
    Scenario Outline: A send that sets only <given> uses the producer's time to live
      Given an empty queue
      And a producer on the queue
      And the producer's time to live is 500 ms
      When the producer sends message "short" with <given> for this send only
      And 2 s pass
      And a receiver starts to wait on the queue
      And message "after" is sent to the queue
      Then the receiver sees "after" exactly once
      And the receiver never sees "short"

      Examples: A mode
        | given                        |
        | delivery mode non-persistent |
        | delivery mode persistent     |

      @needs-priority
      Examples: A priority
        | given      |
        | priority 7 |

    @needs-time-to-live
    Scenario: A send that sets only the time to live uses the producer's mode
      Given an empty queue
      And a receiver is waiting on the queue
      And a producer on the queue
      And the producer's delivery mode is non-persistent
      When the producer sends message "special" with a time to live of 60 s for this send only
      Then message "special" as seen by "receiver" shows JMSDeliveryMode "NON_PERSISTENT"

    Scenario Outline: A <style> producer without a destination uses <given> mode for one send and its own mode for the next send
      Given an empty queue
      And a receiver is waiting on the queue
      And a <style> producer without a destination
      And the producer's delivery mode is <own>
      When the producer sends message "special" to the queue with delivery mode <given> for this send only
      And the producer sends message "next" to the queue
      Then message "special" as seen by "receiver" shows JMSDeliveryMode "<shown>"
      And message "next" as seen by "receiver" shows JMSDeliveryMode "<next>"

      Examples:
        | style      | own            | given          | shown          | next           |
        | classic    | persistent     | non-persistent | NON_PERSISTENT | PERSISTENT     |
        | simplified | non-persistent | persistent     | PERSISTENT     | NON_PERSISTENT |

    @kit @needs-default-persistence @needs-queue
    Scenario Outline: DEFPSIST(<defpsist>) decides about one send that leaves the mode to the queue, not the producer's <own> mode
      Given a queue with DEFPSIST(<defpsist>)
      And a receiver on the queue
      And a producer on the queue
      And the producer's delivery mode is <own>
      When the producer sends message "special" with delivery mode as the destination defines for this send only
      And the producer sends message "usual"
      Then message "special" as seen by "receiver" shows JMSDeliveryMode "<shown>"
      And message "usual" as seen by "receiver" shows JMSDeliveryMode "<usual>"

      Examples:
        | own            | defpsist | shown          | usual          |
        | persistent     | NO       | NON_PERSISTENT | PERSISTENT     |
        | non-persistent | YES      | PERSISTENT     | NON_PERSISTENT |

    @needs-default-persistence
    Scenario Outline: The <given> mode of one send overrides DEFPSIST(<defpsist>) of the <place>
      Given a <place> with DEFPSIST(<defpsist>)
      And a <receiver> on the <place>
      And a producer on the <place>
      And the producer's delivery mode is <own>
      When the producer sends message "special" with delivery mode <given> for this send only
      Then message "special" as seen by "receiver" shows JMSDeliveryMode "<shown>"

      @evidence @needs-queue-depth
      Examples: A queue
        | place | receiver                          | own            | given          | defpsist | shown          |
        | queue | receiver                          | persistent     | non-persistent | YES      | NON_PERSISTENT |
        | queue | receiver                          | non-persistent | persistent     | NO       | PERSISTENT     |

      @evidence @needs-topic
      Examples: A topic
        | place | receiver                          | own            | given      | defpsist | shown      |
        | topic | non-durable subscriber "receiver" | non-persistent | persistent | NO       | PERSISTENT |

      # A broker may treat an AMQP header that is not durable as no header; then the topic decides.
      @kit @judges-broker @needs-topic
      Examples: A topic that makes messages persistent
        | place | receiver                          | own        | given          | defpsist | shown          |
        | topic | non-durable subscriber "receiver" | persistent | non-persistent | YES      | NON_PERSISTENT |

    @needs-priority
    Scenario Outline: A <style> producer without a destination uses priority <given> for one send and its own priority for the next send
      Given an empty queue
      And a receiver is waiting on the queue
      And a <style> producer without a destination
      When the producer's priority is set to 7
      And the producer sends message "special" to the queue with priority <given> for this send only
      And the producer sends message "next" to the queue
      Then message "special" as seen by "receiver" shows JMSPriority "<given>"
      And message "next" as seen by "receiver" shows JMSPriority "7"

      Examples:
        | style      | given |
        | classic    | 2     |
        | classic    | 0     |
        | simplified | 2     |
        | simplified | 0     |

    @needs-time-to-live
    Scenario Outline: A <style> producer without a destination uses a given time to live for one send only
      Given an empty queue
      And a <style> producer without a destination
      When the producer sends message "short" to the queue with a time to live of 500 ms for this send only
      And the producer sends message "next" to the queue
      And 1500 ms pass
      And a receiver starts to wait on the queue
      Then the receiver sees "next" exactly once
      And the receiver never sees "short"

      Examples:
        | style      |
        | classic    |
        | simplified |

    @needs-time-to-live
    Scenario Outline: A message that a <style> producer without a destination sends with a time to live of 0 never expires
      Given an empty queue
      And a <style> producer without a destination
      And the producer's time to live is 60 s
      When the producer sends message "lasting" to the queue with a time to live of 0 ms for this send only
      Then message "lasting" shows JMSExpiration "0" after the send

      Examples:
        | style      |
        | classic    |
        | simplified |

    @needs-local-transaction
    Scenario: Messages delivered by a commit have the mode that was given with their send
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      When message "light" is sent in session "work" to the queue with delivery mode non-persistent for this send only
      And message "heavy" is sent in session "work" to the queue
      And session "work" is committed
      Then message "light" as seen by "receiver" shows JMSDeliveryMode "NON_PERSISTENT"
      And message "heavy" as seen by "receiver" shows JMSDeliveryMode "PERSISTENT"

    @needs-priority
    Scenario Outline: A <style> producer sends a message with the priority that is given for this send
      Given an empty queue
      And a receiver is waiting on the queue
      And a <style> producer on the queue
      When the producer sends message "special" with priority 7 for this send only
      Then message "special" as seen by "receiver" shows JMSPriority "7"

      Examples:
        | style      |
        | classic    |
        | simplified |

    @needs-priority
    Scenario Outline: After one send that sets the priority, a <style> producer uses its own priority again
      Given an empty queue
      And a receiver is waiting on the queue
      And a <style> producer on the queue
      When the producer sends message "special" with priority 7 for this send only
      And the producer sends message "next"
      Then message "next" as seen by "receiver" shows JMSPriority "4"

      Examples:
        | style      |
        | classic    |
        | simplified |

    @needs-priority
    Scenario Outline: Priority <given> of one send overrides priority <own> of the <style> producer
      Given an empty queue
      And a receiver is waiting on the queue
      And a <style> producer on the queue
      When the producer's priority is set to <own>
      And the producer sends message "special" with priority <given> for this send only
      Then message "special" as seen by "receiver" shows JMSPriority "<given>"

      Examples:
        | style      | own | given |
        | classic    | 7   | 0     |
        | classic    | 0   | 9     |
        | simplified | 7   | 0     |
        | simplified | 0   | 9     |

    @needs-time-to-live
    Scenario Outline: A message that a <style> producer sends with a time to live of 0 never expires
      Given an empty queue
      And a <style> producer on the queue
      And the producer's time to live is 60 s
      When the producer sends message "lasting" with a time to live of 0 ms for this send only
      And the producer sends message "next"
      Then message "lasting" shows JMSExpiration "0" after the send

      Examples:
        | style      |
        | classic    |
        | simplified |

    @needs-time-to-live @needs-priority
    Scenario Outline: If one send of a <style> producer sets mode, priority and time to live, its message shows <field> "<value>"
      Given an empty queue
      And a receiver is waiting on the queue
      And a <style> producer on the queue
      When the producer sends message "special" with delivery mode non-persistent for this send only, priority 7 for this send only and a time to live of 60 s for this send only
      Then message "special" as seen by "receiver" shows <field> "<value>"

      Examples:
        | style      | field           | value          |
        | classic    | JMSDeliveryMode | NON_PERSISTENT |
        | classic    | JMSPriority     | 7              |
        | simplified | JMSDeliveryMode | NON_PERSISTENT |
        | simplified | JMSPriority     | 7              |

    @needs-time-to-live
    Scenario Outline: A time to live given with one send of a <style> producer applies to that message alone
      Given an empty queue
      And a <style> producer on the queue
      When the producer sends message "short" with a time to live of 500 ms for this send only
      And the producer sends message "next"
      And 1500 ms pass
      And a receiver starts to wait on the queue
      Then the receiver sees "next" exactly once
      And the receiver never sees "short"

      Examples:
        | style      |
        | classic    |
        | simplified |

    @needs-time-to-live
    Scenario Outline: After one send that sets the time to live, the next message of the <style> producer shows no expiry
      Given an empty queue
      And a <style> producer on the queue
      When the producer sends message "short" with a time to live of 60 s for this send only
      And the producer sends message "next"
      Then message "next" shows JMSExpiration "0" after the send

      Examples:
        | style      |
        | classic    |
        | simplified |

    @needs-priority
    Scenario Outline: After a send of a <style> producer with priority <given>, the message shows this priority
      Given an empty queue
      And a <style> producer on the queue
      When the producer sends message "special" with priority <given> for this send only
      And the producer sends message "next"
      Then message "special" shows JMSPriority "<given>" after the send
      And message "next" shows JMSPriority "4" after the send

      Examples:
        | style      | given |
        | classic    | 7     |
        | classic    | 0     |
        | simplified | 7     |
        | simplified | 0     |

    @evidence @needs-message-limit
    Scenario Outline: After a non-persistent send above the maximum message length, a <style> producer's next message is persistent
      A client need not wait for the answer to a non-persistent send, so it may not learn that the broker refuses it.

      Given a queue with MAXMSGL(2000)
      And a receiver is waiting on the queue
      And a <style> producer on the queue
      When the producer sends message "refused" with delivery mode non-persistent for this send only and a body of 8 KB
      And the producer sends message "next"
      Then whether sending "refused" is accepted is recorded
      And message "next" as seen by "receiver" shows JMSDeliveryMode "PERSISTENT"

      Examples:
        | style      |
        | classic    |
        | simplified |

    @evidence @needs-message-limit
    Scenario Outline: After a refused send with <given>, the next send of a <style> producer uses the producer's settings
      Given a queue with MAXMSGL(2000)
      And a receiver is waiting on the queue
      And a <style> producer on the queue
      When the producer sends message "refused" with <given> for this send only and a body of 8 KB
      And the producer sends message "next"
      Then sending "refused" is refused
      And message "next" as seen by "receiver" shows <field> "<value>"

      @needs-priority
      Examples:
        | style      | given      | field       | value |
        | classic    | priority 7 | JMSPriority | 4     |
        | simplified | priority 7 | JMSPriority | 4     |

      @needs-time-to-live
      Examples:
        | style      | given                  | field         | value |
        | classic    | a time to live of 60 s | JMSExpiration | 0     |
        | simplified | a time to live of 60 s | JMSExpiration | 0     |

  @PD-04 @needs-non-persistent
  Rule: A delivery mode set on the message before the send has no effect
    Line 10, and Jakarta Messaging 3.1, section 3.4.2: the mode of the producer or of the send applies; after the send,
    the message shows this mode.

    Scenario Outline: The <mode> mode of a <style> producer overrides the <own> mode that was set on the message
      Given an empty queue
      And a receiver is waiting on the queue
      And a <style> producer on the queue
      And the producer's delivery mode is <mode>
      When the producer sends message "wilful" with its own delivery mode <own>
      Then message "wilful" as seen by "receiver" shows JMSDeliveryMode "<shown>"

      Examples:
        | style      | own            | mode           | shown          |
        | classic    | non-persistent | persistent     | PERSISTENT     |
        | classic    | persistent     | non-persistent | NON_PERSISTENT |
        | simplified | non-persistent | persistent     | PERSISTENT     |
        | simplified | persistent     | non-persistent | NON_PERSISTENT |

    Scenario Outline: After its send, a message that was set to <own> shows the <mode> mode of its <style> producer
      Given an empty queue
      And a <style> producer on the queue
      And the producer's delivery mode is <mode>
      When the producer sends message "wilful" with its own delivery mode <own>
      Then message "wilful" shows JMSDeliveryMode "<shown>" after the send

      Examples:
        | style      | own            | mode           | shown          |
        | classic    | non-persistent | persistent     | PERSISTENT     |
        | classic    | persistent     | non-persistent | NON_PERSISTENT |
        | simplified | non-persistent | persistent     | PERSISTENT     |
        | simplified | persistent     | non-persistent | NON_PERSISTENT |

    @kit @judges-client
    Scenario Outline: A message that was set to <own> shows "as the destination defines" after a send with that mode
      Given an empty queue
      When message "wilful" is sent to the queue with its own delivery mode <own> and delivery mode as the destination defines
      Then message "wilful" shows JMSDeliveryMode "AS_DESTINATION" after the send

      Examples:
        | own            |
        | persistent     |
        | non-persistent |

    Scenario Outline: After a send with <given> mode, the message shows this mode, not the <mode> mode of its <style> producer
      Given an empty queue
      And a <style> producer on the queue
      And the producer's delivery mode is <mode>
      When the producer sends message "special" with delivery mode <given> for this send only
      And the producer sends message "next"
      Then message "special" shows JMSDeliveryMode "<shown>" after the send
      And message "next" shows JMSDeliveryMode "<then>" after the send

      Examples:
        | style      | given          | mode           | shown          | then           |
        | classic    | non-persistent | persistent     | NON_PERSISTENT | PERSISTENT     |
        | classic    | persistent     | non-persistent | PERSISTENT     | NON_PERSISTENT |
        | simplified | non-persistent | persistent     | NON_PERSISTENT | PERSISTENT     |
        | simplified | persistent     | non-persistent | PERSISTENT     | NON_PERSISTENT |

    Scenario Outline: When a message object is sent again, the <mode> mode of the <style> producer replaces the earlier <first> mode
      Given an empty queue
      And a receiver is waiting on the queue
      And a <style> producer on the queue
      And the producer's delivery mode is <mode>
      When the producer sends message "once" with delivery mode <first> for this send only
      And the producer sends message "again" with the message object of the send before
      Then message "again" as seen by "receiver" shows JMSDeliveryMode "<shown>"
      And message "again" shows JMSDeliveryMode "<shown>" after the send

      Examples:
        | style      | first          | mode           | shown          |
        | classic    | non-persistent | persistent     | PERSISTENT     |
        | classic    | persistent     | non-persistent | NON_PERSISTENT |
        | simplified | non-persistent | persistent     | PERSISTENT     |

    @kit
    Scenario Outline: When a <style> producer sends a message object again with a new body, the new body arrives
      Given an empty queue
      And a receiver is waiting on the queue
      And a <style> producer on the queue
      When the producer sends message "once" with delivery mode non-persistent for this send only
      And the producer sends message "again" with the message object of the send before
      Then "receiver" sees the body of "once" unaltered
      And "receiver" sees the body of "again" unaltered

      Examples:
        | style      |
        | classic    |
        | simplified |

    @kit
    Scenario: When a received message object is forwarded with a new body, the new body arrives
      Given an empty queue "one"
      And an empty queue "two"
      And session "work" in client mode
      And receiver "first" of session "work" on queue "one"
      And receiver "last" is waiting on queue "two"
      When message "came" is sent to queue "one" with delivery mode non-persistent
      And "first" receives a message
      And message "on" is sent in session "work" to queue "two" with the message object received as "came"
      Then "last" sees the body of "on" unaltered

    @needs-priority @needs-time-to-live
    Scenario: When a message object is sent again, the producer's priority and time to live replace the earlier values
      Given an empty queue
      And a receiver is waiting on the queue
      And a producer on the queue
      When the producer sends message "once" with priority 7 for this send only and a time to live of 60 s for this send only
      And the producer sends message "again" with the message object of the send before
      Then message "again" as seen by "receiver" shows JMSPriority "4"
      And message "again" shows JMSExpiration "0" after the send

    Scenario Outline: A message that was received as <came> is forwarded with the <mode> mode of the new send
      Given an empty queue "one"
      And an empty queue "two"
      And session "work" in client mode
      And receiver "first" of session "work" on queue "one"
      And receiver "last" is waiting on queue "two"
      When message "came" is sent to queue "one" with delivery mode <came>
      And "first" receives a message
      And message "on" is sent in session "work" to queue "two" with <option>
      Then message "on" as seen by "last" shows JMSDeliveryMode "<shown>"
      And message "on" shows JMSDeliveryMode "<shown>" after the send

      Examples:
        | came           | mode           | option                                                              | shown          |
        | non-persistent | persistent     | the message object received as "came"                               | PERSISTENT     |
        | persistent     | non-persistent | the message object received as "came" and delivery mode non-persistent | NON_PERSISTENT |
        | non-persistent | persistent     | the message object received as "came" and delivery mode persistent for this send only | PERSISTENT |

    Scenario Outline: A message without properties that was received as <came> is forwarded with the <mode> mode of the new send
      Neither message has properties, so the client changes only the body of the received message object before it sends
      the object again.

      Given an empty queue "one"
      And an empty queue "two"
      And session "work" in client mode
      And receiver "first" of session "work" on queue "one"
      And receiver "last" is waiting on queue "two"
      When message "came" is sent to queue "one" with no properties and delivery mode <came>
      And "first" receives a message
      And message "on" is sent in session "work" to queue "two" with <option> and no properties
      Then message "on" as seen by "last" shows JMSDeliveryMode "<shown>"
      And message "on" shows JMSDeliveryMode "<shown>" after the send

      Examples:
        | came           | mode           | option                                                                 | shown          |
        | non-persistent | persistent     | the message object received as "came"                                  | PERSISTENT     |
        | persistent     | non-persistent | the message object received as "came" and delivery mode non-persistent | NON_PERSISTENT |

    @needs-topic
    Scenario: When an application sends a received non-persistent message object to another topic, the new message is persistent
      Given a topic "one"
      And a topic "two"
      And session "work" in client mode
      And receiver "first" of session "work" on topic "one"
      And a non-durable subscriber "last" on topic "two"
      When message "came" is sent to topic "one" with delivery mode non-persistent
      And "first" receives a message
      And message "on" is sent in session "work" to topic "two" with the message object received as "came"
      Then message "on" as seen by "last" shows JMSDeliveryMode "PERSISTENT"

    @needs-priority @needs-time-to-live
    Scenario: A forwarded message has the priority and time to live of its new producer
      Given an empty queue "one"
      And an empty queue "two"
      And session "work" in client mode
      And receiver "first" of session "work" on queue "one"
      And receiver "last" is waiting on queue "two"
      When message "came" is sent to queue "one" with priority 7 and a time to live of 60 s
      And "first" receives a message
      And message "on" is sent in session "work" to queue "two" with the message object received as "came"
      Then message "on" as seen by "last" shows JMSPriority "4"
      And message "on" as seen by "last" shows JMSExpiration "0"
      And message "on" as seen by "last" shows JMSRedelivered "false"

    Scenario Outline: A mode given with a send of a <style> producer overrides the mode that was set on the message
      Given an empty queue
      And a receiver is waiting on the queue
      And a <style> producer on the queue
      When the producer sends message "wilful" with its own delivery mode persistent and delivery mode non-persistent for this send only
      Then message "wilful" as seen by "receiver" shows JMSDeliveryMode "NON_PERSISTENT"

      Examples:
        | style      |
        | classic    |
        | simplified |

    Scenario: The modes of two producers of a session each override the mode that was set on a message
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in auto mode
      And producer "light" of session "work" on the queue with delivery mode non-persistent
      And producer "heavy" of session "work" on the queue with delivery mode persistent
      When producer "light" sends message "m1" with its own delivery mode persistent
      And producer "heavy" sends message "m2" with its own delivery mode non-persistent
      Then message "m1" as seen by "receiver" shows JMSDeliveryMode "NON_PERSISTENT"
      And message "m2" as seen by "receiver" shows JMSDeliveryMode "PERSISTENT"
