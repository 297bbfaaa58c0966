#!/usr/bin/env python3
# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
CPU time of one ROS message on its way from numbers to the middleware.

For each message of a tick three ways are compared, in turns, in one process:

- object: publish an ordinary message that is already filled in, which rclpy serialises;
- template: rewrite the serialised message and publish its bytes;
- floor: publish the same prebuilt bytes.

Once there are no subscribers, once a process with one (raw) subscription does.  The CPU time is
that of all threads of the publishing process.  Update is the template's own share of it, without
publishing.

    . ./env.sh && python bench/message_cost.py [--messages 4000] [--rounds 5] [--only odometry]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
import os
import statistics
import subprocess
import sys
import time
from typing import Any

import numpy as np
from ratios import note
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.serialization import deserialize_message

from urlab_ros_bridge.ros import messages as convert
from urlab_ros_bridge.ros.messages.base import RosMessageTemplate
from urlab_ros_bridge.ros.rclpy_tools.compat import InterfaceMissing
from urlab_ros_bridge.ros.rclpy_tools.compat import load_interface

TOPIC = 'bench/message_cost'
# Messages between two pauses, and the pause (s): 20 every 5 ms keep a subscriber busy, not late.
BURST, PAUSE = 20, 0.005
STAMP = 1_234_567_891_234
DISCOVERY_TIMEOUT = 10.0


@dataclass(frozen=True)
class Case:
    """One message with the arguments of its template."""

    name: str
    template: RosMessageTemplate
    arguments: tuple[Any, ...]


def cases() -> list[Case]:
    """Return what a robot of 12 joints publishes in one tick."""
    rng = np.random.default_rng(1)
    base = tuple(rng.random(13, np.float32).tolist())
    pose = base[:7]
    vector = rng.random(3, np.float32)
    joints = rng.random(12, np.float32)
    names = [f'joint_{index}' for index in range(12)]
    frames = [('odom', 'base_link'), ('base_link', 'base_footprint'), ('map', 'odom')]
    scan = convert.ScanGeometry(-np.pi, np.pi * (1 - 2 / 360), 360, 0.12, 12.0)
    found = [
        Case('clock', convert.ClockTemplate(), ()),
        Case('joint_state(12)', convert.JointStateTemplate(names), (joints,) * 3),
        Case('odometry', convert.OdometryTemplate('odom', 'base_link', [0.1] * 6), (base,)),
        Case(
            'imu',
            convert.ImuTemplate('imu_link', 0.1, 0.1, 0.1),
            (rng.random(4, np.float32), vector, vector),
        ),
        Case('magnetic_field', convert.MagneticFieldTemplate('imu_link'), (vector,)),
        Case('pose', convert.PoseStampedTemplate('map'), (pose[:3], pose[3:])),
        Case(
            'scan(360)',
            convert.LaserScanTemplate('lidar', scan),
            (rng.random(360, np.float32) * 15 - 1,),
        ),
        Case('wrench', convert.WrenchStampedTemplate('wrist'), (vector, vector)),
    ]
    for name, make, arguments in (
        ('tf(3)', lambda: convert.TFTemplate(frames), ([pose] * 3,)),
        (
            'sensor(1)',
            lambda: convert.SensorStampedTemplate('foot', 'FL', 'touch', 'N', 1),
            (vector[:1],),
        ),
    ):
        try:
            found.append(Case(name, make(), arguments))
        except InterfaceMissing as error:
            print(f'without {name}: {error}', file=sys.stderr)
    return found


def cpu_per_message(send: Callable[[], None], messages: int, pause: float) -> float:
    """Return microseconds of CPU time, all threads, for each call."""
    start = time.process_time()
    for index in range(messages):
        send()
        if pause and index % BURST == BURST - 1:
            time.sleep(pause)
    return (time.process_time() - start) / messages * 1e6


def measure(
    case: Case, publisher: Any, messages: int, rounds: int, pause: float
) -> dict[str, float]:
    """Return the medians of the three ways, in microseconds."""
    template, arguments = case.template, case.arguments
    publish = publisher.publish
    prebuilt = template.update(STAMP, *arguments)
    message = deserialize_message(prebuilt, template.message_type)
    ways = {
        'object': lambda: publish(message),
        'template': lambda: publish(template.update(STAMP, *arguments)),
        'floor': lambda: publish(prebuilt),
    }
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, send in ways.items():
            found[name].append(cpu_per_message(send, messages, pause))
    return {name: statistics.median(values) for name, values in found.items()}


def update_cost(case: Case, messages: int) -> float:
    """Return microseconds of the template alone, best of five."""
    update, arguments = case.template.update, case.arguments
    return min(cpu_per_message(lambda: update(STAMP, *arguments), messages, 0) for _ in range(5))


def typename(message_type: Any) -> str:
    """Return the ROS name of a message class."""
    return f'{message_type.__module__.partition(".")[0]}/msg/{message_type.__name__}'


def subscribe(name: str) -> None:
    """Take in messages until the process is ended."""
    rclpy.init()
    node = Node('message_cost_subscriber')
    node.create_subscription(load_interface(name), TOPIC, lambda data: None, 10, raw=True)
    try:
        rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        rclpy.try_shutdown()


def wait_for_subscriber(publisher: Any) -> None:
    """Wait until the other process is matched."""
    deadline = time.monotonic() + DISCOVERY_TIMEOUT
    while publisher.get_subscription_count() == 0:
        if time.monotonic() > deadline:
            raise SystemExit(f'no subscriber within {DISCOVERY_TIMEOUT:g} s')
        time.sleep(0.05)


def run_case(node: Node, case: Case, messages: int, rounds: int) -> list[str]:
    """Return the lines of one message type."""
    publisher = node.create_publisher(case.template.message_type, TOPIC, 10)
    alone = measure(case, publisher, messages, rounds, 0)
    child = subprocess.Popen(
        [sys.executable, __file__, '--subscribe', typename(case.template.message_type)]
    )
    try:
        wait_for_subscriber(publisher)
        heard = measure(case, publisher, messages, rounds, PAUSE)
    finally:
        child.terminate()
        child.wait(10)
        node.destroy_publisher(publisher)
    update = update_cost(case, messages)
    lines = []
    for title, result in (('0', alone), ('1', heard)):
        ratios = [result[way] / result['floor'] for way in ('object', 'template')]
        note(f'{case.name}, {title} subscribers', ratios[1], 'prebuilt bytes')
        lines.append(
            f'{case.name:16s} {title:>4s} {update:8.2f} {result["object"]:9.2f} '
            f'{result["template"]:9.2f} {result["floor"]:9.2f} '
            f'{ratios[0]:8.2f} {ratios[1]:9.2f}'
        )
    return lines


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--messages', type=int, default=4000, help='for each way and round')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--only', default='', help='names that start so')
    parser.add_argument('--subscribe', help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    if options.subscribe:
        subscribe(options.subscribe)
        return
    rclpy.init()
    node = Node('message_cost')
    print('CPU microseconds per message; ratios to the floor')
    print(
        f'{"message":16s} subs   update    object  template     floor  '
        f'{"object/f":>7s} {"templ./f":>9s}'
    )
    for case in cases():
        if case.name.startswith(options.only):
            print('\n'.join(run_case(node, case, options.messages, options.rounds)), flush=True)
    rclpy.try_shutdown()


if __name__ == '__main__':
    main()
