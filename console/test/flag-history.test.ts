import type { Event } from "@casehound/client";
import { expect, test } from "vitest";
import { historyOf } from "../src/screens/account/flag-history.ts";

const at = "2026-01-01T00:00:00.000Z";
const resource = { type: "end_user_account", id: "ann" } as const;

let entries = 0;

function sent(actor: string, data: Record<string, boolean>): Event {
  return { event_id: ++entries, type: "account.updated", occurred_at: at, actor, resource, data };
}

function created(actor: string): Event {
  return { event_id: 0, type: "account.created", occurred_at: at, actor, resource };
}

const by = (actor: string, isFromCreation = false) => ({ kind: "changed", actor, at, isFromCreation });
const on = { is_blocked: true };
const off = { is_blocked: false };

// The latest entry comes first, as in the log.
test.each<[string, Event[], boolean, object]>([
  ["names the person who set the flag", [sent("ada", on), created("shop")], true, by("ada")],
  [
    "names the first person who sent the value after the opposite value",
    [sent("bob", on), sent("ada", on), sent("eve", off)],
    true,
    by("ada"),
  ],
  ["names the person who switched the flag off", [sent("bob", off), sent("ada", on)], false, by("bob")],
  [
    "names the client that created the account with the flag",
    [sent("ada", { is_fraudulent: true }), created("shop")],
    true,
    by("shop", true),
  ],
  ["never: the log is complete and no entry sets the flag", [created("shop")], false, { kind: "never" }],
  [
    "never: off was sent, and detection creates accounts without flags",
    [sent("ada", off), created("system")],
    false,
    { kind: "never" },
  ],
  [
    "unknown: off was sent, but the account may have been created with the flag",
    [sent("ada", off), created("shop")],
    false,
    { kind: "unknown" },
  ],
  ["unknown: the log does not include the latest change yet", [sent("ada", off), created("system")], true, { kind: "unknown" }],
  ["earlier: the entries read do not mention the flag", [sent("ada", { is_fraudulent: true })], true, { kind: "earlier" }],
  ["earlier: the flag may have been on before the oldest entry read", [sent("ada", on)], true, { kind: "earlier" }],
  ["earlier: no entries were read", [], false, { kind: "earlier" }],
])("flag history: %s", (_, events, value, expected) => {
  expect(historyOf(events, "is_blocked", value)).toEqual(expected);
});
