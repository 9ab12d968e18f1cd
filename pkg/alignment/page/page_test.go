package page_test

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"testing"

	"skillscurriculum/pkg/alignment/page"
)

// TestPageContrast computes the contrast of every pair of colours in both
// schemes by WCAG 2: at least 4.5 for text.
func TestPageContrast(t *testing.T) {
	named := regexp.MustCompile(`--([\w-]+): light-dark\(#([0-9a-f]{6}), #([0-9a-f]{6})\)`)
	for i, scheme := range []string{"light", "dark"} {
		colour := map[string]float64{} // relative luminance
		for _, m := range named.FindAllStringSubmatch(page.Style, -1) {
			rgb, _ := strconv.ParseUint(m[2+i], 16, 32)
			linear := func(shift int) float64 {
				c := float64(rgb>>shift&255) / 255
				if c <= 0.04045 {
					return c / 12.92
				}
				return math.Pow((c+0.055)/1.055, 2.4)
			}
			colour[m[1]] = 0.2126*linear(16) + 0.7152*linear(8) + 0.0722*linear(0)
		}
		pairs := [][2]string{
			{"page", "ink"}, {"page", "soft"}, {"page", "alert"}, {"page", "mark"}, {"card", "ink"}, {"card", "soft"},
			{"mark", "on-mark"}, {"over", "ink"}, {"good-back", "good"}, {"alert-back", "alert"}, {"quote", "ink"}, {"chosen", "ink"},
		}
		for band := range 6 {
			pairs = append(pairs, [2]string{fmt.Sprintf("band%d", band), fmt.Sprintf("band%d-ink", band)})
		}
		for _, p := range pairs {
			a, okA := colour[p[0]]
			b, okB := colour[p[1]]
			if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); !okA || !okB || ratio < 4.5 {
				t.Errorf("%s: %s on %s has contrast %.2f", scheme, p[1], p[0], ratio)
			}
		}
	}
}
