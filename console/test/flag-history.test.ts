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
  ["the one who set it", [sent("ada", on), created("shop")], true, by("ada")],
  ["the first of those who sent it, after the contrary", [sent("bob", on), sent("ada", on), sent("eve", off)], true, by("ada")],
  ["the one who took it back", [sent("bob", off), sent("ada", on)], false, by("bob")],
  ["who created the account with it", [sent("ada", { is_fraudulent: true }), created("shop")], true, by("shop", true)],
  ["never: the log goes back to the creation", [created("shop")], false, { kind: "never" }],
  ["never: off was sent, and was so since detection saw it", [sent("ada", off), created("system")], false, { kind: "never" }],
  ["untold: off was sent, but it may have been created on", [sent("ada", off), created("shop")], false, { kind: "untold" }],
  ["untold: the log does not have the latest change yet", [sent("ada", off), created("system")], true, { kind: "untold" }],
  ["earlier: what was read does not name it", [sent("ada", { is_fraudulent: true })], true, { kind: "earlier" }],
  ["earlier: it may have been on before it was sent", [sent("ada", on)], true, { kind: "earlier" }],
  ["earlier: nothing was read", [], false, { kind: "earlier" }],
])("flag history: %s", (_, events, value, expected) => {
  expect(historyOf(events, "is_blocked", value)).toEqual(expected);
});
