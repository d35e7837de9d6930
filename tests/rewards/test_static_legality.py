"""Gate 2 names what an illegal answer does: one claim a trick, by the rule that catches it."""

import time
from textwrap import dedent, indent

import pytest

from kernelwright.rewards.static_legality import violations

HEAD = '''\
import math
import os
import functools
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.cpp_extension import load_inline

cpp_source = """
#include <torch/extension.h>
torch::Tensor run(torch::Tensor x) { auto y = torch::empty_like(x); return y; }
"""
ext = load_inline(name="ext", cpp_sources=cpp_source, functions=["run"])
'''


def model(forward: str, init: str = "pass", before: str = "", after: str = "") -> str:
    """A module with one extension ``ext`` around the given bodies."""
    return (
        HEAD
        + dedent(before)
        + "\n\nclass ModelNew(nn.Module):\n    def __init__(self, n=4):\n"
        + "        super().__init__()\n"
        + indent(dedent(init).strip(), " " * 8)
        + "\n\n    def forward(self, x):\n        ext.run(x)\n"
        + indent(dedent(forward).strip(), " " * 8)
        + "\n"
        + after
    )


KEPT = "y = ext.run(x)\n"
CHEATS = {
    # plain fallback
    "call:torch.softmax": model("return torch.softmax(x, -1)"),
    "call:torch.nn.functional.gelu": model("return F.gelu(x)"),
    "call:Tensor.softmax": model("return x.softmax(-1)"),
    "call:Tensor.sum": model("return ext.run(x).sum(0)"),
    "call:torch.Tensor.matmul": model("return torch.Tensor.matmul(x, x)"),
    "call:torch.cat": model("return torch.cat([ext.run(x), x])"),
    "call:torch.einsum": model("f = torch.einsum\nreturn f('ij->ji', x)"),
    "call:torch.relu": model("return self.act(x)", "self.act = torch.relu"),
    "call:torch.tanh": model("return self.acts['t'](x)", "self.acts = {'t': torch.tanh}"),
    "call:torch.exp": model("return helper(x)", before="def helper(t):\n    return torch.exp(t)\n"),
    "call:torch.sigmoid": model("return self.f(x)", "self.f = lambda t: torch.sigmoid(t)"),
    "call:torch.erf": model("return list(map(torch.erf, [x]))[0]"),
    "call:torch.mul": model("return functools.reduce(torch.mul, [x, x])"),
    "call:torch.add": model("return functools.partial(torch.add, x)(x)"),
    "call:torch.abs": model(
        "return self.y", after="    y = property(lambda self: torch.abs(self.x))\n"
    ),
    "call:torch.neg": model(
        "return self.go(x)",
        after="    @classmethod\n    def go(cls, t):\n        return torch.neg(t)\n",
    ),
    "call:torch.log": model("return [torch.log(t) for t in x][0]"),
    "call:torch.sin": model("def inner():\n    return torch.sin(x)\nreturn inner()"),
    "call:torch.cos": model("return f(x)", before="from torch import cos as f\n"),
    "call:torch.sqrt": model(
        "return D().run(x)",
        before="""
        class D:
            def run(self, t):
                return torch.sqrt(t)
        """,
    ),
    "call:torch.floor": model(
        "return T.apply(x)",
        before="""
        class T(torch.autograd.Function):
            @staticmethod
            def forward(ctx, t):
                return torch.floor(t)
        """,
    ),
    "call:torch.ceil": model(
        "return self.op(x)",
        "self.op = Op()",
        """
        class Op(nn.Module):
            def forward(self, t):
                return torch.ceil(t)
        """,
    ),
    "call:torch.nn.ReLU": model("return nn.ReLU()(x)"),
    "call:torch.allclose": model("if torch.allclose(x, x):\n    return x\nreturn ext.run(x)"),
    "call:torch.cuda.Stream": model("s = torch.cuda.Stream()\nreturn ext.run(x)"),
    "call:torch.rand_like": model("return ext.run(torch.rand_like(x))"),
    "call:Tensor.numpy": model("return ext.run(x.numpy())"),
    "call:Tensor.add_": model("y = ext.run(x)\ny.add_(1)\nreturn y"),
    "call:Tensor.apply_": model("return x.apply_(lambda v: v * 2)"),
    "call:print": model("print(x)\nreturn ext.run(x)"),
    # later or elsewhere
    "call:torch.round": model(
        "return ext.run(x)", "self.register_forward_hook(lambda m, i, o: torch.round(o))"
    ),
    "call:torch.trunc": model(
        "return x", after="    def __call__(self, x):\n        return torch.trunc(x)\n"
    ),
    "call:torch.frac": model(
        "return x", after="ModelNew.forward = lambda self, x: torch.frac(x)\n"
    ),
    "call:torch.square": model("return x", "self.forward = lambda x: torch.square(x)"),
    "call:torch.sign": model(
        "y = self.last(x)\nself.last = torch.sign\nreturn y", "self.last = ext.run"
    ),
    "call:torch.cumsum": model("return ext.run(torch.cumsum)"),
    "call:torch.rsqrt": model(
        "return go(x)",
        before="""
        def wrap(f):
            def inner(t):
                return torch.rsqrt(t)
            return inner

        @wrap
        def go(t):
            return ext.run(t)
        """,
    ),
    # operators
    "operator:@": model("return x @ x"),
    "operator:+": model("return ext.run(x) + x"),
    "operator:*": model("return x * 2"),
    "operator:**": model(
        "w = self.w\nreturn ext.run(w ** 2)", "self.w = nn.Parameter(torch.ones(n))"
    ),
    "operator:/": model("return half(x)", before="def half(t):\n    return t / 2\n"),
    "operator:-": model("return -ext.run(x)"),
    "operator:>": model("return ext.run(x > 0)"),
    "operator:&": model("x &= x\nreturn x"),
    "operator:%": model("y = torch.empty_like(x)\ny %= 2\nreturn y"),
    "operator:index": model("i = ext.order(x)\nreturn x[i]"),
    "operator:sum": model("return sum([x, x])"),
    "operator:abs": model("return abs(x)"),
    "operator:max": model("return max(ext.run(x))"),
    "operator:pow": model("return pow(x, 2)"),
    "operator://": model("y = self.conv.weight // 2\nreturn y", "self.conv = nn.Linear(n, n)"),
    # submodules and inheritance
    "submodule:self.conv": model("return self.conv(x)", "self.conv = nn.Conv2d(3, 4, 3)"),
    "submodule:self.fc.forward": model("return self.fc.forward(x)", "self.fc = nn.Linear(n, n)"),
    "submodule:self.net": model("return self.net(x)", "self.net = nn.Sequential(nn.Linear(n, n))"),
    "submodule:layer": model(
        "for layer in self.layers:\n    x = layer(x)\nreturn x",
        "self.layers = nn.ModuleList([nn.Linear(n, n)])",
    ),
    "submodule:getattr(self, 'fc')": model(
        "return getattr(self, 'fc')(x)", "self.fc = nn.Linear(n, n)"
    ),
    "submodule:self.own": model(
        "return self.own(x)",
        "self.own = Own(n, n)",
        """
        class Own(nn.Linear):
            pass
        """,
    ),
    "submodule:self.conv._conv_forward": model(
        "return self.conv._conv_forward(x, self.conv.weight, None)",
        "self.conv = nn.Conv2d(3, 4, 3)",
    ),
    "inherit:super().forward": model("return super().forward(x)"),
    "inherit:ModelNew's base is not nn.Module": model("return x").replace(
        "class ModelNew(nn.Module)", "class ModelNew(nn.Linear)"
    ),
    "inherit:torch.Tensor": model("return x", before="class Lazy(torch.Tensor):\n    pass\n"),
    "inherit:ModelNew": model("return x", after="ModelNew = nn.Linear\n"),
    "inherit:metaclass": model("return x", before="class M(type):\n    pass\n").replace(
        "class ModelNew(nn.Module)", "class ModelNew(nn.Module, metaclass=M)"
    ),
    "inherit:load_state_dict": model(
        "return x", after="    def load_state_dict(self, s, strict=True):\n        pass\n"
    ),
    # names made up at run time
    "getattr:'soft' + 'max'": model("return getattr(torch, 'soft' + 'max')(x, -1)"),
    "getattr:name": model("name = 'relu'\nreturn getattr(F, name)(x)"),
    "getattr:'mat' + 'mul'": model("return getattr(x, 'mat' + 'mul')(x)"),
    "call:getattr": model("g = getattr\nreturn g(torch, 'relu')(x)"),
    "call:eval": model("return eval('torch.relu(x)')"),
    "call:exec": model("exec('y = x + 1')\nreturn x"),
    "call:globals": model("return globals()['torch'].relu(x)"),
    "call:vars": model("return vars(torch)['relu'](x)"),
    "call:open": model("return x", before="data = open('/tmp/answer').read()\n"),
    "call:__import__": model("return __import__('torch').relu(x)"),
    "dunder:__builtins__": model("return __builtins__"),
    "dunder:__dict__": model("return torch.__dict__['relu'](x)"),
    "dunder:__matmul__": model("return x.__matmul__(x)"),
    "dunder:__globals__": model("return self.forward.__globals__"),
    "dunder:__subclasses__": model("return x", before="found = nn.Module.__subclasses__()\n"),
    "dunder:__torch_function__": model(
        "return x",
        before="""
        class Lazy:
            def __torch_function__(self, *rest):
                return 1
        """,
    ),
    "dunder:__getattr__": model(
        "return x", after="    def __getattr__(self, name):\n        return 1\n"
    ),
    "dunder:f_back": model("return x", before="def up(frame):\n    return frame.f_back.f_locals\n"),
    "dunder:tb_frame": model(
        "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    return e.tb_frame\n"
    ),
    "dunder:type": model("return x", before="Made = type('Made', (nn.Linear,), {})\n"),
    # imports and modules behind modules
    "import:ctypes": model("return x", before="import ctypes\n"),
    "import:sys": model("return x", before="import sys\nframe = sys._getframe(1)\n"),
    "import:inspect": model("import inspect\nreturn x"),
    "import:gc": model("return x", before="from gc import get_objects\n"),
    "import:numpy": model("return x", before="import numpy as np\n"),
    "import:threading": model("return x", before="from threading import Thread as T\n"),
    "import:triton": model("return x", before="import triton\n"),
    "import:einops": model("return x", before="from einops import rearrange\n"),
    "import:builtins": model("return x", before="import builtins\n"),
    "import:torch._C": model("return x", before="from torch._C import _nn\n"),
    "import:torch.utils.cpp_extension.subprocess": model(
        "return x", before="import torch.utils.cpp_extension.subprocess as s\n"
    ),
    "import:subprocess": model(
        "return x",
        before="from torch.utils import cpp_extension\ncpp_extension.subprocess.run('ls')\n",
    ),
    "import:os.system": model("return x", before="os.system('true')\n"),
    "import:*": model("return x", before="from torch import *\n"),
    "call:os.environ.get": model("if os.environ.get('PHASE'):\n    return x\nreturn ext.run(x)"),
    # other engines
    "call:torch.compile": model("return self.f(x)", "self.f = torch.compile(lambda t: t)"),
    "call:torch.jit.script": model(
        "return x", before="@torch.jit.script\ndef f(x):\n    return x\n"
    ),
    "call:torch.ops.aten.relu": model("return torch.ops.aten.relu(x)"),
    "call:torch._C._nn.gelu": model("return torch._C._nn.gelu(x)"),
    "call:torch._foreach_add": model("return torch._foreach_add([x], 1)[0]"),
    "call:torch.cuda.CUDAGraph": model(
        "self.g.replay()\nreturn x", "self.g = torch.cuda.CUDAGraph()"
    ),
    "call:torch.func.vmap": model("return x", "self.f = torch.func.vmap(lambda t: t)"),
    "call:torch.utils.cpp_extension.load": model(
        "return x", before="m = torch.utils.cpp_extension.load('m', ['m.cpp'])\n"
    ),
    # patching
    "patch:torch.relu": model("return x", before="torch.relu = lambda x: x\n"),
    "patch:torch.Tensor.__eq__": model(
        "return x", before="torch.Tensor.__eq__ = lambda a, b: True\n"
    ),
    "patch:torch.allclose": model("return x", before="setattr(torch, 'allclose', print)\n"),
    "patch:torch.backends.cuda.matmul.allow_tf32": model(
        "return x", before="torch.backends.cuda.matmul.allow_tf32 = True\n"
    ),
    "patch:torch.set_float32_matmul_precision": model(
        "return x", before="torch.set_float32_matmul_precision('medium')\n"
    ),
    "patch:Tensor.allclose": model("y = ext.run(x)\ny.allclose = print\nreturn y"),
    "patch:submodule.forward": model(
        "return x", "self.c = nn.Linear(n, n)\nself.c.forward = print"
    ),
    "patch:extension.run": model("return x", before="ext.run = torch.relu\n"),
    "patch:os.environ": model("return x", before="os.environ['LD_PRELOAD'] = 'x.so'\n"),
    # fallback
    "try_fallback:torch.relu": model(
        "try:\n    return ext.run(x)\nexcept Exception:\n    return torch.relu(x)"
    ),
    "try_fallback:self.conv": model(
        "try:\n    y = ext.run(x)\nexcept RuntimeError:\n    y = self.conv(x)\nreturn y",
        "self.conv = nn.Conv2d(3, 4, 3)",
    ),
    "try_fallback:+": model("try:\n    y = ext.run(x)\nfinally:\n    y = x + 1\nreturn y"),
    # no kernel at all
    "no_kernel:no load_inline": (
        "import torch.nn as nn\nclass ModelNew(nn.Module):\n    def forward(self, x):\n"
        "        return x.t()\n"
    ),
    "no_kernel:forward calls none": HEAD
    + "class ModelNew(nn.Module):\n    def forward(self, x):\n        return x.t()\n",
    "no_model:ModelNew": HEAD,
    "syntax:SyntaxError": "def forward(:\n",
    # through the C++ text
    "cpp:at::softmax": model(
        "return x",
        before="""
        bad = load_inline("b", "at::Tensor f(at::Tensor x) { return at::softmax(x, 1); }")
        """,
    ),
}


@pytest.mark.parametrize("name", list(CHEATS))
def test_cheat_is_named(name: str) -> None:
    found = [str(each) for each in violations(CHEATS[name])]
    assert name in found


def test_analysis_that_is_blown_up_ends_soon() -> None:
    calls = "\n".join(f"def f{i}(t):\n    return f{i + 1}(f{i + 1}(t))" for i in range(40))
    source = model("return f0(x)", before=f"def f40(t):\n    return t\n{calls}\n")
    began = time.perf_counter()
    found = [str(each) for each in violations(source)]
    assert time.perf_counter() - began < 5
    assert found == ["limit:analysis"] or found == []


def test_deep_nesting_is_a_violation_not_a_crash() -> None:
    assert violations(HEAD + "x = " + "(" * 3000 + ")" * 3000)
    assert violations(HEAD + "x = " + "-" * 50_000 + "1\n")


def test_an_honest_answer_takes_milliseconds() -> None:
    source = model("return ext.run(x)")
    violations(source)
    began = time.perf_counter()
    violations(source)
    assert time.perf_counter() - began < 0.2


def test_violations_carry_the_line() -> None:
    found = violations(model("return torch.relu(x)"))
    line = (
        CHEATS["call:torch.softmax"].splitlines().index("        return torch.softmax(x, -1)") + 1
    )
    assert {each.line for each in found} == {line}
