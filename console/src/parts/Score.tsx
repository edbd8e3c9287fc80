type Props = { score: number; size?: "small" | "large"; isShort?: boolean };

const words = ["", "Very low", "Low", "Medium", "High", "Very high"];
const inks = ["", "text-risk-1", "text-risk-2", "text-risk-3", "text-risk-4", "text-risk-5"];

// The number, the bar and the shape each convey the score, so it does not depend on color. `isShort` leaves out the bar in a very
// narrow container.
export function Score({ score, size = "small", isShort = false }: Props) {
  const isLarge = size === "large";
  const meaning = `Risk ${score} of 5, ${(words[score] ?? "").toLowerCase()}`;
  return (
    <span role="img" aria-label={meaning} title={meaning} className={`inline-flex items-center gap-2 ${inks[score] ?? ""}`}>
      <Shape score={score} size={isLarge ? 20 : 13} />
      <span className={isLarge ? "text-xl font-semibold" : "text-sm font-semibold"}>{score}</span>
      <svg
        width={isLarge ? 58 : 38}
        height={isLarge ? 8 : 6}
        viewBox="0 0 38 6"
        preserveAspectRatio="none"
        className={isShort ? "@max-[34rem]:hidden" : ""}
        aria-hidden
      >
        {[1, 2, 3, 4, 5].map((step) => (
          <rect
            key={step}
            x={(step - 1) * 8}
            width="6"
            height="6"
            rx="1.5"
            fill="currentColor"
            opacity={step <= score ? 1 : 0.22}
          />
        ))}
      </svg>
      {isLarge && <span className="text-sm font-medium whitespace-nowrap">{words[score]}</span>}
    </span>
  );
}

function Shape({ score, size }: { score: number; size: number }) {
  const line = { fill: "none", stroke: "currentColor", strokeWidth: 2 };
  return (
    <svg width={size} height={size} viewBox="0 0 16 16" aria-hidden className="shrink-0">
      {score >= 5 && <path d="M5 .8h6L15.2 5v6L11 15.2H5L.8 11V5z" fill="currentColor" />}
      {score === 4 && <path d="M8 1 15.4 14.6H.6z" fill="currentColor" />}
      {score === 3 && <path d="M8 .8 15.2 8 8 15.2.8 8z" fill="currentColor" />}
      {score === 2 && <circle cx="8" cy="8" r="6" {...line} />}
      {score <= 1 && <path d="M2 8h12" {...line} />}
    </svg>
  );
}
