# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A participant on Cyclone DDS, without ROS: drives a rover, and prints whether it drives.

Usage: cyclone_node.py DOMAIN SECONDS.  Ends when the rover drives, or after that time.
"""

from dataclasses import dataclass
import sys
import time

from cyclonedds.core import Policy
from cyclonedds.core import Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import float64
from cyclonedds.idl.types import int32
from cyclonedds.idl.types import sequence
from cyclonedds.idl.types import uint32
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration


@dataclass
class Time(IdlStruct, typename='builtin_interfaces::msg::dds_::Time_'):
    sec: int32
    nanosec: uint32


@dataclass
class Header(IdlStruct, typename='std_msgs::msg::dds_::Header_'):
    stamp: Time
    frame_id: str


@dataclass
class JointState(IdlStruct, typename='sensor_msgs::msg::dds_::JointState_'):
    header: Header
    name: sequence[str]
    position: sequence[float64]
    velocity: sequence[float64]
    effort: sequence[float64]


@dataclass
class Vector3(IdlStruct, typename='geometry_msgs::msg::dds_::Vector3_'):
    x: float64
    y: float64
    z: float64


@dataclass
class Twist(IdlStruct, typename='geometry_msgs::msg::dds_::Twist_'):
    linear: Vector3
    angular: Vector3


def main(domain, seconds):
    participant = DomainParticipant(domain)
    qos = Qos(Policy.Reliability.Reliable(duration(seconds=1)), Policy.History.KeepLast(10))
    reader = DataReader(participant, Topic(participant, 'rt/joint_states', JointState), qos=qos)
    writer = DataWriter(participant, Topic(participant, 'rt/cmd_vel', Twist), qos=qos)
    still = Vector3(0.0, 0.0, 0.0)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        writer.write(Twist(Vector3(0.5, 0.0, 0.0), still))
        for message in reader.take(50):
            if message.velocity[message.name.index('left_wheel')] > 1.0:
                print('a rover drives')
                return
        time.sleep(0.05)
    print('no rover drives')


if __name__ == '__main__':
    main(int(sys.argv[1]), float(sys.argv[2]))
