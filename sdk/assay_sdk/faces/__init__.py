"""The faces: JMS 2.0's classic and simplified interface and MQ Light's, thin over one engine, written as Python."""
