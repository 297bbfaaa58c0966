# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from urlab_ros_bridge.files.folders import cache_folder


def test_the_folder_is_in_the_cache_of_the_user(tmp_path):
    environ = {'XDG_CACHE_HOME': str(tmp_path)}
    assert cache_folder('meshes', environ) == tmp_path / 'urlab_ros_bridge' / 'meshes'
    assert cache_folder('meshes', {'XDG_CACHE_HOME': 'relative'}).is_absolute()
