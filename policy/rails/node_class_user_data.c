/* User data of an EC2NodeClass that does what Karpenter does. */
#include <string.h>

#include "policy/rails/node_class.h"

/* Whether a line calls the script, not edits it: what stands before is nothing, or runs it. */
static bool is_command(struct text before)
{
    static const char *const runners[] = {"bash", "sh", "sudo", "exec", "&&", ";"};
    while (before.size > 0 && memchr(" \t", before.data[before.size - 1], 2) != NULL)
        before.size--;
    while (before.size > 0 && memchr(" \t", before.data[0], 2) != NULL)
        before = (struct text){before.data + 1, before.size - 1};
    bool runs = before.size == 0;
    for (size_t i = 0; i < COUNT_OF(runners); i++)
        runs = runs || text_ends_with(before, text_of(runners[i]));
    return runs && !text_starts_with(before, TEXT("#"));
}

static bool calls(struct text script, struct text command)
{
    struct text line, rest = script;
    for (bool more = true; more; script = rest) {
        more = text_split(script, '\n', &line, &rest);
        if (!more)
            line = script;
        const char *at = memmem(line.data, line.size, command.data, command.size);
        if (at != NULL && is_command((struct text){line.data, (size_t)(at - line.data)}))
            return true;
    }
    return false;
}

/* Karpenter adds what makes the machine a node, but not of Custom images. */
void node_class_judge_user_data(struct rail_call *call)
{
    struct arena *arena = call->arena;
    const struct field *data = field_at(arena, call->object->root, "spec.userData");
    struct text family;
    (void)node_class_family(call->object, arena, &family);
    bool is_al2 = text_is(family, "AL2");
    if ((!is_al2 && !text_is(family, "AL2023")) ||
        !calls(node_string(data->node), TEXT("/etc/eks/bootstrap.sh")))
        return;
    report_found(call, SEVERITY_WARN, data, TEXT("/etc/eks/bootstrap.sh"),
                 is_al2 ? TEXT("Remove the call of bootstrap.sh from userData, or use amiFamily "
                               "Custom.")
                        : TEXT("Remove the call of bootstrap.sh from userData. Karpenter adds what "
                               "nodeadm reads."),
                 "%s",
                 is_al2 ? "userData calls bootstrap.sh, as Karpenter does after it. The node "
                          "joins first without the labels and taints of its pool."
                        : "userData calls bootstrap.sh, which fails on images of AL2023.");
}
