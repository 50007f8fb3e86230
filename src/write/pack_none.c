/* Stands in for pack.c where libzstd is missing. */
#include "write/pack.h"

#include <errno.h>

int tally_pack_new(int level, struct file_pack **ret)
{
	(void)level;
	(void)ret;
	return -ENOTSUP;
}

void tally_pack_free(struct file_pack *pack)
{
	(void)pack;
}

int tally_pack_add(struct file_pack *pack, const struct iovec *iov, int count, struct tally_buf *to)
{
	(void)pack;
	(void)iov;
	(void)count;
	(void)to;
	return -ENOTSUP;
}
