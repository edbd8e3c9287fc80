const dayMs = 24 * 60 * 60 * 1000;

export const expiries = [
  { days: 0, name: "Never" },
  { days: 1, name: "In 1 day" },
  { days: 7, name: "In 7 days" },
  { days: 30, name: "In 30 days" },
  { days: 90, name: "In 90 days" },
  { days: 365, name: "In a year" },
] as const;

export function expiresAt(days: string, nowMs: number): { expires_at?: string } {
  const count = Number(days);
  return count > 0 ? { expires_at: new Date(nowMs + count * dayMs).toISOString() } : {};
}
