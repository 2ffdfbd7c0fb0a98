"""The profile stomp-liveness: heart-beats over STOMP, of a broker and of a client, judged from what was on the wire."""
