/* Reads the settings of EC2NodeClasses that change the types. */
#include "catalog/node_class.h"

#include <string.h>

#include "catalog/build.h"
#include "kube/complaint.h"
#include "kube/image_family.h"
#include "kube/object.h"
#include "kube/quantity.h"
#include "kube/to_solver.h"

#define GIB ((int64_t)1 << 30)

#define MILLI_MAX ((int64_t)1 << 60) /* more than any machine has; several can be added */

enum { USUAL_ROOT_GIB = 20, WINDOWS_ROOT_GIB = 50, AUTO_MODE_ROOT_GIB = 80 };

const struct class_settings usual_settings = {
    .max_pods = -1,
    .pods_per_core = 0,
    .interfaces_limit_pods = true,
    .memory_by_interfaces = true,
    .kube_reserved = {-1, -1, -1},
    .system_reserved = {0, 0, 0},
    .root_bytes = USUAL_ROOT_GIB * GIB,
};

const struct class_settings auto_mode_settings = {
    .max_pods = -1,
    .interfaces_limit_pods = true,
    .memory_by_interfaces = true,
    .kube_reserved = {-1, -1, -1},
    .root_bytes = AUTO_MODE_ROOT_GIB * GIB,
    .instance_store = true,
    .signature = "auto mode",
};

const struct class_settings unseen_settings = {
    .max_pods = -1,
    .interfaces_limit_pods = true,
    .memory_by_interfaces = true,
    .kube_reserved = {-1, -1, -1},
    .root_bytes = MILLI_MAX / 1000,
    .any_system = true,
    .signature = "unseen",
};

const struct class_settings assumed_settings = {
    .max_pods = -1,
    .interfaces_limit_pods = true,
    .memory_by_interfaces = true,
    .kube_reserved = {-1, -1, -1},
    .root_bytes = USUAL_ROOT_GIB * GIB,
    .any_system = true,
    .signature = "assumed",
};

/* ---- families of machine images ---- */

struct family {
    const char *name;
    const char *device; /* of the volume that pods write to; NULL: not known */
    int64_t root_bytes;
    bool interfaces_limit_pods, memory_by_interfaces, pods_per_core, but_a1;
    const char *windows_build;
};
static const struct family families[] = {
    {"AL2", "/dev/xvda", USUAL_ROOT_GIB *GIB, true, true, true, false, NULL},
    {"AL2023", "/dev/xvda", USUAL_ROOT_GIB *GIB, true, true, true, true, NULL},
    {"Bottlerocket", "/dev/xvdb", USUAL_ROOT_GIB *GIB, true, false, false, false, NULL},
    {"Windows2019", "/dev/sda1", WINDOWS_ROOT_GIB *GIB, false, false, true, false, "10.0.17763"},
    {"Windows2022", "/dev/sda1", WINDOWS_ROOT_GIB *GIB, false, false, true, false, "10.0.20348"},
    {"Windows2025", "/dev/sda1", WINDOWS_ROOT_GIB *GIB, false, false, true, false, "10.0.26100"},
    {"Custom", NULL, USUAL_ROOT_GIB *GIB, true, true, true, false, NULL},
};
enum { FAMILY_COUNT = COUNT_OF(families), FAMILY_CUSTOM = FAMILY_COUNT - 1 };

static const struct family *family_named(struct text name)
{
    for (size_t i = 0; i < FAMILY_COUNT; i++)
        if (text_is(name, families[i].name))
            return &families[i];
    return &families[0];
}

/* spec.amiFamily, or the start of the alias in amiSelectorTerms. */
static const struct family *family_of(const struct node *spec)
{
    struct text name = node_string(node_get(spec, "amiFamily"));
    if (name.size > 0)
        return family_named(name);
    const struct node *terms = node_get(spec, "amiSelectorTerms");
    FOR_ITEMS(item, terms) {
        struct text family = image_family_of_alias(node_string(node_get(item, "alias")));
        if (family.size > 0)
            return family_named(family);
    }
    return &families[FAMILY_CUSTOM];
}

/* ---- reading ---- */

struct class_reader {
    const struct object *object;
    struct arena *arena;
    struct error *error;
    struct class_settings *settings;
};

static bool refuse(const struct class_reader *reader, const struct field *field, const char *wanted)
{
    struct text path = field_path(reader->arena, field);
    const char *quote = node_is(field->node, NODE_STRING) ? "\"" : "";
    return error_set(reader->error, ERROR_INPUT, object_place(reader->object, field, reader->arena),
                     "%.*s of its EC2NodeClass %.*s is %s%.*s%s; it must be %s", TEXT_ARGS(path),
                     TEXT_ARGS(reader->object->name), quote, TEXT_ARGS(node_text(field->node)),
                     quote, wanted);
}

static bool is_there(const struct field *field)
{
    return field->node != NULL && !node_is(field->node, NODE_NULL);
}

/* A quantity of 0 or more, in thousandths. */
static bool read_milli(const struct class_reader *reader, const struct field *field, int64_t *milli)
{
    struct text written = node_text(field->node);
    if (quantity_milli(written, milli) && *milli >= 0)
        return true;
    struct text path = field_path(reader->arena, field);
    return error_set(reader->error, ERROR_INPUT, object_place(reader->object, field, reader->arena),
                     "%.*s of its EC2NodeClass %.*s is %.*s", TEXT_ARGS(path),
                     TEXT_ARGS(reader->object->name),
                     TEXT_ARGS(quantity_complaint(written, "9.2P", reader->arena)));
}

static bool read_count(const struct class_reader *reader, const struct field *kubelet,
                       const char *key, int64_t *count)
{
    const struct field *field = field_get(reader->arena, kubelet, key);
    if (!is_there(field))
        return true;
    return (node_integer(field->node, count) && *count >= 0 && *count <= INT32_MAX) ||
           refuse(reader, field, "a whole number of 0 or more");
}

static bool read_reserved(const struct class_reader *reader, const struct field *kubelet,
                          const char *key, int64_t *reserved)
{
    static const char *const names[RESERVED_RESOURCES] = {"cpu", "memory", "ephemeral-storage"};
    const struct field *map = field_get(reader->arena, kubelet, key);
    for (size_t i = 0; i < RESERVED_RESOURCES; i++) {
        const struct field *field = field_get(reader->arena, map, names[i]);
        int64_t milli = 0;
        if (!is_there(field))
            continue;
        if (!read_milli(reader, field, &milli))
            return false;
        milli = milli < MILLI_MAX ? milli : MILLI_MAX;
        reserved[i] = i == RESERVED_CPU ? milli : milli / 1000;
    }
    return true;
}

static bool read_eviction(const struct class_reader *reader, const struct field *kubelet,
                          const char *signal, struct eviction *eviction)
{
    const struct field *hard = field_get(reader->arena, kubelet, "evictionHard");
    const struct field *field = field_get(reader->arena, hard, signal);
    struct text text = node_text(field->node), number = text;
    int64_t milli = 0;
    if (!is_there(field))
        return true;
    *eviction = (struct eviction){.given = true};
    if (!text_ends_with(text, TEXT("%"))) {
        if (!read_milli(reader, field, &milli))
            return false;
        eviction->bytes = milli / 1000;
        return true;
    }
    number.size--;
    if (!quantity_milli(number, &milli) || milli < 0 || milli > 100000)
        return refuse(reader, field, "a quantity, or a percentage from 0% to 100%");
    eviction->percent_milli = milli == 100000 ? 0 : milli; /* 100 % switches it off */
    return true;
}

/* The size of the volume a mapping makes, in bytes; 0: it does not say. */
static bool read_size(const struct class_reader *reader, const struct field *mapping,
                      int64_t *bytes)
{
    const struct field *size = field_at(reader->arena, mapping, "ebs.volumeSize");
    int64_t milli = 0;
    *bytes = 0;
    if (!is_there(size))
        return true;
    if (!read_milli(reader, size, &milli))
        return false;
    *bytes = milli / 1000;
    return true;
}

/* The root volume that is marked so; else that of the device pods write to, or the last one of an
 * image nobody knows. */
static bool read_root(const struct class_reader *reader, const struct field *spec,
                      const struct family *family)
{
    const struct field *list = field_get(reader->arena, spec, "blockDeviceMappings");
    size_t count = node_is(list->node, NODE_LIST) ? node_count(list->node) : 0;
    int64_t marked = 0, chosen = 0;
    for (size_t i = 0; i < count; i++) {
        const struct field *mapping = field_item(reader->arena, list, i);
        struct text device = node_string(node_get(mapping->node, "deviceName"));
        int64_t bytes = 0;
        if (!read_size(reader, mapping, &bytes))
            return false;
        if (marked == 0 && node_true(node_get(mapping->node, "rootVolume")))
            marked = bytes;
        if (family->device == NULL)
            chosen = bytes;
        else if (chosen == 0 && text_is(device, family->device))
            chosen = bytes;
    }
    reader->settings->root_bytes = marked > 0 ? marked : chosen > 0 ? chosen : family->root_bytes;
    return true;
}

static void read_reservations(const struct class_reader *reader)
{
    struct arena *arena = reader->arena;
    const struct node *list = node_at(reader->object->root->node, "status.capacityReservations");
    size_t most = node_is(list, NODE_LIST) ? node_count(list) : 0;
    struct class_reservation *items = ARENA_ARRAY(arena, most, struct class_reservation);
    size_t count = 0;
    for (size_t i = 0; i < most; i++) {
        const struct node *node = node_item(list, i);
        struct text id = node_string(node_get(node, "id"));
        struct text kind = node_string(node_get(node, "reservationType"));
        if (id.size == 0 || text_is(node_string(node_get(node, "state")), "expiring"))
            continue;
        items[count++] = (struct class_reservation){
            .id = terminated(arena, id),
            .zone = terminated(arena, node_string(node_get(node, "availabilityZone"))),
            .type = terminated(arena, node_string(node_get(node, "instanceType"))),
            .kind = kind.size > 0 ? terminated(arena, kind) : "default",
            .interruptible = node_true(node_get(node, "interruptible")),
        };
    }
    reader->settings->reservations = items;
    reader->settings->reservation_count = count;
}

/* ---- comparing settings ---- */

static const char *sign(const struct class_settings *s, struct arena *arena)
{
    struct text_builder out = {.arena = arena};
    text_builder_printf(&out, "%lld %lld %d %d", (long long)s->max_pods,
                        (long long)s->pods_per_core, s->interfaces_limit_pods,
                        s->memory_by_interfaces);
    for (size_t i = 0; i < RESERVED_RESOURCES; i++)
        text_builder_printf(&out, " %lld %lld", (long long)s->kube_reserved[i],
                            (long long)s->system_reserved[i]);
    const struct eviction *evictions[] = {&s->memory, &s->storage};
    for (size_t i = 0; i < 2; i++)
        text_builder_printf(&out, " %d %lld %lld", evictions[i]->given,
                            (long long)evictions[i]->bytes, (long long)evictions[i]->percent_milli);
    text_builder_printf(&out, " %lld %d %s", (long long)s->root_bytes, s->instance_store,
                        s->windows_build == NULL ? "linux" : s->windows_build);
    for (size_t i = 0; i < s->reservation_count; i++) {
        const struct class_reservation *r = &s->reservations[i];
        text_builder_printf(&out, "; %s %s %s %s %d", r->id, r->zone, r->type, r->kind,
                            r->interruptible);
    }
    return text_builder_text(&out).data;
}

static bool read_kubelet(const struct class_reader *reader, const struct field *spec,
                         const struct family *family)
{
    struct class_settings *settings = reader->settings;
    const struct field *kubelet = field_get(reader->arena, spec, "kubelet");
    if (!read_count(reader, kubelet, "maxPods", &settings->max_pods) ||
        !read_count(reader, kubelet, "podsPerCore", &settings->pods_per_core) ||
        !read_reserved(reader, kubelet, "kubeReserved", settings->kube_reserved) ||
        !read_reserved(reader, kubelet, "systemReserved", settings->system_reserved) ||
        !read_eviction(reader, kubelet, "memory.available", &settings->memory) ||
        !read_eviction(reader, kubelet, "nodefs.available", &settings->storage))
        return false;
    if (!family->pods_per_core)
        settings->pods_per_core = 0;
    settings->interfaces_limit_pods = family->interfaces_limit_pods;
    /* Both are the same where nothing else limits pods. */
    settings->memory_by_interfaces =
        family->memory_by_interfaces ||
        (family->interfaces_limit_pods && settings->max_pods < 0 && settings->pods_per_core == 0);
    return true;
}

bool class_settings_read(const struct object *node_class, struct arena *arena,
                         const struct class_settings **read, struct error *error)
{
    *read = NULL;
    if (node_class == NULL)
        return true;
    struct class_settings *settings = ARENA_NEW(arena, struct class_settings);
    *settings = usual_settings;
    const struct class_reader reader = {node_class, arena, error, settings};
    const struct field *spec = field_get(arena, node_class->root, "spec");
    const struct family *family = family_of(spec->node);
    settings->windows_build = family->windows_build;
    settings->instance_store =
        text_is(node_string(node_get(spec->node, "instanceStorePolicy")), "RAID0");
    if (!read_kubelet(&reader, spec, family) || !read_root(&reader, spec, family))
        return false;
    read_reservations(&reader);
    settings->signature = sign(settings, arena);
    if (strcmp(settings->signature, sign(&usual_settings, arena)) != 0)
        *read = settings;
    return true;
}

struct class_types class_types_read(const struct object *node_class)
{
    const struct node *spec = node_get(node_class->root->node, "spec");
    return (struct class_types){
        .but_a1 = family_of(spec)->but_a1,
        .nitro_only = node_is(node_get(spec, "connectionTracking"), NODE_MAP),
    };
}

bool class_types_have(struct class_types types, const struct instance_type *type,
                      const struct catalog *catalog)
{
    const struct solver_requirement *hypervisor =
        solver_requirements_get(&type->requirements, CATALOG_HYPERVISOR);
    uint32_t nitro =
        solver_names_find_value(catalog_names(catalog), CATALOG_HYPERVISOR, "nitro", 5);
    if (types.but_a1 && text_is(type->family, "a1"))
        return false;
    return !types.nitro_only || hypervisor == NULL ||
           solver_requirement_has(catalog_names(catalog), hypervisor, nitro);
}

bool class_settings_equal(const struct class_settings *a, const struct class_settings *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a->signature, b->signature) == 0);
}

const char *class_settings_windows_build(const struct class_settings *settings)
{
    return settings == NULL ? NULL : settings->windows_build;
}
