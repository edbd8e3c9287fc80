import { Type, type Static } from "typebox";
import { CaseChange, Disposition, Reason, Version } from "./case.ts";

export const BulkClose = Type.Object(
  {
    cases: Type.Array(
      Type.Object(
        { case_id: Type.String({ minLength: 1, maxLength: 512 }), case_version: Version },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: 500 },
    ),
    reason: Type.Optional(Reason),
    disposition: Type.Optional(Disposition),
    own_disposition: CaseChange.properties.own_disposition,
  },
  { additionalProperties: false, $id: "BulkClose" },
);
export type BulkClose = Static<typeof BulkClose>;

export const BulkCloseResult = Type.Object(
  {
    case_id: Type.String(),
    status: Type.Enum([200, 404, 409]),
    case_version: Type.Optional(Type.Integer()),
    type: Type.Optional(Type.Enum(["item-not-found", "item-version-conflict", "transaction-contended"])),
    current_version: Type.Optional(Type.Integer()),
  },
  { additionalProperties: false, $id: "BulkCloseResult" },
);
export type BulkCloseResult = Static<typeof BulkCloseResult>;
