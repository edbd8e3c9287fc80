// The chosen event, in the address so that a link leads others to it.
export type EventSearch = { event?: string };

export function readEventSearch({ event }: Record<string, unknown>): EventSearch {
  const isText = typeof event === "string" || typeof event === "number";
  return isText && event !== "" ? { event: String(event) } : {};
}
