/* Prints the header of a recording: machine, command, events. */
#include <stdio.h>
#include <tally/header.h>

int main(int argc, char **argv)
{
	struct tally_data *data;
	int result = tally_data_open(argc > 1 ? argv[1] : "perf.data", NULL, &data, NULL);

	if (result)
		return 1;
	result = tally_header_text(data, 0, stdout);
	tally_data_close(data);
	return result ? 1 : 0;
}
