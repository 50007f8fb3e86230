/* Temporary files that no other process can find. */
#ifndef TALLY_TAR_UNLINKED_H
#define TALLY_TAR_UNLINKED_H

/* The folder that such files are made in: $TMPDIR, else /var/tmp. */
const char *tally_unlinked_folder(void);

/* A descriptor of an empty file without a name; in memory when TMPDIR is not set and there is no
 * /var/tmp, as in a chroot that holds little more than this program.  Or -errno. */
int tally_unlinked_open(void);

#endif
