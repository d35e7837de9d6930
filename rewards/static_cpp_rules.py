"""Which names C++ and CUDA text may use after ``at::`` and ``torch::``, and which it never may."""

import re

from kernelwright.rewards.static_rules import words

ROOTS = frozenset({"at", "torch", "c10"})
FUNCTIONS = words(
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
CUDA = words(
    """
    getCurrentCUDAStream getDefaultCUDAStream CUDAStream CUDAGuard OptionalCUDAGuard
    CUDAStreamGuard current_device device_count is_available getCurrentDeviceProperties
    getDeviceProperties warp_size ATenCeilDiv getApplyGrid cuda detail getStreamFromPool
    device_synchronize stream_synchronize set_device CUDACachingAllocator
    """
) - {"getStreamFromPool"}
TYPES_DENIED = words(
    """
    Dispatcher Library OperatorHandle OperatorName OperatorKernel DispatchKeySet
    ThreadLocalState Context ExcludeDispatchKeyGuard IncludeDispatchKeyGuard IValue Stack
    CppFunction
    """
)
TYPE = re.compile(r"[A-Z]|k[A-Z]|(u?int|float|bfloat|half)\d*_?t?$")
DENIED_NAMESPACES = words(
    """
    native cpu _ops ops redispatch compositeexplicitautograd compositeimplicitautograd nn jit
    autograd linalg special fft sparse functionalization meta data serialize optim dynamo
    inductor aot_inductor blas dispatch_key_for_device
    """
)
METHODS = words(
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
COMPUTE = words(
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
CALLS = re.compile(
    r"((cublas|cudnn|cusparse|cusolver|cufft|cutensor|nvrtc|mublas|mudnn|nccl|miopen)[A-Z]\w*"
    r"|(mkl|cblas|LAPACKE|dnnl|rocblas|PyRun|PyObject|PyImport|PyEval|PyErr)_\w+"
    r"|cu(Module|Library|Launch|Link|GetProc)\w+|cuda(Graph|StreamBeginCapture)\w*"
    r"|cudaLaunchHostFunc|cudaGetDriverEntryPoint|__libc_\w+|__NR_\w+|TORCH_LIBRARY\w*"
    r"|(dlopen|dlsym|dlvsym|dlmopen|dladdr|dl_iterate_phdr|system|popen|v?fork|clone[23]?"
    r"|exec[lv]p?e?|execvpe|fexecve|posix_spawnp?|syscall|mprotect|mmap|ptrace|socket|connect"
    r"|process_vm_\w+|getauxval|prctl|sigaction|signal|setenv|putenv|kill|raise|atexit|on_exit"
    r"|memfd_create|fopen|freopen|openat|unlink|[sdcz](gemm|gemv|axpy|dot)_|backtrace))$"
)
HEADERS = re.compile(
    r"(Python\.h|pybind11/(embed|eval)\.h|torch/csrc/|torch/nn|torch/script\.h|torch/library\.h"
    r"|ATen/(native|ops|cpu/(?!vec)|core/dispatch|Functions|NativeFunctions|cuda/CUDABlas|dlpack"
    r"|DLConvertor|cudnn|mkl)|(dlfcn|link|elf|spawn|signal|fcntl|unistd|ucontext|execinfo|netdb)\.h"
    r"|sys/(?!types\.h|time\.h)|linux/|asm/|arpa/|netinet/|/|\.\.)"
)
PYTHON = words(
    """
    module_ module eval exec eval_file globals import getattr
    """
)
ATTRIBUTE = re.compile(r"\b(constructor|destructor|ifunc|alias|weakref|section)\b")
ASM = re.compile(r"\.incbin|\bsyscall\b|\bsysenter\b|int\s+\$?0x80|\.section|\.pushsection|@plt")
NAMES = ("identifier", "namespace_identifier", "type_identifier", "field_identifier")
