"""A tiny compiler front that knows no robotics: expressions, rules, tape, derivatives, counts, verification."""
