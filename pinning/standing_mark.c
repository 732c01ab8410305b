#include "pinning/standing_mark.h"

#include <string.h>

#include "simulation/machines.h"
#include "simulation/pods.h"

/* Strings go in with the zero at their end, lists with their length: no two things look alike. */
struct mark {
    uint64_t hash;
};

static void add_bytes(struct mark *mark, const void *bytes, size_t size)
{
    const unsigned char *data = bytes;
    for (size_t i = 0; i < size; i++)
        mark->hash = (mark->hash ^ data[i]) * 1099511628211ULL;
}

static void add_string(struct mark *mark, const char *string)
{
    static const unsigned char none = 0xff; /* no byte of UTF-8 */
    if (string == NULL)
        add_bytes(mark, &none, 1);
    else
        add_bytes(mark, string, strlen(string) + 1);
}

static void add_number(struct mark *mark, int64_t number)
{
    add_bytes(mark, &number, sizeof number);
}

static void add_labels(struct mark *mark, struct solver_labels labels)
{
    add_number(mark, (int64_t)labels.count);
    for (size_t i = 0; i < labels.count; i++) {
        add_string(mark, labels.items[i].key);
        add_string(mark, labels.items[i].value);
    }
}

static void add_amounts(struct mark *mark, const struct named_amounts *amounts)
{
    add_number(mark, (int64_t)amounts->count);
    for (size_t i = 0; i < amounts->count; i++) {
        add_string(mark, amounts->items[i].resource);
        add_number(mark, amounts->items[i].quantity);
    }
}

static struct mark new_mark(void)
{
    return (struct mark){14695981039346656037ULL};
}

uint64_t mark_of_machine(const struct machine *machine)
{
    struct mark mark = new_mark();
    add_string(&mark, machine->name);
    add_string(&mark, machine->node_name);
    add_labels(&mark, machine->labels);
    add_number(&mark, (int64_t)machine->taints.count);
    for (size_t i = 0; i < machine->taints.count; i++) {
        add_string(&mark, machine->taints.items[i].key);
        add_string(&mark, machine->taints.items[i].value);
        add_number(&mark, (int64_t)machine->taints.items[i].effect);
    }
    add_amounts(&mark, &machine->capacity);
    add_amounts(&mark, &machine->allocatable);
    add_number(&mark, machine->initialized ? 1 : 0);
    add_number(&mark, machine->leaving ? 1 : 0);
    return mark.hash;
}

static void add_expressions(struct mark *mark, struct solver_expressions expressions)
{
    add_number(mark, (int64_t)expressions.count);
    for (size_t i = 0; i < expressions.count; i++) {
        const struct solver_expression *expression = &expressions.items[i];
        add_string(mark, expression->key);
        add_number(mark, (int64_t)expression->op);
        add_number(mark, (int64_t)expression->value_count);
        for (size_t j = 0; j < expression->value_count; j++)
            add_string(mark, expression->values[j]);
    }
}

static void add_tolerations(struct mark *mark, const struct solver_shape *shape)
{
    add_number(mark, (int64_t)shape->toleration_count);
    for (size_t i = 0; i < shape->toleration_count; i++) {
        const struct solver_toleration *toleration = &shape->tolerations[i];
        add_string(mark, toleration->key);
        add_string(mark, toleration->value);
        add_number(mark, (toleration->exists ? 1 : 0) + (toleration->any_effect ? 2 : 0));
        add_number(mark, toleration->any_effect ? 0 : (int64_t)toleration->effect);
    }
}

static void add_ports(struct mark *mark, const struct solver_shape *shape)
{
    add_number(mark, (int64_t)shape->host_port_count);
    for (size_t i = 0; i < shape->host_port_count; i++) {
        add_string(mark, shape->host_ports[i].ip);
        add_string(mark, shape->host_ports[i].protocol);
        add_number(mark, (int64_t)shape->host_ports[i].port);
    }
}

/* What nodes keep free for it; daemons have no place in a topology. */
uint64_t mark_of_daemon(const struct daemon *daemon)
{
    const struct solver_shape *shape = &daemon->shape.solver;
    struct mark mark = new_mark();
    add_labels(&mark, shape->node_selector);
    add_number(&mark, (int64_t)shape->required_count);
    for (size_t i = 0; i < shape->required_count; i++)
        add_expressions(&mark, shape->required[i]);
    add_tolerations(&mark, shape);
    add_ports(&mark, shape);
    add_amounts(&mark, &daemon->shape.requests);
    add_number(&mark, shape->needs_devices ? 1 : 0);
    return mark.hash;
}
