package stories

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var agreementFlag = flag.String("agreement", "", "the page whose table the story Agreement writes")

// Between these lines of the page stands what a run found.
const (
	agreementBegins = "<!-- what follows is written by scripts/e2e --run Agreement -->\n"
	agreementEnds   = "<!-- what a run found ends here -->\n"
)

func writeAgreement(t *testing.T, trials []*trial) {
	t.Helper()
	if *agreementFlag == "" {
		return
	}
	content, err := os.ReadFile(*agreementFlag)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(content), agreementBegins)
	_, after, ends := strings.Cut(rest, agreementEnds)
	if !begins || !ends {
		t.Fatalf("%s has no place for a table", *agreementFlag)
	}
	page := before + agreementBegins + "\n" + agreementTable(t, trials) + "\n" + agreementEnds + after
	if err := os.WriteFile(*agreementFlag, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
}

// What was found of a kind of change.
type agreementRow struct {
	clusters, nodes, said, seen, blocked, begun, atOnceSaid, atOnceSeen, agree int
	stuck, paced, waits                                                        int // clusters in which fewer went at once
}

func (row *agreementRow) add(tried *trial) {
	_, most := tried.expectedAtOnce()
	row.clusters++
	row.nodes += tried.said.NodesTotal
	row.said += tried.said.NodesReplaced
	row.seen += len(tried.marked)
	row.blocked += len(tried.said.claims(true))
	row.begun += len(tried.begun)
	row.atOnceSaid += most
	row.atOnceSeen += tried.atOnce
	switch {
	case len(tried.differs) > 0:
		return
	case tried.waits:
		row.waits++
	case tried.atOnce < most && len(tried.stuck) > 0:
		row.stuck++
	case tried.atOnce < most:
		row.paced++
	}
	row.agree++
}

// explanation is why fewer went at once than might.
func (row *agreementRow) explanation() string {
	var all []string
	if row.stuck > 0 {
		all = append(all, fmt.Sprintf("%d: pods that fit nowhere", row.stuck))
	}
	if row.paced > 0 {
		all = append(all, fmt.Sprintf("%d: one after the other", row.paced))
	}
	if row.waits > 0 {
		all = append(all, fmt.Sprintf("%d: a successor with room had not started", row.waits))
	}
	return strings.Join(all, "; ")
}

// agreementTable has a row for each kind of change.
func agreementTable(t *testing.T, trials []*trial) string {
	t.Helper()
	var table strings.Builder
	fmt.Fprintf(&table, "%s, seeds %d to %d, Karpenter %s, Kubernetes %s:\n\n", time.Now().UTC().Format("2 January 2006"), *seedFlag,
		*seedFlag+int64(*clustersFlag)-1, moduleVersion(t, "sigs.k8s.io/karpenter"), moduleVersion(t, "k8s.io/kubernetes"))
	table.WriteString("| change | clusters | agree | nodes | said to go | marked | said to be blocked | begun | at once, said | seen | " +
		"fewer at once in |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n")
	for _, c := range slices.Concat(agreementChanges...) {
		var row agreementRow
		for _, tried := range trials {
			if tried.change.name == c.name {
				row.add(tried)
			}
		}
		fmt.Fprintf(&table, "| %s | %d | %d | %d | %d | %d | %d | %d | %d | %d | %s |\n", c.name, row.clusters, row.agree, row.nodes,
			row.said, row.seen, row.blocked, row.begun, row.atOnceSaid, row.atOnceSeen, row.explanation())
	}
	return table.String()
}

// moduleVersion is that in go.mod, with which the control plane is built.
func moduleVersion(t *testing.T, module string) string {
	t.Helper()
	content, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(regexp.QuoteMeta(module) + ` v(\S+)`).FindSubmatch(content)
	if found == nil {
		t.Fatalf("go.mod does not name %s", module)
	}
	return string(found[1])
}
