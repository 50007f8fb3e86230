#include "session/filter.h"

#include "session/session.h"

void tally_session_set_filter(struct tally_session *session,
			      const struct tally_sample_filter *filter)
{
	session->filter = filter;
}

const struct tally_sample_filter *tally_session_filter(const struct tally_session *session)
{
	return session->filter;
}

int tally_filter_ask(const struct tally_sample_filter *filter, struct tally_filter_call *call)
{
	const struct tally_own_filter *own = call->own;
	int result = filter->early ? filter->early(filter->context, call) : TALLY_FILTER_KEEP;

	call->dropped_early = result != TALLY_FILTER_KEEP;
	call->early_text = filter->text(filter->context)->size;
	/* Without a late part nobody asks here what the sink leaves out. */
	if (result || !filter->late)
		return result;
	if (own->skips && own->skips(own->context, call->sample))
		return TALLY_FILTER_DROP;
	if (own->filtered) {
		result = filter_call_join(call);
		if (result)
			return result;
		if (own->filtered(own->context, call->resolver, call->sample))
			return TALLY_FILTER_DROP;
	}
	return filter->late(filter->context, call);
}

bool tally_session_is_filtered(const struct tally_session *session)
{
	return session->filter || session->test;
}

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
