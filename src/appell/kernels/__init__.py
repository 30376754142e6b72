"""From a tape to code: native loops for batches, and the calls that reach them."""
