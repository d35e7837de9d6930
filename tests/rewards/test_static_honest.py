"""Honest answers of many styles pass gate 2: whole modules, as language models write them."""

from textwrap import dedent, indent

import pytest

from kernelwright.rewards.static_legality import violations

HEAD = '''\
import math
import os
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.cpp_extension import load_inline

# torch.relu(x) would do this in one call; eval("...") and os.system in a comment are not code
cpp_source = """
#include <torch/extension.h>
torch::Tensor run(torch::Tensor x) { auto y = torch::empty_like(x); return y; }
"""
ext = load_inline(name="ext", cpp_sources=cpp_source, functions=["run"], verbose=False)
'''


def model(init: str, forward: str, before: str = "", arguments: str = "x") -> str:
    """A module with one extension ``ext`` around the given bodies."""
    return (
        HEAD
        + dedent(before)
        + "\n\nclass ModelNew(nn.Module):\n"
        + "    def __init__(self, n=4, eps=1e-5, *args, **kwargs):\n"
        + "        super().__init__()\n"
        + indent(dedent(init).strip() or "pass", " " * 8)
        + f"\n\n    def forward(self, {arguments}):\n"
        + indent(dedent(forward).strip(), " " * 8)
        + "\n"
    )


MODELS = {
    "one call": model("", "return ext.run(x)"),
    "extension on self": model("self.ext = ext", "return self.ext.run(x.contiguous())"),
    "function on self": model("self.run = ext.run", "return self.run(x)"),
    "functions in a dict": model(
        "self.ops = {'relu': ext.relu, 'sum': ext.sum}",
        """
        x = self.ops["relu"](x)
        return self.ops[self.mode if False else "sum"](x)
        """,
    ),
    "functions in a list": model(
        "self.steps = [ext.a, ext.b]",
        """
        for step in self.steps:
            x = step(x)
        return x
        """,
    ),
    "shape arithmetic": model(
        "",
        """
        b, c, h, w = x.shape
        n = b * c
        blocks = (n + 255) // 256
        grid = min(65535, max(1, blocks))
        bytes_ = x.numel() * x.element_size()
        pad = -h % 16
        out = torch.empty((b, c, h + pad, w), dtype=x.dtype, device=x.device)
        ext.run(x, out, n, grid, bytes_ % 16 == 0, h ** 2, math.sqrt(w), n << 2, ~n & 7)
        return out[:, :, :h, :]
        """,
    ),
    "shape as a list": model(
        "",
        """
        shape = list(x.shape)
        shape[-1] = shape[-1] // 2
        out = x.new_empty(shape)
        rows = 1
        for d in shape[:-1]:
            rows *= d
        rows += 0
        ext.run(x, out, rows, math.prod(x.shape[:-1]), sum(x.stride()), x.size(-1) * 2)
        return out.view(*x.shape[:-1], -1)
        """,
    ),
    "docstring with a comment on torch.softmax": model(
        "",
        '''
        """Computes torch.softmax(x) @ y with a kernel; `pass` and try/except are only words."""
        # x = torch.relu(x) + 1
        return ext.run(x)
        ''',
    ),
    "module parameters": model(
        """
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.bn = nn.BatchNorm2d(8)
        self.scale = nn.Parameter(torch.randn(8, 1, 1) * 0.02)
        """,
        """
        return ext.run(x, self.conv.weight, self.conv.bias, self.bn.weight, self.bn.running_var,
                       self.bn.eps * 2, self.conv.stride[0], self.conv.padding[0] + 1,
                       self.scale.view(-1))
        """,
    ),
    "hyperparameters": model(
        """
        self.n = n
        self.eps = float(eps)
        self.scale = 1.0 / math.sqrt(n)
        self.half = self.n // 2
        """,
        """
        eps = self.eps * 2
        k = self.n - 1 if self.n > 1 else self.half
        return ext.run(x, eps, k, -self.scale, 2 ** self.n, self.scale * eps, round(self.eps, 3))
        """,
    ),
    "buffers": model(
        """
        self.register_buffer("table", torch.arange(0, n).float())
        freq = torch.exp(torch.arange(0, n, 2) * (-math.log(10000.0) / n))
        self.register_buffer("freq", freq, persistent=False)
        """,
        "return ext.run(x, self.table, self.freq.to(x.device))",
    ),
    "helpers": model(
        "",
        """
        x = as_contiguous(x)
        n = ceil_div(x.numel(), 256)
        return launch(x, blocks=n)
        """,
        """
        def ceil_div(a, b):
            return (a + b - 1) // b

        def as_contiguous(t):
            return t if t.is_contiguous() else t.contiguous()

        def launch(t, *, blocks, threads: int = 256):
            assert blocks * threads >= t.numel(), f"{blocks} x {threads} is too few"
            return ext.run(t, blocks, threads)
        """,
    ),
    "methods": model(
        "self.n = n",
        "return self._run(self._prepare(x))",
        "",
    )
    + """
    def _prepare(self, t):
        if t.dtype != torch.float32:
            t = t.float()
        return t.contiguous().view(t.shape[0], -1)

    def _run(self, t):
        return ext.run(t, self.n + 1)
""",
    "property and staticmethod": model("self._n = n", "return self.call(x, self.n * 2)")
    + """
    @property
    def n(self):
        return self._n // 2

    @staticmethod
    def call(t, n):
        return ext.run(t, n)
""",
    "lru_cache getter": model(
        "",
        "return get_ext().run(x)",
        """
        from functools import lru_cache

        @lru_cache(maxsize=None)
        def get_ext():
            return load_inline(name="lazy", cpp_sources=cpp_source, functions=["run"])
        """,
    ),
    "lazy global": model(
        "self.ext = get_ext()",
        "return get_ext().run(x) if self.ext is None else self.ext.run(x)",
        """
        _ext = None

        def get_ext():
            global _ext
            if _ext is None:
                _ext = load_inline(name="lazy", cpp_sources=[cpp_source], functions=["run"])
            return _ext
        """,
    ),
    "lazy attribute": model(
        "self._ext = None",
        """
        if self._ext is None:
            self._ext = load_inline(name="lazy", cpp_sources=cpp_source, functions=["run"])
        return self._ext.run(x)
        """,
    ),
    "cache by key": model(
        "self.built = {}",
        """
        key = (x.dtype, x.shape[-1])
        if key not in self.built:
            self.built[key] = build(x.shape[-1])
        return self.built[key].run(x)
        """,
        """
        def build(n: int):
            source = cpp_source.replace("N", str(n)) + f"// {n}"
            return load_inline(name=f"ext_{n}", cpp_sources=[source], functions=["run"])
        """,
    ),
    "source from a template": model(
        "",
        "return made.run(x)",
        '''
        from textwrap import dedent
        TEMPLATE = dedent("""
            torch::Tensor run(torch::Tensor x) { return torch::zeros_like(x); } // %d
        """)
        made = load_inline("made", "#include <torch/extension.h>" + TEMPLATE % 4, functions=["run"])
        ''',
    ),
    "getattr on the extension": model(
        "self.kind = 'relu'",
        """
        name = "run_f32" if x.dtype == torch.float32 else "run_f64"
        return getattr(ext, f"{name}_{self.kind}")(x, getattr(self, "kind"))
        """,
    ),
    "getattr of a numbered weight": model(
        """
        for i in range(n):
            setattr(self, f"w{i}", nn.Parameter(torch.zeros(4)))
        """,
        """
        for i in range(3):
            x = ext.run(x, getattr(self, f"w{i}"))
        return x
        """,
    ),
    "tuple of outputs": model(
        "",
        """
        values, indices = ext.topk(x, 4)
        mean, var = torch.empty(4), torch.empty(4)
        ext.stats(x, mean, var)
        return values, indices.to(torch.int64), (mean, var), {"mean": mean}
        """,
    ),
    "keyword arguments": model(
        "",
        """
        options = dict(eps=1e-5, dim=-1)
        return ext.run(x=x, **options)
        """,
    ),
    "scalar parameters": model(
        "",
        """
        scale = scale * 2 + 1
        start = dim % x.dim()
        return ext.run(x, 1.0 / scale, start + 1, temperature * 0.5)
        """,
        arguments="x: torch.Tensor, scale: float, dim: int = 1, temperature=0.7",
    ),
    "optional mask": model(
        "",
        """
        if mask is not None:
            mask = mask.to(torch.uint8).expand(x.shape).contiguous()
        else:
            mask = torch.ones(x.shape, dtype=torch.uint8, device=x.device)
        return ext.run(x, mask)
        """,
        arguments="x, mask=None",
    ),
    "checks and errors": model(
        "",
        """
        if not isinstance(x, torch.Tensor):
            raise TypeError(f"expected a tensor, got {type(x)}")
        if x.dim() != 2 or x.shape[0] % 8 != 0:
            raise ValueError("bad shape %s" % str(tuple(x.shape)))
        assert x.is_cuda or x.device.type == "cpu", "device"
        return ext.run(x)
        """,
    ),
    "try around a build": model(
        "",
        """
        try:
            return ext.run(x)
        except RuntimeError as error:
            raise RuntimeError(f"kernel failed on {tuple(x.shape)}") from error
        """,
    ),
    "no_grad and device guards": model(
        "",
        """
        with torch.no_grad(), torch.cuda.device(x.device):
            stream = torch.cuda.current_stream().cuda_stream
            out = ext.run(x, stream)
        return out
        """,
    ),
    "layers in a list": model(
        """
        layers = []
        for i in range(3):
            layers.append(nn.Linear(n, n))
            layers.append(nn.ReLU())
        self.network = nn.Sequential(*layers)
        self.heads = nn.ModuleList([nn.Linear(n, n) for _ in range(2)])
        """,
        """
        for layer in self.network:
            if isinstance(layer, nn.Linear):
                x = ext.linear(x, layer.weight, layer.bias, layer.out_features // 2)
        outs = []
        for i, head in enumerate(self.heads):
            outs.append(ext.linear(x, head.weight, self.network[0].bias, i + 1))
        return tuple(outs)
        """,
    ),
    "parameters by iteration": model(
        "self.gru = nn.GRU(n, n, 2)",
        """
        weights = [p.contiguous() for p in self.gru.parameters()]
        named = {name: p for name, p in self.named_parameters()}
        return ext.run(x, weights, self.gru.weight_ih_l0, self.gru.hidden_size * 3, len(named))
        """,
    ),
    "own module called": model(
        "self.op = FusedOp(n)",
        "return self.op(x)",
        """
        class FusedOp(nn.Module):
            def __init__(self, n):
                super(FusedOp, self).__init__()
                self.weight = nn.Parameter(torch.ones(n))

            def forward(self, t):
                return ext.run(t, self.weight)
        """,
    ),
    "own linear called": model(
        "self.fc = FastLinear(n, n)",
        "return self.fc(x)",
        """
        class FastLinear(nn.Linear):
            def forward(self, input):
                return ext.linear(input, self.weight, self.bias, self.in_features * 2)
        """,
    ),
    "autograd function": model(
        "",
        "return Fused.apply(x, 2.0)",
        """
        class Fused(torch.autograd.Function):
            @staticmethod
            def forward(ctx, input, scale):
                ctx.save_for_backward(input)
                ctx.scale = scale
                return ext.run(input, scale)

            @staticmethod
            def backward(ctx, grad):
                return grad * ctx.scale, None
        """,
    ),
    "nested function and lambda": model(
        "self.pick = lambda n: 128 if n > 64 else 32",
        """
        def run(t):
            return ext.run(t, self.pick(t.shape[-1]))
        flat = (lambda t: t.reshape(-1))(x)
        return run(flat).reshape(x.shape)
        """,
    ),
    "walrus, comprehension, zip": model(
        "self.ws = nn.ParameterList([nn.Parameter(torch.zeros(n)) for _ in range(3)])",
        """
        if (n := x.numel()) == 0:
            return torch.empty_like(x)
        sizes = [s * 2 for s in x.shape]
        pairs = [(w, i * n) for i, w in enumerate(self.ws)]
        for w, offset in pairs:
            x = ext.run(x, w, offset)
        for s, w in zip(sizes, self.ws):
            x = ext.run(x, w, s - 1)
        return x
        """,
    ),
    "views and casts": model(
        "",
        """
        half = x.half() if x.dtype is torch.float32 else x
        a, b = half.chunk(2, dim=-1)
        t = a.transpose(1, 2).contiguous().T.mT.unsqueeze(0).squeeze(0)
        ptr = x.data_ptr() + 4 * x.storage_offset()
        y = ext.run(t, b.permute(0, 2, 1), ptr, torch.finfo(x.dtype).min * 0.5)
        return y.to(x.dtype).reshape_as(x)
        """,
    ),
    "item and tolist": model(
        "self.alpha = nn.Parameter(torch.tensor(0.5))",
        """
        alpha = self.alpha.item() * 2
        lengths = lengths.tolist()
        top = max(lengths) + 1
        return ext.run(x, alpha, [n - 1 for n in lengths], top)
        """,
        arguments="x, lengths",
    ),
    "preallocated output": model(
        "self.out = None",
        """
        if self.out is None or self.out.shape != x.shape or self.out.device != x.device:
            self.out = torch.empty_like(x)
        out = self.out
        ext.run(x, out)
        out[0:1].copy_(out[0:1])
        out[:, 0] = 0.0
        return out
        """,
    ),
    "training buffers": model(
        "self.bn = nn.BatchNorm1d(n)",
        """
        if self.training:
            self.bn.num_batches_tracked.copy_(ext.next(self.bn.num_batches_tracked))
        momentum = 0.1 if self.bn.momentum is None else self.bn.momentum
        return ext.run(x, self.bn.running_mean, self.bn.running_var, 1 - momentum)
        """,
    ),
    "environment": model(
        "",
        "return ext.run(x)",
        """
        os.environ["TORCH_CUDA_ARCH_LIST"] = "9.0"
        os.environ.setdefault("MAX_JOBS", "4")
        """,
    ),
    "typed": model(
        "self.shape: Tuple[int, ...] = (n, n)",
        """
        out: Tensor = ext.run(x, self.shape[0] * self.shape[1])
        pieces: List[Tensor] = list(out.unbind(0))
        return pieces
        """,
        "from typing import Dict, List, Optional, Tuple\nfrom torch import Tensor\n",
    ),
    "dataclass configuration": model(
        "self.cfg = Config(n=n)",
        "return ext.run(x, self.cfg.n * self.cfg.block, self.cfg.warps // 2)",
        """
        from dataclasses import dataclass

        @dataclass(frozen=True)
        class Config:
            n: int
            block: int = 128

            @property
            def warps(self):
                return self.block // 32
        """,
    ),
    "test code at the end": model(
        "",
        "return ext.run(x)",
        """
        def get_inputs():
            return [torch.rand(4, 4)]

        def get_init_inputs():
            return []

        def reference(x):
            return torch.relu(x) + 1
        """,
    )
    + """

if __name__ == "__main__":
    x, = get_inputs()
    print(torch.allclose(ModelNew()(x), reference(x), atol=1e-5))
""",
    "reference kept beside": model(
        "",
        "return ext.run(x)",
        """
        class Model(nn.Module):
            def forward(self, x):
                return F.softmax(x @ x, dim=-1)
        """,
    ),
    "variadic forward": model(
        "",
        """
        x = inputs[0]
        rest = [t.contiguous() for t in inputs[1:]]
        return ext.run(x, *rest, alpha=alpha)
        """,
        arguments="*inputs, alpha: float = 1.0",
    ),
    "match": model(
        "",
        """
        match x.dim():
            case 2:
                rows, cols = x.shape
            case 3 | 4:
                rows, cols = x.shape[0] * x.shape[1], x.shape[-1]
            case _:
                raise ValueError(x.dim())
        return ext.run(x, rows * cols)
        """,
    ),
    "early returns": model(
        "self.bias = nn.Parameter(torch.zeros(n)) if n > 2 else None",
        """
        if x.numel() == 0:
            return x.new_zeros(x.shape)
        squeeze = x.dim() == 1
        if squeeze:
            x = x.unsqueeze(0)
        bias = self.bias if self.bias is not None else torch.zeros(x.shape[-1])
        out = ext.run(x, bias)
        return out.squeeze(0) if squeeze else out
        """,
    ),
    "loop with counter": model(
        "self.n = n",
        """
        i = 0
        state = torch.zeros(x.shape[1:], dtype=x.dtype, device=x.device)
        while i < x.shape[0]:
            state = ext.step(x[i], state, i)
            i += 1
        return state
        """,
    ),
    "partial": model(
        "self.run = functools.partial(ext.run, eps=eps)",
        "return self.run(x)",
        "import functools\n",
    ),
    "arange of offsets": model(
        "",
        "return ext.run(x, torch.arange(0, x.shape[0] + 1, dtype=torch.int32, device=x.device))",
    ),
    "two extensions": model(
        "self.mods = nn.ModuleDict({'a': nn.Linear(n, n)})",
        "return second.run(ext.run(x, self.mods['a'].weight))",
        """
        second = load_inline(
            name="second", cpp_sources=["torch::Tensor run(torch::Tensor x);"],
            cuda_sources=["__global__ void k(float* x) { x[threadIdx.x] = expf(x[0]); }"],
            functions=["run"], extra_cuda_cflags=["-O3", "--use_fast_math"], with_cuda=True)
        """,
    ),
    "conditional on host floats": model(
        "self.p = 0.5",
        """
        keep = 1.0 - self.p
        if keep == 0 or not self.training:
            keep = 1.0
        low, high = (0, 6) if keep >= 1 else (1, 6)
        return ext.run(x, keep, low, high, abs(low - high), divmod(x.size(0), 2)[0])
        """,
    ),
}


@pytest.mark.parametrize("name", sorted(MODELS))
def test_honest_answer_passes(name: str) -> None:
    assert [str(found) for found in violations(MODELS[name])] == []
