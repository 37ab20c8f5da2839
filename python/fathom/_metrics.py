"""Over-smoothing of any embeddings."""
from __future__ import annotations

import ctypes
import math

import numpy as np

from . import _arrays
from ._device import Device, device_of
from ._library import DataError, UsageError, check, library

NAMES = ("instance_information_gain", "group_distance_ratio", "intra_group_distance", "inter_group_distance",
         "dirichlet_energy", "dirichlet_energy_mean", "mean_average_distance")


def metrics_struct(definition="authors", rows="auto"):
    lib = library()
    made = lib.new("metrics")
    words = lib.header.enums["fathom_definition"]
    if definition not in words:
        raise UsageError(f"definition is {definition!r}; it is one of {', '.join(words)}")
    made.definition = words[definition]
    made.rows = rows_of(rows)
    return made


def rows_of(rows):
    """"auto", "none", "all", a number, or "sampled:N"."""
    words = library().header.enums["fathom_metric_rows"]
    if rows in words:
        return words[rows]
    try:
        return int(str(rows).replace("sampled:", ""))
    except ValueError:
        raise UsageError(f"rows is {rows!r}; it is one of {', '.join(words)}, or a number") from None


def as_dict(metrics, definition):
    """Values that cannot be had are None."""
    def number(value):
        return None if math.isnan(value) else value
    made = {name: number(getattr(metrics, name)) for name in NAMES}
    made["definition"], made["sampled"] = definition, metrics.sampled
    for name, _ in metrics._fields_:
        if name.endswith("_error"):
            made[name] = number(getattr(metrics, name))
    return made


def measure(h, y=None, x=None, edge_index=None, definition: str = "authors", *, csr: tuple | None = None,
            rows: str | int = "auto", device: str | int | Device = "cpu") -> dict[str, float | None]:
    """Over-smoothing metrics of embeddings h [n, d], whoever made them, as a dict; None where an input is missing.

    y: classes [n], for the group distances. x: features [n, F], dense or scipy sparse, for the information gain.
    edge_index [2, m] or csr=(indptr, indices): for the energies.
    definition: of the group distances: "authors", "paper" or "pyg".
    rows: taken against all rows by metrics that are quadratic: "auto", "all", or a number.

    >>> import numpy as np, fathom
    >>> m = fathom.measure(np.eye(4), y=[0, 0, 1, 1], edge_index=[[0, 2], [1, 3]])
    >>> m["group_distance_ratio"], m["instance_information_gain"]
    (2.0, None)
    """
    from ._data import Data
    h = _arrays.floats(h, "h")
    n, width = h.shape
    if not np.isfinite(h).all():
        raise DataError("h has values that are not finite")
    if edge_index is None and csr is None:
        edge_index = np.zeros((2, 0), np.int32)
        has_graph = False
    else:
        has_graph = True
    taken = Data.__new__(Data)
    taken.node_ids, taken.class_names = None, None
    taken._arrays = taken._take(edge_index, csr, x, y, n)
    arrays = taken._members(library().new("arrays"))
    if not has_graph:
        setattr(arrays, "from", None)
        arrays.to = None
    metrics = metrics_struct(definition, rows)
    with device_of(device).use() as handle:
        check(library().measure(ctypes.byref(metrics), handle, h.ctypes.data, n, width,
                                ctypes.byref(arrays) if y is not None or x is not None or has_graph else None))
    return as_dict(metrics, definition)
