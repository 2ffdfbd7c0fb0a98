"""The profile stomp-liveness: heart-beats over STOMP, of a broker and of a client, judged from recorded octets."""
