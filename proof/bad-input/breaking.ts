import type { Path, Rule } from "./document.ts";
import { fieldOf } from "./document.ts";
import { withHeader, type Request } from "./request.ts";
import { withBody, withForm, withJson } from "./valid.ts";
import { wrongValues, type Pool } from "./wrong-values.ts";

// The rejection that the contract promises for a request that breaks a rule.
export type Refusal = { status: number; type: string; field?: string; inDetail?: string };
export type Broken = { request: Request; refusal: Refusal };

const badRequest = { status: 400, type: "bad-request" };

// Requests that break this rule and no other, or the reason why there can be none.
export function breakRule(rule: Rule, valid: { request: Request; body: unknown }, pool: Pool): Broken[] | string {
  switch (rule.where) {
    case "path":
      return breakPath(rule, valid.request);
    case "query":
      return breakQuery(rule, valid.request, pool);
    case "header":
      return breakHeader(rule, valid.request, pool);
    case "form":
      return breakForm(rule, valid.request, valid.body as Record<string, unknown>);
    default:
      return rule.operation.isOfTenant
        ? breakBody(rule, valid, pool)
        : "the collector returns 200 and quarantines; covered by mutated captures";
  }
}

function breakPath({ name, keyword, schema, operation }: Rule, request: Request): Broken[] | string {
  const isSlug = name === "tenant_slug";
  // The token is valid for one tenant, so any other slug is denied. A malformed id cannot exist, so it is not found.
  const foreign = { status: 403, type: "access-denied" };
  const absent = { status: 404, type: "item-not-found" };
  const broken = (text: string, refusal: Refusal) => ({
    request: { ...request, params: { ...request.params, [name]: text } },
    refusal,
  });
  if (!operation.isOfTenant) return "any text can be a key; unknown keys are covered by mutated captures";
  switch (keyword) {
    case "type":
    case "storable":
      return ["%FF", "%C0%80", "%ED%A0%80", "%00", "%", "%2", "%GG"].map((text) => broken(text, isSlug ? foreign : badRequest));
    case "minLength":
      return [broken("", absent), ...(isSlug ? [broken("ab", foreign)] : [])];
    case "maxLength":
      return [broken("a".repeat(Number(schema["maxLength"]) + 1), isSlug ? foreign : absent)];
    case "pattern":
      return ["Upper", "-a", "a--b", "a_b", "%C3%A9%C3%A9%C3%A9"].map((text) => broken(text, foreign));
    default:
      return [];
  }
}

function breakQuery(rule: Rule, request: Request, pool: Pool): Broken[] | string {
  const { name, keyword, schema } = rule;
  if (!rule.operation.isOfTenant) return "the collector returns 200 for any query; covered by mutated captures";
  const broken = (...texts: string[]): Broken => ({
    request: {
      ...request,
      query: [...request.query.filter(([each]) => each !== name), ...texts.map((text): [string, string] => [name, text])],
    },
    refusal: { ...badRequest, inDetail: name },
  });
  if (keyword === "once") return [broken("1", "1"), broken("", "")];
  const type = schema["type"];
  if (keyword === "type" || keyword === "storable") {
    const notText = ["%FF", "%C0%80", "%00", "%", ""];
    const notNumber = ["one", "1e3", "0x1", "+1", "%201", "1.", ".5", "99999999999999999999"];
    const wrong = type === "integer" ? ["1.5", ...notNumber] : type === "number" ? notNumber : ["1", "TRUE", "yes", "true%20"];
    return [...notText, ...(type === "string" ? [] : wrong)].map((text) => broken(text));
  }
  const values = wrongValues(keyword, schema, "a", pool).filter((value) => typeof value !== "object" && value !== "");
  return values.map((value) => broken(encodeURIComponent(String(value).toWellFormed())));
}

function isHeaderText(value: unknown): boolean {
  return typeof value === "string" && /^[\x21-\x7e]+( [\x21-\x7e]+)*$/.test(value);
}

function breakHeader({ name, keyword, schema }: Rule, request: Request, pool: Pool): Broken[] | string {
  if (keyword === "type" || keyword === "storable") return "a header is always text";
  const isKey = name === "Idempotency-Key";
  const refusal = isKey ? { status: 400, type: "invalid-operation-id" } : { ...badRequest, inDetail: name };
  if (keyword === "required") return [{ request: withHeader(request, name, null), refusal }];
  const wrong = [
    ...wrongValues(keyword, schema, "key", pool).filter(isHeaderText),
    "a b",
    "a".repeat(256),
    "a/b",
    "\u00e9",
    ...(isKey ? [""] : []),
  ];
  return wrong.map((value) => ({ request: withHeader(request, name, String(value)), refusal }));
}

function breakForm({ path, keyword }: Rule, request: Request, form: Record<string, unknown>): Broken[] | string {
  const [name = ""] = path;
  const { [name]: _left, ...without } = form;
  switch (keyword) {
    case "body":
      return [{ request: { ...request, body: Buffer.alloc(0) }, refusal: badRequest }];
    case "required":
      return [{ request: withForm(request, without), refusal: badRequest }];
    case "enum":
      return ["", "password", "CLIENT_CREDENTIALS"].map((value) => ({
        request: withForm(request, { ...form, [name]: value }),
        refusal: badRequest,
      }));
    default:
      return "a form field is always text";
  }
}

// The valid body has neither occurrences nor a snooze, because both depend on the case's evidence. It has no flags either, because
// the account may have been erased, and no entries, because the list may have been deleted.
const addedFor: Record<string, object> = {
  list_entries: {
    list_entries: [{ list: "a_list", value: "a value", expires_at: "2099-01-01T00:00:00.000Z", reason: "A reason" }],
  },
  occurrence_ids: { occurrence_ids: ["an occurrence"] },
  snooze: { disposition: "FALSE_POSITIVE", snooze: { days: 1, scope: "account" } },
  // Instead of cases.
  website_account_id: { website_account_id: "account-1" },
  account: { account: { is_blocked: true, is_quarantined: true, is_fraudulent: true } },
};

function breakBody(rule: Rule, { request, body: valid }: { request: Request; body: unknown }, pool: Pool): Broken[] | string {
  const { path, keyword, schema, operation } = rule;
  const added = addedFor[String(path[0])];
  const body = added ? { ...(valid as object), ...added } : valid;
  const broken = (value: unknown, field = fieldOf(path)) => ({
    request: withJson(request, changeAt(body, path, value)),
    refusal: { status: 422, type: "validation-error", field },
  });
  const withMember = (name: string, value: unknown, shown = name) =>
    broken({ ...(at(body, path) as object), ...ownMember(name, value) }, fieldOf([...path, shown]));
  switch (keyword) {
    case "body":
      return ["", " ", "\n"].map((text) => ({ request: withBody(request, text), refusal: badRequest }));
    case "required": {
      const isPrecondition = ["updateCase", "handOverCase"].includes(operation.id) && path[0] === "case_version";
      return [{ ...broken(absent), ...(isPrecondition && { refusal: { status: 428, type: "precondition-required" } }) }];
    }
    case "additionalProperties":
      return ["unexpected", "__proto__", "constructor", "tenant_id", "a\0", ...pool.text((text) => text !== "")].flatMap((name) =>
        Object.hasOwn(schema["properties"] ?? {}, name) ? [] : [withMember(name, 1)],
      );
    case "propertyNames.type":
      return "a JSON member name is always text";
    case "propertyNames.storable":
      return [withMember("a\0b", 1)];
    case "propertyNames.minLength":
      return [withMember("", 1)];
    case "propertyNames.maxLength": {
      const name = "n".repeat(Number(schema["maxLength"]) + 1);
      return [withMember(name, 1, name.slice(0, 100))];
    }
    default:
      return wrongValues(keyword, schema, at(body, path), pool).map((value) => broken(value));
  }
}

const absent = Symbol("absent");

function ownMember(name: string, value: unknown): Record<string, unknown> {
  return Object.fromEntries([[name, value]]);
}

function at(value: unknown, path: Path): unknown {
  return path.reduce((found: unknown, step) => (found as Record<string | number, unknown>)[step], value);
}

function changeAt(value: unknown, path: Path, changed: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return changed;
  const inner = changeAt((value as Record<string | number, unknown>)[step], rest, changed);
  if (Array.isArray(value)) return value.map((each: unknown, index) => (index === step ? inner : each));
  const others = Object.entries(value as object).filter(([name]) => name !== step);
  return Object.fromEntries(inner === absent ? others : [...others, [step, inner]]);
}
