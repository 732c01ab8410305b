/* Private to policy/: what a rail says of one object, kept within bounds. */
#ifndef TAFFRAIL_POLICY_RECORD_H
#define TAFFRAIL_POLICY_RECORD_H

#include "base/hash.h"
#include "policy/rail.h"

/* Hashes of texts, each as often as it was put in. */
struct bag {
    struct bag_slot {
        uint64_t hash; /* 0: free */
        size_t count;
        int64_t extent; /* the most of what was put in */
    } * slots;
    size_t capacity, used;
};

/* What the drafts of the old object reached at one place. */
struct place_reached {
    uint64_t place; /* a hash */
    LIST(const void *) reaches;
};

/* What the old object had. */
struct excuses {
    struct bag said;
    LIST(struct place_reached) places;
};

enum { DRAFTS_KEPT = 50, SEVERITY_COUNT = SEVERITY_UNDECIDED + 1 };

/* Of what is as severe, and was there before or was not, the first are kept and all are counted: a
 * denial is never lost behind warnings, and nothing new behind what is old. */
struct record {
    struct arena *arena;
    struct hash_seed seed;
    LIST(struct draft) drafts;
    size_t counts[2][SEVERITY_COUNT]; /* by pre_existing */
    struct excuses *excuses;          /* NULL: there was no old object, or it is not known */
    bool keeps_all;                   /* nothing is cut */
    bool of_old;                 /* it is the old object that is spoken of: excuses are filled */
    struct bag told;             /* of a custom resource, what was said outside its templates */
    const struct object *object; /* the view that is judged */
    struct {
        const struct node *item;
        struct text name;
    } last; /* an item whose name was asked for */
    struct {
        const struct field *field;
        bool by_name;
        uint64_t hash;
    } above; /* a field above one that something was said of, and the hash of its path */
};
void record_add(struct record *record, const struct draft *draft);
/* Whether one more draft that is as severe, whatever it is, would only be counted; then it is. */
bool record_counts(struct record *record, enum severity severity);
/* Whether all that was said is kept. */
bool record_is_whole(const struct record *record);
/* Each thing that was said excuses one draft, of a whole record; what was reached all that reach no
 * more. */
void record_excuse(struct record *record, struct excuses *excuses);
/* Nothing of it is new. */
void record_excuse_all(struct record *record);

/* What tells an item of a list from the others: KubeRay calls it groupName. */
struct text name_of_item(const struct node *item);

#endif
