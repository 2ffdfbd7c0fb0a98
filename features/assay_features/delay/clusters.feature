Feature: A delayed message to a clustered destination needs DEFBIND(NOTFIXED)
  IBM MQ, JMS 2.0 delivery delay, line 14.

  @DD-11 @needs-delivery-delay @needs-admin
  Rule: A delayed send to a clustered destination whose DEFBIND is not NOTFIXED is refused
    Line 14: the send fails with MQRC_OPTIONS_ERROR; the call that sets the delay succeeds.  A queue is clustered when
    its CLUSTER names a cluster.  An alias is opened with its own DEFBIND, not with that of its queue.  The document
    leaves open whether client or broker refuses; with the client's checks switched off, only the broker can refuse.

    Scenario Outline: A clustered queue with DEFBIND(<defbind>) refuses a <style> producer's message with a delay of <delay>
      Given a queue with CLUSTER(SHOP) DEFBIND(<defbind>)
      And a <style> producer on the queue
      And the producer's delivery delay is <delay>
      When the producer sends a message
      Then it is refused with MQRC_OPTIONS_ERROR as a <exception> exception

      Examples:
        | style      | defbind | delay | exception |
        | classic    | OPEN    | 1 ms  | checked   |
        | classic    | OPEN    | 5 s   | checked   |
        | classic    | GROUP   | 1 ms  | checked   |
        | classic    | GROUP   | 5 s   | checked   |
        | simplified | OPEN    | 1 ms  | runtime   |
        | simplified | OPEN    | 5 s   | runtime   |
        | simplified | GROUP   | 1 ms  | runtime   |
        | simplified | GROUP   | 5 s   | runtime   |

    Scenario: A clustered queue that is defined without DEFBIND refuses a delayed message, because OPEN is the default
      Given a queue with CLUSTER(SHOP)
      When a message is sent to the queue with a delivery delay of 1 s
      Then it is refused with MQRC_OPTIONS_ERROR

    Scenario Outline: A queue with DEFBIND(<defbind>) and a list of clusters (CLUSNL) refuses a delayed message
      Given a queue with CLUSNL(SHOPS) DEFBIND(<defbind>)
      When a message is sent to the queue with a delivery delay of 1 s
      Then it is refused with MQRC_OPTIONS_ERROR

      Examples:
        | defbind |
        | OPEN    |
        | GROUP   |

    Scenario Outline: A clustered queue with DEFBIND(<defbind>) refuses a delayed message of a <style> producer without a destination
      Given a queue with CLUSTER(SHOP) DEFBIND(<defbind>)
      And a <style> producer without a destination
      And the producer's delivery delay is 1 s
      When the producer sends message "slow" to the queue
      Then it is refused with MQRC_OPTIONS_ERROR as a <exception> exception

      Examples:
        | style      | defbind | exception |
        | classic    | OPEN    | checked   |
        | simplified | GROUP   | runtime   |

    Scenario: A clustered queue whose DEFBIND is altered to OPEN refuses the next producer's delayed message
      Given a queue with CLUSTER(SHOP) DEFBIND(NOTFIXED)
      When message "one" is sent to the queue with a delivery delay of 1 h
      And the queue is altered to DEFBIND(OPEN)
      And message "two" is sent to the queue with a delivery delay of 1 h
      Then sending "one" is accepted
      And sending "two" is refused with MQRC_OPTIONS_ERROR

    @evidence @needs-restart
    Scenario: After a restart, a clustered queue whose DEFBIND was altered to OPEN still refuses a delayed message
      Given a queue with CLUSTER(SHOP) DEFBIND(NOTFIXED)
      And the queue has been altered to DEFBIND(OPEN)
      When the broker is restarted
      And message "one" is sent to the queue with a delivery delay of 1 h
      Then sending "one" is refused with MQRC_OPTIONS_ERROR

    Scenario: A clustered queue whose DEFBIND is altered to NOTFIXED accepts the next producer's delayed message
      Given a queue with CLUSTER(SHOP) DEFBIND(OPEN)
      And a receiver is waiting on the queue
      When message "one" is sent to the queue with a delivery delay of 1 s
      And the queue is altered to DEFBIND(NOTFIXED)
      And message "two" is sent to the queue with a delivery delay of 1 s
      Then sending "one" is refused with MQRC_OPTIONS_ERROR
      And sending "two" is accepted
      And the receiver sees "two" exactly once

    Scenario Outline: A <style> producer's delayed message to a clustered queue with DEFBIND(NOTFIXED) is delivered
      Given a queue with CLUSTER(SHOP) DEFBIND(NOTFIXED)
      And a receiver is waiting on the queue
      And a <style> producer on the queue
      And the producer's delivery delay is 1 s
      When the producer sends message "slow"
      Then sending "slow" is accepted
      And the receiver sees "slow" exactly once

      Examples:
        | style      |
        | classic    |
        | simplified |

    @control
    Scenario Outline: A delayed message to a non-clustered queue with DEFBIND(<defbind>) is delivered
      Given a queue with DEFBIND(<defbind>)
      And a receiver is waiting on the queue
      When message "slow" is sent to the queue with a delivery delay of 1 s
      Then sending "slow" is accepted
      And the receiver sees "slow" exactly once

      Examples:
        | defbind  |
        | OPEN     |
        | GROUP    |
        | NOTFIXED |

    @control
    Scenario Outline: A message with a delay of 0 to a clustered queue with DEFBIND(<defbind>) is delivered
      Given a queue with CLUSTER(SHOP) DEFBIND(<defbind>)
      And a receiver is waiting on the queue
      When message "now" is sent to the queue with a delivery delay of 0 ms
      Then sending "now" is accepted
      And the receiver sees "now" exactly once

      Examples:
        | defbind  |
        | OPEN     |
        | GROUP    |
        | NOTFIXED |

    @evidence
    Scenario: A refused delayed message is neither on the clustered queue nor on the staging queue
      Given a queue with CLUSTER(SHOP) DEFBIND(OPEN)
      And an empty queue "plain"
      When message "control" is sent to queue "plain" with a delivery delay of 1 h
      And message "slow" is sent to the queue with a delivery delay of 1 s
      And 3 s have passed since "slow" was sent
      Then sending "slow" is refused with MQRC_OPTIONS_ERROR
      And the staging queue holds "control"
      And the staging queue does not hold "slow"
      And the queue is empty

    @kit
    Scenario: An alias with DEFBIND(OPEN) for a clustered queue with DEFBIND(NOTFIXED) refuses a delayed message
      Given a queue with CLUSTER(SHOP) DEFBIND(NOTFIXED)
      And an alias "front" for the queue with DEFBIND(OPEN)
      When a message is sent to alias "front" with a delivery delay of 1 s
      Then it is refused with MQRC_OPTIONS_ERROR

    @kit
    Scenario: An alias with DEFBIND(NOTFIXED) for a clustered queue with DEFBIND(OPEN) accepts a delayed message
      Given a queue with CLUSTER(SHOP) DEFBIND(OPEN)
      And an alias "front" for the queue with DEFBIND(NOTFIXED)
      And a receiver is waiting on the queue
      When message "slow" is sent to alias "front" with a delivery delay of 1 s
      Then sending "slow" is accepted
      And the receiver sees "slow" exactly once

    @kit @judges-broker @needs-checks-off
    Scenario Outline: With the client's checks off, the broker refuses a delayed message to a clustered queue with DEFBIND(<defbind>)
      Given the client's own checks are switched off
      And a queue with CLUSTER(SHOP) DEFBIND(<defbind>)
      When a message is sent to the queue with a delivery delay of 1 s
      Then it is refused with MQRC_OPTIONS_ERROR

      Examples:
        | defbind |
        | OPEN    |
        | GROUP   |

    @kit @judges-broker @needs-checks-off @needs-non-persistent
    Scenario: With the client's checks off, the broker refuses a delayed non-persistent message to a clustered queue with DEFBIND(OPEN)
      Given the client's own checks are switched off
      And a queue with CLUSTER(SHOP) DEFBIND(OPEN)
      When a message is sent to the queue with a delivery delay of 1 s and delivery mode non-persistent
      Then it is refused with MQRC_OPTIONS_ERROR

    @kit @judges-broker @needs-checks-off
    Scenario: With the client's checks off, the broker refuses a delayed message to an alias with DEFBIND(OPEN)
      Given the client's own checks are switched off
      And a queue with CLUSTER(SHOP) DEFBIND(NOTFIXED)
      And an alias "front" for the queue with DEFBIND(OPEN)
      When a message is sent to alias "front" with a delivery delay of 1 s
      Then it is refused with MQRC_OPTIONS_ERROR

    @kit @judges-broker @needs-checks-off @needs-local-transaction
    Scenario: In a unit of work, with the client's checks off, the broker refuses a delayed send to a clustered queue with DEFBIND(OPEN)
      Given the client's own checks are switched off
      And a queue with CLUSTER(SHOP) DEFBIND(OPEN)
      And session "work" in transacted mode
      When message "slow" is sent in session "work" to the queue with a delivery delay of 1 s
      Then sending "slow" is refused with MQRC_OPTIONS_ERROR

    @evidence @topology-cluster
    Scenario Outline: A delayed message to another queue manager's queue with <attributes> is refused
      Given queue "orders" at queue manager "B" has been defined with <attributes>
      When message "slow" is sent to queue "orders" with a delivery delay of 1 s
      And message "now" is sent to queue "orders"
      Then sending "slow" is refused with MQRC_OPTIONS_ERROR
      And sending "now" is accepted
      And queue "orders" at queue manager "B" holds "now"

      Examples:
        | attributes                   |
        | CLUSTER(SHOP)                |
        | CLUSTER(SHOP) DEFBIND(OPEN)  |
        | CLUSTER(SHOP) DEFBIND(GROUP) |
        | CLUSNL(SHOPS) DEFBIND(OPEN)  |

    @kit @judges-broker @topology-cluster @needs-checks-off
    Scenario Outline: With the client's checks off, the broker refuses a delayed message to another queue manager's queue with DEFBIND(<defbind>)
      Given the client's own checks are switched off
      And queue "orders" at queue manager "B" has been defined with CLUSTER(SHOP) DEFBIND(<defbind>)
      When message "slow" is sent to queue "orders" with a delivery delay of 1 s
      Then it is refused with MQRC_OPTIONS_ERROR

      Examples:
        | defbind |
        | OPEN    |
        | GROUP   |

    @evidence @topology-cluster @needs-non-persistent
    Scenario Outline: A delayed <mode> message to another queue manager's queue with DEFBIND(NOTFIXED) is delivered
      Given queue "orders" at queue manager "B" has been defined with CLUSTER(SHOP) DEFBIND(NOTFIXED)
      And receiver "far" is waiting on queue "orders" at queue manager "B"
      When message "slow" is sent to queue "orders" with a delivery delay of 2 s and delivery mode <mode>
      Then sending "slow" is accepted
      And "far" sees "slow" exactly once

      Examples:
        | mode           |
        | persistent     |
        | non-persistent |

    @evidence @topology-cluster
    Scenario: Each of two delayed messages to different queues of another queue manager is delivered to its own queue
      Given queue "orders" at queue manager "B" has been defined with CLUSTER(SHOP) DEFBIND(NOTFIXED)
      And queue "returns" at queue manager "B" has been defined with CLUSTER(SHOP) DEFBIND(NOTFIXED)
      And receiver "first" is waiting on queue "orders" at queue manager "B"
      And receiver "second" is waiting on queue "returns" at queue manager "B"
      When message "slow" is sent to queue "orders" with a delivery delay of 2 s
      And message "late" is sent to queue "returns" with a delivery delay of 2 s
      Then "first" sees "slow" exactly once
      And "second" sees "late" exactly once

    @kit @topology-cluster
    Scenario: A delayed message to an alias with DEFBIND(NOTFIXED) reaches another queue manager's queue with DEFBIND(OPEN)
      Given queue "orders" at queue manager "B" has been defined with CLUSTER(SHOP) DEFBIND(OPEN)
      And an alias "front" for queue "orders" with DEFBIND(NOTFIXED)
      And receiver "far" is waiting on queue "orders" at queue manager "B"
      When message "slow" is sent to alias "front" with a delivery delay of 1 s
      Then sending "slow" is accepted
      And "far" sees "slow" exactly once

    @evidence @needs-xa
    Scenario: In a branch of a global unit of work, a delayed send to a clustered queue with DEFBIND(OPEN) is refused
      Given a queue with CLUSTER(SHOP) DEFBIND(OPEN)
      And session "work" in xa mode
      And branch "job" has been started in session "work"
      When message "slow" is sent in session "work" to the queue with a delivery delay of 1 s
      Then sending "slow" is refused with MQRC_OPTIONS_ERROR

    @evidence @needs-local-transaction
    Scenario: After a rollback, a clustered queue with DEFBIND(OPEN) still refuses delayed messages, and a non-clustered queue accepts them
      Given a queue with CLUSTER(SHOP) DEFBIND(OPEN)
      And an empty queue "plain"
      And session "work" in transacted mode
      And producer "late" of session "work" on the queue with a delivery delay of 1 s
      And producer "other" of session "work" on queue "plain" with a delivery delay of 1 s
      When producer "other" sends message "before"
      And producer "late" sends message "slow" with delivery mode persistent for this send only
      And session "work" is rolled back
      And the delivery delay of producer "late" is set to 2 s
      And producer "late" sends message "again"
      And producer "other" sends message "after"
      Then sending "slow" is refused with MQRC_OPTIONS_ERROR
      And sending "again" is refused with MQRC_OPTIONS_ERROR
      And sending "after" is accepted
