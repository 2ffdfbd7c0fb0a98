"""STOMP 1.0, 1.1 and 1.2 without I/O: conversion of octets to frames, and of frames to octets.

`StompConnection` is one end of a connection: it reads and writes frames by the rules of the negotiated version, and
checks the order of frames with a state table (`assay_sdk.stomp.states`).  The reference broker uses it; the STOMP
driver uses `FrameReader` and `encode_frame` directly.  Both do all I/O and handle time and messages themselves.
"""

from assay_sdk.stomp.checks import check_frame
from assay_sdk.stomp.connection import StompConnection
from assay_sdk.stomp.errors import ContentError, LocalError, RemoteError, StompError
from assay_sdk.stomp.frames import BODY_COMMANDS, CLIENT_COMMANDS, SERVER_COMMANDS, Frame
from assay_sdk.stomp.headers import escape
from assay_sdk.stomp.heartbeats import HeartBeat, Pulse, agreed, parse_heart_beat
from assay_sdk.stomp.limits import DEFAULT_LIMITS, FrameLimits
from assay_sdk.stomp.reader import FrameReader
from assay_sdk.stomp.states import TABLES, Role, StompAction, StompInput, StompState
from assay_sdk.stomp.versions import VERSIONS, Version, common_version
from assay_sdk.stomp.writer import encode_frame, encode_headers

__all__ = [
    "BODY_COMMANDS",
    "CLIENT_COMMANDS",
    "DEFAULT_LIMITS",
    "SERVER_COMMANDS",
    "TABLES",
    "VERSIONS",
    "ContentError",
    "Frame",
    "FrameLimits",
    "FrameReader",
    "HeartBeat",
    "LocalError",
    "Pulse",
    "RemoteError",
    "Role",
    "StompAction",
    "StompConnection",
    "StompError",
    "StompInput",
    "StompState",
    "Version",
    "agreed",
    "check_frame",
    "common_version",
    "encode_frame",
    "encode_headers",
    "escape",
    "parse_heart_beat",
]
