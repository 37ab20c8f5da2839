"""fathom.train: the settings of `fathom train`, taken from the C interface."""
from __future__ import annotations

import ctypes
import math
import signal
import sys
import threading
import warnings
from typing import TYPE_CHECKING, Callable

from ._data import data_of
from ._device import device_of
from ._library import INTERRUPTED, UsageError, error, library, text

if TYPE_CHECKING:
    from ._device import Device
    from ._model import Result

STRUCT = "fathom_train_options"
_OWN = {"size", "progress", "note", "user", "lambda_auto", "ranks"}  # not settings
_ALIASES = {"lamda": "lambda", "lambda_": "lambda"}  # lambda is a keyword of Python
DATA = ("split", "feature_norm", "missing_rate")


def settings() -> dict[str, str]:
    """Every setting of `train` and what it means, by name.

    >>> import fathom
    >>> fathom.settings()["layers"]
    'K, 1 to 1000; 15.'
    """
    header = library().header
    return {name: header.docs[STRUCT][name] for name, kind in header.structs[STRUCT]._fields_
            if name not in _OWN and kind is not ctypes.c_void_p}  # a handle is no setting


def _number(name, kind, value):
    if kind is ctypes.c_double:
        try:
            return float(value)
        except (TypeError, ValueError):
            raise UsageError(f"{name} is {value!r}; it is a number") from None
    if value in ("on", "off"):
        return int(value == "on")
    try:
        whole = int(value)
    except (TypeError, ValueError):
        raise UsageError(f"{name} is {value!r}; it is a whole number") from None
    if whole != value:
        raise UsageError(f"{name} is {value!r}; it is a whole number")
    return whole


def _value(name, kind, value):
    """The value of a member: text, a number, or a word of its enumeration, as the option of the command takes it."""
    if kind is ctypes.c_char_p:
        return str(value).encode()
    words = library().header.words_of(STRUCT, name)
    if words is None or not isinstance(value, str):
        return _number(name, kind, value)
    if value in words:
        return words[value]
    word, _, count = value.partition(":")  # segments:8, sampled:4000
    if count.isdigit():
        return int(count)
    raise UsageError(f"{name} is {value!r}; it is one of {', '.join(words)}")


def options_of(given):
    """fathom_train_options of settings by name; None: the default."""
    lib = library()
    options = lib.options("train_options")
    kinds = dict(lib.structs[STRUCT]._fields_)
    for name, value in given.items():
        name = _ALIASES.get(name, name)
        if name not in settings():
            raise UsageError(f"train has no setting {name!r}; it has {', '.join(sorted(settings()))}, "
                             f"{', '.join(DATA)}")
        if value is None:
            continue
        if name == "lambda" and value == "auto":
            options.lambda_auto = 1
            continue
        setattr(options, name, _value(name, kinds[name], value))
    return options


class _Interrupts:
    """Ctrl-C sets a flag while a training runs, so that it ends after an epoch with a model."""

    def __init__(self):
        self.pressed, self._before = False, None

    def __enter__(self):
        if threading.current_thread() is threading.main_thread() and \
                signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._before = signal.signal(signal.SIGINT, self._press)
        return self

    def _press(self, *_):
        self.pressed = True

    def __exit__(self, *_):
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)


def _bar(progress, epochs):
    """tqdm's bar in a terminal or a notebook, where tqdm is installed; None: no bar."""
    if progress is None:
        progress = sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)
    if not progress:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # notebooks without widgets
            from tqdm.auto import tqdm
        return tqdm(total=epochs, unit="epoch", leave=False)
    except ImportError:  # of tqdm, or of a notebook's widgets
        return None


class _Run:
    """What the library calls during a training."""

    def __init__(self, callback, progress, interrupts):
        self.callback, self.progress, self.interrupts = callback, progress, interrupts
        self.history, self.messages, self.error, self.bar = [], [], None, None

    def epoch(self, _, address):
        if self.error is not None or self.interrupts.pressed:
            return 1
        try:
            epoch = library().structs["fathom_epoch"].from_address(address)
            values = {name: getattr(epoch, name) for name, _ in epoch._fields_}
            searching = not math.isnan(values["candidate"])
            if not searching:
                self.history.append(values)
                self._show(values)
            return int(bool(self.callback is not None and self.callback(values)))
        except BaseException as error:  # raised again when the library has returned
            self.error = error
            return 1

    def _show(self, values):
        if self.progress is False:
            return
        if self.bar is None:
            self.bar = _bar(self.progress, values["epochs"])
            self.progress = self.bar is not None
        if self.bar is not None:
            self.bar.update(1)
            if values["epoch"] % 10 == 0 or values["epoch"] == values["epochs"]:
                self.bar.set_postfix(loss=f"{values['loss']:.4f}", val=f"{values['best_val']:.4f}", refresh=False)

    def note(self, _, message):
        self.messages.append(text(message))


_EPOCH = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_NOTE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)


def train(data="embedded", *, device: str | int | Device = "auto", threads: int = 0,
          callback: Callable[[dict], bool | None] | None = None, progress: bool | None = None, split: str | None = None,
          feature_norm: str | None = None, missing_rate: float | None = None, **settings) -> Result:
    """Trains a network and measures how over-smoothed it is. Returns a Result.

    data: a fathom.Data, a name such as "cora", or a torch_geometric.data.Data.
    device: "auto", "cpu", "gpu", "opencl:N", part of a name, or a fathom.Device; threads: of the CPU.
    callback: called with a dict after each epoch; true stops the training.
    progress: a bar of tqdm; None: in a terminal or a notebook.
    split, feature_norm, missing_rate: of the data, drawn with `seed`.
    Every other setting of `fathom train`, with the same words and defaults: model="gcn", norm="group", layers=15,
    hidden=16, groups, lamda (a number or "auto"), dropout, lr, weight_decay, epochs, patience, seed=100, skip, preset,
    out, resume, ...: `fathom.settings()` lists all.

    The same seed and settings on the same device give the bits of the command. Ctrl-C ends the training after an epoch:
    KeyboardInterrupt, whose `result` is what was trained.

    >>> import fathom
    >>> result = fathom.train("karate", layers=2, epochs=20, device="cpu")
    >>> len(result.history["loss"]), 0 <= result.test_accuracy <= 1
    (20, True)
    """
    from ._model import Result
    data = data_of(data)
    options = options_of(settings)
    if callback is not None and not callable(callback):
        raise UsageError(f"callback is a {type(callback).__name__}, which cannot be called")
    if "fallback" not in settings:
        options.fallback = int(device == "auto")
    built = data.built(seed=options.seed, split=split, feature_norm=feature_norm, missing_rate=missing_rate)
    device = device_of(device, threads)
    handle = ctypes.c_void_p()
    with _Interrupts() as interrupts, device.use() as opened:
        run = _Run(callback, progress, interrupts)
        calls = _EPOCH(run.epoch), _NOTE(run.note)  # kept until the call returns
        options.progress, options.note = (ctypes.cast(call, ctypes.c_void_p).value for call in calls)
        status = library().train(ctypes.byref(handle), opened, built, ctypes.byref(options))
        message = text(library().last_error())
    if run.bar is not None:
        run.bar.close()
    if status not in (0, INTERRUPTED):
        if run.error is not None:
            raise run.error
        raise error(status, message)
    result = Result(handle, device, data, built, run.history)
    for note in run.messages:
        warnings.warn(note, stacklevel=2)
    if run.error is not None:
        raise run.error
    if interrupts.pressed:
        stop = KeyboardInterrupt("training was interrupted; `result` of this exception has what was trained")
        stop.result = result
        raise stop
    return result
