import { Type, type Static } from "typebox";
import { Disposition, OwnDispositionName, type CaseChange } from "./case.ts";
import { versionConflict, type FieldError } from "./failure.ts";
import { Time } from "./field.ts";
import { notBefore } from "./text.ts";

export const ownDispositionsMax = 50;

const OwnDisposition = Type.Object(
  {
    name: { ...OwnDispositionName, description: "Cases keep it, even if it is removed from this list. Unique." },
    disposition: { ...Disposition, description: "What it counts as, for labels, rules and models." },
  },
  { additionalProperties: false, $id: "OwnDisposition" },
);
export type OwnDisposition = Static<typeof OwnDisposition>;

const Dispositions = Type.Array(OwnDisposition, {
  maxItems: ownDispositionsMax,
  description: "In the order in which they are offered.",
});
const DispositionsVersion = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

export const OwnDispositionsChange = Type.Object(
  {
    own_dispositions: Dispositions,
    dispositions_version: { ...DispositionsVersion, description: "The version that was read." },
  },
  { additionalProperties: false, $id: "OwnDispositionsChange" },
);
export type OwnDispositionsChange = Static<typeof OwnDispositionsChange>;

export const OwnDispositions = Type.Object(
  {
    own_dispositions: Dispositions,
    dispositions_version: DispositionsVersion,
    updated_at: Time,
    updated_by: Type.String({ description: "`system` if nobody has changed them yet." }),
  },
  { additionalProperties: false, $id: "OwnDispositions" },
);
export type OwnDispositions = Static<typeof OwnDispositions>;

export function ownDispositionFaults(own: OwnDisposition[]): FieldError[] {
  const names = own.map(({ name }) => name);
  return names.flatMap((name, index) =>
    names.indexOf(name) < index
      ? [{ field: `own_dispositions[${index}].name`, message: "is the name of another disposition" }]
      : [],
  );
}

// Returns the next version, or the same dispositions if nothing differs.
export function changeOwnDispositions(
  found: OwnDispositions,
  wanted: OwnDispositionsChange,
  actor: { name: string; now: string },
): OwnDispositions {
  const { dispositions_version: current } = found;
  if (wanted.dispositions_version !== current) throw versionConflict("The list of own dispositions", current);
  const own = wanted.own_dispositions.map(orderedDisposition);
  if (JSON.stringify(own) === JSON.stringify(found.own_dispositions)) return found;
  const updated_at = notBefore(found.updated_at, actor.now);
  return { own_dispositions: own, dispositions_version: current + 1, updated_at, updated_by: actor.name };
}

// jsonb does not keep the order of members.
export function orderedDisposition({ name, disposition }: OwnDisposition): OwnDisposition {
  return { name, disposition };
}

type Named = Pick<CaseChange, "disposition" | "own_disposition">;

// Adds the disposition that the own one counts as. Returns the fault if there is no such one, or if it counts as another.
export function resolved<T extends Named>(change: T, known: OwnDisposition[]): T | FieldError {
  const { own_disposition: name, disposition: given } = change;
  if (name === undefined) return change;
  const found = known.find((each) => each.name === name);
  if (!found) return { field: "own_disposition", message: "must be the name of one of the tenant's own dispositions" };
  if (given !== undefined && given !== found.disposition)
    return { field: "own_disposition", message: `counts as ${found.disposition}, which is not the disposition that was sent` };
  return { ...change, disposition: found.disposition };
}
