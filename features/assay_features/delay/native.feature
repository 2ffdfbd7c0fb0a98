Feature: Delivery delay is for the JMS client only
  IBM MQ, JMS 2.0 delivery delay, line 11.

  @DD-20 @needs-delivery-delay @needs-admin @needs-native-put
  Rule: A native put that asks for a delay is refused or delivered at once, and never delayed
    Line 11 offers the delay to JMS clients alone.  It does not say what happens if another application asks for a
    delay in its put (a native put).  The broker may refuse the put, or deliver the message at once; the scenarios
    record which.  A broker that accepts delays over further protocols discloses this as its own extension.

    Scenario Outline: A native put that asks for a delay of <delay> is refused, or delivered without the delay
      Given an empty queue
      And a receiver is waiting on the queue
      When a native application puts "native" on the queue and asks for a delay of <delay>
      And a native application puts "control" on the queue
      Then putting "control" is accepted
      And the receiver sees "control" exactly once
      And putting "native" is refused, or else the receiver sees it undelayed

      Examples:
        | delay |
        | 9 s   |
        | 1 min |
        | 1 h   |

    Scenario: If a native put to an alias asks for a delay, the put is refused, or delivered without the delay
      Given an empty queue
      And the queue has been defined
      And an alias "front" for the queue
      And a receiver is waiting on the queue
      When a native application puts "native" on alias "front" and asks for a delay of 1 h
      And a native application puts "control" on alias "front"
      Then putting "control" is accepted
      And the receiver sees "control" exactly once
      And putting "native" is refused, or else the receiver sees it undelayed

    Scenario Outline: A native put that names a delay in property <property> is refused, or delivered without the delay
      A broker may know one of these properties instead of the kit's own property for the delay.

      Given an empty queue
      And a receiver is waiting on the queue
      When a native application puts "native" on the queue with property <property> = 3600000
      And a native application puts "control" on the queue
      Then putting "control" is accepted
      And the receiver sees "control" exactly once
      And putting "native" is refused, or else the receiver sees it undelayed

      Examples:
        | property             |
        | JMSDeliveryDelay     |
        | JMS_DeliveryDelay    |
        | x_opt_delivery_delay |

    @evidence
    Scenario: A native put that asks for a delay puts no message on the staging queue
      Given an empty queue
      When message "control" is sent to the queue with a delivery delay of 1 h
      And a native application puts "native" on the queue and asks for a delay of 1 h
      Then the staging queue holds "control"
      And the staging queue does not hold "native"

    @control
    Scenario: A native put that asks for no delay is delivered at once
      Given an empty queue
      And a receiver is waiting on the queue
      When a native application puts "native" on the queue
      Then putting "native" is accepted
      And the receiver sees "native" within 2 s after its send

    @needs-non-persistent
    Scenario: A non-persistent native put with a delay property and a priority is refused, or delivered without the delay
      Given an empty queue
      And a receiver is waiting on the queue
      When a native application puts "native" on the queue with property JMSDeliveryDelay = 3600000, delivery mode non-persistent and priority 7
      And a native application puts "control" on the queue
      Then putting "control" is accepted
      And the receiver sees "control" exactly once
      And putting "native" is refused, or else the receiver sees it undelayed

    Scenario: A native put that asks for a delay of 0 is refused, or delivered at once
      Given an empty queue
      And a receiver is waiting on the queue
      When a native application puts "native" on the queue and asks for a delay of 0 ms
      And a native application puts "control" on the queue
      Then putting "control" is accepted
      And the receiver sees "control" exactly once
      And putting "native" is refused, or else the receiver sees it undelayed
