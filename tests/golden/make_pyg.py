"""The vectors model_MODEL_NORM_pyg.* of this folder: the networks of torch_geometric.nn.models, with biases and neither
norm nor ReLU after the last layer, in float64: logits, loss, gradients, ten steps of Adam; and in nmse32.NAME what
PyTorch's own float32 reaches, the yardstick for a bound. Not with batch norm, before which the gradient of a bias is 0:
Adam would divide rounding errors by their own size.

    pip install torch torch_geometric safetensors numpy
    python make_pyg.py        # writes into the folder of this file, which has graph.npz"""
import copy, os
import numpy as np, torch, torch.nn.functional as F
from safetensors.torch import save_file
from torch_geometric.nn.models import GAT, GCN

HERE = os.path.dirname(os.path.abspath(__file__))
LAYERS, HIDDEN, GROUPS, LAMBDA = 3, 8, 3, 0.1
DRAWS = 10
torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)


def arrays(t):
    return t.detach().numpy().copy()


def nmse(a, b):
    return np.float64(((arrays(a).astype(np.float64) - b) ** 2).sum() / max((b ** 2).sum(), 1e-300))


def make(name, build, **meta):
    data = np.load(f"{HERE}/graph.npz")
    x, y, train = (torch.tensor(data[key]) for key in ("x", "y", "train"))
    edges = torch.tensor(data["edge_index"])

    def draw():
        net = build(x.shape[1], int(data["num_classes"]))
        with torch.no_grad():  # no parameter stays at 0 or 1
            for p in net.parameters():
                if p.ndim <= 1:
                    p.add_(0.1 * torch.randn_like(p))
        return net, {k: v.clone().float().contiguous() if v.is_floating_point() else v.clone()
                     for k, v in net.state_dict().items()}

    def restore():
        net.load_state_dict({k: v.double() if v.is_floating_point() else v for k, v in stored.items()})

    def step(of, features):
        of.zero_grad()
        of.train()
        logits = of(features, edges)
        loss = F.cross_entropy(logits[train], y[train])
        loss.backward()
        return logits, loss

    def ten_steps(of, features):
        adam, losses = torch.optim.Adam(of.parameters(), lr=0.01, weight_decay=5e-4), []
        for _ in range(10):
            losses.append(step(of, features)[1].item())
            adam.step()
        of.eval()
        sizes = [s["exp_avg_sq"].sqrt() for s in adam.state.values()]
        after = {"adam10_logits_eval": of(features, edges)} | {"adam10." + k: v for k, v in of.state_dict().items()}
        return np.array(losses), after, min(v.min() for v in sizes) / max(v.max() for v in sizes)

    best = -1  # Adam divides a gradient by its size, and with it the rounding error: the draw with the least small ones
    for _ in range(DRAWS):
        net, stored = draw()
        restore()
        least = ten_steps(net, x)[2]
        if least > best:
            best, chosen = least, (net, stored)
    net, stored = chosen
    model, norm = name.split("_")
    meta = {"model": model, "norm": norm, "last_norm": "off", "last_act": "off", "preset": "pyg"} | meta
    path = f"{HERE}/model_{name}_pyg"
    save_file(stored, path + ".safetensors", metadata={k: str(v) for k, v in meta.items()})

    restore()
    net.eval()
    out = {"logits_eval_initial": arrays(net(x, edges))}
    logits, loss = step(net, x)
    out |= {"logits_train": arrays(logits), "loss": arrays(loss)}
    out |= {"g." + k: arrays(p.grad) for k, p in net.named_parameters()}
    restore()
    out["adam10_losses"], adam10, _ = ten_steps(net, x)
    out |= {k: arrays(v) for k, v in adam10.items()}
    restore()
    single = copy.deepcopy(net).float()
    torch.set_default_dtype(torch.float32)
    logits, loss = step(single, x.float())
    got = {"logits_train": logits, "loss": loss} | {"g." + k: p.grad for k, p in single.named_parameters()}
    single = copy.deepcopy(net).float()
    got |= ten_steps(single, x.float())[1]
    torch.set_default_dtype(torch.float64)
    np.savez(path + ".npz", **out, **{"nmse32." + k: nmse(v, out[k]) for k, v in got.items()})


group = {"norm": "DiffGroupNorm", "norm_kwargs": {"groups": GROUPS, "lamda": LAMBDA}}
torch.manual_seed(20261119)
make("gcn_none", lambda f, c: GCN(f, HIDDEN, LAYERS, c))
make("gcn_group", lambda f, c: GCN(f, HIDDEN, LAYERS, c, **group), **{"lambda": LAMBDA})
make("gat_none", lambda f, c: GAT(f, HIDDEN, LAYERS, c, heads=4))
make("gat_group", lambda f, c: GAT(f, HIDDEN, LAYERS, c, heads=4, **group), **{"lambda": LAMBDA})
