/* Prints the bits of branches, registers and clocks by their words. */
#include <stdio.h>
#include <tally/sample_words.h>

int main(void)
{
	struct tally_error error;
	uint64_t branches, registers;
	const char *word;
	int32_t clock;

	if (tally_branch_filter_parse("any_call,u", &branches, &error) ||
	    tally_clock_parse("monotonic", &clock, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	printf("any_call,u is 0x%llx, monotonic is %d\n", (unsigned long long)branches, clock);
	if (tally_registers_parse(NULL, &registers, &error) == 0)
		printf("all registers are 0x%llx\n", (unsigned long long)registers);
	for (size_t i = 0; (word = tally_branch_filter_word(i, NULL)); i++)
		printf("branches: %s\n", word);
	for (size_t i = 0; (word = tally_register_word(i)); i++)
		printf("register: %s\n", word);
	for (size_t i = 0; (word = tally_clock_word(i, NULL)); i++)
		printf("clock: %s\n", word);
	return 0;
}
