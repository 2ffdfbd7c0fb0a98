"""The interfaces through which steps use clients, brokers, administration and faults: values and Python protocols."""
