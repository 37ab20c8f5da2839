"""Data: a graph with features, labels and a split, from whatever holds them."""
from __future__ import annotations

import ctypes
import os
import threading

import numpy as np

from . import _arrays
from ._library import DataError, UsageError, check, library, notes, text

FEATURE_NORM = {"none": 0, "row": 1, "auto": 2}


class _Handle:
    """A fathom_data, freed with the last reference."""

    def __init__(self, handle):
        self.handle = handle

    def __del__(self):
        library().data_free(self.handle)


class Data:
    """A graph, features, labels and a split of the nodes.

    edge_index: [2, m] node numbers, each edge once or in both directions; or csr=(indptr, indices), used in place where
        it is symmetric, sorted and free of self-loops. Edges become undirected; duplicates and self-loops are removed.
    x: features [n, F], dense or a scipy sparse matrix; float32 is used in place.
    y: classes [n]: numbers from 0 (-1: none), or strings (None or "": none), which `class_names` keeps.
    train_mask, val_mask, test_mask: n booleans, or node numbers; none of them: `split`.
    split: "random:T,V" (nodes per class), "fraction:T,V", or a file; None: random when the data is trained on.
    features: "degree" or "identity" makes features for a graph without any.
    node_ids: names of the nodes, kept for tables.

    >>> import numpy as np, fathom
    >>> data = fathom.Data(edge_index=[[0, 1, 2], [1, 2, 3]], x=np.eye(4), y=["a", "b", "a", "b"], train_mask=[0, 1],
    ...                    val_mask=[2], test_mask=[3])
    >>> data.nodes, data.edges, data.class_names
    (4, 3, ['a', 'b'])
    """

    def __init__(self, edge_index=None, x=None, y=None, train_mask=None, val_mask=None, test_mask=None, *, csr: tuple | None = None,
                 num_nodes: int | None = None, split: str | None = None, feature_norm: str = "auto",
                 missing_rate: float = 0.0, features: str | None = None, node_ids=None, class_names=None):
        self._source = None
        self._options = {"split": split, "feature_norm": feature_norm, "missing_rate": missing_rate,
                         "features": features, "labels": None, "seed": 100, "without_split": 0}
        self.node_ids = None if node_ids is None else list(node_ids)
        self.class_names = None if class_names is None else [str(name) for name in class_names]
        self._arrays = self._take(edge_index, csr, x, y, num_nodes)
        masks = {"train": train_mask, "val": val_mask, "test": test_mask}
        given = [name for name, mask in masks.items() if mask is not None]
        if given and "train" not in given:
            raise UsageError(f"{given[0]}_mask needs train_mask")
        for name, mask in masks.items():
            self._arrays[name] = _arrays.nodes_of(mask, self._arrays["nodes"], name + "_mask")
        self._start()

    def _start(self):
        self._handles, self._lock = {}, threading.Lock()
        self._info = library().new("data_info")
        check(library().data_describe(self.whole(), ctypes.byref(self._info)))

    # ---- sources ----

    @classmethod
    def load(cls, name: str, *, split: str | None = None, feature_norm: str = "auto", missing_rate: float = 0.0,
             features: str | None = None, labels: str | None = None, seed: int = 100) -> Data:
        """A data set by name ("embedded", "karate", "cora" in $FATHOM_DATA or the cache) or path, as `--data`.

        >>> import fathom
        >>> fathom.Data.load("karate").nodes
        34
        """
        made = cls.__new__(cls)
        made._source, made._arrays = str(name), None
        made._options = {"split": split, "feature_norm": feature_norm, "missing_rate": missing_rate,
                         "features": features, "labels": labels, "seed": seed, "without_split": 0}
        made.node_ids = made.class_names = None
        made._start()
        return made

    @classmethod
    def from_pyg(cls, data, split: int = 0, **options) -> Data:
        """A torch_geometric.data.Data (or a data set of one): edge_index or adj_t, x, y and the masks; of masks [n, S]
        column `split`."""
        if any(kind.__name__ == "Dataset" for kind in type(data).__mro__):
            data = data[0]
        edges = getattr(data, "edge_index", None)
        if edges is None:
            if getattr(data, "adj_t", None) is None:
                raise UsageError("data has neither edge_index nor adj_t")
            columns, rows, _ = data.adj_t.coo()
            edges = np.stack([_arrays.plain(rows, "adj_t"), _arrays.plain(columns, "adj_t")])
        masks = {}
        for name in ("train_mask", "val_mask", "test_mask"):
            mask = getattr(data, name, None)
            masks[name] = mask if mask is None or mask.dim() == 1 else mask[:, split]
        return cls(edges, getattr(data, "x", None), getattr(data, "y", None), num_nodes=data.num_nodes, **masks,
                   **options)

    @classmethod
    def from_networkx(cls, graph, features: str | None = None, label: str | None = None, **options) -> Data:
        """A networkx graph, its nodes in their order; `features` and `label` name attributes of the nodes. An attribute
        "split" or masks of other names are given as arrays. Without features: those of `features="degree"`.

        >>> import networkx as nx, fathom                                                       # doctest: +SKIP
        >>> data = fathom.Data.from_networkx(nx.karate_club_graph(), label="club")              # doctest: +SKIP
        """
        ids = list(graph.nodes)
        place = {node: i for i, node in enumerate(ids)}
        edges = np.array([(place[u], place[v]) for u, v in graph.edges()], dtype=np.int64).reshape(-1, 2).T
        x = y = None
        if features in ("degree", "identity") or features is None:
            options.setdefault("features", features or "degree")
        else:
            x = np.stack([np.atleast_1d(_value(graph.nodes[node], features, node)) for node in ids]) if ids else None
        if label is not None:
            y = [graph.nodes[node].get(label) for node in ids]
        return cls(edges, x, y, num_nodes=len(ids), node_ids=ids, **options)

    @classmethod
    def from_pandas(cls, edges, nodes=None, label=None, features=None, id=None, source=None, target=None, split=None,
                    **options) -> Data:
        """Tables of pandas. edges: a row per edge, its ends in columns `source` and `target` (default: the first two).
        nodes: a row per node, its id in column `id` (default: the index, or the column "id"); ids may be strings. label:
        the column of the classes, numbers or strings. features: the columns of the features; default: all other columns
        of numbers. split: a column with the words train, val and test; else as for Data.

        >>> import pandas as pd, fathom                                                         # doctest: +SKIP
        >>> nodes = pd.DataFrame({"id": ["a", "b"], "f": [0.5, 1], "class": ["x", "y"]})        # doctest: +SKIP
        """
        source = edges.columns[0] if source is None else source
        target = edges.columns[1] if target is None else target
        if nodes is None:
            ids = list(dict.fromkeys([*edges[source], *edges[target]]))
        elif id is None and "id" in nodes.columns:
            id = "id"
        if nodes is not None:
            for column in [c for c in (id, label) if c is not None]:
                if column not in nodes.columns:
                    raise UsageError(f"nodes has no column {column!r}; it has {', '.join(map(str, nodes.columns))}")
            ids = list(nodes.index if id is None else nodes[id])
        place = {node: i for i, node in enumerate(ids)}
        if len(place) != len(ids):
            raise DataError("nodes has ids that occur twice")
        ends = np.empty((2, len(edges)), dtype=np.int64)
        for row, column in enumerate((source, target)):
            for i, node in enumerate(edges[column]):
                if node not in place:
                    raise DataError(f"edges names node {node!r} in row {i}, which nodes does not have")
                ends[row, i] = place[node]
        x = y = None
        if nodes is not None:
            splits = nodes[split] if split is not None and split in nodes.columns else None
            if features is None:
                without = {id, label, split}
                features = [c for c in nodes.columns if c not in without and nodes[c].dtype.kind in "fiub"]
            if isinstance(features, str) and features in ("degree", "identity"):
                options["features"] = features
            elif len(features):
                x = nodes[list(features)].to_numpy(dtype=np.float32)
            y = None if label is None else list(nodes[label])
            if splits is not None:
                words, split = splits.to_numpy(), None
                for part in ("train", "val", "test"):
                    options[part + "_mask"] = words == part
        if x is None:
            options.setdefault("features", "degree")
        return cls(ends, x, y, num_nodes=len(ids), node_ids=ids, split=split, **options)

    @classmethod
    def from_scipy(cls, adjacency, x=None, y=None, train_mask=None, val_mask=None, test_mask=None, **options) -> Data:
        """A scipy sparse adjacency matrix; x may be one, too. Values of the adjacency are not used."""
        csr = adjacency.tocsr()
        if csr.shape[0] != csr.shape[1]:
            raise UsageError(f"adjacency is not square: {csr.shape}")
        return cls(None, x, y, train_mask, val_mask, test_mask, csr=(csr.indptr, csr.indices), **options)

    @classmethod
    def from_ogb(cls, dataset, root: str = "dataset", **options) -> Data:
        """A node property data set of ogb, or its name (downloaded by ogb into `root`), with its own split."""
        if isinstance(dataset, str):
            from ogb.nodeproppred import NodePropPredDataset
            dataset = NodePropPredDataset(dataset, root=root)
        parts = dataset.get_idx_split()
        first = dataset[0]
        if isinstance(first, tuple):
            graph, y = first
            edges, x, n = graph["edge_index"], graph["node_feat"], graph["num_nodes"]
        else:
            edges, x, y, n = first.edge_index, first.x, first.y, first.num_nodes
        if x is None:
            options.setdefault("features", "degree")
        return cls(edges, x, y, parts["train"], parts["valid"], parts["test"], num_nodes=n, **options)

    # ---- arrays ----

    def _take(self, edge_index, csr, x, y, num_nodes):
        """The members of fathom_arrays as numpy arrays."""
        made = {"indptr": None, "from": None, "labels": None, "values": None, "feature_indptr": None}
        if (edge_index is None) == (csr is None):
            raise UsageError("give the graph as edge_index, or as csr=(indptr, indices)")
        counts = []
        if csr is not None:
            made["indptr"] = _arrays.integers(csr[0], "csr[0] (indptr)", np.int64)
            made["indices"] = _arrays.integers(csr[1], "csr[1] (indices)")
            counts.append(("csr", len(made["indptr"]) - 1))
            if len(made["indptr"]) < 1 or made["indptr"][-1] != len(made["indices"]):
                raise DataError("csr: the last entry of indptr is not the length of indices")
        if x is not None:
            counts.append(("x", self._features(made, x)))
        if y is not None:
            made["labels"] = self._labels(y)
            counts.append(("y", len(made["labels"])))
        if num_nodes is not None:
            counts.append(("num_nodes", int(num_nodes)))
        if self.node_ids is not None:
            counts.append(("node_ids", len(self.node_ids)))
        if edge_index is not None:
            edges = _arrays.plain(edge_index, "edge_index")
            if edges.size == 0:
                edges = np.zeros((2, 0), np.int32)
            if edges.ndim != 2 or edges.shape[0] != 2:
                raise UsageError(f"edge_index has shape {edges.shape} instead of (2, m)")
            ends = _arrays.integers(edges, "edge_index", ndim=2)
            made["from"], made["to"] = ends[0], ends[1]
            if not counts:
                counts.append(("edge_index", int(ends.max()) + 1 if ends.size else 0))
        name, made["nodes"] = counts[0]
        for other, n in counts:
            if n != made["nodes"]:
                raise UsageError(f"{other} has {n} nodes, but {name} has {made['nodes']}")
        if edge_index is not None and ends.size and (ends.min() < 0 or ends.max() >= made["nodes"]):
            raise DataError(f"edge_index names node {int(ends.min() if ends.min() < 0 else ends.max())}, but there are "
                            f"{made['nodes']} nodes")
        return made

    @staticmethod
    def _features(made, x):
        if hasattr(x, "tocsr"):
            x = x.tocsr()
            x.sort_indices()
            made["feature_indptr"] = _arrays.integers(x.indptr, "x.indptr", np.int64)
            made["feature_indices"] = _arrays.integers(x.indices, "x.indices")
            made["values"] = _arrays.floats(x.data, "x", 1)
            made["features"] = x.shape[1]
            values = made["values"]
        else:
            made["values"] = values = _arrays.floats(x, "x")
            made["features"] = values.shape[1]
        if values.size and not np.isfinite(values).all():
            raise DataError("x has values that are not finite")
        return x.shape[0] if hasattr(x, "tocsr") else values.shape[0]

    def _labels(self, y):
        """Numbers of the classes; class_names gets the strings."""
        if isinstance(y, (list, tuple)) and any(v is None or isinstance(v, str) for v in y):
            y = np.array(["" if v is None or v != v else str(v) for v in y])
        y = _arrays.plain(y, "y")
        if y.ndim == 2 and y.shape[1] == 1:
            y = y[:, 0]
        if y.dtype.kind in "UO":
            words = np.array(["" if v is None or v != v else str(v) for v in y])
            names = sorted(set(words.tolist()) - {""}) if self.class_names is None else self.class_names
            number = {name: i for i, name in enumerate(names)}
            unknown = sorted(set(words.tolist()) - {""} - set(names))
            if unknown:
                raise DataError(f"y has the class {unknown[0]!r}, which class_names does not have")
            self.class_names = names
            return np.array([number.get(word, -1) for word in words], dtype=np.int32)
        if y.dtype.kind == "f":
            y = np.where(np.isnan(y), -1, y)
        labels = _arrays.integers(y, "y")
        if labels.size and labels.min() < -1:
            raise DataError(f"y has the class {int(labels.min())}; classes count from 0, and -1 is none")
        return labels

    # ---- the data of the library ----

    def whole(self, **changes):
        """As `built`, without a split where none is given: one is drawn when it is needed."""
        drawn = self._source is None and self._arrays["train"] is None and self._options["split"] is None
        return self.built(without_split=1 if drawn else None, **changes)

    def built(self, **changes):
        """The handle of this data with other options (seed, split, feature_norm, missing_rate)."""
        options = {**self._options, **{k: v for k, v in changes.items() if v is not None}}
        drawn = options["missing_rate"] or str(options["split"] or "random").split(":")[0] in ("random", "fraction")
        key = tuple(options[k] if k != "seed" or drawn else None for k in sorted(options))
        with self._lock:
            if key not in self._handles:
                self._handles[key] = _Handle(self._build(options))
            return self._handles[key].handle

    def _build(self, given):
        lib, handle = library(), ctypes.c_void_p()
        options = lib.options("data_options")
        if given["feature_norm"] not in FEATURE_NORM:
            raise UsageError(f"feature_norm is {given['feature_norm']!r}; it is one of {', '.join(FEATURE_NORM)}")
        options.normalise = FEATURE_NORM[given["feature_norm"]]
        options.seed, options.missing_rate = given["seed"], given["missing_rate"]
        options.without_split = given["without_split"]
        for name in ("split", "features", "labels"):
            if given[name] is not None:
                setattr(options, name, str(given[name]).encode())
        if self._source is not None:
            check(lib.data_load(ctypes.byref(handle), self._source.encode(), ctypes.byref(options)))
            return handle
        options.keep_references = 1  # self._arrays stays
        arrays = self._members(lib.new("arrays"))
        check(lib.data_build(ctypes.byref(handle), ctypes.byref(arrays), ctypes.byref(options)))
        return handle

    def _members(self, arrays):
        taken = self._arrays
        arrays.nodes, arrays.features = taken["nodes"], taken.get("features", 0)
        if self.class_names is not None:
            arrays.classes = len(self.class_names)
        if taken["from"] is not None:
            arrays.edge_count = len(taken["from"])
        for name in ("indptr", "indices", "from", "to", "values", "feature_indptr", "feature_indices", "labels",
                     "train", "val", "test"):
            setattr(arrays, name, _arrays.address(taken.get(name)))
        for name in ("train", "val", "test"):
            if taken.get(name) is not None:
                setattr(arrays, name + "_count", len(taken[name]))
        return arrays

    # ---- what is in it ----

    @property
    def info(self) -> dict:
        """Name, digest and counts as a dict, as `fathom data info`."""
        return {name: text(value) if isinstance(value, bytes) else value
                for name, value in ((n, getattr(self._info, n)) for n, _ in self._info._fields_ if n != "size")}

    nodes = property(lambda self: self._info.nodes, doc="n")
    edges = property(lambda self: self._info.edges, doc="Undirected edges, each counted once.")
    classes = property(lambda self: self._info.classes, doc="C")
    num_features = property(lambda self: self._info.features, doc="F")
    notes = property(lambda self: notes(library().data_note, self.whole()), doc="What was cleaned.")

    def _view(self, name, count, dtype):
        arrays = library().new("arrays")
        check(library().data_view(self.whole(), ctypes.byref(arrays)))
        where = getattr(arrays, name)
        if not where or not count:
            return np.zeros(0, dtype)
        return np.frombuffer((ctypes.c_char * (count * np.dtype(dtype).itemsize)).from_address(where), dtype).copy()

    @property
    def csr(self):
        """The clean graph: (indptr, indices)."""
        return self._view("indptr", self.nodes + 1, np.int64), self._view("indices", 2 * self.edges, np.int32)

    @property
    def edge_index(self):
        """[2, 2 edges]: every edge in both directions."""
        indptr, indices = self.csr
        return np.stack([np.repeat(np.arange(self.nodes, dtype=np.int64), np.diff(indptr)), indices.astype(np.int64)])

    @property
    def x(self):
        """[n, F], dense, as preprocessed (feature_norm)."""
        n, width = self.nodes, self.num_features
        arrays = library().new("arrays")
        check(library().data_view(self.whole(), ctypes.byref(arrays)))
        if not arrays.feature_indptr:
            return self._view("values", n * width, np.float32).reshape(n, width)
        indptr = self._view("feature_indptr", n + 1, np.int64)
        made = np.zeros((n, width), np.float32)
        made[np.repeat(np.arange(n), np.diff(indptr)), self._view("feature_indices", indptr[-1], np.int32)] = \
            self._view("values", indptr[-1], np.float32)
        return made

    @property
    def y(self):
        """[n] classes from 0, -1: none."""
        return self._view("labels", self.nodes, np.int32)

    def _mask(self, name):
        made = np.zeros(self.nodes, bool)
        made[self._view(name, getattr(self._info, name + "_count"), np.int32)] = True
        return made

    train_mask = property(lambda self: self._mask("train"))
    val_mask = property(lambda self: self._mask("val"))
    test_mask = property(lambda self: self._mask("test"))

    def save(self, path: str | os.PathLike) -> None:
        """Writes a .npz that `Data.load` and the program read."""
        check(library().data_save(self.whole(), str(path).encode()))

    def to_pyg(self):
        """A torch_geometric.data.Data with the same graph, features, classes and masks."""
        import torch
        from torch_geometric.data import Data as PygData
        masks = {name: torch.from_numpy(getattr(self, name)) for name in ("train_mask", "val_mask", "test_mask")}
        return PygData(x=torch.from_numpy(self.x), edge_index=torch.from_numpy(self.edge_index),
                       y=torch.from_numpy(self.y.astype(np.int64)), **masks)

    def __repr__(self):
        name = f"{self._source!r}, " if self._source else ""
        return (f"fathom.Data({name}nodes={self.nodes}, edges={self.edges}, features={self.num_features}, "
                f"classes={self.classes})")


def _value(attributes, name, node):
    if name not in attributes:
        raise DataError(f"features: node {node!r} has no attribute {name!r}")
    return attributes[name]


def data_of(data):
    """The Data of an argument `data`: a Data, a name or path, or a torch_geometric.data.Data."""
    if isinstance(data, Data):
        return data
    if isinstance(data, str) or hasattr(data, "__fspath__"):
        return Data.load(str(data))
    if hasattr(data, "edge_index") and hasattr(data, "num_nodes"):
        return Data.from_pyg(data)
    raise UsageError(f"data is a {type(data).__name__}; give a fathom.Data, a name, or a torch_geometric.data.Data")
