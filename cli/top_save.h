/* The newest samples of a live recording, as a file, and by instruction. */
#ifndef TALLY_CLI_TOP_SAVE_H
#define TALLY_CLI_TOP_SAVE_H

#include <tally/annotate.h>
#include <tally/data.h>

/* Saves them; a file of that name is renamed to NAME.old, as of `tally record`.  0 or -errno with
 * words. */
int top_save(const struct tally_data *data, const char *path, struct tally_error *error);
/* As struct browser_source has them; `options` are of the session that is made of the samples. */
int top_annotate(const struct tally_data *data, const struct tally_session_options *options,
		 const struct tally_frame *function, struct tally_annotation **ret, void **ret_kept,
		 struct tally_error *error);
void top_annotate_done(void *kept);

#endif
