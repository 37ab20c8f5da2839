"""norm.py [--threads 2] [--markdown]: the group norm alone, forward and backward in PyTorch: fathom.torch.DiffGroupNorm, the
one of PyTorch Geometric, and one factored by hand into products without the n x G x d tensor (networks.py). G = 10.

Each form runs in a process of its own: the median time of a call pair, and the growth of the peak of its memory over the
memory before the first one. Values and gradients are compared with PyTorch Geometric in float64. The package is that of
this tree (FATHOM_LIBRARY, or the build in build/)."""
import argparse
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SIZES = ((19717, 16), (169343, 64), (169343, 256))
FORMS = ("fathom", "pyg", "factored")


def resident(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith(name))


def made(form, d):
    if form == "fathom":
        from fathom.torch import DiffGroupNorm
        return DiffGroupNorm(d, 10)
    from networks import DiffGroupNorm, FactoredGroupNorm
    return (DiffGroupNorm if form == "pyg" else FactoredGroupNorm)(d, 10)


def worker(form, n, d, threads):
    import time

    import torch
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    norm = made(form, d)
    x, g = torch.randn(n, d, requires_grad=True), torch.randn(n, d)
    small = torch.randn(100, d, requires_grad=True)
    norm(small).sum().backward()  # loads what is loaded once
    before, times = resident("VmRSS"), []
    while len(times) < 3 or (sum(times) < 4 and len(times) < 200):
        x.grad = None
        norm.zero_grad()
        start = time.perf_counter()
        norm(x).backward(g)
        times.append(time.perf_counter() - start)
    print(json.dumps({"ms": 1e3 * sorted(times[1:])[len(times[1:]) // 2], "mb": resident("VmHWM") - before}))


def errors(n, d):
    """The largest errors of y and of the gradients, relative to the largest entry in float64."""
    import torch
    torch.manual_seed(1)
    ours, theirs = made("fathom", d), made("pyg", d)
    theirs.load_state_dict(ours.state_dict())
    theirs.double()
    x, g = torch.randn(n, d), torch.randn(n, d)
    a, b = x.clone().requires_grad_(), x.double().requires_grad_()
    y, wanted = ours(a), theirs(b)
    y.backward(g)
    wanted.backward(g.double())

    def error(got, want):
        return float(((got.double() - want).abs().max() / want.abs().max()).detach())
    pairs = [(a.grad, b.grad)] + [(p.grad, q.grad) for p, q in zip(ours.parameters(), theirs.parameters())]
    return error(y, wanted), max(error(p, q) for p, q in pairs)


def overhead():
    """Microseconds of a forward at n = 100, d = 64."""
    import time

    import torch
    norm, x, times = made("fathom", 64), torch.randn(100, 64, requires_grad=True), []
    for _ in range(3000):
        start = time.perf_counter()
        norm(x)
        times.append(time.perf_counter() - start)
    return 1e6 * sorted(times)[len(times) // 2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--worker", nargs=3)
    options = parser.parse_args()
    sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "python")]
    if options.worker:
        form, n, d = options.worker
        return worker(form, int(n), int(d), options.threads)
    print("| n | d | fathom, ms (MB) | PyG | times | factored | times |\n|---|---|---|---|---|---|---|")
    for n, d in SIZES:
        got = {}
        for form in FORMS:
            command = [sys.executable, "-W", "ignore", __file__, f"--threads={options.threads}", "--worker", form, str(n), str(d)]
            got[form] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
        ours = got["fathom"]
        row = [f"{n:,}", str(d), f"{ours['ms']:.3g} ({ours['mb']:.0f})"]
        for form in FORMS[1:]:
            row += [f"{got[form]['ms']:.4g} ({got[form]['mb']:.0f})",
                    f"{got[form]['ms'] / ours['ms']:.1f} ({got[form]['mb'] / ours['mb']:.1f})"]
        print("| " + " | ".join(row) + " |", flush=True)
    value, gradient = errors(*SIZES[0])
    print(f"\nerror against PyG in float64: values {value:.1e}, gradients {gradient:.1e}; "
          f"a forward at n = 100: {overhead():.0f} us")


if __name__ == "__main__":
    main()
