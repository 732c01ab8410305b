#include "issued.h"

#include <string.h>

#include "fuzz.h"

enum { ARENA_BYTES = 4 << 20, DAY_S = 24 * 60 * 60, CA_DAYS = 3650, LEAF_DAYS = 90 };

static const char *const wanted[] = {"taffrail.taffrail.svc"};
static const char *const others[] = {"another.taffrail.svc"};
static const char *const addresses[] = {"10.1.2.3", "fd00::1"};
const struct cert_names issued_names = {.dns = wanted,
                                        .dns_count = COUNT_OF(wanted),
                                        .addresses = addresses,
                                        .address_count = COUNT_OF(addresses)};
static const struct cert_names other_names = {.dns = others, .dns_count = COUNT_OF(others)};
static const struct cert_names dns_names = {.dns = wanted, .dns_count = COUNT_OF(wanted)};

struct order {
    const char *name;
    const char *signer; /* one before it; NULL: it is a CA */
    const struct cert_names *names;
    int age_days, valid_days;
};

static const struct order orders[] = {
    {"ca", NULL, NULL, 10, CA_DAYS},
    {"young", NULL, NULL, 0, CA_DAYS},
    {"old", NULL, NULL, 3000, CA_DAYS},
    {"short", NULL, NULL, 90, 130}, /* less than two leaves' lives */
    {"ended", NULL, NULL, 4000, CA_DAYS},
    {"ahead", NULL, NULL, -3, CA_DAYS},
    {"leaf", "ca", &issued_names, 1, LEAF_DAYS},
    {"due", "ca", &issued_names, 70, LEAF_DAYS},
    {"of-young", "young", &issued_names, 0, LEAF_DAYS},
    {"of-old", "old", &issued_names, 1, LEAF_DAYS},
    {"due-of-old", "old", &issued_names, 70, LEAF_DAYS},
    {"due-of-short", "short", &issued_names, 70, LEAF_DAYS},
    {"ended-leaf", "ca", &issued_names, 100, LEAF_DAYS},
    {"ahead-leaf", "ca", &issued_names, -1, LEAF_DAYS},
    {"misnamed", "ca", &other_names, 1, LEAF_DAYS},
    {"unaddressed", "ca", &dns_names, 1, LEAF_DAYS},
};

static struct cert_pair made[COUNT_OF(orders)];

static size_t index_of(struct text name)
{
    size_t i = 0;
    while (i < COUNT_OF(orders) && !text_is(name, orders[i].name))
        i++;
    return i;
}

static void issue(size_t index, struct arena *arena)
{
    const struct order *order = &orders[index];
    int64_t at_unix_s = ISSUED_NOW_UNIX_S - (int64_t)order->age_days * DAY_S;
    int64_t valid_s = (int64_t)order->valid_days * DAY_S;
    struct error error;
    if (order->signer == NULL)
        REQUIRE(cert_issue_ca_for(valid_s, at_unix_s, arena, &made[index], &error));
    else
        REQUIRE(cert_issue_leaf_for(valid_s, &made[index_of(text_of(order->signer))], order->names,
                                    at_unix_s, arena, &made[index], &error));
}

/* What a name stands for; the empty text: nothing. */
static struct text named(struct text name)
{
    static const struct text suffix = TEXT(".key");
    bool key = text_ends_with(name, suffix);
    size_t index = index_of(key ? (struct text){name.data, name.size - suffix.size} : name);
    if (index == COUNT_OF(orders))
        return TEXT("");
    return key ? made[index].key : made[index].certificate;
}

struct writing {
    enum issued_form form;
    struct text_builder out, pem; /* pem: what follows next, not encoded yet */
};

static void add(struct writing *writing, struct text text)
{
    struct text pem = text_builder_text(&writing->pem);
    if (pem.size > 0)
        text_builder_add(&writing->out,
                         writing->form == ISSUED_PEM ? pem : text_base64(pem, writing->out.arena));
    writing->pem = (struct text_builder){.arena = writing->out.arena};
    text_builder_add(&writing->out, text);
}

struct text issued_in(struct text text, enum issued_form form, struct arena *arena)
{
    static struct arena *lasting;
    struct writing writing = {form, {.arena = arena}, {.arena = arena}};
    struct text before, name, after;
    if (lasting == NULL) {
        lasting = arena_create(ARENA_BYTES);
        for (size_t i = 0; i < COUNT_OF(orders); i++)
            issue(i, lasting);
    }
    while (text_split(text, '<', &before, &text)) {
        struct text stands = text_split(text, '>', &name, &after) ? named(name) : TEXT("");
        if (before.size > 0)
            add(&writing, before);
        if (stands.size == 0) {
            add(&writing, TEXT("<"));
            continue;
        }
        text_builder_add(&writing.pem, stands);
        text = after;
    }
    add(&writing, text);
    return text_builder_text(&writing.out);
}
