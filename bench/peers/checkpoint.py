"""checkpoint.py RUN FILE.npz: loads RUN/model.safetensors of `fathom train --model gcn --norm group --out RUN` (preset
authors or pyg) into PyTorch Geometric's modules, strictly, and prints the test accuracy and the largest difference to
the logits of `fathom eval` (RUN/logits.npy), if they are there."""
import os
import sys

import numpy as np
import torch
import torch.nn.functional as F
from safetensors import safe_open
from torch import nn
from torch_geometric.nn import DiffGroupNorm, GCNConv

from networks import AuthorsGroupNorm, Data

run, data = sys.argv[1], Data(sys.argv[2])
with safe_open(os.path.join(run, "model.safetensors"), "pt") as file:
    meta, state = file.metadata(), {k: file.get_tensor(k) for k in file.keys()}
layers, hidden, groups, lamda = int(meta["layers"]), int(meta["hidden"]), int(meta["groups"]), float(meta["lambda"])
width = [data.features] + [hidden] * (layers - 1) + [data.classes]
group_norm = AuthorsGroupNorm if meta["preset"] == "authors" else DiffGroupNorm
net = nn.Module()
net.convs = nn.ModuleList([GCNConv(width[k], width[k + 1], bias=False) for k in range(layers)])
net.norms = nn.ModuleList([group_norm(width[k + 1], groups, lamda) for k in range(layers)])
net.load_state_dict(state, strict=True)
net.eval()
with torch.no_grad():
    h = data.dense()
    for conv, norm in zip(net.convs, net.norms):
        h = F.relu(norm(conv(h, data.edges)))
print(f"preset {meta['preset']}, {layers} layers: test accuracy {(h.argmax(1) == data.y)[data.sets[2]].float().mean():.4f}")
logits = os.path.join(run, "logits.npy")
if os.path.exists(logits):
    print(f"largest difference to fathom's logits: {np.abs(h.numpy() - np.load(logits)).max():.2e}")
