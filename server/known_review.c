/* The last reviews that a connection has answered, and their answers. */
#include "server/known_review.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "server/review.h"

/* ---- what may differ ---- */

struct finder {
    struct text body;
    struct review_variables *variables;
    bool lost; /* there are too many, or one is not as it stands in the body */
};

/* What names, uids and moments are made of: nothing that JSON writes in another way. */
static bool is_word(const char *bytes, size_t size)
{
    static const bool allowed[UCHAR_MAX + 1] = {
        ['-'] = true,         ['.'] = true,         [':'] = true,
        ['0' ... '9'] = true, ['A' ... 'Z'] = true, ['a' ... 'z'] = true,
    };
    bool all = true;
    for (size_t i = 0; i < size; i++)
        all &= allowed[(unsigned char)bytes[i]];
    return all;
}

/* A string of the tree lies in the body, unless it is written with escapes. */
static bool lies_in(struct text body, struct text part)
{
    uintptr_t first = (uintptr_t)body.data, at = (uintptr_t)part.data;
    return at >= first && at - first <= body.size && part.size <= body.size - (at - first);
}

static void add(struct finder *finder, enum variable_of of, struct text part)
{
    struct review_variables *found = finder->variables;
    if (part.size == 0)
        return;
    if (found->count == VARIABLES_MAX || !lies_in(finder->body, part) ||
        !is_word(part.data, part.size)) {
        finder->lost = true;
        return;
    }
    struct variable variable = {(uint32_t)(part.data - finder->body.data), (uint32_t)part.size, of};
    size_t i = found->count++;
    for (; i > 0 && found->items[i - 1].at > variable.at; i--)
        found->items[i] = found->items[i - 1];
    found->items[i] = variable;
}

static struct text after(struct text whole, size_t size)
{
    return (struct text){whole.data + size, whole.size - size};
}

/* The name as the request says it, or the Pod; empty: it says none. */
static void add_name(struct finder *finder, struct text name, struct text generate_name)
{
    if (name.size > generate_name.size && text_starts_with(name, generate_name))
        add(finder, OF_NAME, after(name, generate_name.size));
    else if (name.size > 0)
        finder->lost = true;
}

static void add_names(struct finder *finder, const struct review *review)
{
    const struct object *pod = review->subject.object;
    struct text in_pod = node_string(node_get(node_get(pod->root->node, "metadata"), "name"));
    add_name(finder, in_pod, pod->generate_name);
    add_name(finder, review->name, pod->generate_name);
    if (in_pod.size > 0 && review->name.size > 0 && !text_equal(in_pod, review->name))
        finder->lost = true;
}

/* No rail reads managedFields. What is created has one entry, of whoever creates it. */
static void add_managed_moment(struct finder *finder, struct text managed_fields)
{
    if (text_starts_with(managed_fields, TEXT("[{")))
        add(finder, OF_OTHERS, json_plain_string(json_find(after(managed_fields, 1), "time")));
}

/* The admission plugin ServiceAccount adds it to each Pod, with five random characters. */
static const struct text token_volume = TEXT("kube-api-access-");
enum { TOKEN_VOLUME_ENDING = 5 };

static bool is_token_volume(struct text name)
{
    return name.size == token_volume.size + TOKEN_VOLUME_ENDING &&
           text_starts_with(name, token_volume);
}

/* Empty: there is none, or more than one. */
static struct text token_volume_of(const struct node *spec)
{
    const struct node *volumes = node_get(spec, "volumes");
    struct text found = TEXT("");
    for (size_t i = 0; i < node_count(volumes); i++) {
        struct text name = node_string(node_get(node_item(volumes, i), "name"));
        if (text_starts_with(name, token_volume) && (found.size > 0 || !is_token_volume(name)))
            return TEXT("");
        if (is_token_volume(name))
            found = name;
    }
    return found;
}

static void add_mounts(struct finder *finder, const struct node *containers, struct text volume)
{
    for (size_t i = 0; i < node_count(containers); i++) {
        const struct node *mounts = node_get(node_item(containers, i), "volumeMounts");
        for (size_t k = 0; k < node_count(mounts); k++) {
            struct text name = node_string(node_get(node_item(mounts, k), "name"));
            if (text_equal(name, volume))
                add(finder, OF_TOKEN_VOLUME, after(name, token_volume.size));
        }
    }
}

static void add_token_volume(struct finder *finder, const struct node *spec)
{
    static const char *const lists[] = {"containers", "initContainers", "ephemeralContainers"};
    struct text volume = token_volume_of(spec);
    if (volume.size == 0)
        return;
    add(finder, OF_TOKEN_VOLUME, after(volume, token_volume.size));
    for (size_t i = 0; i < COUNT_OF(lists); i++)
        add_mounts(finder, node_get(spec, lists[i]), volume);
}

void review_variables_find(enum review_phase phase, const struct review *review, struct text body,
                           struct review_variables *variables)
{
    const struct subject *subject = &review->subject;
    const struct object *pod = subject->object;
    struct finder finder = {body, variables, false};
    variables->count = 0;
    if (pod == NULL || pod->kind != KIND_POD || subject->old_object != NULL ||
        subject->operation != OPERATION_CREATE || subject->subresource.size > 0 ||
        pod->generate_name.size == 0 || body.size > KNOWN_BODY_BYTES_MAX ||
        (phase == REVIEW_MUTATE && pod->name.size > 0))
        return;
    const struct node *metadata = node_get(pod->root->node, "metadata");
    add(&finder, OF_REQUEST_UID, review->uid);
    add(&finder, OF_OTHERS, node_string(node_get(metadata, "uid")));
    add(&finder, OF_OTHERS, node_string(node_get(metadata, "creationTimestamp")));
    add_names(&finder, review);
    add_managed_moment(&finder, review->managed_fields);
    add_token_volume(&finder, node_get(pod->root->node, "spec"));
    if (finder.lost)
        variables->count = 0;
}

/* ---- what is kept ---- */

struct known_review {
    enum review_phase phase;
    uint64_t number; /* of its world */
    int64_t until_ms;
    struct review_variables variables;
    size_t body_size, answer_size;
    struct variable uid;  /* in the body */
    size_t answer_uid_at; /* in the answer */
    char bytes[];         /* the body, then the answer */
};

static size_t bytes_of(const struct known_review *review)
{
    return sizeof *review + review->body_size + review->answer_size;
}

static void drop(struct known_review **review, atomic_size_t *bytes)
{
    if (*review == NULL)
        return;
    atomic_fetch_sub_explicit(bytes, bytes_of(*review), memory_order_relaxed);
    free(*review);
    *review = NULL;
}

/* Where the answer repeats the uid of the request. */
static bool find_uid(struct known_review *review)
{
    static const struct text key = TEXT("\"uid\":\"");
    const char *answer = review->bytes + review->body_size;
    const char *at = memmem(answer, review->answer_size, key.data, key.size);
    size_t i = 0;
    while (i < review->variables.count && review->variables.items[i].of != OF_REQUEST_UID)
        i++;
    if (at == NULL || i == review->variables.count)
        return false;
    review->uid = review->variables.items[i];
    review->answer_uid_at = (size_t)(at - answer) + key.size;
    return review->uid.size < review->answer_size - review->answer_uid_at &&
           memcmp(answer + review->answer_uid_at, review->bytes + review->uid.at,
                  review->uid.size) == 0;
}

static bool take_bytes(atomic_size_t *bytes, size_t size)
{
    if (atomic_fetch_add_explicit(bytes, size, memory_order_relaxed) + size <= KNOWN_BYTES_LIMIT)
        return true;
    atomic_fetch_sub_explicit(bytes, size, memory_order_relaxed);
    return false;
}

void known_reviews_add(struct known_reviews *known, atomic_size_t *bytes, enum review_phase phase,
                       uint64_t number, int64_t now_ms, struct text body,
                       const struct review_variables *variables, struct text answer)
{
    struct known_review **place = &known->items[known->next];
    if (variables->count == 0 || body.size > KNOWN_BODY_BYTES_MAX)
        return;
    drop(place, bytes);
    size_t size = sizeof **place + body.size + answer.size;
    if (!take_bytes(bytes, size))
        return;
    struct known_review *review = malloc(size);
    if (review == NULL) {
        atomic_fetch_sub_explicit(bytes, size, memory_order_relaxed);
        return;
    }
    *review = (struct known_review){
        .phase = phase,
        .number = number,
        .until_ms = now_ms + KNOWN_FOR_MS,
        .variables = *variables,
        .body_size = body.size,
        .answer_size = answer.size,
    };
    memcpy(review->bytes, body.data, body.size);
    memcpy(review->bytes + body.size, answer.data, answer.size);
    *place = review;
    if (find_uid(review))
        known->next = (known->next + 1) % KNOWN_REVIEWS;
    else
        drop(place, bytes);
}

/* What is the same wherever it stands is so in this body, too. */
static bool is_as_before(const char *bytes, struct variable variable, const char *first[OF_OTHERS])
{
    if (variable.of == OF_OTHERS)
        return true;
    if (first[variable.of] == NULL)
        first[variable.of] = bytes;
    return memcmp(first[variable.of], bytes, variable.size) == 0;
}

static bool is_like(const struct known_review *review, const char *body)
{
    const char *first[OF_OTHERS] = {NULL};
    size_t at = 0;
    for (size_t i = 0; i < review->variables.count; i++) {
        struct variable variable = review->variables.items[i];
        if (memcmp(review->bytes + at, body + at, variable.at - at) != 0 ||
            !is_word(body + variable.at, variable.size) ||
            !is_as_before(body + variable.at, variable, first))
            return false;
        at = variable.at + variable.size;
    }
    return memcmp(review->bytes + at, body + at, review->body_size - at) == 0;
}

struct text known_reviews_answer(struct known_reviews *known, enum review_phase phase,
                                 uint64_t number, int64_t now_ms, struct text body)
{
    for (size_t i = 0; i < KNOWN_REVIEWS; i++) {
        struct known_review *review = known->items[i];
        if (review == NULL || review->body_size != body.size || review->phase != phase ||
            review->number != number || now_ms >= review->until_ms || !is_like(review, body.data))
            continue;
        char *answer = review->bytes + review->body_size;
        memcpy(answer + review->answer_uid_at, body.data + review->uid.at, review->uid.size);
        return (struct text){answer, review->answer_size};
    }
    return TEXT("");
}

void known_reviews_free(struct known_reviews *known, atomic_size_t *bytes)
{
    for (size_t i = 0; i < KNOWN_REVIEWS; i++)
        drop(&known->items[i], bytes);
    known->next = 0;
}
