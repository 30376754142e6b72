"""Shapes to triangles: files by trimesh, boxes and their like by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy

from appell.arguments import LARGEST
from appell.extras import extra, is_installed
from appell.messages import listed
from appell.model.model import WORLD, Model
from appell.shapes.files import Finder
from appell.shapes.geometry import disc, matrix
from appell.shapes.visuals import Colour, Looks, Visual
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


def outfit(model: Model, looks: Looks, finder: Finder) -> Outfit:
    """Return the pieces of a model's links.

    Where a link's visual meshes cannot be had, those that it collides with are drawn instead, and where these fail too,
    the body is bare.
    """
    loader = _Loader(finder)
    remarks = list(looks.remarks)
    pieces: list[Piece] = []
    bare: set[int] = set()
    links = dict.fromkeys(visual.link for visual in (*looks.visuals, *looks.collisions))
    has_visuals = bool(looks.visuals)
    for link in links:
        frame = model.frame_index.get(link)
        if frame is None:
            continue
        drawn: list[Piece] = []
        wanted = [visual for visual in looks.visuals if visual.link == link]
        for visual in wanted:
            drawn += loader.pieces(visual, frame.body, matrix(*frame.placement))
        if not drawn and (wanted or not has_visuals):
            for visual in (visual for visual in looks.collisions if visual.link == link):
                drawn += loader.pieces(visual, frame.body, matrix(*frame.placement))
        if not drawn and frame.body != WORLD:
            bare.add(frame.body)
        pieces += drawn
    return Outfit(pieces, bare - {piece.body for piece in pieces}, [*remarks, *loader.remarks()])


class _Loader:
    """Reads every file once, and remembers failures."""

    def __init__(self, finder: Finder) -> None:
        self._finder = finder
        self._read: dict[Path, list[tuple[Array, Array, Colour | None]]] = {}
        self._missing: list[str] = []
        self._outside: list[str] = []
        self._broken: list[str] = []
        self._needs_collada: list[str] = []

    def pieces(self, visual: Visual, body: int, frame: Array) -> list[Piece]:
        """Return the pieces of one shape on a body, where the link's frame is."""
        pose = frame @ matrix(*visual.placement)
        parts = self._file(visual.file) if visual.kind == "mesh" else [(*solid(visual), None)]
        factors = np.array(visual.sizes) if visual.kind == "mesh" else np.ones(3)
        result = []
        for vertices, faces, own in parts:
            # a mirror image has its facets inside out
            turned = faces[:, ::-1] if np.prod(factors) < 0.0 else faces
            placed = (vertices * factors) @ pose[:3, :3].T + pose[:3, 3]
            result.append(Piece(body, placed, turned, visual.colour or own or PLAIN))
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
            remarks.append(outside_remark(self._outside))
        if self._needs_collada:
            remarks.append(
                f"meshes not read: {listed(self._needs_collada)}; .dae files need pycollada: pip install pycollada"
            )
        if self._broken:
            remarks.append(f"meshes not read: {listed(self._broken)}; expected {listed(KNOWN)} with triangles in it")
        return remarks

    def _file(self, name: str) -> list[tuple[Array, Array, Colour | None]]:
        place = self._finder.find(name)
        if place is None:
            refused = self._finder.outside(name)
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


def outside_remark(files: list[str]) -> str:
    """Return the remark on files that are not read, since they are outside of all folders."""
    return (
        f"meshes not read: {listed(files)}; outside the folder of the robot: name their folder with packages "
        "(--packages) if you trust the file"
    )


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


def solid(visual: Visual) -> tuple[Array, Array]:
    """Return vertices and faces of a box, cylinder, capsule or sphere about its own origin."""
    creation, sizes = import_trimesh().creation, visual.sizes
    if visual.kind == "box":
        mesh = creation.box(extents=sizes)
        mesh.unmerge_vertices()
    elif visual.kind == "sphere":
        mesh = creation.icosphere(subdivisions=3, radius=sizes[0])
    elif visual.kind == "capsule":
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
