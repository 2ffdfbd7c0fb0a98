"""Parts of `bench/broker.py`: starts of brokers, clients that load them, and figures of the operating system."""
