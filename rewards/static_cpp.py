"""What C++ or CUDA text may not name: library compute, loaders, system calls, Python.

The text is parsed with tree-sitter's CUDA grammar, so comments and strings are not code. Covers
plain spellings, aliases of the namespaces and macro bodies; names made by token pasting show only
in the built object's symbols, which decide.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from kernelwright.rewards.static_rules import words

_ROOTS = frozenset({"at", "torch", "c10"})
_FUNCTIONS = words(
    """
    empty empty_like empty_strided zeros zeros_like ones ones_like full full_like from_blob
    tensor scalar_tensor dtype device device_of layout requires_grad memory_format
    parallel_for parallel_reduce get_num_threads get_thread_num in_parallel_region
    intraop_launch divup optional nullopt nullopt_t make_optional string string_view complex
    opmath_type acc_type elementSize toString typeMetaToScalarType scalarTypeToTypeMeta
    isFloatingType isIntegralType isComplexType toAccumulateType toOpMathType str ceil_div
    cuda vec indexing detail intrusive_ptr irange impl numeric_limits intArrayRefToString
    guard_or_false nested view_as_real hip musa is_variadic bit_cast load convert data_ptr
    multiply_integers maybe_wrap_dim maybe_wrap_dims infer_size constants pi
    """
)
_CUDA = words(
    """
    getCurrentCUDAStream getDefaultCUDAStream CUDAStream CUDAGuard OptionalCUDAGuard
    CUDAStreamGuard current_device device_count is_available getCurrentDeviceProperties
    getDeviceProperties warp_size ATenCeilDiv getApplyGrid cuda detail getStreamFromPool
    device_synchronize stream_synchronize set_device CUDACachingAllocator
    """
) - {"getStreamFromPool"}
_TYPES_DENIED = words(
    """
    Dispatcher Library OperatorHandle OperatorName OperatorKernel DispatchKeySet
    ThreadLocalState Context ExcludeDispatchKeyGuard IncludeDispatchKeyGuard IValue Stack
    CppFunction
    """
)
_DENIED_NAMESPACES = words(
    """
    native cpu _ops ops redispatch compositeexplicitautograd compositeimplicitautograd nn jit
    autograd linalg special fft sparse functionalization meta data serialize optim dynamo
    inductor aot_inductor blas dispatch_key_for_device
    """
)
_METHODS = words(
    """
    size sizes stride strides numel dim ndimension data_ptr const_data_ptr mutable_data_ptr
    data contiguous is_contiguous scalar_type dtype device options view view_as reshape
    reshape_as flatten unflatten unsqueeze unsqueeze_ squeeze squeeze_ permute transpose t
    expand expand_as to item packed_accessor packed_accessor32 packed_accessor64 accessor
    generic_packed_accessor defined element_size nbytes get_device layout requires_grad detach
    clone copy_ zero_ fill_ narrow select slice itemsize storage_offset type new_empty
    new_zeros new_full new_ones is_floating_point is_complex suggest_memory_format reset
    use_count has_value value value_or toType sym_size sym_numel is_cuda is_cpu is_same
    is_sparse resize_ as_strided set_requires_grad requires_grad_ movedim swapaxes chunk split
    unbind cuda cpu tensor_data variable_data is_alias_of sizes_and_strides contiguous_
    storage unsafeGetTensorImpl getIntrusivePtr key_set is_meta is_non_overlapping_and_dense
    diagonal unfold
    """
)
# Unqualified calls find at:: through their argument's namespace. Names that are also plain maths
# (exp, max, pow, ...) are left to the symbols; a function that the source defines is its own.
_COMPUTE = words(
    """
    softmax log_softmax _softmax matmul mm bmm mv addmm addbmm baddbmm addmv einsum linear
    bilinear conv1d conv2d conv3d convolution _convolution conv_transpose1d conv_transpose2d
    conv_transpose3d relu relu_ gelu silu elu selu leaky_relu hardtanh hardswish sigmoid
    sigmoid_ softplus mish layer_norm batch_norm native_layer_norm native_batch_norm
    group_norm instance_norm rms_norm max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d
    avg_pool3d adaptive_avg_pool2d adaptive_max_pool2d embedding embedding_bag
    scaled_dot_product_attention cumsum cumprod argmax argmin logsumexp norm frobenius_norm
    topk index_select gather scatter scatter_add masked_fill triu tril cross_entropy mse_loss
    nll_loss kl_div smooth_l1_loss lstm gru dropout upsample_nearest2d tensordot kron stack
    hstack vstack mul_ add_ sub_ div_ addcmul addcdiv var_mean std_mean
    """
)
_CALLS = re.compile(
    r"((cublas|cudnn|cusparse|cusolver|cufft|cutensor|nvrtc|mublas|mudnn|nccl|miopen)[A-Z]\w*"
    r"|(mkl|cblas|LAPACKE|dnnl|rocblas|PyRun|PyObject|PyImport|PyEval|PyErr)_\w+|cuModule|cuLibrary|cuLaunch|cuLink|cuGetProc"
    r"|cudaGraph|cudaStreamBeginCapture|cudaLaunchHostFunc|cudaGetDriverEntryPoint|__libc_|__NR_"
    r"|dlopen$|dlsym$|dlvsym$|dlmopen$|dladdr$|dl_iterate_phdr$|system$|popen$|v?fork$|clone[23]?$"
    r"|exec[lv]p?e?$|execvpe$|fexecve$|posix_spawnp?$|syscall$|mprotect$|mmap$|ptrace$|socket$"
    r"|connect$|process_vm_|getauxval$|prctl$|sigaction$|signal$|setenv$|putenv$|kill$|raise$|atexit$|on_exit$|memfd_create$|fopen$|freopen$|openat$|unlink$"
    r"|[sdcz](gemm|gemv|axpy|dot)_$|backtrace$|TORCH_LIBRARY\w*$)"
)
_HEADERS = re.compile(
    r"(Python\.h|pybind11/(embed|eval)\.h|torch/csrc/|torch/nn|torch/script\.h|torch/library\.h"
    r"|ATen/(native|ops|cpu/(?!vec)|core/dispatch|Functions|NativeFunctions|cuda/CUDABlas|dlpack"
    r"|DLConvertor|cudnn|mkl)|dlfcn\.h|link\.h|elf\.h|spawn\.h|signal\.h"
    r"|fcntl\.h|unistd\.h|ucontext\.h|execinfo\.h|sys/(?!types\.h|time\.h)|linux/|asm/|arpa/|netinet/"
    r"|netdb\.h|/|\.\.)"
)
_PYTHON = words(
    """
    module_ module eval exec eval_file globals import getattr
    """
)
_ATTRIBUTE = re.compile(r"\b(constructor|destructor|ifunc|alias|weakref|section)\b")
_ASM = re.compile(r"\.incbin|\bsyscall\b|\bsysenter\b|int\s+\$?0x80|\.section|\.pushsection|@plt")
_NAMES = ("identifier", "namespace_identifier", "type_identifier", "field_identifier")


def forbidden(text: str) -> list[str]:
    """The forbidden names in C++ or CUDA *text*, sorted; empty where there are none."""
    return sorted(set(_scan(text, frozenset(), 0)))


@cache
def _parser() -> Any:
    import tree_sitter
    import tree_sitter_cuda

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_cuda.language()))


def _scan(text: str, defined: frozenset[str], depth: int) -> Iterator[str]:
    # A continued line is one line, to the preprocessor and to us.
    root = _parser().parse(text.replace("\\\n", "  ").encode()).root_node
    nodes = list(_walk(root))
    defined |= frozenset(_definitions(nodes))
    aliases = _aliases(nodes)
    for node in nodes:
        kind = node.type
        if kind == "preproc_include":
            path = _text(node.child_by_field_name("path")).strip('<>" ')
            if _HEADERS.match(path) and not path.startswith("sys/types"):
                yield f"#include {path}"
        elif kind in ("preproc_def", "preproc_function_def") and depth < 3:
            body = node.child_by_field_name("value")
            if body is not None:
                yield from _scan(f"void macro_body() {{ {_text(body)}; }}", defined, depth + 1)
        elif kind == "qualified_identifier" and node.parent.type != "qualified_identifier":
            yield from _qualified(_parts(node), aliases)
        elif kind == "using_declaration":
            yield from _qualified([*_parts(node), ""], {})
        elif kind == "call_expression":
            yield from _called(node.child_by_field_name("function"), defined)
        elif kind == "gnu_asm_expression" and (match := _ASM.search(_text(node))):
            yield f"asm {match.group()}"
        elif kind in ("attribute_specifier", "attribute_declaration") and (
            match := _ATTRIBUTE.search(_text(node))
        ):
            yield f"attribute {match.group()}"
        elif (
            kind in ("identifier", "type_identifier")
            and _CALLS.match(_text(node))
            and _text(node) not in defined
        ):
            yield _text(node)
        elif kind == "function_definition":
            yield from _operators(node)


def _walk(root: Any) -> Iterator[Any]:
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        pending += reversed(node.children)


def _text(node: Any) -> str:
    return node.text.decode(errors="replace") if node is not None else ""


def _parts(node: Any) -> list[str]:
    """The names of a qualified identifier, outermost first, template arguments left out."""
    found = []
    pending = [node]
    while pending:
        each = pending.pop()
        if each.type in _NAMES:
            found.append(_text(each))
        elif each.type not in ("template_argument_list", "argument_list"):
            pending += reversed(each.children)
    return found


def _definitions(nodes: list[Any]) -> Iterator[str]:
    """Functions with a body, and macros, that the text itself defines."""
    for node in nodes:
        if node.type == "function_definition":
            declarator = node.child_by_field_name("declarator")
            while declarator is not None and declarator.type != "function_declarator":
                declarator = declarator.child_by_field_name("declarator") or next(
                    (c for c in declarator.named_children if "declarator" in c.type), None
                )
            name = declarator.child_by_field_name("declarator") if declarator else None
            if name is not None:
                yield _text(name)
        elif node.type == "preproc_function_def":
            yield _text(node.child_by_field_name("name"))
        elif node.type == "init_declarator":
            value = node.child_by_field_name("value")
            if value is not None and value.type == "lambda_expression":
                yield _text(node.child_by_field_name("declarator"))


def _aliases(nodes: list[Any]) -> dict[str, list[str]]:
    """``namespace A = at::b;`` by name."""
    found = {}
    for node in nodes:
        if node.type == "namespace_alias_definition":
            names = _parts(node)
            found[names[0]] = names[1:]
    return found


def _qualified(names: list[str], aliases: dict[str, list[str]]) -> Iterator[str]:
    if names and names[0] in aliases:
        names = [*aliases[names[0]], *names[1:]]
    if not names:
        return
    shown = "::".join(name for name in names if name)
    if names[0] in ("py", "pybind11"):
        if len(names) > 1 and names[1] in _PYTHON and names[-1] != "def":
            yield shown
        return
    if names[0] == "std" and len(names) > 1 and _CALLS.match(names[1]):
        yield shown
    if names[0] not in _ROOTS:
        return
    rest = [name for name in names[1:] if name not in _ROOTS]
    if not rest or not rest[0]:
        return
    head = rest[0]
    if head in ("cuda", "hip", "musa") and len(rest) > 1 and rest[1]:
        if rest[1] not in _CUDA and not rest[1][:1].isupper():
            yield shown
    elif head in _DENIED_NAMESPACES or head in _TYPES_DENIED:
        yield shown
    elif head == "Tensor" and len(rest) > 1:
        if rest[-1] not in _METHODS:
            yield shown
    elif head == "indexing" and len(rest) > 1 and rest[1][:1].islower():
        yield shown
    elif not head[:1].isupper() and not re.match(r"k[A-Z]", head) and head not in _FUNCTIONS:
        if not re.match(r"(u?int|float|bfloat|half)\d*_?t?$", head):
            yield shown


def _called(callee: Any, defined: frozenset[str]) -> Iterator[str]:
    if callee is None:
        return
    if callee.type == "identifier" and _text(callee) in _COMPUTE - defined:
        yield _text(callee)
    elif callee.type == "field_expression":
        name = _parts(callee.child_by_field_name("field"))[:1]
        if name and name[0] in _COMPUTE - {"stack", "scatter", "gather", "norm"}:
            yield f".{name[0]}"


def _operators(function: Any) -> Iterator[str]:
    """Operators and methods on names that this function declares as tensors, and as nothing else."""
    tensors, others = set(), set()
    nodes = list(_walk(function))
    for node in nodes:
        if node.type not in (
            "parameter_declaration",
            "declaration",
            "optional_parameter_declaration",
        ):
            continue
        tensor = _parts(node.child_by_field_name("type"))[-1:] == ["Tensor"]
        for declarator in node.children_by_field_name("declarator"):
            names = [n for n in _walk(declarator) if n.type == "identifier"]
            if names:
                (tensors if tensor else others).add(_text(names[0]))
    tensors -= others
    for node in nodes:
        if node.type == "binary_expression":
            for side in ("left", "right"):
                operand = node.child_by_field_name(side)
                if (
                    operand is not None
                    and operand.type == "identifier"
                    and _text(operand) in tensors
                ):
                    yield f"Tensor operator{_text(node.child_by_field_name('operator'))}"
        elif node.type == "call_expression":
            callee = node.child_by_field_name("function")
            if callee.type != "field_expression":
                continue
            owner = callee.child_by_field_name("argument")
            name = _parts(callee.child_by_field_name("field"))[:1]
            if owner.type == "identifier" and _text(owner) in tensors and name:
                if name[0] not in _METHODS:
                    yield f"Tensor.{name[0]}"
