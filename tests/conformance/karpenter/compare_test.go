package main

import "testing"

func of(usd float64, nodes int, pods ...string) outcome {
	p := &plan{}
	for range nodes {
		p.Claims = append(p.Claims, planClaim{NodePool: "pool", UsdPerHour: usd / float64(nodes)})
	}
	if nodes == 0 {
		p.Existing = []planExisting{{"node", pods}}
	} else {
		p.Claims[0].Pods = pods
	}
	return measure{}.outcomeOf(p)
}

func TestCompare(t *testing.T) {
	cheap, dear := of(1, 1, "a/w-0", "a/w-1"), of(3, 2, "a/w-0", "a/w-1")
	one := of(1, 1, "a/w-1")
	for _, c := range []struct {
		name            string
		ours            outcome
		runs            []outcome
		plan, optimized grade
	}{
		{"the same", cheap, []outcome{cheap}, agree, agree},
		{"within the span", of(2, 2, "a/w-0", "a/w-1"), []outcome{cheap, dear}, agree, worse},
		{"dearer than any", of(3.1, 2, "a/w-0", "a/w-1"), []outcome{cheap, dear}, worse, worse},
		{"more nodes than any", of(2, 3, "a/w-0", "a/w-1"), []outcome{cheap, dear}, worse, worse},
		{"cheaper than any", of(0.5, 1, "a/w-0", "a/w-1"), []outcome{cheap, dear}, better, better},
		{"on a node that is there", of(0, 0, "a/w-0", "a/w-1"), []outcome{cheap}, better, better},
		{"fewer pods than any", one, []outcome{cheap}, worse, worse},
		{"as few pods as some run, another of them", of(1, 1, "a/w-0"), []outcome{one, cheap}, agree, worse},
		{"more pods than any", cheap, []outcome{one}, better, better},
		{"other pods", of(1, 1, "a/x-0"), []outcome{one}, worse, agree},
		{"as many pods, dearer than the runs with so many", of(2, 1, "a/w-0"), []outcome{one, dear}, worse, worse},
	} {
		if got := compare(c.ours, c.runs); got.grade != c.plan {
			t.Errorf("%s: compare says %s (%s), not %s", c.name, got.grade, got.reason, c.plan)
		}
		if got := compareOptimized(c.ours, c.runs); got.grade != c.optimized {
			t.Errorf("%s: compareOptimized says %s (%s), not %s", c.name, got.grade, got.reason, c.optimized)
		}
	}
}

// What is bought in vain is held against runs that count no pod to a node where it cannot run.
func TestCompareInVain(t *testing.T) {
	bought := func(inVain ...string) outcome {
		return measure{}.outcomeOf(&plan{Existing: []planExisting{{"node", []string{"a/w-0"}}},
			Claims: []planClaim{{NodePool: "pool", UsdPerHour: 1, InVainFor: inVain}}})
	}
	there, counting := of(0, 0, "a/w-0"), of(0, 0, "a/w-0")
	counting.counted = true
	for _, c := range []struct {
		name      string
		ours, run outcome
		wanted    grade
	}{
		{"a run that counts one", bought("a/w-1"), counting, moot},
		{"a run that counts none", bought("a/w-1"), there, worse},
		{"not in vain", bought(), counting, worse},
		{"both in vain", bought("a/w-1"), bought("a/w-1"), agree},
	} {
		if got := compare(c.ours, []outcome{c.run}); got.grade != c.wanted {
			t.Errorf("%s: compare says %s (%s), not %s", c.name, got.grade, got.reason, c.wanted)
		}
		if got := compareOptimized(c.ours, []outcome{c.run}); got.grade != c.wanted {
			t.Errorf("%s: compareOptimized says %s (%s), not %s", c.name, got.grade, got.reason, c.wanted)
		}
	}
}

// A cheaper run counts where it keeps to the weights of NodePools as well.
func TestCompareWeights(t *testing.T) {
	m := measure{light: map[string]int{"light": 40, "none": 50}}
	in := func(pool string, usd float64) outcome {
		return m.outcomeOf(&plan{Claims: []planClaim{{NodePool: pool, UsdPerHour: usd, Pods: []string{"a/w-0"}}}})
	}
	there := of(0, 0, "a/w-0")
	for _, c := range []struct {
		name      string
		ours, run outcome
		optimized grade
	}{
		{"cheaper in a lighter one", in("heavy", 2), in("light", 1), agree},
		{"cheaper in one without a weight", in("light", 2), in("none", 1), agree},
		{"cheaper in the same", in("heavy", 2), in("heavy", 1), worse},
		{"cheaper in a heavier one", in("light", 2), in("heavy", 1), worse},
		{"on a node that is there", in("heavy", 2), there, worse},
		{"dearer in a lighter one", in("heavy", 1), in("light", 2), better},
	} {
		if got := compareOptimized(c.ours, []outcome{c.run}); got.grade != c.optimized {
			t.Errorf("%s: compareOptimized says %s (%s), not %s", c.name, got.grade, got.reason, c.optimized)
		}
	}
}

// A seed must go on meaning the same case.
func TestGenerateRepeats(t *testing.T) {
	for _, theme := range themeNames() {
		texts := [2]string{}
		for i := range texts {
			c := generate(7, theme)
			for _, object := range c.state {
				one, err := objectText(object)
				if err != nil {
					t.Fatal(err)
				}
				texts[i] += string(one)
			}
			for _, pod := range c.pods {
				one, err := objectText(pod)
				if err != nil {
					t.Fatal(err)
				}
				texts[i] += string(one)
			}
		}
		if texts[0] != texts[1] {
			t.Errorf("%s: seed 7 makes two cases", theme)
		}
	}
}
