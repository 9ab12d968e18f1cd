package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum/pkg/api"
)

// TestGrants compares the permissions of each role with testdata/grants.txt (written with
// -update).
func TestGrants(t *testing.T) {
	both(t, func(t *testing.T, stage string, tpl template) {
		got := ""
		for _, name := range api.Functions() {
			_, role := tpl.named(t, "AWS::IAM::Role", name+"-role")
			same(t, name+" managed policies", role.get("ManagedPolicyArns"), nil)
			same(t, name+" is assumed by", role.get("AssumeRolePolicyDocument", "Statement", 0, "Principal"), "map[Service:lambda.amazonaws.com]")
			same(t, name+" policies", len(role.get("Policies").([]any)), 1)
			got += fmt.Sprintf("%s: %s\n", name, grantOf(name).why)
			for _, s := range role.get("Policies", 0, "PolicyDocument", "Statement").([]any) {
				same(t, name+" effect", at(s, "Effect"), "Allow")
				got += fmt.Sprintf("  %-17s %s\n", target(tpl, at(s, "Resource")), strings.Join(list(at(s, "Action")), " "))
				if keys := at(s, "Condition", "ForAllValues:StringLike", "dynamodb:LeadingKeys"); keys != nil {
					got += "    of " + strings.Join(list(keys), " ") + "\n"
					same(t, name+" without keys", at(s, "Condition", "Null", "dynamodb:LeadingKeys"), "false")
				} else if target(tpl, at(s, "Resource")) == "Table" {
					t.Errorf("%s may touch any row: %v", name, s)
				}
			}
		}
		golden := filepath.Join("testdata", "grants.txt")
		if *update && stage == dev {
			write(t, golden, got)
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		table := string(want)
		if stage == prod { // it serves from a restored table, which has no stream
			table = regexp.MustCompile(`(?m)^  Table/stream .*\n`).ReplaceAllString(table, "")
		}
		if diff := cmp.Diff(table, got); diff != "" {
			t.Error(diff)
		}
	})
}

func list(value any) []string {
	if one, ok := value.(string); ok {
		return []string{one}
	}
	var all []string
	for _, v := range value.([]any) {
		all = append(all, v.(string))
	}
	return all
}

// target returns a resource's name in the code, or those of several, as CDK joins statements with equal actions; a
// restored table is the table.
func target(tpl template, value any) string {
	if several, ok := value.([]any); ok {
		var names []string
		for _, one := range several {
			names = append(names, target(tpl, one))
		}
		return strings.Join(names, " ")
	}
	if s, ok := value.(string); ok {
		return s
	}
	join := compact(at(value, "Fn::Join", 1))
	name := "Table"
	if !strings.Contains(join, ":table/"+restoredTable) {
		name = construct(tpl, refersTo(value)[0])
	}
	if strings.Contains(join, "/index/open") {
		name += "/index/open"
	}
	if strings.Contains(compact(value), "StreamArn") {
		name += "/stream"
	}
	return name
}

func TestNobodyMayDoEverything(t *testing.T) {
	both(t, func(t *testing.T, stage string, tpl template) {
		for id, role := range tpl.of("AWS::IAM::Role") {
			policies, _ := role.get("Policies").([]any)
			for _, p := range policies {
				for _, s := range at(p, "PolicyDocument", "Statement").([]any) {
					for _, action := range list(at(s, "Action")) {
						if strings.Contains(action, "*") {
							t.Errorf("%s may %s", id, action)
						}
						if at(s, "Resource") == "*" && !strings.HasPrefix(action, "xray:") {
							t.Errorf("%s may %s anywhere", id, action)
						}
						if strings.HasSuffix(action, ":Scan") {
							t.Errorf("%s may read the whole table", id)
						}
					}
				}
			}
		}
		if extra := tpl.of("AWS::IAM::Policy"); len(extra) != 0 {
			t.Errorf("grants beside the roles: %v", extra)
		}
	})
}

// Grants follow the contract: groups without writing operations cannot create or delete, and
// groups that start no extractions cannot send.
func TestGrantsFollowTheContract(t *testing.T) {
	for _, group := range api.Groups() {
		g := grantOf(string(group))
		writes, deletes, extracts := false, false, false
		for _, o := range api.In(group) {
			writes = writes || o.Access == api.Write
			deletes = deletes || o.Method == "DELETE" || o.ID == "upsertRecords"
			extracts = extracts || o.Cost.PerItem > 0 && o.Item == "" || o.Begins || strings.HasSuffix(o.Path, "/retry") || o.ID == "createSyllabusExtraction"
		}
		if got := slices.Contains(g.writes, "PutItem"); got != writes {
			t.Errorf("%s may create: %v, its operations do: %v", group, got, writes)
		}
		if got := slices.Contains(g.writes, "DeleteItem"); got != deletes {
			t.Errorf("%s may delete: %v, its operations do: %v", group, got, deletes)
		}
		if g.sends != extracts {
			t.Errorf("%s may send jobs: %v, its operations do: %v", group, g.sends, extracts)
		}
		if g.index != nil || g.consumes != nil {
			t.Errorf("%s may do a worker's work", group)
		}
	}
}
