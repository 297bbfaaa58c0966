# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
A fresh machine with ROS: the block of the README, literally, and the tests of the bridge.

Its Python is a copy of this one, in which pip refuses to install (PEP 668).  It has ROS from the
wheels, and the other packages in the versions of Ubuntu 24.04.
"""

import os
from pathlib import Path
import shutil
import signal
import subprocess
import sys

from lifelines import run_process
from lifelines import start_process
from ports import free_ports
import pytest

ROOT = Path(__file__).parents[2]
UV = shutil.which('uv', path=f'{Path(sys.executable).parent}{os.pathsep}{os.environ["PATH"]}')
UNDERLAY = ROOT / 'install'  # with the interface packages of ROS that the wheels lack
KEPT = ('LANG', 'TMPDIR', 'SSL_CERT_FILE')
PYTHON = 'python{}.{}'.format(*sys.version_info)

pytestmark = [
    pytest.mark.long,
    pytest.mark.slow,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(UV is None, reason='needs uv'),
    pytest.mark.skipif(
        not (UNDERLAY / '.urlab-interfaces').is_file(), reason='needs `make setup`'
    ),
]

# Their versions in Ubuntu 24.04: what rosdep installs, and what colcon and pytest bring along.
UBUNTU = """
argcomplete==3.1.4
hypothesis==6.98.15
msgpack==1.0.3
numpy==1.26.4
packaging==24.0
pillow==10.2.0
pluggy==1.4.0
psutil==5.9.8
PyOpenGL==3.1.7
pytest==7.4.4
pytest-timeout==2.2.0
PyYAML==6.0.1
pyzmq==24.0.1
rich==13.7.1
setuptools==68.1.2
"""
OF_ROS = ('ros-', 'colcon-', 'catkin', 'distlib', 'docutils', 'empy', 'lark', 'pyparsing',
          'python-dateutil')  # fmt: skip
# The verbs that the README uses; no index has `launch`, and `urlab up` starts the same processes.
ROS2 = """#!/usr/bin/env python3
import os, sys
verb, package, program, *words = sys.argv[1:]
if verb == 'launch':
    os.execvp('urlab', ['urlab', 'up', '--port-offset', os.environ['PORT_OFFSET'], *words])
for prefix in os.environ['AMENT_PREFIX_PATH'].split(':'):
    file = f'{prefix}/lib/{package}/{program}'
    if os.access(file, os.X_OK):
        os.execv(file, [file, *words])
sys.exit(f'{program} is not in {package}')
"""
# What a machine with ROS does not need: the wheels name folders of the machine they were built on.
BUILD = """
build:
  cmake-args:
  - -GNinja
  - -DBUILD_TESTING=OFF
  - -DCMAKE_BUILD_TYPE=Release
  - -DCMAKE_C_FLAGS_RELEASE=-O0
  - -DCMAKE_CXX_FLAGS_RELEASE=-O0
  - -DCMAKE_PROJECT_INCLUDE={}/pypi/wheel_paths.cmake
"""


def readme_block():
    """Return the commands of the README for an installed ROS."""
    text = (ROOT / 'README.md').read_text(encoding='utf-8').partition('## With an installed ROS 2')
    block = text[2].partition('\n    ')[2].partition('\n\n')[0]
    return [line.strip() for line in block.splitlines()]


def make_system(usr):
    """Copy Python to `usr`, without its packages; install those of ROS and of Ubuntu."""
    base, library = Path(sys.base_prefix), usr / 'lib' / PYTHON
    ignored = shutil.ignore_patterns(
        '*-packages', '__pycache__', 'config-*', 'idlelib', 'test', 'tkinter'
    )
    shutil.copytree(base / 'lib' / PYTHON, library, ignore=ignored, symlinks=True)
    shutil.copytree(base / 'include' / PYTHON, usr / 'include' / PYTHON)
    (usr / 'bin').mkdir()
    shutil.copy(base / 'bin' / PYTHON, usr / 'bin' / PYTHON)
    (usr / 'bin' / 'python3').symlink_to(PYTHON)
    (library / 'EXTERNALLY-MANAGED').write_text('[externally-managed]\n')
    # Debian's Python has folders of its own, in which the wheels do not find their libraries.
    sysconfig = library / 'sysconfig.py'
    schemes = sysconfig.read_text()
    sysconfig.write_text(schemes.replace("scheme = 'posix_local'", "scheme = 'posix_prefix'"))
    (library / 'sitecustomize.py').unlink(missing_ok=True)
    (library / 'sitecustomize.py').write_text(
        f'import site\nsite.addsitedir({str(library / "site-packages")!r})\n'
    )
    lock = (ROOT / 'pypi' / 'requirements' / 'jazzy.lock').read_text().splitlines()
    wanted = usr / 'requirements.txt'
    wanted.write_text(UBUNTU + '\n'.join(line for line in lock if line.startswith(OF_ROS)))
    install = [UV, 'pip', 'install', '--quiet', '--python', usr / 'bin' / 'python3', '-r', wanted]
    refused = run_process(install, stderr=subprocess.PIPE, text=True)
    assert 'externally managed' in refused.stderr
    run_process([*install, '--break-system-packages'], check=True)


class Machine:
    """A machine with ROS and a workspace, all below `folder`."""

    def __init__(self, folder):
        self.workspace = folder / 'work space'
        usr, opt, bin_ = folder / 'usr', folder / 'opt', folder / 'bin'
        make_system(usr)
        ours = shutil.ignore_patterns('*urlab*', '*.*sh', '*.dsv', '*.ps1', '*_util_sh.py')
        shutil.copytree(UNDERLAY, opt, ignore=ours)
        bin_.mkdir()
        for name, text in (('rosdep', '#!/bin/sh\n'), ('ros2', ROS2)):
            (bin_ / name).write_text(text)
            (bin_ / name).chmod(0o755)
        (folder / 'build.yaml').write_text(BUILD.format(ROOT))
        made = [f'{name}{end}' for name in ('build', 'install', 'log') for end in ('', '-*')]
        ignored = shutil.ignore_patterns('.*', *made, '__pycache__', 'node_modules')
        shutil.copytree(ROOT, self.workspace / 'src' / 'urlab_ros_bridge', ignore=ignored)
        self.environ = {name: os.environ[name] for name in KEPT if name in os.environ}
        self.environ |= {n: v for n, v in os.environ.items() if n.startswith(('PIP_', 'ROS_'))}
        self.environ |= {
            'HOME': str(folder / 'home'),
            'PATH': f'{bin_}:{usr / "bin"}:/usr/bin:/bin',
            'AMENT_PREFIX_PATH': f'{opt}:{usr}',
            'CMAKE_PREFIX_PATH': f'{opt}:{usr}',
            'PYTHONPATH': str(opt / 'lib' / PYTHON / 'site-packages'),
            'LD_LIBRARY_PATH': str(opt / 'lib'),
            'COLCON_DEFAULTS_FILE': str(folder / 'build.yaml'),
            'PORT_OFFSET': str(free_ports('rpc')['rpc'] - 5559),
        }

    def run(self, *lines):
        """Run lines of bash in the workspace; return the output, of which all must succeed."""
        done = run_process(
            ['bash', '-ec', '\n'.join(lines)], cwd=self.workspace, env=self.environ,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
        return done.stdout


@pytest.fixture(scope='module')
def machine(tmp_path_factory):
    return Machine(tmp_path_factory.mktemp('machine'))


def test_the_block_of_the_readme(machine):
    *commands, launch = readme_block()
    assert launch.startswith('ros2 launch')
    output = machine.run(*commands, 'command -v urlab', *commands[-1:])
    assert f'{machine.workspace}/install/urlab_ros_bridge/bin/urlab' in output
    assert 'Nothing to do' in output.splitlines()[-1]
    process = start_process(
        ['bash', '-ec', f'. install/setup.bash\nexec {launch}'], cwd=machine.workspace,
        env=machine.environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    output = ''
    while 'connected to' not in output:
        line = process.stdout.readline()
        assert line, output
        output += line
    process.send_signal(signal.SIGINT)
    process.stdout.read()
    assert process.wait(30) == 0


def test_the_bridge_passes_its_tests_with_the_packages_of_ubuntu(machine):
    """`colcon test` skips what needs other packages; `--with` adds to what is there."""
    machine.run(
        '. install/setup.bash',
        'urlab setup --with bags,urdf',
        'colcon test --packages-select urlab_ros_bridge --pytest-args test/ros',
        'colcon test-result --verbose',
    )
