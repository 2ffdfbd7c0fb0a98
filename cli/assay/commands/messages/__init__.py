"""The subcommands that send, receive and cancel messages."""
