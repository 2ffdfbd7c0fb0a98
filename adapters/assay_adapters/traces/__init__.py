"""Logs and pasts of brokers in containers (`containers`) and of brokers that write to a file (`files`)."""
