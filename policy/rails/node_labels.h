/* The parts of the rail node-labels: where a pod names labels (node_labels.c), and what is wrong
 * with a label it names (node_labels_key.c, node_labels_value.c, node_labels_granted.c). */
#ifndef TAFFRAIL_POLICY_RAILS_NODE_LABELS_H
#define TAFFRAIL_POLICY_RAILS_NODE_LABELS_H

#include "kube/label.h"
#include "kube/zone.h"
#include "policy/rail.h"

struct catalog;
struct expression;
struct expression_value;
struct expressions;
struct label_filter;
struct reach;

struct node_labels {
    struct key_lists allow;
    const struct catalog *catalog;
};

struct label_inquiry;
struct label_note;

/* What a requirement stands in, which decides what follows where no node meets it. */
enum label_place {
    LABEL_IN_POD,         /* no node runs the pod */
    LABEL_IN_DAEMON,      /* none runs a pod of the DaemonSet */
    LABEL_IN_ALTERNATIVE, /* others are left */
    LABEL_IN_PREFERENCE,
};

/* Puts into words what a note is about. */
typedef void label_wording(struct label_inquiry *check, const struct label_note *note,
                           struct draft *draft);

/* What was found in one list of requirements, before it is known how bad that is. There may be a
 * hundred thousand: only those that are shown are put into words. */
struct label_note {
    label_wording *word;
    const struct expression *expression;  /* NULL: the whole list, in a field of its own */
    const struct expression_value *value; /* NULL: its key */
    const struct field *field;            /* of the whole list */
    const struct reach *reach;            /* of requirements that leave nothing granted */
    enum severity severity;
    bool forbidden; /* by allow: whatever else the pod could do */
    bool some;      /* beside a value that the catalogue knows */
};
struct label_notes {
    struct label_note *items;
    size_t count, capacity;
};

struct label_inquiry {
    struct rail_call *call;
    const struct node_labels *settings;
    bool is_daemon;         /* runs where nodes are: none is bought for it */
    bool pools_unseen;      /* NodePools may be there that cannot be seen */
    bool nodes_unseen;      /* likewise Nodes, as those of a node group */
    bool types_told;        /* the policy's instance-types says what is wrong with types */
    bool by_node;           /* a node may carry what the catalogue does not know */
    enum label_place place; /* of what is judged, or put into words */
    struct label_notes notes;
    struct label_filter *selected; /* by the nodeSelector, of each key of allow */
    /* What is looked up, once each: a pod may name very many labels. */
    struct zones zones[ZONE_KEY_ID + 1];
    bool zones_are_read[ZONE_KEY_ID + 1];
    struct {
        bool known, ours, other;
    } clouds; /* of visible NodePools: the catalogue's, and those whose types are not in it */
    LIST(struct label_offers) offers;
    struct {
        const struct label_offers *of;
        struct text_list list;
    } listed;                   /* the values that were listed last */
    struct text_map offers_of;  /* a key, from 1 */
    struct text_list pool_keys; /* the labels NodePools add of their own */
    bool pool_keys_are_read;
    size_t looked_up; /* values that were compared with every type's name */
};

struct label_note *label_note(struct label_inquiry *check, enum severity severity,
                              const struct expression *expression,
                              const struct expression_value *value, label_wording *word);
/* "Use VALUE.": one of those where it is near; else the fix that names them is the draft's. */
void label_allow(struct draft *draft, const struct text *values, size_t count);
/* "one of 12 values, such as amd64", "amd64 or arm64": what is allowed. */
struct text label_choices(const struct text *values, size_t count, const char *what,
                          struct arena *arena);
/* ", so these pods would stay Pending.": what follows where no node meets the note's requirement.
 */
const char *label_consequence(const struct label_inquiry *check, const struct label_note *note);

/* Whether a NodePool is visible of the catalogue's cloud, and one of another. */
bool label_sees_own_cloud(struct label_inquiry *check);
bool label_sees_other_cloud(struct label_inquiry *check);

/* Whether it is an entry of a nodeSelector, which is its own key. */
bool label_is_entry(const struct expression *expression);

/* One requirement: everything about its key and its values. */
void label_judge(struct label_inquiry *check, const struct expression *expression);
/* The values of a key that is well-known. */
void label_judge_known_values(struct label_inquiry *check, const struct expression *expression);
/* What is offered of a key, read once where anything is. */
const struct label_offers *label_offers_of(struct label_inquiry *check, struct text key);
/* Whether a value is one that is filled in later; and whether it has such a one. */
bool label_is_template(const struct label_inquiry *check, const struct expression *expression,
                       const struct expression_value *value);
bool label_has_template(const struct label_inquiry *check, const struct expression *expression);

/* The values of the key that the policy grants; NULL: it says nothing of the key. canonical is the
 * key in its current spelling. */
const struct key_strings *label_granted_values(const struct node_labels *settings, struct text key,
                                               struct text canonical);
/* The values that an In names must be granted. */
void label_judge_granted(struct label_inquiry *check, const struct expression *expression,
                         const struct key_strings *granted);
/* What the nodeSelector says of each key of allow. */
void label_read_selected(struct label_inquiry *check, const struct expressions *selector);
/* A list of requirements, with the nodeSelector, must leave a granted value of each key of allow
 * that it is about. */
void label_judge_reach(struct label_inquiry *check, const struct expressions *expressions);

#endif
