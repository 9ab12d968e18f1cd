package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/boot/deliverer"
	"skillscurriculum/pkg/boot/extractor"
	"skillscurriculum/pkg/boot/group"
	"skillscurriculum/pkg/boot/group/filing"
	"skillscurriculum/pkg/boot/group/notifying"
	"skillscurriculum/pkg/boot/group/paging"
	"skillscurriculum/pkg/boot/group/sending"
	"skillscurriculum/pkg/boot/sweeper"
	"skillscurriculum/pkg/catalog"
)

// skewFile lies next to a bootstrap and says by how many ms its clock is wrong.
const skewFile = "skew"

// function runs one of the service's functions with a clock that is wrong: the
// program is then its bootstrap. Deadlines stay Lambda's.
func function(name string) {
	skew := 0
	if text, err := os.ReadFile(filepath.Join(os.Getenv("LAMBDA_TASK_ROOT"), skewFile)); err == nil {
		skew, _ = strconv.Atoi(string(text))
	}
	now := func() catalog.Time { return catalog.TimeOf(time.Now()) + catalog.Time(skew) }
	log := slog.New(slog.NewJSONHandler(os.Stdout, nil)).With("function", name)
	config, err := boot.Read(os.Getenv)
	if err != nil {
		log.Error("configuration", "cause", err.Error())
		os.Exit(1)
	}
	store := config.Store()
	store.Now = now
	switch name {
	case api.Extractor:
		worker, err := extractor.New(context.Background(), config, store, log)
		if err != nil {
			log.Error("extractor", "cause", err.Error())
			os.Exit(1)
		}
		worker.Now = now
		lambda.Start(worker.Handle)
	case api.Deliverer:
		worker, err := deliverer.New(config, store, log)
		if err != nil {
			log.Error("deliverer", "cause", err.Error())
			os.Exit(1)
		}
		worker.Now = now
		lambda.Start(worker.Handle)
	case api.Sweeper:
		w := sweeper.New(config, store, log)
		w.Now = now
		lambda.Start(w.Handle)
	default:
		server := group.New(config, store, log)
		sending.Queue(config, server)
		filing.Files(config, server)
		notifying.Webhooks(config, server)
		paging.Pages(config, server)
		server.Now, server.Callers.Now = now, now
		lambda.Start(group.Gateway(server))
	}
}
