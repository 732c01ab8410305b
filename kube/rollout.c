/* Reads spec.strategy of Deployments as their controller does. */
#include "kube/rollout.h"

#include "kube/quantity.h"

/* A share is a quarter where nothing is written. */
static bool read_share(const struct node *node, struct share *share)
{
    struct text written = node_text(node);
    return share_parse(written.size == 0 ? TEXT("25%") : written, share);
}

bool rollout_read(const struct object *object, int64_t replicas, struct rollout *rollout)
{
    enum { PERCENT = 100 };
    const struct node *strategy = node_at(object->root->node, "spec.strategy");
    const struct node *update = node_get(strategy, "rollingUpdate");
    struct share surge, unavailable;
    if (object->kind != KIND_DEPLOYMENT ||
        text_is(node_string(node_get(strategy, "type")), "Recreate") ||
        !read_share(node_get(update, "maxSurge"), &surge) ||
        !read_share(node_get(update, "maxUnavailable"), &unavailable) || replicas < 0 ||
        replicas > INT32_MAX || surge.amount > INT32_MAX || unavailable.amount > INT32_MAX)
        return false;
    /* More is rounded up, and fewer down. */
    *rollout = (struct rollout){
        .chosen = node_count(update) > 0,
        .surge = share_amount(surge, replicas),
        .unavailable =
            unavailable.percent ? replicas * unavailable.amount / PERCENT : unavailable.amount,
    };
    if (rollout->surge == 0 && rollout->unavailable == 0)
        rollout->unavailable = 1;
    return true;
}
