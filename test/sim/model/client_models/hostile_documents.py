# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Documents that must be refused, and part of the message."""

from spawn_models import URDF

from urlab_ros_bridge.sim.model.client_models import words


def world(text):
    return f'<mujoco><worldbody>{text}</worldbody></mujoco>'


def asset(text):
    return f'<mujoco><asset>{text}</asset></mujoco>'


# Each names {0}, which is a file outside: it exists, or it does not.
OUTSIDE = {
    'mesh': asset('<mesh name="m" file="{0}.obj"/>'),
    'hfield': asset('<hfield name="m" file="{0}.obj" size="1 1 1 1"/>'),
    'skin': asset('<skin name="m" file="{0}.obj"/>'),
    'deformable skin': '<mujoco><deformable><skin name="m" file="{0}.obj"/></deformable></mujoco>',
    'texture': asset('<texture name="m" type="2d" file="{0}.obj"/>'),
    **{side: asset(f'<texture name="m" type="cube" {side}="{{0}}.obj"/>') for side in words.SIDES},
    'flexcomp': world('<body name="b"><flexcomp name="f" type="mesh" file="{0}.obj"/></body>'),
    'content type': asset('<mesh name="m" content_type="model/obj" file="{0}.obj"/>'),
    'urdf': URDF.format(root='base', joint='fixed').replace(
        '<box size="0.2 0.2 0.2"/>', '<mesh filename="{0}.obj"/>'
    ),
}


HOSTILE = {
    'entities of entities': (
        '<!DOCTYPE m [<!ENTITY a "xx"><!ENTITY b "&a;&a;">]><mujoco model="&b;"/>',
        'document type',
    ),
    'external entity': (
        '<!DOCTYPE m [<!ENTITY a SYSTEM "file:///etc/passwd">]><mujoco>&a;</mujoco>',
        'document type',
    ),
    'depth': (world('<body>' * 5000 + '</body>' * 5000), 'at most 128'),
    'not XML': ('<mujoco', 'not XML'),
    'surrogate': ('<mujoco model="\ud800"/>', 'not XML'),
    'other root': ('<sdf/>', '<sdf>'),
    'unknown element': ('<mujoco><worldBody/></mujoco>', "did you mean 'worldbody'"),
    'unknown attribute': (world('<geom File="x"/>'), "unrecognized attribute of <geom>: 'File'"),
    'plugin': ('<mujoco><extension><plugin plugin="my.reader"/></extension></mujoco>', 'plugin'),
    'sensor plugin': ('<mujoco><sensor><plugin plugin="x"/></sensor></mujoco>', 'plugin'),
    'decoder': (asset('<mesh name="m" content_type="x/y" file="a"/>'), 'content_type'),
    'replicate': (world('<replicate count="2000000000"><geom/></replicate>'), '2000000000'),
    'replicate as a float': (world('<replicate count="2e9"><geom/></replicate>'), "'2e9'"),
    'nested': (
        world('<replicate count="300"><replicate count="300"><geom/></replicate></replicate>'),
        'count of <replicate>',
    ),
    'many small ones': (world('<replicate count="99"><geom/></replicate>' * 99), 'copies'),
    'composite': (world('<body><composite type="cable" count="9000000 1 1"/></body>'), '9000000'),
    'hfield area': (asset('<hfield nrow="5000" ncol="5000" size="1 1 1 1"/>'), '5000 x 5000'),
    'texture': (asset('<texture name="t" width="999999" height="1"/>'), 'width of <texture>'),
    'memory': ('<mujoco><size memory="99G"/></mujoco>', "99G requested, at most 2147483648"),
    'memory in words': ('<mujoco><size memory="lots"/></mujoco>', "'lots' is not a size"),
    'user sensor': ('<mujoco><sensor><user dim="2000000000"/></sensor></mujoco>', 'dim of <user>'),
    'camera': (world('<camera resolution="64 100000"/>'), 'resolution of <camera>'),
    'include': ('<mujoco><include file="a.xml"/></mujoco>', 'cannot include files'),
    'model': (asset('<model name="a" file="a.xml"/>'), 'cannot have a <model>'),
    'urdf extension': ('<robot><mujoco><size memory="99G"/></mujoco></robot>', 'memory of <size>'),
}  # fmt: skip
