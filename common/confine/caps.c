/* SPDX-License-Identifier: ISC */
/* Capability sets, by system call: libcap would be one more library to trust. */
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <errno.h>
#include <linux/capability.h>
#include <unistd.h>

#include "caps.h"

#define CAPS_MAX	64

static const struct __user_cap_header_struct header = {
	.version = _LINUX_CAPABILITY_VERSION_3,
};

int
caps_set(uint64_t keep, uint64_t inherit)
{
	struct __user_cap_header_struct h = header;
	struct __user_cap_data_struct d[2];
	int i;

	for (i = 0; i < 2; i++) {
		d[i].effective = d[i].permitted = (uint32_t)(keep >> (32 * i));
		d[i].inheritable = (uint32_t)(inherit >> (32 * i));
	}
	return syscall(SYS_capset, &h, d) == -1 ? -1 : 0;
}

int
caps_raise(uint64_t raise)
{
	struct __user_cap_header_struct h = header;
	struct __user_cap_data_struct d[2];
	int i;

	if (syscall(SYS_capget, &h, d) == -1)
		return -1;
	for (i = 0; i < 2; i++)
		d[i].effective = (uint32_t)(raise >> (32 * i));
	return syscall(SYS_capset, &h, d) == -1 ? -1 : 0;
}

int
caps_bound(uint64_t keep)
{
	int cap;

	for (cap = 0; cap < CAPS_MAX; cap++) {
		if (keep & CAP_BIT(cap))
			continue;
		/* the kernel's last capability is found by EINVAL */
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == -1)
			return errno == EINVAL ? 0 : -1;
	}
	return 0;
}

int
caps_ambient(uint64_t raise)
{
	int cap;

	for (cap = 0; cap < CAPS_MAX; cap++)
		if (raise & CAP_BIT(cap) && prctl(PR_CAP_AMBIENT,
		    PR_CAP_AMBIENT_RAISE, cap, 0, 0) == -1)
			return -1;
	return 0;
}

int
caps_ambient_clear(void)
{
	return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
}

uint64_t
caps_effective(void)
{
	struct __user_cap_header_struct h = header;
	struct __user_cap_data_struct d[2];

	if (syscall(SYS_capget, &h, d) == -1)
		return 0;
	return d[0].effective | (uint64_t)d[1].effective << 32;
}
