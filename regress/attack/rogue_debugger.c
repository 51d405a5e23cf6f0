/* SPDX-License-Identifier: ISC */
/*
 * A debugger's process that has been taken over.  The request says what the
 * process does; an unknown request is just answered.  The process has the
 * filter of the debugger that it replaces, as an attacker in there would.
 */
#define ROGUE_NAME	"debugger"
#define ROGUE_ROLE	ROLE_DEBUGGER
#define ROGUE_OTHER	MSG_TRC_LET_GO

#include "common/wire/debugger_audit.h"
#include "debugger/sysfilter.h"
#include "rogue_inst.h"

static void
bad_phase(void)
{
	const uint32_t v[] = { 99, 0, 0, 0, 0 };

	send_u32s(MSG_DBG_STATE, 5, v);
}

static void
bad_state(void)
{
	const uint32_t v[] = { DBG_STOPPED, UINT32_MAX, 0, 0, 0 };

	send_u32s(MSG_DBG_STATE, 5, v);
}

static void
short_state(void)
{
	const uint32_t v[] = { DBG_STOPPED };

	send_u32s(MSG_DBG_STATE, 1, v);
}

static void
states(void)
{
	uint32_t v[] = { DBG_RUNNING, 0, 0, 0, 0 };
	int i;

	for (i = 0; i < MANY; i++) {
		v[0] = i % 2 ? DBG_RUNNING : DBG_STOPPED;
		v[1] = (uint32_t)i + 1;
		send_u32s(MSG_DBG_STATE, 5, v);
	}
	reply("{\"mode\":\"done\"}");
}

static void
drain(int n)
{
	static const uint32_t always[2];

	while (n-- > 0) {
		send_u32s(MSG_DBG_DRAIN, 0, NULL);
		send_u32s(MSG_INST_ARM, 2, always);
	}
	reply("{\"mode\":\"done\"}");
}

static void
drains(void)
{
	drain(MANY / 10);
}

/* The answers are more than anybody keeps for who does not read them. */
static void
deaf_drains(void)
{
	drain(MANY * 10);
}

static void
order(uint32_t flags, const char *argv, size_t len)
{
	struct msg_out *o = msg_new(MSG_DBG_RUN, NULL, 0, 0);

	msg_put_u32(o, flags);
	msg_put_str(o, "rogue");
	msg_put_str(o, "/");
	msg_put_blob(o, argv, len);
	msg_put_blob(o, "", 0);
	msg_put_blob(o, "", 0);
	(void)chan_send(&chan, o, -1);
}

static void
runs(void)
{
	static const char argv[] = "/bin/sleep\0" "1000";
	int i;

	for (i = 0; i < 200; i++)
		order(0, argv, sizeof(argv));
	reply("{\"mode\":\"done\"}");
}

static void
host_run(void)
{
	static const char argv[] = "/bin/sleep\0" "1000";

	order(DBG_RUN_HOST, argv, sizeof(argv));
	reply("{\"mode\":\"done\"}");
}

static void
beside_run(void)
{
	static const char argv[] = "/bin/sleep\0" "1000";

	order(DBG_RUN_BESIDE, argv, sizeof(argv));
	reply("{\"mode\":\"done\"}");
}

static void
bad_run(void)
{
	order(0, "/bin/sleep", 10);
}

static void
bad_run_flags(void)
{
	order(1U << 30, "/bin/true", 10);
}

static void
kills(void)
{
	int i;

	for (i = 0; i < MANY; i++)
		send_u32s(MSG_DBG_KILL, 0, NULL);
	reply("{\"mode\":\"done\"}");
}

/* Actions of unknown requests are ignored; a request's first one counts. */
static void
actions(void)
{
	uint32_t i;

	for (i = 0; i < MANY; i++)
		does(request + 1 + i, DBG_ACTION_raw);
	does(request, DBG_ACTION_pause);
	does(request, DBG_ACTION_raw);
	send_u32s(MSG_INST_LEFT, 0, NULL);
	reply("{\"mode\":\"done\"}");
}

static void
bad_action(void)
{
	does(request, DBG_ACTION_COUNT);
}

static void
no_action(void)
{
	does(request, DBG_ACTION_NONE);
}

/* "claims PID", or more of them than any program has. */
static void
claims(const char *text)
{
	uint32_t v[] = { DBG_RUNNING, (uint32_t)strtoul(text, NULL, 10), 0, 0,
	    0 };

	send_u32s(MSG_DBG_STATE, 5, v);
	reply("{\"mode\":\"done\"}");
}

static void
pids(void)
{
	uint32_t v[] = { DBG_RUNNING, 1, 0, 0, 0 };

	for (; v[1] < 20; v[1]++)
		send_u32s(MSG_DBG_STATE, 5, v);
	reply("{\"mode\":\"done\"}");
}

/* It says all that it has to, and has gone before any of it is read. */
static void
last_words(void)
{
	uint32_t v[] = { DBG_RUNNING, 1, 0, 0, 0 };

	for (; v[1] < 20; v[1]++) {
		send_u32s(MSG_DBG_STATE, 5, v);
		reply_to(request, conn, INST_MORE, v[1] == 1 ? "{" : " ", 1);
	}
	reply("\"mode\":\"done\"}");
	_exit(0);
}

static const struct mode modes[] = {
	COMMON_MODES,
	{ "bad-phase", bad_phase }, { "bad-state", bad_state },
	{ "short-state", short_state }, { "states", states },
	{ "drains", drains }, { "deaf-drains", deaf_drains },
	{ "runs", runs }, { "host-run", host_run },
	{ "beside-run", beside_run }, { "bad-run", bad_run },
	{ "bad-run-flags", bad_run_flags }, { "kills", kills },
	{ "pids", pids }, { "last-words", last_words }, { "actions", actions },
	{ "bad-action", bad_action },
	{ "no-action", no_action },
};

int	inst_on_request(struct msg *);

int
inst_on_request(struct msg *m)
{
	const char *json, *p;
	size_t len;

	if (do_mode(m, modes, sizeof(modes) / sizeof(modes[0]), &json, &len))
		return 0;
	if ((p = after(json, len, "claims")) != NULL)
		claims(p);
	else if ((p = after(json, len, "raw")) != NULL)
		raw(p);
	else
		reply("{\"mode\":\"good\"}");
	return 0;
}

IGNORE(debugger_on_hello)
IGNORE(inst_on_ring)
IGNORE(inst_on_gone)
IGNORE(debugger_on_fd)
IGNORE(debugger_on_ran)
IGNORE(inst_on_run_failed)
IGNORE(debugger_on_ended)
IGNORE(debugger_on_drained)
IGNORE(inst_on_output_notice)

int
main(void)
{
	return rogue_main(&debugger_filter);
}
