#!/usr/bin/env python3
"""What an option of `record` changes in the attrs that reach the kernel: the same in perf and in tally.

Each tool records a short command without the option and with it; a library that is loaded before the others logs each
perf_event_open(2).  Compared is what the option changed: in the sampled event's attr, in the bits of records besides
samples (perf has them in its event or a dummy, tally always in a dummy), and in how it was opened.  Then perf reads
tally's file, without a warning.  Usage: record_attrs.py TALLY LOGGER
"""

import glob
import os
import re
import shutil
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

TALLY, LOGGER = sys.argv[1:3]

FLAGS = """disabled inherit pinned exclusive exclude_user exclude_kernel exclude_hv exclude_idle mmap comm freq inherit_stat
enable_on_exec task watermark precise0 precise1 mmap_data sample_id_all exclude_host exclude_guest exclude_callchain_kernel
exclude_callchain_user mmap2 comm_exec use_clockid context_switch write_backward namespaces ksymbol bpf_event aux_output
cgroup text_poke build_id inherit_thread remove_on_exec sigtrap defer_callchain defer_output""".split()
SIDE = {"mmap", "mmap2", "mmap_data", "comm", "comm_exec", "task", "context_switch", "namespaces", "ksymbol", "bpf_event",
        "cgroup", "text_poke", "build_id", "defer_output"}
# IDENTIFIER, IP, TID, TIME, CPU and PERIOD are in every sample of tally's; perf has ID where events differ.
ALWAYS = 1 << 16 | 1 << 6 | 1 << 0 | 1 << 1 | 1 << 2 | 1 << 7 | 1 << 8
# ID and LOST are in all that it reads.
ALWAYS_READ = 1 << 2 | 1 << 4

# Options, and fields in which tally differs on purpose, each with the reason (doc/COMPATIBILITY.md, record).
CASES = [
    ("-d", {}),
    ("--phys-data", {}),
    ("--data-page-size", {}),
    ("--code-page-size", {}),
    ("-W", {}),
    ("-R", {}),
    ("-T", {}),
    ("-P", {}),
    ("--sample-cpu", {}),
    ("--sample-identifier", {}),
    ("-s", {}),
    ("-n", {}),
    ("-I", {}),
    ("-Iax,ip", {}),
    ("--user-regs", {}),
    ("--user-regs=ip,sp", {}),
    ("--transaction", {}),
    ("-b", {}),
    ("-j any_call,u", {}),
    ("-j any_ret,k,save_type", {}),
    ("-j u", {"branches": "perf 6.1 forgets the level when it is alone"}),
    ("--switch-events", {}),
    ("--namespaces", {}),
    ("--all-cgroups", {}),
    ("--no-bpf-event", {}),
    ("--all-user", {}),
    ("--all-kernel", {}),
    ("--call-graph fp", {"defer": "chains of user space may come later, where the kernel can"}),
    ("--call-graph fp --kernel-callchains", {"defer": "the same"}),
    ("--call-graph fp --user-callchains", {"defer": "the same"}),
    ("--call-graph dwarf --keep-stacks", {}),
    ("--call-graph dwarf,4096 --keep-stacks", {}),
    ("--call-graph lbr", {}),
    ("-k monotonic", {}),
    ("-k CLOCK_MONOTONIC_RAW", {}),
    ("-k realtime", {}),
    ("-k boot", {}),
    ("-k tai", {}),
    ("-k 1", {}),
    ("-F 100", {}),
    ("-c 100000", {}),
    ("-c 100000 -P", {}),
    ("-c 100000 -e page-faults/period=5/", {}),
    ("-F 99 -e page-faults/freq=77/", {}),
    ("-i", {}),
    ("--per-thread", {}),
    ("--running-time", {}),
    ("--no-buffering", {}),
    ("--strict-freq -F 100", {}),
    ("-D 10", {}),
    ("-a", {"build_id": "with CPUs, the kernel would mark the records of other recorders"}),
    ("-C 0", {"build_id": "the same"}),
    ("-a --namespaces --all-cgroups", {"build_id": "the same"}),
    ("--buildid-mmap", {"build_id": "on without the option, too"}),
    ("--synth=no", {}),
    ("--tail-synthesize", {}),
    ("--buildid-all", {}),
    ("-N", {}),
    ("-B", {}),
    ("--timestamp-boundary", {}),
    ("--num-thread-synthesize 2", {}),
    ("--proc-map-timeout 100", {}),
    ("-r 1", {}),
    ("-p {pid}", {}),
    ("-t {pid}", {}),
    ("-u nobody", {}),
    ("-a -G /", {"build_id": "with CPUs, as above"}),
    ("-e task-clock --group", {}),
    ("-e task-clock", {}),
    ("-F max", {}),
    ("-D -1", {}),
    ("-D 10-20,30-40", {}),
    ("-m 16", {}),
    ("-m 64K", {}),
    ("--mmap-flush 1K", {}),
    ("--affinity cpu", {}),
    ("--aio", {}),
    ("--threads", {}),
    ("-z", {}),
    ("--overwrite", {}),
    ("--switch-output=100M", {}),
    ("--switch-output=100M --switch-max-files 2", {}),
    ("--timestamp-filename", {}),
    ("--max-size 100M", {}),
    ("--control fd:0", {}),
    ("-v", {}),
]

# Options of `tally record -h` that are not above, each with the reason.
NOT_ABOVE = {
    "children-of": "perf has none", "for-each-cgroup": "perf record has none", "pfm-events": "perf 6.1 is built without",
    "filter": "no attr has it: record_options.bats and cli/record_filters.bats", "exclude-perf": "the same",
    "sample-mem-info": "perf 6.1 has none", "latency": "the same: as --switch-events", "off-cpu": "perf is built without",
    "off-cpu-thresh": "the same", "g": "as --call-graph auto, which perf does not have", "stacks-output": "perf has none",
    "output": "of the file: with each above", "quiet": "with each above", "dry-run": "opens nothing",
    "buildid-dir": "of the cache", "debuginfod": "after the recording: cli/debuginfod.bats",
    "snapshot": "of AUX areas, which need hardware: unit/collect", "aux-sample": "the same",
    "kcore": "of the file, and perf needs /proc/kcore: cli/record_files.bats",
    "switch-output-event": "opens a trigger besides: cli/record_files.bats", "no-pager": "of the text", "help": "the same",
}
SHORT = {"b": "branch-any", "j": "branch-filter", "d": "data", "W": "weight", "R": "raw-samples", "T": "timestamp", "P": "period",
         "s": "stat", "n": "no-samples", "I": "intr-regs", "k": "clockid", "F": "freq", "c": "count", "i": "no-inherit",
         "D": "delay", "a": "all-cpus", "C": "cpu", "N": "no-buildid-cache", "B": "no-buildid", "r": "realtime", "p": "pid",
         "t": "tid", "u": "uid", "G": "cgroup", "e": "event", "m": "mmap-pages", "z": "compression-level", "v": "verbose"}


# What perf shows of an option's field or record.
SHOWN = {
    "-d": "data_src:",
    "--phys-data": "phys_addr:",
    "--data-page-size": "data page size:",
    "--code-page-size": "code page size:",
    "-W": "weight:",
    "-I": "intr regs:",
    "--user-regs": "user regs:",
    "--transaction": "transaction:",
    "--switch-events": "PERF_RECORD_SWITCH",
    "-a --namespaces --all-cgroups": "PERF_RECORD_NAMESPACES",
    "--all-cgroups": "PERF_RECORD_CGROUP",
    "-s": "PERF_RECORD_READ",
    "--call-graph dwarf --keep-stacks": "ustack: size",
}


def decode(line):
    text, pid, cpu, group, flags, error = line.split()
    raw = bytes.fromhex(text)
    word = struct.Struct("<IIQQQQQIIQQQQIiQIHHI").unpack_from(raw)
    names = ("type", "size", "config", "period", "sample_type", "read_format", "flags", "wakeup", "bp_type", "config1",
             "config2", "branches", "regs_user", "stack_user", "clockid", "regs_intr", "aux_watermark", "max_stack",
             "reserved", "aux_sample")
    attr = dict(zip(names, word))
    for bit, name in enumerate(FLAGS):
        attr[name] = attr["flags"] >> bit & 1
    attr.update(any_cpu=int(cpu) < 0, any_pid=int(pid) == -1, in_group=int(group) >= 0, error=int(error))
    return attr


def opens(tool, options, event="cpu-clock"):
    """The sampled event's attr as a dict, with the side-band bits of all events."""
    log = f"{os.path.basename(tool)}.log"
    if os.path.exists(log):
        os.unlink(log)
    words = options.format(pid=SLEEPER.pid).split()
    if tool == "perf":
        words = [word for word in words if word != "--keep-stacks"]
    command = [tool, "record", "-q", "-e", event, "-B", "-N", *words, "-o", f"{os.path.basename(tool)}.data", "--", "sh", "-c", "sleep 0.01 | true"]
    done = subprocess.run(command, env=dict(os.environ, LD_PRELOAD=LOGGER, OPENS_LOG=os.path.abspath(log)),
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    attrs = []
    if os.path.exists(log):
        with open(log) as file:
            attrs = [decode(line) for line in file]
    # perf tries what the kernel can by events without trailers
    attrs = [attr for attr in attrs if attr["sample_id_all"]]
    if not attrs:
        return None, done
    # what the kernel refused counts when it is all that there is: branches need a PMU
    sampled = [attr for attr in attrs if attr["type"] != 1 or attr["config"] != 9]
    accepted = [attr for attr in sampled if not attr["error"]] or sampled[:1]
    attr = dict(accepted[-1])
    for name in SIDE:
        attr[name] = max(one[name] for one in attrs)
    return attr, done


def clocks(log):
    """The clocks of a recording's events: one."""
    with open(log) as file:
        attrs = [decode(line) for line in file]
    return {(attr["use_clockid"], attr["clockid"]) for attr in attrs if attr["sample_id_all"] and not attr["error"]}


def shape(attr):
    """Comparable values of what an attr asks for."""
    values = {name: attr[name] for name in FLAGS + ["config", "wakeup", "branches", "regs_user", "stack_user", "clockid",
                                                    "regs_intr", "max_stack", "any_cpu", "any_pid", "in_group"]}
    values["period"] = attr["period"]
    for bit in range(25):
        if not ALWAYS >> bit & 1:
            values[f"sample_type.{bit}"] = attr["sample_type"] >> bit & 1
    for bit in range(5):
        if not ALWAYS_READ >> bit & 1:
            values[f"read_format.{bit}"] = attr["read_format"] >> bit & 1
    return values


def change(base, now):
    before, after = shape(base), shape(now)
    return {name: after[name] for name in after if after[name] != before[name]}


def perf_reads(options):
    """Why perf does not read tally's file as it is; None: it does."""
    found = sorted(glob.glob("tally.data*"))
    if not found:
        return None
    path = found[0]
    fields = ["-F", "comm,tid,time,event,period"] # without symbols, which take long
    done = subprocess.run(["perf", "script", *fields, "-i", path], capture_output=True, text=True)
    if done.returncode or done.stderr.strip():
        return f"perf script: {done.returncode} {done.stderr.strip()[:200]}"
    wanted = SHOWN.get(options)
    if not wanted:
        return None
    done = subprocess.run(["perf", "report", "-D", "-i", path], capture_output=True, text=True)
    if done.returncode or re.search(r"^(?:Warning|Error)|corrupt|invalid", done.stderr, re.M | re.I):
        return f"perf report -D: {done.returncode} {done.stderr.strip()[:200]}"
    return None if wanted in done.stdout else f"perf report -D does not show '{wanted}'"


def remove_recordings():
    for path in glob.glob("*.data*"):
        if os.path.isdir(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)


def left_out():
    """Options that `record -h` shows and nothing here compares."""
    text = subprocess.run([TALLY, "record", "-h"], capture_output=True, text=True).stdout
    shown = set(re.findall(r"^ +(?:-\w, )?--([\w-]+)", text, re.M)) | set(re.findall(r"^  -(\w) ", text, re.M))
    words = [word for options, _ in CASES for word in options.split() if word.startswith("-")]
    compared = {re.match(r"--([\w-]+)|-(\w)", word) for word in words} - {None}
    names = {match[1] or SHORT.get(match[2], match[2]) for match in compared}
    return sorted(shown - names - NOT_ABOVE.keys())


def main():
    bases, failures, compared = {}, 0, 0
    for tool in ("perf", TALLY):
        bases[tool] = opens(tool, "")[0]
        if not bases[tool]:
            print(f"skip: {tool} opens no event here")
            return 0
    for name in left_out():
        print(f"{name}: not compared")
        failures += 1
    for options, reasons in CASES:
        remove_recordings()
        with ThreadPoolExecutor(2) as both: # which wait for the kernel most of the time
            answers = dict(zip(bases, both.map(lambda tool: opens(tool, options), bases)))
        silent = [(tool, done) for tool, (now, done) in answers.items() if not now]
        if silent:
            tool, done = silent[0]
            print(f"{options}: {tool} opened nothing: {done.stderr.strip()[:200]}")
            failures += 1
            continue
        changes = {tool: change(bases[tool], now) for tool, (now, _) in answers.items()}
        theirs, mine = changes["perf"], changes[TALLY]
        differs = {name for name in theirs.keys() | mine.keys() if theirs.get(name) != mine.get(name)}
        differs = {name for name in differs if not any(name.startswith(reason) for reason in reasons)}
        wrong = [f"{name}: perf {theirs.get(name, 'as before')}, tally {mine.get(name, 'as before')}"
                 for name in sorted(differs)]
        why = perf_reads(options)
        wrong += [why] if why else []
        wrong += ["not all events of tally have one clock"] if len(clocks("tally.log")) > 1 else []
        compared += 1
        if wrong:
            failures += 1
            print(f"{options}: " + "; ".join(wrong))
    print(f"{compared} options compared, {failures} differ")
    return 1 if failures else 0


# A process of a user who has no others.
SLEEPER = subprocess.Popen(["setpriv", "--reuid", "nobody", "--clear-groups", "sleep", "600"])
try:
    status = main()
finally:
    SLEEPER.kill()
sys.exit(status)
