#!/usr/bin/env python3
"""The share of call chains that reach the start of their thread, of real programs: perf and Tally.

Each program is run once for each way to record it. The run that Tally records also gives the same samples with copies
of the stack (--stacks-output), of which perf makes its own chains: the way "same". A chain counts as whole when its
outermost frame is where the kernel, or the program's own scheduler, starts a thread: the rule reads the names that
`script` prints, and is the same for all ways. Chains without a frame of user space are left out and counted
("kernel"): kernel threads, exec, exit.

The programs are Debian's: python3, g++, node, postgresql, nginx and wrk, redis, bash, golang-go, git. One that is
missing is skipped. Run it as root (PostgreSQL then runs as the user postgres).
"""
import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Where threads start, by the names of glibc, its loader, and Go's runtime. Frame pointers pass over the caller of
# a function without one, so what calls main() and a thread's function counts, too.
ENTRIES = {"_start", "__libc_start_call_main", "start_thread", "_dl_start_user", "_dl_start", "clone", "__clone", "clone3", "__clone3", "__GI___clone", "__GI___clone3",
           "__clone_internal", "__libc_start_main", "__libc_start_main_impl", "__vfork", "__libc_vfork",
           "runtime.goexit", "runtime.goexit.abi0", "runtime.mstart", "runtime.mstart.abi0", "runtime.rt0_go",
           "runtime.rt0_go.abi0", "_rt0_amd64_linux", "_rt0_amd64", "runtime.mcall", "runtime.clone",
           "runtime.clone.abi0"}
# A binary without symbols has no name for _start; what it calls has one.
CALLED_BY_ENTRY = {"__libc_start_main", "__libc_start_main_impl"}
# In the midst of this call the old program's stack is gone and the new one's is not there yet.
EXEC = {"execve", "__execve", "__GI___execve"}
KERNEL = 0x8000000000000000

PYTHON = """
import json, re, sys
class Shape:
    def area(self, n): return sum(fib(n) for _ in range(3))
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
for i in range(80):
    Shape().area(17)
    text = json.dumps([{"key": str(k), "value": [k, k * 2]} for k in range(4000)])
    sorted(json.loads(text), key=lambda row: row["key"])
    re.sub(r"(\\d+)", lambda m: m.group(1)[::-1], text)
"""
NODE = """
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
class Row { constructor(k) { this.key = String(k * 7919 % 10007); this.all = [k, k + 1]; } }
for (let i = 0; i < 30; i++) {
  fib(24);
  const rows = Array.from({length: 8000}, (_, k) => new Row(k));
  rows.sort((a, b) => a.key < b.key ? -1 : 1);
  JSON.parse(JSON.stringify(rows)).map(row => row.key.replace(/(\\d)(\\d)/g, (_, a, b) => b + a));
}
"""
GO = """
package main
import ("encoding/json"; "fmt"; "sort"; "strings"; "sync")
type row struct { Key string; All []int }
func fib(n int) int { if n < 2 { return n }; return fib(n-1) + fib(n-2) }
func work(seed int) int {
	rows := make([]row, 3000)
	for i := range rows { rows[i] = row{strings.Repeat(fmt.Sprint((i*7919+seed)%1000), 2), []int{i, seed}} }
	sort.Slice(rows, func(a, b int) bool { return rows[a].Key < rows[b].Key })
	text, _ := json.Marshal(rows)
	var back []row
	json.Unmarshal(text, &back)
	return len(back) + fib(20)
}
func main() {
	var all sync.WaitGroup
	for i := 0; i < 8; i++ { all.Add(1); go func(i int) { defer all.Done(); for k := 0; k < 30; k++ { work(i + k) } }(i) }
	all.Wait()
}
"""
BASH = """
f() { local i x=0; for ((i = 0; i < 4000; i++)); do x=$((x + i)); done; [ "$1" = 0 ] || f $(($1 - 1)); }
for k in 1 2 3; do f 5; y=$(f 2); case $y in *a*) ;; *) z=${y//1/2};; esac; (f 1; f 1); done
"""


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, 0o755)
    return path


def find(*names):
    for name in names:
        path = shutil.which(name) or (name if os.path.isfile(name) else None)
        if path:
            return path
    return None


def postgres(folder):
    home = "/usr/lib/postgresql/15/bin"
    if not os.path.exists(f"{home}/postgres") or os.geteuid():
        return None
    data = os.path.join(folder, "pg")
    os.makedirs(data)
    shutil.chown(data, "postgres", "postgres")
    os.chmod(folder, 0o755)
    user = "setpriv --reuid postgres --regid postgres --clear-groups"
    write(folder, "pg-init", f"#!/bin/sh\ncd {data} && {user} {home}/initdb -D {data}/db -A trust >/dev/null\n")
    if subprocess.run([os.path.join(folder, "pg-init")], check=False).returncode:
        return None
    port = "-h " + data + " -U postgres"
    return [write(folder, "pg-run", f"""#!/bin/sh
cd {data}
{user} {home}/pg_ctl -w -D db -l log -o "-k {data} -h ''" start >/dev/null || exit 1
{user} {home}/pgbench -q -i -s 2 {port} postgres >/dev/null 2>&1
{user} {home}/pgbench -c 2 -T 4 {port} postgres >/dev/null 2>&1
{user} {home}/pgbench -S -c 2 -T 2 {port} postgres >/dev/null 2>&1
{user} {home}/pg_ctl -w -D db -m fast stop >/dev/null
""")]


def nginx(folder):
    server, load = find("nginx", "/usr/sbin/nginx"), find("wrk")
    if not server or not load:
        return None
    site = os.path.join(folder, "site")
    os.makedirs(site)
    with open(os.path.join(site, "index.html"), "w") as page:
        page.write("<html>" + "text " * 2000 + "</html>")
    os.chmod(folder, 0o755)
    write(folder, "nginx.conf", f"""daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx.log; worker_processes 1;
user nobody nogroup;
events {{}}
http {{ access_log {folder}/access.log; gzip on; gzip_min_length 10;
server {{ listen 127.0.0.1:47181; root {site}; }} }}
""")
    return [write(folder, "nginx-run", f"""#!/bin/sh
{server} -c {folder}/nginx.conf 2>/dev/null & server=$!
sleep 1
{load} -t 1 -c 8 -d 4 -H 'Accept-Encoding: gzip' http://127.0.0.1:47181/ >/dev/null
kill $server; wait $server
""")]


def redis(folder):
    server, load = find("redis-server"), find("redis-benchmark")
    if not server or not load:
        return None
    return [write(folder, "redis-run", f"""#!/bin/sh
cd {folder}
{server} --port 0 --unixsocket {folder}/redis.sock --save '' --daemonize no >/dev/null & server=$!
sleep 1
{load} -s {folder}/redis.sock -q -n 60000 -t set,get,lpush,lrange_100,zadd >/dev/null
kill $server; wait $server
""")]


def go_program(folder):
    compiler = find("go")
    if not compiler:
        return None
    write(folder, "main.go", GO)
    env = dict(os.environ, GOCACHE=os.path.join(folder, "gocache"), HOME=folder, GO111MODULE="off")
    done = subprocess.run([compiler, "build", "-o", "gosort", "main.go"], cwd=folder, env=env, check=False)
    return None if done.returncode else [os.path.join(folder, "gosort")]


def compiled(source):
    """What g++ makes of a source of this tree."""
    def command(folder):
        compiler = find("g++")
        return compiler and [compiler, "-std=c++20", "-O2", "-c", os.path.join(TOP, source), "-o", os.path.join(folder, "o")]
    return command


def git(_folder):
    return find("git") and ["git", "-C", TOP, "log", "--stat", "-M", "-n", "400"]


def simple(program, name, text):
    return lambda folder: find(*program) and [find(*program), write(folder, name, text)]


# Name, what to run, and the names of the processes that count (all when there is none).
PROGRAMS = [
    ("python3", simple(["/usr/bin/python3"], "work.py", PYTHON), None),
    ("cc1plus", compiled("tests/truth/scenes.cc"), {"cc1plus"}),
    # Its garbage collector recurses deeper than the 65,528 bytes that the kernel copies of a stack.
    ("cc1plus, large", compiled("bench/large.cc"), {"cc1plus"}),
    ("node", simple(["node"], "work.js", NODE), None),
    ("postgres", postgres, {"postgres"}),
    ("nginx", nginx, {"nginx"}),
    ("redis", redis, {"redis-server", "io_thd_1", "bio_close_file", "bio_aof", "bio_lazy_free"}),
    ("bash", simple(["bash"], "work.sh", BASH), None),
    ("go", go_program, None),
    ("git", git, None),
]


def chains(command, names):
    """The frames of user space of each sample, outermost last: (address, symbol, binary)."""
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace")
    frames, wanted = None, False
    for line in run.stdout:
        if line.startswith(("\t", "    ")) and frames is not None:
            found = re.match(r"\s+([0-9a-f]+) (.*) \((.*)\)$", line.rstrip("\n"))
            # The kernel's part comes first; behind frames of user space, such an address is where perf lost its way.
            if found and (int(found[1], 16) < KERNEL or frames) and not line.rstrip().endswith("(inlined)"):
                frames.append((int(found[1], 16), found[2], found[3]))
        elif not line.strip():
            if wanted and frames is not None:
                yield frames
            frames = None
        else:
            frames, wanted = [], names is None or line.strip() in names
    run.wait()


def plain(symbol):
    return re.sub(r"(\+0x[0-9a-f]+)?(@.*)?$", "", symbol)


def is_whole(frames):
    if plain(frames[-1][1]) in ENTRIES:
        return True
    return len(frames) > 1 and plain(frames[-2][1]) in CALLED_BY_ENTRY


def measure(command, names, ends):
    whole = total = kernel = 0
    for frames in chains(command, names):
        if not frames or (len(frames) == 1 and plain(frames[0][1]) in EXEC):
            kernel += 1
            continue
        total += 1
        if is_whole(frames):
            whole += 1
        else:
            key = f"{plain(frames[-1][1])} ({os.path.basename(frames[-1][2])})"
            ends[key] = ends.get(key, 0) + 1
    return whole, total, kernel


def ways_of(args):
    tally, perf = args.tally, args.perf
    most = ["--max-stack", "20000"] # joined chains are deeper than a copy of the stack
    fields = ["-F", "comm,ip,sym,dso"]
    read_tally = [tally, "script", "--no-inline", *most, *fields, "-i"]
    read_perf = [perf, "script", "--no-inline", *most, *fields, "-i"]
    event = ["-e", "cpu-clock", "-F", str(args.frequency)]
    return {
        "tally": ([tally, "record", "-q", *event, "--call-graph", args.mode, "-o"], read_tally),
        "same": (None, read_perf), # what the run before it wrote beside its recording
        "dwarf": ([perf, "record", "-q", *event, "--call-graph", "dwarf,65528", "-o"], read_perf),
        "fp": ([perf, "record", "-q", *event, "--call-graph", "fp", "-o"], read_perf),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tally", default=os.path.join(TOP, "build", "tally"))
    parser.add_argument("--perf", default="perf")
    parser.add_argument("--mode", default="auto", help="Tally's --call-graph")
    parser.add_argument("--frequency", type=int, default=997)
    parser.add_argument("--programs", default="", help="only these, separated by semicolons")
    parser.add_argument("--ways", default="tally,dwarf,fp", help="of tally, same, dwarf, fp; default: %(default)s")
    parser.add_argument("--ends", action="store_true", help="print where chains end that are not whole")
    parser.add_argument("--keep", help="a folder for the recordings; default: a temporary one")
    args = parser.parse_args()
    args.tally = os.path.abspath(args.tally)
    ways = {name: way for name, way in ways_of(args).items() if name in args.ways.split(",")}
    titles = {"tally": "tally " + args.mode, "same": "perf, the same samples", "dwarf": "perf dwarf,65528", "fp": "perf fp"}
    print("| program | " + " | ".join(titles[way] for way in ways) + " |")
    print("| --- |" + " --- |" * len(ways))
    for name, prepare, names in PROGRAMS:
        if args.programs and name not in args.programs.split(";"):
            continue
        with tempfile.TemporaryDirectory(prefix="chains-") as folder:
            command = prepare(folder)
            if not command:
                print(f"| {name} | not here |")
                continue
            cells, notes = [], []
            for way, (record, read) in ways.items():
                data = os.path.join(args.keep or folder, f"{name.replace(', ', '-')}.{way}.data")
                more = ["--stacks-output", data.replace(".tally.", ".same.")] if way == "tally" and "same" in ways else []
                if record:
                    subprocess.run([*record, data, *more, "--", *command], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, check=False)
                ends = {}
                whole, total, kernel = measure([*read, data], names, ends)
                cells.append(f"{100 * whole / total:.2f} % of {total}" if total else "no samples")
                rows = sorted(ends.items(), key=lambda row: -row[1])[:12]
                notes += [f"  {way}: {count} end in {end}" for end, count in rows]
                if kernel:
                    notes.append(f"  {way}: {kernel} of the kernel alone")
                if not args.keep:
                    os.unlink(data)
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
            if args.ends:
                print("\n".join(notes), flush=True)
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main())
