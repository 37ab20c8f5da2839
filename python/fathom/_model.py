"""Trained and loaded networks."""
from __future__ import annotations

import ctypes
import json
import math
import os
import tempfile

import numpy as np

from ._data import data_of
from ._device import Device, device_of
from ._library import UsageError, check, library, text
from ._metrics import as_dict, metrics_struct

_SETS = ("train", "val", "test")


def _or_none(value):
    return None if isinstance(value, float) and math.isnan(value) else value


class Evaluation:
    """A network on data: `logits` [n, C], `predictions` [n], accuracies, `loss` and `metrics`."""

    def __init__(self, logits, scores, metrics):
        self.logits, self.metrics = logits, metrics
        self.predictions = logits.argmax(1)
        for name in ("train_accuracy", "val_accuracy", "test_accuracy", "loss"):
            setattr(self, name, _or_none(getattr(scores, name)))


class Model:
    """A network with its weights. `info` has its settings."""

    def __init__(self, handle, device="auto"):
        self._handle, self._device = handle, device
        info = library().new("model_info")
        check(library().model_describe(handle, ctypes.byref(info)))
        self.info = {name: _or_none(getattr(info, name)) for name, _ in info._fields_ if name != "size"}
        header = library().header
        for name in list(self.info):
            words = header.words_of("fathom_model_info", name)
            if words:
                self.info[name] = {v: k for k, v in words.items()}.get(self.info[name], self.info[name])

    def __del__(self):
        if getattr(self, "_handle", None):
            library().model_free(self._handle)

    def _built(self, data):
        """The data prepared as that of the training."""
        if data._source is not None or data._options["feature_norm"] != "auto":
            return data.whole()
        norm = self.info.get("feature_norm")
        return data.whole(feature_norm=norm if norm in ("none", "row") else None)

    def evaluate(self, data, *, definition: str | None = None, device: str | int | Device | None = None,
                 threads: int = 0) -> Evaluation:
        """Logits, predictions, accuracies, and with `definition` the over-smoothing metrics. Returns an Evaluation."""
        data = data_of(data)
        return self._evaluate(self._built(data), definition, device, threads)

    def _evaluate(self, built, definition=None, device=None, threads=0):
        lib = library()
        shape = lib.new("data_info")
        check(lib.data_describe(built, ctypes.byref(shape)))
        logits = np.empty((shape.nodes, self.info["classes"]), np.float32)
        scores = lib.new("scores")
        metrics = metrics_struct(definition) if definition else None
        with device_of(self._device if device is None else device, threads).use() as opened:
            check(lib.evaluate(self._handle, opened, built, ctypes.byref(scores),
                               ctypes.byref(metrics) if metrics else None, logits.ctypes.data, logits.size))
        return Evaluation(logits, scores, as_dict(metrics, definition) if metrics else None)

    def predict(self, data, **options) -> np.ndarray:
        """The class of every node [n], numbers from 0."""
        return self.evaluate(data, **options).predictions

    def predictions(self, data, **options):
        """A pandas table: node (its id), class (its name, where the data has names), confidence."""
        import pandas
        data = data_of(data)
        logits = self.evaluate(data, **options).logits.astype(np.float64)
        shares = np.exp(logits - logits.max(1, keepdims=True))
        shares /= shares.sum(1, keepdims=True)
        best = logits.argmax(1)
        names = best if data.class_names is None else np.array(data.class_names, dtype=object)[best]
        nodes = np.arange(len(best)) if data.node_ids is None else data.node_ids
        return pandas.DataFrame({"node": nodes, "class": names, "confidence": shares.max(1)})

    def save(self, path: str | os.PathLike) -> None:
        """Writes safetensors with the parameter names of PyTorch Geometric."""
        check(library().model_save(self._handle, str(path).encode()))

    def state_dict(self) -> dict[str, np.ndarray]:
        """The weights as numpy arrays, by the names of PyTorch Geometric."""
        return self._tensors()[0]

    def _tensors(self):
        from ._safetensors import read
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.safetensors")
            self.save(path)
            return read(path)

    def to_pyg(self):
        """The network of torch_geometric layers with these weights loaded, in evaluation mode: forward(x, edge_index)."""
        from ._pyg import network
        return network(self.info, *self._tensors())

    def __repr__(self):
        return (f"fathom.{type(self).__name__}({self.info['model']}, {self.info['norm']}, "
                f"layers={self.info['layers']}, hidden={self.info['hidden']})")


class Result(Model):
    """A trained network with the weights of the epoch of the best validation accuracy.

    test_accuracy, val_accuracy, train_accuracy: fractions at best_epoch. epochs, loss, lambda_, interrupted,
    stopped_early, fell_back. metrics: over-smoothing at best_epoch. history: arrays over epochs: loss, train_accuracy,
    val_accuracy, test_accuracy, ms. logits [n, C]. record: run.json as a dict.
    """

    def __init__(self, handle, device, data, built, history):
        super().__init__(handle, device)
        self.data, self._input, self._logits = data, built, None
        lib = library()
        result, metrics = lib.new("result"), lib.new("metrics")
        check(lib.model_result(handle, ctypes.byref(result)))
        for name, _ in result._fields_:
            if name in ("interrupted", "stopped_early", "fell_back"):
                setattr(self, name, bool(getattr(result, name)))
            elif name != "size":
                setattr(self, name + "_" if name == "lambda" else name, _or_none(getattr(result, name)))
        check(lib.model_metrics(handle, ctypes.byref(metrics)))
        self.metrics = as_dict(metrics, "authors")
        record = lib.model_record(handle)
        self.record = json.loads(text(record)) if record else None
        columns = ("epoch", "loss", "train_accuracy", "val_accuracy", "test_accuracy", "ms")
        self.history = {name: np.array([epoch[name] for epoch in history]) for name in columns}

    @property
    def logits(self) -> np.ndarray:
        """[n, C] of the training data."""
        if self._logits is None:
            self._logits = self._evaluate(self._input).logits
        return self._logits

    def _repr_html_(self):
        rows = [(name, getattr(self, name)) for name in ("test_accuracy", "val_accuracy", "best_epoch", "epochs")]
        rows += [(name, value) for name, value in self.metrics.items() if isinstance(value, float)
                 and not name.endswith("_error")]
        cells = "".join(f"<tr><th>{name.replace('_', ' ')}</th><td>{value:.4g}</td></tr>" for name, value in rows
                        if value is not None)
        return f"<table><caption>{self!r}</caption>{cells}</table>"


def load(path: str | os.PathLike, *, device: str | int | Device = "auto", **known) -> Model:
    """Loads a model. `known`: what a file without metadata lacks: model, norm, layers, lamda, alpha, theta, ...

    >>> import fathom, os, tempfile
    >>> file = os.path.join(tempfile.mkdtemp(), "model.safetensors")
    >>> trained = fathom.train("karate", layers=2, epochs=5, device="cpu")
    >>> trained.save(file)
    >>> model = fathom.load(file, device="cpu")
    >>> bool((model.predict("karate") == trained.predict("karate")).all())
    True
    """
    lib, handle = library(), ctypes.c_void_p()
    options = lib.options("load_options")
    fields = {name for name, _ in options._fields_} - {"size"}
    for name, value in known.items():
        name = {"lamda": "lambda", "lambda_": "lambda"}.get(name, name)
        if name not in fields:
            raise UsageError(f"load has no option {name!r}; it has {', '.join(sorted(fields))}")
        words = lib.header.words_of("fathom_load_options", name) or {}
        if isinstance(value, str) and value not in words:
            raise UsageError(f"{name} is {value!r}; it is one of {', '.join(words)}")
        setattr(options, name, words.get(value, value) if isinstance(value, str) else value)
    check(lib.model_load(ctypes.byref(handle), str(path).encode(), ctypes.byref(options)))
    return Model(handle, device)
