import { useSyncExternalStore } from "react";

const storageName = "casehound.claim-on-open";
const listeners = new Set<() => void>();
let isOn = localStorage.getItem(storageName) === "on";

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

// Whether opening a case claims it. Off at first, because opening a case is often just a look.
export function useClaimOnOpen(): [boolean, (isOn: boolean) => void] {
  return [useSyncExternalStore(subscribe, () => isOn), choose];
}

function choose(wanted: boolean): void {
  isOn = wanted;
  localStorage.setItem(storageName, wanted ? "on" : "off");
  for (const listener of listeners) listener();
}
