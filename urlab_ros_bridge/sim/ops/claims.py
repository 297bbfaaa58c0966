# Copyright 2026 The urlab_ros_bridge authors
# SPDX-License-Identifier: Apache-2.0
"""claim_control and release_control."""

from __future__ import annotations

from typing import Any

from urlab_ros_bridge.sim.requests.claims import DEFAULT_TTL
from urlab_ros_bridge.sim.requests.claims import MAX_TTL
from urlab_ros_bridge.sim.requests.claims import owner_of
from urlab_ros_bridge.sim.requests.fields import Fields
from urlab_ros_bridge.sim.requests.registry import Registry
from urlab_ros_bridge.sim.requests.sessions import ServerSession
from urlab_ros_bridge.sim.stage import Context


def claim_control(context: Context, session: ServerSession, fields: Fields) -> dict[str, Any]:
    """
    Claim an articulation: from then on commands of others are refused with not_control_owner.

    The claim ends `ttl_s` after the owner's last claim or command, or with release_control.
    """
    prefix = context.world.articulation(fields.need('articulation')).prefix
    ttl = fields.number('ttl_s', DEFAULT_TTL, low=0.1, high=MAX_TTL)
    owner = owner_of(session, fields)
    context.claims.claim(prefix, owner, ttl, force=fields.boolean('force'))
    return {'articulation': prefix, 'owner': owner, 'ttl_s': ttl}


def release_control(context: Context, session: ServerSession, fields: Fields) -> dict[str, Any]:
    """End the own claim of an articulation."""
    prefix = context.world.articulation(fields.need('articulation')).prefix
    context.claims.release(prefix, owner_of(session, fields))
    return {'articulation': prefix}


def register(registry: Registry) -> None:
    """Add the ops of this module."""
    registry.register('claim_control', claim_control)
    registry.register('release_control', release_control)
