/* SPDX-License-Identifier: ISC */
/*
 * A tracer's process that has been taken over, or that does no more than the
 * request says: what the spawner makes of either.
 */
#define ROGUE_NAME	"tracer"
#define ROGUE_ROLE	ROLE_TRACER
#define ROGUE_OTHER	MSG_DBG_KILL

#include <errno.h>
#include <sched.h>

#include "rogue_inst.h"
#include "tracer/sysfilter.h"
#include "wire/tracer_audit.h"
#include "wire/insthello.h"

/* Counts and contents of the spawner's messages. */
static struct {
	struct trc_hello hello;
	uint32_t	 pid, inner, rans, rings, bells, ended, code, signal;
	uint32_t	 failures, symbols, nosymbols, nfiles;
	uint32_t	 nused;
	uint64_t	 total, used;
	char		 failure[64], why[300];
	int		 files[TRC_FILES];
} told;

static void
done(void)
{
	reply("{\"mode\":\"done\"}");
}

static void
many(enum msg_type type, int n, unsigned int nv, const uint32_t *v)
{
	while (n-- > 0)
		send_u32s(type, nv, v);
	done();
}

static void
bad_phase(void)
{
	send_u32s(MSG_TRC_STATE, 3, (const uint32_t[3]){ TRC_PHASES });
}

static void
bad_pid(void)
{
	send_u32s(MSG_TRC_STATE, 3, (const uint32_t[3]){ 0, 0, UINT32_MAX });
}

static void
short_state(void)
{
	send_u32s(MSG_TRC_STATE, 1, (const uint32_t[1]){ 0 });
}

static void
states(void)
{
	uint32_t v[3] = { 0, 0, 0 };

	for (; v[1] < MANY; v[1]++) {
		v[0] = v[1] % TRC_PHASES;
		send_u32s(MSG_TRC_STATE, 3, v);
	}
	done();
}

/* More than any answer may have, in pieces that are in order. */
static void
much(void)
{
	static char text[60 * 1024];
	int i;

	memset(text, ' ', sizeof(text));
	for (i = 0; i < 100; i++)
		reply_to(request, conn, INST_MORE, text, sizeof(text));
}

static void
order(const char *cwd, const char *argv, size_t len, uint32_t flags)
{
	struct msg_out *o = msg_new(MSG_TRC_RUN, NULL, 0, 0);

	msg_put_str(o, cwd);
	msg_put_blob(o, argv, len);
	msg_put_blob(o, "A=b", 4);
	msg_put_u32(o, flags);
	(void)chan_send(&chan, o, -1);
}

static void
runs(void)
{
	static const char argv[] = "/bin/sleep\0" "1000";
	int i;

	for (i = 0; i < 200; i++)
		order("/", argv, sizeof(argv), 0);
	done();
}

static void
bad_run(void)
{
	order("/", "/bin/sleep", 10, 0);
}

static void
bad_run_flags(void)
{
	order("/", "/bin/true", 10, 1U << 30);
}

static void
bad_run_cwd(void)
{
	order("tmp", "/bin/true", 10, 0);
}

static void
go(void)
{
	send_u32s(MSG_TRC_LET_GO, 0, NULL);
	done();
}

static void
lets_go(void)
{
	many(MSG_TRC_LET_GO, MANY, 0, NULL);
}

static void
symbols(void)
{
	send_u32s(MSG_TRC_WANT_SYMBOLS, 0, NULL);
	done();
}

static void
many_symbols(void)
{
	many(MSG_TRC_WANT_SYMBOLS, 100, 0, NULL);
}

static void
files(void)
{
	send_u32s(MSG_TRC_WANT_FILES, 0, NULL);
	done();
}

/* The answers are more than anybody keeps for who does not read them. */
static void
deaf_files(void)
{
	struct msg_hdr h = { .type = MSG_TRC_WANT_FILES };
	int i;

	for (i = 0; i < MANY; i++)
		while (send(3, &h, sizeof(h), MSG_NOSIGNAL) == -1)
			if (errno != EAGAIN || sched_yield() == -1)
				return;
}

static void
used(void)
{
	send_u32s(MSG_TRC_WANT_USED, 0, NULL);
	done();
}

static void
arms(void)
{
	many(MSG_INST_ARM, MANY, 2, (const uint32_t[2]){ 0, 0 });
}

static void
arm(void)
{
	many(MSG_INST_ARM, 1, 2, (const uint32_t[2]){ 0, 0 });
}

static void
bye(void)
{
	reply_to(request, conn, INST_LAST, "{\"mode\":\"done\"}", 15);
}

static void
fails(void)
{
	reply_to(request, conn, INST_FAILED, "{\"code\":\"NO\"}", 13);
}

static void
tracing(void)
{
	send_u32s(MSG_TRC_STATE, 3,
	    (const uint32_t[3]){ TRC_TRACING, 42, told.pid });
	done();
}

static void
over(void)
{
	send_u32s(MSG_TRC_STATE, 3, (const uint32_t[3]){ TRC_OVER, 0, 0 });
	done();
}

/* Actions of unknown requests are ignored; a request's first one counts. */
static void
actions(void)
{
	uint32_t i;

	for (i = 0; i < MANY; i++)
		does(request + 1 + i, TRC_ACTION_STOP);
	does(request, TRC_ACTION_LAUNCH);
	does(request, TRC_ACTION_STOP);
	send_u32s(MSG_INST_LEFT, 0, NULL);
	done();
}

static void
bad_action(void)
{
	does(request, TRC_ACTION_COUNT);
}

static void
no_action(void)
{
	does(request, TRC_ACTION_NONE);
}

/* The timeline's files have what the process before has written there. */
static void
keep(void)
{
	int i;

	for (i = 0; i < TRC_FILES; i++)
		if (told.files[i] == 0 ||
		    pwrite(told.files[i], "kept", 4, 0) != 4)
			return;
	done();
}

static void
facts(void)
{
	char text[4096], kept[5] = "";

	if (told.files[TRC_FILE_WAL] != 0)
		(void)!pread(told.files[TRC_FILE_WAL], kept, 4, 0);
	(void)snprintf(text, sizeof(text), "{\"mode\":\"facts\",\"made\":%d,"
	    "\"resumed\":%d,\"hello_files\":%u,\"target\":%u,\"pid\":%u,"
	    "\"inner\":%u,\"rans\":%u,\"rings\":%u,\"bells\":%u,"
	    "\"ended\":%u,\"code\":%u,\"signal\":%u,\"failures\":%u,"
	    "\"failure\":\"%s\",\"symbols\":%u,\"nosymbols\":%u,"
	    "\"files\":%u,\"kept\":\"%s\",\"budget\":%llu,\"calls\":%llu,"
	    "\"output\":%llu,\"user\":%llu,\"nused\":%u,\"used\":%llu,"
	    "\"home\":\"%s\",\"session\":\"%s\","
	    "\"program\":\"%s\",\"self\":%d}",
	    told.hello.made, told.hello.resumed, told.hello.nfiles,
	    told.hello.inst.target_pid, told.pid, told.inner, told.rans,
	    told.rings, told.bells, told.ended, told.code, told.signal,
	    told.failures, told.failure, told.symbols, told.nosymbols,
	    told.nfiles, kept, (unsigned long long)told.hello.budget,
	    (unsigned long long)told.hello.calls_bytes,
	    (unsigned long long)told.hello.output_bytes,
	    (unsigned long long)told.hello.user_bytes, told.nused,
	    (unsigned long long)told.used, told.hello.inst.home,
	    told.hello.inst.session, told.hello.inst.program, (int)getpid());
	reply(text);
}

/* "run PATH", of a program without arguments. */
static void
run(const char *p)
{
	char path[1024];
	size_t n = strcspn(p, "\"");

	(void)snprintf(path, sizeof(path), "%.*s", (int)n, p);
	order("/", path, n == 0 ? 0 : strlen(path) + 1, 0);
	done();
}

static const struct mode modes[] = {
	COMMON_MODES,
	{ "bad-phase", bad_phase }, { "bad-pid", bad_pid },
	{ "short-state", short_state }, { "states", states },
	{ "much", much }, { "runs", runs }, { "bad-run", bad_run },
	{ "bad-run-flags", bad_run_flags }, { "bad-run-cwd", bad_run_cwd },
	{ "go", go }, { "lets-go", lets_go }, { "symbols", symbols },
	{ "many-symbols", many_symbols }, { "files", files },
	{ "deaf-files", deaf_files }, { "used", used }, { "arms", arms },
	{ "arm", arm },
	{ "bye", bye }, { "fails", fails }, { "tracing", tracing },
	{ "over", over }, { "actions", actions }, { "bad-action", bad_action },
	{ "no-action", no_action }, { "keep", keep }, { "facts", facts },
};

#define MSG(name, from, to, min, max, fd, states, refusal, handler)	\
	int handler(struct msg *);
#include "wire/msgs.def"
#undef MSG

int
inst_on_request(struct msg *m)
{
	const char *json, *p;
	size_t len;

	if (do_mode(m, modes, sizeof(modes) / sizeof(modes[0]), &json, &len))
		return 0;
	if ((p = after(json, len, "run")) != NULL)
		run(p);
	else if ((p = after(json, len, "raw")) != NULL)
		raw(p);
	else
		reply("{\"mode\":\"good\"}");
	return 0;
}

int
tracer_on_hello(struct msg *m)
{
	trc_hello_get(m, &told.hello);
	return msg_end(m);
}

int
tracer_on_file(struct msg *m)
{
	uint32_t i = msg_get_u32(m);

	if (msg_end(m) == -1 || i >= TRC_FILES)
		return -1;
	told.nfiles++;
	if (told.files[i] == 0)
		told.files[i] = msg_take_fd(m);
	return 0;
}

int
inst_on_ring(struct msg *m)
{
	told.rings++;
	(void)msg_get_u32(m);
	return msg_end(m);
}

int
inst_on_output_notice(struct msg *m)
{
	told.bells++;
	told.total = msg_get_u64(m);
	return msg_end(m);
}

int
tracer_on_ran(struct msg *m)
{
	told.rans++;
	told.pid = msg_get_u32(m);
	told.inner = msg_get_u32(m);
	return msg_end(m);
}

int
inst_on_run_failed(struct msg *m)
{
	told.failures++;
	msg_get_str(m, told.failure, sizeof(told.failure));
	msg_get_str(m, told.why, sizeof(told.why));
	return msg_end(m);
}

int
tracer_on_ended(struct msg *m)
{
	told.ended++;
	told.code = msg_get_u32(m);
	told.signal = msg_get_u32(m);
	return msg_end(m);
}

int
tracer_on_used(struct msg *m)
{
	told.used = msg_get_u64(m);
	told.nused++;
	return msg_end(m);
}

/* They are kept: each ends with its channel. */
int
tracer_on_symbols(struct msg *m)
{
	told.symbols++;
	(void)msg_take_fd(m);
	return msg_end(m);
}

int
tracer_on_symbols_failed(struct msg *m)
{
	told.nosymbols++;
	msg_get_str(m, told.why, sizeof(told.why));
	return msg_end(m);
}

IGNORE(inst_on_gone)
IGNORE(tracer_on_sym_opened)
IGNORE(tracer_on_sym_index)
IGNORE(tracer_on_sym_typed)
IGNORE(tracer_on_sym_failed)

int
main(void)
{
	return rogue_main(&tracer_filter);
}
