#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# The build-id cache: what record keeps of binaries, and what report makes of it.

setup() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	cd "$BATS_TEST_TMPDIR" || return 1
	export HOME="$PWD/home" PERF_CONFIG="$PWD/config"
	mkdir home
	: >config
	"$TALLY" record -q -e cpu-clock:u -o /dev/null true 2>why || skip "events cannot be recorded here: $(head -n 1 why)"
	[ ! -e home/.debug ]
}

# A program whose time is spent in a function of that name.
build() {
	command -v cc >/dev/null ||
		skip "there is no C compiler: no program is built anew; tests/unit/image fills and reads the cache"
	cat >prog.c <<-END
		#include <time.h>
		volatile unsigned long sum;
		__attribute__((noinline)) void $1(void)
		{
			for (unsigned long i = 0; i < 3000000; i++)
				sum += i * $2;
		}
		int main(void)
		{
			for (int i = 0; i < 30; i++)
				$1();
			return 0;
		}
	END
	cc -O1 -Wl,--build-id -o "$3" prog.c
}

id_of() {
	readelf -n "$1" | sed -n 's/.*Build ID: //p'
}

@test "13.29: names stay when the program was built anew after the recording" {
	build first_work 3 prog
	"$TALLY" record -q -e cpu-clock:u -o kept.data ./prog
	"$TALLY" record -q -N -e cpu-clock:u --buildid-dir other -o bare.data ./prog
	[ ! -e other ]
	"$TALLY" report -i kept.data --no-children -g none | grep -q 'first_work'
	# In place and as a new file: both leave the copy alone.
	build other_work 5 new
	cat new >prog
	"$TALLY" report -i kept.data --no-children -g none >kept.txt 2>&1
	grep -q 'first_work' kept.txt
	rm prog
	"$TALLY" report -i kept.data --no-children -g none | grep -q 'first_work'
	"$TALLY" script -i kept.data | grep -q first_work
	rm -r home/.debug
	run -0 "$TALLY" report -i kept.data --no-children -g none
	[[ "$output" != *first_work* ]]
}

@test "13.29: the cache has perf's layout, and only binaries with samples" {
	build work 3 prog
	"$TALLY" record -q -e cpu-clock:u -o run.data ./prog
	id=$(id_of prog)
	link=home/.debug/.build-id/${id:0:2}/${id:2}
	[ "$(readlink "$link")" = "../../${PWD#/}/prog/$id" ]
	cmp prog "$link/elf"
	cmp prog "home/.debug/$PWD/prog/$id/elf"
	[ -z "$(find home/.debug -name '*.new')" ]
	# A second recording finds it there.
	run -0 "$TALLY" record -v -e cpu-clock:u -o run.data ./prog
	[[ "$output" == *" already there"* ]]
	[[ "$output" != *" 0 there before"* ]]
	"$TALLY" record -q --buildid-all --buildid-dir "$PWD/all" -e cpu-clock:u -o run.data ./prog
	# The loader and libc are mapped, whether they were met or not.
	[ "$(find all -name elf | wc -l)" -ge 3 ]
	[ -e "all/.build-id/${id:0:2}/${id:2}/elf" ]
}

@test "13.29: perf lists and packs what we keep" {
	command -v perf >/dev/null ||
		skip "perf is not installed: the cache is not read by it; the test before checks the layout"
	build work 3 prog
	"$TALLY" record -q -e cpu-clock:u -o run.data ./prog
	id=$(id_of prog)
	perf buildid-cache -l | grep -q "^$id .*/prog$"
	perf archive run.data >said 2>&1 || skip "perf archive does not run here: $(tail -n 1 said)"
	tar tf run.data.tar.bz2 >names
	grep -qx ".build-id/${id:0:2}/${id:2}" names
	grep -q "/prog/$id/elf$" names
}

@test "13.29: -B writes no table, -N and the configuration keep nothing, buildid.dir says where" {
	build work 3 prog
	"$TALLY" record -q -B -e cpu-clock:u -o run.data ./prog
	[ ! -e home/.debug ]
	if command -v perf >/dev/null; then
		perf report -i run.data --header-only 2>/dev/null | grep -q 'missing features:.* BUILD_ID'
	fi
	# What cannot be read again, or goes to a pipe, keeps nothing either.
	run -0 "$TALLY" record -e cpu-clock:u --buildid-dir null -o /dev/null ./prog
	[[ "$output" != *"-N does"* ]]
	"$TALLY" record -q -e cpu-clock:u --buildid-dir null -o - ./prog | cat >/dev/null
	[ ! -e null ]
	printf '[record]\n\tbuild-id = no-cache\n' >config
	"$TALLY" record -q -e cpu-clock:u -o run.data ./prog
	[ ! -e home/.debug ]
	printf '[buildid]\n\tdir = %s\n' "$PWD/where" >config
	"$TALLY" record -q -e cpu-clock:u -o run.data ./prog
	[ ! -e home/.debug ]
	[ -d where/.build-id ]
	rm prog
	"$TALLY" report -i run.data --no-children -g none | grep -q '\bwork\b'
	: >config
	"$TALLY" report -i run.data --no-children -g none --buildid-dir where | grep -q '\bwork\b'
	run -0 "$TALLY" report -i run.data --no-children -g none
	[[ "$output" != *"] work"* ]]
	printf '[record]\n\tbuild-id = perhaps\n' >config
	run -2 "$TALLY" record -e cpu-clock:u -o run.data true
	[[ "$output" == *"'perhaps' is not cache, no-cache, skip or mmap"* ]]
}

@test "13.29: nothing is written through links, or into a folder that others may write" {
	build work 3 prog
	mkdir open outside
	chmod 777 open
	run "$TALLY" record -e cpu-clock:u --buildid-dir open -o run.data ./prog
	[ "$status" -eq 0 ]
	[[ "$output" == *"others may write it"*"-N records without copies"* ]]
	[ -z "$(ls -A open)" ]
	# A folder on the way is a link: nothing goes there.
	top=${PWD#/}
	mkdir -p home/.debug
	ln -s "$PWD/outside" "home/.debug/${top%%/*}"
	"$TALLY" record -q -e cpu-clock:u -o run.data ./prog
	[ -z "$(ls -A outside)" ]
	[ "$(id -u)" -eq 0 ] || return 0
	mkdir theirs
	chown 65534 theirs
	run -0 "$TALLY" record -e cpu-clock:u --buildid-dir theirs -o run.data ./prog
	[[ "$output" == *"belongs to another user"* ]]
	[ -z "$(ls -A theirs)" ]
}

@test "17: the vDSO of another kernel has no names of the running one's" {
	local release
	release=$(uname -r)
	command -v cc >/dev/null || skip "there is no C compiler: no program asks the vDSO for the time"
	cat >clock.c <<-'END'
		#include <time.h>
		int main(void)
		{
			struct timespec now;
			for (long i = 0; i < 5000000; i++)
				clock_gettime(CLOCK_MONOTONIC, &now);
			return now.tv_nsec < 0;
		}
	END
	cc -O1 -o clock clock.c
	# Without its build-id, as kernels before 3.8 and other writers leave it.
	"$TALLY" record -q -N -e cpu-clock:u -o here.data ./clock
	"$TALLY" report --stdio --no-children -i here.data -d '[vdso]' >got
	grep -q 'clock_gettime$' got || skip "the time is not asked of the vDSO here"
	LC_ALL=C sed "s/${release//./\\.}/9${release#?}/g" here.data >other.data
	"$TALLY" report --stdio --no-children -v -i other.data -d '[vdso]' >got 2>&1
	cat got
	run -1 grep -q clock_gettime got
	grep -qF '[vdso] is of another kernel than the one that runs now' got
}
