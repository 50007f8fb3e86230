/* Filters of samples: what they keep, run by an interpreter of their few instructions here, and
 * mistakes. The kernel runs them in tests/cli/record_filters.bats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/bpf_perf_event.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "base/buf.h"
#include "filter/filter_program.h"

struct moment {
	struct bpf_perf_event_data data;
	uint64_t pid_tgid, uid_gid, cpu, cgroup;
	char comm[16];
};

static uint64_t load(const uint8_t *from)
{
	uint64_t value;

	memcpy(&value, from, sizeof(value));
	return value;
}

static uint64_t call(const struct moment *moment, int32_t function, uint8_t *stack)
{
	switch (function) {
	case BPF_FUNC_get_current_pid_tgid:
		return moment->pid_tgid;
	case BPF_FUNC_get_current_uid_gid:
		return moment->uid_gid;
	case BPF_FUNC_get_smp_processor_id:
		return moment->cpu;
	case BPF_FUNC_get_current_cgroup_id:
		return moment->cgroup;
	case BPF_FUNC_get_current_comm:
		memcpy(stack + 512 - 16, moment->comm, 16);
		return 0;
	default:
		fail_msg("function %d", function);
		return 0;
	}
}

static bool jumps(uint8_t code, uint64_t left, uint64_t right)
{
	switch (code & 0xf0) {
	case BPF_JA:
		return true;
	case BPF_JEQ:
		return left == right;
	case BPF_JNE:
		return left != right;
	case BPF_JGT:
		return left > right;
	case BPF_JGE:
		return left >= right;
	case BPF_JLT:
		return left < right;
	case BPF_JLE:
		return left <= right;
	case BPF_JSET:
		return (left & right) != 0;
	default:
		fail_msg("jump 0x%x", code);
		return false;
	}
}

/* What the program returns.  Jumps go forward only, as the kernel once demanded. */
static uint64_t run(const struct tally_filter_program *program, const struct moment *moment)
{
	uint64_t r[11] = {0};
	uint8_t stack[512];

	r[1] = (uintptr_t)&moment->data;
	r[10] = (uintptr_t)stack + sizeof(stack);
	for (size_t at = 0; at < program->count; at++) {
		const struct bpf_insn *insn = &program->insns[at];
		uint64_t from =
		    insn->code & BPF_X ? r[insn->src_reg] : (uint64_t)(int64_t)insn->imm;

		switch (insn->code) {
		case BPF_ALU64 | BPF_MOV | BPF_X:
		case BPF_ALU64 | BPF_MOV | BPF_K:
			r[insn->dst_reg] = from;
			break;
		case BPF_ALU | BPF_MOV | BPF_X:
			r[insn->dst_reg] = (uint32_t)from;
			break;
		case BPF_ALU64 | BPF_ADD | BPF_K:
			r[insn->dst_reg] += from;
			break;
		case BPF_ALU64 | BPF_RSH | BPF_K:
			r[insn->dst_reg] >>= from;
			break;
		case BPF_LD | BPF_DW | BPF_IMM:
			r[insn->dst_reg] = (uint32_t)insn->imm | (uint64_t)(uint32_t)insn[1].imm
								     << 32;
			at++;
			break;
		case BPF_LDX | BPF_MEM | BPF_DW:
			r[insn->dst_reg] =
			    load((const uint8_t *)(uintptr_t)(r[insn->src_reg] +
							      (uint64_t)(int64_t)insn->off));
			break;
		case BPF_JMP | BPF_CALL:
			r[0] = call(moment, insn->imm, stack);
			memset(r + 1, 0xee, 5 * sizeof(r[0])); /* the kernel keeps none of them */
			break;
		case BPF_JMP | BPF_EXIT:
			return r[0];
		default:
			assert_int_equal(insn->code & 7, BPF_JMP);
			assert_true(insn->off >= 0);
			if (jumps(insn->code, r[insn->dst_reg], from))
				at += (size_t)insn->off;
		}
	}
	fail_msg("no exit");
	return 2;
}

static struct moment usual(void)
{
	struct moment moment = {
	    .data = {.sample_period = 1000, .addr = 0x7000},
	    .pid_tgid = 42ULL << 32 | 43,
	    .uid_gid = 7ULL << 32 | 1000,
	    .cpu = 1,
	    .cgroup = 99,
	    .comm = "bash",
	};

#if defined(__x86_64__)
	moment.data.regs.rip = 0xffffffff81000000;
#elif defined(__aarch64__)
	moment.data.regs.pc = 0xffffffff81000000;
#endif
	return moment;
}

static void what_is_true_is_kept(void **state)
{
	static const struct {
		const char *text;
		uint64_t keeps;
	} rows[] = {
		{"period > 999", 1},
		{"period > 1000", 0},
		{"period>=0x3e8", 1},
		{"period < 1000", 0},
		{"period <= 1000", 1},
		{"period == 1000", 1},
		{"period != 1000", 0},
		{"period & 8", 1},
		{"period & 7", 0},
		{"!(period & 7)", 1},
		{"!period & 8", 0},
		{"!!(period & 8)", 1},
		{"pid == 42 && tid == 43 && uid == 1000 && gid == 7 && cpu == 1 && cgroup == 99",
		 1},
		{"pid == 43", 0},
		{"tid == 42", 0},
		{"uid == 7", 0},
		{"addr == 0x7000", 1},
		{"comm == bash", 1},
		{"comm == \"bash\"", 1},
		{"comm == 'bas'", 0},
		{"comm == bashful", 0},
		{"comm != bash", 0},
		{"comm != zsh", 1},
		{"!(comm == bash)", 0},
		{"!(comm != bash)", 1},
		{"comm == zsh || comm == bash", 1},
		{"comm == zsh || comm == ksh", 0},
		{"cpu == 0 && pid == 42 || cpu == 1", 1},
		{"cpu == 1 || pid == 42 && cpu == 0", 1},
		{"(cpu == 1 || pid == 42) && cpu == 0", 0},
		/* a comma binds less than ||, as perf has it */
		{"cpu == 0, pid == 42 || cpu == 1", 0},
		{"cpu == 1, pid == 1 || pid == 42", 1},
		{"cpu == 1 || cpu == 1, cpu == 0", 0},
		{"!(cpu == 1 && (pid == 1 || pid == 42))", 0},
		{"!(cpu == 1 && (pid == 1 || pid == 2))", 1},
		{"! ( cpu == 0 || ( pid == 1 && tid == 43 ) ) && ( uid == 1 || gid == 7 )", 1},
#if defined(__x86_64__) || defined(__aarch64__)
		{"ip >= 0x8000000000000000", 1}, /* without a sign */
		{"ip < 0x8000000000000000", 0},
		{"ip & 0x8000000000000000", 1},
#endif
	};
	const struct moment moment = usual();
	struct tally_filter_program program;
	struct tally_error error = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int result = tally_filter_compile(rows[i].text, &program, &error);

		if (result == -EOPNOTSUPP)
			skip(); /* a container with its own numbers of processes */
		if (result)
			fail_msg("%s: %s", rows[i].text, error.text);
		if (run(&program, &moment) != rows[i].keeps)
			fail_msg("%s: is not %d", rows[i].text, (int)rows[i].keeps);
	}
}

/* Each of three tests is true or false in all ways; the tree of && and || is C's. */
static void trees_are_those_of_c(void **state)
{
	const char *const tests[] = {"cpu == 1", "uid == 1000", "gid == 7"};
	struct tally_filter_program program;
	struct tally_error error;
	char text[160];

	(void)state;
	for (unsigned mask = 0; mask < 8; mask++) {
		struct moment moment = usual();
		bool a = mask & 1, b = mask & 2, c = mask & 4;
		const struct {
			const char *format;
			bool is;
		} rows[] = {
		    {"%s && %s && %s", a && b && c},
		    {"%s || %s || %s", a || b || c},
		    {"%s && %s || %s", (a && b) || c},
		    {"%s || %s && %s", a || (b && c)},
		    {"(%s || %s) && %s", (a || b) && c},
		    {"!(%s && %s) || %s", !(a && b) || c},
		    {"!(%s || !(%s && %s))", !(a || !(b && c))},
		    {"%s || %s, %s", (a || b) && c},
		};

		moment.cpu = a;
		moment.uid_gid = (b ? 1000 : 1) | (c ? 7ULL : 8ULL) << 32;
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
			snprintf(text, sizeof(text), rows[i].format, tests[0], tests[1], tests[2]);
#pragma GCC diagnostic pop
			assert_int_equal(tally_filter_compile(text, &program, &error), 0);
			if (run(&program, &moment) != rows[i].is)
				fail_msg("%s with %u", text, mask);
		}
	}
}

static void long_names_are_compared_as_the_kernel_keeps_them(void **state)
{
	struct tally_filter_program program;
	struct moment moment = usual();

	(void)state;
	memcpy(moment.comm, "averylongcomman", 16);
	assert_int_equal(tally_filter_compile("comm == averylongcommand", &program, NULL), 0);
	assert_int_equal(run(&program, &moment), 1);
	memcpy(moment.comm, "averylongothers", 16);
	assert_int_equal(run(&program, &moment), 0);
}

static void a_test_of_addr_needs_the_field(void **state)
{
	struct tally_filter_program program;

	(void)state;
	assert_int_equal(tally_filter_compile("cpu == 0 || addr > 1", &program, NULL), 0);
	assert_int_equal(program.sample_type, PERF_SAMPLE_ADDR);
	assert_int_equal(tally_filter_compile("cpu == 0", &program, NULL), 0);
	assert_int_equal(program.sample_type, 0);
}

static void mistakes_have_a_column(void **state)
{
	static const struct {
		const char *text;
		int code;
		int64_t position;
		const char *words;
	} rows[] = {
	    {"", -EINVAL, 0, "expected a test"},
	    {"perod > 1", -EINVAL, 0, "did you mean period"},
	    {"cpu == 0 && weight > 10", -EOPNOTSUPP, 12, "weight"},
	    {"period", -EINVAL, 6, "expected =="},
	    {"period && cpu == 1", -EINVAL, 7, "expected =="},
	    {"period > x", -EINVAL, 9, "expected a number"},
	    {"period > 99999999999999999999", -EINVAL, 9, "expected a number"},
	    {"comm > sh", -EINVAL, 7, "by == or !="},
	    {"comm == ", -EINVAL, 8, "name of a thread"},
	    {"comm == \"sh", -EINVAL, 8, "second \""},
	    {"(cpu == 1", -EINVAL, 9, "expected )"},
	    {"cpu == 1 cpu == 2", -EINVAL, 9, "expected &&"},
	    {"cpu == 1 &&", -EINVAL, 11, "expected a test"},
	};
	struct tally_filter_program program;
	struct tally_error error;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (tally_filter_compile(rows[i].text, &program, &error) != rows[i].code)
			fail_msg("%s: code", rows[i].text);
		if (error.position != rows[i].position || !strstr(error.text, rows[i].words))
			fail_msg("%s: %d %s", rows[i].text, (int)error.position, error.text);
	}
}

static void the_largest_filter_fits(void **state)
{
	struct tally_filter_program program;
	struct tally_error error;
	struct tally_buf to = {0};
	char text[101];
	const struct moment moment = usual();

	(void)state;
	tally_buf_text(&to, "!(comm == a)");
	for (int i = 1; i < TALLY_FILTER_TESTS_MOST; i++)
		tally_buf_text(&to, i % 2 ? " && !(comm == b)" : " && !(period & 0x1)");
	assert_int_equal(tally_filter_compile(tally_buf_str(&to), &program, &error), 0);
	assert_int_equal(run(&program, &moment), 1);
	tally_buf_text(&to, " || cpu == 1");
	assert_int_equal(tally_filter_compile(tally_buf_str(&to), &program, &error), -EINVAL);
	assert_non_null(strstr(error.text, "at most 64 tests"));
	tally_buf_done(&to);
	memset(text, '(', 100);
	text[100] = 0;
	assert_int_equal(tally_filter_compile(text, &program, &error), -EINVAL);
	memset(text, '!', 100);
	assert_int_equal(tally_filter_compile(text, &program, &error), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_true_is_kept),
	    cmocka_unit_test(trees_are_those_of_c),
	    cmocka_unit_test(long_names_are_compared_as_the_kernel_keeps_them),
	    cmocka_unit_test(a_test_of_addr_needs_the_field),
	    cmocka_unit_test(mistakes_have_a_column),
	    cmocka_unit_test(the_largest_filter_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
