export type Step = { what: string; share: number; table?: string; rows?: number; bytes?: number };

export function progressLine({ what, share, table, rows, bytes }: Step): string {
  const percent = `${Math.floor(share * 100)}%`;
  const figures = [rows !== undefined && `${rows.toLocaleString("en")} rows`, bytes !== undefined && megabytes(bytes), table];
  return [`${what} ${percent.padStart(4)}`, ...figures.filter(Boolean)].join("  ");
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
