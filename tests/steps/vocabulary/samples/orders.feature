Feature: Orders
  @PD-10
  Rule: A durable subscriber misses nothing
    Scenario: An order that comes while the subscriber is away
      Given a durable subscriber "billing" on topic "orders"
      And subscriber "billing" is inactive
      When message "order" is sent to topic "orders"
      And subscriber "billing" comes back
      Then "billing" sees "order" exactly once
