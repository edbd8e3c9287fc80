// The event that somebody points at, so that the address leads others to it.
export type EventSearch = { event?: string };

export function readEventSearch({ event }: Record<string, unknown>): EventSearch {
  const isText = typeof event === "string" || typeof event === "number";
  return isText && event !== "" ? { event: String(event) } : {};
}
