/* Rows as reports list them: largest first, then by their text. */
#ifndef TALLY_PROFILE_ROW_ORDER_H
#define TALLY_PROFILE_ROW_ORDER_H

#include "profile/row_list.h"

/* Sorts rows->list and makes rows->event_first.  0 or -ENOMEM. */
int tally_row_order_make(const struct tally_rows_plan *plan, const struct tally_contexts *contexts,
			 const struct tally_places *places, struct tally_rows *rows);

#endif
