// The weight that an Accept header gives to a media type, or null if it does not name it. Only the first of these ranges that the
// header has counts.
export function weightOf(accept: string, ...wanted: string[]): number | null {
  const ranges = accept
    .replaceAll(/"(?:\\.|[^"\\])*"/g, "")
    .toLowerCase()
    .split(",")
    .map((range) => range.split(";").map((part) => part.trim()));
  const range = wanted.map((type) => ranges.find(([each]) => each === type)).find((each) => each !== undefined);
  if (!range) return null;
  const weight = Number(range.find((part) => part.startsWith("q="))?.slice("q=".length) ?? "1");
  return Number.isNaN(weight) ? 0 : weight;
}
