/* A recording in a thread of its own, into memory. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <tally/data.h>
#include "base/fail.h"
#include "base/option_struct.h"
#include "base/pool.h"
#include "file/live.h"
#include "recorder/recorder_state.h"

#define STREAM_PIPE_SIZE (1 << 20)

static void *run_started(void *context)
{
	struct tally_recorder *recorder = context;

	recorder->code = tally_recorder_run(recorder, &recorder->result, &recorder->error);
	/* Nothing more comes, whatever was the reason. */
	if (recorder->stream_fd >= 0)
		close(recorder->stream_fd);
	recorder->stream_fd = -1;
	return NULL;
}

int tally_recorder_start(struct tally_recorder *recorder, struct tally_data **ret,
			 struct tally_error *error)
{
	int fds[2], code;

	if (recorder->started || recorder->ran)
		return tally_fail(error, -EALREADY, -1, "this recorder has run already");
	if (recorder->rings.threads)
		return tally_fail(error, -EINVAL, -1, "several threads write files, not a stream");
	if (pipe2(fds, O_CLOEXEC))
		return tally_fail(error, -errno, -1, "pipe: %s", strerror(errno));
	fcntl(fds[0], F_SETPIPE_SZ, STREAM_PIPE_SIZE);
	recorder->stream_fd = fds[1];
	recorder->streams = true;
	recorder->result.size = sizeof(recorder->result);
	/* Without SIGPIPE, should the reader go away. */
	code = tally_thread_start_quiet(&recorder->thread, run_started, recorder);
	recorder->started = !code;
	if (code) {
		close(fds[0]);
		return tally_fail(error, code, -1, "no thread to record in: %s", strerror(-code));
	}
	code = tally_data_open_live(fds[0], "the live stream", recorder->options.keep, ret, error);
	if (!code)
		return 0;
	/* Without a stream the recording failed, and its own words say why. */
	tally_recorder_stop(recorder, 0);
	pthread_join(recorder->thread, NULL);
	recorder->started = false;
	if (recorder->code)
		code = tally_fail(error, recorder->code, recorder->error.position, "%s",
				  recorder->error.text);
	return code;
}

int tally_recorder_finish(struct tally_recorder *recorder, struct tally_recorder_result *ret,
			  struct tally_error *error)
{
	if (!recorder->started)
		return tally_fail(error, -EINVAL, -1, "this recorder was not started");
	pthread_join(recorder->thread, NULL);
	recorder->started = false;
	if (recorder->code)
		return tally_fail(error, recorder->code, recorder->error.position, "%s",
				  recorder->error.text);
	return tally_result_copy(ret, sizeof(recorder->result), &recorder->result);
}
