/* The parts of the rail node-labels: where a pod names labels (node_labels.c), and what is wrong
 * with a label it names (node_labels_key.c, node_labels_value.c). */
#ifndef TAFFRAIL_POLICY_RAILS_NODE_LABELS_H
#define TAFFRAIL_POLICY_RAILS_NODE_LABELS_H

#include "kube/label.h"
#include "kube/zone.h"
#include "policy/rail.h"

struct catalog;
struct expression;

struct node_labels {
    struct key_lists allow;
    const struct catalog *catalog;
};

/* What was found in one list of requirements, before it is known how bad that is. */
struct label_note {
    struct draft draft;
    bool forbidden; /* by allow: whatever else the pod could do */
};
struct label_notes {
    struct label_note *items;
    size_t count, capacity;
};

struct label_inquiry {
    const struct rail_call *call;
    const struct node_labels *settings;
    bool is_daemon;     /* runs where nodes are: none is bought for it */
    bool other_cloud;   /* a visible NodePool's types are not in the catalogue */
    bool pools_visible; /* some NodePool of the catalogue's cloud is */
    bool unseen;        /* NodePools or Nodes may be there that cannot be seen */
    bool by_node;       /* a Node carries what the catalogue does not know */
    struct label_notes notes;
    /* What is looked up, once each: a pod may name very many labels. */
    struct zones zones[ZONE_KEY_ID + 1];
    bool zones_are_read[ZONE_KEY_ID + 1];
    LIST(struct label_offers) offers;
    struct text_map offers_of; /* a key, from 1 */
    struct names {
        struct text *items;
        size_t count, capacity;
    } pool_keys; /* the labels NodePools add of their own */
    bool pool_keys_are_read;
    size_t looked_up; /* values that were compared with every type's name */
};

struct label_note *label_note(struct label_inquiry *check, enum severity severity,
                              const struct field *field, struct text found);
/* "use one of the allowed values": those, and the fix where none of them is near. */
void label_note_allow(struct label_note *note, const struct text *values, size_t count,
                      const char *otherwise);

/* One requirement: everything about its key and its values. */
void label_judge(struct label_inquiry *check, const struct expression *expression);
/* The values of a key that is well-known; key is the canonical one. */
void label_judge_known_values(struct label_inquiry *check, const struct expression *expression,
                              struct text key);

#endif
