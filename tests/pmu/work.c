/* Runs the loop as often as asked: `work ROUNDS`. */
#include <stdlib.h>
#include "loop.h"

int main(int argc, char **argv)
{
	loop(argc > 1 ? strtoull(argv[1], NULL, 10) : 1000);
	return 0;
}
