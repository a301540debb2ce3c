package lang_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"penstock/internal/diag"
	"penstock/lang"
)

// A secret that somebody wrote into a spec appears in nothing that is printed
// of it, whatever else is wrong with the spec.
func TestWrittenSecretIsNeverShown(t *testing.T) {
	const canary = "hunter2-canary"
	hcl := func(s string) string {
		return "penstock { spec = 1 }\nsource \"oracle\" \"erp\" {\n  host = \"h\"\n  service = \"s\"\n  user = \"u\"\n  " + s + "\n}\n"
	}
	yaml := func(s string) string {
		return "penstock: {spec: 1}\nsource:\n  oracle:\n    erp:\n      host: h\n      service: s\n      user: u\n      " + s + "\n"
	}
	for file, specs := range map[string][]string{
		"s.hcl": {
			hcl(`password = "` + canary + `"`), hcl(`pasword = "` + canary + `"`), hcl(`passwrd = "` + canary + `"`), hcl("password = <<E\n" + canary + "\nE"),
			hcl(`password = "` + canary), hcl(`password = "` + canary + "\"\n  host = "), hcl(`password = ["` + canary + `"]`),
			hcl(`user_token = "` + canary + `"`), hcl(`catalog = "oracle://u:` + canary + `@h"`),
			"variable \"pw\" {\n  sensitive = true\n  default = \"" + canary + "\"\n}\n",
		},
		"s.yaml": {
			yaml("password: " + canary), yaml("pasword: " + canary), yaml("password: '" + canary + "'"), yaml("password: |\n        " + canary),
			yaml("password: !" + canary), yaml("password: @" + canary), yaml("password: " + canary + ": x"), yaml("\tpassword: " + canary),
			"penstock: {spec: 1}\nsource: {oracle: {erp: {password: " + canary + ", host: 5}}}\n",
			"variable: {pw: {default: " + canary + ", sensitive: true}}\n",
		},
	} {
		for _, src := range specs {
			spec, l := lang.Parse(map[string][]byte{file: []byte(src)}, ".", lang.Options{Connectors: connectors})
			_, l = decodeAll(spec, l)
			var b strings.Builder
			if err := diag.Write(&b, l, spec.Files, false); err != nil {
				t.Fatal(err)
			}
			j, err := json.Marshal(l.Records(spec.Files))
			if err != nil {
				t.Fatal(err)
			}
			if all := b.String() + string(j) + fmt.Sprintf("%+v", l); len(l) == 0 || strings.Contains(all, canary) {
				t.Errorf("%q: %d diagnostics, and the secret is shown:\n%s", src, len(l), b.String())
			}
		}
	}
}
