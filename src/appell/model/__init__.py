"""What a robot is: bodies, joints, frames and inertial parameters; frozen, parent first."""
