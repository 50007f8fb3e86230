#!/usr/bin/env bats
bats_require_minimum_version 1.5.0
# Call chains of threads whose stack was exchanged for another one (tally record -g).

setup_file() {
	export TALLY="${TALLY:-$BATS_TEST_DIRNAME/../../build/tally}"
	export HOME="$BATS_FILE_TMPDIR"
	cd "$BATS_FILE_TMPDIR" || return 1
	[ "$(uname -m)" = x86_64 ] || return 0
	command -v "${CC:-cc}" >/dev/null || return 0
	cat >two.c <<'SOURCE'
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static uint64_t first[8192] __attribute__((aligned(64))), second[8192] __attribute__((aligned(64)));
void start(void *top), on_other(void *top), interrupted(void);
/* As Go's runtime.goexit, systemstack() and functions: a return address that was put on the stack, a function that
 * exchanges the stack and leaves the frame pointer, and one whose CFA is by the stack pointer beside a frame pointer. */
__asm__(".text\n"
	".type base, @function\nbase: .cfi_startproc\nnop\ncall abort\n.cfi_endproc\n.size base, . - base\n"
	".type start, @function\nstart: mov %rdi, %rsp\nlea base+1(%rip), %rax\npush %rax\nxor %ebp, %ebp\njmp work\n"
	".size start, . - start\n"
	".type on_other, @function\non_other: .cfi_startproc\nmov %rdi, %rsp\ncall spin\nud2\n.cfi_endproc\n"
	".size on_other, . - on_other\n"
	".type interrupted, @function\ninterrupted: .cfi_startproc\npush %rbp\n.cfi_def_cfa_offset 16\n"
	".cfi_offset 6, -16\nmov %rsp, %rbp\nud2\n.cfi_endproc\n.size interrupted, . - interrupted\n");
void spin(void)
{
	clock_t until = clock() + CLOCKS_PER_SEC / 3;
	for (volatile unsigned i = 0; i % 4096 || clock() < until; i++)
		;
	_exit(0);
}
void work(void)
{
	on_other(second + 8000);
	__asm__ volatile("");
}
__attribute__((optimize("omit-frame-pointer"))) void handler(int number)
{
	(void)number;
	clock_t until = clock() + CLOCKS_PER_SEC / 3;
	for (volatile unsigned i = 0; i % 4096 || clock() < until; i++)
		;
	_exit(0);
}
int main(int argc, char **argv)
{
	if (argc > 1) {
		stack_t other = {.ss_sp = second, .ss_size = sizeof(second)};
		struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
		sigaltstack(&other, NULL);
		sigaction(SIGILL, &action, NULL);
		interrupted();
	}
	(void)argv;
	memset(second, 0x55, sizeof(second));
	start(first + 8000);
	return 0;
}
SOURCE
	"${CC:-cc}" -O1 -fno-omit-frame-pointer -o two two.c
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
	[ -x two ] || skip "this is not x86-64, or there is no compiler"
	"$TALLY" record -q -N -e cpu-clock:u -o probe.data -- true 2>/dev/null || skip "events cannot be opened here"
}

# How many chains match a pattern, and how many there are.
count() {
	"$TALLY" script --no-inline -i two.data -F ip,sym | awk -v ends="$1" 'BEGIN { RS = ""; FS = "\n" }
		{ chain = ""; for (i = 1; i <= NF; i++) { split($i, word, " "); chain = chain " " word[2] }
		  if (chain ~ ends) found++ } END { print found + 0, NR }'
}

@test "15.2: a chain that ends at an address that was put on the stack is whole, as at Go's runtime.goexit" {
	"$TALLY" record -N -e cpu-clock:u -F 2000 -g -o two.data -- ./two 2>said
	cat said
	read -r found all < <(count ' spin on_other base$')
	[ "$all" -gt 200 ]
	[ "$found" -ge "$((all * 9 / 10))" ]
	whole=$(sed -nE "s/^tally: (all )?([0-9,]+) (of [0-9,]+ )?stacks are whole.*/\2/p" said)
	[ "${whole//,/}" -ge "$found" ]
}

@test "15.2: a handler on a stack of its own is followed to the callers of what it interrupted" {
	"$TALLY" record -N -e cpu-clock:u -F 2000 -g -o two.data -- ./two signal 2>said
	read -r found all < <(count ' handler .*interrupted main __libc_start_call_main')
	[ "$all" -gt 200 ]
	[ "$found" -ge "$((all * 9 / 10))" ]
}
