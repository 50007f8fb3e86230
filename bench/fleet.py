#!/usr/bin/env python3
"""A made fleet, as doc/FLEETS.md has it: 200 hosts with 24 recordings each, exported, put together, and asked in two engines.

    fleet.py [FOLDER]                    makes what is missing, and prints the page's figures; FOLDER: build/bench/fleet
    fleet.py --seconds N [FOLDER]        the same, but ends after N seconds; the next run goes on
    fleet.py --hosts N --recordings N    another size

Three programs are recorded once: Python, xz, and the C++ compiler, 6 seconds of CPU each.  tests/cli/fleet.py makes each recording
of a host out of its program's: some of the samples, at other times.  Half of a host's recordings are of version 1, the others, a
day later, of version 2.  Planted are a function of the compiler that takes half as much time again in version 2, and one of
Python that takes two and a half times as much on one host.  The engines are of tools/install-parquet-readers.
"""

import argparse
import collections
import glob
import multiprocessing
import os
import re
import shlex
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(TOP, "tests", "cli"))
import fleet  # noqa: E402

SERVICES = ["python", "xz", "compiler"]
DAY, HOUR = 86400, 3600
KEEP = 0.92
REGRESSED = ("compiler", "ggc_set_mark", 1.5)
ODD = ("python", "_PyObject_Malloc", 2.5)
ODD_HOST = 102  # its service is python

PYTHON = """import json, re
while True:
    [json.loads(json.dumps([i, i * i, str(i) * 3])) for i in range(2000)]
    re.sub("a+b", "x", "aaab" * 1000); (3**5000) // (7**900); repr(3.1**50)
"""

LIBRARY = "'%/liblzma.so%'"
QUERIES = {
    "hottest": "SELECT symbol, self_percent, total_percent FROM hottest WHERE service = 'compiler' AND version = '2' ORDER BY self_percent DESC LIMIT 20",
    "flame graph": "SELECT count(*) AS stacks, sum(period) AS period FROM (SELECT folded, sum(period) AS period FROM folded WHERE service = 'compiler' GROUP BY folded) AS f",
    "regressions": "SELECT service, older, version, symbol, older_percent, percent, change, standard_errors FROM regressions WHERE significant ORDER BY change DESC",
    "odd hosts": "SELECT host, service, version, symbol, percent, median_percent, deviations FROM odd_hosts WHERE deviations > 6 ORDER BY deviations DESC",
    "library": f"SELECT service, version, self_percent, total_percent FROM library_shares WHERE image LIKE {LIBRARY} ORDER BY total_percent DESC",
}


def record(given):
    """The recording of each service; none is made twice."""
    compiler = subprocess.run(["g++", "-print-prog-name=cc1plus"], capture_output=True, text=True, check=True).stdout.strip()
    multiarch = subprocess.run(["gcc", "-print-multiarch"], capture_output=True, text=True, check=True).stdout.strip()
    text = os.path.join(given.folder, "work.py")
    with open(text, "w") as file:
        file.write(PYTHON)
    commands = {
        "python": f"python3 {shlex.quote(text)}",
        "xz": f"xz -k -c -6 -T1 {compiler}",
        "compiler": f"{compiler} -quiet -std=c++17 -O2 -D_GNU_SOURCE -imultiarch {multiarch} -o /dev/null {shlex.quote(HERE)}/large.cc",
    }
    for service, command in commands.items():
        path = base(given, service)
        if os.path.exists(path):
            continue
        # It is killed when it has had its time; the recording is whole.
        subprocess.run([given.tally, "record", "-q", "-N", "-e", "cpu-clock", "-F", "1999", "-g", "-o", path + ".part", "--", "sh", "-c",
                        f"ulimit -t 6; exec {command}"], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.rename(path + ".part", path)


def base(given, service):
    return os.path.join(given.folder, service + ".data")


def places(given, service, symbol):
    """Addresses of the samples in a function, and how many samples that are of all."""
    said = subprocess.run([given.tally, "script", "-i", base(given, service), "-G", "-F", "ip,sym"], capture_output=True, text=True, check=True).stdout
    words = [line.split(None, 1) for line in said.splitlines() if line.strip()]
    found = collections.Counter(word[0] for word in words if word[-1].strip() == symbol)
    return {int(address, 16) for address in found}, sum(found.values()) / max(1, len(words))


def make_recording(job):
    """Makes and exports one recording."""
    given, host, number, more = job
    service = SERVICES[host % len(SERVICES)]
    version = 1 + number // ((given.recordings + 1) // 2)
    path = os.path.join(given.folder, f"one-{os.getpid()}.data")
    options = argparse.Namespace(seed=host * given.recordings + number, shift=version * DAY + number % ((given.recordings + 1) // 2) * HOUR,
                                 keep=KEEP, more=[])
    for planted, addresses, where in more:
        if where in ((service, version), (service, host + 1000)):
            options.more = [str(planted), *(f"{address:x}" for address in addresses)]
    source = base(given, service)
    with open(source, "rb") as file:
        fleet.write(file.read(), path, options, os.stat(source).st_mtime)
    subprocess.run([given.tally, "export", "--to", "parquet", "--service", service, "--release", str(version), "--host", f"h{host:03}",
                    os.path.join(given.folder, "exported"), path], check=True)
    os.unlink(path)


def make(given, until):
    """All recordings, host by host; whether all are there."""
    more = []
    for (service, symbol, factor), where in ((REGRESSED, 2), (ODD, ODD_HOST + 1000)):
        addresses, share = places(given, service, symbol)
        if not addresses:
            sys.exit(f"fleet.py: no sample of {service} is in {symbol}: its program needs names (debug symbols), or is another one")
        print(f"{symbol}: {100 * share:.2f} % of {service}'s samples, planted {factor} times", flush=True)
        more.append((factor, addresses, (service, where)))
    with multiprocessing.Pool(given.jobs) as pool:
        for host in range(given.hosts):
            done = os.path.join(given.folder, f"h{host:03}.done")
            if os.path.exists(done):
                continue
            if time.monotonic() > until:
                return False
            pool.map(make_recording, [(given, host, number, more) for number in range(given.recordings)], 1)
            open(done, "w").close()
    return True


def run_sql(given, engine, views, folder, statements):
    """Rows as text, CPU seconds of all threads, and megabytes at most."""
    paths = [os.path.join(given.folder, name) for name in ("views.sql", "query.sql")]
    with open(os.path.join(TOP, "doc", "fleets", views)) as file:
        text = file.read().replace("FLEET_DIR", os.path.join(given.folder, folder))
    for path, content in zip(paths, (text, statements)):
        with open(path, "w") as file:
            file.write(content)
    child = subprocess.Popen(["node", os.path.join(TOP, "tests", "cli", "parquet.mjs"), given.readers, "sql", engine, *paths],
                             stdout=subprocess.PIPE, text=True)
    said = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    if status:
        raise SystemExit(f"{engine} failed")
    return said.splitlines(), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def put_together(given, until):
    """The statements of doc/FLEETS.md, day by day."""
    with open(os.path.join(TOP, "doc", "FLEETS.md")) as file:
        section = file.read().split("## Fewer, larger files", 1)[1]
    statements = re.findall(r"^COPY.*?;$", section, re.M | re.S)
    samples = statements[0].replace("/srv/whole", os.path.join(given.folder, "whole"))
    cpu = most = 0.0
    for day in sorted(os.path.basename(path)[5:] for path in glob.glob(os.path.join(given.folder, "exported", "date=*"))):
        if glob.glob(os.path.join(given.folder, "whole", f"date={day}")):
            continue
        if time.monotonic() > until:
            return False
        _, spent, memory = run_sql(given, "duckdb", "duckdb.sql", "exported", re.sub(r"'\d{4}-\d\d-\d\d'", f"'{day}'", samples))
        print(f"put together: {day}, {spent:.0f} s of CPU, {memory:.0f} MB", flush=True)
        cpu, most = cpu + spent, max(most, memory)
    for statement, name in zip(statements[1:], ("stacks", "recordings")):
        if not os.path.exists(os.path.join(given.folder, "whole", f"{name}.parquet")):
            _, spent, memory = run_sql(given, "duckdb", "duckdb.sql", "exported", statement.replace("/srv/whole", os.path.join(given.folder, "whole")))
            print(f"put together: {name}, {spent:.0f} s of CPU, {memory:.0f} MB", flush=True)
    return True


def sizes(given):
    """Bytes a sample of each table, as exported and put together."""
    count = int(run_sql(given, "duckdb", "duckdb.sql", "whole", "SELECT sum(samples) AS n FROM recordings")[0][0])
    stacks = int(run_sql(given, "duckdb", "duckdb.sql", "whole", "SELECT count(*) AS n FROM stacks")[0][0])
    print(f"{count:,} samples, {stacks:,} stacks")
    for folder in ("exported", "whole"):
        for table in ("samples", "stacks", "recordings"):
            files = glob.glob(os.path.join(given.folder, folder, "**", f"{table}*.parquet"), recursive=True)
            size = sum(map(os.path.getsize, files))
            print(f"{folder} {table}: {len(files)} files, {size / 1e6:.1f} MB, {size / count:.2f} bytes a sample", flush=True)


def ask(given, until):
    """The five queries in both engines: what they cost and found."""
    for name, query in QUERIES.items():
        rows = {}
        for engine, views in (("duckdb", "duckdb.sql"), ("chdb", "clickhouse.sql")):
            done = os.path.join(given.folder, f"{name.replace(' ', '-')}.{engine}.{given.of}")
            if not os.path.exists(done):
                if time.monotonic() > until:
                    return False
                said, cpu, memory = run_sql(given, engine, views, given.of, query)
                with open(done, "w") as file:
                    file.write("\n".join([f"{cpu:.1f} s of CPU, {memory / 1e3:.1f} GB", *said]) + "\n")
            with open(done) as file:
                figures, *rows[engine] = file.read().splitlines()
            print(f"{name}, {engine}: {figures}; {len(rows[engine])} rows", flush=True)
        print("   ", "\n    ".join(rows["duckdb"][:6]))
        if rounded(rows["duckdb"]) != rounded(rows["chdb"]):
            print(f"    other rows by chdb: {rows['chdb'][:6]}")
    return True


def rounded(rows):
    """Rows with numbers of as many digits as both engines have."""
    return sorted(" ".join(f"{float(word):.6g}" if re.fullmatch(r"-?\d+\.?\d*(e-?\d+)?", word) else word for word in row.split(" ")) for row in rows)


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    options.add_argument("folder", nargs="?", type=os.path.abspath, default=os.path.join(TOP, "build", "bench", "fleet"))
    options.add_argument("--tally", type=os.path.abspath, default=os.path.join(TOP, "build", "tally"))
    options.add_argument("--readers", type=os.path.abspath, default=os.path.join(TOP, "build", "npm-parquet"), help="the folder of npm packages")
    options.add_argument("--hosts", type=int, default=200)
    options.add_argument("--recordings", type=int, default=24, help="of a host")
    options.add_argument("--jobs", type=int, default=os.cpu_count())
    options.add_argument("--seconds", type=float, default=float("inf"))
    options.add_argument("--of", choices=("whole", "exported"), default="whole", help="which files queries read: those put together, or as exported")
    given = options.parse_args()
    until = time.monotonic() + given.seconds
    os.makedirs(given.folder, exist_ok=True)
    record(given)
    if not (make(given, until) and put_together(given, until)):
        return 3
    sizes(given)
    return 0 if ask(given, until) else 3


if __name__ == "__main__":
    sys.exit(main())
