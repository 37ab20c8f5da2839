"""Normalisation layers of the library on addresses of float32 arrays."""
import ctypes
import threading
import weakref

from ._device import device_of
from ._library import check, library

KEPT = 64  # unused states of a norm that are kept for its next forwards

_lock = threading.Lock()
_norms = weakref.WeakValueDictionary()


class _State:
    """What a forward saves for its backward; goes back to its norm with the last reference."""

    __slots__ = ("norm", "handle")

    def __init__(self, norm, handle):
        self.norm, self.handle = norm, handle

    def __del__(self):
        self.norm.give_back(self.handle)


class Norm:
    """A fathom_norm; those of equal settings share one, and its workspace. Copies and pickles of it are itself."""

    def __init__(self, device, kind, width, groups, scale, momentum, eps):
        lib = library()
        self.key = (device.selector, kind, width, groups, scale, momentum, eps)
        self.device, self._lib = device, lib
        self._lock, self._unused, self._states = threading.Lock(), [], set()
        self.weights = lib.structs["fathom_norm_weights"]
        self._gradients = lib.structs["fathom_norm_gradients"]
        self._sizes = ctypes.sizeof(self.weights), ctypes.sizeof(self._gradients)
        options = lib.options("norm_options")
        options.kind = lib.header.enums["fathom_norm_kind"][kind]
        options.width, options.groups, options.momentum, options.eps = width, groups, momentum, eps
        setattr(options, "lambda", scale)
        self._handle = ctypes.c_void_p()
        with device.use() as handle:
            check(lib.norm_make(ctypes.byref(self._handle), handle, ctypes.byref(options)))
            device.norms.add(self)

    # ---- states ----

    def state(self):
        with self._lock:
            if self._unused:
                return _State(self, self._unused.pop())
        made = ctypes.c_void_p()
        device = self.device.enter()
        try:
            check(self._lib.norm_state_make(ctypes.byref(made), self._handle))
        finally:
            self.device.leave(device)
        self._states.add(made.value)
        return _State(self, made.value)

    def give_back(self, handle):
        with self._lock:
            if not self._handle:
                return  # freed with its device
            if len(self._unused) < KEPT:
                self._unused.append(handle)
                return
            self._states.discard(handle)
        self._lib.norm_state_free(handle)

    def free(self):
        """Frees it; its device is being closed, or nothing refers to it."""
        with self._lock:
            handle, self._handle = self._handle, None
            states, self._states, self._unused = self._states, set(), []
        if handle:
            for state in states:
                self._lib.norm_state_free(state)
            self._lib.norm_free(handle)

    def __del__(self):
        try:
            self.free()
        except Exception:  # it was never made, or the interpreter ends
            pass

    def __copy__(self):
        return self

    def __deepcopy__(self, _):
        return self

    # ---- calls; arguments are addresses, None: absent ----

    def forward(self, y, x, rows, weights, state):
        """y = norm(x). weights: (weight, bias, lin_weight, lin_bias, running_mean, running_var). state None: evaluation."""
        device = self.device.enter()
        try:
            check(self._lib.norm_forward(self._handle, y, x, rows,
                                         ctypes.byref(self.weights(self._sizes[0], *weights)),
                                         None if state is None else state.handle))
        finally:
            self.device.leave(device)

    def backward(self, gx, gradients, gy, x, rows, weights, state):
        """gradients: of (weight, bias, lin_weight, lin_bias)."""
        device = self.device.enter()
        try:
            check(self._lib.norm_backward(self._handle, gx,
                                          ctypes.byref(self._gradients(self._sizes[1], *gradients)), gy, x, rows,
                                          ctypes.byref(self.weights(self._sizes[0], *weights)), state.handle))
        finally:
            self.device.leave(device)


def norm_of(kind, width, groups=1, scale=0.0, momentum=0.1, eps=1e-5, threads=0):
    """The Norm of these settings on the CPU."""
    key = (kind, width, groups, scale, momentum, eps, threads)
    made = _norms.get(key)
    if made is None:
        with _lock:
            made = _norms.get(key)
            if made is None:
                made = Norm(device_of("cpu", threads), kind, width, groups, scale, momentum, eps)
                _norms[key] = made
    return made
