export const ranges = [7, 30, 90] as const;
export const rangeDefault = 30;

export type TeamSearch = { days?: (typeof ranges)[number] };

export function readTeamSearch(raw: Record<string, unknown>): TeamSearch {
  const days = ranges.find((each) => each === Number(raw["days"]));
  return days === undefined || days === rangeDefault ? {} : { days };
}
