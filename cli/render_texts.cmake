# The manifests that `taffrail render` fills in, as C: they are written once, under manifests/.
set(render_texts "")
foreach(path base/namespace.yaml base/serviceaccount.yaml base/rbac.yaml base/rbac-lease.yaml base/rbac-manage.yaml
        base/rbac-policies.yaml base/rbac-reports.yaml overlays/cert-manager/certificates.yaml policies/starter.yaml base/service.yaml base/deployment.yaml
        base/pdb.yaml base/networkpolicy.yaml base/validating.yaml base/mutating.yaml)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS manifests/${path})
  file(READ manifests/${path} text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
  get_filename_component(name ${path} NAME)
  string(APPEND render_texts "    {\"${name}\",\n     \"${text}\"},\n")
endforeach()
set(render_texts_file ${CMAKE_BINARY_DIR}/render_texts.c)
file(CONFIGURE OUTPUT ${render_texts_file} @ONLY CONTENT
"#include \"cli/render.h\"

const struct render_text render_texts[] = {
@render_texts@    {NULL, NULL},
};
")
