"""Arrays of numpy, torch and scipy as numpy arrays, without a copy where type and layout fit."""
import numpy as np

from ._library import DataError, UsageError


def plain(value, name):
    """A numpy array of whatever holds numbers or strings: numpy, torch (detached, from any device), lists, series."""
    if value is None:
        return None
    if hasattr(value, "detach"):  # torch
        value = value.detach()
        if getattr(value, "is_sparse", False) or "sparse" in str(getattr(value, "layout", "")):
            raise UsageError(f"{name} is a sparse torch tensor; give a dense one or a scipy matrix")
        value = value.cpu()
        try:
            return value.numpy()
        except TypeError:  # bfloat16
            return value.float().numpy()
    try:
        made = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{name} is no array: {error}") from None
    if made.dtype == object and not all(isinstance(v, str) for v in made.ravel()):
        raise UsageError(f"{name} is no array of numbers: {type(value).__name__}")
    return made


def floats(value, name, ndim=2):
    """Contiguous float32 of `ndim` dimensions."""
    made = plain(value, name)
    if made.ndim != ndim:
        raise UsageError(f"{name} has {made.ndim} dimensions instead of {ndim}: its shape is {made.shape}")
    if made.dtype.kind not in "fiub":
        raise UsageError(f"{name} has values of type {made.dtype}, which are not real numbers")
    return np.ascontiguousarray(made, dtype=np.float32)


def integers(value, name, dtype=np.int32, ndim=1):
    """Contiguous integers; refuses values that are not whole or do not fit."""
    made = plain(value, name)
    if made.ndim != ndim:
        raise UsageError(f"{name} has {made.ndim} dimensions instead of {ndim}: its shape is {made.shape}")
    if made.dtype.kind not in "iuf" or (made.dtype.kind == "f" and made.size and not np.all(made == np.floor(made))):
        raise UsageError(f"{name} has values of type {made.dtype} that are not whole numbers")
    if made.size and made.dtype != dtype:
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        if made.min() < low or made.max() > high:
            raise DataError(f"{name} has values outside {low} to {high}")
    return np.ascontiguousarray(made, dtype=dtype)


def nodes_of(value, n, name):
    """Node numbers of a mask of n booleans, or of a list of numbers."""
    made = plain(value, name)
    if made is None:
        return None
    if made.ndim != 1:
        raise UsageError(f"{name} has {made.ndim} dimensions instead of 1: its shape is {made.shape}")
    if made.dtype == bool:
        if len(made) != n:
            raise UsageError(f"{name} has {len(made)} entries, but there are {n} nodes")
        return np.flatnonzero(made).astype(np.int32)
    numbers = integers(made, name)
    if numbers.size and (numbers.min() < 0 or numbers.max() >= n):
        raise DataError(f"{name} names node {int(numbers.min() if numbers.min() < 0 else numbers.max())}, "
                        f"but there are {n} nodes")
    return numbers


def address(array):
    """For a member of a structure; the caller keeps the array."""
    return None if array is None else array.ctypes.data
