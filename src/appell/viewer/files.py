"""Where the mesh files that a URDF names are on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote, urlparse

VARIABLES = {"ROS_PACKAGE_PATH": "", "AMENT_PREFIX_PATH": "share"}
"""Variables with folders of packages, and where the packages are in each."""


class Finder:
    """Finds files for one URDF: in the folders given, in its own folder and those above it, and where ROS looks.

    >>> Finder(Path("robot.urdf")).find("package://nowhere/arm.stl") is None
    True
    """

    def __init__(self, urdf: Path, packages: Iterable[str | os.PathLike[str]] = ()) -> None:
        self._home = urdf.resolve().parent
        above = [self._home, *self._home.parents]
        self._roots = [*(Path(folder).expanduser().resolve() for folder in packages), *above, *_of_ros()]

    def find(self, name: str) -> Path | None:
        """Return the file of a name such as ``package://arm/meshes/hand.stl``; None where there is none.

        Nothing is fetched over a network.
        """
        return next((place for place in self._candidates(name) if _is_file(place)), None)

    def _candidates(self, name: str) -> Iterator[Path]:
        scheme, _, rest = name.partition("://")
        if scheme in ("package", "model") and rest:
            package, _, inside = unquote(rest).partition("/")
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


def _is_file(place: Path) -> bool:
    try:
        return place.is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


def _of_ros() -> Iterator[Path]:
    for variable, inside in VARIABLES.items():
        for folder in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            yield Path(folder, inside)
