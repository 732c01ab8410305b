/* Requests: paths, and the resource versions in them. */
#include <stdio.h>
#include <string.h>

#include "live/watch.h"

static const char *const stable[] = {"v1", NULL};
static const char *const karpenter[] = {"v1", "v1beta1", NULL};
static const char *const provisioner[] = {"v1alpha5", NULL};
static const char *const aws_node_template[] = {"v1alpha1", NULL};
static const char *const autoscaler[] = {"v2", "v1", NULL};
static const char *const capacity_buffer[] = {"v1beta1", "v1alpha1", NULL};
static const char *const node_overlay[] = {"v1alpha1", NULL};
static const char *const device[] = {"v1", "v1beta2", "v1beta1", NULL};
static const char *const aks_node_class[] = {"v1beta1", "v1alpha2", NULL};
static const char *const gce_node_class[] = {"v1alpha1", NULL};

const char *const *kind_versions(enum kind kind)
{
    switch (kind) {
    case KIND_NODE_POOL:
    case KIND_NODE_CLAIM:
    case KIND_EC2_NODE_CLASS:
        return karpenter;
    case KIND_PROVISIONER:
        return provisioner;
    case KIND_AWS_NODE_TEMPLATE:
        return aws_node_template;
    case KIND_HORIZONTAL_POD_AUTOSCALER:
        return autoscaler;
    case KIND_CAPACITY_BUFFER:
        return capacity_buffer;
    case KIND_NODE_OVERLAY:
        return node_overlay;
    case KIND_DEVICE_CLASS:
    case KIND_RESOURCE_CLAIM:
    case KIND_RESOURCE_CLAIM_TEMPLATE:
    case KIND_RESOURCE_SLICE:
        return device;
    case KIND_AKS_NODE_CLASS:
        return aks_node_class;
    case KIND_GCE_NODE_CLASS:
        return gce_node_class;
    default:
        return stable;
    }
}

struct text api_version_of(struct text group, const char *version, struct arena *arena)
{
    return arena_printf(arena, "%.*s%s%s", TEXT_ARGS(group), group.size == 0 ? "" : "/", version);
}

void path_add_escaped(char path[static PATH_BYTES], size_t *size, const char *value)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    for (; *value != '\0' && *size + 4 < PATH_BYTES; value++) {
        if (strchr(plain, *value) != NULL)
            path[(*size)++] = *value;
        else
            *size += (size_t)snprintf(path + *size, 4, "%%%02X", (unsigned)(unsigned char)*value);
    }
    path[*size] = '\0';
}

void list_request_write(const struct list_request *request, char path[static PATH_BYTES])
{
    size_t size = (size_t)snprintf(
        path, PATH_BYTES, "/%s%.*s/%s/%.*s", request->group.size == 0 ? "api" : "apis/",
        TEXT_ARGS(request->group), request->version, TEXT_ARGS(request->plural));
    if (request->watch_version != NULL) {
        size += (size_t)snprintf(path + size, PATH_BYTES - size,
                                 "?watch=1&allowWatchBookmarks=true&timeoutSeconds=%u"
                                 "&resourceVersion=",
                                 request->timeout_s);
        path_add_escaped(path, &size, request->watch_version);
    } else if (request->limit > 0) {
        size += (size_t)snprintf(path + size, PATH_BYTES - size, "?limit=%zu", request->limit);
        if (request->continue_token != NULL) {
            size += (size_t)snprintf(path + size, PATH_BYTES - size, "&continue=");
            path_add_escaped(path, &size, request->continue_token);
        }
    }
}

void group_request_write(struct text group, char path[static PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "/apis/%.*s", TEXT_ARGS(group));
}

bool version_keep(char kept[static VERSION_BYTES], struct text version)
{
    if (version.size >= VERSION_BYTES || memchr(version.data, '\0', version.size) != NULL)
        return false;
    memcpy(kept, version.data, version.size);
    kept[version.size] = '\0';
    return true;
}

static bool is_decimal(struct text t)
{
    for (size_t i = 0; i < t.size; i++)
        if (t.data[i] < '0' || t.data[i] > '9')
            return false;
    return t.size > 0 && t.data[0] != '0';
}

int version_order(struct text a, struct text b)
{
    if (text_equal(a, b))
        return 0;
    if (!is_decimal(a) || !is_decimal(b))
        return 1;
    if (a.size != b.size)
        return a.size < b.size ? -1 : 1;
    return text_compare(a, b);
}
