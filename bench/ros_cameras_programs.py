# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The programs that bench/ros_cameras.py runs in processes of their own.

Each writes what it saw into the file that its first argument names.  Publishers: [camera, stamp,
wall time of the capture, running number, wall time when the publisher had it, wall time when it
was published] of every picture.  Subscribers: {topic: [[stamp, wall time of the callback], ...]}.
The renderer: [camera, stamp, wall times at which its drawing began, it was drawn, its conversion
began and it was sent].  All times are in ns.
"""

# Runs the server with a renderer that notes what it does when.
SERVER = """
import sys
from urlab_ros_bridge.sim.cameras import supervisor
from urlab_ros_bridge.cli.main import main
supervisor._WORKER = 'bench_renderer'
sys.exit(main(sys.argv[1:]))
"""

# The file's name comes by the variable BENCH_STAGES: the server gives its renderer no arguments.
RENDERER = """
import json, os, sys, time
from urlab_ros_bridge.sim.cameras.renderer import encoder, worker
begun, drawn_at, stages = {}, {}, []
draw, submit = worker.Worker._draw, encoder.FrameEncoder.submit
finish = encoder.FrameEncoder._finish
def noted_draw(self, job):
    begun.clear()
    begun[job.number] = time.time_ns()
    draw(self, job)
def noted_submit(self, drawn):
    number = drawn.job.number
    now = time.time_ns()
    drawn_at[drawn.camera, number] = begun[number], now
    begun[number] = now  # where the next camera of the job begins
    submit(self, drawn)
    if not self.threaded:
        begun[number] = time.time_ns()
def noted_finish(self, drawn):
    start = time.time_ns()
    finish(self, drawn)
    times = drawn_at.pop((drawn.camera, drawn.job.number))
    name = self._senders[drawn.camera]._camera.name
    stages.append((name, drawn.job.capture.stamp_ns, *times, start, time.time_ns()))
worker.Worker._draw = noted_draw
encoder.FrameEncoder.submit, encoder.FrameEncoder._finish = noted_submit, noted_finish
code = worker.main(sys.argv[1:])
with open(os.environ['BENCH_STAGES'], 'w') as file:
    json.dump(stages, file)
sys.stderr.flush()
os._exit(code)
"""

# A renderer alone: at the rate of the cameras, from the state to pixels in memory.  It draws for
# as many seconds as a line of its input says, answers with a line, and waits for the next one.
# It writes {camera: [[wall time at the beginning, how long it took], ...]}, in ns.
DRAWING = """
import json, sys, time
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
world = load_world(ServerConfig(world='rover'))
cameras = read_catalog(world.model, world.spec)
wanted = {item.index: item.name for item in cameras if item.name in sys.argv[2:]}
quality = choose_quality(world.model, world.spec.rendering, name)
renderer = SceneRenderer(world.model, world.data, cameras, list(world.articulations), quality)
state = VisualState(world.model, world.data)
taken = memoryview(state.take())
pixels = {index: memoryview(bytearray(cameras[index].size)) for index in wanted}
words = np.empty(renderer.words_needed, np.uint32)
found = {name: [] for name in wanted.values()}
for line in sys.stdin:
    start, count = time.perf_counter(), 0
    while time.perf_counter() - start < float(line):
        time.sleep(max(start + count / 30 - time.perf_counter(), 0))
        count += 1
        begin = time.time_ns()
        state.put(taken)
        for raw, _, index in renderer.draw_all(sorted(wanted), lambda: words):
            raw.write(pixels[index])
            found[wanted[index]].append((begin, time.time_ns() - begin))
    print(flush=True)
with open(sys.argv[1], 'w') as file:
    json.dump(found, file)
"""

BRIDGE = """
import json, sys, time
from urlab_ros_bridge.ros.topics.cameras import Cameras
from urlab_ros_bridge.ros.topics.cameras.thread import CameraThread
from urlab_ros_bridge.ros.program.main import main

frames, original, publish = [], Cameras._open, CameraThread._publish
def opened(self, camera):
    source = original(self, camera)
    receive = source.receive
    def noted(*arguments, **options):
        frame = receive(*arguments, **options)
        if frame is not None:
            wall, now = int(frame.wall_time * 1e9), time.time_ns()
            frames.append([camera.name, frame.stamp_ns, wall, frame.frame_id, now, 0])
        return frame
    source.receive = noted
    return source
def published(self, wanted, source, frame):
    publish(self, wanted, source, frame)
    now = time.time_ns()
    for entry in frames[-4:]:
        if entry[:2] == [self.plan.camera.name, frame.stamp_ns]:
            entry[5] = now
Cameras._open, CameraThread._publish = opened, published
code = main(['--ros-args', *sys.argv[2:]])
with open(sys.argv[1], 'w') as file:
    json.dump(frames, file)
sys.exit(code)
"""

FLOOR = """
import json, signal, struct, sys, time
import rclpy
from geometry_msgs.msg import TransformStamped
from rclpy.qos import QoSProfile
from rclpy.serialization import serialize_message
from bench_topics import PICTURES, STATE
stop = []
signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
rclpy.init(signal_handler_options=rclpy.signals.SignalHandlerOptions.NO)
node = rclpy.create_node('bench_floor')
def prepare(kind, topic, size, depth):
    message = kind()
    if size:
        message.data = bytes(size)
    elif topic == '/tf':
        message.transforms = [TransformStamped()]
    return node.create_publisher(kind, topic, QoSProfile(depth=depth)), serialize_message(message)
def put(publisher, message, place, stamp_ns):
    stamp = struct.pack('<iI', *divmod(stamp_ns, 10**9))
    publisher.publish(b''.join((message[:place], stamp, memoryview(message)[place + 8 :])))
pictures = [(topic, *prepare(kind, topic, size, 5)) for kind, topic, size in PICTURES]
states = [(*prepare(kind, topic, 0, 10), 8 if topic == '/tf' else 4) for kind, topic in STATE]
frames, tick, start = [], 0, time.time()
while not stop:
    wait = start + tick * 0.002 - time.time()
    if wait > 0:
        time.sleep(wait)
    stamp, now = tick * 2_000_000, time.time_ns()
    for publisher, message, place in states:
        put(publisher, message, place, stamp)
    if stamp * 30 // 10**9 != (stamp - 2_000_000) * 30 // 10**9:
        for topic, publisher, message in pictures:
            put(publisher, message, 4, stamp)
            entry = (topic.partition('/')[0], stamp, now, len(frames) // 2, now, time.time_ns())
            frames.append(entry)
    tick += 1
node.destroy_node()
rclpy.shutdown()
with open(sys.argv[1], 'w') as file:
    json.dump(frames, file)
"""

LISTENER = """
import json, signal, struct, sys, time
import rclpy
from rclpy.qos import QoSProfile
from bench_topics import PICTURES, STATE
from urlab_ros_bridge.ros.rclpy_tools.executor import make_executor
heard, stop = {}, []
signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
rclpy.init(signal_handler_options=rclpy.signals.SignalHandlerOptions.NO)
node = rclpy.create_node('bench_listener_' + sys.argv[2])
def listen(kind, topic, depth):
    place, taken = (8 if topic == '/tf' else 4), heard.setdefault(topic, [])
    def take(message):
        now = time.time_ns()
        seconds, nanoseconds = struct.unpack_from('<iI', message, place)
        taken.append((seconds * 10**9 + nanoseconds, now))
    node.create_subscription(kind, topic, take, QoSProfile(depth=depth), raw=True)
for kind, topic, _ in PICTURES:
    listen(kind, topic, 10)
for kind, topic in STATE:
    listen(kind, topic, 100)
executor = make_executor()
executor.add_node(node)
while not stop:
    executor.spin_once(timeout_sec=0.1)
executor.remove_node(node)
node.destroy_node()
rclpy.shutdown()
with open(sys.argv[1], 'w') as file:
    json.dump(heard, file)
"""

TOPICS = """
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Image, Imu, JointState
from tf2_msgs.msg import TFMessage
PICTURES = (Image, 'front_rgb/image_raw', 640 * 480 * 3), (
    Image, 'front_depth/image_raw', 640 * 480 * 4)
STATE = ((Odometry, 'odom'), (Imu, 'imu/data'), (JointState, 'joint_states'),
         (TFMessage, '/tf'), (PoseStamped, 'ground_truth/pose'))
"""

__all__ = ['BRIDGE', 'DRAWING', 'FLOOR', 'LISTENER', 'RENDERER', 'SERVER', 'TOPICS']
