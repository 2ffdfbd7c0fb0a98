"""One AMQP backend for the products of others: a product is data (`product`), `backend` starts it in containers."""
