#!/usr/bin/env python3
# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""
Train the policy of config/policy/quadruped_trot.yaml: a small network that imitates the trot.

The teacher is the twist kind `trot`.  The network learns from what the teacher would have done
where the network led to (DAgger, Ross et al. 2011), with late actions, noise and pushes.  In the
environment of `make setup`, a few minutes on one core (more threads only wait for each other):

    OPENBLAS_NUM_THREADS=1 python docs/scripts/train_walking_policy.py
"""

from __future__ import annotations

from collections.abc import Iterator
import copy
from dataclasses import dataclass
from itertools import pairwise
import math
from pathlib import Path
import sys
import tempfile

import mujoco
import numpy as np
import onnx
from onnx import helper
from onnx import numpy_helper

from urlab_ros_bridge.models import world_path
from urlab_ros_bridge.policy.description import PolicyDescription
from urlab_ros_bridge.policy.description import read_policy
from urlab_ros_bridge.policy.observations import ObservationBuilder
from urlab_ros_bridge.policy.terms import PolicyInputs
from urlab_ros_bridge.policy.terms import Reading
from urlab_ros_bridge.sim.config import ServerConfig
from urlab_ros_bridge.sim.model.world import load_world
from urlab_ros_bridge.sim.physics.control.articulation import ArticulationControl

FILE = Path(__file__).parents[2] / 'config' / 'policy' / 'quadruped_trot.yaml'
WIDTH = 64
ROUNDS, EPISODES, SECONDS = 9, 10, 3.0
GRADED = 3  # of the last rounds, of which the best network is kept
COMMANDS = ((-0.5, 0.5), (-0.2, 0.2), (-0.8, 0.8))
SLOWEST = 1e-3  # m/s: the teacher stops stepping at zero, which the network is not to do
MOST_LATE = 0.012  # s
FLOOR = """
<mujoco>
  <option timestep="0.002" integrator="implicitfast" cone="elliptic" impratio="10"
          magnetic="0 0.21 -0.43"/>
  <worldbody><geom name="floor" type="plane" size="50 50 1"/></worldbody>
</mujoco>
"""


class Network:
    """A perceptron with two hidden layers; its inputs are scaled to mean 0 and deviation 1."""

    def __init__(self, inputs: int, outputs: int, random: np.random.Generator) -> None:
        sizes = (inputs, WIDTH, WIDTH, outputs)
        self.weights = [random.normal(0.0, 1.0 / math.sqrt(a), (a, b)) for a, b in pairwise(sizes)]
        self.biases = [np.zeros(size) for size in sizes[1:]]
        self.mean, self.deviation = np.zeros(inputs), np.ones(inputs)
        # What is done to observations first: see `calibrate`.
        self.matrix, self.offset = np.eye(inputs), np.zeros(inputs)
        self._random = random
        self._moments = [np.zeros_like(each) for each in self._parameters * 2]
        self._updates = 0

    def act(self, observation: np.ndarray) -> np.ndarray:
        """Return the actions of observations, (m,) or (n, m)."""
        corrected = observation @ self.matrix + self.offset
        return self._layers((corrected - self.mean) / self.deviation)[-1]

    def train(self, inputs: np.ndarray, outputs: np.ndarray, epochs: int, rate: float) -> float:
        """Learn by Adam (Kingma and Ba 2015); return the root mean square error."""
        self.mean, self.deviation = inputs.mean(axis=0), inputs.std(axis=0) + 1e-3
        inputs = (inputs - self.mean) / self.deviation
        squares = 0.0
        for epoch in range(epochs):
            order = self._random.permutation(len(inputs))
            squares = 0.0
            speed = rate * 0.5 * (1.0 + math.cos(math.pi * epoch / epochs))
            for batch in np.array_split(order, max(1, len(order) // 256)):
                squares += self._learn(inputs[batch], outputs[batch], speed)
        return math.sqrt(squares / outputs.size)

    @property
    def _parameters(self) -> list[np.ndarray]:
        return [*self.weights, *self.biases]

    def _layers(self, values: np.ndarray) -> list[np.ndarray]:
        found = [values]
        for index, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            values = values @ weight + bias
            values = np.tanh(values) if index < 2 else values
            found.append(values)
        return found

    def _learn(self, inputs: np.ndarray, outputs: np.ndarray, speed: float) -> float:
        layers = self._layers(inputs)
        error = layers[-1] - outputs
        slope = 2.0 * error / len(inputs)
        weights, biases = [], []
        for index in (2, 1, 0):
            weights.insert(0, layers[index].T @ slope)
            biases.insert(0, slope.sum(axis=0))
            slope = (slope @ self.weights[index].T) * (1.0 - layers[index] ** 2)
        self._updates += 1
        half = len(self._moments) // 2
        for index, (value, change) in enumerate(
            zip(self._parameters, [*weights, *biases], strict=True)
        ):
            first, second = self._moments[index], self._moments[half + index]
            first += 0.1 * (change - first)
            second += 0.001 * (change * change - second)
            scaled = first / (1.0 - 0.9**self._updates)
            value -= speed * scaled / (np.sqrt(second / (1.0 - 0.999**self._updates)) + 1e-8)
        return float((error * error).sum())

    def save(self, path: Path, joints: tuple[str, ...]) -> None:
        """Write an ONNX file that takes [1, n] and gives [1, m], with the order of the joints."""
        scaled = self.weights[0] / self.deviation[:, None]
        weights = [self.matrix @ scaled, *self.weights[1:]]
        biases = [self.biases[0] + (self.offset - self.mean) @ scaled, *self.biases[1:]]
        nodes, tensors, last = [], [], 'observation'
        for index, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
            for name, value in ((f'weight_{index}', weight), (f'bias_{index}', bias)):
                tensors.append(numpy_helper.from_array(value.astype(np.float32), name))
            out = 'action' if index == 2 else f'sum_{index}'
            nodes.append(
                helper.make_node('Gemm', [last, f'weight_{index}', f'bias_{index}'], [out])
            )
            if index < 2:
                last = f'hidden_{index}'
                nodes.append(helper.make_node('Tanh', [out], [last]))
        kind = onnx.TensorProto.FLOAT
        graph = helper.make_graph(
            nodes,
            path.stem,
            [helper.make_tensor_value_info('observation', kind, [1, len(self.mean)])],
            [helper.make_tensor_value_info('action', kind, [1, len(biases[-1])])],
            tensors,
        )
        # Versions that every onnxruntime of the last years reads.
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)
        helper.set_model_props(model, {'joint_names': ','.join(joints)})
        onnx.checker.check_model(model)
        onnx.save(model, path)


@dataclass(slots=True)
class Trial:
    """
    What came of an episode.

    :ivar observations: (n, k); `actions` of the teacher (n, m).
    :ivar errors: (n, 3) of vx, vy (m/s) and yaw rate (rad/s); `commands` likewise.
    """

    observations: np.ndarray
    actions: np.ndarray
    fell: bool
    errors: np.ndarray
    commands: np.ndarray


class Gym:
    """The robot on a floor, led by the network or its teacher."""

    def __init__(self, description: PolicyDescription, random: np.random.Generator) -> None:
        self.description = description
        self._random = random
        with tempfile.TemporaryDirectory() as folder:
            self._world = load_world(ServerConfig(model=_write_world(Path(folder))))
        self._model, self._data = self._world.model, self._world.data
        self._pose = description.pose(description.joints)
        joints = [self._model.joint(f'quadruped_{name}') for name in description.joints]
        self._q = np.array([joint.qposadr[0] for joint in joints])
        self._v = np.array([joint.dofadr[0] for joint in joints])
        self._steps = round(1.0 / description.rate / self._model.opt.timestep)

    def run(self, network: Network | None, seconds: float, *, calm: bool = False) -> Trial:
        """Walk for a time after random commands; without a network the teacher leads."""
        description, random, data = self.description, self._random, self._data
        control, teacher = self._begin()
        observer, targets = ObservationBuilder(description), self._pose.copy()
        action, wished = np.zeros(len(targets)), targets.copy()
        seen, taught, errors, commands = [], [], [], []
        late = 0 if calm else int(random.integers(0, round(MOST_LATE / 0.002) + 1))
        command, push = np.zeros(3), np.zeros(2)
        for step in range(round(seconds * description.rate)):
            if step % 100 == 0:
                command = self._command()
            if not calm and step % 75 == 50:
                push = random.normal(0.0, 30.0, 2) * (random.random() < 0.5)
            data.xfrc_applied[self._trunk, :2] = push if step % 75 in range(50, 55) else 0.0
            inputs = PolicyInputs(
                self._reading(calm), command, self._pose, action, step / description.rate
            )
            seen.append(observer.observe(inputs))
            teacher.set(command[:2], (0.0, 0.0, command[2]), data.time, 1.0)
            before = targets
            if network is not None:
                action = np.clip(network.act(seen[-1]), *description.action.clip)
                targets = self._pose + description.action_scale() * action
            means = []
            for substep in range(self._steps):
                teacher.apply(data.time, data, wished)
                means.append(wished.copy())
                lead = wished if network is None else targets if substep >= late else before
                control.write(lead)
                control.apply(False)
                mujoco.mj_step(self._model, data)
            # The best setpoint to hold for a whole step of the policy.
            taught.append((np.mean(means, axis=0) - self._pose) / description.action_scale())
            if network is None:
                action = taught[-1]
            errors.append(self._velocity() - command)
            commands.append(command)
            if fell := bool(data.xmat[self._trunk, 8] < 0.7):
                break
        return Trial(*map(np.array, (seen, taught)), fell, np.array(errors), np.array(commands))

    @property
    def _trunk(self) -> int:
        return int(self._model.body('quadruped_base_link').id)

    def _begin(self) -> tuple[ArticulationControl, object]:
        frame = self._model.key('quadruped_stand').id
        mujoco.mj_resetDataKeyframe(self._model, self._data, frame)
        self._data.xfrc_applied[:] = 0.0
        (spec,) = self._world.spec.articulations
        made = [
            ArticulationControl(
                self._model, self._data, self._world.articulations['quadruped'], spec
            )
            for _ in range(2)
        ]
        for each in made:
            each.reset(self._model.key(frame).ctrl)
        return made[0], made[1].twist

    def _command(self) -> np.ndarray:
        command = np.array([self._random.uniform(*span) for span in COMMANDS])
        command *= self._random.random(3) < 0.7
        command[0] += SLOWEST
        return command

    def _reading(self, calm: bool) -> Reading:
        data, noise = self._data, 0.0 if calm else 1.0
        turn = data.xmat[self._trunk].reshape(3, 3)
        positions, speeds = data.qpos[self._q].copy(), data.qvel[self._v].copy()
        gravity, rates = -turn[2].copy(), data.qvel[3:6].copy()
        velocity = data.qvel[:3] @ turn
        for values, deviation in (
            (positions, 0.01), (speeds, 0.3), (gravity, 0.01), (rates, 0.05), (velocity, 0.02),
        ):  # fmt: skip
            values += noise * self._random.normal(0.0, deviation, len(values))
        return Reading(0, positions, speeds, positions, angular_velocity=rates, gravity=gravity)

    def _velocity(self) -> np.ndarray:
        """Return vx, vy and yaw rate in the heading frame."""
        turn = self._data.xmat[self._trunk].reshape(3, 3)
        yaw = math.atan2(turn[1, 0], turn[0, 0])
        vx, vy = self._data.qvel[:2]
        cosine, sine = math.cos(yaw), math.sin(yaw)
        rate = float(turn[2] @ self._data.qvel[3:6])
        return np.array([cosine * vx + sine * vy, cosine * vy - sine * vx, rate])


def _write_world(folder: Path) -> Path:
    """Write the robot on a bare floor; its teacher follows commands at once."""
    source = world_path('quadruped')
    robot = source.parent / 'quadruped_robot.xml'
    (folder / robot.name).write_text(robot.read_text())
    (folder / 'quadruped.xml').write_text(FLOOR)
    lines = source.read_text().split('global_cameras:')[0].splitlines()
    kept = [line for line in lines if '_acceleration:' not in line]
    (folder / 'quadruped.yaml').write_text('\n'.join(kept))
    return folder / 'quadruped.yaml'


def rounds(gym: Gym, random: np.random.Generator) -> Iterator[Network]:
    """Yield the network after each round of walking and learning."""
    network: Network | None = None
    seen, taught = [], []
    for number in range(ROUNDS):
        falls = 0
        for episode in range(EPISODES):
            # The teacher leads at first, and now and then later on.
            leads = network is None or episode < 2
            trial = gym.run(None if leads else network, SECONDS)
            seen.append(trial.observations)
            taught.append(trial.actions)
            falls += trial.fell
        if network is None:
            size = gym.description.size
            network = Network(size, len(gym.description.joints), random)
        last = number == ROUNDS - 1
        error = network.train(
            np.concatenate(seen), np.concatenate(taught), 40 if last else 12, 1e-3
        )
        print(f'round {number}: {falls} falls, error {error:.3f}', flush=True)
        yield copy.deepcopy(network)


def grade(gym: Gym, network: Network, count: int) -> tuple[int, float]:
    """Return falls and mean error of some walks without noise, and print them."""
    trials = [gym.run(network, 2.0, calm=True) for _ in range(count)]
    falls = sum(trial.fell for trial in trials)
    errors = np.array([each.errors[34:].mean(axis=0) for each in trials if not each.fell])
    means = np.abs(errors).mean(axis=0) if len(errors) else np.full(3, math.inf)
    print(f'  {falls} falls of {count}, errors {means.round(3)} m/s, m/s, rad/s', flush=True)
    return falls, float(means.sum())


def calibrate(gym: Gym, network: Network) -> None:
    """Correct the commands that the network sees by what comes of them, by least squares."""
    trials = [gym.run(network, 2.0, calm=True) for _ in range(24)]
    kept = [trial for trial in trials if not trial.fell]
    wanted = np.array([trial.commands[-1] for trial in kept])
    found = wanted + np.array([trial.errors[34:].mean(axis=0) for trial in kept])
    # found = wanted @ gain + drift
    fit = np.linalg.lstsq(np.column_stack((wanted, np.ones(len(kept)))), found, rcond=None)[0]
    inverse = np.linalg.inv(fit[:3])
    start, rows = 0, slice(0, 0)
    for section in gym.description.observations:
        if section.term == 'velocity_commands':
            rows = slice(start, start + 3)
        start += gym.description.size_of(section)
    network.offset = network.offset.copy()
    network.offset[rows] = network.offset[rows] - fit[3] @ inverse @ network.matrix[rows, rows]
    network.matrix = network.matrix.copy()
    network.matrix[rows, rows] = inverse @ network.matrix[rows, rows]


def main() -> None:
    """Train, keep the best of the last networks, and report how it walks."""
    random = np.random.default_rng(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    description = read_policy(FILE)
    gym = Gym(description, random)
    last = list(rounds(gym, random))[-GRADED:]
    network = min(last, key=lambda each: grade(gym, each, 8))
    for _ in range(2):
        calibrate(gym, network)
    grade(gym, network, 20)
    path = FILE.parent / description.model
    network.save(path, description.joints)
    print(f'{path}: {path.stat().st_size} bytes')


if __name__ == '__main__':
    main()
