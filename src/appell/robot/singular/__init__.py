"""Singular mass matrices: a bound that excludes them, samples near one recomputed, the joints that cause them."""
