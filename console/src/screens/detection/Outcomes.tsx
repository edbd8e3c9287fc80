import type { Precision } from "@casehound/client";

const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 0 });
export const figure = new Intl.NumberFormat();

export function precisionWords({ precision }: Precision): string {
  return precision === null ? "–" : percent.format(precision);
}

export function shareWords(share: number): string {
  return percent.format(share);
}

// What investigators decided about the hits, as a bar and in words.
export function Outcomes({ of, isShort = false }: { of: Precision; isShort?: boolean }) {
  const { confirmed, false_positives: falsePositives, inconclusive } = of;
  const total = confirmed + falsePositives + inconclusive;
  if (total === 0)
    return <span className="text-faint">{isShort ? "none yet" : "No case with these hits has been closed yet."}</span>;
  const words = `${confirmed} confirmed, ${falsePositives} false, ${inconclusive} inconclusive`;
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2.5 gap-y-1" title={words}>
      <svg width="72" height="8" viewBox={`0 0 ${total} 8`} preserveAspectRatio="none" aria-hidden className="rounded-sm">
        <rect width={confirmed} height="8" className="fill-good" />
        <rect x={confirmed} width={falsePositives} height="8" className="fill-bad" />
        <rect x={confirmed + falsePositives} width={inconclusive} height="8" className="fill-edge" />
      </svg>
      {isShort ? (
        <span className="text-xs text-soft">
          {confirmed} <abbr title="confirmed fraud">conf.</abbr> · {falsePositives} <abbr title="false positives">false</abbr>
          {inconclusive > 0 && (
            <>
              {" "}
              · {inconclusive} <abbr title="inconclusive">unclear</abbr>
            </>
          )}
        </span>
      ) : (
        <span className="text-soft">{words}</span>
      )}
    </span>
  );
}

export function Figure({ name, value, note }: { name: string; value: string; note?: string }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-faint">{name}</dt>
      <dd className="text-lg font-semibold">{value}</dd>
      {note !== undefined && <dd className="text-xs text-soft">{note}</dd>}
    </div>
  );
}
