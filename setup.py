# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Package metadata, here and not in pyproject.toml because colcon reads it from setup.py."""

from pathlib import Path

from setuptools import find_packages
from setuptools import setup

NAME = 'urlab_ros_bridge'
HERE = Path(__file__).resolve().parent  # with --symlink-install colcon runs a link to this file


def shared_files(*folders: str) -> list[tuple[str, list[str]]]:
    """Return data_files entries that lay the folders, sub-folders kept, under share/NAME."""
    found: dict[str, list[str]] = {}
    for folder in folders:
        for path in sorted(Path(folder).rglob('*')):
            if path.is_file() and '__pycache__' not in path.parts:
                found.setdefault(f'share/{NAME}/{path.parent}', []).append(str(path))
    return list(found.items())


setup(
    name=NAME,
    version='0.1.0',
    description='ROS 2 bridge for robot simulations that speak the URLab protocol',
    long_description=(HERE / 'README.md').read_text(encoding='utf-8'),
    long_description_content_type='text/markdown',
    author='The urlab_ros_bridge authors',
    maintainer='urlab_ros_bridge maintainers',
    maintainer_email='maintainers@urlab-ros-bridge.example',
    license='Apache-2.0',
    python_requires='>=3.11',
    packages=find_packages(include=[NAME, f'{NAME}.*']),
    package_data={
        NAME: ['py.typed', 'models/**/*', 'web/**/*', 'conformance/world/*', 'robot_import/*.yaml']
    },
    exclude_package_data={'': ['*.pyc']},
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{NAME}']),
        (f'share/{NAME}', ['package.xml']),
        *shared_files('launch', 'config'),
        # The versions that `urlab setup` installs.
        (f'share/{NAME}/pypi/requirements', ['pypi/requirements/jazzy.lock']),
        # Where `ros2 run` looks; a wheel must not put such common names on the user's PATH.
        (f'lib/{NAME}', [f'scripts/{name}' for name in ('bridge', 'server', 'setup')]),
    ],
    zip_safe=False,
    install_requires=[
        'setuptools',
        'msgpack>=1.0.3',
        'numpy>=1.26',
        'pillow>=9.4',
        'PyYAML>=6.0',
        'pyzmq>=24.0',
        'rich>=13.0',
    ],
    extras_require={
        'sim': ['mujoco>=3.3', 'PyOpenGL>=3.1', 'gymnasium>=1.0'],
        'chiral': ['websockets>=17.4,<18', 'mujoco>=3.3'],
        'webxr': ['websockets>=17.4,<18', 'mujoco>=3.3', 'mink>=1.0', 'orjson>=3.10'],
        'simspark': ['mujoco>=3.3'],
        'gym': ['gymnasium>=1.0', 'mujoco>=3.3', 'PyOpenGL>=3.1'],
        'ik': ['mink>=1.0'],
        'bags': ['mcap>=1.6', 'google-re2>=1.1'],
        'eval': ['mcap>=1.6', 'pyarrow>=17.0'],
        'ray': ['ray>=2.52'],
        'lerobot': ['lerobot>=0.4.4', 'numpy<2.4'],
        'urdf': ['mujoco>=4.0', 'pycollada>=0.8', 'trimesh>=4.0', 'xacro>=2.0'],
        'robots': ['mujoco-menagerie>=2026.10'],
        'video': ['av>=14.0'],
        'policy': ['onnxruntime>=1.17'],
        'completion': ['argcomplete>=3.0'],
        'test': [
            'hypothesis',
            'mcap-ros2-support',
            'onnx',
            'playwright',
            'psutil',
            'pytest',
            'pytest-rerunfailures',
            'pytest-timeout',
            'rosbags',
        ],
    },
    entry_points={
        'console_scripts': [f'urlab = {NAME}.cli.main:main'],
        # Named after its module, so that `-p` with the module's name is the same plugin.
        'pytest11': [f'{NAME}.testing.pytest_plugin = {NAME}.testing.pytest_plugin'],
    },
)
