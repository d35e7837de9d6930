"""The process that forks workers: torch imported, no operator ever run.

Started by `workers.WarmParent`. It takes jobs from the judge, forks one child for each, reports how
each ended, and kills on request. It never runs candidate code itself. A parent that once ran an
OpenMP region hangs its children, so nothing here may touch a tensor.
"""

import os
import resource
import selectors
import signal
import sys
from pathlib import Path

from kernelwright.rewards import sandbox, worker
from kernelwright.rewards.backend import load_backend
from kernelwright.rewards.channel import Channel, Closed


def main(argv: list[str]) -> int:
    """Serve on the socket numbered ``argv[0]`` for the backend named ``argv[1]``."""
    import socket

    judge = Channel(socket.socket(fileno=int(argv[0])))
    backend = load_backend(argv[1])
    backend.prepare()
    worker.import_heavy()
    if len(os.listdir("/proc/self/task")) > 1:
        judge.send({"error": "the warm parent has more than one thread; it cannot fork safely"})
        return 1
    rooted = sandbox.become_namespace_root()
    spaces = sandbox.PidNamespaces() if rooted else None
    jobs: dict[int, int] = {}  # process id -> pidfd
    selector = selectors.DefaultSelector()
    selector.register(judge, selectors.EVENT_READ, None)
    judge.send({"ready": True, "namespaces": rooted})
    while True:
        for key, _ in selector.select():
            if key.data is not None:
                _report_exit(judge, selector, jobs, key.data)
                continue
            try:
                message, fds = judge.receive()
            except Closed:
                for pid in jobs:
                    _kill(pid)
                return 0
            if "kill" in message:
                if message["kill"] in jobs:
                    _kill(message["kill"])
                continue
            pid, fresh = spaces.fork() if spaces else (os.fork(), False)
            if pid == 0:
                selector.close()
                judge.close()
                limits = sandbox.Limits(**message["limits"])
                worker.serve(fds[0], backend, limits, Path(message["scratch"]), fresh)
            os.close(fds[0])
            jobs[pid] = os.pidfd_open(pid)
            selector.register(jobs[pid], selectors.EVENT_READ, pid)
            judge.send({"job": message["job"], "pid": pid})


def _kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    try:  # without a pid namespace, the session is what can be reached
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _report_exit(
    judge: Channel, selector: selectors.BaseSelector, jobs: dict[int, int], pid: int
) -> None:
    _, status, usage = os.wait4(pid, 0)
    selector.unregister(jobs[pid])
    os.close(jobs.pop(pid))
    judge.send(
        {
            "exited": pid,
            "code": os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
            "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
            "peak_bytes": usage.ru_maxrss * 1024,
            "cpu_s": usage.ru_utime + usage.ru_stime,
        }
    )


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the judge ends it; Ctrl-C is the judge's
    try:
        sys.exit(main(sys.argv[1:]))
    except Closed:  # the judge is gone: nobody is left to tell
        sys.exit(0)
