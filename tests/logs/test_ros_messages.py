"""Recordings of ROS 2: messages decoded, joints by name, broken messages named."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from appell.errors import ReadError
from appell.logs.joint_states import from_cdr
from appell.logs.read_log import read_log


def cdr(stamp, names, *arrays, order="<"):
    """A JointState in CDR, by the alignment rules of the standard."""
    body = struct.pack(f"{order}iI", *stamp)

    def string(data, text):
        raw = text.encode() + b"\0"
        data += b"\0" * (-len(data) % 4)
        return data + struct.pack(f"{order}I", len(raw)) + raw

    body = string(body, "base")
    body += b"\0" * (-len(body) % 4) + struct.pack(f"{order}I", len(names))
    for name in names:
        body = string(body, name)
    for array in arrays:
        body += b"\0" * (-len(body) % 4) + struct.pack(f"{order}I", len(array))
        if len(array):
            body += b"\0" * (-len(body) % 8) + struct.pack(f"{order}{len(array)}d", *array)
    return bytes([0, order == "<", 0, 0]) + body


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("names", [("a", "elbow"), ("hip", "knee_joint")])
def test_a_ros_message_is_decoded(names, order):
    message = from_cdr(cdr((3, 250_000_000), names, [0.1, 0.2], [], [5.0, 6.0], order=order))
    assert (message.stamp, message.names) == (3.25, names)
    assert message.fields == {"position": (0.1, 0.2), "velocity": (), "effort": (5.0, 6.0)}


@pytest.fixture
def bag(tmp_path):
    """A file as a ROS 2 recorder writes it: joints in changing order, one broken message, another topic."""
    writer = pytest.importorskip("mcap.writer")
    place = tmp_path / "bag.mcap"
    with place.open("wb") as stream:
        out = writer.Writer(stream)
        out.start(profile="ros2", library="test")
        kind = out.register_schema("sensor_msgs/msg/JointState", "ros2msg", b"")
        text = out.register_schema("std_msgs/msg/String", "ros2msg", b"")
        states, other = out.register_channel("/joint_states", "cdr", kind), out.register_channel("/rosout", "cdr", text)
        for k in range(30):
            names, values = ("hip", "knee"), [0.01 * k, 1.0 + 0.01 * k]
            if k % 2:
                names, values = names[::-1], values[::-1]
            data = cdr((100, 10_000_000 * k), names, values, values, values) if k != 12 else b"\0\1\0\0bad"
            out.add_message(states, 10_000_000 * k, data, 10_000_000 * k)
            out.add_message(other, 10_000_000 * k, b"", 10_000_000 * k)
        out.finish()
    return place


def test_a_ros_recording_is_read_by_joint_name(bag):
    log = read_log(bag)
    assert log.joint_names == ("hip", "knee")
    np.testing.assert_allclose(log.q[:, 1] - log.q[:, 0], 1.0)
    np.testing.assert_allclose(np.asarray(log.tau), np.asarray(log.v))


def test_a_broken_message_is_left_out_and_named(bag):
    log = read_log(bag)
    assert len(log) == 29
    assert [repair.where for repair in log.repairs] == ["message 12"]


def test_an_unknown_topic_shows_the_known(bag):
    with pytest.raises(ReadError, match=r"topic '/arm': the file has topics of .*JointState.*: /joint_states"):
        read_log(bag, {"topic": "/arm", "t": "t", "q": "*.position"})
