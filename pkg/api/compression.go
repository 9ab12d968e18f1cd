package api

import (
	"strconv"
	"strings"
)

// CompressFrom is the minimum size, in bytes, of responses that API Gateway compresses.
const CompressFrom = 10 << 10

// Coding returns the content coding that API Gateway chooses: gzip, deflate, or "" for none.
func Coding(acceptEncoding string, length int) string {
	if length < CompressFrom {
		return ""
	}
	accepted := map[string]bool{}
	for part := range strings.SplitSeq(acceptEncoding, ",") {
		coding, parameters, _ := strings.Cut(part, ";")
		_, weight, _ := strings.Cut(strings.ToLower(parameters), "q=")
		quality, err := strconv.ParseFloat(strings.TrimSpace(weight), 64)
		accepted[strings.ToLower(strings.TrimSpace(coding))] = err != nil || quality > 0
	}
	for _, coding := range codings {
		if accepted[coding] {
			return coding
		}
	}
	return ""
}

var codings = []string{"gzip", "deflate"}

// CodedTag returns the ETag of a content coding. Strong ETags differ between codings.
func CodedTag(tag, coding string) string {
	if coding == "" || !strings.HasSuffix(tag, `"`) {
		return tag
	}
	return strings.TrimSuffix(tag, `"`) + "-" + coding + `"`
}

// PlainTag returns the ETag without the suffix of a content coding.
func PlainTag(tag string) string {
	for _, coding := range codings {
		if plain, ok := strings.CutSuffix(tag, "-"+coding+`"`); ok {
			return plain + `"`
		}
	}
	return tag
}
