/* Money as text. Amounts are in micro-dollars. */
#ifndef TAFFRAIL_CATALOG_USD_H
#define TAFFRAIL_CATALOG_USD_H

#include "base/base.h"

/* The length of a month in cloud bills. */
enum { HOURS_A_MONTH = 730 };

/* What comes to more than can be counted is INT64_MAX. */
int64_t usd_a_month(int64_t usd_micro_per_hour);
int64_t usd_sum(int64_t a, int64_t b);
/* "1,198.66" with two decimals. */
struct text usd_text(int64_t usd_micro, int decimals, struct arena *arena);
/* "$1,198.66" */
struct text usd_dollars(int64_t usd_micro, struct arena *arena);

#endif
