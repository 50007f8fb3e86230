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

# Where ./prog's functions are once its code is loaded at an address, in `at`, by name ("hostile" for the one of that
# name), and what a line `map` of recording.py needs of it, in `map`.
place_functions() { # address, in hex
	local start size offset base=$((0x$1)) name
	read -r offset start size < <(readelf -lW prog | awk '$1 == "LOAD" && / R E / {print $2, $3, $5}')
	declare -gA at=()
	while read -r name; do
		at[${name#* }]=$(printf '%x' $((0x${name%% *} - start + offset + base)))
	done < <(nm prog | awk '$2 == "T" {print $1, $3 ~ /<b>/ ? "hostile" : $3}')
	# shellcheck disable=SC2034 # of the tests
	printf -v map '%x %x %x %s' $((base + offset)) $((size)) $((offset)) "$PWD/prog"
}

# Where a call from a function returns to.
later() { printf '%x' $((0x${at[$1]} + 4)); }
