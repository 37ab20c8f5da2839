"""worker.py FORM FILE.npz MODEL LAYERS THREADS [HIDDEN]: for each line "N" on standard input runs N epochs and prints
their milliseconds and the peak memory as JSON. An epoch is a training step, the evaluation of all nodes and three accuracies."""
import json
import resource
import sys
import time
import warnings

warnings.filterwarnings("ignore")  # CSR tensors are called beta, TorchScript old

import torch
import torch.nn.functional as F

from networks import FORMS, HIDDEN, Data


def main(form, path, model, layers, threads, hidden=HIDDEN):
    torch.set_num_threads(int(threads))
    torch.manual_seed(100)
    data = Data(path)
    net = FORMS[form](data, model, int(layers), int(hidden))
    adam = torch.optim.Adam(net.parameters(), lr=5e-3, weight_decay=5e-4)
    train = data.sets[0]

    def epoch():
        net.train()
        adam.zero_grad()
        loss = F.cross_entropy(net()[train], data.y[train])
        loss.backward()
        adam.step()
        net.eval()
        with torch.no_grad():
            right = net().argmax(1) == data.y
            scores = [right[s].float().mean().item() for s in data.sets]
        return loss.item(), scores

    print("{}", flush=True)  # ready
    for line in sys.stdin:
        times = []
        for _ in range(int(line)):
            start = time.perf_counter()
            loss, scores = epoch()
            times.append(1e3 * (time.perf_counter() - start))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({"ms": times, "peak_mb": peak, "loss": loss, "scores": scores}), flush=True)


main(*sys.argv[1:])
