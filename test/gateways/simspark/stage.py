# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""A game without sockets, in a world that the test steps."""

from collections import Counter

from bundled_server import port_of
from bundled_server import start_server
from simspark_client.percepts import read_percepts

from urlab_ros_bridge.gateways.simspark.game.players import Roster
from urlab_ros_bridge.gateways.simspark.game.state import GameState
from urlab_ros_bridge.gateways.simspark.wire.expressions import read
from urlab_ros_bridge.gateways.simspark.world.scene import SimSparkScene
from urlab_ros_bridge.gateways.simspark.world.stage import CYCLE
from urlab_ros_bridge.gateways.simspark.world.stage import GameStage
from urlab_ros_bridge.gateways.simspark.world.stage import Teleporter
from urlab_ros_bridge.gateways.simulation.link import SimulationLink


class FakeConnection:
    """A client without a socket: keeps what is sent to it."""

    peer = 'test'

    def __init__(self):
        self.is_open = self.is_clear = True
        self.sent = []

    def send(self, payload):
        if self.is_clear:
            self.sent.append(payload)
        return self.is_clear

    def close(self):
        self.is_open = False

    @property
    def text(self):
        return self.sent[-1].decode('ascii')

    @property
    def percepts(self):
        return read_percepts(self.sent[-1])


class SteppedWorld:
    """
    A server in direct mode.

    :ivar model, data: of MuJoCo itself, to compare with.
    """

    def __init__(self, **config):
        self.server = start_server(step_mode='direct', cameras='off', **config)
        self.link = SimulationLink('127.0.0.1', port_of(self.server), 'test')
        self.link.connect()
        self.scene = SimSparkScene(self.link.handshake)
        self.placement = Teleporter(self.link, self.scene)

    @property
    def model(self):
        return self.server.simulation.world.model

    @property
    def data(self):
        return self.server.simulation.world.data

    def close(self):
        self.link.close()
        self.server.stop()

    def play(self, agents=None, referee=None, keyframe='', by_joining=False):
        """Begin a game from a keyframe, or from the start."""
        self.link.reset(keyframe)
        return Game(self, agents, referee, by_joining)


class Game:
    """
    A game in a stepped world.

    :ivar state: of the game.
    """

    def __init__(self, world, agents, referee, by_joining):
        self.world, self.agents, self.referee = world, agents, referee
        self.state = GameState(roster=Roster(by_joining=by_joining))
        world.scene.update(world.link.forward())
        self.state.rules = self.state.rules.changed(world.scene.numerics)
        self.stage = GameStage(self.state, world.scene, world.placement)
        self.targets, self.joined, self.waited = {}, [], 0.0
        for role in (referee, agents):
            if role is not None:
                role.begin(self.stage)

    def cycles(self, count=1):
        """Let cycles pass as the gateway does."""
        for _ in range(count):
            seen = self.world.link.step(self.targets, round(CYCLE / self.world.link.timestep))
            self.world.scene.update(seen)
            self.world.scene.time += self.waited
            self.state.advance(CYCLE)
            self.turn()

    def wait(self, seconds):
        """Let time pass in which nothing moves."""
        self.waited += seconds
        self.world.scene.time += seconds
        self.state.advance(seconds)
        self.turn()

    def look(self):
        """Serve the world as it is, without a step."""
        self.world.scene.update(self.world.link.forward())
        self.turn()

    def turn(self):
        if self.referee is not None:
            self.referee.is_waiting_for(Counter() if self.agents is None else self.agents.ready)
            self.referee.judge()
        if self.agents is not None:
            for connection in self.joined:
                self.agents.received(connection, [])
            self.targets = self.agents.cycle(self.world.scene)

    def join(self, team='A', number=0, scene='nao.rsg'):
        """Connect an agent that answers in every cycle, and give it a robot."""
        connection = FakeConnection()
        self.joined.append(connection)
        self.agents.connected(connection)
        self.send(connection, f'(scene {scene})')
        self.send(connection, f'(init (unum {number})(teamname {team}))')
        return connection

    def send(self, connection, text):
        self.agents.received(connection, read(text.encode()))

    def place(self, robot, position, orientation=None):
        """Put a robot somewhere, orientation xyzw, and look."""
        self.world.placement.place_robot(robot, position, orientation)
        self.world.scene.update(self.world.link.forward())
