"""The networks of fathom in PyTorch Geometric, in four forms.

users:     as its users write it: dense features, edge lists, cached normalisation, DiffGroupNorm.
strongest: the fastest that PyTorch offers without own kernels: features in CSR with dropout on the stored values, the
           normalised adjacency in CSR, both with their transposes kept for the backward pass; DiffGroupNorm.
factored:  the same with the sums of the norm factored by hand into products, without the n x G x d array.
compiled:  the factored form with its norm compiled by torch.compile, which needs a C++ compiler.

No bias in the convolutions, norm and relu after every layer, dropout on the input of the first and the last one; SGC:
one projection, then K times norm(A H). Hidden width 16, ten groups, float32.
"""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch_geometric.nn import DiffGroupNorm, GATConv, GCNConv, MessagePassing
from torch_geometric.nn.conv.gcn_conv import gcn_norm

HIDDEN, GROUPS, DROPOUT, LAMBDA = 16, 10, 0.6, 0.01


class AuthorsGroupNorm(DiffGroupNorm):
    """Preset `authors`: a bias in the assignment, and momentum 0.3. Loads norms.K.* of such a checkpoint."""

    def __init__(self, channels, groups, lamda):
        super().__init__(channels, groups, lamda, momentum=0.3)
        self.lin = nn.Linear(channels, groups, bias=True)


class FactoredGroupNorm(DiffGroupNorm):
    """DiffGroupNorm with t_vgj = S_vg H_vj never stored: sums of t and of t^2 over v are S'H and (S^2)'(H^2), and the
    output is H (1 + lambda S A) + lambda b. The same parameters. E[t^2] - mean^2
    loses digits where the mean is large."""

    def forward(self, x):
        if self.groups == 1:  # as DiffGroupNorm
            return super().forward(x)
        norm, n, shape = self.norm, x.shape[0], (self.groups, self.in_channels)
        s = self.lin(x).softmax(dim=-1)
        if self.training:
            mean = s.t() @ x / n
            var = (s * s).t() @ (x * x) / n - mean * mean
            with torch.no_grad():
                norm.running_mean.lerp_(mean.reshape(-1), norm.momentum)
                norm.running_var.lerp_(var.reshape(-1) * (n / (n - 1)), norm.momentum)
        else:
            mean, var = norm.running_mean.view(shape), norm.running_var.view(shape)
        a = norm.weight.view(shape) * (var + norm.eps).rsqrt()
        b = (norm.bias.view(shape) - a * mean).sum(0)
        return x * (1 + s @ (self.lamda * a)) + self.lamda * b


class Data:
    """A file of `fathom data convert`: graph, features with rows of sum 1, labels, split."""

    def __init__(self, path):
        z = np.load(path)
        self.stored_dense = "attr_matrix" in z
        self.n, self.features = (int(v) for v in (z["attr_matrix"].shape if self.stored_dense else z["attr_shape"]))
        self.classes = int(z["classes"][0])
        degree = np.diff(z["adj_indptr"])
        rows = np.repeat(np.arange(self.n), degree)
        self.edges = torch.tensor(np.stack([z["adj_indices"].astype(np.int64), rows]))
        self.y = torch.tensor(z["labels"].astype(np.int64))
        if self.stored_dense:
            dense = z["attr_matrix"]
            feature_rows, self.indices = np.nonzero(dense)
            self.indptr = np.concatenate([[0], np.cumsum(np.bincount(feature_rows, minlength=self.n))])
            values = dense[feature_rows, self.indices]
        else:
            self.indptr, self.indices = z["attr_indptr"], z["attr_indices"].astype(np.int64)
            values = z["attr_data"].astype(np.float32)
        self.feature_rows = np.repeat(np.arange(self.n), np.diff(self.indptr))
        sums = np.bincount(self.feature_rows, values, self.n)
        self.values = (values / np.where(sums == 0, 1, sums)[self.feature_rows]).astype(np.float32)
        sets = [z[k] for k in ("train", "val", "test")] if "train" in z else self.drawn(z["labels"])
        self.sets = [torch.tensor(s.astype(np.int64)) for s in sets]

    @staticmethod
    def drawn(labels, train=40, val=150):
        """A split for files without one: so many nodes of each class, the rest is for the test."""
        order = np.random.default_rng(100).permutation(len(labels))
        parts = [[], [], []]
        for c in np.unique(labels[labels >= 0]):
            members = order[labels[order] == c]
            for part, nodes in zip(parts, np.split(members, [train, train + val])):
                part.append(nodes)
        return [np.concatenate(part) for part in parts]

    def dense(self):
        x = torch.zeros(self.n, self.features)
        x[torch.tensor(self.feature_rows), torch.tensor(self.indices)] = torch.tensor(self.values)
        return x


# ---- as users write it ----


class Propagate(MessagePassing):
    """H -> A H with the symmetric normalisation, computed once."""

    def __init__(self):
        super().__init__(aggr="add")
        self.cached = None

    def forward(self, x, edges):
        if self.cached is None:
            self.cached = gcn_norm(edges, num_nodes=x.shape[0])
        return self.propagate(self.cached[0], x=x, weight=self.cached[1])

    def message(self, x_j, weight):
        return weight.view(-1, 1) * x_j


class Users(nn.Module):
    def __init__(self, data, model, layers, hidden=HIDDEN):
        super().__init__()
        width = [data.features] + [hidden] * (layers - 1) + [data.classes]
        self.model, self.x, self.edges = model, data.dense(), data.edges
        if model == "gcn":
            convs = [GCNConv(width[k], width[k + 1], bias=False, cached=True) for k in range(layers)]
        elif model == "gat":
            convs = [GATConv(width[k], width[k + 1], bias=False, dropout=DROPOUT) for k in range(layers)]
        else:  # sgc
            width = [data.features] + [data.classes] * layers
            self.lin = nn.Linear(data.features, data.classes, bias=False)
            convs = [Propagate()] * layers
        self.convs = nn.ModuleList(convs)
        self.norms = nn.ModuleList([DiffGroupNorm(width[k + 1], GROUPS, LAMBDA) for k in range(layers)])

    def forward(self):
        h = F.dropout(self.x, DROPOUT, self.training)
        if self.model == "sgc":
            h = self.lin(h)
        for k, (conv, norm) in enumerate(zip(self.convs, self.norms)):
            if k == len(self.convs) - 1 and k > 0 and self.model != "sgc":
                h = F.dropout(h, DROPOUT, self.training)
            h = norm(conv(h, self.edges))
            if self.model != "sgc":
                h = F.relu(h)
        return h


# ---- the strongest form ----


class Product(torch.autograd.Function):
    """CSR times dense, the transpose at hand for the backward pass."""

    @staticmethod
    def forward(ctx, matrix, transpose, dense):
        ctx.transpose = transpose
        return torch.sparse.mm(matrix, dense)

    @staticmethod
    def backward(ctx, gradient):
        return None, None, torch.sparse.mm(ctx.transpose, gradient)


def csr(indptr, indices, values, shape):
    return torch.sparse_csr_tensor(indptr, indices, values, shape, check_invariants=False)


class Strongest(nn.Module):
    norm = DiffGroupNorm

    def __init__(self, data, model, layers, hidden=HIDDEN):
        super().__init__()
        self.model, shape = model, (data.n, data.features)
        edges, weight = gcn_norm(data.edges, num_nodes=data.n)
        self.a = torch.sparse_coo_tensor(edges.flip(0), weight, (data.n, data.n)).coalesce().to_sparse_csr()  # symmetric
        self.x = data.dense() if data.stored_dense else None
        self.shape, self.values = shape, torch.tensor(data.values)
        self.indptr, self.indices = torch.tensor(data.indptr), torch.tensor(data.indices)
        order = np.lexsort((data.feature_rows, data.indices))
        counts = np.bincount(data.indices, minlength=data.features)
        self.t_order = torch.tensor(order)
        self.t_indptr = torch.tensor(np.concatenate([[0], np.cumsum(counts)]))
        self.t_indices = torch.tensor(data.feature_rows[order])
        width = [data.features] + [hidden] * (layers - 1) + [data.classes]
        if model == "sgc":
            width = [data.features] + [data.classes] * layers
        pairs = 1 if model == "sgc" else layers
        self.weights = nn.ParameterList([nn.Parameter(torch.empty(width[k], width[k + 1])) for k in range(pairs)])
        for w in self.weights:
            nn.init.xavier_uniform_(w)
        self.norms = nn.ModuleList([self.norm(width[k + 1], GROUPS, LAMBDA) for k in range(layers)])

    def project(self):
        if self.x is not None:
            return F.dropout(self.x, DROPOUT, self.training) @ self.weights[0]
        values = F.dropout(self.values, DROPOUT, self.training)
        x = csr(self.indptr, self.indices, values, self.shape)
        xt = csr(self.t_indptr, self.t_indices, values[self.t_order], self.shape[::-1]) if self.training else None
        return Product.apply(x, xt, self.weights[0])

    def forward(self):
        h, last = self.project(), len(self.norms) - 1
        for k, norm in enumerate(self.norms):
            if k > 0 and self.model == "gcn":
                h = (F.dropout(h, DROPOUT, self.training) if k == last else h) @ self.weights[k]
            h = norm(Product.apply(self.a, self.a, h))
            if self.model == "gcn":
                h = F.relu(h)
        return h


class Factored(Strongest):
    norm = FactoredGroupNorm


class CompiledGroupNorm(FactoredGroupNorm):
    """One compiled function for every layer of one width; products with CSR tensors stay outside: they are not traced."""

    forward = torch.compile(FactoredGroupNorm.forward, dynamic=False)


class Compiled(Strongest):
    norm = CompiledGroupNorm


FORMS = {"users": Users, "strongest": Strongest, "factored": Factored, "compiled": Compiled}
