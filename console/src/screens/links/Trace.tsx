import type { SharedLink } from "@casehound/client";
import { Id } from "../../parts/Id.tsx";
import { agentWords } from "../../timeline/words.ts";

const countries = new Intl.DisplayNames(undefined, { type: "region" });

// Where a device or an address was last seen, and with which browser.
export function Trace({
  link: { country, asn, user_agent: agent },
}: {
  link: Pick<SharedLink, "country" | "asn" | "user_agent">;
}) {
  const parts = [
    ...(agent === undefined ? [] : [agentWords(agent)]),
    ...(country === undefined ? [] : [countryWords(country)]),
    ...(asn === undefined ? [] : [`AS${asn}`]),
  ];
  if (parts.length === 0) return null;
  const words = parts.join(" · ");
  return (
    <span className="text-xs text-soft [overflow-wrap:anywhere]" title={agent}>
      <Id id={words} />
    </span>
  );
}

// The code itself, if it is not a country's.
function countryWords(code: string): string {
  return /^[A-Z]{2}$/.test(code) ? (countries.of(code) ?? code) : code;
}
