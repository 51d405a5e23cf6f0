/* SPDX-License-Identifier: ISC */
/* DEPS: one probe of the host answers everybody who asked meanwhile. */
#include <stdlib.h>

#include "deps.h"
#include "spawner/client/answer.h"
#include "spawner/link/peers.h"
#include "wire/handlers.h"
#include "wire/role.h"

static struct asker	*waiting;	/* malloc'ed; one of each connection */
static size_t		 nwaiting;
static uint64_t		 probe_serial;	/* 0 = no probe under way */

void
deps_launcher_lost(void)
{
	size_t i;

	probe_serial = 0;
	for (i = 0; i < nwaiting; i++)
		answer(&waiting[i], NULL, ERR_TRY_AGAIN, NULL);
	nwaiting = 0;
}

int
spawn_on_deps(struct msg *m)
{
	struct asker a, *more;

	if (msg_end(m) == -1 || !asker_init(&a, m, NULL))
		return -1;
	more = nwaiting >= settings.max_connections ? NULL :
	    reallocarray(waiting, nwaiting + 1, sizeof(*more));
	if (more == NULL) {
		answer(&a, NULL, ERR_BUSY, NULL);
		return 0;
	}
	waiting = more;
	waiting[nwaiting++] = a;
	/* a probe starts processes: one at a time for all askers */
	if (probe_serial != 0)
		return 0;
	probe_serial = next_serial();
	if (chan_send(&launcher_chan,
	    msg_new(MSG_PROBE, NULL, 0, probe_serial), -1) == -1)
		deps_launcher_lost();
	return 0;
}

/* The rows are text for people; here it counts that they are rows. */
static int
check_rows(struct msg m)	/* a copy: reading moves its position */
{
	uint32_t n = msg_get_u32(&m), i;
	size_t len;

	for (i = 0; i < n && !m.bad; i++) {
		(void)msg_get_blob(&m, &len);
		(void)msg_get_blob(&m, &len);
		(void)msg_get_u32(&m);
		(void)msg_get_u32(&m);
		(void)msg_get_blob(&m, &len);
	}
	return msg_end(&m);
}

int
spawn_on_probed(struct msg *m)
{
	struct msg_out *o;
	const void *rows;
	size_t len, i;

	if (check_rows(*m) == -1)
		return -1;
	rows = msg_get_rest(m, &len);
	if (m->hdr.request == 0 || m->hdr.request != probe_serial)
		return 0;
	probe_serial = 0;
	for (i = 0; i < nwaiting; i++) {
		o = answer_new(&waiting[i], MSG_DEPS_ROWS, NULL);
		msg_put_bytes(o, rows, len);
		(void)answer_with(&waiting[i], o, -1);
	}
	nwaiting = 0;
	return 0;
}
