package main

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
)

type grade int

const (
	agree grade = iota
	better
	worse
	moot // worse than runs of Karpenter's that kube-scheduler would not follow, or by chance
)

func (g grade) String() string { return [...]string{"agree", "better", "worse", "moot"}[g] }

type verdict struct {
	grade  grade
	reason string
}

// What a plan comes to. Pods of one workload are alike, so that which of them is placed says nothing.
type outcome struct {
	placed map[string]int // by workload
	tied   map[string]int // by place in Karpenter's queue, where only chance says who of them comes first
	count  int
	nodes  int
	usd    float64
	pools  string // which pools got how many pods
	light  int    // how far the NodePools of pods are below the heaviest in weight, summed over pods

	inVain  bool // something is bought for pods that cannot run on it
	counted bool // as in a plan
}

// What the pods and NodePools of a case are to an outcome.
type measure struct {
	queued map[string]string // pods to their places in Karpenter's queue; one without is alone with its workload
	light  map[string]int    // NodePools to how far they are below the heaviest in weight
}

func workloadOf(pod string) string {
	if end := strings.LastIndexByte(pod, '-'); end > 0 {
		return pod[:end]
	}
	return pod
}

func (m measure) outcomeOf(p *plan) outcome {
	result := outcome{placed: map[string]int{}, tied: map[string]int{}, nodes: len(p.Claims), counted: p.counted}
	pools := map[string]int{}
	place := func(pods []string, where string) {
		for _, pod := range pods {
			result.placed[workloadOf(pod)]++
			if place, known := m.queued[pod]; known {
				result.tied[place]++
			} else {
				result.tied[workloadOf(pod)]++
			}
			result.count++
			pools[where]++
		}
	}
	for _, claim := range p.Claims {
		place(claim.Pods, claim.NodePool)
		result.light += len(claim.Pods) * m.light[claim.NodePool]
		result.usd += claim.UsdPerHour
		result.inVain = result.inVain || len(claim.InVainFor) > 0
	}
	for _, node := range p.Existing {
		place(node.Pods, "nodes that are there")
	}
	var words []string
	for pool, count := range pools {
		words = append(words, fmt.Sprintf("%s %d", pool, count))
	}
	sort.Strings(words)
	result.pools = strings.Join(words, ", ")
	return result
}

func contains(large, small map[string]int) bool {
	for workload, count := range small {
		if large[workload] < count {
			return false
		}
	}
	return true
}

// The least and the most of something over the runs.
type span struct{ least, most float64 }

func spanOf(runs []outcome, of func(outcome) float64) span {
	result := span{math.Inf(1), math.Inf(-1)}
	for _, run := range runs {
		result.least = math.Min(result.least, of(run))
		result.most = math.Max(result.most, of(run))
	}
	return result
}

func (s span) String() string {
	if s.least == s.most {
		return fmt.Sprintf("%.4g", s.least)
	}
	return fmt.Sprintf("%.4g to %.4g", s.least, s.most)
}

const usdTolerance = 1e-5 // an hour: prices are whole micro-dollars, sums of doubles are not

func podCount(o outcome) float64  { return float64(o.count) }
func nodeCount(o outcome) float64 { return float64(o.nodes) }
func cost(o outcome) float64      { return o.usd }

func placing(runs []outcome, count int) []outcome {
	var result []outcome
	for _, run := range runs {
		if run.count == count {
			result = append(result, run)
		}
	}
	return result
}

// dearer is worse, unless something is bought in vain for a pod that a run counts to a node that is there: which of the
// pods kube-scheduler has placed before, and so what Karpenter still has room for, is chance.
func dearer(ours outcome, runs []outcome) grade {
	if ours.inVain && slices.ContainsFunc(runs, func(run outcome) bool { return run.counted }) {
		return moot
	}
	return worse
}

// A plan made as Karpenter makes it: what some run places, and for as many pods as many nodes and as
// much money as a run of Karpenter's might take.
func compare(ours outcome, runs []outcome) verdict {
	pods := spanOf(runs, podCount)
	covered := false
	for _, run := range runs {
		covered = covered || contains(ours.placed, run.placed) || contains(ours.tied, run.tied)
	}
	if !covered {
		return verdict{worse, fmt.Sprintf("places %d pods %v, which no run's are among: %v (%s)", ours.count,
			ours.placed, runs[0].placed, pods)}
	}
	if float64(ours.count) > pods.most {
		return verdict{better, fmt.Sprintf("places %d pods, Karpenter %s", ours.count, pods)}
	}
	peers := placing(runs, ours.count)
	if len(peers) == 0 {
		return verdict{agree, ""}
	}
	nodes, usd := spanOf(peers, nodeCount), spanOf(peers, cost)
	bought := fmt.Sprintf("buys %d nodes for %.4f, Karpenter %s for %s", ours.nodes, ours.usd, nodes, usd)
	if float64(ours.nodes) > nodes.most || ours.usd > usd.most+usdTolerance {
		return verdict{dearer(ours, runs), bought}
	}
	if float64(ours.nodes) < nodes.least || ours.usd < usd.least-usdTolerance {
		return verdict{better, bought}
	}
	for _, run := range peers {
		if run.pools == ours.pools {
			return verdict{agree, ""}
		}
	}
	return verdict{agree, fmt.Sprintf("but by other pools: %s; Karpenter %s", ours.pools, peers[0].pools)}
}

// Those that keep to the weights of NodePools as well.
func keeping(runs []outcome, light int) []outcome {
	return slices.DeleteFunc(slices.Clone(runs), func(run outcome) bool { return run.light > light })
}

// The best plan that is possible: never fewer pods than Karpenter's best run, never dearer than its
// cheapest run that places as many and keeps to the weights: where two spreads draw two zones, Karpenter
// goes on to a lighter NodePool, which may happen to be cheaper.
func compareOptimized(ours outcome, runs []outcome) verdict {
	pods := spanOf(runs, podCount)
	if float64(ours.count) < pods.most {
		return verdict{worse, fmt.Sprintf("places %d pods, Karpenter's best run %.0f", ours.count, pods.most)}
	}
	if float64(ours.count) > pods.most {
		return verdict{better, fmt.Sprintf("places %d pods, Karpenter's best run %.0f", ours.count, pods.most)}
	}
	peers := placing(runs, ours.count)
	if least := spanOf(keeping(peers, ours.light), cost).least; ours.usd > least+usdTolerance {
		return verdict{dearer(ours, runs), fmt.Sprintf("costs %.4f, Karpenter's cheapest run %.4f", ours.usd, least)}
	}
	usd := spanOf(peers, cost)
	if ours.usd < usd.least-usdTolerance {
		return verdict{better, fmt.Sprintf("costs %.4f, Karpenter's cheapest run %.4f", ours.usd, usd.least)}
	}
	return verdict{agree, ""}
}
