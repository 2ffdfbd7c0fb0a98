"""The public API: JMS 2.0's classic and simplified interfaces and the MQ Light interface, over one engine."""
