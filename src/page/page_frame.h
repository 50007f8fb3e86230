/* The page without a recording's data: what comes before and after it.  tools/embed-page makes both
 * of web/. */
#ifndef TALLY_PAGE_PAGE_FRAME_H
#define TALLY_PAGE_PAGE_FRAME_H

#include <stddef.h>

extern const char tally_page_before[], tally_page_after[];
extern const size_t tally_page_before_size, tally_page_after_size;
/* The style and script of flame graphs that stand alone. */
extern const char tally_page_svg_style[], tally_page_svg_script[];
extern const size_t tally_page_svg_style_size, tally_page_svg_script_size;

#endif
