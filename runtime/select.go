package runtime

import "penstock/planner/plan"

// Selected is a pipeline of a plan with the tables that were asked for.
type Selected struct {
	Plan   *plan.Pipeline
	Tables map[string]bool // by source name; nil = all
}

// Select applies --only, as a run does. A name that is not in the plan is a
// *UsageError.
func Select(p *plan.Plan, only []string) ([]Selected, error) {
	chosen, err := choose(p, only, nil)
	if err != nil {
		return nil, err
	}
	out := make([]Selected, len(chosen))
	for i, c := range chosen {
		out[i] = Selected{c.plan, c.tables}
	}
	return out, nil
}

// ErrorOf is an error as reports have it; nil for nil.
func ErrorOf(err error) *ErrorResult { return errorResult(err) }
