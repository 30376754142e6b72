"""The verbs a user calls: validated once, then native code."""
