/* Prints a name from outside so that no terminal acts on it, and what was probably meant. */
#include <stdio.h>
#include <tally/text.h>

int main(void)
{
	const char *const known[] = {"report", "record", "stat"};
	const char *meant = tally_text_nearest("recrod", known, 3);
	char name[64];

	tally_text_escape("bad\x1b[2Jname", name, sizeof(name));
	printf("%s\n", name);
	printf("recrod: did you mean %s?\n", meant ? meant : "something else");
	return 0;
}
