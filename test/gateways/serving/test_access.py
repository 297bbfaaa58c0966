# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""Access rules: addresses, tokens and origins of browser pages."""

import pytest

from urlab_ros_bridge.gateways.serving.access import Access
from urlab_ros_bridge.gateways.serving.access import BadOrigin
from urlab_ros_bridge.gateways.serving.access import HandshakeRefusal
from urlab_ros_bridge.gateways.serving.access import OpenWithoutToken

WIDE = ('0.0.0.0', '[::]', '', '*', '192.168.1.20', 'robot.local', '127.0.0.1.x')
LOOPBACK = ('127.0.0.1', '127.8.8.8', '::1', '[::1]', 'localhost', 'lo')


def test_a_wide_bind_needs_a_token_or_insecure_and_loopback_neither():
    for bind in WIDE:
        with pytest.raises(OpenWithoutToken):
            Access(bind)
        assert Access(bind, token='x').bind == Access(bind, insecure=True).bind == bind
    for bind in LOOPBACK:
        assert Access(bind).bind == bind


class FakeRequest:
    """A request with any headers: which of them `websockets` rejects depends on its version."""

    def __init__(self, path, headers):
        self.path, self.headers, self._lists = path, self, headers

    def get_all(self, name):
        values = self._lists.get(name, [])
        return [values] if isinstance(values, str) else values


def status(access, path='/', address='127.0.0.1', **headers):
    try:
        access.check(FakeRequest(path, headers), address)
    except HandshakeRefusal as refusal:
        return refusal.status
    return 101


@pytest.mark.parametrize(
    ('origin', 'address', 'expected'),
    [
        ([], '127.0.0.1', 101),  # no browser
        ('http://localhost:8766', '127.0.0.1', 101),
        ('https://[::1]:3000', '::1', 101),
        ('http://192.168.1.20:8766', '192.168.1.20', 101),  # a page of the robot itself
        ('http://192.168.1.21:8766', '192.168.1.20', 403),
        ('https://example.org', '127.0.0.1', 403),
        # A site can point its own name at this machine, or look like loopback.
        ('http://localhost.example.org:8765', '127.0.0.1', 403),
        ('http://127.0.0.1.example.org', '127.0.0.1', 403),
        ('http://localhost@example.org', '127.0.0.1', 403),
        ('null', '127.0.0.1', 403),
        (['http://localhost', 'https://example.org'], '127.0.0.1', 400),
    ],
)
def test_only_pages_of_this_machine_may_connect(origin, address, expected):
    assert status(Access(), address=address, Origin=origin) == expected


def test_only_the_allowed_origin_is_accepted():
    access = Access(origins=('https://Example.org', 'http://robot.local:8080', 'null'))
    for origin in ('https://example.org:443', 'HTTP://ROBOT.local:8080', 'null'):
        assert status(access, Origin=origin) == 101
    for origin in ('http://example.org', 'https://example.org:444'):
        assert status(access, Origin=origin) == 403


@pytest.mark.parametrize('value', ['example.org', 'https://', 'https://a/b', '*'])
def test_an_invalid_origin_cannot_be_allowed(value):
    with pytest.raises(BadOrigin, match='--allow-origin'):
        Access(origins=(value,))


@pytest.mark.parametrize(
    ('path', 'headers', 'expected'),
    [
        ('/', {}, 401),
        ('/?token=s3cre', {}, 401),
        ('/view?x=1&token=s3cret', {}, 101),
        ('/', {'Authorization': 'bearer  s3cret '}, 101),
        ('/', {'Authorization': 'Basic s3cret'}, 401),
        ('/', {'Authorization': ['Bearer a', 'Bearer b']}, 401),
        ('/', {'Authorization': 'Bearer \xff\udc80'}, 401),
        ('/?token=%ff%fe', {}, 401),
    ],
)
def test_a_token_is_required(path, headers, expected):
    assert status(Access(token='s3cret'), path, **headers) == expected


@pytest.mark.parametrize('path', ['//[', '*', '', '/a b', '/\x00', '/ä', '/#'])
def test_an_invalid_path_is_refused(path):
    assert status(Access(), path) == 400


@pytest.mark.parametrize(
    ('path', 'headers', 'watches'),
    [
        ('/?token=drive', {}, False),
        ('/?token=drive&view', {}, True),
        ('/?token=look', {}, True),
        ('/', {'Authorization': 'Bearer look'}, True),
    ],
)
def test_a_view_token_allows_only_watching(path, headers, watches):
    access = Access(token='drive', view_token='look')
    request = FakeRequest(path, headers)
    access.check(request, '127.0.0.1')
    assert access.may_only_watch(request) == watches
    for _, value in access.cookie_for(request):
        again = FakeRequest('/', {'Cookie': value.partition(';')[0]})
        access.check(again, '127.0.0.1')
        assert access.may_only_watch(again) == path.endswith('token=look')


def test_gateways_of_one_machine_do_not_replace_each_others_cookies():
    gateways = [Access(token='one'), Access(token='other'), Access(token='one', view_token='look')]
    jar = {}
    for access in gateways:
        (_, value), *_ = access.cookie_for(FakeRequest(f'/?token={access.token}', {}))
        jar.update([value.partition(';')[0].split('=')])
    cookies = '; '.join(f'{name}={value}' for name, value in jar.items())
    assert [status(access, Cookie=cookies) for access in gateways] == [101, 101, 101]
    assert status(Access(token='third'), Cookie=cookies) == 401
