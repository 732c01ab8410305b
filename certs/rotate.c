/* When a CA and a leaf are renewed, and what is trusted meanwhile. server/webhook_manager.c writes
 * them. */
#include <stddef.h>
#include <string.h>

#include "certs/inspect.h"

enum {
    HOUR_S = 60 * 60,
    DAY_S = 24 * HOUR_S,
    CAS_MAX = 4,         /* in a bundle: usually one, and two during a replacement */
    CAS_READ_MAX = 16,   /* in a text that somebody else may have written */
    CAS_CARRIED_MAX = 2, /* from what is published, when the Secret is lost */
    PATIENCE = 10,       /* times settle_s: then a new CA signs even if it is not published */
    AGAIN_SOON_S = 5,    /* to see whether others did what this waits for */
    AGAIN_LATE_S = 12 * HOUR_S,
};

const struct rotation_times rotation_times_usual = {3650LL * DAY_S, 90LL * DAY_S, 60};

const struct rotation_item rotation_items[ROTATION_ITEM_COUNT] = {
    {"ca.crt", offsetof(struct rotation_secret, ca_bundle)},
    {"ca.key", offsetof(struct rotation_secret, ca_keys)},
    {"tls.crt", offsetof(struct rotation_secret, leaf.certificate)},
    {"tls.key", offsetof(struct rotation_secret, leaf.key)},
    {"ca.retire-after", offsetof(struct rotation_secret, retire_after)},
};

struct rotation {
    const struct rotation_view *view;
    struct arena *arena;
    /* The CAs of the next bundle, the newest first. */
    struct cert_ca cas[CAS_MAX];
    struct text keys[CAS_MAX]; /* empty: it cannot sign any more */
    bool trusted[CAS_MAX];     /* every webhook entry holds it */
    size_t count;
    bool nobody_trusts; /* no webhook entry trusts what is served, so nothing can be lost */
    bool has_new_ca;    /* the first was made in this step */
    /* The leaf of the next Secret. */
    struct cert_pair pair;
    struct cert_leaf leaf;
    bool usable;
    int64_t replaced_not_after_unix_s; /* of the usable leaf that this step replaces; or 0 */
    bool retires;                      /* CAs but the newest leave at a known time */
    int64_t retire_unix_s;
    struct text what;
};

/* ---- CAs ---- */

/* Validity counts from the time of issue. */
static int64_t issued_at(int64_t not_before_unix_s)
{
    return not_before_unix_s + CERT_BACKDATED_S;
}

/* The time from which a new CA follows this one: leaves of it can still live for two full lives,
 * but not in the first two thirds of its own life. */
static int64_t ca_due_at(const struct cert_ca *ca, const struct rotation_times *times)
{
    int64_t life_s = ca->not_after_unix_s - issued_at(ca->not_before_unix_s);
    int64_t early_s = life_s / 3;
    if (early_s < 2 * times->leaf_valid_s)
        early_s = 2 * times->leaf_valid_s;
    if (early_s > life_s - life_s / 3)
        early_s = life_s - life_s / 3;
    return ca->not_after_unix_s - early_s;
}

static bool holds(const struct cert_ca *cas, size_t count, const struct cert_ca *wanted)
{
    for (size_t i = 0; i < count; i++)
        if (memcmp(cas[i].fingerprint, wanted->fingerprint, CERT_HASH_BYTES) == 0)
            return true;
    return false;
}

/* The newest comes first, as in the bundle. Dates give no order, because clocks differ. */
static void add_ca(struct rotation *rotation, const struct cert_ca *ca)
{
    size_t at = rotation->count;
    if (at == CAS_MAX || ca->not_after_unix_s <= rotation->view->now_unix_s ||
        holds(rotation->cas, at, ca))
        return;
    rotation->cas[at] = *ca;
    rotation->keys[at] = cert_find_key(rotation->view->secret.ca_keys, ca);
    rotation->count++;
}

/* CAs that can sign come before CAs that cannot. */
static void add_cas(struct rotation *rotation, const struct cert_ca *cas, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (cert_find_key(rotation->view->secret.ca_keys, &cas[i]).size > 0)
            add_ca(rotation, &cas[i]);
    for (size_t i = 0; i < count; i++)
        add_ca(rotation, &cas[i]);
}

static void read_cas(struct rotation *rotation)
{
    struct cert_ca found[CAS_READ_MAX];
    size_t count = cert_read_cas(rotation->view->secret.ca_bundle, found, CAS_READ_MAX);
    add_cas(rotation, found, count);
}

/* A CA from the future: either its maker's clock is ahead, or ours is behind. In the second case
 * everything made now would be worse than what exists. */
static bool clock_is_right(const struct rotation *rotation, struct error *error)
{
    int64_t now = rotation->view->now_unix_s;
    for (size_t i = 0; i < rotation->count; i++) {
        int64_t not_before = rotation->cas[i].not_before_unix_s;
        if (not_before <= now + DAY_S)
            continue;
        char begin[CERT_TIME_BYTES], clock[CERT_TIME_BYTES];
        cert_print_time(not_before, begin, sizeof begin);
        cert_print_time(now, clock, sizeof clock);
        return error_set(error, ERROR_TLS, NOWHERE,
                         "a CA is not valid before %s, and the clock says %s: this clock "
                         "is wrong, or that of whoever made the CA was; mend the clock, or delete "
                         "the Secret and empty caBundle of the webhooks to have a new CA made",
                         begin, clock);
    }
    return true;
}

/* When the Secret is lost, API servers and replicas still use what was in it. That may be seen only
 * after a new CA was made, so it is looked for as long as there is no leaf, too. */
static void carry_published(struct rotation *rotation)
{
    const struct rotation_view *view = rotation->view;
    size_t before = rotation->count;
    bool carried = false;
    for (size_t i = 0; i < view->published_count && !carried; i++) {
        struct cert_ca found[CAS_READ_MAX];
        size_t count = cert_read_cas(view->published[i], found, CAS_CARRIED_MAX);
        add_cas(rotation, found, count);
        for (size_t j = 0; j < count; j++)
            carried |= holds(rotation->cas, rotation->count, &found[j]);
    }
    if (rotation->count > before)
        rotation->what = TEXT("ca.crt, from what is published");
}

static bool new_ca(struct rotation *rotation, const char *why, struct error *error)
{
    const struct rotation_view *view = rotation->view;
    struct cert_pair ca;
    struct cert_ca facts;
    if (!cert_issue_ca_for(view->times.ca_valid_s, view->now_unix_s, rotation->arena, &ca, error))
        return false;
    if (cert_read_cas(ca.certificate, &facts, 1) != 1)
        return error_set(error, ERROR_TLS, NOWHERE, "a CA that was just made cannot be read");
    rotation->count += rotation->count < CAS_MAX;
    for (size_t i = rotation->count - 1; i > 0; i--) {
        rotation->cas[i] = rotation->cas[i - 1];
        rotation->keys[i] = rotation->keys[i - 1];
    }
    rotation->cas[0] = facts;
    rotation->keys[0] = ca.key;
    rotation->has_new_ca = true;
    rotation->what = arena_printf(rotation->arena, "a new CA, for %s", why);
    return true;
}

/* Makes a CA when the newest cannot sign, or not for long. */
static bool renew_ca(struct rotation *rotation, struct error *error)
{
    const struct rotation_view *view = rotation->view;
    if (rotation->count == 0 || view->secret.leaf.certificate.size == 0)
        carry_published(rotation);
    if (!clock_is_right(rotation, error))
        return false;
    if (rotation->count > 0 && rotation->keys[0].size > 0 &&
        view->now_unix_s < ca_due_at(&rotation->cas[0], &view->times))
        return true;
    const char *why = "the newest is old";
    if (view->secret.ca_bundle.size == 0)
        why = "there is none";
    else if (rotation->count == 0)
        why = "ca.crt of the Secret holds none that is valid";
    else if (rotation->keys[0].size == 0)
        why = "ca.key of the Secret lacks the key of the newest";
    return new_ca(rotation, why, error);
}

static void read_trust(struct rotation *rotation)
{
    const struct rotation_view *view = rotation->view;
    rotation->nobody_trusts = !view->may_lose_trust;
    for (size_t i = 0; i < rotation->count; i++)
        rotation->trusted[i] = view->published_count > 0;
    for (size_t i = 0; i < view->published_count; i++) {
        struct cert_ca found[CAS_READ_MAX];
        size_t count = cert_read_cas(view->published[i], found, CAS_READ_MAX);
        rotation->nobody_trusts &= count == 0;
        for (size_t j = 0; j < rotation->count; j++)
            rotation->trusted[j] &= holds(found, count, &rotation->cas[j]);
    }
}

/* ---- the leaf ---- */

static int64_t leaf_due_at(const struct cert_leaf *leaf)
{
    int64_t issued = issued_at(leaf->not_before_unix_s);
    return issued + (leaf->not_after_unix_s - issued) / 3 * 2;
}

/* Whether the leaf of the Secret can be served; *why is a reason against it. */
static bool judge_leaf(struct rotation *rotation, struct text *why)
{
    const struct rotation_view *view = rotation->view;
    int64_t not_after_unix_s;
    struct error error;
    rotation->pair = view->secret.leaf;
    if (rotation->pair.certificate.size == 0 && rotation->pair.key.size == 0)
        *why = TEXT("there is none");
    else if (!cert_check(&rotation->pair, view->now_unix_s, &not_after_unix_s, &error))
        *why = arena_printf(rotation->arena, "%s", error.what);
    else if (!cert_read_leaf(rotation->pair.certificate, &view->names, rotation->cas,
                             rotation->count, &rotation->leaf))
        *why = TEXT("it cannot be read");
    else if (rotation->leaf.signer == rotation->count)
        *why = TEXT("no CA in ca.crt signed the one there is");
    else if (!rotation->leaf.serves)
        *why = TEXT("the one there is may not be shown by a TLS server");
    else if (!rotation->leaf.has_names)
        *why = TEXT("the one there is lacks a name that is wanted");
    else
        rotation->usable = true;
    return rotation->usable;
}

static bool is_settled(const struct rotation *rotation, size_t ca)
{
    const struct rotation_view *view = rotation->view;
    return rotation->trusted[ca] && view->published_for_s >= view->times.settle_s;
}

/* The CA that signs a leaf that is needed at once: the newest CA that everybody trusts. A CA that
 * nobody can know yet waits for a while, because replicas may serve a leaf of the one before. */
static size_t signer_at_once(const struct rotation *rotation)
{
    const struct rotation_view *view = rotation->view;
    for (size_t i = 0; i < rotation->count; i++)
        if (rotation->keys[i].size > 0 && is_settled(rotation, i))
            return i;
    int64_t age_s = view->now_unix_s - issued_at(rotation->cas[0].not_before_unix_s);
    bool waited = age_s >= PATIENCE * view->times.settle_s;
    return rotation->nobody_trusts || waited ? 0 : rotation->count;
}

/* Near the end of its CA the renewal of a leaf gains little. */
static bool lasts_longer(const struct rotation *rotation, size_t signer)
{
    const struct rotation_view *view = rotation->view;
    int64_t not_after = view->now_unix_s + view->times.leaf_valid_s;
    if (not_after > rotation->cas[signer].not_after_unix_s)
        not_after = rotation->cas[signer].not_after_unix_s;
    return not_after - rotation->leaf.not_after_unix_s > view->times.leaf_valid_s / 2;
}

static bool new_leaf(struct rotation *rotation, size_t signer, struct text why, struct error *error)
{
    const struct rotation_view *view = rotation->view;
    struct text pem = arena_text(rotation->arena, rotation->cas[signer].pem);
    const struct cert_pair ca = {pem, rotation->keys[signer]};
    rotation->replaced_not_after_unix_s = rotation->usable ? rotation->leaf.not_after_unix_s : 0;
    if (!cert_issue_leaf_for(view->times.leaf_valid_s, &ca, &view->names, view->now_unix_s,
                             rotation->arena, &rotation->pair, error))
        return false;
    rotation->usable = cert_read_leaf(rotation->pair.certificate, &view->names, rotation->cas,
                                      rotation->count, &rotation->leaf) &&
                       rotation->leaf.signer == signer;
    if (!rotation->usable)
        return error_set(error, ERROR_TLS, NOWHERE,
                         "a certificate that was just made is not right; is the CA's key?");
    rotation->what = arena_printf(rotation->arena, "%.*s%sa new certificate, for %.*s",
                                  TEXT_ARGS(rotation->what), rotation->what.size > 0 ? "; " : "",
                                  TEXT_ARGS(why));
    return true;
}

static bool renew_leaf(struct rotation *rotation, struct error *error)
{
    struct text why;
    if (!judge_leaf(rotation, &why)) {
        size_t signer = signer_at_once(rotation);
        return signer == rotation->count || new_leaf(rotation, signer, why, error);
    }
    size_t signer = rotation->leaf.signer;
    if (signer != 0 && rotation->keys[0].size > 0 && is_settled(rotation, 0))
        return new_leaf(rotation, 0, TEXT("every API server trusts the new CA"), error);
    bool due = rotation->view->now_unix_s >= leaf_due_at(&rotation->leaf);
    if (due && rotation->keys[signer].size > 0 && lasts_longer(rotation, signer))
        return new_leaf(rotation, signer, TEXT("two thirds of the life of the last are over"),
                        error);
    return true;
}

/* ---- the end of CAs ---- */

/* A CA that is no longer used stays published until its last leaf has ended, because a replica that
 * cannot reach the API server still serves that leaf. Somebody may have set an earlier time, also
 * before the newest CA signs: then it stays until the replicas have loaded the leaf of the newest.
 * A time from before the newest was made is that of another CA. */
static void retire(struct rotation *rotation)
{
    const struct rotation_view *view = rotation->view;
    int64_t at = 0;
    if (rotation->count == 1)
        return;
    bool known = cert_parse_time(view->secret.retire_after, &at) &&
                 at <= view->now_unix_s + view->times.leaf_valid_s + DAY_S;
    if (rotation->usable && rotation->leaf.signer == 0) {
        int64_t loaded_unix_s = issued_at(rotation->leaf.not_before_unix_s) + view->times.settle_s;
        if (rotation->replaced_not_after_unix_s > 0 && !known)
            at = rotation->replaced_not_after_unix_s;
        else if (!known)
            at = view->now_unix_s + view->times.leaf_valid_s;
        if (at < loaded_unix_s)
            at = loaded_unix_s;
        if (at <= view->now_unix_s) {
            rotation->count = 1;
            rotation->what = TEXT("the CA before leaves: its time is over");
            return;
        }
    } else if (!known || rotation->has_new_ca) {
        return;
    }
    rotation->retires = true;
    rotation->retire_unix_s = at;
}

/* ---- the result ---- */

static void compose(const struct rotation *rotation, struct rotation_secret *secret)
{
    struct text_builder bundle = {.arena = rotation->arena}, keys = {.arena = rotation->arena};
    bool only_newest = rotation->usable && rotation->leaf.signer == 0;
    for (size_t i = 0; i < rotation->count; i++) {
        text_builder_printf(&bundle, "%.*s\n", TEXT_ARGS(rotation->cas[i].pem));
        struct text key = rotation->keys[i];
        if (key.size > 0 && (i == 0 || !only_newest))
            text_builder_printf(&keys, "%.*s%s", TEXT_ARGS(key),
                                text_ends_with(key, TEXT("\n")) ? "" : "\n");
    }
    secret->ca_bundle = text_builder_text(&bundle);
    secret->ca_keys = text_builder_text(&keys);
    secret->leaf = rotation->pair;
    secret->retire_after = TEXT("");
    if (rotation->retires) {
        char at[CERT_TIME_BYTES];
        cert_print_time(rotation->retire_unix_s, at, sizeof at);
        secret->retire_after = arena_printf(rotation->arena, "%s", at);
    }
}

static bool differs(const struct rotation_secret *a, const struct rotation_secret *b)
{
    for (size_t i = 0; i < ROTATION_ITEM_COUNT; i++) {
        const struct text *of_a = (const void *)((const char *)a + rotation_items[i].offset);
        const struct text *of_b = (const void *)((const char *)b + rotation_items[i].offset);
        if (!text_equal(*of_a, *of_b))
            return true;
    }
    return false;
}

static bool is_published(const struct rotation_view *view, struct text bundle)
{
    bool all = view->published_count > 0;
    for (size_t i = 0; i < view->published_count; i++)
        all &= text_equal(view->published[i], bundle);
    return all;
}

static void sooner(int64_t *again_in_s, int64_t at_unix_s, int64_t now_unix_s)
{
    if (at_unix_s > now_unix_s && at_unix_s - now_unix_s < *again_in_s)
        *again_in_s = at_unix_s - now_unix_s;
}

static int64_t again_in(const struct rotation *rotation, const struct rotation_step *step)
{
    const struct rotation_view *view = rotation->view;
    int64_t again_in_s = AGAIN_LATE_S;
    if (step->write)
        return 0;
    bool waits = !rotation->usable || rotation->leaf.signer != 0;
    int64_t settles_in_s = view->times.settle_s - view->published_for_s;
    if (waits && step->published && settles_in_s > 0)
        return settles_in_s;
    if (waits || (view->published_count > 0 && !step->published))
        return AGAIN_SOON_S;
    sooner(&again_in_s, leaf_due_at(&rotation->leaf), view->now_unix_s);
    sooner(&again_in_s, ca_due_at(&rotation->cas[0], &view->times), view->now_unix_s);
    if (rotation->retires)
        sooner(&again_in_s, rotation->retire_unix_s, view->now_unix_s);
    return again_in_s;
}

static struct text explain(const struct rotation *rotation, const struct rotation_step *step)
{
    if (rotation->what.size > 0)
        return rotation->what;
    if (step->write)
        return TEXT("the Secret, written as it is read");
    if (rotation->view->may_lose_trust && !rotation->usable)
        return TEXT("waits until the webhook configurations can be read");
    if (rotation->view->published_count > 0 && !step->published)
        return TEXT("waits until every webhook entry holds the CA bundle");
    if (!rotation->usable || rotation->leaf.signer != 0)
        return TEXT("waits until every API server can have read the new CA");
    return TEXT("nothing to do");
}

size_t certs_signer(struct text certificate, struct text ca_bundle, size_t *ca_count)
{
    static const struct cert_names no_names;
    struct cert_ca cas[CAS_MAX];
    struct cert_leaf leaf;
    *ca_count = cert_read_cas(ca_bundle, cas, CAS_MAX);
    return cert_read_leaf(certificate, &no_names, cas, *ca_count, &leaf) ? leaf.signer : *ca_count;
}

bool certs_rotate(const struct rotation_view *view, struct arena *arena, struct rotation_step *step,
                  struct error *error)
{
    struct rotation rotation = {.view = view, .arena = arena};
    read_cas(&rotation);
    if (!renew_ca(&rotation, error))
        return false;
    read_trust(&rotation);
    if (!renew_leaf(&rotation, error))
        return false;
    retire(&rotation);

    *step = (struct rotation_step){.leaf_not_after_unix_s =
                                       rotation.usable ? rotation.leaf.not_after_unix_s : 0};
    compose(&rotation, &step->secret);
    step->write = differs(&step->secret, &view->secret);
    step->bundle = step->secret.ca_bundle;
    step->published = is_published(view, step->bundle);
    step->again_in_s = again_in(&rotation, step);
    step->what = explain(&rotation, step);
    return true;
}
