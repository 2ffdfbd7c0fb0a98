"""Runners (`assay_sdk.time.Runner`): `virtual` for virtual time, `real` for sockets, and one on an asyncio loop."""
