#include "session/test.h"

#include <stdlib.h>
#include "session/resolver.h"

void tally_session_set_test(struct tally_session *session, const struct tally_sample_test *test)
{
	session->test = test;
}

const struct tally_sample_test *tally_session_take_test(struct tally_session *session)
{
	const struct tally_sample_test *test = session->test;

	session->test = NULL;
	return test;
}

int tally_session_test(const struct tally_session *session, unsigned worker,
		       struct tally_resolver *resolver, const struct tally_resolved *sample)
{
	const struct tally_sample_test *test = session->test;

	return test ? test->passes(test->context, worker, resolver, sample) : 1;
}

struct tally_resolver *tally_resolver_new(struct tally_session *session)
{
	struct tally_resolver *resolver = table_apart(1, sizeof(*resolver));

	if (resolver && tally_resolver_init(resolver, session)) {
		free(resolver);
		return NULL;
	}
	if (resolver)
		resolver->names_only = true;
	return resolver;
}

void tally_resolver_free(struct tally_resolver *resolver)
{
	if (resolver)
		tally_resolver_done(resolver);
	free(resolver);
}
