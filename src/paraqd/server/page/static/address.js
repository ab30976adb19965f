// The view's state in the address: what is open, filtered, sorted and chosen.

const LISTS = ["decision", "fault", "status"];
export const SORTS = { row: "Order of the file", score: "Lowest score first", "-score": "Highest score first" };

/** Return the view that an address describes. Unknown values are left out. */
export function readAddress(search = location.search) {
  const query = new URLSearchParams(search);
  const number = (name) => (query.get(name) && Number.isFinite(Number(query.get(name))) ? Number(query.get(name)) : null);
  const view = {
    project: query.get("project") || null,
    pair: number("pair"),
    at: number("at"),
    q: query.get("q") ?? "",
    low: number("low"),
    high: number("high"),
    sort: query.get("sort") in SORTS ? query.get("sort") : "row",
  };
  for (const name of LISTS) view[name] = (query.get(name) ?? "").split(",").filter(Boolean);
  return view;
}

/** Return the address of a view, without what is as usual. */
export function addressOf(view) {
  const query = new URLSearchParams();
  if (view.project) query.set("project", view.project);
  for (const [name, value] of Object.entries(filterOf(view))) if (!(name === "sort" && value === "row")) query.set(name, value);
  for (const name of ["pair", "at"]) if (view[name] !== null && view[name] !== undefined) query.set(name, view[name]);
  const text = query.toString().replaceAll("%2C", ",");
  return text ? `?${text}` : location.pathname;
}

/** Return the part of a view that says which pairs are shown, as the server reads it. */
export function filterOf(view) {
  const filter = {};
  if (view.q.trim()) filter.q = view.q.trim();
  for (const name of LISTS) if (view[name].length) filter[name] = view[name].join(",");
  for (const name of ["low", "high"]) if (view[name] !== null) filter[name] = view[name];
  filter.sort = view.sort;
  return filter;
}

/** Say whether a view leaves out any pairs. */
export function isFiltered(view) {
  return Object.keys(filterOf(view)).some((name) => name !== "sort");
}
