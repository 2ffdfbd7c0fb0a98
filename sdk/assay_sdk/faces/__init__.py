"""The faces: JMS 2.0's classic and simplified interface, thin over one engine, in its words written as Python."""
