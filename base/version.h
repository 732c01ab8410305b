/* The version of this program: of the git tag it is built from (base/version.cmake). */
#ifndef TAFFRAIL_BASE_VERSION_H
#define TAFFRAIL_BASE_VERSION_H

/* As semver.org has it, without a "v". */
extern const char *const taffrail_version;

/* "taffrail/VERSION". */
extern const char *const taffrail_user_agent;

#endif
