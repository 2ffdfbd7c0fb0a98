"""Runners (`assay_sdk.time.Runner`): for virtual time, for real time and sockets, and on an asyncio loop."""
