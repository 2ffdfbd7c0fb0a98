"""The reference broker as a server: a store, a queue manager and its listeners on one asyncio loop."""
