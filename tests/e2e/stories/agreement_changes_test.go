package stories

import (
	"fmt"
	"time"
)

// A kind of change to a NodePool: what it does with the manifest, and its words for the table. One that deletes has no
// manifest. The dice are those of the seed and the kind.
type change struct {
	name  string
	apply func(d dice, id string, pool map[string]any)
}

func template(pool map[string]any) map[string]any { return at(pool, "spec", "template", "spec") }

// Those of one list are made to one cluster, one after the other, since all but the last leave its nodes alone.
var agreementChanges = [][]change{
	{
		{"a requirement widened", func(d dice, _ string, pool map[string]any) {
			switch spec := template(pool); d.Intn(4) {
			case 0:
				spec["requirements"] = append(spec["requirements"].([]any),
					map[string]any{"key": "example.com/legacy", "operator": "DoesNotExist"})
			case 1:
				processors := requirement(pool, processorsKey)
				processors["minValues"] = 2
			case 2:
				requirement(pool, zoneKey)["operator"] = "Exists"
				delete(requirement(pool, zoneKey), "values")
			default:
				processors := requirement(pool, processorsKey)
				processors["values"] = append(processors["values"].([]any), "16", "32")
			}
		}},
		{"`limits` below what is used", func(_ dice, _ string, pool map[string]any) {
			at(pool, "spec")["limits"] = map[string]any{"cpu": "1"}
		}},
		{"`budgets`", func(d dice, _ string, pool map[string]any) {
			d.setBudgets(at(pool, "spec", "disruption"))
		}},
		{"`weight`", func(_ dice, _ string, pool map[string]any) {
			at(pool, "spec")["weight"] = 77
		}},
		{"a label of the template", func(d dice, _ string, pool map[string]any) {
			at(pool, "spec", "template", "metadata", "labels")["team"] = "blue"
			disruption := at(pool, "spec", "disruption")
			switch chance := d.Intn(100); { // the budgets of the same edit count, not those before
			case chance < 15:
				disruption["budgets"] = closedForAMinute()
			case chance < 60:
				d.setBudgets(disruption)
			}
		}},
	},
	{
		{"a taint", func(d dice, _ string, pool map[string]any) {
			taint := map[string]any{"key": "maintenance", "effect": d.one("NoSchedule", "NoExecute", "PreferNoSchedule")}
			spec := template(pool)
			if d.percent(25) {
				spec["startupTaints"] = []any{taint}
				return
			}
			spec["taints"] = append([]any{taint}, spec["taints"].([]any)...)
		}},
	},
	{
		{"a requirement narrowed", func(d dice, _ string, pool map[string]any) {
			narrowed := requirement(pool, d.one(zoneKey, zoneKey, processorsKey, capacityKey))
			values := narrowed["values"].([]any)
			if len(values) == 1 {
				narrowed["operator"] = "NotIn"
				return
			}
			left := d.Intn(len(values))
			narrowed["values"] = append(append([]any{}, values[:left]...), values[left+1:]...)
		}},
	},
	{
		{"`expireAfter`", func(d dice, _ string, pool map[string]any) {
			spec := template(pool)
			switch life := spec["expireAfter"]; {
			case life == nil && d.percent(30):
				spec["expireAfter"] = "43200m" // the default, in other words
			case life == "336h" && d.percent(30):
				spec["expireAfter"] = "20160m"
			default:
				spec["expireAfter"] = "480h"
			}
		}},
	},
	{
		{"`nodeClassRef`", func(_ dice, id string, pool map[string]any) {
			at(template(pool), "nodeClassRef")["name"] = id + "-other"
		}},
	},
	{
		{"deleted", nil},
	},
}

// closedForAMinute are budgets that let no node go before the end of the next minute, and then two.
func closedForAMinute() []any {
	now := time.Now().UTC()
	return []any{
		map[string]any{"nodes": "0", "schedule": fmt.Sprintf("%d %d * * *", now.Minute(), now.Hour()), "duration": "2m"},
		map[string]any{"nodes": "2"},
	}
}
