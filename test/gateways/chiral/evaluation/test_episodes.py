# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Evaluation of policies: what ends an episode, what is counted, what is written."""

from bundled_server import simulation
from mcap.reader import make_reader
import numpy as np
import pytest
from rich.console import Console
from unstable_world import write_unstable_world

from urlab_ros_bridge.gateways.chiral.client.client import ChiralClient
from urlab_ros_bridge.gateways.chiral.errors import ChiralClosed
from urlab_ros_bridge.gateways.chiral.evaluation.episode_log import EpisodeLog
from urlab_ros_bridge.gateways.chiral.evaluation.episodes import EpisodeResult
from urlab_ros_bridge.gateways.chiral.evaluation.episodes import Evaluation
from urlab_ros_bridge.gateways.chiral.evaluation.episodes import load_policy
from urlab_ros_bridge.gateways.chiral.evaluation.episodes import PolicyFailed
from urlab_ros_bridge.gateways.chiral.evaluation.episodes import results_table
from urlab_ros_bridge.gateways.chiral.protocol.codec import Observation

HERE = 'test.gateways.chiral.evaluation.policies'


@pytest.fixture
def judged(quadruped, gateway):
    """Return a function: task section and pace -> client of a quadruped."""
    opened = []

    def make(task, pace='lockstep'):
        manager = gateway(quadruped, {'pace': pace, 'task': task})
        server = manager.__enter__()
        client = ChiralClient(server.url)
        client.connect()
        opened.append((client, manager))
        return client

    yield make
    for client, manager in opened:
        client.close()
        manager.__exit__(None, None, None)


def test_an_episode_ends_with_success(judged):
    client = judged({'hook': f'{HERE}:judge', 'instruction': 'stand'})
    policy = load_policy(f'{HERE}:Hold')
    shown = []
    evaluation = Evaluation(client, policy, 100)
    results = [evaluation.run(seed, progress=shown.append) for seed in (4, 5)]
    for seed, result in zip((4, 5), results, strict=True):
        assert (result.seed, result.ended, result.success) == (seed, 'success', True)
        assert result.steps == 9  # the first control period that ends after 0.3 s
        assert result.reward == pytest.approx(4.5)
        assert result.seconds == pytest.approx(9 / 30, abs=0.003)
    assert policy.resets == 2
    assert shown == [*range(1, 10)] * 2
    assert client.latest.extra['height'] > 0.2
    assert client.latest.extra['instruction'] == 'stand'


def test_time_limits_and_step_limits(judged):
    client = judged({'hook': f'{HERE}:half', 'time_limit': 0.2})
    policy = load_policy(f'{HERE}:Hold')
    result = Evaluation(client, policy, 100).run(0)
    assert (result.ended, result.success) == ('truncated', False)
    assert result.reward == pytest.approx(0.25 * result.steps)
    result = Evaluation(client, policy, 3).run(0)
    assert (result.ended, result.steps) == ('max_steps', 3)


def test_chunks_count_by_their_rows(judged):
    result = Evaluation(judged({}), load_policy(f'{HERE}:chunks'), 9).run(0)
    assert (result.steps, result.ended) == (9, 'max_steps')
    assert result.seconds == pytest.approx(9 / 30, abs=0.003)


def test_real_time_takes_its_time(judged):
    result = Evaluation(judged({}, 'real_time'), load_policy(f'{HERE}:Hold'), 15).run(0)
    assert result.wall > 0.4
    assert result.seconds == pytest.approx(result.wall, rel=0.5, abs=0.25)


@pytest.mark.parametrize(
    ('name', 'says'),
    [('broken', 'KeyError'), ('wordy', "returned 'left', not an array of numbers")],
)
def test_a_policy_that_fails_is_named(judged, tmp_path, name, says):
    log = EpisodeLog(tmp_path / 'failed.mcap')
    with pytest.raises(PolicyFailed, match=says):
        Evaluation(judged({}), load_policy(f'{HERE}:{name}'), 5).run(3, [log])
    with (tmp_path / 'failed.mcap').open('rb') as file:
        (record,) = make_reader(file).iter_metadata()
    assert record.metadata == {'seed': '3', 'ended': 'failed'}


@pytest.mark.parametrize('pace', ['lockstep', 'real_time'])
def test_an_action_of_the_wrong_size_ends_the_evaluation(judged, pace):
    with pytest.raises(ChiralClosed, match=r'1008 action of shape \[1\], expected \[12\]'):
        Evaluation(judged({}, pace), load_policy(f'{HERE}:small'), 5).run(0)


@pytest.mark.parametrize(
    ('hook', 'says'),
    [
        ('wrong', "'good'"),
        ('unsendable', 'a value that cannot'),
        ('numbered', 'a value that cannot'),
    ],
)
def test_a_hook_that_fails_ends_the_connection_with_its_reason(judged, hook, says):
    with pytest.raises(ChiralClosed, match=f'1011 the task hook returned {says}'):
        judged({'hook': f'{HERE}:{hook}'}).reset()


@pytest.mark.parametrize('name', ['policies', f'{HERE}:nobody', f'{HERE}:HERE', 'no.where:x'])
def test_a_policy_that_is_not_there_is_named(name):
    with pytest.raises(PolicyFailed, match=f'the policy {name!r}'):
        load_policy(name)


def test_the_table_sums_up():
    results = [
        EpisodeResult(0, 10, 1.0, True, 0.3, 0.1, 'success'),
        EpisodeResult(1, 20, 2.0, False, 0.6, 0.2, 'max_steps'),
    ]
    console = Console(width=99, record=True, file=open('/dev/null', 'w'))  # noqa: SIM115
    console.print(results_table(results))
    text = console.export_text()
    assert '1/2 = 50%' in text and 'mean 1.500' in text and 'max_steps' in text
    assert results_table([]).row_count == 0


def written(path, page_observation):
    page_observation.extra = {'sim_time': 1.25, 'reward': 0.5, 'instruction': 'look'}
    log = EpisodeLog(path)
    log.add(page_observation, np.array([1.0, -2.0, 0.5]))
    log.add(Observation(1.5, [], {}), None)
    log.close({'ended': 'success'})
    with path.open('rb') as file:
        return {
            channel.topic: (schema.name, message)
            for schema, channel, message in make_reader(file).iter_messages()
        }


def test_a_log_is_read_by_any_mcap_reader(tmp_path, page_observation):
    messages = written(tmp_path / 'e.mcap', page_observation)
    streams = {f'/proprio/stream_{i}' for i in range(7)}
    camera = {f'/wrist_cam/{what}' for what in ('image', 'depth', 'intrinsics', 'extrinsics')}
    assert set(messages) == streams | camera | {'/action', '/reward', '/instruction'}
    assert {message.log_time for _, message in messages.values()} == {1_250_000_000}


@pytest.mark.ros
def test_a_log_holds_messages_of_ros(tmp_path, page_observation):
    serialization = pytest.importorskip('rclpy.serialization')
    from sensor_msgs.msg import Image
    from std_msgs.msg import Float64
    from std_msgs.msg import Float64MultiArray
    from std_msgs.msg import String

    messages = written(tmp_path / 'e.mcap', page_observation)
    kinds = {
        f'{kind.__module__.split(".")[0]}/msg/{kind.__name__}': kind
        for kind in (Image, Float64, Float64MultiArray, String)
    }
    read = {
        topic: serialization.deserialize_message(message.data, kinds[name])
        for topic, (name, message) in messages.items()
    }
    view = page_observation.cameras[0]
    image, depth = read['/wrist_cam/image'], read['/wrist_cam/depth']
    assert (image.height, image.width, image.step, image.encoding) == (480, 640, 1920, 'rgb8')
    assert (depth.step, depth.encoding, depth.header.frame_id) == (2560, '32FC1', 'wrist_cam')
    assert (image.header.stamp.sec, image.header.stamp.nanosec) == (1, 250_000_000)
    assert bytes(image.data) == view.image.tobytes()
    assert bytes(depth.data) == view.depth.tobytes()
    assert list(read['/action'].data) == [1.0, -2.0, 0.5]
    assert read['/reward'].data == 0.5
    assert read['/instruction'].data == 'look'


def praise(view):
    """Judge whatever there is to see a success."""
    return {'reward': 1.0, 'success': view.time > 0.2}


@pytest.mark.parametrize('pace', ['lockstep', 'real_time'])
def test_an_episode_in_which_the_simulation_became_unstable_has_failed(tmp_path, gateway, pace):
    model = write_unstable_world(tmp_path)
    task = {'hook': f'{__name__}:praise'}
    setpoints = iter([0.0, 0.0, 0.5, *[0.0] * 1000])
    with (
        simulation('', model=model, cameras='off') as port,
        gateway(port, {'pace': pace, 'task': task}) as server,
        ChiralClient(server.url) as client,
    ):
        evaluation = Evaluation(client, lambda seen: [next(setpoints)], 100)
        failed = evaluation.run(1)
        assert (failed.ended, failed.success) == ('diverged', False)
        seen = client.observe().extra
        assert seen['terminated'] and seen['diverged'] and not seen['success']
        # The next episode is sound.
        passed = evaluation.run(2)
        assert (passed.ended, passed.success) == ('success', True)
        assert client.latest.extra['diverged'] is False
