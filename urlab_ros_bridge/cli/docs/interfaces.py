# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The page docs/interfaces.md, from the declarations of the features."""

from __future__ import annotations

from collections.abc import Container
from collections.abc import Iterable
from collections.abc import Sequence

from rclpy.qos import DurabilityPolicy
from rclpy.qos import ReliabilityPolicy

from urlab_ros_bridge.ros.features.declarations import FrameRule
from urlab_ros_bridge.ros.features.declarations import RosAction
from urlab_ros_bridge.ros.features.declarations import Service
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.parameters.settings import settings_type
from urlab_ros_bridge.ros.program.features import actions_of
from urlab_ros_bridge.ros.program.features import frames_of
from urlab_ros_bridge.ros.program.features import services_of
from urlab_ros_bridge.ros.program.features import topics_of
from urlab_ros_bridge.ros.rclpy_tools import qos

_PAGE = """\
# Interfaces

This page lists all topics, services, actions and frames of the bridge.
[parameters.md](parameters.md) lists the parameters with types, defaults and ranges. For the
contents of messages see [bridge.md](bridge.md#frames-units-and-signs) and
[commanding.md](commanding.md). `ros2 interface show urlab_msgs/srv/Reset`
explains the fields of a type.

All of them belong to one node, `urlab_bridge`: `ros2 node info /urlab_bridge` lists them.
Interfaces that every ROS node has (`/rosout`, parameter services) are omitted.

- A name with a leading slash is absolute, `~/` is below the name of the node, `urlab_bridge`, and
  all other names are below its namespace.
- `{{robot}}/` is the namespace of a robot: its prefix, or nothing if `namespace_robots` gives it
  none (with one robot).
- Names of sites, sensors, cameras and entities are those of the model. Characters that ROS does
  not allow become `_`, and a name of more than 100 characters is truncated and ends with a digest.
- All topics accept
  `qos_overrides.NAME.{{publisher,subscription}}.{{reliability,history,depth}}` parameters.
  `ros2 param list` shows them if `declare_qos_overrides` is true.

## Published topics

Without subscribers no message is built and nothing is requested from the server. "Rate" names the
parameter that limits the rate; without one, a topic is published at the rate of the physics.
Quality of service is reliable with depth 10 where the table has none.

{published}
## Subscribed topics

{subscribed}
## Actions

Actions require `control_msgs`. `trajectory_controller` is a parameter, and {{gripper}} a name from
the [sidecar](sidecar.md) or from the parameter `grippers`.

{actions}
## Services

The bridge's services are below the name of its node, as usual in ROS: `/urlab_bridge/reset`.
By default each is also offered without it, as `/reset`; the parameter `root_services` switches
that off. Where a standard service of simulators (next section) does the same, prefer that one for
code that should run with other simulators too.

Every response has `success`, `code` and `message` in addition to its own fields.
std_srvs/srv/SetBool has no `code`: its message begins with the code. "Ops" are the requests in the
[protocol](protocol.md).

{services}
## Standard services of simulators

[entities.md](entities.md) describes these services. The parameter
`simulation_interfaces` switches all of them off; they also require the package of that name.
"Features" are the feature numbers of the standard; "Needs" are extensions of the
server, or `model`: MuJoCo on the bridge's machine.

{simulation}
## Frames

Names are those of the model without the robot's prefix, with `frame_prefix` in front. Transforms
of a robot with a namespace are on the `tf` and `tf_static` below it, unless `frame_prefix` is set.

{frames}"""


def interfaces_markdown(features: tuple[Feature, ...]) -> str:
    """Return the page of what these features offer."""
    topics, known = topics_of(features), frozenset(settings_type(features).TABLE)
    return _PAGE.format(
        published=_table(
            ('Topic', 'Type', 'QoS', 'Available for', 'Rate', 'Enabled by'),
            (_published(topic, known) for topic in topics if not topic.incoming),
        ),
        subscribed=_table(
            ('Topic', 'Type', 'QoS', 'Available for', 'Parameters'),
            (_subscribed(topic, known) for topic in topics if topic.incoming),
        ),
        actions=_table(('Action', 'Type', 'Available for'), map(_action, actions_of(features))),
        services=_table(
            ('Service', 'Type', 'Effect', 'Ops'), map(_service, services_of(features))
        ),
        simulation=_table(
            ('Name', 'Type', 'Effect', 'Features', 'Needs', 'Ops'),
            map(_standard, services_of(features, 'standard')),
        ),
        frames=_table(
            ('Parent', 'Child', 'Topic', 'Available for', 'Enabled by'),
            (_frame(rule, known) for rule in frames_of(features)),
        ),
    )


def qos_text(name: str) -> str:
    """
    Return a profile of `ros.qos` as text.

    >>> qos_text('latched')
    'reliable, transient local, 1'
    """
    profile = getattr(qos, name)()
    reliable = profile.reliability is ReliabilityPolicy.RELIABLE
    kept = ', transient local' if profile.durability is DurabilityPolicy.TRANSIENT_LOCAL else ''
    return f'{"reliable" if reliable else "best effort"}{kept}, {profile.depth}'


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    first, *others = ('| ' + ' | '.join(line) + ' |\n' for line in (heads, *rows))
    return f'{first}{"|---" * len(heads)}|\n{"".join(others)}'


def _code(text: str) -> str:
    return f'`{text}`' if text else ''


def _names(text: str, known: Container[str]) -> str:
    """Return a text with the parameters in it as code."""
    words = text.split(', ')
    return ', '.join(_code(word) if word in known else word for word in words)


def _types(topic: Topic) -> str:
    return ' or '.join(kind.replace('/msg/', '/') for kind in topic.types)


def _published(topic: Topic, known: Container[str]) -> tuple[str, ...]:
    rates = filter(None, (_names(topic.rate, known), topic.timing))
    rate, switch = ', '.join(rates), _names(', '.join(topic.switches), known)
    profile = qos_text(topic.profile)
    profile = '' if profile == 'reliable, 10' else profile  # as the page says above the table
    return _code(topic.name), _types(topic), profile, topic.when, rate, switch


def _subscribed(topic: Topic, known: Container[str]) -> tuple[str, ...]:
    parameters = _names(topic.rate, known)
    return _code(topic.name), _types(topic), qos_text(topic.profile), topic.when, parameters


def _action(action: RosAction) -> tuple[str, ...]:
    return _code(action.name), action.type_name, action.when


def _service(service: Service) -> tuple[str, ...]:
    return (
        _code(service.name),
        service.type_name,
        service.effect,
        ' '.join(map(_code, service.requests)),
    )


def _standard(row: Service) -> tuple[str, ...]:
    needs = dict.fromkeys((row.needs, *row.serves.values()))
    return (
        _code(row.name),
        row.type_name,
        row.effect,
        ', '.join(str(int(feature)) for feature in row.serves),
        ' '.join(_code(need) for need in needs if need),
        ' '.join(map(_code, row.requests)),
    )


def _frame(rule: FrameRule, known: Container[str]) -> tuple[str, ...]:
    return rule.parent, rule.child, rule.topic, rule.when, _names(rule.switch, known)
