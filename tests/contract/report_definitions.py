"""The CustomResourceDefinitions of openreports.io as validators."""

import jsonschema
import yaml

from serving import check


def strict(schema):
    """The API server drops what a definition does not name: here it is refused."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: strict(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and "type" in schema:
        made.setdefault("additionalProperties", False)
    return made


def validators(folder):
    """Of each kind that the definitions in the folder are of."""
    made = {}
    for path in folder.glob("*.yaml"):
        definition = yaml.safe_load(path.read_text())["spec"]
        version, = [one for one in definition["versions"] if one["name"] == "v1alpha1"]
        made[definition["names"]["kind"]] = jsonschema.Draft7Validator(
            strict(version["schema"]["openAPIV3Schema"]))
    check(sorted(made) == ["ClusterReport", "Report"], f"definitions of {sorted(made)}")
    return made
