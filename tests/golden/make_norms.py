"""The vectors norm_mean_*, norm_node_* and model_MODEL_(mean|node).* of this folder: mean and node norm in float64 by
PyTorch's own gradients, alone and in networks of PyTorch Geometric.

    pip install torch torch_geometric safetensors numpy
    python make_norms.py       # writes into the folder of this file, which has graph.npz"""
import numpy as np, torch, torch.nn as nn
from make_skip import HERE, GATConv, GCNConv, arrays, make, nmse


class Mean(nn.Module):
    def __init__(self, d):
        super().__init__()

    def forward(self, x):
        return x - x.mean(0)


class Node(nn.Module):  # p = 2: the square root of the deviation
    def __init__(self, d):
        super().__init__()

    def forward(self, x):
        deviation = (x.var(1, unbiased=False, keepdim=True) + 1e-5).sqrt()
        return x / deviation ** (1 / 2)


def alone(name, norm, n, d, tag):
    x = torch.randn(n, d) + (1000.0 if tag.startswith("offset") else 0.0)
    gout = torch.randn(n, d)

    def run(dtype):
        at = x.detach().to(dtype, copy=True).requires_grad_()
        out = norm(d)(at)
        out.backward(gout.to(dtype))
        return {"out_train": out, "gx": at.grad}

    want = {k: arrays(v) for k, v in run(torch.float64).items()}
    single = {"nmse32." + k: nmse(v, want[k]) for k, v in run(torch.float32).items()}
    np.savez(f"{HERE}/norm_{name}_{tag}.npz", x=arrays(x), gout=arrays(gout), out_eval=want["out_train"], **want,
             **single)


if __name__ == "__main__":
    torch.manual_seed(20261120)
    sizes = {"tiny": (7, 3), "wide": (65, 16), "one_group": (130, 5), "offset": (50, 4), "offset_soft": (80, 6),
             "one_column": (33, 1)}
    for name, norm in (("mean", Mean), ("node", Node)):
        for tag, (n, d) in sizes.items():
            alone(name, norm, n, d, tag)
        make(f"gcn_{name}", GCNConv, norm, "none")
        make(f"gat_{name}", GATConv, norm, "residual")
