# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A participant on Cyclone DDS, without ROS: drives a rover until it has heard its clock for a while.

Usage: cyclone_node.py DOMAIN
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
class Clock(IdlStruct, typename='rosgraph_msgs::msg::dds_::Clock_'):
    clock: Time


@dataclass
class Vector3(IdlStruct, typename='geometry_msgs::msg::dds_::Vector3_'):
    x: float64
    y: float64
    z: float64


@dataclass
class Twist(IdlStruct, typename='geometry_msgs::msg::dds_::Twist_'):
    linear: Vector3
    angular: Vector3


def main(domain):
    participant = DomainParticipant(domain)
    qos = Qos(Policy.Reliability.Reliable(duration(seconds=1)), Policy.History.KeepLast(10))
    writer = DataWriter(participant, Topic(participant, 'rt/cmd_vel', Twist), qos=qos)
    reader = DataReader(participant, Topic(participant, 'rt/clock', Clock))
    heard = 0
    while heard < 100:
        writer.write(Twist(Vector3(0.5, 0.0, 0.0), Vector3(0.0, 0.0, 0.0)))
        heard += len(reader.take(50))
        time.sleep(0.05)


if __name__ == '__main__':
    main(int(sys.argv[1]))
