"""Reads a safetensors file: 8 bytes of length, a JSON header, the data."""
import json

import numpy as np

_TYPES = {"F32": np.float32, "F64": np.float64, "I64": np.int64, "I32": np.int32}


def read(path):
    """The tensors by name, and the metadata."""
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
        data = file.read()
    meta = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        tensors[name] = np.frombuffer(data[begin:end], _TYPES[entry["dtype"]]).reshape(entry["shape"]).copy()
    return tensors, meta
