Feature: A delayed message that cannot be sent is refused at the send, with the reason
  IBM MQ, JMS 2.0 delivery delay, lines 19 and 78.

  @DD-19 @needs-delivery-delay @own-instance
  Rule: A failed send of a delayed message raises an exception that gives the reason
    Line 19 asks for a suitable error message, and gives "queue full" as an example.  Here, the application can
    recognise the failure by a word of the text or by the reason code, which IBM's own client gives in a linked
    exception.  Only our own broker must give a certain code and text.  A refused message is not sent: neither queue has
    it, then or later.

    @needs-queue-limit
    Scenario Outline: A <style> producer's delayed send fails because the queue is full
      Given a queue with MAXDEPTH(1)
      And a message is sent to the queue
      And a <style> producer on the queue
      And the producer's delivery delay is 1 s
      When the producer sends message "slow"
      Then it is refused as a <exception> exception
      And the refusal says that a queue is full

      Examples:
        | style      | exception |
        | classic    | checked   |
        | simplified | runtime   |

    @needs-queue-limit @needs-staging-queue
    Scenario Outline: A <style> producer's delayed send fails because the staging queue is full
      Given an empty queue
      And the staging queue has been altered to MAXDEPTH(1)
      And a message is sent to the queue with a delivery delay of 1 h
      And a <style> producer on the queue
      And the producer's delivery delay is 1 s
      When the producer sends message "slow"
      Then it is refused as a <exception> exception
      And the refusal says that a queue is full

      Examples:
        | style      | exception |
        | classic    | checked   |
        | simplified | runtime   |

    @needs-queue-limit @needs-staging-queue
    Scenario Outline: A <style> producer's delayed send fails because the target queue and the staging queue are full
      Given a queue with MAXDEPTH(1)
      And the staging queue has been altered to MAXDEPTH(1)
      And a message is sent to the queue with a delivery delay of 1 h
      And message "filler" is sent to the queue
      And a <style> producer on the queue
      And the producer's delivery delay is 1 s
      When the producer sends message "slow"
      Then it is refused as a <exception> exception
      And the refusal says that a queue is full

      Examples:
        | style      | exception |
        | classic    | checked   |
        | simplified | runtime   |

    @needs-put-inhibit @needs-staging-queue
    Scenario Outline: A <style> producer's delayed send fails because the staging queue is disabled for puts
      Given an empty queue
      And the staging queue has been altered to PUT(DISABLED)
      And a <style> producer on the queue
      And the producer's delivery delay is 1 s
      When the producer sends message "slow"
      Then it is refused as a <exception> exception
      And the refusal says that puts are disabled

      Examples:
        | style      | exception |
        | classic    | checked   |
        | simplified | runtime   |

    @needs-topic @needs-queue-limit @needs-staging-queue
    Scenario: A delayed publication fails because the staging queue is full
      Given a topic
      And a non-durable subscriber "early" on the topic
      And the staging queue has been altered to MAXDEPTH(1)
      And a message is sent to the topic with a delivery delay of 1 h
      When message "slow" is sent to the topic with a delivery delay of 1 s
      Then it is refused
      And the refusal says that a queue is full

    @evidence @needs-topic @needs-queue-limit @needs-staging-queue
    Scenario: A delayed publication for two subscriptions fails because the staging queue has room for only one copy
      Given a topic
      And a non-durable subscriber "one" on the topic
      And a non-durable subscriber "two" on the topic
      And the staging queue has been altered to MAXDEPTH(1)
      When message "slow" is sent to the topic with a delivery delay of 1 s
      Then it is refused
      And the staging queue is empty

    @control @needs-queue-limit @needs-staging-queue
    Scenario: A delayed send that takes the last free place on the staging queue is accepted
      Given an empty queue
      And a receiver is waiting on the queue
      And the staging queue has been altered to MAXDEPTH(2)
      And a message is sent to the queue with a delivery delay of 1 h
      When message "slow" is sent to the queue with a delivery delay of 1 s
      Then sending "slow" is accepted
      And the receiver sees "slow" exactly once

    @evidence @needs-queue-limit @needs-staging-queue
    Scenario: A send that failed because the queue was full leaves no message behind
      Given a queue with MAXDEPTH(1)
      And an empty queue "other"
      And message "filler" is sent to the queue
      And message "control" is sent to queue "other" with a delivery delay of 2 s
      When message "slow" is sent to the queue with a delivery delay of 1 s
      And a receiver starts to wait on the queue
      Then the staging queue holds "control"
      And the staging queue does not hold "slow"
      When 3 s have passed since "slow" was sent
      Then the receiver sees "filler" exactly once
      And the receiver never sees the refused "slow"

    @evidence @needs-queue-limit @needs-staging-queue
    Scenario: A send that failed because the staging queue was full leaves no message behind
      Given an empty queue
      And a receiver is waiting on the queue
      And the staging queue has been altered to MAXDEPTH(1)
      And message "control" is sent to the queue with a delivery delay of 2 s
      When message "slow" is sent to the queue with a delivery delay of 1 s
      Then the staging queue holds "control"
      And the staging queue does not hold "slow"
      And the receiver sees "control" exactly once
      And the receiver never sees the refused "slow"

    @evidence @needs-queue-limit @needs-staging-queue
    Scenario: A send that failed because the target queue and the staging queue were full leaves no message behind
      Given a queue with MAXDEPTH(1)
      And an empty queue "other"
      And the staging queue has been altered to MAXDEPTH(1)
      And message "control" is sent to queue "other" with a delivery delay of 20 s
      And message "filler" is sent to the queue
      When message "slow" is sent to the queue with a delivery delay of 1 s
      And a receiver starts to wait on the queue
      Then the staging queue holds "control"
      And the staging queue does not hold "slow"
      When 3 s have passed since "slow" was sent
      Then the receiver sees "filler" exactly once
      And the receiver never sees the refused "slow"

    @evidence @needs-queue-limit @needs-staging-queue
    Scenario: A send that failed because the queue was full takes no place on the staging queue
      Given a queue with MAXDEPTH(1)
      And an empty queue "other"
      And the staging queue has been altered to MAXDEPTH(1)
      And message "filler" is sent to the queue
      When message "slow" is sent to the queue with a delivery delay of 1 h
      And message "next" is sent to queue "other" with a delivery delay of 1 h
      Then sending "slow" is refused
      And sending "next" is accepted

    @evidence @needs-queue-limit @needs-staging-queue
    Scenario: A send that failed because the staging queue was full does not take a place that becomes free later
      Given an empty queue
      And a receiver is waiting on the queue
      And the staging queue has been altered to MAXDEPTH(1)
      And message "control" is sent to the queue with a delivery delay of 10 s
      When message "slow" is sent to the queue with a delivery delay of 1 h
      Then sending "slow" is refused
      And the receiver sees "control" exactly once
      When message "next" is sent to the queue with a delivery delay of 1 h
      Then sending "next" is accepted

    @evidence @needs-local-transaction @needs-queue-limit @needs-staging-queue
    Scenario Outline: A send that failed in a unit of work takes no place on the staging queue when the unit is <ended>
      Given an empty queue
      And a receiver is waiting on the queue
      And the staging queue has been altered to MAXDEPTH(1)
      And session "work" in transacted mode
      And message "control" is sent to the queue with a delivery delay of 10 s
      When message "slow" is sent in session "work" to the queue with a delivery delay of 1 h
      And session "work" is <ended>
      Then sending "slow" is refused
      And the receiver sees "control" exactly once
      When message "next" is sent to the queue with a delivery delay of 1 h
      Then sending "next" is accepted

      Examples:
        | ended       |
        | committed   |
        | rolled back |

    @evidence @needs-topic @needs-queue-limit @needs-staging-queue
    Scenario: A failed publication for two subscriptions takes no place on the staging queue
      Given a topic
      And an empty queue
      And a non-durable subscriber "one" on the topic
      And a non-durable subscriber "two" on the topic
      And the staging queue has been altered to MAXDEPTH(1)
      When message "news" is sent to the topic with a delivery delay of 1 h
      And message "next" is sent to the queue with a delivery delay of 1 h
      Then sending "news" is refused
      And sending "next" is accepted

    @evidence @needs-local-transaction @needs-put-inhibit
    Scenario: A send that failed in a unit of work does not affect the unit's other sends
      Given an empty queue
      And a queue "shut" with PUT(DISABLED)
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      When message "before" is sent in session "work" to the queue
      And message "refused" is sent in session "work" to queue "shut" with a delivery delay of 1 s
      And message "slow" is sent in session "work" to the queue with a delivery delay of 1 s
      And session "work" is committed
      Then sending "refused" is refused
      And the receiver sees "before" and "slow" exactly once

    @evidence @needs-store-error
    Scenario: A send that the store refused leaves no message behind
      Given an empty queue
      And a receiver is waiting on the queue
      When the broker's store refuses the next write
      And message "slow" is sent to the queue with a delivery delay of 1 s
      And message "control" is sent to the queue with a delivery delay of 3 s
      Then sending "slow" is refused
      And the receiver sees "control" exactly once
      And the receiver never sees the refused "slow"

    @evidence @needs-store-error @needs-topic @needs-durable-subscription
    Scenario: A publication that the store refused leaves no message behind
      Given a topic
      And a durable subscriber "one" on the topic
      And a non-durable subscriber "two" on the topic
      When the broker's store refuses the next write
      And message "slow" is sent to the topic with a delivery delay of 1 s
      And message "control" is sent to the topic with a delivery delay of 3 s
      Then sending "slow" is refused
      And "one" sees "control" exactly once
      And "two" sees "control" exactly once
      And "one" never sees the refused "slow"
      And "two" never sees the refused "slow"

    @evidence @needs-store-error @needs-queue-limit @needs-staging-queue
    Scenario: A send that the store refused takes no place on the staging queue
      Given an empty queue
      And the staging queue has been altered to MAXDEPTH(1)
      When the broker's store refuses the next write
      And message "slow" is sent to the queue with a delivery delay of 1 h
      And message "next" is sent to the queue with a delivery delay of 1 h
      Then sending "slow" is refused
      And sending "next" is accepted
      And the staging queue holds "next"
      And the staging queue does not hold "slow"

    @evidence @needs-store-error @needs-topic @needs-durable-subscription @needs-queue-limit @needs-staging-queue
    Scenario: If the store refuses a publication for two subscriptions, the publication takes no place on the staging queue
      Given a topic
      And a durable subscriber "one" on the topic
      And a durable subscriber "two" on the topic
      And the staging queue has been altered to MAXDEPTH(2)
      When the broker's store refuses the next write
      And message "slow" is sent to the topic with a delivery delay of 1 h
      And message "next" is sent to the topic with a delivery delay of 1 h
      Then sending "slow" is refused
      And sending "next" is accepted
      And the staging queue holds 2 copies of "next"
      And the staging queue does not hold "slow"

    @evidence @needs-store-error @needs-local-transaction @needs-queue-limit @needs-staging-queue
    Scenario: A unit of work whose commit the store refused takes no place on the staging queue
      Given an empty queue
      And session "work" in transacted mode
      And the staging queue has been altered to MAXDEPTH(1)
      When message "slow" is sent in session "work" to the queue with a delivery delay of 1 h
      And the broker's store refuses the next write
      And session "work" is committed
      Then it is refused
      When message "next" is sent in session "work" to the queue with a delivery delay of 1 h
      And session "work" is committed
      Then sending "next" is accepted
      And the staging queue holds "next"
      And the staging queue does not hold "slow"

    @evidence @needs-store-error @needs-local-transaction
    Scenario: A unit of work whose commit the store refuses leaves no message behind
      Given an empty queue
      And a receiver is waiting on the queue
      And session "work" in transacted mode
      When message "slow" is sent in session "work" to the queue with a delivery delay of 1 s
      And message "light" is sent in session "work" to the queue with a delivery delay of 1 s and delivery mode non-persistent
      And the broker's store refuses the next write
      And session "work" is committed
      And message "control" is sent to the queue with a delivery delay of 3 s
      Then the receiver sees "control" exactly once
      And the receiver never sees "slow"
      And the receiver never sees "light"

    @evidence @needs-put-inhibit @needs-staging-queue
    Scenario: A send that failed because the staging queue was disabled for puts leaves no message behind
      Given an empty queue
      And a receiver is waiting on the queue
      And message "control" is sent to the queue with a delivery delay of 2 s
      And the staging queue has been altered to PUT(DISABLED)
      When message "slow" is sent to the queue with a delivery delay of 1 s
      And the staging queue is altered to PUT(ENABLED)
      Then the staging queue holds "control"
      And the staging queue does not hold "slow"
      And the receiver sees "control" exactly once
      And the receiver never sees the refused "slow"

    @needs-put-inhibit
    Scenario Outline: A <style> producer's delayed send fails because the queue is disabled for puts
      Given a queue with PUT(DISABLED)
      And a <style> producer on the queue
      And the producer's delivery delay is 1 s
      When the producer sends message "slow"
      Then it is refused as a <exception> exception
      And the refusal says that puts are disabled

      Examples:
        | style      | exception |
        | classic    | checked   |
        | simplified | runtime   |

    @needs-message-limit
    Scenario Outline: A <style> producer's delayed send fails because the message is too long for the queue
      Given a queue with MAXMSGL(1000)
      And a <style> producer on the queue
      And the producer's delivery delay is 1 s
      When the producer sends message "slow" with a body of 1001 B
      Then it is refused as a <exception> exception
      And the refusal says that the message is too long

      Examples:
        | style      | exception |
        | classic    | checked   |
        | simplified | runtime   |

    @needs-topic @needs-queue-limit @needs-staging-queue
    Scenario: A delayed publication for two subscriptions is accepted if the staging queue has room for both copies
      Given a topic
      And a non-durable subscriber "one" on the topic
      And a non-durable subscriber "two" on the topic
      And the staging queue has been altered to MAXDEPTH(2)
      When message "slow" is sent to the topic with a delivery delay of 1 s
      Then sending "slow" is accepted
      And "one" sees "slow" exactly once
      And "two" sees "slow" exactly once

    @evidence @needs-local-transaction @needs-queue-limit @needs-staging-queue
    Scenario: After a committed delayed message is delivered, its place on the staging queue is free again
      Given an empty queue
      And a receiver is waiting on the queue
      And the staging queue has been altered to MAXDEPTH(1)
      And session "work" in transacted mode
      When message "first" is sent in session "work" to the queue with a delivery delay of 1 s
      And session "work" is committed
      Then the receiver sees "first" exactly once
      When message "second" is sent to the queue with a delivery delay of 1 s
      Then sending "second" is accepted
      And the receiver sees "second" exactly once

    @kit @needs-local-transaction @needs-queue-limit @needs-staging-queue
    Scenario: A delayed message of an open unit of work already has a place on the staging queue
      Line 21 puts the message on the staging queue at the commit.  Our broker reserves the place at the send, so that a
      place is free at the commit.

      Given an empty queue
      And a receiver is waiting on the queue
      And the staging queue has been altered to MAXDEPTH(1)
      And session "work" in transacted mode
      When message "first" is sent in session "work" to the queue with a delivery delay of 1 s
      And message "second" is sent to the queue with a delivery delay of 1 s
      And session "work" is committed
      Then sending "second" is refused with MQRC_Q_FULL
      And the receiver sees "first" exactly once
      And the receiver never sees the refused "second"

    @kit @needs-queue-limit
    Scenario: If the target queue is full, the reference broker refuses a delayed send with MQRC_Q_FULL
      Given a queue with MAXDEPTH(1)
      And a message is sent to the queue
      When message "slow" is sent to the queue with a delivery delay of 1 s
      Then it is refused with MQRC_Q_FULL
      And the refusal's text names MQRC_Q_FULL

    @kit @needs-queue-limit @needs-staging-queue
    Scenario: If the staging queue is full, the reference broker refuses a delayed send with MQRC_Q_FULL
      Given an empty queue
      And the staging queue has been altered to MAXDEPTH(1)
      And a message is sent to the queue with a delivery delay of 1 h
      When message "slow" is sent to the queue with a delivery delay of 1 s
      Then it is refused with MQRC_Q_FULL
      And the refusal's text names MQRC_Q_FULL

    @kit @needs-put-inhibit @needs-staging-queue
    Scenario: If the staging queue is disabled for puts, the reference broker refuses a delayed send with MQRC_PUT_INHIBITED
      Given an empty queue
      And the staging queue has been altered to PUT(DISABLED)
      When message "slow" is sent to the queue with a delivery delay of 1 s
      Then it is refused with MQRC_PUT_INHIBITED
      And the refusal's text names MQRC_PUT_INHIBITED

    @evidence @needs-xa @needs-queue-limit @needs-staging-queue
    Scenario: A delayed send in a branch of a global unit of work fails because the staging queue is full
      Given an empty queue
      And the staging queue has been altered to MAXDEPTH(1)
      And message "first" is sent to the queue with a delivery delay of 1 h
      And session "work" in xa mode
      And branch "job" has been started in session "work"
      When message "slow" is sent in session "work" to the queue with a delivery delay of 1 s
      Then sending "slow" is refused

    @evidence @needs-queue-limit @needs-staging-queue
    Scenario: If the staging queue has MAXDEPTH(0), only the send of the producer with a delay is refused
      Given an empty queue
      And the staging queue has been altered to MAXDEPTH(0)
      And session "work" in auto mode
      And producer "late" of session "work" on the queue with a delivery delay of 1 s
      And producer "prompt" of session "work" on the queue
      When producer "prompt" sends message "now"
      And producer "late" sends message "slow" with delivery mode persistent for this send only
      Then it is refused
      And the refusal says that a queue is full
      And sending "now" is accepted

  @DD-21 @needs-delivery-delay @needs-admin @own-instance
  Rule: The exception's text may say whether the target, the staging queue or both failed
    Line 19: the message "might" apply to either queue, or to both.  So the scenarios record which of them a text
    names.  The kit's own broker promises more: its refusal names each queue at fault, and no other.

    Scenario: If the target queue is full, the refusal may name the queue at fault
      Given a queue with MAXDEPTH(1)
      And a message is sent to the queue
      When message "slow" is sent to the queue with a delivery delay of 1 s
      Then it is refused
      And which of the queue and the staging queue the refusal's text names is recorded

    Scenario: If the staging queue is full, the refusal may name the queue at fault
      Given an empty queue
      And the staging queue has been altered to MAXDEPTH(1)
      And a message is sent to the queue with a delivery delay of 1 h
      When message "slow" is sent to the queue with a delivery delay of 1 s
      Then it is refused
      And which of the queue and the staging queue the refusal's text names is recorded

    Scenario: If the target queue and the staging queue are full, the refusal may name the queues at fault
      Given a queue with MAXDEPTH(1)
      And the staging queue has been altered to MAXDEPTH(1)
      And a message is sent to the queue with a delivery delay of 1 h
      And message "filler" is sent to the queue
      When message "slow" is sent to the queue with a delivery delay of 1 s
      Then it is refused
      And which of the queue and the staging queue the refusal's text names is recorded

    Scenario: If the staging queue is disabled for puts, the refusal may name the queue at fault
      Given an empty queue
      And the staging queue has been altered to PUT(DISABLED)
      When message "slow" is sent to the queue with a delivery delay of 1 s
      Then it is refused
      And which of the queue and the staging queue the refusal's text names is recorded

    @kit
    Scenario: If the target queue is full, the reference broker's refusal names only this queue
      Given a queue with MAXDEPTH(1)
      And a message is sent to the queue
      When message "slow" is sent to the queue with a delivery delay of 1 s
      Then the refusal's text names the queue
      And the refusal names the queue alone as the cause

    @kit
    Scenario: If the staging queue is full, the reference broker's refusal names only the staging queue
      Given an empty queue
      And the staging queue has been altered to MAXDEPTH(1)
      And a message is sent to the queue with a delivery delay of 1 h
      When message "slow" is sent to the queue with a delivery delay of 1 s
      Then the refusal's text names the staging queue
      And the refusal names the staging queue alone as the cause

    @kit
    Scenario: If the target queue and the staging queue are full, the reference broker's refusal names both
      Given a queue with MAXDEPTH(1)
      And the staging queue has been altered to MAXDEPTH(1)
      And a message is sent to the queue with a delivery delay of 1 h
      And message "filler" is sent to the queue
      When message "slow" is sent to the queue with a delivery delay of 1 s
      Then the refusal's text names the queue and the staging queue
      And the refusal names the queue and the staging queue alone as the cause

    @kit
    Scenario: If the staging queue is disabled for puts, the reference broker's refusal names only the staging queue
      Given an empty queue
      And the staging queue has been altered to PUT(DISABLED)
      When message "slow" is sent to the queue with a delivery delay of 1 s
      Then the refusal's text names the staging queue
      And the refusal names the staging queue alone as the cause

    @kit
    Scenario: If the target queue is disabled for puts and the staging queue is full, the reference broker's refusal names both
      Given a queue with PUT(DISABLED)
      And an empty queue "other"
      And the staging queue has been altered to MAXDEPTH(1)
      And a message is sent to queue "other" with a delivery delay of 1 h
      When message "slow" is sent to the queue with a delivery delay of 1 s
      Then the refusal's text names the queue and the staging queue
      And the refusal names the queue and the staging queue alone as the cause

    @kit @needs-non-persistent @needs-local-transaction
    Scenario: After a rollback, the reference broker's refusal still names both the target queue and the staging queue
      Given a queue with PUT(DISABLED)
      And a receiver is waiting on the queue
      And an empty queue "other"
      And receiver "beside" is waiting on queue "other"
      And the staging queue has been altered to MAXDEPTH(0)
      And session "work" in transacted mode
      And producer "late" of session "work" on the queue with a delivery delay of 1 s and delivery mode non-persistent
      And producer "other" of session "work" on queue "other" with a delivery delay of 1 s
      When producer "other" sends message "beside"
      Then the refusal's text names the staging queue
      And the refusal names the staging queue alone as the cause
      When producer "late" sends message "slow" with delivery mode persistent for this send only
      And session "work" is rolled back
      And the delivery delay of producer "late" is set to 2 s
      And producer "late" sends message "again"
      Then the refusal's text names the queue and the staging queue
      And the refusal names the queue and the staging queue alone as the cause

    @kit @needs-xa
    Scenario: If the target queue is disabled for puts, the reference broker's refusal in a global unit of work names only this queue
      Given a queue with PUT(DISABLED)
      And session "work" in xa mode
      And branch "job" has been started in session "work"
      When message "slow" is sent in session "work" to the queue with a delivery delay of 1 s
      Then the refusal's text names the queue
      And the refusal names the queue alone as the cause
