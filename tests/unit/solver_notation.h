/* The short notation in which solver tests write labels, requirements and quantities:
 *   expressions  "zone In a b; arch=arm64; team Exists; type Exists min 2"
 *   labels       "app=web; tier=front"
 *   amounts      "cpu 1.5; memory 2Gi"
 *   taints       "dedicated=gpu:NoSchedule"
 *   tolerations  "dedicated=gpu:NoSchedule", "dedicated:NoSchedule", "dedicated", "*"
 * A key may be one of the short names below. */
#ifndef TAFFRAIL_UNIT_SOLVER_NOTATION_H
#define TAFFRAIL_UNIT_SOLVER_NOTATION_H

#include <stdlib.h>

#include "base/base.h"
#include "solver/solver.h"
#include "unit.h"

static inline struct text notation_key(struct text key)
{
    static const char *const names[][2] = {
        {"zone", "topology.kubernetes.io/zone"},
        {"host", "kubernetes.io/hostname"},
        {"arch", "kubernetes.io/arch"},
        {"os", "kubernetes.io/os"},
        {"type", "node.kubernetes.io/instance-type"},
        {"capacity", "karpenter.sh/capacity-type"},
        {"pool", "karpenter.sh/nodepool"},
        {"reservation", SOLVER_RESERVATION_KEY},
        /* The three optional well-known keys of Karpenter's fake provider. */
        {"size", "karpenter.k8s.aws/instance-size"},
        {"special", "karpenter.k8s.aws/instance-gpu-name"},
        {"integer", "karpenter.k8s.aws/instance-cpu"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (text_is(key, names[i][0]))
            return text_of(names[i][1]);
    return key;
}

/* Takes the next part before a separator, without spaces around it; false at the end. */
static inline bool notation_next(struct text *rest, char separator, struct text *part)
{
    struct text after = {0};
    if (rest->size == 0)
        return false;
    if (!text_split(*rest, separator, part, &after))
        *part = *rest;
    *rest = after;
    while (part->size > 0 && part->data[0] == ' ')
        *part = (struct text){part->data + 1, part->size - 1};
    while (part->size > 0 && part->data[part->size - 1] == ' ')
        part->size--;
    return true;
}

static inline const char *notation_copy(struct arena *arena, struct text t)
{
    return arena_text(arena, t).data;
}

/* cpu in thousandths, all others in units, rounded up. */
static inline int64_t notation_quantity(struct text resource, struct text written)
{
    static const struct {
        const char *suffix;
        int64_t times, over;
    } suffixes[] = {
        {"", 1, 1},         {"m", 1, 1000},        {"M", 1000000, 1},    {"G", 1000000000, 1},
        {"Mi", 1048576, 1}, {"Gi", 1073741824, 1}, {"Ti", 1LL << 40, 1},
    };
    int64_t number = 0, over = 1;
    bool fraction = false;
    size_t at = 0;
    for (; at < written.size; at++) {
        char c = written.data[at];
        if (c == '.') {
            fraction = true;
        } else if (c >= '0' && c <= '9') {
            number = number * 10 + (c - '0');
            over *= fraction ? 10 : 1;
        } else {
            break;
        }
    }
    struct text suffix = {written.data + at, written.size - at};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (text_is(suffix, suffixes[i].suffix)) {
            over *= suffixes[i].over;
            number *= suffixes[i].times * (text_is(resource, "cpu") ? 1000 : 1);
            return (number + over - 1) / over;
        }
    CU_FAIL_FATAL("not a quantity");
    return 0;
}

static inline struct solver_amounts notation_amounts(struct arena *arena,
                                                     struct solver_builder *builder,
                                                     const char *written)
{
    LIST(struct solver_amount) list = {0};
    struct text rest = text_of(written), part, name, value;
    while (notation_next(&rest, ';', &part)) {
        CU_ASSERT_TRUE_FATAL(text_split(part, ' ', &name, &value));
        *LIST_PUSH(arena, &list) = (struct solver_amount){
            solver_builder_resource(builder, notation_copy(arena, name)),
            notation_quantity(name, value),
        };
    }
    return (struct solver_amounts){list.items, list.count};
}

static inline struct solver_expression notation_expression(struct arena *arena, struct text part)
{
    struct solver_expression expression = {.op = SOLVER_IN};
    LIST(const char *) values = {0};
    struct text rest = part, word = {0}, key = {0};
    notation_next(&rest, ' ', &word);
    if (text_split(word, '=', &key, &word)) {
        *LIST_PUSH(arena, &values) = notation_copy(arena, word);
    } else {
        key = word;
        CU_ASSERT_TRUE_FATAL(notation_next(&rest, ' ', &word) &&
                             solver_op_parse(word.data, word.size, &expression.op));
    }
    while (notation_next(&rest, ' ', &word)) {
        if (text_is(word, "min"))
            expression.min_values = (uint32_t)atoi(notation_copy(arena, rest));
        if (text_is(word, "min"))
            break;
        *LIST_PUSH(arena, &values) = notation_copy(arena, word);
    }
    expression.key = notation_copy(arena, notation_key(key));
    expression.values = values.items;
    expression.value_count = values.count;
    return expression;
}

static inline struct solver_expressions notation_expressions(struct arena *arena,
                                                             const char *written)
{
    LIST(struct solver_expression) list = {0};
    struct text rest = text_of(written), part;
    while (notation_next(&rest, ';', &part))
        *LIST_PUSH(arena, &list) = notation_expression(arena, part);
    return (struct solver_expressions){list.items, list.count};
}

/* NULL: absent; "!": invalid; "": everything. */
static inline struct solver_selector notation_selector(struct arena *arena, const char *written)
{
    struct solver_selector selector = {.kind = SOLVER_SELECTOR_ABSENT};
    if (written == NULL)
        return selector;
    if (text_is(text_of(written), "!")) {
        selector.kind = SOLVER_SELECTOR_INVALID;
        return selector;
    }
    selector.kind = SOLVER_SELECTOR_GIVEN;
    selector.expressions = notation_expressions(arena, written);
    return selector;
}

static inline struct solver_labels notation_labels(struct arena *arena, const char *written)
{
    LIST(struct solver_label) list = {0};
    struct text rest = text_of(written), part, key, value;
    while (notation_next(&rest, ';', &part)) {
        CU_ASSERT_TRUE_FATAL(text_split(part, '=', &key, &value));
        *LIST_PUSH(arena, &list) = (struct solver_label){
            notation_copy(arena, notation_key(key)),
            notation_copy(arena, value),
        };
    }
    return (struct solver_labels){list.items, list.count};
}

static inline enum solver_effect notation_effect(struct text name)
{
    if (text_is(name, "NoSchedule"))
        return SOLVER_NO_SCHEDULE;
    if (text_is(name, "PreferNoSchedule"))
        return SOLVER_PREFER_NO_SCHEDULE;
    CU_ASSERT_TRUE_FATAL(text_is(name, "NoExecute"));
    return SOLVER_NO_EXECUTE;
}

static inline struct solver_taints notation_taints(struct arena *arena, const char *written)
{
    LIST(struct solver_taint) list = {0};
    struct text rest = text_of(written), part, key, value, effect;
    while (notation_next(&rest, ';', &part)) {
        CU_ASSERT_TRUE_FATAL(text_split_last(part, ':', &part, &effect));
        if (!text_split(part, '=', &key, &value)) {
            key = part;
            value = (struct text){0};
        }
        *LIST_PUSH(arena, &list) = (struct solver_taint){
            notation_copy(arena, key),
            notation_copy(arena, value),
            notation_effect(effect),
        };
    }
    return (struct solver_taints){list.items, list.count};
}

static inline const struct solver_toleration *notation_tolerations(struct arena *arena,
                                                                   const char *written,
                                                                   size_t *count)
{
    LIST(struct solver_toleration) list = {0};
    struct text rest = text_of(written), part, key, value, effect;
    while (notation_next(&rest, ';', &part)) {
        struct solver_toleration toleration = {.any_effect = true, .value = ""};
        if (text_split_last(part, ':', &part, &effect)) {
            toleration.any_effect = false;
            toleration.effect = notation_effect(effect);
        }
        toleration.gt = text_split(part, '>', &key, &value);
        toleration.lt = !toleration.gt && text_split(part, '<', &key, &value);
        if (toleration.gt || toleration.lt || text_split(part, '=', &key, &value)) {
            toleration.value = notation_copy(arena, value);
        } else {
            toleration.exists = true;
            key = text_is(part, "*") ? text_of("") : part;
        }
        toleration.key = notation_copy(arena, key);
        *LIST_PUSH(arena, &list) = toleration;
    }
    *count = list.count;
    return list.items;
}

/* "zone=a | zone=b; special=x": alternatives of expressions, of which one may be empty. */
static inline const struct solver_expressions *notation_alternatives(struct arena *arena,
                                                                     const char *written,
                                                                     size_t *count)
{
    LIST(struct solver_expressions) list = {0};
    struct text rest = text_of(written), part;
    while (notation_next(&rest, '|', &part))
        *LIST_PUSH(arena, &list) = notation_expressions(arena, notation_copy(arena, part));
    *count = list.count;
    return list.items;
}

#endif
