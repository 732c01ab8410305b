/* Kinds as people write them on a command line. */
#ifndef TAFFRAIL_CLI_KIND_ARGUMENT_H
#define TAFFRAIL_CLI_KIND_ARGUMENT_H

#include "kube/kind.h"

/* As kubectl has them: a name, a plural, a short name, in any case. KIND_UNKNOWN: none of these. */
enum kind kind_of_argument(struct text argument);

#endif
