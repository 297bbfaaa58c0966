# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Messages that are mostly one byte sequence: images, point clouds.

The message is built inside the bytes object that is published, so pixels are written once, by the
conversion itself.
"""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import numpy as np
from rclpy.serialization import serialize_message

from urlab_ros_bridge.ros.messages.cdr.layout import lay_out
from urlab_ros_bridge.ros.messages.cdr.template import check as check_layout
from urlab_ros_bridge.wire.stamp import NANOSECONDS

_LENGTH = struct.Struct('<I')
_STAMP = struct.Struct('<iI')
# The two calls that Python's C API documents for making a bytes object and filling it while
# it is not shared.
_new_bytes = ctypes.pythonapi.PyBytes_FromStringAndSize
_new_bytes.restype = ctypes.py_object
_new_bytes.argtypes = [ctypes.c_void_p, ctypes.c_ssize_t]
_address_of = ctypes.pythonapi.PyBytes_AsString
_address_of.restype = ctypes.c_void_p
_address_of.argtypes = [ctypes.py_object]


class BlobTemplate:
    """
    The serialisation of a message with a header and one byte sequence named `data`.

    Everything but the stamp and the sequence is fixed.
    """

    def __init__(self, sample: Any) -> None:
        """
        Make the template; the sample's `data` is left out.

        :raises CdrError: when the middleware serialises in another way than expected.
        """
        self.message_type = type(sample)
        # Two bytes are enough to see what the middleware does with a sequence.
        sample.data = b'\x05\x06'
        layout = lay_out(sample)
        check_layout(type(sample).__name__, layout, serialize_message(sample))
        place = layout.fields['data'].offset
        head = bytearray(layout.data[: place - _LENGTH.size])
        self._stamp = layout.fields['header.stamp.sec'].offset
        self._head, self._tail = head, bytes(layout.data[place + 2 :])

    def begin(self, stamp_ns: int, size: int) -> tuple[bytes, np.ndarray]:
        """
        Return a new message, and a writable view of its `data`, shape (size,) uint8.

        Fill the view before the message goes anywhere, and let go of it then.
        """
        head, tail = self._head, self._tail
        _STAMP.pack_into(head, self._stamp, *divmod(stamp_ns, NANOSECONDS))
        start = len(head) + _LENGTH.size
        whole = start + size + len(tail)
        message = _new_bytes(None, whole)
        buffer = (ctypes.c_uint8 * whole).from_address(_address_of(message))
        view = np.frombuffer(memoryview(buffer), np.uint8)
        view[: len(head)] = head
        view[len(head) : start] = np.frombuffer(_LENGTH.pack(size), np.uint8)
        if tail:
            view[start + size :] = np.frombuffer(tail, np.uint8)
        return message, view[start : start + size]

    def pack(self, stamp_ns: int, data: bytes | memoryview) -> bytes:
        """Return the message with these bytes."""
        message, view = self.begin(stamp_ns, len(data))
        view[:] = np.frombuffer(data, np.uint8)
        return message
