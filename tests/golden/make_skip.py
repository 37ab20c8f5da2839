"""The vectors model_MODEL_NORM_SKIP.* of this folder: networks with skip connections in float64, from PyTorch and
PyTorch Geometric: logits, loss, gradients, ten steps of Adam; and in nmse32.NAME what PyTorch's own float32 reaches,
the yardstick for a bound.

    pip install torch torch_geometric safetensors numpy
    python make_skip.py        # writes into the folder of this file, which has graph.npz"""
import copy, os
import numpy as np, torch, torch.nn as nn, torch.nn.functional as F
from safetensors.torch import save_file
from torch_geometric.nn import GATConv, GCNConv

HERE = os.path.dirname(os.path.abspath(__file__))
LAYERS, HIDDEN, GROUPS, LAMBDA, WEIGHT = 4, 8, 3, 0.1, 0.3
torch.set_default_dtype(torch.float64)


class Group(nn.Module):  # preset "authors": a bias in the assignment, momentum 0.3
    def __init__(self, d):
        super().__init__()
        self.norm, self.lin = nn.BatchNorm1d(d * GROUPS, momentum=0.3), nn.Linear(d, GROUPS)

    def forward(self, x):
        t = F.softmax(self.lin(x), 1).unsqueeze(2) * x.unsqueeze(1)
        return x + LAMBDA * self.norm(t.reshape(len(x), -1)).view(-1, GROUPS, x.shape[1]).sum(1)


class Batch(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.module = nn.BatchNorm1d(d, momentum=0.3)

    def forward(self, x):
        return self.module(x)


class Net(nn.Module):
    def __init__(self, conv, norm, skip, features, classes):
        super().__init__()
        d = [features] + [HIDDEN] * (LAYERS - 1) + [classes]
        self.skip = skip
        self.convs = nn.ModuleList([conv(d[k], d[k + 1], bias=False) for k in range(LAYERS)])
        self.norms = nn.ModuleList([norm(d[k + 1]) for k in range(LAYERS)])

    def forward(self, x, edges):
        h, first = x, None
        for k, (conv, norm) in enumerate(zip(self.convs, self.norms)):
            b = F.relu(norm(conv(h, edges)))
            if self.skip != "none" and k > 0 and b.shape == h.shape:  # H = (1 - A) act(norm(Z)) + A H'
                b = (1 - WEIGHT) * b + WEIGHT * (h if self.skip == "residual" else first)
            h = b
            first = h if first is None else first
        return h


def arrays(t):
    return t.detach().numpy().copy()


def nmse(a, b):
    return np.float64(((arrays(a).astype(np.float64) - b) ** 2).sum() / max((b ** 2).sum(), 1e-300))


def make(name, conv, norm, skip):
    model, kind = name.split("_")
    data = np.load(f"{HERE}/graph.npz")
    x, y, train = (torch.tensor(data[key]) for key in ("x", "y", "train"))
    edges = torch.tensor(data["edge_index"])
    net = Net(conv, norm, skip, x.shape[1], int(data["num_classes"]))
    with torch.no_grad():  # no parameter stays at 0 or 1
        for p in net.parameters():
            if p.ndim <= 1:
                p.add_(0.1 * torch.randn_like(p))
    stored = {k: v.clone().float().contiguous() if v.is_floating_point() else v.clone()
              for k, v in net.state_dict().items()}
    meta = {"model": model, "norm": kind, "layers": LAYERS, "hidden": HIDDEN, "groups": GROUPS, "lambda": LAMBDA,
            "preset": "authors", "skip": skip, "skip_weight": WEIGHT}
    path = f"{HERE}/model_{name}" + ("" if skip == "none" else f"_{skip}")
    save_file(stored, path + ".safetensors", metadata={k: str(v) for k, v in meta.items()})

    def restore():
        net.load_state_dict({k: v.double() if v.is_floating_point() else v for k, v in stored.items()})

    def step(of, features):
        of.zero_grad()
        of.train()
        logits = of(features, edges)
        loss = F.cross_entropy(logits[train], y[train])
        loss.backward()
        return logits, loss

    restore()
    net.eval()
    out = {"logits_eval_initial": arrays(net(x, edges))}
    logits, loss = step(net, x)
    out |= {"logits_train": arrays(logits), "loss": arrays(loss)}
    out |= {"g." + k: arrays(p.grad) for k, p in net.named_parameters()}
    restore()
    adam, losses = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=5e-4), []
    for _ in range(10):
        losses.append(step(net, x)[1].item())
        adam.step()
    net.eval()
    out |= {"adam10_losses": np.array(losses), "adam10_logits_eval": arrays(net(x, edges))}
    out |= {"adam10." + k: arrays(v) for k, v in net.state_dict().items()}
    restore()
    single = copy.deepcopy(net).float()
    torch.set_default_dtype(torch.float32)
    logits, loss = step(single, x.float())
    torch.set_default_dtype(torch.float64)
    got = {"logits_train": logits, "loss": loss} | {"g." + k: p.grad for k, p in single.named_parameters()}
    np.savez(path + ".npz", **out, **{"nmse32." + k: nmse(v, out[k]) for k, v in got.items()})


if __name__ == "__main__":
    torch.manual_seed(20261119)
    make("gcn_group", GCNConv, Group, "initial")
    make("gcn_group", GCNConv, Group, "residual")
    make("gat_batch", GATConv, Batch, "initial")
