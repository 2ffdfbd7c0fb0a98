Feature: A batch is acknowledged as a whole
  JMS_SPEC-36, lines 38 to 40.

  @BT-08 @needs-batch-listener
  Rule: With automatic acknowledgement, the whole batch is acknowledged together after the callback has returned
    Line 38.  A callback that fails acknowledges no message: the whole batch comes back.  The JMS provider decides how
    often it tries a batch again (Jakarta Messaging 3.1, section 8.7).

    Scenario Outline: If a callback fails, every message of its batch comes again (messages: <count>, batch size: <size>)
      Given an empty queue
      And <count> messages are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most <size> within 1 s and fails in callback 1
      Then every message of the failed batch comes to the receiver again

      Examples:
        | size | count |
        | 1    | 1     |
        | 10   | 1     |
        | 2    | 2     |
        | 3    | 3     |
        | 10   | 10    |
        | 10   | 4     |

    Scenario: If a callback raises the exception of a message that cannot be decoded, the message comes again
      Given an empty queue
      And message "odd" is sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most 10 within 1 s and cannot decode a message in callback 1
      Then "receiver" sees "odd" exactly 2 times

    @evidence
    Scenario: If a callback raises the exception of a message that cannot be decoded, every message of its batch comes again
      Given an empty queue
      And 4 messages are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most 10 within 1 s and cannot decode a message in callback 1
      Then every message of the failed batch comes to the receiver again

    @evidence
    Scenario: If a callback tries to receive from another receiver and then fails, every message of its batch comes again
      Given an empty queue
      And an empty queue "other"
      And message "extra" is sent to queue "other"
      And messages "m1" to "m3" are sent to the queue
      And session "work" in auto mode
      And receiver "side" of session "work" on queue "other"
      And receiver "receiver" of session "work" on the queue
      And "receiver" will try to receive a message from "side" in its next callback
      When "receiver" starts to take batches of at most 3 within 500 ms and fails in callback 1
      Then every message of the failed batch comes to the receiver again

    Scenario: A batch whose callback has returned does not come again
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most 3 within 1 s
      And "receiver" has seen "m1" to "m3"
      And 1 s pass
      And "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m3"

    @kit @needs-store-error @needs-kill-at-first-sight @needs-virtual-time
    Scenario: If the store refuses the acknowledgement of a batch, the batch comes again and is acknowledged the second time
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And a receiver on the queue
      And the broker's store will refuse the next write when "m3" is first seen
      When the receiver starts to take batches of at most 3 within 500 ms
      And the broker's store has refused the write
      Then "receiver" sees "m1" to "m3" again
      When 1 s pass
      And "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m3"

    Scenario: If the connection is lost during the callback, no message of the batch is acknowledged
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And a receiver on the queue
      And the connection of "receiver" will be lost when "m3" is first seen
      When the receiver starts to take batches of at most 10 within 1 s and works 2 s on each
      And the connection of "receiver" has been lost
      And receiver "after" starts to wait on the queue
      Then "after" sees every message of the batch of "m3" exactly once

    Scenario Outline: If the connection is lost when "<label>" is acknowledged, the batch is acknowledged as a whole or not at all
      Given an empty queue
      And messages "m1" to "m4" are sent to the queue
      And a receiver on the queue
      And the connection of "receiver" will be lost when "<label>" is acknowledged
      When the receiver starts to take batches of at most 10 within 1 s
      And the connection of "receiver" has been lost
      And receiver "after" starts to wait on the queue
      Then "after" sees all messages of the batch of "<label>", or none

      Examples:
        | label |
        | m2    |
        | m4    |

    Scenario Outline: A batch that is not full (<count> of 10 messages) is acknowledged after its callback has returned
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 10 within 500 ms
      When messages "m1" to "m<count>" are sent to the queue
      And "receiver" has seen "m1" to "m<count>"
      And 1 s pass
      And "receiver"'s connection is lost
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m<count>"

      Examples:
        | count |
        | 1     |
        | 4     |

    Scenario Outline: Messages of an unfinished batch are not acknowledged when their <part> is <ended>
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 10 within 10 min
      When messages "m1" to "m3" are sent to the queue
      And 1 s pass
      And the <part> of "receiver" is <ended>
      And receiver "after" starts to wait on the queue
      Then "receiver" and "after" together see "m1" to "m3" at least once

      Examples:
        | part       | ended  |
        | consumer   | closed |
        | connection | closed |
        | connection | lost   |

      @needs-session
      Examples: A session, which not every client has
        | part    | ended  |
        | session | closed |

    Scenario: Messages of an unfinished batch are not acknowledged when the batch listener is removed
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 10 within 10 min
      When messages "m1" to "m3" are sent to the queue
      And 1 s pass
      And the batch listener of "receiver" is removed
      And 1 s pass
      And "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      Then "receiver" and "after" together see "m1" to "m3" at least once

    Scenario: The acknowledgement of a full batch does not cover later messages
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 3 within 10 min and works 1 s on each
      When messages "m1" to "m5" are sent to the queue
      And "receiver" has seen "m1" to "m3"
      And 3 s pass
      And "receiver"'s connection is lost
      And receiver "after" starts to wait on the queue
      Then "receiver" and "after" together see "m1" to "m5" at least once
      And "after" never sees "m1" to "m3"

    Scenario: The acknowledgement of one receiver's batch does not cover messages of another receiver of the session
      Given an empty queue "one"
      And an empty queue "two"
      And session "s" in auto mode
      And receiver "quick" of session "s" on queue "one"
      And receiver "patient" of session "s" on queue "two"
      And "quick" takes batches of at most 2 within 500 ms
      And "patient" takes batches of at most 10 within 10 min
      When messages "b1" to "b3" are sent to queue "two"
      And messages "a1" to "a2" are sent to queue "one"
      And "quick" has seen "a1" to "a2"
      And 1 s pass
      And "patient"'s connection is lost
      And receiver "after" starts to wait on queue "two"
      Then "patient" and "after" together see "b1" to "b3" at least once

    @kit
    Scenario: If a callback closes its receiver and then fails, no message of its batch is acknowledged
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And a receiver on the queue
      When "receiver" starts to take batches of at most 3 within 500 ms and closes its receiver as soon as 3 messages have come and fails in callback 1
      And "receiver" has seen "m1" to "m3"
      And 1 s pass
      And receiver "after" starts to wait on the queue
      Then "after" sees "m1" to "m3" exactly once

    @evidence
    Scenario: If a callback calls acknowledge and then fails, every message of its batch comes again
      A session with automatic acknowledgement ignores calls of acknowledge (Jakarta Messaging 3.1, Message.acknowledge).

      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most 3 within 500 ms and acknowledges as soon as 3 messages have come and fails in callback 1
      Then every message of the failed batch comes to the receiver again

    Scenario: If the second callback fails, its batch comes again, and the first batch does not
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most 2 within 500 ms and fails in callback 2
      Then every message of the failed batch comes to the receiver again
      And no message of the batches before the failed batch comes to the receiver again

    @evidence
    Scenario Outline: If the first <last> callbacks fail, every message still comes, including those of later batches
      Given an empty queue
      And messages "m1" to "m9" are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most <size> within 500 ms and fails in callbacks 1 to <last>
      Then the receiver sees "m1" to "m9" at least once
      And the receiver's batches hold at most <size> messages

      Examples:
        | size | last |
        | 3    | 2    |
        | 3    | 4    |

    Scenario: A redelivered batch comes again if its callback fails
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And receiver "before" on the queue
      And the connection of "before" will be lost when "m3" is first seen
      When "before" starts to take batches of at most 3 within 1 s and works 2 s on each
      And the connection of "before" has been lost
      And a receiver connects to the queue
      And the receiver starts to take batches of at most 3 within 500 ms and fails in callback 1
      Then every message of the failed batch comes to the receiver again

    Scenario: A batch whose callback failed is acknowledged after it has come again and its callback has returned
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most 3 within 500 ms and fails in callback 1
      Then every message of the failed batch comes to the receiver again
      When 1 s pass
      And "receiver"'s connection is lost
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m3"

    @kit
    Scenario: If a callback sets the batch listener again, the callback's batch is acknowledged and later messages come
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most 3 within 500 ms and sets its listener again as soon as 3 messages have come
      And "receiver" has seen "m1" to "m6"
      And 1 s pass
      And "receiver"'s connection is lost
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m6"

    @evidence
    Scenario Outline: If a callback closes its receiver, only the callback's batch is acknowledged (<count> messages, batch size <size>)
      Given an empty queue
      And messages "m1" to "m<count>" are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most <size> within 500 ms and closes its receiver as soon as <size> messages have come
      And "receiver" has seen "m1" to "m<size>"
      And 1 s pass
      And receiver "after" starts to wait on the queue
      Then "receiver" and "after" together see "m1" to "m<count>" exactly once
      And "after" never sees "m1" to "m<size>"

      Examples:
        | size | count |
        | 2    | 3     |
        | 3    | 9     |

    @evidence @needs-selector
    Scenario Outline: Messages that the selector of a batch receiver skipped still come after the broker <event>
      The receiver has a selector, so the messages of its batch are not neighbours on the queue.

      Given an empty queue
      And message "r1" is sent to the queue with property colour = "red"
      And message "b1" is sent to the queue with property colour = "blue"
      And message "r2" is sent to the queue with property colour = "red"
      And message "b2" is sent to the queue with property colour = "blue"
      And message "r3" is sent to the queue with property colour = "red"
      And receiver "picky" on the queue for messages with "colour = 'red'"
      When "picky" starts to take batches of at most 3 within 500 ms
      And "picky" has seen "r1" to "r3"
      And 1 s pass
      And the broker <event>
      And receiver "after" starts to wait on the queue
      Then "after" sees "b1" to "b2" exactly once
      And "after" never sees "r1" to "r3"

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @evidence @needs-kill @needs-kill-at-first-sight
    Scenario: If the broker is killed during the callback, no message of the batch is acknowledged
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And a receiver on the queue
      And the broker will be killed when "m3" is first seen
      When the receiver starts to take batches of at most 10 within 1 s and works 2 s on each
      And the broker has been killed and is back
      And receiver "after" starts to wait on the queue
      Then "after" sees every message of the batch of "m3" exactly once

    @evidence @needs-topic @needs-durable-subscription
    Scenario Outline: The acknowledged batches of a durable subscription do not come again after the broker <event>
      Given a topic
      And a durable subscriber "reader" on the topic that does not receive yet
      And "reader" takes batches of at most 3 within 500 ms
      When messages "m1" to "m4" are sent to the topic
      And "reader" has seen "m1" to "m4"
      And 1 s pass
      And the broker <event>
      And message "control" is sent to the topic
      And subscriber "reader" comes back
      Then "reader" sees "control" exactly once
      And "reader" sees "m1" to "m4" exactly once

      @needs-restart
      Examples: Restart
        | event        |
        | is restarted |

      @needs-kill
      Examples: Kill
        | event                    |
        | is killed and comes back |

    @evidence @needs-topic @needs-durable-subscription
    Scenario: If a durable subscriber's callback fails, its batch comes again marked as redelivered
      Given a topic
      And a durable subscriber "reader" on the topic that does not receive yet
      And "reader" takes batches of at most 3 within 500 ms and fails in callback 1
      When message "m1" is sent to the topic
      Then "reader" sees "m1" again, marked as redelivered

    @kit
    Scenario Outline: When <event>, the delivery count of a message that no callback received does not increase
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 3 within 10 min
      When messages "m1" and "m2" are sent to the queue
      And 1 s pass
      And <event>
      And receiver "after" starts to wait on the queue
      Then "after" sees "m1" and "m2" exactly once
      And message "m1" as seen by "after" shows JMSXDeliveryCount "1"
      And message "m2" as seen by "after" shows JMSXDeliveryCount "1"

      Examples:
        | event                                       |
        | the receiver is closed                      |
        | the session of "receiver" is closed         |
        | the receiver's connection is closed         |
        | the batch listener of "receiver" is removed |

    @kit
    Scenario: A batch whose callback fails comes again even if its listener was replaced during the callback
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most 3 within 500 ms and works 1 s on each and fails in callback 1
      And "receiver" has seen "m1"
      And a batch listener of size 2 and timeout 500 ms is set on "receiver"
      And a batch listener of size 3 and timeout 500 ms is set on "receiver"
      Then every message of the failed batch comes to the receiver again

  @BT-09 @needs-batch-listener
  Rule: After a failure under automatic acknowledgement, any message of the last batch may come again
    Line 38.  The client cannot know which messages were acknowledged, so the scenarios record which messages come
    again.  The line does not mention JMSRedelivered.  Jakarta Messaging 3.1 demands that a client which delivers a
    message again sets this header (section 6.2.11); a broker that lost its client, or was killed, need not know which
    messages were delivered (sections 3.4.7 and 3.5.11).

    Scenario: If the receiver's connection is lost during a callback, each message of the batch comes again at most once
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And a receiver on the queue
      And the connection of "receiver" will be lost when "m3" is first seen
      When the receiver starts to take batches of at most 10 within 1 s and works 2 s on each
      And the connection of "receiver" has been lost
      And receiver "after" starts to wait on the queue
      Then "after" sees "m1" to "m3" at most once
      And the number of marked redeliveries of "m1" to "m3" that "receiver" and "after" sees is recorded

    @evidence
    Scenario: If the receiver's connection is lost 20 times, each message of its batches comes again at most once
      Given an empty queue
      When 20 times, the connection of "receiver" is lost during a batch of 3 messages from the queue, and "after" receives the redelivered messages
      And receiver "after" starts to wait on the queue
      Then "after" sees "many1" to "many60" at most once
      And the number of marked redeliveries of "many1" to "many60" that "receiver" and "after" sees is recorded

    @evidence
    Scenario: After a failed callback, messages that come again are marked as redelivered
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most 3 within 1 s and fails in callback 1
      And "receiver" has seen "m1" to "m3"
      Then every redelivery of "m1" to "m3" that "receiver" sees is marked as redelivered

    @evidence
    Scenario: After a failed callback, messages that come again are marked as redelivered even if further messages wait
      Given an empty queue
      And messages "m1" to "m9" are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most 3 within 1 s and fails in callback 1
      And "receiver" has seen "m1" to "m9"
      Then every redelivery of "m1" to "m9" that "receiver" sees is marked as redelivered

    @kit
    Scenario: If the receiver's connection is lost 20 times, messages that come again are marked as redelivered
      Given an empty queue
      When 20 times, the connection of "receiver" is lost during a batch of 3 messages from the queue, and "after" receives the redelivered messages
      And receiver "after" starts to wait on the queue
      Then "after" sees "many1" to "many60" at most once
      And every redelivery of "many1" to "many60" that "receiver" and "after" sees is marked as redelivered

    @evidence @needs-cut @needs-kill-at-first-sight
    Scenario: If every connection is cut during a callback, each message of the batch comes again at most once
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And a receiver on the queue
      And every connection will be cut when "m3" is first seen
      When the receiver starts to take batches of at most 10 within 1 s and works 2 s on each
      And every connection has been cut
      And receiver "after" starts to wait on the queue
      Then "after" sees "m1" to "m3" at most once
      And the number of marked redeliveries of "m1" to "m3" that "receiver" and "after" sees is recorded

    @evidence @needs-kill @needs-kill-at-first-sight
    Scenario: If the broker is killed during a callback, each message of the batch comes again at most once
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And a receiver on the queue
      And the broker will be killed when "m3" is first seen
      When the receiver starts to take batches of at most 10 within 1 s and works 2 s on each
      And the broker has been killed and is back
      And receiver "after" starts to wait on the queue
      Then "after" sees "m1" to "m3" at most once

    @evidence
    Scenario: After a failed callback, messages that come again to a new listener are marked as redelivered
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most 3 within 1 s and works 1 s on each and fails in callback 1
      And "receiver" has seen "m1"
      And the batch listener of "receiver" is removed
      And a batch listener of size 2 and timeout 500 ms is set on "receiver"
      And messages "m4" to "m5" are sent to the queue
      And "receiver" has seen "m4" to "m5"
      Then every redelivery of "m1" to "m3" that "receiver" sees is marked as redelivered

    @evidence @needs-restart
    Scenario: If the broker is restarted while a batch is being filled, each message comes at most once to another receiver
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most 10 within 5 s
      And the broker is restarted
      And receiver "after" starts to wait on the queue
      Then "after" sees "m1" to "m3" at most once

  @BT-11 @needs-batch-listener
  Rule: With client acknowledgement, one call acknowledges every message that the session has delivered so far
    Line 40.  The call covers the messages of all batches and consumers, whichever message it is called on, and no
    later message.

    Scenario Outline: An acknowledge call on message "<called>" acknowledges the messages of three batches
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And session "s" in client mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 500 ms
      When "receiver" has seen "m1" to "m6"
      And "receiver" acknowledges message "<called>"
      And "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m6"

      Examples:
        | called |
        | m6     |
        | m1     |

    @evidence @needs-store-error
    Scenario: If the store refuses an acknowledgement, the messages of three batches come to the next receiver
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And session "s" in client mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 500 ms
      When "receiver" has seen "m1" to "m6"
      And the broker's store refuses the next write
      And "receiver" acknowledges the first delivery of message "m6"
      And "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      Then "after" sees "m1" to "m6" exactly once

    @evidence @needs-store-error @needs-virtual-time
    Scenario: If the store refuses an acknowledgement, three batches come again, and the next acknowledge call covers them
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And session "s" in client mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 500 ms
      When "receiver" has seen "m1" to "m6"
      And the broker's store refuses the next write
      And "receiver" acknowledges the first delivery of message "m6"
      Then "receiver" sees "m1" to "m6" again
      When "receiver" acknowledges message "m6"
      And "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m6"

    @evidence @needs-topic @needs-durable-subscription
    Scenario: A durable subscription can be removed after one acknowledge call for three batches
      Given a topic
      And a durable subscriber "reader" on the topic in client mode
      And subscriber "reader" is inactive
      When messages "m1" to "m6" are sent to the topic
      And subscriber "reader" comes back to take batches of at most 2 within 500 ms
      And "reader" has seen "m1" to "m6"
      And "reader" acknowledges message "m6"
      And subscriber "reader" tries to unsubscribe
      Then it is accepted

    @evidence @needs-topic @needs-durable-subscription
    Scenario: A durable subscription can be removed after one acknowledge call for three batches of a closed consumer
      Given a topic
      And a durable subscriber "reader" on the topic in client mode
      And subscriber "reader" is inactive
      When messages "m1" to "m6" are sent to the topic
      And subscriber "reader" comes back to take batches of at most 2 within 500 ms
      And "reader" has seen "m1" to "m6"
      And the consumer of "reader" is closed
      And "reader" acknowledges message "m6"
      And subscriber "reader" tries to unsubscribe
      Then it is accepted

    # Not every broker tells the client when it has the acknowledgement.  The answer to a later send on the same
    # connection shows that the broker has it.
    @evidence @needs-kill
    Scenario: Three batches stay acknowledged if the broker is killed after it has answered a later send
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And session "s" in client mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 500 ms
      When "receiver" has seen "m1" to "m6"
      And "receiver" acknowledges message "m6"
      And message "next" is sent in session "s" to queue "other"
      And the broker is killed and comes back
      And message "control" is sent to the queue
      And receiver "after" starts to wait on the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m6"

    @evidence @needs-kill @needs-answered-acknowledgement
    Scenario: Three batches stay acknowledged if the broker is killed as soon as the acknowledge call has returned
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And session "s" in client mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 500 ms
      When "receiver" has seen "m1" to "m6"
      And "receiver" acknowledges message "m6"
      And the broker is killed and comes back
      And message "control" is sent to the queue
      And receiver "after" starts to wait on the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m6"

    Scenario: An acknowledge call on a message in the middle of an earlier batch acknowledges all later messages, too
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And session "s" in client mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      When "receiver" has seen "m1" to "m6"
      And "receiver" acknowledges message "m2"
      And "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m6"

    Scenario Outline: An acknowledge call on a message of consumer "<caller>" acknowledges the batches of both consumers of the session
      Given an empty queue "one"
      And an empty queue "two"
      And messages "a1" to "a3" are sent to queue "one"
      And messages "b1" to "b3" are sent to queue "two"
      And session "s" in client mode
      And receiver "first" of session "s" on queue "one"
      And receiver "second" of session "s" on queue "two"
      And "first" takes batches of at most 3 within 500 ms
      And "second" takes batches of at most 3 within 500 ms
      When "first" has seen "a1" to "a3"
      And "second" has seen "b1" to "b3"
      And "<caller>" acknowledges message "<called>"
      And "first"'s connection is closed
      And receiver "after" starts to wait on queue "<other>"
      And message "control" is sent to queue "<other>"
      Then "after" sees "control" exactly once
      And "after" never sees <theirs>

      Examples:
        | caller | called | other | theirs       |
        | first  | a1     | two   | "b1" to "b3" |
        | second | b3     | one   | "a1" to "a3" |

    @evidence
    Scenario: An acknowledge call acknowledges the batches that two consumers of the session have received from one queue
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in client mode
      And receiver "first" of session "s" on the queue
      And receiver "second" of session "s" on the queue
      And "first" takes batches of at most 3 within 500 ms
      When "first" has seen "m1" to "m3"
      And the batch listener of "first" is removed
      And "second" starts to take batches of at most 3 within 500 ms
      And messages "m4" to "m6" are sent to the queue
      And "second" has seen "m4" to "m6"
      And "second" tries to acknowledge message "m6"
      Then it is accepted
      When "second"'s connection is closed
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m6"

    Scenario: An acknowledge call in a callback acknowledges the callback's own batch
      Given an empty queue
      And messages "m1" to "m4" are sent to the queue
      And session "s" in client mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 500 ms and acknowledges as soon as 4 messages have come
      When "receiver" has seen "m1" to "m4"
      And 1 s pass
      And "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m4"

    Scenario: An acknowledge call acknowledges no message of an unfinished batch
      Given an empty queue
      And session "s" in client mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 10 min
      When messages "m1" to "m3" are sent to the queue
      And "receiver" has seen "m1" to "m2"
      And 1 s pass
      And "receiver" acknowledges message "m2"
      And "receiver"'s connection is lost
      And receiver "after" starts to wait on the queue
      Then "receiver" and "after" together see "m1" to "m3" at least once
      And "after" never sees "m1" to "m2"

    Scenario: A second acknowledge call on an acknowledged message acknowledges the messages since the first call
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in client mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      When "receiver" has seen "m1" to "m3"
      And "receiver" acknowledges message "m2"
      And messages "m4" to "m6" are sent to the queue
      And "receiver" has seen "m4" to "m6"
      And "receiver" acknowledges message "m2"
      And "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m6"

    @evidence
    Scenario: If a callback fails, its batch is not acknowledged, and comes again only to the next receiver
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in client mode
      And receiver "receiver" of session "s" on the queue
      When "receiver" starts to take batches of at most 3 within 500 ms and fails in callback 1
      Then the receiver sees "m1" to "m3" exactly once
      When "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      Then "after" sees "m1" to "m3" exactly once

    Scenario: A recovery returns every unacknowledged batch, but no acknowledged batch
      Given an empty queue
      And messages "m1" to "m2" are sent to the queue
      And session "s" in client mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 500 ms
      When "receiver" has seen "m1" to "m2"
      And "receiver" acknowledges message "m2"
      And messages "m3" to "m6" are sent to the queue
      And "receiver" has seen "m3" to "m6"
      And session "s" is recovered
      Then "receiver" sees "m3" to "m6" again
      And "receiver" sees "m1" to "m2" exactly once

    Scenario: A recovery returns the batches of both consumers of the session
      Given an empty queue "one"
      And an empty queue "two"
      And messages "a1" to "a3" are sent to queue "one"
      And messages "b1" to "b3" are sent to queue "two"
      And session "s" in client mode
      And receiver "first" of session "s" on queue "one"
      And receiver "second" of session "s" on queue "two"
      And "first" takes batches of at most 3 within 500 ms
      And "second" takes batches of at most 3 within 500 ms
      When "first" has seen "a1" to "a3"
      And "second" has seen "b1" to "b3"
      And session "s" is recovered
      Then it is accepted
      And "first" sees "a1" to "a3" again
      And "second" sees "b1" to "b3" again

    Scenario: An acknowledge call acknowledges messages that came again after a recovery
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in client mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      When "receiver" has seen "m1" to "m3"
      And session "s" is recovered
      Then it is accepted
      And "receiver" sees "m1" to "m3" again
      When 1 s pass
      And "receiver" acknowledges message "m3"
      And "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m3"

    Scenario: An acknowledge call after the removal of the listener acknowledges the messages that the listener received
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in client mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      When "receiver" has seen "m1" to "m3"
      And 1 s pass
      And the batch listener of "receiver" is removed
      And "receiver" acknowledges message "m3"
      And "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m3"

    Scenario Outline: After one receiver is closed, an acknowledge call on message "<called>" acknowledges the messages of both receivers
      Given an empty queue "one"
      And an empty queue "two"
      And messages "a1" to "a3" are sent to queue "one"
      And messages "b1" to "b3" are sent to queue "two"
      And session "s" in client mode
      And receiver "first" of session "s" on queue "one"
      And receiver "second" of session "s" on queue "two"
      And "first" takes batches of at most 3 within 500 ms
      And "second" takes batches of at most 3 within 500 ms
      When "first" has seen "a1" to "a3"
      And "second" has seen "b1" to "b3"
      And "first" is closed
      And "<caller>" acknowledges message "<called>"
      And "second"'s connection is closed
      And receiver "after one" starts to wait on queue "one"
      And receiver "after two" starts to wait on queue "two"
      And message "control one" is sent to queue "one"
      And message "control two" is sent to queue "two"
      Then "after one" sees "control one" exactly once
      And "after two" sees "control two" exactly once
      And "after one" never sees "a1" to "a3"
      And "after two" never sees "b1" to "b3"

      Examples:
        | caller | called |
        | first  | a1     |
        | first  | a3     |
        | second | b3     |

    @evidence
    Scenario Outline: An acknowledge call is accepted after <event>
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in client mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      When "receiver" has seen "m1" to "m3"
      And <event>
      And "receiver" acknowledges the first delivery of message "m2"
      Then it is accepted

      Examples:
        | event                                       |
        | "receiver" is closed                        |
        | the batch listener of "receiver" is removed |
        | the connection of "receiver" is stopped     |
        | "receiver" acknowledges message "m1"        |

    @evidence
    Scenario: An acknowledge call acknowledges the only message of a closed receiver
      Given an empty queue
      And message "m1" is sent to the queue
      And session "s" in client mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      When "receiver" has seen "m1"
      And "receiver" is closed
      And "receiver" acknowledges the first delivery of message "m1"
      Then it is accepted
      When "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1"

    @evidence
    Scenario: After a receiver is closed, a recovery of the session returns the messages that the receiver received
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in client mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      When "receiver" has seen "m1" to "m3"
      And "receiver" is closed
      And session "s" is recovered
      And receiver "after" starts to wait on the queue
      Then "after" sees "m1" to "m3" exactly once

    Scenario: After a batch listener is replaced, an acknowledge call acknowledges the messages of both listeners
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in client mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      When "receiver" has seen "m1" to "m3"
      And "receiver" starts to take batches of at most 2 within 500 ms
      And messages "m4" to "m5" are sent to the queue
      And "receiver" has seen "m4" to "m5"
      And "receiver" acknowledges message "m2"
      And "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m5"

    @evidence @needs-non-persistent
    Scenario: A recovery also returns unacknowledged non-persistent messages
      Given an empty queue
      And session "s" in client mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 500 ms
      When messages "m1" to "m6" are sent to the queue with delivery mode non-persistent
      And "receiver" has seen "m1" to "m6"
      And session "s" is recovered
      Then "receiver" sees "m1" to "m6" again

    @needs-release @needs-return-to-others
    Scenario: If a receiver is closed before an acknowledge call, its unfinished batch comes to other receivers
      Given an empty queue
      And session "s" in client mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 10 min
      When messages "m1" to "m3" are sent to the queue
      And "receiver" has seen "m1" to "m2"
      And 1 s pass
      And "receiver" is closed
      And receiver "after" starts to wait on the queue
      Then "receiver" and "after" together see "m3" at least once

    Scenario: An acknowledge call does not acknowledge messages that are delivered after the call
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in client mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      When "receiver" has seen "m1" to "m3"
      And "receiver" acknowledges message "m3"
      And messages "m4" to "m6" are sent to the queue
      And "receiver" has seen "m4" to "m6"
      And "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      Then "after" sees "m4" to "m6" exactly once

    Scenario: An acknowledge call acknowledges no message of another session of the connection
      Given an empty queue "one"
      And an empty queue "two"
      And messages "a1" to "a3" are sent to queue "one"
      And messages "b1" to "b3" are sent to queue "two"
      And session "s" in client mode on connection "shared"
      And session "t" in client mode on connection "shared"
      And receiver "first" of session "s" on queue "one"
      And receiver "second" of session "t" on queue "two"
      And "first" takes batches of at most 3 within 500 ms
      And "second" takes batches of at most 3 within 500 ms
      When "first" has seen "a1" to "a3"
      And "second" has seen "b1" to "b3"
      And "first" acknowledges message "a3"
      And "first"'s connection is closed
      And receiver "after one" starts to wait on queue "one"
      And receiver "after two" starts to wait on queue "two"
      And message "control" is sent to queue "one"
      Then "after one" sees "control" exactly once
      And "after one" never sees "a1" to "a3"
      And "after two" sees "b1" to "b3" exactly once

    @evidence
    Scenario Outline: After one session is <ended>, an acknowledge call in the connection's other session still takes effect
      Given an empty queue "one"
      And an empty queue "two"
      And messages "a1" to "a3" are sent to queue "one"
      And messages "b1" to "b3" are sent to queue "two"
      And session "s" in client mode on connection "shared"
      And session "t" in client mode on connection "shared"
      And receiver "first" of session "s" on queue "one"
      And receiver "second" of session "t" on queue "two"
      And "first" takes batches of at most 3 within 500 ms
      And "second" takes batches of at most 3 within 500 ms
      When "first" has seen "a1" to "a3"
      And "second" has seen "b1" to "b3"
      And session "s" is <ended>
      And "second" acknowledges message "b3"
      And "second"'s connection is closed
      And receiver "after two" starts to wait on queue "two"
      And message "control" is sent to queue "two"
      Then "after two" sees "control" exactly once
      And "after two" never sees "b1" to "b3"

      Examples:
        | ended     |
        | recovered |

      @needs-session
      Examples: A session, which not every client has
        | ended  |
        | closed |

    Scenario Outline: Unacknowledged messages of a closed receiver come back when its <part> is <ended>
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in client mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      When "receiver" has seen "m1" to "m3"
      And "receiver" is closed
      And the <part> of "receiver" is <ended>
      And receiver "after" starts to wait on the queue
      Then "after" sees "m1" to "m3" exactly once

      Examples:
        | part       | ended  |
        | connection | closed |
        | connection | lost   |

    @needs-session
    Scenario: Unacknowledged messages of a closed receiver come back when only its session is closed
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in client mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      When "receiver" has seen "m1" to "m3"
      And "receiver" is closed
      And session "s" is closed
      And receiver "after" starts to wait on the queue
      Then "after" sees "m1" to "m3" exactly once

    Scenario: Without an acknowledge call, no message is acknowledged
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in client mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      When "receiver" has seen "m1" to "m3"
      And "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      Then "after" sees "m1" to "m3" exactly once

    @evidence
    Scenario: Messages that a recovery returns come again marked as redelivered
      Given an empty queue
      And session "work" in client mode
      And receiver "receiver" of session "work" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      When messages "m1" to "m3" are sent to the queue
      And "receiver" has seen "m1" to "m3"
      And session "work" is recovered
      Then "receiver" sees "m1" to "m3" again, marked as redelivered

    @kit @judges-broker @needs-restart
    Scenario: After a session in client mode is closed and the broker is restarted, messages come again marked as redelivered
      Given an empty queue
      And session "work" in client mode
      And receiver "receiver" of session "work" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      When messages "m1" to "m3" are sent to the queue
      And "receiver" has seen "m1" to "m3"
      And session "work" is closed
      And the broker is restarted
      And receiver "after" starts to wait on the queue
      Then "after" sees "m1" to "m3" exactly once
      And every redelivery of "m1" to "m3" that "after" sees is marked as redelivered

    @kit
    Scenario: After a batch listener is removed and another is set, an acknowledge call covers the messages of both listeners
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in client mode
      And receiver "receiver" of session "s" on the queue
      When a batch listener of size 3 and timeout 500 ms is set on "receiver"
      And "receiver" has seen "m1" to "m3"
      And the batch listener of "receiver" is removed
      And a batch listener of size 2 and timeout 500 ms is set on "receiver"
      And messages "m4" to "m5" are sent to the queue
      And "receiver" has seen "m4" to "m5"
      And 1 s pass
      And "receiver" acknowledges message "m2"
      And "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m5"

    @evidence
    Scenario: An acknowledge call in a callback acknowledges no message that waits for the next callback
      Given an empty queue
      And messages "m1" to "m5" are sent to the queue
      And session "s" in client mode
      And receiver "receiver" of session "s" on the queue
      And the connection of "receiver" will be lost when "m4" is first seen
      When "receiver" starts to take batches of at most 3 within 500 ms and works 1 s on each and acknowledges as soon as 3 messages have come
      And the connection of "receiver" has been lost
      And receiver "after" starts to wait on the queue
      Then "after" sees "m4" to "m5" exactly once

  @BT-12 @needs-batch-listener @needs-local-transaction
  Rule: In a local transaction, the commit acknowledges all delivered messages, and after a rollback all of them are delivered again
    Line 40.  *All* means every batch of every consumer of the session since the transaction began.

    @evidence @needs-kill
    Scenario: Uncommitted messages come back when the broker is killed
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 500 ms
      When "receiver" has seen "m1" to "m6"
      And the broker is killed and comes back
      And receiver "after" starts to wait on the queue
      Then "after" sees "m1" to "m6" exactly once

    Scenario: A commit of one sent message and one received batch is accepted
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      When "receiver" has seen "m1" to "m3"
      And message "m4" is sent in session "s" to the queue
      And session "s" is committed
      Then it is accepted

    Scenario: A second rollback returns all messages once more
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      When "receiver" has seen "m1" to "m3"
      And session "s" is rolled back
      And 2 s pass
      And session "s" is rolled back
      Then "receiver" sees "m1" to "m3" exactly 3 times

    @kit
    Scenario: After a connection is lost, uncommitted messages come again in order
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 500 ms
      When "receiver" has seen "m1" to "m6"
      And "receiver"'s connection is lost
      And receiver "after" starts to wait on the queue
      Then "after" sees "m1" to "m6" in that order
      And "after" sees "m1" to "m6" exactly once

    Scenario: A commit acknowledges three batches
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 500 ms
      When "receiver" has seen "m1" to "m6"
      And session "s" is committed
      And "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m6"

    @evidence @needs-kill
    Scenario: If the broker is killed as soon as a commit has returned, the commit's three batches do not come again
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 500 ms
      When "receiver" has seen "m1" to "m6"
      And session "s" is committed
      And the broker is killed and comes back
      And message "control" is sent to the queue
      And receiver "after" starts to wait on the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m6"

    Scenario: A rollback returns three batches
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 500 ms
      When "receiver" has seen "m1" to "m6"
      And session "s" is rolled back
      Then "receiver" sees "m1" to "m6" again

    Scenario: A commit acknowledges the batches of all consumers of the session
      Given an empty queue "one"
      And an empty queue "two"
      And messages "a1" to "a3" are sent to queue "one"
      And messages "b1" to "b3" are sent to queue "two"
      And session "s" in transacted mode
      And receiver "first" of session "s" on queue "one"
      And receiver "second" of session "s" on queue "two"
      And "first" takes batches of at most 3 within 500 ms
      And "second" takes batches of at most 3 within 500 ms
      When "first" has seen "a1" to "a3"
      And "second" has seen "b1" to "b3"
      And session "s" is committed
      And "first"'s connection is closed
      And receiver "after one" starts to wait on queue "one"
      And receiver "after two" starts to wait on queue "two"
      And message "control one" is sent to queue "one"
      And message "control two" is sent to queue "two"
      Then "after one" sees "control one" exactly once
      And "after two" sees "control two" exactly once
      And "after one" never sees "a1" to "a3"
      And "after two" never sees "b1" to "b3"

    Scenario: A rollback returns the batches of all consumers of the session
      Given an empty queue "one"
      And an empty queue "two"
      And messages "a1" to "a3" are sent to queue "one"
      And messages "b1" to "b3" are sent to queue "two"
      And session "s" in transacted mode
      And receiver "first" of session "s" on queue "one"
      And receiver "second" of session "s" on queue "two"
      And "first" takes batches of at most 3 within 500 ms
      And "second" takes batches of at most 3 within 500 ms
      When "first" has seen "a1" to "a3"
      And "second" has seen "b1" to "b3"
      And session "s" is rolled back
      Then "first" sees "a1" to "a3" again
      And "second" sees "b1" to "b3" again

    @evidence
    Scenario: After a rollback on a stopped connection, all messages come again when the connection is started
      Given an empty queue
      And messages "m1" to "m5" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 500 ms
      When "receiver" has seen "m1" to "m5"
      And the connection of "receiver" is stopped
      And session "s" is rolled back
      And 2 s pass
      And the connection of "receiver" is started
      Then "receiver" sees "m1" to "m5" exactly 2 times
      And "receiver"'s batches hold at most 2 messages

    Scenario: Uncommitted messages of a closed receiver come back when its session is closed
      Given an empty queue
      And messages "m1" to "m5" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 500 ms
      When "receiver" has seen "m1" to "m5"
      And "receiver" is closed
      And session "s" is closed
      And receiver "after" starts to wait on the queue
      Then "after" sees "m1" to "m5" exactly once

    Scenario: A commit acknowledges the messages of a closed receiver, and the close of the session does not return them
      Given an empty queue
      And messages "m1" to "m5" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 500 ms
      When "receiver" has seen "m1" to "m5"
      And "receiver" is closed
      And session "s" is committed
      And session "s" is closed
      And message "control" is sent to the queue
      And receiver "after" starts to wait on the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m5"

    Scenario: Uncommitted messages come back when their connection is closed
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      When "receiver" has seen "m1" to "m6"
      And "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      Then "after" sees "m1" to "m6" exactly once

    Scenario: Uncommitted messages come back when their session is closed
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      When "receiver" has seen "m1" to "m6"
      And session "s" is closed
      And receiver "after" starts to wait on the queue
      Then "after" sees "m1" to "m6" exactly once

    Scenario: A commit acknowledges the messages of a closed receiver
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      When "receiver" has seen "m1" to "m3"
      And "receiver" is closed
      And session "s" is committed
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m3"

    @needs-release @needs-return-to-others
    Scenario: If a receiver is closed before a commit, its unfinished batch comes to other receivers
      Given an empty queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 10 min
      When messages "m1" to "m3" are sent to the queue
      And "receiver" has seen "m1" to "m2"
      And 1 s pass
      And "receiver" is closed
      And receiver "after" starts to wait on the queue
      Then "receiver" and "after" together see "m3" at least once

    Scenario: A rollback after the receiver was closed returns the receiver's messages
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      When "receiver" has seen "m1" to "m3"
      And "receiver" is closed
      And session "s" is rolled back
      And receiver "after" starts to wait on the queue
      Then "after" sees "m1" to "m3" exactly once

    Scenario: A rollback in a callback returns the callback's own batch and all earlier batches
      Given an empty queue
      And messages "m1" to "m4" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 500 ms and rolls back as soon as 4 messages have come
      Then "receiver" sees "m1" to "m4" again

    Scenario: A commit acknowledges no message of an unfinished batch
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 10 min
      When "receiver" has seen "m1" to "m2"
      And 1 s pass
      And session "s" is committed
      And "receiver"'s connection is lost
      And receiver "after" starts to wait on the queue
      Then "receiver" and "after" together see "m1" to "m3" at least once
      And "after" never sees "m1" to "m2"

    Scenario: A second commit acknowledges the messages since the first commit
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      When "receiver" has seen "m1" to "m3"
      And session "s" is committed
      And messages "m4" to "m9" are sent to the queue
      And "receiver" has seen "m4" to "m9"
      And session "s" is committed
      And "receiver"'s connection is lost
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m9"

    Scenario: A commit acknowledges messages that came again after a rollback
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      When "receiver" has seen "m1" to "m3"
      And session "s" is rolled back
      And 10 s pass
      And session "s" is committed
      Then "receiver" sees "m1" to "m3" again
      When "receiver"'s connection is lost
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m3"

    @evidence
    Scenario: A commit after a failed callback acknowledges the messages that the callback received
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      When "receiver" starts to take batches of at most 3 within 500 ms and fails in callback 1
      And "receiver" has seen "m1" to "m3"
      And 1 s pass
      Then "receiver" sees "m1" to "m3" exactly once
      When session "s" is committed
      And "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m3"

    @evidence
    Scenario: A message that a session sends in the transaction of a batch comes after the commit
      Given an empty queue "in"
      And an empty queue "out"
      And messages "m1" to "m3" are sent to queue "in"
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on queue "in"
      And "receiver" takes batches of at most 3 within 500 ms
      When "receiver" has seen "m1" to "m3"
      And message "reply" is sent in session "s" to queue "out"
      And session "s" is committed
      And receiver "after" starts to wait on queue "out"
      Then "after" sees "reply" exactly once

    @evidence
    Scenario: A message that a session sends in the transaction of a batch never comes after a rollback
      Given an empty queue "in"
      And an empty queue "out"
      And messages "m1" to "m3" are sent to queue "in"
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on queue "in"
      And "receiver" takes batches of at most 3 within 500 ms
      When "receiver" has seen "m1" to "m3"
      And message "reply" is sent in session "s" to queue "out"
      And session "s" is rolled back
      And receiver "after" starts to wait on queue "out"
      And message "control" is sent to queue "out"
      Then "after" sees "control" exactly once
      And "after" never sees "reply"
      And "receiver" sees "m1" to "m3" again

    Scenario Outline: After one session is <ended>, a commit in the connection's other session still takes effect
      Given an empty queue "one"
      And an empty queue "two"
      And messages "a1" to "a3" are sent to queue "one"
      And messages "b1" to "b3" are sent to queue "two"
      And session "s" in transacted mode on connection "shared"
      And session "t" in transacted mode on connection "shared"
      And receiver "first" of session "s" on queue "one"
      And receiver "second" of session "t" on queue "two"
      And "first" takes batches of at most 3 within 500 ms
      And "second" takes batches of at most 3 within 500 ms
      When "first" has seen "a1" to "a3"
      And "second" has seen "b1" to "b3"
      And session "s" is <ended>
      And session "t" is committed
      And "second"'s connection is lost
      And receiver "after two" starts to wait on queue "two"
      And message "control" is sent to queue "two"
      Then "after two" sees "control" exactly once
      And "after two" never sees "b1" to "b3"

      Examples:
        | ended       |
        | committed   |
        | rolled back |

      @needs-session
      Examples: A session, which not every client has
        | ended  |
        | closed |

    Scenario Outline: After one session is <ended>, a rollback in the connection's other session still returns messages
      Given an empty queue "one"
      And an empty queue "two"
      And messages "a1" to "a3" are sent to queue "one"
      And messages "b1" to "b3" are sent to queue "two"
      And session "s" in transacted mode on connection "shared"
      And session "t" in transacted mode on connection "shared"
      And receiver "first" of session "s" on queue "one"
      And receiver "second" of session "t" on queue "two"
      And "first" takes batches of at most 3 within 500 ms
      And "second" takes batches of at most 3 within 500 ms
      When "first" has seen "a1" to "a3"
      And "second" has seen "b1" to "b3"
      And session "s" is <ended>
      And session "t" is rolled back
      Then "second" sees "b1" to "b3" again

      Examples:
        | ended       |
        | committed   |
        | rolled back |

    @evidence @needs-session
    Scenario: Closing one session three times does not end the transaction of another session of the connection
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in transacted mode on connection "shared"
      And session "t" in transacted mode on connection "shared"
      And receiver "receiver" of session "t" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      When "receiver" has seen "m1" to "m3"
      And session "s" is closed
      And session "s" is closed
      And session "s" is closed
      And session "t" is committed
      Then it is accepted

    @kit @needs-admin @own-instance
    Scenario: After a commit was refused for too many messages, a later commit acknowledges the returned messages
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And the queue manager is altered to MAXUMSGS(2)
      And "receiver" takes batches of at most 3 within 500 ms
      When "receiver" has seen "m1" to "m3"
      And session "s" is committed
      Then it is refused
      When the queue manager is altered to MAXUMSGS(10000)
      And session "s" is rolled back
      Then "receiver" sees "m1" to "m3" again
      When 10 s pass
      And session "s" is committed
      Then it is accepted
      When "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m3"

    @kit @needs-admin @own-instance
    Scenario: If a unit of work refuses the second of three batches, the commit is refused and all messages come again
      Given an empty queue
      And messages "m1" to "m5" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And the queue manager is altered to MAXUMSGS(3)
      And "receiver" takes batches of at most 2 within 500 ms
      When "receiver" has seen "m1" to "m5"
      And session "s" is committed
      Then it is refused
      When the queue manager is altered to MAXUMSGS(10000)
      And session "s" is rolled back
      Then "receiver" sees "m1" to "m5" again

    @evidence @needs-store-error
    Scenario: If the store refuses a commit, the messages of both batches come again, and the next commit acknowledges them
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      When "receiver" has seen "m1" to "m6"
      And the broker's store refuses the next write
      And session "s" is committed
      Then it is refused
      And "receiver" sees "m1" to "m6" again
      When 10 s pass
      And session "s" is committed
      Then it is accepted
      When "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m6"

    @kit @needs-store-error
    Scenario: If the store refuses a rollback, the messages of both batches come to the next receiver
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      When "receiver" has seen "m1" to "m6"
      And the broker's store refuses the next write
      And session "s" is rolled back
      And "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      Then "after" sees "m1" to "m6" exactly once

    @kit @needs-store-error @needs-virtual-time
    Scenario: If the store refuses a rollback, the messages of both batches come again, and the next commit acknowledges them
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      When "receiver" has seen "m1" to "m6"
      And the broker's store refuses the next write
      And session "s" is rolled back
      Then "receiver" sees "m1" to "m6" again
      When 10 s pass
      And session "s" is committed
      Then it is accepted
      When "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m6"

    @evidence @needs-store-error @needs-non-persistent
    Scenario: If the store refuses a commit, received non-persistent messages come again, and the sent message never comes
      Given an empty queue "in"
      And an empty queue "out"
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on queue "in"
      And "receiver" takes batches of at most 3 within 500 ms
      When messages "m1" to "m3" are sent to queue "in" with delivery mode non-persistent
      And "receiver" has seen "m1" to "m3"
      And message "reply" is sent in session "s" to queue "out"
      And the broker's store refuses the next write
      And session "s" is committed
      Then it is refused
      And "receiver" sees "m1" to "m3" again
      When receiver "after" starts to wait on queue "out"
      And message "control" is sent to queue "out"
      Then "after" sees "control" exactly once
      And "after" never sees "reply"

    @evidence @needs-store-error
    Scenario: If the store refuses a commit, the messages of a closed receiver come to another receiver
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      When "receiver" has seen "m1" to "m3"
      And "receiver" is closed
      And the broker's store refuses the next write
      And session "s" is committed
      Then it is refused
      When receiver "after" starts to wait on the queue
      Then "after" sees "m1" to "m3" exactly once

    @evidence @needs-non-persistent
    Scenario: A rollback also returns non-persistent messages
      Given an empty queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 500 ms
      When messages "m1" to "m6" are sent to the queue with delivery mode non-persistent
      And "receiver" has seen "m1" to "m6"
      And session "s" is rolled back
      Then "receiver" sees "m1" to "m6" again

    @evidence @needs-topic
    Scenario: A rollback returns the batches of each subscriber of the session
      Given a topic
      And session "s" in transacted mode
      And receiver "first" of session "s" on the topic
      And receiver "second" of session "s" on the topic
      And "first" takes batches of at most 2 within 500 ms
      And "second" takes batches of at most 3 within 500 ms
      When messages "m1" to "m6" are sent to the topic
      And "first" has seen "m1" to "m6"
      And "second" has seen "m1" to "m6"
      And session "s" is rolled back
      Then "first" sees "m1" to "m6" again
      And "second" sees "m1" to "m6" again

    Scenario: After a batch listener is replaced, a rollback returns the messages of both listeners
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      When "receiver" has seen "m1" to "m3"
      And "receiver" starts to take batches of at most 2 within 500 ms
      And messages "m4" to "m5" are sent to the queue
      And "receiver" has seen "m4" to "m5"
      And session "s" is rolled back
      Then "receiver" sees "m1" to "m5" again

    Scenario: A rollback does not return messages that an earlier commit acknowledged
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      When "receiver" has seen "m1" to "m3"
      And session "s" is committed
      And messages "m4" to "m6" are sent to the queue
      And "receiver" has seen "m4" to "m6"
      And session "s" is rolled back
      Then "receiver" sees "m4" to "m6" again
      And "receiver" sees "m1" to "m3" exactly once

    Scenario: A commit in a callback acknowledges the callback's own batch and delivers what the callback has sent
      Given an empty queue
      And an empty queue "replies"
      And messages "m1" to "m3" are sent to the queue
      And receiver "customer" is waiting on queue "replies"
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" will send "reply" to queue "replies", one in each callback
      And "receiver" takes batches of at most 3 within 1 s and commits as soon as 3 messages have come
      When "receiver" has seen "m1" to "m3"
      And 1 s pass
      And "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "customer" sees "reply" exactly once
      And "after" sees "control" exactly once
      And "after" never sees "m1" to "m3"

    Scenario: A rollback in a callback returns the callback's own batch and discards what the callback has sent
      Given an empty queue
      And an empty queue "replies"
      And messages "m1" to "m3" are sent to the queue
      And receiver "customer" is waiting on queue "replies"
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" will send "reply" to queue "replies", one in each callback
      And "receiver" takes batches of at most 3 within 1 s and rolls back as soon as 3 messages have come
      When "receiver" has seen "m1" to "m3"
      And message "control" is sent to queue "replies"
      Then "receiver" sees "m1" to "m3" again
      And "customer" sees "control" exactly once
      And "customer" never sees "reply"

    Scenario: A commit in a callback acknowledges the callback's own batch
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 3 within 1 s and commits as soon as 3 messages have come
      When "receiver" has seen "m1" to "m3"
      And 1 s pass
      And "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m3"

    Scenario: Uncommitted messages come back when their connection is lost
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 500 ms
      When "receiver" has seen "m1" to "m6"
      And "receiver"'s connection is lost
      And receiver "after" starts to wait on the queue
      Then "after" sees "m1" to "m6" exactly once

    @kit @judges-client
    Scenario: A commit after the loss of the connection is refused, and the messages come again
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 500 ms
      When "receiver" has seen "m1" to "m6"
      And "receiver"'s connection is lost
      And session "s" is committed
      Then it is refused as a connection lost error
      When receiver "after" starts to wait on the queue
      Then "after" sees "m1" to "m6" exactly once

    @evidence
    Scenario: Messages that a rollback returns come again marked as redelivered
      Given an empty queue
      And session "work" in transacted mode
      And receiver "receiver" of session "work" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      When messages "m1" to "m3" are sent to the queue
      And "receiver" has seen "m1" to "m3"
      And session "work" is rolled back
      Then "receiver" sees "m1" to "m3" again, marked as redelivered

    @kit @needs-restart
    Scenario: After a transacted session is closed and the broker is restarted, messages come again marked as redelivered
      Given an empty queue
      And session "work" in transacted mode
      And receiver "receiver" of session "work" on the queue
      And "receiver" takes batches of at most 3 within 500 ms
      When messages "m1" to "m3" are sent to the queue
      And "receiver" has seen "m1" to "m3"
      And session "work" is closed
      And the broker is restarted
      And receiver "after" starts to wait on the queue
      Then "after" sees "m1" to "m3" exactly once
      And every redelivery of "m1" to "m3" that "after" sees is marked as redelivered

    @kit
    Scenario: When a session is closed, the delivery count of a message in an unfinished batch does not increase
      Given an empty queue
      And session "work" in transacted mode
      And receiver "receiver" of session "work" on the queue
      And "receiver" takes batches of at most 2 within 10 min
      When messages "m1" to "m3" are sent to the queue
      And "receiver" has seen "m1" and "m2"
      And 1 s pass
      And session "work" is closed
      And receiver "after" starts to wait on the queue
      Then "after" sees "m1" to "m3" exactly once
      And message "m1" as seen by "after" shows JMSXDeliveryCount "2"
      And message "m3" as seen by "after" shows JMSXDeliveryCount "1"

    @kit
    Scenario: After a batch listener is removed and another is set, a rollback returns the messages of both listeners
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      When a batch listener of size 3 and timeout 500 ms is set on "receiver"
      And "receiver" has seen "m1" to "m3"
      And the batch listener of "receiver" is removed
      And a batch listener of size 2 and timeout 500 ms is set on "receiver"
      And messages "m4" to "m5" are sent to the queue
      And "receiver" has seen "m4" to "m5"
      And 1 s pass
      And session "s" is rolled back
      Then "receiver" sees "m1" to "m5" again

    @evidence
    Scenario: A commit in a callback acknowledges no message that waits for the next callback
      Given an empty queue
      And messages "m1" to "m5" are sent to the queue
      And session "s" in transacted mode
      And receiver "receiver" of session "s" on the queue
      And the connection of "receiver" will be lost when "m4" is first seen
      When "receiver" starts to take batches of at most 3 within 500 ms and works 1 s on each and commits as soon as 3 messages have come
      And the connection of "receiver" has been lost
      And receiver "after" starts to wait on the queue
      Then "after" sees "m4" to "m5" exactly once

  @BT-16 @needs-batch-listener
  Rule: After a failure, no message of an earlier, acknowledged batch comes again
    Line 38: after a failure, only messages of the last batch may come again.

    Scenario Outline: A batch of <count> messages is acknowledged up to its last message
      Given an empty queue
      And messages "m1" to "m<count>" are sent to the queue
      And a receiver on the queue
      And the receiver takes batches of at most <count> within 500 ms
      When "receiver" has seen "m1" to "m<count>"
      And 1 s pass
      And "receiver"'s connection is lost
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m<count>"

      Examples:
        | count |
        | 50    |
        | 250   |
        | 256   |

    Scenario: If a callback fails, no message of an earlier batch comes again
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most 2 within 500 ms and fails in callback 3
      Then every message of the failed batch comes to the receiver again
      And no message of the batches before the failed batch comes to the receiver again

    Scenario: If the receiver's connection is lost during a batch, no message of an earlier batch comes again
      Given an empty queue
      And a receiver on the queue
      And the connection of "receiver" will be lost when "m5" is first seen
      And the receiver takes batches of at most 2 within 10 s and works 500 ms on each
      When messages "m1" to "m4" are sent to the queue
      And "receiver" has seen "m1" to "m4"
      And 2 s pass
      And messages "m5" to "m6" are sent to the queue
      And the connection of "receiver" has been lost
      And receiver "after" starts to wait on the queue
      Then "after" sees "m5" to "m6" exactly once
      And "after" never sees "m1" to "m4"

    @evidence @needs-cut
    Scenario: If every connection is cut during a batch, no message of an earlier batch comes again
      Given an empty queue
      And a receiver on the queue
      And every connection will be cut 500 ms after "m5" is first seen
      And the receiver takes batches of at most 2 within 10 s and works 1 s on each
      When messages "m1" to "m4" are sent to the queue
      And "receiver" has seen "m1" to "m4"
      And 2 s pass
      And messages "m5" to "m6" are sent to the queue
      And "receiver" has seen "m5"
      And every connection has been cut
      And receiver "after" starts to wait on the queue
      Then "after" sees "m5" to "m6" exactly once
      And "after" never sees "m1" to "m4"

    @evidence @needs-cut
    Scenario: If every connection is cut during a batch that waited for an earlier callback, no earlier batch comes again
      A client may form smaller batches, so "m2" may be in the batch of "m3", and may come again.

      Given an empty queue
      And messages "m1" to "m4" are sent to the queue
      And a receiver on the queue
      And every connection will be cut 2 s after "m3" is first seen
      And the receiver takes batches of at most 2 within 10 s and works 4 s on each
      When "receiver" has seen "m3"
      And every connection has been cut
      And receiver "after" starts to wait on the queue
      Then "after" sees "m3" to "m4" exactly once
      And "after" never sees "m1"

    @evidence @needs-kill
    Scenario: If the broker is killed during a batch, no message of an earlier batch comes again
      Given an empty queue
      And a receiver on the queue
      And the broker will be killed 500 ms after "m5" is first seen
      And the receiver takes batches of at most 2 within 10 s and works 1 s on each
      When messages "m1" to "m4" are sent to the queue
      And "receiver" has seen "m1" to "m4"
      And 2 s pass
      And messages "m5" to "m6" are sent to the queue
      And "receiver" has seen "m5"
      And the broker has been killed and is back
      And receiver "after" starts to wait on the queue
      Then "after" sees "m5" to "m6" exactly once
      And "after" never sees "m1" to "m4"

    @kit
    Scenario: If the connection is lost, no acknowledged message of an earlier, removed listener comes again
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And a receiver on the queue
      When a batch listener of size 3 and timeout 500 ms is set on "receiver"
      And "receiver" has seen "m1" to "m3"
      And 1 s pass
      And the batch listener of "receiver" is removed
      And a batch listener of size 10 and timeout 600000 ms is set on "receiver"
      And messages "m4" to "m5" are sent to the queue
      And 1 s pass
      And "receiver"'s connection is lost
      And receiver "after" starts to wait on the queue
      Then "receiver" and "after" together see "m4" to "m5" at least once
      And "after" never sees "m1" to "m3"

    @evidence
    Scenario: If the connection is lost, no acknowledged message of an earlier, closed receiver comes again
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in auto mode
      And receiver "first" of session "s" on the queue
      And "first" takes batches of at most 3 within 500 ms
      When "first" has seen "m1" to "m3"
      And 1 s pass
      And "first" is closed
      And "first"'s connection is lost
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m3"

    @evidence @needs-restart
    Scenario: If the broker is restarted during a batch, no message of an earlier batch comes again
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 2 within 10 s and works 2 s on each
      When messages "m1" to "m4" are sent to the queue
      And "receiver" has seen "m1" to "m4"
      And 3 s pass
      And messages "m5" to "m6" are sent to the queue
      And "receiver" has seen "m5"
      And the broker is restarted
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m4"
