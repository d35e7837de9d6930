"""What an answer's Python may import, mention and call: the lists of gate 2, and nothing else.

Everything here is an *allow*-list except `DENIED`, which names what not even ``__init__`` and
module-level code may touch.
"""

import re
import sys


def words(text: str) -> frozenset[str]:
    """The words of *text*, as a set."""
    return frozenset(text.split())


IMPORTS = words(
    """
    torch math typing os dataclasses functools textwrap itertools collections numbers enum
    __future__
    """
)
TORCH_MODULES = words(
    """
    torch torch.nn torch.nn.functional torch.nn.init torch.nn.parameter torch.nn.utils
    torch.nn.utils.parametrizations torch.utils torch.utils.cpp_extension torch.autograd
    torch.cuda torch.cuda.amp torch.amp torch.types torch.nn.modules.utils torch.cpu torch.backends
    """
)
TORCH_PRIVATE = words(
    """
    torch.nn.init._calculate_fan_in_and_fan_out torch.nn.init._calculate_correct_fan
    torch.nn.modules.utils._single torch.nn.modules.utils._pair torch.nn.modules.utils._triple
    torch.nn.modules.utils._quadruple torch.nn.modules.utils._ntuple
    torch.nn.modules.utils._reverse_repeat_tuple torch.__version__
    """
)
"""Host helpers with a private name that references use as well."""
LOAD_INLINE = "torch.utils.cpp_extension.load_inline"

# Reachable through an allowed module, but a way round the rules: at no stage.
DENIED = re.compile(
    r"torch\.(compile|jit|ops|library|fx|export|package|hub|load|save|serialization|classes|func"
    r"|vmap|multiprocessing|distributed|overrides|onnx|futures|monitor|profiler|mps|xpu|mtia"
    r"|utils\.(?!cpp_extension\b)|utils\.cpp_extension\.(?!load_inline\b)|nn\.modules(?!\.utils\b)|nn\.Buffer$|nn\.utils\.(parametrize|stateless)"
    r"|cuda\.(CUDAGraph|graph|make_graphed_callables|Stream|ExternalStream|stream|memory|nvtx)"
    r"|compiler|set_(?!grad_enabled\b)|use_deterministic|autograd\.graph|cond\b|while_loop)"
)
_SHARED = {"abc", "select", "types", "random", "signal", "trace", "copy", "numbers", "profile"}
STDLIB = frozenset(sys.stdlib_module_names) - _SHARED
OS_PATHS = re.compile(r"os(\.(environ(\.(get|setdefault))?|path(\.\w+)?|cpu_count))?")
ENVIRON_KEYS = words(
    """
    TORCH_CUDA_ARCH_LIST CUDA_HOME MAX_JOBS TORCH_USE_CUDA_DSA CUDA_LAUNCH_BLOCKING
    """
)

DTYPES = words(
    """
    float16 float32 float64 bfloat16 half float double int8 int16 int32 int64 uint8 uint16
    uint32 uint64 bool int long short complex64 complex128 float8_e4m3fn float8_e5m2 strided
    contiguous_format channels_last channels_last_3d preserve_format inf nan pi
    """
)
MATH_CONSTANTS = words("math.pi math.e math.tau math.inf math.nan")
TORCH_VALUES = words(
    """
    Tensor Size dtype device Generator __version__ version.cuda
    """
)
"""Torch names that forward may mention, beside `DTYPES` and what it may call."""
TORCH_TENSOR_CALLS = words(
    """
    empty empty_like empty_strided zeros zeros_like ones ones_like full full_like tensor
    as_tensor arange as_strided reshape flatten unflatten permute transpose t unsqueeze squeeze
    narrow select split chunk unbind movedim swapaxes broadcast_to view_as_real
    view_as_complex clone detach scalar_tensor from_numpy
    """
)
TORCH_HOST_CALLS = words(
    """
    device is_tensor is_floating_point is_complex numel finfo iinfo Size broadcast_shapes
    get_default_dtype no_grad inference_mode enable_grad set_grad_enabled is_grad_enabled
    is_inference_mode_enabled autocast amp.autocast amp.custom_fwd amp.custom_bwd
    cuda.amp.autocast cuda.amp.custom_fwd cuda.amp.custom_bwd cuda.current_stream
    cuda.default_stream cuda.synchronize cuda.device cuda.device_of cuda.current_device
    cuda.device_count cuda.is_available cuda.get_device_properties cuda.get_device_capability
    cuda.get_device_name get_num_threads promote_types result_type
    autograd.function.once_differentiable is_autocast_enabled
    """
)
TENSOR_HOST = words(
    """
    size dim ndimension numel nelement stride data_ptr is_contiguous element_size item tolist
    is_floating_point is_complex get_device storage_offset untyped_storage __len__ is_pinned
    is_set_to is_signed dim_order is_inference
    """
)
"""Methods of a tensor whose result is a host value."""
TENSOR_PLUMBING = words(
    """
    contiguous view reshape permute transpose t flatten unflatten unsqueeze squeeze expand
    expand_as view_as reshape_as to type type_as float half bfloat16 double int long bool
    short char byte clone detach detach_ new_empty new_zeros new_ones new_full new_tensor
    new_empty_strided zero_ fill_ copy_ narrow select chunk split split_with_sizes
    tensor_split unbind cpu cuda requires_grad_ as_strided as_strided_ movedim moveaxis
    swapaxes swapdims adjoint diagonal unfold unsqueeze_ squeeze_ transpose_ t_ resize_
    pin_memory broadcast_to view_as_real view_as_complex set_ record_stream
    """
) - {"set_"}
TENSOR_HOST_FIELDS = words(
    """
    shape dtype device is_cuda is_cpu ndim requires_grad layout is_sparse nbytes itemsize
    is_quantized is_leaf is_meta is_musa names is_nested
    """
)
TENSOR_FIELDS = words(
    """
    data T mT H mH grad real imag
    """
)
TENSOR_STORES = words(
    """
    data requires_grad grad
    """
)
MODULE_STORES = re.compile(r"(?!forward$|_)\w+")

HOST_METHODS = words(
    """
    append extend insert pop remove clear update setdefault get items keys values add discard
    sort reverse copy index count join format strip lstrip rstrip split rsplit replace lower
    upper startswith endswith splitlines title zfill encode save_for_backward mark_dirty
    mark_non_differentiable set_materialize_grads bit_length is_integer union numel _replace
    _asdict cuda_stream isdigit removeprefix removesuffix ljust rjust
    """
)
PURE_BUILTINS = words(
    """
    len int float bool str repr isinstance issubclass range hasattr callable id hash ord chr
    bin hex oct format slice object complex bytes property staticmethod classmethod
    NotImplemented Ellipsis
    """
)
ELEMENT_BUILTINS = words(
    """
    list tuple set frozenset dict zip enumerate reversed iter next map filter
    """
)
OPERATOR_BUILTINS = words(
    """
    abs sum min max round pow divmod sorted any all
    """
)
"""Builtins that run operators of their arguments: fine on host values only."""
SETUP_BUILTINS = frozenset({"print", "type", "getattr", "setattr", "super"})
BANNED_NAMES = words(
    """
    eval exec compile __import__ globals locals vars open breakpoint delattr input dir
    memoryview exit quit help
    """
)

MODULE_CONTAINERS = words(
    """
    Sequential ModuleList ModuleDict ParameterList ParameterDict
    """
)
MODULE_TENSORS = re.compile(
    r"(weight|bias|running_|num_batches|in_proj_(weight|bias)|[qkv]_proj_weight|alpha$|beta$|gamma$)"
)
MODULE_METHODS = words(
    """
    parameters named_parameters buffers named_buffers state_dict train eval to float half
    double bfloat16 cuda cpu requires_grad_ zero_grad extra_repr register_buffer
    register_parameter add_module register_module children named_children modules
    named_modules get_parameter get_buffer get_submodule type load_state_dict share_memory
    to_empty
    """
)
MODULE_OVERRIDES = re.compile(
    r"(load_state_dict|_load_from_state_dict|state_dict|_apply|_call_impl|(named_)?(parameters"
    r"|buffers|modules|children)|register_\w+|_\w*hook\w*|train|eval|get_extra_state|to)$"
)
SPECIAL_METHODS = words(
    """
    __init__ __call__ __repr__ __str__ __post_init__ __slots__ __doc__ __annotations__
    __constants__ __module__ __len__
    """
)
DUNDER_NAMES = frozenset({"__name__", "__file__", "__doc__", "__class__", "__debug__"})
DUNDER_FIELDS = frozenset({"__init__", "__name__", "__version__", "__doc__", "__call__", "__len__"})
FRAME_FIELDS = re.compile(r"(f_(back|globals|locals|builtins|code)|(gi|cr|ag|tb)_\w+|co_\w+|mro)$")
TRANSPARENT = words(
    """
    functools.lru_cache functools.cache functools.wraps functools.cached_property
    dataclasses.dataclass torch.no_grad torch.inference_mode torch.enable_grad
    torch.cuda.amp.custom_fwd torch.cuda.amp.custom_bwd torch.amp.custom_fwd
    torch.amp.custom_bwd torch.autograd.function.once_differentiable typing.cast
    typing.overload textwrap.dedent textwrap.indent functools.total_ordering
    """
)
"""Called with a value they give it back, for our purposes; called with options, a decorator."""
BASES = words(
    """
    torch.nn.Module torch.autograd.Function torch.autograd.function.Function builtins.object
    typing.NamedTuple typing.Generic typing.Protocol enum.Enum enum.IntEnum
    """
)


def forward_may_mention(path: str) -> bool:
    """Whether code reached from forward may hold what is at *path*; all but torch is host code."""
    name = path.removeprefix("torch.")
    if not path.startswith("torch."):
        return True
    if path in TORCH_MODULES or name in DTYPES or name in TORCH_VALUES or path == LOAD_INLINE:
        return True
    if name.startswith("Tensor."):
        method = name.removeprefix("Tensor.")
        return method in TENSOR_HOST or method in TENSOR_PLUMBING
    return name in TORCH_TENSOR_CALLS or name in TORCH_HOST_CALLS


def is_constant(path: str) -> bool:
    """Whether *path* is a number or a dtype, fit for arithmetic and comparison."""
    root, _, name = path.partition(".")
    return (root == "torch" and name in DTYPES) or path in MATH_CONSTANTS
