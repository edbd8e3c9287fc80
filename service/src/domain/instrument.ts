import type { Payment } from "./activity.ts";

// What identifies an instrument: the provider's own id or, without one, the digits that may be stored. Undefined if neither is
// given.
export function instrumentIdOf({ instrument }: Payment): string | undefined {
  const { fingerprint, bin, last4 } = instrument ?? {};
  if (fingerprint !== undefined) return `fingerprint:${fingerprint}`;
  return bin === undefined || last4 === undefined ? undefined : `digits:${bin}${last4}`;
}
