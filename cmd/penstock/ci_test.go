package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// checkout is the repository that docs/ci.md is about, in a folder of its own.
type checkout struct {
	t   *testing.T
	dir string
	env []string
}

func newCheckout(t *testing.T) *checkout {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("this test plays docs/ci.md, which needs git")
	}
	top := t.TempDir()
	c := &checkout{t: t, dir: filepath.Join(top, "repository")}
	bin := filepath.Join(top, "bin")
	for _, d := range []string{bin, filepath.Join(c.dir, "pipelines")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "penstock")); err != nil { // TestMain is penstock by that name
		t.Fatal(err)
	}
	// gh is GitHub's own client: here it keeps what it was to comment.
	gh := "#!/bin/sh\nwhile [ $# -gt 1 ]; do [ \"$1\" = --body-file ] && cp \"$2\" \"$COMMENTED\"; shift; done\n"
	if err := os.WriteFile(filepath.Join(bin, "gh"), []byte(gh), 0o755); err != nil {
		t.Fatal(err)
	}
	c.env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + top, "COMMENTED=" + filepath.Join(top, "comment.md"), "GITHUB_WORKSPACE=" + c.dir, "PR=7",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.net", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.net", "GIT_CONFIG_NOSYSTEM=1"}
	spec, err := os.ReadFile(filepath.Join(repoRoot, "examples/quickstart/quickstart.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	c.write("pipelines/shop.hcl", string(spec))
	c.must("penstock fmt pipelines/shop.hcl && penstock plan pipelines/shop.hcl --out pipelines/shop.plan.json >/dev/null")
	c.must("git init -q . && git add -A && git commit -qm start")
	return c
}

func (c *checkout) write(name, text string) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

// edit replaces a text of the spec.
func (c *checkout) edit(old, new string) {
	c.t.Helper()
	b, err := os.ReadFile(filepath.Join(c.dir, "pipelines/shop.hcl"))
	if err != nil || !strings.Contains(string(b), old) {
		c.t.Fatalf("no %q in the spec (%v)", old, err)
	}
	c.write("pipelines/shop.hcl", strings.Replace(string(b), old, new, 1))
}

// sh runs a script as GitHub does, and gives what it wrote and its exit code.
func (c *checkout) sh(script string) (string, int) {
	c.t.Helper()
	cmd := exec.Command("bash", "-e", "-o", "pipefail", "-c", script)
	cmd.Dir, cmd.Env = c.dir, c.env
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		c.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func (c *checkout) must(script string) {
	c.t.Helper()
	if out, code := c.sh(script); code != 0 {
		c.t.Fatalf("%s: exit code %d\n%s", script, code, out)
	}
}

// step is one of a workflow's.
type step struct {
	Name string `yaml:"name"`
	If   string `yaml:"if"`
	Run  string `yaml:"run"`
}

// job runs a workflow's steps as GitHub does: after one that fails, only those
// that ask for it.
func (c *checkout) job(steps []step) (log string, failed []string) {
	c.t.Helper()
	for _, s := range steps {
		if s.Run == "" || len(failed) > 0 && !strings.Contains(s.If, "!cancelled()") {
			continue
		}
		out, code := c.sh(s.Run)
		log += out
		if code != 0 {
			failed = append(failed, s.Name)
		}
	}
	return log, failed
}

var pageFences = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")

func TestPageOnCIIsPlayed(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(repoRoot, "docs/ci.md"))
	if err != nil {
		t.Fatal(err)
	}
	var script string
	var workflow struct {
		Jobs map[string]struct {
			Steps []step `yaml:"steps"`
		} `yaml:"jobs"`
	}
	for _, m := range pageFences.FindAllStringSubmatch(string(page), -1) {
		switch m[1] {
		case "sh":
			script = m[2]
		case "yaml":
			if err := yaml.Unmarshal([]byte(m[2]), &workflow); err != nil {
				t.Fatal(err)
			}
		}
	}
	steps := workflow.Jobs["plan"].Steps
	if !strings.HasPrefix(script, "#!/bin/sh\n") || len(steps) < 5 {
		t.Fatalf("the page has a script %q and %d steps", script, len(steps))
	}
	for _, c := range []struct {
		name       string
		edit       [2]string
		code       int    // of the script
		says       string // by the script
		failed     string // steps of the workflow
		annotation string
		comment    string
	}{
		{"nothing changed", [2]string{"", ""}, 0, "is valid", "", "", "Nothing is otherwise than in <code>before.plan.json</code>"},
		{"not laid out", [2]string{"from = ", "from     = "}, 3, "pipelines/shop.hcl", "Layout", "", "1 pipeline · 1 table"},
		{"a slip", [2]string{"small_number != 4", "smal_number != 4"}, 2, `Unknown column "smal_number"`, "Findings Plan",
			"::error file=pipelines/shop.hcl,line=22,endLine=22,col=15,endColumn=26,title=PEN0301 ", "[!CAUTION]"},
		{"another filter, without its plan", [2]string{"small_number != 4", "small_number != 3"}, 3, "Read the difference, then: penstock plan pipelines/shop.hcl --out pipelines/shop.plan.json",
			"The plan in git is this one", "small_number != 3", "Otherwise than in <code>before.plan.json</code>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newCheckout(t)
			if c.edit[0] != "" {
				r.edit(c.edit[0], c.edit[1])
			}
			r.must("git commit -qam change --allow-empty")
			r.write("check.sh", script)
			out, code := r.sh("sh check.sh")
			if code != c.code || !strings.Contains(out, c.says) {
				t.Errorf("the script: exit code %d, want %d and %q:\n%s", code, c.code, c.says, out)
			}
			log, failed := r.job(steps)
			if got := strings.Join(failed, " "); got != c.failed {
				t.Errorf("the workflow: %q failed, want %q:\n%s", got, c.failed, log)
			}
			if !strings.Contains(log, c.annotation) {
				t.Errorf("the workflow does not say %q:\n%s", c.annotation, log)
			}
			comment, err := os.ReadFile(filepath.Join(filepath.Dir(r.dir), "comment.md"))
			if err != nil || !strings.Contains(string(comment), c.comment) {
				t.Errorf("the comment does not say %q: %v\n%s", c.comment, err, comment)
			}
		})
	}
}
