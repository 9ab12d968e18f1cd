package keyring

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigateway"
	"github.com/aws/aws-sdk-go-v2/service/apigateway/types"
)

// APIGateway is API Gateway with one usage plan for all keys.
type APIGateway struct {
	Client    *apigateway.Client
	UsagePlan string
}

// Names implements Gateway.
func (g APIGateway) Names(ctx context.Context, prefix string) (map[string]string, error) {
	names := map[string]string{}
	pages := apigateway.NewGetApiKeysPaginator(g.Client, &apigateway.GetApiKeysInput{NameQuery: &prefix})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, key := range page.Items {
			names[aws.ToString(key.Name)] = aws.ToString(key.Id)
		}
	}
	return names, nil
}

// Add implements Gateway.
func (g APIGateway) Add(ctx context.Context, name, secret string) error {
	key, err := g.Client.CreateApiKey(ctx, &apigateway.CreateApiKeyInput{
		Name: &name, Value: &secret, Enabled: true, Description: aws.String("made by skillsctl; do not edit"),
	})
	if err != nil {
		return err
	}
	_, err = g.Client.CreateUsagePlanKey(ctx, &apigateway.CreateUsagePlanKeyInput{
		UsagePlanId: &g.UsagePlan, KeyId: key.Id, KeyType: aws.String("API_KEY"),
	})
	if err != nil {
		return fmt.Errorf("usage plan %s: %w", g.UsagePlan, err)
	}
	return nil
}

// Remove implements Gateway.
func (g APIGateway) Remove(ctx context.Context, id string) error {
	_, err := g.Client.DeleteApiKey(ctx, &apigateway.DeleteApiKeyInput{ApiKey: &id})
	var gone *types.NotFoundException
	if errors.As(err, &gone) {
		return nil
	}
	return err
}
