"""ROS logs: .mcap files of JointState messages, in JSON or in CDR of ROS 2, read without ROS."""

from __future__ import annotations

import io
import json
import math
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from appell.errors import ReadError
from appell.extras import extra
from appell.files import NUMBER, check_expansion, opened, shortened
from appell.logs.table import ABOUT, SPLIT, LogTable, of_arrays
from appell.spatial.scalar import Array

FIELDS = {"q": "position", "v": "velocity", "tau": "effort", "a": "acceleration", "current": "current"}
"""Fields of a message: ROS has the first three, JSON may have more."""
TOPIC = "/joint_states"
SCHEMA = "sensor_msgs/msg/JointState"


@dataclass(frozen=True)
class Message:
    """A JointState message: its time stamp [s] (0 if absent), the joint names, and arrays by field name."""

    stamp: float
    names: tuple[str, ...]
    fields: Mapping[str, Sequence[float]]


@dataclass
class Cdr:
    """A reader of the Common Data Representation of ROS 2: aligned numbers after a header of four bytes.

    >>> Cdr(bytes([0, 1, 0, 0]) + bytes([3, 0, 0, 0])).integer()
    3
    """

    data: bytes
    at: int = field(default=4, init=False)

    def __post_init__(self) -> None:
        if len(self.data) < 4 or self.data[1] not in (0, 1):
            raise ValueError("no plain CDR encapsulation")
        self.order = "<" if self.data[1] else ">"

    def _take(self, code: str, size: int, count: int = 1) -> tuple[Any, ...]:
        self.at += -(self.at - 4) % size if count else 0  # alignment is relative to the end of the header
        values = struct.unpack_from(f"{self.order}{count}{code}", self.data, self.at)
        self.at += size * count
        return values

    def integer(self, code: str = "I") -> int:
        """Return a 32-bit integer, "I" unsigned or "i" signed."""
        return int(self._take(code, 4)[0])

    def text(self) -> str:
        """Return a string; its length includes the terminating zero."""
        length = self.integer()
        (raw,) = struct.unpack_from(f"{length}s", self.data, self.at)
        self.at += length
        return bytes(raw).rstrip(b"\0").decode(errors="replace")

    def texts(self) -> tuple[str, ...]:
        """Return a sequence of strings."""
        return tuple(self.text() for _ in range(self.integer()))

    def doubles(self) -> tuple[float, ...]:
        """Return a sequence of float64."""
        return self._take("d", 8, self.integer())


def from_cdr(data: bytes) -> Message:
    """Return a sensor_msgs/msg/JointState: header (stamp, frame_id), name, position, velocity, effort."""
    reader = Cdr(data)
    seconds, nanoseconds = reader.integer("i"), reader.integer()
    reader.text()
    names = reader.texts()
    return Message(
        seconds + 1e-9 * nanoseconds, names, {x: reader.doubles() for x in ("position", "velocity", "effort")}
    )


def from_json(data: bytes) -> Message:
    """Return a JointState from JSON; every list of numbers as long as the names is a field."""
    value = json.loads(data)
    if not all(isinstance(name, str) for name in value["name"]):
        raise ValueError("names must be strings")
    stamp = value.get("header", {}).get("stamp", {})
    seconds = stamp.get("sec", stamp.get("secs", 0)) + 1e-9 * stamp.get(
        "nanosec", stamp.get("nsec", stamp.get("nsecs", 0))
    )
    lists = {key: x for key, x in value.items() if key != "name" and isinstance(x, list)}
    return Message(seconds, tuple(value["name"]), lists)


DECODERS: Mapping[str, Callable[[bytes], Message]] = {"cdr": from_cdr, "json": from_json}


def read_mcap(path: Path, topic: str | None = None) -> LogTable:
    """Return the joint states of an .mcap file, columns named ``joint.position`` and so on, times in seconds."""
    source = shortened(path)
    topics, stream, about = _messages(path, source)
    states = sorted({channel.topic for channel, _ in stream})
    chosen = topic or (states[0] if len(states) == 1 else None)
    if chosen is None or chosen not in states:
        found = ", ".join(states or sorted(topics)) or "none"
        kind = f"topics of {SCHEMA} in cdr or json" if states else "no such topic; topics"
        wanted = f"topic '{topic}': " if topic else "expected one topic of joint states; "
        raise ReadError(f"{wanted}the file has {kind}: {found}; select one with columns={{'topic': …}}", source)
    times: list[float] = []
    messages: list[Message | None] = []
    for channel, message in stream:
        if channel.topic == chosen:
            try:
                decoded = DECODERS[channel.encoding](message.data)
            except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError, struct.error):
                decoded = None
            messages.append(decoded)
            times.append(decoded.stamp if decoded and decoded.stamp else 1e-9 * message.log_time)
    return _table(times, messages, source, about, path.stat().st_size)


@dataclass(frozen=True)
class _Channel:
    topic: str
    encoding: str
    is_state: bool


class _Bounded(NamedTuple):
    """A file whose reads are bounded by its size, so that a corrupt length allocates no memory."""

    file: BinaryIO
    size: int

    def read(self, count: int) -> bytes:
        return self.file.read(min(count, self.size - self.file.tell()))


def _messages(path: Path, source: str) -> tuple[set[str], list[tuple[_Channel, Any]], str]:
    """Return the topics of a file, its joint states by log time, and its metadata."""
    records = _mcap("records")
    schemas: dict[int, Any] = {}
    channels: dict[int, _Channel] = {}
    topics: set[str] = set()
    about, messages = "", []
    try:
        for record in _records(path, source):
            if isinstance(record, records.Schema):
                schemas[record.id] = record
            elif isinstance(record, records.Channel):
                schema, encoding = schemas.get(record.schema_id), record.message_encoding
                is_state = schema is not None and schema.name.endswith("JointState") and encoding in DECODERS
                channels[record.id] = _Channel(record.topic, encoding, is_state)
            elif isinstance(record, records.Metadata) and record.name == "appell":
                about = record.metadata.get(ABOUT, "")
            elif isinstance(record, records.Message):
                channel = channels[record.channel_id]
                topics.add(channel.topic)
                messages += [(channel, record)] if channel.is_state else []
    except ReadError:
        raise
    except Exception as error:  # mcap, zstandard and lz4 raise various exceptions on corrupt files
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise ReadError(f"is an incomplete or invalid .mcap file: {reason}", source) from None
    messages.sort(key=lambda pair: pair[1].log_time)
    return topics, messages, about


def _records(path: Path, source: str) -> Iterator[Any]:
    """Yield the records of a file in order, chunks decompressed, within the sizes stated in their headers."""
    streams, chunk_type = _mcap("stream_reader"), _mcap("records").Chunk
    with opened(path) as file:
        size, expanded = path.stat().st_size, 0
        for record in streams.StreamReader(_Bounded(file, size), emit_chunks=True).records:
            if isinstance(record, chunk_type):
                expanded += record.uncompressed_size
                check_expansion(expanded, size, source, SPLIT)
                yield from streams.breakup_chunk(replace(record, compression="", data=_unpacked(record)))
            else:
                yield record


def _unpacked(chunk: Any) -> bytes:
    """Return the bytes of a chunk, at most one more than its header states."""
    if chunk.compression not in UNPACKERS:
        return bytes(chunk.data)
    data = UNPACKERS[chunk.compression](chunk.data, chunk.uncompressed_size + 1)
    if len(data) != chunk.uncompressed_size:
        raise ValueError(f"a chunk does not have the {chunk.uncompressed_size} bytes stated in its header")
    return data


def _zstd(data: bytes, most: int) -> bytes:
    zstandard = extra("zstandard", ".mcap files need")
    return bytes(zstandard.ZstdDecompressor().stream_reader(data).read(most))


def _lz4(data: bytes, most: int) -> bytes:
    return bytes(extra("lz4.frame", ".mcap files need").LZ4FrameDecompressor().decompress(data, most))


UNPACKERS: Mapping[str, Callable[[bytes, int], bytes]] = {"zstd": _zstd, "lz4": _lz4}


def _table(
    times: Sequence[float], messages: Sequence[Message | None], source: str, about: str, packed: int
) -> LogTable:
    """Return the table of messages in the first message's joint order, NaN where a joint or field is missing."""
    first = next((x for x in messages if x is not None), None)
    if first is None:
        raise ReadError("none of the messages can be decoded as a JointState", source)
    repeated = sorted({name for name in first.names if first.names.count(name) > 1})
    if repeated:
        raise ReadError(f"the messages contain joint '{repeated[0]}' twice; joint names must be unique", source)
    fields = [key for key, value in first.fields.items() if len(value) == len(first.names)]
    size = NUMBER * len(messages) * len(first.names) * len(fields)
    check_expansion(size, packed, source, SPLIT)
    columns = {key: np.full((len(messages), len(first.names)), np.nan) for key in fields}
    for row, message in enumerate(messages):
        if message is not None:
            is_same = message.names == first.names
            order = (
                range(len(first.names))
                if is_same
                else [message.names.index(name) if name in message.names else -1 for name in first.names]
            )
            for key in fields:
                value = message.fields.get(key, ())
                if len(value) == len(message.names):
                    columns[key][row] = [_number(value[k]) if k >= 0 else np.nan for k in order]
    arrays = {"t": np.array(times)}
    for key in fields:
        arrays |= {f"{name}.{key}": columns[key][:, k] for k, name in enumerate(first.names)}
    return of_arrays(arrays, source, "message", about)


def _number(value: object) -> float:
    """Return a number of a message, NaN for null, booleans, text, and integers beyond the range of float64."""
    try:
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except OverflowError:
        return math.nan


def encoded(columns: Mapping[str, Array], about: Mapping[str, Any]) -> bytes:
    """Return an .mcap file of JSON messages with the fields of a JointState, and one list per other array."""
    times = np.asarray(columns["t"])
    lists = {FIELDS.get(name, name): x.reshape(len(times), -1).tolist() for name, x in columns.items() if name != "t"}
    names = about.get("joints") or [f"joint{k + 1}" for k in range(len(lists["position"][0]))]
    # log times start at zero or later, as the format requires; the stamp has the original time
    shift = -math.floor(times[0]) if times[0] < 0.0 else 0
    stream = io.BytesIO()
    writer = _mcap("writer").Writer(stream)
    writer.start(profile="", library="appell")
    schema = writer.register_schema(SCHEMA, "jsonschema", json.dumps(_schema(lists)).encode())
    channel = writer.register_channel(TOPIC, "json", schema)
    writer.add_metadata("appell", {ABOUT: json.dumps(about)})
    for row, time in enumerate(times):
        carry, nanoseconds = divmod(round(1e9 * (time - math.floor(time))), 1_000_000_000)
        whole = math.floor(time) + carry
        stamp = {"sec": whole, "nanosec": nanoseconds}
        body = {"header": {"stamp": stamp, "frame_id": ""}, "name": names, **{x: y[row] for x, y in lists.items()}}
        clock = (whole + shift) * 1_000_000_000 + nanoseconds
        writer.add_message(channel, clock, json.dumps(body).encode(), clock)
    writer.finish()
    return stream.getvalue()


def _schema(fields: Mapping[str, Any]) -> dict[str, Any]:
    integer, numbers = {"type": "integer"}, {"type": "array", "items": {"type": "number"}}
    stamp = {"type": "object", "properties": {"sec": integer, "nanosec": integer}}
    header = {"type": "object", "properties": {"stamp": stamp, "frame_id": {"type": "string"}}}
    names = {"type": "array", "items": {"type": "string"}}
    return {"type": "object", "properties": {"header": header, "name": names, **dict.fromkeys(fields, numbers)}}


def _mcap(part: str) -> Any:
    return extra(f"mcap.{part}", ".mcap files need")
