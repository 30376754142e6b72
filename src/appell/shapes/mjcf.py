"""The geometry of an MJCF file, from MuJoCo's compiled model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from appell.errors import ReadError
from appell.model.model import Model
from appell.read.compiled import compile_mjcf, import_mujoco, names_of
from appell.read.place import contents
from appell.shapes.files import Finder
from appell.shapes.geometry import matrix
from appell.shapes.meshes import Outfit, Piece, outside_remark, solid
from appell.shapes.visuals import Colour, Visual
from appell.spatial.pose import Pose
from appell.spatial.rotation import from_quaternion

SHOWN = 3
"""Geoms of groups below this are seen; those from here on, by custom, only collide."""


def mjcf_outfit(model: Model, path: Path, finder: Finder, *, of_collisions: bool = False) -> Outfit:
    """Return the pieces of an MJCF file's geoms: primitives and meshes, planes and height fields left out.

    The geoms are those of visible groups, or, `of_collisions`, those that MuJoCo tests for collision.
    There are none where the file names files outside of the finder's folders: mujoco would read them.
    """
    given = contents(path)
    try:
        mujoco = import_mujoco(given.source)
        if outside := _outside(mujoco, path, finder):
            return Outfit([], set(), [outside_remark(outside)])
        compiled, _ = compile_mjcf(mujoco, given, path)
        names = names_of(mujoco, compiled, given.source).bodies
    except ReadError as error:
        return Outfit([], set(), [f"{error}; the robot is drawn without its shapes"])
    collide = (compiled.geom_contype | compiled.geom_conaffinity) != 0
    chosen = np.flatnonzero(collide if of_collisions else compiled.geom_group < SHOWN).tolist()
    if not chosen and not of_collisions:
        chosen = list(range(compiled.ngeom))
    pieces = []
    for g in chosen:
        frame = model.frame_index.get(names[compiled.geom_bodyid[g]])
        if frame is None:
            continue
        w, x, y, z = compiled.geom_quat[g].tolist()
        pose = matrix(*frame.placement) @ matrix(from_quaternion(x, y, z, w), compiled.geom_pos[g])
        for vertices, faces in _shapes(mujoco, compiled, g):
            pieces.append(Piece(frame.body, vertices @ pose[:3, :3].T + pose[:3, 3], faces, _colour(compiled, g)))
    return Outfit(pieces, set(), [])


def _outside(mujoco: Any, path: Path, finder: Finder) -> list[str]:
    """Return the files of meshes, height fields and textures that are outside of the folders."""
    try:
        spec = mujoco.MjSpec.from_file(str(path))
    except ValueError:  # the compiler gives the error with its line
        return []
    named = [(spec.meshdir, asset.file) for asset in (*spec.meshes, *spec.hfields)]
    named += [(spec.texturedir, asset.file) for asset in spec.textures]
    places = (finder.outside(str(Path(folder, file))) for folder, file in named if file)
    return [str(place) for place in places if place is not None]


def _shapes(mujoco: Any, compiled: Any, g: int) -> Iterator[tuple[Any, Any]]:
    kinds, size = mujoco.mjtGeom, compiled.geom_size[g].tolist()
    solids = {
        kinds.mjGEOM_SPHERE: ("sphere", (size[0],)),
        kinds.mjGEOM_ELLIPSOID: ("sphere", (1.0,)),
        kinds.mjGEOM_CAPSULE: ("capsule", (size[0], 2.0 * size[1])),
        kinds.mjGEOM_CYLINDER: ("cylinder", (size[0], 2.0 * size[1])),
        kinds.mjGEOM_BOX: ("box", tuple(2.0 * x for x in size)),
    }
    kind = mujoco.mjtGeom(compiled.geom_type[g])
    if kind in solids:
        vertices, faces = solid(Visual("", Pose(), *solids[kind]))
        yield vertices * (size if kind == kinds.mjGEOM_ELLIPSOID else 1.0), faces
    elif kind == kinds.mjGEOM_MESH:
        m = compiled.geom_dataid[g]
        first, start = compiled.mesh_vertadr[m], compiled.mesh_faceadr[m]
        yield (
            np.array(compiled.mesh_vert[first : first + compiled.mesh_vertnum[m]], dtype=float),
            np.array(compiled.mesh_face[start : start + compiled.mesh_facenum[m]]),
        )


def _colour(compiled: Any, g: int) -> Colour:
    material = compiled.geom_matid[g]
    red, green, blue, opacity = (compiled.geom_rgba[g] if material < 0 else compiled.mat_rgba[material]).tolist()
    return (red, green, blue, opacity)
