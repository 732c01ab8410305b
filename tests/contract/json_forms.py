"""The JSON of `impact` and `why` as it is promised: these fields, of these types. More of them may come."""

try:
    import jsonschema
except ImportError:
    jsonschema = None
    print("not compared with JSON Schemas: no python3-jsonschema")

TEXT, COUNT, BOOLEAN = {"type": "string"}, {"type": "integer", "minimum": 0}, {"type": "boolean"}


def maybe(schema):
    return {"anyOf": [schema, {"type": "null"}]}


def form(**fields):
    return {"type": "object", "required": list(fields), "properties": fields}


def list_of(schema):
    return {"type": "array", "items": schema}


POD_NAME = {"type": "string", "pattern": "^[^/]+/[^/]+$"}
TIME = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"}
USD = {"type": "number", "minimum": 0}
BLOCK = form(pod=POD_NAME, by=TEXT, owner=TEXT)
CHANGE = form(operation={"enum": ["create", "update", "delete"]}, kind=TEXT, name=TEXT, nodesReplaced=COUNT,
              nodesTotal=COUNT, reasons=list_of(TEXT), atOnce=COUNT, firstWindow=maybe(TIME), blockedBy=list_of(BLOCK),
              usdPerHourBefore=maybe(USD), usdPerHourAfter=maybe(USD), unschedulable=list_of(POD_NAME),
              nodesStaying=COUNT, podsUndecided=list_of(POD_NAME), podsGone=list_of(POD_NAME))
IMPACT = form(schema={"const": "taffrail.dev/impact/v1"}, changes=list_of(CHANGE))
FIT = maybe(BOOLEAN)
POOL = form(name=TEXT, fits=FIT, kind=maybe(TEXT), message=TEXT, nearest=TEXT)
NODES = form(total=COUNT, fit=COUNT, reasons=list_of(form(count=COUNT, kind=TEXT, message=TEXT)))
WHY = {"const": "taffrail.dev/why/v1"}
WHY_POD = form(schema=WHY, pod=POD_NAME, fits=FIT, nodePools=list_of(POOL), nodes=NODES, fix=TEXT)
WHY_NODE = form(schema=WHY, node=TEXT, pods=list_of(form(pod=POD_NAME, owner=TEXT, moves=BOOLEAN)),
                disruptable=maybe(BOOLEAN), reasons=list_of(form(kind=TEXT, message=TEXT)), nextWindow=maybe(TIME))


def faults(told, promised):
    """What is otherwise than promised, a line each."""
    if jsonschema is None:
        return []
    return [f"{fault.json_path}: {fault.message}" for fault in jsonschema.Draft202012Validator(promised).iter_errors(told)]
