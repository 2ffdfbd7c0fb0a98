"""The typed client SDK: JMS 2.0's words written as Python, over in-process and AMQP 1.0 drivers."""
