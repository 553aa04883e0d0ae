"""What the correct implementations refuse, NumPy's and PyTorch's alike. A mutant leaves out one check by its name."""


def check(query, key, value, options, unchecked=()):
    """ValueError for malformed input."""
    for name, wrong in faults(query, key, value, options):
        if wrong and name not in unchecked:
            shapes = ", ".join(f"{tuple(array.shape)} {array.dtype}" for array in (query, key, value))
            raise ValueError(f"{name}: malformed, in attention({shapes})")


def faults(query, key, value, options):
    """(name, whether it is so); each may rely on those before it."""
    inputs, given = (query, key, value), {name: value for name, value in options.items() if value is not None}
    ranks, dtypes = {array.ndim for array in inputs}, {named(array) for array in inputs}
    yield "rank", len(ranks) > 1 or not ranks <= {2, 3, 4}
    q, k, v = ((1,) * (4 - array.ndim) + tuple(array.shape) for array in inputs)
    yield "batch", not q[0] == k[0] == v[0]
    yield "no_heads", k[1] == 0 < q[1]
    yield "heads", k[1] != v[1] or q[1] % max(k[1], 1) != 0
    yield "width", q[3] != k[3]
    yield "lengths", k[2] != v[2]
    yield "integers", any("float" not in name for name in dtypes)
    yield "dtypes", len(dtypes) > 1
    for name in given.keys() & {"mask", "bias"}:
        shape = tuple(given[name].shape)
        full = (*q[:3], k[2])[4 - len(shape) :]
        yield "mask_shape", len(shape) > query.ndim or any(a not in (1, b) for a, b in zip(shape, full, strict=False))
    yield "mask_dtype", "mask" in given and named(given["mask"]) != "bool"
    lead = tuple(query.shape[:-3])
    shapes = {"key_lengths": lead, "query_segments": (*lead, q[2]), "key_segments": (*lead, k[2])}
    for name in given.keys() & shapes.keys():
        family = "key_lengths" if name == "key_lengths" else "segments"
        yield family, tuple(given[name].shape) != shapes[name] or "int" not in named(given[name])
    yield "key_lengths", "key_lengths" in given and bool((given["key_lengths"] < 0).any())
    yield "segments", ("query_segments" in given) != ("key_segments" in given)
    yield "per_head", any(tuple(given[name].shape) != (q[1],) for name in given.keys() & {"sinks", "alibi_slopes"})
    yield "window", "window" in given and not pair(given["window"])


def named(array):
    return str(array.dtype).removeprefix("torch.")


def pair(window):
    return isinstance(window, tuple) and len(window) == 2 and all(isinstance(bound, int | None) for bound in window)
