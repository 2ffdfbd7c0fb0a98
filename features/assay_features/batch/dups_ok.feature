Feature: A batch is acknowledged lazily if duplicates are allowed
  JMS_SPEC-36, line 39.

  @BT-10 @needs-batch-listener
  Rule: With dups-ok acknowledgement, a batch behaves as single messages do
    Line 39.  Reading: the session chooses when it acknowledges.  After a failure, any message may come again, and no
    message may be missing (Jakarta Messaging 3.1, section 6.2.10).  No document limits how many messages come again.

    Scenario Outline: Every one of <count> messages reaches the receiver in batches of <size>
      Given an empty queue
      And messages "m1" to "m<count>" are sent to the queue
      And session "s" in dups-ok mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most <size> within 500 ms
      Then the receiver sees "m1" to "m<count>" at least once

      Examples:
        | size | count |
        | 1    | 12    |
        | 3    | 25    |
        | 10   | 25    |
        | 50   | 25    |

    Scenario Outline: Every message that is sent after the listener was set reaches the receiver (batch size <size>)
      Given an empty queue
      And session "s" in dups-ok mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most <size> within 50 ms and works 20 ms on each
      When messages "m1" to "m15" are sent to the queue
      And 1 s pass
      And messages "m16" to "m30" are sent to the queue
      Then the receiver sees "m1" to "m30" at least once

      Examples:
        | size |
        | 1    |
        | 4    |
        | 20   |

    Scenario Outline: If a callback fails, every message of its batch comes again (<count> messages, batch size <size>)
      Given an empty queue
      And messages "m1" to "m<count>" are sent to the queue
      And session "s" in dups-ok mode
      And receiver "receiver" of session "s" on the queue
      When "receiver" starts to take batches of at most <size> within 500 ms and fails in callback 1
      Then every message of the failed batch comes to the receiver again

      Examples:
        | size | count |
        | 1    | 3     |
        | 3    | 3     |
        | 10   | 4     |
        | 10   | 10    |
        | 20   | 25    |

    @kit @needs-store-error @needs-kill-at-first-sight @needs-virtual-time
    Scenario: If the store refuses the acknowledgement of a batch, the batch comes again and is acknowledged the second time
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in dups-ok mode
      And receiver "receiver" of session "s" on the queue
      And the broker's store will refuse the next write when "m3" is first seen
      When "receiver" starts to take batches of at most 3 within 500 ms
      And the broker's store has refused the write
      Then "receiver" sees "m1" to "m3" again
      When 1 s pass
      And "receiver"'s connection is closed
      And receiver "after" starts to wait on the queue
      And message "control" is sent to the queue
      Then "after" sees "control" exactly once
      And "after" never sees "m1" to "m3"

    Scenario: If the second callback fails, no message of its batch or of the other batches is lost
      Given an empty queue
      And messages "m1" to "m12" are sent to the queue
      And session "s" in dups-ok mode
      And receiver "receiver" of session "s" on the queue
      When "receiver" starts to take batches of at most 3 within 500 ms and fails in callback 2
      Then every message of the failed batch comes to the receiver again
      And the receiver sees "m1" to "m12" at least once

    @kit
    Scenario: If a callback closes its receiver and then fails, no message is lost
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And session "s" in dups-ok mode
      And receiver "receiver" of session "s" on the queue
      When "receiver" starts to take batches of at most 3 within 500 ms and closes its receiver as soon as 3 messages have come and fails in callback 1
      And "receiver" has seen "m1" to "m3"
      And 1 s pass
      And receiver "after" starts to wait on the queue
      Then "after" sees "m1" to "m3" at least once

    Scenario Outline: If the connection is lost when "<seen>" is received, no message is lost
      Given an empty queue
      And messages "m1" to "m20" are sent to the queue
      And session "s" in dups-ok mode
      And receiver "receiver" of session "s" on the queue
      And the connection of "receiver" will be lost when "<seen>" is first seen
      When "receiver" starts to take batches of at most 3 within 500 ms and works 100 ms on each
      And the connection of "receiver" has been lost
      And receiver "after" starts to wait on the queue
      Then "receiver" and "after" together see "m1" to "m20" at least once

      Examples:
        | seen |
        | m1   |
        | m3   |
        | m8   |
        | m12  |

    Scenario Outline: If the connection is <ended> while a batch is being filled, no message is lost
      Given an empty queue
      And session "s" in dups-ok mode
      And receiver "receiver" of session "s" on the queue
      And "receiver" takes batches of at most 10 within 5 s
      When messages "m1" to "m4" are sent to the queue
      And 1 s pass
      And "receiver"'s connection is <ended>
      And receiver "after" starts to wait on the queue
      Then "receiver" and "after" together see "m1" to "m4" at least once

      Examples:
        | ended  |
        | lost   |
        | closed |

    Scenario: The acknowledgement of one receiver's batches does not cover another receiver's unfinished batch
      Given an empty queue "one"
      And an empty queue "two"
      And session "s" in dups-ok mode
      And receiver "quick" of session "s" on queue "one"
      And receiver "patient" of session "s" on queue "two"
      And "quick" takes batches of at most 2 within 50 ms
      And "patient" takes batches of at most 10 within 10 s
      When messages "b1" to "b3" are sent to queue "two"
      And messages "a1" to "a4" are sent to queue "one"
      And "quick" has seen "a1" to "a4"
      And 1 s pass
      And "patient"'s connection is lost
      And receiver "after" starts to wait on queue "two"
      Then "patient" and "after" together see "b1" to "b3" at least once

    @evidence @needs-cut @needs-kill-at-first-sight
    Scenario: If every connection is cut, no message is lost
      Given an empty queue
      And messages "m1" to "m20" are sent to the queue
      And session "s" in dups-ok mode
      And receiver "receiver" of session "s" on the queue
      And every connection will be cut when "m8" is first seen
      When "receiver" starts to take batches of at most 3 within 500 ms and works 100 ms on each
      And every connection has been cut
      And receiver "after" starts to wait on the queue
      Then "receiver" and "after" together see "m1" to "m20" at least once

    @evidence @needs-kill @needs-kill-at-first-sight
    Scenario: A killed broker loses no message
      Given an empty queue
      And messages "m1" to "m20" are sent to the queue
      And session "s" in dups-ok mode
      And receiver "receiver" of session "s" on the queue
      And the broker will be killed when "m8" is first seen
      When "receiver" starts to take batches of at most 3 within 500 ms and works 100 ms on each
      And the broker has been killed and is back
      And receiver "after" starts to wait on the queue
      Then "receiver" and "after" together see "m1" to "m20" at least once

    @evidence
    Scenario: If a batch listener is removed and another is set, no message is lost
      Given an empty queue
      And messages "m1" to "m10" are sent to the queue
      And session "s" in dups-ok mode
      And receiver "receiver" of session "s" on the queue
      When a batch listener of size 3 and timeout 500 ms is set on "receiver"
      And "receiver" has seen "m3"
      And the batch listener of "receiver" is removed
      And a batch listener of size 2 and timeout 500 ms is set on "receiver"
      Then the receiver sees "m1" to "m10" at least once

    @evidence @needs-restart
    Scenario: A restarted broker loses no message
      Given an empty queue
      And messages "m1" to "m10" are sent to the queue
      And session "s" in dups-ok mode
      And receiver "receiver" of session "s" on the queue
      When "receiver" starts to take batches of at most 3 within 500 ms and works 500 ms on each
      And "receiver" has seen "m4"
      And the broker is restarted
      And receiver "after" starts to wait on the queue
      Then "receiver" and "after" together see "m1" to "m10" at least once
