"""What both ends of a local connection have in common: the driver port as octets, and the socket that carries them."""
