"""Operation counts: which formulation won, and that the choice is made once per machine."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import appell
from appell.errors import InputError
from appell.robot.calls import compile
from appell.robot.kind import FILE, Competitor
from tests.support.pool import OF_EACH_KIND, pool


def total(count):
    return count.multiplications + count.additions


@pytest.mark.parametrize("verb", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity"])
def test_the_count_names_a_competitor_and_is_its_count(short, verb):
    count = short.operations(verb)
    assert Competitor(count.formulation, count.variant) in short.kind.competitors(verb)
    assert count.formulation in short.formulations(verb)


@pytest.mark.parametrize("verb", ["inverse_dynamics", "forward_dynamics", "mass_matrix"])
def test_a_formulation_asked_for_is_counted_on_the_files_frames(short, verb):
    for name in short.formulations(verb):
        count = short.operations(verb, name)
        assert (count.formulation, count.variant) == (name, FILE)


@pytest.mark.parametrize("verb", ["inverse_dynamics", "mass_matrix", "gravity"])
def test_the_winner_costs_no_more_than_any_formulation_on_the_files_frames(short, verb):
    best = compile.cost(short.tape(verb))
    for name in short.formulations(verb):
        assert best <= compile.cost(short.tape(verb, formulation=name))


def test_forward_dynamics_of_the_papers_tree_beats_every_single_formulation():
    robot = appell.load("shafei-tree")
    best = robot.operations("forward_dynamics")
    counts = {name: robot.operations("forward_dynamics", name) for name in robot.formulations("forward_dynamics")}
    assert best.formulation in counts
    assert all(total(best) < total(count) for count in counts.values())


def test_the_verbs_of_one_computation_share_its_formulation(short):
    for verb in ("forward_dynamics_loaded", "motion"):
        ours, chosen = short.operations(verb), short.operations("forward_dynamics")
        assert (ours.formulation, ours.variant) == (chosen.formulation, chosen.variant)


@pytest.mark.parametrize("verb", ["pose", "jacobian", "wrench_forces"])
def test_a_verb_about_a_frame_is_not_counted(short, verb):
    with pytest.raises(InputError, match=rf"operations: '{verb}' needs a frame; verbs that can be"):
        short.operations(verb)


@pytest.mark.parametrize("name", OF_EACH_KIND)
def test_guards_are_not_counted(name):
    robot = pool(name)
    program = robot.program("gravity")
    if name not in ("screws", "hand"):
        assert program.guards
    count = robot.operations("gravity")
    assert total(count) <= len(robot.tape("gravity").steps)


# The choice is kept

COUNTED = """
import sys, appell
from appell.robot.calls import compile
traced = []
plain = compile.traced
def watched(kind, key, formulation, *others, **options):
    traced.append(key.verb)
    return plain(kind, key, formulation, *others, **options)
compile.traced = watched
robot = appell.load(sys.argv[1])
print(robot.operations(sys.argv[2])[-2:], len(traced))
robot.kernel(sys.argv[2])
print(len(traced))
"""


def counted(folder, name, verb):
    """Return the choice that another process makes, how many programs it traced for it, and with the kernel made."""
    environment = {**os.environ, "APPELL_CACHE": str(folder)}
    command = [sys.executable, "-c", COUNTED, name, verb]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    choice, _, count = first.rpartition(" ")
    return choice, int(count), int(second)


@pytest.mark.parametrize(("name", "verb"), [("puma560", "forward_dynamics"), ("five-bar", "inverse_dynamics")])
def test_a_second_process_traces_no_competitors(name, verb, tmp_path):
    choice, traced, made = counted(tmp_path, name, verb)
    kind = appell.load(name).kind
    assert traced >= len(kind.competitors(verb)) > 3
    assert made > traced  # the program itself, with its guards
    again, traced, made = counted(tmp_path, name, verb)
    assert again == choice
    assert (traced, made) == (1, 1)  # the one that is counted; its code comes from the cache
