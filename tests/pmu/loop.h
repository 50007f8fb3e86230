/* Work of which the number of instructions is known. */
#ifndef TALLY_TESTS_PMU_LOOP_H
#define TALLY_TESTS_PMU_LOOP_H

#include <stdint.h>

#define LOOP_INSTRUCTIONS 2 /* a round */

static void __attribute__((noinline)) loop(uint64_t rounds)
{
	__asm__ volatile("1: subs %0, %0, #1\n"
			 "b.ne 1b"
			 : "+r"(rounds)
			 :
			 : "cc");
}

#endif
