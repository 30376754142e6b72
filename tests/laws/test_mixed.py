"""The mixed 3×3 and 4×4 form of shafei2018: the same forces, matrices and accelerations as the tree recursion."""

from __future__ import annotations

import numpy as np
import pytest

import appell
from appell.model import manifold
from appell.read.catalogue import read
from appell.recursion import gibbs, inertia_matrix, mixed
from appell.robot.verbs.table import VERBS
from tests.support.kinds import program

KINDS = ("revolute", "prismatic", "helical", "cylindrical", "planar", "ball", "free")


def _floating(tree, seed, kind):
    rng = np.random.default_rng(seed)
    model = tree(rng, [(kind, int(back)) for back in rng.integers(0, 4, 6)], has_friction=True).floating()
    q = manifold.random(model, rng, ())
    return model, q, rng.normal(size=model.nv), rng.normal(size=model.nv)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_trees_on_a_floating_base_take_the_forces_of_the_tree_recursion(kind, seed, tree, evaluate, agree):
    model, q, v, a = _floating(tree, seed, kind)
    agree(
        evaluate(mixed.inverse_dynamics, model, q, v, a), evaluate(gibbs.inverse_dynamics, model, q, v, a), within=1e-14
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_trees_on_a_floating_base_have_the_matrix_of_the_tree_recursion(kind, seed, tree, evaluate, agree):
    model, q, _, _ = _floating(tree, seed, kind)
    expected = evaluate(inertia_matrix.mass_matrix_gibbs, model, q)
    agree(evaluate(mixed.mass_matrix, model, q), expected, within=1e-14)


@pytest.mark.parametrize("seed", range(3))
def test_forces_lead_back_to_the_accelerations_they_come_from(seed, tree, evaluate, agree):
    model, q, v, a = _floating(tree, seed, "revolute")
    tau = evaluate(mixed.inverse_dynamics, model, q, v, a)
    agree(evaluate(program("forward_dynamics", "mixed"), model, q, v, tau), a, within=1e-10)
    agree(evaluate(program("forward_dynamics", "gibbs"), model, q, v, tau), a, within=1e-10)


def test_every_body_has_its_mass_on_one_branch(tree):
    model = tree(np.random.default_rng(3), 20)
    parts = mixed.branches(model)
    assert sorted(i for branch in parts for i in branch.own) == list(range(20))
    assert all(branch.tip in branch.own for branch in parts)
    assert {branch.tip for branch in parts}.isdisjoint(body.parent for body in model.bodies)


def test_the_papers_tree_has_the_papers_branches():
    model = read("shafei-tree")
    chains = [sorted(i - 1 for i in model.ancestors(branch.tip) if i > 1) for branch in mixed.branches(model)]
    own = [sorted(i - 1 for i in branch.own if i > 1) for branch in mixed.branches(model)]
    assert chains == [[1, 2, 3, 4], [1, 2, 5, 6, 7], [1, 2, 5, 8], [1, 2, 5, 9, 10]]
    assert own == [[1, 2, 3, 4], [5, 6, 7], [8], [9, 10]]


@pytest.mark.parametrize("verb", ["inverse_dynamics", "forward_dynamics", "mass_matrix"])
def test_the_verbs_know_the_mixed_form(verb, agree):
    robot = appell.load("shafei-tree")
    rng = np.random.default_rng(5)
    arguments = [tuple(rng.normal(size=12)) for _ in VERBS[verb].inputs]
    ours, other = (robot.tape(verb, formulation=name).run(*arguments) for name in ("mixed", "gibbs"))
    agree(ours, other, within=1e-12)
