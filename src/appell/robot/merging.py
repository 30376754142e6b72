"""Robots made of others: joints locked, a robot attached to a frame, a subtree on its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from numpy.typing import ArrayLike

from appell.arguments import coordinates, joint_list, pose_of
from appell.errors import InputError
from appell.messages import shown
from appell.model import edit, merge
from appell.robot.editing import Editing
from appell.spatial.pose import Pose


class Merging(Editing):
    """Edits that change the joints of a robot. Robots are immutable: each method returns another robot."""

    def locked(self, joints: Mapping[str, ArrayLike] | Sequence[str]) -> Self:
        """Return the robot with some joints locked: they are removed from q and v, their links merge, all frames stay.

        Joints that follow a locked one are locked with it. For a robot with loops, these are closed near
        :meth:`neutral`, and independent velocities are chosen again.

        Parameters
        ----------
        joints
            The coordinates of the joints to lock, by name [rad, m], all of them for a joint of several coordinates. Or
            a list of names, locked at :meth:`neutral`.

        Returns
        -------
        Robot
            A robot without those joints.

        Raises
        ------
        InputError
            When a joint is unknown or its coordinates are invalid, and for every spherical robot in closed form.
        ModelError
            When the loops cannot be closed with those joints locked, or no joint is left.

        Examples
        --------
        >>> import appell
        >>> appell.load("puma560").locked({"joint4": 0.3, "joint6": 0.0}).joint_names
        ['joint1', 'joint2', 'joint3', 'joint5']
        """
        own = self.kind.settled
        q, at = self.neutral(), self.places("q")
        given = dict.fromkeys(joint_list("locked", joints)) if not isinstance(joints, Mapping) else joints
        chosen: dict[int, Any] = {}
        for name, value in given.items():
            i = edit.joint_of(own, name, "locked")
            mimic = own.bodies[i].joint.mimic
            if own.is_coupled and mimic is not None:
                raise InputError(f"locked: joint '{name}' follows joint '{mimic.joint}'; lock that one")
            chosen[i] = at[name]
            if value is not None:
                q[chosen[i]] = coordinates(f"locked: joint '{name}'", value, len(chosen[i]))
        q = self.configuration("locked", q)
        model = merge.locked(own, {i: tuple(q[places].tolist()) for i, places in chosen.items()})
        return self._rebuilt(model)

    def attached(self, other: Self, frame: str, pose: ArrayLike | None = None, *, prefix: str = "") -> Self:
        """Return this robot and another as one, the base of the other fixed to a frame of this one.

        Examples are an arm with its gripper, or two arms on a torso. The joints of the other robot come after those of
        the subtree that carries the frame; gravity is this robot's.

        Parameters
        ----------
        other
            The robot to attach.
        frame
            The frame of this robot that carries the other.
        pose
            The pose of its base in that frame, (4, 4), or its position alone, (3,) [m]; the identity by default.
        prefix
            Text that is put before all names of the other robot, such as "left_".

        Returns
        -------
        Robot
            Both robots as one.

        Raises
        ------
        InputError
            When both robots have a name in common (the message lists them), the frame is unknown, or one of the robots
            is a spherical robot in closed form.

        Examples
        --------
        >>> import appell
        >>> arm = appell.load("two-link")
        >>> both = arm.attached(arm, "link2", [0.5, 0.0, 0.0], prefix="second_")
        >>> both.joint_names
        ['joint1', 'joint2', 'second_joint1', 'second_joint2']
        """
        if not isinstance(other, type(self)):
            raise InputError(f"attached: expected a robot, got {type(other).__name__}; load one with appell.load")
        if not isinstance(prefix, str):
            raise InputError(f"attached: prefix: expected text such as 'left_', got {shown(prefix)}")
        place = Pose() if pose is None else pose_of("attached: pose", pose)
        model = merge.attached(self.kind.settled, other.kind.settled, frame, place, prefix)
        return self._rebuilt(model)

    def subtree(self, link: str) -> Self:
        """Return the subtree that a link carries, with the link as a fixed base at the origin of the world.

        Parameters
        ----------
        link
            The link; or a joint, whose subtree includes the joint itself, on the frame of its parent link.

        Returns
        -------
        Robot
            The part of the robot as a robot of its own.

        Raises
        ------
        InputError
            When the link or joint is unknown, or when a loop, a spring or a following joint connects the subtree to the
            rest of the robot.

        Examples
        --------
        >>> import appell
        >>> wrist = appell.load("puma560").subtree("link3")
        >>> wrist.joint_names
        ['joint4', 'joint5', 'joint6']
        """
        return self._rebuilt(merge.subtree(self.kind.settled, link))
