"""Parts of a local connection that the client and the broker share: the encoding of commands and events, the socket."""
