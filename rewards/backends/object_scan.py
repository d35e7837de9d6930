"""What a built object leans on: its undefined symbols and needed libraries, against allow-lists.

Reads the ELF tables itself, so that nothing the candidate can influence stands between. It says
what the dynamic linker would bind, not what the code does: raw system call instructions are seen
by the sandbox, not here.
"""

import re
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

from kernelwright.rewards.backend import IllegalBuild

# Compiler, libstdc++ and libgomp runtime; weak hooks of the toolchain.
_RUNTIME = (
    # Anything of std but files: functions, vtables, type information, guards.
    r"_Z(T[ISVTC]|GV)?N?[rVKRO]*(St|S[abdios]|9__gnu_cxx|10__cxxabiv1)"
    r"(?!\w*(basic_(if|of|f)stream|basic_filebuf|__basic_file|10filesystem))\w*",
    r"_ZT[IS][PK]*[a-z]|_Z(nw|na|dl|da)[A-Za-z]\w*",
    r"__cxa_\w+|__gxx_personality_v0|_Unwind_\w+|__dynamic_cast|__once_proxy",
    r"GOMP_(?!target|plugin|offload)\w+|omp_(get|set|in|init|destroy|test|unset)_\w+",
    r"_ITM_(de)?registerTMCloneTable|__gmon_start__|_Jv_RegisterClasses|__tls_get_addr",
    r"__stack_chk_fail|__cpu_(model|indicator_init|features2)|__emutls_\w+",
)
# libm, with float, double, long double, finite and vector variants.
_MATH = (
    r"(__)?(a?(sin|cos|tan)h?|atan2|exp(2|10|m1)?|log(2|10|1p|b)?|pow|sqrt|cbrt|hypot|erfc?|"
    r"[tl]gamma|lgamma|gamma|fabs|fm(a|ax|in|od)|fdim|floor|ceil|trunc|l?l?r(ound|int)|nearbyint|"
    r"round(even)?|frexp|ldexp|modf|scalbl?n|remainder|remquo|copysign|nan|nextafter|nexttoward|"
    r"ilogb|signbit|sincos|j[01n]|y[01n]|significand|drem|"
    r"isinf|isnan|finite|fpclassify|issignaling)[fl]?(_r|_finite|f_finite)?",
    r"_ZGV[bcde][MN]\d+\w+",
    r"fe(get|set|clear|raise|test|hold|update)\w*",
    r"c(abs|arg|exp|log|pow|sqrt|sin|cos|tan|sinh|cosh|tanh|proj|real|imag|onj)[fl]?|__(mul|div)[sdxt]c3",
)
# The part of libc that computes, allocates, prints or starts threads. No files by descriptor, no
# processes, no sockets, no memory protection, no dynamic loading.
_LIBC = (
    r"malloc|calloc|realloc|free|aligned_alloc|posix_memalign|memalign|malloc_usable_size",
    r"(__)?(mem|str|stp|wmem|wcs)[a-z]\w*(_chk)?|bzero|bcmp|bcopy|ffs(l|ll)?",
    r"(__)?(v?(f|s|sn|vs|vsn)?printf)(_chk)?|puts|putchar|fputs|fputc|fwrite|fflush|perror|putc",
    r"(__isoc\d+_)?(v?s?scanf|strto\w+)|ato(i|l|ll|f)|strto\w+",
    r"stdout|stderr|stdin|__errno_location|__assert_fail|abort|exit|_exit|atexit|__cxa_atexit",
    r"qsort(_r)?|bsearch|l?l?abs|l?l?div|rand(_r)?|srand|[dels]?rand48(_r)?|random(_r)?|srandom",
    r"clock(_gettime)?|time|gettimeofday|difftime|nanosleep|usleep|clock_nanosleep|timespec_get",
    r"sched_(yield|getcpu|getaffinity)|sysconf|get_nprocs(_conf)?|getpagesize|__sched_cpucount",
    r"pthread_(create|join|detach|self|equal|once|exit|yield|(mutex|cond|rwlock|barrier|spin|key|"
    r"attr|mutexattr|condattr)_\w+|[gs]etspecific|[gs]etaffinity_np)|__pthread_key_create",
    r"sem_(init|wait|post|destroy|trywait)|madvise|getenv|secure_getenv",
    r"is(alpha|digit|alnum|space|upper|lower|print|punct|xdigit)|to(upper|lower)|__ctype_\w+",
    r"setlocale|localeconv|nl_langinfo|__(new|use|free|dup)locale|"
    r"setjmp|_setjmp|longjmp|__sigsetjmp|__libc_single_threaded|__libc_start_main|__fdelt_chk",
)
ALLOWED_SYMBOLS = _RUNTIME + _MATH + _LIBC
ALLOWED_LIBRARIES = (
    r"libstdc\+\+\.so\.6",
    r"libm\.so\.6",
    r"libmvec\.so\.1",
    r"libgomp\.so\.1",
    r"libgcc_s\.so\.1",
    r"libpthread\.so\.0",
    r"libc\.so\.6",
    r"ld-linux-x86-64\.so\.2",
)


@dataclass(frozen=True, slots=True)
class ElfObject:
    """The dynamic part of a shared object."""

    undefined: tuple[str, ...]
    defined: tuple[str, ...]
    needed: tuple[str, ...]
    resolvers: tuple[str, ...]
    """Defined symbols of type IFUNC: code that runs while the object is being loaded."""


def read(path: Path) -> ElfObject:
    """The dynamic part of a little-endian 64-bit ELF file; ``ValueError`` for another file."""
    data = path.read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError(f"{path.name} is not a 64-bit little-endian ELF file")
    offset, size, count = (
        struct.unpack_from("<Q", data, 0x28)[0],
        *struct.unpack_from("<HH", data, 0x3A),
    )
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * size) for i in range(count)]

    def text(strings: int, at: int) -> str:
        start = sections[strings][4] + at
        return data[start : data.index(b"\0", start)].decode(errors="replace")

    undefined: list[str] = []
    defined: list[str] = []
    needed: list[str] = []
    resolvers: list[str] = []
    for _, kind, _, _, start, length, link, _, _, entry in sections:
        if kind == 11:  # SHT_DYNSYM
            for at in range(start + entry, start + length, entry):
                name, info, _, section = struct.unpack_from("<IBBH", data, at)
                symbol = text(link, name)
                (defined if section else undefined).append(symbol)
                if section and info & 15 == 10:
                    resolvers.append(symbol)
        elif kind == 6:  # SHT_DYNAMIC
            for at in range(start, start + length, entry):
                tag, value = struct.unpack_from("<QQ", data, at)
                if tag == 1:
                    needed.append(text(link, value))
    return ElfObject(
        tuple(filter(None, undefined)),
        tuple(filter(None, defined)),
        tuple(needed),
        tuple(resolvers),
    )


def demangled(symbol: str) -> str:
    """*symbol* as C++ would write it, if ``c++filt`` is there; short enough for a label."""
    try:
        done = subprocess.run(["c++filt", symbol], capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return symbol
    return (done.stdout.strip() or symbol).split("(")[0][:120]


def scan(
    path: Path,
    symbols: tuple[str, ...] = ALLOWED_SYMBOLS,
    libraries: tuple[str, ...] = ALLOWED_LIBRARIES,
) -> ElfObject:
    """The object at *path*; `IllegalBuild` naming the first thing that is not on the lists."""
    found = read(path)
    allowed = re.compile("|".join(f"(?:{each})" for each in symbols))
    for symbol in found.undefined:
        if not allowed.fullmatch(symbol):
            raise IllegalBuild(f"symbol:{demangled(symbol)}")
    allowed_library = re.compile("|".join(f"(?:{each})" for each in libraries))
    for library in found.needed:
        if not allowed_library.fullmatch(library):
            raise IllegalBuild(f"library:{library}")
    if found.resolvers:
        raise IllegalBuild(f"ifunc:{demangled(found.resolvers[0])}")
    return found
