"""What a submission may do: compute, and read the Python environment. Linux, no privileges needed.

`confine` is called by the student process on itself, before it reads a line of a submission; none
of it can be taken back:

- *Landlock*: files. Read: the Python libraries, the student's package, the models. Write: one
  scratch folder. Nothing else can be opened, `/proc` included. Newer kernels also refuse TCP,
  abstract sockets and signals.
- *seccomp*: system calls. Refused with EPERM: new processes and programs, sockets, signals to
  others, reading others' memory, changing owners, modes and times of files, shared memory and
  queues that outlive the process, and everything that administers a system. A call newer than
  this table does not exist (ENOSYS).
- *capabilities* dropped and `no_new_privs`: root is nobody special.
- *limits* on CPU time, memory, size and number of files; no core dumps.
- the process dies with the one that started it.

What it cannot stop: asking whether a path exists (`stat`), using the processor until the time
limit, and whatever the kernel itself gets wrong. The number of threads and the size of the
scratch folder are watched by the grader.

Used in the student process: imports nothing of the course.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import struct
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

# Numbers of <linux/prctl.h>, <linux/landlock.h>, <linux/seccomp.h>, <linux/filter.h>.
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP = 1, 4, 22
_PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 24, 38, 47
_SYS_LANDLOCK_CREATE, _SYS_LANDLOCK_ADD, _SYS_LANDLOCK_RESTRICT = 444, 445, 446
_SIGKILL = 9
_CLONE_THREAD = 0x10000
_EPERM, _ENOSYS = 1, 38

# Landlock's rights over files, by the version of its interface that brought them.
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_REG = 1 << 4, 1 << 5, 1 << 7, 1 << 8
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_ALL_FILE_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
_READ = _READ_FILE | _READ_DIR | _EXECUTE  # a shared library is mapped executable
_WRITE = _READ_FILE | _READ_DIR | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG
_WRITE_LATER = _REFER | _TRUNCATE


class Missing(RuntimeError):
    """The kernel did not give what the sandbox needs."""


@dataclass(frozen=True)
class Allowance:
    """What one student process may use.

    Attributes:
      cpu_s: seconds of processor time, over all its threads.
      memory_mb: address space beyond what the warm process has already.
      file_mb: size of one file.
      files: open at once.
    """

    cpu_s: int = 240
    memory_mb: int = 1024
    file_mb: int = 32
    files: int = 256


def probe() -> list[str]:
    """What this machine lacks for the sandbox, in words; empty when nothing is missing."""
    if not sys.platform.startswith("linux"):
        return [f"Landlock and seccomp, which are Linux's; this is {platform.system()}"]
    missing = []
    if platform.machine() not in _SYSCALLS or struct.calcsize("P") != 8:
        missing.append(f"a table of system calls for {platform.machine()}")
    if landlock_version() < 1:
        missing.append("Landlock (Linux 5.13 or newer, switched on in the kernel and not blocked)")
    if not _seccomp_available():
        missing.append("seccomp filters")
    return missing


def readable_roots(extra: Iterable[str | Path] = ()) -> list[str]:
    """The Python libraries that a student process may read, system libraries, and `extra`."""
    paths = sysconfig.get_paths()
    base = sysconfig.get_paths(vars={"base": sys.base_prefix, "platbase": sys.base_prefix})
    candidates = [paths[k] for k in ("stdlib", "platstdlib", "purelib", "platlib")]
    candidates += [base[k] for k in ("stdlib", "platstdlib")]
    candidates += ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo"]
    candidates += ["/usr/share/fonts", "/etc/ld.so.cache", "/etc/localtime"]
    candidates += ["/dev/zero", "/dev/random", "/dev/urandom", *map(str, extra)]
    real = (os.path.realpath(path) for path in candidates if os.path.exists(path))
    return sorted(set(real))


def confine(
    scratch: str, readable: Sequence[str], allowance: Allowance, *, insist: bool = True
) -> list[str]:
    """Confine this process, for good.

    Args:
      scratch: the one folder that may be written.
      readable: files and folders that may be read.
      insist: raise when a part fails; otherwise go on without it.

    Returns:
      what could not be set up.

    Raises:
      Missing: a part failed, and `insist`.
    """
    failed = []
    steps = [("limits", lambda: _limit(allowance))]
    if sys.platform.startswith("linux"):
        steps += [
            ("the parent's death", _die_with_parent),
            ("capabilities", _drop_capabilities),
            ("Landlock", lambda: _landlock(scratch, readable)),
            ("seccomp", _seccomp),
        ]
    else:
        failed += probe()
    for name, step in steps:
        try:
            step()
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as trouble:
            failed.append(f"{name}: {trouble}")
    if failed and insist:
        raise Missing("; ".join(failed))
    return failed


def landlock_version() -> int:
    """Landlock's interface version on this kernel, 0 when there is none."""
    if not sys.platform.startswith("linux"):
        return 0
    version = _libc().syscall(_SYS_LANDLOCK_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint(1))
    return max(int(version), 0)


def _seccomp_available() -> bool:
    # PR_GET_SECCOMP answers 0 (off) or 2 (a filter is on already, as in a container).
    return int(_libc().prctl(21, 0, 0, 0, 0)) in (0, 2)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def _prctl(option: int, *args: int) -> None:
    given = [ctypes.c_ulong(a) for a in (*args, 0, 0, 0, 0)[:4]]
    _check(_libc().prctl(option, *given), f"prctl {option}")


def _limit(allowance: Allowance) -> None:
    megabyte = 1 << 20
    limits = {
        "RLIMIT_CPU": allowance.cpu_s,
        "RLIMIT_FSIZE": allowance.file_mb * megabyte,
        "RLIMIT_NOFILE": allowance.files,
        "RLIMIT_CORE": 0,
        "RLIMIT_MEMLOCK": 0,
        "RLIMIT_MSGQUEUE": 0,
        "RLIMIT_NICE": 0,
        "RLIMIT_RTPRIO": 0,
    }
    if sys.platform.startswith("linux"):
        limits["RLIMIT_AS"] = _address_space() + allowance.memory_mb * megabyte
    for name, value in limits.items():
        which = getattr(resource, name, None)
        if which is not None:
            _, hard = resource.getrlimit(which)
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(which, (value, value))


def _address_space() -> int:
    with open("/proc/self/statm") as f:
        return int(f.read().split()[0]) * resource.getpagesize()


def _die_with_parent() -> None:
    parent = os.getppid()
    _prctl(_PR_SET_PDEATHSIG, _SIGKILL)
    if parent == 1 or os.getppid() != parent:
        raise OSError(0, "the parent is gone")
    _prctl(_PR_SET_DUMPABLE, 0)


def _drop_capabilities() -> None:
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    for capability in range(64):  # fails harmlessly where it is not held or does not exist
        _libc().prctl(_PR_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0)
    _libc().prctl(_PR_CAP_AMBIENT, ctypes.c_ulong(4), 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    nothing = (ctypes.c_uint32 * 6)()
    _check(_libc().capset(ctypes.byref(header), ctypes.byref(nothing)), "capset")


def _landlock(scratch: str, readable: Sequence[str]) -> None:
    version = landlock_version()
    if version < 1:
        raise OSError(0, "not available")
    handled = max(rights for since, rights in _ALL_FILE_RIGHTS.items() if since <= version)
    network = 3 if version >= 4 else 0  # bind and connect over TCP
    scoped = 3 if version >= 6 else 0  # abstract sockets, signals
    attributes = struct.pack("QQQ", handled, network, scoped)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = _check(
        _libc().syscall(_SYS_LANDLOCK_CREATE, attributes, ctypes.c_size_t(size), ctypes.c_uint(0)),
        "landlock_create_ruleset",
    )
    try:
        for path in readable:
            _allow(ruleset, path, _READ & handled)
        _allow(ruleset, "/dev/null", (_READ_FILE | _WRITE_FILE | _TRUNCATE) & handled)
        _allow(ruleset, scratch, (_WRITE | _WRITE_LATER) & handled)
        _check(
            _libc().syscall(_SYS_LANDLOCK_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint(0)),
            "landlock_restrict_self",
        )
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    # Rights that only folders have are refused for a file.
    if not os.path.isdir(path):
        rights &= _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
    beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = struct.pack("=Qi", rights, beneath)
        _check(
            _libc().syscall(
                _SYS_LANDLOCK_ADD, ctypes.c_int(ruleset), ctypes.c_int(1), rule, ctypes.c_uint(0)
            ),
            f"landlock_add_rule {path}",
        )
    finally:
        os.close(beneath)


# System calls by name: (x86_64, aarch64), None where the machine does not have it.
_TABLE: dict[str, tuple[int | None, int | None]] = {
    "fork": (57, None), "vfork": (58, None), "clone": (56, 220), "clone3": (435, 435),
    "execve": (59, 221), "execveat": (322, 281),
    "socket": (41, 198), "connect": (42, 203), "accept": (43, 202), "accept4": (288, 242),
    "bind": (49, 200), "listen": (50, 201), "sendto": (44, 206), "sendmsg": (46, 211),
    "sendmmsg": (307, 269), "recvmsg": (47, 212), "recvmmsg": (299, 243),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "process_madvise": (440, 440), "process_mrelease": (448, 448), "kcmp": (312, 272),
    "pidfd_open": (434, 434), "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424),
    "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
    "prctl": (157, 167), "prlimit64": (302, 261), "fcntl": (72, 25), "ioctl": (16, 29),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442), "unshare": (272, 97), "setns": (308, 268),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "io_setup": (206, 0), "io_submit": (209, 2),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "reboot": (169, 142),
    "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89), "syslog": (103, 116),
    "sethostname": (170, 161), "setdomainname": (171, 162), "settimeofday": (164, 170),
    "clock_settime": (227, 112), "clock_adjtime": (305, 266), "adjtimex": (159, 171),
    "quotactl": (179, 60), "quotactl_fd": (443, 443), "personality": (135, 92),
    "modify_ldt": (154, None), "iopl": (172, None), "ioperm": (173, None),
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, None), "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54),
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "truncate": (76, 45), "mknod": (133, None), "mknodat": (259, 33),
    "symlink": (88, None), "symlinkat": (266, 36),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "inotify_init": (253, None), "inotify_init1": (294, 26), "fanotify_init": (300, 262),
    "memfd_create": (319, 279), "memfd_secret": (447, 447),
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195),
    "semget": (64, 190), "semop": (65, 193), "semtimedop": (220, 192), "semctl": (66, 191),
    "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187),
    "mq_open": (240, 180), "mq_unlink": (241, 181),
    "setuid": (105, 146), "setgid": (106, 144), "setreuid": (113, 145), "setregid": (114, 143),
    "setresuid": (117, 147), "setresgid": (119, 149), "setgroups": (116, 159),
    "setfsuid": (122, 151), "setfsgid": (123, 152), "capset": (126, 91),
    "setpriority": (141, 140), "ioprio_set": (251, 30), "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119), "sched_setattr": (314, 274), "sched_setaffinity": (203, 122),
    "migrate_pages": (256, 238), "move_pages": (279, 239), "lookup_dcookie": (212, 18),
    "vhangup": (153, 58), "nfsservctl": (180, 42),
}  # fmt: skip
_SYSCALLS = {"x86_64": 0, "aarch64": 1}
_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# The last call that the table above was written against; later ones do not exist for a student.
_NEWEST = 456

# Allowed when the argument of that number (low 32 bits) satisfies the condition.
_ONLY_SELF = {"kill": 0, "tgkill": 0, "rt_sigqueueinfo": 0, "rt_tgsigqueueinfo": 0}
_F_SETOWN, _F_SETSIG, _F_SETOWN_EX = 8, 10, 15
_TIOCSTI, _TIOCLINUX, _FIOSETOWN, _SIOCSPGRP = 0x5412, 0x541C, 0x8901, 0x8902


def _seccomp() -> None:
    program = filter_program(platform.machine(), os.getpid())
    buffer = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    result = _libc().prctl(_PR_SET_SECCOMP, ctypes.c_ulong(2), header, 0, 0)
    _check(result, "seccomp")


def filter_program(machine: str, pid: int) -> bytes:
    """The seccomp filter as bytes of classic BPF.

    Raises:
      KeyError: there is no table for that machine.
    """
    column = _SYSCALLS[machine]
    load, equal, greater, test, give = 0x20, 0x15, 0x35, 0x45, 0x06  # BPF op codes
    allow, kill = 0x7FFF0000, 0x80000000
    refuse, unknown = 0x00050000 | _EPERM, 0x00050000 | _ENOSYS

    def op(code: int, k: int, yes: int = 0, no: int = 0) -> bytes:
        return struct.pack("HBBI", code, yes, no, k)

    def argument(index: int) -> bytes:
        return op(load, 16 + 8 * index)

    program = [op(load, 4), op(equal, _AUDIT_ARCH[machine], 1, 0), op(give, kill)]
    program += [op(load, 0)]
    # Calls of the x32 interface, and those newer than the table.
    program += [op(greater, _NEWEST + 1, 0, 1), op(give, unknown)]
    for name, numbers in _TABLE.items():
        number = numbers[column]
        if number is None:
            continue
        if name == "clone":  # threads only
            rule = [argument(0), op(test, _CLONE_THREAD, 1, 0), op(give, refuse), op(give, allow)]
        elif name == "clone3":  # its flags lie in memory; the C library falls back to clone
            rule = [op(give, unknown)]
        elif name in _ONLY_SELF:
            rule = [argument(_ONLY_SELF[name]), op(equal, pid, 1, 0)]
            rule += [op(give, refuse), op(give, allow)]
        elif name == "prlimit64":
            rule = [argument(0), op(equal, 0, 2, 0), op(equal, pid, 1, 0)]
            rule += [op(give, refuse), op(give, allow)]
        elif name == "sched_setaffinity":
            rule = [argument(0), op(equal, 0, 1, 0), op(give, refuse), op(give, allow)]
        elif name == "sendto":  # what `send` is made of; never to an address
            low, high = op(load, 16 + 8 * 4), op(load, 20 + 8 * 4)
            rule = [low, op(equal, 0, 0, 2), high, op(equal, 0, 1, 0)]
            rule += [op(give, refuse), op(give, allow)]
        elif name == "prctl":
            rule = [argument(0), op(equal, _PR_SET_PDEATHSIG, 1, 0)]
            rule += [op(equal, _PR_SET_DUMPABLE, 0, 1), op(give, refuse), op(give, allow)]
        elif name == "fcntl":
            rule = [argument(1), op(equal, _F_SETOWN, 2, 0), op(equal, _F_SETOWN_EX, 1, 0)]
            rule += [op(equal, _F_SETSIG, 0, 1), op(give, refuse), op(give, allow)]
        elif name == "ioctl":
            rule = [argument(1), op(equal, _TIOCSTI, 3, 0), op(equal, _TIOCLINUX, 2, 0)]
            rule += [op(equal, _FIOSETOWN, 1, 0), op(equal, _SIOCSPGRP, 0, 1)]
            rule += [op(give, refuse), op(give, allow)]
        else:
            rule = [op(give, refuse)]
        program += [op(equal, number, 0, len(rule)), *rule]
    return b"".join([*program, op(give, allow)])
