package api

import "testing"

func TestKindsOfOperations(t *testing.T) {
	for id, want := range map[string]OperationKind{
		"listCourses": ReadKind, "getOpenAPI": ReadKind, "getCustomerUsage": ReadKind, "createCourse": WriteKind, "deleteJob": WriteKind,
		"createSyllabusExtraction": WriteKind, "retryTransferCourse": WriteKind, "createTransferCourses": WriteKind,
		"createReport": ComputeKind, "getReport": ComputeKind, "buildCredential": ComputeKind, "matchTransferPackage": ComputeKind,
	} {
		if got := Of(id).Kind(); got != want {
			t.Errorf("%s is of kind %s, want %s", id, got, want)
		}
	}
}
