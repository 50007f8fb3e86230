# A binary whose functions are at known places, one with another one inlined, one with a hostile name: ./prog.

# Compiles it in the current folder.
make_hostile_program() { # flags of the compiler
	cat >prog.c <<'END'
volatile int sink;
static inline __attribute__((always_inline)) void inner(int n) { sink += n; }
__attribute__((noinline)) void leaf(int n) { inner(n); sink *= 3; }
__attribute__((noinline)) void middle(int n) { leaf(n); sink++; }
__attribute__((noinline)) void hostile(void) { middle(2); sink--; }
int main(void) { hostile(); middle(1); return 0; }
END
	gcc -g -O1 "$@" -o prog prog.c && objcopy --redefine-sym hostile='a"<b>\x;y&'"'"'z(),' prog
}
