# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import pytest

from urlab_ros_bridge.cli.arguments.controllers import controller_names
from urlab_ros_bridge.cli.arguments.controllers import controllers_file

MANAGER = """
  ros__parameters:
    update_rate: 250
    arm: {type: some/Controller, params: 1}
    hand: {type: some/Controller}
    hardware_components_initial_state: {unconfigured: [arm]}
arm: {ros__parameters: {type: not one}}
"""


@pytest.mark.parametrize('head', ['/sim/controller_manager:', '/**:\n controller_manager:'])
def test_controllers_in_any_namespace(tmp_path, head):
    file = tmp_path / 'controllers.yaml'
    file.write_text(head + MANAGER)
    assert controllers_file(str(file)) == ''
    assert controller_names(str(file)) == ['arm', 'hand']


@pytest.mark.parametrize(
    'text',
    ['arm: {ros__parameters: {joints: [a]}}', 'controller_manager: {update_rate: 100}', '['],
)
def test_a_file_without_controllers_is_refused(tmp_path, text):
    file = tmp_path / 'controllers.yaml'
    file.write_text(text)
    assert controllers_file(str(file)) and controllers_file(str(tmp_path / 'none'))
    assert controllers_file('') == ''
