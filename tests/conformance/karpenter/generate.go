package main

import (
	"math/rand"
	"sort"
)

// A theme and how often it is drawn. The themes are those of Karpenter's own test suites.
var themes = map[string]struct {
	weight int
	make   func(*draft)
}{
	"zone spread":            {5, zoneSpread},
	"hostname spread":        {2, hostnameSpread},
	"type spread":            {3, typeSpread},
	"custom key spread":      {3, customSpread},
	"interdependent spread":  {2, interdependent},
	"min domains":            {2, withMinDomains},
	"inclusion policies":     {3, inclusionPolicies},
	"match label keys":       {2, matchLabelKeys},
	"schedule anyway":        {3, scheduleAnyway},
	"combined spread":        {3, combinedSpread},
	"self affinity":          {3, selfAffinity},
	"cross affinity":         {3, crossAffinity},
	"anti-affinity":          {4, antiAffinity},
	"inverse anti-affinity":  {2, inverseAntiAffinity},
	"affinity namespaces":    {3, namespaces},
	"preferred pod affinity": {3, preferredAffinity},
	"bin packing":            {4, packing},
	"well-known labels":      {4, wellKnownLabels},
	"alternatives":           {3, alternatives},
	"preferences":            {3, preferences},
	"custom labels":          {3, customLabels},
	"taints":                 {4, taints},
	"weights":                {3, weights},
	"limits":                 {3, limits},
	"daemons":                {4, daemons},
	"host ports":             {2, hostPorts},
	"init containers":        {2, initContainers},
	"extended resources":     {3, extendedResources},
	"existing nodes":         {3, existingNodes},
	"in-flight nodes":        {3, inflight},
	"leaving nodes":          {3, leavingNodes},
	"min values":             {3, minValues},
	"bound volumes":          {3, boundVolumes},
	"allowed topologies":     {3, allowedTopologies},
	"several volumes":        {3, severalVolumes},
	"local volumes":          {2, localVolumes},
	"free local volumes":     {1, freeLocalVolumes},
	"invalid volumes":        {2, invalidVolumes},
	"attach limits":          {2, attachLimits},
	"reserved":               {3, reserved},
	"everything":             {12, everything},
}

func themeNames() []string {
	var result []string
	for name := range themes {
		result = append(result, name)
	}
	sort.Strings(result)
	return result
}

func drawTheme(random *rand.Rand) string {
	total := 0
	for _, theme := range themes {
		total += theme.weight
	}
	left := random.Intn(total)
	for _, name := range themeNames() {
		if left -= themes[name].weight; left < 0 {
			return name
		}
	}
	panic("no theme")
}

// The same seed and theme make the same case; "" draws the theme too.
func generate(seed int64, theme string) *kase {
	random := rand.New(rand.NewSource(seed))
	if drawn := drawTheme(random); theme == "" {
		theme = drawn
	}
	d := &draft{kase: &kase{theme: theme}, random: random}
	themes[theme].make(d)
	return d.kase
}
