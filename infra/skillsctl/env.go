package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

type env struct{}

// Run prints the addresses and example ids of the local stack as shell variables.
func (env) Run(t *tool) error {
	stack, err := announced()
	if err != nil {
		return err
	}
	if stack == nil || len(stack.Customers) == 0 {
		return errors.New("no local stack with demo data is running (build/local.json): make run")
	}
	customer, examples := stack.Customers[0], stack.Examples
	variables := []struct{ name, value string }{
		{"BASE", stack.BaseURL}, {"API_KEY", customer.APIKey}, {"READ_ONLY_API_KEY", customer.ReadOnlyAPIKey},
		{"CUSTOMER", customer.CustomerID}, {"ORGANIZATION", customer.OrganizationID},
		{"COURSE", examples.CourseID}, {"SECTION", examples.SectionID}, {"CREDENTIAL", examples.CredentialID},
		{"PROGRAM", examples.ProgramID}, {"JOB", examples.JobID}, {"PACKAGE", examples.PackageID}, {"SYLLABI", stack.Syllabi},
	}
	values := map[string]string{}
	for _, v := range variables {
		values[v.name] = v.value
	}
	return t.show(values, func(w io.Writer) {
		for _, v := range variables {
			fmt.Fprintf(w, "export %s='%s'\n", v.name, strings.ReplaceAll(v.value, "'", `'\''`))
		}
	})
}
