import type { CaseListItem } from "@casehound/client";
import { useCallback, useEffect, useRef, useState } from "react";

// Stores the version shown when the case was selected, so a case that has changed since is not closed unseen.
type Chosen = ReadonlyMap<string, number>;

const none: Chosen = new Map();

export function withoutKey(known: Chosen, id: string): Chosen {
  return new Map([...known].filter(([each]) => each !== id));
}

// The selected rows: selected singly, as a range from the last row touched, or all that are shown.
export function useChosen(rows: CaseListItem[]) {
  const [chosen, setChosen] = useState(none);
  const latest = useRef({ rows, chosen });
  useEffect(() => {
    latest.current = { rows, chosen };
  });
  const anchor = useRef<string | null>(null);

  const choose = useCallback((id: string) => {
    anchor.current = id;
    const version = latest.current.rows.find((row) => row.case_id === id)?.case_version ?? 0;
    setChosen((known) => (known.has(id) ? withoutKey(known, id) : new Map(known).set(id, version)));
  }, []);
  const chooseRange = useCallback(
    (id: string) => {
      const all = latest.current.rows;
      const from = all.findIndex((row) => row.case_id === anchor.current);
      const to = all.findIndex((row) => row.case_id === id);
      if (from === -1 || to === -1) return choose(id);
      anchor.current = id;
      const within = all.slice(Math.min(from, to), Math.max(from, to) + 1);
      setChosen((known) => new Map([...within.map(versioned), ...known]));
    },
    [choose],
  );
  const chooseAll = useCallback(() => {
    const { rows: all, chosen: known } = latest.current;
    setChosen(all.every((row) => known.has(row.case_id)) ? none : new Map([...all.map(versioned), ...known]));
  }, []);
  const chooseNone = useCallback(() => setChosen(none), []);
  return { chosen, setChosen, choose, chooseRange, chooseAll, chooseNone };
}

function versioned({ case_id, case_version }: CaseListItem): [string, number] {
  return [case_id, case_version];
}
