/* A key that changes when the running kernel's symbols do. */
#ifndef TALLY_IMAGE_KERNEL_KEY_H
#define TALLY_IMAGE_KERNEL_KEY_H

#include <stdint.h>

/* Written to files as it is: no pointers, no padding. */
struct tally_kernel_key {
	char
	    boot[40]; /* /proc/sys/kernel/random/boot_id: addresses change with each boot (KASLR) */
	uint8_t build_id[20]; /* of /sys/kernel/notes, zeros when it has none */
	uint32_t reader;      /* what decides whether addresses are shown to us; see there */
	uint64_t modules;     /* hash of /proc/modules: names, sizes, states, addresses */
	uint64_t namespace;   /* of users: capabilities count only in the first */
};

/* 0, or -errno when two boots look the same. */
int tally_kernel_key_read(const char *root, struct tally_kernel_key *ret);

#endif
