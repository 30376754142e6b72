"""Shapes to triangles: files and primitives by trimesh, cylinders by hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy

from appell.arguments import LARGEST
from appell.extras import extra, is_installed
from appell.messages import listed
from appell.model.model import WORLD, Model
from appell.model.shapes import COLLISION, USES, VISUAL, Colour, Shape
from appell.read.finder import Finder
from appell.shapes.geometry import disc, matrix
from appell.spatial.pose import Pose
from appell.spatial.scalar import Array

KNOWN = (".stl", ".obj", ".dae", ".ply", ".glb", ".gltf", ".off")
"""Files that trimesh reads, .dae where pycollada is installed."""
PLAIN: Colour = (0.72, 0.74, 0.77, 1.0)
"""The colour of what has none: light grey."""
CREASE = np.radians(30.0)
"""Facets that meet at more than this angle meet in an edge, at less in a rounding."""


class Piece(NamedTuple):
    """Triangles on a body: which body (or `WORLD`), vertices in its frame, faces, and colour."""

    body: int
    vertices: Array
    faces: Array
    colour: Colour = PLAIN


class Outfit(NamedTuple):
    """What a robot is drawn with: pieces, the bodies that should have some and have none, and remarks."""

    pieces: list[Piece]
    bare: set[int]
    remarks: list[str]


def outfit(model: Model, shapes: Sequence[Shape], folders: Iterable[Path] = ()) -> Outfit:
    """Return the pieces of shapes of a model's links; meshes in the folders are read too.

    Where a link's visual shapes cannot be had, those that it collides with are drawn instead, and where these fail too,
    the body is bare.
    """
    loader = _Loader(folders)
    by_link: dict[str, dict[str, list[Shape]]] = {}
    for shape in shapes:
        if shape.link in model.frame_index:
            by_link.setdefault(shape.link, {use: [] for use in USES})[shape.use].append(shape)
    has_visuals = any(own[VISUAL] for own in by_link.values())
    pieces: list[Piece] = []
    bare: set[int] = set()
    for link, own in by_link.items():
        drawn = [piece for shape in own[VISUAL] for piece in loader.pieces(shape, *model.seat(shape))]
        if not drawn and (own[VISUAL] or not has_visuals):
            drawn = [piece for shape in own[COLLISION] for piece in loader.pieces(shape, *model.seat(shape))]
        if not drawn:
            bare.add(model.frame_index[link].body)
        pieces += drawn
    return Outfit(pieces, bare - {WORLD, *(piece.body for piece in pieces)}, loader.remarks())


class _Loader:
    """Reads every file once, and remembers failures."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self._folders = list(folders)
        self._finders: dict[str, Finder] = {}
        self._read: dict[Path, list[tuple[Array, Array, Colour | None]]] = {}
        self._missing: list[str] = []
        self._outside: list[str] = []
        self._broken: list[str] = []
        self._needs_collada: list[str] = []

    def pieces(self, shape: Shape, body: int, placement: Pose) -> list[Piece]:
        """Return the pieces of one shape at a pose on a body."""
        pose, is_mesh = matrix(*placement), shape.kind == "mesh"
        parts = self._file(shape) if is_mesh else [(*solid(shape), None)]
        factors = np.array(shape.sizes) if is_mesh else np.ones(3)
        result = []
        for vertices, faces, own in parts:
            # a mirror image has its facets inside out
            turned = faces[:, ::-1] if np.prod(factors) < 0.0 else faces
            placed = (vertices * factors) @ pose[:3, :3].T + pose[:3, 3]
            result.append(Piece(body, placed, turned, shape.colour or own or PLAIN))
        return result

    def remarks(self) -> list[str]:
        """Return the failures with their remedies."""
        remarks = []
        if self._missing:
            remarks.append(
                f"meshes not found: {listed(self._missing)}; name the folder that holds their package with packages "
                "(--packages)"
            )
        if self._outside:
            remarks.append(
                f"meshes not read: {listed(self._outside)}; outside the folder of the robot: name their folder with "
                "packages (--packages) if you trust the file"
            )
        if self._needs_collada:
            remarks.append(
                f"meshes not read: {listed(self._needs_collada)}; .dae files need pycollada: pip install pycollada"
            )
        if self._broken:
            remarks.append(f"meshes not read: {listed(self._broken)}; expected {listed(KNOWN)} with triangles in it")
        return remarks

    def _file(self, shape: Shape) -> list[tuple[Array, Array, Colour | None]]:
        name = shape.file
        finder = self._finders.setdefault(shape.source, Finder(Path(shape.source), self._folders))
        place = finder.find(name)
        if place is None:
            refused = finder.outside(name)
            _note(*((self._missing, name) if refused is None else (self._outside, str(refused))))
            return []
        if place not in self._read:
            self._read[place] = self._loaded(place)
        return self._read[place]

    def _loaded(self, place: Path) -> list[tuple[Array, Array, Colour | None]]:
        trimesh = import_trimesh()
        if place.suffix.lower() == ".dae" and not _has_collada():
            _note(self._needs_collada, place.name)
            return []
        try:
            with np.errstate(all="ignore"):
                parts = trimesh.load_scene(place).dump() if place.suffix.lower() in KNOWN else []
                found = [_part(part) for part in parts if len(getattr(part, "faces", ()))]
        except Exception:  # trimesh's readers raise whatever a broken file makes them stumble over
            found = []
        if not all(x.ndim == 2 and x.shape[1] == 3 and (np.abs(x) < LARGEST).all() for x, *_ in found):
            found = []
        if not found:
            _note(self._broken, place.name)
        return found


def _part(mesh: Any) -> tuple[Array, Array, Colour | None]:
    """Return vertices and faces of a mesh, its vertices split where it has an edge, and its colour.

    The page shades by a mean normal a vertex, so that facets which share one look rounded.
    """
    mesh.merge_vertices(merge_tex=True, merge_norm=True)
    faces = np.asarray(mesh.faces)
    smooth = mesh.face_adjacency[mesh.face_adjacency_angles < CREASE]
    links = scipy.sparse.coo_array((np.ones(len(smooth), dtype=bool), smooth.T), shape=(len(faces), len(faces)))
    patch = scipy.sparse.csgraph.connected_components(links, directed=False)[1]
    corners = faces.astype(np.int64) * (int(patch.max()) + 1) + patch[:, None]
    kept, place = np.unique(corners, return_inverse=True)
    vertices = np.asarray(mesh.vertices)[kept // (int(patch.max()) + 1)]
    return vertices, place.reshape(faces.shape), _colour(mesh)


def _colour(mesh: Any) -> Colour | None:
    """Return the one colour of a mesh; None where its file has none."""
    material = getattr(mesh.visual, "material", None)
    if material is not None and hasattr(material, "main_color"):
        rgba = np.asarray(material.main_color, dtype=float) / 255.0
        if hasattr(material, "baseColorFactor"):
            rgba[:3] **= 1.0 / 2.2  # of glTF and COLLADA, an amount of light
    elif mesh.visual.kind in ("face", "vertex"):
        rgba = np.asarray(mesh.visual.main_color, dtype=float) / 255.0
    else:
        return None
    red, green, blue, opacity = rgba.tolist()
    return (red, green, blue, opacity)


def solid(shape: Shape) -> tuple[Array, Array]:
    """Return vertices and faces of a primitive about its own origin."""
    creation, sizes = import_trimesh().creation, shape.sizes
    if shape.kind == "box":
        mesh = creation.box(extents=sizes)
        mesh.unmerge_vertices()
    elif shape.kind in ("sphere", "ellipsoid"):
        mesh = creation.icosphere(subdivisions=3)
        mesh.apply_scale(sizes)
    elif shape.kind == "capsule":
        mesh = creation.capsule(radius=sizes[0], height=sizes[1], count=(24, 24))
        mesh.apply_translation((0.0, 0.0, -mesh.bounds.mean(axis=0)[2]))
    else:
        vertices, faces = disc()
        return vertices * [sizes[0], sizes[0], sizes[1]], faces
    return np.asarray(mesh.vertices), np.asarray(mesh.faces)


def _note(names: list[str], name: str) -> None:
    if name not in names:
        names.append(name)


def _has_collada() -> bool:
    return is_installed("collada")


def import_trimesh() -> Any:
    """Return the trimesh package, an extra."""
    return extra("trimesh", "view: meshes need")
