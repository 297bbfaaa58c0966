# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""ROS 2: rclpy, its middleware, the interface packages and environment variables."""

from __future__ import annotations

import os
from pathlib import Path
import xml.etree.ElementTree as ElementTree

from urlab_ros_bridge.cli.checks.finding import Finding
from urlab_ros_bridge.cli.checks.finding import is_absent
from urlab_ros_bridge.cli.checks.finding import run_python
from urlab_ros_bridge.cli.checks.finding import Severity
from urlab_ros_bridge.cli.processes.table import PROFILE_VARIABLES

# Package -> its purpose.  Every ROS installation has the standard ones.
INTERFACES = {
    'sensor_msgs': 'standard messages',
    'nav_msgs': 'standard messages',
    'tf2_msgs': 'transforms',
    'urlab_msgs': "this project's own messages and services",
}
_SET_UP = (
    'source ROS 2 and the workspace ("source /opt/ros/jazzy/setup.bash && source '
    'install/setup.bash"), or without ROS: "make setup", then ". ./env.sh"'
)
# A participant of domain d takes UDP ports from 7400 + 250 d; ephemeral ones begin at 32768.
LAST_SAFE_DOMAIN = 101
LAST_DOMAIN = 232


def check_rclpy() -> Finding:
    """Check that a node can be created, and report its middleware."""
    works, output = run_python(
        'import os, rclpy\n'
        'rclpy.init()\n'
        'node = rclpy.create_node("urlab_doctor", start_parameter_services=False)\n'
        'from rclpy.utilities import get_rmw_implementation_identifier as rmw\n'
        'print(os.environ.get("ROS_DISTRO", "unknown distribution"), rmw())\n'
        'node.destroy_node(); rclpy.shutdown()'
    )
    if not works and is_absent(output, 'rclpy'):
        return Finding(Severity.WARN, 'rclpy', 'not installed; only the bridge needs it', _SET_UP)
    if not works:
        return Finding(Severity.FAIL, 'rclpy', output, _SET_UP)
    return Finding(Severity.OK, 'rclpy', output)


def check_interfaces() -> list[Finding]:
    """Check that the interface packages can be imported with their type support."""
    findings = []
    for name, purpose in INTERFACES.items():
        works, output = run_python(f'import {name}.msg\nprint({name}.__path__[0])')
        findings.append(
            Finding(Severity.OK, name, output)
            if works
            else Finding(Severity.FAIL, name, output, f'{purpose}: {_SET_UP}')
        )
    return findings


def check_domain() -> Finding:
    """Check ROS_DOMAIN_ID and show the discovery range."""
    text = os.environ.get('ROS_DOMAIN_ID') or '0'
    reach = os.environ.get('ROS_AUTOMATIC_DISCOVERY_RANGE') or 'SUBNET'
    found = f'{text}, discovery range {reach}'
    if not text.isdigit() or int(text) > LAST_DOMAIN:
        return Finding(
            Severity.FAIL, 'ROS_DOMAIN_ID', found, f'choose a number from 0 to {LAST_SAFE_DOMAIN}'
        )
    if int(text) > LAST_SAFE_DOMAIN:
        return Finding(
            Severity.WARN,
            'ROS_DOMAIN_ID',
            found,
            f'above {LAST_SAFE_DOMAIN} the ports of ROS may collide with those of other programs',
        )
    return Finding(Severity.OK, 'ROS_DOMAIN_ID', found)


def segment_size(path: Path) -> int:
    """
    Return the largest shared-memory segment that a Fast DDS profile sets, in bytes.

    :raises OSError: when the file cannot be read.
    :raises ElementTree.ParseError: when it is not XML.
    """
    root = ElementTree.parse(path).getroot()
    sizes = [e.text or '' for e in root.iter() if e.tag.rpartition('}')[2] == 'segment_size']
    return max((int(size) for size in sizes if size.strip().isdigit()), default=0)


def check_profile() -> Finding:
    """Check that the shared memory of Fast DDS can hold a camera image."""
    subject = 'Fast DDS profile'
    text = next((os.environ[n] for n in PROFILE_VARIABLES if os.environ.get(n)), '')
    if not text:
        return Finding(
            Severity.OK, subject, 'not set; "urlab up" and the launch file set config/fastdds.xml'
        )
    try:
        size = segment_size(Path(text))
    except OSError as error:
        return Finding(
            Severity.FAIL,
            subject,
            f'{text}: {error.strerror}',
            f'unset {" ".join(PROFILE_VARIABLES)}',
        )
    except ElementTree.ParseError as error:
        return Finding(
            Severity.FAIL,
            subject,
            f'{text} is not XML: {error}',
            'repair it, or unset the variable',
        )
    if size < 4 << 20:
        return Finding(
            Severity.WARN,
            subject,
            f'{text}, shared memory {size / 2**20:.1f} MiB',
            'camera images may be lost; unset it, or set segment_size as config/fastdds.xml does',
        )
    return Finding(Severity.OK, subject, f'{text}, shared memory {size / 2**20:.0f} MiB')


def check_all() -> list[Finding]:
    """Check ROS 2; without rclpy the other checks are skipped."""
    rclpy = check_rclpy()
    if rclpy.level is Severity.WARN:
        return [rclpy]
    return [rclpy, *check_interfaces(), check_domain(), check_profile()]
