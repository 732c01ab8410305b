/* What resource-requests says of quantities that Kubernetes reads otherwise than they are meant. */
#include "kube/container.h"
#include "kube/placeholder.h"
#include "policy/rails/resource_requests.h"

enum { CPU_MILLI = 1000 };

/* The number before the one letter that is its unit; empty when it is written otherwise. */
static struct text digits_before(struct text t, char unit)
{
    struct text digits = {t.data, t.size - 1};
    return t.size > 1 && t.data[t.size - 1] == unit && text_is_digits(digits) ? digits : TEXT("");
}

/* Memory of less than a megabyte, which no container runs in. */
static bool is_of_bytes(const struct amount *amount)
{
    static const int64_t least_milli = 1000000000;
    return TEXT_IS_ONE_OF(amount->field->key, "memory", "ephemeral-storage") && amount->milli > 0 &&
           amount->milli < least_milli;
}

bool resource_is_slip(const struct amount *amount)
{
    return is_of_bytes(amount) && (amount->milli < 1000 || text_is_digits(amount->text) ||
                                   digits_before(amount->text, 'm').size > 0);
}

static struct text fix_of_bytes(const struct text written, struct arena *arena)
{
    enum { LONGEST = 5 };
    struct text digits = text_is_digits(written) ? written : digits_before(written, 'm');
    bool giga = text_is_digits(written) && written.size == 1;
    if (digits.size > 0 && digits.size <= LONGEST)
        return arena_printf(arena, "Write %.*s%s.", TEXT_ARGS(digits), giga ? "Gi" : "Mi");
    return text_is_digits(written) ? TEXT("Give it a unit, as in 512Mi.")
                                   : TEXT("Write megabytes or more, as in 512Mi.");
}

/* "512m" and "512" of memory, where 512Mi is meant. */
static void judge_bytes(struct rail_call *call, const struct amount *amount)
{
    static const int64_t byte_milli = 1000;
    long long bytes = amount->milli / byte_milli;
    if (!is_of_bytes(amount))
        return;
    if (bytes == 0)
        report_found(call, SEVERITY_RAIL, amount->field, amount->text,
                     fix_of_bytes(amount->text, call->arena), "\"%.*s\" is less than one byte.%s",
                     TEXT_ARGS(amount->text),
                     digits_before(amount->text, 'm').size > 0 ? " The unit m is a thousandth."
                                                               : "");
    else
        report_found(call, resource_is_slip(amount) ? SEVERITY_RAIL : SEVERITY_WARN, amount->field,
                     amount->text, fix_of_bytes(amount->text, call->arena),
                     "\"%.*s\" is %lld byte%s, and no container runs in that.",
                     TEXT_ARGS(amount->text), bytes, bytes == 1 ? "" : "s");
}

/* "500M", where 500m is meant. */
static void judge_cpus(struct rail_call *call, const struct amount *amount, int64_t most_milli)
{
    static const int64_t million_milli = 1000000000;
    struct text millions = digits_before(amount->text, 'M');
    if (amount->milli < million_milli || amount->milli > most_milli)
        return;
    report_found(call, SEVERITY_RAIL, amount->field, amount->text,
                 millions.size > 0 ? arena_printf(call->arena, "Write %.*sm.", TEXT_ARGS(millions))
                                   : TEXT("Write a number of CPUs, as in 250m or 2."),
                 "\"%.*s\" is more CPUs than any machine has.%s", TEXT_ARGS(amount->text),
                 millions.size > 0 ? " The unit M is a million." : "");
}

static void judge_quantity(struct rail_call *call, const struct field *field,
                           int64_t most_cpu_milli)
{
    struct amount amount;
    amount_read(field, &amount);
    if (!amount.written || text_has_placeholder(amount.text))
        return;
    if (!amount.valid)
        report_found(call, SEVERITY_RAIL, field, amount.text,
                     TEXT("Write a number with a unit, as in 250m, 2, 512Mi or 4Gi."),
                     "\"%.*s\" is no quantity, so the API server refuses it.",
                     TEXT_ARGS(amount.text));
    else if (text_is(field->key, "cpu"))
        judge_cpus(call, &amount, most_cpu_milli);
    else
        judge_bytes(call, &amount);
}

/* "10240m" beside 512Mi, where one CPU is meant: machines have a gigabyte and more for each CPU, so
 * that nearly all memory of the node stays unused. */
static void judge_proportion(struct rail_call *call, const struct field *requests,
                             int64_t most_cpu_milli)
{
    enum { LEAST_CPU_MILLI = 10 * CPU_MILLI };
    static const int64_t least_bytes_a_cpu = INT64_C(128) << 20;
    struct amount cpu, memory;
    amount_read(field_get(call->arena, requests, "cpu"), &cpu);
    struct text tenth = digits_before(cpu.text, 'm');
    if (!cpu.valid || cpu.milli < LEAST_CPU_MILLI || cpu.milli > most_cpu_milli ||
        !text_ends_with(tenth, TEXT("0")))
        return;
    amount_read(field_get(call->arena, requests, "memory"), &memory);
    if (!memory.valid || memory.milli / cpu.milli >= least_bytes_a_cpu)
        return;
    tenth.size--;
    report_found(call, SEVERITY_WARN, cpu.field, cpu.text,
                 arena_printf(call->arena, "Write %.*sm if that is meant.", TEXT_ARGS(tenth)),
                 "\"%.*s\" is %g CPUs, beside only %.*s of memory.", TEXT_ARGS(cpu.text),
                 (double)cpu.milli / CPU_MILLI, TEXT_ARGS(memory.text));
}

void resource_slips_judge(struct rail_call *call, const struct field *container,
                          int64_t most_cpu_milli)
{
    struct arena *arena = call->arena;
    const struct field *resources = field_get(arena, container, "resources");
    const struct field *requests = field_get(arena, resources, "requests");
    FOR_MEMBERS(request, arena, requests)
        judge_quantity(call, request, most_cpu_milli);
    FOR_MEMBERS(limit, arena, field_get(arena, resources, "limits"))
        judge_quantity(call, limit, most_cpu_milli);
    judge_proportion(call, requests, most_cpu_milli);
}
