"""Which sources may be compiled with the lean precompiled header: half the compiler's time.

It lacks the standard headers that few kernels use. A source gets it only if every name it takes
from the standard library is known to be there; anything unforeseen gets the whole header, so that
no source fails for a name that it would have with torch's own headers.
"""

import re

from kernelwright.rewards.backend import Sources
from kernelwright.rewards.static_cpp_rules import words

HEADERS = words(
    """
    algorithm array atomic cassert cfloat cinttypes climits cmath cstddef cstdint cstdio cstdlib
    cstring exception initializer_list iterator limits mutex new numeric optional sstream
    stdexcept string string_view tuple type_traits utility vector assert.h float.h limits.h math.h
    omp.h stddef.h stdint.h stdio.h stdlib.h string.h torch/extension.h torch/torch.h
    torch/types.h torch/all.h ATen/ATen.h ATen/Parallel.h
    """
)
NAMES = words(
    """
    abs accumulate acos acosh array asin asinh atan atan2 atanh cbrt ceil clamp copy copysign cos
    cosh decay_t enable_if_t equal erf erfc exp exp2 expm1 fabs fill fill_n floor fma fmax fmin
    fmod forward hypot index_sequence initializer_list int16_t int32_t int64_t int8_t
    is_floating_point_v is_integral_v is_same_v isfinite isinf isnan ldexp lgamma log log10 log1p
    log2 logic_error lround make_pair make_tuple max max_element memcpy memmove memset min
    min_element move mutex nearbyint nth_element nullopt numeric_limits optional pair partial_sort
    pow ptrdiff_t rint round runtime_error signbit sin sinh size_t sort sqrt string string_view
    swap tan tanh tgamma to_string tuple uint16_t uint32_t uint64_t uint8_t vector
    """
)
_STD = re.compile(r"\bstd\s*::\s*(\w*)")
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"]*)", re.MULTILINE)
_BEYOND = re.compile(
    r"\b_mm\w*|\b__m\d\w*|\b_\w*(?:512|256)\w*|\busing\s+(?:namespace|std)\b|\bnamespace\s+\w+\s*=|"
    r"\bTORCH_WARN|##|\b_(?:bit|pdep|pext|tzcnt|lzcnt|popcnt|rd|xget|cvt)\w*"
)


def is_lean(sources: Sources) -> bool:
    """Whether *sources* use nothing that the lean header lacks, as far as their text shows."""
    for text in sources.cpp:
        if _BEYOND.search(text):
            return False
        if not set(_STD.findall(text)) <= NAMES or not set(_INCLUDE.findall(text)) <= HEADERS:
            return False
    return True
