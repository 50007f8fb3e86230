// A program that keeps its true call stack in memory: where each stack begins there is a list of the calls on it, so that
// the copy of the stack that a sample has holds the truth of the same moment.  See truth_record.c.
//
// Usage: shadow SECONDS, of CPU time.  Functions whose names begin with "s_" are in the list, from their first statements to their last.
// -DTAIL: the compiler makes jumps of calls in last place.  -DPART: only what is in the library; -DMAIN: only main().
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <stdexcept>
#if defined(__cpp_impl_coroutine)
#include <coroutine>
#endif
#include "shadow.h"

#if defined(__clang__)
#define SCENE extern "C" __attribute__((noinline, visibility("default")))
#else
#define SCENE extern "C" __attribute__((noipa, visibility("default")))
#endif
#define INSIDE static inline __attribute__((always_inline))

SCENE void s_all(double seconds);

#ifndef MAIN
static thread_local struct shadow *stack_list;
static thread_local uint64_t thread_id;
volatile long sink;

INSIDE void add(const void *function, void *return_address)
{
	struct shadow *list = stack_list;
	volatile struct shadow_call *call = &list->calls[list->depth];

	call->function = (uint64_t)function;
	call->return_address = (uint64_t)return_address;
	__asm__ volatile("" ::: "memory");
	list->depth = list->depth + 1;
	__asm__ volatile("" ::: "memory");
}

INSIDE void drop()
{
	__asm__ volatile("" ::: "memory");
	stack_list->depth = stack_list->depth - 1;
	__asm__ volatile("" ::: "memory");
}

struct here {
	__attribute__((always_inline)) here(const void *function, void *return_address) { add(function, return_address); }
	__attribute__((always_inline)) ~here() { drop(); }
};
#define ENTER(name) here here_((const void *)name, __builtin_return_address(0))

// The list of a stack, in the frame of the first function on it.
struct base {
	struct shadow list, *before;
	__attribute__((always_inline)) base(const struct shadow *copied)
	{
		before = stack_list;
		list.depth = list.restorer = list.exchanging = 0;
		if (copied) {
			for (uint64_t i = 0; i < copied->depth; i++)
				list.calls[i] = copied->calls[i];
			list.depth = copied->depth;
		}
		list.other_stack = copied ? copied->depth : 0;
		list.tid = thread_id;
		list.anchor = (uint64_t)s_all;
		stack_list = &list;
		__asm__ volatile("" ::: "memory");
		list.magic[0] = SHADOW_MAGIC_0;
		list.magic[1] = SHADOW_MAGIC_1;
		__asm__ volatile("" ::"r"(&list) : "memory");
	}
	__attribute__((always_inline)) ~base()
	{
		*(volatile uint64_t *)&list.magic[0] = 0;
		*(volatile uint64_t *)&list.magic[1] = 0;
		stack_list = before;
		__asm__ volatile("" ::"r"(&list) : "memory");
	}
};

SCENE long s_leaf(long n)
{
	for (long i = 0; i < 400; i++)
		sink = sink + i * n;
	return sink;
}

SCENE long s_recursion(long depth)
{
	ENTER(s_recursion);
	volatile char room[40];
	room[0] = (char)depth;
	return depth ? s_recursion(depth - 1) + room[0] : s_leaf(depth);
}

SCENE long s_tail_b(long n)
{
	ENTER(s_tail_b);
	return s_leaf(n) + 1;
}
SCENE long s_tail_a(long n)
{
	add((const void *)s_tail_a, __builtin_return_address(0));
	sink = sink + s_leaf(n);
#ifdef TAIL
	drop();
	return s_tail_b(n + 1);
#else
	n = s_tail_b(n + 1);
	drop();
	return n;
#endif
}

SCENE long s_alloca(size_t size)
{
	ENTER(s_alloca);
	char *room = (char *)alloca(size);
	memset(room, 1, size);
	sink = sink + room[size / 2];
	return s_leaf((long)size);
}

struct alignas(64) wide { long all[24]; };
SCENE long s_aligned(long n)
{
	ENTER(s_aligned);
	volatile wide one;
	one.all[3] = n;
	return s_leaf(one.all[3]);
}

// --- exceptions ---
SCENE void s_thrower(long depth)
{
	ENTER(s_thrower);
	s_leaf(1);
	if (!depth)
		throw std::runtime_error("here");
	s_thrower(depth - 1);
	sink = sink + 1;
}
SCENE long s_catching()
{
	ENTER(s_catching);
	try {
		s_thrower(4);
	} catch (const std::exception &error) {
		return s_leaf((long)strlen(error.what()));
	}
	return 0;
}

// --- signals ---
// The interrupted code may be about to add a call: what it wrote is put back.
SCENE void s_handler(int)
{
	struct shadow *list = stack_list;
	list->restorer = (uint64_t)__builtin_return_address(0);
	struct shadow_call saved = list->calls[list->depth];
	uint64_t depth = list->depth;
	add((const void *)s_handler, __builtin_return_address(0));
	sink = sink + s_recursion(3);
	drop();
	list->calls[depth] = saved;
}
SCENE void s_handler_apart(int)
{
	stack_list->restorer = (uint64_t)__builtin_return_address(0);
	base own(stack_list);
	ENTER(s_handler_apart);
	sink = sink + s_recursion(3);
}
SCENE void s_signals()
{
	ENTER(s_signals);
	for (int i = 0; i < 2; i++) {
		raise(SIGUSR1);
		s_leaf(1);
		raise(SIGUSR2);
	}
}

// --- contexts ---
static thread_local ucontext_t outer, inner;
INSIDE void exchange(struct shadow *list, ucontext_t *from, ucontext_t *to)
{
	*(volatile uint64_t *)&list->exchanging = 1;
	swapcontext(from, to);
	*(volatile uint64_t *)&list->exchanging = 0;
}
SCENE void s_in_context()
{
	struct shadow *other = stack_list;
	base own(nullptr);
	struct shadow *mine = stack_list;
	ENTER(s_in_context);
	for (int i = 0; i < 3; i++) {
		sink = sink + s_recursion(2);
		stack_list = other;
		exchange(mine, &inner, &outer);
		stack_list = mine;
	}
	stack_list = mine;
}
SCENE void s_contexts(char *memory)
{
	ENTER(s_contexts);
	getcontext(&inner);
	inner.uc_stack.ss_sp = memory;
	inner.uc_stack.ss_size = 65536;
	inner.uc_link = &outer;
	makecontext(&inner, s_in_context, 0);
	for (int i = 0; i < 4; i++) {
		exchange(stack_list, &outer, &inner);
		sink = sink + s_leaf(i);
	}
}

#if defined(__cpp_impl_coroutine)
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
static __attribute__((noinline)) counting count(int n)
{
	for (int i = 0; i < n; i++) {
		sink = sink + s_recursion(2);
		co_yield i;
	}
}
SCENE void s_coroutines()
{
	ENTER(s_coroutines);
	counting one = count(3);
	while (!one.handle.done()) {
		one.handle.resume();
		sink = sink + one.handle.promise().value;
	}
}
#else
SCENE void s_coroutines() {}
#endif

// --- longjmp ---
static thread_local jmp_buf back;
SCENE void s_jumper(long depth)
{
	ENTER(s_jumper);
	s_leaf(1);
	if (!depth) {
		// Until the list is as it was there is none.
		*(volatile uint64_t *)&stack_list->magic[0] = 0;
		longjmp(back, 1);
	}
	s_jumper(depth - 1);
	sink = sink + 1;
}
SCENE void s_jumps()
{
	ENTER(s_jumps);
	uint64_t depth = stack_list->depth;
	if (!setjmp(back))
		s_jumper(3);
	stack_list->depth = depth;
	*(volatile uint64_t *)&stack_list->magic[0] = SHADOW_MAGIC_0;
	s_leaf(1);
}

// --- call frame information that was written by hand ---
#ifdef __x86_64__
extern "C" long by_hand(long (*)(long), long);
extern "C" long by_expression(long (*)(long), long);
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
)");
SCENE void s_hand_written()
{
	ENTER(s_hand_written);
	sink = sink + by_hand(s_recursion, 1) + by_expression(s_recursion, 2);
}
#else
SCENE void s_hand_written() {}
#endif

SCENE int s_compare(const void *a, const void *b)
{
	ENTER(s_compare);
	s_leaf(1);
	return *(const int *)a - *(const int *)b;
}
SCENE void s_library()
{
	ENTER(s_library);
	int all[12];
	for (int i = 0; i < 12; i++)
		all[i] = i * 7919 % 31;
	qsort(all, 12, sizeof(int), s_compare);
	char text[64];
	snprintf(text, sizeof(text), "%d %.2f", all[0], 1.5);
	sink = sink + (long)strlen(text);
}

static char *guarded(size_t size)
{
	char *all = (char *)mmap(nullptr, size + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(all + 4096, size, PROT_READ | PROT_WRITE);
	return all + 4096;
}

static double until;
// Of all threads together: a busy machine costs no samples.
static double cpu_time()
{
	struct timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

SCENE void s_thread()
{
	thread_id = (uint64_t)syscall(SYS_gettid);
	base own(nullptr);
	ENTER(s_thread);
	stack_t stack = {};
	char *memory = guarded(65536);
	stack.ss_sp = guarded(65536);
	stack.ss_size = 65536;
	sigaltstack(&stack, nullptr);
	while (cpu_time() < until) {
		sink = sink + s_recursion(12) + s_tail_a(2) + s_alloca(300) + s_aligned(4) + s_catching();
		s_signals();
		s_contexts(memory);
		s_coroutines();
		s_jumps();
		s_hand_written();
		s_library();
	}
}
static void *start(void *) { s_thread(); return nullptr; }

SCENE void s_all(double seconds)
{
	struct sigaction action = {};
	pthread_t threads[2];
	until = cpu_time() + seconds;
	action.sa_handler = s_handler;
	sigaction(SIGUSR1, &action, nullptr);
	action.sa_handler = s_handler_apart;
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &action, nullptr);
	for (pthread_t &thread : threads)
		pthread_create(&thread, nullptr, start, nullptr);
	s_thread();
	for (pthread_t &thread : threads)
		pthread_join(thread, nullptr);
}
#endif

#ifndef PART
int main(int argc, char **argv)
{
	s_all(argc > 1 ? atof(argv[1]) : 1);
	return 0;
}
#endif
