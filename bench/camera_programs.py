# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""What bench/camera_pipeline.py runs in processes of their own."""

RENDER_ONLY = """
import sys, time
from urlab_ros_bridge.sim.cameras.renderer import environment
environment.lower_priority()
context, name = environment.open_context(64, 64)
import numpy as np
from urlab_ros_bridge.sim.cameras.catalog import read_catalog
from urlab_ros_bridge.sim.cameras.renderer.drawing import choose_quality
from urlab_ros_bridge.sim.cameras.renderer.drawing import SceneRenderer
from urlab_ros_bridge.sim.cameras.visual_state import VisualState
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.model.world import load_world
from pathlib import Path
world = load_world(ServerConfig(model=Path(sys.argv[1])))
cameras = read_catalog(world.model, world.spec)
camera = next(item for item in cameras if item.key == sys.argv[2])
quality = choose_quality(world.model, world.spec.rendering, name)
renderer = SceneRenderer(world.model, world.data, cameras, list(world.articulations), quality)
state = VisualState(world.model, world.data)
taken, pixels = memoryview(state.take()), memoryview(bytearray(camera.size))
for _ in range(10):
    renderer.render(camera.index, pixels)
count, start, used = 0, time.perf_counter(), time.process_time()
while time.perf_counter() - start < float(sys.argv[3]):
    state.put(taken)
    renderer.render(camera.index, pixels)
    count += 1
used = 1000 * (time.process_time() - used) / count
print(count / (time.perf_counter() - start), used, name, sep='|')
"""

IN_A_THREAD = """
import logging, sys, threading, time
from urlab_ros_bridge.sim.cameras.renderer import environment
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.server import Server
server = Server(ServerConfig(rpc_port=0, state_port=0, camera_port=0, control_port=0, info_port=0,
                             cameras='off'))
server.start()
def render():
    context, name = environment.open_context(64, 64)
    import mujoco
    from urlab_ros_bridge.sim.cameras.renderer.drawing import choose_quality
    from urlab_ros_bridge.sim.cameras.renderer.drawing import SceneRenderer
    from urlab_ros_bridge.sim.cameras.visual_state import VisualState
    rig, engine = server.simulation.cameras, server.simulation.engine
    model = engine.world.model.__copy__()
    data = mujoco.MjData(model)
    quality = choose_quality(model, engine.world.spec.rendering, name)
    renderer = SceneRenderer(model, data, rig.items, rig.prefixes, quality)
    mine = VisualState(model, data)
    pixels = memoryview(bytearray(640 * 480 * 4))
    deadline = time.perf_counter()
    while True:
        deadline = max(deadline + 1 / 30, time.perf_counter())
        time.sleep(max(deadline - time.perf_counter(), 0))
        if engine.run.paused:
            continue
        with engine.lock:
            state = rig.state.take()
        mine.put(memoryview(state))
        for camera in (0, 1):
            renderer.render(camera, pixels)
threading.Thread(target=render, daemon=True).start()
places = ' '.join(f'{name}={place}' for name, place in server.endpoints.items())
print('urlab server ready:', places, flush=True)
server.wait()
"""

DRAIN = """
import sys, zmq
context = zmq.Context()
poller = zmq.Poller()
poller.register(0, zmq.POLLIN)
for place in sys.argv[1:]:
    socket = context.socket(zmq.SUB)
    endpoint, _, topic = place.partition('|')
    socket.subscribe(topic.encode() + b' ')
    socket.connect(endpoint)
    poller.register(socket, zmq.POLLIN)
frames = 0
while True:
    for socket, _ in poller.poll():
        if socket == 0:
            sys.stdin.readline()
            print(frames, flush=True)
        else:
            socket.recv_multipart(copy=False)
            frames += 1
"""
