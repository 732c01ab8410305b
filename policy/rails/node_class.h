/* Private to the rail node-class. */
#ifndef TAFFRAIL_POLICY_RAILS_NODE_CLASS_H
#define TAFFRAIL_POLICY_RAILS_NODE_CLASS_H

#include "policy/rail.h"

struct node_class {
    struct key_strings families, tags;
    bool require_encryption, require_imdsv2, max_hop_limit_given;
    int64_t max_hop_limit;
};

/* "AL2023", by amiFamily or an alias, and where it says so; empty when it does not. */
const struct field *node_class_family(const struct object *class, struct arena *arena,
                                      struct text *family);
/* The family of the images themselves, where an alias names them; NULL: none does. */
const struct field *node_class_alias(const struct object *class, struct arena *arena,
                                     struct text *family);
void node_class_judge_volumes(struct rail_call *call, const struct node_class *settings);
void node_class_judge_user_data(struct rail_call *call);
/* Settings of the kubelet for which Karpenter refuses the class. */
void node_class_judge_kubelet(struct rail_call *call);
/* Judges the fields of a class of EKS Auto Mode, Azure or Google Cloud; false: it is none. */
bool node_class_judge_cloud(struct rail_call *call);
/* Where such a class has the tags of machines: "tags", "labels". */
const char *node_class_tags_key(enum kind kind);

#endif
