package kafka

import (
	"strings"
	"testing"

	"penstock/internal/schema"
	"penstock/internal/secret"
)

func TestTopicsKeepTheirDots(t *testing.T) {
	for _, name := range []string{"bench.dbo.firenibble_1", "a", "A-b_c.9", strings.Repeat("x", 249)} {
		if got, err := splitName(name); err != nil || got != (schema.Name{Name: name}) {
			t.Errorf("splitName(%q) = %+v, %v", name, got, err)
		}
	}
	tests := []struct{ name, want string }{
		{"", "no name of a topic"},
		{"..", "no name of a topic"},
		{"a b", "not ' '"},
		{"Käse", "not 'ä'"},
		{"C$LOG", "not '$'"},
		{strings.Repeat("x", 250), "at most 249"},
	}
	for _, c := range tests {
		if got, err := splitName(c.name); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("splitName(%q) = %+v, %v; want an error with %q", c.name, got, err, c.want)
		}
	}
}

func TestCheck(t *testing.T) {
	brokers := []string{"h1:9092", "[::1]:9092"}
	password := secret.Ref{Env: "P"}
	tests := []struct {
		config TargetConfig
		path   string
	}{
		{TargetConfig{Brokers: brokers}, ""},
		{TargetConfig{Brokers: brokers, SASL: "plain", User: "u", Password: password}, ""},
		{TargetConfig{}, "brokers"},
		{TargetConfig{Brokers: []string{"h1"}}, "brokers"},
		{TargetConfig{Brokers: []string{":9092"}}, "brokers"},
		{TargetConfig{Brokers: []string{"h1:kafka"}}, "brokers"},
		{TargetConfig{Brokers: brokers, SASL: "plain", User: "u"}, "sasl"},
		{TargetConfig{Brokers: brokers, User: "u"}, "user"},
		{TargetConfig{Brokers: brokers, Password: password}, "password"},
	}
	for _, c := range tests {
		got := check(&c.config)
		if c.path == "" && len(got) > 0 || c.path != "" && (len(got) != 1 || got[0].Path != c.path) {
			t.Errorf("check(%+v) = %+v, want a problem at %q", c.config, got, c.path)
		}
	}
}

func TestARecordTakesEveryType(t *testing.T) {
	for k := schema.Bool; k <= schema.JSON; k++ {
		native, err := types{}.Render(schema.Of(k))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := (types{}).Parse(native); err != nil || got != schema.Of(k) {
			t.Errorf("%s renders as %s, which is %s, %v", k, native, got, err)
		}
	}
}
