package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"penstock/connectors/postgres/postgrestest"
)

// peers are the loaders of others that are here, with what they say of
// themselves.
type peers map[string]string

var version = regexp.MustCompile(`\d+\.\d[\w.~-]*`)

func findPeers() peers {
	p := peers{"penstock": "", "psql": ""}
	for _, name := range []string{"pgloader", "pgcopydb"} {
		if out, err := exec.Command(name, "--version").CombinedOutput(); err == nil {
			// Debian's own number says which build it is; a program may not know.
			p[name] = version.FindString(string(out))
			if pkg, err := exec.Command("dpkg-query", "-W", "-f", "${Version}", name).Output(); err == nil {
				p[name] = "Debian's " + string(pkg)
			}
		}
	}
	if *ferry != "" {
		if out, err := exec.Command(*ferry, "--version").CombinedOutput(); err == nil {
			p["pgferry"] = strings.TrimSpace(strings.TrimPrefix(string(out), "pgferry version"))
		}
	}
	return p
}

func (p peers) have(name string) bool { _, ok := p[name]; return ok }

func (p peers) String() string {
	var all []string
	for _, name := range []string{"pgloader", "pgcopydb", "pgferry"} {
		v := "not here"
		if p.have(name) {
			v = p[name]
		}
		all = append(all, name+" "+v)
	}
	return strings.Join(all, ", ")
}

// uri is the address of a database, for programs that take one.
func (b *bench) uri(database string) string {
	return fmt.Sprintf("postgresql://%s@/%s?host=%s&port=%d&sslmode=disable", postgrestest.User, database, b.Socket, b.Port)
}

// psql is as many processes as workers, each with its share of the files.
func (b *bench) psql(l load) (out []*exec.Cmd) {
	options := "format " + l.from
	if l.from == "text" {
		options += ", delimiter '|'"
	}
	for w := range l.workers {
		args := []string{"-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", b.Socket, "-p", fmt.Sprint(b.Port), "-U", postgrestest.User, "-d", postgrestest.User}
		for i := w * pieces / l.workers; i < (w+1)*pieces/l.workers; i++ {
			args = append(args, "-c", fmt.Sprintf(`\copy %s from '%s' with (%s)`, l.table, b.piece(l.table, l.from, i), options))
		}
		out = append(out, exec.Command(b.Program("psql"), args...))
	}
	return out
}

// pgloader takes a command file.
func (b *bench) pgloader(l load) ([]*exec.Cmd, error) {
	into := fmt.Sprintf("postgresql://%s@unix:%s:%d/%s", postgrestest.User, b.Socket, b.Port, postgrestest.User)
	workers := fmt.Sprintf("workers = %d, concurrency = %d", l.workers, l.workers)
	var text string
	if l.from == "file" {
		drop := ""
		if l.defers {
			drop = ", drop indexes"
		}
		text = fmt.Sprintf("LOAD CSV FROM ALL FILENAMES MATCHING ~/%s-1.text$/ IN DIRECTORY '%s'\n INTO %s\n TARGET TABLE public.%s\n WITH %s%s, fields not enclosed, fields terminated by '|';\n",
			l.table, b.Dir, into, l.table, workers, drop)
	} else {
		what := "data only"
		if l.defers {
			what += ", drop indexes"
		}
		text = fmt.Sprintf("LOAD DATABASE FROM '%s' INTO %s WITH %s, %s INCLUDING ONLY TABLE NAMES LIKE '%s';\n", b.sqliteFile(l.table), into, what, workers, l.table)
	}
	name := filepath.Join(b.Dir, "pgloader.load")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		return nil, err
	}
	// Its root folder must be there before, and is used up by a run.
	return []*exec.Cmd{exec.Command("pgloader", "--quiet", "--on-error-stop", "--root-dir", b.Dir, name)}, nil
}

// pgferry takes a file of settings. Its key comes after the rows unless the
// table is there; its tables are not logged by default, ours and all others' are.
func (b *bench) pgferry(l load) ([]*exec.Cmd, error) {
	what := "data_only = true"
	if l.defers {
		what = "on_schema_exists = \"recreate\"\nunlogged_tables = false"
	}
	text := fmt.Sprintf("schema = \"public\"\n%s\nworkers = %d\n\n[source]\ntype = \"sqlite\"\ndsn = %q\n\n[target]\ndsn = %q\n", what, l.workers, b.sqliteFile(l.table), b.uri(postgrestest.User))
	name := filepath.Join(b.Dir, "pgferry.toml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		return nil, err
	}
	return []*exec.Cmd{exec.Command(*ferry, "migrate", name)}, nil
}

// pgcopydb copies from the database that the files were written from.
func (b *bench) pgcopydb(l load) []*exec.Cmd {
	args := []string{"copy", "table-data"}
	if l.defers {
		args = []string{"clone", "--index-jobs", fmt.Sprint(l.workers), "--split-tables-larger-than", "64MB", "--no-acl", "--no-owner"}
	}
	args = append(args, "--table-jobs", fmt.Sprint(l.workers), "--restart", "--not-consistent", "--dir", filepath.Join(b.Dir, "pgcopydb"), "--source", b.uri(origin(l.table)), "--target", b.uri(postgrestest.User))
	return []*exec.Cmd{exec.Command("pgcopydb", args...)}
}
