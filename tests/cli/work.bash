# A program whose shares are known: ./work TURNS.

# Compiles it in the current folder.
make_work() { # flags of the compiler
	command -v cc >/dev/null || return 1
	# Of four turns one function has three; its caller has no time of its own.
	cat >work.c <<'END'
#include <stdlib.h>
__attribute__((noinline)) unsigned large(unsigned n) { for (unsigned i = 0; i < 3000000; i++) n = n * 69069 + 1; return n; }
__attribute__((noinline)) unsigned small(unsigned n) { for (unsigned i = 0; i < 1000000; i++) n = n * 69069 + 1; return n; }
__attribute__((noinline)) unsigned both(unsigned n) { n = large(n); n = small(n); __asm__ volatile("" : "+r"(n)); return n; }
int main(int argc, char **argv)
{
	unsigned n = (unsigned)argc;
	for (unsigned turns = (unsigned)atoi(argv[1]); turns; turns--)
		n = both(n);
	return n == 7;
}
END
	cc "$@" -o work work.c 2>/dev/null
}
