package main

import (
	"context"
	"path/filepath"

	"skillscurriculum/infra/local/demo"
	"skillscurriculum/infra/local/queue"
	"skillscurriculum/infra/local/stack"
	"skillscurriculum/pkg/labor"
	sender "skillscurriculum/pkg/queue"
)

// loadDemo brings the demo into the stack's table; its keys are kept in dir.
func loadDemo(dir string) func(context.Context, stack.Places) (stack.Demo, error) {
	return func(ctx context.Context, p stack.Places) (stack.Demo, error) {
		return demo.Loader{
			Store: newStore(p).(store).Store, Queue: &sender.Sender{Client: queue.Client(p.SQSEndpoint), URL: p.QueueURL},
			Market: labor.Starter(), Syllabi: p.Syllabi, Keys: filepath.Join(dir, "demo-keys.json"),
		}.Load(ctx)
	}
}
