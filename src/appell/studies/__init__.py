"""Parameter studies: a function over many cases, on threads, processes or a Dask cluster."""
