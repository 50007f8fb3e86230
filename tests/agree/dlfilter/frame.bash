# Filters and recordings that tests of filters make; `load` it behind `frame` or alone.

parts="$BATS_TEST_DIRNAME/../agree/dlfilter"
ours="$BATS_TEST_DIRNAME/../../include"

need_compiler() {
	command -v cc >/dev/null && command -v python3 >/dev/null || skip "needs a C compiler and python3"
}

# build NAME.so SOURCE [OPTIONS]: with our own header.
build() {
	local to=$1 from=$2
	shift 2
	cc -w -O1 -fPIC -shared -I "$ours" "$@" -o "$to" "$parts/$from.c"
}

# The same with perf's header, where it is installed.
build_for_perf() {
	local to=$1 from=$2
	shift 2
	cc -w -O1 -fPIC -shared "$@" -o "$to" "$parts/$from.c"
}

make_program() {
	printf 'int bar(void){return 0;}\nint foo(void){return bar();}\nint main(void){return foo();}\n' >fb.c
	cc -g -o fb fb.c
}

make_streams() {
	make_program
	for kind in simple all modules events; do
		"$parts/make-stream" $kind "$PWD/fb" $kind.data
	done
}
