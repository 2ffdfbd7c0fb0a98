"""What both ends of a local connection share: the encoded commands and events, and the socket that carries them."""
