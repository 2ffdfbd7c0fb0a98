"""The public API: JMS 2.0's classic and simplified interfaces and MQ Light's, over one engine."""
