Feature: A batch is no larger than its size, no later than its timeout, and in order
  JMS_SPEC-36, lines 33 and 34.

  @BT-04 @needs-batch-listener
  Rule: A batch is never larger than the batch size, may be smaller, and is never empty
    Line 33.  The scenarios try batch sizes with fewer messages than fill a batch, with exactly as many, and with more.

    Scenario Outline: Waiting messages come in batches of no more than <size> (messages: <count>)
      Given an empty queue
      And <count> messages are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most <size> within 500 ms
      Then the receiver sees each of these messages exactly once
      And the receiver's batches hold at most <size> messages

      Examples:
        | size | count |
        | 1    | 1     |
        | 1    | 3     |
        | 2    | 1     |
        | 2    | 2     |
        | 2    | 5     |
        | 10   | 4     |
        | 10   | 10    |
        | 10   | 25    |
        | 1000 | 7     |

    Scenario Outline: <count> waiting messages come in batches of no more than a thousand
      Given an empty queue
      And <count> messages are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most 1000 within 2 s
      Then the receiver sees each of these messages exactly once
      And the receiver's batches hold at most 1000 messages

      Examples:
        | count |
        | 1000  |
        | 1001  |

    @needs-time-to-live
    Scenario: If all messages of a batch expire before its timeout, the listener gets no empty batch
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 10 within 3 s
      When message "short" is sent to the queue with a time to live of 1 s
      And 5 s pass
      And message "last" is sent to the queue
      Then the receiver sees "last" exactly once
      And the receiver's batches hold at most 10 messages

    Scenario Outline: <count> messages that are sent after the listener was set come in batches of no more than <size>
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most <size> within 500 ms
      When <count> messages are sent to the queue
      Then the receiver sees each of these messages exactly once
      And the receiver's batches hold at most <size> messages

      Examples:
        | size | count |
        | 1    | 3     |
        | 2    | 5     |
        | 10   | 25    |

    Scenario: If two receivers take batches from one queue, each message comes once, to one of the two
      Given an empty queue
      And receiver "left" on the queue
      And receiver "right" on the queue
      And "left" takes batches of at most 3 within 500 ms
      And "right" takes batches of at most 3 within 500 ms
      When messages "m1" to "m14" are sent to the queue
      Then "left" and "right" together see "m1" to "m14" exactly once
      And the batches of "left" and "right" hold at most 3 messages

    Scenario: Two receivers of a session each receive the messages of their own queue in batches
      Given an empty queue "one"
      And an empty queue "two"
      And session "s" in auto mode
      And receiver "first" of session "s" on queue "one"
      And receiver "second" of session "s" on queue "two"
      And "first" takes batches of at most 2 within 500 ms
      And "second" takes batches of at most 5 within 500 ms
      When messages "a1" to "a5" are sent to queue "one"
      And messages "b1" to "b7" are sent to queue "two"
      Then "first" sees "a1" to "a5" exactly once
      And "second" sees "b1" to "b7" exactly once
      And "first"'s batches hold at most 2 messages
      And "second"'s batches hold at most 5 messages

    @evidence
    Scenario Outline: After a session in <mode> mode is <undone>, its messages come again in batches of no more than 2
      Given an empty queue
      And messages "m1" to "m5" are sent to the queue
      And session "s" in <mode> mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 2 within 500 ms
      When "receiver" has seen "m1" to "m5"
      And session "s" is <undone>
      Then "receiver" sees "m1" to "m5" exactly 2 times
      And "receiver"'s batches hold at most 2 messages

      Examples:
        | mode   | undone    |
        | client | recovered |

      @needs-local-transaction
      Examples: In a local transaction
        | mode       | undone      |
        | transacted | rolled back |

    Scenario: While no message comes, the receiver gets no batch
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 3 within 100 ms
      When 1 s pass
      And a message is sent to the queue
      Then the receiver sees the message exactly once
      And the receiver receives 1 batch of exactly 1 message

    @kit
    Scenario: If a batch listener is set twice during a callback, no batch exceeds the last batch size
      Given an empty queue
      And messages "m1" to "m7" are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most 2 within 500 ms and works 1 s on each
      And "receiver" has seen "m1"
      And a batch listener of size 1 and timeout 500 ms is set on "receiver"
      And a batch listener of size 2 and timeout 500 ms is set on "receiver"
      Then the receiver sees "m1" to "m7" exactly once
      And the receiver's batches hold at most 2 messages

  @BT-05 @needs-batch-listener
  Rule: Delivery is never deferred beyond the batch timeout to fill a batch
    Line 34.  Reading: a batch has one deadline, counted from the moment at which its first message could have been
    delivered; later messages do not move it.  A client may deliver batches smaller than the size, so the scenarios
    about full batches are evidence.  Without an exact clock, the limit also includes a second and the time of an
    unbatched message.

    Scenario: Messages at short intervals do not postpone the deadline of their batch
      Given the time of an unbatched delivery has been measured
      And an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 100 within 500 ms
      When messages "m1" to "m9" are sent to the queue at intervals of 300 ms
      Then the receiver sees "m1" to "m9" exactly once
      And each batch of at most 100 reaches the receiver at most 500 ms after its first message could be delivered, with a tolerance

    @kit @needs-virtual-time
    Scenario Outline: With a timeout of <timeout>, messages at short intervals do not delay a batch by even 1 ms
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 100 within <timeout>
      When messages "m1" to "m9" are sent to the queue at intervals of 7 ms
      Then the receiver sees "m1" to "m9" exactly once
      And each batch of at most 100 reaches the receiver at most <timeout> after its first message could be delivered, without a tolerance

      Examples:
        | timeout |
        | 0 ms    |
        | 1 ms    |
        | 10 ms   |
        | 40 ms   |

    Scenario Outline: With a batch timeout of <timeout>, a single message comes in time
      Given the time of an unbatched delivery has been measured
      And an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 10 within <timeout>
      When a message is sent to the queue
      Then the receiver sees the message exactly once
      And each batch of at most 10 reaches the receiver at most <timeout> after its first message could be delivered, with a tolerance

      Examples:
        | timeout |
        | 0 ms    |
        | 1 ms    |
        | 500 ms  |
        | 2 s     |

    Scenario: With a batch timeout of 0, the waiting messages come at once
      Given the time of an unbatched delivery has been measured
      And an empty queue
      And messages "m1" to "m3" are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most 10 within 0 ms
      Then the receiver sees "m1" to "m3" exactly once
      And each batch of at most 10 reaches the receiver at most 0 ms after its first message could be delivered, with a tolerance

    @evidence
    Scenario: A full batch does not wait for its deadline
      Given the time of an unbatched delivery has been measured
      And an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 3 within 10 s
      When messages "m1" to "m3" are sent to the queue
      Then the receiver gets a full batch of 3 at once

    @evidence
    Scenario: A full batch of messages that are already on the queue does not wait for its deadline
      Given the time of an unbatched delivery has been measured
      And an empty queue
      And messages "m1" to "m6" are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most 3 within 10 s
      Then the receiver gets a full batch of 3 at once

    @evidence
    Scenario Outline: A full batch of <size> does not wait for its deadline
      Given the time of an unbatched delivery of <size> queued messages has been measured
      And an empty queue
      And <size> messages are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most <size> within 10 s
      Then the receiver gets a full batch of <size> at once

      Examples:
        | size |
        | 1    |
        | 150  |
        | 300  |

    @evidence
    Scenario Outline: When a listener is replaced, its unfinished batch of 3 comes to the new listener (batch size <size>)
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 10 within 10 min
      When messages "m1" to "m3" are sent to the queue
      And 1 s pass
      And the receiver starts to take batches of at most <size> within 2 s
      Then the receiver sees "m1" to "m3" exactly once

      Examples:
        | size |
        | 5    |
        | 3    |
        | 2    |

    Scenario: Each of several batches of a receiver has its own deadline
      Given the time of an unbatched delivery has been measured
      And an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 3 within 500 ms
      When message "m1" is sent to the queue
      And 2 s pass
      And messages "m2" to "m5" are sent to the queue
      And 2 s pass
      And message "m6" is sent to the queue
      Then the receiver sees "m1" to "m6" exactly once
      And each batch of at most 3 reaches the receiver at most 500 ms after its first message could be delivered, with a tolerance

    Scenario: If the callback fails for a batch that is not full, the batch comes again, and a later message comes, too
      Given an empty queue
      And a receiver on the queue
      When the receiver starts to take batches of at most 3 within 500 ms and fails in callback 1
      And messages "m1" to "m2" are sent to the queue
      And 10 s pass
      And message "late" is sent to the queue
      Then the receiver sees "late" exactly once
      And every message of the failed batch comes to the receiver again

    Scenario: The last messages, which do not fill a batch, come by their deadline
      Given the time of an unbatched delivery has been measured
      And an empty queue
      And messages "m1" to "m5" are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most 2 within 500 ms
      Then the receiver sees "m1" to "m5" exactly once
      And each batch of at most 2 reaches the receiver at most 500 ms after its first message could be delivered, with a tolerance

    @evidence
    Scenario Outline: If a connection is stopped for <span>, its unfinished batch comes within 2 s after the start
      A stopped connection delivers nothing (Jakarta Messaging 3.1, section 6.1.5), so no message comes before the start.

      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 10 within 2 s
      When messages "m1" to "m3" are sent to the queue
      And the receiver's connection is stopped
      And <span> pass
      And the receiver's connection is started
      Then the receiver sees "m1" within 2 s after its connection was started, with a tolerance of a second
      And the receiver sees "m3" within 2 s after its connection was started, with a tolerance of a second
      And the receiver sees "m1" to "m3" exactly once

      Examples:
        | span |
        | 1 s  |
        | 4 s  |

    @evidence @needs-time-to-live
    Scenario: A message that expires before its batch is full does not postpone the deadline of the other messages
      Given the time of an unbatched delivery has been measured
      And an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 3 within 5 s
      When message "m1" is sent to the queue
      And message "short" is sent to the queue with a time to live of 1 s
      And 3 s pass
      And message "m2" is sent to the queue
      Then the receiver sees "m1" to "m2" exactly once
      And each batch of at most 3 reaches the receiver at most 5 s after its first message could be delivered, with a tolerance

    @evidence @needs-time-to-live
    Scenario: If the first message of a batch expires, the other messages come no later than one timeout after they could be delivered
      Given the time of an unbatched delivery has been measured
      And an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 3 within 4 s
      When message "short" is sent to the queue with a time to live of 1 s
      And 2 s pass
      And message "m1" is sent to the queue
      Then the receiver sees "m1" exactly once
      And each batch of at most 3 reaches the receiver at most 4 s after its first message could be delivered, with a tolerance

    Scenario: Messages that wait during a callback are delivered within the timeout after the callback
      Given the time of an unbatched delivery has been measured
      And an empty queue
      And messages "m1" to "m5" are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most 3 within 500 ms and works 1 s on each
      Then the receiver sees "m1" to "m5" exactly once
      And each batch of at most 3 reaches the receiver at most 500 ms after its first message could be delivered, with a tolerance

    Scenario Outline: With a timeout of 0, the remaining messages come at once after the callbacks of full batches (<count> messages)
      Given the time of an unbatched delivery has been measured
      And an empty queue
      And messages "m1" to "<last>" are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most 3 within 0 ms and works 1 s on each
      Then the receiver sees "m1" to "<last>" exactly once
      And each batch of at most 3 reaches the receiver at most 0 ms after its first message could be delivered, with a tolerance

      Examples:
        | count | last |
        | 5     | m5   |
        | 7     | m7   |
        | 8     | m8   |

    @needs-local-transaction
    Scenario: With a timeout of 0, the last messages of a committed transaction come at once after full batches
      Given the time of an unbatched delivery has been measured
      And an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 2 within 0 ms
      And session "work" in transacted mode
      When message "m1" is sent in session "work" to the queue
      And message "m2" is sent in session "work" to the queue
      And message "m3" is sent in session "work" to the queue
      And message "m4" is sent in session "work" to the queue
      And message "m5" is sent in session "work" to the queue
      And session "work" is committed
      Then the receiver sees "m1" to "m5" exactly once
      And each batch of at most 2 reaches the receiver at most 0 ms after its first message could be delivered, with a tolerance

    @kit @judges-client @needs-virtual-time
    Scenario: After a listener whose callbacks failed was removed, the next listener's batch comes by its own deadline
      After repeated failures, our client pauses before it calls the listener again.  The pause must not delay the next
      listener.

      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 1 within 500 ms and fails in callbacks 1 to 9
      When message "m1" is sent to the queue
      And 14 s pass
      And the batch listener of "receiver" is removed
      And a batch listener of size 10 and timeout 500 ms is set on "receiver"
      And message "m2" is sent to the queue
      Then the receiver sees "m2" within 2 s after its send

    @kit
    Scenario: When a listener is removed, the messages of its unfinished batch come by the next listener's deadline
      Given the time of an unbatched delivery has been measured
      And an empty queue
      And a receiver on the queue
      When a batch listener of size 10 and timeout 600000 ms is set on "receiver"
      And messages "m1" to "m3" are sent to the queue
      And 1 s pass
      And the batch listener of "receiver" is removed
      And a batch listener of size 10 and timeout 500 ms is set on "receiver"
      Then the receiver sees "m1" to "m3" exactly once
      And each batch of at most 10 reaches the receiver at most 500 ms after its first message could be delivered, with a tolerance

    @evidence
    Scenario: Closing a receiver with an unfinished batch does not postpone the deadline of another receiver's batch
      Given the time of an unbatched delivery has been measured
      And an empty queue "one"
      And an empty queue "two"
      And session "s" in auto mode
      And receiver "other" of session "s" on queue "one"
      And receiver "receiver" of session "s" on queue "two"
      And "other" takes batches of at most 10 within 10 min
      And "receiver" takes batches of at most 10 within 2 s
      When messages "a1" to "a2" are sent to queue "one"
      And messages "b1" to "b2" are sent to queue "two"
      And "other" is closed
      Then the receiver sees "b1" to "b2" exactly once
      And each batch of at most 10 reaches the receiver at most 2 s after its first message could be delivered, with a tolerance

  @BT-06 @needs-batch-listener
  Rule: Within size and timeout, a batch is as large as possible
    Line 34 aims at the largest batch, and line 33 permits a smaller one, so the scenarios record the number of
    messages in each batch.  Our own client must fill the batches.

    Scenario Outline: With a timeout of <timeout>, waiting messages come once, in batches whose sizes are recorded
      Given an empty queue
      And 25 messages are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most 10 within <timeout>
      Then the receiver sees each of these messages exactly once
      And the number of messages in each of the receiver's batches of at most 10 is recorded

      Examples:
        | timeout |
        | 0 ms    |
        | 1 s     |

    @kit @judges-client
    Scenario Outline: Our client fills batches of <size> completely with waiting messages
      Given an empty queue
      And <count> messages are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most <size> within 5 s
      Then the receiver sees each of these messages exactly once
      And the receiver receives 3 batches of exactly <size> messages

      Examples:
        | size | count |
        | 2    | 6     |
        | 10   | 30    |
        | 150  | 450   |

      @needs-virtual-time
      Examples: More messages than a client prefetches at a time
        | size | count |
        | 1000 | 3000  |

    @kit @judges-client @needs-virtual-time
    Scenario: Our client fills batches completely with waiting messages even with a timeout of 0
      Given an empty queue
      And 30 messages are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most 10 within 0 ms
      Then the receiver sees each of these messages exactly once
      And the receiver receives 3 batches of exactly 10 messages

    @kit @judges-client
    Scenario: Our client waits for a full batch as long as the timeout allows
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 3 within 10 s
      When messages "m1" to "m6" are sent to the queue at intervals of 100 ms
      Then the receiver sees "m1" to "m6" exactly once
      And the receiver receives 2 batches of exactly 3 messages

    @kit @judges-client
    Scenario: After a listener is replaced, our client fills the new listener's batches with the waiting messages
      Given an empty queue
      And a receiver on the queue
      When a batch listener of size 10 and timeout 600000 ms is set on "receiver"
      And messages "m1" to "m6" are sent to the queue
      And 1 s pass
      And a batch listener of size 3 and timeout 10000 ms is set on "receiver"
      Then the receiver sees "m1" to "m6" exactly once
      And the receiver receives 2 batches of exactly 3 messages

    @kit @judges-client
    Scenario: Our client fills batches with messages that came during a callback
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 3 within 10 s and works 1 s on each
      When messages "m1" to "m9" are sent to the queue
      Then the receiver sees "m1" to "m9" exactly once
      And the receiver receives 3 batches of exactly 3 messages

    @kit @judges-client
    Scenario: Our client fills batches with messages that another receiver returned when it was closed
      Given an empty queue
      And receiver "left" on the queue
      And "left" takes batches of at most 10 within 10 min
      And a receiver on the queue
      When messages "m1" to "m6" are sent to the queue
      And 1 s pass
      And "left" is closed
      And the receiver starts to take batches of at most 3 within 10 s
      Then the receiver sees "m1" to "m6" exactly once
      And the receiver receives 2 batches of exactly 3 messages

  @BT-07 @needs-batch-listener
  Rule: Within a batch and across batches, messages come in the order in which the consumer would receive them one by one
    The kit's reading: batches change how messages are delivered, not their order.  A broker may deliver returned
    messages after later ones, so scenarios in which the client returns messages run in process only.

    Scenario Outline: Waiting messages come in batches of <size> in the order in which they were sent
      Given an empty queue
      And messages "m1" to "m7" are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most <size> within 500 ms
      Then the receiver sees "m1" to "m7" in that order
      And the receiver sees "m1" to "m7" exactly once

      Examples:
        | size |
        | 1    |
        | 3    |
        | 10   |

    @kit @judges-client @needs-virtual-time
    Scenario: A batch whose callback failed comes again before later messages
      Given an empty queue
      And messages "m1" to "m6" are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most 2 within 500 ms and fails in callback 1
      Then the batch after the failed one holds "m1"
      And the batch after the failed one holds "m2"
      And the receiver sees "m3" to "m6" in that order
      And the receiver sees "m3" to "m6" exactly once

    @needs-time-to-live
    Scenario: Messages keep their order if one message of their batch has expired
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 4 within 10 s
      When messages "m1" to "m2" are sent to the queue
      And message "short" is sent to the queue with a time to live of 500 ms
      And 2 s pass
      And message "m3" is sent to the queue
      Then the receiver sees "m1" to "m3" in that order
      And the receiver sees "m1" to "m3" exactly once

    Scenario: Messages that are sent after the listener was set keep their order within a batch
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 10 within 1 s
      When messages "m1" to "m5" are sent to the queue
      Then the receiver sees "m1" to "m5" in that order
      And the receiver sees "m1" to "m5" exactly once

    Scenario: Messages that are sent after the listener was set keep their order across batches
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 2 within 500 ms
      When messages "m1" to "m7" are sent to the queue
      Then the receiver sees "m1" to "m7" in that order
      And the receiver sees "m1" to "m7" exactly once

    @kit @judges-client @needs-virtual-time
    Scenario Outline: After a session in <mode> mode is <undone>, its messages come again before each receiver's unfinished batch
      Given an empty queue "one"
      And an empty queue "two"
      And session "s" in <mode> mode
      And receiver "first" of session "s" on queue "one"
      And receiver "second" of session "s" on queue "two"
      And "first" takes batches of at most 4 within 10 min
      And "second" takes batches of at most 4 within 10 min
      When messages "a1" to "a6" are sent to queue "one"
      And messages "b1" to "b6" are sent to queue "two"
      And "first" has seen "a1" to "a4"
      And "second" has seen "b1" to "b4"
      And 1 s pass
      And session "s" is <undone>
      Then batch 2 of "first" holds "a1" to "a4" again
      And batch 2 of "second" holds "b1" to "b4" again

      Examples:
        | mode   | undone    |
        | client | recovered |

      @needs-local-transaction
      Examples: In a local transaction
        | mode       | undone      |
        | transacted | rolled back |

    @kit @judges-client @needs-xa @needs-virtual-time
    Scenario: Messages of a rolled-back branch come again before each receiver's unfinished batch
      Given an empty queue "one"
      And an empty queue "two"
      And session "s" in xa mode
      And receiver "first" of session "s" on queue "one"
      And receiver "second" of session "s" on queue "two"
      And "first" takes batches of at most 4 within 10 min
      And "second" takes batches of at most 4 within 10 min
      And branch "before" has been started in session "s"
      When messages "a1" to "a6" are sent to queue "one"
      And messages "b1" to "b6" are sent to queue "two"
      And "first" has seen "a1" to "a4"
      And "second" has seen "b1" to "b4"
      And 1 s pass
      And branch "before" is ended
      And branch "before" is rolled back
      And branch "after" is started in session "s"
      Then batch 2 of "first" holds "a1" to "a4" again
      And batch 2 of "second" holds "b1" to "b4" again

    @needs-priority
    Scenario: Waiting messages of a higher priority come first, within a batch and across batches
      Given an empty queue
      When messages "low1" and "low2" are sent to the queue with priority 1
      And messages "high1" to "high3" are sent to the queue with priority 8
      And a receiver connects to the queue
      And the receiver starts to take batches of at most 2 within 500 ms
      Then the receiver sees "high1", "high2", "high3", "low1" and "low2" in that order

    @kit @judges-client @needs-virtual-time
    Scenario: Messages that waited keep their order if their listener is removed during a callback and set again
      Given an empty queue
      And messages "m1" to "m7" are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most 2 within 500 ms and works 1 s on each
      And "receiver" has seen "m1"
      And the batch listener of "receiver" is removed
      And a batch listener of size 3 and timeout 500 ms is set on "receiver"
      Then the receiver sees "m1" to "m7" in that order
      And the receiver sees "m1" to "m7" exactly once

    @kit @judges-client @needs-virtual-time
    Scenario: After a receiver is closed, the messages of its unfinished batch come in order to the next receiver
      Given an empty queue
      And receiver "left" on the queue
      And "left" takes batches of at most 10 within 10 min
      When messages "m1" to "m5" are sent to the queue
      And 1 s pass
      And "left" is closed
      And a receiver connects to the queue
      And the receiver starts to take batches of at most 2 within 500 ms
      Then the receiver sees "m1" to "m5" in that order
      And the receiver sees "m1" to "m5" exactly once
