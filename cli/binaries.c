#include "binaries.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "build_id_folder.h"
#include "command.h"
#include "say.h"

static int check(const char *command, const char *option, const char *path)
{
	if (!path || !access(path, R_OK))
		return 0;
	cli_say(command, "%s: %s cannot be read: %s", option, path, strerror(errno));
	return CLI_FAILED;
}

int cli_binaries_apply(const char *command, const struct cli_binaries *binaries,
		       struct tally_session_options *to)
{
	const char *vmlinux = binaries->ignore_vmlinux ? NULL : binaries->vmlinux;
	int status = check(command, "--symfs", binaries->symfs);

	if (!status)
		status = check(command, "--kallsyms", binaries->kallsyms);
	if (!status)
		status = check(command, "--vmlinux", vmlinux);
	to->symfs = binaries->symfs;
	to->kallsyms = binaries->kallsyms;
	to->vmlinux = vmlinux;
	to->build_id_dir = cli_build_id_folder(binaries->build_id_dir, binaries->usual_dir);
	to->debug_dirs = (const char *const *)binaries->debug_dirs.items;
	to->debug_dir_count = binaries->debug_dirs.count;
	to->no_demangle = binaries->no_demangle;
	to->recorded_symbols = binaries->recorded_symbols;
	to->no_inlines = binaries->inlines == CLI_INLINE_NONE;
	to->inlines = binaries->inlines == CLI_INLINE_ALL;
	return status;
}

void cli_binaries_fit(const struct cli_binaries *binaries, const struct tally_data *data,
		      struct tally_session_options *to)
{
	if (binaries->inlines == CLI_INLINE_USUAL && tally_data_info(data)->stacks.count)
		to->inlines = true;
}

void cli_binaries_done(struct cli_binaries *binaries)
{
	cli_list_done(&binaries->debug_dirs);
}
