"""fathom: very deep graph neural networks with differentiable group normalisation, on any OpenCL device or the CPU.

    data = fathom.Data.load("embedded")
    result = fathom.train(data, model="gcn", norm="group", layers=15)
    result.test_accuracy

`fathom.torch` has the normalisations as PyTorch modules. Nothing is loaded before it is used: not the C library, and
neither numpy, torch, pandas, networkx nor matplotlib.
"""
import importlib as _importlib

__all__ = ["Data", "DataError", "Device", "DeviceError", "Error", "MemoryError_", "Model", "NumericError", "Report",
           "Result", "UsageError", "devices", "load", "measure", "report", "settings", "sweep", "train"]

_WHERE = {
    "Data": "_data", "Device": "_device", "devices": "_device", "Model": "_model", "Result": "_model", "load": "_model",
    "train": "_training", "settings": "_training", "measure": "_metrics", "sweep": "_sweep", "report": "_sweep",
    "Report": "_sweep", "DataError": "_library", "DeviceError": "_library", "Error": "_library",
    "MemoryError_": "_library", "NumericError": "_library", "UsageError": "_library",
}


def __getattr__(name):
    if name == "__version__":
        value = _importlib.import_module("._library", __name__)
        value = value.text(value.library().version())
    elif name in _WHERE:
        value = getattr(_importlib.import_module("." + _WHERE[name], __name__), name)
    elif name == "torch":
        value = _importlib.import_module(".torch", __name__)
    else:
        raise AttributeError(f"module 'fathom' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted([*__all__, "__version__", "torch"])
