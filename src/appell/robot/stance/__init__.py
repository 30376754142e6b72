"""Robots that stand: frames held to the world, contact forces within friction cones."""
