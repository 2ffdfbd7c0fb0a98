"""Parts for both ends of a local connection: the encoded commands and events, and the socket that carries them."""
