"""Over-smoothing of every layer of a PyTorch model, while it trains."""
from __future__ import annotations

import torch

from ._data import data_of
from ._library import UsageError
from ._metrics import NAMES, measure


class Monitor:
    """Records the over-smoothing of every layer of a model at each forward over all nodes.

    model: any torch.nn.Module. data: the graph (fathom.Data or torch_geometric.data.Data): its classes, features and
    edges are what the metrics need. layers: modules or their names; default: message passing layers, norms and
    activations, whatever puts out a row for each node. every: epochs between records; a training forward is an epoch.
    metrics: names; default: all. definition, rows: as of fathom.measure.

        monitor = Monitor(model, data, every=10)
        ...                                         # train and evaluate as always
        monitor.frame()                             # a row per epoch and layer
        monitor.plot("mean_average_distance")
        monitor.close()
    """

    def __init__(self, model, data, *, layers=None, every=1, metrics=None, definition="authors", rows="auto"):
        if not isinstance(model, torch.nn.Module):
            raise UsageError(f"model is a {type(model).__name__}, not a torch.nn.Module")
        if not isinstance(every, int) or every < 1:
            raise UsageError(f"every is {every!r}; it is a whole number above 0")
        unknown = [name for name in metrics or () if name not in NAMES]
        if unknown:
            raise UsageError(f"metrics has {unknown[0]!r}; it may have {', '.join(NAMES)}")
        data = data_of(data)
        self._graph = {"y": data.y if (data.y >= 0).any() else None, "csr": data.csr,
                       "x": data.x if metrics is None or "instance_information_gain" in metrics else None}
        self._nodes, self._every, self._metrics = data.nodes, every, tuple(metrics or NAMES)
        self._options = {"definition": definition, "rows": rows}
        self.records, self.epoch, self._outputs, self._depth = [], 0, [], 0
        self._hooks = [model.register_forward_pre_hook(self._begin), model.register_forward_hook(self._end)]
        for name, module in self._chosen(model, layers):
            self._hooks.append(module.register_forward_hook(self._keep(name)))

    @staticmethod
    def _chosen(model, layers):
        """(name, module) of the layers."""
        named = {module: name for name, module in model.named_modules()}
        if layers is not None:
            by_name, chosen = dict(model.named_modules()), []
            for layer in layers:
                if isinstance(layer, str) and layer not in by_name:
                    raise UsageError(f"layers: the model has no module {layer!r}; it has {', '.join(by_name)}")
                module = by_name[layer] if isinstance(layer, str) else layer
                if module not in named:
                    raise UsageError(f"layers: {layer!r} is no module of the model")
                chosen.append((named[module], module))
            return chosen
        chosen, inside = [], []
        for name, module in model.named_modules():
            if name == "" or any(name.startswith(prefix + ".") for prefix in inside):
                continue
            kinds = {kind.__name__ for kind in type(module).__mro__}
            if "MessagePassing" in kinds or any(kind.endswith("Norm") for kind in kinds):
                inside.append(name)
            elif next(module.children(), None) is not None or "Dropout" in type(module).__name__:
                continue
            chosen.append((name, module))
        return chosen

    def _begin(self, module, _):
        self._depth += 1
        if self._depth == 1:
            self.epoch += int(module.training)
            self._outputs = []

    def _keep(self, name):
        def hook(_, __, output):
            if self._depth == 1 and max(self.epoch - 1, 0) % self._every == 0 and isinstance(output, torch.Tensor) and \
                    output.dim() == 2 and output.shape[0] == self._nodes and output.is_floating_point():
                self._outputs.append((name, output.detach()))
        return hook

    def _end(self, module, _, __):
        self._depth -= 1
        if self._depth > 0:
            return
        outputs, self._outputs = self._outputs, []
        for layer, (name, output) in enumerate(outputs):
            finite = bool(torch.isfinite(output).all())
            got = measure(output, **self._graph, **self._options) if finite else {}
            self.records.append({"epoch": self.epoch, "training": module.training, "layer": layer, "name": name,
                                 **{metric: got.get(metric) for metric in self._metrics}})

    def frame(self):
        """The records as a pandas DataFrame."""
        import pandas
        return pandas.DataFrame(self.records, columns=["epoch", "training", "layer", "name", *self._metrics])

    def plot(self, metric="mean_average_distance", training=None, ax=None):
        """Draws a metric over epochs, a line per layer (matplotlib). training: forwards of this mode; default: of
        evaluation, where there are any. Returns the axes."""
        import matplotlib.pyplot
        if metric not in self._metrics:
            raise UsageError(f"metric is {metric!r}; it is one of {', '.join(self._metrics)}")
        if training is None:
            training = all(record["training"] for record in self.records)
        rows = [record for record in self.records if record["training"] == training]
        ax = ax or matplotlib.pyplot.subplots()[1]
        layers = sorted({(record["layer"], record["name"]) for record in rows})
        colours = matplotlib.colormaps["viridis"]
        for layer, name in layers:
            line = [record for record in rows if (record["layer"], record["name"]) == (layer, name)]
            ax.plot([r["epoch"] for r in line], [r[metric] for r in line], label=name,
                    color=colours(layer / max(len(layers) - 1, 1)), marker="." if len(line) == 1 else None)
        ax.set_xlabel("epoch")
        ax.set_ylabel(metric.replace("_", " "))
        if layers and len(layers) <= 12:
            ax.legend(fontsize="small")
        return ax

    def close(self):
        """Removes the hooks; the records stay."""
        for hook in self._hooks:
            hook.remove()
        self._hooks = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
