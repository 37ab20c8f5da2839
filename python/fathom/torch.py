"""Normalisations of fathom as PyTorch modules, and a monitor of over-smoothing.

    from fathom.torch import DiffGroupNorm      # instead of torch_geometric.nn

`DiffGroupNorm`, `PairNorm` and `BatchNorm` have the parameters, the state_dict and the results of the modules of the
same names in PyTorch Geometric, which is not needed. They compute in float32 on the CPU and store no n x G x d tensor.
"""
import math
import warnings

import torch
from torch import Tensor, nn

from ._monitor import Monitor
from ._norm import norm_of

__all__ = ["BatchNorm", "DiffGroupNorm", "Monitor", "PairNorm", "convert"]

_noted = set()


def _native(tensor, name):
    """The tensor as contiguous float32 in host memory; differentiable."""
    if tensor.dtype is torch.float32 and tensor.device.type == "cpu":
        return tensor if tensor.is_contiguous() else tensor.contiguous()
    if not tensor.is_floating_point():
        raise TypeError(f"{name} has values of type {tensor.dtype}, which are not floating-point numbers")
    what = (tensor.dtype, tensor.device.type)
    if what not in _noted:
        _noted.add(what)
        warnings.warn(f"fathom.torch computes in float32 on the CPU; tensors of {tensor.dtype} on {tensor.device.type} "
                      "are converted there and back", stacklevel=4)
    return tensor.to("cpu", torch.float32).contiguous()


def _address(tensor):
    return None if tensor is None else tensor.data_ptr()


def _addresses(tensors):
    return tuple([None if t is None else t.data_ptr() for t in tensors])


class _Normalise(torch.autograd.Function):
    """y = norm(x) by the statistics of x, which `running` moves towards. Every forward has a state of its own."""

    @staticmethod
    def forward(ctx, norm, running, x, weight, bias, lin_weight, lin_bias):
        y, state = torch.empty_like(x), norm.state()
        norm.forward(y.data_ptr(), x.data_ptr(), x.shape[0],
                     _addresses((weight, bias, lin_weight, lin_bias)) + running, state)
        ctx.norm, ctx.state = norm, state
        ctx.save_for_backward(x, weight, bias, lin_weight, lin_bias)
        return y

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, gy):
        x, *weights = ctx.saved_tensors
        gx = torch.empty_like(x)
        wanted = [None if t is None or not ctx.needs_input_grad[3 + i] else torch.empty_like(t)
                  for i, t in enumerate(weights)]
        gy = gy.contiguous()
        ctx.norm.backward(gx.data_ptr(), _addresses(wanted), gy.data_ptr(), x.data_ptr(), x.shape[0],
                          _addresses(weights) + (None, None), ctx.state)
        return (None, None, gx, *wanted)


# ---- torch.compile: opaque operators without a state; backward repeats the forward ----

if hasattr(torch.library, "custom_op"):
    from typing import Optional

    @torch.library.custom_op("fathom::norm", mutates_args=())
    def _norm_op(x: Tensor, weight: Optional[Tensor], bias: Optional[Tensor], lin_weight: Optional[Tensor],
                 lin_bias: Optional[Tensor], kind: str, groups: int, scale: float, eps: float
                 ) -> tuple[Tensor, Tensor, Tensor]:
        """y, and the mean and the unbiased variance that running estimates move towards."""
        norm = norm_of(kind, x.shape[1], groups, scale, 1.0, eps, torch.get_num_threads())
        x = x.contiguous()
        tensors = [None if t is None else t.contiguous() for t in (weight, bias, lin_weight, lin_bias)]
        y, mean, var = (torch.empty_like(x), x.new_zeros(groups * x.shape[1]), x.new_ones(groups * x.shape[1]))
        running = (None, None) if kind == "pair" else (mean.data_ptr(), var.data_ptr())
        norm.forward(y.data_ptr(), x.data_ptr(), x.shape[0], _addresses(tensors) + running, norm.state())
        return y, mean, var

    @_norm_op.register_fake
    def _(x, weight, bias, lin_weight, lin_bias, kind, groups, scale, eps):
        return torch.empty_like(x), x.new_empty(groups * x.shape[1]), x.new_empty(groups * x.shape[1])

    @torch.library.custom_op("fathom::norm_backward", mutates_args=())
    def _backward_op(gy: Tensor, x: Tensor, weight: Optional[Tensor], bias: Optional[Tensor],
                     lin_weight: Optional[Tensor], lin_bias: Optional[Tensor], kind: str, groups: int, scale: float,
                     eps: float) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        norm = norm_of(kind, x.shape[1], groups, scale, 1.0, eps, torch.get_num_threads())
        gy, x = gy.contiguous(), x.contiguous()
        tensors = [None if t is None else t.contiguous() for t in (weight, bias, lin_weight, lin_bias)]
        state, gx = norm.state(), torch.empty_like(x)
        norm.forward(gx.data_ptr(), x.data_ptr(), x.shape[0], _addresses(tensors) + (None, None), state)
        made = [x.new_empty(0) if t is None else torch.empty_like(t) for t in tensors]
        norm.backward(gx.data_ptr(), tuple([None if t is None else g.data_ptr() for t, g in zip(tensors, made)]),
                      gy.data_ptr(), x.data_ptr(), x.shape[0], _addresses(tensors) + (None, None), state)
        return (gx, *made)

    @_backward_op.register_fake
    def _(gy, x, weight, bias, lin_weight, lin_bias, kind, groups, scale, eps):
        return (torch.empty_like(x), *[x.new_empty(0) if t is None else torch.empty_like(t)
                                       for t in (weight, bias, lin_weight, lin_bias)])

    def _setup(ctx, inputs, output):
        ctx.save_for_backward(*inputs[:5])
        ctx.settings = inputs[5:]

    def _backward(ctx, gy, *_):
        tensors = ctx.saved_tensors
        made = _backward_op(gy, *tensors, *ctx.settings)
        return (made[0], *[None if t is None else g for t, g in zip(tensors[1:], made[1:])], None, None, None, None)

    _norm_op.register_autograd(_backward, setup_context=_setup)


def _by_statistics(kind, groups, scale, eps, momentum, running, x, weight, bias, lin_weight, lin_bias):
    """norm(x) by the statistics of x; moves the running estimates (mean, var, or None) in place."""
    dtype, device = x.dtype, x.device
    tensors = [None if t is None else _native(t, "a parameter") for t in (weight, bias, lin_weight, lin_bias)]
    x = _native(x, "x")
    if torch.compiler.is_compiling():
        y, mean, var = torch.ops.fathom.norm(x, *tensors, kind, groups, scale, eps)
        if running is not None:
            for estimate, now in zip(running, (mean, var)):
                estimate.lerp_(now.detach().to(estimate.device, estimate.dtype), momentum)
        return y.to(device, dtype)
    norm = norm_of(kind, x.shape[1], groups, scale, momentum, eps, torch.get_num_threads())
    own = None if running is None else [_native(t, "a running estimate") for t in running]
    y = _Normalise.apply(norm, (None, None) if own is None else _addresses(own), x, *tensors)
    if running is not None:
        for estimate, moved in zip(running, own):
            if moved is not estimate:
                estimate.copy_(moved)
            torch.autograd.graph.increment_version(estimate)
    return y if dtype is torch.float32 and y.device == device else y.to(device, dtype)


def _statistics(norm):
    """What BatchNorm1d does before it normalises: does it use the statistics of x, with which momentum, and which
    estimates does it move? Counts the batch."""
    momentum, running = norm.momentum, None
    if norm.training and norm.track_running_stats and norm.running_mean is not None:
        norm.num_batches_tracked.add_(1)
        if momentum is None:
            momentum = 1.0 / float(norm.num_batches_tracked)
        running = (norm.running_mean, norm.running_var)
    return norm.training or norm.running_mean is None, 0.0 if momentum is None else momentum, running


def _check(x, width, training):
    if x.dim() != 2:
        raise ValueError(f"x has {x.dim()} dimensions instead of 2: its shape is {tuple(x.shape)}")
    if width is not None and x.shape[1] != width:
        raise ValueError(f"x has {x.shape[1]} columns, but in_channels is {width}")
    if training and x.shape[0] == 1:
        raise ValueError(f"x has one row; statistics in training need more: its shape is {tuple(x.shape)}")


class DiffGroupNorm(nn.Module):
    """Differentiable group normalisation: y = x + lamda * sum_g BatchNorm(s_g * x), s = softmax(x W').

    As torch_geometric.nn.DiffGroupNorm, with the same arguments, parameters and state_dict.

    >>> import torch
    >>> from fathom.torch import DiffGroupNorm
    >>> norm = DiffGroupNorm(16, groups=4)
    >>> norm(torch.randn(100, 16)).shape
    torch.Size([100, 16])
    """

    def __init__(self, in_channels: int, groups: int = 10, lamda: float = 0.01, eps: float = 1e-5,
                 momentum: float = 0.1, affine: bool = True, track_running_stats: bool = True, device=None):
        super().__init__()
        for name, value in (("in_channels", in_channels), ("groups", groups)):
            if int(value) != value or value < 1:
                raise ValueError(f"{name} is {value!r}; it is a whole number above 0")
        if not eps > 0:
            raise ValueError(f"eps is {eps!r}; it is above 0")
        if not math.isfinite(lamda):
            raise ValueError(f"lamda is {lamda!r}; it is a finite number")
        self.in_channels, self.groups, self.lamda = in_channels, groups, lamda
        self.lin = nn.Linear(in_channels, groups, bias=False, device=device)
        self.norm = nn.BatchNorm1d(groups * in_channels, eps, momentum, affine, track_running_stats, device=device)
        self.reset_parameters()

    def reset_parameters(self):
        self.lin.reset_parameters()
        self.norm.reset_parameters()

    def _affine(self, like):
        norm = self.norm
        if norm.weight is not None:
            return norm.weight, norm.bias
        size = self.groups * self.in_channels
        return torch.ones(size, dtype=torch.float32), torch.zeros(size, dtype=torch.float32)

    def forward(self, x: Tensor) -> Tensor:
        lin, norm = self.lin, self.norm
        _check(x, self.in_channels, norm.training or norm.running_mean is None)
        if x.shape[0] == 0:
            return x.clone()
        weight, bias = self._affine(x)
        by_statistics, momentum, running = _statistics(norm)
        if by_statistics:
            if norm.momentum is None and running is not None:  # the momentum changes with each batch
                now = [torch.zeros_like(running[0]), torch.ones_like(running[1])]
                y = _by_statistics("group", self.groups, float(self.lamda), norm.eps, 1.0, now, x, weight, bias,
                                   lin.weight, lin.bias)
                for estimate, latest in zip(running, now):
                    estimate.lerp_(latest, momentum)
                return y
            return _by_statistics("group", self.groups, float(self.lamda), norm.eps, momentum, running, x, weight,
                                  bias, lin.weight, lin.bias)
        if torch.is_grad_enabled() or torch.compiler.is_compiling():
            return self._by_estimates(x, weight.to(x), bias.to(x))
        tensors = [None if t is None else _native(t, "a parameter") for t in
                   (weight, bias, lin.weight, lin.bias, norm.running_mean, norm.running_var)]
        own = _native(x, "x")
        y = torch.empty_like(own)
        norm_of("group", self.in_channels, self.groups, float(self.lamda), norm.momentum or 0.0, norm.eps,
                torch.get_num_threads()).forward(y.data_ptr(), own.data_ptr(), own.shape[0], _addresses(tensors), None)
        return y if own is x else y.to(x)

    def _by_estimates(self, x, weight, bias):
        """Evaluation that may be differentiated: y = x (1 + lamda S A) + lamda b by operations of torch."""
        norm, shape = self.norm, (self.groups, self.in_channels)
        scale = weight.view(shape) * (norm.running_var.to(x).view(shape) + norm.eps).rsqrt()
        shift = (bias.view(shape) - scale * norm.running_mean.to(x).view(shape)).sum(0)
        return x * (1 + self.lin(x).softmax(-1) @ (self.lamda * scale)) + self.lamda * shift

    @staticmethod
    def group_distance_ratio(x: Tensor, y: Tensor, eps: float = 1e-5) -> float:
        """Mean distance between classes over that within classes, of the rows of x with classes y."""
        from ._metrics import measure
        got = measure(x, y=y, definition="pyg", rows="all")
        return got["inter_group_distance"] / (got["intra_group_distance"] + eps)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.in_channels}, groups={self.groups})"


class PairNorm(nn.Module):
    """Pair normalisation, as torch_geometric.nn.PairNorm: columns minus their mean, over the mean length of a row.

    >>> import torch
    >>> from fathom.torch import PairNorm
    >>> PairNorm()(torch.randn(100, 16)).shape
    torch.Size([100, 16])
    """

    def __init__(self, scale: float = 1.0, scale_individually: bool = False, eps: float = 1e-5):
        super().__init__()
        if not eps > 0:
            raise ValueError(f"eps is {eps!r}; it is above 0")
        self.scale, self.scale_individually, self.eps = scale, scale_individually, eps

    def forward(self, x: Tensor, batch=None, batch_size=None) -> Tensor:
        _check(x, None, False)
        if batch is None and not self.scale_individually and x.shape[0] > 0:
            y = _by_statistics("pair", 1, 0.0, self.eps, 0.0, None, x, None, None, None, None)
            return y if self.scale == 1.0 else self.scale * y
        if batch is None:
            x = x - x.mean(0, keepdim=True)
        else:
            size = int(batch.max()) + 1 if batch_size is None else batch_size
            count = torch.bincount(batch, minlength=size).clamp(min=1).to(x).unsqueeze(1)
            x = x - (x.new_zeros(size, x.shape[1]).index_add(0, batch, x) / count)[batch]
        if self.scale_individually:
            return self.scale * x / (self.eps + x.norm(2, -1, keepdim=True))
        if batch is None:  # no rows
            return x
        square = x.pow(2).sum(-1, keepdim=True)
        return self.scale * x / (self.eps + (x.new_zeros(size, 1).index_add(0, batch, square) / count)[batch]).sqrt()

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class BatchNorm(nn.Module):
    """Batch normalisation over all nodes, as torch_geometric.nn.BatchNorm.

    >>> import torch
    >>> from fathom.torch import BatchNorm
    >>> BatchNorm(16)(torch.randn(100, 16)).shape
    torch.Size([100, 16])
    """

    def __init__(self, in_channels: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = True,
                 track_running_stats: bool = True, allow_single_element: bool = False, device=None):
        super().__init__()
        if allow_single_element and not track_running_stats:
            raise ValueError("allow_single_element needs track_running_stats")
        if not eps > 0:
            raise ValueError(f"eps is {eps!r}; it is above 0")
        self.module = nn.BatchNorm1d(in_channels, eps, momentum, affine, track_running_stats, device=device)
        self.in_channels, self.allow_single_element = in_channels, allow_single_element

    def reset_running_stats(self):
        self.module.reset_running_stats()

    def reset_parameters(self):
        self.module.reset_parameters()

    def forward(self, x: Tensor) -> Tensor:
        module = self.module
        if self.allow_single_element and x.shape[0] <= 1:
            return nn.functional.batch_norm(x, module.running_mean, module.running_var, module.weight, module.bias,
                                            False, 0.0, module.eps)
        training = module.training or module.running_mean is None
        _check(x, self.in_channels, training)
        if not training or module.momentum is None or x.shape[0] == 0:
            return module(x)
        _, momentum, running = _statistics(module)
        weight, bias = module.weight, module.bias
        if weight is None:
            weight, bias = torch.ones(self.in_channels), torch.zeros(self.in_channels)
        return _by_statistics("batch", 1, 0.0, module.eps, momentum, running, x, weight, bias, None, None)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.module.extra_repr()})"


def convert(model: nn.Module) -> nn.Module:
    """Replaces every torch_geometric.nn.DiffGroupNorm of a model, in place. Parameters and buffers are the same objects,
    so that optimizers and state_dicts stay valid. Returns the model, or the new module where the model is one.

    >>> import torch                                                                            # doctest: +SKIP
    >>> model = fathom.torch.convert(model)                                                     # doctest: +SKIP
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"model is a {type(model).__name__}, not a torch.nn.Module")
    made = {}
    for parent in list(model.modules()):
        for name, child in list(parent._modules.items()):
            if _is_foreign(child):
                if child not in made:
                    made[child] = _converted(child)
                setattr(parent, name, made[child])
    return _converted(model) if _is_foreign(model) else model


def _is_foreign(module):
    return any(kind.__name__ == "DiffGroupNorm" and kind.__module__.startswith("torch_geometric.")
               for kind in type(module).__mro__)


def _converted(old):
    new = DiffGroupNorm.__new__(DiffGroupNorm)
    nn.Module.__init__(new)
    new.in_channels, new.groups, new.lamda = old.in_channels, old.groups, old.lamda
    new.lin, new.norm = old.lin, old.norm
    return new.train(old.training)
