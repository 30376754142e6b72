"""The logs of a real UR10e: what a fit of one of them says of the others."""

import numpy as np
import pytest

import appell
from appell.identification.identify import identify

GAINS = [11.976, 11.976, 9.8386, 10.763, 10.763, 10.763]  # N·m/A, from the data's own description


@pytest.fixture(scope="module")
def folder(shared):
    return shared / "data" / "ur10e"


@pytest.fixture(scope="module")
def fit(folder):
    robot = appell.load(folder / "ur10e.urdf")
    return identify(
        robot, folder / "ur-20_02_19_14harm50sec.csv", columns="t=0,q=1:7,v=7:13,current=13:19", gains=GAINS
    )


@pytest.mark.parametrize("name", ["ur-20_02_10-30sec_12harm.csv", "ur-20_02_19_15harm50sec.csv"])
def test_a_fit_of_one_log_predicts_moving_logs_it_has_not_seen(name, fit, folder):
    assert fit.predict(folder / name).score < 0.039


def test_all_bodies_are_possible(fit):
    assert fit.is_physical


def test_the_arm_has_forty_base_parameters_with_rotors(fit):
    assert fit.base.n == 40


@pytest.mark.parametrize("name", ["ur-20_02_19_14harm50secLoad.csv", "ur-20_02_19_15harm50secLoad.csv"])
def test_the_load_is_weighed_within_three_percent(name, fit, folder):
    assert abs(fit.payload(folder / name).mass - 2.8) < 0.03 * 2.8


def test_static_poses_are_held_by_gravity_and_less_friction_than_at_speed(fit, folder):
    found = fit.settings.prepared(folder / "ur-20_01_17-p1.csv", fit.problem)
    gravity = fit.robot.gravity(found.q)
    still = np.abs(found.v).max(axis=1) < 1e-3
    coulomb = fit.simple_friction[0]
    assert still.any()
    assert np.mean(np.abs((found.tau - gravity)[still]) < 1.5 * coulomb) > 0.95
