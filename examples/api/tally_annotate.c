/* Prints the hottest instruction of the hottest functions. */
#include <stdio.h>
#include <tally/annotate.h>

static void print_hottest(const struct tally_annotation *annotation, size_t number)
{
	struct tally_annotated_function function = {.size = sizeof(function)};
	struct tally_instruction instruction = {.size = sizeof(instruction)};
	struct tally_instruction hottest = {.size = 0};
	struct tally_listing *listing;
	struct tally_error error;

	tally_annotation_function(annotation, number, &function);
	printf("%6.2f%% %s\n", function.share * 100,
	       function.frame.symbol ? function.frame.symbol : "(no symbol)");
	if (tally_listing_new(annotation, number, false, &listing, &error)) {
		printf("        %s\n", error.text);
		return;
	}
	/* samples of the first event */
	for (size_t i = 0; !tally_listing_instruction(listing, i, &instruction); i++)
		if (!hottest.size || instruction.samples[0] > hottest.samples[0])
			hottest = instruction;
	if (hottest.size)
		printf("        %llx: %s %s, %llu samples\n", (unsigned long long)hottest.address,
		       hottest.mnemonic, hottest.operands, (unsigned long long)hottest.samples[0]);
	tally_listing_free(listing);
}

int main(int argc, char **argv)
{
	const struct tally_session_options options = {
	    .size = sizeof(options), .functions = true, .columns = TALLY_COLUMN_COUNT};
	struct tally_annotation *annotation = NULL;
	struct tally_session *session = NULL;
	struct tally_data *data = NULL;
	struct tally_error error;

	if (tally_data_open(argc > 1 ? argv[1] : "perf.data", NULL, &data, &error) ||
	    tally_session_new(data, &options, &session, &error) ||
	    tally_annotation_new(session, NULL, &annotation, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	for (size_t i = 0; i < 3 && i < tally_annotation_function_count(annotation); i++)
		print_hottest(annotation, i);
	tally_annotation_free(annotation);
	tally_session_free(session);
	tally_data_close(data);
	return 0;
}
