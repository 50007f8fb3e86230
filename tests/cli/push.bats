#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# tally push: profiles to a server of our own on this machine, which is away, slow, refuses, or is killed; nothing within the
# spool's bound is lost, and what was dropped is said.

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export HOME="$BATS_FILE_TMPDIR/home" PERF_CONFIG=/dev/null
	mkdir -p "$HOME"
	cd "$BATS_FILE_TMPDIR" || return 1
	for i in 1 2 3 4; do
		printf 'comm 1 prog%d\nmap 1 400000 1000 0 /none\nsample 1 400%d00\ntimes %d\n' $i $i $i |
			python3 "$BATS_TEST_DIRNAME/recording.py" $i.data
		"$TALLY" export --to pprof $i.data >$i.pb.gz 2>/dev/null
	done
}

setup() {
	"$TALLY" version --build-options | grep -q 'libcurl: \[ on' || skip "built without libcurl: profiles are not sent"
	cd "$BATS_TEST_TMPDIR" || return 1
	DATA="$BATS_FILE_TMPDIR"
	unset http_proxy https_proxy all_proxy HTTPS_PROXY ALL_PROXY
	export SPOOL="$BATS_TEST_TMPDIR/spool" no_proxy='*'
}

teardown() {
	stop
}

# A server on a free port, or on that of the one before; arguments: its certificate and key.
serve() {
	mkdir -p server
	rm -f server/port
	PORT="${port:-0}" python3 "$BATS_TEST_DIRNAME/push_server.py" server "$@" >server.out 2>&1 3>&- &
	server=$!
	for ((i = 0; i < 200; i++)); do
		[ ! -s server/port ] || break
		sleep 0.05
	done
	port=$(<server/port)
	url="http://127.0.0.1:$port"
}

stop() {
	if [ -n "${server:-}" ]; then
		kill -9 "$server" || true
		wait "$server" 2>/dev/null || true
	fi
	server=
}

# A port that nobody listens on.
closed_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# Waits until a file has so many lines with a text.
until_there() { # text, file, lines
	for ((i = 0; i < 400; i++)); do
		if [ "$(grep -c "$1" "$2" 2>/dev/null)" -ge "${3:-1}" ] 2>/dev/null; then
			return 0
		fi
		sleep 0.05
	done
	return 1
}

push() {
	"$TALLY" push --url "$url" --spool "$SPOOL" --service web "$@"
}

profiles() { # in the spool
	find "$SPOOL" -name '*.push' | wc -l
}

@test "what is sent is what export writes, with labels, in one request; then the spool is empty" {
	serve
	run -0 push --release 1.2 --host h1 -l region=eu "$DATA"/{1,2,3}.data
	[[ $output = *"3 profiles sent"*"in 1 request"* ]]
	for i in 1 2 3; do
		cmp "$DATA/$i.pb.gz" server/taken-$i
	done
	label="__name__=process_cpu,host=h1,region=eu,service_name=web,version=1.2"
	[ "$(cat server/log)" = "200 $label $label $label" ]
	[ "$(profiles)" -eq 0 ]
	# Three different IDs, in the form of a UUID.
	[ "$(cut -d '|' -f 4 server/headers | tr ' ' '\n' | grep -cE '^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$')" -eq 3 ]
	[ "$(cut -d '|' -f 4 server/headers | tr ' ' '\n' | sort -u | wc -l)" -eq 3 ]
}

@test "a profile that was exported before is sent unchanged; options of the samples hold" {
	serve
	event=$("$TALLY" evlist -i "$DATA/2.data" | head -1)
	"$TALLY" export --to pprof --no-lines -e "$event" "$DATA/2.data" >made.pb.gz
	run -0 push made.pb.gz
	cmp made.pb.gz server/taken-1
	run -0 push -q --no-lines -e "$event" "$DATA/2.data"
	[ -z "$output" ]
	cmp made.pb.gz server/taken-2
}

@test "batches have as many profiles as asked for" {
	serve
	run -0 push --batch 3 "$DATA"/{1,2,3,4}.data
	[[ $output = *"4 profiles sent"*"in 2 requests"* ]]
	[ "$(awk '{print NF - 1}' server/log | tr '\n' ' ')" = "3 1 " ]
}

@test "while the server is away profiles wait, and the next run sends them, the oldest first" {
	url="http://127.0.0.1:$(closed_port)"
	run -75 push --retry -1 "$DATA/1.data"
	[[ $output = *"1 profile is left in $SPOOL"* ]]
	run -75 push --retry -1 "$DATA/2.data" "$DATA/3.data"
	[ "$(profiles)" -eq 3 ]
	[ "$(stat -c %a "$SPOOL")" = 700 ]
	serve
	run -0 "$TALLY" push --url "$url" --spool "$SPOOL"
	for i in 1 2 3; do
		cmp "$DATA/$i.pb.gz" server/taken-$i
	done
	[ "$(profiles)" -eq 0 ]
}

@test "a server that comes back is reached in the same run" {
	port=$(closed_port)
	url="http://127.0.0.1:$port"
	push --retry 20 "$DATA/1.data" >out 2>&1 3>&- &
	pid=$!
	until_there "trying again" out
	serve
	wait $pid
	grep -q "1 profile sent" out
	cmp "$DATA/1.pb.gz" server/taken-1
}

@test "429 and 5xx are tried again, and Retry-After is followed" {
	serve
	printf '503\n500\n' >server/answers
	run -0 push "$DATA/1.data"
	[[ $output = *"it answers 503"*"trying again for up to 60 s"*"1 profile sent"*"in 3 requests"* ]]
	echo 429:1 >server/answers
	start=$(date +%s%N)
	run -0 push "$DATA/2.data"
	[ $((($(date +%s%N) - start) / 1000000)) -ge 1000 ]
	echo 429:100 >server/answers
	run -75 push --retry 2 "$DATA/3.data"
	[ "$(profiles)" -eq 1 ]
}

@test "a profile that is refused is lost, is said, and does not take others with it" {
	serve
	echo bad:two >server/answers
	url="http://127.0.0.1:$(closed_port)" run -75 push --retry -1 "$DATA/1.data"
	url="http://127.0.0.1:$(closed_port)" run -75 push --retry -1 -l name=two "$DATA/2.data"
	printf 'bad:two\n...\n' >server/answers
	run -1 push "$DATA/3.data" "$DATA/4.data"
	[[ $output = *"the server refuses a profile of "*" bytes, which is lost: it answers 400"* ]]
	[[ $output != *$'\e'* ]]
	[[ $output = *"3 profiles sent"* ]]
	cmp "$DATA/1.pb.gz" server/taken-1
	cmp "$DATA/3.pb.gz" server/taken-2
	cmp "$DATA/4.pb.gz" server/taken-3
	[ "$(profiles)" -eq 0 ]
	[ "$(wc -l <server/log)" -eq 5 ] # all, then one by one
}

@test "a request that is refused whatever it contains is not tried again, and nothing is lost" {
	serve
	for answer in 401 403 404 301; do
		echo $answer >server/answers
		run -1 push "$DATA/1.data"
		[[ $output = *"it answers $answer"* ]]
	done
	[ "$(wc -l <server/log)" -eq 4 ]
	[ "$(profiles)" -eq 4 ]
	run -0 push
	[[ $output = *"4 profiles sent"* ]]
}

@test "a slow server, and one that closes the connection in the middle" {
	serve
	printf 'slow\ncut\n' >server/answers
	run -0 push --timeout 0.5 "$DATA/1.data"
	[[ $output = *"in 3 requests"* ]]
	cmp "$DATA/1.pb.gz" server/taken-1
	[ "$(head -2 server/log | tr '\n' ' ')" = "slow cut " ]
}

@test "a sender or a server that is killed loses nothing" {
	serve
	echo slow >server/answers
	"$TALLY" push --url "$url" --spool "$SPOOL" --service web "$DATA/1.data" >out 2>&1 3>&- &
	pid=$!
	until_there slow server/log
	kill -9 $pid
	wait $pid || true
	[ "$(profiles)" -eq 1 ]
	# The server dies with a request.
	echo slow >server/answers
	push --retry 20 "$DATA/2.data" >out 2>&1 3>&- &
	pid=$!
	until_there slow server/log 2
	stop
	serve
	wait $pid
	cmp "$DATA/1.pb.gz" server/taken-1
	cmp "$DATA/2.pb.gz" server/taken-2
	[ "$(profiles)" -eq 0 ]
}

@test "half a file of a writer that was killed is removed, and a damaged one is dropped" {
	url="http://127.0.0.1:$(closed_port)"
	run -75 push --retry -1 "$DATA/1.data"
	run -75 push --retry -1 "$DATA/2.data"
	sh -c 'echo $$' >pid # of a process that has ended
	echo half >"$SPOOL/part-$(cat pid)-1"
	echo other >"$SPOOL/other"
	first=$(find "$SPOOL" -name '*.push' | sort | head -1)
	truncate -s -10 "$first"
	serve
	run -1 push
	[[ $output = *"$first is damaged: dropped"*"1 profile sent"* ]]
	cmp "$DATA/2.pb.gz" server/taken-1
	[ "$(ls "$SPOOL")" = $'lock\nother' ]
}

@test "a full spool drops the oldest profiles, and says so" {
	url="http://127.0.0.1:$(closed_port)"
	head -c 400000 /dev/urandom >more
	for i in 1 2 3; do
		cat "$DATA/$i.pb.gz" more >large$i
		run -75 push --spool-size 1 --retry -1 large$i || true
	done
	[ "$status" -eq 1 ] || [[ $output = *"dropped"* ]]
	[[ $output = *"the spool $SPOOL is full (1.0 MB): dropped the oldest profile, of 20"*", 400"*" bytes"* ]]
	[ "$(profiles)" -eq 2 ]
	cat more more more | cat "$DATA/1.pb.gz" - >larger
	run -1 push --spool-size 1 --retry -1 larger
	[[ $output = *"larger: a profile of 1.2 MB is larger than the whole spool"* ]]
	[ "$(profiles)" -eq 2 ]
	serve
	run -0 push --spool-size 1
	cmp large2 server/taken-1
	cmp large3 server/taken-2
}

@test "memory does not grow with what is sent" {
	[ -x /usr/bin/time ] || skip "time is not installed: memory is not measured"
	head -c 2000000 /dev/urandom >more
	cat "$DATA/1.pb.gz" more >large
	serve
	/usr/bin/time -f %M -o one "$TALLY" push -q --url "$url" --spool "$SPOOL" --service web "$DATA/1.pb.gz"
	# shellcheck disable=SC2046 # a word each
	/usr/bin/time -f %M -o many "$TALLY" push -q --url "$url" --spool "$SPOOL" --service web $(yes large | head -12)
	[ "$(find server -name 'taken-*' | wc -l)" -eq 13 ]
	echo "$(cat one) kB for one, $(cat many) kB for 24 MB"
	[ "$(cat many)" -lt $(($(cat one) + 4000)) ]
}

@test "--once skips what was pushed before, unless it changed" {
	serve
	cp "$DATA/1.data" perf.data.1
	cp "$DATA/2.data" perf.data.2
	run -0 push --once perf.data.1
	run -0 push --once perf.data.1 perf.data.2
	[[ $output = *"1 profile sent"* ]]
	cp "$DATA/3.data" perf.data.1
	touch -d '2001-01-01' perf.data.1
	run -0 push --once perf.data.*
	[[ $output = *"1 profile sent"* ]]
	"$TALLY" export --to pprof perf.data.1 | cmp - server/taken-3
	rm perf.data.*
	run -0 push --once
	[ ! -s "$SPOOL/pushed" ]
}

@test "a token is sent from a file that others cannot read, and encrypted only" {
	serve
	printf '  secret-1\n' >token
	for mode in 644 606 620; do
		chmod $mode token
		run -1 push --token-file token "$DATA/1.data"
		[[ $output = *"the token token: others can read it, or its group can write it: chmod 600"* ]]
	done
	chmod 600 token
	run -0 push --token-file token --tenant t-1 "$DATA/1.data"
	run -0 push --token-file token --user me "$DATA/1.data"
	[ "$(head -1 server/headers | cut -d '|' -f 1,2)" = "Bearer secret-1|t-1" ]
	[ "$(tail -1 server/headers | cut -d '|' -f 1,2)" = "Basic $(printf 'me:secret-1' | base64)|None" ]
	[[ $(head -1 server/headers) = *"|tally/"* ]]
	url=http://profiles.example.com run -1 push --token-file token "$DATA/1.data"
	[[ $output = *"a token is not sent to 'http://profiles.example.com' without encryption; use https://"* ]]
	printf 'two words\n' >token
	run -1 push --token-file token "$DATA/1.data"
	[[ $output = *"it does not contain one word"* ]]
	run -1 push --token-file . "$DATA/1.data"
	[[ $output = *"it is not a regular file"* ]]
	url=http://me:secret@127.0.0.1 run -1 push "$DATA/1.data"
	[[ $output = *"the URL contains a user or a password"* ]]
	[[ $output != *secret* ]]
}

@test "TLS: an unknown certificate is refused, a trusted one is accepted" {
	command -v openssl >/dev/null || skip "openssl is not installed: there is no certificate to test with"
	openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=127.0.0.1 \
		-addext 'subjectAltName = IP:127.0.0.1' 2>/dev/null
	serve cert.pem key.pem
	url="https://127.0.0.1:$port"
	run -1 push "$DATA/1.data"
	[[ $output = *"certificate"* ]]
	[ ! -e server/log ]
	[ "$(profiles)" -eq 1 ]
	run -0 push --cacert cert.pem
	cmp "$DATA/1.pb.gz" server/taken-1
}

@test "two at once send each profile once" {
	serve
	pids=()
	for i in 1 2 3 4; do
		push -q "$DATA/$i.data" >"out$i" 2>&1 3>&- &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid"
	done
	[ "$(find server -name 'taken-*' | wc -l)" -eq 4 ]
	[ "$(sha256sum server/taken-* | cut -c 1-64 | sort)" = "$(sha256sum "$DATA"/*.pb.gz | cut -c 1-64 | sort)" ]
}

@test "mistakes are said" {
	url=http://127.0.0.1:1
	run -2 "$TALLY" push --spool "$SPOOL" x.data
	[[ $output = *"--url is missing"* ]]
	run -2 "$TALLY" push --url $url --spool "$SPOOL" x.data
	[[ $output = *"--service is missing"* ]]
	run -2 push --user me "$DATA/1.data"
	[[ $output = *"--user needs --token-file"* ]]
	run -2 push -l novalue "$DATA/1.data"
	[[ $output = *"--label 'novalue' is not NAME=VALUE"* ]]
	run -1 push -l 9a=b --retry -1 "$DATA/1.data"
	[[ $output = *"'9a' is not a name of a label"* ]]
	run -1 push -l host=b --host c --retry -1 "$DATA/1.data"
	[[ $output = *"the label host is there twice"* ]]
	url=ftp://x run -1 push "$DATA/1.data"
	[[ $output = *"must begin with https:// or http://"* ]]
	run -1 push --retry -1 none.data
	[[ $output = *"none.data"* ]]
	[ "$(profiles)" -eq 0 ]
	mkdir open
	chmod 777 open
	SPOOL=open run -1 push "$DATA/1.data"
	[[ $output = *"only you may write it"* ]]
}

@test "Ctrl-C ends waiting, and leaves the profile in the spool" {
	url="http://127.0.0.1:$(closed_port)"
	push --retry 60 "$DATA/1.data" >out 2>&1 3>&- &
	pid=$!
	until_there "trying again" out
	child=$(pgrep -P $pid || echo $pid)
	kill -INT $child
	wait $pid || status=$?
	[ "$status" -ne 0 ]
	[ "$(profiles)" -eq 1 ]
}

@test "the units of examples push each file once, and systemd takes them" {
	local units="${TALLY_SOURCE:-$BATS_TEST_DIRNAME/../..}/examples" line
	serve
	mkdir log state
	cp "$DATA/1.data" log/perf.data
	cp "$DATA/2.data" log/perf.data.2026112306254512
	printf 'secret\n' >token
	chmod 600 token
	# The command line, as systemd gives it to the shell.
	line=$(sed -n "s|^ExecStart=/bin/sh -c '\(.*\)'$|\1|p" "$units/tally-push.service" | sed "s|[$][$]|$|g; s|/usr/bin/tally|$TALLY|; s|/var/log/tally|log|")
	[ -n "$line" ]
	export URL=$url SERVICE=system CREDENTIALS_DIRECTORY=$PWD STATE_DIRECTORY=$PWD/state
	chmod 700 state
	sh -c "$line"
	sh -c "$line"
	"$TALLY" export --to pprof log/perf.data.2026112306254512 | cmp - server/taken-1
	[ "$(wc -l <server/log)" -eq 1 ]
	rm log/perf.data.2*
	sh -c "$line"
	[ "$(wc -l <server/log)" -eq 1 ]
	command -v systemd-analyze >/dev/null || skip "systemd-analyze is not installed: what systemd makes of the units is \
not checked; their command line was"
	cp "$units"/tally-push.path .
	sed "s|/usr/bin/tally|$TALLY|" "$units/tally-push.service" >tally-push.service
	run -0 systemd-analyze verify --man=no ./tally-push.service ./tally-push.path
	[ -z "$output" ]
}

@test "the library's example leaves the profile in its spool while there is no server" {
	example="$(dirname "$TALLY")/examples/api-push"
	[ -x "$example" ] || skip "the examples are not built"
	run -1 "$example" "$DATA/1.data" "http://127.0.0.1:$(closed_port)" "$SPOOL"
	[[ $output = *"0 sent, 1 left"* ]]
	[ "$(profiles)" -eq 1 ]
}
