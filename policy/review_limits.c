/* What policies say of the time that a review may take (spec.limits). */
#include "policy/document.h"

/* Without a word of it: no honest review takes a tenth of this time, and manifests/base gives two
 * seconds. */
enum { CPU_MS_DEFAULT = 500, TIMEOUT_S_DEFAULT = 2, MARGIN_US_MAX = 1000000 };

const struct key review_limit_keys[] = {
    {.name = "cpuMilliseconds",
     .type = KEY_INTEGER,
     .offset = offsetof(struct document, policy.limits.cpu_ms),
     .summary = "the time of the processor that one review may take; what is not judged by then "
                "is denied where a rail in enforce guards it; absent: 500, or half of what "
                "timeoutSeconds leaves when that is less",
     .given_offset = offsetof(struct document, policy.limits.cpu_given),
     .minimum = 10,
     .maximum = 29000},
    {.name = "timeoutSeconds",
     .type = KEY_INTEGER,
     .offset = offsetof(struct document, policy.limits.timeout_s),
     .summary = "how long the API server waits for an answer, which `taffrail render` writes into "
                "the webhook configurations; absent: 2",
     .given_offset = offsetof(struct document, policy.limits.timeout_given),
     .minimum = 1,
     .maximum = 30},
    {0},
};

int64_t review_margin_us(int64_t timeout_us)
{
    return timeout_us / 2 < MARGIN_US_MAX ? timeout_us / 2 : MARGIN_US_MAX;
}

int64_t policy_set_timeout_s(const struct policy_set *policies)
{
    int64_t least_s = 0;
    for (size_t i = 0; i < policies->count; i++) {
        const struct review_limits *limits = &policies->items[i].limits;
        if (limits->timeout_given && (least_s == 0 || limits->timeout_s < least_s))
            least_s = limits->timeout_s;
    }
    return least_s;
}

/* What is left of the API server's timeout for judging. */
static int64_t time_us(const struct policy_set *policies)
{
    int64_t timeout_s = policy_set_timeout_s(policies);
    int64_t timeout_us = (timeout_s == 0 ? TIMEOUT_S_DEFAULT : timeout_s) * 1000000;
    return timeout_us - review_margin_us(timeout_us);
}

int64_t policy_set_cpu_limit_us(const struct policy_set *policies)
{
    const int64_t default_us = CPU_MS_DEFAULT * INT64_C(1000);
    int64_t half_us = time_us(policies) / 2;
    int64_t least_us = default_us < half_us ? default_us : half_us;
    bool given = false;
    for (size_t i = 0; i < policies->count; i++) {
        const struct review_limits *limits = &policies->items[i].limits;
        if (limits->cpu_given && (!given || limits->cpu_ms * 1000 < least_us))
            least_us = limits->cpu_ms * 1000;
        given |= limits->cpu_given;
    }
    return least_us;
}

/* ---- loading ---- */

void review_limits_note_place(const struct schema *schema, const struct field *spec,
                              struct review_limits *limits)
{
    const struct field *cpu = field_at(schema->arena, spec, "limits.cpuMilliseconds");
    limits->place = source_place(schema->source, schema->arena, field_offset(cpu));
}

void review_limits_settle(const struct policy_set *policies, struct problems *errors)
{
    int64_t least_ms = time_us(policies) / 1000;
    int64_t timeout_s = policy_set_timeout_s(policies);
    for (size_t i = 0; i < policies->count; i++) {
        const struct review_limits *limits = &policies->items[i].limits;
        if (!limits->cpu_given || limits->cpu_ms < least_ms)
            continue;
        problems_add(errors, ERROR_POLICY, limits->place,
                     "spec.limits.cpuMilliseconds: found %lld, which a timeoutSeconds of %lld%s "
                     "leaves no room for: less than %lld is allowed, or raise timeoutSeconds",
                     (long long)limits->cpu_ms,
                     (long long)(timeout_s == 0 ? TIMEOUT_S_DEFAULT : timeout_s),
                     timeout_s == 0 ? " (the default)" : "", (long long)least_ms);
    }
}
