import type { CaseDigest } from "@casehound/client";
import { Actor } from "../../parts/Actor.tsx";
import { dispositionWords } from "../../parts/Badges.tsx";
import { Age } from "../../parts/Time.tsx";

// The outcome, who closed the case, and when.
export function Closing({ closed: { at, by, disposition } }: { closed: NonNullable<CaseDigest["closed"]> }) {
  return (
    <>
      <strong className="font-medium text-ink">{disposition ? dispositionWords[disposition] : "No outcome"}</strong>{" "}
      <Actor actor={by} />, <Age at={at} suffix=" ago" />.{" "}
    </>
  );
}
