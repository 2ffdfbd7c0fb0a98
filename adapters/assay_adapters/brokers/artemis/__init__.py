"""Apache Artemis in a container."""
