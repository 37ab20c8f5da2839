# norm.py - group normalisation from Python by ctypes, on numpy arrays without a copy. Checked against the definition, which
# needs the n x G x d array that the library never allocates.
#     python3 norm.py [path of libfathom.so.0]
import ctypes as c
import sys

import numpy as np

lib = c.CDLL(sys.argv[1] if len(sys.argv) > 1 else "libfathom.so.0")
lib.fathom_last_error.restype = c.c_char_p
floats = np.ctypeslib.ndpointer(dtype=np.float32, flags="C_CONTIGUOUS")  # passes the address, refuses other types
lib.fathom_norm_forward.argtypes = [c.c_void_p, floats, floats, c.c_int64, c.c_void_p, c.c_void_p]
lib.fathom_norm_backward.argtypes = [c.c_void_p, floats, c.c_void_p, floats, floats, c.c_int64, c.c_void_p, c.c_void_p]


class Options(c.Structure):  # fathom_norm_options
    _fields_ = [("size", c.c_size_t), ("kind", c.c_int32), ("width", c.c_int64), ("groups", c.c_int64),
                ("lambda_", c.c_double), ("momentum", c.c_double), ("eps", c.c_double)]


class Weights(c.Structure):  # fathom_norm_weights
    _fields_ = [("size", c.c_size_t)] + [(name, c.c_void_p) for name in (
        "weight", "bias", "lin_weight", "lin_bias", "running_mean", "running_var")]


def check(status):
    if status:
        raise RuntimeError(lib.fathom_last_error().decode())


n, d, groups, scale = 500, 16, 10, 0.1
random = np.random.default_rng(1)
x, gy = (random.normal(size=(n, d)).astype(np.float32) for _ in range(2))
gamma, beta, u = (random.normal(size=(groups, d)).astype(np.float32) for _ in range(3))
y, gx = np.empty_like(x), np.empty_like(x)

device, norm, state, options = c.c_void_p(), c.c_void_p(), c.c_void_p(), Options()
check(lib.fathom_device_open(c.byref(device), b"cpu", None))
check(lib.fathom_norm_options_init(c.byref(options), c.c_size_t(c.sizeof(options))))
options.width, options.groups, options.lambda_ = d, groups, scale
check(lib.fathom_norm_make(c.byref(norm), device, c.byref(options)))
check(lib.fathom_norm_state_make(c.byref(state), norm))  # one for each forward before its backward
weights = Weights(c.sizeof(Weights), gamma.ctypes.data, beta.ctypes.data, u.ctypes.data)
check(lib.fathom_norm_forward(norm, y, x, n, c.byref(weights), state))
check(lib.fathom_norm_backward(norm, gx, None, gy, x, n, c.byref(weights), state))
lib.fathom_norm_state_free(state)
lib.fathom_norm_free(norm)
lib.fathom_device_close(device)

scores = x.astype(float) @ u.T.astype(float)
share = np.exp(scores - scores.max(1, keepdims=True))
share /= share.sum(1, keepdims=True)
t = share[:, :, None] * x[:, None, :]
wanted = x + scale * ((t - t.mean(0)) / np.sqrt(t.var(0) + 1e-5) * gamma + beta).sum(1)
print(f"largest difference to the definition: {np.abs(y - wanted).max():.1e}; |gx| = {np.linalg.norm(gx):.3f}")
sys.exit(not np.abs(y - wanted).max() < 1e-4)
