# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Services that change the model: gains, options of the physics, control source, randomisation."""

from __future__ import annotations

from typing import Any

from urlab_ros_bridge.ros.features.declarations import RequestRejected
from urlab_ros_bridge.ros.features.declarations import Service
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.plan.plan import RobotPlan
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface
from urlab_ros_bridge.ros.services.base import BAD_REPLY
from urlab_ros_bridge.ros.services.base import BAD_VALUE
from urlab_ros_bridge.ros.services.base import fill_time_and_wait
from urlab_ros_bridge.ros.services.context import ServiceContext
from urlab_ros_bridge.ros.services.poses import finite

GAINS = ('kp', 'kv', 'torque_limit')
_VECTORS = ('gravity', 'wind', 'magnetic')
_NAMES = ('integrator', 'cone', 'solver')


def configure_controller(context: ServiceContext, request: Any, response: Any) -> str:
    """Set controller gains, or return them."""
    client, robot = context.client, context.robot(request.articulation)
    params = _gains(request)
    reply = client.configure_controller(robot.prefix, params)
    response.articulation = robot.prefix
    response.actuators = _actuators(robot, reply)
    for gain in GAINS:
        default, own = reply.get(f'default_{gain}', 0.0), reply.get(gain, {})
        if not isinstance(default, (int, float)) or not isinstance(own, dict):
            raise RequestRejected(BAD_REPLY, f'the reply of the server lacks {gain}: {reply}')
        setattr(response, f'default_{gain}', float(default))
        setattr(response, gain, [float(own.get(name, default)) for name in response.actuators])
    return f'changed: {", ".join(params)}' if params else 'unchanged'


def _gains(request: Any) -> dict[str, Any]:
    names = list(request.actuators)
    params: dict[str, Any] = {}
    for gain in GAINS:
        values = finite(gain, getattr(request, gain))
        if len(values) not in (0, len(names)):
            raise RequestRejected(
                BAD_VALUE, f'{gain} has {len(values)} values for {len(names)} actuators'
            )
        if values:
            params[gain] = dict(zip(names, values, strict=True))
        default = finite(f'default_{gain}', getattr(request, f'default_{gain}'))
        if default:
            params[f'default_{gain}'] = default[0]
    if names and not any(gain in params for gain in GAINS):
        raise RequestRejected(BAD_VALUE, f'actuators are named, but {", ".join(GAINS)} are empty')
    return params


def _actuators(robot: RobotPlan, reply: dict[str, Any]) -> list[str]:
    """Return the actuators that have gains: those of joints, or what the server names."""
    names = [actuator.name for actuator in robot.actuators if actuator.joint]
    return names or sorted({name for gain in GAINS for name in reply.get(gain, {})})


def set_sim_options(context: ServiceContext, request: Any, response: Any) -> str:
    """Set physics options, or return them."""
    options = {}
    for name in request.options.get_fields_and_field_types():
        value = getattr(request.options, name)
        if name in _NAMES:
            if value:
                options[name] = value
        elif name in _VECTORS:
            if len(value) not in (0, 3):
                raise RequestRejected(BAD_VALUE, f'{name} has {len(value)} numbers, must have 3')
            if len(value):
                options[name] = finite(name, value)
        elif len(value):
            options[name] = value[0] if isinstance(value[0], bool) else finite(name, value)[0]
    reply = context.client.set_sim_options(**options)
    for name, kind in response.options.get_fields_and_field_types().items():
        value = reply.get(name)
        if value is not None:
            setattr(response.options, name, _as_field(name, kind, value))
    return f'changed: {", ".join(options)}' if options else 'unchanged'


def _as_field(name: str, kind: str, value: Any) -> Any:
    """Return a value of a reply in the type of its field."""
    if name in _NAMES:
        return str(value)
    convert = bool if 'boolean' in kind else int if 'int' in kind else float
    return [convert(each) for each in (value if isinstance(value, list) else [value])]


def set_control_source(context: ServiceContext, request: Any, response: Any) -> str:
    """Choose whose setpoints the actuators follow."""
    name = request.articulation
    prefix = context.robot(name).prefix if name else None
    response.source = request.source or 'zmq'
    response.scope = context.client.set_control_source(response.source, prefix)
    return f'{prefix or "all robots"} follow {response.source!r}'


def forward(context: ServiceContext, request: Any, response: Any) -> str:
    """Compute all quantities that depend on positions and velocities."""
    mark = context.timeline.mark()
    result = context.client.forward()
    fill_time_and_wait(context, response, result.sim_time_ns, result.step, mark)
    return f'at {result.time:.6g} s'


def randomize(context: ServiceContext, request: Any, response: Any) -> str:
    """Randomise properties of the model, or restore the compiled ones."""
    items: dict[str, dict[str, Any]] = {}
    for item in request.items:
        if item.kind in items:
            raise RequestRejected(BAD_VALUE, f'{item.kind!r} appears twice')
        items[item.kind] = _item(context, item)
    done = context.client.randomize(
        items or None, request.seed or None, request.restore or not items
    )
    value_type = load_interface('urlab_msgs/msg/RandomizedValue')
    response.seed = done.seed
    response.values = [
        value_type(
            kind=kind,
            element=element,
            values=[float(each) for each in (value if isinstance(value, list) else [value])],
        )
        for kind, values in done.items.items()
        for element, value in values.items()
    ]
    restored = 'restored the compiled values' if done.restored else ''
    drawn = f'drew {len(response.values)} values with seed {done.seed}' if items else ''
    return '; '.join(text for text in (restored, drawn) if text)


def _item(context: ServiceContext, item: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {item.way or 'scale': finite(item.kind, (item.low, item.high))}
    if item.articulation:
        fields['articulation'] = context.robot(item.articulation).prefix
    if item.bodies:
        fields['bodies'] = list(item.bodies)
    if item.elements:
        if not item.element_type:
            raise RequestRejected('missing_field', f'element_type of {item.kind!r} is empty')
        fields[item.element_type] = list(item.elements)
    if item.log_uniform:
        fields['distribution'] = 'log_uniform'
    if item.together:
        fields['together'] = True
    return fields


SERVICES = (
    Service('configure_controller', 'urlab_msgs/srv/ConfigureController', configure_controller),
    Service('set_sim_options', 'urlab_msgs/srv/SetSimOptions', set_sim_options),
    Service('set_control_source', 'urlab_msgs/srv/SetControlSource', set_control_source),
    Service('forward', 'urlab_msgs/srv/Forward', forward),
    Service('randomize', 'urlab_msgs/srv/Randomize', randomize),
)

FEATURE = Feature('model', services=SERVICES)
