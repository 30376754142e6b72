"""Drive gains: what currents without and with a known load tell, how surely, and what they cannot tell."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import appell
from appell.errors import InputError
from appell.identification.gains import drive_gains
from appell.logs.log import Log
from appell.planning.trajectory.curves import Fourier
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose

GAINS = np.array([12.0, 9.0])
MASS, CENTRE = 4.0, (1.8, 0.3, 0.0)
TENSOR = ((0.1, 0.0, 0.0), (0.0, 0.2, 0.0), (0.0, 0.0, 0.3))
README = np.array([11.976, 11.976, 9.8386, 10.763, 10.763, 10.763])


def logs(robot, motion, seed, noise=0.02, gains=GAINS, friction=(8.0, 5.0), duration=10.0):
    """Return logs of currents without and with the load on the last link."""
    made, random = [], np.random.default_rng(seed)
    t = np.arange(round(100 * duration)) / 100.0
    q, v, a = motion(t)
    Y = robot.regressor(q, v, a)[..., : 10 * len(robot.link_names)]
    pi = robot.parameters[: Y.shape[-1]].copy()
    load = Inertia.from_centre(MASS, CENTRE, TENSOR).parameters
    for extra in (np.zeros(10), np.array(load)):
        pi[-10:] += extra
        tau = Y @ pi + np.array(friction) * np.sign(v) + 0.5 * np.array(friction) * v
        made.append(Log.from_arrays(t, q, v=v, current=tau / gains + random.normal(scale=noise, size=tau.shape)))
    return made


def found(robot, both, **options):
    """Return the gains of two logs, with the friction that they have."""
    return drive_gains(robot, *both, **{"mass": MASS, "friction": "coulomb", "rotors": False, **options})


@pytest.fixture(scope="module")
def robot():
    """Return an arm whose first link is long enough for the second motor's load to be felt apart by the first."""
    return with_links(0.9)


def with_links(length):
    arm = appell.load("two-link").model
    joint = replace(arm.bodies[1].joint, placement=Pose(position=(length, 0.0, 0.0)))
    return appell.load(replace(arm, bodies=(arm.bodies[0], replace(arm.bodies[1], joint=joint))))


@pytest.mark.parametrize("known", [{}, {"centre": CENTRE}, {"centre": CENTRE, "inertia": TENSOR}])
def test_gains_are_recovered_within_three_standard_errors(robot, lively, known):
    gains = found(robot, logs(robot, lively, 1), **known)
    assert np.all(np.abs(gains.gains - GAINS) < 3.0 * gains.standard_errors), gains
    assert np.all(gains.standard_errors < 0.02 * GAINS)


def test_standard_errors_are_those_of_repeated_trials(robot, lively):
    every = [found(robot, logs(robot, lively, k, 0.3)) for k in range(16)]
    scatter = np.std([x.gains for x in every], axis=0)
    stated = np.mean([x.standard_errors for x in every], axis=0)
    assert np.all((0.6 * scatter < stated) & (stated < 1.7 * scatter))


def test_noise_in_currents_does_not_make_gains_small(robot, lively):
    """As least squares of g·i would: there, noise counts as motion."""
    every = [found(robot, logs(robot, lively, k, 1.0)) for k in range(12)]
    mean = np.mean([x.gains for x in every], axis=0)
    error = np.mean([x.standard_errors for x in every], axis=0) / np.sqrt(len(every))
    assert np.all(np.abs(mean - GAINS) < 3.5 * error)


def test_gains_are_proportional_to_the_mass(robot, lively):
    both = logs(robot, lively, 1, noise=0.0)
    one, other = (found(robot, both, mass=m).gains for m in (MASS, 2.0 * MASS))
    assert other == pytest.approx(2.0 * one, rel=1e-4)


def test_the_load_that_was_not_given_is_found(robot, lively):
    gains = found(robot, logs(robot, lively, 1))
    assert gains.load[1:3] / gains.load[0] == pytest.approx(CENTRE[:2], abs=0.05)


def test_a_gain_that_nothing_ties_to_the_load_is_not_told():
    """Two arms on one base: the load on the second says nothing of the first one's motor."""
    arm = appell.load("two-link").model
    second = replace(arm.bodies[1], parent=-1)
    robot = appell.load(replace(arm, bodies=(arm.bodies[0], second)))
    motion = Fourier([0.2, -0.8], [[0.9, 0.2], [0.3, -0.6]], [[0.1, 0.7], [0.4, 0.2]], 0.2)
    gains = found(robot, logs(robot, motion, 1), centre=CENTRE)
    assert np.isinf(gains.standard_errors[0])
    assert gains.rating == ("not identified", "well")


def test_a_mass_whose_lever_is_unknown_tells_little(lively):
    """The arm of the catalogue has a first link of 2 cm: how far out the load is, and how much, look alike."""
    robot = with_links(0.02)
    both = logs(robot, lively, 1, 0.3)
    vague, sharp = (found(robot, both, **x) for x in ({}, {"centre": CENTRE}))
    assert vague.rating == ("not identified",) * 2
    assert sharp.rating == ("well",) * 2


def test_the_table_has_gains_standard_errors_and_ratings(robot, lively):
    table = found(robot, logs(robot, lively, 1)).table()
    assert table.columns[1:3] == ("gain [N·m/A]", "standard error")
    assert [row[4] for row in table.rows] == ["well", "well"]


def test_a_log_without_currents_is_refused(robot, rubbing_log):
    with pytest.raises(InputError, match="has no currents"):
        drive_gains(robot, rubbing_log, rubbing_log, MASS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mass": 0.0}, "mass: expected a positive mass"),
        ({"mass": 1.0, "inertia": TENSOR}, "give centre="),
        ({"mass": 1.0, "centre": (1.0, 2.0)}, "centre: expected"),
        ({"mass": 1.0, "link": "hand"}, "unknown link 'hand'"),
        ({"mass": 1.0, "friction": "sticky"}, "unknown model 'sticky'"),
    ],
)
def test_a_load_that_makes_no_sense_is_refused(robot, lively, options, message):
    with pytest.raises(InputError, match=message):
        found(robot, logs(robot, lively, 1), **options)


def test_a_ur10e_tells_its_gains_to_a_few_percent(shared, ur_columns):
    """Against the maker's own, from the desired torques and currents in the same logs; the pan only by inertia."""
    folder = shared / "data" / "ur10e"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", appell.AppellWarning)
        robot = appell.load(folder / "ur10e.urdf")
    files = [folder / f"ur-20_02_19_14harm50sec{x}.csv" for x in ("", "Load")]
    gains = drive_gains(robot, files[0], files[1], 2.8, friction="full", columns=ur_columns, rate=25.0)
    assert np.all(np.abs(gains.gains / README - 1.0) < 0.08), gains
    assert np.argmax(gains.standard_errors / gains.gains) == 0
    assert gains.rating[0] == "roughly"
