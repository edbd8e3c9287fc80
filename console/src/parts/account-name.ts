import { unknownAccount } from "@casehound/client";
import { visible } from "./visible.ts";

// `unknownAccount` is what the service stores if no account could be identified. It is not a name, so it is never shown as one.
export function accountName(id: string): string {
  return id === unknownAccount ? "No account" : visible(id);
}

// The form used inside a sentence.
export function caseName(id: string): string {
  return id === unknownAccount ? "the case without an account" : `the case of ${visible(id)}`;
}
