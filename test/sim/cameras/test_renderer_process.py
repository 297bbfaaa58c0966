# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""The life of the renderer process."""

import logging
import os
import signal
import socket
import time

from bundled_server import start_server
from camera_lab import connect
from camera_lab import needs_gl
import faulty_interpreter
import psutil
import pytest
from waiting import wait_until

from urlab_ros_bridge.client.cameras.stream import open_camera
from urlab_ros_bridge.client.errors import CameraUnavailable
from urlab_ros_bridge.client.errors import NotReady
from urlab_ros_bridge.sim.cameras import supervisor
from urlab_ros_bridge.sim.cameras.renderer import environment
from urlab_ros_bridge.sim.cameras.supervisor import open_listeners
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
def own_server(lab, request):
    """Return a server of the small world of its own, live and running."""
    server = start_server(model=lab, **getattr(request, 'param', {}))
    yield server
    server.stop()


@needs_gl
def test_the_renderer_starts_with_the_first_subscriber_and_ends_with_the_server(own_server):
    before = len(renderers())
    with connect(own_server) as client:
        client.set_mode('live')
        time.sleep(0.3)
        assert len(renderers()) == before and client.status().cameras == 0
        with open_camera(client.handshake.global_cameras['front']) as stream:
            assert stream.receive(60.0) is not None
        assert len(renderers()) == before + 1
    own_server.stop()
    assert len(renderers()) == before


@pytest.fixture
def watched(own_server):
    """Return a client of the server, in live mode, the stream of its front camera, a renderer."""
    others = {child.pid for child in renderers()}
    with connect(own_server) as client:
        client.set_mode('live')
        with open_camera(client.handshake.global_cameras['front']) as stream:
            assert stream.receive(60.0) is not None
            (renderer,) = [child for child in renderers() if child.pid not in others]
            yield client, stream, renderer


def receive_all(stream):
    """Receive the frames that wait."""
    while stream.receive(0.0) is not None:
        pass


@needs_gl
def test_a_killed_renderer_restarts_while_physics_continues(own_server, watched, caplog):
    caplog.set_level(logging.INFO)
    client, stream, renderer = watched
    others = {child.pid for child in renderers()}
    renderer.send_signal(signal.SIGKILL)
    simulation, steps = own_server.simulation, set()
    wait_until(lambda: simulation.cameras.port is None)
    while simulation.cameras.port is None:
        stream.receive(0.0)  # it connects again, which starts the next one
        if {child.pid for child in renderers()} - others:
            steps.add(client.status().step)
        time.sleep(0.005)
    assert len(steps) > 5  # while the next one was starting
    receive_all(stream)
    frame = stream.receive(60.0)
    assert frame is not None and frame.stamp_ns > 0
    # And frames in replies are there again too.
    assert 'front' in client.step(include_cameras={'front': 'sync'}).cameras
    (message,) = [record.message for record in caplog.records if 'renderer died' in record.message]
    assert 'signal 9' in message


@pytest.fixture
def no_graphics(tmp_path, monkeypatch):
    """Return a file: while it exists, every OpenGL context is lost and no new one can be made."""
    path = tmp_path / 'no_graphics'
    faulty_interpreter.install(tmp_path)
    monkeypatch.setenv('URLAB_TEST_NO_GL', str(path))
    # Behind the package's own folder, which the server puts first.
    monkeypatch.setenv('PYTHONPATH', str(tmp_path), prepend=os.pathsep)
    return path


@needs_gl
@pytest.mark.parametrize('camera', ['front', 'range'])  # colours, and depth that MuJoCo reads
def test_a_lost_opengl_context_sends_no_stale_image_and_recovers(
    no_graphics, own_server, monkeypatch, caplog, capfd, camera
):
    monkeypatch.setattr(supervisor, 'MAX_PAUSE', 0.2)
    simulation = own_server.simulation
    with connect(own_server) as client:
        client.set_mode('live')
        with open_camera(client.handshake.global_cameras[camera]) as stream:
            assert stream.receive(60.0) is not None
            no_graphics.touch()
            wait_until(lambda: simulation.cameras.port is None)
            receive_all(stream)
            newest = simulation.engine.clock.stamp_ns
            # It does not start again while there is nothing to draw with; that is not the end.
            seen = []

            def fails_to_start():
                seen.append(stream.receive(0.0))
                return 'did not restart' in caplog.text

            wait_until(fails_to_start)
            assert set(seen) == {None} and not simulation.cameras.off
            no_graphics.unlink()
            assert stream.receive(60.0).stamp_ns > newest
    output = capfd.readouterr().err
    assert 'OpenGL stopped rendering: GL_CONTEXT_LOST' in output and 'Traceback' not in output


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


@pytest.mark.parametrize('own_server', [{'cameras': 'off'}], indirect=True)
def test_with_cameras_off_they_are_listed_and_not_streamed(own_server):
    check_there_are_no_images(own_server, '--cameras off')


def check_there_are_no_images(server, reason):
    with connect(server) as client:
        front = client.handshake.global_cameras['front']
        assert front.resolution == (640, 480) and front.endpoint == ''
        with pytest.raises(CameraUnavailable, match='front'):
            open_camera(front)
        assert not client.step(include_cameras=True).cameras  # left out, as stock servers do
        with pytest.raises(NotReady, match=reason):
            client.step(include_cameras={'front': 'sync'})
        assert client.status().cameras == 0


def test_without_opengl_one_message_names_the_packages_to_install(lab, monkeypatch, caplog):
    monkeypatch.setattr(
        environment, '_LIBRARIES', {'egl': ('libNoEGL.so', 'NoEGL'), 'osmesa': ('x', 'x')}
    )
    server = start_server(model=lab)
    try:
        (record,) = [item for item in caplog.records if item.levelno >= logging.WARNING]
        for words in ('cameras are off', 'libNoEGL.so is not installed', 'apt install', 'osmesa'):
            assert words in record.message
        check_there_are_no_images(server, 'apt install')
    finally:
        server.stop()


def test_taken_ports_are_skipped():
    with socket.socket() as taken:
        taken.bind(('127.0.0.1', 0))
        taken.listen()
        port = taken.getsockname()[1]
        found = open_listeners(ServerConfig(camera_port=port, rpc_port=port + 1), 2)
        ports = [listener.getsockname()[1] for listener in found]
        for listener in found:
            listener.close()
    assert len(set(ports)) == 2 and min(ports) > port + 1


def test_an_unusable_address_is_named():
    with pytest.raises(SocketInUse, match=r'192\.0\.2\.1'):
        open_listeners(ServerConfig(bind='192.0.2.1', insecure=True, camera_port=0), 1)
