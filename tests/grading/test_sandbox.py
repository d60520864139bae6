"""The confinement itself: as root and as an ordinary user, and what happens without it."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from course.grading import apart, executor, pool, sandbox
from course.grading.apart import ForkServer, SandboxMissing
from tests.grading import yard

ROOT = Path(__file__).resolve().parents[2]

# Runs confined, in a process of its own, as an ordinary user; prints what it could do.
CONFINED = """
import asyncio, ctypes, json, os, socket, sys, tempfile, threading, time
sys.path.insert(0, {root!r})
from course.grading import sandbox
scratch, other = sys.argv[1:3]
if os.getuid() == 0:
    os.setgroups([]); os.setgid(23456); os.setuid(23456)
failed = sandbox.confine(scratch, ["/usr/lib"], sandbox.Allowance(cpu_s=20))

def can(f):
    try:
        f()
    except OSError as error:
        return error.strerror
    return True

def thread():
    t = threading.Thread(target=time.sleep, args=(0.01,)); t.start(); t.join()

def pair():
    a, b = socket.socketpair(); a.send(b"x"); assert b.recv(1) == b"x"

def waits():
    asyncio.run(asyncio.sleep(0))

found = dict(
    failed=failed,
    uid=os.getuid(),
    write=can(lambda: open(scratch + "/a", "w").write("x")),
    folder=can(lambda: os.mkdir(scratch + "/d")),
    rename=can(lambda: os.rename(scratch + "/a", scratch + "/d/b")),
    system=can(lambda: os.listdir("/usr/lib")),
    thread=can(thread), pair=can(pair), waits=can(waits),
    null=can(lambda: open(os.devnull, "w").write("x")),
    itself=can(lambda: os.kill(os.getpid(), 0)),
    other_read=can(lambda: open(other).read()),
    other_write=can(lambda: open(other, "a")),
    other_mode=can(lambda: os.chmod(other, 0o600)),
    other_list=can(lambda: os.listdir(os.path.dirname(other))),
    proc=can(lambda: open("/proc/self/status").read()),
    etc=can(lambda: open("/etc/passwd").read()),
    fork=can(os.fork),
    run=can(lambda: os.execv("/bin/true", ["true"])),
    spawn=can(lambda: os.posix_spawn("/bin/true", ["true"], {{}})),
    tcp=can(lambda: socket.socket()),
    unix=can(lambda: socket.socket(socket.AF_UNIX)),
    parent=can(lambda: os.kill(os.getppid(), 0)),
    link=can(lambda: os.symlink(other, scratch + "/l")),
    hard=can(lambda: os.link(other, scratch + "/h")),
    fifo=can(lambda: os.mkfifo(scratch + "/f")),
    memfd=can(lambda: os.memfd_create("x")),
    large=can(lambda: open(scratch + "/big", "wb").write(bytes(64 << 20))),
)
libc = ctypes.CDLL(None, use_errno=True)
found["gains"] = libc.prctl(39, 0, 0, 0, 0)
found["caps"] = [libc.prctl(23, c, 0, 0, 0) for c in (0, 21)]
print(json.dumps(found))
"""
REFUSED = (
    "Permission denied",
    "Operation not permitted",
    "Function not implemented",
    "Invalid cross-device link",  # Landlock's answer to a hard link into another folder
)


@pytest.fixture(scope="module")
def confined(tmp_path_factory):
    """What a confined process of an ordinary user could do."""
    base = tmp_path_factory.mktemp("confined")
    scratch, other = base / "scratch", base / "other"
    scratch.mkdir()
    other.write_text("a secret")
    for path in (scratch, other):
        path.chmod(0o777)
    for parent in (base, *base.parents):
        if parent.owner() == base.owner() and parent.stat().st_mode & 0o055 != 0o055:
            parent.chmod(0o755)
    script = CONFINED.format(root=str(ROOT))
    command = [sys.executable, "-c", script, str(scratch), str(other)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_an_ordinary_user_can_confine_a_process(confined):
    assert confined["failed"] == []
    assert confined["uid"] != 0
    assert confined["gains"] == 1  # no_new_privs


@pytest.mark.parametrize(
    "what", ["write", "folder", "rename", "system", "thread", "pair", "waits", "null", "itself"]
)
def test_honest_work_goes_on(confined, what):
    assert confined[what] is True


@pytest.mark.parametrize(
    "what",
    [
        *("other_read", "other_write", "other_mode", "other_list", "proc", "etc"),
        *("fork", "run", "spawn", "tcp", "unix", "parent", "link", "hard", "fifo", "memfd"),
    ],
)
def test_the_rest_is_refused(confined, what):
    assert confined[what] in REFUSED


def test_a_file_has_a_largest_size(confined):
    assert confined["large"] == "File too large"


# As the grader runs it (also as root)


def _asked(grade, source: str) -> str:
    graded = grade(yard.notebook(first=source))
    return "".join(o.get("text", "") for o in graded.notebook["cells"][1]["outputs"])


def test_a_submission_reads_the_libraries_the_package_and_the_models(grade):
    import mjcourse

    source = (
        "import xml.dom.minidom, scipy.integrate, json, mjcourse\n"
        "from mjcourse import model_path\n"
        "print(len(open(model_path('joint_zoo')).read()) > 100)\n"
        "print(len(open(json.__file__).read()) > 100)"
    )
    assert _asked(grade, source) == "True\nTrue\n"
    assert Path(mjcourse.__file__).is_file()


@pytest.mark.parametrize(
    "path", ["course/exercises/exercise.py", "pyproject.toml", "tests/grading/yard.py", ".git/HEAD"]
)
def test_a_submission_reads_nothing_of_the_course(grade, path):
    assert (ROOT / path).is_file()
    source = (
        f"try:\n    print(open({str(ROOT / path)!r}).read())\n"
        "except PermissionError:\n    print('refused')"
    )
    assert _asked(grade, source) == "refused\n"


def test_a_submission_writes_nothing_that_is_imported(grade):
    source = (
        "import os, sys, tempfile\nfor folder in sys.path:\n"
        "    if os.path.isdir(folder):\n"
        "        try: tempfile.NamedTemporaryFile(dir=folder)\n"
        "        except OSError as error: print(error.strerror)\n"
        "        else: print('written')"
    )
    assert set(_asked(grade, source).splitlines()) == {"Permission denied"}


def test_the_environment_of_a_submission_holds_constants_only(grade):
    source = "import os\nfor k in sorted(os.environ): print(k)"
    names = set(_asked(grade, source).split())
    assert names <= {
        *("HOME", "TMPDIR", "IPYTHONDIR", "LANG", "LC_CTYPE", "MPLBACKEND", "MPLCONFIGDIR"),
        *("MUJOCO_GL", "NBGRADER_EXECUTION", "PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED"),
        *("MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"),
        *("VECLIB_MAXIMUM_NUM_THREADS", "KMP_INIT_AT_FORK", "KMP_DUPLICATE_LIB_OK"),
        *("COLUMNS", "LINES", "PAGER", "CLICOLOR", "TERM"),
    }


def test_the_warm_process_has_one_thread_and_no_opengl(server):
    process_id = server.process_id
    assert len(os.listdir(f"/proc/{process_id}/task")) == 1
    mapped = Path(f"/proc/{process_id}/maps").read_text()
    assert "libmujoco" in mapped
    assert not any(name in mapped for name in ("libEGL", "libOSMesa", "libGLX", "libglfw"))


def test_the_warm_process_knows_nothing_of_the_course(grade):
    source = "import sys\nprint([m for m in sys.modules if m.split('.')[0] in ('course', 'tests')])"
    assert _asked(grade, source) == "[]\n"


def test_the_scratch_folder_is_gone_afterwards(grade, server):
    before = os.listdir(server.home)
    grade(yard.notebook(first="import os\nos.makedirs('a/b')\nopen('a/b/c', 'w').write('x')"))
    assert os.listdir(server.home) == before


def test_the_student_process_dies_with_the_fork_server():
    server = ForkServer()
    student = server.spawn(apart.Limits())
    server._process.kill()
    server._process.wait()
    assert _gone(student.process_id)
    apart._remove(server.home)


def test_the_fork_server_ends_and_tidies_up_when_the_grader_is_killed():
    source = (
        f"import sys, os; sys.path.insert(0, {str(ROOT)!r})\n"
        "from course.grading.apart import ForkServer, Limits\n"
        "server = ForkServer(); student = server.spawn(Limits())\n"
        "print(server.process_id, student.process_id, server.home, flush=True)\n"
        "os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    server, student, home = done.stdout.split()
    assert _gone(int(student))
    assert _gone(int(server))
    assert not os.path.exists(home)


def _gone(process_id: int) -> bool:
    import time

    for _ in range(100):
        try:
            state = Path(f"/proc/{process_id}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


# Where it is missing


def test_grading_refuses_loudly_and_says_what_is_missing(monkeypatch):
    monkeypatch.setattr(apart.sandbox, "probe", lambda: ["Landlock"])
    with pytest.raises(SandboxMissing, match=r"Landlock is missing.*--trust-submissions"):
        executor.grade_notebook(yard.notebook(), yard.lesson(), server=ForkServer())
    with pytest.raises(SandboxMissing):
        next(iter(pool.grade_all([("a", yard.notebook(), "rotations")], workers=2)))


def test_a_submission_that_could_not_be_confined_is_not_run(server, monkeypatch):
    asked = server._request("x", apart.Limits())
    asked["allowance"]["cpu_s"] = "as long as it likes"
    monkeypatch.setattr(server, "_request", lambda scratch, _: {**asked, "scratch": scratch})
    with pytest.raises(SandboxMissing, match="could not be confined"):
        server.spawn(apart.Limits())
    monkeypatch.undo()
    server.spawn(apart.Limits()).end()


def test_trusted_submissions_run_without(monkeypatch, grade):
    monkeypatch.setattr(apart.sandbox, "probe", lambda: ["Landlock"])
    server = ForkServer(trust_submissions=True)
    try:
        assert grade(yard.notebook(), server=server).points == yard.FULL
    finally:
        server.close()


def test_on_other_systems_the_probe_says_so(monkeypatch):
    monkeypatch.setattr(sandbox.sys, "platform", "darwin")
    monkeypatch.setattr(sandbox.platform, "system", lambda: "Darwin")
    assert sandbox.probe() == ["Landlock and seccomp, which are Linux's; this is Darwin"]


def test_an_unknown_processor_is_missing_a_table(monkeypatch):
    monkeypatch.setattr(sandbox.platform, "machine", lambda: "riscv64")
    assert "riscv64" in sandbox.probe()[0]


# The filter, run by a small machine of our own: both processors on any machine


def _verdict(program: bytes, number: int, arch: int, args: tuple[int, ...] = ()) -> int:
    """What the filter answers to a system call."""
    words = [0] * 16
    words[0], words[1] = number, arch
    for i, arg in enumerate(args):
        words[4 + 2 * i], words[5 + 2 * i] = arg & 0xFFFFFFFF, arg >> 32
    accumulator = at = 0
    while True:
        code, yes, no, k = struct.unpack_from("HBBI", program, 8 * at)
        at += 1
        if code == 0x20:
            accumulator = words[k // 4]
        elif code == 0x06:
            return k
        else:
            holds = {0x15: accumulator == k, 0x35: accumulator >= k, 0x45: bool(accumulator & k)}
            at += yes if holds[code] else no


ALLOW, KILL, EPERM, ENOSYS = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050026
ARCHES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
READ = {"x86_64": 0, "aarch64": 63}


@pytest.mark.parametrize("machine", ARCHES)
def test_the_filter_decides_by_call_and_argument(machine):
    program, arch = sandbox.filter_program(machine, 1234), ARCHES[machine]
    column = list(ARCHES).index(machine)

    def verdict(name, *args):
        return _verdict(program, sandbox._TABLE[name][column], arch, args)

    assert _verdict(program, READ[machine], arch) == ALLOW
    assert _verdict(program, READ[machine], 0x40000003) == KILL  # 32-bit calls
    assert _verdict(program, 0x40000000 + 57, arch) == ENOSYS  # x32
    assert _verdict(program, 9999, arch) == ENOSYS
    assert verdict("clone", 0x10000 | 0x100) == ALLOW
    assert verdict("clone", 17) == EPERM
    assert verdict("clone3") == ENOSYS
    assert verdict("kill", 1234, 9) == ALLOW
    assert verdict("kill", 1, 9) == EPERM
    assert verdict("kill", 0xFFFFFFFF, 9) == EPERM
    assert verdict("tgkill", 1234, 1234, 6) == ALLOW
    assert verdict("sendto", 3, 1, 1, 0, 0, 0) == ALLOW
    assert verdict("sendto", 3, 1, 1, 0, 0x7F0000000000, 16) == EPERM
    assert verdict("sendto", 3, 1, 1, 0, 0x1000, 16) == EPERM
    assert verdict("prctl", 1, 0) == EPERM
    assert verdict("prctl", 4, 1) == EPERM
    assert verdict("prctl", 15, 0) == ALLOW
    assert verdict("prlimit64", 0, 7) == verdict("prlimit64", 1234, 7) == ALLOW
    assert verdict("prlimit64", 1, 7) == EPERM
    assert verdict("fcntl", 3, 1) == ALLOW
    assert {verdict("fcntl", 3, c) for c in (8, 10, 15)} == {EPERM}
    assert verdict("ioctl", 0, 0x5401) == ALLOW
    assert {verdict("ioctl", 0, c) for c in (0x5412, 0x541C, 0x8901, 0x8902)} == {EPERM}
    for name in ("execve", "socket", "ptrace", "bpf", "io_uring_setup", "mount", "fchmodat"):
        assert verdict(name) == EPERM


@pytest.mark.parametrize("machine", ARCHES)
def test_every_jump_of_the_filter_stays_inside(machine):
    program = sandbox.filter_program(machine, 1)
    count = len(program) // 8
    assert count < 4096  # the kernel's own bound
    for at in range(count):
        code, yes, no, _ = struct.unpack_from("HBBI", program, 8 * at)
        if code not in (0x20, 0x06):
            assert at + 1 + max(yes, no) < count
