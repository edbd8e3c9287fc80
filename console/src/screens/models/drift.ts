import { stabilityMax, type Model } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { useWorkspace } from "../../session/workspace.tsx";
import { useDetection } from "../detection/queries.ts";

// The fields that have changed a lot since the training, those that changed most first.
export function driftedFields({ figures }: Model): [field: string, index: number][] {
  return fieldsOf(figures.drift).filter(([, index]) => index > stabilityMax);
}

export function fieldsOf(drift: Model["figures"]["drift"]): [field: string, index: number][] {
  return Object.entries(drift?.fields ?? {}).toSorted(([, one], [, other]) => other - one);
}

// Returns the plain name of a field. People who may not read rules see its technical name.
export function useFieldNames(): (field: string) => string {
  const { may } = useWorkspace();
  const { data: features = [] } = useQuery({ ...useDetection().features, enabled: may("read:rules") });
  const names = new Map(features.map(({ name, plain_name }) => [name, plain_name]));
  return (field) => names.get(field) ?? field;
}
