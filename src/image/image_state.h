/* The insides of a store and its images, shared by the files of this folder only. */
#ifndef TALLY_IMAGE_IMAGE_STATE_H
#define TALLY_IMAGE_IMAGE_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include "base/arena.h"
#include "base/map.h"
#include "elf/budget.h"
#include "elf/debug_places.h"
#include "elf/elf_file.h"
#include "image/dump_image.h"
#include "image/grown_map.h"
#include "image/image.h"
#include "image/inlines.h"
#include "kallsyms/kallsyms.h"
#include "image/shown.h"
#include "elf/symbol_steps.h"
#include "elf/symbol_table.h"

/* What mappings said of the recorded kernel. */
struct tally_kernel_facts {
	uint64_t anchor;                     /* the first that a key had */
	const char *anchor_name;             /* "_text", "_stext" */
	uint8_t recorded_size, recorded[20]; /* its build-id */
};

struct tally_image_store {
	struct tally_image_options options; /* its strings are the store's own, none is NULL but
					     * kallsyms and vmlinux */
	char *cache;                        /* perf's build-id cache, or NULL */

	pthread_mutex_t lock; /* of what follows, up to the kernel */
	struct tally_arena arena;
	struct tally_map by_path; /* hash of path -> number + 1 of the newest image of that hash */
	struct tally_image **images; /* NULL: forgotten */
	size_t count, room, forgotten;

	pthread_mutex_t kernel_lock; /* kallsyms is parsed once */
	bool kernel_loaded;
	bool kernel_cached; /* `kallsyms` lacks what the cache omits, */
	struct tally_kallsyms kallsyms;
	uint64_t kernel_shift; /* from where the running kernel is to where it was recorded */
	bool live_loaded;
	struct tally_kallsyms live; /* and this has it */
	char *kernel_why;
	struct tally_kernel_facts facts; /* under lock */
};

struct tally_image {
	struct tally_image_store *store;
	uint32_t number;
	uint32_t next; /* number + 1 of the next image of the same path hash */
	uint64_t hash; /* of by_path */
	enum tally_image_kind kind;
	char *path, *name;
	uint32_t pid;
	uint64_t start, offset; /* of its first mapping */
	bool data;
	uint64_t ino;
	uint8_t build_id_size, build_id[20]; /* as recorded */
	uint8_t found_id_size, found_id[20]; /* of the file that was loaded */
	bool is_32_bit;                      /* as well */
	uint64_t vmlinux_shift; /* the kernel: from addresses of the file to recorded ones */

	atomic_bool loaded;
	pthread_mutex_t lock; /* of loading, and of demangling after that */
	struct tally_symbol_table own;
	const struct tally_symbol_table *table; /* &own, or a module's of the store */
	struct tally_symbol_steps steps;
	bool demangle;
	struct tally_shown shown;
	struct tally_arena arena; /* symbols and names that were shown */
	char *why;
	bool stripped;              /* it has but the names that it exports, and `why` says so */
	struct tally_budget budget; /* of its names that are made, shown ones too */
	char *left_out;             /* of its symbols: in a line; NULL: nothing was */

	pthread_mutex_t lines_lock;          /* taken before `lock`, when both are */
	struct tally_lines *_Atomic lines;   /* NULL: not asked for yet */
	struct data_types *types;            /* data_accesses.c; NULL: not asked for yet */
	bool code_asked;                     /* whether code_fd is known */
	int code_fd;                         /* of the binary; below 0: there is none */
	struct tally_tar_run *left_out_code; /* an archive's binary lacks these */
	size_t left_out_code_count;
	char *code; /* the vdso's bytes, once loaded; NULL: none */
	size_t code_size;

	struct tally_grown_map grown;    /* of code made at run time, by a perf map */
	struct tally_jitdump *dump;      /* NULL: it is none, or cannot be read */
	struct tally_strings dump_files; /* of its lines; under lines_lock */
};

/* Fill image->table, or image->why; -ENOMEM at worst.  Called once, under the image's lock. */
int tally_image_load_file(struct tally_image *image);
int tally_image_load_recorded(struct tally_image *image); /* -ENOENT: the recording has none */
int tally_image_load_vdso(struct tally_image *image);
int tally_image_load_anon(struct tally_image *image);
/* Reads its map again, if that is another one or has more than before. Nobody may look up
 * meanwhile. 0 or -ENOMEM. */
int tally_image_read_map_on(struct tally_image *image);
int tally_image_load_kernel(struct tally_image *image); /* and modules */
int tally_image_load_dump(struct tally_image *image);

/* Takes the symbols of an ELF file that is complete in itself.  Their number, or -ENOMEM. */
int64_t tally_image_take_elf(struct tally_image *image, const struct tally_elf *elf);

/* Opens the file that the kernel's symbols are from, when --vmlinux named it, and, when it has no
 * debug information, a separate file that has; as the function below. */
int tally_image_open_vmlinux(const struct tally_image *image, struct tally_elf *ret_binary,
			     struct tally_elf *ret_debug);

/* Opens the binary of a loaded image, and, when it has no debug information, the separate file that
 * may: either can be missing (its elf is NULL).  Both are the caller's to close.  0 or -ENOENT. */
int tally_image_open_files(const struct tally_image *image, struct tally_elf *ret_binary,
			   struct tally_elf *ret_debug);

/* Opens the binary alone; the caller's to close.  0 or -ENOENT. */
int tally_image_open_binary(const struct tally_image *image, struct tally_elf *ret);

/* As tally_image_open_files(), where the binary is at another path than the image's. */
int tally_image_open_files_at(const struct tally_image *image, const char *path,
			      struct tally_elf *ret_binary, struct tally_elf *ret_debug);

/* Whether the recorded kernel is known to be of another release than the running one. */
bool tally_image_other_release(const struct tally_image_store *store);

/* Opens the [vdso] that an image is of: our own, or that of its build-id in perf's cache. *ret_data
 * (and its size) is what it stands on, the caller's to free() once it is closed.  0; -ENOENT: of
 * this kind there is none; -ENOEXEC; -ESTALE: it is of another build than the recorded; -ENOMEM. */
int tally_image_open_vdso(const struct tally_image *image, struct tally_elf *ret, char **ret_data,
			  size_t *ret_size);

/* Where to keep what takes long to make, the caller's to free(); NULL: nowhere. */
char *tally_image_cache_folder(const struct tally_image_store *store);

/* The text that the kernel's symbols were read from, or would be; the caller's to free(); and the
 * recorded build-id of the kernel.  -ENOENT, when there are none for this kernel; -errno. */
int tally_image_kallsyms_text(struct tally_image_store *store, char **ret, size_t *ret_size,
			      uint8_t ret_id[20], uint8_t *ret_id_size);

/* How far the recorded (else the running) kernel is from where its file says. */
uint64_t tally_image_vmlinux_shift(struct tally_image_store *store, const struct tally_elf *elf);
/* Whether the recorded kernel runs here, as far as is known, and how far it was recorded from where
 * it is now. */
bool tally_image_kernel_runs(struct tally_image_store *store, uint64_t *ret_shift);
/* Whether a build-id may be the recorded kernel's. */
bool tally_image_is_kernel_id(struct tally_image_store *store, const uint8_t *id, uint8_t id_size);
/* kernel_code.c: as tally_image_read() for the kernel and its modules. */
int64_t tally_image_read_kernel(struct tally_image *image, uint64_t address, void *to, size_t size);

/* Whether the recording is in an archive. */
bool tally_image_is_archived(const struct tally_image_store *store);
/* The member of archives that belongs to the image; NULL: there is none. */
const struct tally_tar_member *tally_image_member(const struct tally_image *image,
						  const char *leaf);

/* Sets image->why, replacing what it said. */
void tally_image_explain(struct tally_image *image, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Sets *line, unless it is set, to the words that so much of the binary is left out. */
void tally_image_leave_out(const struct tally_image *image, char **line, const char *what,
			   uint64_t allowed);

#endif
