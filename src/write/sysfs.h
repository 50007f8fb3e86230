/* Reads small files below a real or made-up root, for facts about the machine. */
#ifndef TALLY_WRITE_SYSFS_H
#define TALLY_WRITE_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first line of a file, without blanks at its end; the caller's to free().  NULL: there is no
 * such file. */
char *tally_file_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A file's number; false if there is no file or no number in it. */
bool tally_file_number(int64_t *ret, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The names in a directory, ascending; NULL-terminated array, freed by tally_file_names_free(). */
char **tally_file_names(size_t *ret_count, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void tally_file_names_free(char **names);
/* The value after "key" and its colon in a text of such lines, blanks trimmed; the caller's to
 * free().  NULL: no such line. */
char *tally_file_value(const char *text, const char *key);
/* The CPUs of sysfs below root: one past the highest that is present, and those online. */
void tally_file_cpus(const char *root, uint32_t *ret_available, uint32_t *ret_online);

#endif
