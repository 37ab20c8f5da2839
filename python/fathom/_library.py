"""The C library: where it is, its functions, its errors."""
import ctypes
import os
import threading

from ._header import Header

HERE = os.path.dirname(os.path.abspath(__file__))


class Error(Exception):
    """A failure that the library reports. `status` is its name in C: "USAGE", "DEVICE", "DATA", "NUMERIC", "MEMORY"."""

    status = "FAILURE"


class UsageError(Error, ValueError):
    """A wrong argument; the message names it."""

    status = "USAGE"


class DeviceError(Error):
    """A device that is not there, was lost, or computes wrong results."""

    status = "DEVICE"


class DataError(Error, ValueError):
    """A file or an array that cannot be used; the message names it."""

    status = "DATA"


class NumericError(Error, ArithmeticError):
    """Values that are not finite."""

    status = "NUMERIC"


class MemoryError_(Error, MemoryError):
    """Out of device or host memory."""

    status = "MEMORY"


INTERRUPTED = 130
_ERRORS = {1: Error, 2: UsageError, 3: DeviceError, 4: DataError, 5: NumericError, 6: MemoryError_}


def _folder_of_headers():
    for folder in (os.path.join(HERE, "include", "fathom"), os.path.join(HERE, "..", "..", "include", "fathom")):
        if os.path.exists(os.path.join(folder, "fathom.h")):
            return folder
    raise ImportError("fathom: fathom.h is not beside the package; install it again")


def _candidates():
    """Paths of libfathom: $FATHOM_LIBRARY alone, else beside the package, a build tree, the loader's folders."""
    named = os.environ.get("FATHOM_LIBRARY")
    if named:
        return [named]
    beside = [os.path.join(HERE, "lib", "libfathom.so"), os.path.join(HERE, "..", "..", "build", "libfathom.so")]
    return [path for path in beside if os.path.exists(path)] + ["libfathom.so.0"]


class Library:
    """The loaded library: its functions as attributes, without their prefix fathom_."""

    def __init__(self):
        self.header = Header(_folder_of_headers())
        self.structs = self.header.structs
        reasons = []
        for path in _candidates():
            try:
                self._dll = ctypes.CDLL(path)  # releases the GIL during calls
                break
            except OSError as error:
                reasons.append(str(error))
        else:
            raise ImportError("fathom: the C library does not load: " + "; ".join(reasons) +
                              "; FATHOM_LIBRARY may name another libfathom.so")
        self.path = os.path.abspath(path) if os.sep in path else path
        for name, (result, arguments) in self.header.functions.items():
            function = getattr(self._dll, name, None)
            if function is None:
                raise ImportError(f"fathom: {path} has no {name}: it is of another version than this package")
            function.restype, function.argtypes = result, arguments
            setattr(self, name[len("fathom_"):], function)

    def new(self, struct, **members):
        """A structure with its size set."""
        made = self.structs["fathom_" + struct]()
        made.size = ctypes.sizeof(made)
        for name, value in members.items():
            setattr(made, name, value)
        return made

    def options(self, struct):
        """Options with the defaults of their _init function."""
        made = self.structs["fathom_" + struct]()
        check(getattr(self, struct + "_init")(ctypes.byref(made), ctypes.sizeof(made)))
        return made


def text(value):
    return value.decode(errors="replace") if value else ""


def error(status, message):
    """The exception of a status."""
    return _ERRORS.get(status, Error)(message)


def check(status):
    """Raises what a status says."""
    if status:
        raise error(status, text(library().last_error()))


def notes(read, handle):
    """The messages read(handle, 0), read(handle, 1), ... up to NULL."""
    found = []
    while True:
        note = read(handle, len(found))
        if note is None:
            return found
        found.append(text(note))


_lock = threading.Lock()
_loaded = None


def library():
    """The Library, loaded at the first call."""
    global _loaded
    if _loaded is None:
        with _lock:
            if _loaded is None:
                _loaded = Library()
    return _loaded


def command():
    """The path of the program `fathom`, which comes with the library."""
    beside = os.path.dirname(library().path)
    for path in (os.path.join(HERE, "bin", "fathom"), os.path.join(beside, "fathom"),
                 os.path.join(beside, "..", "bin", "fathom"), os.path.join(beside, "..", "..", "bin", "fathom")):
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    raise Error(f"the program fathom is not beside {library().path}")
