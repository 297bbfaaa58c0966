# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""`urlab eval --ray`: on a real cluster of this machine, where Ray is installed."""

from dataclasses import asdict
import importlib.util
import os
import signal
import sys

from eval_runs import begin
from eval_runs import done
from eval_runs import EPISODES
from eval_runs import finish
from eval_runs import noted
from eval_runs import prepare
from eval_runs import table
from eval_runs import wait
import psutil
import pytest

from urlab_ros_bridge.cli.main import main
from urlab_ros_bridge.evaluation import episode_cluster
from urlab_ros_bridge.evaluation.episode_cluster import check_machine
from urlab_ros_bridge.evaluation.episode_cluster import ClusterAssignment
from urlab_ros_bridge.evaluation.episode_cluster import UnfitMachine
from urlab_ros_bridge.evaluation.episode_files import RunSettings
from urlab_ros_bridge.evaluation.episode_worker import Assignment

needs_ray = pytest.mark.skipif(
    importlib.util.find_spec('ray') is None,
    reason='Ray is not installed',
)
LOOPBACK = {'127.0.0.1', '::1', '::ffff:127.0.0.1'}
DASHBOARD_PORT = 8265


def test_a_machine_must_have_the_versions_and_the_policy_of_the_driver(tmp_path, monkeypatch):
    (tmp_path / 'unfit_policy.py').write_text('def act(seen):\n    return seen\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    settings = RunSettings.of('rover', '', 'unfit_policy:act', 5, 0)
    episodes = Assignment(asdict(settings), str(tmp_path))
    assignment = ClusterAssignment(episodes, episode_cluster.versions())
    check_machine(ClusterAssignment.of(assignment.text()))
    (tmp_path / 'unfit_policy.py').write_text('def act(seen):\n    return 2 * seen\n')
    with pytest.raises(UnfitMachine, match="'unfit_policy:act'"):
        check_machine(assignment)
    assignment.versions['numpy'] = '1.0'
    with pytest.raises(UnfitMachine, match=r'numpy .* 1\.0 '):
        check_machine(assignment)


def test_without_ray_the_command_names_the_package_to_install(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, 'ray', None)
    monkeypatch.chdir(tmp_path)
    for name in ('RAY_AUTH_MODE', 'RAY_AUTH_TOKEN', 'RAY_USAGE_STATS_ENABLED'):
        monkeypatch.setenv(name, 'x')  # what is set stays set, and goes with the test
    assert main(['eval', '--policy', 'os:getcwd', '--ray', 'local', '--results', 'out']) != 0
    assert 'eval,ray' in ''.join(capsys.readouterr().err.split())


def listeners(processes):
    """Return the addresses that processes listen at."""
    found = set()
    for process in processes:
        try:
            found |= {c.laddr for c in process.net_connections('tcp') if c.status == 'LISTEN'}
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


@needs_ray
@pytest.mark.long
@pytest.mark.slow
def test_a_cluster_gives_the_bits_of_processes_whoever_is_killed(tmp_path):
    place = prepare(tmp_path)
    finish(begin(place, 'one', '--workers', 2))
    rows = table(place, 'one')

    # A worker of Ray is killed in the middle of an episode, then the driver.
    before = set(noted(place))
    words = ('--ray', 'local', '--workers', 2, '--record', 'mcap')
    driver = begin(place, 'ray', *words, PAUSE='0.1')
    wait(lambda: set(noted(place)) - before)
    family = psutil.Process(driver.pid).children(recursive=True)
    # Loopback alone, and no dashboard.
    open_at = listeners([*family, psutil.Process(driver.pid)])
    assert len(open_at) >= 3 and {each.ip for each in open_at} <= LOOPBACK
    assert DASHBOARD_PORT not in {each.port for each in open_at}
    os.kill((set(noted(place)) - before).pop(), signal.SIGKILL)
    wait(lambda: len(done(place, 'ray')) >= 2)
    driver.kill()
    driver.communicate()
    assert 2 <= len(done(place, 'ray')) < EPISODES
    wait(lambda: not any(psutil.pid_exists(p.pid) and p.is_running() for p in family))

    finish(begin(place, 'ray', *words))
    assert table(place, 'ray') == rows
    recorded = {path.name for path in (place / 'mcap').iterdir()}
    assert recorded == {f'episode_{index:04d}.mcap' for index in range(EPISODES)}
