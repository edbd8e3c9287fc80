import type { CaseDigest } from "@casehound/client";
import { Actor } from "../../parts/Actor.tsx";
import { outcomeName } from "../../parts/Badges.tsx";
import { Age } from "../../parts/Time.tsx";

// The outcome, who closed the case, and when.
export function Closing({ closed }: { closed: NonNullable<CaseDigest["closed"]> }) {
  const { at, by } = closed;
  return (
    <>
      <strong className="font-medium text-ink">{outcomeName(closed) ?? "No outcome"}</strong> <Actor actor={by} />,{" "}
      <Age at={at} suffix=" ago" />.{" "}
    </>
  );
}
