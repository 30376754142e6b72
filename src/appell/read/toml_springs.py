"""Springs and elastic transmissions of a robot in appell's toml format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from appell.errors import ModelError
from appell.model.model import Model, Spring
from appell.model.springs import Elasticity, with_elastic_joints, with_springs
from appell.read.place import Place, check_keys
from appell.read.values import number, sequence, table, text

SPRING_KEYS = ("name", "joints", "stiffness", "damping", "reference")
ELASTICITY_KEYS = tuple(field.name for field in fields(Elasticity))


def sprung(model: Model, top: Mapping[str, object], place: Place) -> Model:
    """Return a model with the springs and elastic transmissions of a file."""
    joints = [(place.at("joints").at(i), entry) for i, entry in _listed(top, "joints", place)]
    elastic = {text(x["name"], at): _elasticity(x["elasticity"], at) for at, x in joints if "elasticity" in x}
    springs = [_spring(entry, place.at("springs").at(i)) for i, entry in _listed(top, "springs", place)]
    try:
        return with_springs(with_elastic_joints(model, elastic), springs)
    except ModelError as error:
        raise place.error(str(error)) from None


def _listed(top: Mapping[str, object], key: str, place: Place) -> list[tuple[int, Mapping[str, object]]]:
    entries = sequence(top.get(key, []), place.at(key))
    return [(i, table(entry, place.at(key).at(i))) for i, entry in enumerate(entries)]


def _elasticity(value: object, place: Place) -> Elasticity:
    here = place.at("elasticity")
    entries = table(value, here)
    check_keys(entries, ELASTICITY_KEYS, here, ("stiffness",))
    return Elasticity(**{key: number(x, here.at(key)) for key, x in entries.items()})


def _spring(entries: Mapping[str, object], place: Place) -> Spring:
    check_keys(entries, SPRING_KEYS, place, ("name", "joints"))
    joints = table(entries["joints"], place.at("joints"))
    stiffness, damping, reference = (number(entries.get(key, 0.0), place.at(key)) for key in SPRING_KEYS[2:])
    terms = tuple((name, number(c, place.at("joints").at(name))) for name, c in joints.items())
    return Spring(text(entries["name"], place.at("name")), terms, stiffness, damping, reference)
