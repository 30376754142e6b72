"""Logs that are damaged or made up: archives and messages that expand, or whose headers are wrong."""

from __future__ import annotations

import io
import json
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest

import appell
from appell.errors import ReadError
from appell.logs.log import Log

T = np.linspace(0.0, 1.0, 21)
Q = np.column_stack([np.sin(T), np.cos(T)])
MAGIC = b"\x89MCAP0\r\n"
MEGABYTE = 2**20


@pytest.fixture
def peak():
    """Return the growth of memory [bytes] that Python and NumPy asked for at most."""
    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()


# npz


def npy(shape: tuple[int, ...], data: bytes = b"") -> bytes:
    text = str({"descr": "<f8", "fortran_order": False, "shape": shape}).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


@pytest.fixture(scope="module")
def bomb() -> bytes:
    """Return an .npz file of 0.3 MB that states, and has, 272 MB of zeros."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("t.npy", "w") as part:
        part.write(npy((34 * MEGABYTE,)))
        for _ in range(17):
            part.write(bytes(16 * MEGABYTE))
    return stream.getvalue()


def test_an_archive_is_refused_by_the_size_that_it_states(tmp_path, bomb, peak):
    path = tmp_path / "log.npz"
    path.write_bytes(bomb)
    with pytest.raises(ReadError, match=r"log\.npz: 0\.3 MB expand to 272 MB, more than 260 MB .*numpy\.savez"):
        appell.read_log(path)
    assert peak() < 40 * MEGABYTE


def test_an_archive_that_understates_its_size_is_refused(tmp_path, bomb, peak):
    data = bytearray(bomb)
    struct.pack_into("<I", data, data.rfind(b"PK\x01\x02") + 24, 200)
    (tmp_path / "log.npz").write_bytes(data)
    with pytest.raises(ReadError, match=r"log\.npz: part 't': "):
        appell.read_log(tmp_path / "log.npz")
    assert peak() < 40 * MEGABYTE


def test_uncompressed_files_of_any_size_are_read(tmp_path):
    path = tmp_path / "log.npz"
    np.savez(path, t=T, q=Q)
    assert len(appell.read_log(path)) == len(T)


def test_a_damaged_part_is_named(tmp_path):
    path = tmp_path / "log.npz"
    np.savez_compressed(path, t=T, q=Q)
    with zipfile.ZipFile(path) as archive:
        start = archive.getinfo("q.npy").header_offset + 200
    data = bytearray(path.read_bytes())
    data[start : start + 8] = b"\xff" * 8
    path.write_bytes(data)
    with pytest.raises(ReadError, match=r"log\.npz: part 'q': "):
        appell.read_log(path)


@pytest.mark.parametrize(
    "about", ['{"joints": 5}', '{"joints": [1]}', '{"repairs": [[1, 2, "x"]]}', "[" * 100_000, "5"]
)
def test_notes_of_another_type_are_not_kept(tmp_path, about):
    np.savez(tmp_path / "log.npz", t=T, q=Q, about=np.array(about))
    log = appell.read_log(tmp_path / "log.npz")
    assert (log.joint_names, log.repairs) == ((), ())


# parquet


def test_a_column_of_one_number_is_refused_by_its_length(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    group = arrow.table({"t": np.zeros(2**21), "q": np.zeros(2**21)})
    with parquet.ParquetWriter(tmp_path / "log.parquet", group.schema) as writer:
        for _ in range(10):
            writer.write_table(group)
    with pytest.raises(ReadError, match=r"log\.parquet: 0\.\d MB expand to 320 MB, .*split the log into parts"):
        appell.read_log(tmp_path / "log.parquet")


# mcap


def text(value: bytes) -> bytes:
    return struct.pack("<I", len(value)) + value


def record(code: int, body: bytes) -> bytes:
    return bytes([code]) + struct.pack("<Q", len(body)) + body


def chunk(compression: bytes, data: bytes, size: int) -> bytes:
    return record(6, struct.pack("<QQQI", 0, 1, size, 0) + text(compression) + struct.pack("<Q", len(data)) + data)


def states(*messages: bytes, encoding: bytes = b"json") -> bytes:
    schema = record(3, struct.pack("<H", 1) + text(b"sensor_msgs/msg/JointState") + text(b"") + text(b""))
    channel = record(4, struct.pack("<HH", 1, 1) + text(b"/joint_states") + text(encoding) + struct.pack("<I", 0))
    heads = (struct.pack("<HIQQ", 1, k, k * 10**7, k * 10**7) for k in range(len(messages)))
    return schema + channel + b"".join(record(5, head + x) for head, x in zip(heads, messages, strict=True))


def message(k: int) -> bytes:
    return json.dumps({"name": ["a", "b"], "position": [0.01 * k, 0.02 * k]}).encode()


GOOD = [message(k) for k in range(20)]


@pytest.fixture
def read(tmp_path):
    pytest.importorskip("mcap")

    def read(body: bytes) -> Log:
        path = tmp_path / "log.mcap"
        end = record(0xF, struct.pack("<I", 0)) + record(2, struct.pack("<QQI", 0, 0, 0))
        path.write_bytes(MAGIC + record(1, text(b"") + text(b"")) + body + end + MAGIC)
        return appell.read_log(path)

    return read


def packed(name: str, data: bytes) -> bytes:
    if name == "zstd":
        return bytes(pytest.importorskip("zstandard").ZstdCompressor().compress(data))
    return bytes(pytest.importorskip("lz4.frame").compress(data))


@pytest.mark.parametrize("name", ["zstd", "lz4"])
def test_chunks_are_unpacked(read, name):
    body = states(*GOOD)
    assert len(read(chunk(name.encode(), packed(name, body), len(body)))) == 20


@pytest.fixture
def expanding(name):
    """Return 300 MB of zeros, compressed."""
    return packed(name, bytes(300 * MEGABYTE))


@pytest.mark.parametrize("name", ["zstd", "lz4"])
def test_a_chunk_expands_to_no_more_than_its_header_states(read, name, expanding, peak):
    data = expanding
    with pytest.raises(ReadError, match=r"log\.mcap: \d\.\d MB expand to 300 MB, .*split the log into parts"):
        read(chunk(name.encode(), data, 300 * MEGABYTE))
    with pytest.raises(ReadError, match="a chunk does not have the 100 bytes stated in its header"):
        read(chunk(name.encode(), data, 100))
    with pytest.raises(ReadError, match=r"log\.mcap: is an incomplete or invalid \.mcap file"):
        read(chunk(name.encode(), b"nothing", 100))
    assert peak() < 60 * MEGABYTE


@pytest.mark.parametrize(
    "body",
    [
        bytes([6]) + b"\xff" * 8,
        bytes([5]) + struct.pack("<Q", 2**31),
        record(9, b"\xff" * 16),
        record(3, struct.pack("<H", 1) + text(b"\xff\xfe") + text(b"") + text(b"")),
        record(5, struct.pack("<HIQQ", 7, 0, 0, 0)),
        chunk(b"xz", b"abc", 3),
    ],
    ids=["chunk length", "message length", "attachment length", "unicode", "no channel", "compression"],
)
def test_damaged_records_are_refused(read, body):
    with pytest.raises(ReadError, match=r"log\.mcap: is an incomplete or invalid \.mcap file: "):
        read(states(*GOOD) + body)


@pytest.mark.parametrize(
    "bad",
    [
        b"[" * 100_000,
        b"\xff\xfe",
        b"[]",
        b'{"name": null}',
        b'{"name": [1, null], "position": [1, 2]}',
        b'{"name": ["a", "b"], "position": [{}, "1"]}',
        b'{"name": ["a", "b"], "position": [true, 1]}',
        b'{"name": ["a", "b"], "position": [1, 1' + b"0" * 400 + b"]}",
        b'{"name": ["a", "b"], "header": 5}',
        b'{"name": ["a", "b"], "position": [1, 2], "header": {"stamp": {"sec": ' + b"9" * 400 + b"}}}",
    ],
    ids=lambda x: x[:40].decode(errors="replace"),
)
def test_a_message_that_is_no_joint_state_is_left_out(read, bad):
    log = read(states(*GOOD, bad))
    assert len(log) == 20
    assert [repair.count for repair in log.repairs] == [1]


def test_few_wide_messages_do_not_make_a_large_table(read):
    wide = json.dumps({"name": [f"j{k}" for k in range(5000)], "position": [0] * 5000}).encode()
    with pytest.raises(ReadError, match="expand to 382 MB"):
        read(states(wide, *[b'{"name": []}'] * 10_000))


def test_a_joint_that_is_named_twice_is_refused(read):
    with pytest.raises(ReadError, match="contain joint 'a' twice"):
        read(states(*[x.replace(b'"b"', b'"a"') for x in GOOD]))


# Text


def test_other_encodings_than_utf_8_are_named(tmp_path):
    (tmp_path / "log.csv").write_bytes("t,q1\n0,1\n1,2\n".encode("utf-16"))
    with pytest.raises(ReadError, match=r"log\.csv: has NUL bytes"):
        appell.read_log(tmp_path / "log.csv")
