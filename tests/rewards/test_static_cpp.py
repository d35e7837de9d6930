"""The C++ reading of gate 2: honest kernels pass, library compute and escapes are named."""

import pytest

from kernelwright.rewards.static_cpp import forbidden

HONEST = {
    "openmp row sums": """
        #include <torch/extension.h>
        #include <omp.h>
        #include <vector>
        // at::softmax(x, 1) would be the library's
        torch::Tensor run(torch::Tensor x, double eps) {
          TORCH_CHECK(x.dim() == 2, "x must be 2-D, not at::matmul(x, x)");
          auto xc = x.contiguous();
          auto y = torch::empty({x.size(0)}, x.options().dtype(torch::kFloat32));
          const float* p = xc.data_ptr<float>();
          float* q = y.data_ptr<float>();
          const int64_t n = x.size(0), m = x.size(1);
          #pragma omp parallel for schedule(static)
          for (int64_t i = 0; i < n; ++i) {
            float s = 0.f;
            for (int64_t j = 0; j < m; ++j) s += std::exp(p[i * m + j]) + std::max(0.f, p[j]);
            q[i] = s / (float)eps;
          }
          return y;
        }
        """,
    "cuda kernel with dispatch": """
        #include <torch/extension.h>
        #include <cuda_runtime.h>
        #include <ATen/cuda/CUDAContext.h>
        #include <c10/cuda/CUDAGuard.h>
        template <typename scalar_t>
        __global__ void relu_kernel(const scalar_t* __restrict__ x, scalar_t* y, int64_t n) {
          int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
          if (i < n) y[i] = x[i] > scalar_t(0) ? x[i] : scalar_t(0);
        }
        torch::Tensor relu(torch::Tensor x) {
          const at::cuda::OptionalCUDAGuard guard(device_of(x));
          auto y = at::empty_like(x);
          const int threads = 256;
          const int blocks = (x.numel() + threads - 1) / threads;
          auto stream = at::cuda::getCurrentCUDAStream();
          AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "relu", ([&] {
            relu_kernel<scalar_t><<<blocks, threads, 0, stream>>>(
                x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), x.numel());
          }));
          C10_CUDA_KERNEL_LAUNCH_CHECK();
          return y;
        }
        """,
    "own functions with library names": """
        namespace {
        inline float sigmoid(float x) { return 1.f / (1.f + expf(-x)); }
        template <typename T> T relu(T x) { return x > 0 ? x : 0; }
        void matmul(const float* a, const float* b, float* c, int n) { c[0] = a[0] * b[n]; }
        }
        torch::Tensor softmax(torch::Tensor x);
        torch::Tensor run(torch::Tensor x) {
          auto gelu = [](float v) { return v * sigmoid(1.702f * v); };
          auto y = torch::zeros_like(x);
          matmul(x.data_ptr<float>(), x.data_ptr<float>(), y.data_ptr<float>(), 3);
          y.data_ptr<float>()[0] = gelu(relu(2.f)) + tanhf(1.f);
          return y;
        }
        """,
    "parallel_for and vectors": """
        #include <ATen/Parallel.h>
        #include <immintrin.h>
        #include <algorithm>
        #define CEIL(a, b) (((a) + (b) - 1) / (b))
        std::vector<at::Tensor> run(const at::Tensor& x, const c10::optional<at::Tensor>& w) {
          at::Tensor y = at::empty({x.size(0)}, at::TensorOptions().dtype(at::kFloat));
          at::parallel_for(0, x.size(0), 64, [&](int64_t begin, int64_t end) {
            __m256 sum = _mm256_setzero_ps();
            for (int64_t x = begin; x < end; ++x) { float v = x + 1; (void)v; }
          });
          if (w.has_value()) y.copy_(w.value());
          return {y, x.t().contiguous().view({-1})};
        }
        """,
    "pybind block and inline assembly": """
        __device__ float fast(float x) { float y; asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
          return y; }
        PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run, "text", py::arg("x")); }
        """,
    "unused vendor header and error macro": """
        #include <cublas_v2.h>
        #include <cuda.h>
        #define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { \\
          fprintf(stderr, "%s", cudaGetErrorString(e)); exit(EXIT_FAILURE); } } while (0)
        void f() { CHECK(cudaGetLastError()); }
        """,
    "accessors and half": """
        #include <cuda_fp16.h>
        #include <cub/cub.cuh>
        __global__ void k(torch::PackedTensorAccessor32<float, 2, torch::RestrictPtrTraits> a) {
          using Reduce = cub::BlockReduce<float, 256>;
          __half h = __float2half(a[0][0]);
          a[0][1] = __half2float(h) + std::numeric_limits<float>::max();
        }
        """,
}

CHEATS = {
    "at::softmax": "at::Tensor f(at::Tensor x) { return at::softmax(x, 1); }",
    "torch::matmul": "torch::Tensor f(torch::Tensor x) { return torch::matmul(x, x); }",
    "at::native::relu": "auto f(at::Tensor x) { return ::at::native::relu(x); }",
    "at::cpu::add": "auto f(at::Tensor x) { return at::cpu::add(x, x); }",
    "at::_ops::mm::call": "auto f(at::Tensor x) { return at::_ops::mm::call(x, x); }",
    "torch::nn::functional::gelu": "auto f(T x) { return torch::nn::functional::gelu(x); }",
    "at::relu": "auto g() { auto f = &at::relu; return f; }",
    "torch::jit::load": 'auto f() { return torch::jit::load("m.pt"); }',
    "c10::Dispatcher::singleton": "auto f() { return c10::Dispatcher::singleton(); }",
    "at::linear": "using at::linear;",
    "at::mm": "namespace T = at;\nauto f(at::Tensor x) { return T::mm(x, x); }",
    "torch::cumsum": "#define OP torch::cumsum\nauto f(torch::Tensor x) { return OP(x, 0); }",
    "at::bmm": "#define OP(a, b) \\\n  at::bmm(a, b)\nauto f(at::Tensor x) { return OP(x, x); }",
    "softmax": "auto f(at::Tensor x) { return softmax(x, 1); }",
    "conv2d": "using namespace at;\nauto f(Tensor x) { return conv2d(x, x); }",
    ".matmul": "auto f(at::Tensor x) { return x.contiguous().matmul(x); }",
    "Tensor.sum": "at::Tensor f(at::Tensor x) { return x.sum(0); }",
    "Tensor.exp": "at::Tensor f(const at::Tensor& x) { auto y = x.exp(); return y; }",
    "Tensor operator+": "at::Tensor f(at::Tensor x, at::Tensor y) { return x + y; }",
    "Tensor operator*": "torch::Tensor f(torch::Tensor x) { return x * 2; }",
    "at::Tensor::mm": "auto g() { return &at::Tensor::mm; }",
    "cublasSgemm": "void f() { cublasSgemm(h, a, b, n, m, k, &al, A, n, B, k, &be, C, n); }",
    "cudnnConvolutionForward": "void f() { cudnnConvolutionForward(h); }",
    "cblas_sgemm": 'extern "C" void cblas_sgemm(int);\nvoid f() { cblas_sgemm(1); }',
    "sgemm_": 'extern "C" void sgemm_(char*);\nvoid f() { sgemm_(nullptr); }',
    "dlopen": 'void* f() { return dlopen("libtorch.so", 2); }',
    "dlsym": 'auto p = dlsym(nullptr, "cblas_sgemm");',
    "system": 'int f() { return system("ls"); }',
    "std::system": 'int f() { return std::system("ls"); }',
    "fork": "int f() { return fork(); }",
    "execve": "int f() { return execve(a, b, c); }",
    "popen": 'auto f() { return popen("ls", "r"); }',
    "syscall": "long f() { return syscall(1); }",
    "mprotect": "int f() { return ::mprotect(p, n, 7); }",
    "ptrace": "long f() { return ptrace(0); }",
    "socket": "int f() { return socket(2, 1, 0); }",
    "cuModuleLoadData": "void f() { cuModuleLoadData(&m, image); }",
    "cudaGraphLaunch": "void f() { cudaGraphLaunch(g, s); }",
    "PyRun_SimpleString": 'void f() { PyRun_SimpleString("import torch"); }',
    "py::module_::import": 'auto f() { return py::module_::import("torch").attr("relu"); }',
    "pybind11::eval": 'auto f() { return pybind11::eval("1"); }',
    "asm .incbin": 'asm(".incbin \\"kernel.cubin\\"");',
    "asm syscall": 'void f() { asm volatile("syscall"); }',
    "attribute constructor": "__attribute__((constructor)) void f() { }",
    "#include Python.h": "#include <Python.h>",
    "#include dlfcn.h": "#include <dlfcn.h>",
    "#include sys/mman.h": "#include <sys/mman.h>",
    "#include torch/csrc/autograd/python_variable.h": (
        "#include <torch/csrc/autograd/python_variable.h>"
    ),
    "#include ATen/ops/softmax.h": "#include <ATen/ops/softmax.h>",
    "#include /etc/passwd": '#include "/etc/passwd"',
    "#include ../secret.h": '#include "../secret.h"',
    "TORCH_LIBRARY_IMPL": 'TORCH_LIBRARY_IMPL(aten, CPU, m) { m.impl("relu", f); }',
}


@pytest.mark.parametrize("name", sorted(HONEST))
def test_honest_kernel_passes(name: str) -> None:
    assert forbidden(HONEST[name]) == []


@pytest.mark.parametrize("name", sorted(CHEATS))
def test_escape_is_named(name: str) -> None:
    assert name in forbidden(CHEATS[name])
    assert name not in forbidden(f"/* {CHEATS[name]} */".replace("*/ ", ""))


def test_large_source_is_read_quickly() -> None:
    import time

    text = HONEST["openmp row sums"] * 100
    began = time.perf_counter()
    forbidden(text)
    assert time.perf_counter() - began < 5
