/* Parts of `tally info --json`. */
#ifndef TALLY_INFO_INFO_JSON_H
#define TALLY_INFO_INFO_JSON_H

#include <tally/data.h>
#include "base/json.h"

/* An object with a member a pair. */
void tally_info_pairs_json(struct json *json, const struct tally_data_pairs *pairs);
/* The members of "machine". */
void tally_info_machine_json(struct json *json, const struct tally_data_info *info);
/* "build_ids", "bpf_programs", "files": arrays with their keys. */
void tally_info_programs_json(struct json *json, const struct tally_data_info *info);

#endif
