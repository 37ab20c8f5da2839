"""The package but for fathom.torch: data, training, models, metrics, sweeps, errors. Needs numpy; what needs pandas,
scipy, networkx or torch_geometric is tested where they are."""
import doctest
import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

import fathom
from fathom._library import command


def has(*modules):
    return all(importlib.util.find_spec(m) for m in modules)


def ring(n=40, d=6, classes=3):
    """A small graph with features and classes: edge_index, x, y."""
    random = np.random.default_rng(1)
    edges = np.concatenate([np.stack([np.arange(n), (np.arange(n) + 1) % n]), random.integers(0, n, (2, n))], 1)
    edges = edges[:, edges[0] != edges[1]]
    return edges, random.random((n, d)).astype(np.float32), np.arange(n) % classes


def masks(n):
    part = np.arange(n) % 3
    return {"train_mask": part == 0, "val_mask": part == 1, "test_mask": part == 2}


class Importing(unittest.TestCase):
    def test_time_and_modules(self):
        text = "import sys, time; t = time.perf_counter(); import fathom; t = time.perf_counter() - t; " \
               "print(t, [m for m in ('numpy', 'torch', 'pandas', 'matplotlib', 'networkx') if m in sys.modules])"
        took, modules = subprocess.run([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True,
                                       check=True).stdout.split(" ", 1)
        self.assertEqual(modules.strip(), "[]")
        self.assertLess(float(took), 0.15)

    def test_names(self):
        for name in fathom.__all__:
            self.assertTrue(getattr(fathom, name).__doc__, name)
        self.assertIn(fathom.__version__, subprocess.run([command(), "--version"], stdout=subprocess.PIPE,
                                                         text=True).stdout)
        with self.assertRaises(AttributeError):
            fathom.nothing

    def test_doctests(self):
        for name in ("_data", "_device", "_metrics", "_model", "_training"):
            with self.subTest(module=name):
                done = doctest.testmod(importlib.import_module("fathom." + name))
                self.assertEqual(done.failed, 0)
                self.assertGreater(done.attempted, 0)

    def test_a_library_that_is_not_there(self):
        done = subprocess.run([sys.executable, "-c", "import fathom; fathom.devices()"], stderr=subprocess.PIPE,
                              text=True, env={**os.environ, "FATHOM_LIBRARY": "/nowhere/libfathom.so"})
        self.assertIn("FATHOM_LIBRARY may name another", done.stderr)


class Devices(unittest.TestCase):
    def test_list(self):
        rows = fathom.devices()
        self.assertEqual((rows[0]["selector"], rows[0]["backend"]), ("cpu", "cpu"))
        self.assertEqual(sum(row["selected"] for row in rows), 1)

    def test_closed(self):
        device = fathom.Device("cpu")
        self.assertEqual(fathom.train("karate", layers=2, epochs=2, device=device).epochs, 2)
        device.close()
        device.close()
        self.assertIn("closed", repr(device))
        for call in (lambda: device.info, lambda: fathom.train("karate", layers=2, epochs=2, device=device),
                     lambda: fathom.measure(np.eye(3), device=device)):
            with self.assertRaisesRegex(fathom.UsageError, "device is closed"):
                call()

    def test_closed_during_a_training(self):
        device = fathom.Device("cpu")
        result = fathom.train("karate", layers=2, epochs=3, device=device, callback=lambda e: device.close())
        self.assertEqual(result.epochs, 3)

    def test_unknown(self):
        with self.assertRaises(fathom.DeviceError) as caught:
            fathom.train("karate", device="no such card", epochs=1)
        self.assertEqual(caught.exception.status, "DEVICE")


class Data(unittest.TestCase):
    def test_arrays(self):
        edges, x, y = ring()
        data = fathom.Data(edges, x, y, **masks(40))
        self.assertEqual((data.nodes, data.num_features, data.classes), (40, 6, 3))
        np.testing.assert_array_equal(data.y, y)
        np.testing.assert_array_equal(data.train_mask, masks(40)["train_mask"])
        both = fathom.Data(csr=data.csr, x=x.astype(np.float64), y=y.astype(float), **masks(40))
        self.assertEqual(both.info["sha256"], data.info["sha256"])
        self.assertEqual(both.info["borrowed"] & 1, 1)  # the graph is used in place
        again = fathom.Data(data.edge_index[:, ::2], x, y)
        self.assertGreater(again.edges, 0)
        np.testing.assert_allclose(data.x.sum(1), 1, rtol=1e-5)  # rows divided by their sum
        np.testing.assert_array_equal(fathom.Data(edges, x, y, feature_norm="none").x, x)

    def test_saved(self):
        edges, x, y = ring()
        data = fathom.Data(edges, x, y, feature_norm="none", **masks(40))
        with tempfile.TemporaryDirectory() as folder:
            data.save(os.path.join(folder, "ring.npz"))
            other = fathom.Data.load(os.path.join(folder, "ring.npz"))
        self.assertEqual(other.info["sha256"], data.info["sha256"])
        np.testing.assert_array_equal(other.test_mask, data.test_mask)

    def test_strings(self):
        edges, x, _ = ring(6)
        data = fathom.Data(edges, x, ["b", "a", None, "b", "", "c"])
        self.assertEqual(data.class_names, ["a", "b", "c"])
        self.assertEqual(data.y.tolist(), [1, 0, -1, 1, -1, 2])

    def test_refused(self):
        edges, x, y = ring()
        nan = x.copy()
        nan[3, 2] = np.nan
        outside, negative = edges.copy(), edges.copy()
        outside[0, 0], negative[0, 0] = 40, -1
        for word, kind, given in (
                ("edge_index", fathom.UsageError, {"edge_index": edges.T, "x": x}),
                ("edge_index", fathom.DataError, {"edge_index": outside, "x": x}),
                ("edge_index", fathom.DataError, {"edge_index": negative, "x": x}),
                ("edge_index", fathom.UsageError, {"edge_index": edges + 0.5, "x": x}),
                ("edge_index", fathom.UsageError, {"edge_index": "cora"}),
                ("csr", fathom.UsageError, {"x": x}),
                ("csr", fathom.DataError, {"csr": ([0, 1, 5], [0, 1])}),
                ("x has 1 dim", fathom.UsageError, {"edge_index": edges, "x": x[:, 0]}),
                ("x has values", fathom.DataError, {"edge_index": edges, "x": nan}),
                ("x has values", fathom.UsageError, {"edge_index": edges, "x": x.astype(complex)}),
                ("x is no array", fathom.UsageError, {"edge_index": edges, "x": object()}),
                ("y has 39 nodes", fathom.UsageError, {"edge_index": edges, "x": x, "y": y[:-1]}),
                ("y has the class", fathom.DataError, {"edge_index": edges, "x": x, "y": y - 2}),
                ("y has values", fathom.UsageError, {"edge_index": edges, "x": x, "y": y + 0.5}),
                ("train_mask has 39", fathom.UsageError, {"edge_index": edges, "x": x, "y": y,
                                                          "train_mask": np.ones(39, bool)}),
                ("val_mask names node 40", fathom.DataError, {"edge_index": edges, "x": x, "y": y, "train_mask": [0],
                                                              "val_mask": [40]}),
                ("test_mask needs", fathom.UsageError, {"edge_index": edges, "x": x, "y": y, "test_mask": [1]}),
                ("feature_norm", fathom.UsageError, {"edge_index": edges, "x": x, "y": y, "feature_norm": "max"}),
                ("split", fathom.Error, {"edge_index": edges, "x": x, "y": y, "split": "half"}),
                ("num_nodes", fathom.UsageError, {"edge_index": edges, "x": x, "num_nodes": 7})):
            with self.subTest(word=word), self.assertRaisesRegex(kind, word.replace("(", r"\(")):
                fathom.Data(**given)
        with self.assertRaisesRegex(fathom.DataError, "no_such_data"):
            fathom.Data.load("no_such_data")

    @unittest.skipUnless(has("scipy"), "scipy is not installed")
    def test_scipy(self):
        import scipy.sparse
        edges, x, y = ring()
        matrix = scipy.sparse.coo_matrix((np.ones(edges.shape[1]), edges), (40, 40))
        plain, data = fathom.Data(edges, x, y), fathom.Data.from_scipy(matrix, scipy.sparse.csr_matrix(x), y)
        np.testing.assert_array_equal(plain.csr[1], data.csr[1])
        np.testing.assert_allclose(plain.x, data.x, rtol=1e-6)

    @unittest.skipUnless(has("networkx"), "networkx is not installed")
    def test_networkx(self):
        import networkx
        graph = networkx.karate_club_graph()
        data = fathom.Data.from_networkx(graph, label="club")
        self.assertEqual((data.nodes, data.edges, data.class_names), (34, 78, ["Mr. Hi", "Officer"]))
        for node in graph:
            graph.nodes[node]["f"] = [float(node), 1.0]
        self.assertEqual(fathom.Data.from_networkx(graph, features="f", label="club").num_features, 2)
        with self.assertRaisesRegex(fathom.DataError, "features"):
            fathom.Data.from_networkx(graph, features="g")

    @unittest.skipUnless(has("pandas"), "pandas is not installed")
    def test_pandas(self):
        import pandas
        nodes = pandas.DataFrame({"id": ["n1", "n2", "n3", "n4"], "f": [1.0, 2, 3, 4], "g": [0, 1, 0, 1],
                                  "class": ["x", "y", "x", "y"], "part": ["train", "train", "val", "test"]})
        edges = pandas.DataFrame({"from": ["n1", "n2", "n3"], "to": ["n2", "n3", "n4"]})
        data = fathom.Data.from_pandas(edges, nodes, label="class", split="part", feature_norm="none")
        self.assertEqual(data.x.tolist(), [[1, 0], [2, 1], [3, 0], [4, 1]])
        self.assertEqual((data.node_ids, data.class_names), (["n1", "n2", "n3", "n4"], ["x", "y"]))
        self.assertEqual(data.train_mask.tolist(), [True, True, False, False])
        table = fathom.train(data, layers=2, epochs=2, device="cpu").predictions(data)
        self.assertEqual(list(table["node"]), data.node_ids)
        self.assertTrue(set(table["class"]) <= {"x", "y"})
        for bad, word in ((edges.replace("n4", "n9"), "n9"), (edges, "label|no column")):
            with self.assertRaisesRegex(fathom.Error, word):
                fathom.Data.from_pandas(bad, nodes, label="class" if word == "n9" else "klass")

    def test_ogb(self):
        edges, x, y = ring()

        class Dataset:  # what ogb.nodeproppred.NodePropPredDataset offers
            def get_idx_split(self):
                return {"train": np.arange(10), "valid": np.arange(10, 20), "test": np.arange(20, 40)}

            def __getitem__(self, _):
                return {"edge_index": edges, "node_feat": x, "num_nodes": 40}, y.reshape(-1, 1)
        data = fathom.Data.from_ogb(Dataset())
        self.assertEqual((data.info["train_count"], data.info["test_count"]), (10, 20))

    @unittest.skipUnless(has("torch", "torch_geometric"), "torch_geometric is not installed")
    def test_pyg(self):
        import torch
        from torch_geometric.data import Data as PygData
        edges, x, y = ring()
        own = PygData(x=torch.from_numpy(x), edge_index=torch.from_numpy(edges), y=torch.from_numpy(y))
        for name, mask in masks(40).items():
            own[name] = torch.from_numpy(mask)
        data = fathom.Data.from_pyg(own)
        self.assertEqual(data.info["sha256"], fathom.Data(edges, x, y, **masks(40)).info["sha256"])
        np.testing.assert_array_equal(data.val_mask, masks(40)["val_mask"])
        back = data.to_pyg()
        for model in ("gcn", "gat", "sgc", "gcnii"):
            for norm in ("none", "batch", "pair", "group", "mean", "node"):
                result = fathom.train(own, model=model, norm=norm, layers=3, epochs=3, device="cpu")
                with torch.no_grad():
                    logits = result.to_pyg()(back.x, back.edge_index).numpy()
                np.testing.assert_allclose(logits, result.logits, atol=1e-4 * np.abs(logits).max(), err_msg=model + norm)


class Training(unittest.TestCase):
    def test_the_bits_of_the_command(self):
        for options in ({}, {"model": "gat", "norm": "batch", "layers": 3}, {"model": "gcnii", "hidden": 8},
                        {"skip": "residual", "skip_weight": 0.3, "lamda": 0.02, "preset": "pyg"},
                        {"split": "random:2,2", "seed": 7, "missing_rate": 0.5, "recompute": "segments:2"}):
            with self.subTest(**options), tempfile.TemporaryDirectory() as folder:
                arguments = [f"--{k.replace('lamda', 'lambda').replace('_', '-')}={v}" for k, v in options.items()]
                out = os.path.join(folder, "run")
                subprocess.run([command(), "train", "--data=karate", "--epochs=12", "--device=cpu", "--quiet",
                                f"--out={out}", *arguments], check=True, stdout=subprocess.DEVNULL)
                result = fathom.train("karate", epochs=12, device="cpu", **options)
                with open(os.path.join(out, "run.json")) as file:
                    wanted = json.load(file)
                with open(os.path.join(out, "epochs.jsonl")) as file:
                    epochs = [json.loads(line) for line in file]
                self.assertEqual(result.history["loss"].astype(np.float32).tolist(),
                                 np.array([epoch["loss"] for epoch in epochs], np.float32).tolist())
                for record in (result.record, wanted):
                    record["config"].pop("out")
                self.assertEqual(result.record["config"], wanted["config"])
                for name in ("test_accuracy", "val_accuracy", "best_epoch", "loss"):
                    self.assertEqual(getattr(result, name), wanted["result"][name], name)
                self.assertEqual(result.metrics["instance_information_gain"],
                                 wanted["result"]["instance_information_gain"])
                result.save(os.path.join(folder, "model.safetensors"))
                ours = fathom.load(os.path.join(folder, "model.safetensors")).state_dict()
                for name, tensor in fathom.load(os.path.join(out, "model.safetensors")).state_dict().items():
                    np.testing.assert_array_equal(tensor, ours[name])

    def test_every_setting(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "run")
            fathom.train("karate", layers=2, epochs=2, device="cpu", out=out, checkpoint_every=1)
            longer = fathom.train("karate", layers=2, epochs=4, device="cpu", out=out, checkpoint_every=1, resume=True)
            self.assertEqual(longer.epochs, 4)
            fathom.train("karate", layers=2, epochs=2, device="cpu", init=os.path.join(out, "model.safetensors"))
        result = fathom.train("karate", layers=2, epochs=2, lamda="auto", device="cpu", metrics="none")
        self.assertGreater(result.candidates, 1)
        self.assertEqual(len(result.history["loss"]), 2)
        self.assertIsNone(result.metrics["group_distance_ratio"])
        result = fathom.train("karate", layers=2, epochs=50, patience=2, eval_every=2, device="cpu",
                              **{"lambda": 0.1})
        self.assertEqual(result.lambda_, 0.1)

    def test_refused(self):
        for word, given in (("layer_count", {"layer_count": 3}), ("layers", {"layers": 0}), ("layers", {"layers": 2.5}),
                            ("layers", {"layers": "deep"}), ("model", {"model": "gin"}), ("model", {"model": 9}),
                            ("norm", {"norm": "layer"}), ("lr", {"lr": "fast"}), ("lr", {"lr": -1}),
                            ("dropout", {"dropout": 1.5}), ("preset", {"preset": "mine"}), ("skip", {"skip": "dense"}),
                            ("recompute", {"recompute": "all"}), ("callback", {"callback": 3}),
                            ("feature_norm", {"feature_norm": "l2"}), ("split", {"split": "thirds"}),
                            ("progress", {"note": 1}), ("data", {"data": 3}), ("device", {"device": 1.5})):
            with self.subTest(given=given), self.assertRaisesRegex(fathom.Error, word if word != "progress" else "note"):
                fathom.train(**{"data": "karate", "epochs": 1, "device": "cpu", **given})

    def test_callback(self):
        seen = []
        result = fathom.train("karate", layers=2, epochs=50, device="cpu",
                              callback=lambda e: seen.append(e["loss"]) or e["epoch"] == 5)
        self.assertEqual((result.interrupted, result.epochs, len(seen)), (True, 5, 5))
        self.assertEqual(list(result.history["loss"]), seen)

        def broken(epoch):
            raise KeyError("mine")
        with self.assertRaisesRegex(KeyError, "mine"):
            fathom.train("karate", layers=2, epochs=50, device="cpu", callback=broken)
        nested = fathom.train("karate", layers=2, epochs=2, device="cpu", callback=lambda e: fathom.measure(
            np.eye(3), device="cpu")["mean_average_distance"] is None)
        self.assertEqual(nested.epochs, 2)

    def test_interrupted(self):
        text = "import fathom, sys\ntry:\n    fathom.train('karate', epochs=1000000, device='cpu', " \
               "callback=lambda e: e['epoch'] == 3 and print('on', flush=True))\n" \
               "except KeyboardInterrupt as stop:\n    print('epochs', stop.result.epochs, stop.result.interrupted)\n"
        process = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "on\n")
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        self.assertRegex(out, r"epochs \d+ True")
        self.assertEqual(process.returncode, 0)
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_threads_on_one_device(self):
        with fathom.Device("cpu", threads=2) as device:
            wanted = fathom.train("karate", layers=4, epochs=10, device=device).history["loss"]
            got, others = [], []

            def work():
                try:
                    got.append(fathom.train("karate", layers=4, epochs=10, device=device).history["loss"])
                except Exception as error:
                    others.append(error)
            threads = [threading.Thread(target=work) for _ in range(8)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
        self.assertEqual(others, [])
        for history in got:
            np.testing.assert_array_equal(history, wanted)

    def test_the_gil_is_released(self):
        turns = []
        done = threading.Event()

        def count():
            while not done.wait(0.001):
                turns.append(1)
        thread = threading.Thread(target=count)
        thread.start()
        try:
            fathom.measure(np.random.default_rng(1).random((6000, 64)), y=np.arange(6000) % 7, device="cpu", rows="all",
                           definition="paper")
        finally:
            done.set()
            thread.join()
        self.assertGreater(len(turns), 3)

    @unittest.skipIf("libasan" in os.environ.get("LD_PRELOAD", ""), "the address sanitizer keeps freed memory")
    def test_no_growth(self):
        def resident():
            gc.collect()
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * 4096

        def calls(count):
            data = fathom.Data.load("karate")
            for _ in range(count):
                fathom.train(data, layers=2, epochs=1, device="cpu", metrics="none")
        calls(100)
        before = resident()
        calls(1000)
        self.assertLess(resident() - before, 6 << 20)


class Models(unittest.TestCase):
    def test_saved_and_loaded(self):
        data = fathom.Data.load("karate")
        result = fathom.train(data, layers=3, epochs=8, device="cpu")
        self.assertEqual(result.logits.shape, (34, 4))
        np.testing.assert_array_equal(result.predict(data), result.logits.argmax(1))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.safetensors")
            result.save(path)
            model = fathom.load(path, device="cpu")
        evaluation = model.evaluate(data, definition="authors")
        np.testing.assert_array_equal(evaluation.logits, result.logits)
        self.assertEqual(evaluation.test_accuracy, result.test_accuracy)
        self.assertEqual(evaluation.metrics["group_distance_ratio"], result.metrics["group_distance_ratio"])
        self.assertEqual((model.info["model"], model.info["layers"]), ("gcn", 3))
        self.assertIn("<table>", result._repr_html_())
        edges, x, y = ring()
        with self.assertRaisesRegex(fathom.DataError, "6 features"):
            model.predict(fathom.Data(edges, x, y))
        with self.assertRaises(fathom.DataError):
            fathom.load("/nowhere.safetensors")
        with self.assertRaisesRegex(fathom.UsageError, "depth"):
            fathom.load("/nowhere.safetensors", depth=3)


class Metrics(unittest.TestCase):
    def test_values(self):
        _, x, y = ring()
        h = np.random.default_rng(2).normal(size=(40, 5))
        unit = h / np.linalg.norm(h, axis=1, keepdims=True)
        cosine = 1 - unit @ unit.T
        got = fathom.measure(h, y=y, x=x)
        self.assertAlmostEqual(got["mean_average_distance"], cosine.sum() / (40 * 39), 4)
        self.assertIsNone(got["dirichlet_energy"])
        self.assertGreater(got["instance_information_gain"], 0)
        for definition in ("authors", "paper", "pyg"):
            self.assertEqual(fathom.measure(h, y=y, definition=definition)["definition"], definition)
        few = fathom.measure(h, y=y, definition="pyg", rows=20)
        self.assertEqual(few["sampled"], 20)

    def test_refused(self):
        edges, x, y = ring()
        h = np.zeros((40, 3))
        nan = h.copy()
        nan[0, 0] = np.inf
        for word, given in (("h has 1 dim", {"h": y}), ("h has values", {"h": nan}), ("y has 39", {"h": h, "y": y[:-1]}),
                            ("x has 40|num_nodes", {"h": h[:-1], "x": x}), ("definition", {"h": h, "definition": "mine"}),
                            ("edge_index", {"h": h, "edge_index": edges.T}), ("edge_index", {"h": h[:9], "edge_index": edges}),
                            ("rows", {"h": h, "rows": "few"}), ("h ", {"h": "cora"})):
            with self.subTest(word=word), self.assertRaisesRegex(fathom.Error, word):
                fathom.measure(**given)


class Sweeps(unittest.TestCase):
    @unittest.skipUnless(has("pandas"), "pandas is not installed")
    def test_sweep_and_report(self):
        edges, x, y = ring()
        recipe = {"data": fathom.Data(edges, x, y, **masks(40)), "models": ["gcn"], "norms": ["none", "group"],
                  "layers": [2, 3], "seeds": 2, "epochs": 3}
        with tempfile.TemporaryDirectory() as folder:
            table = fathom.sweep(recipe, os.path.join(folder, "S"), device="cpu", jobs=1)
            self.assertEqual(len(table), 8)
            self.assertEqual(set(table["status"]), {"ok"})
            with self.assertRaises(fathom.Error):
                fathom.sweep(recipe, os.path.join(folder, "S"), device="cpu")  # without resume
            report = fathom.report(os.path.join(folder, "S"))
            self.assertIn("<svg", report.html)
            self.assertIn("srcdoc", report._repr_html_())
        with self.assertRaisesRegex(fathom.UsageError, "colour"):
            fathom.sweep({"data": "karate", "colour": 3}, "/tmp/nowhere")
        with self.assertRaisesRegex(fathom.UsageError, "folder"):
            fathom.report("/nowhere")


if __name__ == "__main__":
    unittest.main()
