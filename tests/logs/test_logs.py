"""Logs are read as they were written; what is wrong with a file is named by its lines."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

import appell
from appell.errors import InputError, ReadError
from appell.logs.log import Log, Repair, spans
from appell.logs.read_log import read_log, verdict

FORMATS = [".csv", ".npz", ".parquet", ".mcap"]
ROWS = [f"{0.01 * k:.2f},{0.1 * k:.4f},{0.2 * k:.4f},{k % 3}" for k in range(40)]
MAP = "t=0,q=1:3,tau_des=3"


@pytest.fixture
def text(tmp_path):
    """A function that writes lines to a file and returns its place."""

    def write(lines, name="log.csv", end="\n"):
        place = tmp_path / name
        place.write_text("\n".join(lines) + end)
        return place

    return write


def where(log):
    return [repair.where for repair in log.repairs]


# Round trips


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_saved_log_is_read_again(log, tmp_path, suffix):
    log = replace(log, extra={"temperature": log.t * 2.0, "tau_des": log.q + 1.0})
    again = read_log(log.save(tmp_path / f"log{suffix}"))
    np.testing.assert_allclose(again.t, log.t, rtol=0.0, atol=1e-9 if suffix == ".mcap" else 0.0)
    for name in ("q", "v", "tau", "current"):
        np.testing.assert_array_equal(getattr(again, name), getattr(log, name))
    assert again.a is None


@pytest.mark.parametrize("suffix", [".csv", ".npz", ".parquet"])
def test_other_columns_are_kept(log, tmp_path, suffix):
    log = replace(log, extra={"temperature": log.t * 2.0, "tau_des": log.q + 1.0})
    again = read_log(log.save(tmp_path / f"log{suffix}"))
    assert set(again.extra) == {"temperature", "tau_des"}
    np.testing.assert_array_equal(again.extra["tau_des"], log.extra["tau_des"])


@pytest.mark.parametrize("suffix", FORMATS)
def test_repairs_and_joints_travel_with_the_log(log, tmp_path, suffix):
    repair = Repair("left out: 2 fields, expected 3", "line 9", 1)
    log = replace(log, repairs=(repair,), joint_names=("hip", "knee"), source="first.csv")
    again = read_log(log.save(tmp_path / f"log{suffix}"))
    assert again.joint_names == ("hip", "knee")
    assert again.repairs == (replace(repair, where="line 9 of first.csv"),)


def test_an_unknown_ending_is_refused(log, tmp_path):
    with pytest.raises(
        InputError, match=r"unknown extension of 'log\.xlsx'; known: '.csv', '.npz', '.parquet', '.mcap'"
    ):
        log.save(tmp_path / "log.xlsx")


def test_a_failed_write_leaves_the_old_file(log, tmp_path, monkeypatch):
    place = log.save(tmp_path / "log.csv")
    old = place.read_text()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(InputError, match="cannot be written: disk full"):
        log.crop(6.0, 7.0).save(place)
    assert place.read_text() == old
    assert list(tmp_path.iterdir()) == [place]


@pytest.mark.parametrize(("suffix", "module"), [(".parquet", "pyarrow"), (".mcap", "mcap")])
def test_a_missing_extra_is_named(log, tmp_path, monkeypatch, suffix, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=rf"need {module}, which is not installed; pip install 'appell\[logs\]'"):
        log.save(tmp_path / f"log{suffix}")


# Text: delimiters and headers


@pytest.mark.parametrize("mark", [",", ";", "\t", "  "])
def test_delimiters_are_detected(text, mark):
    log = read_log(text([row.replace(",", mark) for row in ROWS], "log.txt"), MAP)
    np.testing.assert_allclose(log.q[:, 1], 0.2 * np.arange(40))


def test_decimal_commas_are_read(text):
    rows = [row.replace(",", ";").replace(".", ",") for row in ROWS]
    np.testing.assert_allclose(read_log(text(rows), MAP).t, 0.01 * np.arange(40))


def test_a_delimiter_may_close_each_row(text):
    assert len(read_log(text([row + "," for row in ROWS]), MAP)) == 40


def test_a_header_tells_the_columns(text):
    log = read_log(text(["Time [s],q_1 (rad),q_2 (rad),state", *ROWS]))
    assert log.q.shape == (40, 2)
    assert list(log.extra) == ["state"]


def test_a_header_in_a_comment_tells_the_columns(text):
    assert np.asarray(read_log(text(["# t,q1,q2,tau1", *ROWS])).tau).shape == (40, 1)


@pytest.mark.parametrize(
    "columns",
    [
        {"t": "stamp", "q": "angle_*"},
        {"t": "stamp", "q": ["angle_2", "angle_10"]},
        "t=stamp,q=angle_2,angle_10",
        {"t": 0, "q": [2, 1]},
        {"t": 0, "q": slice(2, 0, -1)},
    ],
)
def test_maps_name_columns_in_many_ways(text, columns):
    log = read_log(text(["stamp,angle_10,angle_2,mode", *ROWS]), columns)
    np.testing.assert_allclose(log.q[1], [0.2, 0.1])


def test_a_factor_brings_units_to_si(text):
    log = read_log(text(ROWS), "t=1e-3*0,q=-0.0174532925199*1:3")
    np.testing.assert_allclose(log.t, 1e-5 * np.arange(40))
    np.testing.assert_allclose(log.q[:, 0], -np.deg2rad(0.1 * np.arange(40)), rtol=1e-10)


def test_joints_in_the_header_come_in_the_robots_order(text):
    robot = appell.load("two-link")
    first, second = robot.joint_names
    names = f"time,{second}.position,{first}.position,{second}.effort"
    with pytest.raises(ReadError, match=rf"tau: no column for joint {first}"):
        read_log(text([names, *ROWS]), robot=robot)
    log = read_log(text([names.replace("effort", "mode"), *ROWS]), robot=robot)
    np.testing.assert_allclose(log.q[1], [0.2, 0.1])
    assert log.joint_names == (first, second)


def test_a_pattern_follows_the_robots_order_too(text):
    robot = appell.load("two-link")
    first, second = robot.joint_names
    lines = [f"time,pos_{second},pos_{first},x", *ROWS]
    np.testing.assert_allclose(read_log(text(lines), {"t": "time", "q": "pos_*"}, robot=robot).q[1], [0.2, 0.1])


def test_words_in_a_column_nobody_asked_for_do_no_harm(text):
    log = read_log(text(["t,q1,q2,state", *(f"{row.rsplit(',', 1)[0]},RUNNING" for row in ROWS)]))
    assert len(log) == 40
    assert [str(x) for x in log.repairs] == ["column state: not read: not numeric"]


# Text: corrupt rows


def test_corrupt_rows_are_left_out_and_named(text):
    rows = list(ROWS)
    rows[3], rows[10], rows[11], rows[20] = "0.03,1.0", "0.10,abc,2.0,0", "0.11,nan,2.0,0", "0.20,inf,1.0,0"
    log = read_log(text(rows), MAP)
    assert len(log) == 36
    assert [(x.where, x.count) for x in log.repairs] == [("line 4", 1), ("lines 11, 12 and 21", 3)]


def test_a_last_line_that_is_cut_off_is_named(text):
    log = read_log(text([*ROWS, "0.40,4.0,"], end=""), MAP)
    assert [str(x) for x in log.repairs] == ["line 41: left out: 3 fields, expected 4; the file is truncated"]


def test_a_last_line_without_newline_is_read(text):
    assert len(read_log(text(ROWS, end=""), MAP)) == 40


def test_line_numbers_count_header_and_blank_lines(text):
    log = read_log(text(["t,q1,q2,x", "", *ROWS[:5], "oops", *ROWS[5:]]))
    assert where(log) == ["line 8"]


def test_rows_whose_time_or_place_makes_no_sense_are_left_out(text):
    rows = list(ROWS)
    rows[1:4] = ["-3,253,253,1", "7e154,0.1,0.2,0", "0,0,1e200,0"]  # time back, time ahead, out of this world
    rows[30] = "0.30,90.0,6.0,0"
    log = read_log(text(rows), MAP)
    assert where(log) == ["lines 2–4 and 31"]
    np.testing.assert_allclose(log.t, 0.01 * np.delete(np.arange(40), [1, 2, 3, 30]))


def test_two_rows_out_of_order_cost_one(text):
    rows = list(ROWS)
    rows[20], rows[21] = rows[21], rows[20]
    assert len(read_log(text(rows), MAP)) == 39


def test_a_repeated_time_is_left_out(text):
    rows = [*ROWS[:20], "0.19,1.9001,3.8,0", *ROWS[20:]]
    assert [str(x) for x in read_log(text(rows), MAP).repairs] == ["line 21: left out: repeated time"]


def test_a_pause_between_two_recordings_is_no_fault():
    t = np.concatenate([np.arange(100) * 0.01, 5000.0 + np.arange(100) * 0.01])
    assert verdict(t, np.zeros((200, 1)), np.zeros((200, 0))).fits.all()


def test_a_counter_that_wraps_is_no_fault():
    t = np.arange(1000) * 0.001
    q = (np.mod(3.0 * t + np.pi, 2.0 * np.pi) - np.pi)[:, None]
    assert verdict(t, q, np.zeros((1000, 0))).fits.all()


def test_a_quick_motion_after_long_rest_is_no_fault():
    t = np.arange(4000) * 0.002
    q = np.where(t > 7.9, np.sin(15.0 * (t - 7.9)), 0.0)[:, None]
    assert verdict(t, q, np.zeros((4000, 0))).fits.all()


# Errors


def test_most_rows_corrupt_is_an_error(text):
    rows = [*ROWS[:5], *["1,2,nan,4"] * 25, *ROWS[30:]]
    with pytest.raises(ReadError, match=r"log\.csv: only 15 of 40 rows are valid: lines 6–30: left out: not a finite"):
        read_log(text(rows), MAP)


def test_a_file_without_header_needs_a_map(text):
    with pytest.raises(ReadError, match=r"has no header and 4 columns; map them, for example columns='t=0,q=1:7"):
        read_log(text(ROWS))


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ("q=1:3", "'t' is missing"),
        ("t=0,q=1:9", "q: no column 4; the file has columns 0 to 3"),
        ("t=0,q=angle", "no column named 'angle'; the file has no header and 4 columns"),
        ("t=0:2,q=2", "t: expected one column of times, got 2"),
        ("0,q=1", "'0' belongs to no quantity"),
        ("t=0,q=1,q=2", "'q=2' is repeated"),
        ({"t": 0, "q": None}, "q: expected numbers, ranges or names of columns, got None"),
        ("t=0,q=1:3,v=1:3,tau=3", "expected equal numbers of columns for all quantities, got v 2, tau 1"),
    ],
)
def test_a_map_that_does_not_fit_is_told_why(text, columns, problem):
    with pytest.raises(appell.AppellError) as caught:
        read_log(text(ROWS), columns)
    assert problem in str(caught.value)


def test_times_in_nanoseconds_are_told(text):
    rows = [f"{1_700_000_000_000_000_000 + 10_000_000 * k},{0.1 * k}" for k in range(40)]
    with pytest.raises(
        ReadError, match=r"the time step is 1\S*e\+07 s; if times are in nanoseconds, map them as t=1e-9\*"
    ):
        read_log(text(rows), "t=0,q=1")


def test_a_header_without_positions_shows_its_names(text):
    with pytest.raises(ReadError, match="no column of positions recognised; the columns are t, foo, bar, baz"):
        read_log(text(["t,foo,bar,baz", *ROWS]))


def test_a_robot_with_other_joints_is_refused(text):
    with pytest.raises(ReadError, match="q: 1 columns, but robot 'two-link' needs 2"):
        read_log(text(ROWS), "t=0,q=1", robot=appell.load("two-link"))


@pytest.mark.parametrize("name", ["none.csv", "none.npz", "none.parquet", "none.mcap"])
def test_a_missing_file_is_told(tmp_path, name):
    with pytest.raises(ReadError, match=f"{name}: file not found"):
        read_log(tmp_path / name)


@pytest.mark.parametrize("suffix", [".npz", ".parquet", ".mcap", ".csv"])
def test_a_file_of_something_else_is_told(tmp_path, suffix):
    place = tmp_path / f"log{suffix}"
    place.write_bytes(b"\x00\x01nothing of the kind\xff")
    with pytest.raises(ReadError, match=f"log{suffix}: "):
        read_log(place)


def test_an_mcap_that_is_cut_off_is_told(log, tmp_path):
    place = log.save(tmp_path / "log.mcap")
    place.write_bytes(place.read_bytes()[:5000])
    with pytest.raises(ReadError, match=r"is an incomplete or invalid \.mcap file"):
        read_log(place)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"t": [0.0, 0.2, 0.1]}, "t: expected increasing times, got 0.2 s then 0.1 s at row 2"),
        ({"t": [0.0]}, "t: expected two or more times"),
        ({"q": [[0.0], [np.nan], [0.0]]}, "q: expected finite numbers, got [nan] in row 1"),
        ({"q": [0.0, 1.0, 2.0]}, "q: expected shape (3, nq)"),
        ({"v": np.zeros((3, 2)), "tau": np.zeros((3, 1))}, "tau: expected shape (3, 2)"),
        ({"tau": "high"}, "tau: expected an array of numbers, got str"),
    ],
)
def test_arrays_that_are_no_log_are_refused(change, problem):
    arrays = {"t": [0.0, 0.1, 0.2], "q": np.zeros((3, 1)), **change}
    with pytest.raises(InputError) as caught:
        Log.from_arrays(**arrays)
    assert problem in str(caught.value)


def test_gains_need_currents(text):
    with pytest.raises(InputError, match=r"log\.csv has no currents; map them"):
        read_log(text(ROWS), MAP, gains=[1.0, 2.0])


def test_gains_turn_currents_into_torques(text):
    log = read_log(text(ROWS), "t=0,q=1:3,current=1:3", gains=[10.0, 20.0])
    np.testing.assert_allclose(np.asarray(log.tau), np.asarray(log.current) * [10.0, 20.0])


def test_arrays_of_unequal_length_are_refused(tmp_path):
    np.savez(tmp_path / "log.npz", t=np.arange(5.0), q=np.zeros((4, 2)))
    with pytest.raises(ReadError, match=r"q: expected 5 rows, one per sample, got shape \(4, 2\)"):
        read_log(tmp_path / "log.npz")


def test_bad_rows_of_arrays_are_named(tmp_path):
    q = np.zeros((30, 2))
    q[7:9, 1] = np.nan
    np.savez(tmp_path / "log.npz", times=np.arange(30.0) / 100.0, angles=q)
    log = read_log(tmp_path / "log.npz", {"t": "times", "q": "angles"})
    assert (len(log), where(log)) == (28, ["rows 7 and 8"])


# A real robot's logs


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("ur-20_01_17-p1", 918),
        ("ur-20_01_17-p2", 768),
        ("ur-20_02_10-30sec_12harm", 3691),
        ("ur-20_02_19_14harm50sec", 5375),
        ("ur-20_02_19_14harm50secLoad", 5307),
        ("ur-20_02_19_15harm50sec", 5347),
    ],
)
def test_good_files_of_a_real_robot_lose_no_row(shared, ur_columns, name, rows):
    log = read_log(shared / "data" / "ur10e" / f"{name}.csv", ur_columns)
    assert (len(log), log.repairs) == (rows, ())


def test_the_garbage_of_a_real_file_is_named_by_its_lines(shared, ur_columns):
    log = read_log(shared / "data" / "ur10e" / "ur-20_02_19_15harm50secLoad.csv", ur_columns)
    assert len(log) == 6107 - 9 - 1
    assert where(log) == ["line 6107", "lines 2–10"]


def test_long_lists_of_lines_are_shortened():
    assert spans(range(1, 100, 3), "line") == "lines 1, 4, 7, 10, 13, 16, 19, 22, 25, 28 and 23 more places"
