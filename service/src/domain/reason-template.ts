import { Type, type Static } from "typebox";
import { Disposition, reasonCharactersMax } from "./case.ts";
import { versionConflict, type FieldError } from "./failure.ts";
import { Time } from "./field.ts";
import { notBefore } from "./text.ts";
import { labels } from "./finding.ts";

export const templatesMax = 100;

export const ReasonTemplate = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 60, description: "People choose the template by it. Unique." }),
    text: Type.String({ minLength: 1, maxLength: reasonCharactersMax, description: "Becomes the reason of the close." }),
    labels: Type.Optional(
      Type.Array(Type.Enum([...labels]), {
        minItems: 1,
        maxItems: labels.length,
        description: "Offered only for cases with one of these labels. If absent, for all cases.",
      }),
    ),
    disposition: Type.Optional({
      ...Disposition,
      description: "Offered only for this disposition. If absent, for every disposition.",
    }),
  },
  { additionalProperties: false, $id: "ReasonTemplate" },
);
export type ReasonTemplate = Static<typeof ReasonTemplate>;

const Templates = Type.Array(ReasonTemplate, { maxItems: templatesMax, description: "In the order in which they are offered." });
const TemplatesVersion = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

export const ReasonTemplatesChange = Type.Object(
  { templates: Templates, templates_version: { ...TemplatesVersion, description: "The version that was read." } },
  { additionalProperties: false, $id: "ReasonTemplatesChange" },
);
export type ReasonTemplatesChange = Static<typeof ReasonTemplatesChange>;

export const ReasonTemplates = Type.Object(
  {
    templates: Templates,
    templates_version: TemplatesVersion,
    updated_at: Time,
    updated_by: Type.String({ description: "`system` for the default templates." }),
  },
  { additionalProperties: false, $id: "ReasonTemplates" },
);
export type ReasonTemplates = Static<typeof ReasonTemplates>;

// Checks that the schema cannot express: two templates of one name could not be told apart in the menu.
export function templateFaults(templates: ReasonTemplate[]): FieldError[] {
  const names = templates.map(({ name }) => name);
  return templates.flatMap(({ name, labels: of = [] }, index): FieldError[] => [
    ...(names.indexOf(name) < index ? [{ field: `templates[${index}].name`, message: "is the name of another template" }] : []),
    ...of.flatMap((label, at) =>
      of.indexOf(label) < at ? [{ field: `templates[${index}].labels[${at}]`, message: "appears more than once" }] : [],
    ),
  ]);
}

// Returns the next version, or the same templates if nothing differs.
export function changeTemplates(
  found: ReasonTemplates,
  wanted: ReasonTemplatesChange,
  actor: { name: string; now: string },
): ReasonTemplates {
  const { templates_version: current } = found;
  if (wanted.templates_version !== current) throw versionConflict("The reason templates", current);
  const templates = wanted.templates.map(orderedTemplate);
  if (JSON.stringify(templates) === JSON.stringify(found.templates)) return found;
  const updated_at = notBefore(found.updated_at, actor.now);
  return { templates, templates_version: current + 1, updated_at, updated_by: actor.name };
}

// Puts the members into the order in which people read them. jsonb does not keep it.
export function orderedTemplate({ name, text, labels: of, disposition }: ReasonTemplate): ReasonTemplate {
  return { name, text, ...(of && { labels: of }), ...(disposition && { disposition }) };
}

export const defaultTemplates: ReasonTemplate[] = [
  {
    name: "Customer denies it",
    text: "The customer says that this was not them.",
    disposition: "CONFIRMED_FRAUD",
  },
  {
    name: "Password stolen",
    text: "Somebody else logged in with the customer's password.",
    labels: ["Account Takeover"],
    disposition: "CONFIRMED_FRAUD",
  },
  {
    name: "Automated attack",
    text: "A program made these requests. No customer was involved.",
    labels: ["Bot"],
    disposition: "CONFIRMED_FRAUD",
  },
  {
    name: "Made-up identity",
    text: "The account was opened with made-up details.",
    labels: ["Synthetic"],
    disposition: "CONFIRMED_FRAUD",
  },
  {
    name: "Customer confirms it",
    text: "The customer confirmed this activity.",
    disposition: "FALSE_POSITIVE",
  },
  {
    name: "New device or travel",
    text: "The customer uses a new device or is travelling.",
    labels: ["Account Takeover"],
    disposition: "FALSE_POSITIVE",
  },
  {
    name: "Known program",
    text: "This is a program that we know and allow.",
    labels: ["Bot"],
    disposition: "FALSE_POSITIVE",
  },
  {
    name: "Customer not reached",
    text: "The customer could not be reached, and the evidence alone is not enough.",
    disposition: "INCONCLUSIVE",
  },
];
