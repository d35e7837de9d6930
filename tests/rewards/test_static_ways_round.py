"""Ways round gate 2 by data flow: whatever carries torch compute to forward, something is named."""

import pytest

from kernelwright.rewards.static_legality import violations

HEAD = """\
import functools
import math
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.cpp_extension import load_inline
ext = load_inline(name="ext", cpp_sources="torch::Tensor run(torch::Tensor x);", functions=["run"])
"""


def model(forward: str, init: str = "pass", before: str = "", after: str = "") -> str:
    """A module that calls its extension, then does *forward*."""
    body = "".join(f"        {line}\n" for line in forward.splitlines())
    start = "".join(f"        {line}\n" for line in init.splitlines())
    return (
        f"{HEAD}{before}class ModelNew(nn.Module):\n    def __init__(self, n=4):\n"
        f"        super().__init__()\n{start}    def forward(self, x):\n        ext.run(x)\n"
        f"{body}{after}"
    )


WAYS = {
    "type(x).matmul": model("return type(x).matmul(x,x)"),
    "type(self.conv).forward": model(
        "return type(self.conv).forward(self.conv,x)", "self.conv=nn.Linear(n,n)"
    ),
    "nn.Linear.forward": model("return nn.Linear.forward(self.conv,x)", "self.conv=nn.Linear(n,n)"),
    "modules()": model("return next(self.modules())(x)", "self.c=nn.Linear(n,n)"),
    "children": model("for c in self.children():\n    x=c(x)\nreturn x", "self.c=nn.Linear(n,n)"),
    "named_children": model(
        "for k,c in self.named_children():\n    x=c(x)\nreturn x", "self.c=nn.Linear(n,n)"
    ),
    "_modules": model("return self._modules['c'](x)", "self.c=nn.Linear(n,n)"),
    "get_submodule": model("return self.get_submodule('c')(x)", "self.c=nn.Linear(n,n)"),
    "get_submodule composed": model(
        "return self.get_submodule('c'+'')(x)", "self.c=nn.Linear(n,n)"
    ),
    "apply": model(
        "out=[]\nself.apply(lambda c: out.append(c(x)))\nreturn out[-1]", "self.c=nn.Linear(n,n)"
    ),
    "setattr self computed": model("return self.zz(x)", "setattr(self,'z'+'z',torch.relu)"),
    "dict of ops default": model("return {'a':ext.run}.get('b', torch.relu)(x)"),
    "dict pop": model("d={'a':torch.relu}\nreturn d.pop('a')(x)"),
    "default arg": model("return go(x)", before="def go(t, f=torch.relu):\n    return f(t)\n"),
    "class attr": model("return self.op(x)", after="    op = staticmethod(torch.relu)\n"),
    "class attr direct": model("return ModelNew.op(x)", after="    op = torch.relu\n"),
    "closure": model(
        "return self.f(x)",
        "self.f = make(torch.relu)",
        before="def make(g):\n    return lambda t: g(t)\n",
    ),
    "args": model("return call(torch.relu, x)", before="def call(f,*a):\n    return f(*a)\n"),
    "kwargs": model(
        "return call(x, f=torch.relu)", before="def call(*a,**k):\n    return k['f'](*a)\n"
    ),
    "sorted key": model("return sorted([x], key=torch.relu)"),
    "iter": model("return list(iter(lambda: torch.relu(x), 0))"),
    "star import alias": model("return t(x)", before="import torch as T\nt = T.relu\n"),
    "while cond": model("while torch.any(x):\n    pass\nreturn x"),
    "assert": model("assert torch.relu(x) is not None\nreturn x"),
    "fstring": model("s=f'{torch.relu(x)}'\nreturn x"),
    "with": model("with torch.autograd.profiler.profile():\n    pass\nreturn x"),
    "decorator class": model(
        "return go(x)",
        before=(
            "class W:\n    def __init__(self,f):\n        self.f=f\n"
            "    def __call__(self,t):\n        return torch.relu(t)\n@W\ndef go(t):\n"
            "    return ext.run(t)\n"
        ),
    ),
    "generator": model("def g():\n    yield torch.relu(x)\nreturn next(g())"),
    "annassign": model("y: object = torch.relu(x)\nreturn y"),
    "walrus": model("if (y:=torch.relu(x)) is None:\n    pass\nreturn y"),
    "star": model("a,*b=[x,torch.relu]\nreturn b[0](x)"),
    "nested class": model("class A:\n    f=torch.relu\nreturn A.f(x)"),
    "matmul unknown attr": model("return self.cfg @ self.cfg", "self.cfg=n"),
    "global set by init": model("return F2(x)", "global F2\nF2=torch.relu", before="F2=None\n"),
    "load_inline fake": model(
        "return x",
        before="class E:\n    def run(self,t):\n        return torch.relu(t)\next = E()\n",
    ),
    "ext attr rebound": model(
        "return e.run(x)",
        before=(
            "e = ext\ndef run(t):\n    return torch.relu(t)\nclass Q: pass\ne = Q()\ne.run = run\n"
        ),
    ),
    "try import": model(
        "return np.exp(x)",
        before="try:\n    import numpy as np\nexcept ImportError:\n    np=None\n",
    ),
    "tensor data @": model("return x.data @ x.T"),
    "inplace attr": model("self.s += x\nreturn self.s", "self.s=torch.zeros(n)"),
    "parameter list sum": model("return sum(p for p in self.parameters())"),
    "cpp via replace": model(
        "return x", before="src='at::soft_max(x)'.replace('_','')\nb=load_inline('b', src)\n"
    ),
    "cpp via join": model(
        "return x",
        before="src='\\n'.join(['#include <dlfcn.h>','void f();'])\nb=load_inline('b', src)\n",
    ),
    "autograd backward": model("torch.autograd.backward(x)\nreturn x"),
    "autograd grad": model("return torch.autograd.grad(x,x)"),
    "requires grad trick": model("x.backward()\nreturn x"),
    "checkpoint": model(
        "return torch.utils.checkpoint.checkpoint(self.c,x)", "self.c=nn.Linear(n,n)"
    ),
    "nn.utils param": model(
        "return x", "nn.utils.parametrize.register_parametrization(self,'w',nn.ReLU())"
    ),
    "nn.utils stateless": model(
        "return torch.func.functional_call(self.c,{},x)", "self.c=nn.Linear(n,n)"
    ),
    "property on nn": model("return self.c.in_proj(x)", "self.c=nn.MultiheadAttention(n,1)"),
    "out_proj": model("return self.c.out_proj(x)", "self.c=nn.MultiheadAttention(n,1)"),
    "linear1 of encoder": model(
        "return self.c.linear1(x)", "self.c=nn.TransformerEncoderLayer(n,1)"
    ),
    "lambda default": model("return (lambda t, f=F.relu: f(t))(x)"),
    "ternary": model("f = ext.run if x.numel() else torch.relu\nreturn f(x)"),
    "boolop": model("return (None or torch.relu)(x)"),
    "subscripted list": model("return [ext.run, torch.relu][-1](x)"),
    "dataclass field": model(
        "return self.c.f(x)",
        "self.c=C(f=torch.relu)",
        before="from dataclasses import dataclass\n@dataclass\nclass C:\n    f: object = None\n",
    ),
    "dataclass positional": model(
        "return self.c.f(x)",
        "self.c=C(torch.relu)",
        before="from dataclasses import dataclass\n@dataclass\nclass C:\n    f: object = None\n",
    ),
    "namedtuple": model(
        "return P(torch.relu).f(x)",
        before="from collections import namedtuple\nP=namedtuple('P','f')\n",
    ),
    "typing NamedTuple": model(
        "return P(torch.relu).f(x)",
        before="from typing import NamedTuple\nclass P(NamedTuple):\n    f: object\n",
    ),
    "defaultdict": model(
        "d=collections.defaultdict(lambda: torch.relu)\nreturn d['a'](x)",
        before="import collections\n",
    ),
    "itertools": model(
        "return list(itertools.starmap(torch.add,[(x,x)]))[0]", before="import itertools\n"
    ),
    "accumulate": model(
        "return list(itertools.accumulate([x,x]))[-1]", before="import itertools\n"
    ),
    "math.sumprod tensors": model("return math.prod([x,x])"),
    "math.fsum": model("return math.fsum([x])"),
    "enum member": model(
        "return O.A(x)", before="from enum import Enum\nclass O(Enum):\n    A = torch.relu\n"
    ),
    "functools.singledispatch": model(
        "return go(x)", before="@functools.singledispatch\ndef go(t):\n    return torch.relu(t)\n"
    ),
    "cached_property": model(
        "return self.z",
        after=(
            "    @functools.cached_property\n    def z(self):\n        return torch.relu(self.w)\n"
        ),
    ),
    "wraps": model(
        "return go(x)",
        before=(
            "def deco(f):\n    @functools.wraps(f)\n    def inner(t):\n"
            "        return torch.relu(f(t))\n    return inner\n@deco\ndef go(t):\n"
            "    return ext.run(t)\n"
        ),
    ),
    "contextmanager obj": model(
        "with Z(x) as z:\n    return z",
        before=(
            "class Z:\n    def __init__(self,t):\n        self.t=t\n"
            "    def __enter__(self):\n        return torch.relu(self.t)\n"
            "    def __exit__(self,*a):\n        pass\n"
        ),
    ),
    "str method": model("return getattr(x,'softmax')(-1)"),
    "torch.nn.Module.__call__": model(
        "return nn.Module.__call__(self.c,x)", "self.c=nn.Linear(n,n)"
    ),
    "match": model("match x.dim():\n    case 2:\n        return torch.relu(x)\nreturn x"),
    "del": model("del x\nreturn torch.relu(x)"),
    "while else": model("while False:\n    pass\nelse:\n    return torch.relu(x)\nreturn x"),
    "chained cmp": model("return 0 < x < 1"),
    "set_grad": model("x.grad_fn\nreturn x"),
    "torch.where via T": model("T=torch\nreturn T.where(x,x,x)"),
    "x.__getitem__ idx": model("return x.index_select(0,x)"),
    "slice assign compute": model("y=torch.empty_like(x)\ny[x>0]=1\nreturn y"),
    "torch.tensor on list": model("return torch.tensor([v*2 for v in x])"),
}


@pytest.mark.parametrize("name", list(WAYS))
def test_way_round_is_caught(name: str) -> None:
    assert violations(WAYS[name])


def test_without_a_way_round_the_frame_is_legal() -> None:
    assert violations(model("return ext.run(x)")) == []
