import { useLayoutEffect, useSyncExternalStore } from "react";

// `key` as the keyboard event names it, in lower case; "mod+k" is Ctrl or the Mac's command key.
export type Binding = { key: string; shown?: string; name: string; group: string; run: () => void; isOff?: boolean };

const storageName = "casehound.keys";
let groups: readonly (readonly Binding[])[] = [];
let areLettersOn = localStorage.getItem(storageName) !== "off";
const listeners = new Set<() => void>();

function tell(): void {
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

// The screen's keys while it is shown. The latest one that binds a key gets it.
export function useKeys(bindings: readonly Binding[]): void {
  // With the screen and not after it, or a quick key would still be the last screen's.
  useLayoutEffect(() => {
    groups = [...groups, bindings];
    tell();
    return () => {
      groups = groups.filter((each) => each !== bindings);
      tell();
    };
  }, [bindings]);
}

export function useBindings(): readonly Binding[] {
  return useSyncExternalStore(subscribe, () => groups).flat();
}

// Single letters disturb those who speak to their computer or whose hands are not steady: they can be switched off.
export function useLetters(): [boolean, (areOn: boolean) => void] {
  const areOn = useSyncExternalStore(subscribe, () => areLettersOn);
  return [areOn, chooseLetters];
}

function chooseLetters(areOn: boolean): void {
  areLettersOn = areOn;
  localStorage.setItem(storageName, areOn ? "on" : "off");
  tell();
}

function nameOf(event: KeyboardEvent): string {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  return event.ctrlKey || event.metaKey ? `mod+${key}` : event.altKey ? `alt+${key}` : key;
}

// A control keeps its own keys: letters go into text, Enter and the blank press buttons.
function isTaken(event: KeyboardEvent): boolean {
  const { target } = event;
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.closest("textarea, select, [role=menu], dialog")) return true;
  if (target instanceof HTMLInputElement && target.type !== "checkbox") return true;
  return (event.key === "Enter" || event.key === " ") && target.closest("button, a, input") !== null;
}

function handle(event: KeyboardEvent): void {
  const name = nameOf(event);
  const hasModifier = name.startsWith("mod+");
  if (event.defaultPrevented || (!hasModifier && (isTaken(event) || document.querySelector("dialog[open]") !== null))) return;
  if (name.length === 1 && !areLettersOn) return;
  const binding = groups.flat().findLast((each) => each.key === name && each.isOff !== true);
  if (!binding) return;
  event.preventDefault();
  binding.run();
}

export function listenToKeys(): void {
  window.addEventListener("keydown", handle);
}
