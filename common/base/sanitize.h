/* SPDX-License-Identifier: ISC */
/*
 * Whether this is a build with the address sanitizer: confinements leave its
 * run time room to tell of a bug before the process dies of it.
 */
#ifndef DL_SANITIZE_H
#define DL_SANITIZE_H

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED	1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED	1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED	0
#endif

#endif
