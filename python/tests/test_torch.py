"""fathom.torch: against PyTorch Geometric where it is installed, else against the definition in torch."""
import copy
import gc
import io
import os
import pickle
import threading
import unittest
import warnings

try:
    import torch
except ImportError:
    raise unittest.SkipTest("torch is not installed")
from torch import nn

from fathom.torch import BatchNorm, DiffGroupNorm, Monitor, PairNorm, convert

try:
    import torch_geometric.nn as pyg
except ImportError:
    pyg = None


class Definition(nn.Module):
    """x + lamda * sum_g BatchNorm(s_g x) as written in the paper, with the n x G x d tensor."""

    def __init__(self, channels, groups=10, lamda=0.01, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True):
        super().__init__()
        self.groups, self.channels, self.lamda = groups, channels, lamda
        self.lin = nn.Linear(channels, groups, bias=False)
        self.norm = nn.BatchNorm1d(groups * channels, eps, momentum, affine, track_running_stats)

    def forward(self, x):
        t = self.lin(x).softmax(-1).unsqueeze(-1) * x.unsqueeze(-2)
        return x + self.lamda * self.norm(t.flatten(1)).view(-1, self.groups, self.channels).sum(1)


def pair(n, d, **options):
    """Both forms with the same random parameters; the definition in float64."""
    torch.manual_seed(n + d)
    ours, plain = DiffGroupNorm(d, **options), Definition(d, **options)
    with torch.no_grad():
        for p in ours.parameters():
            p.copy_(torch.randn_like(p))
    plain.load_state_dict(ours.state_dict())
    return ours, plain.double()


def distance(a, b):
    a, b = a.detach(), b.detach()
    return float((a.double() - b).abs().max() / b.abs().max().clamp(min=1e-12))


class Values(unittest.TestCase):
    def compare(self, ours, plain, n, d, steps=1):
        for _ in range(steps):
            x, g = torch.randn(n, d) * 3 + 1, torch.randn(n, d)
            a, b = x.clone().requires_grad_(), x.double().requires_grad_()
            ya, yb = ours(a), plain(b)
            ya.backward(g)
            yb.backward(g.double())
            self.assertLess(distance(ya, yb), 1e-5)
            self.assertLess(distance(a.grad, b.grad), 1e-4)
        wanted = dict(plain.named_parameters())
        largest = max(p.grad.abs().max() for p in wanted.values()) if wanted else 0
        for name, p in ours.named_parameters():  # relative, or small beside the largest gradient
            error = float((p.grad.double() - wanted[name].grad).abs().max())
            self.assertLess(error, 1e-4 * float(max(wanted[name].grad.abs().max(), 1e-3 * largest)), name)
        buffers = dict(plain.named_buffers())
        for name, p in ours.named_buffers():
            self.assertLess(distance(p, buffers[name].double()), 1e-5, name)

    def test_training_and_running_estimates(self):
        for n, d, options in ((6, 16, {"groups": 4}), (500, 64, {}), (300, 1, {"groups": 1}), (2, 3, {"groups": 2}),
                              (1000, 7, {"groups": 5, "lamda": 0.5, "eps": 1e-2, "momentum": 0.3}),
                              (50, 8, {"affine": False}), (50, 8, {"track_running_stats": False}),
                              (50, 8, {"momentum": None})):
            with self.subTest(n=n, d=d, **options):
                self.compare(*pair(n, d, **options), n, d, steps=3)

    def test_evaluation(self):
        for options in ({}, {"track_running_stats": False}, {"affine": False}):
            with self.subTest(**options):
                ours, plain = pair(200, 8, **options)
                for _ in range(3):
                    x = torch.randn(200, 8)
                    ours(x), plain(x.double())
                ours.eval(), plain.eval()
                with torch.no_grad():
                    self.assertLess(distance(ours(x), plain(x.double())), 1e-5)
                a, b = x.clone().requires_grad_(), x.double().requires_grad_()
                ours(a).sum().backward()
                plain(b).sum().backward()
                self.assertLess(distance(a.grad, b.grad), 1e-4)

    @unittest.skipIf(pyg is None, "torch_geometric is not installed")
    def test_as_in_pyg(self):
        for ours, theirs in ((DiffGroupNorm(16, 4), pyg.DiffGroupNorm(16, 4)), (BatchNorm(16), pyg.BatchNorm(16)),
                             (PairNorm(scale=2.0), pyg.PairNorm(scale=2.0)), (PairNorm(), pyg.PairNorm())):
            self.assertEqual(repr(ours), repr(theirs))
            self.assertEqual(list(ours.state_dict()), list(theirs.state_dict()))
            ours.load_state_dict(theirs.state_dict())
            with self.subTest(norm=repr(ours)):
                self.compare(ours, theirs.double(), 300, 16, steps=2)
        x, batch = torch.randn(20, 4), torch.randint(0, 3, (20,))
        for individually in (False, True):
            ours, theirs = PairNorm(1.5, individually), pyg.PairNorm(1.5, individually)
            torch.testing.assert_close(ours(x), theirs(x))
            torch.testing.assert_close(ours(x, batch), theirs(x, batch))
        y = torch.randint(0, 3, (20,))
        self.assertAlmostEqual(DiffGroupNorm.group_distance_ratio(x, y),
                               pyg.DiffGroupNorm.group_distance_ratio(x, y), 5)
        torch.manual_seed(1)
        ours = DiffGroupNorm(8, 3)
        torch.manual_seed(1)
        self.assertTrue(torch.equal(ours.lin.weight, pyg.DiffGroupNorm(8, 3).lin.weight))

    @unittest.skipIf(pyg is None, "torch_geometric is not installed")
    def test_convert(self):
        class Authors(pyg.DiffGroupNorm):
            def __init__(self):
                super().__init__(8, 3)
                self.lin = nn.Linear(8, 3, bias=True)
        shared = pyg.DiffGroupNorm(8, 3, lamda=0.4)
        model = nn.Sequential(nn.Linear(8, 8), shared, nn.Sequential(Authors(), nn.ReLU()), shared)
        before, x = copy.deepcopy(model), torch.randn(40, 8)
        parameters = list(map(id, model.parameters()))
        convert(model)
        self.assertIs(type(model[1]), DiffGroupNorm)
        self.assertIs(model[1], model[3])
        self.assertEqual(list(map(id, model.parameters())), parameters)
        torch.testing.assert_close(model(x), before(x), rtol=1e-5, atol=1e-5)
        self.assertEqual(list(model.state_dict()), list(before.state_dict()))
        self.assertIs(type(convert(shared)), DiffGroupNorm)


class Autograd(unittest.TestCase):
    def test_forwards_before_backwards(self):
        ours, plain = pair(60, 5, groups=3)
        xs = [torch.randn(60 - i, 5) for i in range(3)]
        losses = [(ours(x) ** 2).sum() for x in xs]
        wanted = [(plain(x.double()) ** 2).sum() for x in xs]
        for i in (1, 0, 2):
            losses[i].backward()
            wanted[i].backward()
        for a, b in zip(ours.parameters(), plain.parameters()):
            self.assertLess(distance(a.grad, b.grad), 1e-4)

    def test_weight_sharing_and_no_grad(self):
        ours, plain = pair(60, 5, groups=3)
        x = torch.randn(60, 5)
        with torch.no_grad():
            ours(x), plain(x.double())
        ours(ours(x).relu()).sum().backward()
        plain(plain(x.double()).relu()).sum().backward()
        for a, b in zip(ours.parameters(), plain.parameters()):
            self.assertLess(distance(a.grad, b.grad), 1e-4)
        self.assertLess(distance(ours.norm.running_mean, plain.norm.running_mean), 1e-5)

    def test_checkpoint(self):
        from torch.utils.checkpoint import checkpoint
        x = torch.randn(60, 5)
        for reentrant in (False, True):
            ours, other = DiffGroupNorm(5, 3), None
            other = copy.deepcopy(ours)
            a, b = x.clone().requires_grad_(), x.clone().requires_grad_()
            checkpoint(lambda v: ours(v).relu(), a, use_reentrant=reentrant).sum().backward()
            other(b).relu().sum().backward()
            torch.testing.assert_close(a.grad, b.grad)
            torch.testing.assert_close(ours.lin.weight.grad, other.lin.weight.grad)

    def test_twice(self):
        x = torch.randn(30, 4, requires_grad=True)
        y = DiffGroupNorm(4, 2)(x).sum()
        first, = torch.autograd.grad(y, x, retain_graph=True)
        torch.testing.assert_close(torch.autograd.grad(y, x)[0], first)
        y = (DiffGroupNorm(4, 2)(x) ** 2).sum()
        gradient, = torch.autograd.grad(y, x, create_graph=True)
        with self.assertRaisesRegex(RuntimeError, "twice|once_differentiable"):
            gradient.sum().backward()

    def test_changes_before_backward_are_refused(self):
        x = torch.randn(30, 4)
        norm = DiffGroupNorm(4, 2)
        y = norm(x).sum()
        x.add_(1)
        with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
            y.backward()

    def test_some_gradients(self):
        norm = DiffGroupNorm(4, 2)
        norm.lin.weight.requires_grad_(False)
        norm(torch.randn(30, 4)).sum().backward()
        self.assertIsNone(norm.lin.weight.grad)
        self.assertIsNotNone(norm.norm.bias.grad)

    def test_layouts_and_types(self):
        ours, plain = pair(40, 6, groups=3)
        wide = torch.randn(6, 80)
        x = wide.t()[::2]
        self.assertLess(distance(ours(x), plain(x.double())), 1e-5)
        for dtype, bound in ((torch.float64, 1e-5), (torch.float16, 2e-3), (torch.bfloat16, 2e-2)):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                a = x.detach().to(dtype).requires_grad_()
                y = ours(a)
                y.sum().backward()
                ours(a)
            self.assertEqual(len(caught), 1, [str(w.message) for w in caught])
            self.assertEqual((y.dtype, a.grad.dtype), (dtype, dtype))
            self.assertLess(distance(y, plain(a.detach().double())), bound)
        ours.double()(x.double()).sum().backward()
        self.assertEqual(ours.lin.weight.grad.dtype, torch.float64)
        self.assertGreater(float(ours.norm.running_mean.abs().sum()), 0)

    def test_compile(self):
        torch._dynamo.reset()
        ours = nn.Sequential(nn.Linear(6, 6), DiffGroupNorm(6, 3, lamda=0.3), PairNorm(), BatchNorm(6))
        other = copy.deepcopy(ours)
        quick = torch.compile(ours, fullgraph=True, backend="aot_eager")  # needs no compiler
        for _ in range(2):
            x = torch.randn(50, 6)
            a, b = x.clone().requires_grad_(), x.clone().requires_grad_()
            (quick(a) ** 2).sum().backward()
            (other(b) ** 2).sum().backward()
            torch.testing.assert_close(a.grad, b.grad, rtol=1e-4, atol=1e-5)
        for (name, p), q in zip(ours.named_parameters(), other.parameters()):
            torch.testing.assert_close(p.grad, q.grad, rtol=1e-4, atol=1e-4, msg=name)
        for (name, p), q in zip(ours.named_buffers(), other.buffers()):
            torch.testing.assert_close(p, q, rtol=1e-5, atol=1e-5, msg=name)
        quick.eval(), other.eval()
        with torch.no_grad():
            torch.testing.assert_close(quick(x), other(x), rtol=1e-5, atol=1e-5)


class Handling(unittest.TestCase):
    def test_copies_and_pickles(self):
        norm, x = DiffGroupNorm(4, 2), torch.randn(20, 4)
        y = norm(x)
        torch.testing.assert_close(copy.deepcopy(norm)(x), y)
        torch.testing.assert_close(pickle.loads(pickle.dumps(norm))(x), y)
        file = io.BytesIO()
        torch.save(norm, file)
        file.seek(0)
        torch.testing.assert_close(torch.load(file, weights_only=False)(x), y)

    def test_bad_input(self):
        norm = DiffGroupNorm(4, 2)
        for call, kind, word in ((lambda: norm(torch.randn(3, 5)), ValueError, "in_channels"),
                                 (lambda: norm(torch.randn(3)), ValueError, "x has 1 dimensions"),
                                 (lambda: norm(torch.randn(1, 4)), ValueError, "one row"),
                                 (lambda: norm(torch.ones(3, 4, dtype=torch.int64)), TypeError, "x has values"),
                                 (lambda: DiffGroupNorm(0, 2), ValueError, "in_channels"),
                                 (lambda: DiffGroupNorm(4, 0), ValueError, "groups"),
                                 (lambda: DiffGroupNorm(4, 2, lamda=float("nan")), ValueError, "lamda"),
                                 (lambda: DiffGroupNorm(4, 2, eps=0), ValueError, "eps"),
                                 (lambda: convert(3), TypeError, "model")):
            with self.assertRaisesRegex(kind, word):
                call()
        self.assertTrue(torch.isnan(norm(torch.full((3, 4), float("nan")))).all())
        self.assertEqual(norm(torch.randn(0, 4)).shape, (0, 4))

    def test_lamda_and_depth_of_a_network(self):
        layers = nn.ModuleList([DiffGroupNorm(8, 4) for _ in range(30)])
        x = torch.randn(50, 8, requires_grad=True)
        h = x
        for layer in layers:
            layer.lamda = 0.2
            h = layer(h)
        h.sum().backward()
        self.assertTrue(torch.isfinite(x.grad).all())
        del h
        gc.collect()
        from fathom import _norm
        self.assertLessEqual(len(_norm._norms), 64)

    def test_threads(self):
        failures = []

        def work(seed):
            try:
                torch.manual_seed(seed)
                ours, plain = DiffGroupNorm(6, 3), Definition(6, 3)
                plain.load_state_dict(ours.state_dict())
                plain.double()
                for _ in range(40):
                    x = torch.randn(80, 6)
                    y, wanted = ours(x), plain(x.double())
                    y.sum().backward()
                    if distance(y, wanted) > 1e-5:
                        failures.append(seed)
            except Exception as error:
                failures.append(error)
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(failures, [])

    @unittest.skipIf("libasan" in os.environ.get("LD_PRELOAD", ""), "the address sanitizer keeps freed memory")
    def test_no_growth(self):
        def resident():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * 4096
        norm, x = DiffGroupNorm(16, 10), torch.randn(500, 16, requires_grad=True)

        def calls(count):
            for _ in range(count):
                norm(x).sum().backward()
            gc.collect()
        calls(1000)
        before = resident()
        calls(10000)
        self.assertLess(resident() - before, 4 << 20)  # a leaked state of a call would be 20 kB: 200 MB


class Watching(unittest.TestCase):
    def test_monitor(self):
        import fathom
        data = fathom.Data.load("karate")
        model = nn.Sequential(nn.Linear(34, 8), DiffGroupNorm(8, 2), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 4))
        monitor = Monitor(model, data, every=3)
        x = torch.from_numpy(data.x)
        for _ in range(4):
            model.train()(x).sum().backward()
            with torch.no_grad():
                model.eval()(x)
        rows = [r for r in monitor.records if not r["training"]]
        self.assertEqual(sorted({r["epoch"] for r in rows}), [1, 4])
        self.assertEqual([r["name"] for r in rows if r["epoch"] == 4], ["0", "1", "2", "4"])
        with torch.no_grad():
            wanted = fathom.measure(model(x), y=data.y, x=data.x, csr=data.csr)
        last = rows[-1]
        self.assertAlmostEqual(last["group_distance_ratio"], wanted["group_distance_ratio"], 5)
        monitor.close()
        count = len(monitor.records)
        model(x)
        self.assertEqual(len(monitor.records), count)
        with self.assertRaisesRegex(fathom.UsageError, "layers"):
            Monitor(model, data, layers=["nowhere"])
        try:
            import matplotlib
            import pandas  # noqa: F401
        except ImportError:
            return
        matplotlib.use("Agg")
        self.assertEqual(len(monitor.frame()), count)
        self.assertEqual(len(monitor.plot("mean_average_distance").lines), 4)


if __name__ == "__main__":
    unittest.main()
