/* Binaries: the file behind a mapping, its symbols, and names for addresses.
 *
 * A store holds each image once.  Symbol tables are loaded on first need, by any thread; after that
 * an image is read only.  Places in an image are FILE OFFSETS (ip - map.start + map.pgoff) where
 * there is a file, plain addresses where there is none: tally_image_places_are_addresses() says
 * which. */
#ifndef TALLY_IMAGE_IMAGE_H
#define TALLY_IMAGE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "elf/symbol.h"

struct tally_symbol_list;
struct tally_debug_places;
struct tally_image_store;
struct tally_image;

/* What the first mapping of an image said of it. */
struct tally_image_origin {
	const char *path;
	uint64_t start, offset;
	bool addresses; /* tally_image_places_are_addresses() */
};

struct tally_image_options {
	size_t size;
	const char *symfs;      /* prefix of every binary's path; NULL: "" */
	const char *debug_root; /* NULL: /usr/lib/debug */
	const char *root;       /* of proc and sys; NULL: "/" */
	const char *kallsyms;   /* NULL: root/proc/kallsyms */
	const char *vmlinux;    /* NULL: none but kallsyms */
	/* That was recorded, "": none was; NULL: it is the running one.  Without a build-id of it,
	 * names of a kernel of another release are not used. */
	const char *kernel_release;
	const char *kcore; /* a copy of the recorded kernel's memory; NULL: none */
	bool no_demangle;
	bool no_symbols; /* files are read for their code and call frame information only */
	/* Where the running kernel's symbols are kept between runs, as reading them from the kernel
	 * takes longer than most reports.  NULL: "tally" in $XDG_CACHE_HOME, else in $HOME/.cache
	 * (none when neither is set or is ours, or with another `root`); "": nowhere.  Unused with
	 * `kallsyms`.  A folder that cannot be written, or others may write, is done without. */
	const char *cache_dir;
	const char *build_id_dir; /* perf's cache of binaries; NULL: $HOME/.debug */
	/* Other places (elf/debug_places.h), borrowed until the store is freed; NULL: none.  Of a
	 * recording in an archive nothing of this machine is used that no build-id proves to be
	 * the recorded one. */
	const struct tally_debug_places *places;
	/* Opens a binary by its build-id which is at its path no more, or for nobody but a process
	 * that has ended: a descriptor, or -ENOENT. Any thread calls it. NULL: nobody has such. */
	int (*open_held)(void *context, const uint8_t *id, uint8_t id_size);
	void *held;
	/* Adds the symbols that the recording has itself of an image, which then are its only ones:
	 * their number (0: it has none), or -ENOMEM; *ret_some: the recording has more than are
	 * taken.  Any thread calls it.  NULL: unused. */
	int64_t (*add_recorded)(void *context, const struct tally_image_origin *image,
				struct tally_symbol_list *list, bool *ret_some);
	void *recorded;
};

int tally_image_store_new(const struct tally_image_options *options,
			  struct tally_image_store **ret);
void tally_image_store_free(struct tally_image_store *store);

/* Reads what files that grow while code is made have more by now; nobody else may use the images
 * meanwhile.  0 or -ENOMEM. */
int tally_image_store_read_on(struct tally_image_store *store);

enum tally_image_kind {
	TALLY_IMAGE_FILE,
	TALLY_IMAGE_KERNEL, /* [kernel.kallsyms] */
	TALLY_IMAGE_MODULE, /* [ext4], or a .ko path */
	TALLY_IMAGE_VDSO,
	TALLY_IMAGE_ANON, /* //anon, [heap], [stack], /dev/zero, memfd: no file to read; perf maps
			   */
	TALLY_IMAGE_DUMP, /* jit-PID.dump: code made at run time, by places in that file */
};

/* What a mapping says of its file. */
struct tally_image_key {
	const char *path;                    /* as the record has it */
	uint32_t pid;                        /* for /proc/PID/root and perf maps; 0: none */
	bool kernel;                         /* cpumode is kernel */
	uint64_t ino;                        /* 0: unknown */
	uint8_t build_id_size, build_id[20]; /* size 0: unknown */
	const char *vmlinux; /* kernel: the file that was its symbols' when recorded; NULL: none */
	bool data;           /* the mapping is not executable: no perf map is looked for */
	bool made; /* code made at run time, whose recorded symbols have addresses of the process */
	uint64_t start, offset; /* of the mapping */
	uint64_t
	    anchor; /* kernel: where the symbol named behind the ']' of `path` was when recorded
		     * ("[kernel.kallsyms]_text": the record's pgoff); 0: unknown.  The first key
		     * that has it counts: a kernel loaded elsewhere since then is shifted back. */
};

/* Finds or adds; never NULL but when out of memory.  Cheap; reads no file yet.  Thread safe. */
struct tally_image *tally_image_get(struct tally_image_store *store,
				    const struct tally_image_key *key);

/* Frees the images that are not kept, for a store that is used for days. Their numbers are given
 * again; others keep theirs. `keep` is asked twice about each. Nobody may use the store meanwhile,
 * nor a forgotten image after that. 0 or -ENOMEM, and then all are kept. */
typedef bool (*tally_image_keep_fn)(void *context, const struct tally_image *image);
int tally_image_store_forget(struct tally_image_store *store, tally_image_keep_fn keep,
			     void *context);

uint32_t tally_image_number(const struct tally_image *image); /* 0.. in order of arrival */
enum tally_image_kind tally_image_kind(const struct tally_image *image);
const char *tally_image_path(const struct tally_image *image);
const char *
tally_image_name(const struct tally_image *image); /* short: base name, as perf prints */

/* The process whose perf map is to have the names of this code made at run time; 0: none. */
uint32_t tally_image_map_pid(const struct tally_image *image);

/* Whether places are the sampled addresses themselves (kernel, modules, anonymous memory) and not
 * file offsets (binaries, the vdso). */
bool tally_image_places_are_addresses(const struct tally_image *image);
/* Of the kernel or a module: where it was loaded, by the start and the offset of its mapping; the
 * offset of the kernel's is the address of the symbol that it is named by ("_text").  Of a dump of
 * compiled code, which is another one in each process, TALLY_IMAGE_NO_BASE; else 0. */
#define TALLY_IMAGE_NO_BASE UINT64_MAX
uint64_t tally_image_base(const struct tally_image *image, uint64_t start, uint64_t offset);

/* Index of the symbol that covers `place`, or -ENOENT.  Loads the table at the first call. */
int64_t tally_image_find_symbol(struct tally_image *image, uint64_t place);
size_t tally_image_symbol_count(struct tally_image *image);
/* The places from one that a found symbol covers on which it covers alone: [*ret_from, *ret_until),
 * perhaps without the place itself, which other symbols may cut off. */
void tally_image_symbol_span(const struct tally_image *image, int64_t index, uint64_t *ret_from,
			     uint64_t *ret_until);
/* Where the next symbol begins behind a place that none was found for; UINT64_MAX: nowhere. */
uint64_t tally_image_gap_end(const struct tally_image *image, uint64_t place);
const struct tally_symbol *tally_image_symbol(const struct tally_image *image, int64_t index);

/* Why symbols are missing, in one line ("stripped, and no debug file for build-id ... under ...",
 * "file changed since the recording: build-id X, recorded Y", "kptr_restrict=2 hides ..."), or NULL
 * when a table was loaded that is more than the names which a stripped library exports. */
const char *tally_image_why_no_symbols(const struct tally_image *image);

/* What is left out of the symbols and source lines of an image so far, because it would take more
 * memory than the size of the binary allows: each a line, which lives as long as the image. */
typedef void (*tally_image_line_fn)(void *context, const char *line);
void tally_image_each_left_out(struct tally_image *image, tally_image_line_fn visit, void *context);

#endif
