"""compare.py: epochs of fathom and of PyTorch Geometric in turns on one machine, and the table of ratios; then the
instance information gain against numpy. See README.md; called by ./run, which has the options."""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from importlib.metadata import version

HERE = os.path.dirname(os.path.abspath(__file__))
ALL, ATTENTION, LEAN = ("users", "strongest", "factored", "compiled"), ("users",), ("factored", "compiled")
# data, model, layers, width, forms. Four layers of 256 columns with an n x G x d array need more than 24 GB.
ROWS = [("cora", "gcn", 2, 16, ALL), ("cora", "gcn", 15, 16, ALL), ("cora", "gcn", 30, 16, ALL),
        ("cora", "gat", 15, 16, ATTENTION), ("cora", "sgc", 60, 16, ALL), ("citeseer", "gcn", 15, 16, ALL),
        ("pubmed", "gcn", 15, 16, ALL), ("coauthor-cs", "gcn", 15, 16, ALL),
        ("rmat", "gcn", 2, 256, ALL), ("rmat", "gcn", 4, 256, LEAN)]
# The size of ogbn-arxiv.
RMAT = "data make rmat --nodes 169343 --edges 1166243 --features 128 --density 1 --classes 40".split()
GAINS = {"cora": 3, "citeseer": 3, "coauthor-cs": 1}  # turns: numpy takes minutes for the last


def arguments():
    p = argparse.ArgumentParser(prog="run", description="fathom and PyTorch Geometric in turns: a table of ratios")
    p.add_argument("--fathom", default=os.path.join(HERE, "..", "..", "build", "fathom"), help="the command")
    p.add_argument("--threads", type=int, default=os.cpu_count(), help="of both sides")
    p.add_argument("--rounds", type=int, default=15, help="turns of each side per row")
    p.add_argument("--seconds", type=float, default=0.4, help="of each turn")
    p.add_argument("--only", default="", help="rows with this in them: 'cora gcn 15', 'gain'")
    p.add_argument("--json", help="write the figures to this file")
    return p.parse_args()


def facts(options):
    """What the figures belong to."""
    with open("/proc/cpuinfo") as file:
        models = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    fathom = subprocess.run([options.fathom, "--version"], check=True, capture_output=True, text=True).stdout.strip()
    return {"processor": models[0] if models else platform.machine(), "cores": os.cpu_count(),
            "system": f"{platform.freedesktop_os_release()['PRETTY_NAME']}, Linux {platform.release()}",
            "versions": {"fathom": fathom.removeprefix("fathom "), "torch": version("torch"),
                         "torch_geometric": version("torch_geometric"), "numpy": version("numpy"),
                         "python": platform.python_version()}}


class Worker:
    """One form of one network in a process of its own."""

    def __init__(self, form, path, model, layers, threads, hidden):
        words = [sys.executable, os.path.join(HERE, "worker.py"), form, path, model, str(layers), str(threads), str(hidden)]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.answer()  # it is ready
        self.epochs, self.ms, self.peak = 3, [], 0.0

    def answer(self):
        line = self.process.stdout.readline()
        return json.loads(line) if line else sys.exit("compare: the worker ended; see its message above")

    def turn(self, keep, seconds):
        self.process.stdin.write(f"{self.epochs}\n")
        self.process.stdin.flush()
        answer = self.answer()
        assert answer["loss"] == answer["loss"], "the loss of PyTorch is not a number"
        self.peak = answer["peak_mb"]
        self.epochs = max(3, min(300, round(1e3 * seconds / statistics.median(answer["ms"]))))
        if keep:
            self.ms += answer["ms"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Fathom:
    def __init__(self, options, data, model, layers, hidden):
        self.words = [options.fathom, "train", "--device", "cpu", "--threads", str(options.threads), "--data", data,
                      "--model", model, "--norm", "group", "--layers", str(layers), "--hidden", str(hidden),
                      "--metrics", "none", "--quiet", "--json"]
        if data.endswith(".npz"):
            self.words += ["--split", "random:40,150"]
        self.epochs, self.ms, self.peak = 5, [], 0.0

    def turn(self, keep, seconds):
        words = self.words + ["--epochs", str(self.epochs)]
        answer = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
        median = answer["time"]["median_epoch_ms"]
        self.peak = answer["memory"]["peak_rss_bytes"] / 2**20
        self.epochs = max(5, min(3000, round(1e3 * seconds / median)))
        if keep:
            self.ms.append(median)  # a median of each turn: the turns are as long as PyTorch's


def compare_row(options, folder, data, model, layers, hidden, forms):
    path = converted(options, folder, data)
    sides = {"fathom": Fathom(options, path if data == "rmat" else data, model, layers, hidden)}
    for form in forms:
        sides[form] = Worker(form, path, model, layers, options.threads, hidden)
    for turn in range(options.rounds + 1):  # the first is the warm-up
        for side in sides.values():
            side.turn(turn > 0, options.seconds)
    result = {name: {"ms": statistics.median(side.ms), "peak_mb": side.peak} for name, side in sides.items()}
    for side in sides.values():
        if isinstance(side, Worker):
            side.close()
    return result


def converted(options, folder, data):
    path = os.path.join(folder, data + ".npz")
    made = RMAT if data == "rmat" else ["data", "convert", data]
    if not os.path.exists(path):
        subprocess.run([options.fathom, *made, "-o", path, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    return path


def compare_gain(options, folder, data):
    import numpy as np
    path, logits = converted(options, folder, data), os.path.join(folder, "h.npy")
    z = np.load(path)
    h = np.random.default_rng(1).standard_normal((len(z["labels"]), int(z["classes"][0]))).astype(np.float32)
    np.save(logits, h)
    bench = [options.fathom, "bench", "--what", "metrics", "--only", data, "--device", "cpu", "--threads",
             str(options.threads), "--seconds", str(options.seconds), "--quiet", "--json"]
    limits = {**os.environ, "OPENBLAS_NUM_THREADS": str(options.threads), "OMP_NUM_THREADS": str(options.threads)}
    peers, own = [], []
    for _ in range(min(GAINS[data], options.rounds)):
        answer = subprocess.run([sys.executable, os.path.join(HERE, "gain.py"), path, logits], check=True, env=limits,
                                capture_output=True, text=True).stdout
        peers += json.loads(answer)["seconds"][1:]  # the first warms up
        rows = json.loads(subprocess.run(bench, check=True, capture_output=True, text=True).stdout)["devices"][0]["rows"]
        own += [r["median_s"] for r in rows if r["name"] == "instance information gain" and r["shape"] == data]
    value = subprocess.run([options.fathom, "metrics", "--embeddings", logits, "--data", data, "--quiet", "--json"],
                           check=True, capture_output=True, text=True).stdout
    return {"numpy_s": statistics.median(peers), "fathom_s": statistics.median(own),
            "numpy_gain": json.loads(answer)["gain"],
            "fathom_gain": json.loads(value)["instance_information_gain"]}


def main():
    options, table, gains = arguments(), [], []
    about = facts(options)
    print(f"{about['processor']}, {about['cores']} cores; {about['system']}; "
          + ", ".join(f"{name} {number}" for name, number in about["versions"].items())
          + f"; {options.rounds} turns of {options.seconds:g} s\n")
    print(f"| epoch of ({options.threads} threads) | fathom | PyG, as users write it | ratio | strongest PyTorch | ratio "
          "| norm factored by hand | ratio | compiled | ratio |\n|---|---|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for data, model, layers, hidden, forms in ROWS:
            if options.only not in f"{data} {model} {layers}":
                continue
            try:
                r = compare_row(options, folder, data, model, layers, hidden, forms)
            except subprocess.CalledProcessError as error:
                print(f"| {data} {model} {layers} | {(error.stderr or 'failed').strip()} | | | | |", flush=True)
                continue
            table.append({"data": data, "model": model, "layers": layers, "hidden": hidden, **r})
            cell = lambda side: f"{r[side]['ms']:.4g} ms, {r[side]['peak_mb']:.0f} MB" if side in r else "-"
            times = lambda side: f"{r[side]['ms'] / r['fathom']['ms']:.1f}" if side in r else "-"
            forms = " | ".join(f"{cell(form)} | {times(form)}" for form in ALL)
            width = f" of {hidden}" if hidden != 16 else ""
            print(f"| {data} {model.upper()} + group norm, {layers} layers{width} | {cell('fathom')} | {forms} |", flush=True)
        wanted = [data for data in GAINS if options.only in f"{data} gain"]
        if wanted:
            print("\n| instance information gain | fathom | numpy | ratio | difference of the values |\n|---|---|---|---|---|")
            for data in wanted:
                g = compare_gain(options, folder, data)
                gains.append({"data": data, **g})
                print(f"| {data} | {1e3 * g['fathom_s']:.3g} ms | {1e3 * g['numpy_s']:.3g} ms | "
                      f"{g['numpy_s'] / g['fathom_s']:.1f} | {abs(g['numpy_gain'] - g['fathom_gain']):.1e} |", flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump({**about, "threads": options.threads, "rows": table, "gains": gains}, file, indent=1)


main()
