#!/usr/bin/env python3
"""load.py [FATHOM] - how long fathom and numpy + pandas take to load one graph of the size of ogbn-arxiv (169,343 nodes,
1,166,243 edges, 128 features) from OGB csv tables, and fathom from a .npz. Prints medians of wall and processor seconds.

    python3 -m venv v && v/bin/pip install numpy pandas && v/bin/python bench/peers/load.py build/fathom
"""
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

PANDAS = """
import numpy as np, pandas as pd, sys
read = lambda name: pd.read_csv(sys.argv[1] + '/' + name + '.csv.gz', header=None).values
edges, features, labels = read('edge').T.astype(np.int64), read('node-feat').astype(np.float32), read('node-label')
"""
IMPORTS = "import numpy as np, pandas as pd"


def run(words):
    """Wall and processor seconds of a command, and its output."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    out = subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, out


def main():
    fathom = sys.argv[1] if len(sys.argv) > 1 else "build/fathom"
    with tempfile.TemporaryDirectory() as folder:
        made = ["data", "make", "rmat", "--nodes", "169343", "--edges", "1166243", "--features", "128", "--density", "1",
                "--classes", "40", "-q"]
        run([fathom] + made + ["--layout", "ogb", "-o", folder + "/ogb"])
        run([fathom] + made + ["-o", folder + "/big.npz"])
        empty = [run([sys.executable, "-c", IMPORTS])[:2] for _ in range(3)]
        import_wall, import_cpu = (statistics.median(t) for t in zip(*empty))
        rows = {"numpy + pandas, csv": [], "fathom, csv": [], "fathom, npz": []}
        for _ in range(5):
            wall, cpu, _ = run([sys.executable, "-c", PANDAS, folder + "/ogb"])
            rows["numpy + pandas, csv"].append((wall - import_wall, cpu - import_cpu))
            for name, path in (("fathom, csv", folder + "/ogb"), ("fathom, npz", folder + "/big.npz")):
                wall, cpu, out = run([fathom, "data", "info", path, "--json", "-q"])
                rows[name].append((json.loads(out)["time"]["load_s"], cpu))
    base = [statistics.median(t) for t in zip(*rows["numpy + pandas, csv"])]
    for name, times in rows.items():
        wall, cpu = (statistics.median(t) for t in zip(*times))
        print("%-20s %6.2f s wall, %6.2f s processor, %.2f and %.2f of numpy + pandas" % (
            name, wall, cpu, wall / base[0], cpu / base[1]))


if __name__ == "__main__":
    main()
