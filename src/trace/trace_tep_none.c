/* Without libtraceevent tracepoints stay bytes. */
#include <errno.h>
#include "base/fail.h"
#include "trace/trace_program.h"

int tally_trace_compiler_new(unsigned long_size, bool big_endian, struct trace_compiler **ret,
			     struct tally_error *error)
{
	(void)long_size;
	(void)big_endian;
	(void)ret;
	return tally_fail(error, -ENOTSUP, -1,
			  "tally was built without libtraceevent, which reads tracepoint formats: "
			  "install libtraceevent-dev and build again");
}

void tally_trace_compiler_free(struct trace_compiler *compiler)
{
	(void)compiler;
}

int tally_trace_compile(struct trace_compiler *compiler, struct tally_arena *arena,
			const struct trace_format_text *format, struct trace_program **ret)
{
	(void)compiler;
	(void)arena;
	(void)format;
	(void)ret;
	return -ENOTSUP;
}
