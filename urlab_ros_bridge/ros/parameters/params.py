# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters on a ROS node: declared, validated and changed live from the rows of `Settings`."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from dataclasses import replace
import difflib
from typing import Any

from rcl_interfaces.msg import FloatingPointRange
from rcl_interfaces.msg import IntegerRange
from rcl_interfaces.msg import ParameterDescriptor
from rcl_interfaces.msg import SetParametersResult
from rclpy.exceptions import InvalidParameterTypeException
from rclpy.exceptions import InvalidParameterValueException
from rclpy.node import Node
from rclpy.parameter import Parameter

from urlab_ros_bridge.ros.parameters.settings import Parameter as Row
from urlab_ros_bridge.ros.parameters.settings import problems
from urlab_ros_bridge.ros.parameters.settings import Settings
from urlab_ros_bridge.ros.rclpy_tools.overrides import given_overrides
from urlab_ros_bridge.wire.errors import UrlabError

# Parameters that rclpy itself declares or reads.
_OF_RCLPY = ('use_sim_time', 'start_type_description_service')


class BadParameter(UrlabError, ValueError):
    """One or more parameters have values that the bridge cannot start with."""

    def __init__(self, texts: Iterable[str]) -> None:
        super().__init__('; '.join(texts))


def _descriptor(row: Row) -> ParameterDescriptor:
    descriptor = ParameterDescriptor(
        name=row.name, description=row.key.text, read_only=not row.live
    )
    if row.key.choices:
        descriptor.additional_constraints = 'One of: ' + ', '.join(row.key.choices)
    if row.range is not None:
        low, high = row.range
        if row.kind is int:
            descriptor.integer_range = [IntegerRange(from_value=low, to_value=high, step=1)]
        else:
            descriptor.floating_point_range = [
                FloatingPointRange(from_value=low, to_value=high, step=0.0)
            ]
    return descriptor


def _from_ros(row: Row, value: Any) -> Any:
    """Turn a value that rclpy hands out (array.array, list) into the table's type."""
    if row.is_list and value is not None and not isinstance(value, str):
        return tuple(value)
    return value


def _widened(row: Row, override: Parameter | None) -> Any:
    """Return an override as floats when it was written as integers (``clock_rate:=50``)."""
    if override is None or row.kind is not float:
        return None
    if not row.is_list and override.type_ is Parameter.Type.INTEGER:
        return float(override.value)
    if row.is_list and override.type_ is Parameter.Type.INTEGER_ARRAY:
        return [float(number) for number in override.value]
    return None


def nearest_name(settings: type[Settings], name: str) -> str:
    """Return the declared parameter that looks most like `name`, or an empty string."""
    return next(iter(difflib.get_close_matches(name, settings.TABLE, n=1, cutoff=0.6)), '')


def undeclared_overrides(node: Node, settings: type[Settings]) -> list[str]:
    """Describe every override that names no parameter, with the nearest valid name."""
    return unknown_names(
        (name for name in given_overrides(node) if not node.has_parameter(name)), settings
    )


def unknown_names(names: Iterable[str], settings: type[Settings]) -> list[str]:
    """Describe every name that is of no parameter, with the nearest valid one."""
    texts = []
    for name in names:
        if name in settings.TABLE or name in _OF_RCLPY or name.startswith('qos_overrides.'):
            continue
        near = nearest_name(settings, name)
        hint = f', did you mean {near!r}?' if near else ''
        texts.append(f'parameter {name!r} does not exist and has no effect{hint}')
    return texts


class Parameters:
    """
    The parameters of one node, as a `Settings` that is replaced as a whole.

    `settings` may be read from any thread.

    :param kind: the class of the settings, whose table is declared.
    :param changed: called with the new settings after a live change was accepted.
    :raises BadParameter: when an override is of the wrong type or value.
    """

    def __init__(
        self,
        node: Node,
        kind: type[Settings],
        changed: Callable[[Settings], None] | None = None,
    ) -> None:
        self._changed = changed
        self._table = kind.TABLE
        overrides = given_overrides(node)
        texts: list[str] = []
        values: dict[str, Any] = {}
        for name, row in kind.TABLE.items():
            try:
                values[row.field] = self._declare(node, row, overrides.get(name))
            except (InvalidParameterTypeException, InvalidParameterValueException):
                given = _widened(row, overrides[name])
                given = overrides[name].value if given is None else given
                texts.append(
                    row.problem(_from_ros(row, given))
                    or f'{name}: {given!r} is not accepted, must be of type {row.type_text}'
                )
        texts += problems(kind(**values))
        if texts:
            raise BadParameter(texts)
        self.settings = kind(**values)
        node.add_on_set_parameters_callback(self._check)
        node.add_post_set_parameters_callback(self._apply)

    @staticmethod
    def _declare(node: Node, row: Row, override: Parameter | None) -> Any:
        default = list(row.default) if row.is_list else row.default
        widened = _widened(row, override)
        declared = node.declare_parameter(
            row.name,
            default if widened is None else widened,
            _descriptor(row),
            ignore_override=widened is not None,
        )
        return _from_ros(row, declared.value)

    def _proposed(self, parameters: Iterable[Parameter]) -> Settings:
        values = {
            row.field: _from_ros(row, each.value)
            for each in parameters
            if (row := self._table.get(each.name)) is not None
        }
        return replace(self.settings, **values)

    def _check(self, parameters: list[Parameter]) -> SetParametersResult:
        """Accept all of a set of changes or none."""
        texts = problems(self._proposed(parameters))
        if any(each.name == 'use_sim_time' and each.value for each in parameters):
            texts.append('use_sim_time must stay false: this node publishes /clock')
        return SetParametersResult(successful=not texts, reason='; '.join(texts))

    def _apply(self, parameters: list[Parameter]) -> None:
        proposed = self._proposed(parameters)
        if proposed != self.settings:
            self.settings = proposed
            if self._changed is not None:
                self._changed(proposed)
