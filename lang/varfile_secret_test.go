package lang_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"penstock/internal/diag"
	"penstock/lang"
)

// A variable file may hold secrets, and a slip in it must not show them.
func TestNoValueOfAVariableFileShows(t *testing.T) {
	const spec = `penstock { spec = 1 }
variable "pw" {
  type      = string
  sensitive = true
}
source "synthetic" "s" {}
`
	for name, files := range map[string][]string{
		".hcl":  {`pw = "CANARY`, `pw = CANARY`, "pw = \"CANARY%{zz\"", `pww = "CANARY"`, "pw = [\n\"CANARY\",\n", "pw = \"CANARY\"\npw = \"CANARY\"\n", "pw = <<E\nCANARY\n", `CANARY`, `pw "CANARY"`, `pw = 1CANARY`},
		".yaml": {`pw: "CANARY`, `pw: [CANARY`, `pw: CANARY_a: CANARY_b`, `pw: *CANARY`, `pw: !CANARY`, "pw: CANARY\npw: CANARY2\n", "pw: CANARY\n---\nx: CANARY", "pw: &CANARY x\nq: *CANARY\n", `pww: CANARY`, "pw: |\n  CANARY\n x", "\tpw: CANARY", "pw: @CANARY", "- CANARY"},
	} {
		for _, text := range files {
			dir := t.TempDir()
			path := filepath.Join(dir, "vars"+name)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			s, l := lang.Parse(map[string][]byte{"spec.hcl": []byte(spec)}, dir, lang.Options{VarFiles: []string{path}, Connectors: connectors})
			var out bytes.Buffer
			if err := diag.Write(&out, l, s.Files, false); err != nil {
				t.Fatal(err)
			}
			b, err := json.Marshal(l.Records(s.Files))
			if err != nil {
				t.Fatal(err)
			}
			if all := out.String() + string(b); strings.Contains(all, "CANARY") {
				t.Errorf("%q shows:\n%s", text, out.String())
			}
		}
	}
}
