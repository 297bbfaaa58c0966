# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Evaluation of policies: ends of episodes, results, recordings."""

from contextlib import ExitStack

from bundled_server import simulation
from mcap.reader import make_reader
import numpy as np
import pytest
from unstable_world import write_unstable_world

from urlab_ros_bridge.evaluation.episode_log import EpisodeLog
from urlab_ros_bridge.evaluation.episodes import Evaluation
from urlab_ros_bridge.evaluation.episodes import load_policy
from urlab_ros_bridge.evaluation.episodes import PolicyFailed
from urlab_ros_bridge.gateways.chiral.client.client import ChiralClient
from urlab_ros_bridge.gateways.chiral.errors import ChiralClosed
from urlab_ros_bridge.gateways.chiral.protocol.codec import CameraView
from urlab_ros_bridge.gateways.chiral.protocol.codec import Observation

HERE = 'test.evaluation.policies'


@pytest.fixture
def judged(quadruped, gateway):
    """Return a function: task section and pace -> client of a quadruped."""
    with ExitStack() as opened:

        def make(task, pace='lockstep'):
            server = opened.enter_context(gateway(quadruped, {'pace': pace, 'task': task}))
            return opened.enter_context(ChiralClient(server.url))

        yield make


def test_an_episode_ends_with_success(judged):
    client = judged({'hook': f'{HERE}:judge', 'instruction': 'stand'})
    policy = load_policy(f'{HERE}:Hold')
    evaluation = Evaluation(client, policy, 100)
    for seed in (4, 5):
        result = evaluation.run(seed)
        assert (result.seed, result.ended, result.success) == (seed, 'success', True)
        assert result.steps == 9  # the first control period that ends after 0.3 s
        assert result.reward == pytest.approx(4.5)
        assert result.seconds == pytest.approx(9 / 30, abs=0.003)
    assert policy.resets == 2
    assert client.latest.extra['height'] > 0.2
    assert client.latest.extra['instruction'] == 'stand'


def test_time_limits_and_step_limits(judged):
    client = judged({'hook': f'{HERE}:half', 'time_limit': 0.2})
    result = Evaluation(client, load_policy(f'{HERE}:Hold'), 100).run(0)
    assert (result.ended, result.success) == ('truncated', False)
    assert result.reward == pytest.approx(0.25 * result.steps)
    result = Evaluation(client, load_policy(f'{HERE}:chunks'), 3).run(0)  # counted by rows
    assert (result.ended, result.steps) == ('max_steps', 3)
    assert result.seconds == pytest.approx(3 / 30, abs=0.003)


@pytest.mark.parametrize(
    ('name', 'says'), [('broken', 'KeyError'), ('small', r'1008 action of shape \[1\], expected')]
)
def test_a_policy_that_fails_is_named(judged, tmp_path, name, says):
    log = EpisodeLog(tmp_path / 'failed.mcap')
    with pytest.raises((PolicyFailed, ChiralClosed), match=says):
        Evaluation(judged({}), load_policy(f'{HERE}:{name}'), 5).run(3, [log])
    with (tmp_path / 'failed.mcap').open('rb') as file:
        (record,) = make_reader(file).iter_metadata()
    assert record.metadata == {'seed': '3', 'ended': 'failed'}


def test_a_hook_that_fails_ends_the_connection_with_its_reason(judged):
    with pytest.raises(ChiralClosed, match=r'1011 .* returned a value that cannot'):
        judged({'hook': f'{HERE}:unsendable'}).reset()


@pytest.mark.parametrize('name', ['policies', f'{HERE}:nobody', 'no.where:x'])
def test_a_policy_that_is_not_there_is_named(name):
    with pytest.raises(PolicyFailed, match=f'the policy {name!r}'):
        load_policy(name)


@pytest.mark.ros
def test_a_log_is_read_by_any_mcap_reader(tmp_path):
    """Its messages are those of ROS."""
    serialization = pytest.importorskip('rclpy.serialization')
    utilities = pytest.importorskip('rosidl_runtime_py.utilities')
    random = np.random.default_rng(5)
    image = random.integers(0, 256, (480, 640, 3), np.uint8)
    depth = random.random((480, 640), np.float32)
    view = CameraView('wrist_cam', 1.234, np.eye(3), np.eye(4), image, depth)
    extra = {'sim_time': 1.25, 'reward': 0.5, 'instruction': 'look'}
    log = EpisodeLog(tmp_path / 'e.mcap')
    log.add(Observation(0.05, [view], {'q': np.ones(7, np.float32)}, extra), np.array([1.0, -2.0]))
    log.add(Observation(1.5, [], {}), None)
    log.close({'ended': 'success'})
    read = {}
    with (tmp_path / 'e.mcap').open('rb') as file:
        for schema, channel, message in make_reader(file).iter_messages():
            assert message.log_time == 1_250_000_000
            kind = utilities.get_message(schema.name)
            read[channel.topic] = serialization.deserialize_message(message.data, kind)
    camera = [f'/wrist_cam/{what}' for what in ('image', 'depth', 'intrinsics', 'extrinsics')]
    assert set(read) == {'/proprio/q', *camera, '/action', '/reward', '/instruction'}
    shown, far = (read[name] for name in camera[:2])
    assert (shown.height, shown.width, shown.step, shown.encoding) == (480, 640, 1920, 'rgb8')
    assert (far.step, far.encoding, far.header.frame_id) == (2560, '32FC1', 'wrist_cam')
    assert (shown.header.stamp.sec, shown.header.stamp.nanosec) == (1, 250_000_000)
    assert bytes(shown.data) == image.tobytes() and bytes(far.data) == depth.tobytes()
    assert read['/action'].data.tolist() == [1.0, -2.0]
    assert (read['/reward'].data, read['/instruction'].data) == (0.5, 'look')


@pytest.mark.parametrize('pace', ['lockstep', 'real_time'])
def test_an_episode_in_which_the_simulation_became_unstable_has_failed(tmp_path, gateway, pace):
    model = write_unstable_world(tmp_path)
    setpoints = iter([0.0, 0.0, 0.5, *[0.0] * 1000])
    with (
        simulation('', model=model, cameras='off') as port,
        gateway(port, {'pace': pace, 'task': {'hook': f'{HERE}:late'}}) as server,
        ChiralClient(server.url) as client,
    ):
        evaluation = Evaluation(client, lambda seen: [next(setpoints)], 100)
        failed = evaluation.run(1)
        assert (failed.ended, failed.success) == ('diverged', False)
        seen = client.observe().extra
        assert seen['terminated'] and seen['diverged'] and not seen['success']
        passed = evaluation.run(2)  # the next episode is sound
        assert (passed.ended, passed.success) == ('success', True)
        assert client.latest.extra['diverged'] is False
