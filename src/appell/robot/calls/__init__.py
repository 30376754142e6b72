"""From a verb to a result: programs are chosen and traced, compiled and called, or composed of other verbs."""
