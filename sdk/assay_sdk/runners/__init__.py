"""Runners turn the crank of a world (`assay_sdk.time.Runner`): `virtual` for tests, `real` for sockets, or asyncio."""
