# Every command of this project. They install what they need into node_modules and
# build; nothing else on the machine is touched.
.DELETE_ON_ERROR:
.PHONY: run test build synth deploy sam-local bench bench-extraction chaos lint openapi local report licences sbom

FUNCTIONS := $(notdir $(patsubst %/main.go,%,$(wildcard functions/*/main.go)))
GOFLAGS_LAMBDA := -tags lambda.norpc -trimpath -buildvcs=false -ldflags "-s -w -buildid="
# A release is a tag; skillsctl version prints it.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
SKILLSCTL := go build -ldflags "-X main.release=$(VERSION)" -o build/skillsctl ./infra/skillsctl
export CGO_ENABLED = 0
export JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION = 20

run: local
	@exec ./build/local/bin/local -with-parent

# What make run starts: every function and the stack, for this machine.
local: node_modules
	@echo "building $(words $(FUNCTIONS)) functions for this machine"
	@go build -tags lambda.norpc -o build/local/programs/ ./functions/...
	@for f in $(FUNCTIONS); do mkdir -p build/local/functions/$$f && ln -f build/local/programs/$$f build/local/functions/$$f/bootstrap || exit 1; done
	@go run ./infra/reference/build build/local/functions/docs
	@go build -o build/local/bin/ ./infra/local
	@$(SKILLSCTL)

# Ends with the skipped tests and their reasons. The timeout is per package, for a busy machine.
test: node_modules build/validators
	go vet ./...
	go tool gotestsum --format pkgname-and-test-fails --format-icons text --format-hide-empty-pkg -- -timeout 40m ./...

build: node_modules
	@GOOS=linux GOARCH=arm64 go build $(GOFLAGS_LAMBDA) -o build/programs/ ./functions/...
	@$(SKILLSCTL)
	@build/skillsctl taxonomy build -starter -out build/starter.bin >/dev/null
	@taxonomy=build/starter.bin; [ ! -f build/taxonomy.bin ] || taxonomy=build/taxonomy.bin; \
	  for f in $(FUNCTIONS); do mkdir -p build/functions/$$f && ln -f build/programs/$$f build/functions/$$f/bootstrap && cp $$taxonomy build/functions/$$f/taxonomy.bin || exit 1; done
	@go run ./infra/reference/build build/functions/docs
	@du -sh build/functions/*/bootstrap

# dev, staging or prod; see docs/aws.md.
STAGE ?= dev
synth: build node_modules
	npx aws-cdk synth --quiet -c stage=$(STAGE)

# What a deployment would change, and nothing else.
.PHONY: diff
diff: build node_modules
	npx aws-cdk diff -c stage=$(STAGE)

# Asks before it widens permissions; APPROVAL=never where a person has approved
# already, as in a pipeline.
APPROVAL ?= broadening
deploy: build node_modules
	npx aws-cdk deploy -c stage=$(STAGE) -c deploy=true --require-approval $(APPROVAL) --outputs-file build/outputs.json

# samconfig.toml names the template of the stage dev.
sam-local: synth
	@command -v sam >/dev/null || { echo "the AWS SAM CLI is missing: install it, or use make run, which needs neither it nor Docker"; exit 1; }
	@docker info >/dev/null 2>&1 || { echo "Docker is not running: start it, or use make run, which needs none"; exit 1; }
	@docker network inspect skills-curriculum >/dev/null 2>&1 || docker network create skills-curriculum
	@docker inspect dynamodb >/dev/null 2>&1 || docker run -d --rm --network skills-curriculum --name dynamodb -p 127.0.0.1:8000:8000 amazon/dynamodb-local
	@docker inspect queue >/dev/null 2>&1 || docker run -d --rm --network skills-curriculum --name queue -p 127.0.0.1:4100:4100 admiralpiett/goaws
	AWS_REGION=us-east-1 DYNAMODB_ENDPOINT=http://127.0.0.1:8000 SQS_ENDPOINT=http://127.0.0.1:4100 TABLE_NAME=skills-curriculum build/skillsctl demo load
	SAM_CLI_TELEMETRY=0 sam local start-api

bench: node_modules
	go run ./infra/bench

bench-extraction:
	go run ./infra/bench/extraction
	go run ./infra/bench/naming
	go run ./infra/bench/outcomes
	go run ./infra/bench/descriptions
	go run ./infra/training/starter

SEED ?= $(shell date +%s)
DURATION ?= 120s
chaos: local
	go run ./infra/chaos -seed $(SEED) -duration $(DURATION)

# How long one customer's five syllabi take alone, beside another's import of 5,000
# courses and their extraction, and behind its 500 syllabi whose server stalls.
.PHONY: fairness
fairness: node_modules
	go test ./infra/fairness -count=1 -timeout 20m -v -args -many 500 -courses 5000

# Exports a table with the demo, deletes it, restores and compares it: the drill of
# docs/aws.md on this machine.
.PHONY: restore-drill
restore-drill: node_modules
	go test ./infra/drill -count=1 -v

lint: node_modules build/validators
	@unformatted=$$(gofmt -l functions infra pkg events); [ -z "$$unformatted" ] || { echo "not gofmt-ed: $$unformatted"; exit 1; }
	go vet ./...
	go tool staticcheck ./...
	npx redocly lint openapi.json
	npx spectral lint --fail-severity=hint openapi.json
	go tool gotestsum --format pkgname --format-icons text -- ./infra/terms/...

# Clients in four languages, generated from openapi.json, compiled and run against the
# stack; a language whose tools are missing is named and skipped.
.PHONY: clients
clients: local
	go test ./infra/clients -count=1 -v -timeout 30m -args -stack build/local/bin/local

# What no test refuses: functions that are hard to read, and ones that nothing reaches.
report:
	@echo "functions above cyclomatic complexity 25:"
	@go tool gocyclo -over 25 functions infra pkg events || true
	@echo "functions that neither a program nor a test reaches:"
	@go tool deadcode -test ./...

openapi:
	go run ./infra/openapi > openapi.json.new && mv openapi.json.new openapi.json

node_modules: package-lock.json
	npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch node_modules

# For Python 3.12, fetched by any pip. Without pip, the tests that validate CTDL are skipped.
build/validators: infra/terms/validators/requirements.txt
	-python3 -m pip install --quiet --disable-pip-version-check --upgrade --no-deps --only-binary :all: \
	  --python-version 3.12 --ignore-requires-python --target $@ --requirement $< && touch $@

# Fails where a module's licence is not one that the project takes; writes the
# notices and the bill of materials (CycloneDX) of what is shipped.
licences:
	go run ./infra/supply -sbom ''

sbom:
	go run ./infra/supply -notices ''
