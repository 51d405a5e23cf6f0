/* SPDX-License-Identifier: ISC */
/* flags: -static */
/* Prints its effective ids: what a set-user-id program is given. */
#include <stdio.h>
#include <unistd.h>

int
main(void)
{
	printf("euid=%u\negid=%u\n", geteuid(), getegid());
	return 0;
}
