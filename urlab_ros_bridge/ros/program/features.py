# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The list of all features: what the bridge is made of, and the only place that names them all.

A new feature is one file that ends with a `Feature`, and one line here.  Other packages add theirs
by the entry-point group `urlab_ros_bridge.features`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from importlib.metadata import entry_points
from importlib.metadata import EntryPoint

from urlab_ros_bridge.ros import services
from urlab_ros_bridge.ros.commands import arbitration
from urlab_ros_bridge.ros.commands import commands
from urlab_ros_bridge.ros.commands import e_stop
from urlab_ros_bridge.ros.commands import joint_commands
from urlab_ros_bridge.ros.commands import velocity
from urlab_ros_bridge.ros.commands import wrench_command
from urlab_ros_bridge.ros.extras import floor_map
from urlab_ros_bridge.ros.extras import planning_scene
from urlab_ros_bridge.ros.extras import standard
from urlab_ros_bridge.ros.extras.bag import services as bags
from urlab_ros_bridge.ros.extras.gripper import actions as gripper_actions
from urlab_ros_bridge.ros.extras.lockstep import service as lockstep
from urlab_ros_bridge.ros.extras.trajectory import commands as trajectories
from urlab_ros_bridge.ros.features.declarations import FrameRule
from urlab_ros_bridge.ros.features.declarations import names_in
from urlab_ros_bridge.ros.features.declarations import RosAction
from urlab_ros_bridge.ros.features.declarations import Service
from urlab_ros_bridge.ros.features.declarations import Topic
from urlab_ros_bridge.ros.features.feature import Feature
from urlab_ros_bridge.ros.features.feed import QosParameters
from urlab_ros_bridge.ros.link import clock
from urlab_ros_bridge.ros.link import connection
from urlab_ros_bridge.ros.link import current_world
from urlab_ros_bridge.ros.link import stream
from urlab_ros_bridge.ros.parameters.data import DataParameters
from urlab_ros_bridge.ros.parameters.settings import settings_type
from urlab_ros_bridge.ros.plan.parameters import frames_differ
from urlab_ros_bridge.ros.plan.parameters import NamesParameters
from urlab_ros_bridge.ros.reports import divergence
from urlab_ros_bridge.ros.reports import graph
from urlab_ros_bridge.ros.reports import reporter
from urlab_ros_bridge.ros.reports import second_bridge
from urlab_ros_bridge.ros.services import model
from urlab_ros_bridge.ros.services import poses
from urlab_ros_bridge.ros.services import recording
from urlab_ros_bridge.ros.services import safety
from urlab_ros_bridge.ros.services import simulation
from urlab_ros_bridge.ros.topics import cameras
from urlab_ros_bridge.ros.topics import contacts
from urlab_ros_bridge.ros.topics import entities
from urlab_ros_bridge.ros.topics import markers
from urlab_ros_bridge.ros.topics import navigation
from urlab_ros_bridge.ros.topics import reset_counts
from urlab_ros_bridge.ros.topics.robot import description
from urlab_ros_bridge.ros.topics.robot import gps
from urlab_ros_bridge.ros.topics.robot import initial_pose
from urlab_ros_bridge.ros.topics.robot import joint_states
from urlab_ros_bridge.ros.topics.robot import link_tf
from urlab_ros_bridge.ros.topics.robot import odometry
from urlab_ros_bridge.ros.topics.robot import sensors
from urlab_ros_bridge.ros.topics.robot import static_frames
from urlab_ros_bridge.ros.topics.robot import wheel_odometry
from urlab_ros_bridge.wire.errors import UrlabError

# In this order features are attached and started, and topics and services documented; in the
# opposite one they are stopped, and notified of a jump of time.  So one that needs another comes
# after it: the stream before the link, both before commands, and lockstep after those.
FEATURES: tuple[Feature, ...] = (
    second_bridge.FEATURE,
    graph.OTHER_PUBLISHERS,
    bags.FEATURE,
    current_world.FEATURE,
    stream.FEATURE,
    connection.FEATURE,
    Feature('names', NamesParameters, group='Names', check=frames_differ),
    Feature('data folder', DataParameters, group='Bags'),
    Feature('quality of service', QosParameters, group='What is published'),
    clock.FEATURE,
    odometry.FEATURE,
    wheel_odometry.FEATURE,
    joint_states.FEATURE,
    joint_states.ROS2_CONTROL,
    link_tf.FEATURE,
    static_frames.FEATURE,
    initial_pose.FEATURE,
    gps.FEATURE,
    sensors.FEATURE,
    entities.FEATURE,
    description.FEATURE,
    markers.FEATURE,
    cameras.FEATURE,
    contacts.FEATURE,
    floor_map.FEATURE,
    planning_scene.FEATURE,
    commands.FEATURE,
    velocity.FEATURE,
    joint_commands.FEATURE,
    wrench_command.FEATURE,
    trajectories.FEATURE,
    gripper_actions.FEATURE,
    arbitration.FEATURE,
    e_stop.FEATURE,
    navigation.FEATURE,
    reset_counts.FEATURE,
    simulation.FEATURE,
    lockstep.FEATURE,
    safety.FEATURE,
    poses.FEATURE,
    model.FEATURE,
    recording.FEATURE,
    services.FEATURE,
    standard.FEATURE,
    graph.OTHER_TYPES,
    divergence.FEATURE,
    reporter.FEATURE,
)

Settings = settings_type(FEATURES)

ENTRY_POINTS = 'urlab_ros_bridge.features'


class BadFeature(UrlabError):
    """An entry point of another package that is no feature, or cannot be loaded."""

    def __init__(self, entry: EntryPoint, problem: str) -> None:
        package = entry.dist.name if entry.dist is not None else 'a package'
        super().__init__(
            f'feature {entry.name!r} of {package} ({entry.value}): {problem}; correct or '
            'uninstall that package'
        )


def installed_features() -> tuple[Feature, ...]:
    """
    Return all features, with those of other packages at the end.

    :raises BadFeature: when one of theirs cannot be used.
    """
    return (*FEATURES, *map(_load, sorted(entry_points(group=ENTRY_POINTS))))


def _load(entry: EntryPoint) -> Feature:
    try:
        found = entry.load()
    except Exception as error:
        raise BadFeature(entry, f'{type(error).__name__}: {error}') from error
    if not isinstance(found, Feature):
        raise BadFeature(entry, f'must be a Feature, not {type(found).__name__}')
    return found


def topics_of(features: Iterable[Feature]) -> tuple[Topic, ...]:
    """Return the topics of features; one that several of them share is one row."""
    found: dict[tuple[str, bool], Topic] = {}
    for feature in features:
        for topic in feature.topics:
            place = topic.name, topic.incoming
            found[place] = _merged(found[place], topic) if place in found else topic
    return tuple(found.values())


def _merged(one: Topic, other: Topic) -> Topic:
    def both(name: str) -> str:
        return ', '.join(
            dict.fromkeys(names_in(getattr(one, name)) + names_in(getattr(other, name)))
        )

    return replace(
        one,
        when=both('when'),
        rate=both('rate'),
        timing=both('timing'),
        switch=tuple(dict.fromkeys(one.switches + other.switches)),
    )


def actions_of(features: Iterable[Feature]) -> tuple[RosAction, ...]:
    """Return the actions of features."""
    return tuple(action for feature in features for action in feature.actions)


def services_of(features: Iterable[Feature], dialect: str = 'urlab') -> tuple[Service, ...]:
    """Return the services of features, of one dialect."""
    return tuple(
        service
        for feature in features
        for service in feature.services
        if service.dialect == dialect
    )


def frames_of(features: Iterable[Feature]) -> tuple[FrameRule, ...]:
    """Return the transforms of features."""
    return tuple(rule for feature in features for rule in feature.frames)
