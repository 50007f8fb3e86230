#!/usr/bin/env python3
"""Made recordings for the page: known sums, and cases that are hard to show.  Usage: made.py CASE FILE"""

import random
import sys

from page_file import NONE, Recording, page

HOSTILE = ["</script><script>document.title='broken'</script>", "<img src=x onerror=\"document.title='broken'\">", "javascript:alert(1)",
           "a\"b'c`d&amp;&lt;", "\u202eesrever\u202c", "tab\there\nline", "=HYPERLINK(\"http://x\")", "${1+1}{{7*7}}", "@SCRIPT@ <!-- data -->", "constructor", "__proto__"]
WORLD = ["函数_计算(数据&)", "דוגמה::פונקציה", "مثال::دالة(int)", "関数テンプレート<整数>", "함수", "naïve_größe", "🙂_emoji", "Ελληνικά"]


def summary(title, duration, **more):
    return {"version": 1, "title": title, "tally": "0.2.0", "start": 1795363900.25, "duration": duration, "time_unit": 1000, "time_step": 1,
            "recordings": [{"name": "perf.data", "command": title.partition(": ")[2] or title, "host": "build-7", "kernel": "6.1.0-30-amd64",
                            "cpu": "AMD EPYC 7763 64-Core Processor", "cpus": 4}],
            "mode": "report", "events": [], "notes": [], "sentence": "", "totals": {"nodes": 1, "samples": 0}, **more}


class Made(Recording):
    """With the usual images, and a tree that is made of paths."""

    def __init__(self, head, events=(("cpu-clock", "ns", 0),)):
        super().__init__(head)
        self.children, self.functions, self.images = {}, {}, {}
        for name, unit, kind in events:
            self.add("event", name=name, unit=unit, kind=kind)
            head["events"].append({"samples": 0, "weight": 0, "unknown": 0, "lost": 0, "throttled": 0})
        self.add("node", parent=NONE, function=NONE, inlined=0, hidden=0)

    def image(self, name, kind=0):
        if name not in self.images:
            self.images[name] = self.add("image", name=name, path=f"/usr/lib/x86_64-linux-gnu/{name}" if kind == 0 else name, build_id="4f2a" * 10, kind=kind)
        return self.images[name]

    def function(self, name, image="app", kind=0, file="", line=0):
        if (name, image) not in self.functions:
            self.functions[name, image] = self.add("function", name=name, image=self.image(image, kind), kind=kind, inlined=0, program=int(image == "app" and name != ""), file=file, line=line)
        return self.functions[name, image]

    def stack(self, functions, inlined=()):
        node = 0
        for function in functions:
            key = node, function
            if key not in self.children:
                self.children[key] = self.add("node", parent=node, function=function, inlined=int(function in inlined), hidden=0)
            node = self.children[key]
        return node

    def hidden(self, node, function):
        """A node that is not drawn: its samples count for this function."""
        return self.add("node", parent=node, function=function, inlined=0, hidden=1)

    def thread(self, pid, tid, comm, recording=0):
        return self.add("thread", pid=pid, tid=tid, comm=comm, recording=recording, first=0, last=int(self.summary["duration"] * 1e6))

    def sample(self, time, thread, node, weight, event=0, cpu=0, count=1):
        self.add("sample", time=time, thread=thread, cpu=cpu, event=event, node=node, weight=weight, count=count)
        row = self.summary["events"][event]
        row["samples"] += count
        row["weight"] += weight


def known():
    """Sums that the tests know: main 100 %, work 60 % in three places, recursion of walk, kernel 10 %."""
    made = Made(summary("perf.data: ./app --threads 2", 10, sentence="Two threads do the work; one of them waits for the other a third of the time.",
                        notes=[{"text": "4.2 % of the time has no function name: libfoo.so has no symbols", "remedy": "apt install libfoo1-dbgsym"}]),
                events=(("cpu-clock", "ns", 0), ("off-cpu", "ns", 1), ("page-faults", "faults", 2)))
    f = made.function
    main, loop, work, walk = f("main", file="app.c", line=10), f("loop", file="app.c", line=40), f("work", file="app.c", line=70), f("walk", file="tree.c", line=5)
    small, write = f("small_inline", file="app.h", line=3), f("write", "libc.so.6")
    kernel, page_ = f("ksys_write", "[kernel.kallsyms]", 1), f("clear_page_erms", "[kernel.kallsyms]", 1)
    jit, unknown, futex = f("JS:render app.js:12", "[jit]", 2), f("", "libfoo.so"), f("futex_wait", "[kernel.kallsyms]", 1)
    one, two = made.thread(100, 100, "app"), made.thread(100, 101, "worker")
    other = made.thread(200, 200, "helper")
    stacks = [([main, loop, work], 30), ([main, work], 20), ([main, loop, walk, walk, walk, work], 10), ([main, walk, walk], 10),
              ([main, loop, small], 8), ([main, write, kernel], 6), ([main, write, kernel, page_], 4), ([main, jit], 7), ([main, unknown], 5)]
    nodes = [(made.stack(path, [small]), share) for path, share in stacks]
    wait = made.stack([main, loop, write, futex])
    random.seed(7)
    deck = [node for node, share in nodes for _ in range(share * 10)]
    random.shuffle(deck)
    rows = []
    for i, node in enumerate(deck):  # 1,000 samples of 10 ms, 3/4 of them in the first thread
        rows.append((10000 * i + 9999, one if i % 4 else two, node, 10_000_000, 0, i % 4, 1))
    for i in range(60):
        rows.append((150000 * i + 120000, two, wait, 60_000_000, 1, 1, 1))
        rows.append((150000 * i + 130000, other, made.stack([main]), 1, 2, 2, 1))
    for row in sorted(rows):
        made.sample(*row)
    for i in range(300):
        made.add("run", thread=one if i % 3 else two, cpu=i % 4, start=33000 * i, end=33000 * i + 20000 + i % 7 * 1000, preempted=i % 2)
    for i, (name, kind, text) in enumerate([("process start", 1, "./app"), ("sched:sched_process_fork", 0, "pid=200"), ("loss", 3, "12 samples"),
                                            ("syscalls:sys_enter_openat", 0, "/etc/ld.so.cache"), ("process end", 2, "status 0")]):
        made.add("marker", time=500000 + i * 2000000, thread=one, name=name, text=text, kind=kind)
    for number, own, total in [(71, 2_000_000_000, 2_000_000_000), (73, 3_500_000_000, 3_500_000_000), (74, 500_000_000, 900_000_000)]:
        made.add("line", recording=0, function=work, file="app.c", number=number, event=0, self=own)
    made.add("line", recording=0, function=walk, file="tree.c", number=9, event=0, self=1_000_000_000)
    for number, text in enumerate(["static int", "work(struct item *item, size_t count)", "{", "\tint sum = 0;", "\tfor (size_t i = 0; i < count; i++)",
                                   "\t\tsum += item[i].value;", "\treturn sum + offset(item, count);", "}"], 67):
        made.add("source", file="app.c", number=number, text=text)
    for offset, text, number, own in [(0, "push   %rbp", 67, 0), (1, "mov    %rsp,%rbp", 67, 0), (4, "xor    %eax,%eax", 70, 500_000_000), (6, "add    (%rdi),%eax", 73, 3_500_000_000),
                                      (8, "add    $0x10,%rdi", 71, 2_000_000_000), (12, "cmp    %rsi,%rdi", 71, 0), (15, "jne    6 <work+0x6>", 71, 0), (17, "ret", 74, 0)]:
        row = made.add("code", recording=0, function=work, offset=offset, text=text, file="app.c", number=number)
        if own:
            made.add("code_sample", code=row, event=0, self=own)
    return made


def one():
    made = Made(summary("perf.data: true", 0.002))
    made.sample(700, made.thread(7, 7, "true"), made.stack([made.function("_start"), made.function("main")]), 1_000_000)
    return made


def none():
    made = Made(summary("perf.data: sleep 1", 1.0, notes=[{"text": "The recording has no samples: the program slept all the time", "remedy": "record with --off-cpu"}]))
    del made.tables["node"]
    return made


def empty():
    made = Recording(summary("perf.data", 0))
    return made


def diff():
    head = summary("before.data, after.data: ./app", 10, mode="diff", noise=3)
    head["recordings"] = [{"name": "before.data", "command": "./app", "host": "a", "kernel": "6.1", "cpu": "x", "cpus": 4},
                          {"name": "after.data", "command": "./app", "host": "a", "kernel": "6.1", "cpu": "x", "cpus": 4}]
    made = Made(head)
    f = made.function
    main, same, more, less, gone, new = f("main"), f("same"), f("grown"), f("shrunk"), f("gone_function"), f("new_function")
    parts = [([main, same], 400, 400), ([main, more], 100, 300), ([main, less], 300, 200), ([main, gone], 200, 0), ([main, new], 0, 100), ([main, same, f("few")], 3, 5)]
    before, after = made.thread(1, 1, "app", 0), made.thread(2, 2, "app", 1)
    rows = []
    for path, a, b in parts:
        node = made.stack(path)
        rows += [(i * 9000 + 17, before, node, 1_000_000) for i in range(a)] + [(i * 9000 + 19, after, node, 1_000_000) for i in range(b)]
    for row in sorted(rows):
        made.sample(*row)
    return made


def merge():
    made = known()
    head = made.summary
    head.update(title="merged: 3 hosts", mode="merge", recordings=[{"name": f"host{i}.data", "command": "./app", "host": f"host{i}", "kernel": "6.1", "cpu": "x", "cpus": 4} for i in range(3)])
    made.tables["thread"]["recording"] = [0, 1, 2]
    return made


def names():
    """Long, right-to-left, CJK and hostile names everywhere."""
    made = Made(summary(f"perf.data: {HOSTILE[0]}", 3, sentence=HOSTILE[1], notes=[{"text": HOSTILE[0], "remedy": HOSTILE[1]}]), events=((HOSTILE[0], "ns", 0),))
    made.summary["recordings"][0].update(command=HOSTILE[0] * 30, host=HOSTILE[1])
    long = "std::__detail::_Map_base<" + ", ".join(f"std::pair<std::string const, Item{i}>" for i in range(60)) + ">::operator[](std::string const&)"
    everything = [("x" * 2000), long, "word " * 400, "ns::" * 500 + "end"] + WORLD + HOSTILE
    threads = [made.thread(i + 1, i + 1 if i else 1000, name[:200]) for i, name in enumerate(everything)]
    time = 0
    for i, name in enumerate(everything):
        function = made.function(name, image=HOSTILE[i % len(HOSTILE)] if i % 2 else "libstdc++.so.6.0.30", file=HOSTILE[0], line=3)
        for depth in range(3):
            for _ in range(6):
                made.sample(time, threads[i], made.stack([made.function("main")] + [function] * (depth + 1)), 3_000_000)
                time += 9001
        made.add("line", recording=0, function=function, file=HOSTILE[i % len(HOSTILE)], number=i + 1, event=0, self=3_000_000)
        made.add("source", file=HOSTILE[i % len(HOSTILE)], number=i + 1, text=name)
        made.add("code", recording=0, function=function, offset=0, text=name, file=HOSTILE[0], number=1)
        made.add("marker", time=i * 100000, thread=threads[i], name=name, text=HOSTILE[i % len(HOSTILE)], kind=i % 5)
    made.summary["duration"] = time / 1e6
    return made


def threads():
    """100 threads of 12 processes."""
    made = Made(summary("perf.data: make -j100", 30))
    random.seed(3)
    functions = [made.function(f"compile_{i}", f"lib{i % 9}.so") for i in range(60)]
    all_ = [made.thread(1000 + i % 12, 2000 + i, f"{['cc1plus', 'ld', 'make', 'as'][i % 4]}") for i in range(100)]
    for i in range(5000):
        path = [functions[0], *(functions[random.randrange(60)] for _ in range(random.randrange(2, 12)))]
        made.sample(i * 5996, all_[min(99, int(random.expovariate(1 / 25)))], made.stack(path), 4_000_000, cpu=i % 16)
    return made


def large(nodes=100_000, samples=1_000_000, hours=0.05):
    """So many stack nodes and samples as the page must answer for within 50 ms."""
    made = Made(summary("perf.data: large", hours * 3600), events=(("cpu-clock", "ns", 0), ("off-cpu", "ns", 1)))
    random.seed(5)
    functions = [made.function(f"{'abcdefgh'[i % 8]}_module::Class{i // 40}<int, {i}>::method_{i}(unsigned long, char const*)", f"lib{i % 37}.so", 1 if i % 37 == 5 else 0) for i in range(12000)]
    parents, of, inlined, deep = [NONE], [NONE], [0], [0]
    seen = set()
    while len(parents) < nodes:
        at = len(parents)
        parent = random.randrange(max(0, at - 400), at) if random.random() < 0.85 else random.randrange(0, min(at, 60))
        function = functions[int(random.triangular(0, len(functions), 100)) % len(functions)]
        if deep[parent] > 90 or (parent, function) in seen:
            continue
        seen.add((parent, function))
        parents.append(parent)
        of.append(function)
        inlined.append(int(random.random() < 0.1))
        deep.append(deep[parent] + 1)
    made.tables["node"] = {"parent": parents, "function": of, "inlined": inlined, "hidden": [0] * nodes}
    all_ = [made.thread(10 + i // 8, 100 + i, f"worker-{i}") for i in range(64)]
    step = int(hours * 3600e6 / samples)
    rows = made.tables["sample"] = {name: [] for name in ("time", "thread", "cpu", "event", "node", "weight", "count")}
    for i in range(samples):
        event = 1 if i % 11 == 0 else 0
        for name, value in (("time", i * step), ("thread", all_[min(63, int(random.expovariate(0.1)))]), ("cpu", i & 15), ("event", event),
                            ("node", min(nodes - 1, 1 + int(random.expovariate(8 / nodes)) if i % 3 else random.randrange(1, nodes))),
                            ("weight", 1_000_000 + (i % 1000) * (40000 if event else 1)), ("count", 1)):
            rows[name].append(value)
    for event in (0, 1):
        chosen = [i for i in range(samples) if (i % 11 == 0) == (event == 1)]
        made.summary["events"][event].update(samples=len(chosen), weight=sum(rows["weight"][i] for i in chosen))
    return made


CASES = {"known": known, "one": one, "none": none, "empty": empty, "diff": diff, "merge": merge, "names": names, "threads": threads, "large": large}

if __name__ == "__main__":
    with open(sys.argv[2], "w", encoding="utf-8", errors="surrogatepass") as file:
        file.write(page(CASES[sys.argv[1]]()))
