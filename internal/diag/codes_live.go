package diag

// Codes of live checks, PEN08xx: what an endpoint says of itself.
const (
	EndpointRefuses Code = "PEN0801"
	EndpointWarns   Code = "PEN0802"
	CatalogChanged  Code = "PEN0803"
	OtherLoad       Code = "PEN0804"
	EarlierLoad     Code = "PEN0805"
)

var liveCodes = []Doc{
	{EndpointRefuses, "What the plan needs is not so",
		"A live check (`plan --live`, and each `run` of a spec) found that the endpoint lacks what the plan needs: a grant, a version, a setting, room for its connections. The statement that mends it stands below it.", "", ""},
	{EndpointWarns, "The endpoint is not as a run would like it",
		"A live check found something that a run may come to grief over, or that will have changed until then: rows in a target table, another run that holds the pipeline.", "", ""},
	{CatalogChanged, "The catalog is not what is there",
		"What the plan uses differs between the checked-in catalog and the database. Record it again with `penstock catalog pull`, and read the difference; `run --accept-drift` goes on with what is there.", "", ""},
	{OtherLoad, "The table was loaded by another definition",
		"The target remembers a load of this table by a spec or a catalog that decided its rows otherwise. Put it back, or load the table again with `run --reload`.", "", ""},
	{EarlierLoad, "The target remembers a load",
		"An earlier run of the pipeline has loaded the table, or a part of it: a run leaves it alone, or goes on with it.", "", ""},
}
