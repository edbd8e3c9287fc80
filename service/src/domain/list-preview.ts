import { Type, type Static } from "typebox";
import { Time, idCharactersMax } from "./field.ts";
import { listTypes } from "./list.ts";
import { SourceName } from "./source.ts";

export const previewDays = 30;
// Matching activities whose labels are read.
export const previewLabelledMax = 10_000;
export const previewAccountsMax = 10_000;

export const PreviewRequest = Type.Object(
  { values: Type.Array(Type.String({ minLength: 1, maxLength: idCharactersMax }), { minItems: 1, maxItems: 100 }) },
  { additionalProperties: false, $id: "ListPreviewRequest" },
);
export type PreviewRequest = Static<typeof PreviewRequest>;

const Count = (description: string) => Type.Integer({ minimum: 0, description });

export const ListPreview = Type.Object(
  {
    from: { ...Time, description: "Activity from here on was searched: the last 30 days, or as much as could be read in time." },
    until: Time,
    is_complete: Type.Boolean({ description: "Whether all of the last 30 days were searched." }),
    is_exact: Type.Boolean({
      description:
        "False if addresses are stored truncated, so that neighbours count too, or hashed, so that blocks cannot be searched.",
    }),
    activities: Count("Activities that the values would have hit."),
    from_pages: Count("Of these, how many an unverified page sent. Anybody can send them, with any device or e-mail address."),
    accounts: Count(`Accounts of these activities; at most ${previewAccountsMax.toLocaleString("en")} are counted.`),
    suspicious: Count("Of the activities, how many had score 3 or more."),
    cases: Count("Cases that these activities belong to."),
    confirmed_frauds: Count("Of the activities, how many are labelled as frauds."),
    honest: Count("Of the activities, how many are labelled as honest."),
  },
  { additionalProperties: false, $id: "ListPreview" },
);
export type ListPreview = Static<typeof ListPreview>;

export const CaseValue = Type.Object(
  {
    type: Type.Enum([...listTypes]),
    value: Type.String(),
    source: SourceName,
    activities: Count("How many of the case's activities have the value."),
    lists: Type.Array(Type.String(), { description: "The lists that contain exactly this value already." }),
  },
  { additionalProperties: false, $id: "CaseListValue" },
);
export type CaseValue = Static<typeof CaseValue>;
