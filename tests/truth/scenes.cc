// One of each kind of call: what must be unwound at each of its instructions.  See truth_steps.c.
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
#if defined(__cpp_impl_coroutine) || defined(__cpp_coroutines)
#include <coroutine>
#define COROUTINES 1
#endif

#define APART __attribute__((noinline))
volatile long sink;

APART long leaf(long n) { return n * 3 + sink; }

APART long recursion(int depth)
{
	volatile char room[40];
	room[0] = (char)depth;
	return depth ? recursion(depth - 1) + room[0] : leaf(depth);
}

APART long tail_b(long n) { sink = sink + n; return n; }
APART long tail_a(long n) { sink = sink + 1; return tail_b(n + 1); }

APART long with_alloca(size_t size)
{
	char *room = (char *)alloca(size);
	memset(room, 1, size);
	sink = sink + room[size / 2];
	return leaf((long)size);
}

APART long with_array(int n)
{
	long all[n];
	for (int i = 0; i < n; i++)
		all[i] = leaf(i);
	return all[n - 1];
}

struct alignas(64) wide { long all[24]; };
APART long aligned(long n)
{
	volatile wide one;
	one.all[3] = n;
	return leaf(one.all[3]);
}

APART long many(long a, long b, long c, long d, long e, long f, long g, long h, long i)
{
	long x = leaf(a) + leaf(b), y = leaf(c) * leaf(d), z = leaf(e) - leaf(f), w = leaf(g) ^ leaf(h);
	return x + y * z - w + leaf(i) + x * y + z * w;
}

// --- exceptions ---
struct noisy {
	long n;
	~noisy() { sink = sink + leaf(n); }
};
APART void thrower(int depth)
{
	noisy one{depth};
	if (!depth)
		throw std::runtime_error("here");
	thrower(depth - 1);
	sink = sink + 1;
}
APART long catching()
{
	try {
		thrower(4);
	} catch (const std::exception &error) {
		return (long)strlen(error.what());
	}
	return 0;
}

// --- signals ---
APART static void handler(int) { sink = sink + recursion(3); }
APART void signals()
{
	struct sigaction action = {};
	action.sa_handler = handler;
	sigaction(SIGUSR1, &action, nullptr);
	raise(SIGUSR1);
	sink = sink + leaf(1);
	kill(getpid(), SIGUSR1);
}

// --- contexts ---
static ucontext_t outer, inner;
APART static void in_context()
{
	for (int i = 0; i < 3; i++) {
		sink = sink + recursion(2);
		swapcontext(&inner, &outer);
	}
}
APART void contexts()
{
	size_t size = 65536;
	char *all = (char *)mmap(nullptr, size + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(all + 4096, size, PROT_READ | PROT_WRITE);
	getcontext(&inner);
	inner.uc_stack.ss_sp = all + 4096;
	inner.uc_stack.ss_size = size;
	inner.uc_link = &outer;
	makecontext(&inner, in_context, 0);
	for (int i = 0; i < 4; i++) {
		swapcontext(&outer, &inner);
		sink = sink + leaf(i);
	}
}

#ifdef COROUTINES
struct counting {
	struct promise_type {
		int value = 0;
		counting get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
		std::suspend_always initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		std::suspend_always yield_value(int v) { value = v; return {}; }
		void return_void() {}
		void unhandled_exception() {}
	};
	std::coroutine_handle<promise_type> handle;
	~counting() { handle.destroy(); }
};
APART counting count(int n)
{
	for (int i = 0; i < n; i++) {
		sink = sink + recursion(2);
		co_yield i;
	}
}
APART void coroutines()
{
	counting one = count(3);
	while (!one.handle.done()) {
		one.handle.resume();
		sink = sink + one.handle.promise().value;
	}
}
#else
void coroutines() {}
#endif

// --- longjmp ---
static jmp_buf back;
APART void jumper(int depth)
{
	if (!depth)
		longjmp(back, 1);
	jumper(depth - 1);
	sink = sink + 1;
}
APART void jumps()
{
	if (!setjmp(back))
		jumper(3);
	sink = sink + leaf(1);
}

// --- code with call frame information that was written by hand, and with none but a frame pointer ---
#ifdef __x86_64__
extern "C" long by_hand(long (*)(long), long);
extern "C" long by_expression(long (*)(long), long);
extern "C" long by_pointer_alone(long (*)(long), long);
__asm__(R"(
	.text
	.type by_hand,@function
by_hand:
	.cfi_startproc
	mov %rsp, %rax
	.cfi_def_cfa_register %rax
	sub $72, %rsp
	and $-64, %rsp
	mov %rax, 24(%rsp)
	.cfi_escape 0x0f, 3, 0x77, 24, 0x06	# the CFA less 8 is at rsp+24
	.cfi_escape 0x0f, 5, 0x77, 24, 0x06, 0x23, 8
	mov %rdi, %rdx
	mov %rsi, %rdi
	call *%rdx
	mov 24(%rsp), %rsp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size by_hand, .-by_hand
	.type by_expression,@function
by_expression:
	.cfi_startproc
	push %r12
	.cfi_def_cfa_offset 16
	.cfi_offset %r12, -16
	mov %rsp, %r12
	.cfi_def_cfa_register %r12
	sub $200, %rsp
	mov %rdi, %rdx
	mov %rsi, %rdi
	call *%rdx
	mov %r12, %rsp
	.cfi_def_cfa_register %rsp
	pop %r12
	.cfi_def_cfa_offset 8
	.cfi_restore %r12
	ret
	.cfi_endproc
	.size by_expression, .-by_expression
	.type by_pointer_alone,@function
by_pointer_alone:
	push %rbp
	mov %rsp, %rbp
	sub $32, %rsp
	mov %rdi, %rdx
	mov %rsi, %rdi
	call *%rdx
	leave
	ret
	.size by_pointer_alone, .-by_pointer_alone
)");
APART void hand_written()
{
	sink = sink + by_hand(leaf, 1) + by_expression(leaf, 2) + by_pointer_alone(leaf, 3);
}
#else
void hand_written() {}
#endif

struct shape {
	virtual long area() const = 0;
	virtual ~shape() {}
};
struct square : shape {
	long side = 3;
	long area() const override { return leaf(side) * side; }
};

APART void library()
{
	std::map<std::string, int> words;
	std::vector<int> all;
	std::function<long(int)> down = [&](int depth) -> long { return depth ? down(depth - 1) + 1 : leaf(depth); };
	std::unique_ptr<shape> one(new square);
	for (int i = 0; i < 12; i++) {
		words[std::to_string(i * 7 % 5)] += i;
		all.push_back(i * 7919 % 31);
	}
	std::sort(all.begin(), all.end(), [](int a, int b) { sink = sink + 1; return a < b; });
	qsort(all.data(), all.size(), sizeof(int),
	      [](const void *a, const void *b) { return *(const int *)b - *(const int *)a; });
	char text[64];
	snprintf(text, sizeof(text), "%d %s %.2f", all[0], words.begin()->first.c_str(), 1.5);
	sink = sink + down(4) + one->area() + (long)strlen(text);
}

int main()
{
	raise(SIGSTOP); // from here on
	sink = sink + recursion(12) + tail_a(2) + with_alloca(300) + with_array(9) + aligned(4) +
	       many(1, 2, 3, 4, 5, 6, 7, 8, 9) + catching();
	signals();
	contexts();
	coroutines();
	jumps();
	hand_written();
	library();
	return 0;
}
