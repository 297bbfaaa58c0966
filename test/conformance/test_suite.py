# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The suite as users run it, and against servers with special options."""

from dataclasses import replace
import json
from pathlib import Path
import re
import signal
import subprocess
import sys

import faults
from lifelines import start_process
from proxy import Proxy
import pytest

from urlab_ros_bridge.cli.main import main
from urlab_ros_bridge.conformance import all_checks
from urlab_ros_bridge.conformance import Plan
from urlab_ros_bridge.conformance import run
from urlab_ros_bridge.conformance import select
from urlab_ros_bridge.conformance.runner import DEVIATION
from urlab_ros_bridge.conformance.runner import FAIL
from urlab_ros_bridge.conformance.runner import PASS
from urlab_ros_bridge.conformance.runner import SKIP

ROOT = Path(__file__).resolve().parents[2]
# What one server in auto mode with a world cannot be asked.
ALWAYS_SKIPPED = {
    'error.no_active_manager', 'hello.no_manager', 'set_mode.locked', 'step.puppet.perturbation',
    'camera.unknown', 'error.not_in_editor', 'editor.begin_pie', 'set_twist.no_twist_controller',
    'shm.oversize',  # its replies fit
}  # fmt: skip


@pytest.fixture(scope='module', autouse=True)
def run_of_users(request, tmp_path_factory):
    """
    Run the whole suite as users do, beside the tests before the last one, which judges it.

    It takes a quarter of a minute, and waits nearly all of it.
    """
    name = 'test_the_bundled_server_follows_every_rule'
    if not any(item.name == name for item in request.session.items):
        yield None
        return
    folder = tmp_path_factory.mktemp('run')
    command = [sys.executable, '-m', 'urlab_ros_bridge.cli.main', 'conformance']
    command += ['--json', str(folder / 'results.json')]
    with (folder / 'output').open('wb') as output:
        process = start_process(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
    yield process, folder
    if process.poll() is None:
        process.send_signal(signal.SIGINT)  # it ends its own server
        process.wait(20)


def outcomes(peer, *patterns, **plan):
    checks = tuple(select(all_checks(), list(patterns)))
    plan = {'transports': ('zmq',), **plan}
    return {r.check.name: r for r in run(peer, Plan(checks, **plan))}


@pytest.mark.parametrize(('check', 'fault'), faults.FAULTS.items())
def test_a_fault_of_a_server_is_found_by_the_check_of_its_rule(sound, connect, check, fault):
    with Proxy(sound, fault) as proxy:
        results = outcomes(connect(proxy.places), check, quick=True)
    assert {name: result.outcome for name, result in results.items()} == {check: FAIL}


@pytest.mark.parametrize('mode', ['live', 'direct'])
def test_a_pinned_mode_is_the_only_one(start_server, connect, mode):
    peer = connect(start_server(step_mode=mode))
    checks = select(all_checks(), ['set_mode', 'step', 'reset', 'rows', 'error', 'hello'])
    results = list(run(peer, Plan(tuple(checks), quick=True)))
    assert [(r.transport, r.name, r.got) for r in results if r.outcome == FAIL] == []
    by_name = {(r.check.name, r.mode, r.transport): r.outcome for r in results}
    for transport in ('zmq', 'shm'):
        assert by_name['set_mode.locked', '', transport] == PASS
        for other in ('live', 'direct', 'puppet'):
            assert by_name['step.reply', other, transport] == (PASS if other == mode else SKIP)


def test_a_server_without_a_world(start_server, connect):
    peer = connect(start_server(model=None, world='', editor=True))
    results = outcomes(peer, quick=True)
    assert [name for name, result in results.items() if result.outcome == FAIL] == []
    for name in ('error.no_active_manager', 'hello.no_manager', 'editor.begin_pie'):
        assert results[name].outcome == PASS, results[name].reason


def test_a_deviation_of_a_stock_server_is_no_failure(sound, connect):
    peer = connect(sound)
    (check,) = select(all_checks(), ['stamp.rounded'])
    check = replace(check, run=lambda peer: peer.refused('bad_mode', 'forward'), modes=('',))
    plan = Plan((check,), transports=('zmq',))
    assert [result.outcome for result in run(peer, plan)] == [FAIL]
    peer.hello_reply['urlab_version'] = 'urlab/0.1'
    del peer.hello_reply['extensions']
    (result,) = run(peer, plan)
    assert (result.outcome, result.reason) == (DEVIATION, check.stock)


def test_checks_are_listed_and_selected_by_names_beginnings_and_globs(capsys):
    def listed(*words):
        assert main(['conformance', '--list', *words]) == 0
        return set(re.findall(r'^([\w.]+) ', capsys.readouterr().out, re.MULTILINE))

    every = {check.name for check in all_checks()}
    assert listed() == every
    some = listed('--only', 'stamp,step.direct.x*,error.shape')
    assert some == {name for name in every if name.startswith(('stamp.', 'step.direct.x'))} | {
        'error.shape'
    }
    assert main(['conformance', '--list', '--only', 'nothing_like_it']) == 2


def test_program_fails_when_a_rule_is_broken(sound, capsys, tmp_path):
    file = tmp_path / 'results.json'
    with Proxy(sound, faults.TELLS_THE_OP) as proxy:
        words = ['--only', 'error.shape', '--json', str(file), '--transport', 'zmq']
        assert main(['conformance', proxy.places.rpc, *words]) == 1
    output = capsys.readouterr().out
    assert 'FAIL' in output and 'failed_op' in output and '1 failed' in output
    assert json.loads(file.read_text())['results'][0]['outcome'] == 'fail'


def test_the_suite_restores_the_server(sound, connect):
    peer = connect(sound)
    peer.prepare('live')
    before = peer.call('set_sim_options', options={})['options']
    gains = peer.call('configure_controller', articulation='arm', params={})['params']
    outcomes(peer, 'options', 'configure_controller', 'mocap', 'set_sim_speed', 'reset')
    assert peer.call('set_mode', mode='live')['previous_mode'] == 'live'
    assert peer.call('set_sim_options', options={})['options'] == before
    after = peer.call('configure_controller', articulation='arm', params={})['params']
    assert {**after, 'kp': {}} == {**gains, 'kp': {}}
    assert peer.call('read_mocap_pose', body='target')['pos'] == [0.5, 1.5, 0.6]
    assert peer.call('step')['time'] < 5.0


def test_the_bundled_server_follows_every_rule(run_of_users):
    process, folder = run_of_users
    code, output = process.wait(500), (folder / 'output').read_text()
    assert code == 0, output[-2000:]
    report = json.loads((folder / 'results.json').read_text())
    assert report['counts']['deviation'] == 0
    passed = {r['name'] for r in report['results'] if r['outcome'] == 'pass'}
    skipped = {r['name'] for r in report['results'] if r['outcome'] == 'skip'} - passed
    assert skipped <= ALWAYS_SKIPPED
    assert {r['mode'] for r in report['results']} == {'any', 'live', 'direct', 'puppet'}
    assert report['counts']['pass'] > 200
