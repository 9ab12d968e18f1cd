package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/schema"
)

// Limits of a body: bytes, values, names in an object, and levels of nesting. Every valid body is within them, and they
// bound the cost of refusing an invalid one.
const (
	maxBody   = 1 << 20
	maxValues = 100_000
	maxNames  = 1000 // in one object
	maxDepth  = 32
)

// parseBody reads a body of at most maxBody bytes and parses it with parseJSON.
func parseBody(r *http.Request, accepts []string) (any, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, catalog.Errorf(catalog.MalformedJSON, "The body could not be read.").Because(err)
	}
	if len(body) > maxBody {
		return nil, catalog.Errorf(catalog.PayloadTooLarge, "The body must be at most %d bytes.", maxBody)
	}
	if len(body) > 0 && !accepted(r.Header.Get("Content-Type"), accepts) {
		return nil, catalog.Errorf(catalog.UnsupportedMediaType, "The body must be %s.", strings.Join(accepts, " or "))
	}
	return parseJSON(body)
}

// accepted reports whether a Content-Type is one of the media types, in UTF-8.
func accepted(contentType string, media []string) bool {
	given, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return false
	}
	charset, said := params["charset"]
	return slices.Contains(media, given) && (!said || strings.EqualFold(charset, "utf-8"))
}

// countItems counts the items in the first of the operation's fields of items that has any; see api.Cost.
func countItems(tree any, op *api.Operation) int {
	object, _ := tree.(map[string]any)
	if op.Begins {
		return countUnread(object)
	}
	for _, field := range op.ItemsIn {
		switch value := object[field].(type) {
		case []any:
			return min(len(value), op.MostItems())
		case string:
			if value != "" {
				return 1
			}
		}
	}
	return 0
}

// decodeBody validates the parsed body and decodes it.
func (c *call) decodeBody(rules *huma.Schema, into reflect.Value) error {
	tree, err := c.body()
	if err != nil {
		return err
	}
	if _, ok := tree.(map[string]any); !ok {
		return catalog.Invalid(catalog.FieldError{Location: "body", Message: "must be a JSON object"})
	}
	if wrong := schema.Validate(rules, tree); wrong != nil {
		return catalog.Invalid(wrong...)
	}
	if json.Unmarshal(encode(tree), into.Addr().Interface()) != nil {
		return catalog.Invalid(catalog.FieldError{Location: "body", Message: "does not fit the schema"})
	}
	return nil
}

// parseJSON parses a JSON value into maps, slices, trimmed strings, float64, bool and nil. It stops at the first error:
// duplicate keys, invalid UTF-8, numbers that the store cannot hold, and values beyond the limits.
func parseJSON(body []byte) (any, error) {
	p := parser{Decoder: jsontext.NewDecoder(bytes.NewReader(body))}
	tree, err := p.value()
	if err == nil {
		if _, more := p.ReadToken(); !errors.Is(more, io.EOF) {
			err = errors.New("more than one value")
		}
	}
	var known *catalog.Error
	if err != nil && !errors.As(err, &known) {
		return nil, catalog.Errorf(catalog.MalformedJSON, "The body is not a JSON value, or an object in it has a "+
			"duplicate key.").Because(err)
	}
	return tree, err
}

type parser struct {
	*jsontext.Decoder
	values int
}

func (p *parser) value() (any, error) {
	token, err := p.ReadToken()
	if err != nil {
		return nil, err
	}
	if p.values++; p.values > maxValues {
		return nil, catalog.Errorf(catalog.PayloadTooLarge, "The body must have at most %d values.", maxValues)
	}
	if p.StackDepth() > maxDepth {
		return nil, catalog.Errorf(catalog.MalformedJSON, "The body must have at most %d levels of nesting.", maxDepth)
	}
	switch token.Kind() {
	case '{':
		object := map[string]any{}
		for p.PeekKind() != '}' {
			token, err := p.ReadToken()
			if err != nil {
				return nil, err
			}
			if len(object) == maxNames {
				return nil, catalog.Errorf(catalog.PayloadTooLarge, "An object in the body must have at most %d names.", maxNames)
			}
			name := token.String()
			if object[name], err = p.value(); err != nil {
				return nil, err
			}
		}
		_, err := p.ReadToken()
		return object, err
	case '[':
		list := []any{}
		for p.PeekKind() != ']' {
			item, err := p.value()
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		_, err := p.ReadToken()
		return list, err
	case '"':
		return catalog.Trimmed(token.String()), nil
	case '0':
		return p.number(token.String())
	case 't', 'f':
		return token.Bool(), nil
	}
	return nil, nil
}

// DynamoDB holds 0 and numbers whose absolute value is at least minNumber and less than endOfNumbers.
const (
	minNumber    = 1e-130
	endOfNumbers = 1e126
)

func (p *parser) number(text string) (float64, error) {
	value, _ := strconv.ParseFloat(text, 64) // infinite or 0 if out of range
	mantissa, _, _ := strings.Cut(strings.ToLower(text), "e")
	message := ""
	switch size := math.Abs(value); {
	case size >= endOfNumbers:
		message = "the number is too large"
	case size < minNumber && strings.ContainsAny(mantissa, "123456789"):
		message = "the number is too close to zero"
	default:
		return value, nil
	}
	return 0, catalog.Invalid(catalog.FieldError{Location: location(p.StackPointer()), Message: message})
}

// location formats a pointer into the body as in field errors: body.skills[0].level.
func location(pointer jsontext.Pointer) string {
	at := "body"
	for token := range pointer.Tokens() {
		if _, err := strconv.ParseUint(token, 10, 32); err == nil {
			at += "[" + token + "]"
		} else {
			at += "." + schema.Shown(token)
		}
	}
	return at
}
