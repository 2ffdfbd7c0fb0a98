"""Parts of a local connection for the client and the broker: encoding of commands and events, and the socket."""
