"""A small compiler front end, independent of robotics: expressions, rules, tape, derivatives, counts, verification."""
