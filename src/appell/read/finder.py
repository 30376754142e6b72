"""Where the mesh files that a robot's file names are on this machine."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote, urlparse

from appell.read.packages import ros_folders

INSIDE = ("urdf", "robots")
"""Folders of a package that hold the files of robots, by the custom of ROS."""


class Finder:
    """Finds files for one robot's file: in the folders given, in the folder of the robot, and where ROS looks.

    The folder of the robot is that of its package, which has a ``package.xml``; without one it is the folder of the
    file, or the folder above where that is called ``urdf`` or ``robots``. Files elsewhere are not read, whether
    they are named by ``..``, by an absolute path or by a symbolic link.

    >>> Finder(Path("robot.urdf")).find("package://nowhere/arm.stl") is None
    True
    """

    def __init__(self, urdf: Path, packages: Iterable[str | os.PathLike[str]] = ()) -> None:
        self._home = urdf.resolve().parent
        above = [self._home, *self._home.parents]
        marked = (k for k, folder in enumerate(above) if (folder / "package.xml").is_file())
        top = next(marked, int(self._home.name in INSIDE))
        given = (Path(folder).expanduser().resolve() for folder in packages)
        self._roots = [*given, *above[: top + 1], *(folder.resolve() for folder in ros_folders())]

    def find(self, name: str) -> Path | None:
        """Return the file of a name such as ``package://arm/meshes/hand.stl``; None where there is none to be read.

        Nothing is fetched over a network.
        """
        return next((place for place in self._files(name) if self._may_read(place)), None)

    def outside(self, name: str) -> Path | None:
        """Return the file of a name that :meth:`find` refuses, since it is outside all folders; None for others."""
        return None if self.find(name) else next(self._files(name), None)

    def _may_read(self, place: Path) -> bool:
        return any(place.is_relative_to(root) for root in self._roots)

    def _files(self, name: str) -> Iterator[Path]:
        """Yield the files that a name may mean, with symbolic links resolved."""
        for place in self._candidates(name):
            with contextlib.suppress(
                OSError, ValueError, RuntimeError
            ):  # a name that no file can have, a ring of links
                if place.is_file():
                    yield place.resolve()

    def _candidates(self, name: str) -> Iterator[Path]:
        scheme, _, rest = name.partition("://")
        if scheme in ("package", "model") and rest:
            package, _, inside = unquote(rest).lstrip("/").partition("/")
            for root in self._roots:
                yield root / package / inside
                if root.name == package:
                    yield root / inside
        elif scheme == "file" and rest:
            yield Path(unquote(urlparse(name).path))
        elif not rest:
            yield self._home / name.replace("\\", "/")
            for root in self._roots:
                yield root / name.replace("\\", "/")
