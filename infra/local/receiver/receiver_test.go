package receiver

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/webhook"
)

func TestReceiver(t *testing.T) {
	var printed []string
	r := &Receiver{Print: func(line string) { printed = append(printed, line) }}
	body, secret := `{"type":"course.changed","data":{"href":"/v1/courses/crs_1"}}`, webhook.NewSecret()
	send := func(body string, secrets ...string) int {
		header, err := webhook.Sign("msg_1", catalog.TimeOf(time.Now()), []byte(body), secrets)
		if err != nil {
			t.Fatal(err)
		}
		request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		for name, values := range header {
			request.Header.Set(name, values[0])
		}
		w := httptest.NewRecorder()
		r.ServeHTTP(w, request)
		return w.Code
	}
	if status := send(body, secret); status != http.StatusUnauthorized {
		t.Errorf("without a secret: status %d", status)
	}
	r.Trust(secret)
	if status := send(body, webhook.NewSecret()); status != http.StatusUnauthorized {
		t.Errorf("signed by another: status %d", status)
	}
	if status := send(strings.Repeat(" ", most)+body, secret); status != http.StatusBadRequest {
		t.Errorf("too long: status %d", status)
	}
	if status := send(body, webhook.NewSecret(), secret); status != http.StatusNoContent {
		t.Errorf("status %d", status)
	}
	if len(printed) != 1 || printed[0] != "course.changed /v1/courses/crs_1 (msg_1, verified)" {
		t.Errorf("printed %q", printed)
	}
}
