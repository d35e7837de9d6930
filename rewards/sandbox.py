"""What a process that runs candidate code is held by: namespaces, a read-only view, limits.

Covered: own pid, mount, network and ipc namespaces (killing the process kills all it started);
every mount read-only, with one small private scratch folder; no new privileges; limits on address
space, file size, open files and CPU seconds; standard streams on /dev/null. Not covered yet: hiding
readable files, dropping the uid, a system-call filter, a limit on the number of processes. Where
the machine refuses a layer, the rest still hold; `enter` returns the ones that are active.
"""

import ctypes
import os
import resource
from dataclasses import dataclass
from pathlib import Path

NEWNS, NEWUSER, NEWPID, NEWNET, NEWIPC = 0x20000, 0x10000000, 0x20000000, 0x40000000, 0x8000000
_MS_REC_PRIVATE = 0x4000 | 0x40000
_MS_NOSUID_NODEV = 0x2 | 0x4
_SYS_MOUNT_SETATTR, _AT_RECURSIVE, _ATTR_RDONLY = 442, 0x8000, 0x1
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
LAYERS = {
    "pid": "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1) or start as root",
    "mount": "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1) or start as root",
    "network": "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1) or start as root",
    "read_only": "needs the mount namespace and Linux 5.12 or newer",
    "no_new_privs": "needs Linux 3.5 or newer",
    "limits": "",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds for one process."""

    memory_bytes: int = 4 << 30
    """Address space beyond what the warm parent already maps."""
    file_bytes: int = 1 << 30
    cpu_s: int = 600
    scratch_bytes: int = 256 << 20


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def become_namespace_root() -> bool:
    """Whether this single-threaded process may make namespaces; enters a user one if needed."""
    if os.geteuid() == 0 and _libc().unshare(NEWIPC) == 0:
        return True
    uid, gid = os.geteuid(), os.getegid()
    if _libc().unshare(NEWUSER) != 0:
        return False
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
    Path("/proc/self/gid_map").write_text(f"0 {gid} 1")
    return True


class PidNamespaces:
    """Gives each following fork a pid namespace of its own, while the caller stays in its own."""

    def __init__(self) -> None:
        self._own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)

    def fork(self) -> tuple[int, bool]:
        """`os.fork`, and whether the child is the first process of a new pid namespace."""
        libc = _libc()
        fresh = libc.unshare(NEWPID) == 0
        try:
            pid = os.fork()
        finally:
            if fresh:
                libc.setns(self._own, NEWPID)
        return pid, fresh


def enter(limits: Limits, scratch: Path) -> tuple[str, ...]:
    """Confine this process for good; the active layers. *scratch* becomes its own tmpfs."""
    libc = _libc()
    active = []
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    libc.prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0)
    if libc.unshare(NEWNET) == 0:
        active.append("network")
    libc.unshare(NEWIPC)
    if libc.unshare(NEWNS) == 0 and libc.mount(b"none", b"/", None, _MS_REC_PRIVATE, None) == 0:
        active.append("mount")
        attributes = (ctypes.c_uint64 * 4)(_ATTR_RDONLY, 0, 0, 0)
        refused = libc.syscall(_SYS_MOUNT_SETATTR, -100, b"/", _AT_RECURSIVE, attributes, 32)
        if refused == 0:
            active.append("read_only")
        options = f"size={limits.scratch_bytes},mode=0777".encode()
        libc.mount(b"tmpfs", str(scratch).encode(), b"tmpfs", _MS_NOSUID_NODEV, options)
    os.chdir(scratch)
    os.environ.update(TMPDIR=str(scratch), HOME=str(scratch), TORCH_EXTENSIONS_DIR=str(scratch))
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    bounds = (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_AS, mapped + limits.memory_bytes),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_NOFILE, 256),
        (resource.RLIMIT_CPU, limits.cpu_s),
    )
    for what, bound in bounds:
        resource.setrlimit(what, (bound, bound))
    active.append("limits")
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0:
        active.append("no_new_privs")
    return tuple(active)


def available(scratch: Path) -> dict[str, str | None]:
    """Each layer and None where this machine grants it, else the cure. Tries them in a child."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            root = become_namespace_root()
            names = list(enter(Limits(), scratch))
            names += ["pid"] if root and _libc().unshare(NEWPID) == 0 else []
            os.write(write, " ".join(names).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as stream:
        granted = stream.read().split()
    os.waitpid(pid, 0)
    return {layer: None if layer in granted else cure for layer, cure in LAYERS.items()}
