"""MQ Light's client: a connection that comes back by itself, and subscriptions that are attached again."""
