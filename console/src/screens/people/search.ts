export type PeopleSearch = { find?: string };

export function readPeopleSearch({ find }: Record<string, unknown>): PeopleSearch {
  return (typeof find === "string" || typeof find === "number") && find !== "" ? { find: String(find) } : {};
}
