/* SPDX-License-Identifier: ISC */
/* DELETE: what can be seen goes at once, what takes time goes elsewhere. */
#include "spawner/link/peers.h"
#include "spawner/session/push.h"
#include "spawner/session/session.h"
#include "wire/handlers.h"

int
spawn_on_delete(struct msg *m)
{
	struct session *s = session_find(&m->hdr.session);
	struct sid id = s->id;
	struct asker a;

	if (msg_end(m) == -1 || !asker_init(&a, m, "DELETE"))
		return -1;
	session_free(s);
	answer(&a, &id, ERR_OK, NULL);
	return 0;
}
