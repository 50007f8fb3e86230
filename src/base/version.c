#include <tally/version.h>

const char *tally_version(void)
{
	return TALLY_VERSION;
}
