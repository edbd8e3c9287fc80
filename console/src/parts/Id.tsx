import { visible } from "./visible.ts";

// An id from outside. Its writing direction does not affect the text around it.
export function Id({ id }: { id: string }) {
  return <bdi>{visible(id)}</bdi>;
}
