// A mistake that somebody might make, and the test file that has to see it. The text stands in the file once.
export type Fault = { name: string; file: string; text: string; instead: string; test: string };

type Row = [name: string, text: string, instead: string, test: string];

export function faultsIn(file: string, rows: Row[]): Fault[] {
  return rows.map(([name, text, instead, test]) => ({ name, file, text, instead, test }));
}
