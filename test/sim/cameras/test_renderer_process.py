# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The life of the renderer process."""

import errno
import logging
import os
import signal
import socket
import time

from bundled_server import start_server
from camera_lab import colour_at
from camera_lab import connect
from camera_lab import fresh_data
from camera_lab import needs_gl
from camera_lab import shot
import faulty_interpreter
import numpy as np
import psutil
import pytest
from waiting import wait_until

from urlab_ros_bridge.client.cameras.stream import open_camera
from urlab_ros_bridge.client.errors import CameraUnavailable
from urlab_ros_bridge.client.errors import NotReady
from urlab_ros_bridge.sim.cameras import supervisor
from urlab_ros_bridge.sim.cameras.listeners import open_listeners
from urlab_ros_bridge.sim.cameras.renderer import environment
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.transport.server_sockets import SocketInUse


def is_renderer(process):
    try:
        return 'urlab_ros_bridge.sim.cameras.renderer.worker' in process.cmdline()
    except psutil.NoSuchProcess:  # a zombie too
        return False


def renderers():
    """Return the renderer processes of this process."""
    found = psutil.Process().children()
    return [child for child in found if is_renderer(child)]


@pytest.fixture
def own_server(lab, keep):
    """Return a server of the small world of its own, live and running."""
    return keep(start_server(model=lab))


@pytest.fixture
def watched(own_server):
    """Return a client of the server, in live mode, the stream of its front camera, a renderer."""
    others = {child.pid for child in renderers()}
    with connect(own_server) as client:
        client.set_mode('live')
        assert {child.pid for child in renderers()} == others, 'nobody has subscribed'
        with open_camera(client.handshake.global_cameras['front']) as stream:
            assert stream.receive(60.0) is not None
            (renderer,) = [child for child in renderers() if child.pid not in others]
            yield client, stream, renderer


def receive_all(stream):
    """Receive the frames that wait."""
    while stream.receive(0.0) is not None:
        pass


@pytest.fixture
def spoiled(tmp_path, monkeypatch):
    """Let the renderers that will be started have the faults of `faulty_interpreter`."""
    faulty_interpreter.install(tmp_path)
    # Behind the package's own folder, which the server puts first.
    monkeypatch.setenv('PYTHONPATH', str(tmp_path), prepend=os.pathsep)


@needs_gl
def test_a_renderer_that_is_slow_to_start_is_no_sign_of_missing_opengl(
    own_server, monkeypatch, caplog
):
    monkeypatch.setattr(supervisor, 'START_SECONDS', 0.0)
    monkeypatch.setattr(supervisor, 'MAX_PAUSE', 0.1)
    with connect(own_server) as client:
        client.set_mode('live')
        with open_camera(client.handshake.global_cameras['front']) as stream:
            wait_until(lambda: 'not ready after 0 s' in caplog.text, 60.0)
            monkeypatch.undo()
            assert stream.receive(60.0) is not None
    assert 'install' not in caplog.text


@pytest.fixture
def many_processors(spoiled, monkeypatch):
    """Let a renderer finish images in a thread of its own, as with more processors than two."""
    monkeypatch.setenv('URLAB_TEST_PROCESSORS', 'many')


@needs_gl
def test_a_killed_renderer_restarts_while_physics_continues(
    many_processors, own_server, watched, caplog
):
    caplog.set_level(logging.INFO)
    client, stream, renderer = watched
    others = {child.pid for child in renderers()}
    renderer.send_signal(signal.SIGKILL)
    simulation, steps = own_server.simulation, set()
    wait_until(lambda: simulation.cameras.renderer is None)
    while simulation.cameras.renderer is None:
        stream.receive(0.0)  # it connects again, which starts the next one
        if {child.pid for child in renderers()} - others:
            steps.add(client.status().step)
        time.sleep(0.005)
    assert len(steps) > 5  # while the next one was starting
    receive_all(stream)
    frames = [stream.receive(60.0) for _ in range(3)]
    assert 0 < frames[0].stamp_ns < frames[1].stamp_ns < frames[2].stamp_ns
    # And frames in replies are there again too.
    assert 'front' in client.step(include_cameras={'front': 'sync'}).cameras
    assert 'signal 9' in caplog.text
    own_server.stop()
    assert {child.pid for child in renderers()} <= others - {renderer.pid}


@pytest.fixture
def no_graphics(spoiled, tmp_path, monkeypatch):
    """Return a file: while it exists, every OpenGL context is lost and no new one can be made."""
    path = tmp_path / 'no_graphics'
    monkeypatch.setenv('URLAB_TEST_NO_GL', str(path))
    return path


@needs_gl
def test_a_lost_opengl_context_sends_no_stale_image_and_recovers(
    no_graphics, own_server, monkeypatch, caplog, capfd
):
    monkeypatch.setattr(supervisor, 'MAX_PAUSE', 0.2)
    simulation, seen = own_server.simulation, []

    def fails_to_start(stream):
        seen.append(stream.receive(0.0))
        return 'did not restart' in caplog.text

    with connect(own_server) as client:
        client.set_mode('live')
        for camera in ('front', 'range'):  # colours, and depth that MuJoCo reads
            with open_camera(client.handshake.global_cameras[camera]) as stream:
                assert stream.receive(60.0) is not None
                caplog.clear()
                no_graphics.touch()
                wait_until(lambda: simulation.cameras.renderer is None)
                receive_all(stream)
                newest = simulation.engine.clock.stamp_ns
                # It does not start again while there is nothing to draw with; that is not the end.
                wait_until(lambda stream=stream: fails_to_start(stream))
                assert set(seen) == {None} and not simulation.cameras.off
                no_graphics.unlink()
                assert stream.receive(60.0).stamp_ns > newest
    output = capfd.readouterr().err
    assert output.count('OpenGL stopped rendering: GL_CONTEXT_LOST') == 2
    assert 'Traceback' not in output


@needs_gl
def test_what_changes_while_a_renderer_starts_is_visible(own_server, monkeypatch):
    simulation, await_ready = own_server.simulation, supervisor.RendererSupervisor._await_ready
    rig, model = simulation.cameras, simulation.world.model
    sphere = {'type': 'sphere', 'pos': [0, 0, 2.2], 'size': [0.2], 'rgba': [1, 1, 0, 1]}

    def await_changed(*given):
        with simulation.engine.lock:
            model.geom('cart_box').rgba[:] = (0, 1, 0, 1)
            rig.model_changed()
        rig.set_overlays([sphere])
        return await_ready(*given)

    monkeypatch.setattr(supervisor.RendererSupervisor, '_await_ready', await_changed)
    with connect(own_server) as client:
        reply = shot(client, 'front')
    image, data = reply.cameras['front'].pixels, fresh_data(model, reply)
    blue, green, red = colour_at(image, model, data, 'front', np.array([0, 0, 2.2]))
    assert min(red, green) > 2 * blue, 'the overlay'
    blue, green, red = colour_at(image, model, data, 'front', data.body('cart_cart').xpos)
    assert green > 2 * max(red, blue), 'the colour'


@needs_gl
def test_a_renderer_that_hangs_is_replaced(watched, monkeypatch, caplog):
    _, stream, renderer = watched
    monkeypatch.setattr(supervisor, 'CHECK_SECONDS', 0.2)
    monkeypatch.setattr(supervisor, 'STUCK_SECONDS', 1.0)
    renderer.send_signal(signal.SIGSTOP)
    wait_until(lambda: 'drew nothing for 1 s' in caplog.text)
    monkeypatch.setattr(supervisor, 'STUCK_SECONDS', 60.0)  # its successor may be slow
    # What it had sent before may still arrive.
    wait_until(lambda: not renderer.is_running())
    receive_all(stream)
    assert stream.receive(60.0) is not None


@needs_gl
@pytest.mark.parametrize('fails', ['subprocess.Popen', 'RendererSupervisor._handle_message'])
def test_cameras_survive_a_lack_of_processes_and_a_fault_of_their_supervision(
    own_server, monkeypatch, caplog, fails
):
    monkeypatch.setattr(supervisor, 'MAX_PAUSE', 0.2)
    owner, _, name = fails.partition('.')
    owner, failures = getattr(supervisor, owner), []
    works = getattr(owner, name)

    def fail_twice(*args, **kwargs):
        if len(failures) < 2:
            failures.append(OSError(errno.EAGAIN, 'no process left'))
            raise failures[-1]
        return works(*args, **kwargs)

    with connect(own_server) as client:
        client.set_mode('live')
        monkeypatch.setattr(owner, name, fail_twice)
        with open_camera(client.handshake.global_cameras['front']) as stream:
            assert stream.receive(60.0) is not None
    assert caplog.text.count('no process left; it will restart') == len(failures) == 2


@pytest.mark.parametrize('reason', ['--cameras off', 'apt install'])
def test_without_images_cameras_are_listed_and_requests_for_them_give_the_reason(
    lab, keep, monkeypatch, caplog, reason
):
    monkeypatch.setattr(
        environment, '_LIBRARIES', {'egl': ('libNoEGL.so', 'NoEGL'), 'osmesa': ('x', 'x')}
    )
    off = reason == '--cameras off'
    server = keep(start_server(model=lab, **({'cameras': 'off'} if off else {})))
    warnings = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(warnings) == (not off) and ('libNoEGL.so' in caplog.text) == (not off)
    with connect(server) as client:
        front = client.handshake.global_cameras['front']
        assert front.resolution == (640, 480) and front.endpoint == ''
        with pytest.raises(CameraUnavailable, match='front'):
            open_camera(front)
        assert not client.step(include_cameras=True).cameras  # left out, as stock servers do
        with pytest.raises(NotReady, match=reason):
            client.step(include_cameras={'front': 'sync'})


def test_taken_ports_are_skipped_and_an_unusable_address_is_named():
    with socket.socket() as taken:
        taken.bind(('127.0.0.1', 0))
        taken.listen()
        port = taken.getsockname()[1]
        found = open_listeners(ServerConfig(camera_port=port, rpc_port=port + 1), 2)
        ports = [listener.getsockname()[1] for listener in found]
        for listener in found:
            listener.close()
    assert len(set(ports)) == 2 and min(ports) > port + 1
    with pytest.raises(SocketInUse, match=r'192\.0\.2\.1'):
        open_listeners(ServerConfig(bind='192.0.2.1', insecure=True, camera_port=0), 1)
