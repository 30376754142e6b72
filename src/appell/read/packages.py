"""Locations of robot files: ``~``, ``package://``, ROS packages by name, and names of robot_descriptions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from appell.errors import InputError, ReadError, warn
from appell.extras import extra, is_installed
from appell.files import as_path, is_file, shortened
from appell.messages import alternatives, shown
from appell.read.xml import elements, tag

VARIABLES = {"ROS_PACKAGE_PATH": "", "AMENT_PREFIX_PATH": "share"}
"""Environment variables with folders of packages, and the subfolder of packages in each."""
SCHEME = "package://"
MANIFEST = "package.xml"

Folders = Iterable[str | os.PathLike[str]]


def ros_folders() -> Iterator[Path]:
    """Yield the folders in which ROS searches for packages."""
    for variable, inside in VARIABLES.items():
        for folder in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            yield Path(folder, inside)


def package_folders(packages: Folders) -> list[Path]:
    """Return the folders of the argument `packages`.

    >>> package_folders(["no/such/folder"])
    Traceback (most recent call last):
    ...
    appell.errors.InputError: packages: no such folder 'no/such/folder'; expected a folder of ROS packages
    """
    if isinstance(packages, str | os.PathLike):
        packages = [packages]
    folders = [as_path(folder, "packages") for folder in packages]
    for folder in folders:
        if not folder.is_dir():
            raise InputError(f"packages: no such folder '{folder}'; expected a folder of ROS packages")
    return folders


def find_package(name: str, packages: Iterable[Path], file: Path) -> Path | None:
    """Return the folder of a ROS package: among `packages`, in the search path of ROS, and in the folders above a file.

    A folder is the package if it has its name, or a ``package.xml`` with that name. Packages are the given folders or
    inside them, in those of ROS, and next to or above the file. Otherwise a folder above the file is used whose name
    begins with the package's or vice versa, as in ``ur5_description`` for ``ur5``.
    """
    above = list(file.resolve().parents)[:-1]
    for root in (*packages, *ros_folders(), *above):
        for place in (root, root / name):
            if (place.name == name or _manifest_name(place) == name) and place.is_dir():
                return place
    alike = [place for place in above if place.name.startswith(name) or name.startswith(f"{place.name}_")]
    if alike:
        warn(f"{shortened(file)}: package '{name}' not found; using folder '{alike[0]}' above the file")
    return alike[0] if alike else None


def _manifest_name(folder: Path) -> str:
    manifest = folder / MANIFEST
    if not is_file(manifest) or manifest.stat().st_size > 2**20:
        return ""
    names = (element.text for element in elements(manifest.read_bytes()) if tag(element) == "name")
    return next((text.strip() for text in names if text), "")


def located(given: object, packages: Iterable[Path]) -> Path:
    """Return a path with ``~`` and ``package://`` resolved.

    Raises
    ------
    ReadError
        When the package is not found.

    >>> located("package://no_such_package/arm.urdf", [])
    Traceback (most recent call last):
    ...
    appell.errors.ReadError: package://no_such_package/arm.urdf: package 'no_such_package' not found; pass its folder in
    packages=[…], or set ROS_PACKAGE_PATH
    """
    text = os.fspath(given) if isinstance(given, str | os.PathLike) else given
    if not isinstance(text, str) or not text.startswith(SCHEME):
        return as_path(given, "load")
    name, _, inside = text.removeprefix(SCHEME).partition("/")
    folder = find_package(name, packages, Path("here"))
    if folder is None:
        raise ReadError(f"package '{name}' not found; {PACKAGES_REMEDY}", text)
    return folder / inside


PACKAGES_REMEDY = "pass its folder in packages=[…], or set ROS_PACKAGE_PATH"


class Description(NamedTuple):
    """A robot of the package robot_descriptions: its file, its xacro arguments and the packages that its file uses."""

    path: Path
    xacro: Mapping[str, str] | None = None
    packages: tuple[Path, ...] = ()


def description(name: str) -> Description | None:
    """Return the file of a name of robot_descriptions such as "panda_description", or None where it is not installed.

    The package clones the robot's repository with git, unless its cache has it.

    Raises
    ------
    InputError
        When the robot is unknown or cannot be fetched; the message lists similar names.
    """
    if not name.endswith("_description") or not is_installed("robot_descriptions"):
        return None
    known = list(extra("robot_descriptions", "names of robots need").DESCRIPTIONS)
    if name not in known:
        raise InputError(f"load: robot_descriptions has no {shown(name)}; {alternatives(name, known)}")
    try:
        module = extra(f"robot_descriptions.{name}", "names of robots need")
    except Exception as error:  # errors of git, the network or the disk
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(
            f"load: robot_descriptions could not fetch '{name}': {reason}; check git and the network"
        ) from None
    for attribute in ("URDF_PATH", "XACRO_PATH", "MJCF_PATH"):
        if path := getattr(module, attribute, None):
            if attribute != "XACRO_PATH":
                return Description(Path(path))
            others = getattr(module, "XACRO_PACKAGE_PATHS", {}).values()
            own = [folder for key in ("PACKAGE_PATH",) if (folder := getattr(module, key, None))]
            return Description(Path(path), getattr(module, "XACRO_ARGS", {}), tuple(map(Path, (*own, *others))))
    raise InputError(f"load: '{name}' of robot_descriptions has neither a URDF nor an MJCF file")
