// Command goaws serves goaws on 127.0.0.1 only. The module's own program listens on all
// interfaces.
package main

import (
	"flag"
	"log"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/Admiral-Piett/goaws/app/gosqs"
	"github.com/Admiral-Piett/goaws/app/models"
	"github.com/Admiral-Piett/goaws/app/router"
)

func main() {
	port := flag.Int("port", 4100, "port of 127.0.0.1")
	flag.Parse()
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(*port)))
	if err != nil {
		log.Fatal(err)
	}
	models.CurrentEnvironment = models.Environment{
		Host: "127.0.0.1", Port: strconv.Itoa(*port), Region: "us-east-1", AccountID: "000000000000",
	}
	models.CurrentEnvironment.QueueAttributeDefaults.MaximumMessageSize = 256 << 10 // bytes
	models.CurrentEnvironment.QueueAttributeDefaults.MessageRetentionPeriod = 4 * 24 * 60 * 60
	models.CurrentEnvironment.QueueAttributeDefaults.VisibilityTimeout = 30
	// Makes messages visible again after their visibility timeout.
	go gosqs.PeriodicTasks(time.Second, make(chan bool))
	log.Fatal(http.Serve(listener, router.New()))
}
