"""examples/over_smoothing.ipynb, executed; and the test of PyTorch Geometric for its norm, on our class."""
import os
import unittest

import torch

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")

try:
    import torch_geometric
except ImportError:
    torch_geometric = None


class Notebook(unittest.TestCase):
    def test_over_smoothing(self):
        try:
            import ipykernel  # noqa: F401
            import matplotlib  # noqa: F401
            import nbclient
            import nbformat
            import pandas  # noqa: F401
        except ImportError as error:
            self.skipTest(str(error))
        if torch_geometric is None:
            self.skipTest("torch_geometric is not installed")
        notebook = nbformat.read(os.path.join(EXAMPLES, "over_smoothing.ipynb"), as_version=4)
        nbclient.NotebookClient(notebook, timeout=500, kernel_name="python3",
                                resources={"metadata": {"path": EXAMPLES}}).execute()
        text = "".join(output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", []))
        self.assertIn("test accuracy of 12 layers", text)
        print(text)


@unittest.skipIf(torch_geometric is None, "torch_geometric is not installed")
class TheirTest(unittest.TestCase):
    """The assertions of torch_geometric's test/nn/norm/test_diff_group_norm.py."""

    def test_diff_group_norm(self):
        from fathom.torch import DiffGroupNorm
        x = torch.randn(6, 16)
        norm = DiffGroupNorm(16, groups=4, lamda=0)
        self.assertEqual(str(norm), "DiffGroupNorm(16, groups=4)")
        self.assertTrue(torch.allclose(norm(x), x))
        norm = DiffGroupNorm(16, groups=4, lamda=0.01)
        self.assertEqual(norm(x).size(), x.size())
        self.assertGreater(DiffGroupNorm.group_distance_ratio(x, torch.tensor([0, 1, 0, 1, 1, 1])), 0)


if __name__ == "__main__":
    unittest.main()
