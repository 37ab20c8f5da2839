"""bombs.py FOLDER - small files that declare or unpack to gigabytes, one for each reader; fault_read_limit.sh reads them."""
import array
import gzip
import json
import os
import struct
import sys
import zipfile


def npy(descr, shape, data=b""):
    text = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    text += " " * (63 - (10 + len(text)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + data


def ints(*values):
    return npy("<i8", "(%d,)" % len(values), array.array("q", values).tobytes())


def npz(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for name, content in members.items():
            z.writestr(name + ".npy", content)


def write(path, content):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "wb") as f:
        f.write(content)


def pack(path, line, times):
    """A .gz of one line, many times over."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with gzip.open(path, "wb", 9) as f:
        for _ in range(times // 100000):
            f.write(line * 100000)


os.chdir(sys.argv[1])
edge = npy("<i8", "(2, 1)", array.array("q", [0, 1]).tobytes())
two = npy("<f4", "(2,)", array.array("f", [1, 1]).tobytes())
graph = dict(adj_indptr=ints(0, 1, 2), adj_indices=ints(1, 0), adj_shape=ints(2, 2), labels=ints(0, 1))

# rows without a byte of data
write("rows/edges.csv", b"0,1\n")
write("rows/features.npy", npy("<f4", "(2147483646, 0)"))
write("rows.npy", npy("<f4", "(2147483646, 0)"))
write("rows-1e18.npy", npy("<f4", "(1000000000000000000, 0)"))
npz("rows.npz", edge_index=edge, x=npy("<f4", "(2147483646, 0)"))
# columns without a value
write("columns/edges.csv", b"0,1\n")
write("columns/features.mtx", b"%%MatrixMarket matrix coordinate real general\n2 200000000 1\n1 1 1\n")
npz("columns.npz", attr_indptr=ints(0, 1, 2), attr_indices=ints(0, 1), attr_data=two, attr_shape=ints(2, 200000000), **graph)
# text that unpacks to a thousand times its size: edges, features, labels, LINQS papers, a line without end
pack("edges/edges.csv.gz", b"0,1\n", 20000000)
write("features/edges.csv", b"0,1\n")
pack("features/features.csv.gz", b"1,2,3,4\n", 12000000)
write("labels/edges.csv", b"0,1\n")
pack("labels/labels.csv.gz", b"1\n", 40000000)
write("mtx.mtx", b"%%MatrixMarket matrix coordinate pattern general\n2000000000 2000000000 1\n1 2\n")
pack("line/edges.csv.gz", b"1", 300000000)
# zeros that deflate a thousand to one
npz("edges.npz", edge_index=npy("|i1", "(2, 80000000)", bytes(160000000)))
npz("split.npz", train=npy("|i1", "(300000000,)", bytes(300000000)), val=ints(1), test=ints(2))
# checkpoints longer than the disk has bytes for: with a header that fits, without one
header = json.dumps({"a": {"dtype": "F32", "shape": [5000000000], "data_offsets": [0, 20000000000]}}).encode()
write("sparse.safetensors", struct.pack("<Q", len(header)) + header)
os.truncate("sparse.safetensors", 8 + len(header) + 20000000000)
write("junk.safetensors", b"\xff" * 4096)
os.truncate("junk.safetensors", 20000000000)
# JSON: one hole, and nested deeper than a stack
write("hole.json", b"")
os.truncate("hole.json", 1 << 30)
write("deep.json", b"[" * 1000000)


# a graph that names node 0 40000 times, each time with one and the same list of 20000 neighbours; neighbours 1 or none
def shared(item):
    return b"\x80\x02}(K\x00](" + item * 20000 + b"eq\x01" + b"K\x00h\x01" * 40000 + b"u."


write("shared.pickle", shared(b"K\x01"))
write("nobody.pickle", shared(b"J\xff\xff\xff\xff"))
# texts that are written out again for every call
write("encode.pickle", b"\x80\x02(c_codecs\nencode\nq\x01X\x40\x9c\x00\x00" + b"a" * 40000 + b"q\x02X\x06\x00\x00\x00latin1\x86q\x03"
      b"h\x01h\x03R" + b"h\x01h\x03R" * 100000 + b"l.")
