import type { Failure, ScimType } from "../../domain/failure.ts";
import { urns } from "../../domain/scim/resource.ts";
import { problemMembers, type Reply } from "./problem.ts";

export const scimMediaType = "application/scim+json";

const scimPath = /^(?:https?:\/\/[^/?#]*)?\/v2\/[^/?#]+\/scim\/v2(?:[/?#]|$)/i;

// Below this path, all errors have the form that SCIM clients read.
export function isScimPath(url: string | undefined): boolean {
  return scimPath.test(url ?? "");
}

const scimTypes: Partial<Record<Failure["code"], ScimType>> = {
  "item-already-exists": "uniqueness",
  "validation-error": "invalidValue",
};

// An error of SCIM (RFC 7644, section 3.12) that is also a problem. Both name a member `status`. Here it is a text, as SCIM requires,
// because strictly typed clients cannot read anything else. The status line has the same number.
export function scimErrorReply(failure: Failure): Reply {
  const { status, ...members } = problemMembers(failure);
  const scimType = failure.scimType ?? scimTypes[failure.code];
  return {
    status,
    body: JSON.stringify({ schemas: [urns.error], status: String(status), ...(scimType && { scimType }), ...members }),
    headers: { "content-type": scimMediaType, ...failure.headers },
  };
}
