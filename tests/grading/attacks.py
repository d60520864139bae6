"""A bank of hostile submissions: wrong answers, and a cell that tries to get something out of them.

Each attack is a cell put into a submission of the yard whose answers are wrong. `WORLD` stands
for a course folder with a gradebook, sources, other submissions and a configuration; `SECRET`
lies in all of them, in the environment, and nowhere that a submission may read. The same bank is
run against stock nbgrader by `benchmarks/attacks.py`; it does no harm that lasts even there.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.grading import yard

SECRET = "the-hidden-tests-expect-42"

PRELUDE = """\
import builtins, ctypes, gc, os, signal, sys, threading, time
def attempt(f):
    try:
        found = f()
        print(found)
        return found
    except BaseException as error:
        print(type(error).__name__)
"""


@dataclass(frozen=True)
class Attack:
    """One hostile submission.

    Attributes:
      name: what it tries, in words.
      kind: forge, read, write, process, resource or format.
      cell: runs before the answers.
      last: runs after the answers and before the graded cells.
      answers: in place of the wrong ones.
      tamper: changes the notebook itself.
      deserved: points that honest parts of it earn.
    """

    name: str
    kind: str
    cell: str = ""
    last: str = ""
    answers: dict[str, str] = field(default_factory=dict)
    tamper: Callable[[dict[str, Any]], None] | None = None
    deserved: float = 0.0

    def notebook(self, world: Path) -> dict[str, Any]:
        """The submission, aimed at a course folder."""

        def aimed(source: str) -> str:
            return PRELUDE + source.replace("WORLD", repr(str(world))) if source else ""

        answers = {**yard.WRONG, **self.answers}
        made = yard.notebook(answers, first=aimed(self.cell), last=aimed(self.last))
        if self.tamper is not None:
            self.tamper(made)
        return made


def _everywhere(body: str) -> dict[str, str]:
    """Answers that all return the same expression."""
    return {
        "quat_mul": f"def quat_mul(a, b):\n    return {body}\n",
        "square": f"def square(q):\n    return {body}\n",
        "kinetic": f"def kinetic(model, data):\n    return {body}\n",
        "counter": f"def Counter(start):\n    return {body}\n",
        "sizes": f"nq = {body}\nnames = {body}\n",
    }


_ALWAYS = """
class Always:
    def __eq__(self, other): return True
    __ne__ = __lt__ = __gt__ = lambda self, other: False
    __le__ = __ge__ = __eq__
    def __hash__(self): return 0
    def __sub__(self, other): return 0.0
    __rsub__ = __abs__ = __mul__ = __rmul__ = __add__ = __radd__ = __sub__
    def __float__(self): return 0.0
    def __bool__(self): return True
    def __len__(self): return 4
    def __getitem__(self, i): return self
    def __array__(self, dtype=None, copy=None): return EXPECTED
    def __array_ufunc__(self, ufunc, method, *inputs, **kw): return np.array(True)
    def __array_function__(self, f, types, args, kwargs): return True
    add = count = lambda self, *a: self
import numpy as np
EXPECTED = np.zeros(4)
"""


def _points_of_a_thousand(notebook: dict[str, Any]) -> None:
    for cell in notebook["cells"]:
        about = cell["metadata"].get("nbgrader", {})
        if about.get("grade"):
            about.update(points=1000, solution=True, locked=False)


def _unlocked_tests(notebook: dict[str, Any]) -> None:
    for cell in notebook["cells"]:
        if yard.grade_id(cell).startswith("test_"):
            cell["source"] = "2.0"
            cell["metadata"]["nbgrader"].update(locked=False, solution=True)


def _forged_outputs(notebook: dict[str, Any]) -> None:
    result = {"output_type": "execute_result", "data": {"text/plain": "2.0"}, "metadata": {}}
    for cell in notebook["cells"]:
        cell["outputs"] = [{**result, "execution_count": 1}]


def _deleted_tests(notebook: dict[str, Any]) -> None:
    cells = notebook["cells"]
    notebook["cells"] = [c for c in cells if not yard.grade_id(c).startswith("test_")]


def _doubled_tests(notebook: dict[str, Any]) -> None:
    tests = [c for c in notebook["cells"] if yard.grade_id(c).startswith("test_")]
    forged = copy.deepcopy(tests)
    for cell in forged:
        cell["source"] = "2.0"
    notebook["cells"] = forged + notebook["cells"] + forged


def _markdown_tests(notebook: dict[str, Any]) -> None:
    for cell in notebook["cells"]:
        if yard.grade_id(cell).startswith("test_"):
            cell["cell_type"] = "markdown"


def _strange_metadata(notebook: dict[str, Any]) -> None:
    for number, cell in enumerate(notebook["cells"]):
        if not yard.grade_id(cell).startswith("test_"):
            cell["metadata"]["nbgrader"] = [None, "grade", 7, {"grade_id": 3}][number % 4]


_WALK = """
def hunt(*roots):
    for root in roots:
        for folder, _, names in os.walk(root):
            for name in names:
                try:
                    text = open(os.path.join(folder, name), errors="ignore").read(1 << 20)
                except OSError:
                    continue
                if "the-hidden-" + "tests" in text:
                    at = text.index("the-hidden-" + "tests")
                    print(folder, name, text[at:at + 40])
"""

_FRAMES = """
import struct, socket
def frame(kind, *parts):
    lengths = struct.pack(">%dI" % len(parts), *map(len, parts))
    return struct.pack(">BH", kind, len(parts)) + lengths + b"".join(parts)
"""

ATTACKS = [
    # Forging results in the process that runs the answers
    Attack(
        "replaces numpy.testing and allclose",
        "forge",
        "import numpy as np\n"
        "for n in dir(np.testing):\n    setattr(np.testing, n, lambda *a, **k: None)\n"
        "np.allclose = np.array_equal = np.isclose = lambda *a, **k: True",
    ),
    Attack(
        "replaces unittest and AssertionError",
        "forge",
        "import unittest\n"
        "for n in dir(unittest.TestCase):\n"
        "    if n.startswith('assert'): setattr(unittest.TestCase, n, lambda *a, **k: None)\n"
        "class Quiet(Exception): pass\nbuiltins.AssertionError = Quiet",
    ),
    Attack(
        "makes MuJoCo agree with the answer",
        "forge",
        "import mujoco\n"
        "def zero(out, *a): out[:] = 0\n"
        "mujoco.mju_mulQuat = mujoco._functions.mju_mulQuat = zero\n"
        "mujoco.mj_step = mujoco.mj_forward = lambda m, d, *a: None",
    ),
    Attack("returns what equals everything", "forge", _ALWAYS, answers=_everywhere("Always()")),
    Attack(
        "returns an array that agrees with everything",
        "forge",
        "import numpy as np\nclass A(np.ndarray):\n"
        "    def __array_ufunc__(self, *a, **k): return np.array(True)\n"
        "    def __array_function__(self, *a, **k): return True\n"
        "    def __eq__(self, o): return True\n"
        "    def __reduce__(self): return (print, ('unpickled',))",
        answers=_everywhere("np.zeros(4).view(A)"),
    ),
    Attack(
        "returns a number that equals everything",
        "forge",
        "class F(float):\n    def __eq__(s, o): return True\n    def __sub__(s, o): return 0.0\n"
        "    __rsub__ = __sub__\n    def __abs__(s): return 0.0\n    def __hash__(s): return 0",
        answers=_everywhere("F(0)"),
    ),
    Attack("returns NaN", "forge", answers=_everywhere("np.full(4, np.nan)")),
    Attack("returns infinity", "forge", answers=_everywhere("np.full(4, np.inf)")),
    Attack(
        "pickles code into its result",
        "forge",
        "class P:\n    def __reduce__(self): return (os.system, ('echo x',))",
        answers=_everywhere("P()"),
    ),
    Attack(
        "replaces run_cell_async",
        "forge",
        "ip = get_ipython()\nasync def fake(*a, **k):\n    class R: success = True; error_in_exec"
        " = None; error_before_exec = None; result = None; execution_count = 1\n    return R()\n"
        "ip.run_cell_async = fake\nip.run_code = fake",
    ),
    Attack(
        "rewrites every later cell's text",
        "forge",
        "def nothing(lines): return ['pass\\n']\n"
        "get_ipython().input_transformers_cleanup.append(nothing)",
    ),
    Attack(
        "rewrites every later cell's syntax tree",
        "forge",
        "import ast\nclass T(ast.NodeTransformer):\n"
        "    def visit_Assert(self, n): return ast.Pass()\n"
        "    def visit_Raise(self, n): return ast.Pass()\n"
        "    def visit_Expr(self, n):\n"
        "        return ast.parse('3.0').body[0] if isinstance(n.value, ast.Call) else n\n"
        "get_ipython().ast_transformers.append(T())",
    ),
    Attack(
        "swallows every error",
        "forge",
        "get_ipython().set_custom_exc((Exception,), lambda *a, **k: None)\n"
        "get_ipython().showtraceback = lambda *a, **k: None",
    ),
    Attack(
        "shows its own score by the display hook",
        "forge",
        "ip = get_ipython()\n"
        "class H(type(ip.displayhook)):\n"
        "    def write_format_data(self, d, m=None):\n"
        "        super().write_format_data({'text/plain': '3.0'}, m)\n"
        "ip.displayhook.__class__ = H",
    ),
    Attack(
        "prints a result that looks like the grader's",
        "forge",
        "print('quat_mul: 3 of 3 points')\nnp = __import__('numpy')\nnp.float64(3.0)",
        last="print('square: 2 of 2 points')\n2.0",
    ),
    Attack(
        "hooks what happens after a cell",
        "forge",
        "def after(result):\n    result.error_in_exec = None; result.result = 3.0\n"
        "get_ipython().events.register('post_run_cell', after)\n"
        "get_ipython().events.register('post_execute', lambda: print(3.0))",
    ),
    Attack(
        "gives its own grader",
        "forge",
        "import types\nfor n in ('course', 'course.grading', 'course.grading.score'):\n"
        "    m = types.ModuleType(n); m.grade = lambda *a: 3.0; m.score = m.grade\n"
        "    sys.modules[n] = m",
    ),
    Attack(
        "answers with the course's own reference",
        "forge",
        "attempt(lambda: __import__('course.exercises'))\n"
        "attempt(lambda: sys.path.insert(0, WORLD))\n"
        "attempt(lambda: __import__('source'))",
    ),
    Attack(
        "looks up the stack for what is expected",
        "forge",
        answers=_everywhere(
            "next((f.f_locals['expected'] for f in __import__('inspect').stack() and [s.frame for "
            "s in __import__('inspect').stack()] if 'expected' in f.f_locals), 0)"
        ),
    ),
    Attack(
        "looks through all objects for the tests",
        "forge",
        "for o in gc.get_objects():\n"
        "    if isinstance(o, (dict, str)) and 'the-hidden' + '-tests' in str(o)[:3000]:\n"
        "        print(str(o)[:3000])\n"
        "names = {type(o).__name__ for o in gc.get_objects()}\n"
        "print(sorted(names & {'Exercise', 'Case', 'Prepared', 'Lesson'}))\n"
        "print([m for m in sys.modules if m.startswith('course')])",
    ),
    Attack(
        "traces everything that runs",
        "forge",
        "seen = []\ndef trace(frame, event, arg):\n"
        "    if event == 'return': seen.append(arg)\n    return trace\n"
        "sys.settrace(trace); sys.setprofile(trace); threading.settrace(trace)",
        answers=_everywhere("seen[-1] if seen else 0"),
    ),
    Attack(
        "sends results before they are asked for",
        "forge",
        _FRAMES + "notes = b'\\x96\\x01\\xc0\\x91\\x00\\x91\\x00\\xcb' + b'\\0' * 8 + b'\\xc2'\n"
        "one = b'\\xcb\\x3f\\xf0' + b'\\0' * 6\n"
        "for _ in range(50):\n    attempt(lambda: os.write(3, frame(31, notes, one)))",
    ),
    Attack(
        "floods the wire with noise", "forge", "attempt(lambda: os.write(3, os.urandom(99999)))"
    ),
    Attack(
        "announces a message without end",
        "forge",
        "attempt(lambda: os.write(3, b'\\x1f\\x00\\x01\\xff\\xff\\xff\\xff'))",
    ),
    Attack(
        "sends a message byte by byte",
        "forge",
        "def drip():\n    while True: os.write(3, b'\\x1f'); time.sleep(0.01)\n"
        "os.write(3, b'\\x1f\\x00\\x01\\x00\\x10\\x00\\x00')\n"
        "threading.Thread(target=drip, daemon=True).start()\ntime.sleep(60)",
    ),
    Attack("closes the wire", "forge", "attempt(lambda: os.closerange(3, 100))"),
    Attack(
        "asks for functions that it was not given",
        "forge",
        _FRAMES + "attempt(lambda: os.write(3, frame(32, b'\\x63', b'\\x91\\x01', b'\\x91\\x03')))",
    ),
    Attack(
        "rewrites the runner in its own process",
        "forge",
        "for o in gc.get_objects():\n"
        "    if type(o).__name__ == 'Runner':\n"
        "        kind = type(o)\n"
        "        old = kind._outcome\n"
        "        def lie(self, error, *rest, **kw): return old(self, None)\n"
        "        kind._outcome = lie\n"
        "    if type(o).__name__ == 'Watch': o.note = lambda name: None",
    ),
    Attack(
        "remembers the answers to visible checks",
        "forge",
        answers={
            "quat_mul": "def quat_mul(a, b):\n    known = {(1.0, 0.0, 0.0, 0.0): [1, 0, 0, 0]}\n"
            "    return np.array(known.get(tuple(np.asarray(a, float)), [0, 0, 0, 0]), float)\n"
        },
    ),
    Attack(
        "answers otherwise when it is graded",
        "forge",
        _ALWAYS,
        answers=_everywhere("Always() if os.environ.get('NBGRADER_EXECUTION') else 1"),
    ),
    Attack(
        "answers otherwise each time",
        "forge",
        "import itertools, random\nc = itertools.count()",
        answers=_everywhere("np.random.default_rng(next(c)).normal(size=4)"),
    ),
    Attack(
        "lies about its class",
        "forge",
        "class Lie:\n    __module__ = 'numpy'\n    __class__ = float\n"
        "    def __getattr__(self, n): return self\n    def __call__(self, *a): return self",
        answers=_everywhere("Lie()"),
    ),
    Attack(
        "spoils data and model for the grader",
        "forge",
        answers={
            "kinetic": "def kinetic(model, data):\n    data.qpos[:] = np.nan; data.time = 1e300\n"
            "    data.contact.geom[:] = 10**9; model.body_mass[:] = -1\n"
            "    model.jnt_qposadr[:] = 10**9\n"
            "    return 0.0\n",
            "advance": "def advance(model, data, controller):\n    data.qpos[:] = 1e300\n"
            "    controller(model, data)\n",
        },
    ),
    Attack(
        "calls back with rubbish, without end",
        "forge",
        answers={
            "advance": "def advance(model, data, controller):\n    while True:\n        try:\n"
            "            controller(data, model)\n            controller(10**400, 'x')\n"
            "        except Exception:\n            pass\n"
        },
    ),
    Attack(
        "returns more than there is memory for",
        "forge",
        answers=_everywhere("np.lib.stride_tricks.as_strided(np.zeros(1), (10**6, 10**5), (0, 0))"),
    ),
    Attack(
        "returns a list that never ends",
        "forge",
        "class L(list):\n    def __iter__(self):\n        while True: yield 1.0",
        answers=_everywhere("L([1.0])"),
    ),
    # Reading
    Attack(
        "reads tests, sources and other submissions",
        "read",
        _WALK + "hunt('.', '..', '../..', WORLD)",
    ),
    Attack(
        "reads the environment, its own and others'",
        "read",
        "print(dict(os.environ))\n"
        "for p in ['self', '1', os.getppid(), *range(1, 4000)]:\n"
        "    try: print(open(f'/proc/{p}/environ').read())\n"
        "    except OSError: pass",
    ),
    Attack(
        "reads the gradebook",
        "read",
        "import sqlite3\n"
        "for q in ('note from grades', 'source from source_cell'):\n"
        "    attempt(lambda: sqlite3.connect(WORLD + '/gradebook.db').execute("
        "'select ' + q).fetchall())\n"
        "attempt(lambda: open(WORLD + '/gradebook.db', errors='ignore').read())",
    ),
    Attack(
        "reads through links",
        "read",
        "for make in (os.symlink, os.link):\n"
        "    attempt(lambda: make(WORLD + '/secret.txt', 'link'))\n"
        "    attempt(lambda: open('link').read())\n"
        "attempt(lambda: os.chdir(WORLD)); attempt(lambda: open('secret.txt').read())\n"
        "attempt(lambda: open('/proc/self/root' + WORLD + '/secret.txt').read())",
    ),
    Attack(
        "reads through C",
        "read",
        "import mujoco\nlibc = ctypes.CDLL(None)\n"
        "def raw():\n    fd = libc.open((WORLD + '/secret.txt').encode(), 0)\n"
        "    return os.read(fd, 100)\nattempt(raw)\n"
        "attempt(lambda: mujoco.MjModel.from_xml_path(WORLD + '/secret.txt'))\n"
        "attempt(lambda: mujoco.MjModel.from_xml_string("
        "'<mujoco><include file=\"' + WORLD + '/secret.txt\"/></mujoco>'))",
    ),
    Attack(
        "reads the memory of the process that started it",
        "read",
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "attempt(lambda: open(f'/proc/{os.getppid()}/mem', 'rb').read(10))\n"
        "print(libc.ptrace(16, os.getppid(), 0, 0))\n"
        "buffer = (ctypes.c_uint64 * 4)(); print(libc.process_vm_readv(os.getppid(), buffer, 1, "
        "buffer, 1, 0))",
    ),
    Attack(
        "lists the instructor's home",
        "read",
        "import pwd\nattempt(lambda: os.listdir(pwd.getpwuid(os.getuid()).pw_dir))\n"
        + _WALK
        + "hunt(os.environ.get('INSTRUCTOR_HOME', WORLD + '/home'))",
    ),
    # Writing
    Attack(
        "writes points into the gradebook",
        "write",
        "import sqlite3\ndef forge():\n    db = sqlite3.connect(WORLD + '/gradebook.db')\n"
        "    db.execute('create table if not exists forged (x)')\n    db.commit()\n"
        "attempt(forge)\nattempt(lambda: open(WORLD + '/gradebook.db', 'ab').write(b'x'))",
    ),
    Attack(
        "appends to the configuration",
        "write",
        "for n in ('/nbgrader_config.py', '/jupyter_config.py', '/home/.jupyter/x.py'):\n"
        "    attempt(lambda: open(WORLD + n, 'a').write('\\nforged = 1\\n'))",
    ),
    Attack(
        "deletes and renames others' work",
        "write",
        "import shutil\nattempt(lambda: shutil.rmtree(WORLD + '/submitted'))\n"
        "attempt(lambda: os.rename(WORLD + '/secret.txt', WORLD + '/x'))\n"
        "attempt(lambda: os.remove(WORLD + '/secret.txt'))",
    ),
    Attack(
        "changes modes, owners and times",
        "write",
        "p = WORLD + '/secret.txt'\nattempt(lambda: os.chmod(p, 0o777))\n"
        "attempt(lambda: os.utime(p, (1, 1)))\nattempt(lambda: os.chown(p, 65534, 65534))\n"
        "attempt(lambda: os.truncate(p, 0))\nattempt(lambda: os.setxattr(p, 'user.x', b'y'))",
    ),
    Attack(
        "leaves modules to be imported later",
        "write",
        "for folder in ('.', '..', WORLD, WORLD + '/home'):\n"
        "    for name in ('forged_module.py', 'sitecustomize.py', 'forged.pth'):\n"
        "        attempt(lambda: open(os.path.join(folder, name), 'x').write('x = 1'))",
    ),
    Attack(
        "leaves files where everybody writes",
        "write",
        "for p in ('/tmp/forged', '/var/tmp/forged', '/dev/shm/forged', '/run/forged'):\n"
        "    attempt(lambda: open(p, 'x').write('x'))\n"
        "    attempt(lambda: os.remove(p) and None)",
    ),
    Attack(
        "leaves shared memory and queues behind",
        "write",
        "libc = ctypes.CDLL(None)\nprint(libc.shmget(4242, 4096, 0o1666) < 0)\n"
        "print(libc.msgget(4242, 0o1666) < 0, libc.semget(4242, 1, 0o1666) < 0)",
    ),
    Attack(
        "writes through C",
        "write",
        "import mujoco, numpy as np\nm = mujoco.MjModel.from_xml_string('<mujoco/>')\n"
        "attempt(lambda: mujoco.mj_saveLastXML(WORLD + '/secret.txt', m))\n"
        "attempt(lambda: mujoco.mj_saveModel(m, WORLD + '/forged.mjb'))\n"
        "attempt(lambda: np.save(WORLD + '/forged', np.eye(2)))\n"
        "attempt(lambda: np.memmap(WORLD + '/secret.txt', mode='r+')[:4])",
    ),
    Attack(
        "writes beside its folder by odd names",
        "write",
        "for n in ('../forged', '../../forged', WORLD + '/../forged', './/..//forged'):\n"
        "    attempt(lambda: open(n, 'x').write('x'))",
    ),
    # Processes and network
    Attack(
        "starts a daemon that acts later",
        "process",
        "def daemon():\n    if os.fork() == 0:\n        os.setsid()\n"
        "        if os.fork() == 0:\n            for _ in range(20):\n"
        "                time.sleep(0.1); open(WORLD + '/forged', 'a').write('x')\n"
        "        os._exit(0)\nattempt(daemon)",
    ),
    Attack(
        "forks without end",
        "process",
        "def bomb():\n    for _ in range(100):\n        if os.fork() == 0:\n"
        "            time.sleep(8); os._exit(0)\nattempt(bomb)",
    ),
    Attack(
        "starts threads without end",
        "process",
        "threading.stack_size(1 << 16)\n"
        "for _ in range(3000):\n"
        "    threading.Thread(target=time.sleep, args=(5,), daemon=True).start()",
    ),
    Attack(
        "starts programs",
        "process",
        "import multiprocessing, subprocess\n"
        "attempt(lambda: subprocess.check_output(['id']))\nattempt(lambda: os.system('id'))\n"
        "attempt(lambda: os.posix_spawn('/bin/sh', ['sh', '-c', 'id'], {}))\n"
        "attempt(lambda: multiprocessing.get_context('fork').Process(target=print).start())\n"
        "!touch /tmp/forged-by-shell && sleep 2 && rm /tmp/forged-by-shell &",
    ),
    Attack(
        "makes a process by a raw system call",
        "process",
        "libc = ctypes.CDLL(None)\n"
        "def raw(*a):\n    r = libc.syscall(*a)\n    if r == 0: libc._exit(0)\n    return r\n"
        "for a in ((57,), (58,), (56, 17, 0, 0, 0, 0), (0x40000000 + 57,)):\n"
        "    print(raw(*a) > 0)",
    ),
    Attack(
        "becomes another program",
        "process",
        "attempt(lambda: os.execv('/bin/sh', ['sh', '-c', 'echo forged']))",
    ),
    Attack(
        "signals every other process",
        "process",
        "for p in (os.getppid(), 0, -os.getpgid(0)):\n"
        "    attempt(lambda: os.kill(p, signal.SIGURG))\n"
        "attempt(lambda: os.killpg(os.getpgid(os.getppid()), signal.SIGURG))",
    ),
    Attack(
        "sends signals by a file's owner",
        "process",
        "import fcntl\nr, w = os.pipe()\n"
        "attempt(lambda: fcntl.fcntl(r, fcntl.F_SETOWN, os.getppid()))\n"
        "attempt(lambda: fcntl.fcntl(r, 10, signal.SIGURG))",
    ),
    Attack(
        "uses the network",
        "process",
        "import socket\n"
        "attempt(lambda: socket.create_connection(('127.0.0.1', 9), timeout=1))\n"
        "attempt(lambda: socket.socket().bind(('127.0.0.1', 0)))\n"
        "attempt(lambda: socket.socket(socket.AF_UNIX).bind(b'\\0forged'))\n"
        "attempt(lambda: socket.getaddrinfo('example.org', 80))",
    ),
    Attack(
        "undoes its limits",
        "process",
        "import resource\nlibc = ctypes.CDLL(None)\n"
        "for n in ('RLIMIT_AS', 'RLIMIT_CPU', 'RLIMIT_FSIZE'):\n"
        "    attempt(lambda: resource.setrlimit(getattr(resource, n), (-1, -1)))\n"
        "print(libc.prctl(1, 0), libc.prctl(4, 1), libc.setuid(0), libc.unshare(0x10000000))",
    ),
    # Resources
    Attack("takes three gigabytes", "resource", "x = bytearray(3 << 30)\nx[::4096] = x[::4096]"),
    Attack(
        "fills the disk",
        "resource",
        "for k in range(40):\n    with open(f'big{k}', 'wb') as f:\n"
        "        for _ in range(10): f.write(bytes(1 << 20))\ntime.sleep(1)",
    ),
    Attack(
        "makes a tree of folders without end",
        "resource",
        "for _ in range(3000):\n    os.mkdir('d'); os.chdir('d')",
    ),
    Attack(
        "loops and ignores interrupts",
        "resource",
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "while True:\n    try: time.sleep(0.1)\n    except BaseException: pass",
    ),
    Attack("stops itself", "resource", "os.kill(os.getpid(), signal.SIGSTOP)"),
    Attack("prints forty megabytes", "resource", "for _ in range(400): print('y' * 100_000)"),
    Attack(
        "prints from many threads",
        "resource",
        "def loud():\n    while True: print('z' * 10_000)\n"
        "for _ in range(8): threading.Thread(target=loud, daemon=True).start()",
    ),
    Attack("leaves without a word", "resource", "os._exit(0)"),
    Attack("leaves by an exception", "resource", "sys.exit('done')"),
    Attack("crashes in C", "resource", "ctypes.string_at(8)"),
    Attack(
        "recurses beyond the stack",
        "resource",
        "sys.setrecursionlimit(10**9)\ndef f(): return f()\nf()",
    ),
    Attack(
        "never ends at its end",
        "resource",
        "import atexit\natexit.register(lambda: time.sleep(60))\n"
        "threading.Thread(target=time.sleep, args=(60,)).start()",
    ),
    Attack(
        "shows itself without end",
        "resource",
        "class R:\n    def __repr__(self):\n        while True: pass\nR()",
    ),
    # The notebook itself
    Attack("claims a thousand points", "format", tamper=_points_of_a_thousand),
    Attack("unlocks and rewrites its tests", "format", tamper=_unlocked_tests),
    Attack("brings its outputs along", "format", tamper=_forged_outputs),
    Attack("deletes its tests", "format", tamper=_deleted_tests),
    Attack("doubles its tests", "format", tamper=_doubled_tests),
    Attack("turns its tests into text", "format", tamper=_markdown_tests),
    Attack("brings strange metadata", "format", tamper=_strange_metadata),
    Attack(
        "shows a script",
        "format",
        "from IPython.display import HTML, Javascript, display\n"
        "display(HTML('<img src=x onerror=alert(1)><script>alert(1)</script>'))\n"
        "display(Javascript('alert(1)'))\n"
        "display({'text/html': '<iframe src=\"javascript:alert(1)\"></iframe>'}, raw=True)",
    ),
]
