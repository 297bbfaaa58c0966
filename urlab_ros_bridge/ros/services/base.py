# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
How services are answered: success, code and message, and one place that turns errors into them.

Handlers run in the thread of their group (`ServiceThreads`), and may wait for the server.
"""

from __future__ import annotations

from typing import Any

from urlab_ros_bridge.client.errors import RemoteError
from urlab_ros_bridge.client.errors import RequestTimeout
from urlab_ros_bridge.ros.features.declarations import RequestRejected
from urlab_ros_bridge.ros.features.declarations import Service
from urlab_ros_bridge.ros.features.declarations import ServiceGroup
from urlab_ros_bridge.ros.features.timeline import Mark
from urlab_ros_bridge.ros.messages.base import time_to_ros
from urlab_ros_bridge.ros.services.context import ServiceContext
from urlab_ros_bridge.wire.errors import UrlabError

# Codes of the bridge itself; all others are the server's, see wire.errors.ERROR_CODES.
TIMEOUT = 'timeout'
BAD_VALUE = 'bad_value'
BAD_REPLY = 'bad_reply'
INTERNAL_ERROR = 'internal_error'
E_STOP = 'e_stop'
LOCKSTEP = 'lockstep'


def fill_time_and_wait(
    context: ServiceContext, response: Any, stamp_ns: int, step: int, mark: Mark
) -> None:
    """Fill in the time of a reply, and wait until the stream has published it."""
    response.sim_time = time_to_ros(max(0, stamp_ns))
    response.step = max(0, step)
    context.catch_up(stamp_ns, mark)


def code_and_text(error: Exception) -> tuple[str, str]:
    """
    Return the code of an error, and its text.

    An unexpected error is `internal_error`: the caller gets a response in any case.
    """
    if isinstance(error, RemoteError | RequestRejected):
        return error.code, str(error)
    if isinstance(error, RequestTimeout):
        return TIMEOUT, str(error)
    if isinstance(error, UrlabError) and not isinstance(error, ValueError):
        return BAD_REPLY, str(error)
    if isinstance(error, ValueError | OverflowError):
        return BAD_VALUE, str(error)
    return INTERNAL_ERROR, f'{type(error).__name__}: {error}'


_AFTER_DISCOVERY = (ServiceGroup.WORLD, ServiceGroup.ENTITIES, ServiceGroup.URGENT)


def handle(
    service: Service, context: ServiceContext, request: Any, response: Any
) -> tuple[str, Exception | None]:
    """Call the handler of a service; return its text, and the error that it raised."""
    try:
        if service.group_of(request) in _AFTER_DISCOVERY:
            context.wait_for_discovery()
        if not context.has(service.needs):
            context.require_connection()  # without one, that is the more useful error
            raise RequestRejected(
                'unknown_op',
                f'{service.name} needs the extension {service.needs}, which this server lacks',
            )
        return service.handler(context, request, response), None
    except Exception as error:
        if code_and_text(error)[0] == INTERNAL_ERROR:
            context.log_exception(service.name, error)
        return '', error


def answer(service: Service, context: ServiceContext, request: Any, response: Any) -> Any:
    """Handle a request; any error becomes success, code and message."""
    message, error = handle(service, context, request, response)
    code, message = ('', message) if error is None else code_and_text(error)
    response.success = error is None
    response.message = message
    if hasattr(response, 'code'):
        response.code = code
    elif code:
        response.message = f'{code}: {message.rpartition(f"{code}: ")[2]}'
    return response
