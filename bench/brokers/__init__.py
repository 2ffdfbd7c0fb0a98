"""Parts of `bench/broker.py`: brokers that are started, clients that load them, and what is read from the system."""
