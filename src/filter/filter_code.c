/* A tree of tests to instructions of BPF.
 *
 * r6 is the sample; each test loads its value to r0 and what it is compared with to r2, and jumps
 * to a label, or goes on. Sources: Documentation/bpf/standardization/instruction-set.rst,
 * linux/bpf.h for the numbers of functions, linux/bpf_perf_event.h for the sample. */
#include <errno.h>
#include <linux/bpf_perf_event.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/fail.h"
#include "filter/filter_tree.h"

/* Where the address of the instruction is. */
#if defined(__x86_64__)
#define IP_OFFSET offsetof(struct bpf_perf_event_data, regs.rip)
#elif defined(__aarch64__)
#define IP_OFFSET offsetof(struct bpf_perf_event_data, regs.pc)
#endif

/* The initial namespace of processes: PROC_PID_INIT_INO of include/linux/proc_ns.h. */
#define FIRST_PID_NAMESPACE 0xeffffffcu

#define COMM_SLOT (-FILTER_COMM_ROOM) /* on the program's stack */

struct coding {
	const struct filter_tree *tree;
	struct tally_filter_program *program;
	int16_t labels; /* in use; a jump has its label in .off until the end */
	size_t places[TALLY_FILTER_TESTS_MOST * 2 + 2]; /* instruction that a label is before */
	uint8_t jumps[TALLY_FILTER_INSNS_MOST];         /* whether .off is a label */
};

static void add(struct coding *coding, uint8_t code, unsigned to, unsigned from, int16_t off,
		int32_t imm)
{
	coding->program->insns[coding->program->count++] = (struct bpf_insn){
	    .code = code, .dst_reg = to & 15u, .src_reg = from & 15u, .off = off, .imm = imm};
}

static void add_jump(struct coding *coding, uint8_t code, unsigned to, unsigned from, int16_t label)
{
	coding->jumps[coding->program->count] = 1;
	add(coding, code, to, from, label, 0);
}

static void add_constant(struct coding *coding, unsigned to, uint64_t value)
{
	add(coding, BPF_DW /* BPF_LD and BPF_IMM are 0 */, to, 0, 0, (int32_t)(uint32_t)value);
	add(coding, 0, 0, 0, 0, (int32_t)(uint32_t)(value >> 32));
}

static void add_call(struct coding *coding, int32_t function)
{
	add(coding, BPF_JMP | BPF_CALL, 0, 0, 0, function);
}

static void place_label(struct coding *coding, int16_t label)
{
	coding->places[label] = coding->program->count;
}

static void add_field(struct coding *coding, size_t offset)
{
	add(coding, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_0, BPF_REG_6, (int16_t)offset, 0);
}

/* The value of a term, in r0. Functions of the kernel change r1 to r5. */
static void add_value(struct coding *coding, enum filter_term term)
{
	switch (term) {
	case FILTER_IP:
#ifdef IP_OFFSET
		add_field(coding, IP_OFFSET);
#endif
		break;
	case FILTER_ADDR:
		/* Of other samples the kernel leaves it unset. */
		coding->program->sample_type |= PERF_SAMPLE_ADDR;
		add_field(coding, offsetof(struct bpf_perf_event_data, addr));
		break;
	case FILTER_PERIOD:
		add_field(coding, offsetof(struct bpf_perf_event_data, sample_period));
		break;
	case FILTER_PID:
	case FILTER_TID: /* the process is the upper half */
		add_call(coding, BPF_FUNC_get_current_pid_tgid);
		break;
	case FILTER_UID:
	case FILTER_GID: /* the group is the upper half */
		add_call(coding, BPF_FUNC_get_current_uid_gid);
		break;
	case FILTER_CPU:
		add_call(coding, BPF_FUNC_get_smp_processor_id);
		break;
	default:
		add_call(coding, BPF_FUNC_get_current_cgroup_id);
		break;
	}
	if (term == FILTER_PID || term == FILTER_GID)
		add(coding, BPF_ALU64 | BPF_RSH | BPF_K, BPF_REG_0, 0, 0, 32);
	if (term == FILTER_TID || term == FILTER_UID)
		add(coding, BPF_ALU | BPF_MOV | BPF_X, BPF_REG_0, BPF_REG_0, 0, 0);
}

static enum filter_operator opposite(enum filter_operator op)
{
	static const enum filter_operator of[] = {
	    [FILTER_EQ] = FILTER_NE, [FILTER_NE] = FILTER_EQ, [FILTER_GT] = FILTER_LE,
	    [FILTER_LE] = FILTER_GT, [FILTER_GE] = FILTER_LT, [FILTER_LT] = FILTER_GE,
	};

	return of[op];
}

static void add_number_test(struct coding *coding, const struct filter_node *node, bool when,
			    int16_t label)
{
	static const uint8_t codes[] = {
	    [FILTER_EQ] = BPF_JEQ,    [FILTER_NE] = BPF_JNE, [FILTER_GT] = BPF_JGT,
	    [FILTER_GE] = BPF_JGE,    [FILTER_LT] = BPF_JLT, [FILTER_LE] = BPF_JLE,
	    [FILTER_BITS] = BPF_JSET,
	};
	enum filter_operator op = node->op;

	add_value(coding, node->term);
	add_constant(coding, BPF_REG_2, node->value);
	if (op == FILTER_BITS && !when) {
		/* There is no jump for "has none of the bits". */
		add(coding, BPF_JMP | BPF_JSET | BPF_X, BPF_REG_0, BPF_REG_2, 1, 0);
		add_jump(coding, BPF_JMP /* BPF_JA is 0 */, 0, 0, label);
		return;
	}
	if (!when)
		op = opposite(op);
	add_jump(coding, (uint8_t)(BPF_JMP | codes[op] | BPF_X), BPF_REG_0, BPF_REG_2, label);
}

/* The name of a thread is two words on the stack; the kernel fills what is behind it with NULs. */
static void add_comm_test(struct coding *coding, const struct filter_node *node, bool when,
			  int16_t label)
{
	bool equal = (node->op == FILTER_EQ) == when; /* jump when the names are equal */
	uint64_t words[2];

	memcpy(words, node->comm, sizeof(words));
	add(coding, BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_10, 0, 0);
	add(coding, BPF_ALU64 /* BPF_ADD and BPF_K are 0 */, BPF_REG_1, 0, 0, COMM_SLOT);
	add(coding, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, FILTER_COMM_ROOM);
	add_call(coding, BPF_FUNC_get_current_comm);
	add(coding, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_0, BPF_REG_10, COMM_SLOT, 0);
	add_constant(coding, BPF_REG_2, words[0]);
	if (equal) /* over the four instructions of the second word */
		add(coding, BPF_JMP | BPF_JNE | BPF_X, BPF_REG_0, BPF_REG_2, 4, 0);
	else
		add_jump(coding, BPF_JMP | BPF_JNE | BPF_X, BPF_REG_0, BPF_REG_2, label);
	add(coding, BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_0, BPF_REG_10, COMM_SLOT + 8, 0);
	add_constant(coding, BPF_REG_2, words[1]);
	add_jump(coding, (uint8_t)(BPF_JMP | (equal ? BPF_JEQ : BPF_JNE) | BPF_X), BPF_REG_0,
		 BPF_REG_2, label);
}

/* Jumps to the label when the node is true (`when`) or false, else goes on.  As deep as the tree.
 */
static void add_node(struct coding *coding, uint16_t index, bool when, int16_t label)
{
	const struct filter_node *node = &coding->tree->nodes[index];
	int16_t past;

	switch (node->join) {
	case FILTER_TEST:
		if (node->term == FILTER_COMM)
			add_comm_test(coding, node, when, label);
		else
			add_number_test(coding, node, when, label);
		break;
	case FILTER_NOT:
		add_node(coding, node->left, !when, label);
		break;
	default:
		/* Of an AND that must be false, or an OR that must be true, either side will do. */
		if ((node->join == FILTER_OR) == when) {
			add_node(coding, node->left, when, label);
			add_node(coding, node->right, when, label);
			break;
		}
		past = coding->labels++;
		add_node(coding, node->left, !when, past);
		add_node(coding, node->right, when, label);
		place_label(coding, past);
		break;
	}
}

static void resolve_jumps(struct coding *coding)
{
	for (size_t i = 0; i < coding->program->count; i++) {
		struct bpf_insn *insn = &coding->program->insns[i];

		if (coding->jumps[i])
			insn->off = (int16_t)(coding->places[insn->off] - i - 1);
	}
}

static bool in_first_namespace(void)
{
	struct stat status;

	return stat("/proc/self/ns/pid", &status) || status.st_ino == FIRST_PID_NAMESPACE;
}

static int check(const struct filter_tree *tree, struct tally_error *error)
{
	bool numbers = in_first_namespace();

	for (size_t i = 0; i < tree->count; i++) {
		const struct filter_node *node = &tree->nodes[i];

		if (node->join != FILTER_TEST)
			continue;
		if (!numbers && (node->term == FILTER_PID || node->term == FILTER_TID))
			return tally_fail(error, -EOPNOTSUPP, -1,
					  "a filter compares pid and tid with numbers of the "
					  "machine, and this is a container with others: use -p, "
					  "-t or comm");
#ifndef IP_OFFSET
		if (node->term == FILTER_IP)
			return tally_fail(error, -EOPNOTSUPP, -1,
					  "ip cannot be tested on this kind of processor");
#endif
	}
	return 0;
}

int tally_filter_compile(const char *text, struct tally_filter_program *ret,
			 struct tally_error *error)
{
	struct filter_tree *tree = malloc(sizeof(*tree));
	struct coding *coding = calloc(1, sizeof(*coding));
	int result = tree && coding ? 0 : tally_fail(error, -ENOMEM, -1, "out of memory");

	if (!result)
		result = tally_filter_parse(text, tree, error);
	if (!result)
		result = check(tree, error);
	if (!result) {
		ret->count = 0;
		ret->sample_type = 0;
		coding->tree = tree;
		coding->program = ret;
		coding->labels = 1; /* label 0: the sample is dropped */
		add(coding, BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_6, BPF_REG_1, 0, 0);
		add_node(coding, tree->top, false, 0);
		add(coding, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 1);
		add(coding, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
		place_label(coding, 0);
		add(coding, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0);
		add(coding, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
		resolve_jumps(coding);
	}
	free(coding);
	free(tree);
	return result;
}
