/* Any string as a filter of samples, and as one of code: it is accepted, or an error says where it
 * is wrong; jumps of a program stay within it. */
#include <linux/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "filter/filter_program.h"
#include "probe/code_filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_program(const struct tally_filter_program *program)
{
	if (program->count < 4 || program->count > TALLY_FILTER_INSNS_MOST ||
	    program->insns[program->count - 1].code != (BPF_JMP | BPF_EXIT))
		abort();
	for (size_t i = 0; i < program->count; i++) {
		const struct bpf_insn *insn = &program->insns[i];

		if ((insn->code & 7) == BPF_JMP && insn->code != (BPF_JMP | BPF_CALL) &&
		    insn->code != (BPF_JMP | BPF_EXIT) &&
		    (insn->off < 0 || i + 1 + (size_t)insn->off >= program->count))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tally_filter_program program;
	struct tally_error error = {0};
	char *text = malloc(size + 1), *made = NULL;
	int result;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	result = tally_filter_compile(text, &program, &error);
	if (!result)
		check_program(&program);
	else if (error.code != result || !error.text[0] || error.position > (int64_t)strlen(text))
		abort();
	if (!strchr(text, '@')) { /* files are not opened here */
		result = tally_code_filter_resolve(text, "/nonexistent", &made, &error);
		if (result && (error.code != result || !error.text[0]))
			abort();
		free(made);
	}
	free(text);
	return 0;
}
