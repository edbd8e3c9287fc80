import { expect, test } from "vitest";
import { never, type Features } from "./catalogue.ts";
import { RuleFault } from "./compile.ts";
import { compileSentence } from "./sentence.ts";
import { contextOf } from "./vector.ts";

function render(template: string, features: Features = {}): string {
  return compileSentence(template).render(contextOf(features, {}));
}

test("compileSentence: placeholders are replaced by values, and the rest is unchanged", () => {
  const template = "{device.accounts_1h} accounts on {event.browser} within an hour; {device.accounts_1h} in all.";
  const { reads, render } = compileSentence(template);
  expect(reads).toEqual(["device.accounts_1h", "event.browser"]);
  const context = contextOf({ "device.accounts_1h": 40, "event.browser": "Chrome" }, {});
  expect(render(context)).toBe("40 accounts on Chrome within an hour; 40 in all.");
  expect(compileSentence("No field at all.")).toMatchObject({ reads: [] });
  expect(compileSentence("").render(context)).toBe("");
});

test.each([
  [0, "0"],
  [7, "7"],
  [999, "999"],
  [1000, "1,000"],
  [1_234_567, "1,234,567"],
  [0.5, "0.5"],
  [12.345, "12.35"],
  [1234.5, "1,234.5"],
  [3.0001, "3"],
  [-2.5, "-2.5"],
  [-0.001, "0"],
  [never, "999,999"],
])("compileSentence: shows the number %s as %s", (value, shown) => {
  expect(render("{event.value}", { "event.value": value })).toBe(shown);
});

test("compileSentence: shows the word never for something that has not happened", () => {
  expect(render("{account.minutes_since_sensitive_change}, {session.seconds_to_login}")).toBe("never, never");
  expect(render("{account.minutes_since_sensitive_change}", { "account.minutes_since_sensitive_change": 1500 })).toBe("1,500");
});

test("compileSentence: booleans are yes and no, empty texts are unknown, and long texts are cut between characters", () => {
  expect(render("{account.device_is_new} {device.is_known}", { "device.is_known": true })).toBe("no yes");
  expect(render("{event.country}")).toBe("unknown");
  expect(render("{event.browser}", { "event.browser": "😀".repeat(150) })).toBe("😀".repeat(100));
  expect(render("{event.browser}", { "event.browser": "a".repeat(100) })).toBe("a".repeat(100));
});

test("compileSentence: a value that looks like a placeholder is plain text", () => {
  expect(render("{event.browser}", { "event.browser": "{event.os} $& $1" })).toBe("{event.os} $& $1");
});

test.each([
  ["On {device.acounts_1h}.", { offset: 4, line: 1, column: 5 }, "Did you mean `device.accounts_1h`?"],
  ["One\nand {login.score}", { offset: 9, line: 2, column: 6 }, "Fields of `login`: ratio, history."],
  [
    "{}",
    { offset: 1, line: 1, column: 2 },
    "A field begins with one of: event, account, device, ip, network, session, login, tenant, payee, instrument, mailbox, look, block.",
  ],
  [
    "{__proto__}",
    { offset: 1, line: 1, column: 2 },
    "A field begins with one of: event, account, device, ip, network, session, login, tenant, payee, instrument, mailbox, look, block.",
  ],
  ["{ event.os }", { offset: 1, line: 1, column: 2 }, "Did you mean `event.os`?"],
  ["To {event.os", { offset: 3, line: 1, column: 4 }, "Write a field in braces, for example `{event.country}`."],
  ["To event.os}", { offset: 11, line: 1, column: 12 }, "Write a field in braces, for example `{event.country}`."],
  ["To {{event.os}}", { offset: 3, line: 1, column: 4 }, "Write a field in braces, for example `{event.country}`."],
  ["{event.attributes}", { offset: 1, line: 1, column: 2 }, null],
])("compileSentence: rejects %s at the right position", (template, position, hint) => {
  const expected = { name: "RuleFault", position, hint };
  expect(() => compileSentence(template)).toThrow(RuleFault);
  expect(() => compileSentence(template)).toThrow(expect.objectContaining(expected));
});

test.each([
  [0, "An amount followed less than a minute after a change."],
  [1, "An amount followed 1 minute after a change."],
  [12, "An amount followed 12 minutes after a change."],
])("compileSentence: %s minutes are shown as people say them", (value, sentence) => {
  const template = "An amount followed {account.minutes_since_sensitive_change} minutes after a change.";
  expect(render(template, { "account.minutes_since_sensitive_change": value })).toBe(sentence);
});

test.each([
  [
    { "event.type": "transfer", "account.last_sensitive_change": "email_changed" },
    "A transfer followed after the e-mail address was changed.",
  ],
  [
    { "event.type": "email_changed", "account.last_sensitive_change": "payee_added" },
    "A change of e-mail address followed after a payee was added.",
  ],
  [{ "event.type": "custom:gift_card" }, "A custom:gift_card followed after a sensitive change."],
  [{ "event.type": "constructor", "account.last_sensitive_change": "toString" }, "A constructor followed after toString."],
])("compileSentence: shows types of activities in words: %j", (features, sentence) => {
  expect(render("A {event.type} followed after {account.last_sensitive_change}.", features)).toBe(sentence);
});

test("compileSentence: an amount has its currency, if that is known", () => {
  const template = "{event.currency} {event.value} was paid.";
  expect(render(template, { "event.currency": "EUR", "event.value": 513.62 })).toBe("EUR 513.62 was paid.");
  expect(render(template, { "event.value": 513.62 })).toBe("513.62 was paid.");
});

test("compileSentence: leaves out what it says about an IPv6 block if there is none", () => {
  const template = "{ip.signups_1h} sign-ups from one address. From its IPv6 block: {ip.block_signups_1h}.";
  expect(render(template, { "ip.signups_1h": 8 })).toBe("8 sign-ups from one address.");
  expect(render(template, { "ip.signups_1h": 8, "ip.block_signups_1h": 16 })).toBe(
    "8 sign-ups from one address. From its IPv6 block: 16.",
  );
  expect(compileSentence(template).reads).toEqual(["ip.signups_1h", "ip.block_signups_1h"]);
  expect(render("From its IPv6 block: {ip.block_signups_1h}.")).toBe("From its IPv6 block: 0.");
});
