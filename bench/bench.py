#!/usr/bin/env python3
"""Side by side with perf: the same work on the same recordings in the same run, as ratios.

    make bench                 all rows
    make bench ROWS='report'   rows whose name contains a word

Recordings are made by perf itself from programs that were not written for this project, are kept
in build/bench, and are made anew when missing.  CPU is user+sys of the whole process tree, memory
the peak of anonymous pages (what is mapped from files is the page cache's, and shared).  Each
figure is the least of several runs, taken in turn (perf, tally, perf, tally, ...).
"""

import argparse
import itertools
import json
import os
import random
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import page

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)

# name -> (what it is, perf record's options, shell command, seconds it may take)
# {dir} is the bench folder, {here} this one.
RECORDINGS = {
    "cxx_fp": (
        "g++ compiling large C++, call chains of frame pointers",
        "-e cpu-clock -F 45000 -g -m 4096",
        "for i in 1 2; do g++ -std=c++17 -O2 -c -o /dev/null {here}/large.cc; done",
    ),
    "node_deep": (
        "node running JavaScript, call chains some 40 deep, a perf map",
        "-e cpu-clock -F 30000 -g -m 4096",
        "node --perf-basic-prof --stack-size=4000 {here}/deep.js",
    ),
    "sched": (
        "scheduler tracepoints of a pipe ping-pong",
        "-e sched:sched_switch -e sched:sched_wakeup -a -m 8192",
        "perf bench sched pipe -l 600000",
    ),
    "cxx_dwarf": (
        "the C++ compiler itself, registers and 8 KiB of stack a sample",
        "-e cpu-clock -F 4000 --call-graph dwarf,8192 -m 4096",
        "exec {cxx} -quiet -std=c++17 -O2 -D_GNU_SOURCE -imultiarch {multiarch} -o /dev/null {here}/large.cc",
    ),
    "make_all": (
        "the whole system during a parallel build of C files, call chains",
        "-e cpu-clock -F 35000 -a -g -m 8192 --max-size=1G",  # others may keep the machine busy, too
        "make -s -j2 -f {here}/many.mk OUT={dir}/many",
    ),
}

# name, recording, options of perf report and of tally report
REPORTS = [
    ("report flat", "cxx_fp", "--no-children -g none"),
    ("report callers", "cxx_fp", "--no-children"),
    ("report trees, children", "cxx_fp", "--children"),
    ("report --stats", "cxx_fp", "--stats"),
    ("report flat", "node_deep", "--no-children -g none"),
    ("report callers", "node_deep", "--no-children"),
    ("report trees, children", "node_deep", "--children"),
    ("report flat", "sched", "--no-children -g none"),
    ("report flat", "make_all", "--no-children -g none"),
    ("report trees, children", "make_all", "--children"),
]

# name, recording, options of perf script and of tally script
SCRIPTS = [
    ("script", "cxx_fp", ""),
    ("script -F ip,sym", "cxx_fp", "-F ip,sym"),
    ("script", "node_deep", ""),
    ("script -F ip,sym", "node_deep", "-F ip,sym"),
    ("script", "sched", ""),
    ("script -F ip,sym", "sched", "-F ip,sym"),
    ("script", "make_all", ""),
    ("script, unwound", "cxx_dwarf", "--no-inline"),
    # A filter that keeps all: the cost of asking it.
    ("script --dlfilter", "cxx_fp", "--dlfilter {dir}/keep.so"),
    ("script --dlfilter", "node_deep", "--dlfilter {dir}/keep.so"),
    ("evlist", "cxx_fp", None),
]

SQL = "sqlite3 :memory: < {here}/work.sql"
SYSCALLS = "dd if=/dev/zero of=/dev/null bs=1 count=1500000 status=none"

# As many system calls as each CPU makes.
STORM = "for i in $(seq $(nproc)); do " + SYSCALLS + " & done; wait"
SHORT = "for i in $(seq 10000); do /bin/true; done"
THREADS = "{dir}/many_threads"

BUILD = "mkdir -p {dir}/built; make -s -j2 -f {here}/many.mk OUT={dir}/built $(seq -f {dir}/built/%g.o 60)"

# Times of blocked threads with their stacks: by perf (of Debian, without BPF) from each switch, by tally as samples.
OFF_CPU = ("-e sched:sched_switch -c 1 --call-graph fp", "-e dummy --off-cpu --call-graph fp")

# Two compilers at once: all CPUs are busy, and stacks are deep.
COMPILERS = "for i in $(seq $(nproc)); do g++ -std=c++17 -fsyntax-only -DTYPES=4 {here}/large.cc & done; wait"


def whole_stacks(rate, size):
    """Whole stacks: perf keeps copies, tally unwinds them while it records; the same sizes of copies."""
    how = "-e cpu-clock -F %d --call-graph dwarf,%d" % (rate, size)
    return how, how


# name, options of both (or of perf, and of tally), command
RECORDS = [
    ("record stacks 1 kHz, 16 KB", whole_stacks(1000, 16384), COMPILERS),
    ("record stacks 1 kHz, 64 KB", whole_stacks(1000, 65528), COMPILERS),
    ("record stacks 5 kHz, 16 KB", whole_stacks(5000, 16384), COMPILERS),
    ("record stacks 5 kHz, 64 KB", whole_stacks(5000, 65528), COMPILERS),
    ("record 1 kHz", "-e cpu-clock -F 1000", SQL),
    ("record 1 kHz, chains", "-e cpu-clock -F 1000 -g", SQL),
    ("record 10 kHz, chains", "-e cpu-clock -F 10000 -g", SQL),
    ("record 10 kHz", "-e cpu-clock -F 10000", SQL),
    ("record 50 kHz", "-e cpu-clock -F 50000", SQL),
    ("record 10 kHz, fp chains", "-e cpu-clock -F 10000 --call-graph fp", SQL),
    ("record 50 kHz, chains", "-e cpu-clock -F 50000 -g", SQL),
    ("record max, chains", "-e cpu-clock -F max -g", SQL),
    ("record syscall storm", "-e raw_syscalls:sys_enter -e raw_syscalls:sys_exit -a", SYSCALLS),
    ("record storm on all CPUs", "-e raw_syscalls:sys_enter -e raw_syscalls:sys_exit -a", STORM),
    ("record storm, --threads", "-e raw_syscalls:sys_enter -e raw_syscalls:sys_exit -a --threads", STORM),
    ("record storm, --aio", "-e raw_syscalls:sys_enter -e raw_syscalls:sys_exit -a --aio", STORM),
    ("record 500 threads", "-e cpu-clock -F 1000 --call-graph fp", THREADS),
    ("record 10,000 processes", "-e cpu-clock -F 1000 --call-graph fp", SHORT),
    ("record off-CPU, lock", OFF_CPU, "{dir}/lock_pingpong"),
    ("record off-CPU, build", OFF_CPU, BUILD),
    ("record -- true", "", "true"),
]


# A machine for the rows about names: a core PMU, memory controllers, and the CPU whose tables are read.
MACHINE = {
    "cpu/type": "4",
    "cpu/format/event": "config:0-7", "cpu/format/umask": "config:8-15", "cpu/format/edge": "config:18",
    "cpu/format/inv": "config:23", "cpu/format/cmask": "config:24-31", "cpu/format/ldlat": "config1:0-15",
    "cpu/events/mem-loads": "event=0xcd,umask=0x1,ldlat=3", "cpu/events/cpu-cycles": "event=0x3c",
    **{f"uncore_imc_{i}/{name}": text for i in range(6) for name, text in (
        ("type", str(20 + i)), ("cpumask", "0"), ("format/event", "config:0-7"), ("format/umask", "config:8-15"),
        ("events/cas_count_read", "event=0x04,umask=0x03"), ("events/cas_count_read.unit", "MiB"),
        ("events/cas_count_read.scale", "6.103515625e-5"))},
    "software/type": "1", "tracepoint/type": "2", "breakpoint/type": "5",
}
MACHINE_CPU = "GenuineIntel-6-55-4"

ENCODINGS = {
    "generic names": ["cycles:u", "instructions", "LLC-load-misses:k", "context-switches", "r1a8:u"],
    "names of sysfs": ["cpu/event=0xc0,umask=0x1,cmask=1/u", "mem-loads:pp", "uncore_imc_1/cas_count_read/",
                       "cpu/mem-loads/"],
}

# name, what is asked, perf's words, tally's; of the machine above.  perf has no command that only encodes.
NAMES = [
    ("encode", "cycles", "record --dry-run -o /dev/null -e cycles true", "encode cycles"),
    ("encode", "of sysfs", "record --dry-run -o /dev/null -e mem-loads true", "encode mem-loads"),
    ("encode", "of a table", "record --dry-run -o /dev/null -e inst_retired.any true", "encode inst_retired.any"),
    ("list", "all", "list", "list"),
    ("list", "hw", "list hw", "list hw"),
]
NAMES_TIMES = 20  # runs of a command that takes some ms


# Commands that do next to nothing: what it takes to start.
STARTS = [
    ("stat true", ["stat", "true"]),
    ("stat -x, true", ["stat", "-x,", "true"]),
]
STARTS_TIMES = 200

# What the regions of a program count; groups are read at once.
REGIONS = [
    ("one event", "task-clock"),
    ("a group of two", "{task-clock,page-faults}"),
    ("a group of eight", "{task-clock,page-faults,context-switches,cpu-migrations,minor-faults,major-faults,"
                         "cpu-clock,dummy}"),
    ("a PMU's", "{cycles,instructions}"),
]


class Usage:
    """What one run of a command took."""

    def __init__(self, wall, cpu, anon, status, text):
        self.wall, self.cpu, self.anon, self.status, self.text = wall, cpu, anon, status, text
        self.command = None  # seconds that the command alone took, as bash says
        self.command_cpu = None  # and of CPU


def peak_anon(pid, stop, result):
    """Watches RssAnon of a process until stop is set."""
    path = f"/proc/{pid}/status"
    while not stop.is_set():
        try:
            with open(path) as status:
                for line in status:
                    if line.startswith("RssAnon:"):
                        result[0] = max(result[0], int(line.split()[1]) * 1024)
        except OSError:
            return
        stop.wait(0.002)


def run(argv, timeout, cwd=None, output=None):
    """Runs a command; its output is read from files so that no pipe slows it."""
    with open(os.devnull, "rb") as null, tempfile.TemporaryFile() if output is None else open(
            output, "w+b") as out:
        start = time.monotonic()
        child = subprocess.Popen(argv, stdin=null, stdout=out, stderr=subprocess.STDOUT, cwd=cwd)
        anon, stop = [0], threading.Event()
        watcher = threading.Thread(target=peak_anon, args=(child.pid, stop, anon))
        watcher.start()
        timer = threading.Timer(timeout, child.kill)
        timer.start()
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - start
        child.returncode = status
        timer.cancel()
        stop.set()
        watcher.join()
        out.seek(0)
        text = out.read(1 << 20).decode("utf-8", "replace")
    return Usage(wall, usage.ru_utime + usage.ru_stime, anon[0], status, text)


def make_recording(name, folder):
    path = os.path.join(folder, name + ".data")
    if os.path.exists(path) and os.path.getsize(path) > 1 << 20:
        return path
    what, options, command = RECORDINGS[name]
    cxx, multiarch = (
        subprocess.run(["g++", option], stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
        for option in ("-print-prog-name=cc1plus", "-print-multiarch"))
    command = command.format(dir=folder, here=HERE, cxx=cxx, multiarch=multiarch)
    # What begins with exec is started by perf itself.
    words = command.split()[1:] if command.startswith("exec ") else ["sh", "-c", command]
    if command.startswith("node") and not shutil.which("node"):
        return None
    os.makedirs(os.path.join(folder, "many"), exist_ok=True)
    print(f"# making {name}: {what}", flush=True)
    done = subprocess.run(
        ["perf", "record", "-q", "-o", path, *options.split(), "--", *words],
        cwd=folder, check=False, stdout=subprocess.DEVNULL)
    # At its largest size perf ends the command, and itself by the same signal; the file is complete.
    if done.returncode and not ("--max-size" in options and done.returncode == -signal.SIGTERM):
        raise subprocess.CalledProcessError(done.returncode, done.args)
    for line in os.listdir(folder):
        if line.startswith("isolate-"):
            os.unlink(os.path.join(folder, line))
    return path


def least(runs):
    good = [one for one in runs if one.status == 0]
    if not good:
        return None
    return Usage(min(r.wall for r in good), min(r.cpu for r in good), max(r.anon for r in good), 0,
                 good[-1].text)


def seconds(value):
    return f"{value:8.3f}"


def megabytes(value):
    return f"{value / 1e6:8.1f}"


def compare(perf, tally, timeout, times, folder, output=None):
    """Both commands in turn; perf fewer times when it is slow."""
    perf_runs, tally_runs = [], []
    for turn in range(times):
        if turn == 0 or perf_runs[0].wall < 20:
            perf_runs.append(run(perf, timeout, folder, output))
        tally_runs.append(run(tally, timeout, folder, output))
    return least(perf_runs), least(tally_runs)


def ratio(perf, tally):
    return f"{perf / tally:8.1f}x" if tally > 0 else "       -"


def show(name, subject, perf, tally, log):
    if not tally:
        print(f"{name:26} {subject:18} tally failed", flush=True)
        return
    if not perf:
        print(f"{name:26} {subject:18} perf failed; tally: {seconds(tally.cpu)} s CPU, "
              f"{seconds(tally.wall)} s, {megabytes(tally.anon)} MB", flush=True)
        return
    print(f"{name:26} {subject:18} {seconds(perf.cpu)} {seconds(tally.cpu)} "
          f"{ratio(perf.cpu, tally.cpu)} {seconds(perf.wall)} {seconds(tally.wall)} "
          f"{ratio(perf.wall, tally.wall)} {megabytes(perf.anon)} {megabytes(tally.anon)} "
          f"{ratio(perf.anon, tally.anon)}", flush=True)
    log.write(json.dumps({
        "row": name, "subject": subject,
        "perf": {"cpu": perf.cpu, "wall": perf.wall, "anon": perf.anon},
        "tally": {"cpu": tally.cpu, "wall": tally.wall, "anon": tally.anon}}) + "\n")


def heading():
    print(f"{'row':26} {'on':18} {'perf CPU':>8} {'tally':>8} {'ratio':>9} {'perf s':>8} "
          f"{'tally s':>8} {'ratio':>9} {'perf MB':>8} {'tally MB':>8} {'ratio':>9}", flush=True)


def bench_reports(args, folder, log):
    for name, recording, options in REPORTS:
        if args.rows and args.rows not in f"{name} {recording}":
            continue
        path = make_recording(recording, folder)
        if not path:
            print(f"{name:26} {recording:18} skipped: its program is not installed")
            continue
        perf, tally = compare(
            ["perf", "report", "--stdio", *options.split(), "-i", path],
            [args.tally, "report", "--stdio", *options.split(), "-i", path],
            args.timeout, args.times, folder)
        size = os.path.getsize(path) / 1e6
        show(name, f"{recording.split('_')[0]} {size:.0f} MB", perf, tally, log)


# A program of some 50 MB of debug information: parts of large.cc, whose types are their own.
PARTS = 4
PART_TYPES = 20
PARTS_MAIN = """
{declared}
int main()
{{
	char text[] = "the quick brown fox jumps over the lazy dog and runs away from it again";
	char *words[] = {{text, text}};
	int sum = 0;

	for (int i = 0; i < 5000; i++)
		sum += {called};
	return sum == 7;
}}
"""

# name, options of both.  `report --inline` is not among them: Debian's perf 6.1 looks up no inlined functions for it.
LINES = [
    ("report -s srcline", "-s srcline --no-children -g none"),
]


def make_debugged(folder):
    """The program and a recording of it; None where it cannot be built."""
    program, path = os.path.join(folder, "debugged"), os.path.join(folder, "debugged.data")
    if os.path.exists(path):
        return program, path
    print(f"# making debugged: {PARTS} parts with debug information, some minutes", flush=True)
    names = [f"part_{part}" for part in range(PARTS)]
    source = program + ".cc"
    with open(source, "w") as file:
        file.write(PARTS_MAIN.format(declared="".join(f"int {name}(int, char **);\n" for name in names),
                                     called=" + ".join(f"{name}(2, words)" for name in names)))
    common = ["g++", "-std=c++17", "-O2", "-g", "-fno-omit-frame-pointer"]
    for at in range(0, PARTS, os.cpu_count()):
        running = [subprocess.Popen([*common, f"-DTYPES={PART_TYPES}", f"-DFIRST={part * PART_TYPES}",
                                     f"-Dmain=part_{part}", "-c", "-o", f"{program}_{part}.o",
                                     os.path.join(HERE, "large.cc")])
                   for part in range(at, min(at + os.cpu_count(), PARTS))]
        if any([child.wait() for child in running]):
            return None
    objects = [f"{program}_{part}.o" for part in range(PARTS)]
    if subprocess.run([*common, "-o", program, source, *objects], check=False).returncode:
        return None
    subprocess.run(["perf", "record", "-q", "-e", "cpu-clock:u", "-g", "-o", path, program],
                   cwd=folder, check=True, stdout=subprocess.DEVNULL)
    for name in objects:
        os.unlink(name)
    return program, path


def debug_megabytes(program):
    text = subprocess.run(["size", "-A", program], stdout=subprocess.PIPE, text=True, check=False).stdout
    return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith(".debug")) / 1e6


def bench_lines(args, folder, log):
    """Source lines of a program with much debug information: perf once, tally without and with its index."""
    for name, options in LINES:
        if args.rows and args.rows not in name:
            continue
        made = make_debugged(folder)
        if not made:
            print(f"{name:26} skipped: the program cannot be built")
            continue
        cache = os.path.join(folder, "lines-cache")
        shutil.rmtree(cache, ignore_errors=True)
        words = ["report", "--stdio", *options.split(), "-i", made[1]]
        perf = run(["perf", *words], args.timeout, folder)
        ended = perf.wall < args.timeout
        perf.status = perf.status if ended else 0  # its times are at least that
        tally = ["env", "XDG_CACHE_HOME=" + cache, args.tally, *words]
        subject = f"{debug_megabytes(made[0]):.0f} MB of DWARF"
        show(name, subject, least([perf]), least([run(tally, args.timeout, folder)]), log)
        show(name + ", again", subject, least([perf]),
             least([run(tally, args.timeout, folder) for _ in range(args.times)]), log)
        if not ended:
            print(f"    perf did not end within {args.timeout:.0f} s: its times are more than that")


def copy_seconds(path, times):
    """The bound of writing a text: its bytes written again from memory to a new file."""
    with open(path, "rb") as text:
        size = text.seek(0, os.SEEK_END)
        text.seek(0)
        piece = text.read(1 << 22)
    if not size:
        return 0.0
    best = 1e9
    for _ in range(times):
        with tempfile.TemporaryFile(dir=os.path.dirname(path)) as out:
            start = time.monotonic()
            for _ in range(0, size, len(piece)):
                out.write(piece)
            best = min(best, time.monotonic() - start)
    return best


def make_filter(folder):
    """keep.so: asked twice about each sample, keeps it."""
    source, out = (os.path.join(TOP, "tests/agree/dlfilter/probe.c"), os.path.join(folder, "keep.so"))
    return subprocess.run(["cc", "-O2", "-w", "-fPIC", "-shared", "-I", os.path.join(TOP, "include"), "-DQUIET",
                           "-DEARLY=0", "-DLATE=0", "-o", out, source], check=False).returncode == 0


# A line of a frame: address, name, perhaps the binary.
FRAME = re.compile(rb"(\s*[0-9a-f]+ )(.*?)( \(\S+\))?\n")


def differs_by_plt(their, our):
    """Whether perf's name of an entry of the PLT, wrong or missing (doc/COMPATIBILITY.md), is all."""
    if b"@plt" not in their and b"@plt" not in our:
        return False
    one, other = FRAME.fullmatch(their), FRAME.fullmatch(our)
    return bool(one and other) and one[1] == other[1] and one[3] == other[3]


def compare_texts(theirs, ours):
    """What to say of two texts."""
    if subprocess.run(["cmp", "-s", theirs, ours], check=False).returncode == 0:
        return "the same text"
    known = others = first = 0
    with open(theirs, "rb") as one, open(ours, "rb") as other:
        for number, (their, our) in enumerate(itertools.zip_longest(one, other, fillvalue=b""), 1):
            if their == our:
                continue
            if differs_by_plt(their, our):
                known += 1
            else:
                first = first if others else number
                others += 1
    plt = f"{known} of {number} lines differ by perf's names of PLT entries"
    if others:
        return f"NOT the same text: {others} lines differ, line {first} first; {plt}"
    return f"the same text but that {plt}"


def bench_scripts(args, folder, log):
    for name, recording, options in SCRIPTS:
        if args.rows and args.rows not in f"{name} {recording}":
            continue
        path = make_recording(recording, folder)
        if not path:
            print(f"{name:26} {recording:18} skipped: its program is not installed")
            continue
        if "keep.so" in (options or "") and not make_filter(folder):
            print(f"{name:26} {recording:18} skipped: no compiler for the filter")
            continue
        command = ["evlist"] if options is None else ["script", *options.format(dir=folder).split()]
        subject = f"{recording.split('_')[0]} {os.path.getsize(path) / 1e6:.0f} MB"
        perf, tally = (["perf", *command, "-i", path], [args.tally, *command, "-i", path])
        texts = [os.path.join(folder, f"text-{who}") for who in ("perf", "tally")]
        for argv, text in zip((perf, tally), texts):
            run(argv, args.timeout, folder, text)
        size, bound = os.path.getsize(texts[0]), copy_seconds(texts[0], args.times)
        for where in (os.devnull, texts[1]):
            one, other = compare(perf, tally, args.timeout, args.times, folder, where)
            show(name, subject, one, other, log)
            if options is None:
                break
        if options is not None:
            print(f"    the row above: to /dev/null, then to a file; {size / 1e6:.0f} MB, {compare_texts(*texts)}; "
                  f"writing it alone takes {bound:.3f} s"
                  + (f", tally {other.wall / bound:.1f} times that" if other and bound else ""))
        for text in texts:
            os.unlink(text)


def closing_lines(text):
    """The closing line of a recorder."""
    lines = [line for line in text.splitlines() if "sample" in line or "ost" in line]
    return "; ".join(line.strip() for line in lines[-3:])


def recorder_cpu(argv, timeout, folder):
    """CPU of the recorder alone: its tree's, less what its command took as `time -p` in it says."""
    usage = run(argv, timeout, folder)
    spent = 0.0
    for line in usage.text.splitlines():
        word = line.split()
        if len(word) == 2 and word[0] in ("user", "sys"):
            try:
                spent += float(word[1])
            except ValueError:
                pass
        if len(word) == 2 and word[0] == "real":
            usage.command = float(word[1])
    usage.command_cpu = spent or None
    usage.cpu = max(usage.cpu - spent, 0.001)
    return usage


def make_threads(folder):
    """The programs of the rows about many threads and a lock."""
    for name in ("many_threads", "lock_pingpong"):
        program = os.path.join(folder, name)
        if not os.path.exists(program):
            subprocess.run(["cc", "-O2", "-pthread", "-o", program, os.path.join(HERE, name + ".c")], check=False)


def bytes_of(path):
    """Of a recording: a file, or a folder of files."""
    if os.path.isdir(path):
        return sum(os.path.getsize(os.path.join(path, name)) for name in os.listdir(path))
    return os.path.getsize(path) if os.path.exists(path) else 0


def show_sizes(folder, name, log):
    """Of the recordings of the last turn."""
    perf, tally = (bytes_of(os.path.join(folder, f"out-{who}.data")) for who in ("perf", "tally"))
    if perf and tally:
        print(f"    perf's recording has {perf / 1e6:.1f} MB, tally's {tally / 1e6:.1f} MB: 1/{perf / tally:.1f}")
        log.write(json.dumps({"row": name, "perf_bytes": perf, "tally_bytes": tally}) + "\n")


def remove_output(path):
    """A recording: a file, or a folder of files."""
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.exists(path):
        os.unlink(path)


def ratio_range(times, of):
    """The ratio of two medians, and its range with 95 % confidence (by bootstrap)."""
    draw = random.Random(1)
    drawn = sorted(statistics.median(draw.choices(times, k=len(times))) / statistics.median(draw.choices(of, k=len(of))) for _ in range(4000))
    return statistics.median(times) / statistics.median(of), drawn[100], drawn[-101]


def show_slower(alone, runs, name, log):
    """How much longer the command took while it was recorded, by the median of the turns: from start to end, and of CPU."""
    for what, unit in (("command", "s"), ("command_cpu", "s of CPU")):
        took = {who: [getattr(usage, what) for usage in usages if usage and getattr(usage, what)]
                for who, usages in (("alone", alone), *runs.items())}
        middle = {who: statistics.median(times) for who, times in took.items() if times}
        usual = middle.pop("alone", None)
        if usual and len(middle) == 2:
            slower = {who: times / usual for who, times in middle.items()}
            beside = ratio_range(took["tally"], took["perf"])
            print("    the command alone takes {:.2f} {}; recorded by {}; {} turns; tally's time is {:.2f} of perf's ({:.2f} to {:.2f} with 95 % confidence)".format(
                usual, unit, ", ".join(f"{who} {times:.2f}x" for who, times in slower.items()), len(alone), *beside))
            log.write(json.dumps({"row": name, "what": what, "alone": usual, "slower": slower, "of_perf": beside}) + "\n")


# Seconds that the annotated recording takes of a CPU, some 300 MB.
ANNOTATED_SECONDS = 75


def make_annotated(folder):
    """Many samples with frame pointers of the program with debug information; None where it cannot be built."""
    made, path = make_debugged(folder), os.path.join(folder, "annotated.data")
    if made and not os.path.exists(path):
        once = least([run([made[0]], 600, folder)]).cpu
        turns = max(1, round(ANNOTATED_SECONDS / max(once, 0.01)))
        print("# making annotated: the program with debug information, again and again", flush=True)
        subprocess.run(["perf", "record", "-q", "-e", "cpu-clock:u", "-F", "45000", "-g", "-m", "4096", "-o", path, "--",
                        "sh", "-c", f"for i in $(seq {turns}); do {made[0]}; done"],
                       cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return made and path


def bench_annotate(args, folder, log):
    """Code of the hottest function: by its name, and without, when perf lists all functions and tally the hottest."""
    if args.rows not in "annotate hottest" and args.rows not in "annotate by name":
        return
    path = make_annotated(folder)
    if not path:
        print(f"{'annotate':26} skipped: the program cannot be built")
        return
    words = ["annotate", "--stdio", "-i", path]
    tally = ["env", "XDG_CACHE_HOME=" + os.path.join(folder, "lines-cache"), args.tally, *words]
    said = subprocess.run(tally, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout
    name = said.split("\n", 1)[0].removeprefix("# ").rpartition(": ")[0]
    subject = f"{os.path.getsize(path) / 1e6:.0f} MB"
    if args.rows in "annotate by name":
        perf, ours = compare(["perf", *words, name], [*tally, name], args.timeout, args.times, folder)
        show("annotate by name", subject, perf, ours, log)
    if args.rows in "annotate hottest":
        perf, ours = compare(["perf", *words], tally, args.timeout, args.times, folder)
        show("annotate hottest", subject, perf, ours, log)
        if not perf:
            print(f"    perf did not end within {args.timeout:.0f} s")


# Source of the script that people fold stacks with; it is not part of this project.
COLLAPSE_URL = "https://raw.githubusercontent.com/brendangregg/FlameGraph/41fee1f99f9276008b7cd112fca19dc3ea84ac32/stackcollapse-perf.pl"
EXPORTS = ["folded", "pprof", "speedscope", "firefox", "chrome", "perfetto", "callgrind", "otlp", "csv", "sqlite", "parquet"]


def find_collapse(folder):
    """stackcollapse-perf.pl: of the folder that FLAMEGRAPH names, or fetched once; or why there is none."""
    if not shutil.which("perl"):
        return None, "perl is not installed"
    path = os.path.abspath(os.path.join(os.environ.get("FLAMEGRAPH", folder), "stackcollapse-perf.pl"))
    if not os.path.exists(path) and "FLAMEGRAPH" not in os.environ and shutil.which("curl"):
        subprocess.run(["curl", "-fsSL", "-m", "30", "-o", path, COLLAPSE_URL], check=False, stderr=subprocess.DEVNULL)
    return (path, None) if os.path.exists(path) else (None, "stackcollapse-perf.pl cannot be fetched; FLAMEGRAPH=DIR names its folder")


def bench_exports(args, folder, log):
    """Folded stacks beside FlameGraph's script, whose memory is not measured, and each format beside the text report."""
    names = [name for name in EXPORTS if args.rows in f"export {name}"]
    path = make_recording("cxx_fp", folder) if names else None
    if not path:
        return
    subject = f"cxx {os.path.getsize(path) / 1e6:.0f} MB"
    if "folded" in names:
        script, why = find_collapse(folder)
        if script:
            perf, tally = compare(["sh", "-c", 'perf script -i "$1" | perl "$2"', "sh", path, script],
                                  [args.tally, "export", "--to", "folded", path], args.timeout, args.times, folder, os.devnull)
            show("export folded, perf script", subject, perf, tally, log)
        else:
            print(f"{'export folded':26} {subject:18} perf script | stackcollapse-perf.pl skipped: {why}")
    runs = {name: [] for name in ["report", *names]}
    for _ in range(args.times):
        for name, made in runs.items():
            command = ["report", "-i", path] if name == "report" else ["export", "--to", name, path]
            if name == "parquet":
                command[3:3] = [os.path.join(folder, "parquet")]
            made.append(run([args.tally, *command], args.timeout, folder, os.devnull))
    best = {name: least(made) for name, made in runs.items()}
    for name in names:
        if not best[name] or not best["report"]:
            print(f"{'export ' + name:26} {subject:18} tally failed")
            continue
        ratios = [getattr(best[name], what) / max(getattr(best["report"], what), 1e-6) for what in ("cpu", "wall", "anon")]
        print(f"{'export ' + name:26} {subject:18} {seconds(best[name].cpu)} s CPU, {seconds(best[name].wall)} s, {megabytes(best[name].anon)} MB: "
              f"the text report's {ratios[0]:.2f}, {ratios[1]:.2f} and {ratios[2]:.2f} times (under 3 are wanted)", flush=True)
        log.write(json.dumps({"row": "export " + name, "subject": subject, "of_report": ratios}) + "\n")
    # What the programs take that read the text of perf script themselves.
    for name, figures in page.importers(args.tally, path, os.path.join(folder, "npm")) if {"speedscope", "firefox"} & set(names) else ():
        print(f"{'export, ' + name:26} {subject:18} {figures}", flush=True)
        log.write(json.dumps({"row": "export, " + name, "subject": subject, "figures": figures}) + "\n")


TOP_SECONDS = 15


def bench_top(args, folder, log):
    """CPU of a live table while all CPUs are busy, on terminals of their own."""
    if args.rows not in "top" or not shutil.which("script"):
        return
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(os.cpu_count())]
    try:
        perf, tally = (
            least([run(["script", "-qc", f"timeout -s INT {TOP_SECONDS} {top} top --stdio -e cpu-clock", "/dev/null"],
                       args.timeout, folder)]) for top in ("perf", args.tally))
    finally:
        for child in busy:
            child.kill()
            child.wait()
    show("top", f"{TOP_SECONDS} s, CPUs busy", perf, tally, log)


# Of rows that compare by how much two recorders slow a program down: the difference is smaller than that of two runs.
TURNS_OF_SLOWER = 15


def bench_records(args, folder, log):
    for name, options, command in RECORDS:
        if args.rows and args.rows not in name:
            continue
        make_threads(folder)
        command = command.format(dir=folder, here=HERE)
        timed = f"TIMEFORMAT=$'real %R\\nuser %U\\nsys %S'; time {{ {command}; }}"
        tail = ["true"] if command == "true" else ["bash", "-c", timed]
        runs = {"perf": [], "tally": []}
        alone = []
        for turn in range(max(args.times, TURNS_OF_SLOWER if name.startswith("record stacks") else 0)):
            if command != "true":
                os.sync()
                alone.append(recorder_cpu(tail, args.timeout, folder))
            # Not always in the same order; and nobody pays for what the one before has yet to write to the disk.
            for who, tool in sorted((("perf", "perf"), ("tally", args.tally)), reverse=turn % 2 == 1):
                os.sync()
                own = options if isinstance(options, str) else options[who == "tally"]
                path = os.path.join(folder, f"out-{who}.data")
                remove_output(path)
                remove_output(path + ".old")
                runs[who].append(recorder_cpu(
                    [tool, "record", "-o", path, *own.split(), "--", *tail],
                    args.timeout, folder))
        perf, tally = least(runs["perf"]), least(runs["tally"])
        show(name, "", perf, tally, log)
        for who, best in (("perf", perf), ("tally", tally)):
            if best:
                print(f"    {who}: {closing_lines(best.text)}")
        show_sizes(folder, name, log)
        if alone:
            show_slower(alone, runs, name, log)
    for who in ("perf", "tally"):
        for old in ("", ".old"):
            remove_output(os.path.join(folder, f"out-{who}.data{old}"))


def make_machine(folder):
    root = os.path.join(folder, "machine")
    for path, text in MACHINE.items():
        path = os.path.join(root, "bus/event_source/devices", path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text + "\n")
    return root


def bench_names(args, folder, log):
    machine = make_machine(folder)
    for subject, names in ENCODINGS.items():
        if args.rows and args.rows not in f"encodings {subject}":
            continue
        program = os.path.join(os.path.dirname(args.tally), "bench-encodings")
        done = subprocess.run([program, machine, *names], capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{'encodings':26} {subject:18} failed: {done.stderr.strip()}")
            continue
        print(f"{'encodings':26} {subject:18} {int(done.stdout):,} a second on one core (at least 100,000 are wanted)")
        log.write(json.dumps({"row": "encodings", "subject": subject, "a_second": int(done.stdout)}) + "\n")
    os.environ.update(SYSFS_PATH=machine, PERF_CPUID=MACHINE_CPU)
    for name, subject, perf, tally in NAMES:
        if args.rows and args.rows not in f"{name} {subject}":
            continue
        tally = f"{tally} --sysfs {machine}"
        tables = subprocess.run([args.tally, "list", "--sysfs", machine, "--names", "vendor"], capture_output=True,
                                text=True, check=False).stdout
        if subject == "of a table" and "inst_retired.any" not in tables:
            print(f"{name:26} {subject:18} skipped: TALLY_EVENTS names no tables of {MACHINE_CPU}")
            continue
        loop = f"for i in $(seq {NAMES_TIMES}); do %s >/dev/null 2>&1 || exit 1; done"
        one, other = compare(["sh", "-c", loop % f"perf {perf}"], ["sh", "-c", loop % f"{args.tally} {tally}"],
                             args.timeout, args.times, folder)
        show(name, f"{subject}, x{NAMES_TIMES}", one, other, log)
    for word in ("SYSFS_PATH", "PERF_CPUID"):
        os.environ.pop(word)


def cpu_of_start(argv):
    """CPU seconds of a command and what it ran; spawned, for a fork of this large program is dear."""
    quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
    _, status, usage = os.wait4(os.posix_spawnp(argv[0], argv, os.environ, file_actions=quiet), 0)
    return None if status else usage.ru_utime + usage.ru_stime


def bench_starts(args, _folder, log):
    for name, words in STARTS:
        if args.rows and args.rows not in name:
            continue
        spent = {"perf": [], "tally": []}
        for _ in range(STARTS_TIMES):
            for who, tool in (("perf", "perf"), ("tally", args.tally)):
                spent[who].append(cpu_of_start([tool, *words]))
        if None in spent["perf"] + spent["tally"]:
            print(f"{name:26} skipped: events cannot be counted here")
            continue
        perf, tally = (1e3 * sum(spent[who]) / STARTS_TIMES for who in ("perf", "tally"))
        print(f"{name:26} {f'mean of {STARTS_TIMES}':18} perf {perf:.2f} ms of CPU, tally {tally:.2f} ms: "
              f"1/{perf / tally:.1f} (1/5 is wanted)")
        log.write(json.dumps({"row": name, "perf_ms": perf, "tally_ms": tally}) + "\n")


def bench_regions(args, _folder, log):
    """Regions of a program that counts itself: what they cost beyond the kernel's two reads."""
    for name, events in REGIONS:
        if args.rows and args.rows not in f"regions {name}":
            continue
        program = os.path.join(os.path.dirname(args.tally), "bench-region-cost")
        done = subprocess.run([program, events], capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{'regions':26} {name:18} skipped: {done.stderr.strip()}")
            continue
        cost = json.loads(done.stdout)
        direct = f", {cost['direct_ns']:.0f} ns without system calls" if "direct_ns" in cost else ""
        print(f"{'regions':26} {name:18} {cost['region_ns']:.0f} ns a begin and end, {cost['beyond_ns']:.0f} ns beyond "
              f"the kernel's two reads (under 100 are wanted){direct}")
        log.write(json.dumps({"row": "regions", "events": events, **cost}) + "\n")


# Binaries with much call frame information; those that are missing are left out.
UNWOUND = ["/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1", "/usr/bin/node", "/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus"]


def bench_unwinding(args, _folder, log):
    """Tables of call frame information, and a frame of a stack."""
    if args.rows and args.rows not in "unwinding":
        return
    program = os.path.join(os.path.dirname(args.tally), "bench-unwind-cost")
    done = subprocess.run([program, *filter(os.path.exists, UNWOUND)], capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{'unwinding':26} skipped: {done.stderr.strip()}")
        return
    cost = json.loads(done.stdout)
    for table in cost["tables"]:
        print(f"{'unwinding':26} {os.path.basename(table['path']):18} {table['functions']} functions listed in "
              f"{table['read_ms']:.1f} ms, the first rules in {table['first_us']:.0f} us, all in {table['all_ms']:.0f} ms; "
              f"{table['lazy_bytes'] / 1e6:.1f} to {table['all_bytes'] / 1e6:.1f} MB beside {table['section_bytes'] / 1e6:.1f} MB")
    if "frame_ns" in cost:
        print(f"{'unwinding':26} {'own stack':18} {cost['frame_ns']:.0f} ns a frame (under 100 are wanted), "
              f"{cost['sample_ns'] / 1e3:.2f} us for {cost['frames']} frames (under 5 are wanted)")
    log.write(json.dumps({"row": "unwinding", **cost}) + "\n")


# Large and small call chains, and a page of the whole system.
PAGES = ["cxx_fp", "node_deep", "make_all"]


def bench_pages(args, folder, log):
    """The page of a recording in a browser, beside speedscope and the Firefox Profiler."""
    chosen = [name for name in PAGES if args.rows in f"page {name}"]
    paths = [path for path in (make_recording(name, folder) for name in chosen) if path]
    made = args.rows in "page made"
    for name, subject, figures in page.rows(args.tally, paths, os.path.join(folder, "npm"), made=made) if paths or made else ():
        print(f"{name:26} {subject:18} {figures}", flush=True)
        log.write(json.dumps({"row": name, "subject": subject, "figures": figures}) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    # Commands run in the folder.
    parser.add_argument("--tally", type=os.path.abspath, default=os.path.join(TOP, "build", "tally"))
    parser.add_argument("--folder", type=os.path.abspath, default=os.path.join(TOP, "build", "bench"))
    parser.add_argument("--rows", default="", help="only rows whose name contains this")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--timeout", type=float, default=600)
    args = parser.parse_args()
    os.makedirs(args.folder, exist_ok=True)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    heading()
    with open(os.path.join(args.folder, "results.jsonl"), "w") as log:
        bench_reports(args, args.folder, log)
        bench_scripts(args, args.folder, log)
        bench_lines(args, args.folder, log)
        bench_annotate(args, args.folder, log)
        bench_top(args, args.folder, log)
        bench_exports(args, args.folder, log)
        bench_records(args, args.folder, log)
        bench_names(args, args.folder, log)
        bench_regions(args, args.folder, log)
        bench_unwinding(args, args.folder, log)
        bench_pages(args, args.folder, log)
        bench_starts(args, args.folder, log)
    return 0


if __name__ == "__main__":
    sys.exit(main())
