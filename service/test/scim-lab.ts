import { expect } from "vitest";
import { send, type Answer, type Options, type TestTenant } from "./harness.ts";

const scimErrorSchema = "urn:ietf:params:scim:api:messages:2.0:Error";
export const patchSchema = "urn:ietf:params:scim:api:messages:2.0:PatchOp";
export const userSchema = "urn:ietf:params:scim:schemas:core:2.0:User";
export const groupSchema = "urn:ietf:params:scim:schemas:core:2.0:Group";

type Resource = {
  id: string;
  userName: string;
  displayName: string;
  active: boolean;
  externalId?: string;
  members: { value: string; display: string }[];
  groups: { value: string; display: string }[];
  roles: { value: string }[];
  emails: { value: string; type: string; primary: boolean }[];
  name: { formatted: string; givenName?: string; familyName?: string };
  meta: { resourceType: string; location: string };
};
export type ScimAnswer = Omit<Answer, "json"> & {
  json: Resource & {
    schemas: string[];
    totalResults: number;
    startIndex: number;
    itemsPerPage: number;
    Resources: Resource[];
    scimType?: string;
    detail: string;
    status: string;
    type: string;
    errors: { field: string; message: string }[] | null;
  };
};

// A directory that speaks SCIM with a token of its own.
export class Directory {
  readonly tenant: TestTenant;
  readonly token: string;
  readonly tokenId: string;

  private constructor(tenant: TestTenant, token: string, tokenId: string) {
    this.tenant = tenant;
    this.token = token;
    this.tokenId = tokenId;
  }

  static async connect(
    tenant: TestTenant,
    { name = "directory", adopts_people = false, token = tenant.token } = {},
  ): Promise<Directory> {
    const made = await tenant.call("POST", "/scim/tokens", { body: { name, adopts_people }, token });
    expect(made.status, made.text).toBe(201);
    const { scim_token, token: own } = made.json.data as { scim_token: { scim_token_id: string }; token: string };
    return new Directory(tenant, own, scim_token.scim_token_id);
  }

  // Sends a request as directories do, to any service on the tenant's database.
  async ask(
    method: string,
    path: string,
    body?: unknown,
    { port = this.tenant.service.port, ...more }: Options & { port?: number } = {},
  ) {
    const headers = { accept: "application/scim+json", "content-type": "application/scim+json; charset=utf-8", ...more.headers };
    const options = { token: this.token, ...(body !== undefined && { body }), ...more, headers };
    const answer = await send(port, method, `/v2/${this.tenant.slug}/scim/v2${path}`, options);
    if (answer.status !== 204) expect(answer.headers.get("content-type")).toBe("application/scim+json");
    return answer as unknown as ScimAnswer;
  }

  async find(filter: string, more = ""): Promise<ScimAnswer> {
    return this.ask("GET", `/Users?filter=${encodeURIComponent(filter)}${more}`);
  }

  // Creates a person and returns their id.
  async create(userName: string, more: object = {}): Promise<string> {
    const answer = await this.ask("POST", "/Users", { schemas: [userSchema], userName, active: true, ...more });
    expect(answer.status, answer.text).toBe(201);
    return answer.json.id;
  }

  async patch(path: string, ...operations: object[]): Promise<ScimAnswer> {
    return this.ask("PATCH", path, { schemas: [patchSchema], Operations: operations });
  }

  async read(id: string): Promise<ScimAnswer["json"]> {
    const answer = await this.ask("GET", `/Users/${id}`);
    expect(answer.status, answer.text).toBe(200);
    return answer.json;
  }
}

// Expects a rejection that is an error of SCIM and a problem at once.
export function expectScimError(answer: ScimAnswer, status: number, type: string, scimType?: string): ScimAnswer["json"] {
  expect(answer.status, answer.text).toBe(status);
  expect(answer.headers.get("content-type")).toBe("application/scim+json");
  expect(answer.json).toMatchObject({ schemas: [scimErrorSchema], status: String(status), type, detail: expect.any(String) });
  expect(answer.json.scimType).toBe(scimType);
  expect(Array.isArray(answer.json.errors)).toBe(type === "validation-error");
  return answer.json;
}
