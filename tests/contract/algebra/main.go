// Writes random cases of the requirement algebra and what Karpenter's own code makes of them: a line
// that starts with C is a case, the line after it, with R, the result. Fields are separated by tabs;
// a requirement is key, operator, minValues (- for none) and its values, each with = before it.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"sort"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

var (
	operators = []corev1.NodeSelectorOperator{
		corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists,
		corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt,
		v1.NodeSelectorOpGte, v1.NodeSelectorOpLte,
	}
	// Few values, so that sets meet; and the odd ones.
	values = []string{
		"", "a", "b", "c", "0", "1", "2", "3", "4", "5", "6", "7", "+5", "05", "-1", "-2", "1.5", "1e3",
		"9223372036854775806", "9223372036854775807", "9223372036854775808",
		"-9223372036854775807", "-9223372036854775808", "-9223372036854775809",
		"99999999999999999999", "99999999999999999999x", "9223372036854775808x", "+", "-", "1_0", "0x1",
	}
	keys = []string{
		"example.com/team", "team", "kubernetes.io/hostname", "karpenter.sh/capacity-type",
		"topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone",
		"topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region",
		"kubernetes.io/arch", "beta.kubernetes.io/arch", "kubernetes.io/os", "beta.kubernetes.io/os",
		"node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type",
	}
)

type requirement struct {
	key       string
	operator  corev1.NodeSelectorOperator
	minValues int
	values    []string
}

func (r requirement) String() string {
	fields := []string{r.key, string(r.operator), minValuesText(r.minValues)}
	for _, value := range r.values {
		fields = append(fields, "="+value)
	}
	return strings.Join(fields, "\t")
}

// A new object each time: Karpenter may keep what it is given.
func (r requirement) real() *scheduling.Requirement {
	var minValues *int
	if r.minValues > 0 {
		copied := r.minValues
		minValues = &copied
	}
	return scheduling.NewRequirementWithFlexibility(r.key, r.operator, minValues,
		append([]string{}, r.values...)...)
}

func minValuesText(minValues int) string {
	if minValues == 0 {
		return "-"
	}
	return strconv.Itoa(minValues)
}

func randomValue(random *rand.Rand) string {
	if random.Intn(4) > 0 {
		return values[random.Intn(16)]
	}
	return values[random.Intn(len(values))]
}

func randomRequirement(random *rand.Rand, key string) requirement {
	r := requirement{key: key, operator: operators[random.Intn(len(operators))]}
	if random.Intn(3) == 0 {
		r.minValues = 1 + random.Intn(3)
	}
	switch r.operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		for count := random.Intn(5); count > 0; count-- {
			r.values = append(r.values, randomValue(random))
		}
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
	default:
		r.values = []string{randomValue(random)}
	}
	return r
}

func describe(r *scheduling.Requirement) string {
	fields := []string{r.Key, string(r.Operator())}
	if r.MinValues == nil {
		fields = append(fields, "-")
	} else {
		fields = append(fields, strconv.Itoa(*r.MinValues))
	}
	found := r.Values()
	sort.Strings(found)
	for _, value := range found {
		fields = append(fields, "="+value)
	}
	for _, entry := range (scheduling.Requirements{r.Key: r}).NodeSelectorRequirements() {
		switch entry.Operator {
		case v1.NodeSelectorOpGte:
			fields = append(fields, ">="+entry.Values[0])
		case v1.NodeSelectorOpLte:
			fields = append(fields, "<="+entry.Values[0])
		}
	}
	return strings.Join(fields, "\t")
}

func describeSet(set scheduling.Requirements) string {
	var described []string
	for _, r := range set {
		described = append(described, describe(r))
	}
	sort.Strings(described)
	return strings.Join(described, "\t|\t")
}

// Three requirements of one key, and a value.
func writeMeet(out *bufio.Writer, random *rand.Rand) {
	key := keys[random.Intn(len(keys))]
	a, b, c := randomRequirement(random, key), randomRequirement(random, key),
		randomRequirement(random, key)
	value := randomValue(random)
	ab := a.real().Intersection(b.real())
	abc := ab.Intersection(c.real())
	fmt.Fprintf(out, "C\tmeet\t%s\t|\t%s\t|\t%s\t|\t=%s\n", a, b, c, value)
	fmt.Fprintf(out, "R\t%s\t|\t%s\t|\t%s\t|\t%t\t%t\t%t\t%t\n", describe(a.real()), describe(ab),
		describe(abc), a.real().HasIntersection(b.real()), ab.HasIntersection(c.real()),
		a.real().Has(value), abc.Has(value))
}

func randomSet(random *rand.Rand, of []string) []requirement {
	var set []requirement
	for count := random.Intn(5); count > 0; count-- {
		set = append(set, randomRequirement(random, of[random.Intn(len(of))]))
	}
	return set
}

func realSet(set []requirement) scheduling.Requirements {
	result := scheduling.NewRequirements()
	for _, r := range set {
		result.Add(r.real())
	}
	return result
}

func joinSet(set []requirement) string {
	var fields []string
	for _, r := range set {
		fields = append(fields, r.String())
	}
	return strings.Join(fields, "\t|\t")
}

// Two sets of requirements over a few keys.
func writeSets(out *bufio.Writer, random *rand.Rand) {
	first := random.Intn(len(keys) - 3)
	of := []string{keys[random.Intn(3)], keys[first], keys[first+1], keys[first+2]}
	a, b := randomSet(random, of), randomSet(random, of)
	fmt.Fprintf(out, "C\tsets\t%s\t||\t%s\n", joinSet(a), joinSet(b))
	fmt.Fprintf(out, "R\t%s\t||\t%s\t||\t%t\t%t\t%t\n", describeSet(realSet(a)), describeSet(realSet(b)),
		realSet(a).Intersects(realSet(b)) == nil,
		realSet(a).IsCompatible(realSet(b)),
		realSet(a).IsCompatible(realSet(b), scheduling.AllowUndefinedWellKnownLabels))
}

func main() {
	seed := flag.Int64("seed", 1, "where the random numbers start")
	cases := flag.Int("cases", 1000, "how many cases of each kind")
	flag.Parse()
	random := rand.New(rand.NewSource(*seed))
	out := bufio.NewWriter(os.Stdout)
	for i := 0; i < *cases; i++ {
		writeMeet(out, random)
		writeSets(out, random)
	}
	if err := out.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
