import { unknownAccount } from "@casehound/client";
// `unknownAccount` is nobody's name, so it is never shown as one.
export function accountName(id: string): string {
  return id === unknownAccount ? "No account" : id;
}

// Within a sentence.
export function caseName(id: string): string {
  return id === unknownAccount ? "the case without an account" : `the case of ${id}`;
}
