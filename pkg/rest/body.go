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

// What a body holds at most: bytes, values, names in an object, and levels of nesting. They
// leave room for every valid body, and bound what it takes to refuse another.
const (
	maxBody   = 1 << 20
	maxValues = 100_000
	maxNames  = 1000 // of one object
	maxDepth  = 32
)

// parseBody reads a JSON body of up to 1 MiB and returns what parseJSON does.
func parseBody(r *http.Request, accepts []string) (any, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, catalog.Errorf(catalog.MalformedJSON, "The body could not be read.").Because(err)
	}
	if len(body) > maxBody {
		return nil, catalog.Errorf(catalog.PayloadTooLarge, "A body holds at most %d bytes.", maxBody)
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

// countItems returns how many items a body has in the first of the fields that it
// has any in: see api.Cost.
func countItems(tree any, fields []string) int {
	object, _ := tree.(map[string]any)
	for _, field := range fields {
		switch value := object[field].(type) {
		case []any:
			return min(len(value), api.MaxItems)
		case string:
			if value != "" {
				return 1
			}
		}
	}
	return 0
}

// decodeBody validates the body and decodes it, both from the tree that it was
// parsed to.
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

// parseJSON returns a JSON value as maps, slices, strings without blanks at their
// ends, float64, bool and nil. It refuses what is ambiguous (keys said twice, invalid
// UTF-8), numbers that the store cannot hold, and what is too large, at the first fault.
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
		return nil, catalog.Errorf(catalog.MalformedJSON, "The body is no JSON value, or says a key twice.").Because(err)
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
		return nil, catalog.Errorf(catalog.PayloadTooLarge, "A body holds at most %d values.", maxValues)
	}
	if p.StackDepth() > maxDepth {
		return nil, catalog.Errorf(catalog.MalformedJSON, "The body nests deeper than %d levels.", maxDepth)
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
				return nil, catalog.Errorf(catalog.PayloadTooLarge, "An object of a body holds at most %d names.", maxNames)
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
		return strings.TrimSpace(token.String()), nil
	case '0':
		return p.number(token.String())
	case 't', 'f':
		return token.Bool(), nil
	}
	return nil, nil
}

// The numbers that DynamoDB holds: 0, and from minNumber to less than endOfNumbers
// on both sides of it.
const (
	minNumber    = 1e-130
	endOfNumbers = 1e126
)

func (p *parser) number(text string) (float64, error) {
	value, _ := strconv.ParseFloat(text, 64) // infinite or 0 where it has no room
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

// location writes a pointer into the body as field errors do: body.skills[0].level.
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
