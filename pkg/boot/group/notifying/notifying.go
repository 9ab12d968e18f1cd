// Package notifying gives functions the cipher of webhooks' secrets and the queue of their messages.
package notifying

import (
	"fmt"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/boot/sender"
	"skillscurriculum/pkg/egress/address"
	"skillscurriculum/pkg/outbox"
	"skillscurriculum/pkg/rest"
	"skillscurriculum/pkg/webhook"
)

// Webhooks is the group.Part for webhooks. It panics if there is no valid key to encrypt secrets.
func Webhooks(c boot.Config, s *rest.Server) {
	cipher, err := webhook.NewCipher(c.WebhookKey)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", api.EnvWebhookKey, err))
	}
	s.Webhooks = webhooks{sender.Messages(c), cipher, c.WebhookHosts}
}

// webhooks implements rest.Webhooks.
type webhooks struct {
	*outbox.Messages
	webhook.Cipher
	allowed []string
}

func (w webhooks) CheckURL(url string) error { return address.Check(url, w.allowed) }
