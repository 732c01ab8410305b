/* Pod templates inside custom resources, as policies name them. */
#ifndef TAFFRAIL_POLICY_POD_TEMPLATES_H
#define TAFFRAIL_POLICY_POD_TEMPLATES_H

#include "policy/policy_set.h"
#include "policy/schema.h"

/* The keys of one under spec.podTemplates: a struct templated_kind. */
extern const struct key pod_template_keys[];
/* Beyond what the table can say; reads the paths. Each problem is added, false when there was one.
 */
bool pod_templates_check(const struct schema *schema, const struct field *spec,
                         struct templated_kind *items, size_t count);
/* The custom resources that `kinds` of a match (its field) names are among them. */
bool custom_kinds_check(const struct schema *schema, const struct field *match,
                        const struct key_kinds *kinds, const struct templated_kind *items,
                        size_t count);

/* What the policy says of a kind; NULL: nothing. */
const struct templated_kind *templated_kind_find(const struct policy *policy,
                                                 struct text api_version, struct text kind);

/* Whether a kind can be called so. */
bool kind_name_is_valid(struct text name);
/* "rayclusters" of a RayCluster. */
struct text usual_resource(struct text kind, struct arena *arena);
/* A problem is added and false returned when what stands at the item's key is no plural. */
bool resource_check(const struct schema *schema, const struct field *item, struct text resource);

/* An object once for each of its templates, as rails judge it. */
struct views {
    const struct object *items;
    size_t count;
    bool cut; /* it has more templates */
};
enum { TEMPLATES_MAX = 1000 };
struct views pod_templates_read(const struct templated_kind *kind, const struct object *object,
                                struct arena *arena);

#endif
