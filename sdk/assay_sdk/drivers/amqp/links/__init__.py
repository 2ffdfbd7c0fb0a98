"""The client's ends of AMQP links: senders, receivers, browsers, requests and the transaction coordinator."""
