/* The caller's remaining time: the API server sends it in the query, as Go writes a duration: 10s,
 * 1m0s, 1.5s (docs/reference/admission.md 1.7). */
#include "base/duration.h"
#include "server/http.h"

static const double day_micros = 86400e6; /* a longer time makes no difference */

static int64_t duration_micros(struct text duration)
{
    struct duration_part part;
    double sum = 0;
    while (duration.size > 0) {
        if (!duration_take(&duration, &part))
            return 0;
        sum += ((double)part.number + part.fraction) * (double)part.unit_ns / 1e3;
    }
    return (int64_t)(sum < day_micros ? sum : day_micros);
}

int64_t target_timeout_us(struct text target)
{
    struct text query, parameter, name, value;
    if (!text_split(target, '?', NULL, &query))
        return 0;
    while (query.size > 0) {
        if (!text_split(query, '&', &parameter, &query)) {
            parameter = query;
            query.size = 0;
        }
        if (text_split(parameter, '=', &name, &value) && text_is(name, "timeout"))
            return duration_micros(value);
    }
    return 0;
}
