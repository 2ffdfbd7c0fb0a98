"""The connection to the broker: its socket, the frames in its octets, and heart-beats."""
