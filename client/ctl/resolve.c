/* SPDX-License-Identifier: ISC */
/*
 * Meaning of a host without a scheme: a daemon that is known, one that
 * announces itself, or the plain port.
 */
#include "client/lib/report.h"
#include "client/lib/target.h"
#include "known.h"
#include "mdns.h"
#include "resolve.h"

/*
 * A host that was known to speak TLS is never spoken to without: who sits
 * between could have it otherwise.
 */
static int
resolve_host(struct target *t)
{
	bool known, tls = t->kind == TARGET_TLS;
	int code;

	code = known_port(t, &known);
	if (code != CTL_OK)
		return code;
	if (known)
		t->kind = TARGET_TLS;
	else if (t->port_given || target_is_loopback(t) ||
	    !mdns_lookup(t, tls))
		t->kind = tls ? TARGET_TLS : TARGET_PLAIN;
	t->port_given = true;
	return CTL_OK;
}

int
target_resolve(struct target *t)
{
	if (t->kind == TARGET_HOST || (t->kind == TARGET_TLS &&
	    !t->port_given))
		return resolve_host(t);
	return CTL_OK;
}
