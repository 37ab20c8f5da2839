"""Devices: the CPU and everything that OpenCL offers."""
from __future__ import annotations

import ctypes
import threading
import weakref

from ._library import UsageError, check, library, text


def _info(info):
    made = {name: getattr(info, name) for name, _ in info._fields_ if name != "size"}
    return {name: text(value) if isinstance(value, bytes) else value for name, value in made.items()}


def devices() -> list[dict]:
    """Every device of this machine as a dict; `selector` is what `device=` takes, `selected` whether "auto" takes it.

    >>> import fathom
    >>> fathom.devices()[0]["selector"]
    'cpu'
    """
    lib, handle = library(), ctypes.c_void_p()
    check(lib.device_list_make(ctypes.byref(handle)))
    try:
        row, found = ctypes.c_int32(-1), []
        lib.device_list_find(handle, b"auto", ctypes.byref(row))
        for i in range(lib.device_list_count(handle)):
            info = lib.new("device_info")
            check(lib.device_list_get(handle, i, ctypes.byref(info)))
            found.append({**_info(info), "selected": i == row.value})
        return found
    finally:
        lib.device_list_free(handle)


class Device:
    """An open device. Functions take one, or a selector, for which they keep one open.

    selector: "auto", "cpu", "gpu", a row of `devices()`, "opencl:N", "opencl:PLATFORM:DEVICE" or part of a name.
    threads: of the CPU; 0: one for each core. Results do not depend on it.
    trust: use a device that fails the sanity check before a run.

    >>> import fathom
    >>> with fathom.Device("cpu", threads=1) as device:
    ...     device.info["backend"]
    'cpu'
    """

    def __init__(self, selector: str | int = "auto", threads: int = 0, trust: bool = False):
        if not isinstance(selector, (str, int)):
            raise UsageError(f"device is a {type(selector).__name__}; give a selector such as \"cpu\", or a fathom.Device")
        self._handle = ctypes.c_void_p()
        lib = library()
        options = lib.options("device_options")
        options.threads, options.trust = threads, int(trust)
        self.selector = str(selector)
        check(lib.device_open(ctypes.byref(self._handle), self.selector.encode(), ctypes.byref(options)))
        self._lock, self._calls = threading.Lock(), 0
        self.norms = weakref.WeakSet()  # their memory is on the device

    def use(self):
        """`with device.use() as handle`: for one call; a device that is closed meanwhile is freed after it."""
        return _Use(self)

    def enter(self):
        with self._lock:
            if not self._handle:
                raise UsageError(f"device is closed: {self.selector}")
            self._calls += 1
            return self._handle

    def leave(self, handle):
        with self._lock:
            self._calls -= 1
            unused = not self._handle and self._calls == 0
        if unused:
            self._free(handle)

    def _free(self, handle):
        for norm in list(self.norms):
            norm.free()
        library().device_close(handle)

    @property
    def info(self) -> dict:
        """Its properties, as in `devices()`."""
        info = library().new("device_info")
        with self.use() as handle:
            check(library().device_describe(handle, ctypes.byref(info)))
        return _info(info)

    @property
    def note(self) -> str:
        """Why "auto" fell back to the CPU, or what a trusted device computed wrong; else ""."""
        with self.use() as handle:
            return text(library().device_note(handle))

    def close(self) -> None:
        """Frees its memory. What uses the device afterwards fails with UsageError."""
        with self._lock:
            handle, self._handle = self._handle, ctypes.c_void_p()
            unused = bool(handle) and self._calls == 0
        if unused:
            self._free(handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        try:
            self.close()
        except Exception:  # it was never opened, or the interpreter ends
            pass

    def __repr__(self):
        return f"fathom.Device({self.selector!r}{'' if self._handle else ', closed'})"


class _Use:
    def __init__(self, device):
        self._device = device

    def __enter__(self):
        self._handle = self._device.enter()
        return self._handle

    def __exit__(self, *_):
        self._device.leave(self._handle)


_lock = threading.Lock()
_open = {}


def device_of(device, threads=0):
    """The Device of an argument `device`: itself, or the one kept open for this selector."""
    if isinstance(device, Device):
        return device
    key = (str(device), threads)
    with _lock:
        if key not in _open:
            _open[key] = Device(device, threads)
        return _open[key]
