/* Private to server/: the changes of a verdict in the form of an answer. */
#ifndef TAFFRAIL_SERVER_PATCH_H
#define TAFFRAIL_SERVER_PATCH_H

#include "base/base.h"

/* The JSON patch (RFC 6902) in base64. */
struct text patch_print(const struct patch_op *changes, size_t count, struct arena *arena);

#endif
