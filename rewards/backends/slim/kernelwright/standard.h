// The standard headers that torch's own bring along, which candidates rely on. Those below the line
// are left out of the lean precompiled header (`lean.py` decides who gets it): they are half of it.
#ifndef KERNELWRIGHT_STANDARD_H
#define KERNELWRIGHT_STANDARD_H

#ifdef KERNELWRIGHT_LEAN
#include <cstddef>
// Without std's Bessel functions and their kin, which GCC instantiates anew for every source.
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cfloat>
#include <cinttypes>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>
#ifdef _OPENMP
#include <omp.h>
#endif

#ifndef KERNELWRIGHT_LEAN
#include <bitset>
#include <chrono>
#include <complex>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <functional>
#include <future>
#include <iomanip>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <ostream>
#include <queue>
#include <random>
#include <set>
#include <stack>
#include <thread>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>
#include <variant>

#include <immintrin.h>
#endif

#endif
