// at::parallel_for and parallel_reduce over OpenMP.
#ifndef KERNELWRIGHT_PARALLEL_H
#define KERNELWRIGHT_PARALLEL_H

#include "check.h"

namespace at {

namespace internal {
constexpr int64_t GRAIN_SIZE = 32768;
}

inline int get_num_threads() { return omp_get_max_threads(); }
inline int get_thread_num() { return omp_get_thread_num(); }
inline bool in_parallel_region() { return omp_in_parallel() != 0; }
inline int64_t divup(int64_t x, int64_t y) { return (x + y - 1) / y; }

template <typename F>
inline void parallel_for(int64_t begin, int64_t end, int64_t grain_size, const F& body) {
  if (begin >= end) return;
  const int64_t pieces = grain_size > 0 ? divup(end - begin, grain_size) : end - begin;
  if (pieces == 1 || in_parallel_region() || get_num_threads() == 1) return body(begin, end);
  std::exception_ptr error;
  std::atomic_flag failed = ATOMIC_FLAG_INIT;
#pragma omp parallel num_threads(static_cast<int>(std::min<int64_t>(pieces, get_num_threads())))
  {
    const int64_t chunk = divup(end - begin, omp_get_num_threads());
    const int64_t from = begin + omp_get_thread_num() * chunk;
    if (from < end) {
      try {
        body(from, std::min(end, from + chunk));
      } catch (...) {
        if (!failed.test_and_set()) error = std::current_exception();
      }
    }
  }
  if (error) std::rethrow_exception(error);
}

template <typename T, typename F, typename Join>
inline T parallel_reduce(int64_t begin, int64_t end, int64_t grain_size, T identity, const F& body,
                         const Join& join) {
  if (begin >= end) return identity;
  const int64_t grain = std::max<int64_t>(grain_size, 1);
  const int64_t pieces = std::min<int64_t>(divup(end - begin, grain), get_num_threads());
  const int64_t chunk = divup(end - begin, pieces);
  std::vector<T> parts(static_cast<size_t>(pieces), identity);
  parallel_for(0, pieces, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t from = begin + i * chunk;
      if (from < end) parts[i] = body(from, std::min(end, from + chunk), identity);
    }
  });
  T out = identity;
  for (const T& part : parts) out = join(out, part);
  return out;
}

}  // namespace at

#endif
