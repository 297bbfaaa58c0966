# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
How much a frame may demand of its decoder.

The size alone says little: sixteen million empty maps fit into 16 MB, and no request needs them.
What is counted is what costs: bytes, values, and containers (maps and lists), which also burden
Python's garbage collector.  Every decoder of the wire takes its limits from here; those of the
threads that decode for others are in `sim.transports.frame_decoder`.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_DEPTH = 100  # maps and lists inside each other, in both encodings
MAX_VECTOR = 1 << 17  # numbers of one list in a request


@dataclass(frozen=True, slots=True)
class DecodeLimits:
    """
    What a decoder accepts.

    :ivar size: bytes of a msgpack frame.
    :ivar json_size: bytes of a JSON frame, which is decoded in a few long passes.
    :ivar values: keys and values of all maps and lists together.
    :ivar json_values: likewise, under JSON; commas and colons are counted, in texts too.
    :ivar containers: maps and lists; under JSON opening brackets, in texts too.
    :ivar at_once: frames up to so many bytes may be decoded without a break.
    :ivar at_once_containers: likewise, bytes that may begin a map or a list.
    """

    size: int
    json_size: int
    values: int
    json_values: int
    containers: int
    at_once: int
    at_once_containers: int


REQUEST = DecodeLimits(
    size=16 << 20,
    json_size=1 << 20,
    values=1 << 18,
    json_values=1 << 16,
    containers=1 << 14,
    at_once=1 << 14,
    at_once_containers=1 << 10,
)
# The reader of a reply waits for it anyway, and has no other peers to serve.
REPLY = DecodeLimits(
    size=1 << 30,
    json_size=1 << 30,
    values=1 << 22,
    json_values=1 << 22,
    containers=1 << 18,
    at_once=1 << 18,
    at_once_containers=1 << 18,
)
# JSON of the control and info streams: a map for each actuator.
GAINS_BYTES = 1 << 16
INFO_BYTES = 1 << 20
STREAM_VALUES = 1 << 16
STREAM_CONTAINERS = 1 << 13


__all__ = ['MAX_DEPTH', 'MAX_VECTOR', 'REPLY', 'REQUEST', 'DecodeLimits']
