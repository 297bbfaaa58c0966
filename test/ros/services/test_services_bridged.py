# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
import math
from pathlib import Path
import threading
from types import SimpleNamespace

from bridge_harness import CapturedLog
from bridge_harness import LATCHED
from bridge_harness import wait_until
from geometry_msgs.msg import Vector3
from nav_msgs.msg import Odometry
import pytest
from simulation_interfaces import srv as simulation
from small_model import EXTENSIONS
from small_world import SmallServer
from stamps import ns_of
from std_msgs.msg import UInt64
from std_srvs.srv import SetBool
from urlab_msgs import msg
from urlab_msgs import srv


@pytest.fixture(scope='module')
def lasting_world(keep_all, lasting_bridged, tmp_path_factory):
    server, folder = keep_all(SmallServer()), tmp_path_factory.mktemp('data')
    return server, *lasting_bridged(server, data_dir=str(folder))


@pytest.fixture
def world(lasting_world):
    """Return server, bridge and listener of a world at its beginning."""
    server, bridge, listener = lasting_world
    with server.lock:
        server.mode, server.paused = 'live', False
    wait_until(lambda: bridge.settled)
    assert listener.call(SetBool, '/e_stop', data=False).success
    assert listener.call(srv.SetSpeed, '/set_speed', percent=100.0).success
    assert listener.call(srv.Reset, '/reset', time=True).success
    with server.lock:
        server.requests.clear()
    yield server, bridge, listener
    listener.forget()


@pytest.mark.distro
def test_resets_keep_time_or_set_it_back_and_are_counted(world):
    server, bridge, listener = world
    counts = listener.listen(UInt64, '/reset_count', LATCHED)
    wait_until(lambda: counts and server.data.time > 0.2)
    first = counts[0].data
    epoch, before = bridge.timeline.epoch, server.now
    response = listener.call(srv.Reset, '/reset')
    assert server.of('reset')[-1]['keep_time'] is True
    assert response.success and ns_of(response.sim_time) >= before
    assert bridge.timeline.epoch == epoch
    wait_until(lambda: [m.data - first for m in counts] == [0, 1])
    # The response is sent after the stream has published the new time.
    response = listener.call(srv.Reset, '/reset', time=True)
    assert response.success and response.code == '' and response.message
    assert ns_of(response.sim_time) == 0 and response.step == 0
    assert bridge.timeline.epoch == epoch + 1 and bridge.timeline.stamp_ns < 0.2e9
    wait_until(lambda: [m.data - first for m in counts] == [0, 1, 2])


def test_a_reset_by_a_server_without_keep_time_says_that_time_was_set_back(small_server, bridged):
    server = small_server(extensions=[each for each in EXTENSIONS if each != 'keep_time'])
    bridge, listener = bridged(server)
    wait_until(lambda: bridge.settled and server.data.time > 0.1)
    epoch = bridge.timeline.epoch
    response = listener.call(srv.Reset, '/reset')
    assert response.success and 'time was set back' in response.message
    assert bridge.timeline.epoch == epoch + 1


def test_reset_passes_everything_on(world):
    server, _, listener = world
    joint = msg.JointPosition(articulation='robot_0', joint='shoulder', position=0.5)
    bare = msg.JointPosition(joint='lift', position=0.1)
    assert listener.call(
        srv.Reset, '/reset', time=True, seed=7, per_articulation_qpos=[joint, bare]
    ).success
    (request,) = server.of('reset')
    assert request['seed'] == 7
    assert request['per_articulation_qpos'] == {'bot': {'shoulder': 0.5, 'lift': 0.1}}


def test_steps_in_live_mode_pause_and_are_counted(world):
    server, bridge, listener = world
    response = listener.call(srv.Step, '/step', n_steps=450)
    assert response.success and server.paused and server.mode == 'live'
    assert sum(request['n_steps'] for request in server.of('step')) == 450
    assert ns_of(response.sim_time) == server.now
    assert response.step == 450
    assert bridge.timeline.stamp_ns == server.now
    before = server.data.time
    assert listener.call(srv.Step, '/step').success
    assert server.data.time == pytest.approx(before + 0.002)


def call_async(listener, kind, name, **fields):
    """Call a service, and return the future of its response."""
    client = listener.run(lambda: listener.node.create_client(kind, name))
    assert client.wait_for_service(20.0)
    return listener.run(lambda: client.call_async(kind.Request(**fields)))


LONG_STEPS = 40_000


@pytest.fixture
def stepping_slowly(small_server, bridged):
    """`LONG_STEPS` are under way, 200 in each request, slowly until the event is set."""
    server = small_server()
    bridge, listener = bridged(server)
    wait_until(lambda: bridge.settled)
    step, hurry = server.handler('step'), threading.Event()

    def slow(request):
        hurry.wait(0.1)
        return step(request)

    server.answer('step', slow)
    steps = call_async(listener, srv.Step, '/step', n_steps=LONG_STEPS)
    wait_until(lambda: server.of('step'))
    return server, bridge, listener, steps, hurry


def test_during_long_steps_pause_state_e_stop_and_bags_are_answered(stepping_slowly):
    server, _, listener, steps, hurry = stepping_slowly
    # It waits for its turn: it would change the steps.
    reset = call_async(listener, srv.Reset, '/reset', time=True)
    for _ in range(2):
        assert not listener.call(srv.BagStop, '/bag_stop').success
        assert listener.call(SetBool, '/e_stop', data=False).success
        assert listener.call(SetBool, '/pause', data=True).success
        state = simulation.SetSimulationState.Request().state
        state.state = state.STATE_PAUSED
        response = listener.call(
            simulation.SetSimulationState, '/set_simulation_state', state=state
        )
        assert 'already PAUSED' in response.result.error_message
    assert not steps.done() and not reset.done()
    hurry.set()
    wait_until(lambda: steps.done() and reset.done())
    assert steps.result().success and steps.result().step == LONG_STEPS
    assert reset.result().success and reset.result().step == 0
    changes = [each for each in server.requests if each['op'] in ('step', 'reset')]
    assert [each['op'] for each in changes] == ['step'] * 200 + ['reset']
    assert all(each['n_steps'] == 200 for each in changes[:-1])


@pytest.mark.distro
def test_pause_speed_mode_and_twist(world):
    server, _, listener = world
    assert listener.call(SetBool, '/pause', data=True).success and server.paused
    assert listener.call(SetBool, '/pause', data=False).success and not server.paused
    speed = listener.call(srv.SetSpeed, '/set_speed')
    assert speed.success and speed.percent == 100.0
    assert listener.call(srv.SetSpeed, '/set_speed', percent=1.0).percent == 5.0
    mode = listener.call(srv.SetMode, '/set_mode')
    assert (mode.success, mode.current_mode) == (True, 'live') and not server.of('set_mode')
    mode = listener.call(srv.SetMode, '/set_mode', mode='direct')
    assert (mode.previous_mode, mode.current_mode, server.mode) == ('live', 'direct', 'direct')
    twist = listener.call(srv.SetTwist, '/set_twist', linear=Vector3(x=1.0), timeout=2.0)
    assert (twist.success, twist.articulation, twist.linear.x) == (True, 'bot', 1.0)
    assert server.of('set_twist')[-1]['timeout'] == 2.0


def test_without_a_server_services_answer_not_connected(bridged):
    _, listener = bridged(SimpleNamespace(ports={'rpc': 1, 'state': 2}))
    for kind, name in ((srv.Reset, '/reset'), (srv.Step, '/step'), (srv.SetMode, '/set_mode')):
        response = listener.call(kind, name)
        assert (response.success, response.code) == (False, 'not_connected')
    assert not listener.call(SetBool, '/pause', data=True).success


def test_an_observer_offers_services_that_refuse(small_server, bridged):
    _, listener = bridged(small_server(), observe_only=True)
    response = listener.call(srv.Reset, '/reset', time=True)
    assert (response.success, response.code) == (False, 'observe_only')


def test_a_slow_request_delays_neither_the_stream_nor_the_e_stop(world):
    server, bridge, listener = world
    reset = server.handler('reset')
    # The server's lock is not held: only the reply is late.
    delay = threading.Event()

    def late(request):
        server.lock.release()
        delay.wait(20)
        server.lock.acquire()
        return reset(request)

    server.answer('reset', late)
    listener.wait_for(Odometry, 'odom')
    answer = call_async(listener, srv.Reset, '/reset', time=True)
    wait_until(lambda: server.of('reset'))
    count = len(listener.received['odom'])
    wait_until(lambda: len(listener.received['odom']) > count + 20)
    assert listener.call(SetBool, '/e_stop', data=True).success and bridge.commands.stopped
    assert listener.call(SetBool, '/e_stop', data=False).success
    assert not answer.done()
    delay.set()
    wait_until(answer.done)
    server.answer('reset', reset)


def joints(**fields):
    return {'per_articulation_qpos': [msg.JointPosition(**fields)]}


def lockstep(topic):
    return ('SetLockstep', 'lockstep', {'enabled': True, 'topics': [topic]}, 'bad_value')


def bag(**fields):
    return ('BagStart', 'bag_start', {'name': 'run', **fields})


# Type of the service, its name, fields, code, and a part of the message.
REFUSED = (
    ('Reset', 'reset', {'time': True, 'keyframe_name': 'nowhere'}, 'unknown_keyframe', 'nowhere'),
    ('Reset', 'reset', joints(joint='knee'), 'bad_value', 'shoulder'),
    ('Reset', 'reset', joints(articulation='x', joint='lift'), 'unknown_articulation', 'bot'),
    ('Reset', 'reset', joints(joint='lift', position=math.nan), 'bad_value', 'nan'),
    ('SetTwist', 'set_twist', {'articulation': 'tank'}, 'unknown_articulation', 'bot'),
    # Each of these once ended the thread of all services.
    (*lockstep('a//b'), 'a//b'),
    (*lockstep('{robot}/cmd_vel'), '{robot}'),
    (*lockstep('x' * 248), 'xxx'),
    (*bag(topics=['(' * 3000]), 'bad_value', '((('),
    (*bag(exclude=['(a+)+#', '*']), 'bad_value', "'*'"),
    *((*bag(name=name), 'path_not_writable', name) for name in ('-rf', '$(id)')),
    # An op that this server lacks.
    ('ReplayStart', 'replay_start', {}, 'unknown_op', ''),
)


def test_refused_requests_have_a_code_and_name_the_value(world):
    server, bridge, listener = world
    for kind, name, fields, code, part in REFUSED:
        response = listener.call(getattr(srv, kind), f'/{name}', **fields)
        assert (response.success, response.code) == (False, code), (name, fields, response)
        assert part in response.message
    folder = Path(bridge.node.get_parameter('data_dir').value)
    assert not list(folder.rglob('*run*')) and server.data.time > 0
    # The services still run.
    assert listener.call(srv.Reset, '/reset', time=True).success
    assert listener.call(SetBool, '/e_stop', data=True).success


def test_long_steps_are_answered_when_the_bridge_shuts_down(stepping_slowly):
    server, bridge, _, steps, _ = stepping_slowly
    bridge.node.stop()
    wait_until(steps.done)
    response = steps.result()
    assert (response.success, response.code) == (False, 'not_connected')
    assert len(server.of('step')) < 200


def test_an_unexpected_error_is_answered_and_logged(world, monkeypatch, capfd):
    _, bridge, listener = world
    log = CapturedLog(capfd)
    with monkeypatch.context() as patched:
        patched.setattr(type(bridge.link), 'has', lambda self, name: 1 / 0)
        response = listener.call(srv.SetTwist, '/set_twist', timeout=1.0)
    assert (response.success, response.code) == (False, 'internal_error')
    assert 'ZeroDivisionError' in response.message
    wait_until(lambda: log.with_words('ZeroDivisionError'))
    assert listener.call(srv.SetTwist, '/set_twist').success
