"""The model of a robot: bodies, joints, frames and inertial parameters; immutable, parents first."""
