Feature: A consumer can have a listener that receives batches
  JMS_SPEC-36, lines 24 to 34.

  @BT-01 @needs-batch-listener
  Rule: A consumer accepts a listener whose callback receives a list of messages
    Line 24.  A list may hold a single message, so the scenarios claim that messages come in numbered batches.

    Scenario Outline: A <style> receiver accepts a batch listener
      Given an empty queue
      And a <style> receiver on the queue
      When a batch listener of size 3 and timeout 500 ms is set on "receiver"
      Then it is accepted

      Examples:
        | style      |
        | classic    |
        | simplified |

    Scenario Outline: The batch listener of a <style> receiver gets its messages in a batch
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And a <style> receiver on the queue
      When the receiver starts to take batches of at most 3 within 500 ms
      Then the first batch of the receiver holds "m1"

      Examples:
        | style      |
        | classic    |
        | simplified |

    Scenario Outline: The batch listener of a <style> receiver gets every message once
      Given an empty queue
      And a <style> receiver on the queue
      And the receiver takes batches of at most 3 within 500 ms
      When messages "m1" to "m4" are sent to the queue
      Then the receiver sees "m1" to "m4" exactly once

      Examples:
        | style      |
        | classic    |
        | simplified |

    @kit @judges-client
    Scenario: A batch listener that replaces another batch listener gets the later messages in batches
      Given an empty queue
      And a receiver on the queue
      When a batch listener of size 3 and timeout 10000 ms is set on "receiver"
      And messages "m1" to "m3" are sent to the queue
      And "receiver" has seen "m1" to "m3"
      And a batch listener of size 3 and timeout 10000 ms is set on "receiver"
      And messages "m4" to "m6" are sent to the queue
      Then the receiver sees "m1" to "m6" exactly once
      And the receiver receives 2 batches of exactly 3 messages

    @evidence
    Scenario: A receiver gets batches after another receiver of its session was closed during a callback
      Given an empty queue "one"
      And an empty queue "two"
      And session "s" in auto mode
      And receiver "other" of session "s" on queue "one"
      And receiver "receiver" of session "s" on queue "two"
      And "other" takes batches of at most 2 within 500 ms and works 1 s on each
      And "receiver" takes batches of at most 2 within 500 ms
      When messages "a1" to "a4" are sent to queue "one"
      And messages "b1" to "b3" are sent to queue "two"
      And "other" has seen "a1"
      And "other" is closed
      Then "receiver" sees "b1" to "b3" exactly once
      And the first batch of the receiver holds "b1"

  @BT-02 @needs-batch-listener
  Rule: An application sets a batch listener with three arguments: the listener, the batch size and the batch timeout in milliseconds
    Lines 26 to 34.  Each of the three takes effect.

    Scenario: A message comes to the batch listener that the application set
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 5 within 500 ms
      When a message is sent to the queue
      Then the receiver sees the message exactly once

    Scenario Outline: With a batch size of <size>, no batch has more than <size> messages
      Given an empty queue
      And 5 messages are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most <size> within 500 ms
      Then the receiver sees each of these messages exactly once
      And the receiver's batches hold at most <size> messages

      Examples:
        | size |
        | 2    |
        | 3    |

    @kit
    Scenario: If a batch listener is set twice, the second batch size applies
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 10 within 500 ms
      And the receiver takes batches of at most 2 within 500 ms
      When messages "m1" to "m5" are sent to the queue
      Then the receiver sees "m1" to "m5" exactly once
      And the receiver's batches hold at most 2 messages

    @kit
    Scenario: If a batch listener is set again while a batch is being filled, the second timeout applies to the messages
      Given the time of an unbatched delivery has been measured
      And an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 10 within 10 min
      When messages "m1" to "m3" are sent to the queue
      And 1 s pass
      And the receiver starts to take batches of at most 10 within 500 ms
      Then the receiver sees "m1" to "m3" exactly once
      And each batch of at most 10 reaches the receiver at most 500 ms after its first message could be delivered, with a tolerance

    Scenario Outline: A batch timeout of <timeout> is counted in milliseconds
      Given the time of an unbatched delivery has been measured
      And an empty queue
      And a receiver on the queue
      When a batch listener of size 5 and timeout <timeout> ms is set on "receiver"
      And a message is sent to the queue
      Then the receiver sees the message exactly once
      And each batch of at most 5 reaches the receiver at most <timeout> ms after its first message could be delivered, with a tolerance

      Examples:
        | timeout |
        | 100     |
        | 1500    |

    @evidence
    Scenario Outline: A batch listener of size <size> can replace another batch listener, and receives the messages
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 2 within 500 ms
      When a batch listener of size <size> and timeout 500 ms is set on "receiver"
      Then it is accepted
      When messages "m1" and "m2" are sent to the queue
      Then the receiver sees "m1" and "m2" exactly once

      Examples:
        | size |
        | 1    |
        | 2    |
        | 5    |

    @kit
    Scenario: If a batch listener is set twice during a callback, the last timeout applies to the waiting messages
      Given an empty queue
      And messages "m1" to "m3" are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most 2 within 10 min and works 1 s on each
      And "receiver" has seen "m1"
      And a batch listener of size 2 and timeout 600000 ms is set on "receiver"
      And a batch listener of size 2 and timeout 500 ms is set on "receiver"
      Then the receiver sees "m1" to "m3" exactly once
      And the receiver's batches hold at most 2 messages

  @BT-03 @needs-batch-listener
  Rule: A message listener and a batch listener on one consumer are an illegal state
    Line 30.  It does not matter which listener is set first.  After its removal, the consumer accepts the other kind.
    A consumer with any listener refuses a receive call (Jakarta Messaging 3.1, section 8.7).

    Scenario Outline: A <style> receiver with a message listener refuses a batch listener
      Given an empty queue
      And a <style> receiver on the queue
      When a message listener is set on "receiver"
      And a batch listener of size 3 and timeout 500 ms is set on "receiver"
      Then it is refused as an illegal state error

      Examples:
        | style      |
        | classic    |
        | simplified |

    Scenario Outline: A <style> receiver with a batch listener refuses a message listener
      Given an empty queue
      And a <style> receiver on the queue
      When a batch listener of size 3 and timeout 500 ms is set on "receiver"
      And a message listener is set on "receiver"
      Then it is refused as an illegal state error

      Examples:
        | style      |
        | classic    |
        | simplified |

    @kit
    Scenario: After the removal of a message listener that was never set, a receiver with a batch listener still refuses a message listener
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 3 within 500 ms
      When the message listener of "receiver" is removed
      And a message listener is set on "receiver"
      Then it is refused as an illegal state error

    @evidence
    Scenario: The batch listener still receives messages after the receiver refused a message listener
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 3 within 500 ms
      When a message listener is set on "receiver"
      And a message is sent to the queue
      Then the receiver sees the message exactly once
      And the first batch of the receiver holds "message"

    @evidence
    Scenario: The message listener still receives messages after the receiver refused a batch listener
      Given an empty queue
      And a receiver on the queue
      When a message listener is set on "receiver"
      And a batch listener of size 3 and timeout 500 ms is set on "receiver"
      And a message is sent to the queue
      Then the receiver sees "message" outside any batch
      And the receiver sees the message exactly once

    @kit
    Scenario: After a message listener received a message and was removed, a new batch listener receives batches
      Given an empty queue
      And a receiver is waiting on the queue
      When message "single" is sent to the queue
      And "receiver" has seen "single"
      And the message listener of "receiver" is removed
      And the receiver starts to take batches of at most 3 within 500 ms
      And messages "m1" to "m3" are sent to the queue
      Then the receiver sees "m1" to "m3" exactly once
      And the first batch of the receiver holds "m1"

    Scenario: A receiver accepts a batch listener after its message listener was removed
      Given an empty queue
      And a receiver on the queue
      When a message listener is set on "receiver"
      And the message listener of "receiver" is removed
      And a batch listener of size 3 and timeout 500 ms is set on "receiver"
      Then it is accepted

    @kit
    Scenario: A receiver accepts a message listener after its batch listener was removed
      Given an empty queue
      And a receiver on the queue
      When a batch listener of size 3 and timeout 500 ms is set on "receiver"
      And the batch listener of "receiver" is removed
      And a message listener is set on "receiver"
      Then it is accepted

    @evidence
    Scenario Outline: A <style> receiver with a batch listener refuses a receive call
      Given an empty queue
      And a <style> receiver on the queue
      When a batch listener of size 3 and timeout 500 ms is set on "receiver"
      And "receiver" asks for a message
      Then it is refused

      Examples:
        | style      |
        | classic    |
        | simplified |

    @kit
    Scenario: A receiver accepts a receive call after its batch listener was removed
      Given an empty queue
      And a receiver on the queue
      When a batch listener of size 3 and timeout 500 ms is set on "receiver"
      And the batch listener of "receiver" is removed
      And "receiver" asks for a message
      Then it is accepted

    @kit
    Scenario: After a batch listener was removed, a new message listener gets the messages
      Given an empty queue
      And a receiver on the queue
      When a batch listener of size 3 and timeout 500 ms is set on "receiver"
      And the batch listener of "receiver" is removed
      And a message listener is set on "receiver"
      And messages "m1" to "m4" are sent to the queue
      Then the receiver sees "m1" to "m4" exactly once

    @kit
    Scenario: After a message listener was removed, a new batch listener gets the messages
      Given an empty queue
      And a receiver on the queue
      When a message listener is set on "receiver"
      And the message listener of "receiver" is removed
      And a batch listener of size 3 and timeout 500 ms is set on "receiver"
      And messages "m1" to "m4" are sent to the queue
      Then the receiver sees "m1" to "m4" exactly once
      And the receiver's batches hold at most 3 messages

    @kit
    Scenario: After a batch listener was removed, the size of a new batch listener applies to the messages that waited
      Given an empty queue
      And a receiver on the queue
      When a batch listener of size 10 and timeout 60000 ms is set on "receiver"
      And messages "m1" to "m4" are sent to the queue
      And 1 s pass
      And the batch listener of "receiver" is removed
      And a batch listener of size 2 and timeout 500 ms is set on "receiver"
      Then the receiver sees "m1" to "m4" exactly once
      And the receiver's batches hold at most 2 messages

    @kit @needs-return-to-others
    Scenario: Messages that waited for a full batch come to another receiver when the listener is removed
      Given an empty queue
      And a receiver on the queue
      When a batch listener of size 10 and timeout 60000 ms is set on "receiver"
      And messages "m1" to "m3" are sent to the queue
      And 1 s pass
      And the batch listener of "receiver" is removed
      And receiver "other" starts to wait on the queue
      Then "other" sees "m1" to "m3" exactly once
      And the receiver never sees "m1" to "m3"

    @kit
    Scenario: The removal of a message listener that was never set does not remove the batch listener
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 3 within 500 ms
      When the message listener of "receiver" is removed
      And messages "m1" to "m4" are sent to the queue
      Then the receiver sees "m1" to "m4" exactly once
      And the receiver's batches hold at most 3 messages

    @kit
    Scenario: The removal of a batch listener that was never set does not remove the message listener
      Given an empty queue
      And a receiver is waiting on the queue
      When the batch listener of "receiver" is removed
      And messages "m1" to "m4" are sent to the queue
      Then the receiver sees "m1" to "m4" exactly once
      And the receiver sees "m1" outside any batch

    Scenario Outline: If one receiver of a session has a <first> listener, another receiver accepts a <second> listener
      Given an empty queue "one"
      And an empty queue "two"
      And session "s" in auto mode
      And receiver "one" of session "s" on queue "one"
      And receiver "two" of session "s" on queue "two"
      When a <listener> on "one"
      And a <other> on "two"
      Then it is accepted

      Examples:
        | first   | second  | listener                                             | other                                                |
        | batch   | message | batch listener of size 3 and timeout 500 ms is set   | message listener is set                              |
        | message | batch   | message listener is set                              | batch listener of size 3 and timeout 500 ms is set   |

    @kit
    Scenario: If one receiver of a session has a batch listener and another a message listener, each gets its own messages
      Given an empty queue "one"
      And an empty queue "two"
      And messages "a1" to "a4" are sent to queue "one"
      And messages "b1" to "b4" are sent to queue "two"
      And session "s" in auto mode
      And receiver "batches" of session "s" on queue "one"
      And receiver "singly" of session "s" on queue "two"
      When a batch listener of size 3 and timeout 500 ms is set on "batches"
      And a message listener is set on "singly"
      Then it is accepted
      And "batches" sees "a1" to "a4" exactly once
      And "singly" sees "b1" to "b4" exactly once
      And "batches"'s batches hold at most 3 messages

    @evidence
    Scenario: A message listener can replace another message listener, and receives the messages
      Given an empty queue
      And a receiver on the queue
      When a message listener is set on "receiver"
      And a message listener is set on "receiver"
      Then it is accepted
      When message "m1" is sent to the queue
      Then the receiver sees "m1" exactly once

  @BT-14 @needs-batch-listener
  Rule: A size of zero or below, or a negative timeout, is refused
    The document leaves open the meaning of such values.  Our client refuses them, and keeps the listener that was set
    before.

    Scenario Outline: A batch listener of size <size> and timeout <timeout> ms is refused
      Given an empty queue
      And a receiver on the queue
      When a batch listener of size <size> and timeout <timeout> ms is set on "receiver"
      Then it is refused

      Examples:
        | size | timeout |
        | 0    | 500     |
        | -1   | 500     |
        | 3    | -1      |
        | 0    | -1      |

    Scenario Outline: After a batch listener was refused for an invalid <what>, the receiver accepts a message listener
      Given an empty queue
      And a receiver on the queue
      When a batch listener of size <size> and timeout <timeout> ms is set on "receiver"
      And a message listener is set on "receiver"
      Then it is accepted

      Examples:
        | what    | size | timeout |
        | size    | 0    | 500     |
        | timeout | 3    | -1      |

    Scenario: A refused batch size does not remove the existing batch listener
      Given an empty queue
      And a receiver on the queue
      And the receiver takes batches of at most 3 within 500 ms
      When a batch listener of size 0 and timeout 500 ms is set on "receiver"
      And messages "m1" to "m4" are sent to the queue
      Then the receiver sees "m1" to "m4" exactly once
      And the receiver's batches hold at most 3 messages

    Scenario: After a batch listener was refused for an invalid size, a batch listener with a valid size receives messages
      Given an empty queue
      And a receiver on the queue
      When a batch listener of size 0 and timeout 500 ms is set on "receiver"
      And a batch listener of size 3 and timeout 500 ms is set on "receiver"
      And a message is sent to the queue
      Then the receiver sees the message exactly once

    Scenario: A batch size that is refused during a callback does not affect the waiting messages
      Given an empty queue
      And messages "m1" to "m5" are sent to the queue
      And a receiver on the queue
      When the receiver starts to take batches of at most 2 within 500 ms and works 1 s on each
      And "receiver" has seen "m1"
      And a batch listener of size 0 and timeout 500 ms is set on "receiver"
      Then it is refused
      And the receiver sees "m1" to "m5" exactly once
      And the receiver's batches hold at most 2 messages
