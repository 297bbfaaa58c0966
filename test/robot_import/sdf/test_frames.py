# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Poses of links, joints, axes and frames equal those of libsdformat 12.3.

`libsdformat.json` has its numbers, in the world, for the files of `corpus`: position and
quaternion xyzw, of an axis its direction.  (It knows SDF up to 1.9; newer files were given to it
as 1.9, and comments with "--" without them.)
"""

import json
from pathlib import Path

import numpy as np
import pytest

from urlab_ros_bridge.geometry import rotate
from urlab_ros_bridge.robot_import import ImportOptions
from urlab_ros_bridge.robot_import.errors import InvalidDescription
from urlab_ros_bridge.robot_import.sdf.document import read_sdf
from urlab_ros_bridge.robot_import.sdf.frames import frames_of
from urlab_ros_bridge.robot_import.sdf.frames import joints_of
from urlab_ros_bridge.robot_import.sdf.frames import links_of
from urlab_ros_bridge.robot_import.sdf.frames import Scope
from urlab_ros_bridge.robot_import.sdf.includes import Includes
from urlab_ros_bridge.robot_import.sdf.resources import Resources

HERE = Path(__file__).parent
RESOURCES = Resources(ImportOptions(), {'GZ_SIM_RESOURCE_PATH': str(HERE / 'corpus/models')})
TRUTH = json.loads((HERE / 'libsdformat.json').read_text())
# It writes the poses of merged models with six digits.
ROUNDED = {'include_merge_placed': 1e-5}


def corpus(name):
    """Return the element `sdf` of a file, with what it includes."""
    root = read_sdf(HERE / 'corpus' / f'{name}.sdf', RESOURCES.read)
    includes = Includes(RESOURCES)
    includes.expand(root)
    assert not includes.missing
    return root


def models_of(root):
    """Yield each model's name, scope and pose in the world."""
    for model in root.all('model'):
        scope = Scope(model)
        holder = Scope(root)
        yield model.get('name'), scope, holder.pose(model.get('name'), model)
    for world in root.all('world'):
        scope = Scope(world)
        for name, model in scope.models.items():
            yield name, model, scope.pose(name, world)


def ours(root):
    for name, scope, pose in models_of(root):
        for link in links_of(scope):
            yield f'link {name}::{link.name}', pose.then(link.pose)
        for frame, place in frames_of(scope):
            yield f'frame {name}::{frame}', pose.then(place)
        for joint in joints_of(scope):
            yield f'joint {name}::{joint.name}', pose.then(joint.pose)
            for number, axis in enumerate(joint.axes):
                yield f'axis{number} {name}::{joint.name}', rotate(pose.orientation, axis.tolist())
    for world in root.all('world'):
        scope = Scope(world)
        for frame in world.all('frame'):
            yield f'frame {frame.get("name")}', scope.pose(frame.get('name'), frame)


@pytest.mark.parametrize('name', TRUTH)
def test_everything_is_where_libsdformat_has_it(name):
    found, limit = dict(ours(corpus(name))), ROUNDED.get(name, 1e-9)
    assert found.keys() >= TRUTH[name].keys()
    for what, truth in TRUTH[name].items():
        values = np.concatenate([np.ravel(part) for part in found[what]])
        assert values[:3] == pytest.approx(truth[:3], abs=limit), what
        if len(truth) > 3:
            assert abs(values[3:] @ truth[3:]) == pytest.approx(1.0, abs=limit), what


@pytest.mark.parametrize(
    ('body', 'problem'),
    [
        ('<link name="a"><pose relative_to="b"/></link>', "line 2, .*<link a>.*'b' is unknown"),
        ('<link name="a"/><link name="a"/>', 'name of two things'),
        ('<link name="a"><pose>1 2 x 0 0 0</pose></link>', 'line 2, .*<pose>.* are not numbers'),
        ('<link name="a"><pose>1 2 3</pose></link>', 'not 6 finite numbers'),
        ('<link name="a"><pose>nan 0 0 0 0 0</pose></link>', 'not 6 finite numbers'),
        (
            '<frame name="a" attached_to="b"/><frame name="b" attached_to="a"/><link name="l"/>',
            'in a circle: a -> b -> a',
        ),
        (
            '<link name="a"/><joint name="j" type="fixed"><parent>a</parent>'
            '<child>c</child></joint>',
            "<joint j>.*'c' is unknown",
        ),
    ],
)
def test_a_refusal_names_file_line_and_element(tmp_path, body, problem):
    path = tmp_path / 'm.sdf'
    path.write_text(f'<sdf version="1.9"><model name="m">\n{body}</model></sdf>')
    with pytest.raises(InvalidDescription, match=f'(?s)m.sdf: .*{problem}'):
        list(ours(read_sdf(path, RESOURCES.read)))
