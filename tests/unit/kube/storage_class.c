/* In which zones the disks of a StorageClass are, by its parameters. */
#include "kube/volume.h"
#include "object_fixture.h"

static void parameters_say_where_disks_are(void)
{
    static const struct {
        const char *provisioner, *parameters;
        bool one, all_its_zones, unmanaged, redundant;
    } cases[] = {
        {"kubernetes.io/gce-pd", "zone: a", true, false, false, false},
        {"kubernetes.io/gce-pd", "zones: 'a,b'", false, false, false, false},
        {"kubernetes.io/gce-pd", "zones: 'a,b', replication-type: regional-pd", false, true, false,
         false},
        {"kubernetes.io/gce-pd", "zones: 'a,b,c', replication-type: regional-pd", false, false,
         false, false},
        {"pd.csi.storage.gke.io", "zones: 'a,b', replication-type: regional-pd", false, false,
         false, false}, /* a driver does not read zones */
        {"kubernetes.io/azure-disk", "kind: Managed", false, false, false, false},
        {"kubernetes.io/azure-disk", "kind: Shared", false, false, true, false},
        {"kubernetes.io/azure-disk", "kind: Dedicated", false, false, true, false},
        {"kubernetes.io/azure-disk", "storageAccount: account", false, false, true, false},
        {"disk.csi.azure.com", "kind: Shared", false, false, false, false},
        {"disk.csi.azure.com", "skuName: Premium_ZRS", false, false, false, true},
    };
    struct arena *arena = arena_create(1 << 20);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct storage_class class;
        struct text yaml =
            arena_printf(arena,
                         "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: c}, "
                         "provisioner: %s, parameters: {%s}}",
                         cases[i].provisioner, cases[i].parameters);
        CU_ASSERT_FATAL(storage_class_read(fixture_object(arena, yaml.data, ""), arena, &class));
        ASSERT_INT(storage_class_names_one_zone(&class), cases[i].one);
        ASSERT_INT(storage_class_is_in_all_its_zones(&class), cases[i].all_its_zones);
        ASSERT_INT(storage_class_is_unmanaged(&class), cases[i].unmanaged);
        ASSERT_INT(storage_class_is_zone_redundant(&class), cases[i].redundant);
    }
    arena_destroy(arena);
}

const char unit_suite[] = "kube storage classes";
const struct unit_test unit_tests[] = {
    {"parameters say where disks are", parameters_say_where_disks_are},
    {NULL, NULL},
};
