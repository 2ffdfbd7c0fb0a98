"""The AMQP backend for brokers of other makers: `product` is data, and `backend` starts it in containers."""
