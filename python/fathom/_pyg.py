"""A trained network as a module of torch_geometric layers."""
import torch
import torch.nn.functional as F
from torch import nn
from torch_geometric.nn import (BatchNorm, DiffGroupNorm, GATConv, GCN2Conv, GCNConv, MessagePassing, PairNorm)
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from ._library import Error


class Propagate(MessagePassing):
    """A layer of SGC after the first: H becomes A H, with the symmetric normalisation."""

    def __init__(self):
        super().__init__(aggr="add")

    def forward(self, x, edge_index):
        edge_index, weight = gcn_norm(edge_index, num_nodes=x.shape[0])
        return self.propagate(edge_index, x=x, weight=weight)

    def message(self, x_j, weight):
        return weight.view(-1, 1) * x_j


class Mean(nn.Module):
    """Columns minus their mean."""

    def forward(self, x):
        return x - x.mean(0)


class Node(nn.Module):
    """Rows divided by the root of their deviation."""

    def forward(self, x):
        return x * (x.var(1, unbiased=False, keepdim=True) + 1e-5) ** -0.25


class Network(nn.Module):
    """forward(x, edge_index) -> logits [n, C]; x as the network was trained on it (`data.x`)."""

    def __init__(self, info, dropout, assignment_bias):
        super().__init__()
        self.info, self.dropout = info, dropout
        model, layers, hidden = info["model"], info["layers"], info["hidden"]
        features, classes = info["features"], info["classes"]
        width = [features] + [hidden] * (layers - 1) + [classes]
        if model == "sgc":
            width = [features] + [classes] * layers
            convs = [GCNConv(features, classes, bias=False)] + [Propagate() for _ in range(layers - 1)]
        elif model == "gcnii":
            width = [hidden] * (layers + 1)
            self.lins = nn.ModuleList([nn.Linear(features, hidden), nn.Linear(hidden, classes)])
            convs = [GCN2Conv(hidden, info["alpha"], info["theta"], layer=k + 1) for k in range(layers)]
        elif model == "gat":
            convs = [GATConv(width[k], width[k + 1], bias=False, dropout=dropout) for k in range(layers)]
        else:
            convs = [GCNConv(width[k], width[k + 1], bias=False) for k in range(layers)]
        self.convs = nn.ModuleList(convs)
        self.norms = nn.ModuleList([self._norm(width[k + 1], assignment_bias) for k in range(layers)])

    def _norm(self, width, assignment_bias):
        kind, info = self.info["norm"], self.info
        if kind == "batch":
            return BatchNorm(width)
        if kind == "pair":
            return PairNorm(eps=1e-6)
        if kind == "group":
            norm = DiffGroupNorm(width, info["groups"], info["lambda"])
            if assignment_bias:
                norm.lin = nn.Linear(width, info["groups"])
            return norm
        return {"mean": Mean, "node": Node, "none": nn.Identity}[kind]()

    def _drop(self, h):
        return F.dropout(h, self.dropout, self.training)

    def forward(self, x, edge_index):
        model, last = self.info["model"], len(self.convs) - 1
        weight, skip = self.info.get("skip_weight") or 0.0, self.info.get("skip", "none")
        h = self._drop(x)
        if model == "gcnii":
            h = first = F.relu(self.lins[0](h))
        for k, (conv, norm) in enumerate(zip(self.convs, self.norms)):
            before = h
            if model == "gcnii":
                h = conv(self._drop(h), first, edge_index)
            else:
                if k == last and k > 0 and model != "sgc":
                    h = before = self._drop(h)
                h = conv(h, edge_index)
            h = norm(h)
            if model != "sgc":
                h = F.relu(h)
            if skip != "none" and model in ("gcn", "gat") and k > 0 and before.shape == h.shape:
                h = (1 - weight) * h + weight * (before if skip == "residual" else first)
            if k == 0 and model != "gcnii":
                first = h
        return self.lins[1](self._drop(h)) if model == "gcnii" else h


def network(info, tensors, meta, dropout=0.6):
    """The Network of a model's info, with these weights."""
    state = {name: torch.from_numpy(value) for name, value in tensors.items()}
    made = Network(info, dropout, "norms.0.lin.bias" in state)
    missing, unknown = made.load_state_dict(state, strict=False)
    missing = [name for name in missing if not name.endswith("num_batches_tracked")]
    if missing or unknown:
        raise Error("to_pyg: this network has no form of torch_geometric layers here: " +
                    f"missing {missing[:3]}, unknown {unknown[:3]}")
    return made.eval()
