/* Reads for how long a pod opts out of disruption. */
#include "kube/opt_out.h"

#include "kube/object.h"
#include "kube/time.h"

/* Takes a decimal fraction off the beginning: its digits, and the power of ten that divides them.
 */
static bool take_number(struct text *t, double *digits, double *scale)
{
    bool point = false;
    bool some = false;
    *digits = 0;
    *scale = 1;
    for (; t->size > 0; t->data++, t->size--) {
        char c = t->data[0];
        if (c == '.' && !point) {
            point = true;
            continue;
        }
        if (c < '0' || c > '9')
            break;
        some = true;
        *digits = 10 * *digits + (c - '0');
        *scale *= point ? 10 : 1;
    }
    return some;
}

static bool take_unit(struct text *t, double *unit_ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {
        {"h", 3600e9}, {"ms", 1e6}, {"m", 60e9},        {"s", 1e9},
        {"ns", 1},     {"us", 1e3}, {"\xc2\xb5s", 1e3}, {"\xce\xbcs", 1e3},
    };
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        struct text name = text_of(units[i].name);
        if (text_starts_with(*t, name)) {
            *t = (struct text){t->data + name.size, t->size - name.size};
            *unit_ns = units[i].ns;
            return true;
        }
    }
    return false;
}

/* In nanoseconds a fraction of an hour comes out even: 1.1h is 66m, and no more. */
bool opt_out_duration(struct text t, double *ns)
{
    static const double longest_ns = (double)INT64_MAX;
    *ns = 0;
    if (text_starts_with(t, TEXT("+")))
        t = (struct text){t.data + 1, t.size - 1};
    while (t.size > 0) {
        double digits = 0;
        double scale = 1;
        double unit_ns = 0;
        if (!take_number(&t, &digits, &scale) || !take_unit(&t, &unit_ns))
            return false;
        *ns += digits * unit_ns / scale;
    }
    return *ns > 0 && *ns <= longest_ns;
}

bool opt_out_of_pod(const struct object *pod, int64_t now_unix_s, int64_t *until_unix_s)
{
    struct text value = object_annotation(pod, OPT_OUT);
    double duration_ns = 0;
    int64_t start = 0;
    *until_unix_s = INT64_MAX;
    if (value.size == 0)
        return false;
    if (text_is(value, "true"))
        return true;
    if (!opt_out_duration(value, &duration_ns))
        return false;
    if (!time_parse(node_string(node_at(pod->root->node, "status.startTime")), &start))
        return true;
    double end = (double)start + duration_ns / 1e9;
    if (end <= (double)now_unix_s)
        return false;
    int64_t whole = (int64_t)end;
    *until_unix_s = (double)whole < end ? whole + 1 : whole;
    return true;
}
