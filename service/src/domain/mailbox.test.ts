import { expect, test } from "vitest";
import { mailboxShape } from "./mailbox.ts";

test.each([
  ["jane.doe@example.com", "janedoe@example.com"],
  ["Jane.Doe+7@Example.com", "janedoe@example.com"],
  ["j.a.n.e.doe1990+shop+x@example.com", "janedoe@example.com"],
  ["jane-doe@example.com", "jane-doe@example.com"],
  ['"odd@local"@example.com', '"odd@local"@example.com'],
])("mailboxShape: %s has the shape %s", (email, shape) => {
  expect(mailboxShape(email)).toBe(shape);
});

test.each(["", "jane", "@example.com", "jane@", "12345@example.com", "+tag@example.com", `a@${"x".repeat(254)}`])(
  "mailboxShape: %s has none",
  (email) => {
    expect(mailboxShape(email)).toBeNull();
  },
);
