# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What setup.py and package.xml declare is true of the tree, and they agree with each other."""

import ast
import functools
import os
from pathlib import Path
import re
import sys

from catkin_pkg.package import Package
from catkin_pkg.package import parse_package
import pytest

import urlab_ros_bridge
from urlab_ros_bridge.cli.packages import NEEDS
from urlab_ros_bridge.cli.packages import ROS
from urlab_ros_bridge.interpreters import CORE
from urlab_ros_bridge.interpreters import OLDEST

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / 'urlab_ros_bridge'

# Import name -> name in install_requires or extras_require.
DISTRIBUTIONS = {
    'mujoco_menagerie': 'mujoco-menagerie', 'OpenGL': 'pyopengl', 'PIL': 'pillow',
    're2': 'google-re2', 'yaml': 'pyyaml', 'zmq': 'pyzmq',
}  # fmt: skip
# Import name -> rosdep key.
ROSDEP_KEYS = {
    'argcomplete': 'python3-argcomplete', 'msgpack': 'python3-msgpack', 'numpy': 'python3-numpy',
    'OpenGL': 'python3-opengl', 'PIL': 'python3-pil', 'rich': 'python3-rich',
    'yaml': 'python3-yaml', 'zmq': 'python3-zmq',
}  # fmt: skip
# From an index only: there is no rosdep key, or the package of a distribution is too old.
INDEX_ONLY = {
    'av', 'gymnasium', 'lerobot', 'mcap', 'mink', 'mujoco', 'mujoco_menagerie', 'onnxruntime',
    'orjson', 'pyarrow', 'ray', 're2', 'setuptools', 'trimesh', 'websockets', 'xacro',
}  # fmt: skip
# Imported where they are there, and done without where not; pytest loads its own plugin.
NEVER_REQUIRED = {'launch', 'launch_ros', 'pytest', 'setuptools'}


@pytest.fixture(scope='module')
def setup_py():
    import setuptools  # noqa: F401, brings distutils back where Python has dropped it
    from distutils.core import run_setup  # isort: skip

    before = Path.cwd()
    os.chdir(ROOT)
    try:
        return run_setup('setup.py', stop_after='init')
    finally:
        os.chdir(before)


@pytest.fixture(scope='module')
def package_xml() -> Package:
    warnings: list[str] = []
    package = parse_package(str(ROOT / 'package.xml'), warnings=warnings)
    assert warnings == []
    return package


@functools.cache
def imported_packages(folder: Path) -> set[tuple[str, str]]:
    """Return the names of foreign packages, each with a file that imports it."""
    found = set()
    for path in folder.rglob('*.py'):
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or '']
            else:
                continue
            tops = {name.partition('.')[0] for name in names} - {PACKAGE.name}
            found |= {(top, str(path)) for top in tops - sys.stdlib_module_names}
    return found


def requirement_names(requirements: list[str]) -> set[str]:
    return {requirement.split('>')[0].split('<')[0].lower() for requirement in requirements}


def test_versions_are_equal(setup_py, package_xml):
    interfaces = parse_package(str(ROOT / 'msg' / 'package.xml'))
    versions = {
        'setup.py': setup_py.get_version(),
        'package.xml': package_xml.version,
        'msg/package.xml': interfaces.version,
        '__init__.py': urlab_ros_bridge.__version__,
    }
    assert len(set(versions.values())) == 1, versions


def test_every_ros_import_is_an_exec_depend(package_xml):
    declared = {depend.name for depend in package_xml.exec_depends}
    imported = imported_packages(PACKAGE) | imported_packages(ROOT / 'launch')
    allowed = declared | INDEX_ONLY | {'pytest'}
    assert [each for each in imported if ROSDEP_KEYS.get(each[0], each[0]) not in allowed] == []


def test_every_import_from_an_index_is_required(setup_py, package_xml):
    ros = {depend.name for depend in package_xml.exec_depends} | NEVER_REQUIRED
    declared = requirement_names(setup_py.install_requires)
    for extra in (
        'sim', 'chiral', 'webxr', 'ik', 'eval', 'ray', 'lerobot', 'gym', 'video', 'policy',
        'completion', 'bags', 'urdf', 'robots',
    ):  # fmt: skip
        declared |= requirement_names(setup_py.extras_require[extra])
    missing = [
        (name, path)
        for name, path in imported_packages(PACKAGE)
        if name not in ros and DISTRIBUTIONS.get(name, name) not in declared
    ]
    assert missing == []


def module_requirements(setup_py, extra):
    """Return what `urlab setup` installs for an extra: module -> requirement."""
    modules = {name.lower(): module for module, name in DISTRIBUTIONS.items()}
    extras = setup_py.extras_require
    texts = [*setup_py.install_requires, *extras[extra], *extras['sim']]
    names = {text: re.match(r'[\w.-]+', text)[0].lower() for text in texts}
    return {modules.get(name, name).replace('-', '_'): text for text, name in names.items()}


def test_a_part_of_setup_installs_what_its_commands_need(setup_py):
    for command, needs in NEEDS.items():
        ours = set(needs.modules) - set(ROS)
        assert ours <= set(module_requirements(setup_py, needs.extra or 'sim')), command
    assert set(CORE) <= set(module_requirements(setup_py, 'sim'))


def test_versions_that_are_too_old_are_those_of_setup_py(setup_py):
    required = {}
    for extra in setup_py.extras_require:
        required |= module_requirements(setup_py, extra)
    for module, oldest in OLDEST.items():
        least = re.search(r'>=([\d.]+)', required[module])[1]
        assert least == '.'.join(map(str, oldest)), module


def test_texts_about_missing_packages_name_a_part_of_setup(setup_py):
    for path in PACKAGE.rglob('*.py'):
        text = path.read_text(encoding='utf-8')
        assert 'pip install' not in text.replace('a pip install', ''), path
        for parts in re.findall(r'urlab setup --with ([\w,]+)', text):
            assert set(parts.split(',')) <= set(setup_py.extras_require), (path, parts)
