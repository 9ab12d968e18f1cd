// Package notifying gives functions what webhooks need: the cipher of their secrets and
// the queue of their messages. Only that of the webhooks loads it.
package notifying

import (
	"fmt"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/boot/sender"
	"skillscurriculum/pkg/delivery/outbox"
	"skillscurriculum/pkg/egress/address"
	"skillscurriculum/pkg/rest"
	"skillscurriculum/pkg/webhook"
)

// Webhooks is the group.Part that keeps webhooks and sends their messages. It panics
// where there is no key to encrypt secrets with.
func Webhooks(c boot.Config, s *rest.Server) {
	cipher, err := webhook.NewCipher(c.WebhookKey)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", api.EnvWebhookKey, err))
	}
	s.Webhooks = webhooks{sender.Messages(c), cipher, c.WebhookHosts}
}

// webhooks implements rest.Webhooks.
type webhooks struct {
	*outbox.Queue
	webhook.Cipher
	allowed []string
}

func (w webhooks) CheckURL(url string) error { return address.Check(url, w.allowed) }
