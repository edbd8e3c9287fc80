// Rated by a model that was not trained on it. `evidence`: how many activities it stands for. `rules`: what the rules and the
// log-in ratio say without a model.
export type Judged = { day: string; account: string; isFraud: boolean; evidence: number; score: number; rules: number };

// A model may open a case by itself only where fraud is likelier than not.
const shareMin = 0.5;
// One-sided, 90 %.
const deviations = 1.2816;
const bandMin = 10;
// More than the rounding of an offset.
const margin = 0.002;

// Returns the largest offset that a model's record supports: with it, the threshold is the lowest score at which accounts that
// the model alone would have accused were frauds. Infinity if it would have accused nobody.
export function offsetMax(rows: readonly Judged[], threshold: number): number {
  const entries = entriesIn(rows.filter(({ rules }) => rules < threshold));
  const [highest] = entries;
  if (!highest) return Infinity;
  const from = lowestSupported(entries) ?? highest.score + margin;
  // Rounded up, so that the lowest supported score reaches the threshold.
  return Math.ceil((threshold - from) * 1000) / 1000;
}

type Entry = { isFraud: boolean; evidence: number; score: number };

// An account counts at most once as a fraud and once as honest, each with its highest score. Otherwise one account could speak
// for or against a model every day. On the day of a fraud, the account's other activity is part of that case.
function entriesIn(rows: readonly Judged[]): Entry[] {
  const fraudDays = new Set(rows.filter(({ isFraud }) => isFraud).map(({ account, day }) => `${day} ${account}`));
  const highest = new Map<string, Entry>();
  for (const { day, account, isFraud, evidence, score } of rows) {
    if (!isFraud && fraudDays.has(`${day} ${account}`)) continue;
    const key = `${Number(isFraud)} ${account}`;
    if (score > (highest.get(key)?.score ?? -Infinity)) highest.set(key, { isFraud, evidence, score });
  }
  return [...highest.values()].toSorted((one, other) => other.score - one.score);
}

// Goes down from the highest score, in bands. Each band must show that most of its accounts were frauds, even if the model was
// lucky. So frauds with high scores say nothing about lower scores. Returns the score of the last fraud in such a band.
function lowestSupported(entries: readonly Entry[]): number | null {
  let lowest: number | null = null;
  let [frauds, all, lastFraud, since] = [0, 0, Infinity, 0];
  for (const [index, { isFraud, evidence, score }] of entries.entries()) {
    all += evidence;
    if (isFraud) [frauds, lastFraud, since] = [frauds + evidence, score, 0];
    else if (score < lastFraud) since += evidence;
    // Equal scores cannot be separated.
    if (entries[index + 1]?.score === score || all < bandMin || leastShare(frauds, all) < shareMin) continue;
    // The honest accounts below the last fraud belong to the next band.
    [lowest, frauds, all] = [lastFraud, 0, since];
  }
  return lowest;
}

// The lower end of Wilson's interval for a share.
export function leastShare(part: number, whole: number): number {
  if (whole === 0) return 0;
  const [share, spread] = [part / whole, deviations ** 2 / whole];
  return Math.max((share + spread / 2 - Math.sqrt(spread * (share * (1 - share) + spread / 4))) / (1 + spread), 0);
}
