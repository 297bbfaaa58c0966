# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Large messages go to the middleware without another copy.

rclpy copies serialised bytes into a string of its own, with Python's lock held, before it gives
them to rcl.  rcl and the middleware only read them, so here they get the bytes as they are, and
other threads of the bridge keep running.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from rclpy.publisher import Publisher

_RCL_RET_OK = 0


class _Allocator(ctypes.Structure):
    """rcutils_allocator_t."""

    _fields_ = [
        (name, ctypes.c_void_p)
        for name in ('allocate', 'deallocate', 'reallocate', 'zero_allocate', 'state')
    ]


class _Bytes(ctypes.Structure):
    """rcutils_uint8_array_t, which is rcl_serialized_message_t."""

    _fields_ = [
        ('buffer', ctypes.c_void_p),
        ('buffer_length', ctypes.c_size_t),
        ('buffer_capacity', ctypes.c_size_t),
        ('allocator', _Allocator),
    ]


class _Rcl:
    """The functions of the C libraries that rclpy has loaded already."""

    def __init__(self) -> None:
        rcl, rcutils = ctypes.CDLL('librcl.so'), ctypes.CDLL('librcutils.so')
        self.publish = rcl.rcl_publish_serialized_message
        self.publish.restype = ctypes.c_int
        self.publish.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Bytes), ctypes.c_void_p]
        self.reset_error = rcutils.rcutils_reset_error
        self.reset_error.restype, self.reset_error.argtypes = None, []
        get_allocator = rcutils.rcutils_get_default_allocator
        get_allocator.restype, get_allocator.argtypes = _Allocator, []
        self.allocator = get_allocator()
        self.address_of = ctypes.pythonapi.PyBytes_AsString
        self.address_of.restype, self.address_of.argtypes = ctypes.c_void_p, [ctypes.py_object]


@cache
def _load() -> _Rcl | None:
    try:
        return _Rcl()
    except (AttributeError, OSError):
        return None


class DirectPublisher:
    """The two calls of a publisher that cameras need."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher
        self._rcl = _load() if hasattr(publisher.handle, 'pointer') else None
        # What bypasses the publisher's method must be passed on to it, for recorders.
        self._note = getattr(publisher, 'note', None)

    def get_subscription_count(self) -> int:
        """Return how many listen."""
        return self._publisher.get_subscription_count()

    def publish(self, message: Any) -> None:
        """
        Publish serialised bytes; what is none, or cannot be published here, goes rclpy's way.

        :raises RCLError: when the middleware refuses it.
        """
        rcl = self._rcl
        if rcl is None or not isinstance(message, bytes):
            self._publisher.publish(message)
            return
        if self._note is not None:
            self._note(message)
        if not self._send(rcl, message):
            Publisher.publish(self._publisher, message)

    def _send(self, rcl: _Rcl, message: bytes) -> bool:
        size = len(message)
        content = _Bytes(rcl.address_of(message), size, size, rcl.allocator)
        handle = self._publisher.handle
        with handle:  # keeps it from being destroyed
            if rcl.publish(handle.pointer, content, None) == _RCL_RET_OK:
                return True
        rcl.reset_error()
        return False


__all__ = ['DirectPublisher']
