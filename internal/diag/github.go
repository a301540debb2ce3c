package diag

import (
	"fmt"
	"io"
	"strings"
)

// WriteGitHub writes diagnostics as workflow commands of GitHub Actions, which
// shows them beside the lines of a pull request. files are as for Write; path
// gives a file's path in the repository.
func WriteGitHub(w io.Writer, l List, files map[string][]byte, path func(string) string) error {
	var b strings.Builder
	for _, d := range l.Sorted() {
		props := []string{"file=" + property(path(d.Subject.Filename))}
		if at, ok := regionOf(files[d.Subject.Filename], d.Subject); ok {
			props = append(props, fmt.Sprintf("line=%d,endLine=%d", at.line, max(at.line, at.endLine)))
			// Columns of different lines can't be shown, and are refused.
			if at.line == at.endLine {
				props = append(props, fmt.Sprintf("col=%d,endColumn=%d", at.column, max(at.column, at.endColumn)))
			}
		}
		props = append(props, "title="+property(fmt.Sprintf("%s %s", d.Code, clean(d.Summary))))
		text := d.help()
		if text == "" {
			text = clean(d.Summary) // a command without a message shows nothing
		}
		fmt.Fprintf(&b, "::%s %s::%s\n", d.Severity, strings.Join(props, ","), data(text))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// GitHubError is the workflow command of an error that has no place in a file.
func GitHubError(title, text string) string {
	return fmt.Sprintf("::error title=%s::%s\n", property(clean(title)), data(clean(text)))
}

// data escapes what the message of a command can't hold, and property what one
// of its properties can't. A line feed that came through would end the command,
// and what follows could be a command of its own.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}
