# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
The programs that bench/ros_cameras.py runs in processes of their own.

Each writes what it saw into the file that its first argument names.  Publishers: [camera, stamp,
wall time of the capture, running number, wall time when the publisher had it] of every picture.
Subscribers: {topic: [[stamp, wall time of the callback], ...]}.  All times are in ns.
"""

BRIDGE = """
import json, sys, time
from urlab_ros_bridge.ros.topics.cameras import Cameras
from urlab_ros_bridge.ros.program.main import main

frames, original = [], Cameras._open
def opened(self, camera):
    source = original(self, camera)
    receive = source.receive
    def noted(*arguments, **options):
        frame = receive(*arguments, **options)
        if frame is not None:
            wall, now = int(frame.wall_time * 1e9), time.time_ns()
            frames.append((camera.name, frame.stamp_ns, wall, frame.frame_id, now))
        return frame
    source.receive = noted
    return source
Cameras._open = opened
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
            frames.append((topic.partition('/')[0], stamp, now, len(frames) // 2, now))
            put(publisher, message, 4, stamp)
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

__all__ = ['BRIDGE', 'FLOOR', 'LISTENER', 'TOPICS']
