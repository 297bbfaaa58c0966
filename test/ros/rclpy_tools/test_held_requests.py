# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
from bridge_harness import free_domain
from bridge_harness import Listener
from bridge_harness import wait_until
import pytest
from rcl_interfaces.srv import GetParameters
import rclpy
from rclpy.context import Context
from rclpy.node import Node
from std_srvs.srv import Trigger

from urlab_ros_bridge.ros.rclpy_tools.held_requests import HeldRequests
from urlab_ros_bridge.ros.rclpy_tools.side_node import SideThread

pytestmark = [pytest.mark.ros, pytest.mark.distro]
LONG = 1000.0


class Desk:
    """A thread with a service `held`, which waits for `open`, and one that does not, `free`."""

    def __init__(self, seconds):
        self.context, domain = Context(), free_domain()
        rclpy.init(context=self.context, domain_id=domain)
        self.node = Node('desk', context=self.context)
        self.side = SideThread(self.node, 'services')
        self.open, self.looks, self.answered = False, 0, []
        self.begun, self.finished, self.rounds = [], False, 0
        self.requests = HeldRequests(self.side, self.may_go_on, seconds)
        self.requests.create_service(GetParameters, 'held', self.answer)
        self.requests.create_service(GetParameters, 'slow', self.answer_slowly)
        self.requests.create_service(GetParameters, 'long', self.answer_at_length)
        self.side.node.create_service(Trigger, 'free', lambda request, response: response)
        self.side.start()
        self.listener = Listener(domain)
        self.client, self.slow, self.long = clients = [
            self.listener.node.create_client(GetParameters, name)
            for name in ('held', 'slow', 'long')
        ]
        assert all(client.wait_for_service(LONG) for client in clients)

    def may_go_on(self):
        self.looks += 1
        return self.open

    def answer(self, request, response):
        self.answered += request.names
        return response

    async def answer_slowly(self, request, response):
        self.begun += request.names
        await self.requests.wait_for(lambda: self.finished, LONG)
        return self.answer(request, response)

    async def answer_at_length(self, request, response):
        self.begun += request.names
        while not self.finished and await self.requests.give_way():
            self.rounds += 1
        return self.answer(request, response)

    def ask(self, name, client=None):
        return (client or self.client).call_async(GetParameters.Request(names=[name]))

    def close(self):
        self.requests.close()
        self.side.stop()
        self.side.destroy()
        self.listener.close()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


@pytest.fixture
def desk():
    desks = []

    def make(seconds=LONG):
        desks.append(Desk(seconds))
        return desks[-1]

    yield make
    for each in desks:
        each.close()


def test_others_are_answered_while_requests_wait_which_then_go_on_in_order(desk):
    place = desk()
    names = [str(number) for number in range(8)]  # as many as a service keeps for later
    asked = [place.ask(name) for name in names]
    wait_until(lambda: place.looks)
    for _ in range(3):
        place.listener.call(Trigger, 'free')
    assert not place.answered
    place.open = True
    place.requests.recheck()
    wait_until(lambda: all(each.done() for each in asked))
    assert place.answered == names
    place.ask('later')
    wait_until(lambda: place.answered[-1] == 'later')


def test_what_changed_unnoticed_is_found_soon(desk):
    place = desk()
    place.ask('a')
    wait_until(lambda: place.looks)
    place.open = True
    wait_until(lambda: place.answered)


def test_no_request_waits_longer_than_it_is_allowed_to(desk):
    place = desk(0.1)
    asked = [place.ask(name) for name in 'ab']
    wait_until(lambda: all(each.done() for each in asked))
    assert place.answered == ['a', 'b'] and not place.open


def test_at_the_end_all_go_on(desk):
    place = desk()
    asked = [place.ask(name) for name in 'ab']
    wait_until(lambda: place.looks)
    place.requests.close()
    wait_until(lambda: all(each.done() for each in asked))
    place.ask('c')
    wait_until(lambda: place.answered == ['a', 'b', 'c'])


def test_an_answer_that_waits_keeps_back_the_held_ones_and_no_others(desk):
    place = desk()
    place.open = True
    asked = [place.ask('slow', place.slow)]
    wait_until(lambda: place.begun)
    asked += [place.ask('a'), place.ask('b')]
    for _ in range(3):
        place.listener.call(Trigger, 'free')
    assert not place.answered
    place.finished = True
    place.requests.recheck()
    wait_until(lambda: all(each.done() for each in asked))
    assert place.answered == ['slow', 'a', 'b']


def test_at_the_end_an_answer_waits_no_longer(desk):
    place = desk()
    place.open = True
    asked = place.ask('slow', place.slow)
    wait_until(lambda: place.begun)
    place.requests.close()
    wait_until(asked.done)
    assert place.answered == ['slow']


def test_a_long_answer_gives_way_to_those_that_wait_for_nothing(desk):
    place = desk()
    place.open = True
    asked = [place.ask('long', place.long)]
    wait_until(lambda: place.begun)
    asked += [place.ask('a'), place.ask('b')]
    for _ in range(3):
        before = place.rounds
        place.listener.call(Trigger, 'free')
        wait_until(lambda before=before: place.rounds > before)
    assert not place.answered
    place.finished = True
    wait_until(lambda: all(each.done() for each in asked))
    assert place.answered == ['long', 'a', 'b']


def test_at_the_end_a_long_answer_is_told_to_end(desk):
    place = desk()
    place.open = True
    asked = place.ask('long', place.long)
    wait_until(lambda: place.rounds)
    place.requests.close()
    wait_until(asked.done)
    assert place.answered == ['long'] and not place.finished
