#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# Every key of every JSON output is described in tally-json(7).

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export TALLY_SOURCE="${TALLY_SOURCE:-$BATS_TEST_DIRNAME/../..}"
	command -v python3 >/dev/null ||
		skip "python3 is not installed: no key is looked for in the page; tests/unit/info and export have known JSON"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	cat >keys.py <<-'END'
		"""SECTION...: the page's sections that describe the JSON on standard input, an object a line or one value."""
		import json, re, sys

		def walk(value, path, keys):
		    if isinstance(value, dict):
		        for key, inner in value.items():
		            walk(inner, f"{path}.{key}" if path else key, keys)
		        if not value:
		            keys.add(path)
		    elif isinstance(value, list):
		        for inner in value:
		            walk(inner, path + "[]", keys)
		    else:
		        keys.add(path)

		with open(sys.argv[1] + "/man/tally-json.7.scd") as file:
		    page = file.read()
		described = []
		for section in sys.argv[2:]:
		    text = page.split(f"\n# {section}\n")[1].split("\n# ")[0]
		    for line in text.splitlines():
		        if line.startswith("*"):
		            described += re.findall(r"\*([^* ]+)\*", line)
		patterns = [re.compile(re.sub(r"\bNAME\b", ".+", re.escape(name)) + "$") for name in described]
		text = sys.stdin.read()
		try:
		    values = [json.loads(text)]
		except ValueError:
		    values = [json.loads(line) for line in text.splitlines() if line.strip()]
		keys = set()
		for value in values:
		    walk(value, "", keys)
		assert keys, "no JSON"
		missing = [key for key in sorted(keys) if not any(pattern.match(key) for pattern in patterns)
		           and not any(name.startswith((key + ".", key + "[]")) for name in described)]
		assert not missing, f"not in tally-json(7): {missing}"
	END
}

described() { # SECTION...: of the JSON on standard input
	python3 keys.py "$TALLY_SOURCE" "$@"
}

@test "14.6: tally-json(7) has every key of info, evlist and script of a recording with chains and tracepoints" {
	"$TALLY" record -q -g -e cpu-clock -o it.data -- sh -c 'for i in 1 2 3; do ls >/dev/null; done' || skip "events cannot be opened here"
	"$TALLY" info --json it.data | described INFO "EVENTS OF A RECORDING"
	"$TALLY" evlist --json it.data | described EVLIST "EVENTS OF A RECORDING"
	"$TALLY" script --json -i it.data | described SCRIPT
	"$TALLY" record -q -e sched:sched_switch -o trace.data -- sleep 0.01 || skip "tracepoints cannot be opened here"
	"$TALLY" script --json -i trace.data >out
	grep -q '"trace_fields":{"' out
	described SCRIPT <out
}

@test "14.6: tally-json(7) has every key of info and script of recordings of other machines and programs" {
	[ -d "$TALLY_CORPUS/files" ] || skip "there are no recordings (TALLY_CORPUS)"
	count=0
	for file in "$TALLY_CORPUS"/files/*; do
		[ -f "$file" ] && [ "$(stat -c %s "$file")" -lt 400000 ] || continue
		"$TALLY" info --json "$file" >info 2>/dev/null || [ -s info ] || continue
		described INFO "EVENTS OF A RECORDING" <info || { echo "$file"; false; }
		"$TALLY" script --json -i "$file" 2>/dev/null | awk 'NR < 2000' >script || true
		[ ! -s script ] || described SCRIPT <script || { echo "$file"; false; }
		count=$((count + 1))
		[ "$count" -lt 25 ] || break
	done
	[ "$count" -gt 3 ]
}

@test "14.6: tally-json(7) has every key of stat, with runs, intervals, CPUs and --compare" {
	"$TALLY" stat --json -o out -e task-clock,page-faults,cycles -r 2 true || skip "events cannot be opened here"
	described STAT <out
	"$TALLY" stat --json -o out -I 20 -e task-clock sleep 0.05
	described STAT <out
	"$TALLY" stat --json -o out -a -A -e cpu-clock true || true
	[ ! -s out ] || described STAT <out
	"$TALLY" stat --json --compare -r 2 -e task-clock -o out true /bin/true
	described "STAT --COMPARE" <out
}

@test "14.6: tally-json(7) has every key of doctor, list and encode" {
	("$TALLY" doctor --json || true) | described DOCTOR
	"$TALLY" list -j 2>/dev/null | described LIST
	"$TALLY" encode --json cycles:u cpu-clock 'cycles/call-graph=fp,percore/' mem:0x1000:rw | described ENCODE
	"$TALLY" list -j --events "$BATS_TEST_DIRNAME/../unit/vendor/tables/kernel" --cpuid GenuineIntel-6-55-7 | described LIST
}

@test "14.6: tally-json(7) has every key of report --json" {
	printf '%s\n' 'comm 6 even' 'comm 7 odd' 'sample 7 400100' 'sample 6 400100' |
		python3 "$BATS_TEST_DIRNAME/recording.py" two.data
	"$TALLY" report --json -i two.data -s comm,dso,symbol,pid,cpu,time 2>/dev/null >out
	described REPORT <out
	# The keys of rows are those of the page, and those of -s.
	keys=$("$TALLY" report -h | sed -n '/ --sort/,/^  -[A-Z]/p' | tr -s ' ,\n' ' ')
	python3 - "$keys" <<-'END'
		import json, sys
		rows = json.load(open("out"))["events"][0]["rows"]
		assert len(rows) == 2, rows
		sums = {"overhead", "sample", "period"}
		for row in rows:
		    assert sums <= set(row), row
		    assert set(row) - sums == {"comm", "dso", "symbol", "pid", "cpu", "time"}, row
		    assert all(f" {key} " in sys.argv[1] for key in set(row) - sums), sys.argv[1]
	END
}

@test "14.6: tally-json(7) and the sources have the same keys, those of other machines too" {
	cat >compare.py <<-'END'
		import glob, re, sys
		top = sys.argv[1] + "/"
		events = "EVENTS OF A RECORDING"  # part of INFO and EVLIST
		sources = {
		    events: ["src/info/facts.c", "src/info/evlist_json.c"],
		    "INFO": ["src/info/info_json.c", "src/info/info_machine_json.c"], "EVLIST": ["src/info/evlist_json.c"],
		    "REPORT": ["src/report/report_json.c", "src/report/report_field.c"],
		    "STAT": ["src/stat/stat_json.c"], "STAT --COMPARE": ["src/stat/stat_compare.c"],
		    "DOCTOR": ["src/doctor/doctor_json.c"], "LIST": ["src/metric/catalog_json.c"],
		    "ENCODE": ["cli/cmd_encode.c"], "SCRIPT": ["src/export/script_json.c"],
		}
		page = open(top + "man/tally-json.7.scd").read()
		wrong = []

		def described(section):
		    text = page.split(f"\n# {section}\n")[1].split("\n# ")[0]
		    names = [name for line in text.splitlines() if line.startswith("*") for name in re.findall(r"\*([^* ]+)\*", line)]
		    return set(".".join(names).replace("[]", "").split(".")) - {"", "NAME"}

		for section, files in sources.items():
		    code = "".join(open(top + name).read() for name in files)
		    # A key is the first or second argument of a function of JSON.
		    keys = set(re.findall(r'\b(?:json|put|key|add)\w*\((?:&?[\w>.-]+,\s*)?"([A-Za-z0-9_]+)"', code))
		    assert len(keys) > (section == "EVLIST"), section
		    shared = described(events) | described("EVLIST") if section in (events, "INFO", "EVLIST") else set()
		    wrong += [f"{section}: '{key}' of the sources is not in the page"
		              for key in sorted(keys - described(section) - shared)]
		    wrong += [f"{section}: '{key}' of the page is not in the sources"
		              for key in sorted(described(section)) if f'"{key}"' not in code.replace('\\"', '"')]
		print("\n".join(wrong))
		sys.exit(bool(wrong))
	END
	python3 compare.py "$TALLY_SOURCE"
}
